//! Vectors of a mode of a block cipher as one job: all directions of all vectors.

use super::vector::{Answer, Group, Vector, VectorAlgorithm};
use super::{Asked, OneCall};
use crate::engine::Rows;
use crate::engine::job::{CipherMode, ModeMessage, ModesJob, OneShot};
use divisi_core::Direction;
use divisi_symmetric::mode::one_shot::strings;
use std::collections::BTreeSet;

/// All directions of all vectors, each with the vector's index: first the encryptions, then the decryptions.
fn directions_of(group: &Group) -> Vec<(usize, &Vector, Direction)> {
    let all = || group.vectors.iter().enumerate();
    let encrypt = all().filter(|(_, v)| v.encrypts()).map(|(i, v)| (i, v, Direction::Encrypt));
    let decrypt = all().filter(|(_, v)| v.decrypts()).map(|(i, v)| (i, v, Direction::Decrypt));
    encrypt.chain(decrypt).collect()
}

/// The mode of a cipher that an algorithm of vectors is.
pub(super) fn mode(algorithm: VectorAlgorithm) -> CipherMode {
    match algorithm {
        VectorAlgorithm::Gcm | VectorAlgorithm::Xpn => CipherMode::Gcm,
        VectorAlgorithm::Ctr => CipherMode::Ctr,
        VectorAlgorithm::Cbc | VectorAlgorithm::CbcPadded | VectorAlgorithm::TripleCbc => CipherMode::Cbc,
        VectorAlgorithm::Cfb8 => CipherMode::Cfb { segment: 1 },
        VectorAlgorithm::Cfb128 => CipherMode::Cfb { segment: 16 },
        VectorAlgorithm::Ofb => CipherMode::Ofb,
        VectorAlgorithm::TripleCmac => CipherMode::Cmac,
        VectorAlgorithm::OneShot(mode) => CipherMode::OneShot(mode),
        VectorAlgorithm::Ecb | VectorAlgorithm::TripleEcb | VectorAlgorithm::Function(_) => CipherMode::Ecb,
    }
}

impl OneCall for Group {
    fn ask(&self) -> Asked {
        let mode = mode(self.algorithm);
        let mut messages = ModesJob { mode, cipher: self.cipher, messages: Vec::new() };
        let (mut inputs, mut of) = (Rows::default(), Vec::new());
        for (place, vector, direction) in directions_of(self) {
            let decrypts = direction == Direction::Decrypt;
            let given = match mode {
                CipherMode::Cmac => vector.plaintext.clone(),
                _ if decrypts => vector.ciphertext.clone(),
                _ if self.algorithm == VectorAlgorithm::CbcPadded => padded(&vector.plaintext),
                _ => vector.plaintext.clone(),
            };
            let public = matches!(
                mode,
                CipherMode::Gcm
                    | CipherMode::Cbc
                    | CipherMode::Cfb { .. }
                    | CipherMode::Cmac
                    | CipherMode::OneShot(_)
            );
            let sealed = public && decrypts;
            for (iv, from, bits) in vector.pieces(given.len()) {
                let piece =
                    if vector.units.is_some() { strings::part(&given, from, bits) } else { given.clone() };
                messages.messages.push(ModeMessage {
                    direction,
                    iv: iv.to_vec(),
                    aad: vector.aad.clone(),
                    bytes: piece.len(),
                    spare_bits: if matches!(mode, CipherMode::OneShot(_)) {
                        8 * piece.len() - bits
                    } else {
                        0
                    },
                    tag_bytes: vector.tag.len(),
                    sealed: sealed.then(|| (piece.clone(), vector.tag.clone())),
                });
                inputs.push(&[&vector.key, if sealed && mode != CipherMode::Cmac { &[] } else { &piece }]);
                of.push(place);
            }
        }
        Asked { algorithm: self.algorithm, job: messages.into(), inputs, of }
    }

    /// A vector is right if the outputs of all its directions are.
    fn judge(&self, outputs: &Rows, of: &[usize]) -> Vec<(u64, bool)> {
        let mut ways: Vec<(bool, Answer, Answer)> = vec![(false, None, None); self.vectors.len()];
        // a vector is left out with all its directions, so the others are in the order of `directions_of`
        let of: BTreeSet<usize> = of.iter().copied().collect();
        let left = directions_of(self).into_iter().filter(|(place, ..)| of.contains(place));
        let mut rows = outputs.iter();
        for (place, vector, direction) in left {
            let given = if direction == Direction::Encrypt { &vector.plaintext } else { &vector.ciphertext };
            let pieces = vector.pieces(given.len());
            let answer = if vector.units.is_some() {
                // take the rows of all pieces, even if the first one failed
                let all: Vec<Option<(Vec<u8>, usize)>> = pieces
                    .iter()
                    .map(|(.., bits)| {
                        let row = rows.next()?;
                        Some((answer(self.algorithm, vector, direction, row)?.0, *bits))
                    })
                    .collect();
                let all: Option<Vec<(Vec<u8>, usize)>> = all.into_iter().collect();
                all.map(|all| {
                    let parts: Vec<(&[u8], usize)> =
                        all.iter().map(|(text, bits)| (&**text, *bits)).collect();
                    (strings::join(&parts), Vec::new())
                })
            } else {
                rows.next().and_then(|row| answer(self.algorithm, vector, direction, row))
            };
            if let Some((ran, encrypted, decrypted)) = ways.get_mut(place) {
                *ran = true;
                *(if direction == Direction::Encrypt { encrypted } else { decrypted }) = answer;
            }
        }
        let ran = self.vectors.iter().zip(&ways).filter(|(_, (ran, ..))| *ran);
        ran.map(|(vector, (_, encrypted, decrypted))| (vector.id, vector.is_right(encrypted, decrypted)))
            .collect()
    }
}

/// The answer for one message, from a row of the engine's outputs.
fn answer(algorithm: VectorAlgorithm, vector: &Vector, direction: Direction, row: &[u8]) -> Answer {
    match (algorithm, row.split_first()) {
        (_, Some((1, rest))) if algorithm.is_gcm() => {
            let (text, tag) = rest.split_at(rest.len().saturating_sub(vector.tag.len()));
            Some((text.to_vec(), tag.to_vec()))
        }
        (VectorAlgorithm::Gcm | VectorAlgorithm::Xpn, _) => None,
        (VectorAlgorithm::OneShot(mode), Some((told, rest))) if *told > 0 => {
            let text = rest.get(..rest.len().saturating_sub(usize::from(*told) - 1)).unwrap_or_default();
            Some(apart(mode, direction, vector.tag.len(), text))
        }
        (VectorAlgorithm::OneShot(_), _) => None,
        (VectorAlgorithm::TripleCmac, _) if direction == Direction::Encrypt => {
            Some((Vec::new(), row.to_vec()))
        }
        (VectorAlgorithm::TripleCmac, _) => (row == [1]).then(|| (vector.plaintext.clone(), Vec::new())),
        (VectorAlgorithm::CbcPadded, _) if direction == Direction::Decrypt => {
            unpadded(row).map(|text| (text, Vec::new()))
        }
        _ => {
            let mut text = row.to_vec();
            // the output has whole bytes; pieces are cut to their bits when they are joined
            if let (Some(last), None) = (text.last_mut(), &vector.units) {
                *last = *last >> vector.spare_bits << vector.spare_bits;
            }
            Some((text, Vec::new()))
        }
    }
}

/// Split what was encrypted into ciphertext and tag; the tag of SIV comes first.
fn apart(mode: OneShot, direction: Direction, tag_bytes: usize, text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let from = match mode {
        _ if direction == Direction::Decrypt => text.len(),
        OneShot::Siv => {
            let (tag, text) = text.split_at(tag_bytes.min(text.len()));
            return (text.to_vec(), tag.to_vec());
        }
        OneShot::Ccm | OneShot::GcmSiv => text.len().saturating_sub(tag_bytes),
        _ => text.len(),
    };
    let (text, tag) = text.split_at(from);
    (text.to_vec(), tag.to_vec())
}

/// A message padded to whole blocks (PKCS #7), as a client does it.
fn padded(text: &[u8]) -> Vec<u8> {
    divisi_engine::padding::add(text, 16)
}

/// The message without its padding; `None` if it has no valid padding.
fn unpadded(text: &[u8]) -> Option<Vec<u8>> {
    divisi_engine::padding::remove(text, 16)
}

//! Vectors of a mode of AES as a job: all ways of all of them.

use super::Asked;
use super::vector::{Algorithm, Answer, Group, Vector};
use crate::engine::Rows;
use crate::engine::job::{Job, Mode, Text, Texts};
use divisi_core::Direction;
use std::collections::BTreeSet;

/// All ways of all vectors, by the vectors' places: first those that encrypt.
fn walks(group: &Group) -> Vec<(usize, &Vector, Direction)> {
    let all = || group.vectors.iter().enumerate();
    let encrypt = all().filter(|(_, v)| v.encrypts()).map(|(i, v)| (i, v, Direction::Encrypt));
    let decrypt = all().filter(|(_, v)| v.decrypts()).map(|(i, v)| (i, v, Direction::Decrypt));
    encrypt.chain(decrypt).collect()
}

pub(super) fn ask(group: &Group) -> Asked {
    let mode = match group.algorithm {
        Algorithm::Gcm => Mode::Gcm,
        Algorithm::Ctr => Mode::Ctr,
        Algorithm::Ecb | Algorithm::Function(_) => Mode::Ecb,
    };
    let mut texts = Texts { mode, size: group.size, texts: Vec::new() };
    let (mut inputs, mut of) = (Rows::default(), Vec::new());
    for (place, vector, direction) in walks(group) {
        let given = if direction == Direction::Encrypt { &vector.plaintext } else { &vector.ciphertext };
        let sealed = mode == Mode::Gcm && direction == Direction::Decrypt;
        texts.texts.push(Text {
            direction,
            iv: vector.iv.clone(),
            aad: vector.aad.clone(),
            bytes: given.len(),
            tag_bytes: vector.tag.len(),
            sealed: sealed.then(|| (vector.ciphertext.clone(), vector.tag.clone())),
        });
        inputs.push(&[&vector.key, if sealed { &[] } else { given }]);
        of.push(place);
    }
    Asked { algorithm: group.algorithm, job: Job::Texts(texts), inputs, of }
}

/// The numbers of the vectors that the outputs belong to, with whether all ways of each are right.
pub(super) fn right(group: &Group, outputs: &Rows, of: &[usize]) -> Vec<(u64, bool)> {
    let mut ways: Vec<(bool, Answer, Answer)> = vec![(false, None, None); group.vectors.len()];
    // a vector is left out as a whole, so that its ways come in the order of all
    let of: BTreeSet<usize> = of.iter().copied().collect();
    let left = walks(group).into_iter().filter(|(place, ..)| of.contains(place));
    for ((place, vector, direction), row) in left.zip(outputs.iter()) {
        let answer = match (group.algorithm, row.split_first()) {
            (Algorithm::Gcm, Some((1, rest))) => {
                let (text, tag) = rest.split_at(rest.len().saturating_sub(vector.tag.len()));
                Some((text.to_vec(), tag.to_vec()))
            }
            (Algorithm::Gcm, _) => None,
            _ => Some((row.to_vec(), Vec::new())),
        };
        if let Some((ran, encrypted, decrypted)) = ways.get_mut(place) {
            *ran = true;
            *(if direction == Direction::Encrypt { encrypted } else { decrypted }) = answer;
        }
    }
    let ran = group.vectors.iter().zip(&ways).filter(|(_, (ran, ..))| *ran);
    ran.map(|(vector, (_, encrypted, decrypted))| (vector.id, vector.is_right(encrypted, decrypted)))
        .collect()
}

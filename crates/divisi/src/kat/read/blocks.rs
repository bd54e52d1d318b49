//! Vectors of modes of AES, grouped: the code that both formats share.

use crate::engine::job::Cipher;
use crate::kat::content::Content;
use crate::kat::vector::{Group, Vector, VectorAlgorithm};
use std::collections::BTreeMap;

/// Sort vectors into groups, one for each size of key; those that cannot run are counted with the reason.
pub(in crate::kat) fn sort(
    content: &mut Content,
    algorithm: VectorAlgorithm,
    sorted: Vec<Result<Vector, String>>,
) {
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    for vector in sorted {
        let vector = vector.and_then(|vector| {
            iv_fits(algorithm, &vector)?;
            let name = if algorithm.is_triple_des() { "des3" } else { "aes" };
            let keys = algorithm.keys();
            let one = vector.key.len().is_multiple_of(keys).then_some(vector.key.len() / keys);
            match one.and_then(|bytes| Cipher::from_key(name, bytes)) {
                Some(cipher) => Ok((cipher, vector)),
                None => Err(format!("a key of {} bits", 8 * vector.key.len())),
            }
        });
        match vector {
            Ok((cipher, vector)) => {
                let group = || Group { algorithm, cipher, vectors: Vec::new() };
                groups.entry(cipher.key_bytes()).or_insert_with(group).vectors.push(vector);
            }
            Err(reason) => *content.unsupported.entry((algorithm, reason)).or_default() += 1,
        }
    }
    content.groups.extend(groups.into_values());
}

/// Check that GCM supports a vector: its IV has at least one bit, and its tag a length that the standard has.
pub(in crate::kat) fn gcm_can(vector: Vector) -> Result<Vector, String> {
    let tag = 8 * vector.tag.len();
    if vector.iv.is_empty() {
        return Err("an IV of 0 bits, which the standard does not have".into());
    }
    match divisi_symmetric::mode::gcm::TagLength::from_bits_even_short(tag) {
        Ok(_) => Ok(vector),
        Err(_) => Err(format!("a tag of {tag} bits")),
    }
}

/// Check that the IV of a vector is a block, if the vector's mode begins with a block. (The readers check the
/// IVs of GCM and CTR; a message with another IV is refused by the modes that process it as a whole.)
fn iv_fits(algorithm: VectorAlgorithm, vector: &Vector) -> Result<(), String> {
    let begins = matches!(
        algorithm,
        VectorAlgorithm::Cbc
            | VectorAlgorithm::CbcPadded
            | VectorAlgorithm::Cfb8
            | VectorAlgorithm::Cfb128
            | VectorAlgorithm::Ofb
            | VectorAlgorithm::TripleCbc
    );
    if begins && vector.iv.len() != algorithm.block_bytes() {
        return Err(format!("an IV of {} bits", 8 * vector.iv.len()));
    }
    Ok(())
}

/// Check that a mode without tag or padding has the messages of a vector.
pub(super) fn whole_blocks(algorithm: VectorAlgorithm, vector: Vector) -> Result<Vector, String> {
    let (plain, cipher) = (vector.plaintext.len(), vector.ciphertext.len());
    let any = matches!(
        algorithm,
        VectorAlgorithm::Ctr | VectorAlgorithm::Cfb8 | VectorAlgorithm::Cfb128 | VectorAlgorithm::Ofb
    );
    if plain != cipher || (plain == 0 && !any) {
        return Err("messages that are empty or of different lengths".into());
    }
    if !any && plain % algorithm.block_bytes() != 0 {
        return Err("a message that is no whole number of blocks".into());
    }
    if algorithm == VectorAlgorithm::Ctr && vector.iv.len() != 16 {
        return Err(format!("a counter of {} bits", 8 * vector.iv.len()));
    }
    Ok(vector)
}

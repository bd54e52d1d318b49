//! A group of vectors through the engine that computes in the clear: the reference.

use super::batch::{Batch, Walk, walks};
use super::vector::{Algorithm, Answer, Answers, Group};
use crate::failure::Failure;
use divisi_core::{Abort, Bytes, Direction, Plain, Step, step};
use divisi_field::{Field, Gf128};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::mode::ghash::{Powers, Steps};
use divisi_symmetric::mode::{columns, ctr, gcm};

const VECTOR: Step = step!("vector");

/// Run one group.
pub(super) fn run(group: &Group) -> Result<Answers, Failure> {
    let walks = walks(group);
    let answers = match group.algorithm {
        Algorithm::Gcm => walks.iter().map(message).collect::<Result<Vec<_>, _>>()?,
        Algorithm::Ecb | Algorithm::Ctr | Algorithm::Function(_) => {
            let batch = Batch::new(group, &walks);
            let public =
                |columns: &[Vec<u8>]| columns.iter().map(|column| Plain.public(column)).collect::<Vec<_>>();
            let (key, text) = (public(&batch.keys), public(&batch.text));
            let keys = aes::expand(&mut Plain, &key)?;
            let out = batch.run(&mut Plain, &keys, text)?;
            batch.answers(&out.iter().map(|byte| byte.values().to_vec()).collect::<Vec<_>>())
        }
    };
    Ok(Answers::new(group, answers, 0))
}

/// One message of GCM.
fn message(walk: &Walk<'_>) -> Result<Answer, Abort> {
    let (e, vector) = (&mut Plain, walk.vector);
    let misfit = || Abort::Misuse { step: VECTOR, what: "an IV or a tag that GCM here does not take" };
    let iv = <[u8; 12]>::try_from(vector.iv.as_slice()).map_err(|_| misfit())?;
    let key: Vec<_> = vector.key.iter().map(|byte| e.public(&[*byte])).collect();
    let keys = aes::expand(e, &key)?;
    let text = match walk.direction {
        Direction::Encrypt => &vector.plaintext,
        Direction::Decrypt => &vector.ciphertext,
    };
    let mut stream = vec![0; 16]; // what masks the tag
    stream.extend_from_slice(text);
    let columns = columns::from_stream(&stream);
    let mut state = ctr::keystream(e, &keys, &ctr::columns(&gcm::j0(&iv), 0, columns[0].len()))?;
    let mask = gcm::tag_masks(e, &state, &[0])?;
    for (byte, column) in state.iter_mut().zip(&columns) {
        e.add_public(byte, column)?;
    }
    let out =
        columns::to_stream(&state.each_ref().map(|byte| byte.values()), stream.len()).ok_or_else(misfit)?;
    let out = out.get(16..).unwrap_or_default().to_vec();
    let ciphertext = if walk.direction == Direction::Encrypt { &out } else { &vector.ciphertext };
    let mut tag = tag(e, &keys, &vector.aad, ciphertext, &mask)?;
    tag.truncate(vector.tag.len());
    Ok(match walk.direction {
        Direction::Encrypt => Some((out, tag)),
        Direction::Decrypt if tag == vector.tag => Some((out, Vec::new())),
        Direction::Decrypt => None,
    })
}

fn tag(
    e: &mut Plain,
    keys: &RoundKeys<<Plain as Bytes>::Byte>,
    aad: &[u8],
    ciphertext: &[u8],
    mask: &<Plain as divisi_core::Blocks>::Block,
) -> Result<Vec<u8>, Abort> {
    let misfit = || Abort::Misuse { step: VECTOR, what: "a message that GCM has no room for" };
    let h = gcm::hash_key(e, keys)?;
    let lengths = gcm::Lengths::new(aad.len() as u64, ciphertext.len() as u64).map_err(|_| misfit())?;
    let steps = Steps::new(16, 1024).ok_or_else(misfit)?;
    let powers = Powers::new(e, &h, steps, lengths.hash_blocks())?;
    let ghash = gcm::hash(e, &powers, aad, ciphertext)?;
    let tag = gcm::tag(e, ghash, mask)?;
    Ok(tag.values().first().map(|block| Gf128::from_low_bits(*block).to_ghash().to_vec()).unwrap_or_default())
}

//! AES-GCM in the clear, message by message.

use super::super::Rows;
use super::super::job::{Text, Texts};
use divisi_core::{Abort, Blocks, Bytes, Direction, Plain, Step, step};
use divisi_field::{Field, Gf128};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::mode::ghash::{Powers, Steps};
use divisi_symmetric::mode::{columns, ctr, gcm};

const GCM: Step = step!("gcm");

/// The rows of all texts: whether it is authentic, the other text, the tag that was made.
pub(super) fn texts(job: &Texts, rows: &Rows) -> Result<Vec<u8>, Abort> {
    let mut all = Vec::new();
    for (text, row) in job.texts.iter().zip(rows.iter()) {
        let (key, secret) = row.split_at(job.size.bytes().min(row.len()));
        all.extend(one(text, key, secret)?);
    }
    Ok(all)
}

fn one(text: &Text, key: &[u8], secret: &[u8]) -> Result<Vec<u8>, Abort> {
    let e = &mut Plain;
    let misfit = || Abort::Misuse { step: GCM, what: "an IV or a tag that GCM here does not take" };
    let iv = <[u8; 12]>::try_from(text.iv.as_slice()).map_err(|_| misfit())?;
    let key: Vec<_> = key.iter().map(|byte| e.public(&[*byte])).collect();
    let keys = aes::expand(e, &key)?;
    let sealed = text.sealed.as_ref();
    let mut stream = vec![0; 16]; // what masks the tag
    stream.extend_from_slice(sealed.map_or(secret, |(ciphertext, _)| ciphertext));
    let columns = columns::from_stream(&stream);
    let mut state = ctr::keystream(e, &keys, &ctr::columns(&gcm::j0(&iv), 0, columns[0].len()))?;
    let mask = gcm::tag_masks(e, &state, &[0])?;
    for (byte, column) in state.iter_mut().zip(&columns) {
        e.add_public(byte, column)?;
    }
    let out =
        columns::to_stream(&state.each_ref().map(|byte| byte.values()), stream.len()).ok_or_else(misfit)?;
    let out = out.get(16..).unwrap_or_default();
    let ciphertext =
        if text.direction == Direction::Encrypt { out } else { stream.get(16..).unwrap_or_default() };
    let mut tag = tag(e, &keys, &text.aad, ciphertext, &mask)?;
    tag.truncate(text.tag_bytes);
    let right = sealed.is_none_or(|(_, received)| *received == tag);
    if !right {
        return Ok(vec![0; 1 + text.bytes + text.tag_bytes]);
    }
    Ok([&[1], out, &tag].concat())
}

fn tag(
    e: &mut Plain,
    keys: &RoundKeys<<Plain as Bytes>::Byte>,
    aad: &[u8],
    ciphertext: &[u8],
    mask: &<Plain as Blocks>::Block,
) -> Result<Vec<u8>, Abort> {
    let misfit = || Abort::Misuse { step: GCM, what: "a message that GCM has no room for" };
    let h = gcm::hash_key(e, keys)?;
    let lengths = gcm::Lengths::new(aad.len() as u64, ciphertext.len() as u64).map_err(|_| misfit())?;
    let steps = Steps::new(16, 1024).ok_or_else(misfit)?;
    let powers = Powers::new(e, &h, steps, lengths.hash_blocks())?;
    let ghash = gcm::hash(e, &powers, aad, ciphertext)?;
    let tag = gcm::tag(e, ghash, mask)?;
    Ok(tag.values().first().map(|block| Gf128::from_low_bits(*block).to_ghash().to_vec()).unwrap_or_default())
}

//! AES-GCM in the clear, message by message.

use super::super::Rows;
use super::super::job::{PublicText, TextsJob};
use divisi_core::{Abort, Bytes, Plain, Step, step};
use divisi_symmetric::aes;
use divisi_symmetric::mode::gcm::{TextsKey, interleaved};
use divisi_symmetric::mode::ghash::Steps;

const GCM: Step = step!("gcm");

/// The rows of all texts: whether it is authentic, the other text, the tag that was made.
pub(super) fn texts(job: &TextsJob, rows: &Rows) -> Result<Vec<u8>, Abort> {
    let mut all = Vec::new();
    for (text, row) in job.texts.iter().zip(rows.iter()) {
        let (key, secret) = row.split_at(job.cipher.key_bytes().min(row.len()));
        let end = all.len() + 1 + text.bytes + text.tag_bytes;
        all.extend(one(text, key, secret)?);
        all.resize(end, 0);
    }
    Ok(all)
}

/// One text; nothing if it is not authentic.
fn one(text: &PublicText, key: &[u8], secret: &[u8]) -> Result<Vec<u8>, Abort> {
    let e = &mut Plain;
    let misfit = || Abort::Misuse { step: GCM, what: "an IV or a tag that this GCM does not support" };
    let key: Vec<_> = key.iter().map(|byte| e.public(&[*byte])).collect();
    let round_keys = aes::expand(e, &key)?;
    let mut key = TextsKey::new(e, round_keys, Steps::new(16, 1024).ok_or_else(misfit)?)?;
    if let Some((ciphertext, tag)) = &text.sealed {
        let Some(opened) = key.open(e, &text.iv, &text.aad, ciphertext, tag)? else {
            return Ok(Vec::new());
        };
        let columns: Vec<Vec<u8>> = opened.get().iter().map(|byte| byte.values().to_vec()).collect();
        return Ok([&[1], interleaved(&columns, text.bytes)?.as_slice(), tag].concat());
    }
    let column = |i: usize| secret.iter().skip(i).step_by(16).copied().collect::<Vec<u8>>();
    let columns: Vec<_> = (0..16).map(|i| e.public(&column(i))).collect();
    let (ciphertext, tag) = key.seal(e, &text.iv, &text.aad, &columns)?;
    let tag = tag.get(..text.tag_bytes).ok_or_else(misfit)?;
    Ok([&[1], ciphertext.as_slice(), tag].concat())
}

//! Files of Wycheproof, schema `aead_test_schema_v1.json`.

use super::blocks::{gcm_can, sort, whole_blocks};
use super::declared::agrees;
use super::family::id;
use super::member::{bytes, tests};
use crate::engine::job::OneShot;
use crate::kat::content::Content;
use crate::kat::vector::{Expected, Vector, VectorAlgorithm, Ways};
use serde_json::Value;

/// The vectors of AES-GCM. Each is for both directions.
pub(super) fn gcm(groups: &[Value]) -> Result<Content, String> {
    let mut content = Content::default();
    for group in groups {
        let tests = tests(group)?.iter();
        let vectors = tests.map(|test| vector(group, test).and_then(gcm_can));
        sort(&mut content, VectorAlgorithm::Gcm, vectors.collect());
    }
    Ok(content)
}

/// The vectors of AES-CBC with padding. Each is for both directions; a ciphertext whose plaintext has no
/// valid padding is invalid.
pub(super) fn cbc(groups: &[Value]) -> Result<Content, String> {
    let mut content = Content::default();
    for group in groups {
        let vectors = tests(group)?.iter().map(|test| match vector(group, test) {
            // a client does not send it, so that nothing is computed
            Ok(vector) if vector.ciphertext.is_empty() => Err("a ciphertext without a block".into()),
            vector => vector,
        });
        sort(&mut content, VectorAlgorithm::CbcPadded, vectors.collect());
    }
    Ok(content)
}

/// The vectors of a mode without padding or tag. Each is for both directions.
pub(super) fn text(algorithm: VectorAlgorithm, groups: &[Value]) -> Result<Content, String> {
    let mut content = Content::default();
    for group in groups {
        let one = |test: &Value| vector(group, test).and_then(|vector| whole_blocks(algorithm, vector));
        sort(&mut content, algorithm, tests(group)?.iter().map(one).collect());
    }
    Ok(content)
}

/// The vectors of a mode that treats a message as a whole. Each is for both directions.
pub(super) fn whole(mode: OneShot, groups: &[Value]) -> Result<Content, String> {
    let mut content = Content::default();
    let algorithm = VectorAlgorithm::OneShot(mode);
    let one = |group: &Value, test: &Value| {
        let mut vector = vector(group, test)?;
        match mode {
            // the synthetic IV comes first where the file has one member for both
            OneShot::Siv if test.get("tag").is_none() => {
                let text = vector.ciphertext.split_off(vector.ciphertext.len().min(16));
                vector.tag = std::mem::replace(&mut vector.ciphertext, text);
            }
            // a short IV is the number of a data unit
            OneShot::Xts if vector.iv.len() < 16 => vector.iv.resize(16, 0),
            _ => {}
        }
        Ok(vector)
    };
    for group in groups {
        sort(&mut content, algorithm, tests(group)?.iter().map(|test| one(group, test)).collect());
    }
    Ok(content)
}

fn vector(group: &Value, test: &Value) -> Result<Vector, String> {
    let expected = match test.get("result").and_then(Value::as_str) {
        Some("valid") => Expected::Valid,
        Some("invalid") => Expected::Invalid,
        Some("acceptable") => Expected::Acceptable,
        _ => return Err("no \"result\" in the file".into()),
    };
    let if_there = |name: &str| if test.get(name).is_some() { bytes(test, &[name]) } else { Ok(Vec::new()) };
    let (key, iv, tag) = (bytes(test, &["key"])?, if_there("iv")?, if_there("tag")?);
    if test.get("tag").is_some() {
        agrees([test, group], "tagSize", tag.len())?;
    }
    Ok(Vector {
        id: id(test),
        key,
        iv,
        aad: if_there("aad")?,
        plaintext: bytes(test, &["msg"])?,
        ciphertext: bytes(test, &["ct"])?,
        tag,
        spare_bits: 0,
        units: None,
        ways: Ways::Both,
        expected,
    })
}

//! Files of Wycheproof, schema `aead_test_schema_v1.json`.

use super::blocks::{gcm_can, sort};
use super::member::{bytes, tests};
use crate::engine::job::Whole;
use crate::kat::content::Content;
use crate::kat::vector::{Expected, Vector, VectorAlgorithm, Ways};
use serde_json::Value;

/// The vectors of AES-GCM. Each is for both directions.
pub(super) fn gcm(groups: &[Value]) -> Result<Content, String> {
    let mut content = Content::default();
    for group in groups {
        let tests = tests(group)?.iter();
        sort(&mut content, VectorAlgorithm::Gcm, tests.map(|test| vector(test).and_then(gcm_can)).collect());
    }
    Ok(content)
}

/// The vectors of AES-CBC with padding. Each is for both directions; a ciphertext whose text has no valid
/// padding is invalid.
pub(super) fn cbc(groups: &[Value]) -> Result<Content, String> {
    let mut content = Content::default();
    for group in groups {
        let tests = tests(group)?.iter();
        sort(&mut content, VectorAlgorithm::CbcPadded, tests.map(vector).collect());
    }
    Ok(content)
}

/// The vectors of a mode that treats a text as a whole. Each is for both directions.
pub(super) fn whole(mode: Whole, groups: &[Value]) -> Result<Content, String> {
    let mut content = Content::default();
    let algorithm = VectorAlgorithm::Whole(mode);
    let one = |test: &Value| {
        let mut vector = vector(test)?;
        match mode {
            // the synthetic IV comes first where the file has one member for both
            Whole::Siv if test.get("tag").is_none() => {
                let text = vector.ciphertext.split_off(vector.ciphertext.len().min(16));
                vector.tag = std::mem::replace(&mut vector.ciphertext, text);
            }
            // a short IV is the number of a data unit
            Whole::Xts if vector.iv.len() < 16 => vector.iv.resize(16, 0),
            _ => {}
        }
        Ok(vector)
    };
    for group in groups {
        sort(&mut content, algorithm, tests(group)?.iter().map(one).collect());
    }
    Ok(content)
}

fn vector(test: &Value) -> Result<Vector, String> {
    let expected = match test.get("result").and_then(Value::as_str) {
        Some("valid") => Expected::Valid,
        Some("invalid") => Expected::Invalid,
        Some("acceptable") => Expected::Acceptable,
        _ => return Err("no \"result\" in the file".into()),
    };
    Ok(Vector {
        id: test.get("tcId").and_then(Value::as_u64).unwrap_or(0),
        key: bytes(test, &["key"])?,
        iv: if test.get("iv").is_some() { bytes(test, &["iv"])? } else { Vec::new() },
        aad: if test.get("aad").is_some() { bytes(test, &["aad"])? } else { Vec::new() },
        plaintext: bytes(test, &["msg"])?,
        ciphertext: bytes(test, &["ct"])?,
        tag: if test.get("tag").is_some() { bytes(test, &["tag"])? } else { Vec::new() },
        spare_bits: 0,
        units: None,
        ways: Ways::Both,
        expected,
    })
}

//! Files of the Automated Cryptographic Validation Protocol, `internalProjection.json`: questions with their answers.
//!
//! Functional tests (`AFT`, and `CTR` for the counter) are run. Monte Carlo tests feed a thousand answers into one another and say
//! nothing about an engine that the others do not: they are counted as unsupported.

use super::{Algorithm, Content, Expected, Vector, Ways, bytes, gcm_can, sort};
use serde_json::Value;

pub(super) fn groups(algorithm: Algorithm, groups: &[Value]) -> Result<Content, String> {
    let mut content = Content::default();
    for group in groups {
        let tests = group
            .get("tests")
            .and_then(Value::as_array)
            .ok_or("a test group has no \"tests\": give the whole file")?;
        let vectors = tests.iter().map(|test| {
            let vector = vector(algorithm, group, test)?;
            if algorithm == Algorithm::Gcm { gcm_can(vector) } else { whole_blocks(algorithm, vector) }
        });
        sort(&mut content, algorithm, vectors.collect());
    }
    Ok(content)
}

fn vector(algorithm: Algorithm, group: &Value, test: &Value) -> Result<Vector, String> {
    match group.get("testType").and_then(Value::as_str) {
        Some("AFT" | "CTR" | "counter") | None => {}
        Some("MCT") => return Err("a Monte Carlo test".into()),
        Some(other) => return Err(format!("a test of type {other:?}")),
    }
    for name in ["payloadLen", "aadLen"] {
        let bits = [test, group].iter().find_map(|value| value.get(name)).and_then(Value::as_u64);
        if bits.is_some_and(|bits| bits % 8 != 0) {
            return Err("a length that is no whole number of bytes".into());
        }
    }
    if group.get("incremental").and_then(Value::as_bool) == Some(false) {
        return Err("a counter that counts down".into());
    }
    let ways = match group.get("direction").and_then(Value::as_str) {
        Some("encrypt") => Ways::Encrypt,
        Some("decrypt") => Ways::Decrypt,
        _ => return Err("no \"direction\" in the file".into()),
    };
    let valid = test.get("testPassed").and_then(Value::as_bool) != Some(false);
    let gcm = algorithm == Algorithm::Gcm;
    if !valid && !gcm {
        return Err("a test that must fail, of a mode without a tag".into());
    }
    // A test that must fail tells no plaintext that could be compared.
    let plaintext = bytes(test, &["pt", "plainText"]);
    Ok(Vector {
        id: test.get("tcId").and_then(Value::as_u64).unwrap_or(0),
        key: bytes(test, &["key"])?,
        iv: if algorithm == Algorithm::Ecb { Vec::new() } else { bytes(test, &["iv"])? },
        aad: if gcm { bytes(test, &["aad"])? } else { Vec::new() },
        plaintext: if valid { plaintext? } else { plaintext.unwrap_or_default() },
        ciphertext: bytes(test, &["ct", "cipherText"])?,
        tag: if gcm { bytes(test, &["tag"])? } else { Vec::new() },
        ways,
        expected: if valid { Expected::Valid } else { Expected::Invalid },
    })
}

fn whole_blocks(algorithm: Algorithm, vector: Vector) -> Result<Vector, String> {
    let (plain, cipher) = (vector.plaintext.len(), vector.ciphertext.len());
    if plain != cipher || plain == 0 {
        return Err("texts that are empty or of different lengths".into());
    }
    if algorithm == Algorithm::Ecb && plain % 16 != 0 {
        return Err("a text that is no whole number of blocks".into());
    }
    if algorithm == Algorithm::Ctr && vector.iv.len() != 16 {
        return Err(format!("a counter of {} bits", 8 * vector.iv.len()));
    }
    Ok(vector)
}

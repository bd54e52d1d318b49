//! Files of Rooterberg (github.com/bleichenbacher-daniel/Rooterberg, version 0.5): the algorithm is an object
//! with a primitive and sizes in bits, the tests have no groups, and a test is valid unless it says
//! otherwise.

use super::{functions, wycheproof};
use crate::engine::job::OneShot;
use crate::kat::content::Content;
use crate::kat::vector::VectorAlgorithm;
use divisi_symmetric::mode::one_shot::stealing::Variant;
use serde_json::{Map, Value, json};

/// The tests of a file, if it has this format.
pub(in crate::kat) fn tests(json: &Value) -> Option<&Vec<Value>> {
    json.get("algorithm")?.get("primitive")?.as_str()?;
    json.get("tests")?.as_array()
}

/// The vectors of a file; `None` if it has another format.
pub(super) fn read(json: &Value) -> Option<Result<Content, String>> {
    let tests = tests(json)?;
    let algorithm = json.get("algorithm")?;
    let primitive = algorithm.get("primitive")?.as_str()?;
    let groups = [group(algorithm, tests)];
    let whole = |mode| wycheproof::whole(mode, &groups);
    let text = |algorithm| wycheproof::text(algorithm, &groups);
    let stolen = |variant| wycheproof::whole(OneShot::Stealing(variant), &groups);
    let read = match primitive {
        "AesGcm" => wycheproof::gcm(&groups),
        "AesGcmSiv" => whole(OneShot::GcmSiv),
        "AesCcm" => whole(OneShot::Ccm),
        "AeadAesCmacSiv" => whole(OneShot::Siv),
        "AesKw" => whole(OneShot::Kw { inverse: false }),
        "AesKwp" => whole(OneShot::Kwp { inverse: false }),
        "AesXts" => whole(OneShot::Xts),
        "AesCbcCs1" => stolen(Variant::Cs1),
        "AesCbcCs2" => stolen(Variant::Cs2),
        "AesCbcCs3" => stolen(Variant::Cs3),
        "AesCbcPkcs7" => wycheproof::cbc(&groups),
        "AesCfb8" => text(VectorAlgorithm::Cfb8),
        "AesCfb128" => text(VectorAlgorithm::Cfb128),
        "AesOfb" => text(VectorAlgorithm::Ofb),
        "AesCmac" => functions::wycheproof("AES-CMAC", &groups)?,
        other => function(other, &groups).unwrap_or_else(|| {
            let unknown = [(other.to_owned(), tests.len() as u64)].into();
            Ok(Content { unknown, ..Content::default() })
        }),
    };
    Some(read)
}

/// The vectors of a hash or MAC by the name of its primitive: `HmacSha3_224`, `Kmac128`, `Shake128`,
/// `sha-512/256`. `None` if it is not known.
fn function(primitive: &str, groups: &[Value]) -> Option<Result<Content, String>> {
    let name = primitive.replace(['_', '/'], "-");
    if let Some(hash) = name.strip_prefix("Hmac") {
        return functions::wycheproof(&format!("HMAC{}", hash.to_ascii_uppercase()), groups);
    }
    if let Some(strength) = name.strip_prefix("Kmac") {
        return functions::wycheproof(&format!("KMAC{strength}"), groups);
    }
    if let Some(strength) = name.strip_prefix("Shake") {
        return functions::acvp(&format!("SHAKE-{strength}"), groups);
    }
    let name = name.to_ascii_uppercase();
    match name.strip_prefix("SHA-") {
        Some(bits) if bits != "1" => functions::acvp(&format!("SHA2-{bits}"), groups),
        _ => functions::acvp(&name, groups),
    }
}

/// The tests as a group of Wycheproof, or for hashes of ACVP.
fn group(algorithm: &Value, tests: &[Value]) -> Value {
    let mut group = Map::new();
    let names = [
        ("keySize", "keySize"),
        ("ivSize", "ivSize"),
        ("tagSize", "tagSize"),
        ("macSize", "tagSize"),
        ("customization", "customizationHex"),
    ];
    for (from, to) in names {
        if let Some(value) = algorithm.get(from) {
            group.insert(to.into(), value.clone());
        }
    }
    group.insert("tests".into(), tests.iter().map(test).collect());
    Value::Object(group)
}

/// A test with the members of those formats.
fn test(test: &Value) -> Value {
    let mut test = test.clone();
    let Some(members) = test.as_object_mut() else { return test };
    let valid = members.get("valid").and_then(Value::as_bool) != Some(false);
    members.insert("result".into(), json!(if valid { "valid" } else { "invalid" }));
    for (from, to) in [("mac", "tag"), ("digest", "md"), ("ikm", "msg"), ("okm", "md")] {
        if let Some(value) = members.remove(from) {
            members.insert(to.into(), value);
        }
    }
    // of outputs of any length the bytes are given
    if let Some(bytes) = members.get("size").and_then(Value::as_u64) {
        members.insert("outLen".into(), json!(bytes.saturating_mul(8)));
    }
    test
}

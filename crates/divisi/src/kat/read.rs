//! Files of test vectors, read: which format a file has, and what both formats share.

use super::vector::{Algorithm, Content, Group, Vector};
use super::{acvp, functions, wycheproof};
use crate::failure::Failure;
use divisi_symmetric::aes::KeySize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// No file of test vectors is longer.
const LONGEST: u64 = 1 << 30;

/// Read files of test vectors, each with its name: answers that stand in a file of their own go to their questions.
///
/// # Errors
/// If one cannot be read, is no JSON, has an algorithm that this version does not know, or answers questions that are in none.
pub fn read(paths: &[PathBuf]) -> Result<Vec<(String, Content)>, Failure> {
    let files = paths.iter().map(|path| Ok((path.display().to_string(), json(path)?)));
    let mut files = files.collect::<Result<Vec<(String, Value)>, Failure>>()?;
    acvp::join(&mut files).map_err(Failure::usage)?;
    let parsed = files.iter().map(|(name, json)| match parse_any(json) {
        Ok(content) => Ok((name.clone(), content)),
        Err(why) => Err(Failure::usage(format!("{name}: {why}"))),
    });
    let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
    // one that is not known is counted beside others; nothing but such is a mistake
    match parsed.first() {
        Some((name, content)) if parsed.iter().all(|(_, content)| !content.unknown.is_empty()) => {
            Err(Failure::usage(format!("{name}: {}", not_known(content))))
        }
        _ => Ok(parsed),
    }
}

/// What to say of a file of an algorithm that is not known.
fn not_known(content: &Content) -> String {
    let names: Vec<&str> = content.unknown.keys().map(String::as_str).collect();
    format!(
        "the algorithm {:?} is not in this version: it runs AES-GCM, AES-CMAC, AES-GMAC, HMAC and KMAC of Wycheproof, and of ACVP \
         AES-GCM, -ECB, -CTR and -GMAC, CMAC-AES, SHA2, SHA3, SHAKE, cSHAKE, HMAC and KMAC",
        names.join(", ")
    )
}

fn json(path: &Path) -> Result<Value, Failure> {
    let shown = path.display();
    let unread = |e: std::io::Error| {
        Failure::usage(format!("{shown} cannot be read ({e}): give a JSON file of test vectors"))
    };
    if !std::fs::metadata(path).map_err(unread)?.is_file() {
        return Err(unread(std::io::Error::other("it is no file")));
    }
    let mut text = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text));
    if read.map_err(unread)? as u64 > LONGEST {
        return Err(Failure::usage(format!("{shown} has more than {LONGEST} bytes: split it")));
    }
    serde_json::from_slice(&text).map_err(|e| {
        Failure::usage(format!("{shown} is not JSON ({e}): give a file of Wycheproof (v1) or ACVP"))
    })
}

/// Read test vectors of either format.
///
/// # Errors
/// Why they cannot be read, and what to do.
pub fn parse(json: &Value) -> Result<Content, String> {
    let content = parse_any(json)?;
    if content.unknown.is_empty() { Ok(content) } else { Err(not_known(&content)) }
}

/// The same, where vectors of an algorithm that is not known are counted.
fn parse_any(json: &Value) -> Result<Content, String> {
    let json = acvp::body(json)?;
    let algorithm = json.get("algorithm").and_then(Value::as_str);
    let groups = json.get("testGroups").and_then(Value::as_array);
    let (Some(algorithm), Some(groups)) = (algorithm, groups) else {
        return Err(
            "it has no \"algorithm\" and \"testGroups\": give a file of Wycheproof (v1) or ACVP".into()
        );
    };
    match algorithm {
        "AES-GCM" => wycheproof::gcm(groups),
        "ACVP-AES-GCM" => acvp::groups(Algorithm::Gcm, groups),
        "ACVP-AES-ECB" => acvp::groups(Algorithm::Ecb, groups),
        "ACVP-AES-CTR" => acvp::groups(Algorithm::Ctr, groups),
        other => functions::acvp(other, groups)
            .or_else(|| functions::wycheproof(other, groups))
            .unwrap_or_else(|| {
                let tests =
                    |group: &Value| group.get("tests").and_then(Value::as_array).map_or(0, Vec::len) as u64;
                let vectors = groups.iter().map(tests).sum();
                Ok(Content { unknown: [(other.to_owned(), vectors)].into(), ..Content::default() })
            }),
    }
}

/// Sort a vector into a group, or say why it cannot run.
pub(super) fn sort(content: &mut Content, algorithm: Algorithm, sorted: Vec<Result<Vector, String>>) {
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    for vector in sorted {
        let vector = vector.and_then(|vector| {
            let bits = 8 * vector.key.len();
            match KeySize::from_bits(bits) {
                Some(size) => Ok((size, vector)),
                None => Err(format!("a key of {bits} bits")),
            }
        });
        match vector {
            Ok((size, vector)) => {
                let group = || Group { algorithm, size, vectors: Vec::new() };
                groups.entry(size.bits()).or_insert_with(group).vectors.push(vector);
            }
            Err(reason) => *content.unsupported.entry((algorithm, reason)).or_default() += 1,
        }
    }
    content.groups.extend(groups.into_values());
}

/// What GCM can take: 96 bits of IV, a tag of 96 to 128.
pub(super) fn gcm_can(vector: Vector) -> Result<Vector, String> {
    let (iv, tag) = (8 * vector.iv.len(), 8 * vector.tag.len());
    if iv != 96 {
        return Err(format!("an IV of {iv} bits"));
    }
    match divisi_symmetric::mode::gcm::TagLength::from_bits(tag) {
        Ok(_) => Ok(vector),
        Err(_) => Err(format!("a tag of {tag} bits")),
    }
}

/// The tests of a group. A tool that writes an empty list as `null` means an empty list.
pub(super) fn tests(group: &Value) -> Result<&[Value], String> {
    match group.get("tests") {
        Some(Value::Array(tests)) => Ok(tests),
        Some(Value::Null) => Ok(&[]),
        _ => Err("a test group has no \"tests\": give the whole file".into()),
    }
}

/// A member of a JSON object that is bytes in hexadecimal digits.
pub(super) fn bytes(test: &Value, names: &[&str]) -> Result<Vec<u8>, String> {
    let found = names.iter().find_map(|name| test.get(name)).and_then(Value::as_str);
    let name = names.first().copied().unwrap_or_default();
    hex::decode(found.ok_or_else(|| format!("no {name:?} in the file"))?)
        .map_err(|_| format!("{name:?} is not hexadecimal"))
}

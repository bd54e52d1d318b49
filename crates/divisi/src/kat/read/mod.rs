//! Reading of files of test vectors, whose format is recognised.

mod acvp;
mod blocks;
mod family;
mod fed;
mod functions;
mod ivs;
mod member;
mod units;
mod wycheproof;

#[cfg(test)]
pub(super) use {acvp::join, blocks::gcm_can, blocks::sort, member::UNANSWERED};

use super::content::Content;
use super::vector::VectorAlgorithm;
use crate::engine::job::Whole;
use crate::failure::Failure;
use divisi_symmetric::mode::whole::stealing::Variant;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The most bytes of a file of test vectors.
const LONGEST: u64 = 1 << 30;

/// Read files of test vectors. Returns the contents of each with its name; answers in a file of their own are
/// joined to their questions.
///
/// # Errors
/// If a file cannot be read, is no JSON, or has answers whose questions are in no file; if this version knows
/// the algorithm of none of the files; or if no vector of any file has input that an engine could take.
pub fn read(paths: &[PathBuf]) -> Result<Vec<(String, Content)>, Failure> {
    let files = paths.iter().map(|path| Ok((path.display().to_string(), json(path)?)));
    let mut files = files.collect::<Result<Vec<(String, Value)>, Failure>>()?;
    acvp::join(&mut files).map_err(Failure::usage)?;
    let parsed = files.iter().map(|(name, json)| match parse_any(json) {
        Ok(content) => Ok((name.clone(), content)),
        Err(why) => Err(Failure::usage(format!("{name}: {why}"))),
    });
    let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
    // vectors of an unknown algorithm are counted beside others; files with nothing else are a mistake
    match parsed.first() {
        Some((name, content)) if parsed.iter().all(|(_, content)| !content.unknown.is_empty()) => {
            Err(Failure::usage(format!("{name}: {}", not_known(content))))
        }
        _ if parsed.iter().all(|(_, content)| content.is_refused()) => match reasons(&parsed) {
            reasons if reasons.is_empty() => Ok(parsed),
            reasons => Err(Failure::usage(format!(
                "no vector has input that can run ({}): give a file with others",
                reasons.join("; ")
            ))),
        },
        _ => Ok(parsed),
    }
}

/// Why vectors cannot run on any engine, each reason once.
fn reasons(parsed: &[(String, Content)]) -> Vec<&str> {
    let all = parsed.iter().flat_map(|(_, content)| content.unsupported.keys());
    let all: BTreeSet<&str> = all.map(|(_, reason)| reason.as_str()).collect();
    all.into_iter().collect()
}

/// The error text for a file of an unknown algorithm.
fn not_known(content: &Content) -> String {
    let names: Vec<&str> = content.unknown.keys().map(String::as_str).collect();
    format!(
        "the algorithm {:?} is not in this version: it runs AES-GCM, -CCM, -GCM-SIV, -SIV-CMAC, -XTS, -WRAP, -KWP, \
         AES-CBC-PKCS5, AES-CMAC, AES-GMAC, HMAC and KMAC of Wycheproof, and of ACVP AES-GCM, -XPN, -CCM, -GCM-SIV, \
         -XTS, -KW, -KWP, -ECB, -CBC, -CBC-CS1, -CBC-CS2, -CBC-CS3, -CFB1, -CFB8, -CFB128, -OFB, -CTR and -GMAC, \
         TDES-ECB and -CBC, CMAC-AES, CMAC-TDES, SHA2, SHA3, SHAKE, cSHAKE, HMAC and KMAC",
        names.join(", ")
    )
}

fn json(path: &Path) -> Result<Value, Failure> {
    let shown = path.display();
    let unread = |e: std::io::Error| {
        Failure::usage(format!("{shown} cannot be read ({e}): give a JSON file of test vectors"))
    };
    if !std::fs::metadata(path).map_err(unread)?.is_file() {
        return Err(unread(std::io::Error::other("it is not a regular file")));
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
/// If they cannot be read, or their algorithm is not known; the text says why, and what to do.
pub fn parse(json: &Value) -> Result<Content, String> {
    let content = parse_any(json)?;
    if content.unknown.is_empty() { Ok(content) } else { Err(not_known(&content)) }
}

/// Like [`parse`], but vectors of an unknown algorithm are counted and no error.
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
        "ACVP-AES-GCM" => acvp::groups(VectorAlgorithm::Gcm, groups),
        "ACVP-AES-XPN" => acvp::groups(VectorAlgorithm::Xpn, groups),
        "ACVP-AES-ECB" => acvp::groups(VectorAlgorithm::Ecb, groups),
        "ACVP-AES-CTR" => acvp::groups(VectorAlgorithm::Ctr, groups),
        "ACVP-AES-CBC" => acvp::groups(VectorAlgorithm::Cbc, groups),
        "ACVP-AES-CFB8" => acvp::groups(VectorAlgorithm::Cfb8, groups),
        "ACVP-AES-CFB128" => acvp::groups(VectorAlgorithm::Cfb128, groups),
        "ACVP-AES-OFB" => acvp::groups(VectorAlgorithm::Ofb, groups),
        "ACVP-TDES-ECB" => acvp::groups(VectorAlgorithm::TripleEcb, groups),
        "ACVP-TDES-CBC" => acvp::groups(VectorAlgorithm::TripleCbc, groups),
        "CMAC-TDES" => acvp::tags(groups),
        "AES-CBC-PKCS5" => wycheproof::cbc(groups),
        "AES-KW" | "AES-WRAP" => wycheproof::whole(Whole::Kw { inverse: false }, groups),
        "AES-KWP" => wycheproof::whole(Whole::Kwp { inverse: false }, groups),
        "AES-SIV-CMAC" | "AEAD-AES-SIV-CMAC" => wycheproof::whole(Whole::Siv, groups),
        "AES-CCM" => wycheproof::whole(Whole::Ccm, groups),
        "AES-GCM-SIV" => wycheproof::whole(Whole::GcmSiv, groups),
        "AES-XTS" => wycheproof::whole(Whole::Xts, groups),
        "ACVP-AES-KW" => acvp::groups(VectorAlgorithm::Whole(Whole::Kw { inverse: false }), groups),
        "ACVP-AES-KWP" => acvp::groups(VectorAlgorithm::Whole(Whole::Kwp { inverse: false }), groups),
        "ACVP-AES-CCM" => acvp::groups(VectorAlgorithm::Whole(Whole::Ccm), groups),
        "ACVP-AES-GCM-SIV" => acvp::groups(VectorAlgorithm::Whole(Whole::GcmSiv), groups),
        "ACVP-AES-XTS" => acvp::groups(VectorAlgorithm::Whole(Whole::Xts), groups),
        "ACVP-AES-CFB1" => acvp::groups(VectorAlgorithm::Whole(Whole::Cfb1), groups),
        "ACVP-AES-CBC-CS1" => acvp::groups(VectorAlgorithm::Whole(Whole::Stealing(Variant::Cs1)), groups),
        "ACVP-AES-CBC-CS2" => acvp::groups(VectorAlgorithm::Whole(Whole::Stealing(Variant::Cs2)), groups),
        "ACVP-AES-CBC-CS3" => acvp::groups(VectorAlgorithm::Whole(Whole::Stealing(Variant::Cs3)), groups),
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

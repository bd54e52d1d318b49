//! Reading of files of test vectors, whose format is recognised.

mod acvp;
mod blocks;
mod declared;
mod decode;
mod family;
mod fed;
mod functions;
mod ivs;
mod member;
mod rooterberg;
mod rsp;
mod units;
mod wycheproof;

#[cfg(test)]
pub(super) use {acvp::join, decode::decode, member::UNANSWERED, rooterberg::tests as rooterberg_tests};

use super::content::Content;
use super::vector::VectorAlgorithm;
use crate::engine::job::OneShot;
use crate::failure::Failure;
use divisi_symmetric::mode::one_shot::stealing::Variant;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most bytes of a file of test vectors.
const LONGEST: u64 = 1 << 30;

/// Read files of test vectors. Returns the contents of each with its name; answers in a file of their own are
/// joined to their questions.
///
/// # Errors
/// If a file cannot be read, has no format that is known here, or has answers whose questions are in no file;
/// if this version knows the algorithm of none of the files; or if no vector of any file has input that an
/// engine could take.
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
        _ => match refused(&parsed) {
            Some(why) => Err(Failure::usage(why)),
            None => Ok(parsed),
        },
    }
}

/// Why no vector of any file has input that an engine could take; `None` if some vector has, if there are no
/// vectors, or if a vector contradicts its file, which is counted like a wrong one.
fn refused(parsed: &[(String, Content)]) -> Option<String> {
    let reasons = reasons(parsed);
    let refused = !reasons.is_empty()
        && !reasons.iter().any(|reason| declared::contradicts(reason))
        && parsed.iter().all(|(_, content)| content.is_refused());
    let why =
        || format!("no vector has input that can run ({}): give a file with others", reasons.join("; "));
    refused.then(why)
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
         TDES-ECB and -CBC, CMAC-AES, CMAC-TDES, SHA2, SHA3, SHAKE, cSHAKE, HMAC and KMAC; of Rooterberg and of \
         NIST's CAVP (.rsp) those of them that they have",
        names.join(", ")
    )
}

fn json(path: &Path) -> Result<Value, Failure> {
    let shown = path.display();
    let unread = |e: std::io::Error| {
        Failure::usage(format!("{shown} cannot be read ({e}): give a file of test vectors"))
    };
    let text = crate::source::read(path, LONGEST).map_err(|e| match e.kind() {
        std::io::ErrorKind::FileTooLarge => {
            Failure::usage(format!("{shown} has more than {LONGEST} bytes: split it"))
        }
        _ => unread(e),
    })?;
    let name = path.display().to_string();
    formatted(&name, text.to_vec()).map_err(|why| Failure::usage(format!("{shown} {why}")))
}

/// The contents of a file of this name: JSON, or what the lines of a .rsp file say in the form of JSON.
pub(super) fn formatted(name: &str, bytes: Vec<u8>) -> Result<Value, String> {
    let known = "give a file of Wycheproof, Rooterberg or ACVP, or a .rsp of NIST's CAVP";
    let text = decode::decode(bytes).map_err(|why| format!("is no text ({why}): {known}"))?;
    serde_json::from_str(&text).or_else(|e| match rsp::is_rsp(&text) {
        true => rsp::read(name, &text).map_err(|why| format!("cannot be read as a .rsp file: {why}")),
        false => Err(format!("is not JSON ({e}): {known}")),
    })
}

/// Reads the test groups of a file.
type Groups = fn(&[Value]) -> Result<Content, String>;

/// The modes that encrypt messages, by the names that files give them, each with what reads its groups.
/// Hashes and MACs are in `functions`.
const MODES: [(&str, Groups); 32] = [
    ("AES-GCM", wycheproof::gcm),
    ("ACVP-AES-GCM", |groups| acvp::groups(VectorAlgorithm::Gcm, groups)),
    ("ACVP-AES-XPN", |groups| acvp::groups(VectorAlgorithm::Xpn, groups)),
    ("ACVP-AES-ECB", |groups| acvp::groups(VectorAlgorithm::Ecb, groups)),
    ("ACVP-AES-CTR", |groups| acvp::groups(VectorAlgorithm::Ctr, groups)),
    ("ACVP-AES-CBC", |groups| acvp::groups(VectorAlgorithm::Cbc, groups)),
    ("ACVP-AES-CFB8", |groups| acvp::groups(VectorAlgorithm::Cfb8, groups)),
    ("ACVP-AES-CFB128", |groups| acvp::groups(VectorAlgorithm::Cfb128, groups)),
    ("ACVP-AES-OFB", |groups| acvp::groups(VectorAlgorithm::Ofb, groups)),
    ("ACVP-TDES-ECB", |groups| acvp::groups(VectorAlgorithm::TripleEcb, groups)),
    ("ACVP-TDES-CBC", |groups| acvp::groups(VectorAlgorithm::TripleCbc, groups)),
    ("CMAC-TDES", acvp::tags),
    ("AES-CBC-PKCS5", wycheproof::cbc),
    ("AES-KW", |groups| wycheproof::whole(OneShot::Kw { inverse: false }, groups)),
    ("KW", |groups| wycheproof::whole(OneShot::Kw { inverse: false }, groups)),
    ("KWP", |groups| wycheproof::whole(OneShot::Kwp { inverse: false }, groups)),
    ("AES-WRAP", |groups| wycheproof::whole(OneShot::Kw { inverse: false }, groups)),
    ("AES-KWP", |groups| wycheproof::whole(OneShot::Kwp { inverse: false }, groups)),
    ("AES-SIV-CMAC", |groups| wycheproof::whole(OneShot::Siv, groups)),
    ("AEAD-AES-SIV-CMAC", |groups| wycheproof::whole(OneShot::Siv, groups)),
    ("AES-CCM", |groups| wycheproof::whole(OneShot::Ccm, groups)),
    ("AES-GCM-SIV", |groups| wycheproof::whole(OneShot::GcmSiv, groups)),
    ("AES-XTS", |groups| wycheproof::whole(OneShot::Xts, groups)),
    ("ACVP-AES-KW", |groups| acvp::groups(VectorAlgorithm::OneShot(OneShot::Kw { inverse: false }), groups)),
    ("ACVP-AES-KWP", |groups| {
        acvp::groups(VectorAlgorithm::OneShot(OneShot::Kwp { inverse: false }), groups)
    }),
    ("ACVP-AES-CCM", |groups| acvp::groups(VectorAlgorithm::OneShot(OneShot::Ccm), groups)),
    ("ACVP-AES-GCM-SIV", |groups| acvp::groups(VectorAlgorithm::OneShot(OneShot::GcmSiv), groups)),
    ("ACVP-AES-XTS", |groups| acvp::groups(VectorAlgorithm::OneShot(OneShot::Xts), groups)),
    ("ACVP-AES-CFB1", |groups| acvp::groups(VectorAlgorithm::OneShot(OneShot::Cfb1), groups)),
    ("ACVP-AES-CBC-CS1", |groups| {
        acvp::groups(VectorAlgorithm::OneShot(OneShot::Stealing(Variant::Cs1)), groups)
    }),
    ("ACVP-AES-CBC-CS2", |groups| {
        acvp::groups(VectorAlgorithm::OneShot(OneShot::Stealing(Variant::Cs2)), groups)
    }),
    ("ACVP-AES-CBC-CS3", |groups| {
        acvp::groups(VectorAlgorithm::OneShot(OneShot::Stealing(Variant::Cs3)), groups)
    }),
];

/// Read test vectors of any format in JSON.
///
/// # Errors
/// If they cannot be read, or their algorithm is not known; the text says why, and what to do.
pub fn parse(json: &Value) -> Result<Content, String> {
    let content = parse_any(json)?;
    if content.unknown.is_empty() { Ok(content) } else { Err(not_known(&content)) }
}

/// Like [`parse`], but vectors of an unknown algorithm are counted and no error.
fn parse_any(json: &Value) -> Result<Content, String> {
    if let Some(content) = rooterberg::read(json) {
        return content;
    }
    let json = acvp::body(json)?;
    let algorithm = json.get("algorithm").and_then(Value::as_str);
    let groups = json.get("testGroups").and_then(Value::as_array);
    let (Some(algorithm), Some(groups)) = (algorithm, groups) else {
        return Err(
            "it has no \"algorithm\" and \"testGroups\": give a file of Wycheproof, Rooterberg or ACVP"
                .into(),
        );
    };
    let messages = MODES.iter().find(|(name, _)| *name == algorithm).map(|(_, read)| read(groups));
    let content = messages.or_else(|| functions::acvp(algorithm, groups));
    content.or_else(|| functions::wycheproof(algorithm, groups)).unwrap_or_else(|| {
        let tests = |group: &Value| group.get("tests").and_then(Value::as_array).map_or(0, Vec::len) as u64;
        let vectors = groups.iter().map(tests).sum();
        Ok(Content { unknown: [(algorithm.to_owned(), vectors)].into(), ..Content::default() })
    })
}

/// The kinds of files that are known here: names of modes that encrypt messages, and what the names of hashes
/// and MACs begin with.
#[cfg(test)]
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    MODES.iter().map(|(name, _)| *name).chain(functions::kinds())
}

/// The kind of a file of this algorithm, if it is known.
#[cfg(test)]
pub(super) fn kind(algorithm: &str) -> Option<&'static str> {
    let messages = MODES.iter().map(|(name, _)| *name).find(|name| *name == algorithm);
    messages.or_else(|| functions::kind(algorithm))
}

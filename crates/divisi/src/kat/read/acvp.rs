//! Files of the Automated Cryptographic Validation Protocol: `internalProjection.json` has questions with
//! their answers, `prompt.json` the questions, and `expectedResults.json` the answers by the numbers of group
//! and test.
//!
//! Functional tests (`AFT`, and `CTR` for the counter) are run; Monte Carlo tests (`MCT`) and large data
//! (`LDT`) only if long tests are asked for.

use super::blocks::{gcm_can, sort, whole_blocks};
use super::declared::agrees;
use super::family::id;
use super::member::{self, UNANSWERED, bytes};
use super::{ivs, units};
use crate::engine::job::{Cipher, OneShot};
use crate::kat::content::Content;
use crate::kat::monte::{Fed, ModeChains, Monte, Thousand};
use crate::kat::vector::{Expected, Vector, VectorAlgorithm, Ways};
use divisi_core::Direction;
use serde_json::Value;

/// Whether something is a set of vectors.
fn is_set(json: &Value) -> bool {
    json.get("testGroups").is_some()
}

/// The sets of vectors in a file: servers send an array whose first element has the version.
fn sets(json: Value) -> Vec<Value> {
    match json {
        Value::Array(parts) if parts.iter().any(is_set) => parts.into_iter().filter(is_set).collect(),
        other => vec![other],
    }
}

/// The set of vectors of a file that has only one.
pub(super) fn body(json: &Value) -> Result<&Value, String> {
    let mut parts = json.as_array().into_iter().flatten().filter(|part| is_set(part));
    match (parts.next(), parts.next()) {
        (Some(_), Some(_)) => Err("several sets of vectors in one file: give them one by one".into()),
        (one, _) => Ok(one.unwrap_or(json)),
    }
}

/// Take files apart into their sets of vectors, and put the answers of each set that has nothing but answers
/// into the set with its questions: the one with the same number and algorithm.
///
/// # Errors
/// If no set or more than one has the questions of some answers, or if a set lacks the question of an answer.
pub(in crate::kat) fn join(files: &mut Vec<(String, Value)>) -> Result<(), String> {
    let sets = std::mem::take(files)
        .into_iter()
        .flat_map(|(name, json)| sets(json).into_iter().map(move |set| (name.clone(), set)));
    let (answers, mut others): (Vec<_>, Vec<_>) = sets.partition(|(_, json)| has_answers_alone(json));
    for (name, answers) in answers {
        let same = |question: &Value, member: &str| match (question.get(member), answers.get(member)) {
            (Some(x), Some(y)) => x == y,
            _ => true,
        };
        let fits = |question: &Value| {
            question.get("vsId").is_some()
                && ["vsId", "algorithm", "mode", "revision"].iter().all(|member| same(question, member))
        };
        let mut questions = others.iter_mut().map(|(_, json)| json).filter(|json| fits(json));
        let (filled, all) = match (questions.next(), questions.next()) {
            (Some(question), None) => fill(question, &answers),
            (None, _) => (0, 0),
            _ => {
                return Err(format!(
                    "{name} may answer the questions of several files: give it with its own prompt.json alone"
                ));
            }
        };
        if filled == 0 {
            return Err(format!("{name} has answers without questions: give its prompt.json, too"));
        }
        if filled < all {
            return Err(format!(
                "{name} has {} answers to questions that its prompt.json does not have: give the whole file",
                all - filled
            ));
        }
    }
    *files = others;
    Ok(())
}

fn tests(group: &Value) -> impl Iterator<Item = &Value> {
    group.get("tests").and_then(Value::as_array).into_iter().flatten()
}

fn groups_of(body: &Value) -> impl Iterator<Item = &Value> {
    body.get("testGroups").and_then(Value::as_array).into_iter().flatten()
}

/// Whether a set of vectors has answers alone: no group says what is tested, and no test has a question.
fn has_answers_alone(body: &Value) -> bool {
    let asks =
        |test: &Value| ["key", "msg", "message", "aad"].iter().any(|member| test.get(member).is_some());
    body.get("vsId").is_some()
        && groups_of(body).next().is_some()
        && groups_of(body).all(|group| group.get("testType").is_none() && !tests(group).any(asks))
}

/// Give each test the members of the answer with its number that the test lacks. Returns how many answers
/// found their test, and how many answers there are.
fn fill(question: &mut Value, answers: &Value) -> (usize, usize) {
    let number = |value: &Value, name: &str| value.get(name).and_then(Value::as_u64);
    let mut by_number = std::collections::BTreeMap::new();
    for group in groups_of(answers) {
        for test in tests(group) {
            if let (Some(tc), Some(test)) = (number(test, "tcId"), test.as_object()) {
                by_number.insert((number(group, "tgId"), tc), test);
            }
        }
    }
    let all = by_number.len();
    let groups = question.get_mut("testGroups").and_then(Value::as_array_mut).into_iter().flatten();
    for group in groups {
        let tg = number(group, "tgId");
        for test in group.get_mut("tests").and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(answer) = number(test, "tcId").and_then(|tc| by_number.remove(&(tg, tc))) else {
                continue;
            };
            if let Some(test) = test.as_object_mut() {
                for (member, value) in answer {
                    test.entry(member.clone()).or_insert_with(|| value.clone());
                }
            }
        }
    }
    (all - by_number.len(), all)
}

pub(super) fn groups(algorithm: VectorAlgorithm, groups: &[Value]) -> Result<Content, String> {
    let mut content = Content::default();
    for group in groups {
        // the direction of the cipher that wraps
        let inverse = group.get("kwCipher").and_then(Value::as_str) == Some("inverse");
        let algorithm = match algorithm {
            VectorAlgorithm::OneShot(OneShot::Kw { .. }) => VectorAlgorithm::OneShot(OneShot::Kw { inverse }),
            VectorAlgorithm::OneShot(OneShot::Kwp { .. }) => {
                VectorAlgorithm::OneShot(OneShot::Kwp { inverse })
            }
            algorithm => algorithm,
        };
        if group.get("testType").and_then(Value::as_str) == Some("MCT") && is_fed(algorithm) {
            for test in member::tests(group)? {
                match monte(algorithm, group, test) {
                    Ok(monte) => content.monte.push(monte),
                    Err(reason) => *content.unsupported.entry((algorithm, reason)).or_default() += 1,
                }
            }
            continue;
        }
        let vectors = member::tests(group)?.iter().map(|test| {
            let vector = vector(algorithm, group, test)?;
            match algorithm {
                VectorAlgorithm::Gcm | VectorAlgorithm::Xpn => gcm_can(vector),
                VectorAlgorithm::OneShot(_) => Ok(vector),
                _ => whole_blocks(algorithm, vector),
            }
        });
        sort(&mut content, algorithm, vectors.collect());
    }
    Ok(content)
}

fn vector(algorithm: VectorAlgorithm, group: &Value, test: &Value) -> Result<Vector, String> {
    match group.get("testType").and_then(Value::as_str) {
        Some("AFT" | "CTR" | "counter") | None => {}
        Some("MCT") => return Err("a Monte Carlo test".into()),
        Some(other) => return Err(format!("a test of type {other:?}")),
    }
    let number = |name: &str| [test, group].iter().find_map(|value| value.get(name)).and_then(Value::as_u64);
    let within = |name: &str| number(name).map_or(0, |bits| bits % 8) as usize;
    let bit_by_bit = algorithm.counts_bits();
    if within("aadLen") != 0 || (within("payloadLen") != 0 && !bit_by_bit) {
        return Err("a length that is no whole number of bytes".into());
    }
    let ways = match group.get("direction").and_then(Value::as_str) {
        Some("encrypt") => Ways::Encrypt,
        Some("decrypt") => Ways::Decrypt,
        _ => return Err("no \"direction\" in the file".into()),
    };
    let valid = test.get("testPassed").and_then(Value::as_bool) != Some(false);
    let gcm = algorithm.is_gcm();
    let whole = if let VectorAlgorithm::OneShot(mode) = algorithm { Some(mode) } else { None };
    let decides = whole.is_some_and(|mode| {
        matches!(
            mode,
            OneShot::Kw { .. } | OneShot::Kwp { .. } | OneShot::Siv | OneShot::Ccm | OneShot::GcmSiv
        )
    });
    if !valid && !gcm && !decides {
        return Err("a test of a mode without a tag that must fail".into());
    }
    // A test that must fail has no plaintext to compare with.
    let plaintext = bytes(test, &["pt", "plainText"]);
    let answer = if ways == Ways::Encrypt { &["ct", "cipherText"] } else { &["pt", "plainText"] };
    if valid && answer.iter().all(|name| test.get(name).is_none()) {
        return Err(UNANSWERED.into());
    }
    let mut ciphertext = bytes(test, &["ct", "cipherText"])?;
    // the tag, which follows the ciphertext in the same member
    let tag_bytes = match whole {
        Some(OneShot::Ccm) => number("tagLen").and_then(|bits| usize::try_from(bits / 8).ok()).unwrap_or(16),
        Some(OneShot::GcmSiv) => 16,
        _ => 0,
    };
    let tag = ciphertext.split_off(ciphertext.len().saturating_sub(tag_bytes));
    let aead = gcm || matches!(whole, Some(OneShot::Ccm | OneShot::GcmSiv));
    let plaintext = if valid { plaintext? } else { plaintext.unwrap_or_default() };
    let key = key(test)?;
    let bits = |name: &str| number(name).and_then(|bits| usize::try_from(bits).ok());
    let units = match (whole, bits("dataUnitLen"), bits("payloadLen")) {
        (Some(OneShot::Xts), Some(unit), Some(all)) if unit < all => {
            let fits = [plaintext.len(), ciphertext.len()] == [all.div_ceil(8); 2];
            let messages = [&plaintext, &ciphertext].map(Vec::as_slice);
            Some(fits.then(|| units::read(unit, all, &key, &tweak(test).ok()?, messages)).flatten().ok_or(
                "data units of less than a block, which the standard does not have, or of other lengths than it says",
            )?)
        }
        _ if algorithm == VectorAlgorithm::Ctr
            && group.get("incremental").and_then(Value::as_bool) == Some(false) =>
        {
            Some(
                units::down(&bytes(test, &["iv"])?, plaintext.len())
                    .ok_or("a counter of another length than 128 bits")?,
            )
        }
        _ => None,
    };
    let tag = if gcm { bytes(test, &["tag"])? } else { tag };
    let iv = match algorithm {
        VectorAlgorithm::Ecb
        | VectorAlgorithm::TripleEcb
        | VectorAlgorithm::OneShot(OneShot::Kw { .. } | OneShot::Kwp { .. }) => Vec::new(),
        VectorAlgorithm::OneShot(OneShot::Xts) => tweak(test)?,
        VectorAlgorithm::Gcm => ivs::of_gcm(group, test)?,
        VectorAlgorithm::Xpn => ivs::of_xpn(group, test)?,
        _ => bytes(test, &["iv"])?,
    };
    let aad = if aead { bytes(test, &["aad"])? } else { Vec::new() };
    if aead {
        agrees([test, group], "tagLen", tag.len())?;
    }
    Ok(Vector {
        id: id(test),
        key,
        units,
        iv,
        aad,
        plaintext,
        ciphertext,
        tag,
        spare_bits: (8 - within("payloadLen")) % 8,
        ways,
        expected: if valid { Expected::Valid } else { Expected::Invalid },
    })
}

/// Whether the Monte Carlo tests of an algorithm are known here.
fn is_fed(algorithm: VectorAlgorithm) -> bool {
    matches!(
        algorithm,
        VectorAlgorithm::Ecb
            | VectorAlgorithm::Cbc
            | VectorAlgorithm::Ofb
            | VectorAlgorithm::Cfb8
            | VectorAlgorithm::Cfb128
            | VectorAlgorithm::TripleEcb
            | VectorAlgorithm::TripleCbc
            | VectorAlgorithm::OneShot(OneShot::Cfb1)
    )
}

/// A Monte Carlo test of a mode: each entry of its array is a chain, with its beginning and its end.
fn monte(algorithm: VectorAlgorithm, group: &Value, test: &Value) -> Result<Monte, String> {
    let direction = match group.get("direction").and_then(Value::as_str) {
        Some("encrypt") => Direction::Encrypt,
        Some("decrypt") => Direction::Decrypt,
        _ => return Err("no \"direction\" in the file".into()),
    };
    let all = test.get("resultsArray").and_then(Value::as_array).ok_or(UNANSWERED)?;
    let block = algorithm.block_bytes();
    let iv_bytes =
        if matches!(algorithm, VectorAlgorithm::Ecb | VectorAlgorithm::TripleEcb) { 0 } else { block };
    let lane = |entry: &Value| -> Result<Thousand, String> {
        let (plain, cipher) = (bytes(entry, &["pt", "plainText"])?, bytes(entry, &["ct", "cipherText"])?);
        let (text, end) = if direction == Direction::Encrypt { (plain, cipher) } else { (cipher, plain) };
        let iv = if iv_bytes == 0 { Vec::new() } else { bytes(entry, &["iv"])? };
        Ok(Thousand { key: key(entry)?, iv, text, end })
    };
    let lanes = all.iter().map(lane).collect::<Result<Vec<_>, _>>()?;
    let key_bytes = lanes.first().map_or(0, |lane| lane.key.len());
    let unit = match algorithm {
        VectorAlgorithm::Cfb8 | VectorAlgorithm::OneShot(OneShot::Cfb1) => 1,
        _ => block,
    };
    let whole = |lane: &Thousand| {
        (lane.key.len(), lane.text.len(), lane.end.len(), lane.iv.len()) == (key_bytes, unit, unit, iv_bytes)
    };
    let name = if algorithm.is_triple_des() { "des3" } else { "aes" };
    let cipher =
        Cipher::from_key(name, key_bytes).ok_or_else(|| format!("a key of {} bits", 8 * key_bytes))?;
    if lanes.is_empty() || !lanes.iter().all(whole) {
        return Err("a Monte Carlo test whose parts are no blocks".into());
    }
    let id = id(test);
    Ok(Monte::new(id, algorithm, Fed::Modes(ModeChains { cipher, direction, lanes })))
}

/// The tweak of a data unit: its bytes, or its number, the lowest byte first (SP 800-38E).
fn tweak(test: &Value) -> Result<Vec<u8>, String> {
    match test.get("sequenceNumber").and_then(Value::as_u64) {
        Some(number) => Ok(u128::from(number).to_le_bytes().to_vec()),
        None => bytes(test, &["tweakValue", "i", "iv"]),
    }
}

/// The key of a test; one of triple DES may be given in three parts.
fn key(test: &Value) -> Result<Vec<u8>, String> {
    if test.get("key").is_none() && test.get("key1").is_some() {
        let parts = ["key1", "key2", "key3"].map(|part| bytes(test, &[part]));
        return parts.into_iter().collect::<Result<Vec<_>, _>>().map(|parts| parts.concat());
    }
    bytes(test, &["key"])
}

/// Tags by triple DES, made or compared.
pub(super) fn tags(groups: &[Value]) -> Result<Content, String> {
    let mut content = Content::default();
    for group in groups {
        let vectors = member::tests(group)?.iter().map(|test| tag(group, test)).collect();
        sort(&mut content, VectorAlgorithm::TripleCmac, vectors);
    }
    Ok(content)
}

fn tag(group: &Value, test: &Value) -> Result<Vector, String> {
    match group.get("testType").and_then(Value::as_str) {
        Some("AFT") | None => {}
        Some("MCT") => return Err("a Monte Carlo test".into()),
        Some(other) => return Err(format!("a test of type {other:?}")),
    }
    let number = |name: &str| [test, group].iter().find_map(|value| value.get(name)).and_then(Value::as_u64);
    if ["msgLen", "macLen"].iter().any(|name| number(name).is_some_and(|bits| bits % 8 != 0)) {
        return Err("a length that is no whole number of bytes".into());
    }
    let verifies = group.get("direction").and_then(Value::as_str) == Some("ver");
    if test.get("mac").is_none() || (verifies && test.get("testPassed").is_none()) {
        return Err(UNANSWERED.into());
    }
    let valid = test.get("testPassed").and_then(Value::as_bool) != Some(false);
    let mut message = bytes(test, &["message", "msg"])?;
    // an empty message may be written as a byte
    if let Some(length) = number("msgLen").and_then(|bits| usize::try_from(bits / 8).ok()) {
        if length > message.len() {
            return Err("a message that is shorter than its length says".into());
        }
        message.truncate(length);
    }
    let tag = bytes(test, &["mac"])?;
    agrees([test, group], "macLen", tag.len())?;
    if tag.is_empty() || tag.len() > 8 {
        return Err(format!("a tag of {} bits", 8 * tag.len()));
    }
    Ok(Vector {
        id: id(test),
        key: key(test)?,
        iv: Vec::new(),
        aad: Vec::new(),
        plaintext: message,
        ciphertext: Vec::new(),
        tag,
        spare_bits: 0,
        units: None,
        ways: if verifies { Ways::Decrypt } else { Ways::Encrypt },
        expected: if valid { Expected::Valid } else { Expected::Invalid },
    })
}

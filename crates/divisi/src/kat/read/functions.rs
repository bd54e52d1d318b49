//! Files of ACVP and Wycheproof with vectors of hashes and MACs.

use super::declared::agrees;
use super::family::{BIT_LENGTH, Family, hash, id, settings, strength};
use super::member::{UNANSWERED, bytes, tests};
use crate::kat::content::Content;
use crate::kat::functions::{MessageGroup, MessageVector};
use crate::kat::vector::Expected;
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::hash::Hash;
use serde_json::Value;

/// What is said by the rest of an algorithm's name, after a known beginning.
type Rest = fn(&str) -> Option<Family>;

/// What names of ACVP begin with.
const ACVP: [(&str, Rest); 8] = [
    ("HMAC-", |rest| hash(rest).map(Family::Hmac)),
    ("cSHAKE-", |rest| strength(rest).map(Family::Cshake)),
    ("CSHAKE-", |rest| strength(rest).map(Family::Cshake)),
    ("SHAKE-", |rest| strength(rest).map(Family::Shake)),
    ("KMAC-", |rest| strength(rest).map(Family::Kmac)),
    ("SHA", |rest| hash(&format!("SHA{rest}")).map(Family::Hash)),
    ("CMAC-AES", |rest| rest.is_empty().then_some(Family::Cmac)),
    ("ACVP-AES-GMAC", |rest| rest.is_empty().then_some(Family::Gmac)),
];

/// What names of Wycheproof begin with.
const WYCHEPROOF: [(&str, Rest); 4] = [
    ("HMAC", |rest| hash(rest.trim_start_matches('-')).map(Family::Hmac)),
    ("KMAC", |rest| strength(rest.trim_start_matches('-')).map(Family::Kmac)),
    ("AES-CMAC", |rest| rest.is_empty().then_some(Family::Cmac)),
    ("AES-GMAC", |rest| rest.is_empty().then_some(Family::Gmac)),
];

/// The functions of an algorithm, and the beginning of its name by which they are known; `None` if they are
/// not known here.
fn known(names: &[(&'static str, Rest)], algorithm: &str) -> Option<(&'static str, Family)> {
    names.iter().find_map(|(name, rest)| Some((*name, rest(algorithm.strip_prefix(name)?)?)))
}

/// All beginnings of names.
#[cfg(test)]
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    ACVP.iter().chain(&WYCHEPROOF).map(|(name, _)| *name)
}

/// The beginning by which the name of an algorithm is known.
#[cfg(test)]
pub(super) fn kind(algorithm: &str) -> Option<&'static str> {
    known(&ACVP, algorithm).or_else(|| known(&WYCHEPROOF, algorithm)).map(|(name, _)| name)
}

/// The vectors of an ACVP file of that algorithm; `None` if it is no hash or MAC that is known here.
pub(super) fn acvp(algorithm: &str, groups: &[Value]) -> Option<Result<Content, String>> {
    let (_, family) = known(&ACVP, algorithm)?;
    let (fed, others): (Vec<&Value>, Vec<&Value>) =
        groups.iter().partition(|group| super::fed::is_fed(family, group));
    Some(sort(family, &others, |group, test| acvp_vector(family, group, test)).and_then(|mut content| {
        fed.into_iter().try_for_each(|group| super::fed::read(&mut content, family, group))?;
        Ok(content)
    }))
}

/// The vectors of a Wycheproof file of that algorithm; `None` if it is no MAC that is known here.
pub(super) fn wycheproof(algorithm: &str, groups: &[Value]) -> Option<Result<Content, String>> {
    let (_, family) = known(&WYCHEPROOF, algorithm)?;
    let groups: Vec<&Value> = groups.iter().collect();
    Some(sort(family, &groups, |group, test| wycheproof_vector(family, group, test)))
}

/// A vector and the settings of its function, or why it cannot run.
type Sorted = Result<(Settings, MessageVector), String>;

fn sort(
    family: Family,
    groups: &[&Value],
    vector: impl Fn(&Value, &Value) -> Sorted,
) -> Result<Content, String> {
    let mut content = Content::default();
    for group in groups {
        let mut sorted: Vec<MessageGroup> = Vec::new();
        for test in tests(group)? {
            match vector(group, test) {
                Ok((settings, vector)) => {
                    // an IV of 96 bits is a part of the counter block, one of another length is hashed
                    let kind = |v: &MessageVector| (v.key.len(), v.nonce.len() == 12);
                    let own = kind(&vector);
                    let like = |group: &&mut MessageGroup| {
                        group.settings == settings && group.vectors.first().is_some_and(|v| kind(v) == own)
                    };
                    match sorted.iter_mut().find(like) {
                        Some(group) => group.vectors.push(vector),
                        None => sorted.push(MessageGroup { settings, vectors: vec![vector] }),
                    }
                }
                Err(reason) => content.count(family, group, test, reason),
            }
        }
        content.functions.extend(sorted);
    }
    Ok(content)
}

fn nonce(family: Family, test: &Value) -> Result<Vec<u8>, String> {
    if !matches!(family, Family::Gmac) {
        return Ok(vec![0; 12]);
    }
    let iv = bytes(test, &["iv"])?;
    // SP 800-38D, 5.2.1.1: at least one bit
    if iv.is_empty() { Err("an IV of 0 bits, which the standard does not have".into()) } else { Ok(iv) }
}

/// The number of bits of the last byte that do not belong to a message of this many bits.
fn spare(bits: usize) -> usize {
    bits.div_ceil(8) * 8 - bits
}

fn wycheproof_vector(family: Family, group: &Value, test: &Value) -> Sorted {
    let expected = match test.get("result").and_then(Value::as_str) {
        Some("valid") => Expected::Valid,
        Some("invalid") => Expected::Invalid,
        Some("acceptable") => Expected::Acceptable,
        _ => return Err("no \"result\" in the file".into()),
    };
    let (key, output) = (bytes(test, &["key"])?, bytes(test, &["tag"])?);
    let mut settings = settings(family, &key, &output)?;
    agrees([test, group], "tagSize", output.len())?;
    if let (Family::Kmac(_), Some(_)) = (family, group.get("customizationHex")) {
        settings.customization = bytes(group, &["customizationHex"])?;
    }
    let makes = expected == Expected::Valid;
    let (nonce, message) = (nonce(family, test)?, bytes(test, &["msg"])?);
    Ok((
        settings,
        MessageVector {
            id: id(test),
            key,
            nonce,
            message,
            spare_bits: 0,
            output,
            makes,
            compares: true,
            expected,
        },
    ))
}

fn acvp_vector(family: Family, group: &Value, test: &Value) -> Sorted {
    match group.get("testType").and_then(Value::as_str) {
        Some("AFT" | "VOT" | "MVT") | None => {}
        Some("MCT") => return Err("a Monte Carlo test of a version that is not supported".into()),
        Some("LDT") => return Err("a test of large data".into()),
        Some(other) => return Err(format!("a test of type {other:?}")),
    }
    let number = |name: &str| [test, group].iter().find_map(|value| value.get(name)).and_then(Value::as_u64);
    // lengths that must be whole bytes here: those of MACs by AES, and of keys and tags that standards make
    // of whole bytes
    let whole: &[&str] = match family {
        Family::Hash(_) | Family::Shake(_) | Family::Cshake(_) | Family::Kmac(_) => &["aadLen", "tagLen"],
        Family::Hmac(_) => &["keyLen", "macLen", "tagLen"],
        Family::Cmac | Family::Gmac => &["len", "msgLen", "keyLen", "macLen", "outLen", "aadLen", "tagLen"],
    };
    if whole.iter().any(|name| number(name).is_some_and(|bits| bits % 8 != 0)) {
        return Err(BIT_LENGTH.into());
    }
    let text = |name: &str| [test, group].iter().find_map(|value| value.get(name)).and_then(Value::as_str);
    if matches!(family, Family::Gmac) {
        super::ivs::given(group, test, "iv", "ivGen")?;
    }
    let direction = text("direction");
    let valid = test.get("testPassed").and_then(Value::as_bool) != Some(false);
    let key = if family.is_mac() { bytes(test, &["key"])? } else { Vec::new() };
    if ["md", "mac", "tag"].iter().all(|name| test.get(name).is_none()) {
        return Err(UNANSWERED.into());
    }
    let mut output = bytes(test, &["md", "mac", "tag"])?;
    let mut message = match family {
        Family::Gmac => bytes(test, &["aad"])?,
        _ => bytes(test, &["msg", "message"])?,
    };
    // bytes beyond the length do not count, because an empty message may be written as one byte (for KMAC a
    // group's length is not used: it is 0 whatever its messages are)
    let own = |name: &str| test.get(name).and_then(Value::as_u64);
    let length = match family {
        Family::Gmac => number("aadLen"),
        Family::Kmac(_) => own("msgLen"),
        _ => number("len").or(number("msgLen")),
    };
    let mut spare_bits = 0;
    if let Some(bits) = length.and_then(|bits| usize::try_from(bits).ok()) {
        if bits.div_ceil(8) > message.len() {
            return Err("a message that is shorter than its length says".into());
        }
        message.truncate(bits.div_ceil(8));
        spare_bits = spare(bits);
    }
    let is_sponge = matches!(
        family,
        Family::Hash(Hash::Sha3(_))
            | Family::Hmac(Hash::Sha3(_))
            | Family::Shake(_)
            | Family::Cshake(_)
            | Family::Kmac(_)
    );
    // files have the last bits of a message at the high end of its last byte, where SHA-3 has them at the low
    // end
    if let Some(last) = message.last_mut().filter(|_| is_sponge) {
        *last >>= spare_bits;
    }
    let output_bits = match family {
        Family::Shake(_) | Family::Cshake(_) => own("outLen"),
        Family::Kmac(_) => own("macLen"),
        _ => None,
    };
    let output_bits = output_bits.and_then(|bits| usize::try_from(bits).ok()).filter(|bits| *bits > 0);
    let spare_output_bits = output_bits.map_or(0, spare);
    if output_bits.is_some_and(|bits| bits.div_ceil(8) != output.len()) {
        return Err("an output whose length is not the declared one".into());
    }
    // the same holds for outputs, except those of SHAKE
    if let Some(last) = output.last_mut().filter(|_| !matches!(family, Family::Shake(_))) {
        *last >>= spare_output_bits;
    }
    let mut settings = settings(family, &key, &output)?;
    settings.spare_output_bits = spare_output_bits;
    match family {
        Family::Hmac(_) | Family::Cmac => agrees([test, group], "macLen", output.len())?,
        Family::Gmac => agrees([test, group], "tagLen", output.len())?,
        _ => {}
    }
    if let Family::Kmac(_) = family {
        settings.spare_key_bits = own("keyLen").and_then(|bits| usize::try_from(bits).ok()).map_or(0, spare);
    }
    if matches!(family, Family::Cshake(_) | Family::Kmac(_)) {
        settings.customization = match (bytes(test, &["customizationHex"]), text("customization")) {
            (Ok(bytes), _) if group.get("hexCustomization").and_then(Value::as_bool) == Some(true) => bytes,
            (_, Some(text)) => text.as_bytes().to_vec(),
            (Ok(bytes), None) => bytes,
            (Err(_), None) => Vec::new(),
        };
    }
    if let Family::Cshake(_) = family {
        settings.function = text("functionName").unwrap_or_default().as_bytes().to_vec();
    }
    let flag = |name: &str| [test, group].iter().find_map(|value| value.get(name)).and_then(Value::as_bool);
    settings.xof = matches!(family, Family::Kmac(_)) && flag("xof") == Some(true);
    let verifies = matches!(direction, Some("ver" | "decrypt")) || text("testType") == Some("MVT") || !valid;
    if verifies && test.get("testPassed").is_none() {
        return Err(UNANSWERED.into());
    }
    if verifies && !family.is_mac() {
        return Err("a test of a hash that must fail".into());
    }
    let expected = if valid { Expected::Valid } else { Expected::Invalid };
    let vector = MessageVector {
        id: id(test),
        nonce: nonce(family, test)?,
        key,
        message,
        spare_bits,
        output,
        makes: !verifies,
        compares: verifies,
        expected,
    };
    Ok((settings, vector))
}

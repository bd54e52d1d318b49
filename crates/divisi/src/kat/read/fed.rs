//! Files of ACVP with tests of hashes that take long: Monte Carlo tests, whose answers are the next inputs,
//! and messages of gigabytes.

use super::family::{BIT_LENGTH, Family, id, settings};
use super::member::{UNANSWERED, bytes, tests};
use crate::kat::chains::Chain;
use crate::kat::content::Content;
use crate::kat::large::{LargeGroup, LargeVector};
use crate::kat::monte::{Digests, Fed, Monte, OutputChains, OutputLengths, XofOutput};
use crate::kat::vector::VectorAlgorithm;
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::hash::Hash;
use serde_json::Value;

fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

/// Whether a group is of tests that take long, of a kind that is known here.
pub(super) fn is_fed(family: Family, group: &Value) -> bool {
    let version = text(group, "mctVersion").unwrap_or("standard");
    match (text(group, "testType"), family) {
        (Some("MCT"), Family::Hash(_)) => ["standard", "alternate"].contains(&version),
        (Some("MCT"), Family::Shake(_) | Family::Cshake(_)) => version == "standard",
        (Some("LDT"), Family::Hash(_) | Family::Shake(_)) => true,
        _ => false,
    }
}

/// Read a group of tests that take long.
pub(super) fn read(content: &mut Content, family: Family, group: &Value) -> Result<(), String> {
    for test in tests(group)? {
        let sorted = match (text(group, "testType"), family) {
            (Some("LDT"), _) => large(content, family, test),
            (_, Family::Hash(hash)) => digests(content, hash, group, test),
            _ => outputs(content, family, group, test),
        };
        if let Err(reason) = sorted {
            content.count(family, group, test, reason);
        }
    }
    Ok(())
}

fn number(values: [&Value; 2], name: &str) -> Option<usize> {
    let found = values.iter().find_map(|value| value.get(name))?;
    usize::try_from(found.as_u64()?).ok()
}

/// Read a Monte Carlo test of a hash, which is made of digests of digests. Chains of SHA-3 whose messages are
/// not cut run without an opening in between.
fn digests(content: &mut Content, hash: Hash, group: &Value, test: &Value) -> Result<(), String> {
    let settings = Settings::new(divisi_symmetric::algorithm::Algorithm::Hash(hash));
    if number([test, group], "len").is_some_and(|bits| bits % 8 != 0) {
        return Err(BIT_LENGTH.into());
    }
    let ends = test.get("resultsArray").and_then(Value::as_array).ok_or(UNANSWERED)?;
    let ends = ends.iter().map(|end| bytes(end, &["md"])).collect::<Result<Vec<_>, _>>()?;
    let seed = bytes(test, &["msg"])?;
    let cut = text(group, "mctVersion") == Some("alternate");
    let message_bytes = cut.then_some(seed.len());
    let chain = Chain::new(id(test), settings, seed, ends)
        .ok_or_else(|| "a Monte Carlo test without digests".to_owned())?;
    let is_sponge = matches!(hash, Hash::Sha3(_));
    if is_sponge && !cut {
        content.chains.push(chain);
        return Ok(());
    }
    let Chain { id, settings, starts, ends, .. } = chain;
    let algorithm = VectorAlgorithm::Function(settings.algorithm);
    let joined = if is_sponge { 1 } else { 3 };
    let kind = Fed::Digests(Digests { settings, joined, message_bytes, starts, ends });
    content.monte.push(Monte::new(id, algorithm, kind));
    Ok(())
}

/// Read a Monte Carlo test of SHAKE, whose outputs are whole bytes, or of cSHAKE.
fn outputs(content: &mut Content, family: Family, group: &Value, test: &Value) -> Result<(), String> {
    let settings = Settings::new(family.by_default());
    let customizes = matches!(family, Family::Cshake(_));
    let start = bytes(test, &["msg"])?;
    if start.len() != 16 || number([test, group], "len").is_some_and(|bits| bits != 128) {
        return Err("a Monte Carlo test whose first message has no 128 bits".into());
    }
    let said = |name: &str| number([test, group], name).filter(|bits| (1..1 << 20).contains(bits));
    let (least, most) = said("minOutLen")
        .zip(said("maxOutLen"))
        .ok_or("a Monte Carlo test that does not say how long outputs are")?;
    let lengths = if customizes {
        OutputLengths { least, most, step: said("outLenIncrement").unwrap_or(1) }
    } else {
        OutputLengths { least: least.next_multiple_of(8), most: most / 8 * 8, step: 8 }
    };
    let ends = test.get("resultsArray").and_then(Value::as_array).ok_or(UNANSWERED)?;
    let end = |end: &Value| -> Result<XofOutput, String> {
        let bytes = bytes(end, &["md"])?;
        let bits = end.get("outLen").and_then(Value::as_u64).and_then(|bits| usize::try_from(bits).ok());
        let bits = bits.unwrap_or(8 * bytes.len());
        let fits = bits.div_ceil(8) == bytes.len() && (lengths.least..=lengths.most).contains(&bits);
        if fits {
            Ok(XofOutput { bytes, bits })
        } else {
            Err("an output of a length that is not allowed".into())
        }
    };
    let ends = ends.iter().map(end).collect::<Result<Vec<_>, _>>()?;
    if lengths.least > lengths.most || ends.is_empty() {
        return Err("a Monte Carlo test without outputs".into());
    }
    let algorithm = VectorAlgorithm::Function(settings.algorithm);
    let kind = Fed::Outputs(OutputChains { settings, customizes, start, lengths, ends });
    content.monte.push(Monte::new(id(test), algorithm, kind));
    Ok(())
}

/// Read a large message, which the file gives by the content that it repeats.
fn large(content: &mut Content, family: Family, test: &Value) -> Result<(), String> {
    let message = test.get("largeMsg").ok_or("no \"largeMsg\" in the file")?;
    if text(message, "expansionTechnique") != Some("repeating") {
        return Err("a large message that is not a repetition".into());
    }
    let number = |name: &str| message.get(name).and_then(Value::as_u64);
    let repeated = bytes(message, &["content"])?;
    let (own, all) =
        number("contentLength").zip(number("fullLength")).ok_or("a large message without lengths")?;
    if own % 8 != 0 || all % 8 != 0 {
        return Err(BIT_LENGTH.into());
    }
    if own == 0 || own / 8 != repeated.len() as u64 || repeated.len() > 4096 || all < own {
        return Err("a large message whose length is not the declared one".into());
    }
    let output = bytes(test, &["md"]).map_err(|_| UNANSWERED)?;
    let settings = settings(family, &[], &output)?;
    let vector = LargeVector { id: id(test), content: repeated, bytes: all / 8, output };
    LargeGroup::sort(&mut content.large, settings, vector);
    Ok(())
}

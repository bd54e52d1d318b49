//! One-time passwords: only the digits are opened; and what they cost beside the tag from which they are
//! made.

use super::*;
use divisi_circuit::BuildBit;
use divisi_rep3::lab::run;
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::batch::{Function, Messages, bits, byte_values};
use divisi_symmetric::sha1;

/// RFC 4226, appendix D, for the counters from 0 on.
const SHA1: [&str; 10] =
    ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"];

/// The opened output for a counter under the keys of RFC 4226 and 6238, and the counts, with the function in
/// a phase of its own.
fn made(security: Security, name: &str, bytes: Option<usize>, counter: u64) -> (Vec<u8>, Counts) {
    let algorithm: Algorithm = name.parse().unwrap();
    let mut settings = Settings::new(algorithm);
    settings.output_bytes = bytes.unwrap_or(settings.output_bytes);
    let key: Vec<u8> = b"1234567890".iter().copied().cycle().take(algorithm.key_bytes()).collect();
    let results = run(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, security);
        let key = public(&mut e, &key);
        let function = Function::prepare(&mut e, &settings, &key)?;
        let message = public(&mut e, &counter.to_be_bytes());
        let messages = Messages::even(bits(&mut e, message)?, 1)?;
        e.trio().session().phase("function");
        let output = function.output(&mut e, &messages, &[[0; 12]])?;
        e.trio().session().phase("bytes");
        let output = byte_values(&mut e, output)?;
        let verified = e.settled(output)?;
        e.trio().session().phase("opening");
        let opened = e.trio().open(&verified)?.concat();
        Ok((opened, e.trio().session().meter().read()))
    });
    let results = results.unwrap();
    assert!(results.iter().all(|(opened, _)| *opened == results[0].0));
    results.into_iter().next().unwrap()
}

/// The program that makes the digits from a tag of this many bytes.
fn code(tag_bytes: usize, digits: usize) -> Program {
    let mut build = Build::new();
    let bits = build.input(8 * tag_bytes);
    let tag: Vec<[BuildBit; 8]> = bits.chunks(8).map(|byte| byte.try_into().unwrap()).collect();
    let digits = sha1::code(&mut build, &tag, digits);
    build.output(&digits.concat());
    build.finish()
}

/// The digits are those of the standards, for every place in a tag, and nothing else is opened on the way
/// from the key to them, neither the place nor the tag.
#[test]
fn the_digits_alone_are_opened() {
    for (counter, want) in SHA1.into_iter().enumerate() {
        let (digits, counts) = made(Security::Malicious, "one-time-password-sha1", Some(6), counter as u64);
        assert_eq!(String::from_utf8(digits).unwrap(), want);
        assert_eq!(counts.openings, 6);
    }
    // RFC 6238, appendix B
    for (name, want) in [
        ("one-time-password-sha1", "07081804"),
        ("one-time-password-sha256", "68084774"),
        ("one-time-password-sha512", "25091201"),
    ] {
        for digits in [7, 8] {
            let (made, counts) = made(Security::Malicious, name, Some(digits), 0x0235_23ec);
            assert_eq!(String::from_utf8(made).unwrap(), want[8 - digits..], "{name}");
            assert_eq!(counts.openings as usize, digits, "{name}");
        }
    }
}

/// Bits and rounds: those of the tag, and a bit a product and a round a level for the code.
#[test]
fn a_code_costs_its_products_beside_the_tag() {
    for (hash, tag_bytes) in [("sha1", 20_usize), ("sha256", 32), ("sha512", 64)] {
        let of_tag = if hash == "sha1" { "hmac-sha1-for-old-data".into() } else { format!("hmac-{hash}") };
        let (tag, of_tag) = made(Security::SemiHonest, &of_tag, None, 1);
        assert_eq!(tag.len(), tag_bytes);
        for digits in 6..=8 {
            let name = format!("one-time-password-{hash}");
            let (_, counts) = made(Security::SemiHonest, &name, Some(digits), 1);
            let code = code(tag_bytes, digits);
            let phase = |counts: &Counts, name: &str| {
                let phase = counts.phases[name];
                (phase.bits, u64::from(phase.rounds))
            };
            let (bits, rounds) = phase(&of_tag, "function");
            let own = (code.dot_count() as u64, code.and_depth() as u64);
            assert_eq!(
                phase(&counts, "function"),
                (bits + own.0, rounds + own.1),
                "{name} {digits}: {own:?}"
            );
            assert_eq!(phase(&counts, "opening"), (8 * digits as u64, 1), "{name} {digits}");
        }
    }
}

//! The tampering sweep over each module: hashes, HMAC, KMAC, CMAC, GMAC and HKDF. Every message of a corrupt
//! party may be changed in every way.
//!
//! Whatever happens, each honest party ends with the right output, or refuses, or aborts; never with a wrong
//! one, and never takes a right tag for wrong. Of each module a fixed sample; `cargo test -p divisi-rep3
//! --test sweep modules:: -- --ignored` tries every message of the short ones.

use super::plan::{Change, changes, positions};
use super::{is_in_time, one_in};
use divisi_core::testing::{Operator, Sent, place, sent};
use divisi_core::{Abort, Blocks, Convert, PartyId, Settles};
use divisi_field::Gf128;
use divisi_fuzz::repetitions;
use divisi_rep3::adversary::harness::{TrioHarness, links, many};
use divisi_rep3::checks;
use divisi_rep3::deal::Part;
use divisi_rep3::lab::deal_all;
use divisi_rep3::{Agreement, Byte, Protocol, Rep3, Security, Trio};
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::batch::{Function, Messages, SecretByte, bits, byte_values, hkdf};
use divisi_symmetric::gates::Adder;
use divisi_symmetric::hash::Hash;
use std::time::Instant;

/// One function of every module; outputs have 16 bytes, also that of HKDF.
const MODULES: [&str; 7] =
    ["sha256", "sha3-256", "hmac-sha3-256", "kmac128", "cmac-aes128", "gmac-aes128", "hkdf"];

const MESSAGE: usize = 20;
const OUTPUT: usize = 16;

/// What a party of the run ends with.
#[derive(Clone, PartialEq, Eq, Debug)]
enum End {
    /// The input was not agreed on: nothing was computed.
    Refused,
    /// What was opened, and whether the output was found to be the tag.
    Done { opened: Vec<u8>, same: bool },
}

fn settings(module: &str) -> Settings {
    let settings = Settings::new(module.parse().unwrap());
    Settings { adder: Adder::LowDepth, output_bytes: OUTPUT, ..settings }
}

fn key_bytes(module: &str) -> usize {
    if module == "hkdf" { 0 } else { settings(module).algorithm.key_bytes() }
}

/// The secret of a run: a key where there is one, and a message.
fn input(module: &str) -> Vec<u8> {
    (0..key_bytes(module) + MESSAGE).map(|i| (i * 11 + 5) as u8).collect()
}

/// One party's run: agreement on the input, what depends on the key alone (verified), the output, an opening;
/// and the output again, compared with a tag inside.
fn play(mut trio: Trio, module: &str, part: &Part, tag: &[u8; OUTPUT]) -> Result<End, Abort> {
    let public = *blake3::hash(module.as_bytes()).as_bytes();
    if trio.agree_input(checks::A24, &public, Some(part))? != Agreement::Agreed {
        return Ok(End::Refused);
    }
    let one = |i: usize| Part { first: vec![part.first[i]], second: vec![part.second[i]] };
    let bytes = (0..part.first.len()).map(|i| trio.input(&one(i))).collect::<Result<Vec<Byte>, _>>()?;
    let (key, message) = bytes.split_at(key_bytes(module));
    let e = &mut Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
    let columns = bits(e, message.to_vec())?;
    let output: Vec<SecretByte<Rep3>> = if module == "hkdf" {
        let hash = Hash::from_name("sha3-256").unwrap();
        let materials = Messages::even(columns, 1)?;
        let keys = hkdf::extract(e, hash, Adder::LowDepth, &[], &materials)?;
        hkdf::expand(e, hash, Adder::LowDepth, &keys, b"context", OUTPUT)?
    } else {
        let function = Function::prepare(e, &settings(module), key)?;
        let messages = Messages::even(columns, 1)?;
        if key.is_empty() {
            function.output(e, &messages, &[[0x5a; 12]])?
        } else {
            let function = e.settled(function)?;
            function.get().output(e, &messages, &[[0x5a; 12]])?
        }
    };
    let bytes = byte_values(e, output)?;
    let bytes = e.settled(bytes)?;
    let opened: Vec<u8> = e.trio().open(&bytes)?.concat();
    let mut block = e.convert(<[Byte; 16]>::try_from(bytes.into_inner()).ok().unwrap())?;
    e.add_public_block(&mut block, &[Gf128::from_ghash(*tag).0])?;
    let same = e.are_zero(&[block])? == [true];
    Ok(End::Done { opened, same })
}

/// Everything about an honest run that attacks are compared with.
struct Honest {
    module: &'static str,
    parts: [Part; 3],
    tag: [u8; OUTPUT],
    /// What each party sent to each other, in order.
    sent: Sent,
}

fn honest(module: &'static str) -> Honest {
    let parts = deal_all(&[input(module)]).map(|mut parts| parts.remove(0));
    let run = |tag: [u8; OUTPUT]| {
        let harness = TrioHarness::default().patient();
        let recordings = harness.recordings();
        let ends = harness.act(|trio| {
            let part = &parts[trio.me().index()];
            play(trio, module, part, &tag)
        });
        let sent = sent(&recordings);
        let ends: Vec<End> = ends.into_iter().map(Result::unwrap).collect();
        assert!(ends[0] == ends[1] && ends[1] == ends[2], "{module}");
        (ends[0].clone(), sent)
    };
    let End::Done { opened, same } = run([0; OUTPUT]).0 else { panic!("honest parties agree") };
    assert!(!same, "{module}: a wrong tag is wrong");
    let tag: [u8; OUTPUT] = opened.try_into().unwrap();
    let (end, sent) = run(tag);
    assert_eq!(end, End::Done { opened: tag.to_vec(), same: true }, "{module}");
    Honest { module, parts, tag, sent }
}

/// One attacked run: whether an honest party stopped it.
fn attack(honest: &Honest, change: Change) -> bool {
    let (at, operator, salt) = change;
    let harness = TrioHarness::default();
    place(&harness, at, operator, salt, &honest.sent[&(at.from, at.to)]);
    let begun = Instant::now();
    let ends = harness.act(|trio| {
        let part = &honest.parts[trio.me().index()];
        play(trio, honest.module, part, &honest.tag)
    });
    is_in_time(begun, change);
    let mut stopped = false;
    for (_, end) in PartyId::all(3).zip(ends).filter(|(party, _)| *party != at.from) {
        match end {
            Ok(End::Done { opened, same }) => {
                let what = format!("{}: {at:?} {operator:?}", honest.module);
                assert_eq!(opened, honest.tag, "a wrong output was taken, {what}");
                assert!(same, "a right tag was taken for wrong, {what}");
            }
            Ok(End::Refused) | Err(_) => stopped = true,
        }
    }
    stopped
}

/// Sweep over a module. `share` is about how many quick and how many slow changes, which have to wait, are
/// tried; `None` means all.
fn sweep(module: &'static str, share: Option<(u64, u64)>) -> usize {
    let run = honest(module);
    let every = one_in(positions(&run.sent).count(), share);
    let jobs = changes(module, positions(&run.sent), every);
    for (from, to) in links() {
        assert!(jobs.iter().any(|job| job.0.from == from && job.0.to == to), "{module}: {from} to {to}");
    }
    let stopped = many(jobs.len(), 8, |i| attack(&run, jobs[i]));
    let flips = [Operator::FlipFirst, Operator::FlipLast, Operator::FlipRandom, Operator::Truncate];
    for ((at, operator, _), stopped) in jobs.iter().zip(&stopped) {
        assert!(*stopped || !flips.contains(operator), "{module}: nobody noticed: {at:?} {operator:?}");
    }
    assert!(stopped.iter().filter(|stopped| **stopped).count() > jobs.len() * 4 / 5, "{module}");
    jobs.len()
}

#[test]
fn no_change_of_a_message_makes_a_wrong_digest_or_tag() {
    for module in MODULES {
        let (share, least) = repetitions(((75, 8), 50), ((150, 12), 100));
        let tried = sweep(module, Some(share));
        println!("{module}: {tried}");
        assert!(tried >= least, "{module}: {tried}");
    }
}

#[test]
#[ignore = "every message: many minutes"]
fn no_change_of_any_message_makes_a_wrong_digest_or_tag() {
    for module in MODULES.into_iter().filter(|module| *module != "sha256") {
        println!("{module}: {}", sweep(module, None));
    }
}

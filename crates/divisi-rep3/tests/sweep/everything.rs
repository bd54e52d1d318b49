//! The tampering sweep: every message of a corrupt party, changed in every way, over a run that has
//! everything in it.
//!
//! Whatever happens, each honest party ends with the right output, or refuses, or aborts; never with a wrong
//! one, never with "invalid" for a tag that is valid; nothing hangs and nothing panics. By default a fixed
//! sample of two thousand changes, spread over the messages; `cargo test -p divisi-rep3 --test sweep
//! everything:: -- --ignored` runs all.

use super::plan::{Change, changes, must_be_noticed, positions};
use super::{all_are_tried, is_in_time, one_in};
use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::{Operator, Sent, place, salt, sent};
use divisi_core::{Abort, Blocks, Boolean, Bytes, Convert, Opens, PartyId, ProgramRun, settle};
use divisi_field::Gf128;
use divisi_fuzz::repetitions;
use divisi_rep3::adversary::harness::{TrioHarness, many};
use divisi_rep3::checks;
use divisi_rep3::deal::{self, Part};
use divisi_rep3::lab::deal_all;
use divisi_rep3::open::Answer;
use divisi_rep3::{Agreement, Bit, Byte, Protocol, Rep3, Security, Trio};
use divisi_symmetric::aes;
use std::time::Instant;

const LANES: usize = 2;
const CONTEXT: &[u8] = b"sweep";

/// What a party of the run ends with.
#[derive(Clone)]
enum End {
    /// The input was not agreed on: nothing was computed.
    Refused,
    /// Everything that was opened, whether the tag was valid, and the answer to a client.
    Done { opened: Vec<Vec<u8>>, valid: bool, answer: Answer },
}

/// The input of a run: a key, and a column of plaintext bytes for each place of a block, all in one.
fn input(key: u8) -> Vec<u8> {
    let key = (0..16).map(|i| i ^ key);
    key.chain((0..16).flat_map(|i| [0x11 * i, i])).collect()
}

/// One party's run: agreement on the input, AES with its key schedule both ways (what lookups consume made
/// ahead of each), a masked opening, products and sums of GHASH's field, a Boolean program, a verification,
/// an opening, a tag compared by a masked product, an answer to a client.
fn play(mut trio: Trio, protocol: Protocol, part: &Part, tag: u128) -> Result<End, Abort> {
    let public = *blake3::hash(b"a request").as_bytes();
    if trio.agree_input(checks::A24, &public, Some(part))? != Agreement::Agreed {
        return Ok(End::Refused);
    }
    trio.absorb("request", &public);
    let piece = |from: usize, n: usize| Part {
        first: part.first[from..from + n].to_vec(),
        second: part.second[from..from + n].to_vec(),
    };
    let key = (0..16).map(|i| trio.input(&piece(i, 1))).collect::<Result<Vec<_>, _>>()?;
    let plain = (0..16).map(|i| trio.input(&piece(16 + LANES * i, LANES))).collect::<Result<Vec<_>, _>>()?;
    let mut e = Rep3::new(trio, protocol, Security::Malicious);
    let round_keys = aes::expand(&mut e, &key)?;
    let mut cipher: [Byte; 16] = plain.try_into().ok().unwrap();
    let plain = e.convert(cipher.clone())?;
    aes::encrypt(&mut e, &round_keys, &mut cipher)?;
    let mut back = cipher.clone();
    aes::decrypt(&mut e, &round_keys, &mut back)?;
    let blocks = e.convert(cipher.clone())?;
    let products = e.multiply(&blocks, &plain)?;
    // a masked opening, after which the value is restored from the mask and the opened sum
    let mask = e.mask(LANES)?;
    let (c, mut unmasked) = e.open_masked(&cipher[0], mask)?;
    e.add_public(&mut unmasked, &c)?;
    let mut sum = e.dot(&[(&blocks, &products)])?;
    // bit by bit the product of three bytes
    let program = program();
    let bits = [&cipher[0], &cipher[1], &cipher[2]].map(|byte| e.convert(byte.clone()));
    let mut wires: Vec<Bit> = Vec::new();
    for bits in bits {
        let bits: [Bit; 8] = bits?;
        wires.extend(bits);
    }
    let mut jobs = [ProgramRun::new(&program, wires)];
    e.run(&mut jobs)?;
    let of_bits: Byte = e.convert(std::array::from_fn::<Bit, 8, _>(|i| jobs[0].wires[i].clone()))?;
    let as_bytes: [Byte; 16] = e.convert(products)?;
    let tag_bytes: [Byte; 16] = e.convert(sum.clone())?;
    let out = (cipher.to_vec(), [&back[..], &as_bytes, &tag_bytes, &[unmasked, of_bits]].concat());
    let pending = e.close((out, sum));
    let (out, settled) = settle(&mut e, pending)?.split();
    sum = settled.into_inner();
    let (cipher, rest) = out.split();
    let mut opened = e.trio().open(&cipher)?;
    opened.extend(e.trio().open(&rest)?);
    // valid iff the difference is zero, of which nothing is opened but a random multiple
    e.add_public_block(&mut sum, &[tag])?;
    let mask = e.random_blocks(1);
    let masked = e.multiply(&sum, &mask)?;
    let masked: [Byte; 16] = e.convert(masked)?;
    let valid = e.reveal(masked.to_vec())?.iter().flatten().all(|byte| *byte == 0);
    let answer = e.trio().answer(CONTEXT, &cipher)?;
    Ok(End::Done { opened, valid, answer })
}

/// Bit by bit the products of two bytes, and of these with a third byte.
fn program() -> Program {
    let mut g = Build::new();
    let [x, y, z] = [(); 3].map(|()| g.input(8));
    let xy: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    let xyz: Vec<_> = xy.iter().zip(&z).map(|(xy, z)| g.and(*xy, *z)).collect();
    g.output(&xyz);
    g.finish()
}

/// Everything about an honest run that attacks are compared with.
struct Honest {
    protocol: Protocol,
    parts: [Part; 3],
    tag: u128,
    opened: Vec<Vec<u8>>,
    answers: [Answer; 3],
    /// What each party sent to each other, in order.
    sent: Sent,
}

fn honest(protocol: Protocol, key: u8) -> Honest {
    let parts = deal_all(&[input(key)]).map(|mut parts| parts.remove(0));
    let run = |tag: u128| {
        let harness = TrioHarness::default();
        let recordings = harness.recordings();
        let ends = harness.act(|trio| {
            let part = &parts[trio.me().index()];
            play(trio, protocol, part, tag)
        });
        let sent = sent(&recordings);
        let ends: Vec<_> = ends
            .into_iter()
            .map(|end| match end.unwrap() {
                End::Done { opened, valid, answer } => (opened, valid, answer),
                End::Refused => panic!("honest parties agree"),
            })
            .collect();
        assert!(ends.iter().all(|end| end.0 == ends[0].0 && end.1 == ends[0].1));
        (ends, sent)
    };
    let (ends, _) = run(0);
    assert!(!ends[0].1, "a wrong tag is invalid");
    let tag = Gf128::from_ghash(std::array::from_fn(|i| ends[0].0[48 + i][0])).0;
    let (ends, sent) = run(tag);
    assert!(ends[0].1, "the right tag is valid");
    let opened = ends[0].0.clone();
    // the plaintext comes back, and under the key of FIPS 197 the first block is the standard's
    assert_eq!(opened[16..32].concat(), input(key)[16..]);
    assert_eq!(opened[64], opened[0]);
    if key == 0 {
        assert_eq!((opened[0][0], opened[15][0]), (0x69, 0x5a));
    }
    let answers = ends.into_iter().map(|end| end.2).collect::<Vec<_>>().try_into().ok().unwrap();
    Honest { protocol, parts, tag, opened, answers, sent }
}

/// One attacked run: how the two honest parties ended.
fn attack(honest: &Honest, change: Change) -> [Result<End, Abort>; 2] {
    let (at, operator, salt) = change;
    let harness = TrioHarness::default();
    place(&harness, at, operator, salt, &honest.sent[&(at.from, at.to)]);
    let begun = Instant::now();
    let ends = harness.act(|trio| {
        let part = &honest.parts[trio.me().index()];
        play(trio, honest.protocol, part, honest.tag)
    });
    is_in_time(begun, change);
    let mut answers = Vec::new();
    for (party, end) in PartyId::all(3).zip(&ends) {
        match end {
            Ok(End::Done { opened, valid, answer }) => {
                if party != at.from {
                    assert_eq!(*opened, honest.opened, "{party} took a wrong output: {at:?} {operator:?}");
                    assert!(valid, "{party} took a valid tag for invalid: {at:?} {operator:?}");
                }
                answers.push(answer.clone());
            }
            Ok(End::Refused) | Err(_) => {}
        }
    }
    if let Ok(answers) = <[Answer; 3]>::try_from(answers)
        && let Ok(bytes) = deal::combine(CONTEXT, &answers)
    {
        assert_eq!(bytes.as_slice(), honest.opened[..16].concat(), "the client took a wrong output");
    }
    let mut honest_ends = PartyId::all(3).zip(ends).filter(|(p, _)| *p != at.from).map(|(_, end)| end);
    [honest_ends.next().unwrap(), honest_ends.next().unwrap()]
}

/// Sweep over positions and operators of all protocols. `share` is about how many quick and how many slow
/// ones, which have to wait, are tried of each protocol, and `least` how many at least; `None` means all.
/// Returns how many were tried, and how many of them the honest parties stopped.
fn sweep(share: Option<(u64, u64)>, least: usize) -> (usize, usize) {
    let runs = Protocol::ALL.iter().map(|p| honest(*p, 0)).collect::<Vec<_>>();
    let mut jobs = Vec::new();
    for (p, run) in runs.iter().enumerate() {
        let every = one_in(positions(&run.sent).count(), share);
        let of_it = changes(p, positions(&run.sent), every);
        assert!(of_it.len() >= least, "{}: {} positions", run.protocol, of_it.len());
        jobs.extend(of_it.into_iter().map(|change| (run, change)));
    }
    all_are_tried(jobs.iter().map(|(_, change)| change));
    // the slow ones of all runs first, several at once: they only wait
    jobs.sort_by_key(|(_, change)| !change.1.is_slow());
    let ends = many(jobs.len(), 12, |i| {
        let (run, change) = jobs[i];
        let stopped = attack(run, change).iter().any(|end| !matches!(end, Ok(End::Done { .. })));
        assert!(stopped || !must_be_noticed(change.1), "nobody noticed: {:?} {:?}", change.0, change.1);
        stopped
    });
    (ends.len(), ends.iter().filter(|stopped| **stopped).count())
}

#[test]
fn no_change_of_a_message_makes_a_wrong_output() {
    let (share, least) = repetitions(((400, 40), 300), ((800, 60), 600));
    let (tried, stopped) = sweep(Some(share), least);
    println!("{tried} positions, {stopped} stopped");
    assert!(tried >= 5 * least, "{tried} positions");
    // a change that nobody notices must be one that changes nothing, which is rare
    assert!(stopped > tried * 4 / 5, "{stopped} of {tried}");
}

#[test]
#[ignore = "every position: fifteen minutes"]
fn no_change_of_any_message_makes_a_wrong_output() {
    let (tried, _) = sweep(None, 600);
    println!("{tried} positions");
    assert!(tried >= 50_000);
}

/// What a corrupt server answers to a client, changed in every way.
#[test]
fn no_change_of_an_answer_makes_a_wrong_output() {
    let run = honest(Protocol::Gf4Circuit, 0);
    let right = run.opened[..16].concat();
    assert_eq!(deal::combine(CONTEXT, &run.answers).unwrap().as_slice(), right);
    for liar in 0..3 {
        for operator in Operator::ALL {
            for round in 0..8 {
                let mut answers = run.answers.clone();
                operator.change(&mut answers[liar].component, salt((liar, round)));
                let same = answers[liar].component == run.answers[liar].component;
                assert_eq!(deal::combine(CONTEXT, &answers).is_ok(), same);
                let mut answers = run.answers.clone();
                let mut digest = answers[liar].digest.to_vec();
                operator.change(&mut digest, salt((liar, round)));
                if let Ok(digest) = <[u8; 32]>::try_from(digest) {
                    answers[liar].digest = digest;
                    assert_eq!(deal::combine(CONTEXT, &answers).is_ok(), digest == run.answers[liar].digest);
                }
            }
        }
    }
    let mut swapped = run.answers.clone();
    swapped.swap(0, 1);
    assert!(deal::combine(CONTEXT, &swapped).is_err());
    assert!(deal::combine(b"another request", &run.answers).is_err());
}

/// Whether the honest parties abort does not depend on the key.
#[test]
fn an_abort_tells_nothing_of_the_key() {
    for (protocol, every) in [
        (Protocol::Gf4Circuit, 24),
        (Protocol::Lut16, 48),
        (Protocol::Lut256, 40),
        (Protocol::Lut256Additive, 48),
    ] {
        abort_patterns(protocol, repetitions(2, 1) * every);
    }
}

fn abort_patterns(protocol: Protocol, every: u64) {
    let runs = [honest(protocol, 0), honest(protocol, 0xa5)];
    let quick = || Operator::ALL.into_iter().filter(|o| !o.is_slow());
    let jobs: Vec<Change> = positions(&runs[0].sent)
        .flat_map(|at| quick().map(move |o| (at, o, salt((at.from, at.n, o)))))
        .filter(|(at, o, _)| salt((at.from, at.to, at.n, o, "two keys")) % every == 0)
        .collect();
    assert!(jobs.len() > repetitions(50, 100), "{protocol}: {}", jobs.len());
    let aborted = |run: &Honest, i: usize| attack(run, jobs[i]).iter().any(Result::is_err);
    let patterns = runs.each_ref().map(|run| many(jobs.len(), 12, |i| aborted(run, i)));
    // a message after which nothing is due may reach a party before or after its end: that is chance, not the
    // key
    for i in (0..jobs.len()).filter(|i| patterns[0][*i] != patterns[1][*i]) {
        let often =
            runs.each_ref().map(|run| many(16, 4, |_| aborted(run, i)).iter().filter(|a| **a).count());
        assert!(often[0].abs_diff(often[1]) < 16, "{:?}: {often:?} of 16", jobs[i]);
    }
}

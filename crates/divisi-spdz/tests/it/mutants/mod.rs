//! A mutant for each check: with the check in place a named attack is stopped, without it the same attack
//! succeeds.

mod fresh;
mod lies;
mod prep;
mod reflected;
mod values;

use crate::engines::{dealt, given, opened, sent, sums};
use divisi_core::testing::{Harness, MessageDirection, Recording, party};
use divisi_core::{
    Abort, Bytes, Check, Direction, Plain, PlainByte, PublicParameters, Session, Settles, Step,
};
use divisi_field::Gf48;
use divisi_spdz::checks;
use divisi_spdz::{AuthByte, Spdz, SpdzProtocol, Tiny};

const LOOKUP: &str = "divisi_spdz::engine::lookup/lookup.2";
const DECOMPOSE: &str = "divisi_spdz::demux/demux.bitdec";
const BITS: &str = "divisi_spdz::multiply/multiply.bit";
const COMMIT: &str = "divisi_spdz::check/check.3.commit";
const OPEN: &str = "divisi_spdz::check/check.4.open";
const OUTPUT: &str = "divisi_spdz::engine/output";
const OUTPUT_TO: &str = "divisi_spdz::input/output.to";
const INPUT: &str = "divisi_spdz::input/input";
const INDICES: &str = "divisi_spdz::engine::tiny/tinytable.e";
const ENTRIES: &str = "divisi_spdz::engine::tiny/tinytable.entry";

/// The bytes of the first party.
fn values() -> Vec<u8> {
    (0..21).map(|i| 11 * i).collect()
}

fn harness(n: usize, check: Option<Check>) -> Harness {
    Harness::without(n, &PublicParameters::new("spdz attacks"), check)
}

fn engine(session: Session) -> Result<Spdz<Gf48>, Abort> {
    dealt(session, 9, SpdzProtocol::Lookup)
}

/// The first party's bytes, shared.
fn shared(engine: &mut Spdz<Gf48>) -> Result<AuthByte<Gf48>, Abort> {
    given(engine, party(1), &values())
}

/// Two layers of S-boxes on the first party's bytes.
fn two_layers(session: Session) -> Result<Vec<u8>, Abort> {
    two_layers_and(session, || {})
}

/// The same; `last` runs before the session is dropped.
fn two_layers_and(session: Session, last: impl FnOnce()) -> Result<Vec<u8>, Abort> {
    let mut engine = engine(session)?;
    let mut x = shared(&mut engine)?;
    engine.sbox(Direction::Encrypt, &mut [&mut x])?;
    engine.sbox(Direction::Encrypt, &mut [&mut x])?;
    let out = opened(&mut engine, x);
    last();
    out
}

/// The same by TinyTable.
fn tiny(session: Session) -> Result<Vec<u8>, Abort> {
    let mut tiny = Tiny::new(engine(session)?);
    let mask = tiny.engine().input_mask(party(1), values().len())?;
    let mut wire = Tiny::mask(mask.shares().clone());
    (0..2).try_for_each(|_| tiny.sbox(Direction::Encrypt, &mut [&mut wire]))?;
    tiny.open_indices()?;
    let mine = (tiny.engine().session().me() == party(1)).then(values);
    let mut public = Tiny::masked(&tiny.engine().masked_input(mask, mine.as_deref())?);
    (0..2).try_for_each(|_| tiny.sbox(Direction::Encrypt, &mut [&mut public]))?;
    let out = tiny.output(wire, public)?;
    opened(tiny.engine(), out)
}

/// The result of [`two_layers`] and of [`tiny`].
fn expected() -> Vec<u8> {
    let mut x = PlainByte::new(values());
    (0..2).for_each(|_| Plain.sbox(Direction::Encrypt, &mut [&mut x]).unwrap());
    x.values().to_vec()
}

/// Whether a party other than the corrupt second accepted a wrong output.
fn wrong(ends: &[Result<Vec<u8>, Abort>]) -> bool {
    let mut honest = ends.iter().enumerate().filter(|(i, _)| *i != 1);
    honest.any(|(_, end)| end.as_ref().is_ok_and(|out| *out != expected()))
}

/// Whether P_2 makes P_1 or P_3 accept a wrong output by lying about the first values that it opens in a
/// step.
fn lie_passes(
    n: usize,
    check: Option<Check>,
    step: &'static str,
    run: impl Fn(Session) -> Result<Vec<u8>, Abort> + Sync,
) -> bool {
    let harness = harness(n, check);
    flip(&harness, step);
    wrong(&harness.act(run))
}

/// P_2 changes a bit of its first message of a step, towards all parties, and continues with the value that
/// they then see opened.
fn flip(harness: &Harness, step: &'static str) {
    harness.change(party(1), party(2), step, 0, |body| body[0] ^= 1);
    for to in (1..=harness.parties()).filter(|to| *to != 2) {
        harness.change(party(2), party(to as u8), step, 0, |body| body[0] ^= 1);
    }
}

/// P_2 opens another index of a lookup.
fn false_index(check: Option<Check>) -> bool {
    [2, 3].into_iter().all(|n| lie_passes(n, check, LOOKUP, two_layers))
}

/// P_2 opens another output than its own share gives.
fn false_output(check: Option<Check>) -> bool {
    lie_passes(2, check, OUTPUT, two_layers)
}

/// Whether an honest party commits to a sigma after P_2 sent P_1 another index than P_3.
fn split_index(check: Option<Check>) -> bool {
    let harness = harness(3, check);
    // the tables are made before, so nothing is opened for them after the lookup
    let recordings = [harness.recording(party(1)), harness.recording(party(3))];
    harness.change(party(2), party(1), LOOKUP, 0, |body| body[0] ^= 1);
    let commits = |recording: &Recording| {
        let [lookup, commit] = [LOOKUP, COMMIT].map(|step| Step::new(step).id);
        let seen = recording.read();
        let last = seen.iter().rposition(|seen| seen.frame.step == lookup).unwrap_or(usize::MAX);
        seen.iter().skip(last).any(|seen| seen.way == MessageDirection::Out && seen.frame.step == commit)
    };
    harness.act(|session| {
        let mut engine = engine(session)?;
        let mut x = shared(&mut engine)?;
        engine.sbox(Direction::Encrypt, &mut [&mut x])?;
        opened(&mut engine, x)
    });
    recordings.iter().any(commits)
}

/// Whether P_1 continues after P_2 set a bit beyond the last one that it opens.
fn smuggled_bits(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    let recording = harness.recording(party(1));
    // 21 bits lie in three bytes
    harness.change(party(2), party(1), BITS, 0, |body| body[2] ^= 1 << 7);
    harness.act(two_layers);
    sent(&recording, BITS) > 1
}

/// Whether P_1 makes lookups with tables that were made of wrong unit vectors, because P_2 lied in their
/// decomposition.
fn false_piece(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    let recording = harness.recording(party(1));
    flip(&harness, DECOMPOSE);
    harness.act(two_layers);
    sent(&recording, LOOKUP) > 0
}

/// Whether the opened values reveal that the same bytes are looked up twice.
fn equal_indices(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    let recordings = harness.recordings();
    let ends = harness.act(|session| {
        let mut engine = engine(session)?;
        let x = shared(&mut engine)?;
        engine.prepare(2, 1, x.len())?;
        for _ in 0..2 {
            engine.sbox(Direction::Encrypt, &mut [&mut x.clone()])?;
        }
        Ok(())
    });
    assert!(ends.iter().all(Result::is_ok));
    let opened = sums(&recordings, LOOKUP);
    opened[0] == opened[1]
}

/// Whether P_1 sends the same message twice, its bare shares, when a value is opened twice among three
/// parties.
fn bare_shares(check: Option<Check>) -> bool {
    let harness = harness(3, check);
    let recording = harness.recording(party(1));
    let ends = harness.act(|session| {
        let mut engine = engine(session)?;
        let x = shared(&mut engine)?;
        let verified = engine.settled(x)?;
        let first = engine.output(verified.clone())?;
        let second = engine.output(verified)?;
        assert!(first == second);
        Ok(())
    });
    assert!(ends.iter().all(Result::is_ok));
    let told = recording.bodies(MessageDirection::Out, party(3), OUTPUT);
    told[0] == told[1]
}

/// P_2 lies about e of a lookup of TinyTable.
fn false_e(check: Option<Check>) -> bool {
    lie_passes(2, check, INDICES, tiny)
}

/// P_2 lies about an opened entry of a table.
fn false_entry(check: Option<Check>) -> bool {
    lie_passes(3, check, ENTRIES, tiny)
}

/// P_2 lies about an output that P_1 alone is to learn.
fn false_private_output(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    flip(&harness, OUTPUT_TO);
    let ends = harness.act(|session| {
        let mut engine = engine(session)?;
        let x = shared(&mut engine)?;
        let verified = engine.settled(x)?;
        engine.output_to(party(1), verified)
    });
    matches!(&ends[0], Ok(Some(out)) if **out != values())
}

divisi_core::mutants! {
    split_views_end_before_a_sigma: K1, "does not compare what was opened", split_index;
    a_table_serves_once: K2, "uses a table again", equal_indices;
    a_false_entry_is_noticed: K3, "does not check opened entries", false_entry;
    a_false_index_is_noticed: K4, "does not look at the sum of the sigmas", false_index;
    a_false_output_is_noticed: K4, "does not look at the sum of the sigmas", false_output;
    a_false_entering_is_noticed: K4, "does not look at the sum of the sigmas", values::false_entering;
    a_false_comparison_is_noticed: K4, "does not look at the sum of the sigmas", values::false_comparison;
    a_false_comparison_of_bits_is_noticed: K4, "does not look at the sum of the sigmas", values::false_comparison_of_bits;
    what_enters_is_masked: K5, "masks by bits that everybody knows", values::known_mask;
    every_product_has_its_triple: K6, "takes one triple for all", values::equal_factors;
    no_bits_beyond_the_part: K8, "ignores bits that belong to no element", smuggled_bits;
    no_mac_has_eight_bits: K9, "takes MACs of eight bits", values::macs_of_eight_bits;
    parties_are_counted: K9B, "says that all parties have one guess", values::bits_too_many;
    bytes_beside_the_field_are_not_multiplied: K10, "multiplies bytes that the field does not hold", values::bytes_beside;
    no_bucket_is_spoiled_by_one_guess: K15, "does not prove products", prep::spoiled_bucket;
    buckets_are_not_foreseen: K16, "takes a coin that is known", prep::foreseen_buckets;
    combinations_are_not_foreseen: K18, "takes a coin that is known", prep::foreseen_combination;
    a_false_product_is_sacrificed: K19, "does not look at sigma", prep::false_product;
    a_false_difference_makes_no_table: K17, "uses unit vectors unchecked", prep::false_difference;
    a_false_piece_makes_no_table: K17, "uses unit vectors unchecked", false_piece;
    a_false_product_makes_no_triple: K17, "uses products of bits unchecked", prep::false_bit_triple;
    what_is_told_is_no_share: K20, "opens shares as they are", bare_shares;
    a_sigma_is_not_reflected: K21, "takes any opening of a commitment", reflected::by_one;
    two_parties_reflect_no_sigma: K21, "takes any opening of a commitment", reflected::by_two;
    a_false_e_is_noticed: K22, "does not check opened indices", false_e;
    a_receiver_checks_its_output: K24, "takes a private output unchecked", false_private_output;
}

/// Every check of KOR+17 has a mutant.
#[test]
fn every_check_has_a_mutant() {
    for check in checks::ALL {
        // the mutant of the check of stocks is in tests/stock.rs
        let elsewhere = *check == checks::K23;
        let named =
            |(c, what, name): &(Check, &str, &str)| c == check && !what.is_empty() && !name.is_empty();
        assert!(elsewhere || MUTANTS.iter().any(named), "{check}");
    }
}

/// docs/spdz.md names every check with the tests that kill its mutants.
#[test]
fn the_table_of_checks_is_complete() {
    let table = include_str!("../../../../../docs/spdz.md");
    for (check, _, name) in MUTANTS {
        let row = table.lines().find(|line| line.starts_with(&format!("| {check} |")) && line.contains(name));
        assert!(row.is_some(), "docs/spdz.md lacks {check}: {name}");
    }
}

/// If two parties receive different broadcasts of an input, they end before anything depends on it. Honest
/// runs give the right bytes.
#[test]
fn inputs_are_broadcast() {
    for (n, run) in [(2, two_layers as fn(Session) -> _), (3, two_layers), (2, tiny), (5, tiny)] {
        let ends = harness(n, None).act(run);
        assert!(ends.into_iter().all(|end| end.unwrap() == expected()));
    }
    for at in [0, 8, values().len() - 1] {
        let harness = harness(3, None);
        let recordings = [harness.recording(party(2)), harness.recording(party(3))];
        harness.change(party(1), party(2), INPUT, 0, move |body| body[at] ^= 1);
        let ends = harness.act(two_layers);
        assert!(ends.iter().all(Result::is_err));
        assert!(recordings.iter().all(|seen| sent(seen, LOOKUP) == 0));
    }
}

/// P_2 lies about an index. Nothing of an output, to all or to one party, is sent before the openings are
/// checked \[M0.7\].
#[test]
fn no_output_opens_before_the_check() {
    for to_one in [false, true] {
        for n in [2, 3] {
            let harness = harness(n, None);
            flip(&harness, LOOKUP);
            let recordings = harness.recordings();
            let ends = harness.act(|session| {
                let mut engine = engine(session)?;
                let mut x = shared(&mut engine)?;
                engine.sbox(Direction::Encrypt, &mut [&mut x])?;
                if to_one {
                    let verified = engine.settled(x)?;
                    return engine.output_to(party(1), verified).map(drop);
                }
                opened(&mut engine, x).map(drop)
            });
            assert!(ends.iter().all(Result::is_err));
            for seen in recordings {
                assert!(sent(&seen, COMMIT) > 0, "the check was not reached");
                assert_eq!([OUTPUT, OUTPUT_TO].map(|step| sent(&seen, step)), [0, 0]);
            }
        }
    }
}

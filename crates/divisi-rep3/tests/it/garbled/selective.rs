//! Selective failure: a garbler spoils a list of pairs and looks whether the run ends. Without a check the
//! abort is a bit that it does not know; against the protocol the run always ends.

use super::*;

const LABELS: &str = "divisi_rep3::garbled/labels";
const MASKS: &str = "divisi_rep3::garbled/masks";

/// Input bits of [`small_program`] in a lane, and output bits.
const INS: usize = 24;
const OUTS: usize = 8;

/// Which list of pairs is spoiled, and at which wire: bit after bit, the lanes of each together.
#[derive(Clone, Copy, Debug)]
pub enum Spoiled {
    /// P1's of x23.
    Known(usize),
    /// P2's of u.
    Sums(usize),
    /// P1's of r23.
    Masks(usize),
    /// The hashes of zero of two wires of x23 change places.
    Swapped(usize, usize),
}

/// How a run ended: whether the liar saw an abort, and whether P3 had selected the spoiled hash. (For masks
/// P3's bit is known from its share; after an abort this is what a liar guesses.)
struct Spoil {
    selected: bool,
    aborted: bool,
    /// What P3 ended with.
    end: Option<(Check, Option<PartyId>)>,
}

/// A garbler spoils the hash of `value`.
fn spoil(gap: Gap, calls: usize, lanes: usize, spoiled: Spoiled, value: usize) -> Spoil {
    let (program, (_, parts)) = (small_program(), transparent(calls as u8, lanes));
    let [first, second, evaluator] = roles(calls);
    let harness = gap.harness();
    let wires = INS * lanes;
    let flip = |at: usize| move |body: &mut Vec<u8>| body[at + 16 * value] ^= 1;
    match spoiled {
        Spoiled::Known(wire) => {
            harness.change(first, evaluator, LABELS, 0, flip(16 * wires + 32 * wire));
        }
        Spoiled::Sums(wire) => {
            harness.change(second, evaluator, LABELS, 0, flip(16 * wires + 32 * wire));
        }
        Spoiled::Masks(wire) => harness.change(first, evaluator, MASKS, 0, flip(32 * wire)),
        Spoiled::Swapped(one, other) => harness.change(first, evaluator, LABELS, 0, move |body| {
            (0..16).for_each(|i| body.swap(16 * wires + 32 * one + i, 16 * wires + 32 * other + i));
        }),
    }
    let ends = harness.act(|mut trio| {
        gap.weaken(&mut trio);
        let (mut e, wires) = begin(trio, &parts, calls)?;
        let out = run_one(&mut e, &program, wires)?;
        let out = bytes(&mut e, &out)?;
        let verified = e.settled(out)?.each();
        // a barrier, at which a party that has ended tells the others
        let opened = verified.iter().map(|byte| e.trio().part(byte)).collect::<Result<Vec<_>, _>>();
        e.trio().barrier()?;
        opened
    });
    let bit = |column: &[u8], wire: usize| column[wire % lanes] >> (wire / lanes % 8) & 1 == 1;
    let of_evaluator: &Vec<Part> = &parts[evaluator.index()];
    let known = |wire: usize| bit(&of_evaluator[wire / lanes / 8].first, wire);
    let selected = match spoiled {
        Spoiled::Known(wire) => known(wire) == (value == 1),
        Spoiled::Swapped(one, other) => !known(one) || !known(other),
        Spoiled::Sums(wire) => bit(&of_evaluator[wire / lanes / 8].second, wire) == (value == 1),
        // y23 = r23, which P3 keeps if there was no abort; else it is known by the guess alone
        Spoiled::Masks(wire) => match &ends[evaluator.index()] {
            Ok(parts) => bit(&parts[0].first, wire) == (value == 1),
            Err(_) => true,
        },
    };
    let end = match &ends[evaluator.index()] {
        Err(Abort::CheckFailed { check, culprit, .. }) => Some((*check, *culprit)),
        _ => None,
    };
    // what the liar sees
    Spoil { selected, aborted: ends.iter().any(Result::is_err), end }
}

/// Whether the liar can tell the bit by the abort: in every run it guesses that P3 selected the spoiled hash
/// exactly if there was an abort.
fn is_selective(gap: Gap, spoiled: Spoiled) -> bool {
    let runs: Vec<Spoil> = (0..24).map(|calls| spoil(gap, calls, LANES, spoiled, 1)).collect();
    let told = runs.iter().all(|run| run.selected == run.aborted);
    // neither always nor never
    told && runs.iter().any(|run| run.aborted) && runs.iter().any(|run| !run.aborted)
}

/// P1 spoils a pair of x23.
pub fn of_known(gap: Gap) -> bool {
    is_selective(gap, Spoiled::Known(3))
}

/// P2 spoils a pair of u.
pub fn of_sums(gap: Gap) -> bool {
    is_selective(gap, Spoiled::Sums(3))
}

/// P1 spoils a pair of r23, with which it has a bit of the output.
pub fn of_masks(gap: Gap) -> bool {
    is_selective(gap, Spoiled::Masks(3))
}

/// P1 spoils a pair in the second half of the list.
pub fn late(gap: Gap) -> bool {
    is_selective(gap, Spoiled::Known(INS * LANES - 1))
}

/// P1 changes the order of what is in the list, and nothing else: the run aborts unless two bits of P3 are
/// both one.
pub fn of_order(gap: Gap) -> bool {
    is_selective(gap, Spoiled::Swapped(5, 2 * LANES + 1))
}

/// Every position of every list, with one lane.
fn positions() -> Vec<Spoiled> {
    let ins = (0..INS).flat_map(|wire| [Spoiled::Known(wire), Spoiled::Sums(wire)]);
    ins.chain((0..OUTS).map(Spoiled::Masks)).collect()
}

/// For each value of P3's bit, how many of the runs there were and how many of them aborted: all, whatever
/// the bit is.
fn count(spoiled: Spoiled, runs: usize) -> [(usize, usize); 2] {
    let all = many(runs, 4, |i| spoil(Gap::Nothing, i % 6, 1, spoiled, i / 6 % 2));
    let mut counts = [(0, 0); 2];
    for run in all {
        let count = &mut counts[usize::from(run.selected)];
        count.0 += 1;
        count.1 += usize::from(run.aborted);
    }
    counts
}

fn an_abort_tells_nothing(runs: usize) {
    for spoiled in positions() {
        let counts = count(spoiled, runs);
        assert!(counts.iter().all(|(all, aborted)| all == aborted), "{spoiled:?} {counts:?}");
        assert_eq!(counts[0].0 + counts[1].0, runs);
        // of masks nobody knows the bit after an abort
        if !matches!(spoiled, Spoiled::Masks(_)) {
            assert!(counts.iter().all(|(all, _)| *all > 0), "{spoiled:?} {counts:?}");
        }
    }
}

/// With a pair of any list spoiled at any wire the run ends, whatever bit P3 has there.
#[test]
fn an_abort_does_not_depend_on_the_selected_bit() {
    an_abort_tells_nothing(24);
}

/// 2^10 runs a position.
#[test]
#[ignore = "long"]
fn no_abort_of_many_depends_on_the_selected_bit() {
    an_abort_tells_nothing(1 << 10);
}

/// Either the party that sent the list or the one that sent its digest lied: as nobody knows which of them,
/// nobody is named.
#[test]
fn a_spoiled_list_names_nobody() {
    for spoiled in positions() {
        for value in [0, 1] {
            assert_eq!(
                spoil(Gap::Nothing, 1, 1, spoiled, value).end,
                Some((checks::Y2, None)),
                "{spoiled:?}"
            );
        }
    }
}

/// The same with many lanes.
#[test]
fn a_spoiled_pair_in_any_lane_ends_the_run() {
    for wire in (0..INS * LANES).step_by(37) {
        let masks = Spoiled::Masks(wire % (OUTS * LANES));
        for (calls, spoiled) in [Spoiled::Known(wire), Spoiled::Sums(wire), masks].into_iter().enumerate() {
            for value in [0, 1] {
                assert!(spoil(Gap::Nothing, calls, LANES, spoiled, value).aborted, "{spoiled:?}");
            }
        }
    }
}

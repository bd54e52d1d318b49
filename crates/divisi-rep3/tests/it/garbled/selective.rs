//! Selective failure: a garbler spoils a list of pairs and looks whether the run ends. Without a check the
//! abort is a bit that it does not know; against the protocol the run always ends.

use super::*;

/// Input bits of [`small_program`] in a lane, and output bits.
pub const INS: usize = 24;
const OUTS: usize = 8;
/// The most wires of a message.
const CHUNK: usize = 1024;

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
    end: Result<(), Abort>,
}

/// A garbler spoils the hash of `value`.
fn spoil(gap: Gap, calls: usize, lanes: usize, spoiled: Spoiled, value: usize) -> Spoil {
    let (program, (_, parts)) = (small_program(), transparent(calls as u8, lanes));
    let [first, second, evaluator] = roles(calls);
    let harness = gap.harness();
    // those of the first message
    let wires = (INS * lanes).min(CHUNK);
    let flip = |at: usize| move |body: &mut Vec<u8>| body[at + 16 * value] ^= 1;
    match spoiled {
        Spoiled::Known(at) => harness.change(first, evaluator, LABELS, 0, flip(16 * wires + 32 * at)),
        Spoiled::Sums(at) => harness.change(second, evaluator, LABELS, 0, flip(16 * wires + 32 * at)),
        Spoiled::Masks(wire) => harness.change(first, evaluator, MASKS, 0, flip(32 * wire)),
        Spoiled::Swapped(one, other) => harness.change(first, evaluator, LABELS, 0, move |body| {
            (0..16).for_each(|i| body.swap(16 * wires + 32 * one + i, 16 * wires + 32 * other + i));
        }),
    }
    let ends = harness.act(|mut trio| {
        gap.weaken(&mut trio);
        let (mut e, wires) = begin(trio, &parts, calls)?;
        let out = run_one(&mut e, &program, wires)?;
        let held = held(&mut e, &out);
        // a barrier, at which a party that has ended tells the others
        e.trio().barrier()?;
        held
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
            Ok(part) => bit(&part.first, wire) == (value == 1),
            Err(_) => true,
        },
    };
    let end = ends[evaluator.index()].as_ref().map(|_| ()).map_err(Clone::clone);
    // what the liar sees
    Spoil { selected, aborted: ends.iter().any(Result::is_err), end }
}

/// Whether the liar can tell the bit by the abort: in every run it guesses that P3 selected the spoiled hash
/// exactly if there was an abort.
pub fn is_selective(gap: Gap, spoiled: Spoiled) -> bool {
    let runs: Vec<Spoil> = (0..24).map(|calls| spoil(gap, calls, LANES, spoiled, 1)).collect();
    let told = runs.iter().all(|run| run.selected == run.aborted);
    // neither always nor never
    told && runs.iter().any(|run| run.aborted) && runs.iter().any(|run| !run.aborted)
}

/// Every position of every list, with one lane.
fn positions() -> Vec<Spoiled> {
    let ins = (0..INS).flat_map(|wire| [Spoiled::Known(wire), Spoiled::Sums(wire)]);
    ins.chain((0..OUTS).map(Spoiled::Masks)).collect()
}

/// All runs abort, whatever P3's bit is.
fn an_abort_tells_nothing(runs: usize) {
    for spoiled in positions() {
        let all = many(runs, 4, |i| spoil(Gap::Nothing, i % 6, 1, spoiled, i / 6 % 2));
        assert!(all.iter().all(|run| run.aborted), "{spoiled:?}");
        let selected = all.iter().filter(|run| run.selected).count();
        // of masks nobody knows the bit after an abort
        let is_mask = matches!(spoiled, Spoiled::Masks(_));
        assert!(is_mask || (1..runs).contains(&selected), "{spoiled:?}: {selected} of {runs}");
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
            blames_nobody(&spoil(Gap::Nothing, 1, 1, spoiled, value).end, checks::Y2);
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

/// And in a message that others follow.
#[test]
fn a_spoiled_pair_in_any_message_ends_the_run() {
    for (calls, wire) in [0, 500, CHUNK - 1].into_iter().enumerate() {
        for spoiled in [Spoiled::Known(wire), Spoiled::Sums(wire)] {
            for value in [0, 1] {
                assert!(spoil(Gap::Nothing, calls, 200, spoiled, value).aborted, "{spoiled:?}");
            }
        }
    }
}

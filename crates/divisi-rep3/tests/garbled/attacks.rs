//! What a liar gets, in each of its roles: each attack tells whether it came through, with a check switched
//! off or something left out (`Gap`) or against the protocol.

use super::{bits, bytes, engine, in_the_clear, inputs, play, small_program, turn};
use divisi_circuit::{Build, Program};
use divisi_core::{Abort, Boolean, Check, Job, PartyId, Step, settle};
use divisi_ot::record::{self, Call};
use divisi_rep3::adversary::harness::{Harness, Recording, Way, failed_check, party};
use divisi_rep3::adversary::{Lie, Weakness};
use divisi_rep3::deal::Part;
use divisi_rep3::lab::deal_all;
use divisi_rep3::{Byte, Trio};
use std::collections::{BTreeMap, BTreeSet};

const LABELS: &str = "divisi_rep3::garbled/labels";
const MASKS: &str = "divisi_rep3::garbled/masks";

/// Lanes of these runs: their outputs are more than 64.
pub const LANES: usize = 16;

/// What the protocol of a run lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    Nothing,
    Without(Check),
    Weak(Weakness),
}

impl Gap {
    pub fn harness(self) -> Harness {
        match self {
            Gap::Without(check) => Harness::without(Some(check)),
            _ => Harness::default(),
        }
    }

    pub fn weaken(self, trio: &mut Trio) {
        if let Gap::Weak(weakness) = self {
            trio.weaken(weakness);
        }
    }
}

/// Who is P1, P2 and P3 after so many calls.
pub fn roles(calls: usize) -> [PartyId; 3] {
    let first = party((calls % 3 + 1) as u8);
    [first, first.next(3), first.prev(3)]
}

/// Inputs of [`small_program`] of which every output bit is one of the first byte's.
fn transparent(seed: u8) -> (Vec<Vec<u8>>, [Vec<Part>; 3]) {
    let values: Vec<Vec<u8>> = vec![vec![seed; LANES], vec![0xff; LANES], vec![0xff; LANES]];
    let parts = deal_all(&values);
    (values, parts)
}

/// A run with such a liar: how each party ended, and whether an honest one took a wrong output.
pub fn lying(gap: Gap, calls: usize, liar: PartyId, lie: Lie) -> (Vec<Result<Vec<Vec<u8>>, Abort>>, bool) {
    let (program, (values, parts)) = (small_program(), transparent(0x3c));
    let expected = in_the_clear(&program, &values);
    let ends = gap.harness().act(|mut trio| {
        gap.weaken(&mut trio);
        if trio.me() == liar {
            trio.lie(lie);
        }
        play(trio, &program, &parts, calls)
    });
    let honest = PartyId::all(3).zip(&ends).filter(|(me, _)| *me != liar);
    let wrong = honest.into_iter().any(|(_, end)| end.as_ref().is_ok_and(|opened| *opened != expected));
    (ends, wrong)
}

/// Whether some run of all rotations ends with a wrong output, `role` (of P1, P2, P3) lying.
fn comes_through(gap: Gap, role: usize, lie: Lie) -> bool {
    (0..12).any(|calls| lying(gap, calls, roles(calls)[role], lie).1)
}

/// A garbler makes a gate of its half another one: results are labels still, but not those of the circuit.
pub fn bent_gate(gap: Gap) -> bool {
    comes_through(gap, 1, Lie::BendGate)
}

/// The same by P1.
pub fn bent_gate_of_first(gap: Gap) -> bool {
    comes_through(gap, 0, Lie::BendGate)
}

/// P2 sends the other label of x23, P1 that of u.
pub fn other_input(gap: Gap) -> bool {
    comes_through(gap, 1, Lie::OtherInput) && comes_through(gap, 0, Lie::OtherInput)
}

/// P1 sends another decoding bit.
pub fn other_decoding(gap: Gap) -> bool {
    comes_through(gap, 0, Lie::OtherDecoding)
}

/// P3 keeps and sends another z.
pub fn other_result(gap: Gap) -> bool {
    comes_through(gap, 2, Lie::OtherResult(0))
}

/// The same beyond the first 64 outputs.
pub fn other_result_late(gap: Gap) -> bool {
    comes_through(gap, 2, Lie::OtherResult(70))
}

/// Which list of pairs is spoiled, and at which wire.
#[derive(Clone, Copy, Debug)]
pub enum Spoiled {
    /// P1's of x23.
    Known(usize),
    /// P2's of u.
    Sums(usize),
    /// P1's of r23.
    Masks(usize),
}

/// A garbler spoils the hash of one label of a wire. The bit that selects it at P3, by P1's second or first
/// component; and whether the run ended in an abort.
fn spoil(gap: Gap, calls: usize, spoiled: Spoiled, value: usize) -> (bool, bool) {
    let (program, (_, parts)) = (small_program(), transparent(calls as u8));
    let [first, second, evaluator] = roles(calls);
    let harness = gap.harness();
    let wires = 24 * LANES;
    let (liar, step, at) = match spoiled {
        Spoiled::Known(wire) => (first, LABELS, 16 * wires + 32 * wire),
        Spoiled::Sums(wire) => (second, LABELS, 16 * wires + 32 * wire),
        Spoiled::Masks(wire) => (first, MASKS, 32 * wire),
    };
    harness.change(liar, evaluator, step, 0, move |body| body[at + 16 * value] ^= 1);
    let ends = harness.act(|mut trio| {
        gap.weaken(&mut trio);
        let secret = inputs(&mut trio, &parts)?;
        let mut e = engine(trio);
        turn(&mut e, calls)?;
        let wires = bits(&mut e, &secret)?;
        let mut jobs = [Job::new(&program, wires)];
        e.run(&mut jobs)?;
        let out = bytes(&mut e, &jobs[0].wires)?;
        let pending = e.close_linear(out)?;
        let verified = settle(&mut e, pending)?.each();
        // an opening: whoever ended tells it here
        let opened = verified.iter().map(|byte| e.trio().part(byte)).collect::<Result<Vec<_>, _>>();
        e.trio().barrier()?;
        opened
    });
    let bit = |column: &[u8], wire: usize| column[wire % LANES] >> (wire / LANES % 8) & 1 == 1;
    let of_evaluator = &parts[evaluator.index()];
    let selected = match spoiled {
        Spoiled::Known(wire) => bit(&of_evaluator[wire / LANES / 8].first, wire),
        Spoiled::Sums(wire) => bit(&of_evaluator[wire / LANES / 8].second, wire),
        // y23 = r23, which P3 keeps if there was no abort; else it is known by the guess alone
        Spoiled::Masks(wire) => match &ends[evaluator.index()] {
            Ok(parts) => bit(&parts[0].first, wire),
            Err(_) => value == 1,
        },
    };
    // what the liar sees
    (selected, ends.iter().any(Result::is_err))
}

/// Whether the liar can tell the bit by the abort: run after run it guesses that P3 selected the spoiled hash
/// where there was one.
fn is_selective(gap: Gap, spoiled: Spoiled) -> bool {
    let runs: Vec<(bool, bool)> = (0..24).map(|calls| spoil(gap, calls, spoiled, 1)).collect();
    let told = runs.iter().all(|(selected, aborted)| selected == aborted);
    // neither always nor never
    told && runs.iter().any(|run| run.1) && runs.iter().any(|run| !run.1)
}

/// P1 spoils a pair of x23.
pub fn selective_failure(gap: Gap) -> bool {
    is_selective(gap, Spoiled::Known(3))
}

/// P2 spoils a pair of u.
pub fn selective_failure_of_sums(gap: Gap) -> bool {
    is_selective(gap, Spoiled::Sums(3))
}

/// P1 spoils a pair of r23, with which it has a bit of the output.
pub fn selective_failure_of_masks(gap: Gap) -> bool {
    is_selective(gap, Spoiled::Masks(3))
}

/// P1 spoils a pair in the second half of the list.
pub fn selective_failure_late(gap: Gap) -> bool {
    is_selective(gap, Spoiled::Known(24 * LANES - 1))
}

/// With each pair of each list spoiled the run ends, whatever bit P3 has there.
#[test]
fn an_abort_does_not_depend_on_the_selected_bit() {
    for wire in (0..24 * LANES).step_by(37) {
        for calls in 0..6 {
            let masks = Spoiled::Masks(wire % (8 * LANES));
            for spoiled in [Spoiled::Known(wire), Spoiled::Sums(wire), masks] {
                assert!(spoil(Gap::Nothing, calls, spoiled, calls % 2).1, "{spoiled:?}");
            }
        }
    }
}

/// What P1 and P3 know of the output: the exclusive or of their two components, wire by wire.
fn known_of_output(gap: Gap, value: u8) -> (Vec<[Vec<u8>; 3]>, Vec<Vec<u8>>) {
    let program = small_program();
    let (values, parts) = transparent(value);
    let expected = in_the_clear(&program, &values);
    let known = |calls: usize| {
        let ends = gap.harness().act(|mut trio| {
            gap.weaken(&mut trio);
            let secret = inputs(&mut trio, &parts)?;
            let mut e = engine(trio);
            turn(&mut e, calls)?;
            let wires = bits(&mut e, &secret)?;
            let mut jobs = [Job::new(&program, wires)];
            e.run(&mut jobs)?;
            let out = bytes(&mut e, &jobs[0].wires)?;
            let pending = e.close_linear(out)?;
            let verified = settle(&mut e, pending)?.each();
            let part = e.trio().part(&verified[0])?;
            Ok(part.first.iter().zip(&part.second).map(|(x, y)| x ^ y).collect::<Vec<u8>>())
        });
        roles(calls).map(|party| ends[party.index()].clone().unwrap())
    };
    ((0..3).map(known).collect(), expected)
}

/// P3 has z and r23.
pub fn evaluator_sees_output(gap: Gap) -> bool {
    let (known, expected) = known_of_output(gap, 0x5a);
    known.iter().all(|known| known[2] == expected[0])
}

/// P1 has z and r12.
pub fn first_sees_output(gap: Gap) -> bool {
    let (known, expected) = known_of_output(gap, 0x5a);
    known.iter().all(|known| known[0] == expected[0])
}

/// What each party has of an output is uniform, for two secrets.
#[test]
fn what_a_party_has_of_an_output_is_uniform() {
    for value in [0x00, 0xff] {
        let mut ones = [0_u32; 3];
        let mut all = 0;
        for _ in 0..8 {
            let (known, _) = known_of_output(Gap::Nothing, value);
            for known in known {
                for (ones, known) in ones.iter_mut().zip(&known) {
                    *ones += known.iter().map(|byte| byte.count_ones()).sum::<u32>();
                }
                all += 8 * LANES as u32;
            }
        }
        // six standard deviations of 3,072 coins are 167
        assert!(ones.iter().all(|ones| ones.abs_diff(all / 2) < 167), "{ones:?} of {all}");
    }
}

/// Two calls of one circuit in the same roles: what P3 gets of the inputs, as words.
fn labels_of_two_calls(gap: Gap) -> [Vec<u128>; 2] {
    let program = small_program();
    let parts = [transparent(0x0f).1, transparent(0x35).1];
    let harness = gap.harness();
    let [first, _, evaluator] = roles(0);
    let recording: Recording = harness.recording(evaluator);
    let ends = harness.act(|mut trio| {
        gap.weaken(&mut trio);
        let secret = [inputs(&mut trio, &parts[0])?, inputs(&mut trio, &parts[1])?];
        let mut e = engine(trio);
        for secret in &secret {
            let wires = bits(&mut e, secret)?;
            e.run(&mut [Job::new(&program, wires)])?;
            turn(&mut e, 2)?;
        }
        e.trio().barrier()?;
        Ok(())
    });
    assert!(ends.iter().all(Result::is_ok));
    let bodies = recording.bodies(Way::In, first, LABELS);
    let words = |body: &Vec<u8>| {
        body[..16 * 24 * LANES].as_chunks().0.iter().map(|w| u128::from_le_bytes(*w)).collect()
    };
    [words(&bodies[0]), words(&bodies[1])]
}

/// P3 has both labels of every wire whose u changed: their sum is Delta each time.
pub fn delta_of_two_calls(gap: Gap) -> bool {
    let [one, two] = labels_of_two_calls(gap);
    let sums: Vec<u128> = one.iter().zip(&two).map(|(x, y)| x ^ y).filter(|sum| *sum != 0).collect();
    sums.iter().collect::<BTreeSet<_>>().len() == 1 && sums.len() > 10
}

/// A masked opening that P1 told P2 and P3 differently chooses between two secrets: without a barrier P3
/// aborts where they differ in x23, of which P1 knows the rest. Whether P1's guesses are right, run after
/// run.
pub fn split_opening(gap: Gap) -> bool {
    let mut g = Build::new();
    let x = g.input(1)[0];
    g.output(&[x; 8]);
    let program = g.finish();
    let runs: Vec<(bool, bool)> = (0..24).map(|calls| split_run(gap, calls, &program)).collect();
    runs.iter().all(|(guess, truth)| guess == truth)
}

fn split_run(gap: Gap, calls: usize, program: &Program) -> (bool, bool) {
    let [first, second, evaluator] = roles(calls);
    let (a, b) = ((calls / 3 % 2) as u8, (calls / 6 % 2) as u8);
    let parts = deal_all(&[vec![a], vec![b]]);
    let ends = gap.harness().act(|mut trio| {
        gap.weaken(&mut trio);
        let me = trio.me();
        let mine = &parts[me.index()];
        // the opened choice: P2 was told the first, P3 the second, and P1 does what suits both
        let mixed = Part { first: mine[1].first.clone(), second: mine[0].second.clone() };
        let (choice, part) = match me {
            me if me == first => (0, &mixed),
            me if me == second => (0, &mine[0]),
            _ => (1, &mine[1]),
        };
        trio.absorb("opened", &[choice]);
        let x = trio.input(part)?;
        let mut e = engine(trio);
        turn_without_barrier(&mut e, calls)?;
        let wires = bits(&mut e, &[x])?;
        let mut jobs = [Job::new(program, wires[..1].to_vec())];
        e.run(&mut jobs)
    });
    let aborted = failed_check(&ends[evaluator.index()]).is_some();
    // a23 + b23 = a + b + what P1 knows
    let known = |part: &Part| part.first[0] ^ part.second[0];
    let mine = &parts[first.index()];
    let rest = (known(&mine[0]) ^ known(&mine[1])) & 1 == 1;
    (aborted ^ rest, (a ^ b) & 1 == 1)
}

/// Roles move on in the engine that has an opening nobody compared: only a weak one goes on, so that the
/// first call of the protocol ends it.
fn turn_without_barrier(e: &mut divisi_rep3::Rep3, calls: usize) -> Result<(), Abort> {
    turn(e, calls % 3)
}

/// What each party of a call hashes.
fn hashed(gap: Gap) -> [Vec<Call>; 3] {
    let program = small_program();
    // three groups of lanes
    let parts = deal_all(&[vec![1; 130], vec![2; 130], vec![3; 130]]);
    let ends = gap.harness().act(|mut trio| {
        gap.weaken(&mut trio);
        let secret: Vec<Byte> = inputs(&mut trio, &parts)?;
        let mut e = engine(trio);
        let wires = bits(&mut e, &secret)?;
        record::begin();
        let end = e.run(&mut [Job::new(&program, wires)]);
        let calls = record::end().calls;
        end.map(|()| calls)
    });
    let ends: Vec<Vec<Call>> = ends.into_iter().map(Result::unwrap).collect();
    ends.try_into().ok().unwrap()
}

/// Whether some tweak comes twice in a call: at a garbler for other labels than the two of one wire, at the
/// evaluator at all.
pub fn tweaks_return(gap: Gap) -> bool {
    let [first, second, evaluator] = hashed(gap);
    let group = |calls: &[Call]| {
        let mut inputs: BTreeMap<(u128, u128), Vec<u128>> = BTreeMap::new();
        calls.iter().for_each(|call| inputs.entry((call.key, call.tweak)).or_default().push(call.input));
        inputs
    };
    let [of_first, of_second, of_evaluator] = [&first, &second, &evaluator].map(|calls| group(calls));
    let deltas: BTreeSet<u128> =
        of_first.values().map(|pair| pair.iter().fold(0, |sum, input| sum ^ input)).collect();
    let once = of_first.values().all(|pair| pair.len() == 2)
        && deltas.len() == 1
        && of_first == of_second
        && of_evaluator.values().all(|one| one.len() == 1)
        && of_evaluator.len() == of_first.len();
    if once {
        // 16 ANDs of two tweaks, 24 inputs of two wires, 8 masks
        assert_eq!(of_first.len(), 130 * (16 * 2 + 24 * 2 + 8));
        // and every active label is one of the two
        assert!(of_evaluator.iter().all(|(name, input)| of_first[name].contains(&input[0])));
    }
    !once
}

/// Who lied is named where nobody else can have caused the failure, and nobody else ever is.
#[test]
fn blame_falls_on_a_liar_or_on_nobody() {
    for calls in 0..3 {
        let [first, second, evaluator] = roles(calls);
        for (liar, lie, check, names) in [
            (second, Lie::BendGate, Check::Y1, false),
            (first, Lie::BendGate, Check::Y1, false),
            (second, Lie::OtherInput, Check::Y3, true),
            (first, Lie::OtherInput, Check::Y3, true),
            (first, Lie::OtherDecoding, Check::Y4, false),
        ] {
            let (ends, _) = lying(Gap::Nothing, calls, liar, lie);
            let end = &ends[evaluator.index()];
            let Err(Abort::CheckFailed { check: failed, culprit, .. }) = end else {
                panic!("{lie:?} {end:?}")
            };
            assert_eq!((*failed, *culprit), (check, names.then_some(liar)), "{lie:?}");
        }
        let (ends, _) = lying(Gap::Nothing, calls, evaluator, Lie::OtherResult(5));
        let end = &ends[first.index()];
        let Err(Abort::CheckFailed { check: Check::Y5, culprit, .. }) = end else { panic!("{end:?}") };
        assert_eq!(*culprit, Some(evaluator));
    }
}

/// P3 says nothing between the first label and z, and P2 hears nothing.
#[test]
fn the_evaluator_says_nothing_before_z() {
    let (program, (_, parts)) = (small_program(), transparent(1));
    let harness = Gap::Nothing.harness();
    let recordings = harness.recordings();
    let ends = harness.act(|mut trio| {
        let secret = inputs(&mut trio, &parts)?;
        let mut e = engine(trio);
        let wires = bits(&mut e, &secret)?;
        e.run(&mut [Job::new(&program, wires)])
    });
    assert!(ends.iter().all(Result::is_ok));
    let [first, second, evaluator] = roles(0);
    let garbled = ["salt", "tables", "labels", "masks", "decoding", "result"]
        .map(|step| Step::new(Box::leak(format!("divisi_rep3::garbled/{step}").into_boxed_str())).id);
    let sent = |from: PartyId, to: PartyId| {
        let seen = recordings[from.index()].read().into_iter();
        seen.filter(|seen| seen.way == Way::Out && seen.peer == to && garbled.contains(&seen.frame.step))
            .count()
    };
    assert_eq!(sent(evaluator, first), 1);
    assert!(sent(first, evaluator) >= 5 && sent(second, evaluator) >= 5);
    for (from, to) in [(first, second), (second, first), (evaluator, second)] {
        assert_eq!(sent(from, to), 0);
    }
}

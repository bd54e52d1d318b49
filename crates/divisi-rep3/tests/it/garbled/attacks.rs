//! What a liar gets, in each of its roles: each attack tells whether it came through, with a check switched
//! off or something left out (`Gap`) or against the protocol.

use super::*;
use divisi_core::testing::Seen;
use divisi_ot::record::{self, Call};
use std::collections::{BTreeMap, BTreeSet};

/// The number of lanes of these runs, which have more than 64 outputs.
pub const LANES: usize = 16;

/// Something that the protocol needs and that has no check of its own. Only the copy of `lab/attacks` can
/// leave it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weakness {
    OneHalf,
    LastPiece,
    FewLabels,
    NoR12,
    NoR23,
    SameCall,
    NoBarrier,
    PairsAsGates,
    SharedTweak,
    WiresAnew,
    ListOfLabels,
    HalfList,
    Unordered,
}

/// What a liar changes in what it sends.
#[derive(Clone, Copy, Debug)]
pub enum Lie {
    /// A garbler the last word of its half of tables.
    BendGate,
    /// A garbler the label of the first input wire.
    OtherInput,
    /// P1 the first decoding bit.
    OtherDecoding,
    /// The evaluator this bit of z.
    OtherResult(usize),
}

impl Lie {
    fn tell(self, harness: &TrioHarness, calls: usize, liar: PartyId) {
        let [first, _, evaluator] = roles(calls);
        match self {
            // a digest follows
            Lie::BendGate => harness.change(liar, evaluator, TABLES, 0, |body| {
                let at = body.len() - 33;
                body[at] ^= 1;
            }),
            Lie::OtherInput => harness.change(liar, evaluator, LABELS, 0, |body| body[0] ^= 1),
            Lie::OtherDecoding => harness.change(liar, evaluator, DECODING, 0, |body| body[0] ^= 1),
            Lie::OtherResult(at) => {
                harness.change(liar, first, RESULT, 0, move |body| body[at / 8] ^= 1 << (at % 8));
            }
        }
    }
}

/// What is missing in the protocol of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    Nothing,
    Without(Check),
    Weak(Weakness),
}

impl Gap {
    pub fn harness(self) -> TrioHarness {
        match self {
            Gap::Without(check) => TrioHarness::without(Some(check)),
            _ => TrioHarness::default(),
        }
    }

    /// Only the copy of `lab/attacks` leaves anything out.
    pub fn weaken(self, _trio: &mut Trio) {
        assert!(!matches!(self, Gap::Weak(_)), "{self:?}: a mutant is built only in the copy of lab/attacks");
    }
}

/// The parties that are P1, P2 and P3 after this many calls.
pub fn roles(calls: usize) -> [PartyId; 3] {
    let first = party((calls % 3 + 1) as u8);
    [first, first.next(3), first.prev(3)]
}

/// Inputs of [`small_program`] for which the output is the first byte: the other two are all ones.
pub fn transparent(seed: u8, lanes: usize) -> (Vec<Vec<u8>>, [Vec<Part>; 3]) {
    let values: Vec<Vec<u8>> = vec![vec![seed; lanes], vec![0xff; lanes], vec![0xff; lanes]];
    let parts = deal_all(&values);
    (values, parts)
}

/// A run with such a liar: how each party ended, and whether an honest one took a wrong output.
pub fn lying(gap: Gap, calls: usize, liar: PartyId, lie: Lie) -> (Vec<Result<Vec<Vec<u8>>, Abort>>, bool) {
    let (program, (values, parts)) = (small_program(), transparent(0x3c, LANES));
    let expected = in_the_clear(&program, &values);
    let harness = gap.harness();
    lie.tell(&harness, calls, liar);
    let ends = harness.act(|mut trio| {
        gap.weaken(&mut trio);
        play(trio, &program, &parts, calls)
    });
    let wrong = others(liar, &ends).any(|(_, end)| end.as_ref().is_ok_and(|opened| *opened != expected));
    (ends, wrong)
}

/// Whether some run of all rotations ends with a wrong output, `role` (of P1, P2, P3) lying.
pub fn comes_through(gap: Gap, role: usize, lie: Lie) -> bool {
    (0..12).any(|calls| lying(gap, calls, roles(calls)[role], lie).1)
}

/// What each party of a call hashes, garbled ahead or not.
fn hashed(gap: Gap, ahead: bool) -> [Vec<Call>; 3] {
    let program = small_program();
    // three groups of lanes
    let parts = deal_all(&[vec![1; 130], vec![2; 130], vec![3; 130]]);
    let ends = gap.harness().act(|mut trio| {
        gap.weaken(&mut trio);
        let (mut e, wires) = begin(trio, &parts, 0)?;
        record::begin();
        let end = run_by(&mut e, &program, 130, wires, ahead.then_some(0));
        let calls = record::end().calls;
        end.map(|_| calls)
    });
    let ends: Vec<Vec<Call>> = ends.into_iter().map(Result::unwrap).collect();
    ends.try_into().ok().unwrap()
}

/// Whether some tweak comes twice in a call, garbled ahead or not: at a garbler for other labels than the two
/// of one wire, at the evaluator at all.
pub fn tweaks_return(gap: Gap, ahead: bool) -> bool {
    let [first, second, evaluator] = hashed(gap, ahead);
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

/// A party that lied is named if nobody else can have caused the failure; an honest party is never named.
#[test]
fn blame_falls_on_a_liar_or_on_nobody() {
    for calls in 0..3 {
        let [first, second, evaluator] = roles(calls);
        for (liar, lie, check, names) in [
            (second, Lie::BendGate, checks::Y1, false),
            (first, Lie::BendGate, checks::Y1, false),
            (second, Lie::OtherInput, checks::Y3, true),
            (first, Lie::OtherInput, checks::Y3, true),
            (first, Lie::OtherDecoding, checks::Y4, false),
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
        let Err(Abort::CheckFailed { check: checks::Y5, culprit, .. }) = end else { panic!("{end:?}") };
        assert_eq!(*culprit, Some(evaluator));
    }
}

/// P3 says nothing between the first label and z, and P2 receives nothing.
#[test]
fn the_evaluator_says_nothing_before_z() {
    let (program, (_, parts)) = (small_program(), transparent(1, LANES));
    let harness = Gap::Nothing.harness();
    let recordings = harness.recordings();
    let ends = harness.act(|trio| play(trio, &program, &parts, 0));
    assert!(ends.iter().all(Result::is_ok));
    let [first, second, evaluator] = roles(0);
    let garbled = [SALT, TABLES, LABELS, MASKS, DECODING, RESULT].map(|step| Step::new(step).id);
    let sent = |from: PartyId, to: PartyId| {
        let seen = recordings[from.index()].read().into_iter();
        let ours = |seen: &Seen| seen.way == MessageDirection::Out && seen.peer == to;
        seen.filter(|seen| ours(seen) && garbled.contains(&seen.frame.step)).count()
    };
    assert_eq!(sent(evaluator, first), 1);
    assert!(sent(first, evaluator) >= 5 && sent(second, evaluator) >= 5);
    for (from, to) in [(first, second), (second, first), (evaluator, second)] {
        assert_eq!(sent(from, to), 0);
    }
}

/// No label leaves before views are compared, however many calls or programs run at once.
#[test]
fn labels_of_several_calls_wait_for_one_barrier() {
    let (program, (_, parts)) = (small_program(), transparent(1, LANES));
    for (ahead, calls) in [(true, 1), (true, 2), (true, 3), (false, 1), (false, 2)] {
        let harness = Gap::Nothing.harness();
        let recordings = harness.recordings();
        let ends = harness.act(|trio| {
            let (mut e, wires) = begin(trio, &parts, 0)?;
            let mut made = Vec::new();
            for _ in 0..if ahead { calls } else { 0 } {
                made.push((e.garble_ahead(&program, LANES, &[])?, wires.clone()));
            }
            let own = [e.trio().me().number()];
            e.trio().absorb("told differently", &own);
            if ahead {
                return e.run_all_ahead(made).map(drop);
            }
            let run = |_| ProgramRun::new(&program, wires.clone());
            e.run(&mut (0..calls).map(run).collect::<Vec<_>>())
        });
        assert!(ends.iter().all(Result::is_err), "{ends:?}");
        let labels = Step::new(LABELS).id;
        let left = |seen: &Seen| seen.way == MessageDirection::Out && seen.frame.step == labels;
        let left =
            recordings.iter().map(|recording| recording.read().iter().filter(|seen| left(seen)).count());
        assert_eq!(left.sum::<usize>(), 0, "{calls} calls, ahead: {ahead}");
    }
}

//! What each party sees of a call, and what it can make of it.

use super::*;
use std::collections::BTreeSet;

/// What each of P1, P2 and P3 knows of the output, in every rotation: the exclusive or of its two components,
/// lane by lane; and the right output. The call may be garbled ahead.
fn known_of_output(gap: Gap, value: u8, ahead: bool) -> (Vec<[Vec<u8>; 3]>, Vec<Vec<u8>>) {
    let program = small_program();
    let (values, parts) = transparent(value, LANES);
    let expected = in_the_clear(&program, &values);
    let known = |calls: usize| {
        let ends = gap.harness().act(|mut trio| {
            gap.weaken(&mut trio);
            let (mut e, wires) = begin(trio, &parts, calls)?;
            let out = run_by(&mut e, &program, LANES, wires, ahead.then_some(0))?;
            let part = held(&mut e, &out)?;
            Ok(part.first.iter().zip(&part.second).map(|(x, y)| x ^ y).collect::<Vec<u8>>())
        });
        roles(calls).map(|party| ends[party.index()].clone().unwrap())
    };
    ((0..3).map(known).collect(), expected)
}

/// Whether `role` (of P1, P2, P3) sees the output: P1 has z and r12, P3 has z and r23.
pub fn sees_output(gap: Gap, role: usize, ahead: bool) -> bool {
    let (known, expected) = known_of_output(gap, 0x5a, ahead);
    known.iter().all(|known| known[role] == expected[0])
}

/// What each party has of an output is uniform, for two secrets.
#[test]
fn what_a_party_has_of_an_output_is_uniform() {
    for value in [0x00, 0xff] {
        let mut ones = [0_u32; 3];
        let mut all = 0;
        for _ in 0..8 {
            let (known, _) = known_of_output(Gap::Nothing, value, false);
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

/// Every output bit has masks of its own: where the output is zero in all lanes, what P1 and what P3 have of
/// it differs from lane to lane.
#[test]
fn every_output_bit_has_masks_of_its_own() {
    let (known, _) = known_of_output(Gap::Nothing, 0x00, false);
    for known in known {
        for known in [&known[0], &known[2]] {
            let different: BTreeSet<u8> = known.iter().copied().collect();
            assert!(different.len() > 3, "{known:?}");
        }
    }
}

/// Two calls of one circuit in the same roles: the labels of u that P3 gets from P1, as words.
fn labels_of_two_calls(gap: Gap) -> [Vec<u128>; 2] {
    let program = small_program();
    let parts = [transparent(0x0f, LANES).1, transparent(0x35, LANES).1];
    let harness = gap.harness();
    let [first, _, evaluator] = roles(0);
    let recording: Recording = harness.recording(evaluator);
    let ends = harness.act(|mut trio| {
        gap.weaken(&mut trio);
        let secret = [inputs(&mut trio, &parts[0])?, inputs(&mut trio, &parts[1])?];
        let mut e = engine(trio);
        for secret in &secret {
            let wires = bits(&mut e, secret)?;
            e.run(&mut [ProgramRun::new(&program, wires)])?;
            turn(&mut e, 2)?;
        }
        e.trio().barrier()?;
        Ok(())
    });
    assert!(ends.iter().all(Result::is_ok));
    let bodies = recording.bodies(MessageDirection::In, first, LABELS);
    let words = |body: &Vec<u8>| {
        body[..16 * 24 * LANES].as_chunks().0.iter().map(|w| u128::from_le_bytes(*w)).collect()
    };
    [words(&bodies[0]), words(&bodies[1])]
}

/// Whether P3 gets both labels of every wire whose u changed: their sum is Delta each time.
pub fn delta_of_two_calls(gap: Gap) -> bool {
    let [one, two] = labels_of_two_calls(gap);
    let sums: Vec<u128> = one.iter().zip(&two).map(|(x, y)| x ^ y).filter(|sum| *sum != 0).collect();
    sums.iter().collect::<BTreeSet<_>>().len() == 1 && sums.len() > 10
}

/// Whether P3 gets the sum of two outputs, because their masks were the same.
pub fn sum_of_two_calls(gap: Gap) -> bool {
    let program = small_program();
    let (values, parts): (Vec<_>, Vec<_>) =
        [0x0f, 0x35].map(|seed| transparent(seed, LANES)).into_iter().unzip();
    let [_, _, evaluator] = roles(0);
    let ends = gap.harness().act(|mut trio| {
        gap.weaken(&mut trio);
        let secret = [inputs(&mut trio, &parts[0])?, inputs(&mut trio, &parts[1])?];
        let mut e = engine(trio);
        let mut results = Vec::new();
        for secret in &secret {
            let wires = bits(&mut e, secret)?;
            let out = run_one(&mut e, &program, wires)?;
            results.push(held(&mut e, &out)?.second.clone());
            turn(&mut e, 2)?;
        }
        Ok(results)
    });
    let z = ends[evaluator.index()].as_ref().unwrap();
    let sum = |all: [&Vec<u8>; 2]| -> Vec<u8> { all[0].iter().zip(all[1]).map(|(x, y)| x ^ y).collect() };
    let [one, two] = [0, 1].map(|call| in_the_clear(&program, &values[call]).swap_remove(0));
    sum([&z[0], &z[1]]) == sum([&one, &two])
}

/// When a call is garbled whose first input rests on an opening.
#[derive(Clone, Copy, PartialEq)]
pub enum Garbled {
    Now,
    /// Before the opening.
    Ahead,
    /// After the opening, ahead of other inputs than the one that rests on it.
    Known,
}

/// P1 tells P2 and P3 different values of a masked opening, by which one of two secret bits is chosen as the
/// input: P2 then enters the first one, P3 the second. Without a barrier, P3 aborts exactly if the two differ
/// in component x23. P1 knows the other components, and so learns whether the bits differ. Returns whether
/// P1 guesses right in every run.
pub fn split_opening(gap: Gap, when: Garbled) -> bool {
    let mut g = Build::new();
    let x = g.input(2)[0];
    g.output(&[x; 8]);
    let program = g.finish();
    let runs: Vec<(bool, bool)> = (0..24).map(|calls| split_run(gap, calls, &program, when)).collect();
    runs.iter().all(|(guess, truth)| guess == truth)
}

fn split_run(gap: Gap, calls: usize, program: &Program, when: Garbled) -> (bool, bool) {
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
        let x = trio.input(part)?;
        let mut e = engine(trio);
        turn(&mut e, calls % 3)?;
        let ahead = match when {
            Garbled::Ahead => Some(e.garble_ahead(program, 1, &[])?),
            _ => None,
        };
        // P1 continues in the engine that has an opening nobody compared
        e.trio().absorb("opened", &[choice]);
        let nothing = e.public_bit(&[false]);
        let mut wires = vec![bits(&mut e, &[x])?.swap_remove(0), nothing];
        match (when, ahead) {
            (Garbled::Ahead, Some(ahead)) => e.run_ahead(ahead, wires).map(drop),
            (Garbled::Known, _) => {
                let later = wires.split_off(1);
                let ahead = e.garble_ahead(program, 1, &wires)?;
                e.run_ahead(ahead, later).map(drop)
            }
            _ => e.run(&mut [ProgramRun::new(program, wires)]),
        }
    });
    // not by the comparison of views, which reveals nothing
    let aborted = failed_check(&ends[evaluator.index()]).is_some_and(|check| check != checks::A2);
    // a23 + b23 = a + b + what P1 knows
    let known = |part: &Part| part.first[0] ^ part.second[0];
    let mine = &parts[first.index()];
    let rest = (known(&mine[0]) ^ known(&mine[1])) & 1 == 1;
    (aborted ^ rest, (a ^ b) & 1 == 1)
}

//! Lies about single products of Boolean programs: in any level, gate and lane, by any party, in the last
//! piece or before it.

use crate::common::prelude::*;
use divisi_core::Compares;
use divisi_symmetric::sha3::permutation_program;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

const PRODUCTS: &str = "divisi_rep3::engine::boolean/products";
const GRID: &str = "divisi_rep3::verify::ands/ands.h";

/// A row of levels, each with one sum of three products, sums of two, and single products.
fn program(levels: usize) -> Program {
    let mut g = Build::new();
    let mut x = g.input(16);
    for _ in 0..levels {
        let three = g.dot(&[(x[0], x[1]), (x[2], x[3]), (x[4], x[5])]);
        let two = [0, 1].map(|i| g.dot(&[(x[i], x[i + 6]), (x[i + 8], x[i + 10])]));
        let ones: Vec<_> = (0..13).map(|i| g.and(x[i], x[(i + 5) % 16])).collect();
        let new = [vec![three], two.to_vec(), ones].concat();
        x = x.iter().rev().zip(new).map(|(x, new)| g.xor(*x, new)).collect();
    }
    g.output(&x);
    g.finish()
}

/// A lie: these bits of the `nth` message of a step are flipped.
#[derive(Clone, Debug)]
struct Lie {
    step: &'static str,
    nth: usize,
    bits: Vec<usize>,
}

/// Run a program on random bits, and settle its outputs. As a lie changes them, a party that gets outputs at
/// all was deceived.
fn settled(trio: Trio, program: &Program, lanes: usize) -> Result<(), Abort> {
    let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
    let wires = random_bits(&mut e, program, lanes)?;
    let out = run_one(&mut e, program, wires)?;
    e.settled(out).map(drop)
}

fn random_bits(e: &mut Rep3, program: &Program, lanes: usize) -> Result<Vec<Bit>, Abort> {
    let bytes =
        (0..program.input_bits() / 8).map(|_| e.random_bytes(lanes)).collect::<Result<Vec<_>, _>>()?;
    bits(e, &bytes)
}

/// Both honest parties abort: sigma is not zero, or the holders of a component of rho differ.
fn is_noticed(program: &Program, lanes: usize, corrupt: PartyId, lie: &Lie) {
    let harness = TrioHarness::default();
    let bits = lie.bits.clone();
    harness.change(corrupt, corrupt.prev(3), lie.step, lie.nth, move |share| {
        bits.iter().for_each(|bit| share[bit / 8] ^= 1 << (bit % 8));
    });
    let results = harness.act(|trio| settled(trio, program, lanes));
    assert!(others(corrupt, &results).all(|(_, result)| result.is_err()), "{lie:?} {lanes} {results:?}");
    // the party that notices first ends the session for the others
    assert!(
        results.iter().any(|result| matches!(failed_check(result), Some(checks::A1 | checks::A7))),
        "{lie:?} {lanes} {results:?}"
    );
}

#[test]
fn honest_parties_settle() {
    let program = program(9);
    for lanes in [1, 70, 600] {
        let results = TrioHarness::default().act(|trio| settled(trio, &program, lanes));
        assert!(results.iter().all(Result::is_ok), "{results:?}");
    }
}

#[test]
fn a_wrong_product_is_noticed_in_any_level_gate_and_lane() {
    let program = program(9);
    assert_eq!(program.and_depth(), 9);
    let mut cases = Vec::new();
    for lanes in [1_usize, 9, 70, 600] {
        for level in [0, 4, 8] {
            let dots = program.levels()[level].dot_count();
            for dot in [0, dots / 2, dots - 1] {
                for lane in [0, lanes - 1] {
                    cases.push((lanes, Lie { step: PRODUCTS, nth: level, bits: vec![at(lanes, dot, lane)] }));
                }
            }
        }
    }
    many(cases.len(), 4, |i| is_noticed(&program, cases[i].0, party(1 + (i % 3) as u8), &cases[i].1));
}

/// Where a lane of a dot is in a message of lanes of one job: a few lanes follow one another without a gap.
fn at(lanes: usize, dot: usize, lane: usize) -> usize {
    lane + dot * if lanes <= 64 { lanes } else { lanes.next_multiple_of(8) }
}

/// The same error in two lanes or two dots of a group; in all lanes of a word; in everything.
#[test]
fn wrong_products_do_not_make_up_for_one_another() {
    let program = program(9);
    let dots = program.levels()[3].dot_count();
    for lanes in [2_usize, 64, 70, 600] {
        let word = (0..lanes.min(64)).map(|lane| at(lanes, 1, lane)).collect();
        let all = (0..dots).flat_map(|dot| (0..lanes).map(move |lane| at(lanes, dot, lane))).collect();
        let lies = [
            vec![at(lanes, 1, 0), at(lanes, 1, 1)],
            vec![at(lanes, 1, 1), at(lanes, 2, 1)],
            vec![at(lanes, 0, lanes - 1), at(lanes, dots - 1, lanes - 1)],
            word,
            all,
        ];
        for (i, bits) in lies.into_iter().enumerate() {
            is_noticed(&program, lanes, party(1 + (i % 3) as u8), &Lie { step: PRODUCTS, nth: 3, bits });
        }
    }
}

/// Values that are settled together: a lie about any of them is noticed, however few products it owes.
#[test]
fn a_lie_about_any_of_several_values_is_noticed() {
    let programs = [program(9), byte_product(2), byte_product(3)];
    // the first message of each program
    for nth in [0, 9, 10] {
        let harness = TrioHarness::default();
        harness.change(party(1), party(3), PRODUCTS, nth, |share| share[0] ^= 1);
        let results = harness.act(|trio| {
            let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
            let mut all = Vec::new();
            for program in &programs {
                let wires = random_bits(&mut e, program, 9)?;
                let out = run_one(&mut e, program, wires)?;
                all.push(e.close(out));
            }
            let all = Pending::join(all).unwrap();
            settle(&mut e, all).map(drop)
        });
        assert!(others(party(1), &results).all(|(_, result)| result.is_err()), "{nth} {results:?}");
    }
}

#[test]
fn a_wrong_value_on_the_grid_is_noticed() {
    let program = program(5);
    // 3^6 - 2^6 values of eight bytes
    let last = 8 * 665 - 1;
    for (i, byte) in [0, 8 * 300 + 3, last].into_iter().enumerate() {
        is_noticed(&program, 70, party(1 + i as u8), &Lie { step: GRID, nth: 0, bits: vec![8 * byte + 7] });
    }
}

/// More products than are kept: a lie in the first level is noticed before the program ends.
#[test]
fn a_lie_in_an_early_piece_ends_the_run_there() {
    let program = permutation_program();
    let lanes = 4096;
    let messages = AtomicUsize::new(0);
    let harness = TrioHarness::default();
    harness.change(party(2), party(1), PRODUCTS, 0, |share| share[17] ^= 1);
    let results = harness.act(|trio| {
        if trio.me() != party(2) {
            return settled(trio, &program, lanes);
        }
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let wires = random_bits(&mut e, &program, lanes)?;
        let ended = e.run(&mut [ProgramRun::new(&program, wires)]);
        let counts = e.trio().session().meter().read();
        messages.store(counts.steps[PRODUCTS] as usize, Ordering::Relaxed);
        ended
    });
    assert!(results.iter().all(Result::is_err), "{results:?}");
    let found = |result: &Result<(), Abort>| matches!(failed_check(result), Some(checks::A1 | checks::A7));
    assert!(results.iter().any(found), "{results:?}");
    let sent = messages.load(Ordering::Relaxed);
    assert!((1..24).contains(&sent), "{sent} levels");
}

/// A lie that would make a zero difference non-zero, or hide a difference, is an abort and no answer (S7).
#[test]
fn a_lie_about_a_comparison_is_an_abort() {
    let compare = |trio: Trio, differ: bool| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let mut groups = vec![e.random_blocks(3), e.random_blocks(1)];
        for group in &mut groups {
            let same = group.clone();
            e.add_block(group, &same)?;
        }
        if differ {
            e.add_public_block(&mut groups[0], &[0, 1 << 99, 0])?;
        }
        let answers = e.are_zero(&groups)?;
        assert_eq!(e.trio().session().meter().read().checks[&checks::S7], 2);
        Ok(answers)
    };
    for differ in [false, true] {
        let honest = TrioHarness::default().act(|trio| compare(trio, differ));
        assert!(honest.iter().all(|answer| *answer == Ok(vec![!differ, true])), "{honest:?}");
        for liar in PartyId::all(3) {
            let harness = TrioHarness::default();
            harness
                .change(liar, liar.prev(3), "divisi_rep3::engine::blocks/dot", 0, |share| share[5] ^= 0x10);
            let results = harness.act(|trio| compare(trio, differ));
            assert!(others(liar, &results).all(|(_, result)| result.is_err()), "{results:?}");
            assert!(results.iter().any(|result| failed_check(result) == Some(checks::A7)), "{results:?}");
        }
    }
    let empty = TrioHarness::default().act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let none = e.random_blocks(0);
        e.are_zero(&[none])
    });
    is_misuse("nothing to compare", &empty);
}

/// What is opened of equal differences is equal nowhere: each lane and each group has a mask of its own.
#[test]
fn each_comparison_has_a_mask_of_its_own() {
    const LANES: usize = 1100;
    for groups in [false, true] {
        let harness = TrioHarness::default();
        let recordings = harness.recordings();
        let ends = harness.act(|trio| {
            let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
            let lanes = if groups { 1 } else { LANES };
            let bytes: [Byte; 16] = std::array::from_fn(|i| e.public(&vec![i as u8; lanes]));
            let x: Block = e.convert(bytes)?;
            if groups { e.vanish(&vec![x; LANES]) } else { e.vanish_lanes(x) }
        });
        assert!(ends.iter().all(|end| *end == Ok(vec![false; LANES])));
        let mut opened = vec![0; 16 * LANES];
        for recording in recordings {
            let sent = recording.of(MessageDirection::Out, "divisi_rep3::open/open.bytes").remove(0);
            opened.iter_mut().zip(sent.frame.body).for_each(|(sum, x)| *sum ^= x);
        }
        let block = |l: usize| (0..16).map(|i| opened[LANES * i + l]).collect::<Vec<u8>>();
        assert_eq!((0..LANES).map(block).collect::<BTreeSet<_>>().len(), LANES);
    }
}

/// Groups of any number of lanes, in which any bit of the last block may be one.
#[test]
fn every_bit_of_every_lane_counts_in_a_comparison() {
    for lanes in [1, 256, 512] {
        let ends = TrioHarness::default().act(|trio| {
            let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
            let group = e.random_blocks(lanes);
            let mut equal = group.clone();
            e.add_block(&mut equal, &group)?;
            let mut groups = vec![equal.clone()];
            for bit in [0, 63, 64, 127] {
                let mut difference = vec![0; lanes];
                difference[lanes - 1] = 1 << bit;
                let mut other = equal.clone();
                e.add_public_block(&mut other, &difference)?;
                groups.push(other);
            }
            e.are_zero(&groups)
        });
        for end in ends {
            assert_eq!(end, Ok(vec![true, false, false, false, false]), "{lanes} lanes");
        }
    }
}

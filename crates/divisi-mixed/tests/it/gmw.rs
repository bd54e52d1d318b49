//! GMW: random circuits against the clear, AES, and what triples and circuits cost.

use crate::common;
use crate::common::{agreed, honest, plain, product, refused};
use divisi_circuit::{Build, Gates, Program, plain as clear};
use divisi_core::testing::{Harness, party, run};
use divisi_core::{Abort, Boolean, Counts, Lanes, PartyId, ProgramRun};
use divisi_fuzz::repetitions;
use divisi_mixed::checks;
use divisi_mixed::gmw::{triples_for, triples_for_all};
use divisi_mixed::open::OpeningRounds;
use divisi_mixed::triples::bit_triples;
use divisi_mixed::{Gmw, GmwBit};
use divisi_ot::{Setup, SetupConfig};
use proptest::prelude::*;

fn words(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state ^ state >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd)
    }
}

/// All parties with a set-up.
fn parties<R: Send>(n: usize, act: impl Fn(&mut Gmw) -> Result<R, Abort> + Sync) -> Vec<R> {
    honest(common::parties(n, plain(), [None; 2], |mixed| act(mixed.gmw())))
}

/// A program in this many lanes: inputs belong to the parties in turn, the last learns the outputs.
fn evaluate(
    (n, rounds): (usize, OpeningRounds),
    program: &Program,
    lanes: usize,
    inputs: &[GmwBit],
) -> (Vec<GmwBit>, Vec<Counts>) {
    let ends = parties(n, |gmw| {
        gmw.set_opening_rounds(rounds);
        let (all, me): (Vec<PartyId>, _) = (PartyId::all(n).collect(), gmw.session().me());
        gmw.session().phase("preprocessing");
        gmw.prepare(triples_for(program, lanes))?;
        gmw.session().phase("online");
        let own = |gmw: &mut Gmw, (i, value): (usize, &GmwBit)| {
            let owner = all[i % n];
            gmw.input(owner, lanes, Some(value).filter(|_| owner == me))
        };
        let inputs = inputs.iter().enumerate().map(|input| own(gmw, input)).collect::<Result<_, _>>()?;
        let mut jobs = [ProgramRun::new(program, inputs)];
        gmw.run(&mut jobs)?;
        assert_eq!(gmw.triples(), 0, "as many triples as were foreseen");
        let [job] = jobs;
        let opened = gmw.output(&all[n - 1..], &job.wires)?;
        assert_eq!(opened.is_some(), me == all[n - 1]);
        Ok((opened, gmw.session().meter().read()))
    });
    let (mut opened, counts): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
    (opened.pop().unwrap().unwrap(), counts)
}

fn random_inputs(program: &Program, lanes: usize, seed: u64) -> Vec<GmwBit> {
    let mut next = words(seed);
    let mut bit = || GmwBit::new(lanes, &(0..lanes.div_ceil(64)).map(|_| next()).collect::<Vec<_>>());
    (0..program.input_bits()).map(|_| bit()).collect()
}

fn agrees(n: usize, program: &Program, lanes: usize, seed: u64) -> Vec<Counts> {
    let inputs = random_inputs(program, lanes, seed);
    let words: Vec<_> = inputs.iter().map(|bit| bit.words().to_vec()).collect();
    let expected = clear::run(program, &words).unwrap();
    let (outputs, counts) = evaluate((n, OpeningRounds::default()), program, lanes, &inputs);
    for (output, expected) in outputs.iter().zip(&expected) {
        assert_eq!(output.words(), GmwBit::new(lanes, expected).words(), "{n} parties, {lanes} lanes");
    }
    counts
}

/// Gates by a recipe: each takes earlier wires.
fn circuit(inputs: usize, recipe: &[(u8, u16, u16)]) -> Program {
    let mut g = Build::new();
    let mut wires = g.input(inputs);
    for (kind, x, y) in recipe {
        let at = |i: &u16| wires[usize::from(*i) % wires.len()];
        let (x, y) = (at(x), at(y));
        let wire = match kind % 5 {
            0 => g.xor(x, y),
            1 | 2 => g.and(x, y),
            3 => g.not(x),
            _ => {
                let not = g.not(y);
                g.dot(&[(x, y), (not, wires[0])])
            }
        };
        wires.push(wire);
    }
    let outputs: Vec<_> = wires.iter().rev().take(7).copied().collect();
    g.output(&outputs);
    g.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn random_circuits_agree_with_the_clear(
        recipe in prop::collection::vec(any::<(u8, u16, u16)>(), 1..60),
        inputs in 1_usize..6,
        lanes in 1_usize..200,
        n in 2_usize..6,
        seed in any::<u64>(),
    ) {
        agrees(n, &circuit(inputs, &recipe), lanes, seed);
    }
}

#[test]
fn any_number_of_parties_and_lanes() {
    let recipe: Vec<_> = (0..40).map(|i| (i as u8, 3 * i, 7 * i + 1)).collect();
    let program = circuit(5, &recipe);
    assert!(program.and_count() > 4);
    for n in [2, 3, 4, 5, 8] {
        for lanes in [1, 64, 65] {
            agrees(n, &program, lanes, n as u64);
        }
    }
    // one lane serves all
    let mixed = parties(2, |gmw| {
        let one = gmw.public_bit(&[true]);
        let many = gmw.public_bit(&[true, false, true]);
        let program = product();
        let mut jobs = [
            ProgramRun::new(&program, vec![one.clone(), many.clone()]),
            ProgramRun::new(&program, vec![one, many]),
        ];
        gmw.run(&mut jobs)?;
        let joined = gmw.join_bits(&[&jobs[0].wires[0], &jobs[1].wires[0]]);
        let all: Vec<_> = PartyId::all(2).collect();
        Ok(gmw.output(&all, &[joined])?.unwrap().remove(0))
    });
    assert!(mixed.iter().all(|bit| bit.lanes() == 6 && bit.words() == [0b101_101]));
}

/// Levels of circuits that run together take full words together.
#[test]
fn circuits_that_run_together_share_words() {
    let recipe: Vec<_> = (0..40).map(|i| (i as u8, 3 * i, 7 * i + 1)).collect();
    let (first, second) = (circuit(5, &recipe), product());
    parties(2, |gmw| {
        let lanes = [70, 3];
        let both = triples_for_all(&[(&first, lanes[0]), (&second, lanes[1])]);
        assert!(both <= triples_for(&first, lanes[0]) + triples_for(&second, lanes[1]));
        assert_eq!(both, triples_for_all(&[(&second, lanes[1]), (&first, lanes[0])]));
        gmw.prepare(both)?;
        let inputs = |program: &Program, lanes| vec![GmwBit::zero(lanes); program.input_bits()];
        let mut jobs = [
            ProgramRun::new(&first, inputs(&first, lanes[0])),
            ProgramRun::new(&second, inputs(&second, lanes[1])),
        ];
        gmw.run(&mut jobs)?;
        assert_eq!(gmw.triples(), 0, "as many triples as were foreseen");
        Ok(())
    });
}

/// The order of programs that run together makes no difference to what they take, also if one has more lanes
/// than run at once.
#[test]
fn programs_in_any_order_take_the_same_triples() {
    let recipe: Vec<_> = (0..40).map(|i| (i as u8, 3 * i, 7 * i + 1)).collect();
    let (first, second) = (circuit(5, &recipe), product());
    for lanes in [[0, 5], [1, 300], [3, 1 << 24], [1 << 24, 3]] {
        let [one, other] = [(&first, lanes[0]), (&second, lanes[1])];
        let both = triples_for_all(&[one, other]);
        assert_eq!(both, triples_for_all(&[other, one]), "{lanes:?}");
        let least = first.and_count() * lanes[0] + second.and_count() * lanes[1];
        assert!(both >= least, "{lanes:?}: {both} for {least} products");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let program = circuit(2, &[(1, 0, 1)]);
    for wrong in [vec![1, 1, 1], vec![2, 3], vec![1], vec![2, 257], vec![2, 258]] {
        refused(common::parties(2, plain(), [None; 2], |mixed| {
            // after inputs that fit
            mixed.gmw().run(&mut [ProgramRun::new(&program, vec![GmwBit::zero(2); 2])])?;
            let inputs = wrong.iter().map(|lanes| GmwBit::zero(*lanes)).collect();
            mixed.gmw().run(&mut [ProgramRun::new(&program, inputs)])
        }));
    }
    // an input of other lanes than were said
    for lanes in [1, 3, 258] {
        refused(common::parties(2, plain(), [None; 2], |mixed| {
            let me = mixed.session().me();
            mixed.gmw().input(me, 2, Some(&GmwBit::zero(lanes))).map(drop)
        }));
    }
}

/// To each peer 33 bits a triple, at most 4.3 bytes with frames; two rounds.
#[test]
fn cost_of_boolean_triples() {
    for n in [2, 3, 4, 5, 8] {
        let count = 1 << 14;
        let ends = honest(run(n, &agreed(), |mut session| {
            let mut setup = Setup::new(&mut session, SetupConfig::default())?;
            session.phase("triples");
            let mut own = divisi_core::Prg::new(&[session.me().number(); 16]);
            let triples = bit_triples(&mut session, &mut setup, &mut own, count)?;
            assert_eq!(triples.len(), count);
            Ok((triples.open(), session.meter().read()))
        }));
        for at in 0..count / 64 {
            let of = |part: usize| ends.iter().fold(0, |sum, (triples, _)| sum ^ triples[part][at]);
            assert_eq!(of(0) & of(1), of(2));
        }
        for (_, counts) in &ends {
            let phase = counts.phases["triples"];
            assert_eq!(phase.bits, ((n - 1) * count * 33) as u64);
            assert!(phase.bytes as f64 <= 4.3 * ((n - 1) * count) as f64, "{}", phase.bytes);
            assert_eq!(phase.rounds, 2);
            assert_eq!(counts.checks[&checks::G14], 1);
        }
    }
}

/// Levels of a million bits go in parts: 4 (n - 1) / n bits of a party for each AND, and two rounds a level,
/// unless rounds are to be spared. The parts differ by a word at most, and the last has bits left over.
#[test]
fn large_levels_are_opened_in_parts() {
    // and a negation, of so many words that a position takes more than a byte
    let recipe: Vec<_> = (0..4).map(|i| (1, 5 * i, 3 * i + 2)).chain([(3, 1, 0)]).collect();
    let program = circuit(6, &recipe);
    let levels: Vec<usize> = program.levels().iter().map(|level| level.and_count()).collect();
    let widest = *levels.iter().max().unwrap();
    for &n in repetitions(&[4, 5][..], &[4, 5, 8]) {
        let lanes = (1 << 20) / (n - 2) + 37;
        let is_large = |ands: usize| OpeningRounds::OneOrTwo.are_two(2 * ands * lanes, n);
        assert!(levels.iter().all(|ands| *ands == 0 || is_large(*ands)));
        assert!(!OpeningRounds::One.are_two(2 * widest * lanes, n));
        let counts = agrees(n, &program, lanes, 11);
        let ands = (program.and_count() * lanes) as u64;
        let rounding = 2 * 64 * (n * program.and_depth()) as u64;
        for (i, counts) in counts.iter().enumerate() {
            let outputs = if i == n - 1 { 0 } else { (program.output_bits() * lanes) as u64 };
            let (n, bits) = (n as u64, counts.phases["online"].bits - outputs);
            assert!(bits.abs_diff(4 * ands * (n - 1) / n) <= rounding, "{n} {bits} {ands}");
        }
        let receiver = counts.last().unwrap();
        assert_eq!(receiver.phases["online"].rounds as usize, 2 * program.and_depth() + 1);
    }
    let (program, lanes) = (circuit(2, &[(1, 0, 1)]), 1 << 20);
    for (rounds, expected) in [(OpeningRounds::OneOrTwo, 3), (OpeningRounds::One, 2)] {
        let (_, counts) = evaluate((3, rounds), &program, lanes, &random_inputs(&program, lanes, 12));
        assert_eq!(counts[2].phases["online"].rounds, expected);
    }
}

/// A triple and two bits to each peer an AND, a round a level; inputs are free, outputs cost their bits.
#[test]
fn cost_of_circuits() {
    let recipe: Vec<_> = (0..50).map(|i| (i as u8, 5 * i, 3 * i + 2)).collect();
    let program = circuit(6, &recipe);
    let lanes = 128;
    for n in [2, 3, 4] {
        let counts = agrees(n, &program, lanes, 7);
        let ands = (program.and_count() * lanes) as u64;
        let peers = n as u64 - 1;
        for (i, counts) in counts.iter().enumerate() {
            let online = counts.phases["online"];
            let outputs = if i == n - 1 { 0 } else { (program.output_bits() * lanes) as u64 };
            assert_eq!(online.bits, 2 * peers * ands + outputs);
            assert_eq!(counts.phases["preprocessing"].bits, 33 * peers * ands);
            assert!(online.rounds as usize <= program.and_depth() + 1);
            assert_eq!(counts.checks[&checks::G7] as usize, program.and_depth());
        }
        let receiver = counts.last().unwrap();
        assert_eq!(receiver.phases["online"].rounds as usize, program.and_depth() + 1);
    }
}

/// A share of an output has no bit beyond its lanes: a peer that sends one is named.
#[test]
fn bits_beyond_an_output_are_refused() {
    for lanes in [5, 63, 64] {
        let harness = Harness::new(2, &agreed());
        harness.change(party(1), party(2), "divisi_mixed::gmw/output", 0, move |body| {
            if let (Some(last), true) = (body.last_mut(), lanes % 8 != 0) {
                *last |= 0x80;
            }
        });
        let ends = harness.act(|session| {
            let mut gmw = Gmw::new(session, SetupConfig::default())?;
            let value = GmwBit::new(lanes, &[0x5a]);
            let value = (gmw.session().me() == party(1)).then_some(&value);
            let bit = gmw.input(party(1), lanes, value)?;
            gmw.output(&[party(2)], &[bit]).map(drop)
        });
        let named = matches!(
            ends[1],
            Err(Abort::Network(divisi_net::Fault::Malformed { peer, .. })) if peer == party(1)
        );
        assert_eq!(named, lanes % 8 != 0, "{lanes}: {ends:?}");
    }
}

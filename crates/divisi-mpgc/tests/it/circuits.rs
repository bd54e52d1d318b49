//! Garbled circuits against the clear, and what they cost.

use divisi_bgv::Ring;
use divisi_bgv::parameters::{Form, Operation, Parameters as Lattice};
use divisi_circuit::{Build, Gates, Program, plain};
use divisi_core::testing::{Harness, run, run_waiting};
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session};
use divisi_field::zp::P16;
use divisi_fuzz::repetitions;
use divisi_mixed::vectors::chains;
use divisi_mixed::{Gmw, GmwBit};
use divisi_mpgc::checks;
use divisi_mpgc::lookup::{ands_at_once, operation};
use divisi_mpgc::parameters::{ROW_BYTES, SHARE_BYTES};
use divisi_mpgc::{Garbler, GarblingCost, LookupMethod, Wiring};
use divisi_ot::SetupConfig;
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

fn words(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state ^ state >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd)
    }
}

pub fn hops(n: usize) -> LookupMethod {
    hops_by(Form::LeanRing, n)
}

/// By products of vectors, in the ring of tests, where a ciphertext has one key.
pub fn products(n: usize) -> LookupMethod {
    hops_by(Form::LeanTree, n)
}

fn hops_by(form: Form, n: usize) -> LookupMethod {
    let lattice = Lattice::danger_insecure(operation(form), form, n, P16).unwrap();
    LookupMethod::Ciphertexts(Arc::new(Ring::new(lattice).unwrap()))
}

/// By products of vectors, with the parameters that sessions have.
fn products_of_real_sessions(n: usize) -> LookupMethod {
    let lattice = Lattice::derive(operation(Form::LeanTree), Form::LeanTree, n, P16).unwrap();
    LookupMethod::Ciphertexts(Arc::new(Ring::new(lattice).unwrap()))
}

pub fn agreed(way: &LookupMethod) -> PublicParameters {
    let agreed = PublicParameters::new("garbled tests");
    lattice(way).iter().fold(agreed, |agreed, lattice| lattice.describe(agreed))
}

/// All parties with a garbler.
pub fn parties<R: Send>(
    n: usize,
    way: &LookupMethod,
    act: impl Fn(&mut Garbler) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let one = |mut session: Session| {
        session.phase("setup");
        act(&mut Garbler::new(Gmw::new(session, SetupConfig::default())?, way.clone())?)
    };
    // many parties on one processor compute long
    let limit = Duration::from_secs(1200);
    if n > 10 { run_waiting(n, limit, &agreed(way), one) } else { run(n, &agreed(way), one) }
}

/// A program in this many lanes: inputs belong to the parties in turn, the last learns the outputs.
fn evaluate(
    n: usize,
    way: &LookupMethod,
    program: &Program,
    lanes: usize,
    inputs: &[GmwBit],
) -> (Vec<GmwBit>, Vec<Counts>) {
    let wiring = Wiring::new(program);
    let ends = parties(n, way, |garbler| {
        let (all, me): (Vec<PartyId>, _) = (PartyId::all(n).collect(), garbler.gmw().session().me());
        garbler.gmw().session().phase("preprocessing");
        let garbled = garbler.garble(&wiring, lanes)?;
        assert_eq!(garbled.instances(), lanes);
        garbler.gmw().session().phase("online");
        let mut own = Vec::new();
        for (i, value) in inputs.iter().enumerate() {
            let owner = all[i % n];
            own.push(garbler.gmw().input(owner, lanes, Some(value).filter(|_| owner == me))?);
        }
        let outputs = garbler.evaluate(garbled, &own)?;
        let opened = garbler.gmw().output(&all[n - 1..], &outputs)?;
        assert_eq!(opened.is_some(), me == all[n - 1]);
        Ok((opened, garbler.gmw().session().meter().read()))
    });
    let (mut opened, counts): (Vec<_>, Vec<_>) = ends.into_iter().map(Result::unwrap).unzip();
    (opened.pop().unwrap().unwrap(), counts)
}

/// Circuits that are evaluated together, each with instances of its own, give what they give alone.
#[test]
fn circuits_are_evaluated_together() {
    let mut next = words(3);
    let circuits = [(adder(3), 5), (adder(2), 70), (adder(5), 1)].map(|(program, lanes)| {
        let mut bit = || GmwBit::new(lanes, &(0..lanes.div_ceil(64)).map(|_| next()).collect::<Vec<_>>());
        let inputs: Vec<GmwBit> = (0..program.input_bits()).map(|_| bit()).collect();
        (program, lanes, inputs)
    });
    let ends = parties(2, &LookupMethod::Transfers, |garbler| {
        let (all, me): (Vec<PartyId>, _) = (PartyId::all(2).collect(), garbler.gmw().session().me());
        let mut garbled = Vec::new();
        for (program, lanes, inputs) in &circuits {
            let instances = garbler.garble(&Wiring::new(program), *lanes)?;
            let mut own = Vec::new();
            for value in inputs {
                own.push(garbler.gmw().input(all[0], *lanes, Some(value).filter(|_| me == all[0]))?);
            }
            garbled.push((instances, own));
        }
        let outputs = divisi_mpgc::evaluate::evaluate(garbler.gmw(), garbled)?;
        outputs.iter().map(|bits| garbler.gmw().output(&all, bits)).collect::<Result<Vec<_>, _>>()
    });
    let opened = ends.into_iter().next().unwrap().unwrap();
    assert_eq!(opened.len(), circuits.len());
    for ((program, lanes, inputs), opened) in circuits.iter().zip(opened) {
        let inputs: Vec<_> = inputs.iter().map(|bit| bit.words().to_vec()).collect();
        let expected = plain::run(program, &inputs).unwrap();
        let expected: Vec<GmwBit> = expected.iter().map(|bit| GmwBit::new(*lanes, bit)).collect();
        let words = |bits: &[GmwBit]| bits.iter().map(|bit| bit.words().to_vec()).collect::<Vec<_>>();
        assert_eq!(words(&opened.unwrap()), words(&expected), "{lanes} lanes");
    }
}

fn agrees(n: usize, way: &LookupMethod, program: &Program, lanes: usize, seed: u64) -> Vec<Counts> {
    let mut next = words(seed);
    let mut bit = || GmwBit::new(lanes, &(0..lanes.div_ceil(64)).map(|_| next()).collect::<Vec<_>>());
    let inputs: Vec<GmwBit> = (0..program.input_bits()).map(|_| bit()).collect();
    let words: Vec<_> = inputs.iter().map(|bit| bit.words().to_vec()).collect();
    let expected = plain::run(program, &words).unwrap();
    let (outputs, counts) = evaluate(n, way, program, lanes, &inputs);
    assert_eq!(outputs.len(), expected.len());
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
    let one = g.constant(true);
    let outputs: Vec<_> = wires.iter().rev().take(7).copied().chain([one]).collect();
    g.output(&outputs);
    g.finish()
}

/// The sum of two numbers of this many bits.
pub fn adder(bits: usize) -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(bits), g.input(bits));
    let mut carry = g.constant(false);
    let mut sum = Vec::new();
    for (x, y) in x.into_iter().zip(y) {
        let xy = g.xor(x, y);
        sum.push(g.xor(xy, carry));
        carry = g.majority(x, y, carry);
    }
    g.output(&sum);
    g.finish()
}

fn lattice(way: &LookupMethod) -> Option<&Lattice> {
    match way {
        LookupMethod::Transfers => None,
        LookupMethod::Ciphertexts(ring) => Some(ring.parameters()),
    }
}

fn is_by_products(way: &LookupMethod) -> bool {
    lattice(way).is_some_and(|lattice| lattice.operation() == Operation::BlockProducts)
}

/// Rounds ahead as the formula says, and at most n + log2 n + 6 while all lookups are in one chain of
/// messages; online at most 3.
fn rounds_are_few(counts: &[Counts], way: &LookupMethod, program: &Program, lanes: usize) {
    let (n, wiring) = (counts.len(), Wiring::new(program));
    let [gates, ands] = [wiring.gates(), wiring.ands()].map(|each| (each * lanes) as u64);
    let cost = GarblingCost::of(n, [gates, ands], SetupConfig::default(), lattice(way));
    let rounds = |phase: &str| counts.iter().filter_map(|c| c.phases.get(phase)).map(|c| c.rounds).max();
    let (ahead, online) = (rounds("preprocessing").unwrap_or(0), rounds("online").unwrap_or(0));
    // ciphertexts begin with another party each time, and not every beginning takes as long
    let expected = if lattice(way).is_some() { ahead.into() } else { cost.rounds };
    assert_eq!(u64::from(ahead), expected, "among {n}, {ands} ANDs");
    assert!(u64::from(ahead) <= cost.rounds, "{ahead} rounds among {n}, {ands} ANDs");
    if ands <= ands_at_once(lattice(way)) as u64 {
        // bits become numbers first; then come all chains of products that follow each other
        let more = if is_by_products(way) { 4 + 5 * chains(ands as usize) as u32 } else { 6 };
        assert!(ahead <= n as u32 + n.ilog2() + more, "{ahead} rounds among {n}");
    }
    assert!(online <= 3, "{online} rounds among {n}");
}

fn few(n: usize, way: &LookupMethod, program: &Program, lanes: usize, seed: u64) {
    rounds_are_few(&agrees(n, way, program, lanes, seed), way, program, lanes);
}

fn random(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(random(10))]

    #[test]
    fn random_circuits_agree_with_the_clear(
        recipe in prop::collection::vec(any::<(u8, u16, u16)>(), 1..60),
        inputs in 1_usize..6,
        lanes in 1_usize..4,
        n in 2_usize..11,
        seed in any::<u64>(),
    ) {
        few(n, &LookupMethod::Transfers, &circuit(inputs, &recipe), lanes, seed);
    }

    #[test]
    fn random_circuits_by_hops(
        recipe in prop::collection::vec(any::<(u8, u16, u16)>(), 1..30),
        inputs in 1_usize..6,
        tree in any::<bool>(),
        n in 2_usize..6,
        seed in any::<u64>(),
    ) {
        let form = if tree { Form::LeanTree } else { Form::LeanRing };
        few(n, &hops_by(form, n), &circuit(inputs, &recipe), 1, seed);
    }
}

/// An adder that has more ANDs than one part of the lookups, and more gates than go up the tree together.
#[test]
fn an_adder_among_any_number() {
    let program = adder(64);
    for &n in repetitions(&[2, 3, 5][..], &[2, 3, 5, 10]) {
        few(n, &LookupMethod::Transfers, &program, 1 + n % 2, n as u64);
    }
    few(3, &LookupMethod::Transfers, &adder(200), 1, 7);
}

/// Every AND takes four ciphertexts of the ring of tests.
#[test]
fn an_adder_by_hops() {
    let program = adder(64);
    for &n in repetitions(&[2, 4][..], &[2, 3, 4, 5]) {
        few(n, &hops_by(Form::LeanTree, n), &program, 1, n as u64);
    }
    few(3, &hops(3), &program, 1, 9);
}

/// Every number up to ten, by either way: an adder and a random circuit.
#[test]
#[ignore = "a minute in a release build"]
fn adders_and_random_circuits_among_six_to_ten() {
    for n in 6..=10 {
        let mut next = words(n as u64);
        let mut kind = || (next() as u8, next() as u16, next() as u16);
        let random = circuit(5, &(0..40).map(|_| kind()).collect::<Vec<_>>());
        for way in [LookupMethod::Transfers, hops_by(Form::LeanTree, n), hops(n)] {
            few(n, &way, &adder(64), 1, n as u64);
            few(n, &way, &random, 1, n as u64);
        }
    }
}

/// An adder among 64 in one process, with the parameters of real sessions.
#[test]
#[ignore = "two minutes in a release build"]
fn an_adder_by_hops_among_sixty_four() {
    let start = std::time::Instant::now();
    few(64, &products_of_real_sessions(64), &adder(64), 1, 64);
    println!("{:.1} s", start.elapsed().as_secs_f64());
}

/// In rings that sessions have, with several keys in a ciphertext: as many ANDs as do not fill the last one.
#[test]
fn keys_by_products_of_real_sessions() {
    for &n in repetitions(&[3][..], &[2, 3, 10]) {
        let way = products_of_real_sessions(n);
        few(n, &way, &adder(11), 1, n as u64);
        cost_by(n, &way, &adder(11));
    }
}

/// The same among 32 in one process.
#[test]
#[ignore = "a minute in a release build"]
fn keys_by_products_among_thirty_two() {
    let start = std::time::Instant::now();
    few(32, &products_of_real_sessions(32), &adder(64), 1, 32);
    println!("{:.1} s", start.elapsed().as_secs_f64());
}

#[test]
fn keys_by_hops() {
    for n in [2, 3, 5] {
        agrees(n, &hops(n), &adder(5), 2, n as u64);
        agrees(n, &hops_by(Form::LeanTree, n), &adder(3), 1, n as u64);
    }
}

/// The keys of more than 256 ANDs are looked up in one chain of messages.
#[test]
fn many_gates_are_looked_up_at_once() {
    let mut g = Build::new();
    let x = g.input(2);
    let mut sum = g.xor(x[0], x[1]);
    for _ in 0..260 {
        let and = g.and(sum, x[0]);
        sum = g.xor(and, x[1]);
    }
    g.output(&[sum]);
    agrees(2, &LookupMethod::Transfers, &g.finish(), 1, 1);
}

#[test]
fn circuits_without_gates() {
    let mut g = Build::new();
    let x = g.input(2);
    let (not, one) = (g.not(x[1]), g.constant(true));
    g.output(&[x[1], x[0], not, one]);
    agrees(3, &LookupMethod::Transfers, &g.finish(), 70, 1);
}

/// The bits that a party sends, as a formula in n: those of rows do not grow with n.
#[test]
fn cost_of_garbling() {
    let program = adder(140);
    let wiring = Wiring::new(&program);
    let (gates, ands, inputs) = (wiring.gates() as u64, wiring.ands() as u64, wiring.inputs() as u64);
    assert!(ands > 128);
    for n in [2, 3, 5] {
        let counts = agrees(n, &LookupMethod::Transfers, &program, 1, 3);
        let peers = n as u64 - 1;
        // k = 4: 32 bits of rows a position, tiles of 128
        let rows = |positions: u64| positions.next_multiple_of(128) * 32;
        let products = rows(ands) + ands;
        let look_ups = rows(4 * ands) + 4 * ands * 17 * 1024;
        for (i, counts) in counts.iter().enumerate() {
            let sent = if i == 0 { 0 } else { 8 * 4 * gates * ROW_BYTES as u64 };
            let made = counts.phases["preprocessing"];
            assert_eq!(made.bits, peers * (products + look_ups) + sent, "party {i} of {n}");
            // frames and headers
            assert!(made.bytes < made.bits / 8 * 101 / 100 + 20_000);
            assert!(made.rounds <= n as u32 + n.ilog2() + 6, "{} rounds among {n}", made.rounds);
            let told = if i == n - 1 { 0 } else { 140 };
            let keys = if i == 0 { 0 } else { 8 * SHARE_BYTES as u64 * inputs };
            let online = counts.phases["online"];
            assert_eq!((online.bits, online.rounds <= 3), (peers * inputs + keys + told, true));
        }
        // checked are every batch of rows at every parent, the sum at the root, and the decrypted keys
        let batches = gates.div_ceil(64);
        let children = |i: u64| (2 * i + 1..2 * i + 3).filter(|child| *child < n as u64).count() as u64;
        for (i, counts) in (0..).zip(&counts) {
            let of = |check| counts.checks.get(&check).copied().unwrap_or(0);
            let root = if i == 0 { batches + 1 } else { 0 };
            assert_eq!(of(checks::G9), batches * children(i) + root);
            assert_eq!((of(checks::G10), of(checks::G8)), (batches * children(i), 1));
        }
    }
}

/// The formula by which the way of lookup is chosen gives the same costs as the meter.
fn cost_is_that_of_the_meter(n: usize, form: Option<Form>, program: &Program) {
    cost_by(n, &form.map_or(LookupMethod::Transfers, |form| hops_by(form, n)), program);
}

fn cost_by(n: usize, way: &LookupMethod, program: &Program) {
    let by = lattice(way);
    let wiring = Wiring::new(program);
    let size = [wiring.gates() as u64, wiring.ands() as u64];
    let cost = GarblingCost::of(n, size, SetupConfig::default(), by);
    let counts = agrees(n, way, program, 1, 5);
    let made = counts.iter().map(|counts| &counts.phases["preprocessing"]);
    assert_eq!(made.clone().map(|made| made.bits).sum::<u64>(), cost.bits(), "{n} by {}", way.name());
    // rows are everybody's but the first one's
    let most = made.map(|made| made.bits / 8).max().unwrap();
    assert!(most >= cost.row_bytes() && (by.is_some() || most == cost.bytes()), "{n}");
}

/// Among parties whose messages take so long that nothing else counts (by a clock that is skipped ahead while
/// all wait), a circuit of several parts of lookups takes no longer than the meter's rounds say. If every
/// part waited for the one before it, the circuit would take five times as long.
#[test]
fn waits_are_those_of_the_meter() {
    let (program, delay) = (adder(150), Duration::from_secs(10_000));
    let wiring = Wiring::new(&program);
    assert!(wiring.ands() > 4 * 32 && wiring.ands() < ands_at_once(None));
    for n in [2, 3, 5] {
        let (harness, now) = Harness::distant(n, &PublicParameters::new("garbled waits"), delay);
        let ends = harness.act(|mut session| {
            session.phase("setup");
            let mut garbler =
                Garbler::new(Gmw::new(session, SetupConfig::default())?, LookupMethod::Transfers)?;
            garbler.gmw().session().phase("preprocessing");
            let start = now();
            garbler.garble(&wiring, 1)?;
            let counts = garbler.gmw().session().meter().read();
            Ok((start, now(), counts.phases["preprocessing"].rounds))
        });
        let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        let start = ends.iter().map(|(start, ..)| *start).min().unwrap();
        let end = ends.iter().map(|(_, end, _)| *end).max().unwrap();
        let rounds = ends.iter().map(|(.., rounds)| *rounds).max().unwrap();
        let waits = ((end - start).as_secs_f64() / delay.as_secs_f64()) as u32;
        // not all begin at the same time: the party that sends the last message of the set-up is a message
        // ahead
        assert!((rounds..=rounds + 1).contains(&waits), "{waits} waits, {rounds} rounds among {n}");
        assert!(rounds <= n as u32 + n.ilog2() + 6);
    }
}

/// The costs by either way are those of the meter; so the formula holds for more parties, too.
#[test]
fn costs_are_those_of_the_meter() {
    let (long, short) = (adder(140), adder(9));
    [3, 5].into_iter().for_each(|n| cost_is_that_of_the_meter(n, None, &long));
    cost_is_that_of_the_meter(10, None, &short);
    [3, 5, 10].into_iter().for_each(|n| cost_is_that_of_the_meter(n, Some(Form::LeanTree), &short));
    cost_is_that_of_the_meter(3, Some(Form::LeanRing), &short);
}

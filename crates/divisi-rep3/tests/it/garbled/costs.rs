//! What a call costs, to the byte, against formulas; and how far its messages depend on each other.

use super::*;
use divisi_rep3::lab::run;
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::batch::{self, Function, Messages};
use divisi_symmetric::circuits;

/// What a party sent of a call and of the opening after it, in the order of parties.
fn counts(program: &Program, lanes: usize, calls: usize) -> Vec<Counts> {
    let (_, parts) = dealt(9, program.input_bits() / 8, lanes);
    run(|trio| {
        let (mut e, wires) = begin(trio, &parts, calls)?;
        e.trio().session().phase("call");
        let out = run_one(&mut e, program, wires)?;
        let out = bytes(&mut e, &out)?;
        let verified = e.settled(out)?;
        let mut counts = e.trio().session().meter().read();
        let rounds = counts.phases["call"].rounds;
        e.trio().open(&verified)?;
        // those of the opening, the call's included
        let opened = e.trio().session().meter().read().phases["call"].rounds;
        counts.phases.entry("opened").or_default().rounds = opened;
        counts.phases.entry("shares").or_default().rounds = rounds;
        Ok(counts)
    })
    .unwrap()
}

pub fn packed(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// The bytes of `units` units of `each` bytes, sent in pieces of at most `most` units with `digest` bytes of
/// digest each.
pub fn pieces(units: usize, most: usize, each: usize, digest: usize) -> u64 {
    let body = |from: usize| wire_bytes(each * most.min(units - from) + digest);
    (0..units).step_by(most).map(body).sum()
}

/// The cost of a program in the lanes of one group: bytes of P1, P2 and P3 by formula.
pub fn formula(program: &Program, lanes: usize) -> [u64; 3] {
    let ands = program.and_count() * lanes;
    let (ins, outs) = (program.input_bits() * lanes, program.output_bits() * lanes);
    let tables = pieces(ands, 4064, 16, 32);
    let first = wire_bytes(16)
        + pieces(ins, 1024, 48, 32)
        + pieces(outs, 1024, 32, 0)
        + tables
        + wire_bytes(packed(outs));
    let second =
        wire_bytes(32) + pieces(ins, 1024, 48, 32) + pieces(outs, 1024, 16, 32) + tables + wire_bytes(32);
    [first, second, wire_bytes(packed(outs) + 32)]
}

/// 16 bytes an AND from each garbler, 96 bytes an input bit, 48 bytes and two bits an output bit; 32 a
/// digest.
#[test]
fn a_call_costs_what_its_formula_says() {
    for (name, lanes) in [("aes128", 1), ("sha256", 1), ("aes128", 3), ("keccak-f", 1)] {
        let program = circuit(name);
        for calls in 0..3 {
            let counts = counts(&program, lanes, calls);
            let expected = formula(&program, lanes);
            let (ands, ins) = (program.and_count() * lanes, program.input_bits() * lanes);
            let outs = program.output_bits() * lanes;
            let bits = [128 * ands + 384 * ins + 257 * outs, 128 * ands + 384 * ins + 128 * outs, outs];
            for ((party, expected), bits) in roles(calls).into_iter().zip(expected).zip(bits) {
                let phase = counts[party.index()].phases["call"];
                assert_eq!((phase.bytes, phase.bits), (expected, bits as u64), "{name} {party}");
            }
            let all: u64 = counts.iter().map(|counts| counts.phases["call"].bits).sum();
            assert_eq!(all, 2 * 128 * ands as u64 + 768 * ins as u64 + 386 * outs as u64);
        }
    }
}

/// SHA-256 of 55 bytes: less than 777 KB in all, headers included.
#[test]
fn a_short_hash_costs_what_was_said() {
    let program = circuits::function(&Settings::new("sha256".parse().unwrap()), 0, 55).unwrap();
    let counts = counts(&program, 1, 0);
    let all: u64 = counts.iter().map(|counts| counts.phases["call"].bytes).sum();
    assert_eq!(all, formula(&program, 1).iter().sum::<u64>());
    // the padding is folded: less than what 22,573 ANDs would be
    assert!(program.and_count() < 22_573 && all < 777_000, "{all}");
}

/// HMAC-SHA-256 of 32 bytes with kept pad states, which enter as shares: two compressions in one call.
#[test]
fn a_mac_with_kept_states_is_one_call() {
    let settings = Settings::new("hmac-sha256".parse().unwrap());
    let (_, parts) = dealt(9, 64, 1);
    let all = run(|mut trio| {
        let mut secret = inputs(&mut trio, &parts)?;
        let mut e = engine(trio);
        let message = secret.split_off(32);
        let function = Function::prepare(&mut e, &settings, &secret)?;
        e.trio().session().phase("call");
        let message = batch::bits(&mut e, message)?;
        let messages = Messages::even(message, 1)?;
        let tag = function.output(&mut e, &messages, &[])?;
        let tag = batch::byte_values(&mut e, tag)?;
        let shares = e.trio().session().meter().read().phases["call"];
        e.reveal(tag)?;
        let opened = e.trio().session().meter().read();
        Ok((shares, opened.phases["call"].rounds, opened.checks.get(&checks::Y5).copied()))
    })
    .unwrap();
    let bytes: u64 = all.iter().map(|(shares, ..)| shares.bytes).sum();
    // both states, a message, a digest: the outer compression's padding is folded, too
    assert!((1_400_000..1_530_000).contains(&bytes), "{bytes}");
    assert_eq!(all.iter().map(|(shares, ..)| shares.rounds).max(), Some(2));
    assert_eq!(all.iter().map(|(_, opened, _)| *opened).max(), Some(3));
}

/// A verdict is opened before what it releases: one message more.
#[test]
fn a_verdict_is_one_message_more() {
    let program = circuit("sha256");
    let (_, parts) = dealt(9, 96, 1);
    let rounds = run(|trio| {
        let (mut e, wires) = begin(trio, &parts, 0)?;
        e.trio().session().phase("call");
        let out = run_one(&mut e, &program, wires)?;
        let mut out = bytes(&mut e, &out)?;
        let released = out.split_off(1);
        for bytes in [out, released] {
            e.reveal(bytes)?;
        }
        Ok(e.trio().session().meter().read().phases["call"].rounds)
    })
    .unwrap();
    assert_eq!(rounds.iter().max(), Some(&4));
}

/// Two one-way messages to shares, three to an opened output, whatever the depth.
#[test]
fn messages_do_not_grow_with_depth() {
    for (name, lanes) in [("aes128", 1), ("sha256", 1), ("aes128", 70)] {
        let program = circuit(name);
        let counts = counts(&program, lanes, 1);
        let most = |phase: &str| counts.iter().map(|counts| counts.phases[phase].rounds).max().unwrap();
        assert_eq!((most("shares"), most("opened")), (2, 3), "{name}");
        assert!(program.and_depth() > 30);
    }
}

/// Public constants cost nothing.
#[test]
fn constants_cost_nothing() {
    let program = |constants: bool| {
        let mut g = if constants { Build::verbatim() } else { Build::new() };
        let (x, y) = (g.input(8), g.input(8));
        let one = g.constant(constants);
        let out: Vec<_> = x
            .iter()
            .zip(&y)
            .map(|(x, y)| {
                let z = g.and(*x, *y);
                if constants { g.and(z, one) } else { z }
            })
            .collect();
        g.output(&out);
        g.finish()
    };
    let (with, without) = (program(true), program(false));
    assert!(with.and_count() == 2 * without.and_count());
    let bytes = |program: &Program| -> Vec<u64> {
        counts(program, 2, 0).iter().map(|counts| counts.phases["call"].bytes).collect()
    };
    assert_eq!(bytes(&with), bytes(&without));
}

/// Each piece is compared once, by the party that the check belongs to.
#[test]
fn checks_are_counted_piece_by_piece() {
    let program = circuit("sha256");
    for calls in 0..3 {
        let counts = counts(&program, 1, calls);
        let [first, second, evaluator] = roles(calls).map(|party| &counts[party.index()]);
        let tables = program.and_count().div_ceil(4064) as u64;
        let (ins, outs) =
            (program.input_bits().div_ceil(1024) as u64, program.output_bits().div_ceil(1024) as u64);
        assert_eq!(times(evaluator, checks::Y1), 1 + tables);
        assert_eq!(times(evaluator, checks::Y2), 2 * ins + outs);
        assert_eq!(times(evaluator, checks::Y3), 2 * ins + outs);
        assert_eq!(times(evaluator, checks::Y4), 1);
        assert_eq!(times(first, checks::Y5), 1);
        for check in [checks::Y1, checks::Y2, checks::Y3, checks::Y4] {
            assert_eq!((times(first, check), times(second, check)), (0, 0));
        }
        assert_eq!((times(second, checks::Y5), times(evaluator, checks::Y5)), (0, 0));
        assert!(counts.iter().all(|counts| counts.computational_bits == Some(117.0)));
    }
}

/// The messages of programs without gates, and of no program at all.
#[test]
fn the_smallest_calls() {
    let mut g = Build::new();
    let x = g.input(8);
    g.output(&x);
    let none = counts(&g.finish(), 1, 0);
    assert_eq!(
        none[0].phases["call"].bytes,
        wire_bytes(16) + wire_bytes(48 * 8 + 32) + wire_bytes(32 * 8) + wire_bytes(1)
    );
    let opened = run(|trio| {
        let mut e = engine(trio);
        e.trio().session().phase("call");
        e.run(&mut [])?;
        Ok(e.trio().session().meter().read().phases.contains_key("call"))
    })
    .unwrap();
    assert!(opened.iter().all(|sent| !sent));
}

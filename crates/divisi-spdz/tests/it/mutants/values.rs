//! Attacks on shared values that become wires of TinyTable, on products, on comparisons, and on fields of
//! MACs.

use super::{engine, flip, harness, lie_passes, shared, values};
use crate::engines::{dealt, given, given_bits, opened, sent, sums};
use divisi_circuit::{Build, Gates};
use divisi_core::testing::party;
use divisi_core::{Abort, Boolean, Bytes, Check, Compares, Direction, ProgramRun, Session};
use divisi_field::{Field, Gf42};
use divisi_spdz::dealer::Dealer;
use divisi_spdz::toy::Toy;
use divisi_spdz::{Party, SpdzProtocol, Tiny};

const ENTER: &str = "divisi_spdz::engine::tiny/tinytable.enter";
const ELEMENT: &str = "divisi_spdz::multiply/multiply.element";

/// Bits of the first party.
const SECRET: [bool; 64] = {
    let (mut bits, mut i) = ([false; 64], 0);
    while i < 64 {
        bits[i] = 0x9e37_79b9_7f4a_7c15_u64 >> i & 1 == 1;
        i += 1;
    }
    bits
};

/// Whether the opened values are the first party's bytes themselves, when these become wires of TinyTable.
pub fn known_mask(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    let recordings = harness.recordings();
    let ends = harness.act(|session| {
        let mut engine = engine(session)?;
        let x = shared(&mut engine)?;
        Tiny::new(engine).enter(&[x]).map(drop)
    });
    assert!(ends.iter().all(Result::is_ok));
    sums(&recordings, ENTER)[0] == values()
}

/// P_2 lies about shared values that become wires of TinyTable.
pub fn false_entering(check: Option<Check>) -> bool {
    lie_passes(2, check, ENTER, |session| {
        let mut engine = engine(session)?;
        let x = shared(&mut engine)?;
        let mut tiny = Tiny::new(engine);
        let [mut mask, mut public] = tiny.enter(&[x])?.remove(0);
        (0..2).try_for_each(|_| tiny.sbox(Direction::Encrypt, &mut [&mut mask]))?;
        tiny.open_indices()?;
        (0..2).try_for_each(|_| tiny.sbox(Direction::Encrypt, &mut [&mut public]))?;
        let out = tiny.output(mask, public)?;
        opened(tiny.engine(), out)
    })
}

/// Whether P_1 takes zeros for something else, if P_2 lies about a factor in their comparison.
pub fn false_comparison(check: Option<Check>) -> bool {
    compared_wrong(check, |session| {
        let mut engine = engine(session)?;
        let zeros = given(&mut engine, party(1), &[0; 5])?;
        engine.vanish(&[zeros])
    })
}

/// The same for bits, six at a time, over a field of MACs that does not hold GF(2^8).
pub fn false_comparison_of_bits(check: Option<Check>) -> bool {
    compared_wrong(check, |session| {
        let mut engine = dealt::<Gf42>(session, 9, SpdzProtocol::Raw)?;
        let zeros = given_bits(&mut engine, party(1), &[false; 64])?;
        engine.vanish(&[zeros])
    })
}

fn compared_wrong(check: Option<Check>, compare: fn(Session) -> Result<Vec<bool>, Abort>) -> bool {
    let harness = harness(2, check);
    flip(&harness, ELEMENT);
    let ends = harness.act(compare);
    assert!(check.is_some() || ends[0].is_err());
    matches!(&ends[0], Ok(all) if *all == [false])
}

/// Whether the opened factors reveal which of the first party's bits are equal, when they are multiplied by
/// zeros.
pub fn equal_factors(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    let recordings = harness.recordings();
    let mut g = Build::new();
    let [x, y] = g.input(2)[..] else { panic!("two wires") };
    let product = g.and(x, y);
    g.output(&[product]);
    let program = g.finish();
    let ends = harness.act(|session| {
        let mut engine = engine(session)?;
        let x = given_bits(&mut engine, party(1), &SECRET)?;
        let zeros = given_bits(&mut engine, party(2), &[false; SECRET.len()])?;
        engine.run(&mut [ProgramRun::new(&program, vec![x, zeros])])
    });
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let factors = &sums(&recordings, ELEMENT)[0];
    let opened = |i: usize| factors[i / 8] >> (i % 8) & 1 == 1;
    let as_secret = (0..SECRET.len()).filter(|i| opened(*i) == SECRET[*i]).count();
    as_secret == 0 || as_secret == SECRET.len()
}

/// Whether a session accepts MACs of eight bits, over which one lie in 128 passes.
pub fn macs_of_eight_bits(check: Option<Check>) -> bool {
    let ends = harness(2, check).act(|session| {
        let (party, _): (Party<Toy>, _) = Dealer::deal(session, 1)?;
        Ok(party.me())
    });
    ends.iter().all(Result::is_ok)
}

/// Whether three parties report more bits of security for a check than n/|F| leaves.
pub fn bits_too_many(check: Option<Check>) -> bool {
    let ends = harness(3, check).act(|session| {
        let mut engine = engine(session)?;
        let x = shared(&mut engine)?;
        opened(&mut engine, x)?;
        Ok(engine.session().meter().read().verification_error_bits)
    });
    ends.into_iter().any(|bits| bits.unwrap().unwrap() > 48.0 - 3_f64.log2() + 1e-9)
}

/// Whether factors of products of bytes are opened over GF(2^42), which does not hold GF(2^8): the products
/// would have wrong MACs.
pub fn bytes_beside(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    let recording = harness.recording(party(1));
    harness.act(|session| {
        let mut engine = dealt::<Gf42>(session, 9, SpdzProtocol::RivainProuff)?;
        let mut x = given(&mut engine, party(1), &values())?;
        engine.sbox(Direction::Encrypt, &mut [&mut x])
    });
    const { assert!(<Gf42 as Field>::BITS == 42) };
    sent(&recording, ELEMENT) > 0
}

//! Attacks on shared values that become wires of TinyTable, on products, on comparisons, and on fields of
//! MACs.

use super::{engine, flip, harness, output, shared, values, wrong};
use divisi_circuit::{Build, Gates};
use divisi_core::testing::{Harness, MessageDirection, party};
use divisi_core::{Abort, Boolean, Bytes, Check, Compares, Direction, ProgramRun};
use divisi_field::{Field, Gf42};
use divisi_spdz::dealer::Dealer;
use divisi_spdz::toy::Toy;
use divisi_spdz::{Party, Spdz, SpdzProtocol, Tiny};

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
    let [ours, theirs] =
        [0, 1].map(|i| recordings[i].bodies(MessageDirection::Out, party(2 - i as u8), ENTER).remove(0));
    ours.iter().zip(&theirs).map(|(x, y)| x ^ y).eq(values())
}

/// P_2 lies about shared values that become wires of TinyTable.
pub fn false_entering(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    flip(&harness, ENTER);
    wrong(&harness.act(|session| {
        let mut engine = engine(session)?;
        let x = shared(&mut engine)?;
        let mut tiny = Tiny::new(engine);
        let [mut mask, mut public] = tiny.enter(&[x])?.remove(0);
        for _ in 0..2 {
            tiny.sbox(Direction::Encrypt, &mut [&mut mask])?;
        }
        tiny.open_indices()?;
        for _ in 0..2 {
            tiny.sbox(Direction::Encrypt, &mut [&mut public])?;
        }
        let out = tiny.output(mask, public)?;
        output(tiny.engine(), out)
    }))
}

/// Whether P_1 takes zeros for something else, if P_2 lies about a factor in their comparison.
pub fn false_comparison(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    flip(&harness, ELEMENT);
    let ends = harness.act(|session| {
        let mut engine = engine(session)?;
        let mine = engine.session().me() == party(1);
        let zeros = engine.input(party(1), mine.then_some(&[0; 5][..]), 5)?;
        engine.vanish(&[zeros])
    });
    assert!(check.is_some() || ends[0].is_err());
    matches!(&ends[0], Ok(all) if *all == [false])
}

/// The same for bits, six at a time, over a field of MACs that does not hold GF(2^8).
pub fn false_comparison_of_bits(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    flip(&harness, ELEMENT);
    let ends = harness.act(|session| {
        let (party, dealer) = Dealer::<Gf42>::deal(session, 9)?;
        let mut engine = Spdz::new(party, Box::new(dealer), SpdzProtocol::Raw)?;
        let mine = engine.session().me() == super::party(1);
        let zeros = engine.input_bits(super::party(1), mine.then_some(&[false; 64][..]), 64)?;
        engine.vanish(&[zeros])
    });
    assert!(check.is_some() || ends[0].is_err());
    matches!(&ends[0], Ok(all) if *all == [false])
}

/// Multiplies the first party's bits by zeros. Returns how the parties end, and what each sends to open the
/// factors.
fn product_of_bits(harness: Harness) -> (Vec<Result<(), Abort>>, [Vec<Vec<u8>>; 2]) {
    let recordings = harness.recordings();
    let mut g = Build::new();
    let [x, y] = g.input(2)[..] else { panic!("two wires") };
    let product = g.and(x, y);
    g.output(&[product]);
    let program = g.finish();
    let ends = harness.act(|session| {
        let mut engine = engine(session)?;
        let mine = engine.session().me() == party(1);
        let x = engine.input_bits(party(1), mine.then_some(&SECRET[..]), SECRET.len())?;
        let zeros =
            engine.input_bits(party(2), (!mine).then_some(&[false; SECRET.len()][..]), SECRET.len())?;
        engine.run(&mut [ProgramRun::new(&program, vec![x, zeros])])
    });
    let told = [0, 1].map(|i| recordings[i].bodies(MessageDirection::Out, party(2 - i as u8), ELEMENT));
    (ends, told)
}

/// Whether the opened factors reveal which of the first party's bits are equal.
pub fn equal_factors(check: Option<Check>) -> bool {
    let (ends, told) = product_of_bits(harness(2, check));
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let [ours, theirs] = told.map(|mut told| told.remove(0));
    let opened = |i: usize| (ours[i / 8] ^ theirs[i / 8]) >> (i % 8) & 1 == 1;
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
        output(&mut engine, x)?;
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
        let (party, dealer) = Dealer::<Gf42>::deal(session, 9)?;
        let mut engine = Spdz::new(party, Box::new(dealer), SpdzProtocol::RivainProuff)?;
        let mine = (engine.session().me() == super::party(1)).then(values);
        let mut x = engine.input(super::party(1), mine.as_deref(), values().len())?;
        engine.sbox(Direction::Encrypt, &mut [&mut x])
    });
    const { assert!(<Gf42 as Field>::BITS == 42) };
    !recording.of(MessageDirection::Out, ELEMENT).is_empty()
}

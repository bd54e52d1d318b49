//! Nobody finds alpha_i = Delta_i, nor Delta'_i, in the memory of a process after a session: not after a good
//! run, not after an abort, not after a stock was made or used (1.10). One test, so that nothing runs beside
//! the search.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

#[path = "it/common/mod.rs"]
mod common;

use common::{LOOKUP, StockDirs, entropy, key, parameters};
use divisi_core::testing::memory::{Found, Needle, find_first, once};
use divisi_core::testing::{Harness, party};
use divisi_core::{Abort, Bytes, Direction, PartyId, Settles, Step};
use divisi_field::Gf48;
use divisi_ot::testing::planted_over_field;
use divisi_ot::{Base, SetupConfig};
use divisi_spdz::{Bucketed, Party, Spdz, SpdzProtocol};
use divisi_store::stock::Reserve;
use std::sync::{Barrier, Mutex};

const OUTPUT: &str = "divisi_spdz::engine/output";
const SIGMA: &str = "divisi_spdz::check/check.4.open";
const PAYLOAD: &str = "divisi_ot::correlate/payload";

/// Bytes of an element of the field.
const ELEMENT: usize = 6;

/// The keys of all parties of a run, and what was wrong when the memory was searched for them.
struct Looking {
    /// alpha_i.
    alphas: Vec<Needle>,
    /// Delta'_i.
    pads: Vec<Needle>,
    all: Barrier,
    wrong: Mutex<Vec<String>>,
}

impl Looking {
    fn of(alphas: Vec<Needle>, pads: Vec<Needle>) -> Looking {
        let all = Barrier::new(alphas.len());
        Looking { alphas, pads, all, wrong: Mutex::default() }
    }

    fn planted(n: usize, seed: u8) -> Looking {
        let needles = |from| (0..n as u8).map(|i| Needle::new(from + i, true)).collect();
        Looking::of(needles(seed), needles(seed + 100))
    }

    /// All parties wait while the first one searches the memory: alpha_i and Delta'_i of each party must be
    /// there if `there` is true, and must not be there otherwise.
    fn look(&self, me: PartyId, there: bool, when: &str) {
        self.all.wait();
        if me.index() == 0 {
            let alphas = find_first(ELEMENT, &self.alphas.iter().collect::<Vec<_>>()).unwrap();
            let pads = self.pads.iter().map(|needle| needle.copies().unwrap());
            let mut wrong = self.wrong.lock().unwrap();
            for (i, found) in alphas.iter().enumerate().filter(|(_, found)| found.is_empty() == there) {
                wrong.push(format!("{when}, alpha_{}: {found:x?}", i + 1));
            }
            for (i, found) in pads.enumerate() {
                let fine = if there { !found.is_empty() } else { found.is_empty() };
                if !fine {
                    wrong.push(format!("{when}, Delta'_{}: {found:x?}", i + 1));
                }
            }
        }
        self.all.wait();
    }

    fn end(self, what: &str) {
        let wrong = self.wrong.into_inner().unwrap();
        assert!(wrong.is_empty(), "{what}: {wrong:#?}");
    }
}

/// Everything that uses alpha: tables, an input, layers of S-boxes, an output to all and one to a party.
fn sboxes(engine: &mut Spdz<Gf48>, layers: usize) -> Result<u8, Abort> {
    let mine = engine.session().me() == party(1);
    let mut byte = engine.input(party(1), mine.then_some(&[0x53]), 1)?;
    for _ in 0..layers {
        engine.sbox(Direction::Encrypt, &mut [&mut byte])?;
    }
    let verified = engine.settled(byte)?;
    engine.output_to(party(1), verified.clone())?;
    Ok(engine.output(verified)?[0].0)
}

/// A session of `n` parties; with `lie`, the last one's messages of a step are changed on their way to the
/// first.
fn session(n: usize, seed: u8, protocol: SpdzProtocol, lie: Option<&'static str>) {
    let looking = Looking::planted(n, seed);
    let harness = Harness::new(n, &parameters());
    if let Some(step) = lie {
        // all messages of the step: a lie about one payload alone passes if the bits that are multiplied with
        // it are zero
        let id = Step::new(step).id;
        harness.hand(party(n as u8), party(1), move |mut frame| {
            if frame.step == id {
                frame.body.iter_mut().for_each(|byte| *byte ^= 1);
            }
            vec![frame]
        });
    }
    let ends = harness.act(|mut session| {
        let me = session.me();
        let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
        let i = me.index();
        let setup = planted_over_field(&mut session, config, &looking.alphas[i], &looking.pads[i])?;
        let (party, source): (Party<Gf48>, _) = Bucketed::over(session, setup)?;
        let mut engine = Spdz::new(party, Box::new(source), protocol)?;
        let end = sboxes(&mut engine, 2);
        looking.look(me, lie.is_none(), "before the end");
        drop(engine);
        looking.look(me, false, "after the end");
        Ok(end)
    });
    let ends: Vec<_> = ends.into_iter().map(|end| end.unwrap()).collect();
    assert!(ends.iter().all(|end| end.is_err() == lie.is_some()), "{lie:?}: {ends:?}");
    looking.end(&format!("{n} parties, {protocol:?}, {lie:?}"));
}

/// A stock is made and used; with `lie`, its use ends by an abort.
fn stock(lie: bool) {
    let (dirs, needles) = (StockDirs::empty(2), Mutex::new(vec![None, None]));
    let all = Barrier::new(2);
    let found = Mutex::new(Vec::new());
    let look = |me: PartyId, there: bool, when: &str| {
        all.wait();
        if me.index() == 0 {
            let needles = needles.lock().unwrap();
            let needles: Vec<&Needle> = needles.iter().flatten().collect();
            let seen: Vec<Vec<Found>> = find_first(ELEMENT, &needles).unwrap();
            assert_eq!(seen.len(), 2);
            for (i, seen) in seen.into_iter().enumerate().filter(|(_, seen)| seen.is_empty() == there) {
                found.lock().unwrap().push(format!("{when}, alpha_{}: {seen:x?}", i + 1));
            }
        }
        all.wait();
    };
    let ends = Harness::new(2, &parameters()).act(|session| {
        let me = session.me();
        let made = dirs.make_on(
            session,
            |_| Box::new(divisi_store::MachineDisk),
            |secret| needles.lock().unwrap()[me.index()] = Some(Needle::of(secret)),
        );
        look(me, false, "after a stock was made");
        made
    });
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let harness = Harness::new(2, &parameters());
    if lie {
        harness.change(party(2), party(1), LOOKUP, 0, |body| body[0] ^= 1);
    }
    let ends = harness.act(|session| {
        let me = session.me();
        let reserve = Reserve::open(&dirs.dir(me.number()), key(), entropy(), me.number());
        let mut engine = dirs.begin_with(session, reserve)?;
        look(me, true, "while a stock is open");
        let end = sboxes(&mut engine, 1);
        drop(engine);
        look(me, false, "after a stock was used");
        Ok(end)
    });
    assert!(ends.iter().all(|end| end.as_ref().unwrap().is_err() == lie), "{ends:?}");
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "stock, {lie}: {found:#?}");
}

/// The control: the search finds a secret in all places where it lies.
fn control() {
    let needle = Needle::new(99, false);
    let places = |needle: &Needle| find_first(ELEMENT, &[needle]).unwrap().swap_remove(0).len();
    let mut planted = std::hint::black_box(Box::new([[0_u8; 16]; 3]));
    needle.plant(&mut planted[1]);
    assert!(once(&needle.copies().unwrap()) && places(&needle) == 1);
    // at any address
    let all = planted.as_flattened_mut();
    all.copy_within(16..16 + ELEMENT, 37);
    assert_eq!(places(&needle), 2);
    // of a secret that is given as six bytes
    let told = std::hint::black_box(vec![3_u8, 0x1f, 0xb0, 0x77, 0x9d, 0x42]);
    let other = Needle::of(&told);
    assert!(places(&other) >= 1);
    planted.as_flattened_mut().fill(0);
    std::hint::black_box(&planted);
    assert_eq!(places(&needle), 0);
}

#[test]
fn alpha_lies_nowhere_after_the_end() {
    control();
    let protocol = SpdzProtocol::Lookup;
    session(2, 1, protocol, None);
    session(3, 11, protocol, None);
    session(2, 21, SpdzProtocol::BitDecomposition, None);
    session(2, 31, protocol, Some(OUTPUT));
    session(2, 41, protocol, Some(LOOKUP));
    session(3, 51, protocol, Some(SIGMA));
    session(2, 61, protocol, Some(PAYLOAD));
    stock(false);
    stock(true);
}

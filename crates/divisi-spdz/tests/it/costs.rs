//! The online costs of a run by the meter, as in Table 2 of KOR+17.

use crate::engines::{dealt, given};
use divisi_core::testing::{BitLab, ByteLab, run};
use divisi_core::{Abort, Counts, Direction, Lookups, PartyId, PublicParameters, Session, Settles};
use divisi_field::Gf48;
use divisi_spdz::checks;
use divisi_spdz::lab::{SpdzLab, TinyLab};
use divisi_spdz::{Spdz, SpdzProtocol, Tiny, TinyByte, VERIFICATION_PHASE};
use divisi_symmetric::aes;
use divisi_symmetric::des::{self, TripleKey};
use std::sync::Mutex;

/// The counts of all parties for blocks under one key: of the key schedule, of what is made ahead, of the
/// cipher alone, and of the settling of its outputs.
fn aes_counts(protocol: SpdzProtocol, parties: usize, key_bytes: usize, blocks: usize) -> Vec<[Counts; 4]> {
    let ends = run(parties, &PublicParameters::new("spdz costs"), |session| {
        let mut engine = dealt::<Gf48>(session, 4, protocol)?;
        let secret = |engine: &mut Spdz<Gf48>, lanes: usize| given(engine, PartyId::P1, &vec![7; lanes]);
        let key = (0..key_bytes).map(|_| secret(&mut engine, 1)).collect::<Result<Vec<_>, Abort>>()?;
        engine.session().meter().reset();
        let round_keys = aes::expand(&mut engine, &key)?;
        let schedule = engine.session().meter().read();
        let state = (0..16).map(|_| secret(&mut engine, blocks)).collect::<Result<Vec<_>, Abort>>()?;
        let mut state: [_; 16] = state.try_into().unwrap_or_else(|_| panic!());
        engine.session().meter().reset();
        if protocol == SpdzProtocol::Lookup {
            engine.preprocess(16 * round_keys.size().rounds() * blocks)?;
            engine.load(Direction::Encrypt)?;
        }
        let made = engine.session().meter().read();
        engine.session().meter().reset();
        engine.session().phase("online");
        aes::encrypt(&mut engine, &round_keys, &mut state)?;
        let online = engine.session().meter().read();
        engine.settled(state)?;
        Ok([schedule, made, online, engine.session().meter().read()])
    });
    ends.into_iter().map(Result::unwrap).collect()
}

/// The counts of all parties for one block under three keys, which is the phase `circuit`, in a run of each
/// party or in two.
fn triple_des_counts<L: BitLab>(
    lab: &L,
    session: impl Fn(&mut L::Engine) -> &mut Session + Sync,
) -> Vec<Counts> {
    let counts = Mutex::new(Vec::new());
    let inputs = vec![vec![true]; 192 + 64];
    let run = |e: &mut L::Engine, x: Vec<<L::Engine as Lookups>::Bit>| {
        let key = TripleKey::new(&x[..192])?;
        let mut block: [_; 64] = x[192..].to_vec().try_into().unwrap_or_else(|_| panic!());
        session(e).meter().reset();
        session(e).phase("circuit");
        des::triple(e, Direction::Encrypt, &key, &mut block)?;
        session(e).phase("rest");
        counts.lock().unwrap().push(session(e).meter().read());
        Ok(block.into())
    };
    lab.bits(&inputs, run).unwrap();
    counts.into_inner().unwrap()
}

#[test]
fn counts_of_aes_lt() {
    for (n, key_bytes, rounds, in_schedule) in
        [(2, 16, 10, 40), (3, 16, 10, 40), (2, 24, 12, 32), (2, 32, 14, 52)]
    {
        let blocks = 3;
        for [schedule, made, online, settled] in aes_counts(SpdzProtocol::Lookup, n, key_bytes, blocks) {
            let lookups = (16 * rounds * blocks) as u64;
            assert_eq!(schedule.checks[&checks::K2], in_schedule);
            // 1,760 products of a bit and an element and 42,240 random bits a block of AES-128
            assert_eq!((made.checks[&checks::K6], made.checks[&checks::K5]), (11 * lookups, 264 * lookups));
            assert_eq!([online.checks.get(&checks::K6), online.checks.get(&checks::K5)], [None; 2]);
            let phase = online.phases["online"];
            assert_eq!((phase.rounds, online.openings), (rounds as u32, lookups));
            assert_eq!(phase.bits, 8 * lookups * (n as u64 - 1));
            assert_eq!(online.checks[&checks::K2], lookups);
            assert_eq!(online.phases.len(), 1);
            // the MAC check: coin, commitments, sigmas; among three or more also views
            let check = settled.phases[VERIFICATION_PHASE];
            assert_eq!(check.rounds, if n == 2 { 3 } else { 4 });
            assert_eq!(settled.checks[&checks::K4], 1);
            assert_eq!(settled.checks[&checks::K21], n as u64 - 1);
            assert_eq!(settled.checks.get(&checks::K1).copied(), (n > 2).then_some(n as u64 - 1));
            // n/|F|
            let bits = settled.verification_error_bits.unwrap();
            assert!((bits - (48.0 - (n as f64).log2())).abs() < 1e-9, "{bits}");
            assert_eq!(settled.phases["online"], phase);
        }
    }
}

/// Rounds, openings, products and random bits of one block.
#[test]
fn counts_of_the_powers() {
    let table = [
        (SpdzProtocol::BitDecomposition, 50, 2240, 17_920, 960, 2_560),
        (SpdzProtocol::RivainProuff, 70, 1920, 15_360, 640, 5_120),
    ];
    for (protocol, rounds, openings, bits, products, random) in table {
        for [_, _, online, _] in aes_counts(protocol, 2, 16, 1) {
            let phase = online.phases["online"];
            assert_eq!((phase.rounds, online.openings, phase.bits), (rounds, openings, bits));
            assert_eq!((online.checks[&checks::K6], online.checks[&checks::K5]), (products, random));
        }
    }
}

/// The costs of one block, without key schedule, indices, inputs and output, and those of the tables and
/// masks made for it.
#[test]
fn counts_of_aes_tinytable() {
    let counts = Mutex::new(Vec::new());
    let inputs: Vec<Vec<u8>> = (0..32).map(|i| vec![i]).collect();
    let run = |e: &mut Tiny<Gf48>, x: Vec<TinyByte<Gf48>>| {
        let round_keys = aes::expand(e, &x[..16])?;
        let mut state: [_; 16] = std::array::from_fn(|i| x[16 + i].clone());
        let before = e.engine().session().meter().read();
        e.engine().session().phase("circuit");
        aes::encrypt(e, &round_keys, &mut state)?;
        let after = e.engine().session().meter().read();
        e.engine().session().phase("rest");
        counts.lock().unwrap().push((before, after));
        Ok(state.into())
    };
    TinyLab::<Gf48>::new(2).bytes(&inputs, run).unwrap();
    let counts = counts.into_inner().unwrap();
    assert_eq!(counts.len(), 4);
    for (before, after) in counts {
        let more = |check| after.checks.get(&check).unwrap_or(&0) - before.checks.get(&check).unwrap_or(&0);
        if more(checks::K3) == 0 {
            // in the run over masks: output masks are drawn, and tables are made if there are too few
            assert_eq!(more(checks::K2), 160);
            let made = (more(checks::K6), more(checks::K5));
            assert!([(0, 1_280), (1_760, 1_280 + 42_240)].contains(&made), "{made:?}");
            continue;
        }
        assert_eq!((more(checks::K3), after.openings - before.openings), (160, 160));
        let phase = after.phases["circuit"];
        assert_eq!((phase.rounds, phase.bits), (10, 1280));
    }
}

/// Rounds, openings, bits opened, products and random bits of one block under three keys.
#[test]
fn counts_of_3des() {
    let table = [
        (SpdzProtocol::Lookup, 46, 384, 2_304, 1_920, 26_880),
        (SpdzProtocol::RivainProuff, 230, 3_456, 27_648, 1_152, 9_216),
        // 61 products, six rounds for them and one for a decomposition: KOR+17 has 62 and 62
        (SpdzProtocol::Raw, 46 * 7, 384 * 123, 384 * (61 * 12 + 4), 384 * 61, 384 * 4),
    ];
    for (protocol, rounds, openings, bits, products, random) in table {
        for counts in triple_des_counts(&SpdzLab::<Gf48>::new(2, protocol), Spdz::session) {
            let circuit = counts.phases["circuit"];
            assert_eq!((circuit.rounds, circuit.bits), (rounds, bits));
            assert_eq!((counts.checks[&checks::K6], counts.checks[&checks::K5]), (products, random));
            // the openings for products and decompositions of unit vectors are counted separately
            let apart = if protocol == SpdzProtocol::Lookup { 2 * products + 2 * 384 } else { 0 };
            assert_eq!(counts.openings, openings + apart);
        }
    }
}

/// The costs of one block, without indices, inputs and output; the masks of outputs take four random bits
/// each.
#[test]
fn counts_of_3des_tinytable() {
    let counts = triple_des_counts(&TinyLab::<Gf48>::new(2), |e| e.engine().session());
    assert_eq!(counts.len(), 4);
    for counts in counts {
        let of = |check| counts.checks.get(&check).copied().unwrap_or(0);
        if of(checks::K3) == 0 {
            assert_eq!((of(checks::K2), of(checks::K6), of(checks::K5)), (384, 1_920, 26_880 + 1_536));
            assert!(!counts.phases.contains_key("circuit"));
        } else {
            let circuit = counts.phases["circuit"];
            assert_eq!((circuit.rounds, circuit.bits), (46, 1_536));
            assert_eq!((of(checks::K3), counts.openings), (384, 384));
        }
    }
}

//! What a run costs, by the meter: KOR+17, Table 2, online.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::testing::run;
use divisi_core::{Abort, Check, Counts, Parameters, PartyId, settle};
use divisi_field::Gf48;
use divisi_spdz::dealer::Dealer;
use divisi_spdz::{Spdz, VERIFICATION_PHASE};
use divisi_symmetric::aes;

/// Blocks under one key: what the cipher alone costs, and the settling of its outputs.
fn aes_counts(parties: usize, key_bytes: usize, blocks: usize) -> Vec<[Counts; 2]> {
    let ends = run(parties, &Parameters::new("spdz costs"), |session| {
        let (party, dealer) = Dealer::<Gf48>::deal(session, 4)?;
        let mut engine = Spdz::new(party, Box::new(dealer))?;
        let owner = PartyId::all(1).next().unwrap();
        let mine = engine.session().me() == owner;
        let mut secret = |engine: &mut Spdz<Gf48>, lanes: usize| {
            let values = vec![7; lanes];
            engine.input(owner, mine.then_some(values.as_slice()), lanes)
        };
        let key = (0..key_bytes).map(|_| secret(&mut engine, 1)).collect::<Result<Vec<_>, Abort>>()?;
        let round_keys = aes::expand(&mut engine, &key)?;
        let state = (0..16).map(|_| secret(&mut engine, blocks)).collect::<Result<Vec<_>, Abort>>()?;
        let mut state: [_; 16] = state.try_into().unwrap_or_else(|_| panic!());
        engine.preprocess(16 * round_keys.size().rounds() * blocks)?;
        engine.load(divisi_core::Direction::Encrypt)?;
        engine.session().meter().reset();
        engine.session().phase("online");
        aes::encrypt(&mut engine, &round_keys, &mut state)?;
        let online = engine.session().meter().read();
        let pending = engine.close(state);
        settle(&mut engine, pending)?;
        Ok([online, engine.session().meter().read()])
    });
    ends.into_iter().map(Result::unwrap).collect()
}

#[test]
fn counts_of_aes_lt() {
    for (n, key_bytes, rounds) in [(2, 16, 10), (3, 16, 10), (2, 24, 12), (2, 32, 14)] {
        let blocks = 3;
        for [online, settled] in aes_counts(n, key_bytes, blocks) {
            let lookups = (16 * rounds * blocks) as u64;
            let phase = online.phases["online"];
            assert_eq!((phase.rounds, online.openings), (rounds as u32, lookups));
            assert_eq!(phase.bits, 8 * lookups * (n as u64 - 1));
            assert_eq!(online.checks[&Check::K2], lookups);
            assert_eq!(online.phases.len(), 1);
            // the MAC check: coin, commitments, sigmas; among three or more also views
            let check = settled.phases[VERIFICATION_PHASE];
            assert_eq!(check.rounds, if n == 2 { 3 } else { 4 });
            assert_eq!(settled.checks[&Check::K4], 1);
            assert_eq!(settled.checks[&Check::K21], n as u64 - 1);
            assert_eq!(settled.checks.get(&Check::K1).copied(), (n > 2).then_some(n as u64 - 1));
            assert_eq!(settled.verification_error_bits, Some(47.0));
            assert_eq!(settled.phases["online"], phase);
        }
    }
}

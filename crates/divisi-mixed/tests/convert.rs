//! Bits become numbers, and look up in public tables.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_core::testing::run;
use divisi_core::{Abort, PublicParameters as Agreed, Session};
use divisi_field::zp::P32;
use divisi_mixed::bits::{RandomBits, random_bits};
use divisi_mixed::convert::{lookup, open_bits, to_numbers};
use divisi_net::Fault;
use std::sync::Arc;

fn small(n: usize) -> Arc<Ring> {
    let form = if n == 3 { Form::LeanRing } else { Form::LeanTree };
    Arc::new(Ring::new(Parameters::danger_insecure(Operation::Bits, form, n, P32).unwrap()).unwrap())
}

/// All parties with a batch of random bits.
fn with_bits<R: Send>(
    ring: &Arc<Ring>,
    f: impl Fn(&mut Session, RandomBits) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let agreed = ring.parameters().describe(Agreed::new("mixed tests"));
    run(ring.parameters().parties(), &agreed, |mut session| {
        let keys = Keys::generate(&mut session, ring)?;
        let mut sampler = Sampler::new(&session);
        let bits = random_bits(&mut session, &keys, &mut sampler)?;
        session.phase("online");
        f(&mut session, bits)
    })
}

/// This party's share of bit i of x: those of the others are hashes, the first has the rest.
fn share(n: usize, me: usize, i: usize, x: u64) -> u64 {
    let of = |party: usize| (i as u64 + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ party as u64) >> 40 & 1;
    if me == 0 { (1..n).fold(x, |x, party| x ^ of(party)) } else { of(me) }
}

#[test]
fn numbers_of_bits_are_the_numbers() {
    // 2^32 - 1 is more than p, and is reduced
    let numbers = [0, 1, u64::from(P32 as u32) - 1, 5, 0xffff_ffff, 0x8000_0000, 0x1234_5678];
    for n in [2, 3, 4, 5, 8] {
        let ring = small(n);
        let ends = with_bits(&ring, |session, mut bits| {
            let me = session.me().index();
            let x: Vec<u64> = (0..7 * 32).map(|i| share(n, me, i, numbers[i / 32] >> (i % 32) & 1)).collect();
            let masks = bits.take(x.len()).unwrap();
            assert_eq!(bits.len(), 1024 - 224);
            let shares = to_numbers(session, ring.plain(), 32, &x, masks)?.to_vec();
            let counts = session.meter().read().phases["online"];
            Ok((shares, counts, bits.take(801).is_none()))
        });
        let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        for (i, number) in numbers.iter().enumerate() {
            let sum = ends.iter().map(|(shares, ..)| shares[i]).sum::<u64>() % P32;
            assert_eq!(sum, number % P32, "{n} parties, {number}");
        }
        assert!(ends.iter().all(|(.., none)| *none));
        // one opening: a bit an item to one party, and a bit back
        let sent: u64 = ends.iter().map(|(_, counts, _)| counts.bits).sum();
        assert_eq!(sent, 2 * (n as u64 - 1) * 224);
        assert_eq!(ends.iter().map(|(_, counts, _)| counts.rounds).max(), Some(2));
    }
}

#[test]
fn tables_are_looked_up() {
    let ring = small(3);
    let tables = [[0, 0], [7, P32 - 1], [P32 - 1, 7], [1, 0], [0, 1]];
    let ends = with_bits(&ring, |session, mut bits| {
        let mut all = Vec::new();
        for pattern in 0..32_u64 {
            let me = session.me().index();
            let x: Vec<u64> = (0..5).map(|i| share(3, me, i, pattern >> i & 1)).collect();
            all.push(lookup(session, ring.plain(), &tables, &x, bits.take(5).unwrap())?.to_vec());
        }
        Ok(all)
    });
    let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
    for pattern in 0..32 {
        for (i, table) in tables.iter().enumerate() {
            let sum = ends.iter().map(|all| all[pattern][i]).sum::<u64>() % P32;
            assert_eq!(sum, table[pattern >> i & 1]);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let ring = small(2);
    let misuse = |f: &(dyn Fn(&mut Session, RandomBits) -> Result<(), Abort> + Sync)| {
        let ends = with_bits(&ring, f);
        assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{ends:?}");
    };
    misuse(&|s, bits| lookup(s, ring.plain(), &[[0, 1]], &[1], bits).map(drop));
    misuse(&|s, mut bits| lookup(s, ring.plain(), &[[0, P32]], &[1], bits.take(1).unwrap()).map(drop));
    misuse(&|s, mut bits| lookup(s, ring.plain(), &[], &[1], bits.take(1).unwrap()).map(drop));
    misuse(&|s, mut bits| to_numbers(s, ring.plain(), 33, &[0; 33], bits.take(33).unwrap()).map(drop));
    misuse(&|s, mut bits| to_numbers(s, ring.plain(), 2, &[0; 3], bits.take(3).unwrap()).map(drop));
}

#[test]
fn openings_have_no_bits_beyond_the_last() {
    use divisi_core::testing::{Harness, party};
    let harness = Harness::new(2, &Agreed::new("mixed tests"));
    harness.change(party(1), party(2), "divisi_mixed::open/open.gather", 0, |body| body[1] |= 0x80);
    let ends = harness.act(|mut session| open_bits(&mut session, &[1; 11]));
    assert!(ends.iter().all(Result::is_err));
    assert!(matches!(&ends[1], Err(Abort::Network(Fault::Malformed { peer, .. })) if *peer == party(1)));
}

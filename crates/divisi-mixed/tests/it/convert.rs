//! Bits become numbers, and look up in public tables of size 2: among every number of parties, with random
//! bits of every form.

use divisi_bgv::Ring;
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_core::testing::run;
use divisi_core::{Abort, Convert, PartyId, PublicParameters as Agreed};
use divisi_field::zp::{Modulus, P16, P32};
use divisi_fuzz::repetitions;
use divisi_mixed::{Gmw, GmwBit, Mixed, Num, num};
use divisi_net::Fault;
use divisi_ot::SetupConfig;
use std::sync::Arc;

/// How random bits are made: by transfers, or in one of these forms.
const ALL: [Option<Form>; 4] = [None, Some(Form::LeanTree), Some(Form::LeanRing), Some(Form::Paper)];

fn parties<R: Send>(
    n: usize,
    p: u64,
    how: Option<Form>,
    act: impl Fn(&mut Mixed) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let small = |form| Parameters::danger_insecure(Operation::Bits, form, n, p).unwrap();
    let ring = how.map(|form| Arc::new(Ring::new(small(form)).unwrap()));
    let agreed = Agreed::new("mixed tests");
    let agreed = ring.iter().fold(agreed, |agreed, ring| ring.parameters().describe(agreed));
    run(n, &agreed, |session| {
        let gmw = Gmw::new(session, SetupConfig::default())?;
        act(&mut Mixed::new(gmw, Modulus::new(p).unwrap(), ring.as_ref(), None)?)
    })
}

/// This party's share of bit i of x: those of the others are hashes, the first has the rest.
fn share(n: usize, me: PartyId, i: usize, x: u64) -> u64 {
    let of = |party: usize| (i as u64 + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ party as u64) >> 40 & 1;
    if me.index() == 0 { (1..n).fold(x, |x, party| x ^ of(party)) } else { of(me.index()) }
}

#[test]
fn numbers_of_bits_are_the_numbers() {
    // 2^32 - 1 is more than p, and is reduced
    let numbers = [0, 1, u64::from(P32 as u32) - 1, 5, 0xffff_ffff, 0x8000_0000, 0x1234_5678];
    for (n, how) in [2, 3, 4, 5, 8].into_iter().flat_map(|n| ALL.map(|how| (n, how))) {
        // among more than three parties by default one way each
        let one = matches!(
            (n, how),
            (4, Some(Form::Paper)) | (5, Some(Form::LeanRing)) | (8, Some(Form::LeanTree))
        );
        if !repetitions(n < 4 || one, true) {
            continue;
        }
        for p in [P32, P16] {
            let ends = parties(n, p, how, |mixed| {
                let me = mixed.session().me();
                let bit = |i: usize| share(n, me, i, numbers[i / 32] >> (i % 32) & 1);
                let x = (0..32).map(|j| GmwBit::of((0..7).map(|lane| bit(32 * lane + j)))).collect();
                mixed.prepare_bits(7 * 32)?;
                mixed.session().phase("online");
                let number: Num = mixed.convert(x)?;
                let counts = mixed.session().meter().read().phases["online"];
                let plain = mixed.plain();
                Ok((num::open(mixed.session(), plain, &number)?, counts))
            });
            let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
            for (opened, _) in &ends {
                assert!(opened.iter().zip(&numbers).all(|(x, number)| *x == number % p), "{n} {how:?} {p}");
            }
            // one opening: a bit an item to one party, and a bit back
            let sent: u64 = ends.iter().map(|(_, counts)| counts.bits).sum();
            assert_eq!(sent, 2 * (n as u64 - 1) * 224);
            assert_eq!(ends.iter().map(|(_, counts)| counts.rounds).max(), Some(2));
        }
    }
}

#[test]
fn tables_are_looked_up() {
    let tables = [[0, 0], [7, P32 - 1], [P32 - 1, 7], [1, 0], [0, 1]];
    // every table with either bit
    let (all, bits) = ([tables, tables].concat(), |i: usize| u64::from(i >= tables.len()));
    for (n, how) in [2, 3, 4, 5, 8].into_iter().flat_map(|n| ALL.map(|how| (n, how))) {
        let ends = parties(n, P32, how, |mixed| {
            let (me, plain) = (mixed.session().me(), mixed.plain());
            let x = GmwBit::of((0..all.len()).map(|i| share(n, me, i, bits(i))));
            let found = mixed.look_up_pairs(&all, x)?;
            num::open(mixed.session(), plain, &found)
        });
        for end in ends {
            let opened = end.unwrap();
            let expected = all.iter().enumerate().map(|(i, table)| table[bits(i) as usize]);
            assert!(opened.iter().copied().eq(expected), "{n} {how:?}: {opened:?}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let misuse = |f: &(dyn Fn(&mut Mixed) -> Result<(), Abort> + Sync)| {
        let ends = parties(2, P32, None, f);
        assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{ends:?}");
    };
    let number = |mixed: &mut Mixed, x: &[usize]| {
        let x: Vec<GmwBit> = x.iter().map(|lanes| GmwBit::zero(*lanes)).collect();
        Convert::<Vec<GmwBit>, Num>::convert(mixed, x).map(drop)
    };
    misuse(&|mixed| mixed.look_up_pairs(&[[0, 1]], GmwBit::zero(2)).map(drop));
    misuse(&|mixed| mixed.look_up_pairs(&[[0, P32]], GmwBit::zero(1)).map(drop));
    misuse(&|mixed| mixed.look_up_pairs(&[], GmwBit::zero(1)).map(drop));
    misuse(&|mixed| number(mixed, &[1; 33]));
    misuse(&|mixed| number(mixed, &[2, 3]));
    misuse(&|mixed| number(mixed, &[]));
}

#[test]
fn openings_have_no_bits_beyond_the_last() {
    use divisi_core::testing::{Harness, party};
    let harness = Harness::new(2, &Agreed::new("mixed tests"));
    harness.change(party(1), party(2), "divisi_mixed::open/open.gather", 0, |body| body[1] |= 0x80);
    let ends = harness.act(|session| {
        let gmw = Gmw::new(session, SetupConfig::default())?;
        let mut mixed = Mixed::new(gmw, Modulus::new(P32).unwrap(), None, None)?;
        let _: Num = mixed.convert(vec![GmwBit::zero(11)])?;
        Ok(())
    });
    assert!(ends.iter().all(Result::is_err));
    assert!(matches!(&ends[1], Err(Abort::Network(Fault::Malformed { peer, .. })) if *peer == party(1)));
}

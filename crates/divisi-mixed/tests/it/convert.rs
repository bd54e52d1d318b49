//! Bits become numbers, and look up in public tables of size 2: among every number of parties, with random
//! bits of every form.

use crate::common;
use crate::common::{agreed, honest, plain, refused, ring, share};
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_core::Abort;
use divisi_core::testing::{Harness, party};
use divisi_field::zp::{Modulus, P16, P32};
use divisi_fuzz::repetitions;
use divisi_mixed::{Gmw, GmwBit, Mixed, num};
use divisi_net::Fault;
use divisi_ot::SetupConfig;

/// How random bits are made: by transfers, or in one of these forms.
const ALL: [Option<Form>; 4] = [None, Some(Form::LeanTree), Some(Form::LeanRing), Some(Form::Paper)];

fn parties<R: Send>(
    n: usize,
    p: u64,
    how: Option<Form>,
    act: impl Fn(&mut Mixed) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let small = |form| ring(Parameters::danger_insecure(Operation::Bits, form, n, p).unwrap());
    common::parties(n, Modulus::new(p).unwrap(), [how.map(small).as_ref(), None], act)
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
                let me = mixed.session().me().index();
                let bit = |i: usize| share(n, me, i, numbers[i / 32] >> (i % 32) & 1, 2);
                let x: Vec<GmwBit> =
                    (0..32).map(|j| GmwBit::of((0..7).map(|lane| bit(32 * lane + j)))).collect();
                mixed.prepare_bits(7 * 32)?;
                mixed.session().phase("online");
                let number = mixed.b2a(&x)?;
                let counts = mixed.session().meter().read().phases["online"];
                let plain = mixed.plain();
                Ok((num::open(mixed.session(), plain, &number)?, counts))
            });
            let ends = honest(ends);
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
    // the first and the last one are none that leave a bit as it is
    let tables = [[7, P32 - 1], [0, 0], [1, 0], [0, 1], [P32 - 1, 7]];
    // every table with either bit
    let (all, bits) = ([tables, tables].concat(), |i: usize| u64::from(i >= tables.len()));
    for (n, how) in [2, 3, 4, 5, 8].into_iter().flat_map(|n| ALL.map(|how| (n, how))) {
        let ends = parties(n, P32, how, |mixed| {
            let (me, plain) = (mixed.session().me().index(), mixed.plain());
            let x = GmwBit::of((0..all.len()).map(|i| share(n, me, i, bits(i), 2)));
            let found = mixed.lookup_pairs(&all, &x)?;
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
    for (pairs, lanes) in [(&[[0, 1]][..], 2), (&[[0, P32]], 1), (&[], 1)] {
        refused(parties(2, P32, None, |mixed| mixed.lookup_pairs(pairs, &GmwBit::zero(lanes)).map(drop)));
    }
    for lanes in [&[1; 33][..], &[2, 3], &[]] {
        refused(parties(2, P32, None, |mixed| {
            let bits: Vec<GmwBit> = lanes.iter().map(|lanes| GmwBit::zero(*lanes)).collect();
            mixed.b2a(&bits).map(drop)
        }));
    }
}

#[test]
fn openings_have_no_bits_beyond_the_last() {
    let harness = Harness::new(2, &agreed());
    harness.change(party(1), party(2), "divisi_mixed::open/open.gather", 0, |body| body[1] |= 0x80);
    let ends = harness.act(|session| {
        let gmw = Gmw::new(session, SetupConfig::default())?;
        let mut mixed = Mixed::new(gmw, plain(), None, None)?;
        mixed.b2a(&[GmwBit::zero(11)])?;
        Ok(())
    });
    assert!(ends.iter().all(Result::is_err));
    assert!(matches!(&ends[1], Err(Abort::Network(Fault::Malformed { peer, .. })) if *peer == party(1)));
}

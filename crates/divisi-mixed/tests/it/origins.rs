//! Shares that a session made cannot be used in another one: every function that takes shares refuses them,
//! before it sends anything.

use crate::common;
use crate::common::{honest, plain, product, small};
use divisi_bgv::parameters::{Form, Operation};
use divisi_core::testing::{party, run};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Boolean, Misuse, ProgramRun};
use divisi_field::zp::{Modulus, P16, P32};
use divisi_mixed::cot::b2a;
use divisi_mixed::table::Signs;
use divisi_mixed::{GmwBit, Mixed, Num, num};
use divisi_ot::{Setup, SetupConfig};
use std::sync::{Barrier, Mutex};

fn parties<R: Send>(act: impl Fn(&mut Mixed) -> Result<R, Abort> + Sync) -> Vec<Result<R, Abort>> {
    let ring = small(Operation::Triples, Form::LeanTree, 2);
    common::parties(2, plain(), [None, Some(&ring)], act)
}

/// A bit and a number that the session made.
fn made(mixed: &mut Mixed) -> Result<(GmwBit, Num), Abort> {
    let value = Some(GmwBit::of([1].into_iter())).filter(|_| mixed.session().me() == party(1));
    let bit = mixed.gmw().input(party(1), 1, value.as_ref())?;
    let number = mixed.multiply(&Num::zero(1), &Num::zero(1))?;
    Ok((bit, number))
}

/// A function that takes shares, applied to a bit and a number.
type Entry = fn(&mut Mixed, GmwBit, Num) -> Result<(), Abort>;

const ENTRIES: [(&str, Entry); 16] = [
    ("run", |mixed, bit, _| mixed.gmw().run(&mut [ProgramRun::new(&product(), vec![GmwBit::zero(1), bit])])),
    ("output", |mixed, bit, _| mixed.gmw().output(&[party(1)], &[GmwBit::zero(1), bit]).map(drop)),
    ("join and output", |mixed, bit, _| {
        let joined = mixed.gmw().join_bits(&[&GmwBit::zero(1), &bit]);
        mixed.gmw().output(&[party(1)], &[joined]).map(drop)
    }),
    ("B2A", |mixed, bit, _| mixed.b2a(&[GmwBit::zero(1), bit]).map(drop)),
    ("A2B", |mixed, _, number| mixed.a2b(&number).map(drop)),
    ("lookup", |mixed, bit, _| {
        let signs = mixed.prep_lut(1, 1)?;
        mixed.lookup(&[&[3, 4]], &[bit], signs).map(drop)
    }),
    ("lookup in a pair", |mixed, bit, _| mixed.lookup_pairs(&[[3, 4]], &bit).map(drop)),
    ("vectors", |mixed, _, number| {
        let signs = mixed.prep_lut(1, 1)?;
        let table = Num::join(&[&number, &Num::zero(1)]);
        mixed.lookup_vectors(&[Num::zero(2), table], &[GmwBit::zero(1)], signs).map(drop)
    }),
    ("private lookup", |mixed, _, number| {
        let signs = mixed.prep_lut(1, 1)?;
        let table = Num::join(&[&number, &Num::zero(1)]);
        mixed.lookup_private(&table, &[GmwBit::zero(1)], signs).map(drop)
    }),
    ("first factor", |mixed, _, number| mixed.multiply(&number, &Num::zero(1)).map(drop)),
    ("second factor", |mixed, _, number| mixed.multiply(&Num::zero(1), &number).map(drop)),
    ("matrices", |mixed, _, number| mixed.multiply_matrices([1; 3], &Num::zero(1), &number).map(drop)),
    ("products and A2B", |mixed, _, number| {
        mixed.multiply_and_a2b([&Num::zero(1), &Num::zero(1)], &number).map(drop)
    }),
    ("lookup of two bits", |mixed, bit, _| {
        let signs = mixed.prep_lut(2, 1)?;
        mixed.lookup(&[&[3, 4, 5, 6]], &[GmwBit::zero(1), bit], signs).map(drop)
    }),
    ("open", |mixed, _, number| {
        let plain = mixed.plain();
        num::open(mixed.session(), plain, &number.scale(plain, 2)).map(drop)
    }),
    ("open to one", |mixed, _, number| {
        let plain = mixed.plain();
        num::open_to(mixed.session(), plain, &[party(1)], &number.sum(plain)).map(drop)
    }),
];

#[test]
fn every_entry_refuses_what_another_session_made() {
    let ends = parties(|mixed| Ok((made(mixed)?, [mixed.prep_lut(1, 1)?, mixed.prep_lut(1, 1)?])));
    let (others, masks): (Vec<_>, Vec<[Signs; 2]>) = honest(ends).into_iter().unzip();
    for (name, entry) in ENTRIES {
        let all = Barrier::new(2);
        let ends = parties(|mixed| {
            // a session takes shares that it made itself, and shares that a caller brings
            let own = made(mixed).and_then(|(bit, number)| entry(mixed, bit, number));
            all.wait();
            assert!(own.is_ok(), "{name}: {own:?}");
            let (bit, number) = others[mixed.session().me().index()].clone();
            entry(mixed, bit, number)
        });
        let refused =
            |end: &Result<(), Abort>| matches!(end, Err(Abort::Misuse { what: Misuse::OtherSession, .. }));
        assert!(ends.iter().any(refused) && ends.iter().all(Result::is_err), "{name}: {ends:?}");
    }
    // random bits of another session, which are passed by value, are refused, too, not the first time only
    let masks = Mutex::new(masks.into_iter().map(Some).collect::<Vec<_>>());
    let all = Barrier::new(2);
    let ends = parties(|mixed| {
        let masks = masks.lock().unwrap()[mixed.session().me().index()].take().unwrap();
        // whoever refuses first would end the other one's set-up
        all.wait();
        assert!(masks.iter().all(|masks| !masks.is_empty()));
        Ok(masks.map(|mask| mixed.lookup(&[&[0, 1]], &[GmwBit::zero(1)], mask).map(drop)))
    });
    let refused = |end| matches!(end, &Err(Abort::Misuse { what: Misuse::OtherSession, .. }));
    assert!(ends.iter().flatten().flatten().all(refused) && ends.iter().all(Result::is_ok), "{ends:?}");
}

/// Neither does B2A by transfers alone, also where it converted bits before.
#[test]
fn bits_of_another_session_are_not_converted_by_transfers() {
    let bits = honest(parties(|mixed| Ok(made(mixed)?.0)));
    let all = Barrier::new(2);
    let ends = run(2, &common::agreed(), |mut session| {
        let mut setup = Setup::new(&mut session, SetupConfig::default())?;
        let bit = &bits[session.me().index()];
        let own = b2a(&mut session, &mut setup, plain(), &GmwBit::zero(1));
        // whoever refuses first would end the other one's conversion
        all.wait();
        assert!(own.is_ok(), "{own:?}");
        b2a(&mut session, &mut setup, plain(), bit).map(drop)
    });
    let refused = |end| matches!(end, &Err(Abort::Misuse { what: Misuse::OtherSession, .. }));
    assert!(ends.iter().any(refused) && ends.iter().all(Result::is_err), "{ends:?}");
}

/// A ring serves the operation and the modulus for which it was made.
#[test]
fn rings_for_something_else_make_no_session() {
    let [bits, triples] = [Operation::Bits, Operation::Triples].map(|of| small(of, Form::LeanTree, 2));
    let other = Modulus::new(P16).unwrap();
    for (plain, rings) in [
        (plain(), [Some(&triples), None]),
        (plain(), [None, Some(&bits)]),
        (plain(), [Some(&bits), Some(&bits)]),
        (other, [Some(&bits), None]),
        (other, [None, Some(&triples)]),
    ] {
        let ends = common::parties(2, plain, rings, |_| Ok(()));
        let refused = |end| matches!(end, &Err(Abort::Misuse { what: Misuse::KeyUnfit, .. }));
        assert!(ends.iter().any(refused) && ends.iter().all(Result::is_err), "{ends:?}");
    }
}

/// A mask below p does not hide a larger share: no function takes such a share, in whatever lane.
#[test]
fn every_entry_refuses_numbers_that_are_not_reduced() {
    const ENTRIES: [(&str, fn(&mut Mixed, Num) -> Result<(), Abort>); 8] = [
        ("A2B", |mixed, number| mixed.a2b(&number).map(drop)),
        ("private lookup", |mixed, number| {
            let signs = mixed.prep_lut(1, 1)?;
            mixed.lookup_private(&number, &[GmwBit::zero(1)], signs).map(drop)
        }),
        ("first factor", |mixed, number| mixed.multiply(&number, &Num::zero(2)).map(drop)),
        ("second factor", |mixed, number| mixed.multiply(&Num::zero(2), &number).map(drop)),
        ("matrices", |mixed, number| mixed.multiply_matrices([1, 2, 1], &Num::zero(2), &number).map(drop)),
        ("products and A2B", |mixed, number| {
            mixed.multiply_and_a2b([&Num::zero(1), &Num::zero(1)], &number).map(drop)
        }),
        ("open", |mixed, number| {
            let plain = mixed.plain();
            num::open(mixed.session(), plain, &number).map(drop)
        }),
        ("open to one", |mixed, number| {
            let plain = mixed.plain();
            num::open_to(mixed.session(), plain, &[party(2)], &number).map(drop)
        }),
    ];
    for (name, entry) in ENTRIES {
        for (shares, fits) in
            [([P32 - 1, 0], true), ([P32, 0], false), ([0, 2 * P32 + 5], false), ([0, u64::MAX], false)]
        {
            let ends = parties(|mixed| {
                let own = if mixed.session().me() == party(1) { shares } else { [0; 2] };
                entry(mixed, Num::new(WipedVec::from(&own[..])))
            });
            if fits {
                assert!(ends.iter().all(Result::is_ok), "{name}: {ends:?}");
            } else {
                assert!(matches!(ends[0], Err(Abort::Misuse { .. })), "{name}, {shares:?}: {ends:?}");
            }
        }
    }
}

/// Shares that are computed from shares of two sessions belong to no session.
#[test]
fn shares_of_two_sessions_do_not_meet() {
    let (others, plain) = (honest(parties(made)), plain());
    let ends = parties(|mixed| {
        let ((bit, number), me) = (made(mixed)?, mixed.session().me());
        let (other_bit, other) = &others[me.index()];
        assert!(number.add(plain, other).is_none() && number.sub(plain, other).is_none());
        assert!(number.add(plain, &Num::zero(1)).is_some());
        num::open(mixed.session(), plain, &Num::join(&[&number, &Num::zero(1)]))?;
        let joined = mixed.gmw().join_bits(&[&bit, other_bit]);
        assert!(matches!(mixed.gmw().output(&[me], &[joined]), Err(Abort::Misuse { .. })));
        Ok(())
    });
    // the party that refused first has ended the session for the other
    assert!(ends.iter().any(Result::is_ok), "{ends:?}");
    // a share is not taken as an input value
    let ends = parties(|mixed| {
        let (bit, _) = made(mixed)?;
        mixed.gmw().input(party(1), 1, Some(&bit)).map(drop)
    });
    assert!(matches!(ends[0], Err(Abort::Misuse { .. })));
}

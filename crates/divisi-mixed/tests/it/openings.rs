//! What is opened: of each operation as many values as it must open, and no more. If more is opened, outputs
//! stay right, so that the count alone tells.

use crate::common::{honest, parties, plain, product, small, with_keys};
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Keys, Sampler};
use divisi_core::testing::party;
use divisi_core::{Abort, Boolean, ProgramRun, Session};
use divisi_mixed::adders::{NumberAdder, cost};
use divisi_mixed::prep_lut::prep_lut_polysize;
use divisi_mixed::together::Asked;
use divisi_mixed::vectors::prep_lut_vectors;
use divisi_mixed::{GmwBit, Mixed, Num, num};

const LANES: usize = 5;

type Play = fn(&mut Mixed) -> Result<(), Abort>;

fn bits(count: usize) -> Vec<GmwBit> {
    vec![GmwBit::zero(LANES); count]
}

fn number() -> Num {
    Num::zero(LANES)
}

/// An operation, and how many values a lane of it opens: masked bits and numbers, and of each product both
/// masked factors.
fn operations() -> Vec<(&'static str, Play, usize)> {
    let a2b = 1 + 2 * cost(NumberAdder::default(), 32).0;
    vec![
        ("b2a", |mixed| mixed.b2a(&bits(3)).map(drop), 3),
        ("a2b", |mixed| mixed.a2b(&number()).map(drop), a2b),
        ("products", |mixed| mixed.multiply(&number(), &number()).map(drop), 2),
        (
            "matrices",
            |mixed| {
                let (x, y) = (Num::zero(3 * LANES), Num::zero(6));
                mixed.multiply_matrices([LANES, 3, 2], &x, &y).map(drop)
            },
            2 * 6,
        ),
        (
            "products and a2b",
            |mixed| mixed.multiply_and_a2b([&number(), &number()], &number()).map(drop),
            2 + a2b,
        ),
        (
            "lookups",
            |mixed| {
                let signs = mixed.prep_lut(2, LANES)?;
                mixed.lookup(&[&[1, 2, 3, 4], &[5, 6, 7, 8]], &bits(2), signs).map(drop)
            },
            2,
        ),
        ("lookups of pairs", |mixed| mixed.lookup_pairs(&[[1, 2]; LANES], &bits(1)[0]).map(drop), 1),
        (
            "lookups in private tables",
            |mixed| {
                let (tables, signs) = (Num::zero(4 * LANES), mixed.prep_lut(2, LANES)?);
                mixed.lookup_vectors(&[tables.clone(), tables], &bits(2), signs).map(drop)
            },
            2 + 2 * 2 * 3,
        ),
        (
            "requests",
            |mixed| {
                let [signs, more] = [mixed.prep_lut(1, LANES)?, mixed.prep_lut(2, LANES)?];
                let tables = vec![Num::zero(4 * LANES)];
                let asked = vec![
                    Asked::B2a(bits(4)),
                    Asked::PubTabLookup { tables: vec![&[1, 2]], index: bits(1), signs },
                    Asked::PriTabLookup { tables, index: bits(2), signs: more },
                ];
                mixed.ask(asked).map(drop)
            },
            4 + 1 + 2 + 2 * 3,
        ),
        (
            "products of bits",
            |mixed| {
                let program = product();
                mixed.gmw().run(&mut [ProgramRun::new(&program, bits(2))])
            },
            2,
        ),
        ("outputs", |mixed| mixed.gmw().output(&[party(1), party(2)], &bits(2)).map(drop), 2),
        ("numbers", |mixed| num::open(mixed.session(), plain(), &number()).map(drop), 1),
    ]
}

#[test]
fn no_operation_opens_more_than_it_must() {
    let (ring, operations) = (small(Operation::Triples, Form::LeanTree, 2), operations());
    let ends = honest(parties(2, plain(), [None, Some(&ring)], |mixed| {
        // whether a candidate for a mask is below p is opened, too, but ahead
        mixed.prepare_masks(2 * LANES)?;
        let mut opened = Vec::new();
        for (_, play, _) in &operations {
            let before = mixed.session().meter().read().openings;
            play(mixed)?;
            opened.push(mixed.session().meter().read().openings - before);
        }
        Ok(opened)
    }));
    for opened in ends {
        for ((name, _, of_lane), opened) in operations.iter().zip(opened) {
            assert_eq!(opened, (of_lane * LANES) as u64, "{name}");
        }
    }
}

/// How many values lookups open in tables that are masked under keys of their own.
fn in_tables(
    operation: Operation,
    play: impl Fn(&mut Session, &Keys, &mut Sampler) -> Result<(), Abort> + Sync,
) -> Vec<u64> {
    let ring = small(operation, Form::LeanTree, 2);
    honest(with_keys(&ring, |session, keys, sampler| {
        play(session, keys, sampler)?;
        Ok(session.meter().read().openings)
    }))
}

#[test]
fn lookups_in_masked_tables_open_the_indices_alone() {
    let tables = in_tables(Operation::PrivateTables, |session, keys, sampler| {
        let numbers = [Num::zero(4 * LANES), Num::zero(4 * LANES)];
        let masked = prep_lut_polysize(session, keys, sampler, 2, &numbers)?;
        masked.lookup_vectors(session, &bits(2)).map(drop)
    });
    let vectors = in_tables(Operation::VectorTables, |session, keys, sampler| {
        let masked = prep_lut_vectors(session, keys, sampler, &vec![[number(), number()]; LANES])?;
        masked.lookup(session, &bits(1)[0]).map(drop)
    });
    assert_eq!([tables, vectors], [[2 * LANES as u64; 2], [LANES as u64; 2]]);
}

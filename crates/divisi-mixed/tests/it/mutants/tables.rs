//! Masked private tables are used once, each under a mask of its own.

use super::opened;
use crate::common::{agreed, small};
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Keys, Sampler};
use divisi_core::Check;
use divisi_core::testing::{Harness, party};
use divisi_mixed::prep_lut::prep_lut_polysize;
use divisi_mixed::vectors::prep_lut_vectors;
use divisi_mixed::{GmwBit, Num};

const TABLES: usize = 64;
const WIDTH: usize = 4;

/// Lookups at indices that the first party alone knows: whether some opened bit tells the other party which
/// indices differ in it.
pub fn difference_of_indices(without: Option<Check>) -> bool {
    let ring = small(Operation::PrivateTables, Form::LeanRing, 2);
    let harness = Harness::without(2, &ring.parameters().describe(agreed()), without).patient();
    let seen = harness.recording(party(2));
    let index = |table: usize| (table * 11 + 5) % (1 << WIDTH);
    let ends = harness.act(|mut session| {
        let keys = Keys::generate(&mut session, &ring)?;
        let mut sampler = Sampler::new(&session);
        let zeros = Num::zero(TABLES << WIDTH);
        let tables = prep_lut_polysize(&mut session, &keys, &mut sampler, WIDTH, &[zeros])?;
        let own = u64::from(session.me() == party(1));
        let bit = |j: usize| GmwBit::of((0..TABLES).map(move |table| own * (index(table) >> j & 1) as u64));
        tables.lookup(&mut session, &(0..WIDTH).map(bit).collect::<Vec<GmwBit>>()).map(drop)
    });
    assert!(ends.iter().all(Result::is_ok));
    let told = opened(&seen, party(1), "divisi_mixed::open/open.tell", TABLES * WIDTH / 8).remove(0);
    let u = |table: usize| usize::from(told[table / 2] >> (4 * (table % 2)) & 15);
    let masks = |table: usize| u(table) ^ index(table);
    (0..WIDTH).any(|j| (1..TABLES).all(|table| (masks(table) ^ masks(0)) >> j & 1 == 0))
}

/// The same for tables of two vectors.
pub fn difference_of_indices_of_vectors(without: Option<Check>) -> bool {
    let ring = small(Operation::VectorTables, Form::LeanRing, 2);
    let harness = Harness::without(2, &ring.parameters().describe(agreed()), without).patient();
    let seen = harness.recording(party(2));
    let index = |table: usize| ((table * 11 + 5) / 3) & 1;
    let ends = harness.act(|mut session| {
        let keys = Keys::generate(&mut session, &ring)?;
        let mut sampler = Sampler::new(&session);
        let zeros = vec![[Num::zero(1), Num::zero(1)]; TABLES];
        let tables = prep_lut_vectors(&mut session, &keys, &mut sampler, &zeros)?;
        let own = u64::from(session.me() == party(1));
        let x = GmwBit::of((0..TABLES).map(move |table| own * index(table) as u64));
        tables.lookup(&mut session, &x).map(drop)
    });
    assert!(ends.iter().all(Result::is_ok));
    let told = opened(&seen, party(1), "divisi_mixed::open/open.tell", TABLES / 8).remove(0);
    let u = |table: usize| usize::from(told[table / 8] >> (table % 8) & 1);
    (1..TABLES).all(|table| u(table) ^ u(0) == index(table) ^ index(0))
}

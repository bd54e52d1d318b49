//! No bit of a mask is the same in all calls, nor is the sum of any two: not at the end of a list either.

use super::opened;
use crate::common::{agreed, plain, small};
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_core::testing::{Harness, party};
use divisi_core::{Abort, Session};
use divisi_mixed::prep_lut::prep_lut_polysize;
use divisi_mixed::vectors::prep_lut_vectors;
use divisi_mixed::{Gmw, GmwBit, Mixed, Num, num};
use divisi_ot::SetupConfig;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Two of 1,024 fair bits are the same in all of these calls, or each other's negation, with probability
/// 2^-44.
const CALLS: usize = 64;

/// What two parties open in each call, in which these bits of secrets that are zero are masked: each bit
/// takes both values, and so does the sum of each two.
fn vary<R>(
    bits: usize,
    ring: &Arc<Ring>,
    begin: impl Fn(Session) -> Result<R, Abort> + Sync,
    call: impl Fn(&mut R) -> Result<(), Abort> + Sync,
) {
    let harness = Harness::new(2, &ring.parameters().describe(agreed())).patient();
    let seen = harness.recording(party(2));
    let ends = harness.act(|session| {
        let mut state = begin(session)?;
        (0..CALLS).try_for_each(|_| call(&mut state))
    });
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let told = opened(&seen, party(1), "divisi_mixed::open/open.tell", bits.div_ceil(8));
    assert_eq!(told.len(), CALLS);
    let mut seen_in = BTreeSet::new();
    for at in 0..bits {
        let ones = told.iter().filter(|body| body[at / 8] >> (at % 8) & 1 == 1).count();
        assert!(ones > 0 && ones < CALLS, "bit {at} of {bits} never changes");
        let mut calls =
            told.iter().fold(0_u64, |calls, body| calls << 1 | u64::from(body[at / 8] >> (at % 8) & 1));
        if calls & 1 == 1 {
            calls = !calls;
        }
        assert!(seen_in.insert(calls), "bit {at} of {bits} follows another one");
    }
}

fn keyed(mut session: Session, ring: &Arc<Ring>) -> Result<(Session, Keys, Sampler), Abort> {
    let keys = Keys::generate(&mut session, ring)?;
    let sampler = Sampler::new(&session);
    Ok((session, keys, sampler))
}

#[test]
fn of_tables_that_nobody_knows() {
    let ring = small(Operation::PrivateTables, Form::LeanTree, 2);
    vary(
        15,
        &ring,
        |session| keyed(session, &ring),
        |(session, keys, sampler)| {
            let tables = prep_lut_polysize(session, keys, sampler, 3, &[Num::zero(5 << 3)])?;
            tables.lookup(session, &[0; 3].map(|_| GmwBit::zero(5))).map(drop)
        },
    );
}

#[test]
fn of_tables_of_vectors() {
    let ring = small(Operation::VectorTables, Form::LeanTree, 2);
    vary(
        5,
        &ring,
        |session| keyed(session, &ring),
        |(session, keys, sampler)| {
            let tables = vec![[Num::zero(1), Num::zero(1)]; 5];
            let tables = prep_lut_vectors(session, keys, sampler, &tables)?;
            tables.lookup(session, &GmwBit::zero(5)).map(drop)
        },
    );
}

#[test]
fn of_bits_by_ciphertexts() {
    let ring = small(Operation::Bits, Form::LeanTree, 2);
    let begin = |session: Session| {
        let gmw = Gmw::new(session, SetupConfig::default())?;
        Mixed::new(gmw, plain(), Some(&ring), None)
    };
    let all = ring.dimension();
    vary(all, &ring, begin, |mixed| mixed.b2a(&[GmwBit::zero(all)]).map(drop));
    // indices of public tables
    let table: Vec<u64> = (0..8).collect();
    vary(15, &ring, begin, |mixed| {
        let signs = mixed.prep_lut(3, 5)?;
        mixed.lookup(&[&table], &[0; 3].map(|_| GmwBit::zero(5)), signs).map(drop)
    });
    // more lookups than one ciphertext holds
    let table: Vec<u64> = (5..13).collect();
    let many = |session| {
        let mut mixed = begin(session)?;
        let signs = mixed.prep_lut(3, all)?;
        let found = mixed.lookup(&[&table], &[0; 3].map(|_| GmwBit::zero(all)), signs)?;
        num::open(mixed.session(), plain(), &found[0])
    };
    let harness = Harness::new(2, &ring.parameters().describe(agreed())).patient();
    let seen = harness.recording(party(2));
    for end in harness.act(many) {
        assert_eq!(end.unwrap(), vec![5; all]);
    }
    // and each has a mask of its own: no 21 that follow each other are those of others
    let told = opened(&seen, party(1), "divisi_mixed::open/open.tell", (3 * all).div_ceil(8)).remove(0);
    let bit = |at: usize| u64::from(told[at / 8] >> (at % 8) & 1);
    let masks = |first: usize| (0..63).fold(0, |masks, at| masks << 1 | bit(3 * first + at));
    let different: BTreeSet<u64> = (0..=all - 21).map(masks).collect();
    assert_eq!(different.len(), all - 20);
}

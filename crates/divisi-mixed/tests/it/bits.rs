//! Random bits in both worlds: right in every form, as many bytes and rounds as computed, checks counted.

use crate::common;
use crate::common::{agreed, honest, in_runs, ones, parties, refused, refused_for, ring, with_keys};
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_core::testing::run_waiting;
use divisi_core::{Counts, Misuse};
use divisi_field::zp::{P16, P32};
use divisi_mixed::arithmetic;
use divisi_mixed::checks;
use divisi_mixed::dabit::dabit;
use std::sync::Arc;
use std::time::Duration;

type Shares = Vec<(Vec<u64>, Vec<u64>)>;

/// Batches at every party, and what the meter counted for them.
fn batches(ring: &Arc<Ring>, count: usize) -> Vec<(Shares, Counts, u64)> {
    let agreed = ring.parameters().describe(agreed());
    // a hundred parties on one processor compute long
    let limit = Duration::from_secs(1200);
    let ends = run_waiting(ring.parameters().parties(), limit, &agreed, |mut session| {
        session.phase("setup");
        let keys = Keys::generate(&mut session, ring)?;
        let mut sampler = Sampler::new(&session);
        let mut all = Vec::new();
        session.phase("preprocessing");
        for _ in 0..count {
            // so that the meter has the rounds of the longest batch
            let place = session.aside();
            let (bits, numbers) = dabit(&mut session, &keys, &mut sampler)?.open();
            session.back(place);
            all.push((bits.to_vec(), numbers.to_vec()));
        }
        Ok((all, session.meter().read(), keys.decryptions()))
    });
    honest(ends)
}

fn judge(ring: &Ring, ends: &[(Shares, Counts, u64)], count: usize) {
    for batch in 0..count {
        let all: Vec<_> = ends.iter().map(|(all, ..)| (&all[batch].0[..], &all[batch].1[..])).collect();
        let (ones, n) = (ones(ring.parameters().plain(), &all), ring.dimension() as f64);
        assert!((ones as f64 - n / 2.0).abs() < 6.0 * n.sqrt() / 2.0, "{ones} ones");
    }
    // what all parties sent, and the most rounds
    let bytes: u64 = ends.iter().map(|(_, counts, _)| counts.phases["preprocessing"].bits / 8).sum();
    let report = ring.parameters().report();
    let items = (count * ring.dimension() * ends.len()) as f64;
    assert_eq!(bytes as f64 / items, report.bytes_per_item, "{} {}", report.form, report.parties);
    // and with frames
    let framed: u64 = ends.iter().map(|(_, counts, _)| counts.phases["preprocessing"].bytes).sum();
    assert!((bytes..bytes + bytes / 50).contains(&framed), "{framed} bytes in frames, not {bytes}");
    let rounds = ends.iter().map(|(_, counts, _)| counts.phases["preprocessing"].rounds).max().unwrap();
    assert_eq!(rounds as usize, report.rounds, "{} {}", report.form, report.parties);
}

fn small(form: Form, n: usize, plain: u64) -> Arc<Ring> {
    ring(Parameters::danger_insecure(Operation::Bits, form, n, plain).unwrap())
}

fn secure(form: Form, n: usize) -> Arc<Ring> {
    ring(Parameters::derive(Operation::Bits, form, n, P32).unwrap())
}

/// Demands that all parties have sent equally much, as after a batch in every role.
fn sent_alike(ends: &[(Shares, Counts, u64)], what: &str) {
    let sent: Vec<u64> = ends.iter().map(|(_, counts, _)| counts.phases["preprocessing"].bits).collect();
    assert!(sent.iter().all(|bits| *bits == sent[0]), "{what}: {sent:?}");
}

#[test]
fn bits_are_the_same_in_both_worlds() {
    for form in [Form::LeanTree, Form::LeanRing, Form::Paper] {
        for n in [2, 3, 4, 5, 8] {
            let ring = small(form, n, P32);
            let ends = batches(&ring, n);
            judge(&ring, &ends, n);
            sent_alike(&ends, &format!("{form:?} {n}"));
            // in n batches each has answered in all but one
            let hops = if form == Form::Paper { n as u64 - 1 } else { 0 };
            assert!(ends.iter().all(|(_, _, spent)| *spent == n as u64 - 1 + hops));
        }
    }
}

/// In the paper's form 5 (n - 1) polynomials a batch: a ciphertext from each party but the last to the next,
/// one from the last to all others, and an answer of each.
#[test]
fn polynomials_of_the_papers_form() {
    for n in [2, 3, 4, 8] {
        let ends = batches(&small(Form::Paper, n, P32), 2);
        let of = |step: &str| ends.iter().filter_map(|(_, counts, _)| counts.steps.get(step)).sum::<u64>();
        let pairs = ["divisi_mixed::circle/pass", "divisi_bgv::shares/e2a.ask"].map(of);
        let answers = of("divisi_bgv::shares/e2a.answer");
        assert_eq!(2 * (pairs[0] + pairs[1]) + answers, 2 * 5 * (n as u64 - 1), "{n} parties");
    }
}

/// If the chain has fewer levels than there are hops, ciphertexts are refreshed on the way. For every length
/// of a chain, the bytes and rounds are those of the parameters, and after n batches every party has made
/// equally many refreshes.
#[test]
fn bits_are_the_same_where_ciphertexts_are_refreshed() {
    for form in [Form::LeanRing, Form::Paper] {
        for n in [3, 4, 5] {
            for length in 1..n - 1 {
                let ring = in_runs(Operation::Bits, form, n, length);
                let (p, refreshes) = (ring.parameters(), (n - 1).div_ceil(length) - 1);
                assert!(p.bootstraps() == refreshes && p.report().bootstraps as usize == refreshes);
                let ends = batches(&ring, n);
                judge(&ring, &ends, n);
                sent_alike(&ends, &format!("{form:?} {n}"));
                let hops = if form == Form::Paper { n - 1 } else { 0 };
                for (_, counts, spent) in &ends {
                    assert_eq!(*spent as usize, (n - 1) * (1 + refreshes) + hops);
                    assert_eq!(counts.checks[&checks::G3] as usize, (n - 1) * refreshes);
                    assert_eq!(counts.checks[&checks::G13] as usize, n * refreshes);
                }
            }
        }
    }
}

/// Several batches at once, each on a strand, are the same as one after the other: they are right, take as
/// many rounds and bytes, and change roles from batch to batch.
#[test]
fn batches_at_once_are_right() {
    let (n, batches) = (3, 6);
    for (form, length) in [(Form::LeanTree, usize::MAX), (Form::LeanRing, 1), (Form::Paper, 1)] {
        let ring = in_runs(Operation::Bits, form, n, length);
        let ends = parties(n, ring.plain(), [Some(&ring), None], |mixed| {
            mixed.session().phase("preprocessing");
            // five bits less than six batches, which takes all six
            mixed.prepare_bits(batches * 1024 - 5)?;
            let counts = mixed.session().meter().read();
            let (bits, numbers) = mixed.take_bits(batches * 1024)?.open();
            let shares = bits.chunks(1024).zip(numbers.chunks(1024));
            let shares = shares.map(|(bits, numbers)| (bits.to_vec(), numbers.to_vec())).collect();
            Ok((shares, counts, mixed.decryptions()))
        });
        let ends: Vec<(Shares, Counts, u64)> = honest(ends);
        judge(&ring, &ends, batches);
        sent_alike(&ends, &format!("{form:?}"));
    }
}

/// The parameters of real sessions, with a hundred parties.
fn a_hundred(form: Form) {
    let ring = secure(form, 100);
    assert_eq!(ring.dimension(), 32768);
    assert_eq!(ring.parameters().bootstraps() > 0, form != Form::LeanTree);
    judge(&ring, &batches(&ring, 1), 1);
}

#[test]
#[ignore = "a hundred parties: a minute in a release build"]
fn a_hundred_parties_by_tree() {
    a_hundred(Form::LeanTree);
}

#[test]
#[ignore = "a hundred parties: two minutes in a release build"]
fn a_hundred_parties_by_ring_with_refreshes() {
    a_hundred(Form::LeanRing);
}

#[test]
#[ignore = "32 parties in a ring of 32768: a minute in a release build"]
fn the_papers_form_among_32_parties() {
    let ring = secure(Form::Paper, 32);
    assert!(ring.parameters().bootstraps() > 0);
    judge(&ring, &batches(&ring, 1), 1);
}

#[test]
fn the_other_prime_serves_too() {
    for form in [Form::LeanTree, Form::LeanRing] {
        let ring = small(form, 3, P16);
        judge(&ring, &batches(&ring, 2), 2);
    }
}

/// Checks by formula: in n batches around a ring, each party makes one hop and one answer in every batch but
/// one.
#[test]
fn checks_are_counted() {
    let n = 4;
    let ring = small(Form::LeanRing, n, P32);
    for (_, counts, _) in batches(&ring, n) {
        let of = |check| counts.checks.get(&check).copied().unwrap_or(0) as usize;
        assert_eq!((of(checks::G2), of(checks::G5)), (1, 1));
        assert_eq!((of(checks::G1), of(checks::G4), of(checks::G12)), (n - 1, n - 1, n - 1));
    }
}

/// The rings of real sessions.
#[test]
fn secure_rings_are_right() {
    for (form, n) in [(Form::LeanRing, 2), (Form::LeanTree, 4), (Form::Paper, 2)] {
        let ring = secure(form, n);
        judge(&ring, &batches(&ring, 1), 1);
    }
}

#[test]
fn keys_of_another_operation_are_refused() {
    let ring = common::small(Operation::Triples, Form::LeanTree, 2);
    refused(with_keys(&ring, |session, keys, sampler| {
        let mut call = || (Misuse::KeyUnfit, dabit(session, keys, sampler).map(drop));
        refused_for([call(), call()]);
        dabit(session, keys, sampler).map(drop)
    }));
    let ring = common::small(Operation::Bits, Form::LeanTree, 2);
    refused(with_keys(&ring, |session, keys, sampler| {
        let mut call = || (Misuse::KeyUnfit, arithmetic::triples(session, keys, sampler).map(drop));
        refused_for([call(), call()]);
        arithmetic::triples(session, keys, sampler).map(drop)
    }));
}

/// All of a party's own bits are fresh, because the others together know everything else.
#[test]
fn every_party_draws_all_its_bits() {
    let mut seen = std::collections::BTreeSet::new();
    for form in [Form::LeanTree, Form::LeanRing] {
        for (shares, ..) in batches(&small(form, 3, P32), 2) {
            for (bits, _) in shares {
                for part in bits.chunks(256) {
                    let ones = part.iter().sum::<u64>();
                    // within seven standard deviations of 128
                    assert!((72..184).contains(&ones), "{ones} of 256");
                }
                assert!(bits.chunks(64).all(|word| seen.insert(word.to_vec())), "64 bits twice");
            }
        }
    }
}

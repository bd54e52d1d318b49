//! Vectors and masks: fresh, used once, and the same at all parties.

use super::*;
use crate::common::are_fresh;
use divisi_core::PartyId;
use divisi_field::Gf64;
use divisi_rep3::adversary::blackbox::components_of_mask;
use divisi_rep3::checks;

/// A party's additive share of the product of two random bits is one in three of eight cases; with a share of
/// zero added, it is one in half of them.
#[test]
fn products_of_vectors_are_sent_under_a_mask() {
    const MANY: usize = 1 << 15;
    let harness = TrioHarness::default().patient();
    let seen = harness.recording(party(1));
    let results = harness.act(|trio| BlackBox::new(trio).rohv_rss(2, MANY).map(drop));
    assert!(results.iter().all(Result::is_ok));
    let sent = &seen.of(MessageDirection::In, PRODUCTS)[0].frame.body;
    let ones: u32 = sent.iter().map(|byte| byte.count_ones()).sum();
    let off = (f64::from(ones) - MANY as f64 / 2.0) / (MANY as f64 / 4.0).sqrt();
    assert!(sent.len() == MANY / 8 && off.abs() < 8.0, "{ones} of {MANY}");
}

/// Two lookups of one value by the two parts of a lot: what is opened has nothing in common.
#[test]
fn every_lookup_has_a_vector_of_its_own() {
    let harness = TrioHarness::default().patient();
    let recordings = [1, 2, 3].map(|p| harness.recording(party(p)));
    let results = harness.act(|trio| {
        let b = &mut BlackBox::new(trio);
        let x = b.public(&[Gf8(0x17); LANES])?;
        let [first, second] = b.rohv_rss(8, 2 * LANES)?.split(LANES).unwrap();
        let [third, fourth] = b.rohv_add(8, 2 * LANES)?.split(LANES).unwrap();
        for vectors in [first, second] {
            b.lookup(&table(), &x, vectors)?;
        }
        for vectors in [third, fourth] {
            b.lookup_additive(&table(), &x, vectors)?;
        }
        Ok(())
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let opened = |nth: usize| -> Vec<u8> {
        let mut c = vec![0; LANES];
        for recording in &recordings {
            let body = &recording.of(MessageDirection::Out, RECONST)[nth].frame.body;
            c.iter_mut().zip(body).for_each(|(c, x)| *c ^= x);
        }
        c
    };
    let all = [0, 1, 2, 3].map(opened);
    for (i, x) in all.iter().enumerate() {
        assert!(x[..8].iter().any(|c| *c != x[0]), "lookup {i}: one place for several lanes");
        for (j, y) in all.iter().enumerate().skip(i + 1) {
            // by chance in all of 20 lanes with probability 2^-160
            assert!(x != y, "lookups {i} and {j} opened the same");
        }
    }
}

/// A party that uses vectors of another call, others of the same call, or a table that differs in one bit of
/// one entry, is out of step: found when views are compared, before anything is verified.
#[test]
fn parties_agree_on_everything_about_a_lookup() {
    let entries: Vec<Gf64> = (0..256).map(|i| Gf64(i * 0x0101_0101_0101)).collect();
    let table = LookupTable::new(&entries).unwrap();
    let with = |at: usize, error: u64| {
        let mut entries = entries.clone();
        entries[at].0 ^= error;
        LookupTable::new(&entries).unwrap()
    };
    let tables = [with(255, 1), with(0, 1 << 40), with(128, 1 << 15), with(255, 1 << 41)];
    for alone in PartyId::all(3) {
        for otherwise in 0..6 {
            let results = TrioHarness::default().patient().act(|trio| {
                let b = &mut BlackBox::new(trio);
                let odd = b.me() == alone;
                let (first, second) = (b.rohv_rss(8, LANES)?, b.rohv_rss(8, LANES)?);
                match (otherwise, odd) {
                    (0, true) => b.sample(&table, second)?,
                    (1.., true) if otherwise < 5 => b.sample(&tables[otherwise - 1], first)?,
                    _ => b.sample(&table, first)?,
                };
                b.verify_recon().map(drop)
            });
            if otherwise == 5 {
                assert!(results.iter().all(Result::is_ok), "honest: {results:?}");
                continue;
            }
            assert!(results.iter().all(Result::is_err), "{otherwise}");
            assert!(results.iter().any(|r| failed_check(r) == Some(checks::A2)), "{otherwise} {results:?}");
        }
        // the second part of one lot where the others use the first
        let results = TrioHarness::default().patient().act(|trio| {
            let b = &mut BlackBox::new(trio);
            let [first, second] = b.rohv_rss(8, 2 * LANES)?.split(LANES).unwrap();
            let vectors = if b.me() == alone { second } else { first };
            b.sample(&table, vectors)?;
            b.verify_recon().map(drop)
        });
        assert!(results.iter().all(Result::is_err), "another part of a lot");
        assert!(results.iter().any(|r| failed_check(r) == Some(checks::A2)), "{results:?}");
    }
}

/// Both components that each party has of a mask are uniform, and so is the mask; masks and their lanes are
/// independent of one another.
#[test]
fn masks_are_fresh_and_nobody_knows_them() {
    const MANY: usize = 1 << 13;
    let results = TrioHarness::default().patient().act(|trio| {
        let b = &mut BlackBox::new(trio);
        Ok([b.mask::<Gf8>(MANY), b.mask(MANY)].map(|mask| components_of_mask(&mask)))
    });
    let bytes = |mask: [Vec<Gf8>; 2]| mask.map(|side| side.iter().map(|x| x.0).collect());
    let held: Vec<_> = results.into_iter().map(|masks| masks.unwrap().map(bytes).into()).collect();
    are_fresh(&held);
}

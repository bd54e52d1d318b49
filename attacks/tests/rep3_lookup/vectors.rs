//! Vectors that are wrong, or not the same at all parties.

use super::*;
use divisi_rep3::adversary::lookups::{PRODUCTS, skip_vectors};
use divisi_rep3::checks;

/// Errors in two products m_S m_T of a vector of 256 that would make up for one another if weights were
/// alike: of (S, T) and (T, S), of one S with two T, of two S with one T, and of four of a rectangle.
#[test]
fn wrong_products_of_two_monomials_do_not_cancel() {
    let plane = |low: usize, high: usize| 15 * (high - 1) + low - 1;
    let lies = [
        vec![plane(5, 7), plane(7, 5)],
        vec![plane(9, 11), plane(11, 9)],
        vec![plane(5, 7), plane(5, 13)],
        vec![plane(5, 7), plane(13, 7)],
        vec![plane(5, 7), plane(13, 11)],
        vec![plane(5, 7), plane(13, 7), plane(5, 11), plane(13, 11)],
    ];
    for (i, planes) in lies.iter().enumerate() {
        let corrupt = party(1 + (i % 3) as u8);
        let results = TrioHarness::default().patient().act(|trio| {
            let lies = trio.me() == corrupt;
            let mut e = Rep3::new(trio, Protocol::Lut256, Security::Malicious);
            if lies {
                let planes = planes.clone();
                e.trio().deviate(move |step: Step, share: &mut [u8]| {
                    if step.name == PRODUCTS[2] {
                        planes.iter().for_each(|plane| share[*plane] ^= 1);
                    }
                });
            }
            e.vectors(1, 1, 3).map(drop)
        });
        let honest = PartyId::all(3).filter(|p| *p != corrupt);
        assert!(honest.map(|p| &results[p.index()]).all(Result::is_err), "{planes:?}: {results:?}");
    }
}

/// One wrong product in the vectors of any of several layers that are made together, of any call of a
/// session, and of those that are made in idle time.
#[test]
fn a_wrong_vector_of_any_layer_is_never_used() {
    let mut jobs = Vec::new();
    for protocol in LOOKUPS {
        // 3 layers, 2 layers in a second call, 3 again in idle time
        jobs.extend((0..8).map(|nth| (protocol, nth)));
    }
    many(jobs.len(), 4, |i| {
        let (protocol, nth) = jobs[i];
        let corrupt = party(1 + (i % 3) as u8);
        let results = TrioHarness::default().patient().act(|trio| {
            let lies = trio.me() == corrupt;
            let mut e = Rep3::new(trio, protocol, Security::Malicious);
            if lies {
                let mut count = 0;
                e.trio().deviate(move |step: Step, share: &mut [u8]| {
                    if step.name == PRODUCTS[1] {
                        share[0] ^= u8::from(count == nth);
                        count += 1;
                    }
                });
            }
            e.prepare(3, 1, 5)?;
            let mut x = e.random_bytes(5)?;
            for _ in 0..3 {
                e.sbox(Direction::Encrypt, &mut [&mut x])?;
            }
            e.finish(&mut [&mut x])?;
            e.vectors(2, 1, 7)?;
            e.restock()?;
            // that vectors were made at all
            assert!(!e.lacks_stock());
            Ok(())
        });
        let honest = PartyId::all(3).filter(|p| *p != corrupt);
        assert!(honest.map(|p| &results[p.index()]).all(Result::is_err), "{protocol} {nth}: {results:?}");
    });
}

/// A party that is 256 vectors ahead of the others: noticed before anything is verified, and no garbage.
#[test]
fn a_party_that_is_many_vectors_ahead_is_an_abort() {
    const AHEAD: usize = 256;
    let protocol = Protocol::Lut16;
    let harness = TrioHarness::default().patient();
    let recordings = [1, 2, 3].map(|p| harness.recording(party(p)));
    let results = harness.act(|trio| {
        let me = trio.me();
        let mut e = Rep3::new(trio, protocol, Security::Malicious);
        let mut x = e.random_bytes(1)?;
        e.prepare(AHEAD + 1, 1, 1)?;
        if me == party(2) {
            (0..AHEAD).for_each(|_| skip_vectors(&mut e, 1, 1));
        }
        e.sbox(Direction::Encrypt, &mut [&mut x])?;
        let pending = e.close(vec![x]);
        settle(&mut e, pending).map(drop)
    });
    assert!(results.iter().all(Result::is_err), "{results:?}");
    assert!(results.iter().any(|r| failed_check(r) == Some(checks::A2)), "{results:?}");
    for recording in &recordings {
        assert!(coins_after(recording, opening(protocol)) == 0);
    }
}

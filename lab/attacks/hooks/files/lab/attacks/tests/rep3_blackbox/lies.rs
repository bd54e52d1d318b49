//! Lies that would make up for one another, or that stand where nobody looked.

use super::*;
use divisi_core::{PartyId, Step};
use divisi_rep3::Trio;

/// Flip these bits in the share of a step whose number is `nth`.
fn lie(trio: &mut Trio, step: &'static str, nth: impl Fn(usize) -> bool + Send + 'static, bits: Vec<usize>) {
    let mut count = 0;
    trio.deviate(move |now: Step, share: &mut [u8]| {
        if now.name == step {
            if nth(count) {
                bits.iter().for_each(|bit| share[bit / 8] ^= 1 << (bit % 8));
            }
            count += 1;
        }
    });
}

/// For each corrupt party, both honest parties end with an abort.
fn found(what: &str, f: impl Fn(Trio, bool) -> Result<(), Abort> + Sync) {
    for corrupt in PartyId::all(3) {
        let results = TrioHarness::default().patient().act(|trio| {
            let lies = trio.me() == corrupt;
            f(trio, lies)
        });
        for (p, result) in PartyId::all(3).zip(&results).filter(|(p, _)| *p != corrupt) {
            assert!(result.is_err(), "{what}: {p} was deceived");
        }
    }
}

#[test]
fn the_same_lie_in_two_lanes_is_found() {
    for lanes in [[0, 1], [3, 5], [0, 7], [8, 15], [7, 8], [2, 19]] {
        found(&format!("lanes {lanes:?}"), |mut trio, lies| {
            if lies {
                lie(&mut trio, RESHARE, |nth| nth == 0, lanes.map(|lane| 8 * lane).to_vec());
            }
            let b = &mut BlackBox::new(trio);
            let x = input(b)?;
            let xx = square(b, &x)?;
            b.output(&xx).map(drop)
        });
    }
}

#[test]
fn the_same_lie_in_two_statements_is_found() {
    found("two statements", |mut trio, lies| {
        if lies {
            lie(&mut trio, RESHARE, |nth| nth < 2, vec![8 * 4]);
        }
        let b = &mut BlackBox::new(trio);
        let x = input(b)?;
        let both = [square(b, &x)?, square(b, &x)?];
        let both = b.join(&both.each_ref())?;
        b.output(&both).map(drop)
    });
}

/// Of vectors of four bits: in the third message product (U, V) of vector l is bit `9 l + 3 (V - 1) + U - 1`.
#[test]
fn the_same_lie_in_two_products_or_vectors_is_found() {
    let bit = |l: usize, u: usize, v: usize| 9 * l + 3 * (v - 1) + u - 1;
    let lies = [
        vec![bit(0, 3, 3), bit(1, 3, 3)],
        vec![bit(0, 3, 1), bit(0, 1, 3)],
        vec![bit(0, 3, 1), bit(0, 3, 3)],
        vec![bit(2, 1, 3), bit(2, 3, 3)],
        vec![bit(2, 3, 3)],
    ];
    for bits in lies {
        found(&format!("{bits:?}"), |mut trio, lies| {
            if lies {
                lie(&mut trio, PRODUCTS, |nth| nth == 2, bits.clone());
            }
            let b = &mut BlackBox::new(trio);
            b.rohv_rss(4, 3)?;
            let recon = b.verify_recon()?;
            b.verify_mul(&recon).map(drop)
        });
    }
}

/// The products fill more than one piece, which is verified as soon as it is full: a lie in the first product
/// is found then.
#[test]
fn a_lie_in_a_full_piece_is_found() {
    let corrupt = party(2);
    let results = TrioHarness::default().patient().act(|mut trio| {
        if trio.me() == corrupt {
            lie(&mut trio, PRODUCTS, |nth| nth == 0, vec![0]);
        }
        let b = &mut BlackBox::new(trio);
        // what is owed holds much memory, and is few relations
        let vectors = b.rohv_rss(16, divisi_rep3::blackbox::PIECE as usize / 512)?;
        drop(vectors);
        let x = input(b)?;
        b.output(&x).map(drop)
    });
    assert!([0, 2].map(|p| &results[p]).into_iter().all(Result::is_err), "{results:?}");
}

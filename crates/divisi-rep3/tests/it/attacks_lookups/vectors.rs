//! One-hot vectors that are used twice, wrong, or not the same for everybody.

use super::*;
use divisi_rep3::adversary::compare::{chi_square, chi_square_limit};
use divisi_rep3::adversary::lookups::{PRODUCTS, look_up_again, opening, skip_vectors};

/// Two openings under one vector show the difference of what they open; under two they show nothing (1.26).
/// The types forbid it: `vectors_twice` in misuse/vectors.rs.
#[test]
fn a_vector_used_twice_would_show_a_difference_and_two_vectors_do_not() {
    const LANES: usize = 1 << 13;
    let x = vec![0x53; LANES];
    let y: Vec<u8> = (0..LANES).map(|l| (l % 7) as u8).collect();
    for protocol in LOOKUPS {
        let parts = deal_all(&[x.clone(), y.clone()]);
        // c of each of two lookups, lane by lane
        let opened = |values: [usize; 2], again: bool| {
            let harness = TrioHarness::default().patient();
            let recordings = harness.recordings();
            let results = harness.act(|mut trio| {
                let mine = &parts[trio.me().index()];
                let bytes = [trio.input(&mine[values[0]])?, trio.input(&mine[values[1]])?];
                let mut e = Rep3::new(trio, protocol, Security::Malicious);
                let vectors = e.vectors(2, 1, LANES)?;
                for (i, mut byte) in bytes.into_iter().enumerate() {
                    let vectors = &vectors[if again { 0 } else { i }];
                    look_up_again(&mut e, Direction::Encrypt, &mut [&mut byte], vectors)?;
                }
                Ok(())
            });
            assert!(results.iter().all(Result::is_ok), "{results:?}");
            let to_next = |p: PartyId| {
                recordings[p.index()].bodies(MessageDirection::Out, p.next(3), opening(protocol))
            };
            let shares = [PartyId::P1, PartyId::P2, PartyId::P3].map(to_next);
            [0, 1].map(|lookup| {
                let bodies = shares.each_ref().map(|sent| &sent[lookup]);
                let planes = bodies[0].len() / (LANES / 8);
                let bit = |l: usize, plane: usize| {
                    let at = (l / 512 * planes + plane) * 64 + l % 512 / 8;
                    bodies.iter().fold(0, |sum, body| sum ^ body[at]) >> (l % 8) & 1
                };
                (0..LANES).map(|l| (0..planes).fold(0, |c, p| c | bit(l, p) << p)).collect::<Vec<u8>>()
            })
        };
        let differences = |[a, b]: [Vec<u8>; 2]| -> Vec<u8> { a.iter().zip(b).map(|(a, b)| a ^ b).collect() };
        let uniform = |c: &[u8]| {
            let mut counts = vec![0; if protocol == Protocol::Lut16 { 16 } else { 256 }];
            c.iter().for_each(|c| counts[usize::from(*c)] += 1);
            chi_square(&counts) < chi_square_limit(counts.len() as f64 - 1.0)
        };
        let fresh = opened([0, 0], false);
        assert!(uniform(&fresh[0]) && uniform(&fresh[1]), "{protocol}");
        assert!(uniform(&differences(fresh)), "{protocol}");
        // the control: one vector twice, for one value and for two
        assert!(differences(opened([0, 0], true)).iter().all(|d| *d == 0), "{protocol}");
        let of_two = differences(opened([0, 1], true));
        assert!(!uniform(&of_two));
        if protocol != Protocol::Lut16 {
            assert!(of_two.iter().zip(&y).all(|(d, y)| *d == 0x53 ^ y), "{protocol}");
        }
    }
}

/// One wrong product of a one-hot vector, each in turn: nobody opens anything under it, everybody aborts.
#[test]
fn a_vector_with_one_wrong_product_is_never_used() {
    // how many products each step of making a vector has
    let products = [
        (Protocol::Lut16, [6, 5, 0]),
        (Protocol::Lut256Additive, [12, 10, 0]),
        (Protocol::Lut256, [12, 10, 225]),
    ];
    let mut jobs = Vec::new();
    for (protocol, steps) in products {
        for (step, n) in PRODUCTS.into_iter().zip(steps) {
            jobs.extend((0..n).map(|plane| (protocol, step, plane)));
        }
    }
    assert_eq!(jobs.len(), 11 + 22 + 247);
    many(jobs.len(), 4, |i| {
        let (protocol, at, plane) = jobs[i];
        let liar = party(1 + (i % 3) as u8);
        let harness = TrioHarness::default().patient();
        let recordings = harness.recordings();
        // three lanes: a byte a product
        harness.change(liar, liar.prev(3), at, 0, move |share| share[plane] ^= 1);
        let results = harness.act(|trio| {
            let mut e = Rep3::new(trio, protocol, Security::Malicious);
            let mut x = e.random_bytes(3)?;
            e.sbox(Direction::Encrypt, &mut [&mut x])?;
            e.settled(vec![x]).map(drop)
        });
        assert!(results.iter().all(Result::is_err), "{protocol} {at} {plane}: {results:?}");
        assert!(recordings.iter().all(|r| r.of(MessageDirection::Out, opening(protocol)).is_empty()));
    });
}

/// Parties that are not at the same vector: an abort, never garbage; and before the verification where the
/// engine takes the vectors (1.34).
#[test]
fn a_party_that_is_a_vector_ahead_is_an_abort() {
    for protocol in LOOKUPS {
        for odd in PartyId::all(3) {
            let harness = TrioHarness::default().patient();
            let recordings = harness.recordings();
            let results = harness.act(|trio| {
                let skips = trio.me() == odd;
                let mut e = Rep3::new(trio, protocol, Security::Malicious);
                let mut x = e.random_bytes(5)?;
                e.prepare(3, 1, 5)?;
                if skips {
                    skip_vectors(&mut e, 1, 5);
                }
                e.sbox(Direction::Encrypt, &mut [&mut x])?;
                e.sbox(Direction::Encrypt, &mut [&mut x])?;
                e.finish(&mut [&mut x])?;
                e.reveal(vec![x])
            });
            assert!(results.iter().all(Result::is_err), "{protocol}: {results:?}");
            assert!(results.iter().any(|r| matches!(failed_check(r), Some(checks::A2 | checks::A22))));
            let opened = |r: &&Recording| !r.of(MessageDirection::Out, opening(protocol)).is_empty();
            assert!(recordings.iter().filter(opened).all(|r| !verified_after(r, opening(protocol), 0)));
            // vectors in the caller's own order
            let results = TrioHarness::default().patient().act(|trio| {
                let skips = trio.me() == odd;
                let mut e = Rep3::new(trio, protocol, Security::Malicious);
                let mut x = e.random_bytes(5)?;
                let mut vectors = e.vectors(2, 1, 5)?;
                let vectors = vectors.swap_remove(usize::from(skips));
                e.sbox_with(Direction::Encrypt, &mut [&mut x], vectors)?;
                e.finish(&mut [&mut x])?;
                e.reveal(vec![x])
            });
            assert!(results.iter().all(Result::is_err), "{protocol}: {results:?}");
        }
    }
}

//! Products of shared vectors with shared numbers, tables of vectors, and what they refuse.

use crate::tools::*;
use divisi_bgv::checks;
use divisi_bgv::parameters::{BLOCK, FACTORS, Form, MOST_WEIGHT, Operation, Parameters};
use divisi_bgv::{Ciphertext, Keys, Ring, Sampler};
use divisi_core::testing::refused_for;
use divisi_core::wipe::WipedVec;
use divisi_core::{Misuse, Session};
use divisi_field::zp::P16;
use std::sync::Arc;

fn secure_of(n: usize) -> Arc<Ring> {
    let p = Parameters::derive(Operation::BlockProducts, Form::LeanTree, n, P16).unwrap();
    Arc::new(Ring::new(p).unwrap())
}

/// Two ciphertexts, with two products and one.
fn products(ring: &Arc<Ring>) {
    let (n, blocks, p) = (ring.dimension(), ring.parameters().blocks(), ring.parameters().plain());
    let parties = ring.parameters().parties();
    let share = |me: usize, at: u64| elements(me as u64 + 10 * at, p, n);
    // the factors of three products: numbers that the first party knows, and zeros
    let factor = |me: usize, at: u64| elements(me as u64 + 1000 * (at + 1), p, blocks);
    let ends = all(ring, |session, keys, sampler| {
        let me = session.me().index();
        let given = [0, 1].map(|at| WipedVec::from(&*share(me, at)));
        let x = keys.a2e_to_all(session, sampler, party(parties - 1), &given)?;
        let [first, second, third] = [0, 1, 2].map(|at| WipedVec::from(&*factor(me, at)));
        let factors = [vec![first, second], vec![third]];
        let out = keys.times_shares(session, sampler, party(0), &x, &factors)?;
        let counts = session.meter().read();
        assert_eq!(keys.decryptions(), if me == 0 { 0 } else { 3 });
        assert_eq!([checks::G1, checks::G13].map(|check| counts.checks[&check]), [1, 2]);
        Ok(out)
    });
    for (product, vector) in [(0, 0), (1, 0), (2, 1)] {
        let d = open(p, (0..parties).map(|me| share(me, vector)));
        let e = open(p, (0..parties).map(|me| factor(me, product as u64)));
        let found = open(p, ends.iter().map(|shares| &shares[product][..]));
        assert!((0..n).all(|i| found[i] == ring.plain().mul(d[i], e[i / BLOCK])), "{parties} {product}");
        // no product of a call has the shares of another one
        for (end, other) in ends.iter().flat_map(|end| (0..product).map(move |other| (end, other))) {
            let alike = end[product].iter().zip(end[other].iter()).filter(|(x, y)| x == y).count();
            assert!(alike < 12, "products {other} and {product} share {alike}");
        }
        // the shares of all parties are uniform
        for end in &ends {
            let low = end[product].iter().filter(|x| **x < p / 2).count() as f64;
            assert!((low - n as f64 / 2.0).abs() < 6.0 * (n as f64).sqrt() / 2.0);
        }
    }
}

#[test]
fn products_with_shares_are_right() {
    [2, 3, 8].into_iter().for_each(|n| products(&small_of(Operation::BlockProducts, Form::LeanTree, n, P16)));
    products(&small(Operation::BlockProducts, Form::LeanTree, 3));
    products(&secure_of(3));
}

/// The sizes and bytes that the documentation has: keys of garbling, and tables of vectors.
#[test]
fn sizes_of_vectors() {
    let of = |operation, n| Parameters::derive(operation, Form::LeanTree, n, P16).unwrap();
    for (n, bits, bytes) in [(3, 108.0, 23.0), (10, 110.0, 31.0), (32, 112.0, 35.0), (128, 116.0, 37.0)] {
        let p = of(Operation::BlockProducts, n);
        println!(
            "products {n}: N = {}, q of {:.1} bits, {:.1} bytes, first prime {:.1}",
            p.dimension(),
            p.log2_q(),
            p.report().bytes_per_item,
            (p.chain()[0] as f64).log2()
        );
        assert!(p.log2_q() <= bits && p.report().bytes_per_item <= bytes && p.dimension() <= 8192);
        assert!(p.special().is_none() && p.report().rounds == 5 && p.blocks() >= FACTORS);
    }
    for (n, bits, dimension) in [(3, 88.0, 4096), (16, 94.0, 4096), (128, 99.0, 4096)] {
        let p = of(Operation::VectorTables, n);
        println!("tables {n}: N = {}, q of {:.1} bits", p.dimension(), p.log2_q());
        assert!(p.log2_q() <= bits && p.dimension() == dimension && p.special().is_none());
    }
}

/// Each list of a call that comes to all has a polynomial of its own \[G13\]: with one for two of them, the
/// difference of what a party sends is that of its numbers.
#[test]
fn lists_have_polynomials_of_their_own() {
    let ring = small_of(Operation::BlockProducts, Form::LeanTree, 2, P16);
    let ends = all(&ring, |session, keys, sampler| {
        let mut made = Vec::new();
        for lists in [3, 2] {
            let zeros = vec![WipedVec::zeros(ring.dimension()); lists];
            made.extend(keys.a2e_to_all(session, sampler, party(1), &zeros)?);
        }
        Ok(made)
    });
    let seconds: Vec<&[u64]> = ends[0].iter().map(|x| x.components()[1].words()).collect();
    assert_eq!(seconds.len(), 5);
    for (i, x) in seconds.iter().enumerate() {
        assert!(seconds[..i].iter().all(|y| x.iter().zip(*y).filter(|(x, y)| x == y).count() < 10), "{i}");
    }
}

/// Every product adds an encryption of zero of its own \[G1\]: products with zeros, of one ciphertext, have
/// no word in common; nor do exchanges that change nothing.
#[test]
fn every_product_adds_a_zero_of_its_own() {
    let distinct = |ring: &Ring, made: &[Ciphertext]| {
        let components: Vec<&[u64]> = made.iter().flat_map(|x| x.components().map(|c| c.words())).collect();
        assert!(components.len() > 6 && components[0].len() >= ring.dimension());
        for (i, x) in components.iter().enumerate() {
            for y in &components[..i] {
                assert!(x.iter().zip(*y).filter(|(x, y)| x == y).count() < 4, "{i}");
            }
        }
    };
    let ring = small_of(Operation::BlockProducts, Form::LeanTree, 2, P16);
    let made = all(&ring, |session, keys, sampler| {
        let share = WipedVec::zeros(ring.dimension());
        let x = keys.a2e_to_all(session, sampler, party(0), &[share])?.remove(0);
        let zeros = WipedVec::zeros(ring.parameters().blocks());
        Ok([(); 3].map(|()| keys.product_with_shares(sampler, &x, &zeros)))
    });
    distinct(&ring, &made.concat());
    let ring = small_of(Operation::VectorTables, Form::LeanTree, 2, P16);
    let made = all(&ring, |session, keys, sampler| {
        let strands = [session.strand()?, session.strand()?, session.strand()?];
        let exchanged = |session: &Session| keys.keep_or_exchange(session, sampler, zero(&ring, 0), 0);
        [&*session].into_iter().chain(&strands).map(exchanged).collect::<Result<Vec<_>, _>>()
    });
    distinct(&ring, &made.concat());
}

/// Zero as a ciphertext with another factor.
fn with_factor(ring: &Ring, factor: u64) -> Ciphertext {
    let level = ring.parameters().top();
    let component = || ring.zero(ring.parameters().limbs(level), false);
    Keys::forge(level, factor, component(), component())
}

/// Every party refuses by itself products that do not fit, at each place of a list, after calls that all
/// accept.
#[test]
fn products_that_do_not_fit_are_refused_by_all() {
    let ring = small_of(Operation::BlockProducts, Form::LeanTree, 2, P16);
    let (n, top) = (ring.dimension(), ring.parameters().top());
    let one = |factors: &[u64]| vec![WipedVec::from(factors)];
    let times =
        |session: &mut Session, keys: &Keys, sampler: &mut Sampler, x: &[Ciphertext], factors: &[Vec<_>]| {
            keys.times_shares(session, sampler, party(0), x, factors).map(drop)
        };
    let accepted = |session: &mut Session, keys: &Keys, sampler: &mut Sampler| {
        let x = keys.a2e_to_all(session, sampler, party(0), &[WipedVec::zeros(n)])?;
        times(session, keys, sampler, &x, &[one(&[1])])
    };
    let foreign = all(&ring, |_, keys, _| Ok(keys.clone()));
    refused_after(&ring, accepted, |session, keys, sampler, ()| {
        let (x, theirs) = (zero(&ring, top), &foreign[session.me().index()]);
        // an encryption under the public key has more noise than one of shares
        let noisy = keys.encrypt(sampler, top, None);
        let both = [x.clone(), x.clone()];
        refused_for([
            (Misuse::OtherSession, times(session, theirs, sampler, &both[..1], &[one(&[1])])),
            (Misuse::CountsDiffer, times(session, keys, sampler, &both[..1], &[])),
            (Misuse::CountsDiffer, times(session, keys, sampler, &both[..1], &vec![one(&[1]); 257])),
            (Misuse::CountsDiffer, times(session, keys, sampler, &[], &[one(&[1])])),
        ]);
        let (fits, more) = (one(&[1]), vec![WipedVec::from(&[1][..]), WipedVec::from(&[][..])]);
        for (what, wrong) in [
            (Misuse::CountsDiffer, one(&[])),
            (Misuse::CountsDiffer, one(&[1, 1])),
            (Misuse::CountsDiffer, one(&[1; 257])),
            (Misuse::CountsDiffer, more),
            (Misuse::OutOfRange, one(&[P16])),
            (Misuse::OutOfRange, one(&[u64::MAX])),
        ] {
            refused_for([
                (what, times(session, keys, sampler, &both, &[wrong.clone(), fits.clone()])),
                (what, times(session, keys, sampler, &both, &[fits.clone(), wrong])),
            ]);
        }
        for (what, wrong) in [
            (Misuse::NoiseTooHigh, noisy),
            (Misuse::LevelUnfit, zero(&ring, 0)),
            (Misuse::LevelUnfit, with_factor(&ring, 2)),
            // one in eight bits
            (Misuse::LevelUnfit, with_factor(&ring, 257)),
        ] {
            let factors = [fits.clone(), fits.clone()];
            refused_for([
                (what, times(session, keys, sampler, &[wrong.clone(), x.clone()], &factors)),
                (what, times(session, keys, sampler, &[x.clone(), wrong], &factors)),
            ]);
        }
        let (right, mut large) = (WipedVec::zeros(n), WipedVec::zeros(n));
        large[n - 1] = P16;
        for (what, wrong) in [
            (Misuse::CountsDiffer, WipedVec::zeros(n - 1)),
            (Misuse::CountsDiffer, WipedVec::zeros(n + 256)),
            (Misuse::OutOfRange, large),
        ] {
            for shares in [[wrong.clone(), right.clone()], [right.clone(), wrong.clone()]] {
                let end = keys.a2e_to_all(session, sampler, party(0), &shares).map(drop);
                refused_for([(what, end)]);
            }
        }
        let end = theirs.a2e_to_all(session, sampler, party(0), &[right]).map(drop);
        refused_for([(Misuse::OtherSession, end)]);
        for _ in 0..2 {
            let end = keys.keep_or_exchange(session, sampler, zero(&ring, 0), 0).map(drop);
            refused_for([(Misuse::KeyUnfit, end)]);
        }
    });
}

#[test]
fn exchanges_that_do_not_fit_are_refused_by_all() {
    let ring = small_of(Operation::VectorTables, Form::LeanTree, 2, P16);
    let linear = small_of(Operation::Linear { weight: MOST_WEIGHT }, Form::LeanTree, 2, P16);
    let exchange = |session: &mut Session, keys: &Keys, sampler: &mut Sampler, x: &Ciphertext| {
        keys.keep_or_exchange(session, sampler, x.clone(), 1)
    };
    let accepted = |session: &mut Session, keys: &Keys, sampler: &mut Sampler| {
        exchange(session, keys, sampler, &zero(&ring, 0))
    };
    let foreign = all(&ring, |_, keys, _| Ok(keys.clone()));
    refused_after(&ring, accepted, |session, keys, sampler, x| {
        let theirs = &foreign[session.me().index()];
        let component = || ring.zero(ring.parameters().limbs(0), false);
        let above = Keys::forge(1, 1, component(), component());
        // more noise than these parameters plan, and no more than others do
        let mut noisy = x.clone();
        noisy.scale(&linear, session, PASS, 2).unwrap();
        // not the first time alone
        let x_alone = std::slice::from_ref(&x);
        let mut times = || keys.times_shares(session, sampler, party(0), x_alone, &[]).map(drop);
        refused_for([(Misuse::KeyUnfit, times()), (Misuse::KeyUnfit, times())]);
        refused_for([
            (Misuse::OtherSession, exchange(session, theirs, sampler, &x).map(drop)),
            (Misuse::LevelUnfit, exchange(session, keys, sampler, &above).map(drop)),
            (Misuse::NoiseTooHigh, exchange(session, keys, sampler, &noisy).map(drop)),
        ]);
    });
}

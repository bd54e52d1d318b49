//! Conversions, triples, and the counter of decryptions.

use crate::tools::*;
use divisi_bgv::checks;
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Ciphertext, Keys, Ring, Sampler, encode};
use divisi_core::testing::{failed_check, in_another, run};
use divisi_core::{Abort, Misuse, PartyId, PublicParameters as Agreed, Session, step};
use divisi_field::zp::{P16, P32, P62};
use std::collections::BTreeSet;
use std::sync::Arc;

/// a b = c on shares: two A2E, a product, E2A.
fn triples(ring: &Arc<Ring>) {
    let (n, p, parties) = (ring.dimension(), ring.parameters().plain(), ring.parameters().parties());
    for holder in [0, parties - 1] {
        let ends = all(ring, |session, keys, sampler| {
            let me = session.me().index() as u64;
            let (a, b) = (elements(me, p, n), elements(me + 50, p, n));
            let x = keys.a2e(session, sampler, party(holder), &a)?;
            let y = keys.a2e(session, sampler, party(holder), &b)?;
            let z = match (x, y) {
                (Some(x), Some(y)) => Some(x.times(keys, session, PASS, &y)?.switch(ring, 0)),
                _ => None,
            };
            let factor = Ciphertext::factor_after(ring, 1, ring.parameters().top(), 0);
            let c = keys.e2a(session, sampler, party(holder), z.as_ref(), factor)?;
            assert_eq!(keys.decryptions(), u64::from(session.me() != party(holder)));
            let counts = session.meter().read();
            assert_eq!([checks::G5, checks::G2, checks::G13].map(|check| counts.checks[&check]), [1, 1, 2]);
            Ok((a, b, c))
        });
        let a = open(p, ends.iter().map(|e| &e.0[..]));
        let b = open(p, ends.iter().map(|e| &e.1[..]));
        let c = open(p, ends.iter().map(|e| &e.2[..]));
        assert!((0..n).all(|i| c[i] == ring.plain().mul(a[i], b[i])));
        // the shares of all parties are uniform, those of the holder too
        for end in &ends {
            let low = end.2.iter().filter(|x| **x < p / 2).count() as f64;
            assert!((low - n as f64 / 2.0).abs() < 6.0 * (n as f64).sqrt() / 2.0);
        }
    }
}

#[test]
fn triples_are_right_in_the_small_ring() {
    [2, 3, 4, 5, 8].into_iter().for_each(|n| triples(&small(Operation::Triples, Form::LeanTree, n)));
    triples(&small_of(Operation::Triples, Form::LeanTree, 3, P16));
    [2, 5].into_iter().for_each(|n| triples(&small_of(Operation::Triples, Form::LeanTree, n, P62)));
}

#[test]
fn triples_are_right_in_a_secure_ring() {
    triples(&secure(Operation::Triples, Form::LeanTree, 3));
}

#[test]
fn what_is_shared_comes_back() {
    let ring = small(Operation::Triples, Form::LeanTree, 3);
    let p = ring.parameters().plain();
    let ends = all(&ring, |session, keys, sampler| {
        let share = elements(session.me().index() as u64 + 9, p, 1024);
        let x = keys.a2e(session, sampler, party(1), &share)?;
        // added to itself
        let twice = match x {
            Some(mut x) => {
                x.add(&ring, session, PASS, &x.clone())?;
                Some(x.switch(&ring, 0))
            }
            None => None,
        };
        let factor = Ciphertext::factor_after(&ring, 1, ring.parameters().top(), 0);
        let back = keys.e2a(session, sampler, party(1), twice.as_ref(), factor)?;
        Ok((share, back))
    });
    let before = open(p, ends.iter().map(|e| &e.0[..]));
    let after = open(p, ends.iter().map(|e| &e.1[..]));
    assert!(before.iter().zip(&after).all(|(x, y)| 2 * x % p == *y));
}

/// [G13]: the polynomial of an A2E does not return, however many there are in a session.
#[test]
fn common_polynomials_never_return() {
    let ring = small(Operation::Triples, Form::LeanTree, 2);
    let ends = all(&ring, |session, keys, sampler| {
        let mut seen = Vec::new();
        for call in 0..600 {
            let x = keys.a2e(session, sampler, party(call % 2), &vec![0; ring.dimension()])?;
            seen.extend(x.map(|x| x.components()[1].words()[..2].to_vec()));
        }
        Ok(seen)
    });
    let different: BTreeSet<&Vec<u64>> = ends.iter().flatten().collect();
    assert_eq!(different.len(), 600);
}

/// Nor do those of refreshes, nor the masks of answers.
#[test]
fn polynomials_and_masks_of_answers_never_return() {
    const CALLS: usize = 300;
    let ring = small(Operation::PrivateTables, Form::LeanTree, 2);
    let ends = all(&ring, |session, keys, sampler| {
        let (mut polynomials, mut masks) = (BTreeSet::new(), BTreeSet::new());
        for call in 0..CALLS {
            let zero = zero(&ring, 0);
            let held = |holder| Some(&zero).filter(|_| session.me() == party(holder));
            let [first, second] = [held(call % 2), held(1)];
            let x = keys.refresh(session, sampler, party(call % 2), first, 1, 1)?;
            polynomials.extend(x.map(|x| x.components()[1].words()[..2].to_vec()));
            masks.insert(keys.e2a(session, sampler, party(1), second, 1)?[..4].to_vec());
        }
        Ok([polynomials.len(), masks.len()])
    });
    assert_eq!(ends, [[CALLS / 2, CALLS]; 2]);
}

/// [G12]: in a session that may make three decryptions the fourth is not answered, in whatever strand.
#[test]
fn the_last_decryption_ends_the_session() {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let agreed = ring.parameters().describe(Agreed::new("bgv tests"));
    let ends = run(2, &agreed, |mut session| {
        let keys = Keys::limited(&mut session, &ring, 3)?;
        let top = ring.parameters().top();
        let factor = Ciphertext::factor_after(&ring, 1, top, 0);
        let mut others = [session.strand()?, session.strand()?, session.strand()?];
        for (i, strand) in [&mut session].into_iter().chain(&mut others).enumerate() {
            let mut sampler = Sampler::new(strand);
            let x = keys.encrypt(&mut sampler, top, None).switch(&ring, 0);
            let x = Some(&x).filter(|_| strand.me() == party(0));
            let before = keys.decryptions();
            let share = keys.e2a(strand, &mut sampler, party(0), x, factor);
            assert!(i < 3 || share.is_err());
            share?;
            assert!(strand.me() == party(0) || keys.decryptions() == before + 1);
        }
        Ok(())
    });
    assert_eq!(failed_check(&ends[1]), Some(checks::G12));
    assert!(ends[0].is_err());
}

/// [G12]: keys for a second operation come beside the first ones, and share their count. With keys that had a
/// count of their own, the session would answer twice as often.
#[test]
fn a_session_has_one_count_of_decryptions() {
    let kinds = [Operation::Bits, Operation::PrivateTables, Operation::Triples, Operation::Conversions];
    let rings = kinds.map(|operation| small(operation, Form::LeanTree, 2));
    for (i, first) in rings.iter().enumerate() {
        let other = &rings[(i + 1) % rings.len()];
        let ends = with_keys(first, |session, _, _| Keys::generate(session, other).map(drop));
        assert!(ends.iter().all(Result::is_err), "{i} {ends:?}");
        refused(ends);
    }
    all(&rings[0], |session, keys, sampler| {
        let mut strand = session.strand()?;
        for ring in &rings[1..] {
            let other = keys.beside(&mut strand, ring)?;
            let zero = zero(ring, 0);
            let held = Some(&zero).filter(|_| strand.me() == party(0));
            let before = keys.decryptions();
            other.e2a(&mut strand, sampler, party(0), held, 1)?;
            let made = before + u64::from(strand.me() != party(0));
            assert!(keys.decryptions() == made && other.decryptions() == made);
        }
        Ok(())
    });
}

/// Shares to a ciphertext and back, without a product in between: no relinearisation key is made.
#[test]
fn conversions_alone_need_no_relinearisation_key() {
    let made = |session: &Session| {
        let steps = session.meter().read().steps;
        steps.keys().filter(|step| step.contains("relinearise.")).count()
    };
    for ring in [
        small(Operation::Conversions, Form::LeanTree, 3),
        small(Operation::Conversions, Form::Paper, 2),
        secure(Operation::Conversions, Form::LeanTree, 2),
    ] {
        let (p, n) = (ring.parameters().plain(), ring.dimension());
        assert!(ring.parameters().top() == 0 && ring.parameters().special().is_none());
        let ends = all(&ring, |session, keys, sampler| {
            let share = elements(session.me().index() as u64 + 9, p, n);
            let x = keys.a2e(session, sampler, party(1), &share)?;
            let back = keys.e2a(session, sampler, party(1), x.as_ref(), 1)?;
            assert_eq!(made(session), 0);
            Ok((share, back.to_vec()))
        });
        let (before, after): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        assert_eq!(open(p, before), open(p, after));
    }
    // triples have one
    let ring = small(Operation::Triples, Form::LeanTree, 2);
    assert!(all(&ring, |session, _, _| Ok(made(session))).into_iter().all(|made| made > 0));
}

/// Flooded hops are counted with the answers of a session, over all strands \[G12\].
#[test]
fn flooded_hops_are_counted() {
    let ring = small(Operation::Bits, Form::Paper, 2);
    let (top, agreed) = (ring.parameters().top(), ring.parameters().describe(Agreed::new("bgv tests")));
    let ends = run(2, &agreed, |mut session| {
        let keys = Keys::limited(&mut session, &ring, 3)?;
        let others = [session.strand()?, session.strand()?, session.strand()?];
        for (i, strand) in [&session].into_iter().chain(&others).enumerate() {
            let mut sampler = Sampler::new(strand);
            let hop = keys.hop(strand, &mut sampler, zero(&ring, top), &vec![1; ring.dimension()]);
            assert_eq!(hop.is_ok(), i < 3);
            hop?;
        }
        Ok(())
    });
    assert!(ends.iter().any(|end| failed_check(end) == Some(checks::G12)) && ends.iter().all(Result::is_err));
}

/// Every hop adds an encryption of zero of its own: hops of zeros, with signs that are all 1, make
/// ciphertexts whose components have no word in common \[G1\].
#[test]
fn every_hop_adds_a_zero_of_its_own() {
    for form in [Form::LeanRing, Form::Paper] {
        let ring = small(Operation::Bits, form, 2);
        let top = ring.parameters().top();
        let ends = all(&ring, |session, keys, sampler| {
            let signs = vec![1; ring.dimension()];
            let strands = [session.strand()?, session.strand()?, session.strand()?];
            let hop = |session: &Session| keys.hop(session, sampler, zero(&ring, top), &signs);
            [&*session].into_iter().chain(&strands).map(hop).collect::<Result<Vec<_>, _>>()
        });
        let hops = ends.concat();
        let components: Vec<&[u64]> = hops.iter().flat_map(|x| x.components().map(|c| c.words())).collect();
        assert_eq!(components.len(), 2 * 2 * 4);
        for (i, x) in components.iter().enumerate() {
            for y in &components[..i] {
                assert!(x.iter().zip(*y).all(|(x, y)| x != y), "{form:?} {i}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    type Call<'a> = &'a (dyn Fn(&mut Session, &Keys, &mut Sampler) -> Result<(), Abort> + Sync);
    let misuse = |f: Call<'_>| refused(with_keys(&ring, f));
    // a second set of keys
    misuse(&|session, _, _| Keys::generate(session, &ring).map(drop));
    misuse(&|session, keys, _| keys.beside(session, &ring).map(drop));
    // keys of three beside those of two
    let of_three = small(Operation::Triples, Form::LeanTree, 3);
    misuse(&|session, keys, _| keys.beside(session, &of_three).map(drop));
    misuse(&|session, keys, sampler| keys.a2e(session, sampler, party(0), &[1; 7]).map(drop));
    for wide in [P32, P32 + 1, 1 << 63, u64::MAX] {
        for at in [0, 700, 1023] {
            let mut share = [P32 - 1; 1024];
            share[at] = wide;
            misuse(&|session, keys, sampler| keys.a2e(session, sampler, party(0), &share).map(drop));
        }
    }
    // a ciphertext of another level, or one whose factor is another one in any of its bytes; its noise alone
    // would be accepted
    for (level, wrong) in [(1, 0), (0, 1), (0, 1 << 8), (0, 1 << 24)] {
        misuse(&|session, keys, sampler| {
            let x = zero(&ring, level);
            let end = keys.e2a(session, sampler, session.me(), Some(&x), 1 ^ wrong).map(drop);
            assert!(matches!(end, Err(Abort::Misuse { what: Misuse::LevelUnfit, .. })), "{end:?}");
            end
        });
    }
    for (level, signs) in [(0, 1024), (1, 1000)] {
        misuse(&|session, keys, sampler| {
            // after one that fits
            keys.hop(session, sampler, zero(&ring, 1), &[1; 1024])?;
            let x = keys.encrypt(sampler, level, None);
            keys.hop(session, sampler, x, &vec![1; signs]).map(drop)
        });
    }
    misuse(&|session, keys, sampler| {
        let (x, y) = (keys.encrypt(sampler, 0, None), keys.encrypt(sampler, 1, None));
        let mut sum = y.clone();
        assert!(matches!(y.times(keys, session, step!("times"), &y), Err(Abort::Misuse { .. })));
        sum.add(&ring, session, step!("add"), &x)
    });
    // factors of two levels
    let of_products = small(Operation::Triples, Form::LeanTree, 2);
    refused(with_keys(&of_products, |session, keys, sampler| {
        let [x, y] = [0, 1].map(|level| keys.encrypt(sampler, level, None));
        y.times(keys, session, step!("times"), &x).map(drop)
    }));
    // a session of three with parameters for two
    let agreed = ring.parameters().describe(Agreed::new("bgv tests"));
    let ends = run(3, &agreed, |mut session| Keys::generate(&mut session, &ring).map(drop));
    assert!(ends.iter().all(Result::is_err));
}

/// Keys of another session are refused though its id begins as this one's does.
#[test]
fn keys_of_a_session_whose_id_begins_alike_are_refused() {
    let ring = small(Operation::Conversions, Form::LeanTree, 2);
    let agreed = ring.parameters().describe(Agreed::new("bgv tests"));
    let make = |session: &mut Session| Keys::generate(session, &ring);
    let ends = in_another(2, &agreed, make, |session, keys| {
        let mut sampler = Sampler::new(session);
        keys.a2e(session, &mut sampler, party(0), &vec![0; ring.dimension()]).map(drop)
    });
    let refused =
        |end: &Result<(), Abort>| matches!(end, Err(Abort::Misuse { what: Misuse::OtherSession, .. }));
    assert!(ends.iter().any(refused) && ends.iter().all(Result::is_err), "{ends:?}");
}

/// The decryption of a ciphertext with more noise than the steps of the parameters leave is refused: the
/// floods of the others would not hide the noise.
#[test]
fn noise_that_no_flood_hides_is_refused() {
    for form in [Form::LeanRing, Form::Paper] {
        let ring = small(Operation::Bits, form, 2);
        let p = ring.parameters();
        let factor = Ciphertext::factor_after(&ring, 1, p.top(), 0);
        let ones = encode::encode(&ring, &[1; 1024], p.limbs(0));
        // 0: as it is, 1: added to itself, 2: times a plaintext, 3: both parties' along a tree
        for what in 0..4 {
            let ends = with_keys(&ring, |session, keys, sampler| {
                let x = keys.encrypt(sampler, p.top(), None);
                let mut x = keys.hop(session, sampler, x, &[1; 1024])?;
                assert!(x.noise() <= p.noise_at(0) + 1e-6 && x.noise() > p.noise_at(0) - 0.5);
                match what {
                    1 => x.add(&ring, session, PASS, &x.clone())?,
                    2 => x.times_random_plain(&ring, &ones),
                    3 => {
                        let mine = x.clone();
                        x = mine.add_up(session, &ring, PASS, party(0))?.unwrap_or(x);
                    }
                    _ => {}
                }
                let asked = Some(&x).filter(|_| session.me() == party(0));
                let shares = keys.e2a(session, sampler, party(0), asked, factor);
                assert!(what == 0 || session.me() != party(0) || matches!(shares, Err(Abort::Misuse { .. })));
                shares.map(drop)
            });
            assert!(ends.iter().all(|end| end.is_ok() == (what == 0)), "{what} {ends:?}");
        }
    }
}

/// The roles rotate: any party may be the holder, and a ciphertext has the factor that the protocol says.
#[test]
fn any_party_holds() {
    let ring = small(Operation::Bits, Form::LeanRing, 3);
    let (p, top) = (ring.parameters().plain(), ring.parameters().top());
    let ends = all(&ring, |session, keys, sampler| {
        let mut shares = Vec::new();
        for holder in PartyId::all(3) {
            let slots = elements(holder.index() as u64, p, 1024);
            let plain = encode::coefficients(&ring, &slots);
            let x = keys.encrypt(sampler, top, Some(&plain)).switch(&ring, 0);
            let factor = Ciphertext::factor_after(&ring, 1, top, 0);
            assert_eq!(x.factor(), factor);
            let x = Some(&x).filter(|_| session.me() == holder);
            shares.push(keys.e2a(session, sampler, holder, x, factor)?);
        }
        Ok(shares)
    });
    for holder in 0..3 {
        let shares = open(p, ends.iter().map(|shares| &shares[holder][..]));
        assert_eq!(shares, elements(holder as u64, p, 1024));
    }
    assert_eq!(p, P32);
}

/// [M0.4]: parties with other parameters end before a secret exists.
#[test]
fn different_parameters_end_the_start() {
    let rings = [Form::LeanRing, Form::Paper].map(|form| small(Operation::Bits, form, 2));
    let agreed = |party: PartyId| rings[party.index()].parameters().describe(Agreed::new("bgv tests"));
    let ends = divisi_core::testing::run_over(divisi_net::memory::mesh(2), agreed, |_| Ok(()));
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Disagreement { .. }))));
    assert!(ends.iter().all(Result::is_err));
}

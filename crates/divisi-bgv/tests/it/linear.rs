//! Linear combinations of ciphertexts: the right sums, and the refusal of what weighs too much.

use crate::tools::*;
use divisi_bgv::parameters::noise::plus;
use divisi_bgv::parameters::{Form, MOST_WEIGHT, Operation, ParameterError, Parameters};
use divisi_bgv::{Ciphertext, Keys, Ring, Sampler};
use divisi_core::testing::refused_for;
use divisi_core::{Abort, Misuse, Session};
use divisi_field::zp::{P16, P32};
use std::sync::Arc;

const WEIGHT: Operation = Operation::Linear { weight: 1024 };

fn is_too_heavy<R>(end: &Result<R, Abort>) -> bool {
    matches!(end, Err(Abort::Misuse { what: Misuse::NoiseTooHigh, .. }))
}

/// An encryption of the parties' shares, at the first party.
fn given(
    ring: &Ring,
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    seed: u64,
) -> Result<Option<Ciphertext>, Abort> {
    let share = elements(seed + session.me().index() as u64, ring.parameters().plain(), ring.dimension());
    keys.a2e(session, sampler, party(0), &share)
}

/// What `combine` makes of two encryptions of shares, as the parties' shares say after E2A, is what
/// `expected` makes of the numbers.
fn combined(
    ring: &Arc<Ring>,
    combine: impl Fn(&Session, &mut Ciphertext, &Ciphertext) -> Result<(), Abort> + Sync,
    expected: impl Fn(u64, u64) -> u64,
) {
    let (n, p) = (ring.parameters().parties(), ring.parameters().plain());
    let ends = all(ring, |session, keys, sampler| {
        let (x, y) = (given(ring, session, keys, sampler, 0)?, given(ring, session, keys, sampler, 50)?);
        let mut sum = None;
        if let (Some(mut x), Some(y)) = (x, y) {
            combine(session, &mut x, &y)?;
            sum = Some(x);
        }
        Ok(keys.e2a(session, sampler, party(0), sum.as_ref(), 1)?.to_vec())
    });
    let of = |seed: u64| open(p, (0..n as u64).map(|me| elements(seed + me, p, ring.dimension())));
    let numbers: Vec<u64> = of(0).into_iter().zip(of(50)).map(|(x, y)| expected(x, y)).collect();
    assert!(open(p, ends) == numbers);
}

#[test]
fn combinations_are_right() {
    let ring = small(WEIGHT, Form::LeanTree, 3);
    let p = ring.plain();
    let addends = elements(77, P32, ring.dimension());
    combined(&ring, |session, x, y| x.add(&ring, session, PASS, y), |x, y| p.add(x, y));
    combined(&ring, |session, x, y| x.subtract(&ring, session, PASS, y), |x, y| p.sub(x, y));
    combined(&ring, |session, x, _| x.scale(&ring, session, PASS, 0), |_, _| 0);
    combined(&ring, |session, x, _| x.scale(&ring, session, PASS, -1024), |x, _| p.neg(p.mul(1024, x)));
    let five = vec![5; ring.dimension()];
    let affine = |session: &Session, x: &mut Ciphertext, y: &Ciphertext| {
        x.scale(&ring, session, PASS, 3)?;
        x.add_public(&ring, session, PASS, &five)?;
        let mut y = y.clone();
        y.add_public(&ring, session, PASS, &addends)?;
        y.subtract(&ring, session, PASS, &x.clone())?;
        *x = y;
        Ok::<_, Abort>(())
    };
    // y + a - (3 x + 5), at the slots where a is 0, 1 and p - 1
    let (n, plain) = (ring.parameters().parties(), ring.parameters().plain());
    let ends = all(&ring, |session, keys, sampler| {
        let (x, y) = (given(&ring, session, keys, sampler, 0)?, given(&ring, session, keys, sampler, 50)?);
        let mut sum = None;
        if let (Some(mut x), Some(y)) = (x, y) {
            affine(session, &mut x, &y)?;
            sum = Some(x);
        }
        Ok(keys.e2a(session, sampler, party(0), sum.as_ref(), 1)?.to_vec())
    });
    let of = |seed: u64| open(plain, (0..n as u64).map(|me| elements(seed + me, plain, ring.dimension())));
    let (x, y) = (of(0), of(50));
    let expected = (0..ring.dimension()).map(|i| p.sub(p.add(y[i], addends[i]), p.add(p.mul(3, x[i]), 5)));
    assert!(open(plain, ends) == expected.collect::<Vec<_>>());
    // in a ring that sessions have
    let ring = secure(WEIGHT, Form::LeanTree, 2);
    combined(
        &ring,
        |session, x, y| {
            x.scale(&ring, session, PASS, 1023)?;
            x.subtract(&ring, session, PASS, y)
        },
        |x, y| ring.plain().sub(ring.plain().mul(1023, x), y),
    );
}

/// Whatever weighs more than the parameters allow is refused by the call that makes it; what weighs as much
/// is not. Addends weigh as much as ciphertexts.
#[test]
fn what_weighs_too_much_is_refused() {
    let ring = small(WEIGHT, Form::LeanTree, 2);
    let addends = vec![1; ring.dimension()];
    all(&ring, |session, keys, sampler| {
        let Some(x) = given(&ring, session, keys, sampler, 3)? else { return Ok(()) };
        let times = |multiple: i64| {
            let mut y = x.clone();
            y.scale(&ring, session, PASS, multiple).map(|()| y)
        };
        assert!(times(1024).is_ok() && times(-1024).is_ok());
        for multiple in [1025, -1025, i64::from(MOST_WEIGHT), i64::from(MOST_WEIGHT) + 1, i64::MAX, i64::MIN]
        {
            assert!(is_too_heavy(&times(multiple)), "{multiple}");
        }
        // one after the other
        let mut sum = x.clone();
        for _ in 1..1024 {
            sum.add(&ring, session, PASS, &x)?;
        }
        let heavy = sum.noise();
        assert!(is_too_heavy(&sum.clone().add(&ring, session, PASS, &x)));
        assert!(is_too_heavy(&sum.clone().subtract(&ring, session, PASS, &x)));
        assert!(is_too_heavy(&sum.add_public(&ring, session, PASS, &addends)));
        assert!(is_too_heavy(&sum.scale(&ring, session, PASS, 2)));
        // a refusal changes nothing
        assert_eq!(sum.noise(), heavy);
        let mut almost = times(1023)?;
        almost.add_public(&ring, session, PASS, &addends)?;
        assert!(is_too_heavy(&almost.add_public(&ring, session, PASS, &addends)));
        let n = ring.dimension();
        let add = |addends: &[u64]| x.clone().add_public(&ring, session, PASS, addends);
        let with = |at: usize, addend: u64| {
            let mut addends = vec![1; n];
            addends[at] = addend;
            add(&addends)
        };
        refused_for([
            (Misuse::CountsDiffer, add(&[1; 7])),
            (Misuse::CountsDiffer, add(&vec![1; n + 256])),
            (Misuse::OutOfRange, with(0, P32)),
            (Misuse::OutOfRange, with(n - 1, P32)),
            (Misuse::OutOfRange, with(n / 2, u64::MAX)),
        ]);
        // of another level, or with other factors, one of which is the same in eight bits
        let other = |level: usize, factor: u64| {
            let component = || ring.zero(ring.parameters().limbs(0), false);
            Keys::forge(level, factor, component(), component())
        };
        for other in [other(1, x.factor()), other(0, x.factor() + 1), other(0, x.factor() + 256)] {
            refused_for([
                (Misuse::LevelUnfit, x.clone().add(&ring, session, PASS, &other)),
                (Misuse::LevelUnfit, x.clone().subtract(&ring, session, PASS, &other)),
            ]);
        }
        // above the bottom no flood has to hide the noise, but a multiple is below every prime there, too
        let mut above = other(1, x.factor());
        assert!(is_too_heavy(&above.scale(&ring, session, PASS, i64::from(MOST_WEIGHT) + 1)));
        above.scale(&ring, session, PASS, -i64::from(MOST_WEIGHT))?;
        Ok(())
    });
    // others allow no sum, whatever they plan for: conversions nothing, tables of vectors more than a sum has
    for operation in [Operation::Conversions, Operation::VectorTables] {
        let ring = small(operation, Form::LeanTree, 2);
        all(&ring, |session, keys, sampler| {
            let Some(x) = given(&ring, session, keys, sampler, 3)? else { return Ok(()) };
            assert!(is_too_heavy(&x.clone().add(&ring, session, PASS, &x)));
            assert!(is_too_heavy(&x.clone().scale(&ring, session, PASS, 2)));
            assert!(x.clone().scale(&ring, session, PASS, -1).is_ok());
            Ok(())
        });
    }
}

/// Above the bottom, too, sums and products count with the noise of both operands, whichever comes first.
#[test]
fn noise_of_both_operands_counts_above_the_bottom() {
    let ring = small(Operation::Triples, Form::LeanTree, 2);
    let (top, addends) = (ring.parameters().top(), vec![1; ring.dimension()]);
    all(&ring, |session, keys, sampler| {
        let x = keys.encrypt(sampler, top, None);
        let mut y = x.clone();
        y.scale(&ring, session, PASS, 4)?;
        assert!(top > 0 && (y.noise() - x.noise() - 2.0).abs() < 1e-9);
        for (one, other) in [(&x, &y), (&y, &x), (&x, &x)] {
            let (mut sum, mut difference) = (one.clone(), one.clone());
            sum.add(&ring, session, PASS, other)?;
            difference.subtract(&ring, session, PASS, other)?;
            let both = plus(x.noise(), other.noise().max(one.noise()));
            assert!((sum.noise() - both).abs() < 1e-9 && (difference.noise() - both).abs() < 1e-9);
            // a factor of four in one operand is one in the product
            let square = x.times(keys, session, PASS, &x)?.noise();
            let more = one.noise() + other.noise() - 2.0 * x.noise();
            let product = one.times(keys, session, PASS, other)?.noise();
            assert!((product - square - more).abs() < 0.5, "{product} {square} {more}");
            let mut public = one.clone();
            public.add_public(&ring, session, PASS, &addends)?;
            assert!(public.noise() > one.noise());
        }
        Ok(())
    });
}

/// What has more primes than the relinearisation key, if by one alone, is not multiplied.
#[test]
fn above_the_level_of_products_nothing_is_multiplied() {
    let ring = small(Operation::PrivateTables, Form::LeanTree, 2);
    let (p, top) = (ring.parameters(), ring.parameters().top());
    assert_eq!(p.limbs(top), p.limbs_of_products() + 1);
    let both = std::sync::Barrier::new(2);
    all(&ring, |session, keys, sampler| {
        let [above, below] = [top, top - 1].map(|level| keys.encrypt(sampler, level, None));
        below.times(keys, session, PASS, &below)?;
        both.wait();
        refused_for([
            (Misuse::LevelUnfit, above.times(keys, session, PASS, &above).map(drop)),
            // nor are factors of two levels
            (Misuse::LevelUnfit, below.times(keys, session, PASS, &above).map(drop)),
        ]);
        Ok(())
    });
}

/// A switch of the modulus takes no more from the bound on noise than the primes that it drops.
#[test]
fn a_switch_leaves_the_noise_that_is_above_its_rounding() {
    for operation in [Operation::Triples, Operation::PrivateTables] {
        let ring = small(operation, Form::LeanTree, 2);
        let p = ring.parameters();
        all(&ring, |session, keys, sampler| {
            for (top, level) in (1..=p.top()).flat_map(|top| (0..top).map(move |level| (top, level))) {
                let mut x = keys.encrypt(sampler, top, None);
                let dropped = p.limbs(level)..p.limbs(top);
                let bits: f64 = dropped.map(|limb| (ring.modulus(limb).get() as f64).log2()).sum();
                // some 30 bits remain, as if more had been multiplied before
                while x.noise() < bits + 30.0 {
                    x.scale(&ring, session, PASS, i64::from(MOST_WEIGHT))?;
                }
                let left = x.noise() - bits;
                let switched = x.switch(&ring, level).noise();
                assert!((left..left + 1.0).contains(&switched), "{top} {level}: {switched} of {left}");
            }
            Ok(())
        });
    }
}

/// In the paper's form a hop's flood hides the noise that is planned for its level. More is refused by the
/// hop, because nothing after it would notice: the flood is far larger. In the other forms nothing of a hop
/// rests on it.
#[test]
fn a_flooded_hop_refuses_noise_that_its_flood_does_not_hide() {
    for form in [Form::LeanRing, Form::Paper] {
        let ring = small(Operation::PrivateTables, form, 2);
        let (top, signs) = (ring.parameters().top(), vec![1; ring.dimension()]);
        // what is given to each hop, with more noise than that
        let accepted = |session: &mut Session, keys: &Keys, sampler: &mut Sampler| {
            let (mut x, mut noisy) = (keys.encrypt(sampler, top, None), Vec::new());
            for _ in 0..top {
                let mut more = x.clone();
                more.scale(&ring, session, PASS, i64::from(MOST_WEIGHT))?;
                noisy.push(more);
                x = keys.hop(session, sampler, x, &signs)?;
            }
            Ok(noisy)
        };
        if form == Form::Paper {
            refused_after(&ring, accepted, |session, keys, sampler, noisy| {
                let made = keys.decryptions();
                let hops = noisy.into_iter().map(|x| keys.hop(session, sampler, x, &signs).map(drop));
                hops.for_each(|hop| refused_for([(Misuse::NoiseTooHigh, hop)]));
                assert_eq!(keys.decryptions(), made, "what is refused is not counted");
            });
        } else {
            all(&ring, |session, keys, sampler| {
                let noisy = accepted(session, keys, sampler)?;
                noisy.into_iter().try_for_each(|x| keys.hop(session, sampler, x, &signs).map(drop))
            });
        }
    }
}

/// Ten bits for 1,024 summands: the next ring from six parties on.
#[test]
fn sizes_of_weights() {
    let of = |weight, n| Parameters::derive(Operation::Linear { weight }, Form::LeanTree, n, P32).unwrap();
    for n in [2, 3, 5, 6, 7, 8, 16, 64, 255] {
        let (one, sums) = (of(1, n), of(1024, n));
        let more = sums.log2_q() - one.log2_q();
        println!("{n}: {:.1} and {:.1} bits, N = {}", one.log2_q(), sums.log2_q(), sums.dimension());
        assert!((9.0..11.0).contains(&more), "{n}: {more:.1}");
        assert_eq!(sums.dimension(), if n < 6 { 4096 } else { 8192 }, "{n}");
        assert_eq!(sums.report().weight, Some(1024));
    }
    for weight in [0, MOST_WEIGHT + 1] {
        let refused = Parameters::derive(Operation::Linear { weight }, Form::LeanTree, 3, P32);
        assert_eq!(refused, Err(ParameterError::Weight));
    }
    // whose way to the decryption has no floods
    for operation in [Operation::BlockProducts, Operation::VectorTables] {
        let refused = Parameters::derive(operation, Form::Paper, 3, P16);
        assert_eq!(refused, Err(ParameterError::Form));
    }
    let widest = of(MOST_WEIGHT, 255);
    assert!(widest.fits() && widest.floods());
}

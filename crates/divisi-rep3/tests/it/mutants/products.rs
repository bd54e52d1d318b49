//! Lies about products over GF(2^128), and what the verification makes of them.

use super::until_the_last_coin;
use divisi_core::{Abort, Check};
use divisi_field::{Field, Gf128};
use divisi_rep3::adversary::adaptive::{
    H, Lies, MULTIPLY, RHO, SIGMA, Z_PRIME, adapt, coefficient, deceived, engine, multiplied,
    multiply_and_open, opened_sigma, point, right,
};
use divisi_rep3::adversary::harness::{MessageDirection, TrioHarness, party};
use divisi_rep3::deal;

const OPENED: &str = "divisi_rep3::open/open.bytes";

/// Party 2 adds an error to the `lane`-th product of a batch of `n`, and does the rest as told: whether an
/// honest party is deceived.
fn lie(harness: TrioHarness, n: usize, lane: usize) -> bool {
    let results = harness.act(|trio| {
        let corrupt = trio.me() == party(2);
        let mut e = engine(trio);
        if corrupt {
            e.trio().deviate(move |step: divisi_core::Step, share: &mut [u8]| {
                if step.name == MULTIPLY {
                    share[16 * lane] ^= 1;
                }
            });
        }
        multiply_and_open(&mut e, n)
    });
    deceived(&results, party(2))
}

pub fn lie_in_one_of_four(check: Option<Check>) -> bool {
    lie(TrioHarness::without(check), 4, 1)
}

pub fn lie_in_the_last(check: Option<Check>) -> bool {
    lie(TrioHarness::without(check), 3, 2)
}

/// A lie about a product, and a client that is to accept the answers: whether it accepts a wrong one.
pub fn lie_to_a_client(check: Option<Check>) -> bool {
    let results = TrioHarness::without(check).act(|trio| {
        let corrupt = trio.me() == party(3);
        let mut e = engine(trio);
        if corrupt {
            e.trio().deviate(|step: divisi_core::Step, share: &mut [u8]| {
                if step.name == MULTIPLY {
                    share[5] ^= 0x40;
                }
            });
        }
        let verified = multiplied(&mut e, 1)?;
        e.trio().answer(b"request 1", &verified)
    });
    let Ok(answers) = results.into_iter().collect::<Result<Vec<_>, Abort>>() else { return false };
    let answers: [divisi_rep3::open::Answer; 3] = answers.try_into().ok().unwrap();
    let opened = deal::combine(b"request 1", &answers);
    opened.is_ok_and(|bytes| !right(&bytes.chunks(3).map(<[u8]>::to_vec).collect::<Vec<_>>()))
}

/// A wrong component towards one party only.
pub fn false_component(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    harness.change(party(1), party(2), OPENED, 0, |body| body[0] ^= 1);
    let results = harness.act(|trio| multiply_and_open(&mut engine(trio), 1));
    deceived(&results, party(1))
}

/// Knowing t, a lie of z' cancels that of z: c d + t d' = 0.
pub fn known_t(check: Option<Check>) -> bool {
    let lies = || -> Lies {
        Box::new(|coins, step, share| match step {
            MULTIPLY => share[0] += Gf128(1),
            Z_PRIME => share[0] += coefficient(coins[0], 0),
            _ => {}
        })
    };
    let results = adapt(TrioHarness::without(check), lies, |e| multiply_and_open(e, 1));
    deceived(&results, party(1))
}

/// An honest party that got a false rho must not send its share of sigma.
pub fn false_rho(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    let honest = harness.recording(party(2));
    harness.change(party(1), party(2), RHO, 0, |body| body[0] ^= 1);
    let results = harness.act(|trio| multiply_and_open(&mut engine(trio), 1));
    assert!(results[1].is_err());
    !honest.of(MessageDirection::Out, SIGMA).is_empty()
}

/// Sigma tells the error only if the mask is missing.
pub fn bare_error(check: Option<Check>) -> bool {
    let error = Gf128(0x1234);
    let (sigma, c, _) = opened_sigma(TrioHarness::without(check), error).unwrap();
    sigma == c * error
}

/// Knowing the coefficients before the products, lies about two of them cancel: c_0 c_1 + c_1 c_0 = 0.
pub fn old_coefficients(check: Option<Check>) -> bool {
    let lies = || -> Lies {
        let mut batch = 0;
        Box::new(move |coins, step, share| {
            if step == MULTIPLY {
                batch += 1;
                if batch == 2 {
                    let c = [coefficient(coins[0], 0), coefficient(coins[0], 1)];
                    share[0] += c[1];
                    share[1] += c[0];
                }
            }
        })
    };
    let results = adapt(TrioHarness::without(check), lies, |e| {
        assert!(multiply_and_open(e, 2)?);
        multiply_and_open(e, 2)
    });
    assert!(check.is_some() || results[1..].iter().all(Result::is_err));
    deceived(&results, party(1))
}

/// Knowing the point r of a level before its h, a lie about h(inf) cancels the error e so far: e (1 + r) + (e
/// / r)(r + r^2) = 0.
pub fn known_point(check: Option<Check>) -> bool {
    let lies = || -> Lies {
        let mut level = 0;
        Box::new(move |coins, step, share| match step {
            MULTIPLY => share[0] += Gf128(1),
            H => {
                level += 1;
                if level == 2 {
                    let (c, r) = (coefficient(coins[0], 0), point(coins[1]));
                    share[1] += c * (Gf128::ONE + r) * r.inverse();
                }
            }
            _ => {}
        })
    };
    let results = adapt(TrioHarness::without(check), lies, |e| multiply_and_open(e, 4));
    deceived(&results, party(1))
}

/// Whether what an honest party sends before the abort reveals which product was wrong.
pub fn where_the_lie_is(check: Option<Check>) -> bool {
    let steps = |lane: usize| {
        let harness = TrioHarness::without(check);
        let honest = harness.recording(party(1));
        assert!(!lie(harness, 4, lane));
        until_the_last_coin(&honest)
    };
    steps(0) != steps(3)
}

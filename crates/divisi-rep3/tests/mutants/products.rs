//! Lies about products over GF(2^128), and what the verification makes of them.

use divisi_core::{Abort, Blocks, Check, Convert, PartyId, Verified, settle};
use divisi_field::{Field, Gf128};
use divisi_rep3::adversary::Deviate;
use divisi_rep3::adversary::stage::{Stage, Way, party};
use divisi_rep3::deal;
use divisi_rep3::{Byte, Protocol, Rep, Rep3, Security, Trio};

const MULTIPLY: &str = "divisi_rep3::engine/multiply";
const H: &str = "divisi_rep3::verify::inner_product/inner_product.11";
const Z_PRIME: &str = "divisi_rep3::verify::triple/triple.2";
const RHO: &str = "divisi_rep3::verify::triple/triple.4";
const SIGMA: &str = "divisi_rep3::verify::triple/triple.5";
const OPEN: &str = "divisi_rep3::verify::triple/triple.6";
const OPENED: &str = "divisi_rep3::open/open.bytes";

pub fn engine(trio: Trio) -> Rep3 {
    Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious)
}

/// Random x and y, their products, side by side: verified, to be opened.
fn multiplied(e: &mut Rep3, n: usize) -> Result<Verified<Vec<Byte>>, Abort> {
    let (x, y) = (e.random_blocks(n), e.random_blocks(n));
    let z = e.multiply(&x, &y)?;
    let all: Rep<Gf128> = e.join(&[&x, &y, &z]);
    let bytes: [Byte; 16] = e.convert(all)?;
    let pending = e.close(bytes.to_vec());
    settle(e, pending)
}

/// Whether opened columns of x, y, z are products.
fn right(columns: &[Vec<u8>]) -> bool {
    let lanes = columns[0].len();
    let block = |l: usize| Gf128::from_ghash(std::array::from_fn(|i| columns[i][l]));
    let n = lanes / 3;
    (0..n).all(|l| block(l) * block(n + l) == block(2 * n + l))
}

fn multiply_and_open(e: &mut Rep3, n: usize) -> Result<bool, Abort> {
    let verified = multiplied(e, n)?;
    Ok(right(&e.trio().open(&verified)?))
}

/// Whether an honest party took a wrong output.
fn deceived(results: &[Result<bool, Abort>], corrupt: PartyId) -> bool {
    PartyId::all(3).filter(|p| *p != corrupt).any(|p| results[p.index()] == Ok(false))
}

/// A party that lies by `error` about the `lane`-th product of the batch, and does the rest as told.
fn lie(stage: Stage, n: usize, lane: usize) -> bool {
    let results = stage.act(|trio| {
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
    lie(Stage::without(check), 4, 1)
}

pub fn lie_in_the_last(check: Option<Check>) -> bool {
    lie(Stage::without(check), 3, 2)
}

/// The same lie, and a client who is to take the answers.
pub fn lie_to_a_client(check: Option<Check>) -> bool {
    let results = Stage::without(check).act(|trio| {
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
        Ok(e.trio().answer(b"request 1", &verified))
    });
    let Ok(answers) = results.into_iter().collect::<Result<Vec<_>, Abort>>() else { return false };
    let answers: [divisi_rep3::open::Answer; 3] = answers.try_into().ok().unwrap();
    let opened = deal::combine(b"request 1", &answers);
    opened.is_ok_and(|bytes| !right(&bytes.chunks(3).map(<[u8]>::to_vec).collect::<Vec<_>>()))
}

/// A wrong component towards one party only.
pub fn false_component(check: Option<Check>) -> bool {
    let stage = Stage::without(check);
    stage.change(party(1), party(2), OPENED, 0, |body| body[0] ^= 1);
    let results = stage.act(|trio| multiply_and_open(&mut engine(trio), 1));
    deceived(&results, party(1))
}

/// What a party does that computes its lies from the coins.
struct Adaptive<F> {
    coins: Vec<u128>,
    lies: F,
}

impl<F: FnMut(&[u128], &str, &mut [Gf128]) + Send> Deviate for Adaptive<F> {
    fn reshare(&mut self, step: divisi_core::Step, share: &mut [u8]) {
        let mut elements: Vec<Gf128> =
            share.chunks(16).map(|x| Gf128(u128::from_le_bytes(x.try_into().unwrap()))).collect();
        (self.lies)(&self.coins, step.name, &mut elements);
        for (to, x) in share.chunks_mut(16).zip(&elements) {
            to.copy_from_slice(&x.0.to_le_bytes());
        }
    }

    fn coin(&mut self, coin: [u8; 16]) {
        self.coins.push(u128::from_le_bytes(coin));
    }
}

/// A party that adapts, from the parties' engines on.
fn adapt(
    stage: Stage,
    lies: impl Fn() -> Box<dyn FnMut(&[u128], &str, &mut [Gf128]) + Send> + Sync,
    f: impl Fn(&mut Rep3) -> Result<bool, Abort> + Sync,
) -> Vec<Result<bool, Abort>> {
    stage.act(|trio| {
        let corrupt = trio.me() == party(1);
        let mut e = engine(trio);
        if corrupt {
            e.trio().deviate(Adaptive { coins: Vec::new(), lies: lies() });
        }
        f(&mut e)
    })
}

/// The `i`-th element of a coin's expansion.
fn element(coin: u128, i: usize) -> Gf128 {
    Gf128(Trio::coefficients(coin.to_le_bytes(), i + 1)[i])
}

/// Knowing t, a lie of z' cancels that of z: c d + t d' = 0.
pub fn known_t(check: Option<Check>) -> bool {
    let lies = || -> Box<dyn FnMut(&[u128], &str, &mut [Gf128]) + Send> {
        Box::new(|coins, step, share| match step {
            MULTIPLY => share[0] += Gf128(1),
            Z_PRIME => share[0] += element(coins[0], 0),
            _ => {}
        })
    };
    let results = adapt(Stage::without(check), lies, |e| multiply_and_open(e, 1));
    deceived(&results, party(1))
}

/// An honest party that got a false rho must not send its share of sigma.
pub fn false_rho(check: Option<Check>) -> bool {
    let stage = Stage::without(check);
    let honest = stage.recording(party(2));
    stage.change(party(1), party(2), RHO, 0, |body| body[0] ^= 1);
    let results = stage.act(|trio| multiply_and_open(&mut engine(trio), 1));
    assert!(results[1].is_err());
    !honest.of(Way::Out, SIGMA).is_empty()
}

/// What the corrupt party sees opened as sigma, when it lied by 1 about one product, beside what its error was.
pub fn opened_sigma(check: Option<Check>, error: u128) -> Option<(Gf128, Gf128)> {
    let stage = Stage::without(check);
    let seen = stage.recording(party(1));
    let coin = std::sync::Arc::new(std::sync::Mutex::new(None));
    let first = coin.clone();
    adapt(
        stage,
        || {
            let first = first.clone();
            Box::new(move |coins, step, share| {
                if step == MULTIPLY {
                    share[0] += Gf128(error);
                }
                if step == SIGMA {
                    *first.lock().unwrap() = Some(coins[0]);
                }
            })
        },
        |e| multiply_and_open(e, 1),
    );
    let one = |way, step, peer: PartyId| {
        let found = seen.of(way, step).into_iter().find(|s| s.peer == peer)?;
        Some(Gf128(u128::from_le_bytes(found.frame.body.try_into().ok()?)))
    };
    let sigma =
        one(Way::Out, OPEN, party(2))? + one(Way::In, SIGMA, party(2))? + one(Way::In, OPEN, party(3))?;
    let coin = (*coin.lock().unwrap())?;
    Some((sigma, element(coin, 0) * Gf128(error)))
}

/// Sigma tells the error only if the mask is missing.
pub fn bare_error(check: Option<Check>) -> bool {
    let (sigma, error) = opened_sigma(check, 0x1234).unwrap();
    sigma == error
}

/// Knowing the coefficients before the products, lies about two of them cancel: c_0 c_1 + c_1 c_0 = 0.
pub fn old_coefficients(check: Option<Check>) -> bool {
    let lies = || -> Box<dyn FnMut(&[u128], &str, &mut [Gf128]) + Send> {
        let mut batch = 0;
        Box::new(move |coins, step, share| {
            if step == MULTIPLY {
                batch += 1;
                if batch == 2 {
                    let c = [element(coins[0], 0), element(coins[0], 1)];
                    share[0] += c[1];
                    share[1] += c[0];
                }
            }
        })
    };
    let results = adapt(Stage::without(check), lies, |e| {
        assert!(multiply_and_open(e, 2)?);
        multiply_and_open(e, 2)
    });
    assert!(check.is_some() || results[1..].iter().all(Result::is_err));
    deceived(&results, party(1))
}

/// Knowing the point r of a level before its h, a lie about h(inf) cancels the error e so far: e (1 + r) + (e / r)(r + r^2) = 0.
pub fn known_point(check: Option<Check>) -> bool {
    let lies = || -> Box<dyn FnMut(&[u128], &str, &mut [Gf128]) + Send> {
        let mut level = 0;
        Box::new(move |coins, step, share| match step {
            MULTIPLY => share[0] += Gf128(1),
            H => {
                level += 1;
                if level == 2 {
                    let (c, r) = (element(coins[0], 0), element(coins[1], 0));
                    share[1] += c * (Gf128::ONE + r) * r.inverse();
                }
            }
            _ => {}
        })
    };
    let results = adapt(Stage::without(check), lies, |e| multiply_and_open(e, 4));
    deceived(&results, party(1))
}

/// Whether what an honest party sends before the abort tells which product was wrong.
pub fn where_the_lie_is(check: Option<Check>) -> bool {
    let steps = |lane: usize| {
        let stage = Stage::without(check);
        let honest = stage.recording(party(1));
        assert!(!lie(stage, 4, lane));
        let sent = honest.read().into_iter().filter(|s| s.way == Way::Out);
        sent.map(|s| (s.frame.step, s.frame.body.len())).collect::<Vec<_>>()
    };
    steps(0) != steps(3)
}

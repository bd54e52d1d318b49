//! A party that computes its lies from the coins it has seen: about products over GF(2^128), or about
//! anything.

use super::Deviate;
use super::harness::{MessageDirection, Recording, TrioHarness, party};
use crate::{Block, Byte, Protocol, Rep3, Security, Trio};
use divisi_core::{Abort, Blocks, Convert, PartyId, Step, Verified, settle};
use divisi_field::{BigField, Field, Gf128};
use std::sync::{Arc, Mutex, PoisonError};

/// The step of a product.
pub const MULTIPLY: &str = "divisi_rep3::engine::blocks/multiply";
/// h(1) and h(inf) of a level.
pub const H: &str = "divisi_rep3::verify::inner_product/inner_product.11";
/// z' of CheckTriple.
pub const Z_PRIME: &str = "divisi_rep3::verify::triple/triple.2";
/// The opening of rho.
pub const RHO: &str = "divisi_rep3::verify::triple/triple.4";
/// The product that masks the error.
pub const SIGMA: &str = "divisi_rep3::verify::triple/triple.5";
/// The opening of sigma.
pub const OPEN: &str = "divisi_rep3::verify::triple/triple.6";

/// Lies: given the coins so far and a step, change the share.
pub type Lies = Box<dyn FnMut(&[[u8; 16]], &str, &mut [Gf128]) + Send>;

/// A party that computes its lies from the coins it has seen.
pub struct Adaptive<F> {
    coins: Vec<[u8; 16]>,
    lies: F,
}

impl<F: FnMut(&[[u8; 16]], &str, &mut [u8]) + Send> Adaptive<F> {
    /// A party with these lies about shares as they are sent.
    pub fn new(lies: F) -> Adaptive<F> {
        Adaptive { coins: Vec::new(), lies }
    }
}

/// A lie about elements of GF(2^128), in messages whose shares are such elements.
pub fn about_elements(mut lies: Lies) -> impl FnMut(&[[u8; 16]], &str, &mut [u8]) + Send {
    move |coins, step, share| {
        let Some(mut elements) = crate::wire::read_elements::<Gf128>(share, share.len() / 16) else { return };
        lies(coins, step, &mut elements);
        share.copy_from_slice(&crate::wire::write_elements(&elements));
    }
}

impl<F: FnMut(&[[u8; 16]], &str, &mut [u8]) + Send> Deviate for Adaptive<F> {
    fn reshare(&mut self, step: Step, share: &mut [u8]) {
        (self.lies)(&self.coins, step.name, share);
    }

    fn coin(&mut self, coin: [u8; 16]) {
        self.coins.push(coin);
    }
}

/// The point of a level, by its coin.
#[must_use]
pub fn point(coin: [u8; 16]) -> Gf128 {
    Gf128::from_uniform(coin)
}

/// The coefficient of the `i`-th product, by the first coin.
#[must_use]
pub fn coefficient(coin: [u8; 16], i: usize) -> Gf128 {
    let mut out = vec![Gf128::ZERO; i + 1];
    crate::coin::next_elements(&mut divisi_core::Prg::new(&coin), &mut out);
    out[i]
}

/// An engine with active security.
#[must_use]
pub fn engine(trio: Trio) -> Rep3 {
    Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious)
}

/// Random x and y and their products, side by side: verified, to be opened.
///
/// # Errors
/// The abort that ends the session.
pub fn multiplied(e: &mut Rep3, n: usize) -> Result<Verified<Vec<Byte>>, Abort> {
    let (x, y) = (e.random_blocks(n), e.random_blocks(n));
    let z = e.multiply(&x, &y)?;
    let all: Block = e.join(&[&x, &y, &z]);
    let bytes: [Byte; 16] = e.convert(all)?;
    let pending = e.close(bytes.to_vec());
    settle(e, pending)
}

/// Whether opened columns of x, y, z are products.
#[must_use]
pub fn right(columns: &[Vec<u8>]) -> bool {
    let n = columns[0].len() / 3;
    let block = |l: usize| Gf128::from_ghash(std::array::from_fn(|i| columns[i][l]));
    (0..n).all(|l| block(l) * block(n + l) == block(2 * n + l))
}

/// `n` products of random values, opened: whether they are right.
///
/// # Errors
/// The abort that ends the session.
pub fn multiply_and_open(e: &mut Rep3, n: usize) -> Result<bool, Abort> {
    let verified = multiplied(e, n)?;
    Ok(right(&e.trio().open(&verified)?))
}

/// Run `f` with a corrupt party 1 that tells these lies.
pub fn adapt(
    harness: TrioHarness,
    lies: impl Fn() -> Lies + Sync,
    f: impl Fn(&mut Rep3) -> Result<bool, Abort> + Sync,
) -> Vec<Result<bool, Abort>> {
    harness.act(|trio| {
        let corrupt = trio.me() == party(1);
        let mut e = engine(trio);
        if corrupt {
            e.trio().deviate(Adaptive::new(about_elements(lies())));
        }
        f(&mut e)
    })
}

/// Whether an honest party took a wrong output.
#[must_use]
pub fn deceived(results: &[Result<bool, Abort>], corrupt: PartyId) -> bool {
    PartyId::all(3).filter(|p| *p != corrupt).any(|p| results[p.index()] == Ok(false))
}

/// What party 1 sees opened as sigma when it adds `error` to one product: sigma, the coefficient that the
/// error was multiplied by, and how the run ended. `None` if the run did not come so far.
pub fn opened_sigma(harness: TrioHarness, error: Gf128) -> Option<(Gf128, Gf128, Vec<Result<bool, Abort>>)> {
    let seen = harness.recording(party(1));
    let first = Arc::new(Mutex::new(None));
    let noted = first.clone();
    let results = adapt(
        harness,
        || {
            let noted = noted.clone();
            Box::new(move |coins, step, share| match step {
                MULTIPLY => share[0] += error,
                SIGMA => *noted.lock().unwrap_or_else(PoisonError::into_inner) = coins.first().copied(),
                _ => {}
            })
        },
        |e| multiply_and_open(e, 1),
    );
    // its own component, the one it holds with the next, and the one that was opened to it
    let sigma = one(&seen, MessageDirection::Out, OPEN, party(2))?
        + one(&seen, MessageDirection::In, SIGMA, party(2))?
        + one(&seen, MessageDirection::In, OPEN, party(3))?;
    let coin = (*first.lock().unwrap_or_else(PoisonError::into_inner))?;
    Some((sigma, coefficient(coin, 0), results))
}

fn one(seen: &Recording, way: MessageDirection, step: &'static str, peer: PartyId) -> Option<Gf128> {
    let found = seen.of(way, step).into_iter().find(|s| s.peer == peer)?;
    Gf128::from_le_bytes(&found.frame.body)
}

//! Products over GF(2^128), and the steps of their verification, for those who lie about them.

use crate::{Block, Byte, Protocol, Rep3, Security, Trio};
use divisi_core::{Abort, Blocks, Convert, PartyId, Verified, settle};
use divisi_field::Gf128;

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

/// Whether an honest party took a wrong output.
#[must_use]
pub fn deceived(results: &[Result<bool, Abort>], corrupt: PartyId) -> bool {
    PartyId::all(3).filter(|p| *p != corrupt).any(|p| results[p.index()] == Ok(false))
}

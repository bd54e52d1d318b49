//! The first step of MAESTRO Protocol 2 on products that lie in bit planes: straight from the planes of the
//! layers to an inner product over GF(2^64) that is a fraction as long.
//!
//! A *record* is one S-box or one-hot vector of up to 512 lanes, or several of few lanes: the planes of
//! everything that its protocol made. A *relation* says how three sums of planes are the factors and the
//! product of one multiplication over GF(2^64); it holds exactly when the products of the paper that it
//! stands for are right ([`crate::sbox`] and [`crate::ohv`] have them, with their exhaustive tests [A12, A14,
//! A15, A17, A20]). Everything here is linear in the planes but the products of the fold itself.
//!
//! For each relation, groups g of 2^k records ([`FOLDS`] = k) and each lane l:
//! 1. c_{g,l} = alpha_{g,a} beta_b for lane l = 8a + b: alpha independent for each group and byte of lanes,
//!    beta for the batch, all expanded from a coin tossed after the barrier \[A8\]. A bilinear form in alpha
//!    and beta that is not zero is zero at a random point with probability at most 2/2^64, whatever the
//!    batch.
//! 2. x_{g,l}(R), y_{g,l}(R): multilinear in k variables, with the records' x and y at the corners {0,1}^k.
//!    The polynomial h(R) = sum c_{g,l} x_{g,l}(R) y_{g,l}(R) is of degree 2 in each variable: determined by
//!    its values on {0,1,inf}^k. At the corners these are derived from the records' own z, never received
//!    \[A10\]; the 3^k - 2^k others are sent (weakDotProduct). On that grid x and y are sums of planes, still
//!    in the small field, where their products are made ([`crate::small`]); only the sum over 512 lanes is
//!    embedded ([`divisi_field::gf64::combine`]; docs/lookups.md, 5).
//! 3. k coins after them \[A9\]; both sides are evaluated there: error 2k/2^64 (Schwartz-Zippel; each corner
//!    is bound to the z of its own records).
//!
//! What is left is sum (c x(R)) y(R) = h(R), one term for each group and lane: [`super::inner_product`]
//! continues. Relations whose factors are in no small field (vectors of 256) skip step 2 and 3: their terms
//! are (c x) y, and their z adds to the claim. Nothing of the size of the batch is stored but the terms.

mod batch;
mod points;
mod terms;
mod values;

use super::inner_product::verify_dot_product;
use super::owed::{Missed, Owed};
use crate::checks;
use crate::coin::next_elements;
use crate::passes::Passes;
use crate::record::Record;
use crate::record::product::FOLDS;
use crate::share::Rep;
use crate::trio::Trio;
use crate::views::Fixed;
use batch::Batch;
use divisi_core::{Abort, Step, step};
use divisi_field::{Field, Gf64};
use std::collections::BTreeSet;
use terms::InnerProduct;
use values::Grid;

const H: Step = step!("planes.h");

/// Verify all products of a batch in one inner product.
pub(super) fn verify(trio: &mut Trio, fixed: &Fixed, made: &[Record]) -> Result<Missed, Abort> {
    // [A12] [A14] [A15] [A17] [A18] [A20]: every record, under every relation
    let mut checks = BTreeSet::from([checks::A12]);
    checks.extend(made.iter().flat_map(Record::checks));
    for check in checks {
        trio.session.observe(check);
        let of_check = move |record: &&Record| record.checks().contains(&check);
        trio.session.covers(check, || made.iter().filter(of_check).flat_map(Record::lanes).sum());
    }
    // 1. coefficients
    let coefficients = trio.first_coin(fixed)?;
    let batch = Batch::new(made, &coefficients);
    // 2. h on the grid
    let mut grid = Grid::new(batch.alphas(&coefficients));
    batch.visit(&mut grid);
    // 3. the point, and both sides there
    let mut point = [Gf64::ZERO; FOLDS];
    let mut z = Rep { a: vec![grid.claim[0]], b: vec![grid.claim[1]] };
    if grid.any {
        let sent = trio.reshare_elements(H, grid.shares().to_vec())?;
        let coin = trio.coin_ahead(fixed)?;
        next_elements(&mut coin.expand(), &mut point);
        [checks::A9, checks::A10].into_iter().for_each(|c| trio.session.observe(c)); // [A9] [A10]
        grid.add_at(&point, &sent, &mut z);
    }
    let (x, y) = (trio.scratch.take(grid.terms + 1), trio.scratch.take(grid.terms + 1));
    // the degree: coefficients of rank one, two for each variable that was folded, and weights of rank one in
    // the relation of vectors of 256
    let folded = if grid.any { 2 * FOLDS } else { 0 };
    let missed = Missed::at::<Gf64>(batch.degree() + folded);
    // the same coefficients again
    let mut xy = InnerProduct::new([x, y], &point, &batch.beta, batch.alphas(&coefficients));
    batch.visit(&mut xy);
    let (mut x, mut y, lines) = xy.finish();
    let missed = missed + verify_dot_product(trio, fixed, &mut x, &mut y, z, Some(lines))?;
    trio.scratch.give(x);
    trio.scratch.give(y);
    Ok(missed)
}

impl Owed for Record {
    fn passes(asked: Passes) -> usize {
        asked.number()
    }

    fn pass(trio: &mut Trio, fixed: &Fixed, all: &[Self]) -> Result<Missed, Abort> {
        verify(trio, fixed, all)
    }
}

//! MAESTRO Protocol 2 from line 3 on: VerifyDotProduct, over GF(2^64) or GF(2^128).
//!
//! Deviation D1: h is sent at 1 and at infinity (its leading coefficient) instead of at 1 and 2. It is
//! determined by h(0), h(1), h(inf) as well as by three points; degree and error, 2/|F| a level, are the
//! same.
//!
//! Cost: a level sends 2 field elements and one coin a party, in 2 rounds.

use super::owed::{Missed, Owed};
use super::triple;
use crate::checks;
use crate::coin::next_elements;
use crate::passes::Passes;
use crate::share::Rep;
use crate::trio::Trio;
use crate::views::Fixed;
use divisi_core::{Abort, Prg, Step, step};
use divisi_field::{BigField, Field, Gf64, Gf128};
use zeroize::Zeroize;

const H: Step = step!("inner_product.11");

/// VerifyDotProduct([[x]], [[y]], [[z]]): verifies that the sum of `x_j y_j` is z. There is at least one
/// term. `lines` are the line products of the first level, if the caller has them already; then there is one
/// term, or an even number.
pub(super) fn verify_dot_product<F: BigField>(
    trio: &mut Trio,
    fixed: &Fixed,
    x: &mut Rep<F>,
    y: &mut Rep<F>,
    mut z: Rep<F>,
    mut lines: Option<(F, F)>,
) -> Result<Missed, Abort> {
    debug_assert!(lines.is_none() || x.len() == 1 || x.len().is_multiple_of(2), "lines of all terms");
    trio.session.covers(checks::A7, || x.len() * F::BITS);
    let mut missed = Missed::at::<F>(0);
    while x.len() > 1 {
        if x.len() % 2 == 1 {
            for v in [&mut *x, &mut *y] {
                v.extend(&Rep::zero(1)); // a zero triple [A11]
            }
        }
        // 7-10. f_i(X) = x_{2i} + (x_{2i} + x_{2i+1}) X, g_i(X) likewise
        let (h_1, h_inf) = lines.take().unwrap_or_else(|| line_products([&x.a, &x.b], [&y.a, &y.b]));
        // 11-12. [[h(1)]], [[h(inf)]] <- weakDotProduct
        let h = trio.reshare_elements(H, vec![h_1, h_inf])?;
        // 13. [[h(0)]] := [[z]] - [[h(1)]]: derived, never received [A10]
        let h_0 = Rep { a: vec![z.a[0] + h.a[0]], b: vec![z.b[0] + h.b[0]] };
        trio.session.observe(checks::A10); // [A10]
        // 14. r <- F_coin, fresh in every level, after its h [A9]
        let r: F = trio.coin_ahead(fixed)?.element();
        trio.session.observe(checks::A9); // [A9]
        // 15. [[h(r)]] = h(0) (1 + r) + h(1) r + h(inf) (r + r^2)
        let at_r = |h_0: F, h_1: F, h_inf: F| h_0 * (F::ONE + r) + h_1 * r + h_inf * (r + r.square());
        z = Rep { a: vec![at_r(h_0.a[0], h.a[0], h.a[1])], b: vec![at_r(h_0.b[0], h.b[0], h.b[1])] };
        // 16. continue with [[f(r)]], [[g(r)]], [[h(r)]]
        fold(x, r);
        fold(y, r);
        missed = missed + Missed::at::<F>(2);
    }
    Ok(missed + triple::check_triple(trio, fixed, x, y, &z)?) // 4-6.
}

/// Our additive shares of h(1) and h(inf): MultLocal on the values at 1 of all lines, and on their leading
/// coefficients.
pub(super) fn line_products<F: BigField>(x: [&[F]; 2], y: [&[F]; 2]) -> (F, F) {
    const BLOCK: usize = 256;
    let (mut x_sum, mut y_sum) = ([F::ZERO; BLOCK], [F::ZERO; BLOCK]);
    let (mut one, mut leading) = F::line_products(x[0], y[0]);
    let blocks = x[0].chunks(BLOCK).zip(x[1].chunks(BLOCK)).zip(y[0].chunks(BLOCK).zip(y[1].chunks(BLOCK)));
    for ((xa, xb), (ya, yb)) in blocks {
        let (x_sum, y_sum) = (&mut x_sum[..xa.len()], &mut y_sum[..xa.len()]);
        x_sum.copy_from_slice(xa);
        F::add_assign(x_sum, xb);
        y_sum.copy_from_slice(ya);
        F::add_assign(y_sum, yb);
        let (more, more_leading) = F::line_products(x_sum, y_sum);
        (one, leading) = (one + more, leading + more_leading);
    }
    x_sum.zeroize();
    y_sum.zeroize();
    (one, leading)
}

/// Replaces each pair of neighbours by the value at r of the line through them, in both components.
fn fold<F: BigField>(x: &mut Rep<F>, r: F) {
    const BLOCK: usize = 256;
    let mut block = [F::ZERO; BLOCK];
    for side in [&mut x.a, &mut x.b] {
        let half = side.len() / 2;
        for start in (0..half).step_by(BLOCK) {
            let out = &mut block[..BLOCK.min(half - start)];
            F::fold(&side[2 * start..2 * (start + out.len())], r, out);
            side[start..start + out.len()].copy_from_slice(out);
        }
        side.truncate(half);
    }
    block.zeroize();
}

/// A claim of the form: a sum of products over F equals a shared value.
///
/// It does not require `Debug`, because a statement holds shares.
pub trait Statement<F: BigField>: Send + Sync {
    /// Add the statement to `sum`, each of its equations weighted by a fresh element of the expansion: if one
    /// equation is wrong, the sum is right with probability at most 1/|F| (plus what
    /// [`Statement::is_bilinear`] adds).
    fn add(&self, weights: &mut Prg, sum: &mut Sum<F>);

    /// Whether its weights are products of two random ones, which miss an error with probability at most
    /// 2/|F|.
    fn is_bilinear(&self) -> bool {
        false
    }
}

/// One inner product that combines several statements.
pub struct Sum<F: BigField> {
    pub(crate) x: Rep<F>,
    pub(crate) y: Rep<F>,
    pub(crate) z: Rep<F>,
}

impl<F: BigField> Sum<F> {
    /// Add our components of the claimed value of a sum of products.
    pub(crate) fn claim(&mut self, a: F, b: F) {
        self.z.a[0] = self.z.a[0] + a;
        self.z.b[0] = self.z.b[0] + b;
    }
}

/// The next element of an expansion.
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn next_element<F: Field>(weights: &mut Prg) -> F {
    let mut c = [F::ZERO];
    next_elements(weights, &mut c);
    c[0]
}

/// A relation `sum x_j y_j = z` over GF(2^128) that must hold.
pub(crate) struct Dot {
    pub(crate) x: Rep<Gf128>,
    pub(crate) y: Rep<Gf128>,
    pub(crate) z: Rep<Gf128>,
}

impl Statement<Gf128> for Dot {
    fn add(&self, weights: &mut Prg, sum: &mut Sum<Gf128>) {
        let c: Gf128 = next_element(weights);
        sum.x.extend(&self.x.map(|x| c * x));
        sum.y.extend(&self.y);
        sum.claim(c * self.z.a[0], c * self.z.b[0]);
    }
}

/// MAESTRO Protocol 2, for the products of GHASH over GF(2^128) and those of [`crate::blackbox`] and
/// [`crate::ohverture`] over either field: lines 1 and 2, then VerifyDotProduct.
///
/// Deviation D2: independent coefficients, expanded from a 128-bit coin, instead of powers of one: the error
/// does not grow with the number of statements.
pub(super) fn verify_statements<F: BigField>(
    trio: &mut Trio,
    fixed: &Fixed,
    statements: &[&dyn Statement<F>],
) -> Result<Missed, Abort> {
    // 1. coin
    let mut coefficients = trio.first_coin(fixed)?.expand();
    // 2. one inner product
    let mut sum = Sum { x: Rep::zero(0), y: Rep::zero(0), z: Rep::zero(1) };
    statements.iter().for_each(|statement| statement.add(&mut coefficients, &mut sum));
    let Sum { mut x, mut y, z } = sum;
    if x.len() == 0 {
        // sums over nothing: that they are zero is still checked
        x.extend(&Rep::zero(1));
        y.extend(&Rep::zero(1));
    }
    let bilinear = statements.iter().any(|statement| statement.is_bilinear());
    Ok(coefficients_miss::<F>(bilinear) + verify_dot_product(trio, fixed, &mut x, &mut y, z, None)?)
}

/// The probability that the coefficients of statements, which are independent, miss a lie, and that random
/// weights of rank one inside a statement do, if there are any.
fn coefficients_miss<F: BigField>(bilinear: bool) -> Missed {
    Missed::at::<F>(1 + if bilinear { 2 } else { 0 })
}

impl<F: BigField> Owed for &dyn Statement<F> {
    /// Products over the small field as often as is asked for, those over the large one once.
    fn passes(asked: Passes) -> usize {
        if F::BITS == Gf64::BITS { asked.number() } else { 1 }
    }

    fn pass(trio: &mut Trio, fixed: &Fixed, all: &[Self]) -> Result<Missed, Abort> {
        verify_statements(trio, fixed, all)
    }
}

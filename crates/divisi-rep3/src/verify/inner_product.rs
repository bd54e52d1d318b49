//! MAESTRO Protocol 2 from line 3 on: VerifyDotProduct, over GF(2^64) or GF(2^128).
//!
//! Deviation D1 (COSTS T7): h is sent at 1 and at infinity (its leading coefficient) instead of at 1 and 2. It is determined by
//! h(0), h(1), h(inf) as well as by three points; degree and error, 2/|F| a level, are the same.
//!
//! Cost: a level sends 2 field elements and one coin a party, in 3 rounds.

use super::{BITS_128, error, levels, triple};
use crate::Trio;
use crate::multiply::dot_local;
use crate::random::next_elements;
use crate::share::Rep;
use crate::verify::Dot;
use crate::views::Fixed;
use divisi_core::{Abort, Check, Lanes, Step, step};
use divisi_field::{BigField, Field, Gf128};

const H: Step = step!("inner_product.11");

/// VerifyDotProduct([[x]], [[y]], [[z]]): verifies that the sum of `x_j y_j` is z. `n` is at least 1.
pub(super) fn verify_dot_product<F: BigField>(
    trio: &mut Trio,
    fixed: &Fixed,
    mut x: Rep<F>,
    mut y: Rep<F>,
    mut z: Rep<F>,
) -> Result<(), Abort> {
    let mut r = F::ONE;
    while x.len() > 1 {
        if x.len() % 2 == 1 {
            for v in [&mut x, &mut y] {
                if trio.session.mutated(Check::A11) {
                    (v.a.pop(), v.b.pop()); // the mutant drops the odd one
                } else {
                    v.extend(&Rep::zero(1)); // a zero triple [A11]
                }
            }
        }
        // 7-10. f_i(X) = x_{2i} + (x_{2i} + x_{2i+1}) X, g_i(X) likewise
        let (h_1, h_inf) = (odd_part(&x, &y), leading_part(&x, &y));
        // 11-12. [[h(1)]], [[h(inf)]] <- weakDotProduct
        let h = trio.reshare_elements(H, vec![h_1, h_inf])?;
        // 13. [[h(0)]] := [[z]] - [[h(1)]]: derived, never received [A10]
        let mut h_0 = Rep { a: vec![z.a[0] + h.a[0]], b: vec![z.b[0] + h.b[0]] };
        if trio.session.mutated(Check::A10) {
            h_0 = recomputed(trio, &x, &y)?; // the mutant takes h(0) from the parties: z is bound to nothing
        }
        trio.session.observe(Check::A10);
        // 14. r <- F_coin, fresh in every level, after its h [A9]
        if !trio.session.mutated(Check::A9) || r == F::ONE {
            r = trio.coin(fixed)?.element();
        }
        trio.session.observe(Check::A9);
        // 15. [[h(r)]] = h(0) (1 + r) + h(1) r + h(inf) (r + r^2)
        let at_r = |h_0: F, h_1: F, h_inf: F| h_0 * (F::ONE + r) + h_1 * r + h_inf * (r + r.square());
        z = Rep { a: vec![at_r(h_0.a[0], h.a[0], h.a[1])], b: vec![at_r(h_0.b[0], h.b[0], h.b[1])] };
        // 16. continue with [[f(r)]], [[g(r)]], [[h(r)]]
        x = fold(&x, r);
        y = fold(&y, r);
    }
    triple::check_triple(trio, fixed, &x, &y, &z) // 4-6.
}

/// Our additive share of h(1): the products of the odd places.
fn odd_part<F: BigField>(x: &Rep<F>, y: &Rep<F>) -> F {
    let odd = |v: &[F]| v.iter().skip(1).step_by(2).copied().collect::<Vec<F>>();
    let (x, y) = ([odd(&x.a), odd(&x.b)], [odd(&y.a), odd(&y.b)]);
    dot_local([&x[0], &x[1]], [&y[0], &y[1]], &mut [Vec::new(), Vec::new()])
}

/// Our additive share of h(inf): the products of the sums of neighbours.
fn leading_part<F: BigField>(x: &Rep<F>, y: &Rep<F>) -> F {
    let sums = |v: &[F]| v.chunks_exact(2).map(|p| p[0] + p[1]).collect::<Vec<F>>();
    let (x, y) = ([sums(&x.a), sums(&x.b)], [sums(&y.a), sums(&y.b)]);
    dot_local([&x[0], &x[1]], [&y[0], &y[1]], &mut [Vec::new(), Vec::new()])
}

/// What a mutant uses for h(0).
fn recomputed<F: BigField>(trio: &mut Trio, x: &Rep<F>, y: &Rep<F>) -> Result<Rep<F>, Abort> {
    let even = |v: &[F]| v.iter().step_by(2).copied().collect::<Vec<F>>();
    let (x, y) = ([even(&x.a), even(&x.b)], [even(&y.a), even(&y.b)]);
    let h_0 = dot_local([&x[0], &x[1]], [&y[0], &y[1]], &mut [Vec::new(), Vec::new()]);
    trio.reshare_elements(H, vec![h_0])
}

/// The lines through neighbours at r, in both components.
fn fold<F: BigField>(x: &Rep<F>, r: F) -> Rep<F> {
    let mut out = Rep::zero(x.len() / 2);
    F::fold(&x.a, r, &mut out.a);
    F::fold(&x.b, r, &mut out.b);
    out
}

/// MAESTRO Protocol 2 over GF(2^128), for the products of GHASH: lines 1 and 2, then VerifyDotProduct.
///
/// Deviation D2: independent coefficients, expanded from a 128-bit coin, instead of powers of one: the error does not grow
/// with the number of statements.
pub(super) fn verify_dots(trio: &mut Trio, fixed: &Fixed, dots: &[Dot]) -> Result<(), Abort> {
    // 1. coin
    let mut coefficients = trio.coin(fixed)?.expand();
    // 2. one inner product
    let (mut x, mut y, mut z) = (Rep::zero(0), Rep::zero(0), Rep::zero(1));
    for dot in dots {
        let mut c = [Gf128::ZERO];
        next_elements(&mut coefficients, &mut c);
        x.extend(&dot.x.map(|x| c[0] * x));
        y.extend(&dot.y);
        z.a[0] += c[0] * dot.z.a[0];
        z.b[0] += c[0] * dot.z.b[0];
    }
    let n = x.lanes();
    trio.session.observe(Check::A11);
    trio.session.meter().verification_error(error(0, levels(n), BITS_128));
    verify_dot_product(trio, fixed, x, y, z)
}

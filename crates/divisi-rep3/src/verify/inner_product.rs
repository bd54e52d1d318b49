//! MAESTRO Protocol 2 from line 3 on: VerifyDotProduct, over GF(2^64) or GF(2^128).
//!
//! Deviation D1: h is sent at 1 and at infinity (its leading coefficient) instead of at 1 and 2. It is determined by
//! h(0), h(1), h(inf) as well as by three points; degree and error, 2/|F| a level, are the same.
//!
//! Cost: a level sends 2 field elements and one coin a party, in 2 rounds.

use super::{BITS_128, error, levels, triple};
use crate::Trio;
use crate::multiply::dot_local;
use crate::random::next_elements;
use crate::share::Rep;
use crate::verify::Dot;
use crate::views::Fixed;
use divisi_core::{Abort, Check, Lanes, Step, step};
use divisi_field::{BigField, Field, Gf128};
use zeroize::Zeroize;

const H: Step = step!("inner_product.11");

/// VerifyDotProduct([[x]], [[y]], [[z]]): verifies that the sum of `x_j y_j` is z. `n` is at least 1.
pub(super) fn verify_dot_product<F: BigField>(
    trio: &mut Trio,
    fixed: &Fixed,
    x: &mut Rep<F>,
    y: &mut Rep<F>,
    mut z: Rep<F>,
) -> Result<(), Abort> {
    let mut r = F::ONE;
    while x.len() > 1 {
        if x.len() % 2 == 1 {
            for v in [&mut *x, &mut *y] {
                v.extend(&Rep::zero(1)); // a zero triple [A11]
            }
        }
        // 7-10. f_i(X) = x_{2i} + (x_{2i} + x_{2i+1}) X, g_i(X) likewise
        let (h_1, h_inf) = line_products(x, y);
        // 11-12. [[h(1)]], [[h(inf)]] <- weakDotProduct
        let h = trio.reshare_elements(H, vec![h_1, h_inf])?;
        // 13. [[h(0)]] := [[z]] - [[h(1)]]: derived, never received [A10]
        let mut h_0 = Rep { a: vec![z.a[0] + h.a[0]], b: vec![z.b[0] + h.b[0]] };
        if trio.session.mutated(Check::A10) {
            h_0 = recomputed(trio, x, y)?; // the mutant takes h(0) from the parties: z is bound to nothing
        }
        trio.session.observe(Check::A10); // [A10]
        // 14. r <- F_coin, fresh in every level, after its h [A9]
        if !trio.session.mutated(Check::A9) || r == F::ONE {
            r = trio.coin_ahead(fixed)?.element();
        }
        trio.session.observe(Check::A9); // [A9]
        // 15. [[h(r)]] = h(0) (1 + r) + h(1) r + h(inf) (r + r^2)
        let at_r = |h_0: F, h_1: F, h_inf: F| h_0 * (F::ONE + r) + h_1 * r + h_inf * (r + r.square());
        z = Rep { a: vec![at_r(h_0.a[0], h.a[0], h.a[1])], b: vec![at_r(h_0.b[0], h.b[0], h.b[1])] };
        // 16. continue with [[f(r)]], [[g(r)]], [[h(r)]]
        fold(x, r);
        fold(y, r);
    }
    triple::check_triple(trio, fixed, x, y, &z) // 4-6.
}

/// Our additive shares of h(1) and h(inf): MultLocal on the values at 1 of all lines, and on their leading coefficients.
fn line_products<F: BigField>(x: &Rep<F>, y: &Rep<F>) -> (F, F) {
    const BLOCK: usize = 256;
    let (mut x_sum, mut y_sum) = ([F::ZERO; BLOCK], [F::ZERO; BLOCK]);
    let (mut one, mut leading) = F::line_products(&x.a, &y.a);
    let blocks = x.a.chunks(BLOCK).zip(x.b.chunks(BLOCK)).zip(y.a.chunks(BLOCK).zip(y.b.chunks(BLOCK)));
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

/// What a mutant uses for h(0).
fn recomputed<F: BigField>(trio: &mut Trio, x: &Rep<F>, y: &Rep<F>) -> Result<Rep<F>, Abort> {
    let even = |v: &[F]| v.iter().step_by(2).copied().collect::<Vec<F>>();
    let (x, y) = ([even(&x.a), even(&x.b)], [even(&y.a), even(&y.b)]);
    let h_0 = dot_local([&x[0], &x[1]], [&y[0], &y[1]], &mut [Vec::new(), Vec::new()]);
    trio.reshare_elements(H, vec![h_0])
}

/// The lines through neighbours at r, in both components, in place.
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

/// MAESTRO Protocol 2 over GF(2^128), for the products of GHASH: lines 1 and 2, then VerifyDotProduct.
///
/// Deviation D2: independent coefficients, expanded from a 128-bit coin, instead of powers of one: the error does not grow
/// with the number of statements.
pub(super) fn verify_dots(trio: &mut Trio, fixed: &Fixed, dots: &[Dot]) -> Result<(), Abort> {
    if trio.session.mutated(Check::A21) && dots.len() > 1 {
        // the mutant verifies one by one: when it stops tells which was wrong
        return dots.chunks(1).try_for_each(|dot| verify_dots(trio, fixed, dot));
    }
    let all = if trio.session.mutated(Check::A11) { dots.len() - 1 } else { dots.len() }; // the mutant forgets the last
    // 1. coin
    let mut coefficients = trio.first_coin(fixed)?.expand();
    // 2. one inner product
    let (mut x, mut y, mut z) = (Rep::zero(0), Rep::zero(0), Rep::zero(1));
    for dot in &dots[..all] {
        let mut c = [Gf128::ZERO];
        next_elements(&mut coefficients, &mut c);
        x.extend(&dot.x.map(|x| c[0] * x));
        y.extend(&dot.y);
        z.a[0] += c[0] * dot.z.a[0];
        z.b[0] += c[0] * dot.z.b[0];
    }
    if x.len() == 0 {
        // sums over nothing: that they are zero is still checked
        x.extend(&Rep::zero(1));
        y.extend(&Rep::zero(1));
    }
    let n = x.lanes();
    trio.session.observe(Check::A11); // [A11]
    trio.session.meter().verification_error(error(0, levels(n), BITS_128, false));
    verify_dot_product(trio, fixed, &mut x, &mut y, z)
}

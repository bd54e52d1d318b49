//! Products of relations in the small field, bit-sliced: what the first fold of a verification multiplies
//! before anything is embedded into GF(2^64).
//!
//! A relation's factors are sums of planes with weights 1, alpha, alpha^2 and so on times a basis of a small
//! field; so their product is a few products in that field, each with a weight of its own. [`Small`] says
//! which planes these are, next to each protocol's relations; a test asserts that both agree ([`agree`]).

use divisi_field::{Plane, Word, gf4, gf8};

/// The most planes that a factor has.
pub(crate) const FACTOR: usize = 16;
/// The most planes that a product has.
pub(crate) const PRODUCT: usize = 32;

/// A relation's product in its small field. The weights of its planes are the relation's `product`.
pub(crate) trait Small<const K: usize> {
    /// Planes of the first factor.
    const X: usize;
    /// Planes of the second factor.
    const Y: usize;
    /// Planes of the product.
    const Z: usize;

    /// The factors of one component of a record: linear.
    fn factors<W: Word>(record: &[Plane; K]) -> [[W; FACTOR]; 2];

    /// Their product: bilinear.
    fn multiply<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT];
}

/// The planes of an element of N bits that begin at `at`.
#[inline(always)]
pub(crate) fn element<W: Word, const K: usize, const N: usize>(record: &[Plane; K], at: usize) -> [W; N] {
    let mut out = [W::zero(); N];
    for (i, out) in out.iter_mut().enumerate() {
        *out = W::load(&record[at + i]);
    }
    out
}

/// A factor that consists of these elements.
#[inline(always)]
pub(crate) fn factor<W: Word, const N: usize, const M: usize>(elements: [[W; N]; M]) -> [W; FACTOR] {
    let mut out = [W::zero(); FACTOR];
    for (m, element) in elements.iter().enumerate() {
        out[m * N..(m + 1) * N].copy_from_slice(element);
    }
    out
}

#[inline(always)]
fn part<W: Word, const N: usize>(x: &[W; FACTOR], m: usize) -> [W; N] {
    let mut out = [W::zero(); N];
    out.copy_from_slice(&x[m * N..(m + 1) * N]);
    out
}

/// (x0 + a x1)(y0 + a y1) over a field of N bits: x0 y0, x0 y1 + x1 y0, x1 y1, by three products.
#[inline(always)]
pub(crate) fn pair<W: Word, const N: usize>(
    x: &[W; FACTOR],
    y: &[W; FACTOR],
    mul: impl Fn(&[W; N], &[W; N]) -> [W; N],
) -> [W; PRODUCT] {
    let (x, y) = ([part::<W, N>(x, 0), part(x, 1)], [part::<W, N>(y, 0), part(y, 1)]);
    let (low, high) = (mul(&x[0], &y[0]), mul(&x[1], &y[1]));
    let (mut xs, mut ys) = (x[0], y[0]);
    for i in 0..N {
        xs[i] ^= x[1][i];
        ys[i] ^= y[1][i];
    }
    let middle = mul(&xs, &ys);
    let mut out = [W::zero(); PRODUCT];
    for i in 0..N {
        out[i] = low[i];
        out[N + i] = middle[i] ^ low[i] ^ high[i];
        out[2 * N + i] = high[i];
    }
    out
}

/// A pair over GF(2^4).
#[inline(always)]
pub(crate) fn pair4<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT] {
    pair::<W, 4>(
        x,
        y,
        #[inline(always)]
        |x, y| gf4::mul(x, y),
    )
}

/// A pair over GF(2^8).
#[inline(always)]
pub(crate) fn pair8<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT] {
    pair::<W, 8>(
        x,
        y,
        #[inline(always)]
        |x, y| gf8::mul(x, y),
    )
}

/// All products of two elements of GF(2^8) with two others: x0 y0, x0 y1, x1 y0, x1 y1.
#[inline(always)]
pub(crate) fn four8<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT] {
    let mut out = [W::zero(); PRODUCT];
    for i in 0..2 {
        for j in 0..2 {
            let product = gf8::mul(&part(x, i), &part(y, j));
            out[8 * (2 * i + j)..8 * (2 * i + j) + 8].copy_from_slice(&product);
        }
    }
    out
}

/// One product over GF(2^8).
#[inline(always)]
pub(crate) fn one8<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT] {
    let mut out = [W::zero(); PRODUCT];
    out[..8].copy_from_slice(&gf8::mul(&part(x, 0), &part(y, 0)));
    out
}

/// All products of four bits with four others, the index of the second changing fastest.
#[inline(always)]
pub(crate) fn bits4<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT] {
    let mut out = [W::zero(); PRODUCT];
    for i in 0..4 {
        for j in 0..4 {
            out[4 * i + j] = x[i] & y[j];
        }
    }
    out
}

/// Check on random planes, in every lane, that the relation in the small field equals the relation of the
/// weights.
#[cfg(test)]
pub(crate) fn agree<const K: usize, S: Small<K>>(relation: &crate::relation::Relation) {
    use divisi_field::Gf64;
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed ^ seed >> 31
    };
    let record: [Plane; K] = std::array::from_fn(|_| Plane([(); 8].map(|()| next())));
    let [x, y] = S::factors::<Plane>(&record);
    let z = S::multiply(&x, &y);
    assert!(x[S::X..].iter().chain(&y[S::Y..]).chain(&z[S::Z..]).all(|plane| *plane == Plane::ZERO));
    assert_eq!(relation.product.len(), S::Z);
    for lane in 0..Plane::LANES {
        let sum = |weights: &[(usize, Gf64)]| {
            weights.iter().filter(|(i, _)| record[*i].lane(lane) == 1).map(|(_, w)| *w).sum::<Gf64>()
        };
        let product = z.iter().zip(&relation.product).filter(|(plane, _)| plane.lane(lane) == 1);
        assert_eq!(sum(&relation.x) * sum(&relation.y), product.map(|(_, w)| *w).sum());
    }
}

//! What gf4-circuit and lut16 have in common: Protocol 3 around the inverse in GF(2^4), and Eq. 3, which
//! verifies it.

use super::{Around, load, store};
use crate::multiply::{mult_local, sum};
use crate::relation::{Relation, pair_weights, power, weights};
use crate::small::{FACTOR, PRODUCT, Small, element, factor, pair4};
use crate::tile::Tile;
use divisi_field::gf8::tower::{self, E};
use divisi_field::gf64::PSI4;
use divisi_field::kernel::Task;
use divisi_field::{Gf64, Plane, Word, gf4};

/// The planes of a record at which a_h, a_l and v begin.
pub(crate) const A_H: usize = 0;
pub(crate) const A_L: usize = 4;
pub(crate) const V: usize = 8;

/// The planes at which v^-1, a'_h and a'_l begin.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    pub(crate) v_inverse: usize,
    pub(crate) b_h: usize,
    pub(crate) b_l: usize,
}

/// Step 1: stores a_h and a_l of both components in the record, and returns them.
#[inline(always)]
pub(crate) fn begin<W: Word, const K: usize>(
    record: &mut Tile<K>,
    tile: &Tile<8>,
    around: Around,
) -> [[[W; 4]; 2]; 2] {
    let first = tower::phi(&around.before::<W>(0, &W::load_all(&tile[0])));
    let second = tower::phi(&around.before::<W>(1, &W::load_all(&tile[1])));
    for (planes, (h, l)) in record.iter_mut().zip([&first, &second]) {
        store(planes, A_H, h);
        store(planes, A_L, l);
    }
    [[first.0, second.0], [first.1, second.1]]
}

/// Step 7: v = {E} a_h^2 + a_h a_l + a_l^2, of one component or of an additive share.
#[inline(always)]
pub(crate) fn norm<W: Word>(h: &[W; 4], l: &[W; 4], hm: &[W; 4]) -> [W; 4] {
    let squares = sum(&gf4::scale(&gf4::square(h), E), &gf4::square(l));
    sum(&squares, hm)
}

/// Steps 10 and 11: our shares of a'_h = a_h v^-1 and of a'_l = (a_h + a_l) v^-1.
#[inline(always)]
pub(crate) fn outer<W: Word, const K: usize>(record: &Tile<K>, v_inverse: &[[W; 4]; 2]) -> [W; 8] {
    let (h, l) = (load::<W, 4, K>(record, A_H), load::<W, 4, K>(record, A_L));
    let hl = [sum(&h[0], &l[0]), sum(&h[1], &l[1])];
    let b_h = mult_local(
        &h,
        v_inverse,
        #[inline(always)]
        |x, y| gf4::mul(x, y),
    );
    let b_l = mult_local(
        &hl,
        v_inverse,
        #[inline(always)]
        |x, y| gf4::mul(x, y),
    );
    [b_h[0], b_h[1], b_h[2], b_h[3], b_l[0], b_l[1], b_l[2], b_l[3]]
}

/// Step 12: Phi^-1 of the reshared products.
pub(crate) struct Finish<'a, const K: usize> {
    pub(crate) record: &'a mut Tile<K>,
    pub(crate) places: Places,
    pub(crate) tile: &'a mut Tile<8>,
    pub(crate) around: Around,
    pub(crate) first: &'a [Plane; 8],
    pub(crate) second: &'a [Plane; 8],
}

impl<const K: usize> Task for Finish<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for (c, planes) in [self.first, self.second].into_iter().enumerate() {
            let outer: [W; 8] = W::load_all(planes);
            let (h, l) = ([outer[0], outer[1], outer[2], outer[3]], [outer[4], outer[5], outer[6], outer[7]]);
            store(&mut self.record[c], self.places.b_h, &h);
            store(&mut self.record[c], self.places.b_l, &l);
            W::store_all(&self.around.after(c, &tower::phi_inverse(&h, &l)), &mut self.tile[c]);
        }
    }
}

/// Eq. 3: (a_h + alpha a_l)(a_l + alpha v^-1) = a_h a_l + alpha (a'_h + a_l^2) + alpha^2 (a'_l + a'_h), where
/// a_h a_l is v + {E} a_h^2 + a_l^2. Errors d_v, d_1, d_2 of v, a'_h, a'_l leave d_v + alpha d_1 + alpha^2
/// (d_1 + d_2) (Lemma 3.2), where alpha is of degree at least 3 over GF(2^4) \[A12\].
pub(crate) fn eq_3(places: Places, alpha: Gf64) -> Relation {
    let psi = |i: u32| power(PSI4, i);
    let e = (0..4).filter(|i| E.bits() >> i & 1 == 1).map(psi).sum::<Gf64>();
    let one = Gf64(1);
    Relation {
        x: [weights(A_H, 4, psi), weights(A_L, 4, |i| alpha * psi(i))].concat(),
        y: [weights(A_L, 4, psi), weights(places.v_inverse, 4, |i| alpha * psi(i))].concat(),
        z: [
            weights(V, 4, psi),
            weights(A_H, 4, |i| e * psi(2 * i)),
            weights(A_L, 4, |i| (one + alpha) * psi(2 * i)),
            weights(places.b_h, 4, |i| (alpha + alpha * alpha) * psi(i)),
            weights(places.b_l, 4, |i| alpha * alpha * psi(i)),
        ]
        .concat(),
        product: pair_weights(4, PSI4, alpha, alpha),
    }
}

/// Eq. 3 in GF(2^4), for records whose v^-1 begins at plane `V_INVERSE`.
pub(crate) struct Eq3<const V_INVERSE: usize>;

impl<const K: usize, const V_INVERSE: usize> Small<K> for Eq3<V_INVERSE> {
    const X: usize = 8;
    const Y: usize = 8;
    const Z: usize = 12;

    #[inline(always)]
    fn factors<W: Word>(record: &[Plane; K]) -> [[W; FACTOR]; 2] {
        let a_l = element::<W, K, 4>(record, A_L);
        [factor([element(record, A_H), a_l]), factor([a_l, element(record, V_INVERSE)])]
    }

    #[inline(always)]
    fn multiply<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT] {
        pair4(x, y)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::relation::tests::{difference, holds, rank};
    use divisi_field::gf64::ALPHA;
    use divisi_field::{Field, Gf4};

    /// All 16 elements.
    pub(crate) fn elements() -> impl Iterator<Item = Gf4> + Clone {
        (0..16).map(Gf4::new)
    }

    /// The record with these elements at these places.
    pub(crate) fn record(parts: &[(usize, Gf4)]) -> u64 {
        parts.iter().fold(0, |r, (at, x)| r | u64::from(x.bits()) << at)
    }

    /// Lemma 3.2. For every a_h, a_l and every v^-1 that a lie may have led to, the difference is that of
    /// [`eq_3`]; and its 12 values on a basis of the errors are independent, so that of the 2^12 errors only
    /// zero gives zero.
    pub(crate) fn eq_3_fails_exactly_when_a_product_is_wrong(eq3: &Relation, places: Places) {
        let of = |d: [Gf4; 3]| {
            let [dv, d1, d2] = d.map(Gf64::from);
            dv + ALPHA * d1 + ALPHA * ALPHA * (d1 + d2)
        };
        let basis = (0..12).map(|i| {
            let mut d = [Gf4::ZERO; 3];
            d[i / 4] = Gf4::new(1 << (i % 4));
            of(d)
        });
        assert_eq!(rank(basis), 12);
        for (a_h, a_l) in elements().flat_map(|h| elements().map(move |l| (h, l))) {
            for v14 in elements() {
                for d in elements().flat_map(|d| [[d, a_h, v14], [a_l, d, d], [Gf4::ZERO, Gf4::ZERO, d]]) {
                    let v = E * a_h.square() + a_h * a_l + d[0] + a_l.square();
                    let (b_h, b_l) = (a_h * v14 + d[1], (a_h + a_l) * v14 + d[2]);
                    let outer = [(places.v_inverse, v14), (places.b_h, b_h), (places.b_l, b_l)];
                    let r = record(&[(A_H, a_h), (A_L, a_l), (V, v)]) | record(&outer);
                    assert_eq!(difference(eq3, r), of(d));
                    assert_eq!(holds(eq3, r), d == [Gf4::ZERO; 3]);
                }
            }
        }
    }
}

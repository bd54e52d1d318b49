//! Relations among the planes of a record, and the public weights that they are written with.

use divisi_field::Gf64;
use divisi_field::gf64::LaneWeights;

/// A multiplication over GF(2^64) in terms of a record's planes: (sum over x) (sum over y) = sum over z.
pub(crate) struct Relation {
    pub(crate) x: Vec<(usize, Gf64)>,
    pub(crate) y: Vec<(usize, Gf64)>,
    pub(crate) z: Vec<(usize, Gf64)>,
    /// The weights of the product's planes in the small field ([`Small`]), if its factors are elements of
    /// one.
    pub(crate) product: Vec<Gf64>,
}

/// A relation, and the weights with which z and the product are summed over the lanes of a record.
pub(crate) struct Weighed {
    pub(crate) relation: Relation,
    /// The weights of z.
    pub(crate) z: LaneWeights,
    /// The weights of the product.
    pub(crate) product: LaneWeights,
    /// Its number among all relations.
    pub(crate) number: usize,
}

/// The planes of one element of `K` bits that begins at plane `at`, each with the weight that `weight` gives
/// for the number of its basis element.
pub(crate) fn weights(at: usize, k: usize, weight: impl Fn(u32) -> Gf64) -> Vec<(usize, Gf64)> {
    (0..k).map(|i| (at + i, weight(i as u32))).collect()
}

/// The weights of (x0 + a x1)(y0 + b y1) over a field of `k` bits with this root: of x0 y0; of x0 y1 + x1 y0,
/// for a = b; of x1 y1.
pub(crate) fn pair_weights(k: usize, root: Gf64, a: Gf64, b: Gf64) -> Vec<Gf64> {
    let times = |w: Gf64| (0..k).map(move |i| w * power(root, i as u32));
    times(Gf64(1)).chain(times(a)).chain(times(a * b)).collect()
}

/// `base^exponent`, both public.
pub(crate) fn power(base: Gf64, exponent: u32) -> Gf64 {
    (0..exponent).fold(Gf64(1), |p, _| p * base)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The difference of both sides of a relation, for a record whose planes are the bits of `record`, in the
    /// clear.
    pub(crate) fn difference(relation: &Relation, record: u64) -> Gf64 {
        let sum = |weights: &[(usize, Gf64)]| {
            weights.iter().filter(|(i, _)| record >> i & 1 == 1).map(|(_, w)| *w).sum::<Gf64>()
        };
        sum(&relation.x) * sum(&relation.y) + sum(&relation.z)
    }

    /// The rank over GF(2) of these vectors of 64 bits: they are independent if the rank is their number.
    /// Then a linear map that takes the elements of a basis to these vectors is zero at zero alone.
    pub(crate) fn rank(vectors: impl Iterator<Item = Gf64>) -> usize {
        let mut reduced: Vec<u64> = Vec::new();
        for Gf64(mut v) in vectors {
            for r in &reduced {
                v = v.min(v ^ r);
            }
            if v != 0 {
                reduced.push(v);
            }
        }
        reduced.len()
    }

    /// Whether these numbers all differ, and each of their bits takes both values, as in the whole field.
    pub(crate) fn are_whole(values: &[u64]) -> bool {
        let bits = values.iter().fold((0, 0), |bits, v| (bits.0 | v, bits.1 | !v));
        values.iter().collect::<BTreeSet<_>>().len() == values.len() && bits == (u64::MAX, u64::MAX)
    }

    /// Whether a relation holds for a record whose planes are the bits of `record`, in the clear.
    pub(crate) fn holds(relation: &Relation, record: u64) -> bool {
        difference(relation, record) == Gf64(0)
    }
}

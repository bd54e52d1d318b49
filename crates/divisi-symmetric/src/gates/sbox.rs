//! The AES S-box and its inverse with 32 ANDs and depth 6.
//!
//! An element of GF(2^8) is `a z + b` over GF(2^4), with `z^2 = z + v`. Its inverse is `(a z + a + b) / d`,
//! with `d = v a^2 + a b + b^2`. A product over GF(2^4) takes 9 ANDs (Karatsuba's method, twice), an
//! inversion there 5 in the right basis (J. Boyar, R. Peralta, "A new combinational logic minimization
//! technique with applications to cryptology", SEA 2010). So an inversion in GF(2^8) takes 9 + 5 + 18.
//! Everything else is linear, including the affine map of the S-box. The linear maps are computed here from
//! the field's definition; only the elements that define the tower are constants.

use super::linear::LinearMap;
use divisi_circuit::Gates;
use divisi_core::Direction;
use divisi_field::gf8::AFFINE_CONSTANT;
use divisi_field::{Field, Gf8};
use std::sync::LazyLock;

/// How many ANDs an S-box takes.
pub const SBOX_ANDS: usize = PRODUCT + 5 + 2 * PRODUCT;

/// ANDs of a product over GF(2^4).
const PRODUCT: usize = 9;

/// The S-box, or its inverse, of a byte.
pub fn sbox<G: Gates>(g: &mut G, d: Direction, x: [G::Bit; 8]) -> [G::Bit; 8] {
    static ENCRYPT: LazyLock<Circuit> = LazyLock::new(|| Circuit::new(Direction::Encrypt, &ENCRYPTION));
    static DECRYPT: LazyLock<Circuit> = LazyLock::new(|| Circuit::new(Direction::Decrypt, &DECRYPTION));
    match d {
        Direction::Encrypt => ENCRYPT.apply(g, x),
        Direction::Decrypt => DECRYPT.apply(g, x),
    }
}

/// The linear maps between the products.
struct Circuit {
    direction: Direction,
    /// From the byte: the forms of `a`, `b` and `a + b` that are multiplied, and the linear part of `d`.
    entry: LinearMap,
    /// From the products of `a b` and the linear part: `d` in the basis of [`inverse`].
    norm: LinearMap,
    /// From `1 / d` in this basis: its forms.
    forms: LinearMap,
    /// From the products of `a / d` and `(a + b) / d`: the byte.
    exit: LinearMap,
}

impl Circuit {
    fn new(direction: Direction, tower: &Tower) -> Self {
        let entry: [u64; 8] = std::array::from_fn(|i| {
            let x = match direction {
                Direction::Encrypt => Gf8(1 << i),
                Direction::Decrypt => inverse_affine_linear(1 << i),
            };
            let (a, b) = tower.split(x);
            let linear = (tower.z.square() + tower.z) * a.square() + b.square();
            tower.forms(a)
                | tower.forms(b) << PRODUCT
                | tower.forms(a + b) << (2 * PRODUCT)
                | tower.coordinates(linear) << (3 * PRODUCT)
        });
        let products = tower.products();
        let norm: Vec<u64> =
            products.iter().map(|&c| tower.coordinates(c)).chain((0..4).map(|i| 1 << i)).collect();
        let exit = products.iter().map(|&c| c * tower.z).chain(products);
        let exit: Vec<u64> = exit
            .map(|x| match direction {
                Direction::Encrypt => affine_linear(x.0),
                Direction::Decrypt => x,
            })
            .map(|x| x.0.into())
            .collect();
        Circuit {
            direction,
            entry: LinearMap::new(&entry, 3 * PRODUCT + 4),
            norm: LinearMap::new(&norm, 4),
            forms: LinearMap::new(&tower.basis.map(|u| tower.forms(u)), PRODUCT),
            exit: LinearMap::new(&exit, 8),
        }
    }

    fn apply<G: Gates>(&self, g: &mut G, x: [G::Bit; 8]) -> [G::Bit; 8] {
        let x = match self.direction {
            Direction::Encrypt => x,
            Direction::Decrypt => add_constant(g, x),
        };
        let entry = self.entry.apply(g, &x);
        let (a, rest) = entry.split_at(PRODUCT);
        let (b, rest) = rest.split_at(PRODUCT);
        let (a_and_b, linear) = rest.split_at(PRODUCT);
        let mut norm = multiply(g, a, b);
        norm.extend_from_slice(linear);
        let d = self.norm.apply(g, &norm);
        let inverse = inverse([d[0], d[1], d[2], d[3]], g);
        let forms = self.forms.apply(g, &inverse);
        let mut products = multiply(g, &forms, a);
        products.extend(multiply(g, &forms, a_and_b));
        let y = self.exit.apply(g, &products);
        let y = std::array::from_fn(|i| y[i]);
        match self.direction {
            Direction::Encrypt => add_constant(g, y),
            Direction::Decrypt => y,
        }
    }
}

fn multiply<G: Gates>(g: &mut G, x: &[G::Bit], y: &[G::Bit]) -> Vec<G::Bit> {
    x.iter().zip(y).map(|(&x, &y)| g.and(x, y)).collect()
}

/// Adds the constant of the affine map. The inverse map is `L^-1(x + 63)`, so the same constant is added
/// there.
fn add_constant<G: Gates>(g: &mut G, mut x: [G::Bit; 8]) -> [G::Bit; 8] {
    for (_, x) in x.iter_mut().enumerate().filter(|(i, _)| AFFINE_CONSTANT.0 >> i & 1 == 1) {
        *x = g.not(*x);
    }
    x
}

/// Inversion in GF(2^4) (0 becomes 0), in the basis that [`Tower`] has for it: 5 ANDs, 4 levels (Boyar and
/// Peralta, section 4).
fn inverse<G: Gates>([x1, x2, x3, x4]: [G::Bit; 4], g: &mut G) -> [G::Bit; 4] {
    let t1 = g.xor(x1, x2);
    let t2 = g.and(x1, x3);
    let t3 = g.xor(x4, t2);
    let t4 = g.and(t1, t3);
    let y4 = g.xor(x2, t4);
    let t5 = g.xor(x3, x4);
    let t6 = g.xor(x2, t2);
    let t7 = g.and(t6, t5);
    let y2 = g.xor(x4, t7);
    let t8 = g.xor(x3, y2);
    let t9 = g.xor(t3, y2);
    let t10 = g.and(x4, t9);
    let y1 = g.xor(t10, t8);
    let t11 = g.xor(t3, t10);
    let t12 = g.and(y4, t11);
    let y3 = g.xor(t12, t1);
    [y1, y2, y3, y4]
}

/// The linear part of the affine map (FIPS 197, 5.1.1).
fn affine_linear(x: u8) -> Gf8 {
    Gf8((0..5).fold(0, |sum, i| sum ^ x.rotate_left(i)))
}

/// The linear part of its inverse.
fn inverse_affine_linear(x: u8) -> Gf8 {
    Gf8([1, 3, 6].into_iter().fold(0, |sum, i| sum ^ x.rotate_left(i)))
}

/// The tower GF(2^8) over GF(2^4) over GF(2^2) over GF(2), inside AES's field.
struct Tower {
    /// `s^2 = s + 1`.
    s: Gf8,
    /// `w^2 = w + m`, `m` in GF(2^2).
    w: Gf8,
    /// `z^2 = z + v`, `v` in GF(2^4).
    z: Gf8,
    /// The basis of GF(2^4) for [`inverse`].
    basis: [Gf8; 4],
}

/// The tower whose linear maps take the fewest XORs of all (test `no_tower_has_fewer_additions`).
const ENCRYPTION: Tower =
    Tower { s: Gf8(0xbc), w: Gf8(0x5d), z: Gf8(0xff), basis: [Gf8(0x0c), Gf8(0x51), Gf8(0xb0), Gf8(0xec)] };

/// The same for the inverse S-box.
const DECRYPTION: Tower = Tower { z: Gf8(0x42), ..ENCRYPTION };

impl Tower {
    /// `a` and `b` of `x = a z + b`.
    fn split(&self, x: Gf8) -> (Gf8, Gf8) {
        let a = x + squared(x, 4);
        (a, x + a * self.z)
    }

    /// The nine sums of bits of `u` that are multiplied: the nine products of such sums of two factors
    /// determine the product of the factors over GF(2^4).
    fn forms(&self, u: Gf8) -> u64 {
        let u1 = u + squared(u, 2);
        let u0 = u + u1 * self.w;
        let mut forms = 0;
        for (i, t) in [u1, u0 + u1, u0].into_iter().enumerate() {
            let t1 = t + t.square();
            let t0 = t + t1 * self.s;
            for (j, bit) in [t1, t0 + t1, t0].into_iter().enumerate() {
                forms |= u64::from(bit.0) << (3 * i + j);
            }
        }
        forms
    }

    /// What each of the nine products contributes to a product over GF(2^4).
    fn products(&self) -> [Gf8; PRODUCT] {
        let (upper, lower) =
            ([self.w.square() + self.w, self.w, Gf8::ONE + self.w], [Gf8::ONE, self.s, Gf8::ONE + self.s]);
        std::array::from_fn(|i| upper[i / 3] * lower[i % 3])
    }

    /// An element of GF(2^4) in the basis of [`inverse`].
    fn coordinates(&self, u: Gf8) -> u64 {
        (0..16).find(|&bits| combine(self.basis, bits) == u).unwrap_or_default()
    }
}

/// `x`, squared this many times.
fn squared(x: Gf8, squarings: usize) -> Gf8 {
    (0..squarings).fold(x, |x, _| x.square())
}

/// The element with these coordinates.
fn combine(basis: [Gf8; 4], bits: u64) -> Gf8 {
    let chosen = basis.into_iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
    chosen.map(|(_, x)| x).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::Build;
    use divisi_circuit::plain::Words;
    use divisi_core::{Bytes, Plain};

    #[test]
    fn the_circuit_is_the_sbox() {
        for d in [Direction::Encrypt, Direction::Decrypt] {
            // all 256 bytes in four words of 64 lanes
            for chunk in 0..4_u8 {
                let values: Vec<u8> = (0..64).map(|lane| 64 * chunk + lane).collect();
                let planes = std::array::from_fn(|i| {
                    values.iter().rev().fold(0, |word, value| word << 1 | u64::from(value >> i & 1))
                });
                let got = sbox(&mut Words, d, planes);
                let mut want = Plain.public(&values);
                Plain.sbox(d, &mut [&mut want]).unwrap();
                for (lane, &want) in want.values().iter().enumerate() {
                    let got = (0..8).fold(0, |byte, i| byte | ((got[i] >> lane & 1) as u8) << i);
                    assert_eq!(got, want, "{d:?} of {}", values[lane]);
                }
            }
        }
    }

    #[test]
    fn the_circuit_has_32_ands_in_6_levels() {
        assert_eq!(SBOX_ANDS, 32);
        for d in [Direction::Encrypt, Direction::Decrypt] {
            let mut g = Build::new();
            let x: [_; 8] = g.input(8).try_into().unwrap();
            let y = sbox(&mut g, d, x);
            g.output(&y);
            let program = g.finish();
            assert_eq!((program.and_count(), program.and_depth()), (SBOX_ANDS, 6));
        }
    }

    /// Whether this is a basis, and [`inverse`] inverts in it.
    fn inverts(basis: [Gf8; 4]) -> bool {
        (0..16).all(|bits: u64| {
            let x = combine(basis, bits);
            let wires = std::array::from_fn(|i| bits >> i & 1);
            let y = inverse(wires, &mut Words);
            let y = combine(basis, (0..4).fold(0, |sum, i| sum | (y[i] & 1) << i));
            (x == Gf8::ZERO) == (bits == 0) && y == x.inverse()
        })
    }

    fn additions(d: Direction, tower: &Tower) -> usize {
        let Circuit { entry, norm, forms, exit, .. } = Circuit::new(d, tower);
        [entry, norm, forms, exit].iter().map(LinearMap::additions).sum()
    }

    #[test]
    fn no_tower_has_fewer_additions() {
        let elements = || (0..=u8::MAX).map(Gf8);
        // A root of x^2 + x + c, for c in the smaller field, lies in the larger field exactly if its
        // conjugate is x + 1.
        let roots = |squarings: usize| {
            let is_root =
                move |&x: &Gf8| squared(x, squarings) == x + Gf8::ONE && squared(x, 2 * squarings) == x;
            elements().filter(is_root).collect::<Vec<_>>()
        };
        let below: Vec<Gf8> = elements().filter(|&x| squared(x, 4) == x).collect();
        let quadruples = (0..1 << 16).map(|i| [i, i >> 4, i >> 8, i >> 12].map(|i: usize| below[i % 16]));
        let bases: Vec<[Gf8; 4]> = quadruples.filter(|&basis| inverts(basis)).collect();
        for (d, chosen) in [(Direction::Encrypt, &ENCRYPTION), (Direction::Decrypt, &DECRYPTION)] {
            assert!(
                roots(1).contains(&chosen.s) && roots(2).contains(&chosen.w) && roots(4).contains(&chosen.z)
            );
            assert!(bases.contains(&chosen.basis));
            let fewest = additions(d, chosen);
            for s in roots(1) {
                for w in roots(2) {
                    for z in roots(4) {
                        let tower = |&basis: &[Gf8; 4]| Tower { s, w, z, basis };
                        assert!(bases.iter().all(|basis| additions(d, &tower(basis)) >= fewest));
                    }
                }
            }
        }
    }
}

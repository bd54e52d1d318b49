//! The fields of the black box, and the field in which products over each are verified.

use crate::verify::{Products, Statement};
use divisi_field::gf64::{PSI4_POWERS, PSI8_POWERS};
use divisi_field::{BigField, Field, Gf2, Gf4, Gf8, Gf64, Gf128, gf8};
use std::sync::OnceLock;
use zeroize::Zeroizing;

/// A field of the black box: GF(2^k) for k = 1, 4, 8, 64, 128.
pub trait Element: Inner {}

/// The operations that the black box needs of a field; sealed, so that no other crate can implement it.
pub trait Inner: Field {
    /// The field in which its products are verified.
    type Big: BigField;

    /// The embedding into that field: an injective homomorphism, so that a product is right exactly if its
    /// image is.
    fn embed(self) -> Self::Big;

    /// `x[i] = x[i] * y[i]`.
    fn mul_assign(x: &mut [Self], y: &[Self]);

    /// The dual basis of 1, X, X^2, .., computed once.
    fn dual_basis() -> &'static [Self];

    /// Add a statement to what is owed.
    fn owe(owed: &mut Products, statement: Box<dyn Statement<Self::Big>>);
}

/// The image of an element under the embedding that takes X^i to `powers[i]`, by the same operations whatever
/// the element is.
fn image(bits: u128, powers: &[Gf64]) -> Gf64 {
    let terms = powers.iter().enumerate();
    Gf64(terms.fold(0, |sum, (i, power)| sum ^ (power.0 & (bits as u64 >> i & 1).wrapping_neg())))
}

/// The absolute trace: the sum of all conjugates, 0 or 1.
fn trace<F: Field>(x: F) -> F {
    let (mut conjugate, mut sum) = (x, F::ZERO);
    for _ in 0..F::BITS {
        sum = sum + conjugate;
        conjugate = conjugate.square();
    }
    sum
}

/// The basis that is dual to 1, X, X^2, ..: the trace of `d_i X^j` is 1 if i = j, else 0.
fn dual_basis<F: Field>() -> Vec<F> {
    let power = |i: usize| F::from_low_bits(1 << i);
    // rows (trace(X^i X^j))_j beside X^i: when row operations have made them the unit matrix, the dual basis
    // stands beside it
    let gram = |i: usize| (0..F::BITS).fold(0, |row, j| row | trace(power(i) * power(j)).to_bits() << j);
    let mut rows: Vec<(u128, F)> = (0..F::BITS).map(|i| (gram(i), power(i))).collect();
    for j in 0..F::BITS {
        // the trace form is not degenerate: there is a pivot
        let Some(pivot) = (j..F::BITS).find(|i| rows[*i].0 >> j & 1 == 1) else { continue };
        rows.swap(j, pivot);
        let (row, beside) = rows[j];
        for (i, other) in rows.iter_mut().enumerate() {
            if i != j && other.0 >> j & 1 == 1 {
                *other = (other.0 ^ row, other.1 + beside);
            }
        }
    }
    rows.into_iter().map(|(_, dual)| dual).collect()
}

/// Products one by one.
fn each<F: Field>(x: &mut [F], y: &[F]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = *x * *y);
}

/// Products of bytes, many at once.
fn bytes(x: &mut [Gf8], y: &[Gf8]) {
    let (mut a, mut b) = (Zeroizing::new([0; 256]), Zeroizing::new([0; 256]));
    for (x, y) in x.chunks_mut(256).zip(y.chunks(256)) {
        let (a, b) = (&mut a[..x.len()], &mut b[..x.len()]);
        a.iter_mut().zip(&*x).for_each(|(a, x)| *a = x.0);
        b.iter_mut().zip(y).for_each(|(b, y)| *b = y.0);
        gf8::mul_slices(a, b);
        x.iter_mut().zip(&*a).for_each(|(x, a)| x.0 = *a);
    }
}

macro_rules! elements {
    ($($field:ty: $big:ty, $owed:ident, $multiply:path, $embed:expr;)*) => {
        $(
            impl Inner for $field {
                type Big = $big;

                fn embed(self) -> $big {
                    let embed: fn($field) -> $big = $embed;
                    embed(self)
                }

                fn mul_assign(x: &mut [$field], y: &[$field]) {
                    $multiply(x, y);
                }

                fn dual_basis() -> &'static [$field] {
                    static DUAL: OnceLock<Vec<$field>> = OnceLock::new();
                    DUAL.get_or_init(dual_basis)
                }

                fn owe(owed: &mut Products, statement: Box<dyn Statement<$big>>) {
                    owed.$owed.push(statement);
                }
            }

            impl Element for $field {}
        )*
    };
}

elements! {
    Gf2: Gf64, over_64, each, |x| Gf64(x.to_bits() as u64);
    Gf4: Gf64, over_64, each, |x| image(x.to_bits(), &PSI4_POWERS);
    Gf8: Gf64, over_64, bytes, |x| image(x.to_bits(), &PSI8_POWERS);
    Gf64: Gf64, over_64, BigField::mul_assign, |x| x;
    Gf128: Gf128, over_128, BigField::mul_assign, |x| x;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_an_embedding<F: Element<Big = Gf64>>() {
        let all: Vec<F> = (0..1_u128 << F::BITS).map(F::from_low_bits).collect();
        assert!(F::ONE.embed() == Gf64(1));
        for x in &all {
            for y in &all {
                assert!((*x * *y).embed() == x.embed() * y.embed());
                assert!((*x + *y).embed() == x.embed() + y.embed());
                assert!(x == y || x.embed() != y.embed());
            }
        }
    }

    #[test]
    fn products_are_right_here_exactly_if_they_are_there() {
        is_an_embedding::<Gf2>();
        is_an_embedding::<Gf4>();
        is_an_embedding::<Gf8>();
    }
}

//! The fields of the black box, and the field in which products over each are verified.

use super::additive::dual_basis;
use crate::verify::{Products, Statement};
use divisi_field::gf64::{PSI4_POWERS, PSI8_POWERS};
use divisi_field::{BigField, Field, Gf2, Gf4, Gf8, Gf64, Gf128, gf8};
use std::sync::OnceLock;
use zeroize::Zeroizing;

/// GF(2^k) for k = 1, 4, 8, 64, 128.
pub trait Element: Inner {}

/// What the black box needs of a field: nobody else can say it.
pub trait Inner: Field {
    /// Where its products are verified.
    type Big: BigField;

    /// The embedding into that field: a homomorphism, so that a product is right here exactly if it is there.
    fn embed(self) -> Self::Big;

    /// `x[i] = x[i] * y[i]`.
    fn mul_assign(x: &mut [Self], y: &[Self]);

    /// The basis that is dual to 1, X, X^2, .., made once.
    fn dual_basis() -> &'static [Self];

    /// A statement is owed.
    fn owe(owed: &mut Products, statement: Box<dyn Statement<Self::Big>>);
}

/// The image of an element under the embedding that takes X^i to `powers[i]`, whatever the element is.
fn image(bits: u128, powers: &[Gf64]) -> Gf64 {
    let terms = powers.iter().enumerate();
    Gf64(terms.fold(0, |sum, (i, power)| sum ^ (power.0 & (bits as u64 >> i & 1).wrapping_neg())))
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

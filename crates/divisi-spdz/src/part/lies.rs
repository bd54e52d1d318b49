//! Where small fields lie in those of the MACs, and which of them are multiplied there \[K10\].

use super::{Embeds, Mac};
use divisi_field::{Field, Gf6, Gf8, Gf40, Gf42, Gf48, Gf72, Holds};

/// How elements of a small field lie in a field of MACs.
pub trait Lies<V: Field>: Embeds<V> {
    /// Whether products do too, for the large field holds the small one. Else elements lie in it as
    /// coefficients of 1, y, y^2, ..: they are added, opened and looked up, and nothing that multiplies them
    /// is there.
    const FIELD: bool;

    /// Linear over GF(2), and the inverse of [`Embeds::embedded`]: of a sum whose terms lie anywhere but
    /// which itself lies in the small field, the projections of the terms add up to the element.
    fn projected(self) -> V;
}

/// Where the powers 1, g, g^2, .. of a small field's generator lie.
pub(crate) fn places<V: Field, F: Embeds<V>>() -> Vec<F> {
    (0..<V as Field>::BITS).map(|k| F::embedded(V::from_low_bits(1 << k))).collect()
}

/// A field of MACs under which the engine computes: bytes lie in it, and indices of DES. [`Lies::FIELD`] says
/// of either whether they are multiplied there.
pub trait Host: Mac + Lies<Gf8> + Lies<Gf6> {}

impl<F: Mac + Lies<Gf8> + Lies<Gf6>> Host for F {}

/// A small field in one that holds it.
macro_rules! held {
    ($($small:ident in $large:ident;)*) => { $(
        impl Embeds<$small> for $large {
            #[inline(always)]
            fn embedded(value: $small) -> $large {
                $large::embed(value)
            }
        }

        impl Lies<$small> for $large {
            const FIELD: bool = true;

            #[inline(always)]
            fn projected(self) -> $small {
                self.project()
            }
        }
    )* };
}

/// A small field in one that does not hold it.
macro_rules! beside {
    ($($small:ident in $large:ident;)*) => { $(
        impl Embeds<$small> for $large {
            #[inline(always)]
            fn embedded(value: $small) -> $large {
                $large::from_low_bits(value.to_bits())
            }
        }

        impl Lies<$small> for $large {
            const FIELD: bool = false;

            #[inline(always)]
            fn projected(self) -> $small {
                $small::from_low_bits(self.to_bits())
            }
        }
    )* };
}

held! {
    Gf8 in Gf40;
    Gf8 in Gf48;
    Gf8 in Gf72;
    Gf6 in Gf42;
    Gf6 in Gf48;
    Gf6 in Gf72;
}

beside! {
    Gf6 in Gf40;
    Gf8 in Gf42;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Part;

    /// Where bytes and indices of DES lie, what comes back of them, and where their products do too.
    #[test]
    fn small_fields_lie_in_large_ones() {
        fn lie<V: Field + Part + std::fmt::Debug, F: Host + Lies<V>>(field: bool) {
            let all: Vec<V> = (0..1 << <V as Field>::BITS).map(V::from_low_bits).collect();
            let mut products = true;
            for x in &all {
                assert_eq!(Lies::<V>::projected(F::embedded(*x)), *x);
                for y in &all {
                    assert!(F::embedded(*x + *y) == F::embedded(*x) + F::embedded(*y));
                    products &= F::embedded(*x * *y) == F::embedded(*x) * F::embedded(*y);
                }
            }
            assert_eq!((<F as Lies<V>>::FIELD, products), (field, field));
        }
        lie::<Gf8, Gf40>(true);
        lie::<Gf8, Gf42>(false);
        lie::<Gf8, Gf48>(true);
        lie::<Gf8, Gf72>(true);
        lie::<Gf6, Gf40>(false);
        lie::<Gf6, Gf42>(true);
        lie::<Gf6, Gf48>(true);
        lie::<Gf6, Gf72>(true);
    }
}

//! The types of shared values, which say of which elements their shares consist, and the fields of MACs.
//!
//! A value of a subfield, or of a GF(2)-linear part, of the MACs' field has shares in that part alone: a
//! share outside of it has no encoding \[K8\].

mod fields;
mod small;
mod words;

use crate::pages::Word;
use divisi_core::Prg;
use divisi_field::{Field, Gf2, Gf6, Gf8, MacField};
use std::ops::{Add, AddAssign};
pub use words::{Small, Word32};
use zeroize::Zeroize;

/// Something that can be shared and opened: an element of a vector space over GF(2).
pub trait Shareable:
    Copy + Default + PartialEq + Add<Output = Self> + AddAssign + Zeroize + Send + Sync + 'static
{
    /// The width of a value in bits.
    const BITS: usize;

    /// The length of `count` values in a message, in bytes.
    #[must_use]
    fn packed(count: usize) -> usize {
        (count * Self::BITS).div_ceil(8)
    }

    /// Append the encoding of the values to a message.
    fn pack(values: &[Self], out: &mut Vec<u8>);

    /// Decode as many values as `sum` has elements, and add them to `sum`; false if an encoding is invalid,
    /// or the message has another length.
    #[must_use]
    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool;

    /// Add uniform values from `prg` to `sum`.
    #[cfg_attr(feature = "testing", track_caller)]
    fn add_random(prg: &mut Prg, sum: &mut [Self]);
}

/// The embedding of a part in a field: GF(2)-linear and injective.
pub trait Embeds<V>: MacField {
    /// The image of a value.
    fn embedded(value: V) -> Self;

    /// The image of a public value, which may be looked up in a table.
    fn embedded_public(value: V) -> Self {
        Self::embedded(value)
    }
}

/// The embedding of a small field in a field of MACs.
pub trait Projects<V: Field>: Embeds<V> {
    /// Whether the embedding preserves products, because the small field is a subfield. Otherwise elements
    /// are embedded as coefficients of 1, y, y^2, ..: they can be added, opened and looked up, but not
    /// multiplied.
    const FIELD: bool;

    /// The projection to the small field: GF(2)-linear, and the inverse of [`Embeds::embedded`]. If a sum is
    /// in the small field, the projections of its terms, which may be any elements, add up to it.
    fn projected(self) -> V;
}

/// The images in F of 1, g, g^2, .., the powers of a small field's generator g.
pub(crate) fn places<V: Field, F: Embeds<V>>() -> Vec<F> {
    (0..<V as Field>::BITS).map(|k| F::embedded(V::from_low_bits(1 << k))).collect()
}

/// A field of MACs in which the engine computes: it embeds bytes, and indices of DES. [`Projects::FIELD`]
/// says for each whether the embedding preserves products.
pub trait Host: Mac + Projects<Gf8> + Projects<Gf6> {}

impl<F: Mac + Projects<Gf8> + Projects<Gf6>> Host for F {}

/// A field of MACs: at least 2^40 elements, so that one MAC a value is enough \[K9\].
pub trait Mac:
    MacField + Shareable + Embeds<Gf2> + Embeds<Small<4>> + Embeds<Small<6>> + Embeds<Word32> + Embeds<Self>
{
    /// A byte and its MAC, as stored in a table.
    type Entry: Word + Zeroize + Send + Sync + 'static;

    /// A byte and its MAC in one word.
    fn entry(x: Gf8, m: Self) -> Self::Entry;

    /// The byte and the MAC of an entry.
    fn parts(entry: Self::Entry) -> (Gf8, Self);
}

/// Add uniform elements to `sum`, each made of N bytes of `prg`.
#[cfg_attr(feature = "testing", track_caller)]
fn add_uniform<const N: usize, V: AddAssign>(prg: &mut Prg, sum: &mut [V], read: impl Fn([u8; N]) -> V) {
    let mut bytes = [0; N];
    for sum in sum {
        prg.fill(&mut bytes);
        *sum += read(bytes);
    }
    bytes.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_field::{Gf40, Gf42, Gf48, Gf72};

    fn round_trips<V: Shareable + std::fmt::Debug>() {
        let mut prg = Prg::new(&[1; 16]);
        for count in [1, 2, 3, 4, 5, 7, 8, 9, 63] {
            let mut values = vec![V::default(); count];
            V::add_random(&mut prg, &mut values);
            let mut body = Vec::new();
            V::pack(&values, &mut body);
            assert_eq!(body.len(), V::packed(count));
            let mut sum = vec![V::default(); count];
            assert!(V::add_packed(&body, &mut sum));
            assert_eq!(sum, values);
            assert!(V::add_packed(&body, &mut sum));
            assert_eq!(sum, vec![V::default(); count]);
            // another length is refused, and so is any bit beyond the last
            assert!(
                !V::add_packed(&body[1..], &mut sum) && !V::add_packed(&[&body[..], &[0]].concat(), &mut sum)
            );
            for bit in count * V::BITS..8 * body.len() {
                let mut other = body.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                assert!(!V::add_packed(&other, &mut sum), "{count} {bit}");
            }
        }
    }

    #[test]
    fn shares_are_not_printed() {
        assert_eq!(format!("{:?}", Word32(0x1234)), format!("{:?}", Word32(0)));
        assert_eq!(format!("{:?}", Small::<6>::new(33)), format!("{:?}", Small::<6>::new(0)));
        assert!(!format!("{:?} {:?}", Word32(71), Small::<8>::new(71)).contains("71"));
    }

    /// Embeddings of bytes and of indices of DES preserve sums, and products where `FIELD` says so;
    /// projections invert them.
    #[test]
    fn small_fields_lie_in_large_ones() {
        fn lie<V: Field + Shareable + std::fmt::Debug, F: Host + Projects<V>>(field: bool) {
            let all: Vec<V> = (0..1 << <V as Field>::BITS).map(V::from_low_bits).collect();
            let mut products = true;
            for x in &all {
                assert_eq!(Projects::<V>::projected(F::embedded(*x)), *x);
                assert!(F::embedded_public(*x) == F::embedded(*x));
                for y in &all {
                    assert!(F::embedded(*x + *y) == F::embedded(*x) + F::embedded(*y));
                    products &= F::embedded(*x * *y) == F::embedded(*x) * F::embedded(*y);
                }
            }
            assert_eq!((<F as Projects<V>>::FIELD, products), (field, field));
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

    #[test]
    fn encodings_are_those_of_their_part() {
        round_trips::<Gf2>();
        round_trips::<Small<4>>();
        round_trips::<Small<6>>();
        round_trips::<Small<8>>();
        round_trips::<Gf6>();
        round_trips::<Gf8>();
        round_trips::<Word32>();
        round_trips::<Gf40>();
        round_trips::<Gf48>();
        round_trips::<Gf72>();
        // a field whose elements end within a byte
        let mut sum = [Gf42::ZERO; 2];
        assert!(!Gf42::add_packed(&[0, 0, 0, 0, 0, 4], &mut sum[..1]));
        assert!(!Gf42::add_packed(&[0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0], &mut sum));
        let elements = [Gf42::ONE, Gf42::from_low_bits(u128::MAX)];
        let mut body = Vec::new();
        Gf42::pack(&elements, &mut body);
        assert_eq!(body.len(), Gf42::packed(2));
        assert!(Gf42::add_packed(&body, &mut sum) && sum == elements);
    }
}

//! What shares of a value are, by its type; and the field under whose MACs it lies.
//!
//! A value of a subfield or of a GF(2)-linear part of the MACs' field is shared by elements of that part
//! alone: a share that lies elsewhere has no encoding \[K8\].

use divisi_core::Prg;
use divisi_field::{Field, Gf2, Gf6, Gf8, Gf40, Gf42, Gf48, Gf72, Holds, MacField};
use std::fmt;
use std::ops::{Add, AddAssign};
use zeroize::Zeroize;

/// Something that can be shared and opened: an element of a vector space over GF(2).
pub trait Shareable:
    Copy + Default + PartialEq + Add<Output = Self> + AddAssign + Zeroize + Send + Sync + 'static
{
    /// How many bits one has.
    const BITS: usize;

    /// How many bytes so many of them take in a message.
    #[must_use]
    fn packed(count: usize) -> usize {
        (count * Self::BITS).div_ceil(8)
    }

    /// Append them to a message.
    fn pack(values: &[Self], out: &mut Vec<u8>);

    /// Add those of a message to `sum`, as many as it has elements; false if an encoding is none, or their
    /// number is another.
    #[must_use]
    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool;

    /// Add uniform ones.
    fn add_random(prg: &mut Prg, sum: &mut [Self]);
}

/// How a part lies in a field: linear over GF(2), and one to one.
pub trait Embeds<V>: MacField {
    /// The image of a value.
    fn embedded(value: V) -> Self;
}

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

/// A field of MACs: at least 2^40 elements, so that one MAC a value is enough \[K9\].
pub trait Mac:
    MacField + Shareable + Embeds<Gf2> + Embeds<Small<4>> + Embeds<Small<6>> + Embeds<Word32> + Embeds<Self>
{
    /// A byte and its MAC, as they lie in a table.
    type Entry: Copy + Default + Zeroize + Send + Sync + 'static;

    /// A byte and its MAC in one word.
    fn entry(x: Gf8, m: Self) -> Self::Entry;

    /// The byte and the MAC of an entry.
    fn parts(entry: Self::Entry) -> (Gf8, Self);
}

/// 32 bits of one piece: the coefficients of 1, y, .., y^31.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Word32(pub u32);

/// Without its bits, which may be a share.
impl fmt::Debug for Word32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Word(32 bits)")
    }
}

impl Add for Word32 {
    type Output = Self;
    #[allow(clippy::suspicious_arithmetic_impl)]
    fn add(self, other: Self) -> Self {
        Word32(self.0 ^ other.0)
    }
}

impl AddAssign for Word32 {
    #[allow(clippy::suspicious_op_assign_impl)]
    fn add_assign(&mut self, other: Self) {
        self.0 ^= other.0;
    }
}

impl zeroize::DefaultIsZeroes for Word32 {}

/// N bits, at most eight: an index or a value of a table, as the coefficients of 1, y, y^2, ...
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Small<const N: usize>(u8);

/// Without its bits, which may be a share.
impl<const N: usize> fmt::Debug for Small<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Small({N} bits)")
    }
}

impl<const N: usize> Small<N> {
    const ALL: u8 = ((1_u32 << N) - 1) as u8;

    /// The low bits.
    #[must_use]
    pub fn new(bits: u8) -> Self {
        Small(bits & Self::ALL)
    }

    /// The bits.
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }
}

impl<const N: usize> Add for Small<N> {
    type Output = Self;
    #[allow(clippy::suspicious_arithmetic_impl)]
    fn add(self, other: Self) -> Self {
        Small(self.0 ^ other.0)
    }
}

impl<const N: usize> AddAssign for Small<N> {
    #[allow(clippy::suspicious_op_assign_impl)]
    fn add_assign(&mut self, other: Self) {
        self.0 ^= other.0;
    }
}

impl<const N: usize> zeroize::DefaultIsZeroes for Small<N> {}

impl<F: MacField, const N: usize> Embeds<Small<N>> for F {
    #[inline(always)]
    fn embedded(value: Small<N>) -> F {
        F::from_low_bits(value.0.into())
    }
}

/// Eight in N bytes.
impl<const N: usize> Shareable for Small<N> {
    const BITS: usize = N;

    fn pack(values: &[Self], out: &mut Vec<u8>) {
        for values in values.chunks(8) {
            let bits = values.iter().rev().fold(0, |bits, x| bits << N | u64::from(x.0));
            out.extend_from_slice(&bits.to_le_bytes()[..Self::packed(values.len())]);
        }
    }

    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
        let mut padding = 0;
        for (values, bytes) in sum.chunks_mut(8).zip(bytes.chunks(N)) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            let mut bits = u64::from_le_bytes(word);
            for x in values {
                x.0 ^= bits as u8 & Self::ALL;
                bits = bits.checked_shr(N as u32).unwrap_or(0);
            }
            padding |= bits;
        }
        padding == 0 && bytes.len() == Self::packed(sum.len())
    }

    fn add_random(prg: &mut Prg, sum: &mut [Self]) {
        add_uniform(prg, sum, |[byte]: [u8; 1]| Small::new(byte));
    }
}

impl<F: MacField> Embeds<Gf2> for F {
    #[inline(always)]
    fn embedded(value: Gf2) -> F {
        F::from_low_bits(value.to_bits())
    }
}

impl<F: MacField> Embeds<Word32> for F {
    #[inline(always)]
    fn embedded(value: Word32) -> F {
        F::from_low_bits(value.0.into())
    }
}

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

/// Uniform elements, whole bytes each.
fn add_uniform<const N: usize, V: AddAssign>(prg: &mut Prg, sum: &mut [V], read: impl Fn([u8; N]) -> V) {
    let mut bytes = [0; N];
    for sum in sum {
        prg.fill(&mut bytes);
        *sum += read(bytes);
    }
    bytes.zeroize();
}

impl Shareable for Gf2 {
    const BITS: usize = 1;

    fn pack(values: &[Self], out: &mut Vec<u8>) {
        let byte = |bits: &[Gf2]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit.to_bits() as u8);
        out.extend(values.chunks(8).map(byte));
    }

    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
        let mut padding = 0;
        for (bits, byte) in sum.chunks_mut(8).zip(bytes) {
            bits.iter_mut().enumerate().for_each(|(i, bit)| *bit += Gf2::new(byte >> i));
            padding |= byte.checked_shr(bits.len() as u32).unwrap_or(0);
        }
        padding == 0 && bytes.len() == Self::packed(sum.len())
    }

    fn add_random(prg: &mut Prg, sum: &mut [Self]) {
        let mut byte = [0];
        for bits in sum.chunks_mut(8) {
            prg.fill(&mut byte);
            bits.iter_mut().enumerate().for_each(|(i, bit)| *bit += Gf2::new(byte[0] >> i));
        }
        byte.zeroize();
    }
}

impl Shareable for Gf6 {
    const BITS: usize = 6;

    fn pack(values: &[Self], out: &mut Vec<u8>) {
        for values in values.chunks(8) {
            let bits = values.iter().rev().fold(0, |bits, x| bits << 6 | x.to_bits() as u64);
            out.extend_from_slice(&bits.to_le_bytes()[..Self::packed(values.len())]);
        }
    }

    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
        let mut told = vec![Small::<6>::default(); sum.len()];
        let fine = Small::<6>::add_packed(bytes, &mut told);
        sum.iter_mut().zip(&told).for_each(|(x, bits)| *x += Gf6::new(bits.bits()));
        told.zeroize();
        fine
    }

    fn add_random(prg: &mut Prg, sum: &mut [Self]) {
        add_uniform(prg, sum, |[byte]: [u8; 1]| Gf6::new(byte));
    }
}

impl Shareable for Gf8 {
    const BITS: usize = 8;

    fn pack(values: &[Self], out: &mut Vec<u8>) {
        out.extend(values.iter().map(|x| x.0));
    }

    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
        sum.iter_mut().zip(bytes).for_each(|(x, byte)| x.0 ^= byte);
        bytes.len() == sum.len()
    }

    fn add_random(prg: &mut Prg, sum: &mut [Self]) {
        let mut bytes = [0; 256];
        for sum in sum.chunks_mut(256) {
            let bytes = &mut bytes[..sum.len()];
            prg.fill(bytes);
            sum.iter_mut().zip(bytes).for_each(|(x, byte)| x.0 ^= *byte);
        }
        bytes.zeroize();
    }
}

impl Shareable for Word32 {
    const BITS: usize = 32;

    fn pack(values: &[Self], out: &mut Vec<u8>) {
        out.extend(values.iter().flat_map(|x| x.0.to_le_bytes()));
    }

    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
        let (words, rest) = bytes.as_chunks::<4>();
        sum.iter_mut().zip(words).for_each(|(x, word)| x.0 ^= u32::from_le_bytes(*word));
        rest.is_empty() && words.len() == sum.len()
    }

    fn add_random(prg: &mut Prg, sum: &mut [Self]) {
        add_uniform(prg, sum, |bytes| Word32(u32::from_le_bytes(bytes)));
    }
}

/// A field is a part of itself.
macro_rules! fields {
    ($($field:ident, $entry:ty;)*) => { $(
        impl Embeds<$field> for $field {
            #[inline(always)]
            fn embedded(value: $field) -> $field {
                value
            }
        }

        impl Shareable for $field {
            const BITS: usize = <$field as Field>::BITS;

            /// Whole bytes each.
            fn packed(count: usize) -> usize {
                count * <$field as Field>::BYTES
            }

            fn pack(values: &[Self], out: &mut Vec<u8>) {
                values.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
            }

            fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
                let elements = bytes.chunks_exact(<$field as Field>::BYTES);
                let mut fine = bytes.len() == sum.len() * <$field as Field>::BYTES;
                for (x, element) in sum.iter_mut().zip(elements) {
                    let element = $field::from_le_bytes(element);
                    fine &= element.is_some();
                    *x += element.unwrap_or_default();
                }
                fine
            }

            fn add_random(prg: &mut Prg, sum: &mut [Self]) {
                add_uniform(prg, sum, |bytes: [u8; 16]| $field::from_low_bits(u128::from_le_bytes(bytes)));
            }
        }

        impl Mac for $field {
            type Entry = $entry;

            #[inline(always)]
            fn entry(x: Gf8, m: Self) -> $entry {
                <$entry>::from(x.0) | (m.to_bits() as $entry) << 8
            }

            #[inline(always)]
            fn parts(entry: $entry) -> (Gf8, Self) {
                (Gf8(entry as u8), $field::from_low_bits(u128::from(entry >> 8)))
            }
        }
    )* };
}

fields! {
    Gf40, u64;
    Gf42, u64;
    Gf48, u64;
    Gf72, u128;
}

#[cfg(test)]
mod tests {
    use super::*;

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
            // another length, and every bit beyond the last
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

    /// Where bytes and indices of DES lie, what comes back of them, and where their products do too.
    #[test]
    fn small_fields_lie_in_large_ones() {
        fn lie<V: Field + Shareable + std::fmt::Debug, F: Host + Lies<V>>(field: bool) {
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
        let elements = [Gf42::ONE, Gf42::from_low_bits(u128::MAX)];
        let mut body = Vec::new();
        Gf42::pack(&elements, &mut body);
        assert_eq!(body.len(), Gf42::packed(2));
        assert!(Gf42::add_packed(&body, &mut sum) && sum == elements);
    }
}

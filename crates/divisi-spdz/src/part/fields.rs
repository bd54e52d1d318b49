//! The fields of MACs, and the embeddings of small fields in them.

use super::{Embeds, Mac, Projects, Shareable, add_uniform};
use divisi_core::Prg;
use divisi_field::{Field, Gf6, Gf8, Gf40, Gf42, Gf48, Gf72, Holds};

/// A small field in one that holds it.
macro_rules! held {
    ($($small:ident in $large:ident;)*) => { $(
        impl Embeds<$small> for $large {
            #[inline(always)]
            fn embedded(value: $small) -> $large {
                $large::embed(value)
            }

            #[inline(always)]
            fn embedded_public(value: $small) -> $large {
                $large::embed_public(value)
            }
        }

        impl Projects<$small> for $large {
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

        impl Projects<$small> for $large {
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

            /// Each element takes whole bytes.
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

//! OHVerture: random one-hot vectors of any length to 2^16, and lookups in public tables by them (Symphony;
//! MAESTRO sections 3.3 to 3.5.4); by three factors of up to 2^24 entries.
//!
//! | | bits a party and vector | rounds | relations over GF(2^64) |
//! |---|---|---|---|
//! | [`BlackBox::rohv_rss`]: `[r]`, `[e^(r)]`, r of k bits | 2^k - k - 1 | ceil(log2 k) | 1 |
//! | [`BlackBox::rohv_add`]: `[r]`, `<e^(r)>` | those of two vectors of half the bits | those of a half | 2 |
//! | [`BlackBox::lookup`]: `[x]` to `[T(x)]`, by the first | k | 1 | |
//! | [`BlackBox::lookup_additive`]: `[x]` to `<T(x)>`, by the second | k | 1 | |
//! | [`BlackBox::lookup_sqrt`]: `[x]` to `[T(x)]`, by the second | k and the entry's bits | 2 | 2^(k/2) products |
//! | [`BlackBox::lookup_of_additive`], [`BlackBox::lookup_additive_of_additive`]: `<x>` to `[T(x)]`, `<T(x)>`, and `[x]` | 2 k | 1 | the products in x |
//! | [`BlackBox::lookup_cube`], [`BlackBox::sample_cube`]: by three factors, see [`Cube`] | k and 2^(k/3) entries | 3 | some 2^(k/3) products |
//! | [`BlackBox::sample`], [`BlackBox::sample_additive`]: T(r) for a random r that nobody knows | 0 | 0 | |
//!
//! [`Dimensions::of`] says which way is cheapest for a table, and [`HeldTable`] takes it
//! ([`BlackBox::one_hots`], [`BlackBox::look_up`]). For example, a replicated vector of 16 entries
//! takes 11 bits in 2 rounds, an additive one of 256 entries 22 bits in 2 rounds. (Test
//! `vectors_and_lookups_cost_what_the_table_says`.)
//!
//! The form with square-root cost is MAESTRO's Protocol 10 by its description in section 3.5.4 and the last
//! row of Table 4. With e^(r) the tensor product of two vectors of half the bits, T(c + r) is the sum over i
//! of `e_i g_i`, where `g_i` is the sum over j of `T(c + (i, j)) e'_j`: linear in the second vector, since c
//! is public. That is an inner product of 2^(k/2) replicated pairs (the paper counts 2^k), of which
//! weakDotProduct gives a replicated sharing in one Reshare, and F_verify one check.
//!
//! `crate::ohv` makes vectors in a way of its own, because S-boxes need 16 or 256 entries, each monomial as a
//! bit plane of 512 vectors; here vectors have any length, and the bits of one vector stand side by side in
//! words.
//!
//! **Adversary**: one malicious party of three.
//!
//! - An error can be added to each product of a vector, and to a Reshare. All are owed to
//!   [`BlackBox::verify_mul`] \[A17, A18\], which fails exactly if there is one, whatever the secrets are
//!   (`relation.rs`: one relation a vector is enough). Until then a vector may be used: its r is random in
//!   any case, and what rests on its products is opened under a mask or not at all.
//! - c = x + r is opened replicated, under an r that nobody knows and that is used once: a vector is taken by
//!   value, nothing copies it, and its number enters the view when it is used, with the call and the table
//!   \[A18\]. Each opening is compared in the round of the next one, before anything that rests on it is
//!   digested \[A22\], and the last one before any output \[S1\].
//! - An additive opening is not bound to the index: each party sends its share of c to both others, under a
//!   share of zero \[A16\], and an error that it adds is one of the products in x, which are owed with r + c
//!   as their sum.
//! - The share of an additive result is a function of components that its receiver partly knows: it leaves
//!   only through [`BlackBox::reshare`], under a fresh share of zero \[A16, A19\].
//!
//! A lie is missed with probability at most (5 + 2 ceil(log2 N))/2^64 for N terms: a relation is one term,
//! and a lookup of square-root cost 2^(k/2) terms.
//!
//! Vectors are kept as their products, 2^k bits in each component; a message holds about a megabyte, and a
//! call makes at most [`MAX_BYTES`]. In the count of [`crate::blackbox::PIECE`], owed vectors stand for as
//! many terms as would take their memory. A call that expands them into products or entries, of which there
//! are many more, refuses more than [`PIECE`] of these: the caller splits the vectors.
//!
//! ```
//! use divisi_core::PartyId;
//! use divisi_field::Gf8;
//! use divisi_rep3::{blackbox::BlackBox, local, ohverture::HeldTable};
//!
//! // how many bits of the first party's bytes are set, looked up in a table of 256 entries
//! let entries: Vec<Gf8> = (0..=255_u8).map(|x| Gf8(x.count_ones() as u8)).collect();
//! let table = HeldTable::new(&entries).unwrap();
//! let bytes = [0x00, 0x53, 0xff].map(Gf8);
//! let counts = local::run(|trio| {
//!     let one = PartyId::P1;
//!     let mut b = BlackBox::new(trio);
//!     let mine = (b.me() == one).then_some(&bytes[..]);
//!     let x = b.input(one, mine, bytes.len())?;
//!     let vectors = b.one_hots(&table, bytes.len())?; // before anybody has a byte, if need be
//!     let looked_up = b.look_up(&table, &[(&x, 8)], vectors)?;
//!     b.output(&looked_up) // verifies, and then opens
//! })?;
//! assert!(counts.iter().all(|counts| counts[..] == [0, 4, 8].map(Gf8)));
//! # Ok::<(), divisi_core::Abort>(())
//! ```

mod cube;
mod dimensions;
mod lookup;
mod lookups;
pub(crate) mod make;
mod relation;
mod table;

use crate::checks;
pub use cube::{Cube, MAX_CUBE_BITS, MAX_CUBE_WIDTH, OneHotsCube};
pub use dimensions::Dimensions;
pub use lookups::{FactoredOneHots, HeldTable};
pub use table::{LookupTable, MAX_BITS};

use crate::blackbox::{Additive, BlackBox, Misfit, Origin, PIECE, Shared, TERM_BYTES};
use crate::share::Rep;
use crate::share::constant_component;
use divisi_core::{Abort, Misuse, Step, step};
use divisi_field::{Field, Gf2, Gf64};
use make::{Monomials, mask, words};
use std::ops::Range;
use std::sync::Arc;
use zeroize::Zeroizing;

const VECTORS: Step = step!("vectors");

/// The most bytes of vectors that one call makes.
pub const MAX_BYTES: usize = 1 << 28;

/// Replicated one-hot vectors `[e^(r)]`, with `[r]`, for a single use: they cannot be copied.
pub struct OneHotsRss {
    made: Arc<Monomials>,
    lot: Lot,
}

/// One-hot vectors of which each party has an additive share, `<e^(r)>`, with `[r]`, for a single use: they
/// cannot be copied.
pub struct OneHotsAdd {
    low: Arc<Monomials>,
    /// `None` for vectors of one bit, which have no other half.
    high: Option<Arc<Monomials>>,
    lot: Lot,
}

/// Which vectors these are: a range of those that one call made.
struct Lot {
    number: u64,
    range: Range<usize>,
    origin: Origin,
    rests_on: u64,
}

impl Lot {
    /// The first `n`, and the rest.
    fn split(self, n: usize) -> Option<[Lot; 2]> {
        let middle = self.range.start.checked_add(n).filter(|middle| *middle <= self.range.end)?;
        let part = |range| Lot { range, ..self };
        Some([part(self.range.start..middle), part(middle..self.range.end)])
    }
}

impl OneHotsRss {
    /// The number of vectors.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lot.range.len()
    }

    /// The first `n`, and the rest; `None` if there are fewer.
    #[must_use]
    pub fn split(self, n: usize) -> Option<[OneHotsRss; 2]> {
        let OneHotsRss { made, lot } = self;
        Some(lot.split(n)?.map(|lot| OneHotsRss { made: Arc::clone(&made), lot }))
    }
}

impl OneHotsAdd {
    /// The number of vectors.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lot.range.len()
    }

    /// The first `n`, and the rest; `None` if there are fewer.
    #[must_use]
    pub fn split(self, n: usize) -> Option<[OneHotsAdd; 2]> {
        let OneHotsAdd { low, high, lot } = self;
        Some(lot.split(n)?.map(|lot| OneHotsAdd { low: Arc::clone(&low), high: high.clone(), lot }))
    }

    /// Bits of an index.
    fn k(&self) -> usize {
        self.low.k + self.high.as_ref().map_or(0, |high| high.k)
    }
}

impl BlackBox {
    /// rOHVrss(2^k, L): `[r]` and `[e^(r)]` for `count` random r of k bits. The products are owed to
    /// verify_mul.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless k is 1 to 16, and for no vectors or too many of them ([`MAX_BYTES`]); the
    /// abort that ends the session.
    pub fn rohv_rss(&mut self, k: usize, count: usize) -> Result<OneHotsRss, Abort> {
        self.demand_size(k, k, count)?;
        let mut made = make::make(&mut self.trio, &[k], count)?;
        let made = Arc::new(made.pop().unwrap_or_default());
        self.owe_vectors(&made)?; // [A17]
        Ok(OneHotsRss { made, lot: self.lot(count) })
    }

    /// rOHVadd(2^k, L): `[r]` and `<e^(r)>` for `count` random r of k bits, as the tensor product of two
    /// replicated vectors of half the bits. The products are owed to verify_mul.
    ///
    /// # Errors
    /// The errors of [`BlackBox::rohv_rss`].
    pub fn rohv_add(&mut self, k: usize, count: usize) -> Result<OneHotsAdd, Abort> {
        self.demand_size(k, k.div_ceil(2), count)?;
        let sizes = [k.div_ceil(2), k / 2];
        let sizes = if k == 1 { &sizes[..1] } else { &sizes };
        let mut made = make::make(&mut self.trio, sizes, count)?.into_iter().map(Arc::new);
        let (low, high) = (made.next().unwrap_or_default(), made.next());
        self.owe_vectors(&low)?; // [A17]
        high.iter().try_for_each(|high| self.owe_vectors(high))?; // [A18]
        Ok(OneHotsAdd { low, high, lot: self.lot(count) })
    }

    /// `[r]` and the entries of `[e^(r)]`, vector by vector, for uses other than lookups.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for vectors of another black box, or more than [`PIECE`] entries: split the vectors.
    pub fn entries(&mut self, vectors: OneHotsRss) -> Result<(Shared<Gf64>, Vec<Shared<Gf2>>), Abort> {
        self.demand_products(vectors.count() << vectors.made.k)?;
        self.take("entries", vectors.made.k, None, &vectors.lot)?;
        let OneHotsRss { made, lot } = vectors;
        let r = self.numbers(&[(&made, 0)], &lot);
        let each = lot.range.clone().map(|l| self.entries_of(&made, l, lot.rests_on)).collect();
        Ok((r, each))
    }

    /// `[r]` and the entries of `<e^(r)>`, vector by vector, for uses other than lookups.
    ///
    /// # Errors
    /// The errors of [`BlackBox::entries`].
    pub fn entries_additive(
        &mut self,
        vectors: OneHotsAdd,
    ) -> Result<(Shared<Gf64>, Vec<Additive<Gf2>>), Abort> {
        self.demand_products(vectors.count() << vectors.k())?;
        self.take("entries_additive", vectors.k(), None, &vectors.lot)?;
        let (k, low_bits) = (vectors.k(), vectors.low.k);
        let r = self.numbers(&vectors.halves(), &vectors.lot);
        let mut each = Vec::with_capacity(vectors.count());
        for l in vectors.lot.range.clone() {
            let low = self.entries_of(&vectors.low, l, vectors.lot.rests_on);
            let high = match &vectors.high {
                Some(high) => self.entries_of(high, l, vectors.lot.rests_on),
                None => self.public(&[Gf2::ONE])?,
            };
            let pick = |x: &Shared<Gf2>, at: &dyn Fn(usize) -> usize| {
                let index: Vec<usize> = (0..1 << k).map(at).collect();
                divisi_core::Lanes::gather(x, &index)
            };
            let pair = (pick(&low, &|j| j & ((1 << low_bits) - 1)), pick(&high, &|j| j >> low_bits));
            let (Some(low), Some(high)) = pair else {
                return Err(self.trio.session.misuse(VECTORS, Misuse::LengthDiffers));
            };
            each.push(self.local_mul(&low, &high)?);
        }
        Ok((r, each))
    }

    /// The entries of one vector.
    fn entries_of(&mut self, made: &Monomials, l: usize, rests_on: u64) -> Shared<Gf2> {
        let constant = constant_component(self.trio.me());
        let [a, b] = [0, 1].map(|side| {
            let mut entries = Zeroizing::new(Vec::with_capacity(words(made.k)));
            table::entries(made.vector(side, l), made.k, constant == Some(side), &mut entries);
            (0..1 << made.k).map(|j| Gf2::new(mask(&entries, j) as u8)).collect()
        });
        self.shared(Rep { a, b }, rests_on)
    }

    /// `[r]` of vectors whose halves begin at these bits: it rests on no product.
    fn numbers(&self, halves: &[(&Monomials, usize)], lot: &Lot) -> Shared<Gf64> {
        let side = |side: usize| {
            let number = |l| halves.iter().fold(0, |r, (half, at)| r | half.number(side, l) << at);
            lot.range.clone().map(|l| Gf64(number(l))).collect()
        };
        self.shared(Rep { a: side(0), b: side(1) }, 0)
    }

    fn lot(&mut self, count: usize) -> Lot {
        let number = self.trio.session.count("ohverture vectors");
        Lot { number, range: 0..count, origin: self.origin, rests_on: self.statements }
    }

    /// Note in the view which vectors are used, so that all parties use the same ones, in the same call and
    /// the same table \[A18\].
    fn take(
        &mut self,
        call: &'static str,
        k: usize,
        table: Option<&[u8; 32]>,
        lot: &Lot,
    ) -> Result<(), Abort> {
        self.demand(VECTORS, lot.origin == self.origin, Misfit::Origin)?;
        if !self.verifies() {
            return Ok(());
        }
        let place = [lot.number, lot.range.start as u64, lot.range.end as u64, k as u64];
        let place = place.map(u64::to_le_bytes);
        let table = table.map_or(&[][..], |digest| digest);
        self.trio.absorb(call, &[place.as_flattened(), table].concat());
        self.trio.session.observe(checks::A18); // [A18]
        Ok(())
    }

    /// The products of vectors are owed a verification: one relation a vector.
    fn owe_vectors(&mut self, made: &Arc<Monomials>) -> Result<(), Abort> {
        if made.k > 1 {
            let products = ((1 << made.k) - made.k - 1) * made.count;
            self.relations += made.count as u64;
            let relations = Box::new(relation::Products(Arc::clone(made)));
            self.owe::<Gf64>(relations, products as u64, weight(made.k, made.count))?;
        }
        Ok(())
    }

    /// Demand that a call does not expand so many vectors that their products fill the memory.
    fn demand_products(&mut self, products: usize) -> Result<(), Abort> {
        if products as u64 <= PIECE {
            return Ok(());
        }
        Err(self.trio.session.misuse(VECTORS, Misuse::TooLarge))
    }

    fn demand_size(&mut self, k: usize, largest: usize, count: usize) -> Result<(), Abort> {
        let fits = (1..=MAX_BITS).contains(&k)
            && count > 0
            && words(largest)
                .checked_mul(2 * 8 * 2)
                .and_then(|n| n.checked_mul(count))
                .is_some_and(|n| n <= MAX_BYTES);
        if fits {
            return Ok(());
        }
        Err(self.trio.session.misuse(VECTORS, Misuse::LengthUnsupported))
    }
}

/// For how many terms vectors count while they are owed: one for each relation, or more if their memory is
/// that of more terms.
fn weight(k: usize, count: usize) -> u64 {
    count.max(bytes(k, count) / TERM_BYTES) as u64
}

/// Bytes of vectors, both components.
fn bytes(k: usize, count: usize) -> usize {
    2 * 8 * words(k) * count
}

impl OneHotsAdd {
    /// Its halves, with the bit at which each begins.
    fn halves(&self) -> Vec<(&Monomials, usize)> {
        let high = self.high.iter().map(|high| (&**high, self.low.k));
        std::iter::once((&*self.low, 0)).chain(high).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_fuzz::repetitions;

    #[test]
    fn what_is_owed_holds_no_more_memory_than_it_counts_for() {
        for k in 1..=MAX_BITS {
            for count in [1, 7, 8192] {
                let weight = weight(k, count) as usize;
                assert!(weight >= count && bytes(k, count) < (weight + 1) * TERM_BYTES, "{k} {count}");
            }
        }
        assert!(weight(16, 8192) > PIECE);
    }

    /// Vectors of many bits are verified when their memory is much, though they are few relations. By default
    /// the box owes so much before that some more vectors suffice.
    #[test]
    fn vectors_are_verified_when_they_take_much_memory() {
        let many = repetitions(256, PIECE as usize * TERM_BYTES / bytes(16, 1));
        let verified = crate::local::run(|trio| {
            let b = &mut BlackBox::new(trio);
            b.terms = PIECE - 4 * weight(16, many / 4);
            let mut verified = Vec::new();
            for _ in 0..4 {
                b.rohv_rss(16, many / 4)?;
                verified.push(b.trio.session.meter().read().checks.contains_key(&checks::S2));
            }
            Ok(verified)
        });
        assert!(verified.unwrap().iter().all(|verified| *verified == [false, false, false, true]));
    }
}

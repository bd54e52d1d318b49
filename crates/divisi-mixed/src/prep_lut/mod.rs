//! Functionality F_prep-LUT: GYKW, Figure 4. It makes shares of masked tables T'\[j\] = T\[r xor j\], and of
//! their masks r, before the indices are known.
//!
//! | command | tables | function | protocol |
//! |---|---|---|---|
//! | MaskedPubTab | any of two entries | [`dabit`](crate::dabit::dabit) | Figure 6 (`prep_lut_size2`) |
//! | | the same, by transfers | [`cot::dabit`] | docs/mixed.md, 2 |
//! | | any of 2 to 256 entries | [`Mixed::prep_lut`] | Figure 7, case 1 |
//! | MaskedPriTab | the same, by triples | [`Mixed::prep_lut`]; [`Mixed::lookup_private`] has the rest | Figure 7, case 2 |
//! | | the same, by ciphertexts | [`prep_lut_polysize`] | Figure 7, case 2 |
//! | | two vectors of N numbers | [`prep_lut_vectors`] | Figure 6, special case of section 4.1 |
//!
//! In the Walsh basis ([`crate::table`]) the masks and signs of public tables serve every table of their
//! size. So [`Mixed::prep_lut`] takes none. Adversary: semi-honest, all parties but one. A party's signs are
//! hidden as those of random bits are (docs/mixed.md, 2; docs/bgv.md, 5, 6 and 9). Cost of a lookup among M
//! entries: M - 1 bits in both worlds. For private tables by triples also M - 1 triples for each number of
//! the entry, and one opening more (test `lookups_of_all_sizes`).

mod polysize;
pub(crate) mod size2;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use crate::vectors::{MaskedVectors, prep_lut_vectors};
pub use polysize::{Masked, at_once, prep_lut_polysize};

use crate::cot;
use crate::gmw::PREPROCESSING;
use crate::mixed::Mixed;
use crate::random::RandomBits;
use crate::table::{MOST, Signs};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, Step, step};
use zeroize::Zeroizing;

const SIGNS: Step = step!("signs");

impl Mixed {
    /// (MaskedPubTab) Figure 7, steps 1 to 4, for all tables of 2^width entries: makes masks r and signs
    /// (-1)^<k,r> for `count` lookups.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if `width` is not 1 to 8, or `count` is zero; the abort that ends the session, if a
    /// link or a check fails.
    pub fn prep_lut(&mut self, width: usize, count: usize) -> Result<Signs, Abort> {
        if !(1..=MOST).contains(&width) || count == 0 {
            return Err(self.session().misuse(SIGNS, Misuse::OutOfRange));
        }
        let each = (1 << width) - 1;
        // with ciphertexts, as many lookups are made together as fit the slots of one
        let whole = self.together();
        let most = cot::most(self.session().parties());
        let batch = whole.map_or(most / each, |slots| slots / each).max(1);
        let mut all = RandomBits::default();
        for first in (0..count).step_by(batch) {
            let here = batch.min(count - first);
            // 1. <r>: each party draws its own r_i
            let mut drawn = Zeroizing::new(vec![0; here]);
            self.own().words(&mut drawn);
            let mut bits = WipedVec::zeros(whole.unwrap_or(here * each));
            // unused slots get random signs, because the bounds on noise assume random signs
            if let Some(unused) = bits.get_mut(here * each..).filter(|unused| !unused.is_empty()) {
                self.own().words(unused);
                unused.iter_mut().for_each(|bit| *bit &= 1);
            }
            // 2. its signs (-1)^<k,r_i>, whatever the table is
            for (bits, r) in bits.chunks_mut(each).zip(drawn.iter()) {
                for (bit, k) in bits.iter_mut().zip(1_u64..) {
                    *bit = u64::from((k & r).count_ones() & 1);
                }
            }
            // 3. and 4. shares modulo p of the same bits
            all.append(self.dabit_of(bits)?.first(here * each));
        }
        Ok(Signs::new(width, all))
    }

    /// [`Mixed::prep_lut`], with costs counted as preprocessing.
    ///
    /// # Errors
    /// It fails as [`Mixed::prep_lut`] does.
    pub fn prep_lut_ahead(&mut self, width: usize, count: usize) -> Result<Signs, Abort> {
        let place = self.session().detour(PREPROCESSING);
        let made = self.prep_lut(width, count);
        self.session().back(place);
        made
    }
}

//! **Table Lookup** of F_ABB-LUT on values of several bits (KOR+17, Fig. 3 and Protocol 1): any public table
//! of up to ten bits in and sixteen bits out.
//!
//! A value has one MAC for all its bits, the coefficients of 1, y, y^2, ... So an index is opened as it is,
//! and an entry is a sum of entries of the unit vector, weighed by public elements: only the entry at the
//! opened place is computed.

use super::{PREPROCESSING_PHASE, Spdz};
use crate::checks;
use crate::part::{Host, Mac, Word32};
use crate::share::Auth;
use crate::source::Units;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Misuse, PartyId, Step, Verified, step};
use divisi_field::{Field, Gf2};
use std::ops::Range;
use zeroize::Zeroizing;

const SHAPE: Step = step!("values");
const OPEN: Step = step!("values.2");
const OUTPUT: Step = step!("values.output");

/// A public table, whose number of entries is a power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicTable {
    index: usize,
    width: usize,
    values: Vec<u16>,
}

impl PublicTable {
    /// The largest number of bits of an index: 1,024 entries.
    pub const MOST_INDEX: usize = 10;
    /// The largest number of bits of an entry.
    pub const MOST_WIDTH: usize = 16;

    /// A table with these entries of `width` bits; `None` unless it has 2 to 1,024 entries, a power of two,
    /// each below 2^`width`, and `width` is 1 to 16.
    #[must_use]
    pub fn new(width: usize, values: Vec<u16>) -> Option<PublicTable> {
        let index = values.len().trailing_zeros() as usize;
        let sized = values.len().is_power_of_two() && (1..=Self::MOST_INDEX).contains(&index);
        let fits = (1..=Self::MOST_WIDTH).contains(&width)
            && values.iter().all(|value| u32::from(*value) >> width == 0);
        (sized && fits).then_some(PublicTable { index, width, values })
    }

    /// The number of bits of an index.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The number of bits of an entry.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The entry at a place, of which only the bits of an index count.
    #[must_use]
    pub fn entry(&self, place: usize) -> u16 {
        self.values.get(place & (self.values.len() - 1)).copied().unwrap_or(0)
    }
}

/// A secret value of up to sixteen bits in every lane, with one MAC.
#[derive(Clone)]
pub struct AuthValue<F: Mac> {
    word: Auth<Word32, F>,
    width: usize,
}

impl<F: Mac> Lanes for AuthValue<F> {
    fn lanes(&self) -> usize {
        self.word.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        Some(AuthValue { word: self.word.gather(index)?, width: self.width })
    }
}

/// Unit vectors for tables of one size, and how many of them were used.
pub(super) struct Vectors<F: Mac> {
    units: Units<F>,
    log: usize,
    used: usize,
}

impl<F: Mac> Vectors<F> {
    fn left(&self) -> usize {
        self.units.lanes - self.used
    }
}

/// Bits that lie plane by plane as words, the first plane lowest; local.
fn words<F: Host>(
    bits: &Auth<Gf2, F>,
    planes: impl Iterator<Item = Range<usize>>,
    lanes: usize,
) -> Auth<Word32, F> {
    let mut out = Auth::<Word32, F>::zeros(lanes);
    let planes: Vec<Range<usize>> = planes.collect();
    for (k, plane) in planes.iter().enumerate() {
        let bits = bits.x[plane.clone()].iter();
        out.x.iter_mut().zip(bits).for_each(|(word, bit)| word.0 |= (bit.to_bits() as u32) << k);
    }
    let powers: Vec<F> = (0..planes.len()).map(|k| F::from_low_bits(1 << k)).collect();
    let rows: Vec<&[F]> = planes.iter().map(|plane| &bits.m[plane.clone()]).collect();
    F::combine(&mut out.m, &powers, &rows);
    out
}

impl<F: Host> Spdz<F> {
    /// **Input** of values of `width` bits, which `owner` alone gives, as [`Spdz::input`] does.
    ///
    /// # Errors
    /// Those of [`Spdz::input`]; [`Abort::Misuse`] for a width that is not 1 to 16, or a value that has more
    /// bits.
    #[inline(never)]
    pub fn input_values(
        &mut self,
        owner: PartyId,
        values: Option<&[u16]>,
        width: usize,
        lanes: usize,
    ) -> Result<AuthValue<F>, Abort> {
        let fits = |values: &[u16]| values.iter().all(|value| u32::from(*value) >> width == 0);
        if !(1..=PublicTable::MOST_WIDTH).contains(&width) || !values.is_none_or(fits) {
            return Err(self.party.session.misuse(SHAPE, Misuse::LengthDiffers));
        }
        let planes = values.map(|values| {
            let plane = |k: usize| values.iter().map(move |value| value >> k & 1 == 1);
            Zeroizing::new((0..width).flat_map(plane).collect::<Vec<bool>>())
        });
        let bits = self.input_bits(owner, planes.as_ref().map(|planes| planes.as_slice()), width * lanes)?;
        Ok(AuthValue { word: words(&bits, (0..width).map(|k| k * lanes..(k + 1) * lanes), lanes), width })
    }

    /// Make and check unit vectors for this many lookups in tables with indices of `log` bits, before inputs
    /// are known. Those left from earlier calls are dropped.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless `log` is 1 to 10; otherwise the abort that ends the session.
    #[inline(never)]
    pub fn preprocess_values(&mut self, log: usize, lookups: usize) -> Result<(), Abort> {
        if !(1..=PublicTable::MOST_INDEX).contains(&log) {
            return Err(self.party.session.misuse(SHAPE, Misuse::CircuitUnfit));
        }
        self.vectors.retain(|vectors| vectors.log != log);
        if lookups == 0 {
            return Ok(());
        }
        let phase = self.party.session.detour(PREPROCESSING_PHASE);
        let units = self.units(log, lookups);
        self.party.session.back(phase);
        self.vectors.push(Vectors { units: units?, log, used: 0 });
        Ok(())
    }

    /// **Table Lookup** (Fig. 3, Protocol 1) of every lane in a public table.
    ///
    /// 1. Take a unit vector s' for each lookup, with its one at a position s that nobody knows, which no
    ///    other lookup uses \[K2\]. 2. Open h = x + s. 3. \[\[T(x)\]\] = \[\[T(h + s)\]\], the sum of
    ///    T(h + j) \[\[s'_j\]\] over all j, is local.
    ///
    /// Adversary: n - 1 malicious; a wrong h gives a wrong entry with a right MAC, and fails the next check
    /// \[K1\].
    /// Cost: the bits of an index for each lookup to each peer, one round (test `tables_of_many_sizes`).
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the value has another width than an index; otherwise the abort that ends the
    /// session.
    #[inline(never)]
    pub fn look_up_value(&mut self, table: &PublicTable, x: &AuthValue<F>) -> Result<AuthValue<F>, Abort> {
        let (log, lanes) = (table.index, x.word.len());
        if x.width != log {
            return Err(self.party.session.misuse(SHAPE, Misuse::OutOfRange));
        }
        let left = self.vectors.iter().find(|vectors| vectors.log == log).map_or(0, Vectors::left);
        if left < lanes {
            self.preprocess_values(log, lanes)?;
        }
        let Spdz { party, vectors, .. } = self;
        let Some(vectors) = vectors.iter_mut().find(|vectors| vectors.log == log) else {
            // there are no lanes
            return Ok(AuthValue { word: Auth::zeros(0), width: table.width });
        };
        // 1.
        let (from, all) = (vectors.used, vectors.units.lanes);
        vectors.used += lanes; // [K2]
        party.session.observe_each(checks::K2, lanes as u64);
        let units = &vectors.units;
        // 2.
        let mut h = x.word.clone();
        let s = words(&units.s, (0..log).map(|k| k * all + from..k * all + from + lanes), lanes);
        party.mask(&mut h, &s)?;
        let opened = party.open_pieces(OPEN, std::slice::from_ref(&h), &[log])?;
        // 3.
        let mut out = Auth::<Word32, F>::zeros(lanes);
        let size = 1_usize << log;
        let (mut weights, mut macs) = (vec![F::ZERO; size], WipedVec::zeros(size));
        for (lane, h) in opened.iter().flatten().enumerate() {
            for (j, (weight, mac)) in weights.iter_mut().zip(macs.iter_mut()).enumerate() {
                let (at, entry) = (j * all + from + lane, Word32(table.entry(h.0 as usize ^ j).into()));
                // the table and h are public; the bit is not, and is no index or condition
                out.x[lane].0 ^= entry.0 & (units.vector.x[at].to_bits() as u32).wrapping_neg();
                (*weight, *mac) = (F::embedded_public(entry), units.vector.m[at]);
            }
            out.m[lane] = F::dot(&weights, &macs);
        }
        Ok(AuthValue { word: out, width: table.width })
    }

    /// **Output** of values to all parties: they are opened, and returned after their MACs are checked.
    ///
    /// Cost: the value's bits to each peer, one round, and a check.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn output_values(&mut self, value: &Verified<AuthValue<F>>) -> Result<Vec<u16>, Abort> {
        let AuthValue { word, width } = value.get();
        self.party.session.observe(checks::M0_7); // [M0.7]
        let opened = self.party.open_pieces(OUTPUT, std::slice::from_ref(word), &[*width])?;
        self.party.check_here()?;
        Ok(opened.into_iter().flatten().map(|word| word.0 as u16).collect())
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::engine::SpdzProtocol;
    use crate::engine::lookup::tests::{LANES, all_differ, numbered, places};
    use divisi_core::PublicParameters;
    use divisi_core::testing::Harness;
    use divisi_field::Gf48;

    /// No unit vector is used twice, whatever size it has, and however many were used before.
    #[test]
    fn no_vector_returns() {
        for (log, most) in [(1, 1 << 16), (2, 1 << 16), (5, 1 << 10), (8, 256), (9, 256), (10, 256)] {
            let harness = Harness::new(2, &PublicParameters::new("many vectors"));
            let recordings = harness.recordings();
            let ends = harness.act(|session| {
                let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
                let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
                let lanes = most + LANES;
                let (s, vector) = (numbered(e.session(), log * lanes), Auth::zeros(lanes << log));
                e.vectors.push(Vectors { units: Units { s, vector, lanes }, log, used: 0 });
                let table = PublicTable { index: log, width: 1, values: vec![0; 1 << log] };
                for place in places(most) {
                    e.vectors[0].used = place;
                    let x = AuthValue { word: Auth::zeros(LANES), width: log };
                    e.look_up_value(&table, &x)?;
                    assert_eq!(e.vectors[0].used, place + LANES);
                }
                Ok(())
            });
            assert!(ends.iter().all(Result::is_ok), "{ends:?}");
            all_differ(&recordings, OPEN.name, places(most).len());
        }
    }
}

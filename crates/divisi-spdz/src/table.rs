//! Masked tables: KOR+17, Protocol 2, line 3, on unit vectors made before. The lookups of Protocol 1 read
//! them.

use crate::pages::Pages;
use crate::part::{Host, Mac, places};
use crate::share::Auth;
use crate::source::Units;
use divisi_core::{Abort, Bytes, Direction, Plain, wipe};
use divisi_field::{BigField, Field, Gf2, Gf8, kernel};

/// The number of bits of an index.
pub(crate) const LOG: usize = 8;
/// The number of entries of a table.
pub(crate) const ENTRIES: usize = 1 << LOG;
/// How many tables are expanded at once, so that their entries stay in the cache.
pub(crate) const LANES: usize = 64;

/// Masked tables of one function of a byte, in the order in which they are used: \[\[s\]\] and \[\[T(s)\]\],
/// \[\[T(s + 1)\]\], .., each used once.
#[derive(Default)]
pub(crate) struct Tables<F: Mac> {
    pub s: Auth<Gf8, F>,
    /// Entry i of table t is at 256 t + i.
    pub entries: Pages<F::Entry>,
    /// The number of tables used.
    pub used: usize,
}

impl<F: Mac> Tables<F> {
    /// The number of tables left.
    pub fn left(&self) -> usize {
        self.s.len() - self.used
    }
}

/// A public function of a byte, ready to be made into masked tables.
pub(crate) struct Function<F> {
    /// The transform of T: coefficient U is the sum of T(j) over all indices j that contain the bits U.
    bytes: [Gf8; ENTRIES],
    elements: Vec<F>,
}

impl<F: Host> Function<F> {
    /// The S-box of AES, or its inverse.
    ///
    /// # Errors
    /// An error of the plain engine, which computes the table; in practice none.
    pub fn sbox(direction: Direction) -> Result<Self, Abort> {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let mut values = Plain.public(&all);
        Plain.sbox(direction, &mut [&mut values])?;
        let mut bytes = [Gf8::ZERO; ENTRIES];
        bytes.iter_mut().zip(values.values()).for_each(|(to, value)| *to = Gf8(*value));
        transform(&mut bytes, |x, y| *x += *y);
        Ok(Function { bytes, elements: bytes.iter().map(|x| F::embedded(*x)).collect() })
    }

    /// Protocol 2, line 3: \[\[T(i + s)\]\] = T(i) \[\[s'_0\]\] + T(i + 1) \[\[s'_1\]\] + .. for all i,
    /// entries embedded; local.
    ///
    /// This is a product in the group algebra of the 2^8 indices under addition: of polynomials in eight
    /// variables x with x^2 = 1. In y = x + 1, with y^2 = 0, it takes 3^8 products of coefficients instead of
    /// 4^8. Cost: 6,561 products of elements of the field for each table (and as many of bytes and bits); the
    /// products of one entry are summed and reduced once.
    #[inline(never)]
    pub fn expand(&self, units: &Units<F>) -> Tables<F> {
        let lanes = units.lanes;
        let mut entries = Pages::<F::Entry>::zeros(ENTRIES * lanes);
        let mut macs = vec![vec![F::ZERO; LANES]; ENTRIES];
        let mut bits = vec![[0_u8; LANES]; ENTRIES];
        let (mut out_macs, mut out_bytes) = (macs.clone(), bits.clone());
        for (block, entries) in entries.chunks_mut(ENTRIES * LANES).enumerate() {
            let (from, count) = (block * LANES, entries.len() / ENTRIES);
            for (j, (macs, bits)) in macs.iter_mut().zip(&mut bits).enumerate() {
                let at = j * lanes + from;
                macs[..count].copy_from_slice(&units.vector.m[at..at + count]);
                let all = |bit: &Gf2| (bit.to_bits() as u8).wrapping_neg();
                bits.iter_mut().zip(&units.vector.x[at..at + count]).for_each(|(to, bit)| *to = all(bit));
            }
            transform(&mut macs, |x, y| <F as BigField>::add_assign(x, y));
            transform(&mut bits, |x, y| x.iter_mut().zip(y).for_each(|(x, y)| *x ^= y));
            self.multiply(&macs, &bits, &mut out_macs, &mut out_bytes);
            transform(&mut out_macs, |x, y| <F as BigField>::add_assign(x, y));
            transform(&mut out_bytes, |x, y| x.iter_mut().zip(y).for_each(|(x, y)| *x ^= y));
            for (lane, table) in entries.chunks_mut(ENTRIES).enumerate() {
                for (i, entry) in table.iter_mut().enumerate() {
                    *entry = F::entry(Gf8(out_bytes[i][lane]), out_macs[i][lane]);
                }
            }
        }
        macs.iter_mut().chain(&mut out_macs).for_each(|row| wipe::words(row));
        bits.iter_mut().chain(&mut out_bytes).for_each(|row| wipe::words(row));
        Tables { s: bytes(&units.s, lanes), entries, used: 0 }
    }

    /// Every coefficient W of the product: the sum over all subsets U of W of T_U times coefficient W without
    /// U of the vector.
    fn multiply(
        &self,
        macs: &[Vec<F>],
        bits: &[[u8; LANES]],
        out_macs: &mut [Vec<F>],
        out_bytes: &mut [[u8; LANES]],
    ) {
        let mut c = Vec::with_capacity(ENTRIES);
        let mut rows: Vec<&[F]> = Vec::with_capacity(ENTRIES);
        for (w, out) in out_macs.iter_mut().enumerate() {
            c.clear();
            rows.clear();
            for u in subsets(w) {
                c.push(self.elements[u]);
                rows.push(&macs[w ^ u]);
            }
            F::combine(out, &c, &rows);
        }
        kernel::vectorize(
            #[inline(always)]
            || {
                for (w, out) in out_bytes.iter_mut().enumerate() {
                    *out = [0; LANES];
                    for u in subsets(w) {
                        let (factor, bits) = (self.bytes[u].0, &bits[w ^ u]);
                        for (to, all) in out.iter_mut().zip(bits) {
                            *to ^= all & factor;
                        }
                    }
                }
            },
        );
    }
}

/// All subsets of a set of bits, the set itself first.
#[inline(always)]
pub(crate) fn subsets(of: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(of), move |u| u.checked_sub(1).map(|u| u & of))
}

/// From coefficients in x to those in y = x + 1, or back: to each coefficient those are added whose indices
/// contain its own index.
pub(crate) fn transform<T>(x: &mut [T], mut add: impl FnMut(&mut T, &T)) {
    let mut bit = 1;
    while bit < x.len() {
        for pair in x.chunks_mut(2 * bit) {
            let (without, with) = pair.split_at_mut(bit);
            without.iter_mut().zip(with).for_each(|(x, y)| add(x, y));
        }
        bit *= 2;
    }
}

/// \[\[s\]\] = sum \[\[s_k\]\] X^k, for bits s_k that lie plane by plane.
pub(crate) fn bytes<F: Host>(bits: &Auth<Gf2, F>, lanes: usize) -> Auth<Gf8, F> {
    let mut out = Auth::<Gf8, F>::zeros(lanes);
    for (k, plane) in bits.x.chunks(lanes.max(1)).enumerate() {
        out.x.iter_mut().zip(plane).for_each(|(x, bit)| x.0 |= (bit.to_bits() as u8) << k);
    }
    let rows: Vec<&[F]> = bits.m.chunks(lanes.max(1)).collect();
    if rows.len() == LOG {
        F::combine(&mut out.m, &places::<Gf8, F>(), &rows);
    }
    out
}

/// One entry of each table, of `W` words, at a public index; a table has `size` entries. A short loop copies
/// the entries to one place, so that the processor fetches several distant ones at once.
pub(crate) fn gather<E: Copy, const W: usize>(
    tables: &[E],
    size: usize,
    indices: impl Iterator<Item = u8>,
    found: &mut [E],
) {
    let tables = tables.as_chunks::<W>().0.chunks_exact(size);
    let found = found.as_chunks_mut::<W>().0;
    for (to, (table, index)) in found.iter_mut().zip(tables.zip(indices)) {
        *to = table[usize::from(index) & (size - 1)];
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use divisi_core::testing::run;
    use divisi_core::{PublicParameters, step};
    use divisi_field::{Gf40, Gf48, Gf72};

    fn entries<F: Host>(direction: Direction) {
        // more than one block of lanes
        let lanes = 67;
        let ends = run(2, &PublicParameters::new("table tests"), |session| {
            let (mut party, mut dealer) = Dealer::<F>::deal(session, 8)?;
            let units = party.demux(&mut dealer, LOG, lanes)?;
            party.check()?;
            let tables = Function::sbox(direction)?.expand(&units);
            let (x, m): (Vec<Gf8>, Vec<F>) = tables.entries.iter().map(|entry| F::parts(*entry)).unzip();
            let s = party.open(step!("test"), &tables.s.x, &tables.s.m)?;
            let all = party.open(step!("test"), &x, &m)?;
            party.check()?;
            Ok((s, all))
        });
        let mut values = Plain.public(&(0..=u8::MAX).collect::<Vec<_>>());
        Plain.sbox(direction, &mut [&mut values]).unwrap();
        for end in ends {
            let (s, all) = end.unwrap();
            for (table, s) in all.chunks(ENTRIES).zip(s) {
                for (i, entry) in table.iter().enumerate() {
                    assert_eq!(entry.0, values.values()[i ^ usize::from(s.0)]);
                }
            }
        }
    }

    /// Every entry is that of the S-box at i + s, and its MAC is right.
    #[test]
    fn tables_are_masked_s_boxes() {
        entries::<Gf48>(Direction::Encrypt);
        entries::<Gf40>(Direction::Decrypt);
        entries::<Gf72>(Direction::Encrypt);
    }
}

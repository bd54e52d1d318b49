//! Unit vectors with a one at a secret position: Demux of KOR+17 (Protocol 3) over random bits.

use crate::checks;
use crate::part::{Mac, Word32};
use crate::party::Party;
use crate::share::Auth;
use crate::source::{BitTriples, Products, Source, Units};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, Step, step};
use divisi_field::Gf2;

const DECOMPOSE: Step = step!("demux.bitdec");
const SHORT: Step = step!("demux");

/// How many bits lie under one MAC while they are multiplied: the largest power of two that every field of
/// MACs holds. (With pieces of 40 bits, KOR+17's Table 1, tables of 64 to 256 entries take as many products.)
pub(crate) const PIECE: usize = 32;

/// How many products of a bit and a piece a vector of 2^log entries takes.
pub(crate) const fn products(log: usize) -> usize {
    let (mut j, mut sum) = (1, 0);
    while j < log {
        sum += (1_usize << j).div_ceil(PIECE);
        j += 1;
    }
    sum
}

impl<F: Mac> Party<F> {
    /// Protocol 2, lines 1 and 2, with Protocol 3: random bits s_0, .., s_(l-1), least significant first, and
    /// the unit vector s'.
    ///
    /// Line 1: p = (1 - s_0, s_0). Line 2: for j = 1 .. l - 1, line 3: t = s_j p; line 4: p = (0 || t) + (p -
    /// t || 0). Line 5: p in pieces b_i, of which (lines 6 and 7) BitDec gives the entries: with random bits
    /// r_k open b_i + sum r_k y^k, of which only the piece's own bits are sent \[K8\].
    ///
    /// Adversary: n - 1 malicious. That one entry is one and all others are zero follows from the bits being
    /// bits \[K5\] and the products being products \[K6\], so that it needs no check of its own \[K7\]. The
    /// next check of MACs covers what was opened \[K17\]. Cost: log + 2^log random bits, [`products`]
    /// products; log rounds.
    #[inline(never)]
    pub(crate) fn demux(
        &mut self,
        source: &mut impl Products<F>,
        log: usize,
        lanes: usize,
    ) -> Result<Units<F>, Abort> {
        let s = source.bits(self, log * lanes)?;
        self.session.observe_each(checks::K5, s.len() as u64); // [K5], and so [K7]
        let entries = 1_usize << log;
        let mut triples = Stack(source.element_triples(self, products(log) * lanes)?);
        // 1: 1 + s_0 + s_0 y
        let bit = |k: usize| s.part(k * lanes..(k + 1) * lanes);
        let mut first = elements(&bit(0), F::from_low_bits(0b11));
        self.add_constant(&mut first, F::ONE)?;
        let mut pieces = vec![first];
        // 2
        for j in 1..log {
            // 3
            let mut s_j = Auth::with_capacity(pieces.len() * lanes);
            let mut p = Auth::with_capacity(pieces.len() * lanes);
            for piece in &pieces {
                s_j.append(&bit(j));
                p.append(piece);
            }
            let triples =
                triples.pop(p.len()).ok_or_else(|| self.session.misuse(SHORT, Misuse::TooFewMade))?;
            let t = self.multiply_bits(&s_j, &p, triples)?;
            // 4
            let mut upper: Vec<_> = (0..pieces.len()).map(|i| t.part(i * lanes..(i + 1) * lanes)).collect();
            let mut fits = true;
            for (piece, t) in pieces.iter_mut().zip(&upper) {
                fits &= piece.add(t);
            }
            if 2 << j <= PIECE {
                let shift = F::from_low_bits(1 << (1_u32 << j));
                for (piece, t) in pieces.iter_mut().zip(&mut upper) {
                    F::scale(&mut t.x, shift);
                    F::scale(&mut t.m, shift);
                    fits &= piece.add(t);
                }
            } else {
                pieces.append(&mut upper);
            }
            debug_assert!(fits);
        }
        // 5 to 7
        let vector = self.decompose(source, &pieces, entries.min(PIECE), lanes)?;
        Ok(Units { s, vector, lanes })
    }

    /// BitDec of pieces: the `width` lowest bits of each, one after the other.
    fn decompose(
        &mut self,
        source: &mut impl Source<F>,
        pieces: &[Auth<F, F>],
        width: usize,
        lanes: usize,
    ) -> Result<Auth<Gf2, F>, Abort> {
        let mut r = source.bits(self, pieces.len() * width * lanes)?;
        self.session.observe_each(checks::K5, r.len() as u64); // [K5]
        let mut masked = Vec::with_capacity(pieces.len());
        for (i, piece) in pieces.iter().enumerate() {
            let mut sum = piece.clone();
            for k in 0..width {
                let at = (i * width + k) * lanes;
                let power = F::from_low_bits(1 << k);
                self.mask(&mut sum, &elements(&r.part(at..at + lanes), power))?;
            }
            // the shared value lies in the piece's own bits, and so does the sum of these bits of all shares
            let own = |x: &F| Word32((x.to_bits() & ((1 << width) - 1)) as u32);
            masked.push(Auth::<Word32, F>::new(sum.x.iter().map(own).collect(), sum.m.clone()));
        }
        let opened = self.open_pieces(DECOMPOSE, &masked, &vec![width; masked.len()])?;
        let mut public = Vec::with_capacity(r.len());
        for piece in &opened {
            for k in 0..width {
                public.extend(piece.iter().map(|word| Gf2::new((word.0 >> k) as u8)));
            }
        }
        self.add_public(&mut r, &public)?;
        Ok(r)
    }
}

/// \[\[b c\]\] as elements of the field, for bits b and a public c.
fn elements<F: Mac>(bits: &Auth<Gf2, F>, c: F) -> Auth<F, F> {
    let mut x = WipedVec::from(vec![c; bits.len()]);
    crate::multiply::mask(&mut x, &bits.x);
    let mut m = bits.m.clone();
    F::scale(&mut m, c);
    Auth::new(x, m)
}

/// Triples, taken from the end.
struct Stack<F: Mac>(BitTriples<F>);

impl<F: Mac> Stack<F> {
    fn pop(&mut self, count: usize) -> Option<BitTriples<F>> {
        let BitTriples { a, b, c } = &mut self.0;
        Some(BitTriples { a: a.pop(count)?, b: b.pop(count)?, c: c.pop(count)? })
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use divisi_core::PublicParameters;
    use divisi_core::testing::{Harness, MessageDirection, failed_check, party, run};
    use divisi_field::{Field, Gf48};

    #[test]
    fn the_products_are_those_of_table_1_but_for_pieces_of_32_bits() {
        assert_eq!([6, 7, 8, 9, 10].map(products), [5, 7, 11, 19, 35]);
    }

    /// A decomposition opens exactly one bit for each entry of a piece, also for small tables.
    #[test]
    fn what_is_decomposed_takes_an_entry_a_bit() {
        for (log, lanes) in [(1, 9), (2, 9), (3, 5), (4, 3), (5, 2), (6, 2)] {
            let harness = Harness::new(2, &PublicParameters::new("demux tests"));
            let recording = harness.recording(party(1));
            let ends = harness.act(|session| {
                let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 5)?;
                party.demux(&mut dealer, log, lanes)?;
                party.check()
            });
            assert!(ends.iter().all(Result::is_ok), "{ends:?}");
            let told = recording.bodies(MessageDirection::Out, party(2), DECOMPOSE.name);
            assert_eq!(told.iter().map(Vec::len).collect::<Vec<_>>(), [(lanes << log).div_ceil(8)], "{log}");
        }
    }

    /// P_2 sets a bit after the last one that it opens. The message has two bits, a quarter of a byte.
    #[test]
    fn what_fills_the_last_byte_is_zero() {
        for bit in 2..8 {
            let harness = Harness::new(2, &PublicParameters::new("demux tests"));
            harness.change(party(2), party(1), DECOMPOSE.name, 0, move |body| body[0] ^= 1 << bit);
            let ends = harness.act(|session| {
                let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 5)?;
                party.demux(&mut dealer, 1, 1).map(drop)
            });
            assert_eq!(failed_check(&ends[0]), Some(checks::K8), "{bit}");
        }
    }

    #[test]
    fn one_entry_is_one_and_all_others_are_zero() {
        for (n, log) in [(2, 1), (2, 4), (2, 5), (3, 6), (2, 8), (5, 8)] {
            let lanes = 9;
            let ends = run(n, &PublicParameters::new("demux tests"), |session| {
                let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 5)?;
                let units = party.demux(&mut dealer, log, lanes)?;
                party.check()?;
                let s = party.open(SHORT, &units.s.x, &units.s.m)?;
                let vector = party.open(SHORT, &units.vector.x, &units.vector.m)?;
                party.check()?;
                Ok((s, vector))
            });
            for end in ends {
                let (s, vector) = end.unwrap();
                assert_eq!(vector.len(), lanes << log);
                for lane in 0..lanes {
                    let at: usize = (0..log).map(|k| (s[k * lanes + lane].to_bits() as usize) << k).sum();
                    for (j, entry) in vector.chunks(lanes).enumerate() {
                        assert_eq!(entry[lane].to_bits() == 1, j == at);
                    }
                }
            }
        }
    }
}

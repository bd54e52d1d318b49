//! The steps of A2B ([`Mixed::a2b`](crate::Mixed::a2b)): masks ahead, and the addition of a mask. GYKW, section
//! 5.2, Figure 10, for any p of W bits.
//!
//! Adversary: semi-honest, all parties but one. Of a candidate mask only d is opened, which for an accepted
//! one tells r < p and no more \[G6\]. u = x - r is uniform, because r is uniform and used once \[G7\].
//!
//! Cost for each number: for p = 2^32 - 2^30 + 1 a mask takes about 43 random bits in both worlds and 2.7
//! arithmetic triples. For another p it takes W 2^W / p random bits (62 for p = 2^62 - 2^46 + 1), and as many
//! Boolean triples, less 2^W / p. The conversion takes 2 W - 2 Boolean triples. Online one opening, and as
//! many ANDs in as many rounds, or more ANDs in 11 rounds for 32 bits and 13 for 62 ([`crate::adders`]; test
//! `numbers_become_bits_and_bits_numbers`); a level of so many ANDs that they are opened in parts takes two
//! ([`crate::open`]).

use crate::adders;
use crate::bit::{Dense, GmwBit};
use crate::checks;
use crate::gmw::{PREPROCESSING, triples_for};
use crate::mixed::{Masks, Mixed};
use crate::num::{self, Num};
use crate::open;
use crate::planes;
use crate::random::Numbers;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Boolean, Lanes, Misuse, ProgramRun, Step, step};
use divisi_field::zp::{Modulus, P32};

const MASKS: Step = step!("a2b.masks");
const MASK: Step = step!("a2b.open");

/// How many candidates an item of A2B has; all of them are rejected with probability 4^-64 for P32, and at
/// most 2^-64 for others.
const TRIES: usize = 64;

/// How many masks are made together: their candidates are in memory, with as many random bits as p has.
const PART: usize = 1 << 15;

/// The number of bits of P32.
const WIDTH: usize = 32;

/// How many candidates are made at once for this number of masks: as many as are needed on average if 2^W /
/// (p - 1) of them give one mask, and a few more where it is likely that some are rejected.
fn candidates(p: Modulus, masks: usize) -> usize {
    let (all, less) = (1_u128 << p.bits(), u128::from(p.get() - 1));
    let few = 32 * (all - less) / all;
    usize::try_from(masks as u128 * all / less + few).unwrap_or(usize::MAX)
}

/// How many random bits in both worlds a mask of A2B takes on average, rounded; and how many arithmetic
/// triples, in tenths.
#[must_use]
pub fn cost_of_mask(p: Modulus) -> [usize; 2] {
    let (all, less) = (1_u128 << p.bits(), u128::from(p.get() - 1));
    let bits = (u128::from(p.bits()) * all + less / 2) / less;
    [bits as usize, if p.get() == P32 { 27 } else { 0 }]
}

impl Mixed {
    /// Figure 10, steps 1 to 3: makes masks r below p, until `count` of them are in stock.
    ///
    /// A candidate is as many random bits in both worlds as p has. For p = 2^32 - 2^30 + 1 a and b are its
    /// two highest bits, c is the sum of the others. Only d = a b c is opened; it is zero exactly if r < p.
    /// For another p, the bit d = \[r >= p\] is computed modulo 2 by Boolean triples, and opened; no
    /// arithmetic triple is needed \[G6\]. A rejected candidate is dropped with all its bits. An item has 64
    /// candidates.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] of G6 if too many candidates are rejected; the abort that ends the session, if
    /// a link fails.
    pub fn prepare_masks(&mut self, count: usize) -> Result<(), Abort> {
        loop {
            match count.saturating_sub(self.masks_in_stock()) {
                0 => return Ok(()),
                missing => self.make_masks(missing.min(PART))?,
            }
        }
    }

    /// Makes a part of these masks, at least `count` of them.
    fn make_masks(&mut self, count: usize) -> Result<(), Abort> {
        let (p, width) = (self.plain, self.plain.bits() as usize);
        let (mut made, mut tries) = (0, 0);
        while made < count {
            tries += 1;
            self.session().require(checks::G6, MASKS, tries <= TRIES, None)?; // [G6]
            let lanes = candidates(p, count - made);
            // 1. <r>, and 2. B2A of it, in one: random bits in both worlds, of which bit j of candidate i is
            // the one at j lanes + i
            let (modulo_2, modulo_p) = self.take_bits(lanes * width)?.packed();
            let r: Vec<GmwBit> = (0..width).map(|j| modulo_2.lanes(j * lanes, lanes)).collect();
            let mut words = GmwBit::to_words(&r);
            let mut number = planes::weigh(p, lanes, width, &modulo_p);
            // 3. whether r < p
            let d = if p.get() == P32 {
                let [a, b, c] = factors(p, &modulo_p, lanes);
                // one request for both products
                let place = self.session().detour(PREPROCESSING);
                let products = self.prepare_products(2 * lanes);
                self.session().back(place);
                products?;
                let ab = self.multiply(&a, &b)?;
                let d = self.multiply(&ab, &c)?;
                num::open(self.gmw.session(), p, &d)?
            } else {
                self.are_at_least_p(r)?
            };
            let session = self.gmw.session();
            let kept: Vec<usize> = (0..lanes).filter(|i| d.get(*i) == Some(&0)).collect();
            for (to, from) in kept.iter().enumerate() {
                (words[to], number[to]) = (words[*from], number[*from]);
            }
            made += kept.len();
            if !kept.is_empty() {
                let bits = GmwBit::of_words(&words[..kept.len()], width);
                let bits = bits.into_iter().map(|bit| bit.made(session)).collect();
                let number = Num::new(WipedVec::from(&number[..kept.len()])).made(session);
                self.masks.push(Masks { bits, number });
            }
        }
        Ok(())
    }

    /// Whether each candidate, given by its bits, is p or more: d, opened to all.
    fn are_at_least_p(&mut self, candidates: Vec<GmwBit>) -> Result<Vec<u64>, Abort> {
        let program = adders::at_least(self.plain.get());
        let lanes = candidates.first().map_or(0, Lanes::lanes);
        // one request for all levels, beside what is in stock for others
        let place = self.session().detour(PREPROCESSING);
        let triples = self.gmw.triples() + triples_for(&program, lanes);
        let made = self.gmw.prepare(triples);
        self.session().back(place);
        made?;
        let mut jobs = [ProgramRun::new(&program, candidates)];
        self.gmw.run(&mut jobs)?;
        let [ProgramRun { wires, .. }] = jobs;
        let mut share = Dense::with_capacity(lanes);
        wires.iter().for_each(|d| share.push(d.words(), d.lanes()));
        let d = open::open_packed(self.session(), share)?;
        let bit = |lane: usize| d.words().get(lane / 64).map_or(1, |word| word >> (lane % 64) & 1);
        Ok((0..lanes).map(bit).collect())
    }

    /// How many random bits [`Mixed::prepare_masks`] takes for this number of masks, or for as many of them
    /// as it makes together, if no more candidates than usual are rejected.
    #[must_use]
    pub fn bits_of_masks(&self, count: usize) -> usize {
        let missing = count.saturating_sub(self.masks_in_stock()).min(PART);
        if missing == 0 { 0 } else { candidates(self.plain, missing) * self.plain.bits() as usize }
    }

    fn masks_in_stock(&self) -> usize {
        self.masks.iter().map(|masks| masks.number.lanes()).sum()
    }

    /// Makes everything that A2B of `count` numbers needs: masks and Boolean triples.
    ///
    /// # Errors
    /// It fails as [`Mixed::prepare_masks`] does.
    pub fn prepare_a2b(&mut self, count: usize) -> Result<(), Abort> {
        self.prepare_masks(count)?;
        let triples = self.triples_of_a2b(count);
        self.gmw.prepare(triples)
    }

    /// How many Boolean triples A2B of `count` numbers takes.
    #[must_use]
    pub fn triples_of_a2b(&self, count: usize) -> usize {
        let width = self.plain.bits() as usize;
        let programs = [adders::carry(self.adder, width), adders::sum(self.adder, width)];
        programs.iter().map(|program| triples_for(program, count)).sum()
    }

    /// Removes `count` masks from the stock \[G7\].
    fn take_masks(&mut self, count: usize) -> Result<Masks, Abort> {
        if self.masks_in_stock() < count {
            let place = self.gmw.session().detour(PREPROCESSING);
            let made = self.prepare_masks(count);
            self.gmw.session().back(place);
            made?;
        }
        let session = self.gmw.session();
        session.observe(checks::G7); // [G7]
        let parts = std::mem::take(&mut self.masks);
        let mut number = Num::join(&parts.iter().map(|part| &part.number).collect::<Vec<_>>());
        let width = self.plain.bits() as usize;
        let mut bits = Vec::with_capacity(width);
        for j in 0..width {
            let of = parts.iter().filter_map(|part| part.bits.get(j)).collect::<Vec<_>>();
            bits.push(self.gmw.join_bits(&of));
        }
        let (from, left) = (count, number.lanes().checked_sub(count));
        let unfit = || self.gmw.session().misuse(MASKS, Misuse::TooFewMade);
        let left = left.ok_or_else(unfit)?;
        if left > 0 {
            let bits = bits.iter().map(|bit| bit.slice(from, left)).collect();
            self.masks.push(Masks { bits, number: number.split_off(from) });
        }
        let bits = bits.iter().map(|bit| bit.slice(0, count)).collect();
        Ok(Masks { bits, number })
    }

    /// Figure 10, step 4, up to the opening: a mask r for each number, and u = x - r.
    pub(crate) fn mask_number(&mut self, x: &Num) -> Result<(Masks, Num), Abort> {
        let (p, lanes) = (self.plain, x.lanes());
        x.admit(self.session(), p, MASK)?;
        let masks = self.take_masks(lanes)?;
        let unfit = || self.session().misuse(MASK, Misuse::CountsDiffer);
        let u = x.sub(p, &masks.number).ok_or_else(unfit)?;
        Ok((masks, u))
    }

    fn no_mask(&mut self) -> Abort {
        self.session().misuse(MASK, Misuse::CountsDiffer)
    }

    /// Steps 5 and 6: x = u + r modulo p as bits. b = \[r >= p - u\] is the carry of r + v, where v = u - p
    /// modulo 2^W; x = r + v if b is one, and r + u otherwise.
    pub(crate) fn add_mask(&mut self, masks: Masks, u: &[u64]) -> Result<Vec<GmwBit>, Abort> {
        let (p, width, session) = (self.plain, self.plain.bits() as usize, self.gmw.session());
        let first = session.me().index() == 0;
        let v: Vec<u64> = u.iter().map(|u| (u + (1 << width)).wrapping_sub(p.get())).collect();
        let [u, v] = [u, &v].map(|public| GmwBit::of_words(public, width));
        let (mut propagated, mut generated) = (Vec::new(), Vec::new());
        for (r, v) in masks.bits.iter().zip(&v) {
            generated.push(r.and_public(v));
            let mut sum = r.clone();
            if first && !sum.add(v) {
                return Err(self.no_mask());
            }
            propagated.push(sum);
        }
        let (carry, sum) = (adders::carry(self.adder, width), adders::sum(self.adder, width));
        let mut jobs = [ProgramRun::new(&carry, propagated.into_iter().chain(generated).collect())];
        self.gmw.run(&mut jobs)?;
        let [ProgramRun { wires, .. }] = jobs;
        let Some(b) = wires.first() else { return Err(self.no_mask()) };
        let mut inputs = masks.bits;
        for (u, mut v) in u.iter().zip(v) {
            // u, or v if b is one: u + b (u + v)
            let fits = v.add(u);
            let mut w = b.and_public(&v);
            if !fits || first && !w.add(u) {
                return Err(self.no_mask());
            }
            inputs.push(w);
        }
        let mut jobs = [ProgramRun::new(&sum, inputs)];
        self.gmw.run(&mut jobs)?;
        let [ProgramRun { wires, .. }] = jobs;
        Ok(wires)
    }
}

/// The three factors whose product is d, for candidates of 32 bits each: the highest bit, the next one, and
/// the sum of the others \[G6\].
fn factors(p: Modulus, bits: &Numbers, lanes: usize) -> [Num; 3] {
    let of = |j: usize| bits.words(j * lanes, lanes);
    let mut c = WipedVec::zeros(lanes);
    (0..WIDTH - 2).for_each(|j| p.add_assign(&mut c, &of(j)));
    [of(WIDTH - 1), of(WIDTH - 2), c].map(Num::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{PublicParameters, local};
    use divisi_field::zp::{P16, P62};
    use divisi_ot::SetupConfig;

    /// Masks of several parts are taken in their order, few of them or many, each once and with the bits
    /// of its number.
    #[test]
    fn masks_of_several_parts_are_taken_once() {
        [1, 30, 500].into_iter().for_each(taken_once);
    }

    fn taken_once(scale: u64) {
        let p = Modulus::new(P32).unwrap();
        let mask = |i: u64| i * 0x0101_0101 % P32;
        let ends = local::run(2, &PublicParameters::new("masks"), |session| {
            let gmw = crate::gmw::Gmw::deferred(session, SetupConfig::default());
            let mut mixed = Mixed::new(gmw, p, None, None)?;
            let mut from = 0;
            for count in [5, 64, 1, 55].map(|count| count * scale) {
                let numbers: Vec<u64> = (from..from + count).map(mask).collect();
                let bits = GmwBit::of_words(&numbers, WIDTH);
                mixed.masks.push(Masks { bits, number: Num::new(WipedVec::from(&*numbers)) });
                from += count;
            }
            let mut next = 0;
            for count in [3, 70, 1, 6, 40, 5].map(|count| count * scale) {
                let Masks { bits, number } = mixed.take_masks(count as usize)?;
                assert_eq!(*GmwBit::to_words(&bits), *number.shares());
                let there = (next..next + count).map(mask);
                assert!(number.shares().iter().copied().eq(there), "{count} behind {next}");
                next += count;
            }
            assert_eq!(mixed.masks_in_stock(), 0);
            Ok(())
        });
        assert!(ends.is_ok());
    }

    /// Each bit of each candidate is in the factor it belongs to, and in no other: one that is in none would
    /// let masks of p and more through.
    #[test]
    fn every_bit_of_a_candidate_counts() {
        let p = Modulus::new(P32).unwrap();
        for (lane, j) in (0..3).flat_map(|lane| (0..WIDTH).map(move |j| (lane, j))) {
            // as if one party had all: its shares are the bits
            let mut bits = vec![0; 3 * WIDTH];
            bits[j * 3 + lane] = 1;
            let alone: Vec<u64> = (0..3).map(|i| u64::from(i == lane)).collect();
            let is_in = factors(p, &Numbers::of(p, &bits), 3).map(|factor| factor.shares() == alone);
            assert_eq!(is_in, [j == WIDTH - 1, j == WIDTH - 2, j < WIDTH - 2], "{lane} {j}");
        }
        let all = factors(p, &Numbers::of(p, &[1; WIDTH]), 1).map(|factor| factor.shares()[0]);
        assert_eq!(all, [1, 1, WIDTH as u64 - 2]);
    }

    /// Candidates and costs: what they are for each prime, and the formula of P32 in the test
    /// `masks_of_p_or_more_serve_nobody`.
    #[test]
    fn candidates_are_few() {
        let [p16, p32, p62] = [P16, P32, P62].map(|p| Modulus::new(p).unwrap());
        for masks in [1, 2, 3, 120, 121, 122, PART] {
            assert_eq!(candidates(p32, masks), masks * 4 / 3 + 8);
            assert_eq!((candidates(p16, masks), candidates(p62, masks)), (2 * masks + 16, masks));
        }
        assert_eq!([p16, p32, p62].map(cost_of_mask), [[34, 0], [43, 27], [62, 0]]);
    }

    /// Of candidates p is the least that is rejected: as a mask it would be another zero.
    #[test]
    fn a_candidate_of_p_is_rejected() {
        for p in [P16, P62] {
            let ends = local::run(2, &PublicParameters::new("candidates"), |session| {
                let first = session.me().index() == 0;
                let gmw = crate::gmw::Gmw::new(session, SetupConfig::default())?;
                let mut mixed = Mixed::new(gmw, Modulus::new(p).unwrap(), None, None)?;
                let shares = [0, 1, p - 1, p, p + 1].map(|x| if first { x } else { 0 });
                let bits = GmwBit::of_words(&shares, mixed.plain.bits() as usize);
                let bits = bits.into_iter().map(|bit| bit.made(mixed.session())).collect();
                mixed.are_at_least_p(bits)
            });
            assert!(ends.unwrap().iter().all(|rejected| *rejected == [0, 0, 0, 1, 1]), "{p}");
        }
    }
}

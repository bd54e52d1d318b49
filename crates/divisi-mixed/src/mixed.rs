//! One party with bits and numbers: GMW, random bits shared in both worlds, arithmetic triples, and the
//! conversions on them.
//!
//! Adversary: **semi-honest**, all but one. Everything made ahead stands on shelves, in an order that all
//! parties share, and is taken by value \[G7\].

use crate::adders::{self, Adder, WIDTH};
use crate::arithmetic::{self, Triples};
use crate::bit::Bit;
use crate::bits::{self, RandomBits};
use crate::gmw::{Gmw, PREPROCESSING, triples_for};
use crate::num::{self, Num};
use crate::{convert, cot};
use divisi_bgv::hidden::Hidden;
use divisi_bgv::parameters::Operation;
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_core::{Abort, Boolean, Check, Convert, Job, Lanes, Prg, Session, Step, step};
use divisi_field::zp::{Modulus, P32};
use std::sync::Arc;

const PRODUCTS: Step = step!("numbers.products");
const MASKS: Step = step!("a2b.masks");
const MASK: Step = step!("a2b.open");
const BITS: Step = step!("b2a");
const SET_UP: Step = step!("mixed.set-up");

/// The most random bits by transfers that are made together.
const BATCH: usize = 1 << 17;
/// How many candidates an item of A2B is worth: it fails with 4^-64.
const TRIES: usize = 64;

/// Where random bits come from.
enum Source {
    Transfers,
    Ciphertexts(Keys, Sampler),
}

/// One party of everything: with its session, transfers, and the keys of what is used.
pub struct Mixed {
    gmw: Gmw,
    plain: Modulus,
    adder: Adder,
    source: Source,
    multiplies: Option<(Keys, Sampler)>,
    bits: Vec<RandomBits>,
    products: Vec<Triples>,
    masks: Vec<Masks>,
}

/// Uniform numbers below p, shared as 32 bits and modulo p: masks of A2B. Used by value, once \[G7\].
pub struct Masks {
    bits: Vec<Bit>,
    number: Num,
}

impl Mixed {
    /// Over numbers modulo p, with random bits by transfers. `numbers` are for arithmetic products: without
    /// them there are none, and no key is made.
    ///
    /// # Errors
    /// As [`Keys::generate`]; [`Abort::Misuse`] for rings of other operations.
    pub fn new(
        mut gmw: Gmw,
        plain: Modulus,
        bits: Option<&Arc<Ring>>,
        numbers: Option<&Arc<Ring>>,
    ) -> Result<Mixed, Abort> {
        let session = gmw.session();
        let fits = |ring: &Arc<Ring>, operation| {
            ring.parameters().operation() == operation && ring.plain().get() == plain.get()
        };
        if !bits.is_none_or(|ring| fits(ring, Operation::Bits))
            || !numbers.is_none_or(|ring| fits(ring, Operation::Triples))
        {
            return Err(session.misuse(SET_UP, "rings for other operations or numbers"));
        }
        let mut source = Source::Transfers;
        let mut first = None;
        if let Some(ring) = bits {
            let keys = Keys::generate(session, ring)?;
            first = Some(keys.clone());
            source = Source::Ciphertexts(keys, Sampler::new(session));
        }
        let mut multiplies = None;
        if let Some(ring) = numbers {
            let keys = match &first {
                Some(keys) => keys.beside(session, ring)?, // [G12]
                None => Keys::generate(session, ring)?,
            };
            multiplies = Some((keys, Sampler::new(session)));
        }
        let (bits, products, masks) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Mixed { gmw, plain, adder: Adder::default(), source, multiplies, bits, products, masks })
    }

    /// Add in another way in A2B; the same at all parties.
    pub fn set_adder(&mut self, adder: Adder) {
        self.adder = adder;
    }

    /// The party of its circuits.
    pub fn gmw(&mut self) -> &mut Gmw {
        &mut self.gmw
    }

    /// The session.
    pub fn session(&mut self) -> &mut Session {
        self.gmw.session()
    }

    /// p.
    #[must_use]
    pub fn plain(&self) -> Modulus {
        self.plain
    }

    /// Partial decryptions that this party made, of all its keys.
    #[must_use]
    pub fn decryptions(&self) -> u64 {
        let of = |keys: &Keys| keys.decryptions();
        match (&self.source, &self.multiplies) {
            (Source::Ciphertexts(keys, _), _) => of(keys),
            (Source::Transfers, Some((keys, _))) => of(keys),
            (Source::Transfers, None) => 0,
        }
    }

    /// Make random bits until there are so many.
    ///
    /// # Errors
    /// Whatever a broken peer causes.
    pub fn prepare_bits(&mut self, count: usize) -> Result<(), Abort> {
        let mut there: usize = self.bits.iter().map(RandomBits::len).sum();
        while there < count {
            let (session, setup) = self.gmw.ends();
            let phase = session.current_phase();
            session.phase(phase);
            let made = match &mut self.source {
                Source::Transfers => {
                    let batch = (count - there).next_multiple_of(128).min(BATCH);
                    cot::random_bits(session, setup, self.plain, batch)?
                }
                Source::Ciphertexts(keys, sampler) => bits::random_bits(session, keys, sampler)?,
            };
            there += made.len();
            self.bits.push(made);
        }
        Ok(())
    }

    /// Make arithmetic triples until there are so many.
    ///
    /// # Errors
    /// [`Abort::Misuse`] without keys for them; whatever a broken peer causes.
    pub fn prepare_products(&mut self, count: usize) -> Result<(), Abort> {
        let mut there: usize = self.products.iter().map(Triples::len).sum();
        while there < count {
            let session = self.gmw.session();
            let phase = session.current_phase();
            session.phase(phase);
            let Some((keys, sampler)) = &mut self.multiplies else {
                return Err(session.misuse(PRODUCTS, "products of numbers without keys for them"));
            };
            let made = arithmetic::triples(session, keys, sampler)?;
            there += made.len();
            self.products.push(made);
        }
        Ok(())
    }

    /// Bits that every party chooses, shared modulo p too: a number of them that is a ring's if they come by
    /// ciphertexts.
    pub(crate) fn share_bits(&mut self, bits: Hidden<u64>) -> Result<RandomBits, Abort> {
        let (session, setup) = self.gmw.ends();
        match &mut self.source {
            Source::Transfers => {
                let packed = Bit::of(bits.iter().copied());
                let chosen = divisi_ot::Bits::Chosen(packed.words(), bits.len());
                cot::of_bits(session, setup, self.plain, chosen)
            }
            Source::Ciphertexts(keys, sampler) => bits::chosen_bits(session, keys, sampler, bits),
        }
    }

    /// How many bits are shared together: as many as there are slots, or as are convenient.
    pub(crate) fn together(&self) -> Option<usize> {
        match &self.source {
            Source::Transfers => None,
            Source::Ciphertexts(keys, _) => Some(keys.ring().dimension()),
        }
    }

    /// A stream of our own randomness.
    pub(crate) fn own(&mut self) -> &mut Prg {
        self.gmw.own()
    }

    /// So many random bits, which are here no more \[G7\].
    ///
    /// # Errors
    /// As [`Mixed::prepare_bits`], if they were not made ahead.
    pub fn take_bits(&mut self, count: usize) -> Result<RandomBits, Abort> {
        if self.bits.iter().map(RandomBits::len).sum::<usize>() < count {
            let place = self.gmw.session().detour(PREPROCESSING);
            let made = self.prepare_bits(count);
            self.gmw.session().back(place);
            made?;
        }
        let session = self.gmw.session();
        session.observe(Check::G7); // [G7]
        if session.mutated(Check::G7) {
            // the mutant leaves on the shelf what it hands out
            let all = RandomBits::join(&self.bits.iter().collect::<Vec<_>>());
            return Ok(all.copy(count));
        }
        let mut parts = Vec::new();
        let mut missing = count;
        while missing > 0 {
            let Some(mut last) = self.bits.pop() else { break };
            match last.take(missing) {
                Some(part) => {
                    missing = 0;
                    parts.push(part);
                    if !last.is_empty() {
                        self.bits.push(last);
                    }
                }
                None => {
                    missing -= last.len();
                    parts.push(last);
                }
            }
        }
        Ok(RandomBits::join(&parts.iter().collect::<Vec<_>>()))
    }

    /// x y, lane by lane: two openings of section 3.1 at once, and a triple a lane.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if they differ in lanes, and without keys for triples; whatever a broken peer causes.
    pub fn multiply(&mut self, x: &Num, y: &Num) -> Result<Num, Abort> {
        let (p, lanes) = (self.plain, x.lanes());
        if y.lanes() != lanes {
            return Err(self.session().misuse(PRODUCTS, "factors of different lanes"));
        }
        if self.products.iter().map(Triples::len).sum::<usize>() < lanes {
            let place = self.gmw.session().detour(PREPROCESSING);
            let made = self.prepare_products(lanes);
            self.gmw.session().back(place);
            made?;
        }
        let mut parts = Vec::new();
        let mut missing = lanes;
        while missing > 0 {
            let Some(mut last) = self.products.pop() else { break };
            let now = missing.min(last.len());
            parts.extend(last.take(now));
            missing -= now;
            if !last.is_empty() {
                self.products.push(last);
            }
        }
        let session = self.gmw.session();
        session.observe(Check::G7); // [G7]
        let [a, b, c] = Triples::join(parts).open();
        let unfit = || Abort::Misuse { step: PRODUCTS, what: "factors of different lanes" };
        let (d, e) = (x.sub(p, &a).ok_or_else(unfit)?, y.sub(p, &b).ok_or_else(unfit)?);
        let mut opened = num::open(session, p, &Num::join(&[&d, &e]))?;
        let e = opened.split_off(lanes);
        // c + d b + e a + d e, the last by the first party
        let first = session.me().index() == 0;
        let mut z = Hidden::from(c.shares());
        p.add_product(&mut z, &opened, b.shares());
        p.add_product(&mut z, &e, a.shares());
        if first {
            p.add_product(&mut z, &opened, &e);
        }
        Ok(Num::new(z))
    }

    /// Products of public matrices' shapes: x is `rows` times `inner`, y `inner` times `columns`, both row by
    /// row. Every product takes a triple.
    ///
    /// # Errors
    /// As [`Mixed::multiply`].
    pub fn multiply_matrices(
        &mut self,
        [rows, inner, columns]: [usize; 3],
        x: &Num,
        y: &Num,
    ) -> Result<Num, Abort> {
        let places = (0..rows * columns).flat_map(|at| (0..inner).map(move |k| (at, k)));
        let (left, right): (Vec<usize>, Vec<usize>) =
            places.map(|(at, k)| (at / columns * inner + k, k * columns + at % columns)).unzip();
        let fits = x.lanes() == rows * inner && y.lanes() == inner * columns && inner > 0 && columns > 0;
        let (Some(x), Some(y)) = (x.gather(&left), y.gather(&right)) else {
            return Err(self.session().misuse(PRODUCTS, "matrices of other shapes"));
        };
        if !fits {
            return Err(self.session().misuse(PRODUCTS, "matrices of other shapes"));
        }
        let (p, products) = (self.plain, self.multiply(&x, &y)?);
        let mut sums = Hidden::zeros(rows * columns);
        for (sum, products) in sums.iter_mut().zip(products.shares().chunks_exact(inner)) {
            *sum = products.iter().fold(0, |sum, x| p.add(sum, *x));
        }
        Ok(Num::new(sums))
    }

    /// Figure 10, steps 1 to 3: masks r below p, for p = 2^32 - 2^30 + 1, until there are so many.
    ///
    /// Of each candidate, 32 random bits in both worlds, d = a b c is opened and nothing else, a and b the two
    /// highest bits and c the sum of the others; it is zero exactly where r < p \[G6\]. What is rejected goes
    /// whole. An item has 64 candidates.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for another p; [`Abort::CheckFailed`] of G6 if too many candidates are rejected.
    pub fn prepare_masks(&mut self, count: usize) -> Result<(), Abort> {
        let p = self.plain;
        if p.get() != P32 {
            return Err(self.session().misuse(MASKS, "numbers to bits for another p than 2^32 - 2^30 + 1"));
        }
        let mut there: usize = self.masks.iter().map(|masks| masks.number.lanes()).sum();
        let mut tries = 0;
        while there < count {
            tries += 1;
            self.session().require(Check::G6, MASKS, tries <= TRIES, None)?; // [G6]
            // one of four is rejected
            let lanes = (count - there) * 4 / 3 + 8;
            let (modulo_2, modulo_p) = self.take_bits(lanes * WIDTH)?.open();
            let of = |j: usize| Hidden::from(column(&modulo_p, j, lanes).as_slice());
            let (a, b) = (Num::new(of(WIDTH - 1)), Num::new(of(WIDTH - 2)));
            let mut c = Hidden::zeros(lanes);
            (0..WIDTH - 2).for_each(|j| p.add_assign(&mut c, &of(j)));
            let ab = self.multiply(&a, &b)?;
            let d = self.multiply(&ab, &Num::new(c))?;
            let session = self.gmw.session();
            let d = num::open(session, p, &d)?;
            // the mutant keeps all
            let all = session.mutated(Check::G6);
            let kept: Vec<usize> = (0..lanes).filter(|i| all || d.get(*i) == Some(&0)).collect();
            let bits = (0..WIDTH).map(|j| Bit::of(kept.iter().map(|i| modulo_2[i * WIDTH + j])));
            let mut number = Hidden::zeros(kept.len());
            for (number, i) in number.iter_mut().zip(&kept) {
                let bits = modulo_p[i * WIDTH..(i + 1) * WIDTH].iter().rev();
                *number = bits.fold(0, |sum, bit| p.add(p.add(sum, sum), *bit));
            }
            there += kept.len();
            if !kept.is_empty() {
                self.masks.push(Masks { bits: bits.collect(), number: Num::new(number) });
            }
        }
        Ok(())
    }

    /// All that A2B of so many numbers takes: masks, and triples of bits.
    ///
    /// # Errors
    /// As [`Mixed::prepare_masks`].
    pub fn prepare_to_bits(&mut self, count: usize) -> Result<(), Abort> {
        self.prepare_masks(count)?;
        let programs = [adders::carry(self.adder), adders::sum(self.adder)];
        self.gmw.prepare(programs.iter().map(|program| triples_for(program, count)).sum())
    }

    /// So many masks, which are here no more \[G7\].
    fn take_masks(&mut self, count: usize) -> Result<Masks, Abort> {
        if self.masks.iter().map(|masks| masks.number.lanes()).sum::<usize>() < count {
            let place = self.gmw.session().detour(PREPROCESSING);
            let made = self.prepare_masks(count);
            self.gmw.session().back(place);
            made?;
        }
        let session = self.gmw.session();
        session.observe(Check::G7); // [G7]
        let unfit = || Abort::Misuse { step: MASKS, what: "fewer masks than were made" };
        let parts = std::mem::take(&mut self.masks);
        let number = Num::join(&parts.iter().map(|part| &part.number).collect::<Vec<_>>());
        let mut bits = Vec::with_capacity(WIDTH);
        for j in 0..WIDTH {
            let of = parts.iter().filter_map(|part| part.bits.get(j)).collect::<Vec<_>>();
            bits.push(self.gmw.join_bits(&of));
        }
        let (now, later): (Vec<usize>, Vec<usize>) = (0..number.lanes()).partition(|lane| *lane < count);
        let cut = |lanes: &[usize]| {
            let bits = bits.iter().map(|bit| bit.gather(lanes)).collect::<Option<Vec<_>>>();
            Some(Masks { bits: bits?, number: number.gather(lanes)? })
        };
        if !later.is_empty() {
            self.masks.push(cut(&later).ok_or_else(unfit)?);
        }
        cut(&now).ok_or_else(unfit)
    }

    /// Figure 10, steps 4 and 5: u = x - r, opened to all; then x = u + r modulo p as bits: b = \[r >= p - u\]
    /// is the carry of r + v, v = u - p modulo 2^32, and x = r + (u or v, by b).
    fn to_bits(&mut self, x: &Num) -> Result<Vec<Bit>, Abort> {
        let (p, lanes) = (self.plain, x.lanes());
        let masks = self.take_masks(lanes)?;
        let session = self.gmw.session();
        let unfit = || Abort::Misuse { step: MASK, what: "a mask for each number" };
        let u = num::open(session, p, &x.sub(p, &masks.number).ok_or_else(unfit)?)?;
        let first = session.me().index() == 0;
        let v: Vec<u64> = u.iter().map(|u| (u + (1 << WIDTH)).wrapping_sub(p.get())).collect();
        // public bits
        let public = |of: &dyn Fn(usize) -> u64| Bit::of((0..lanes).map(of));
        let (mut propagated, mut generated) = (Vec::new(), Vec::new());
        for (j, r) in masks.bits.iter().enumerate() {
            let v = public(&|i| v[i] >> j & 1);
            generated.push(r.and_public(&v));
            let mut sum = r.clone();
            if first && !sum.add(&v) {
                return Err(unfit());
            }
            propagated.push(sum);
        }
        let (carry, sum) = (adders::carry(self.adder), adders::sum(self.adder));
        let mut jobs = [Job::new(&carry, propagated.into_iter().chain(generated).collect())];
        self.gmw.run(&mut jobs)?;
        let [Job { wires, .. }] = jobs;
        let Some(b) = wires.first() else { return Err(unfit()) };
        let mut inputs = masks.bits;
        for j in 0..WIDTH {
            // u or v: u + b (u + v)
            let mut w = b.and_public(&public(&|i| (u[i] ^ v[i]) >> j & 1));
            if first && !w.add(&public(&|i| u[i] >> j & 1)) {
                return Err(unfit());
            }
            inputs.push(w);
        }
        let mut jobs = [Job::new(&sum, inputs)];
        self.gmw.run(&mut jobs)?;
        let [Job { wires, .. }] = jobs;
        Ok(wires)
    }
}

/// Entry j of every row of 32.
fn column(rows: &[u64], j: usize, count: usize) -> zeroize::Zeroizing<Vec<u64>> {
    zeroize::Zeroizing::new(
        rows.chunks_exact(WIDTH).take(count).filter_map(|row| row.get(j).copied()).collect(),
    )
}

impl Convert<Vec<Bit>, Num> for Mixed {
    /// B2A, Figure 9: the bits of a number, the lowest first, at most 32.
    fn convert(&mut self, x: Vec<Bit>) -> Result<Num, Abort> {
        let lanes = x.first().map_or(0, Lanes::lanes);
        if x.is_empty() || x.len() > WIDTH || x.iter().any(|bit| bit.lanes() != lanes) {
            return Err(self.session().misuse(BITS, "numbers of 1 to 32 bits, alike in lanes"));
        }
        let masks = self.take_bits(x.len() * lanes)?;
        let mut shares = Hidden::zeros(x.len() * lanes);
        for (lane, row) in shares.chunks_exact_mut(x.len()).enumerate() {
            row.iter_mut().zip(&x).for_each(|(share, bit)| *share = bit.lane(lane));
        }
        let plain = self.plain;
        convert::to_numbers(self.gmw.session(), plain, x.len(), &shares, masks).map(Num::new)
    }
}

impl Convert<Num, Vec<Bit>> for Mixed {
    /// A2B, Figure 10: 32 bits, the lowest first.
    fn convert(&mut self, x: Num) -> Result<Vec<Bit>, Abort> {
        self.to_bits(&x)
    }
}

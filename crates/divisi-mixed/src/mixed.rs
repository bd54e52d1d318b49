//! One party that computes on bits and numbers: its session, its keys, and its stocks of random bits shared
//! in both worlds, of arithmetic triples, and of masks. What it computes stands with the functionalities:
//! [`crate::abb`], [`crate::conv`], [`crate::prep_lut`] and [`crate::lut`].
//!
//! Adversary: **semi-honest**, all parties but one. Everything that is made ahead goes into stocks, in the
//! same order at all parties, and is used once \[G7\].

use crate::adders::NumberAdder;
use crate::arithmetic::{self, NumberTriples};
use crate::bit::GmwBit;
use crate::checks;
use crate::cot;
use crate::dabit::{self, RandomBits};
use crate::gmw::{Gmw, PREPROCESSING};
use crate::num::Num;
use divisi_bgv::parameters::Operation;
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, Prg, Session, Step, step};
use divisi_field::zp::Modulus;
use std::sync::Arc;

const BITS: Step = step!("bits.take");
const PRODUCTS: Step = step!("numbers.products");
const SET_UP: Step = step!("mixed.set-up");

/// How random bits are made.
enum Source {
    Transfers,
    Ciphertexts(Keys, Box<Sampler>),
}

/// Uniform numbers below p, shared as bits and modulo p: the masks of A2B. Using them consumes them
/// \[G7\].
pub(crate) struct Masks {
    pub bits: Vec<GmwBit>,
    pub number: Num,
}

/// One party: its session, its set-up for transfers, its keys, and its stocks.
pub struct Mixed {
    pub(crate) gmw: Gmw,
    pub(crate) plain: Modulus,
    pub(crate) adder: NumberAdder,
    source: Source,
    multiplies: Option<(Keys, Sampler)>,
    bits: RandomBits,
    products: Vec<NumberTriples>,
    pub(crate) masks: Vec<Masks>,
}

impl Mixed {
    /// A party that computes on numbers modulo p. `bits` is the ring for random bits; without it they are
    /// made by transfers. `numbers` is the ring for arithmetic triples; without it numbers cannot be
    /// multiplied. Without either no key is made.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if a ring is for another operation or another p; otherwise it fails as
    /// [`Keys::generate`] does.
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
            return Err(session.misuse(SET_UP, Misuse::KeyUnfit));
        }
        let mut source = Source::Transfers;
        let mut first = None;
        if let Some(ring) = bits {
            let keys = Keys::generate(session, ring)?;
            first = Some(keys.clone());
            source = Source::Ciphertexts(keys, Box::new(Sampler::new(session)));
        }
        let mut multiplies = None;
        if let Some(ring) = numbers {
            let keys = match &first {
                Some(keys) => keys.beside(session, ring)?, // [G12]
                None => Keys::generate(session, ring)?,
            };
            multiplies = Some((keys, Sampler::new(session)));
        }
        let (bits, products, masks) = (RandomBits::default(), Vec::new(), Vec::new());
        Ok(Mixed { gmw, plain, adder: NumberAdder::default(), source, multiplies, bits, products, masks })
    }

    /// Chooses A2B's adder. All parties must choose the same.
    pub fn set_adder(&mut self, adder: NumberAdder) {
        self.adder = adder;
    }

    /// The party's part for circuits.
    pub fn gmw(&mut self) -> &mut Gmw {
        &mut self.gmw
    }

    /// The session.
    pub fn session(&mut self) -> &mut Session {
        self.gmw.session()
    }

    /// The modulus p.
    #[must_use]
    pub fn plain(&self) -> Modulus {
        self.plain
    }

    /// How many partial decryptions this party has made, with all its keys.
    #[must_use]
    pub fn decryptions(&self) -> u64 {
        self.keys().map_or(0, |keys| keys.decryptions())
    }

    /// Whether bits are multiplied and shared in both worlds by transfers alone, and not by ciphertexts.
    #[must_use]
    pub fn is_by_transfers(&self) -> bool {
        matches!(self.source, Source::Transfers)
    }

    /// Keys of this party, beside which other keys of the session are made ([`Keys::beside`]); `None` if it
    /// uses no ciphertexts.
    #[must_use]
    pub fn keys(&self) -> Option<Keys> {
        match (&self.source, &self.multiplies) {
            (Source::Ciphertexts(keys, _), _) | (Source::Transfers, Some((keys, _))) => Some(keys.clone()),
            (Source::Transfers, None) => None,
        }
    }

    /// Makes random bits until `count` of them are in stock.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
    pub fn prepare_bits(&mut self, count: usize) -> Result<(), Abort> {
        loop {
            let missing = count.saturating_sub(self.bits.len());
            if missing == 0 {
                return Ok(());
            }
            let made = match &mut self.source {
                Source::Transfers => {
                    let (session, setup) = self.gmw.ends()?;
                    cot::batches(session, setup, self.plain, missing)?
                }
                Source::Ciphertexts(keys, sampler) => {
                    let batches = missing.div_ceil(keys.ring().dimension());
                    dabit::batches(self.gmw.session(), keys, sampler, batches)?
                }
            };
            self.bits.append(made);
        }
    }

    /// Makes arithmetic triples until `count` of them are in stock.
    ///
    /// # Errors
    /// [`Abort::Misuse`] without keys for them; the abort that ends the session, if a link or a check fails.
    pub fn prepare_products(&mut self, count: usize) -> Result<(), Abort> {
        let there: usize = self.products.iter().map(NumberTriples::len).sum();
        let missing = count.saturating_sub(there);
        if missing == 0 {
            return Ok(());
        }
        let session = self.gmw.session();
        let Some((keys, sampler)) = &mut self.multiplies else {
            return Err(session.misuse(PRODUCTS, Misuse::KeyMissing));
        };
        let batches = missing.div_ceil(keys.ring().dimension());
        self.products.extend(arithmetic::batches(session, keys, sampler, batches)?);
        Ok(())
    }

    /// Makes shares modulo p of bits that every party chooses. If random bits are made by ciphertexts, there
    /// must be as many bits as a ciphertext has slots.
    pub(crate) fn dabit_of(&mut self, bits: WipedVec<u64>) -> Result<RandomBits, Abort> {
        match &mut self.source {
            Source::Transfers => {
                let (session, setup) = self.gmw.ends()?;
                let packed = GmwBit::of(bits.iter().copied());
                let chosen = divisi_ot::Bits::Chosen(packed.words(), bits.len());
                cot::dabit_of(session, setup, self.plain, chosen)
            }
            Source::Ciphertexts(keys, sampler) => dabit::dabit_of(self.gmw.session(), keys, sampler, bits),
        }
    }

    /// How many bits are shared in one batch, if that is fixed: the number of slots of a ciphertext.
    pub(crate) fn together(&self) -> Option<usize> {
        match &self.source {
            Source::Transfers => None,
            Source::Ciphertexts(keys, _) => Some(keys.ring().dimension()),
        }
    }

    /// The generator of our own randomness.
    pub(crate) fn own(&mut self) -> &mut Prg {
        self.gmw.own()
    }

    /// Removes `count` random bits from the stock \[G7\], and makes them first if there are fewer.
    ///
    /// # Errors
    /// It fails as [`Mixed::prepare_bits`] does.
    pub fn take_bits(&mut self, count: usize) -> Result<RandomBits, Abort> {
        if self.bits.len() < count {
            let place = self.gmw.session().detour(PREPROCESSING);
            let made = self.prepare_bits(count);
            self.gmw.session().back(place);
            made?;
        }
        let session = self.gmw.session();
        session.observe(checks::G7); // [G7]
        let none = || session.misuse(BITS, Misuse::TooFewMade);
        self.bits.take(count).ok_or_else(none)
    }

    /// Removes `count` arithmetic triples from the stock \[G7\], and makes them first if there are fewer.
    ///
    /// # Errors
    /// It fails as [`Mixed::prepare_products`] does.
    pub(crate) fn take_products(&mut self, count: usize) -> Result<NumberTriples, Abort> {
        if self.products.iter().map(NumberTriples::len).sum::<usize>() < count {
            let place = self.gmw.session().detour(PREPROCESSING);
            let made = self.prepare_products(count);
            self.gmw.session().back(place);
            made?;
        }
        let mut parts = Vec::new();
        let mut missing = count;
        while missing > 0 {
            let Some(mut last) = self.products.pop() else { break };
            let now = missing.min(last.len());
            parts.extend(last.take(now));
            missing -= now;
            if !last.is_empty() {
                self.products.push(last);
            }
        }
        self.gmw.session().observe(checks::G7); // [G7]
        Ok(NumberTriples::join(parts))
    }
}

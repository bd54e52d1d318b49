//! Preprocessing of the arithmetic protocols, made ahead as far as the need is known.

use super::{PREPROCESSING_PHASE, Spdz, SpdzProtocol};
use crate::part::{Host, Mac};
use crate::share::Auth;
use crate::source::Triples;
use divisi_core::{Abort, Check, Step, step};
use divisi_field::{Gf2, Gf6, Gf8};

const SHORT: Step = step!("reserve");

/// Random bits and products of bytes, each taken once.
#[derive(Default)]
pub(super) struct Reserve<F: Mac> {
    bits: Auth<Gf2, F>,
    triples: Option<Triples<Gf8, F>>,
    sixes: Option<Triples<Gf6, F>>,
    ands: Option<Triples<Gf2, F>>,
    /// The number of random bits that were announced and not taken yet.
    foreseen_bits: usize,
    foreseen_triples: usize,
    foreseen_sixes: usize,
}

/// Random bits and products of bytes that a lookup in a table of few bits takes.
const LOOKUP: (usize, usize) = (24, 3);

/// Random bits and products in GF(2^6) that a lookup in a table of DES takes by all powers of its index.
const RAW: (usize, usize) = (4, super::raw::PRODUCTS);

/// Random bits and products of bytes that an S-box of AES takes, encrypting.
fn products_of(protocol: SpdzProtocol) -> (usize, usize) {
    match protocol {
        SpdzProtocol::Lookup | SpdzProtocol::Raw => (0, 0),
        SpdzProtocol::RivainProuff => (32, 4),
        SpdzProtocol::BitDecomposition => (16, 6),
    }
}

impl<F: Host> Spdz<F> {
    /// So many S-boxes of AES are to come, encrypting.
    pub(super) fn foresee_powers(&mut self, sboxes: usize) {
        let (bits, triples) = products_of(self.protocol);
        self.foresee_products(sboxes.saturating_mul(bits), sboxes.saturating_mul(triples));
    }

    /// So many lookups in tables of few bits are to come.
    pub(super) fn foresee_lookups(&mut self, lookups: usize) {
        if self.protocol == SpdzProtocol::Raw {
            let reserve = &mut self.reserve;
            reserve.foreseen_bits = reserve.foreseen_bits.saturating_add(lookups.saturating_mul(RAW.0));
            reserve.foreseen_sixes = reserve.foreseen_sixes.saturating_add(lookups.saturating_mul(RAW.1));
        } else {
            self.foresee_products(lookups.saturating_mul(LOOKUP.0), lookups.saturating_mul(LOOKUP.1));
        }
    }

    /// So many random bits and products of bytes are to come.
    fn foresee_products(&mut self, bits: usize, triples: usize) {
        let reserve = &mut self.reserve;
        reserve.foreseen_bits = reserve.foreseen_bits.saturating_add(bits);
        reserve.foreseen_triples = reserve.foreseen_triples.saturating_add(triples);
    }

    /// Make all random bits and products of bytes that were announced, before keys and inputs are known.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn preprocess_products(&mut self) -> Result<(), Abort> {
        let Reserve { foreseen_bits, foreseen_triples, foreseen_sixes, .. } = self.reserve;
        self.stock_bits(foreseen_bits)?;
        self.stock_triples(foreseen_triples)?;
        self.stock_sixes(foreseen_sixes)
    }

    /// Make the preprocessing for `sboxes` S-boxes of AES by products, for encryption.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn preprocess_sboxes(&mut self, sboxes: usize) -> Result<(), Abort> {
        let (bits, triples) = products_of(self.protocol);
        self.stock_bits(sboxes.saturating_mul(bits))?;
        self.stock_triples(sboxes.saturating_mul(triples))
    }

    /// Make the preprocessing for `lookups` lookups in tables of few bits by products.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn preprocess_lookups(&mut self, lookups: usize) -> Result<(), Abort> {
        if self.protocol == SpdzProtocol::Raw {
            self.stock_bits(lookups.saturating_mul(RAW.0))?;
            return self.stock_sixes(lookups.saturating_mul(RAW.1));
        }
        self.stock_bits(lookups.saturating_mul(LOOKUP.0))?;
        self.stock_triples(lookups.saturating_mul(LOOKUP.1))
    }

    /// Make the products of bits for `ands` lanes of ANDs of a program.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn preprocess_ands(&mut self, ands: usize) -> Result<(), Abort> {
        self.stock_ands(ands)
    }

    /// See that so many products of bits are there.
    fn stock_ands(&mut self, count: usize) -> Result<(), Abort> {
        if count > 0 && self.reserve.ands.as_ref().is_none_or(|ands| ands.a.len() < count) {
            let phase = self.party.session.detour(PREPROCESSING_PHASE);
            let made = self.source.bit_triples(&mut self.party, count);
            self.party.session.back(phase);
            self.reserve.ands = Some(made?);
        }
        Ok(())
    }

    /// Fresh products of bits.
    #[inline(never)]
    pub(super) fn and_triples(&mut self, count: usize) -> Result<Triples<Gf2, F>, Abort> {
        self.stock_ands(count)?;
        let taken = self.reserve.ands.as_mut().and_then(|triples| triples.pop(count));
        taken.ok_or_else(|| self.party.session.misuse(SHORT, "too few products"))
    }

    /// See that so many random bits are there.
    fn stock_bits(&mut self, count: usize) -> Result<(), Abort> {
        if self.reserve.bits.len() < count {
            let more = self.reserve.foreseen_bits.max(count);
            let phase = self.party.session.detour(PREPROCESSING_PHASE);
            let made = self.source.bits(&mut self.party, more);
            self.party.session.back(phase);
            self.reserve.bits = made?;
        }
        Ok(())
    }

    /// See that so many products of bytes are there.
    fn stock_triples(&mut self, count: usize) -> Result<(), Abort> {
        if count > 0 && self.reserve.triples.as_ref().is_none_or(|triples| triples.a.len() < count) {
            let more = self.reserve.foreseen_triples.max(count);
            let phase = self.party.session.detour(PREPROCESSING_PHASE);
            let made = self.source.byte_triples(&mut self.party, more);
            self.party.session.back(phase);
            self.reserve.triples = Some(made?);
        }
        Ok(())
    }

    /// See that so many products in GF(2^6) are there.
    fn stock_sixes(&mut self, count: usize) -> Result<(), Abort> {
        if count > 0 && self.reserve.sixes.as_ref().is_none_or(|sixes| sixes.a.len() < count) {
            let more = self.reserve.foreseen_sixes.max(count);
            let phase = self.party.session.detour(PREPROCESSING_PHASE);
            let made = self.source.six_triples(&mut self.party, more);
            self.party.session.back(phase);
            self.reserve.sixes = Some(made?);
        }
        Ok(())
    }

    /// Fresh random bits \[K5\].
    #[inline(never)]
    pub(super) fn random_bits(&mut self, count: usize) -> Result<Auth<Gf2, F>, Abort> {
        self.stock_bits(count)?;
        self.reserve.foreseen_bits = self.reserve.foreseen_bits.saturating_sub(count);
        self.party.session.observe_each(Check::K5, count as u64); // [K5]
        let taken = self.reserve.bits.pop(count);
        taken.ok_or_else(|| self.party.session.misuse(SHORT, "too few random bits"))
    }

    /// Fresh products of bytes.
    #[inline(never)]
    pub(super) fn byte_triples(&mut self, count: usize) -> Result<Triples<Gf8, F>, Abort> {
        self.stock_triples(count)?;
        self.reserve.foreseen_triples = self.reserve.foreseen_triples.saturating_sub(count);
        let taken = self.reserve.triples.as_mut().and_then(|triples| triples.pop(count));
        taken.ok_or_else(|| self.party.session.misuse(SHORT, "too few products"))
    }

    /// Fresh products in GF(2^6).
    #[inline(never)]
    pub(super) fn six_triples(&mut self, count: usize) -> Result<Triples<Gf6, F>, Abort> {
        self.stock_sixes(count)?;
        self.reserve.foreseen_sixes = self.reserve.foreseen_sixes.saturating_sub(count);
        let taken = self.reserve.sixes.as_mut().and_then(|triples| triples.pop(count));
        taken.ok_or_else(|| self.party.session.misuse(SHORT, "too few products"))
    }
}

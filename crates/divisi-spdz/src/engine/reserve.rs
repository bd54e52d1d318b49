//! Random bits and products that were made ahead, as far as the need for them was announced.

use super::{PREPROCESSING_PHASE, Spdz, SpdzProtocol};
use crate::checks;
use crate::multiply::Pair;
use crate::part::{Host, Mac};
use crate::party::Party;
use crate::share::{Auth, Tail};
use crate::source::{KnownBits, LastTriples, Triples};
use divisi_core::{Abort, Misuse, PartyId, Step, step};
use divisi_field::{Gf2, Gf6, Gf8};

const SHORT: Step = step!("reserve");

/// Random bits, and products of bytes, of elements of GF(2^6) and of bits; each is taken once.
#[derive(Default)]
pub(super) struct Reserve<F: Mac> {
    bits: Auth<Gf2, F>,
    triples: Triples<Gf8, F>,
    sixes: Triples<Gf6, F>,
    ands: Triples<Gf2, F>,
    /// The number of random bits that were announced and not taken yet.
    foreseen_bits: usize,
    foreseen_triples: usize,
    foreseen_sixes: usize,
    /// Bits that one party knows, which were asked for together.
    known: Vec<(PartyId, KnownBits<F>)>,
    /// The number of random bits that were last made for an operation that nobody had announced.
    unforeseen_bits: usize,
}

/// The most random bits that are made beyond those that an operation asks for.
const MOST_AHEAD: usize = 1 << 16;

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
    /// Announce this many S-boxes of AES that will be computed for encryption.
    pub(super) fn foresee_powers(&mut self, sboxes: usize) {
        let (bits, triples) = products_of(self.protocol);
        self.foresee_products(sboxes.saturating_mul(bits), sboxes.saturating_mul(triples));
    }

    /// Announce this many lookups in tables of few bits.
    pub(super) fn foresee_lookups(&mut self, lookups: usize) {
        if self.protocol == SpdzProtocol::Raw {
            let reserve = &mut self.reserve;
            reserve.foreseen_bits = reserve.foreseen_bits.saturating_add(lookups.saturating_mul(RAW.0));
            reserve.foreseen_sixes = reserve.foreseen_sixes.saturating_add(lookups.saturating_mul(RAW.1));
        } else {
            self.foresee_products(lookups.saturating_mul(LOOKUP.0), lookups.saturating_mul(LOOKUP.1));
        }
    }

    /// Announce this many random bits and products of bytes that will be used.
    pub(super) fn foresee_products(&mut self, bits: usize, triples: usize) {
        let reserve = &mut self.reserve;
        reserve.foreseen_bits = reserve.foreseen_bits.saturating_add(bits);
        reserve.foreseen_triples = reserve.foreseen_triples.saturating_add(triples);
    }

    /// Make all random bits and products (of bytes, and in GF(2^6)) that were announced, before keys and
    /// inputs are known.
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

    /// Make `ands` products of bits: one for each lane of each AND of a program.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn preprocess_ands(&mut self, ands: usize) -> Result<(), Abort> {
        self.stock_ands(ands)
    }

    /// Make sure that this many random bits are there, for masks: one request instead of one for each use.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn preprocess_bits(&mut self, bits: usize) -> Result<(), Abort> {
        self.stock_bits(bits)
    }

    /// Make bits that these parties know, for their inputs and for outputs to them alone: one request for all
    /// of them, instead of one for each. For a party that is named twice the numbers are added.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn preprocess_known(&mut self, counts: &[(PartyId, usize)]) -> Result<(), Abort> {
        // a request names each party once: it would get the same bits twice
        let mut wanted: Vec<(PartyId, usize)> = Vec::with_capacity(counts.len());
        for (owner, count) in counts {
            match wanted.iter_mut().find(|(of, _)| of == owner) {
                Some((_, sum)) => *sum = sum.saturating_add(*count),
                None => wanted.push((*owner, *count)),
            }
        }
        let lacks = |(owner, count): &(PartyId, usize)| {
            let there = self.reserve.known.iter().find(|(of, _)| of == owner);
            there.map_or(0, |(_, known)| known.shares.len()) < *count
        };
        let lacking: Vec<(PartyId, usize)> = wanted.into_iter().filter(lacks).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let made = self.source.known_each(&mut self.party, &lacking)?;
        self.reserve.known.retain(|(of, _)| lacking.iter().all(|(owner, _)| owner != of));
        self.reserve.known.extend(lacking.iter().map(|(owner, _)| *owner).zip(made));
        Ok(())
    }

    /// Bits that one party knows: from those that were made ahead, if there are enough.
    pub(crate) fn known(&mut self, owner: PartyId, count: usize) -> Result<KnownBits<F>, Abort> {
        let there = self.reserve.known.iter_mut().find(|(of, _)| *of == owner);
        if let Some(known) = there.and_then(|(_, known)| known.take(count)) {
            return Ok(known);
        }
        self.source.known(&mut self.party, owner, count)
    }

    /// Make sure that `count` products of bits are in stock.
    pub(super) fn stock_ands(&mut self, count: usize) -> Result<(), Abort> {
        if self.reserve.ands.a.len() < count {
            let phase = self.party.session.detour(PREPROCESSING_PHASE);
            let made = self.source.bit_triples(&mut self.party, count);
            self.party.session.back(phase);
            self.reserve.ands = made?;
        }
        Ok(())
    }

    /// x y of bits, for each of these pairs.
    #[inline(never)]
    pub(super) fn multiply_ands(&mut self, pairs: &[Pair<'_, Gf2, F>]) -> Result<Auth<Gf2, F>, Abort> {
        let count = pairs.iter().map(|(x, _)| x.len()).sum();
        self.stock_ands(count)?;
        let Spdz { party, reserve, .. } = self;
        let Some(triples) = reserve.ands.tail(count) else { return Err(few(party)) };
        party.multiply(pairs, triples)
    }

    /// Make sure that `count` random bits are in stock.
    fn stock_bits(&mut self, count: usize) -> Result<(), Abort> {
        if self.reserve.bits.len() < count {
            let more = self.reserve.foreseen_bits.max(count);
            let more = if self.source.makes() && self.reserve.foreseen_bits == 0 {
                // a loop that asks again and again costs rounds each time: each request makes twice as many
                more.max(self.reserve.unforeseen_bits.saturating_mul(2).min(MOST_AHEAD))
            } else {
                more
            };
            self.reserve.unforeseen_bits = more;
            let phase = self.party.session.detour(PREPROCESSING_PHASE);
            let made = self.source.bits(&mut self.party, more);
            self.party.session.back(phase);
            self.reserve.bits = made?;
        }
        Ok(())
    }

    /// Make sure that `count` products of bytes are in stock.
    fn stock_triples(&mut self, count: usize) -> Result<(), Abort> {
        if self.reserve.triples.a.len() < count {
            let more = self.reserve.foreseen_triples.max(count);
            let phase = self.party.session.detour(PREPROCESSING_PHASE);
            let made = self.source.byte_triples(&mut self.party, more);
            self.party.session.back(phase);
            self.reserve.triples = made?;
        }
        Ok(())
    }

    /// Make sure that `count` products in GF(2^6) are in stock.
    fn stock_sixes(&mut self, count: usize) -> Result<(), Abort> {
        if self.reserve.sixes.a.len() < count {
            let more = self.reserve.foreseen_sixes.max(count);
            let phase = self.party.session.detour(PREPROCESSING_PHASE);
            let made = self.source.six_triples(&mut self.party, more);
            self.party.session.back(phase);
            self.reserve.sixes = made?;
        }
        Ok(())
    }

    /// Fresh random bits \[K5\].
    #[inline(never)]
    pub(super) fn random_bits(&mut self, count: usize) -> Result<Auth<Gf2, F>, Abort> {
        let (_, mut bits, _) = self.fresh(count, 0)?;
        Ok(bits.copied())
    }

    /// Fresh random bits \[K5\] and products of bytes, in place, and the party that uses them.
    #[inline(never)]
    pub(super) fn fresh(&mut self, bits: usize, products: usize) -> Result<Fresh<'_, F>, Abort> {
        self.stock_bits(bits)?;
        self.stock_triples(products)?;
        let Spdz { party, reserve, .. } = self;
        reserve.foreseen_bits = reserve.foreseen_bits.saturating_sub(bits);
        reserve.foreseen_triples = reserve.foreseen_triples.saturating_sub(products);
        party.session.observe_each(checks::K5, bits as u64); // [K5]
        let Some(bits) = reserve.bits.tail(bits) else { return Err(few(party)) };
        let Some(triples) = reserve.triples.tail(products) else { return Err(few(party)) };
        Ok((party, bits, triples))
    }

    /// x y of elements of GF(2^6), for each of these pairs.
    #[inline(never)]
    pub(super) fn multiply_sixes(&mut self, pairs: &[Pair<'_, Gf6, F>]) -> Result<Auth<Gf6, F>, Abort> {
        let count = pairs.iter().map(|(x, _)| x.len()).sum();
        self.stock_sixes(count)?;
        let Spdz { party, reserve, .. } = self;
        reserve.foreseen_sixes = reserve.foreseen_sixes.saturating_sub(count);
        let Some(triples) = reserve.sixes.tail(count) else { return Err(few(party)) };
        party.multiply(pairs, triples)
    }
}

/// The party, and what a protocol takes from the reserve: random bits and products of bytes.
pub(super) type Fresh<'a, F> = (&'a mut Party<F>, Tail<'a, Gf2, F>, LastTriples<'a, Gf8, F>);

fn few<F: Host>(party: &Party<F>) -> Abort {
    party.session.misuse(SHORT, Misuse::TooFewMade)
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::part::Shareable;
    use divisi_core::PublicParameters;
    use divisi_core::testing::run;
    use divisi_field::{Field, Gf48};
    use std::collections::HashSet;

    /// One request makes the bits of all parties that it names; a party that is named twice gets the sum, and
    /// bits that are there are not made again.
    #[test]
    fn known_bits_of_all_parties_are_made_together() {
        let ends = run(3, &PublicParameters::new("known bits"), |session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut engine = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
            let [first, second, third] = [0, 1, 2].map(|i| PartyId::all(3).nth(i).unwrap());
            let there = |engine: &Spdz<Gf48>| {
                [first, second, third].map(|owner| {
                    let of_owner = engine.reserve.known.iter().filter(|(of, _)| *of == owner);
                    of_owner.map(|(_, known)| known.shares.len()).collect::<Vec<_>>()
                })
            };
            engine.preprocess_known(&[(first, 3), (third, 300), (first, 4), (second, 5)])?;
            assert_eq!(there(&engine), [[7], [5], [300]]);
            engine.known(third, 299)?;
            engine.preprocess_known(&[(first, 7), (third, 1), (second, 6)])?;
            assert_eq!(there(&engine), [[7], [6], [1]]);
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    }

    /// No two shares of MACs of these are equal.
    fn differ<V: Shareable>(parts: &[&Auth<V, Gf48>]) -> bool {
        let macs = || parts.iter().flat_map(|part| part.m.iter().map(|m| m.to_bits()));
        macs().collect::<HashSet<_>>().len() == macs().count()
    }

    /// Known bits that were made ahead are given once, in pieces of whatever size, and each with its value.
    #[test]
    fn known_bits_made_ahead_are_given_once() {
        let sizes = || (0..=16).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1]);
        let ends = run(2, &PublicParameters::new("known bits ahead"), |session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
            let mut wrong = Vec::new();
            for count in sizes() {
                let owner = PartyId::P2;
                e.preprocess_known(&[(owner, 2 * count + 3)])?;
                let taken = [e.known(owner, count)?, e.known(owner, count)?, e.known(owner, 3)?];
                let left: usize = e.reserve.known.iter().map(|(_, known)| known.shares.len()).sum();
                let mut fine = left == 0 && differ(&taken.each_ref().map(|known| &known.shares));
                for KnownBits { values, shares } in taken {
                    let opened = e.party.open(SHORT, &shares.x, &shares.m)?;
                    fine &= values.is_none_or(|values| *values == opened);
                }
                e.party.check()?;
                wrong.extend((!fine).then_some(count));
            }
            Ok(wrong)
        });
        assert!(ends.iter().all(|end| end.as_ref().is_ok_and(Vec::is_empty)), "{ends:?}");
    }

    /// However much an operation takes at once, and again, nothing of it is given twice.
    #[test]
    fn what_is_taken_at_once_is_not_given_twice() {
        let (bits, products) = ((1 << 17) + 5, (1 << 16) + 5);
        let ends = run(2, &PublicParameters::new("large reserves"), |session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
            let mut fine = Vec::new();
            for ahead in [0, 3] {
                e.foresee_products(ahead * bits, ahead * products);
                let taken = [e.random_bits(bits)?, e.random_bits(bits)?];
                fine.push(differ(&taken.each_ref()));
                e.stock_triples(products)?;
                let Triples { a, b, c } = &e.reserve.triples;
                fine.push(differ(&[a, b, c]));
                e.stock_sixes(products)?;
                let Triples { a, b, c } = &e.reserve.sixes;
                fine.push(differ(&[a, b, c]));
                e.stock_ands(products)?;
                let Triples { a, b, c } = &e.reserve.ands;
                fine.push(differ(&[a, b, c]));
                let of_one = |e: &mut Spdz<Gf48>| e.known(PartyId::P1, bits);
                let [first, second] = [of_one(&mut e)?, of_one(&mut e)?];
                fine.push(differ(&[&first.shares, &second.shares]));
            }
            Ok(fine)
        });
        let fine = |end: &Result<Vec<bool>, Abort>| end.as_ref().is_ok_and(|all| all.iter().all(|x| *x));
        assert!(ends.iter().all(fine), "{ends:?}");
    }
}

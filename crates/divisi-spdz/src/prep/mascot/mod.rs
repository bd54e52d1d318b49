//! MASCOT (Keller, Orsini, Scholl 2016, ePrint 2016/505), with which KOR+17 measures its preprocessing.
//!
//! | figure | here |
//! |---|---|
//! | COPEe (Protocol 1), authentication (Protocol 3) | rows of chosen bits ([`super::rows`]) |
//! | Multiply, Combine, Authenticate, Sacrifice (Protocol 4) | [`triple`] |
//! | a random bit | a row |
//!
//! Products of parts of the field, of bits and of bytes, are made of products of elements and random bits
//! ([`parts`]).

mod parts;
mod triple;

use super::rows::Rows;
use crate::part::{Mac, Projects};
use crate::party::Party;
use crate::share::Auth;
use crate::source::Units;
use crate::source::{BitTriples, KnownBits, Products, Source, Triples};
use divisi_core::{Abort, PartyId, Session};
use divisi_field::{Gf2, Gf6, Gf8};
use divisi_ot::SetupConfig;
use std::marker::PhantomData;

/// A source of preprocessing by oblivious transfer: products combined and sacrificed.
pub struct Mascot<F: Mac> {
    rows: Rows,
    field: PhantomData<fn() -> F>,
}

impl<F: Mac> Mascot<F> {
    /// The party of a session, and the source of its preprocessing: runs base OTs, trees and coins. A session
    /// can call it once; `config` must be the same at all parties ([`super::Preparation::describe`]).
    ///
    /// # Errors
    /// [`Abort::Misuse`] for parameters out of range; otherwise the abort that ends the session.
    #[inline(never)]
    pub fn start(session: Session, config: SetupConfig) -> Result<(Party<F>, Self), Abort> {
        let (party, rows) = Rows::start(session, config)?;
        Ok((party, Mascot { rows, field: PhantomData }))
    }

    /// [`Mascot::start`] over a set-up that a test made.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[cfg(any(test, feature = "testing"))]
    #[inline(never)]
    pub fn over(session: Session, setup: divisi_ot::Setup) -> Result<(Party<F>, Self), Abort> {
        let (party, rows) = Rows::of(session, setup)?;
        Ok((party, Mascot { rows, field: PhantomData }))
    }

    /// The results of **Combine** on this party's shares of tau elements each, with r and with r^.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[cfg(any(test, feature = "testing"))]
    pub fn combination(party: &mut Party<F>, a: &[F]) -> Result<[Vec<F>; 2], Abort> {
        triple::combination(party, a)
    }
}

impl<F: Mac> Source<F> for Mascot<F> {
    #[inline(never)]
    fn bits(&mut self, party: &mut Party<F>, count: usize) -> Result<Auth<Gf2, F>, Abort> {
        self.rows.bits(party, count)
    }

    #[inline(never)]
    fn known(&mut self, party: &mut Party<F>, owner: PartyId, count: usize) -> Result<KnownBits<F>, Abort> {
        self.rows.known(party, owner, count)
    }

    #[inline(never)]
    fn known_each(
        &mut self,
        party: &mut Party<F>,
        counts: &[(PartyId, usize)],
    ) -> Result<Vec<KnownBits<F>>, Abort> {
        self.rows.known_each(party, counts)
    }

    #[inline(never)]
    fn units(&mut self, party: &mut Party<F>, log: usize, lanes: usize) -> Result<Units<F>, Abort> {
        party.demux(self, log, lanes)
    }

    #[inline(never)]
    fn byte_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf8, F>, Abort>
    where
        F: Projects<Gf8>,
    {
        parts::field_triples(&mut self.rows, party, count)
    }

    #[inline(never)]
    fn six_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf6, F>, Abort>
    where
        F: Projects<Gf6>,
    {
        parts::field_triples(&mut self.rows, party, count)
    }

    #[inline(never)]
    fn bit_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf2, F>, Abort> {
        parts::bit_triples(&mut self.rows, party, count)
    }
}

impl<F: Mac> Products<F> for Mascot<F> {
    #[inline(never)]
    fn element_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<BitTriples<F>, Abort> {
        parts::element_triples(&mut self.rows, party, count)
    }
}

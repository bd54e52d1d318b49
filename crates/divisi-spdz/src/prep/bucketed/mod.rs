//! The project's own preprocessing: products of a bit and a vector of authenticated bits (docs/spdz.md,
//! section 7).
//!
//! For a bit b (a wide row) and a vector v of authenticated bits, in pieces of at most 32 under one MAC each:
//!
//! 1. P_k sends each P_i d = H(K) + H(K + Delta'_k) + (v_k, phi_k), with phi_k its shares of the MACs of v's
//!    pieces; P_i adds b_i times its own (v_i, phi_i). The results are shares of b v and of its MACs
//!    ([`tables`], [`triples`]).
//! 2. One random combination of all products, masked, is opened and its MAC checked ([`proof`]) \[K15\]. A
//!    party that sends a wrong d passes with probability at most 1/2, and then has learned something about b.
//! 3. A coin assigns items to buckets, and all items of a bucket are combined to one with the vector of the
//!    first: with D = v_1 + v_k opened, z = z_1 + sum z_k + D b_k is v_1 times the sum of all b ([`buckets`])
//!    \[K16\].
//! 4. The parties check the MACs of what was opened before they use the result \[K17\].
//!
//! Adversary: n - 1 malicious, rushing; security with abort. The adversary knows something about a resulting
//! bit with probability at most 2^-rho, and a wrong product remains with probability at most (n + 1)/|F|,
//! that of the MAC check.

mod buckets;
mod items;
mod proof;
mod shape;
mod tables;
mod triples;

use super::rows::Rows;
use crate::part::{Mac, Projects};
use crate::party::Party;
use crate::share::Auth;
use crate::source::Units;
use crate::source::{KnownBits, Source, Triples};
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step};
use divisi_field::{Gf2, Gf6, Gf8};
use divisi_ot::SetupConfig;
use tables::Stock;

const SHORT: Step = step!("bucketed");

/// The abort if there are too few items, or no table of a size.
fn short<F: Mac>(party: &Party<F>) -> Abort {
    party.session.misuse(SHORT, Misuse::TooFewMade)
}

/// A source of preprocessing by oblivious transfer, with products in buckets.
pub struct Bucketed<F: Mac> {
    rows: Rows,
    stocks: Vec<Stock<F>>,
}

impl<F: Mac> Bucketed<F> {
    /// The party of a session, and the source of its preprocessing: runs base OTs, trees and coins. A session
    /// can call it once; `config` must be the same at all parties ([`super::Preparation::describe`]).
    ///
    /// # Errors
    /// [`Abort::Misuse`] for parameters out of range; otherwise the abort that ends the session.
    #[inline(never)]
    pub fn start(session: Session, config: SetupConfig) -> Result<(Party<F>, Self), Abort> {
        let (party, rows) = Rows::start(session, config)?;
        Ok((party, Bucketed { rows, stocks: Vec::new() }))
    }

    /// [`Bucketed::start`] over a set-up that a test made.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[cfg(any(test, feature = "testing"))]
    #[inline(never)]
    pub fn over(session: Session, setup: divisi_ot::Setup) -> Result<(Party<F>, Self), Abort> {
        let (party, rows) = Rows::of(session, setup)?;
        Ok((party, Bucketed { rows, stocks: Vec::new() }))
    }
}

impl<F: Mac> Source<F> for Bucketed<F> {
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

    fn foresee(&mut self, log: usize, lanes: usize) {
        let stock = self.stock(log);
        stock.foreseen = stock.foreseen.saturating_add(lanes);
    }

    #[inline(never)]
    fn units(&mut self, party: &mut Party<F>, log: usize, lanes: usize) -> Result<Units<F>, Abort> {
        self.unit_vectors(party, log, lanes)
    }

    #[inline(never)]
    fn byte_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf8, F>, Abort>
    where
        F: Projects<Gf8>,
    {
        triples::triples(&mut self.rows, party, count)
    }

    #[inline(never)]
    fn six_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf6, F>, Abort>
    where
        F: Projects<Gf6>,
    {
        triples::triples(&mut self.rows, party, count)
    }

    #[inline(never)]
    fn bit_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf2, F>, Abort> {
        triples::triples(&mut self.rows, party, count)
    }
}

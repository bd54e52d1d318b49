//! Preprocessing of our own: products of a bit and a vector of authenticated bits (docs/spdz.md, section 7).
//!
//! For a bit b, a wide row, and a vector v of authenticated bits, in pieces of at most 32 under one MAC each:
//!
//! 1. P_k sends each P_i d = H(K) + H(K + Delta'_k) + (v_k, phi_k), phi_k its shares of the MACs of v's
//!    pieces; P_i adds b_i times its own. What arrives are shares of b v and of its MACs ([`tables`],
//!    [`triples`]).
//! 2. One random combination of all products, masked, is opened and its MAC checked ([`proof`]) \[K15\].
//!    Whoever sent another d passes with probability 1/2 at most, and knows something of b then.
//! 3. Items go into buckets by a coin, and v of the first one serves all: with D = v_1 + v_k opened,
//!    z = z_1 + sum z_k + D b_k is v_1 times the sum of all b ([`buckets`]) \[K16\].
//! 4. What was opened is MAC-checked before anything is made of it \[K17\].
//!
//! Adversary: n - 1 malicious, rushing; security with abort. Nothing is known of a bit that comes out but
//! with probability 2^-rho, and all products are right but for what the check of their MACs lets pass,
//! (n + 1)/|F|.

mod buckets;
mod items;
mod proof;
mod shape;
mod tables;
mod triples;

use super::rows::Rows;
use crate::part::{Lies, Mac};
use crate::party::Party;
use crate::share::Auth;
use crate::source::Units;
use crate::source::{Known, Source, Triples};
use divisi_core::{Abort, PartyId, Session, Step, step};
use divisi_field::{Gf2, Gf6, Gf8};
use divisi_ot::SetupConfig;
use tables::Stock;

const SHORT: Step = step!("bucketed");

/// The session ends: fewer items than were made.
fn short<F: Mac>(party: &Party<F>) -> Abort {
    party.session.misuse(SHORT, "too few items, or no table")
}

/// A source of preprocessing by oblivious transfer: products in buckets.
pub struct Bucketed<F: Mac> {
    rows: Rows,
    stocks: Vec<Stock<F>>,
}

impl<F: Mac> Bucketed<F> {
    /// The party of a session, and where its preprocessing comes from: base OTs, trees and coins. Once a
    /// session; `config` is the same at all parties ([`super::Preparation::describe`]).
    ///
    /// # Errors
    /// Whatever a broken or malicious peer causes; [`Abort::Misuse`] for parameters out of range.
    #[inline(never)]
    pub fn start(session: Session, config: SetupConfig) -> Result<(Party<F>, Self), Abort> {
        let (party, rows) = Rows::start(session, config)?;
        Ok((party, Bucketed { rows, stocks: Vec::new() }))
    }

    /// The same over a set-up of a test.
    ///
    /// # Errors
    /// Whatever a broken peer causes.
    #[cfg(any(test, feature = "testing"))]
    #[inline(never)]
    pub fn over(session: Session, setup: divisi_ot::Setup) -> Result<(Party<F>, Self), Abort> {
        let (party, rows) = Rows::of(session, setup)?;
        Ok((party, Bucketed { rows, stocks: Vec::new() }))
    }

    /// What a corrupt party does with its set-up.
    ///
    /// # Errors
    /// [`Abort::Misuse`] when it went with its session.
    #[cfg(feature = "fault")]
    pub fn tamper(
        &mut self,
        party: &mut Party<F>,
        how: impl FnOnce(&mut divisi_ot::Setup),
    ) -> Result<(), Abort> {
        self.rows.with(party, |_, setup| {
            how(setup);
            Ok(())
        })
    }
}

impl<F: Mac> Source<F> for Bucketed<F> {
    #[inline(never)]
    fn bits(&mut self, party: &mut Party<F>, count: usize) -> Result<Auth<Gf2, F>, Abort> {
        self.rows.bits(party, count)
    }

    #[inline(never)]
    fn known(&mut self, party: &mut Party<F>, owner: PartyId, count: usize) -> Result<Known<F>, Abort> {
        self.rows.known(party, owner, count)
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
        F: Lies<Gf8>,
    {
        triples::triples(&mut self.rows, party, count)
    }

    #[inline(never)]
    fn six_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf6, F>, Abort>
    where
        F: Lies<Gf6>,
    {
        triples::triples(&mut self.rows, party, count)
    }

    #[inline(never)]
    fn bit_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf2, F>, Abort> {
        triples::triples(&mut self.rows, party, count)
    }
}

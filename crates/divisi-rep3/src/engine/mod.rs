//! The three-party engine on which ciphers compute.
//!
//! Operations take and return shares without a proof, and every product enters the ledger; [`Rep3::close`]
//! turns outputs into a [`Pending`] that owes them. With [`Security::SemiHonest`], which a caller has to
//! choose, the engine records and verifies nothing.

mod blocks;
mod boolean;
mod bytes;
mod calls;
mod chain;
mod chains;
mod idle;
mod leave;
mod narrow;
mod one_hots;
pub(crate) mod pack;
mod vector_stock;
mod vectors;
mod wide;
mod wires;

pub use crate::account::Account;
pub use one_hots::OneHots;

use crate::garbled::Rounds;
use crate::garbled::plan::Handles;
use crate::garbled::stock::CallStock;
use crate::origin::EngineId;
use crate::sbox::Protocol;
use crate::share::{Block, Byte, Rep, constant_component};
use crate::trio::Trio;
use crate::verify::{Dot, Products};
use divisi_core::{Abort, Debt, Misuse, Pending, Security, Step, step};
use vector_stock::VectorStocks;
use zeroize::Zeroizing;

/// An engine on one strand: it computes, and keeps what its values owe.
pub struct Rep3 {
    pub(crate) trio: Trio,
    protocol: Protocol,
    security: Security,
    rounds: Rounds,
    /// The job for which calls in constant rounds are made.
    pub(crate) handles: Handles,
    /// Calls garbled ahead.
    pub(crate) calls: CallStock,
    owed: Products,
    /// One-hot vectors made ahead.
    pub(crate) stocks: VectorStocks,
    /// The unfinished chains of additively shared layers.
    chains: chains::Chains,
}

const LANES_DIFFER: Step = step!("lanes");
const LINEAR: Step = step!("close_linear");
const FORGOTTEN: Step = step!("into_trio");
const DOWNGRADE: Step = step!("discharge");

impl Rep3 {
    /// An engine with an empty ledger.
    pub fn new(mut trio: Trio, protocol: Protocol, security: Security) -> Self {
        trio.engine_id = trio.engine_id.under(Some(security));
        Rep3 {
            owed: Products::none(trio.engine_id),
            trio,
            protocol,
            security,
            rounds: Rounds::default(),
            handles: Handles::default(),
            calls: CallStock::default(),
            stocks: VectorStocks::default(),
            chains: chains::Chains::default(),
        }
    }

    /// Choose how later S-boxes are computed; all three parties at the same place.
    pub fn use_protocol(&mut self, protocol: Protocol) {
        self.protocol = protocol;
    }

    /// How S-boxes are computed at present.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Choose how later programs run. All three parties call this at the same place, with a value that they
    /// agreed on with the jobs: never with one that a party measured alone.
    pub fn use_rounds(&mut self, rounds: Rounds) {
        self.rounds = rounds;
    }

    /// How programs run at present.
    #[must_use]
    pub fn rounds(&self) -> Rounds {
        self.rounds
    }

    /// Name the job of the programs that follow: handles of their inputs and outputs, as the caller knows
    /// them (a request and its step, a file and its place). The name is public, and the same at all three
    /// parties, which agreed on the job by it. In constant rounds it is part of the name of every call, so
    /// that garblers with different jobs abort \[Y1\]. Nothing is sent.
    pub fn use_handles(&mut self, handles: &[u8]) {
        self.handles.take(handles);
    }

    /// The adversary against which this engine is secure.
    #[must_use]
    pub fn security(&self) -> Security {
        self.security
    }

    pub(crate) fn engine_id(&self) -> EngineId {
        self.trio.engine_id
    }

    /// Run `f` with another protocol for S-boxes, for instance for a key schedule.
    ///
    /// # Errors
    /// The errors of `f`.
    pub fn with_protocol<R>(
        &mut self,
        protocol: Protocol,
        f: impl FnOnce(&mut Self) -> Result<R, Abort>,
    ) -> Result<R, Abort> {
        let before = std::mem::replace(&mut self.protocol, protocol);
        let result = f(self);
        self.protocol = before;
        result
    }

    /// End a computation: its outputs, with everything that they owe. No other value of this computation may
    /// be used afterwards, because its debt goes with these outputs.
    pub fn close<T>(&mut self, out: T) -> Pending<T, Products> {
        let none = self.none();
        let mut owed = std::mem::replace(&mut self.owed, none);
        // a layer of a chain that was not finished cannot be verified
        owed.incomplete |= !self.chains.is_empty();
        self.chains.clear();
        self.owing(out, owed)
    }

    /// `out` as a value that owes `owed`, with the number of a closed computation.
    pub(crate) fn owing<T>(&mut self, out: T, mut owed: Products) -> Pending<T, Products> {
        owed.closes.push(self.trio.close());
        Pending::owing(out, owed)
    }

    /// An empty debt of this engine.
    pub(crate) fn none(&self) -> Products {
        Products::none(self.trio.engine_id)
    }

    /// End a computation that was linear in verified values, and owes no product.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if a product was made since the last close: nobody would verify it \[A11\].
    pub fn close_linear<T>(&mut self, out: T) -> Result<Pending<T, Products>, Abort> {
        if self.owes() {
            return Err(self.trio.session.misuse(LINEAR, Misuse::NotSettled));
        }
        let none = self.none();
        let resumed = std::mem::replace(&mut self.owed, none);
        Ok(self.owing(out, Products { linear: true, ..resumed }))
    }

    /// Whether products were made since the last close.
    #[must_use]
    pub fn owes(&self) -> bool {
        !self.owed.is_empty() || !self.chains.is_empty()
    }

    /// The strand, for another engine. Unverified products would be forgotten, so the session ends if there
    /// are any.
    #[must_use]
    pub fn into_trio(mut self) -> Trio {
        if self.owes() {
            let _ = self.trio.session.misuse(FORGOTTEN, Misuse::NotSettled);
        }
        self.trio.engine_id = self.trio.engine_id.under(None);
        self.trio
    }

    /// The strand underneath.
    pub fn trio(&mut self) -> &mut Trio {
        &mut self.trio
    }

    /// Free the memory that is kept from one layer to the next, up to 96 MiB: for idle times. Local.
    pub fn release(&mut self) {
        self.trio.pool.release();
    }

    /// A fresh random byte in every lane that no party knows.
    pub fn random_bytes(&mut self, lanes: usize) -> Result<Byte, Abort> {
        let (mut a, mut b) = (Zeroizing::new(vec![0; lanes]), Zeroizing::new(vec![0; lanes]));
        self.trio.streams.rand_bytes([&mut a, &mut b]);
        Ok(Byte::from_components([&a, &b])?.of(self.trio.origin()))
    }

    /// A fresh random block in every lane that no party knows.
    pub fn random_blocks(&mut self, lanes: usize) -> Block {
        let mut out = Rep::zero(lanes);
        for (a, b) in out.a.iter_mut().zip(&mut out.b) {
            (*a, *b) = self.trio.streams.rand();
        }
        Block { rep: out, origin: self.trio.origin() }
    }

    fn lanes_differ(&self) -> Abort {
        self.trio.session.misuse(LANES_DIFFER, Misuse::LanesDiffer)
    }

    fn constant(&self) -> Option<usize> {
        constant_component(self.trio.me())
    }

    /// Whether products are recorded: always, unless the caller chose [`Security::SemiHonest`].
    pub(crate) fn records(&self) -> bool {
        self.security == Security::Malicious
    }

    /// Record inner products for the verification.
    fn owe_dots(&mut self, dots: impl Iterator<Item = Dot>) {
        if self.records() {
            self.owed.dots.extend(dots);
        }
    }
}

impl Debt for Products {
    type Payer = Rep3;

    fn take_over(&mut self, other: Self) {
        self.add(other);
    }

    fn hand_over(self, payer: &mut Rep3) {
        // this engine cannot pay the debt of another one: the session ends, and the debt is kept here so that
        // it is not forgotten
        if self.engine_id != payer.trio.engine_id {
            let _ = payer.trio.session.misuse(DOWNGRADE, payer.trio.why_not(self.engine_id));
        }
        payer.owed.add(self);
    }

    fn pay(self, payer: &mut Rep3) -> Result<(), Abort> {
        if self.engine_id != payer.trio.engine_id {
            // a semi-honest engine recorded nothing of its values, so nothing could be verified; and closed
            // computations are numbered, and views compared, in the strand of the value
            return Err(payer.trio.session.misuse(DOWNGRADE, payer.trio.why_not(self.engine_id)));
        }
        payer.trio.verify(self)
    }

    fn fail(payer: &mut Rep3, abort: Abort) -> Abort {
        payer.trio.session.fail(abort)
    }
}

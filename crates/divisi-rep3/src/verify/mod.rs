//! F_verify: the products that a value owes, and their verification (MAESTRO section 2.7, Protocols 1 and 2).
//!
//! Adversary: one malicious party, who may have added an error to any product. A batch with at least one
//! wrong product passes with at most the sum of these probabilities, for any number of products; each step
//! that is taken adds its own ([`owed`]), and SECURITY.md has the sum for each kind of product:
//!
//! | where | error over F |
//! |---|---|
//! | coefficients, expanded from a 128-bit coin: independent, or products of two that are ([`planes`]) | 1/\|F\|, 2/\|F\| |
//! | random weights in the relation of vectors of 256 ([`crate::ohv`]) | 2/\|F\| |
//! | first fold of 2^k products at once ([`planes`], [`ands`]) | 2k/\|F\| |
//! | each later level ([`inner_product`]), a polynomial of degree 2 | 2/\|F\| |
//! | CheckTriple ([`triple`]): t hits, or r does (an error of line 5 cancels at one value of r) | 2/\|F\| |
//!
//! With [`Passes::Twice`](crate::Passes::Twice) all of this is done twice over GF(2^64), with coins of its
//! own each time: the error is squared ([`owed`]).
//!
//! A lie must pass the first verification after it, because an abort ends the session; so a session is as
//! weak as its worst verification, which the meter reports in bits. A failed verification reveals one bit for
//! the whole batch \[A21\]; where a batch has both S-boxes and products of GHASH, which of the two failed:
//! each is one bit, and neither depends on a secret.
//!
//! Steps and who may see what when (docs/lookups.md, 6):
//! 1. All products are fixed: the debt is owned by this call. Barrier: views are compared, also when nothing
//!    was opened \[A8\].
//! 2. Coin: coefficients. 3. Fold, level by level, each with a fresh coin after its messages \[A9\]. 4.
//!    CheckTriple.

mod ands;
pub(crate) mod inner_product;
mod owed;
pub(crate) mod planes;
#[cfg(test)]
mod tests;
mod triple;

use crate::checks;
pub(crate) use inner_product::{Dot, Statement, Sum, next_element};

use crate::ands::Ands;
use crate::origin::EngineId;
use crate::record::Record;
use crate::trio::Trio;
use crate::views::Fixed;
use divisi_core::{Abort, Misuse, Step, step};
use divisi_field::{Gf64, Gf128};

const VERIFY: Step = step!("verify");

/// The products that a value depends on. Only the engine makes a value of this type.
pub struct Products {
    /// The engine that can verify them; `EngineId::NONE` if several engines owe them.
    pub(crate) engine_id: EngineId,
    /// Whether the value is linear in verified ones, and owes nothing by itself.
    pub(crate) linear: bool,
    /// The numbers, in that strand, of the closed computations whose values these are.
    pub(crate) closes: Vec<u64>,
    /// The number of layers of lookups whose openings a barrier must compare, and that need nothing else.
    pub(crate) lookups: u64,
    /// Whether a layer of a chain was not finished: then this can never be verified.
    pub(crate) incomplete: bool,
    pub(crate) made: Vec<Record>,
    pub(crate) dots: Vec<Dot>,
    /// Products of the black box and of one-hot vectors of any length.
    pub(crate) over_64: Vec<Box<dyn Statement<Gf64>>>,
    pub(crate) over_128: Vec<Box<dyn Statement<Gf128>>>,
    /// Products over GF(2).
    pub(crate) ands: Ands,
    /// How many products over GF(2) were verified already, piece by piece: what rests on them alone owes
    /// nothing more.
    pub(crate) verified: u64,
}

impl Products {
    /// Add the debt of another value.
    pub(crate) fn add(&mut self, other: Self) {
        self.engine_id = self.engine_id.merged(other.engine_id);
        self.linear |= other.linear;
        self.closes.extend(other.closes);
        self.lookups += other.lookups;
        self.incomplete |= other.incomplete;
        self.made.extend(other.made);
        self.dots.extend(other.dots);
        self.over_64.extend(other.over_64);
        self.over_128.extend(other.over_128);
        self.ands.add(other.ands);
        self.verified += other.verified;
    }

    pub(crate) fn none(engine_id: EngineId) -> Products {
        Products {
            engine_id,
            linear: false,
            closes: Vec::new(),
            lookups: 0,
            incomplete: false,
            made: Vec::new(),
            dots: Vec::new(),
            over_64: Vec::new(),
            over_128: Vec::new(),
            ands: Ands::default(),
            verified: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        let none = self.made.iter().all(Record::is_empty) && self.dots.is_empty() && self.ands.is_empty();
        let none = none && self.over_64.is_empty() && self.over_128.is_empty();
        none && self.lookups == 0 && self.verified == 0 && !self.incomplete
    }
}

impl Trio {
    /// F_verify on everything that is owed.
    pub(crate) fn verify(&mut self, mut debt: Products) -> Result<(), Abort> {
        self.demand_order(&debt.closes)?;
        let closes = std::mem::take(&mut debt.closes);
        self.verify_products(debt)?;
        closes.iter().for_each(|number| _ = self.unpaid.remove(number));
        self.note_settled();
        Ok(())
    }

    /// Demand that values leave in the order in which they were closed, in the strand where they were made:
    /// the views of that strand are compared, and any value that was closed later may contain a copy of an
    /// unverified one.
    fn demand_order(&mut self, closes: &[u64]) -> Result<(), Abort> {
        let last = closes.iter().copied().max().unwrap_or(0);
        let paid = |number: &u64| closes.contains(number);
        if !self.unpaid.range(..last).all(paid) {
            return Err(self.session.misuse(VERIFY, Misuse::NotSettled));
        }
        Ok(())
    }

    fn verify_products(&mut self, debt: Products) -> Result<(), Abort> {
        if debt.is_empty() && (debt.linear || debt.engine_id.is_semi_honest()) {
            // nothing was multiplied, or nothing recorded: the caller chose that by name; but what was opened
            // is compared
            if self.uncompared {
                self.barrier()?;
            }
            return Ok(());
        }
        if debt.incomplete {
            return Err(self.session.misuse(VERIFY, Misuse::ChainUnfinished));
        }
        if debt.is_empty() || debt.engine_id.is_semi_honest() {
            // [A11] a check over nothing is an error
            return Err(self.session.misuse(VERIFY, Misuse::VerificationEmpty));
        }
        self.session.observe(checks::A13); // [A13]
        let fixed = self.barrier()?;
        self.verify_after(&fixed, &debt)?;
        self.session.observe(checks::M0_7); // [M0.7]
        Ok(())
    }

    /// F_verify after its barrier.
    pub(crate) fn verify_after(&mut self, fixed: &Fixed, debt: &Products) -> Result<(), Abort> {
        if !debt.made.iter().all(Record::is_empty) {
            owed::verify(self, fixed, &debt.made)?;
        }
        let over_64: Vec<&dyn Statement<Gf64>> = debt.over_64.iter().map(|s| &**s as _).collect();
        owed::verify(self, fixed, &over_64)?;
        let dots = debt.dots.iter().map(|dot| dot as &dyn Statement<Gf128>);
        let over_128: Vec<_> = dots.chain(debt.over_128.iter().map(|s| &**s as _)).collect();
        owed::verify(self, fixed, &over_128)?;
        self.verify_ands(fixed, &debt.ands)
    }

    /// F_verify on a part of the owed products, to free their memory. The values that depend on them stay
    /// unverified, and owe the rest. All parties call this at the same place.
    pub(crate) fn verify_piece(&mut self, ands: &Ands) -> Result<(), Abort> {
        let fixed = self.barrier()?;
        self.verify_ands(&fixed, ands)
    }

    fn verify_ands(&mut self, fixed: &Fixed, ands: &Ands) -> Result<(), Abort> {
        self.session.observe_each(checks::S6, ands.products()); // [S6]
        owed::verify(self, fixed, ands.chunks())
    }
}

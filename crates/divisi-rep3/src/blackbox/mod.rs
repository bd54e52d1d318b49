//! The arithmetic black box of Symphony over GF(2^k), k = 1, 4, 8, 64, 128, under its own names.
//!
//! | | | bits a party and element | rounds |
//! |---|---|---|---|
//! | [`input`](BlackBox::input) | a party's vector becomes `[x]` | k from the owner to one | 1 |
//! | [`linop`](BlackBox::linop) | any GF(2)-linear function | 0 | 0 |
//! | [`local_mul`](BlackBox::local_mul) | `<x y>` | 0 | 0 |
//! | [`reshare`](BlackBox::reshare) | `[x]` of `<x>` | k | 1 |
//! | [`bit_mul`](BlackBox::bit_mul) | `[x y]`, x a bit | k | 1 |
//! | [`reconst`](BlackBox::reconst) | x, unverified | k | 1 |
//! | [`reconst_additive`](BlackBox::reconst_additive) | x + r of `<x>` and a mask, unverified, and `[x]` | 2 k | 1 |
//! | [`verify_recon`](BlackBox::verify_recon) | of all openings so far | 0 (a digest) | 1 |
//! | [`verify_mul`](BlackBox::verify_mul) | of all products so far | 2 elements of the large field a level, 4 at its end; coins of 128 bits: one to begin, one a level, one at the end | see [`crate::Passes`] |
//! | [`output`](BlackBox::output) | x, verified, or an abort | k (and a digest) | 1 |
//!
//! Everything is a vector. (Test `every_call_costs_what_its_table_says`.)
//!
//! **Adversary**: one malicious party of three; honest ones get the right output or abort.
//!
//! - *Input*: the value is the sum of two components, one from the stream that the owner shares with its
//!   previous party, the other sent to its next party; the third is zero. Any message is a sharing of some
//!   value, so that nothing has to be compared.
//! - *Reconst* may give the parties different values until views are compared \[S1\]: the value is an
//!   [`Unverified`], which can be computed with but not read. Openings that depend on one another are
//!   compared one by one, each in the round of the next \[A22\]. A value that depends on unverified products
//!   is opened only under a fresh [`Mask`] ([`BlackBox::reconst_masked`]): otherwise an error of a product
//!   would show in the opening what the output does not tell.
//! - *Products* may hold an error until [`verify_mul`](BlackBox::verify_mul) verifies them as inner products
//!   with fresh coefficients, over GF(2^64), or GF(2^128) for k = 128. An error is missed with probability at
//!   most (3 + 2 ceil(log2 N))/q for N *terms* over the field of q elements, whatever k is \[S2\]. A product
//!   is one term, but up to k after [`linop_additive`](BlackBox::linop_additive), and a lookup of square-root
//!   cost is 2^(k/2) terms. With relations of one-hot vectors among them, a term each, the bound is (5 + 2
//!   ceil(log2 N))/q.
//! - *Output* verifies what is not verified yet, and then opens \[S3\]; each component comes from one holder
//!   and its digest from the other \[S4\].
//!
//! After an abort nothing is verified and nothing is output: `verify_recon`, `verify_mul`, `opened` and
//! `output` return its cause again.
//!
//! Memory: the box keeps the terms that are owed until they are verified, at most [`PIECE`] or those of one
//! call. A product that exceeds this number causes a verification at once.
//!
//! ```
//! use divisi_core::PartyId;
//! use divisi_field::{Field, Gf64};
//! use divisi_rep3::{blackbox::BlackBox, local};
//!
//! // x of the first party times y of the second, two products side by side, which all three learn
//! let (x, y) = ([2, 3].map(Gf64::from_low_bits), [7, 1].map(Gf64::from_low_bits));
//! let products = local::run(|trio| {
//!     let (one, two) = (PartyId::P1, PartyId::P2);
//!     let mut b = BlackBox::new(trio);
//!     let me = b.me();
//!     let x = b.input(one, (me == one).then_some(&x[..]), 2)?;
//!     let y = b.input(two, (me == two).then_some(&y[..]), 2)?;
//!     let xy = b.local_mul(&x, &y)?;
//!     let xy = b.reshare(xy)?;
//!     b.output(&xy) // verifies, and then opens
//! })?;
//! assert!(products.iter().all(|xy| xy[..] == [14, 3].map(Gf64::from_low_bits)));
//! # Ok::<(), divisi_core::Abort>(())
//! ```
//!
//! The pieces are those of the rest of this crate ([`crate::open`], `multiply`, `verify`, `views`):
//! there is one implementation of each.

mod additive;
mod element;
mod linear;
mod openings;
mod products;
mod value;

use crate::checks;
pub use element::Element;
pub use linear::Linear;
pub(crate) use products::mult_local;
pub use value::{Additive, Mask, Shared, Unverified, VerifiedMul, VerifiedRecon};
pub(crate) use value::{Origin, Pair};

use crate::passes::Passes;
use crate::share::Rep;
use crate::trio::Trio;
use crate::verify::{Products, Statement};
use crate::wire;
use divisi_core::{Abort, Lanes, Misuse, PartyId, Security, Session, Step, step};
use zeroize::Zeroizing;

const INPUT: Step = step!("input");
const RECONST: Step = step!("reconst");
const OUTPUT: Step = step!("output");
const VERIFY: Step = step!("verify_mul");
const LEFT: Step = step!("into_trio");

/// The most terms that the box owes before it verifies them, unless one call makes more: about 64 MB during
/// the verification (twice that over GF(2^128)), and no more before it, because terms that need more memory
/// count as several.
pub const PIECE: u64 = 1 << 21;

/// What a term holds while it is verified: two factors in two components, over GF(2^64).
pub(crate) const TERM_BYTES: usize = 32;

/// Why values do not go together.
#[derive(Clone, Copy)]
pub(crate) enum Misfit {
    Lanes,
    Origin,
}

/// The black box on one strand: computes, and keeps what it owes.
pub struct BlackBox {
    pub(crate) trio: Trio,
    pub(crate) origin: Origin,
    /// The adversary; a semi-honest box owes nothing, because it verifies nothing.
    security: Security,
    owed: Products,
    /// How many statements were recorded so far.
    pub(crate) statements: u64,
    /// How many products the owed statements are about.
    products: u64,
    /// The number of terms that their verification has.
    pub(crate) terms: u64,
    /// How many relations of one-hot vectors are owed.
    pub(crate) relations: u64,
    /// The number of verified statements.
    verified: u64,
    /// How many openings there were so far.
    openings: u64,
    /// How many opened elements are not compared yet.
    fresh: u64,
}

impl BlackBox {
    /// A black box that owes nothing.
    #[must_use]
    pub fn new(trio: Trio) -> BlackBox {
        BlackBox::against(Security::Malicious, trio)
    }

    /// A black box against one semi-honest party of three: it verifies no product and compares no opening.
    /// **Against a malicious party it protects nothing.**
    #[must_use]
    pub fn semi_honest(trio: Trio) -> BlackBox {
        BlackBox::against(Security::SemiHonest, trio)
    }

    fn against(security: Security, trio: Trio) -> BlackBox {
        BlackBox {
            security,
            origin: Origin::new(),
            owed: Products::none(trio.engine_id),
            trio,
            statements: 0,
            products: 0,
            terms: 0,
            relations: 0,
            verified: 0,
            openings: 0,
            fresh: 0,
        }
    }

    /// The number of this party.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.trio.me()
    }

    /// The session: phases, meter, strands. The strand itself is not accessible, because the box counts what
    /// it opens.
    pub fn session(&mut self) -> &mut Session {
        self.trio.session()
    }

    /// Set the number of passes of verifications from now on. All three parties call this at the same place,
    /// with a value that they agreed on in the session's parameters.
    pub fn set_passes(&mut self, passes: Passes) {
        self.trio.set_passes(passes);
    }

    /// The strand, for another engine. Unverified products would be forgotten, so the session ends if there
    /// are any.
    #[must_use]
    pub fn into_trio(self) -> Trio {
        if !self.owed.is_empty() {
            let _ = self.trio.session.misuse(LEFT, Misuse::NotVerified);
        }
        self.trio
    }

    /// Input(x, P): `[x]` of the owner's `lanes` elements; the other parties pass `None`. One round.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless the owner alone gives values, `lanes` of them; the abort that ends the
    /// session.
    pub fn input<F: Element>(
        &mut self,
        owner: PartyId,
        x: Option<&[F]>,
        lanes: usize,
    ) -> Result<Shared<F>, Abort> {
        let mine = owner == self.trio.me();
        if owner.index() >= 3 || x.is_some() != mine || x.is_some_and(|x| x.len() != lanes) {
            return Err(self.trio.session.misuse(INPUT, Misuse::NotTheOwner));
        }
        let mut rep = Rep::zero(lanes);
        if let Some(x) = x {
            // component i from the stream with the previous, component i+1 the rest, component i+2 zero
            for ((a, b), x) in rep.a.iter_mut().zip(&mut rep.b).zip(x) {
                *a = self.trio.streams.input_with_prev();
                *b = *x + *a;
            }
            let message = Zeroizing::new(wire::write_elements(&rep.b));
            self.trio.session.send(INPUT, self.trio.next, &message, (lanes * F::BITS) as u64)?;
        } else if owner == self.trio.next {
            rep.b.iter_mut().for_each(|b| *b = self.trio.streams.input_with_next());
        } else {
            let mut message = Zeroizing::new(vec![0; crate::packed::bytes(lanes * F::BITS)]);
            self.trio.session.recv(INPUT, owner, &mut message)?;
            match wire::read_elements(&message, lanes) {
                Some(a) => rep.a = a,
                None => return Err(self.trio.malformed_from(owner, INPUT, message.len())),
            }
        }
        Ok(self.shared(rep, 0))
    }

    /// `[r]` for a fresh random r that nobody knows. Local.
    pub fn random<F: Element>(&mut self, lanes: usize) -> Shared<F> {
        let mut rep = Rep::zero(lanes);
        for (a, b) in rep.a.iter_mut().zip(&mut rep.b) {
            (*a, *b) = self.trio.streams.rand();
        }
        self.shared(rep, 0)
    }

    /// A mask for a vector of `lanes` elements. Local.
    pub fn mask<F: Element>(&mut self, lanes: usize) -> Mask<F> {
        Mask(self.random(lanes))
    }

    /// VerifyRecon(): all three parties compare everything that was opened so far \[S1\]. One round.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] if the parties saw different values.
    pub fn verify_recon(&mut self) -> Result<VerifiedRecon, Abort> {
        self.demand_alive()?;
        self.trio.session.observe_each(checks::S1, self.fresh); // [S1]
        let fixed = self.trio.barrier()?;
        self.fresh = 0;
        let (openings, statements) = (self.openings, self.statements);
        Ok(VerifiedRecon { fixed, origin: self.origin, openings, statements })
    }

    /// VerifyMul(): verify all products made so far \[S2\]. It comes after VerifyRecon, because its coin must
    /// follow the comparison of everything that the coin must not help to choose \[A8\].
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] if a product is wrong; [`Abort::Misuse`] if something was opened, or a product
    /// made, after that VerifyRecon: a party could have chosen it with knowledge of the coin.
    pub fn verify_mul(&mut self, recon: &VerifiedRecon) -> Result<VerifiedMul, Abort> {
        self.demand_alive()?;
        self.demand(VERIFY, recon.origin == self.origin, Misfit::Origin)?;
        let fixed = recon.statements == self.statements;
        if !self.owed.is_empty() && !fixed {
            return Err(self.trio.session.misuse(VERIFY, Misuse::ProofTooOld)); // [A8]
        }
        if !self.owed.is_empty() {
            self.trio.session.observe_each(checks::S2, self.products); // [S2]
            self.trio.session.observe_each(checks::A17, self.relations); // [A17]
            let verified = self.trio.verify_after(&recon.fixed, &self.owed); // what failed stays owed
            verified.map_err(|abort| self.trio.session.fail(abort))?;
            self.owed = Products::none(self.trio.engine_id);
            (self.products, self.relations, self.terms) = (0, 0, 0);
        }
        self.verified = self.statements;
        Ok(VerifiedMul { origin: self.origin, owed: self.statements })
    }

    /// The value of an opening, after VerifyRecon and VerifyMul of everything that it depends on.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the first proof is older than the opening, or the second older than a product on
    /// which the opening depends, and for proofs of another black box.
    pub fn opened<F: Element>(
        &mut self,
        x: Unverified<F>,
        recon: &VerifiedRecon,
        mul: &VerifiedMul,
    ) -> Result<Vec<F>, Abort> {
        self.demand_alive()?;
        let same = [x.origin, recon.origin, mul.origin].iter().all(|origin| *origin == self.origin);
        self.demand(RECONST, same, Misfit::Origin)?;
        let compared = x.opening <= recon.openings;
        let verified = x.rests_on <= mul.owed;
        if !compared || !verified {
            return Err(self.trio.session.misuse(RECONST, Misuse::ProofTooOld));
        }
        Ok(x.value)
    }

    /// Output(`[x]`): x, verified, to all three parties. Verifies what is not verified yet \[S3\], then opens
    /// x and compares what both holders of each component send \[S4\].
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] if x, or anything that it depends on, is wrong.
    pub fn output<F: Element>(&mut self, x: &Shared<F>) -> Result<Vec<F>, Abort> {
        self.demand_alive()?;
        self.demand(OUTPUT, x.origin == self.origin, Misfit::Origin)?;
        let done = x.rests_on <= self.verified && self.owed.is_empty() && !self.trio.uncompared;
        if !done {
            let recon = self.verify_recon()?;
            self.verify_mul(&recon)?;
        }
        self.trio.session.observe(checks::S3); // [S3]
        self.trio.demand_compared(OUTPUT)?;
        let value = self.trio.reconst(OUTPUT, &x.rep)?;
        self.trio.session.observe(checks::S4); // [S4]
        self.trio.session.meter().opened(value.len() as u64);
        Ok(value)
    }

    /// Record a statement about `products` products that has to be verified \[S2\]. It has `terms` terms in
    /// the verification, or takes as much memory. If too many terms are owed, they are verified now, which
    /// frees their memory.
    pub(crate) fn owe<F: Element>(
        &mut self,
        statement: Box<dyn Statement<F::Big>>,
        products: u64,
        terms: u64,
    ) -> Result<(), Abort> {
        self.statements += 1;
        if !self.verifies() {
            self.verified = self.statements;
            return Ok(());
        }
        self.products += products;
        self.terms += terms;
        F::owe(&mut self.owed, statement);
        if self.terms >= PIECE {
            let recon = self.verify_recon()?;
            self.verify_mul(&recon)?;
        }
        Ok(())
    }

    /// Whether products and openings are verified: against a malicious party.
    pub(crate) fn verifies(&self) -> bool {
        self.security == Security::Malicious
    }

    /// Demand that the session has not ended: a caller that continues after an abort gets the cause of the
    /// abort again, and never a value.
    fn demand_alive(&self) -> Result<(), Abort> {
        self.trio.session.cause().map_or(Ok(()), Err)
    }

    /// Demand `fit`: that values go together.
    pub(crate) fn demand(&mut self, step: Step, fit: bool, why: Misfit) -> Result<(), Abort> {
        match (fit, why) {
            (true, _) => Ok(()),
            (false, Misfit::Lanes) => Err(self.trio.session.misuse(step, Misuse::LanesDiffer)),
            (false, Misfit::Origin) => Err(self.trio.session.misuse(step, Misuse::OtherStrand)),
        }
    }

    fn demand_pair<F: Element>(&mut self, step: Step, x: &Shared<F>, y: &Shared<F>) -> Result<(), Abort> {
        self.demand(step, x.origin == self.origin && y.origin == self.origin, Misfit::Origin)?;
        self.demand(step, x.lanes() == y.lanes(), Misfit::Lanes)
    }
}

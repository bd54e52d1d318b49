//! The types of values of the black box.
//!
//! | type | what it is | operations |
//! |---|---|---|
//! | [`Shared`] | `[x]`, replicated | linear functions, products, reconst, output |
//! | [`Additive`] | `<x>`, from local_mul | linear functions, reshare, reconst under a mask |
//! | [`Unverified`] | an opened value, from reconst | sums and products with others and with shares; its value needs both proofs |
//! | [`Mask`] | a fresh `[r]` | one reconst |
//!
//! No type implements `Debug`, `PartialEq` or `Serialize`; shares are wiped on drop. A value belongs to one
//! black box, and others refuse it.

use super::element::Element;
use crate::share::Rep;
use divisi_core::Lanes;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroize;

/// Which black box a value belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin(u64);

impl Origin {
    /// A fresh origin, which no other box of this process has.
    pub(super) fn new() -> Origin {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Origin(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// `[x]`: a replicated vector over GF(2^k).
pub struct Shared<F: Element> {
    pub(crate) rep: Arc<Rep<F>>,
    pub(crate) origin: Origin,
    /// How many statements had been recorded when it was made: it may rest on any of them.
    pub(crate) rests_on: u64,
}

impl<F: Element> Clone for Shared<F> {
    fn clone(&self) -> Self {
        Shared { rep: Arc::clone(&self.rep), origin: self.origin, rests_on: self.rests_on }
    }
}

impl<F: Element> Lanes for Shared<F> {
    fn lanes(&self) -> usize {
        self.rep.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        Some(Shared { rep: Arc::new(self.rep.gather(index)?), ..self.clone() })
    }
}

/// Two replicated factors, lane by lane.
pub(crate) type Pair<F> = (Arc<Rep<F>>, Arc<Rep<F>>);

/// `<x>`: this party's share of a vector that is a sum of products, and these products.
pub struct Additive<F: Element> {
    pub(crate) share: Vec<F>,
    /// How many low bits of it may differ from zero: what a reshare sends.
    pub(crate) bits: usize,
    pub(crate) pairs: Vec<Pair<F>>,
    /// A replicated value that is added to the sum of the products.
    pub(crate) linear: Rep<F>,
    pub(crate) origin: Origin,
}

impl<F: Element> Lanes for Additive<F> {
    fn lanes(&self) -> usize {
        self.share.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        let pick = |rep: &Rep<F>| Some(Arc::new(rep.gather(index)?));
        let pairs = self.pairs.iter().map(|(x, y)| Some((pick(x)?, pick(y)?)));
        Some(Additive {
            share: index.iter().map(|l| self.share.get(*l).copied()).collect::<Option<_>>()?,
            pairs: pairs.collect::<Option<_>>()?,
            linear: self.linear.gather(index)?,
            bits: self.bits,
            origin: self.origin,
        })
    }
}

impl<F: Element> Drop for Additive<F> {
    fn drop(&mut self) {
        self.share.zeroize();
    }
}

/// A fresh random vector that nobody knows: consumed by the one opening that it masks.
pub struct Mask<F: Element>(pub(crate) Shared<F>);

/// The result of reconst: a vector that every party has in the clear. A corrupt party may have made it wrong,
/// or different at different parties, until the opening is compared; and it may depend on products that are
/// not verified yet.
///
/// It can be computed with, which gives unverified values again; only [`super::BlackBox::opened`] reads it.
pub struct Unverified<F: Element> {
    pub(crate) value: Vec<F>,
    pub(crate) origin: Origin,
    /// How many openings there were, this one included.
    pub(crate) opening: u64,
    /// How many statements it may rest on, as in [`Shared`].
    pub(crate) rests_on: u64,
}

impl<F: Element> Unverified<F> {
    /// The number of its elements.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.value.len()
    }

    /// Lane by lane `f` of both; `None` if they have different numbers of lanes, or are of different boxes.
    fn zip(&self, other: &Self, f: impl Fn(F, F) -> F) -> Option<Self> {
        let fit = self.origin == other.origin && self.value.len() == other.value.len();
        fit.then(|| Unverified {
            value: self.value.iter().zip(&other.value).map(|(x, y)| f(*x, *y)).collect(),
            origin: self.origin,
            opening: self.opening.max(other.opening),
            rests_on: self.rests_on.max(other.rests_on),
        })
    }

    /// The sums, lane by lane; `None` unless both have the same number of lanes and belong to one black box.
    #[must_use]
    pub fn sum(&self, other: &Self) -> Option<Self> {
        self.zip(other, |x, y| x + y)
    }

    /// The products, lane by lane; `None` unless both have the same number of lanes and belong to one black
    /// box.
    #[must_use]
    pub fn product(&self, other: &Self) -> Option<Self> {
        self.zip(other, |x, y| x * y)
    }
}

/// The proof that everything opened so far was the same at all parties, from verify_recon.
pub struct VerifiedRecon {
    pub(super) fixed: crate::Fixed,
    pub(super) origin: Origin,
    pub(super) openings: u64,
    /// How many statements had been recorded: the proof says nothing of later ones.
    pub(super) statements: u64,
}

/// The proof that all products made so far are right, from verify_mul.
pub struct VerifiedMul {
    pub(super) origin: Origin,
    pub(super) owed: u64,
}

//! The contents of a stock.

use super::pack::length;
use crate::part::Mac;
use divisi_core::PartyId;
use divisi_field::{Gf2, Gf6, Gf8};
use divisi_store::stock::Series;

/// A kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lots {
    /// Unit vectors of 2^log entries, with their positions.
    Units {
        /// The width of a position, in bits.
        log: usize,
    },
    /// Random bits.
    Bits,
    /// Random bits that one party knows.
    Known {
        /// The party that knows the bits.
        owner: PartyId,
    },
    /// Products of bytes.
    ByteTriples,
    /// Products in GF(2^6).
    SixTriples,
    /// Products of bits.
    BitTriples,
}

impl Lots {
    /// The name of this kind in files and messages.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Lots::Units { log } => format!("tables-{log}"),
            Lots::Bits => "bits".into(),
            Lots::Known { owner } => format!("bits-of-{}", owner.number()),
            Lots::ByteTriples => "products".into(),
            Lots::SixTriples => "products-6".into(),
            Lots::BitTriples => "products-1".into(),
        }
    }

    /// How many planes a value has.
    pub(super) fn planes(self) -> usize {
        match self {
            Lots::Units { log } => log + (1 << log),
            Lots::Bits | Lots::Known { .. } => 1,
            Lots::ByteTriples | Lots::SixTriples | Lots::BitTriples => 3,
        }
    }

    /// How many values a lot has: at most some megabytes, which a process holds in memory in addition to the
    /// values that it asked for.
    pub(super) fn lot(self) -> usize {
        match self {
            Lots::Units { log } => (1 << 20) >> log,
            Lots::Bits | Lots::Known { .. } => 1 << 16,
            Lots::ByteTriples | Lots::SixTriples | Lots::BitTriples => 1 << 15,
        }
    }
}

/// The number of values of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StockPlan(Vec<(Lots, u64)>);

impl StockPlan {
    /// A plan with these numbers of values. For a kind that is named twice the numbers are added; a kind with
    /// 0 values is left out.
    #[must_use]
    pub fn new(wanted: &[(Lots, u64)]) -> Self {
        let mut all: Vec<(Lots, u64)> = Vec::new();
        for (kind, count) in wanted.iter().filter(|(_, count)| *count > 0) {
            match all.iter_mut().find(|(of, _)| of == kind) {
                Some((_, sum)) => *sum = sum.saturating_add(*count),
                None => all.push((*kind, *count)),
            }
        }
        StockPlan(all)
    }

    /// All kinds, with the number of values of each.
    #[must_use]
    pub fn kinds(&self) -> &[(Lots, u64)] {
        &self.0
    }

    /// The series on disk of each kind.
    #[must_use]
    pub fn series<F: Mac>(&self) -> Vec<Series> {
        let series = |(kind, count): &(Lots, u64)| {
            let (lot, planes) = (kind.lot(), kind.planes());
            let longest = match kind {
                Lots::ByteTriples => length::<Gf8, F>(planes, lot),
                Lots::SixTriples => length::<Gf6, F>(planes, lot),
                Lots::Units { .. } | Lots::Bits | Lots::Known { .. } | Lots::BitTriples => {
                    length::<Gf2, F>(planes, lot)
                }
            };
            Series { name: kind.name(), planned: *count, lot: lot as u64, longest: longest as u64 }
        };
        self.0.iter().map(series).collect()
    }
}

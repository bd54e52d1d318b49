//! What a computation takes from a stock at least, so that one with less is refused before anything is taken.

use super::how::{Named, Task};
use crate::SpdzProtocol;
use crate::stock::{Lots, StockPlan};
use divisi_core::PartyId;
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::des;

/// The needs of a computation, kind by kind.
#[derive(Default)]
pub(super) struct Needs(Vec<(Lots, u64)>);

/// Random bits and products that a lookup takes, by the kind of the products; none with tables.
fn products(named: Named) -> Option<(u64, Lots, u64)> {
    match (named.task, named.protocol) {
        (Task::Aes, SpdzProtocol::RivainProuff) => Some((32, Lots::ByteTriples, 4)),
        (Task::Aes, SpdzProtocol::BitDecomposition) => Some((16, Lots::ByteTriples, 6)),
        (Task::TripleDes, SpdzProtocol::RivainProuff | SpdzProtocol::BitDecomposition) => {
            Some((24, Lots::ByteTriples, 3))
        }
        (Task::TripleDes, SpdzProtocol::Raw) => Some((4, Lots::SixTriples, 61)),
        _ => None,
    }
}

/// The lookups of a key schedule of AES.
fn of_schedule(size: KeySize) -> usize {
    match size {
        KeySize::Aes128 => 40,
        KeySize::Aes192 => 32,
        KeySize::Aes256 => 52,
    }
}

impl Needs {
    /// Bytes that this party gives, or alone learns.
    pub fn known(self, owner: Option<PartyId>, bytes: usize) -> Self {
        self.known_bits(owner, 8 * bytes)
    }

    /// Bits that this party gives, or alone learns.
    pub fn known_bits(mut self, owner: Option<PartyId>, bits: usize) -> Self {
        self.0.extend(owner.map(|owner| (Lots::Known { owner }, bits as u64)));
        self
    }

    /// Products of bits.
    pub fn ands(mut self, count: usize) -> Self {
        self.0.push((Lots::BitTriples, count as u64));
        self
    }

    /// The lookups of a cipher: the schedules of `keys` keys, and `blocks` blocks.
    pub fn cipher(mut self, named: Named, key_bytes: usize, keys: usize, blocks: usize) -> Self {
        let lookups = match (named.task, KeySize::from_bytes(key_bytes)) {
            (Task::Aes, Some(size)) => keys * of_schedule(size) + 16 * size.rounds() * blocks,
            (Task::TripleDes, _) => des::LOOKUPS * blocks,
            _ => 0,
        } as u64;
        match products(named) {
            Some((bits, kind, each)) => {
                self.0.extend([(Lots::Bits, bits * lookups), (kind, each * lookups)]);
            }
            None if named.protocol == SpdzProtocol::Lookup => {
                let log = if named.task == Task::Aes { 8 } else { 6 };
                self.0.push((Lots::Units { log }, lookups));
            }
            None => {}
        }
        if named.tiny {
            // the masks of the outputs of all lookups of blocks
            let each = if named.task == Task::Aes { 8 } else { 4 };
            let blocks = match KeySize::from_bytes(key_bytes) {
                Some(size) if named.task == Task::Aes => 16 * size.rounds() * blocks,
                _ => des::LOOKUPS * blocks,
            } as u64;
            self.0.push((Lots::Bits, each * blocks));
        }
        self
    }

    pub fn plan(&self) -> StockPlan {
        StockPlan::new(&self.0)
    }
}

/// The party with this index, from 0.
pub(super) fn party(place: usize) -> Option<PartyId> {
    PartyId::all(place + 1).nth(place)
}

#[cfg(test)]
mod tests {
    use super::super::how::NAMED;
    use super::*;

    /// What a stock for a number of blocks has is enough for as many, and for no more than those of its spare
    /// key schedules.
    #[test]
    fn needs_are_what_a_stock_has() {
        let known = |place: usize, bytes| Needs::default().known(party(place), bytes);
        assert_eq!(known(1, 3).plan().kinds(), [(Lots::Known { owner: PartyId::P2 }, 24)]);
        for named in NAMED.into_iter().filter(|named| named.task != Task::Circuits) {
            let key_bytes = if named.task == Task::Aes { 16 } else { 24 };
            let needs = Needs::default().cipher(named, key_bytes, 1, 8).plan();
            let stock = super::super::stock::plan(named, 8, 2);
            let of =
                |plan: &StockPlan, kind| plan.kinds().iter().find(|(of, _)| *of == kind).map(|(_, n)| *n);
            for (kind, count) in needs.kinds() {
                let there = of(&stock, *kind).unwrap();
                assert!((there / 2..=there).contains(count), "{} {kind:?}: {count} of {there}", named.name);
            }
        }
    }
}

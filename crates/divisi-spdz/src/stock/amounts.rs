//! How much preprocessing computations take, and how much of it stocks have. What a computation takes at
//! least is compared with a stock, so that one with less is refused before anything is taken.

use super::{Lots, StockPlan};
use crate::SpdzProtocol;
use crate::protocol::{NamedProtocol, Task};
use divisi_core::PartyId;
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::des;

/// A stock has preprocessing for one key schedule, and masks for the round keys of one key, for this many
/// blocks: those of the longest key.
const BLOCKS_A_KEY: u64 = 8;
/// A stock for circuits has for each party one bit of input or output for this many products of bits. (A
/// block of AES has 25 products for each bit of input.)
const PRODUCTS_A_BIT: u64 = 4;
/// The largest number of lookups of a key schedule of AES.
const SCHEDULE: u64 = 52;
/// The number of bits of each party with which all parties draw a key and an IV together.
const DRAWN: u64 = 1024;
/// The largest number of bits of the round keys of AES.
const ROUND_KEYS: u64 = 15 * 128;

/// The needs of a computation, kind by kind.
#[derive(Default)]
pub(crate) struct Needs(Vec<(Lots, u64)>);

/// Random bits and products that a lookup takes, by the kind of the products; none with tables.
fn products(named: NamedProtocol) -> Option<(u64, Lots, u64)> {
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

/// What this many lookups take.
fn of_lookups(named: NamedProtocol, lookups: u64) -> Vec<(Lots, u64)> {
    match products(named) {
        Some((bits, kind, each)) => {
            vec![(Lots::Bits, lookups.saturating_mul(bits)), (kind, lookups.saturating_mul(each))]
        }
        None if named.protocol == SpdzProtocol::Lookup => {
            let log = if named.task == Task::Aes { 8 } else { 6 };
            vec![(Lots::Units { log }, lookups)]
        }
        // nothing for a protocol that is not for this cipher: a session would find its stock used up
        None => Vec::new(),
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
    pub fn known(self, owner: PartyId, bytes: usize) -> Self {
        self.known_bits(owner, 8 * bytes)
    }

    /// Bits that this party gives, or alone learns.
    pub fn known_bits(mut self, owner: PartyId, bits: usize) -> Self {
        self.0.push((Lots::Known { owner }, bits as u64));
        self
    }

    /// Products of bits.
    pub fn ands(mut self, count: usize) -> Self {
        self.0.push((Lots::BitTriples, count as u64));
        self
    }

    /// The lookups of a cipher: the schedules of `keys` keys, and `blocks` blocks.
    pub fn cipher(mut self, named: NamedProtocol, key_bytes: usize, keys: usize, blocks: usize) -> Self {
        let lookups = match (named.task, KeySize::from_bytes(key_bytes)) {
            (Task::Aes, Some(size)) => keys * of_schedule(size) + 16 * size.rounds() * blocks,
            (Task::TripleDes, _) => des::LOOKUPS * blocks,
            _ => 0,
        } as u64;
        self.0.extend(of_lookups(named, lookups));
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

/// The contents of a stock for this many blocks of a protocol, with a key schedule for every [`BLOCKS_A_KEY`]
/// of them. Party 1 gives keys and may give and learn texts, party 2 gives texts, and all parties draw keys
/// and IVs together.
pub(crate) fn contents(named: NamedProtocol, blocks: u64, parties: usize) -> StockPlan {
    if named.task == Task::Circuits {
        return for_circuits(blocks, parties);
    }
    let aes = named.task == Task::Aes;
    let keys = blocks.div_ceil(BLOCKS_A_KEY);
    let times = |each: u64| blocks.saturating_mul(each);
    let (key_bits, text_bits) = if aes { (256, 128) } else { (192, 64) };
    let known = |owner: PartyId| {
        let bits = match owner.index() {
            0 => times(key_bits + 2 * text_bits),
            1 => times(text_bits),
            _ => 0,
        };
        (Lots::Known { owner }, bits.saturating_add(DRAWN))
    };
    let mut wanted: Vec<(Lots, u64)> = PartyId::all(parties).map(known).collect();
    let each = des::LOOKUPS as u64;
    let (lookups, masks) = if aes {
        let masks = times(8 * 160 + 128).saturating_add(keys.saturating_mul(ROUND_KEYS));
        (times(160).saturating_add(keys.saturating_mul(SCHEDULE)), masks)
    } else {
        (times(each), times(4 * each + 64 + 192))
    };
    wanted.extend(of_lookups(named, lookups));
    if named.tiny {
        wanted.push((Lots::Bits, masks));
    }
    StockPlan::new(&wanted)
}

/// The contents of a stock for circuits: this many products of bits, and for every [`PRODUCTS_A_BIT`] of them
/// a bit of each party, with which it gives inputs, or learns outputs that no other party learns.
fn for_circuits(products: u64, parties: usize) -> StockPlan {
    let known = PartyId::all(parties);
    let known = known.map(|owner| (Lots::Known { owner }, (products / PRODUCTS_A_BIT).saturating_add(DRAWN)));
    StockPlan::new(&known.chain([(Lots::BitTriples, products)]).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::NAMED;

    /// What a stock for a number of blocks has is enough for as many, and for no more than those of its spare
    /// key schedules.
    #[test]
    fn needs_are_what_a_stock_has() {
        let owner = PartyId::P2;
        assert_eq!(Needs::default().known(owner, 3).plan().kinds(), [(Lots::Known { owner }, 24)]);
        for named in NAMED.into_iter().filter(|named| named.task != Task::Circuits) {
            let key_bytes = if named.task == Task::Aes { 16 } else { 24 };
            let needs = Needs::default().cipher(named, key_bytes, 1, 8).plan();
            let stock = contents(named, 8, 2);
            let of =
                |plan: &StockPlan, kind| plan.kinds().iter().find(|(of, _)| *of == kind).map(|(_, n)| *n);
            // tables for lookups, which have the bits of a byte or of an index of 3DES
            let log = if named.task == Task::Aes { 8 } else { 6 };
            let tables = of(&needs, Lots::Units { log });
            assert_eq!(tables.is_some(), named.protocol == SpdzProtocol::Lookup, "{}", named.name);
            for (kind, count) in needs.kinds() {
                let there = of(&stock, *kind).unwrap();
                assert!((there / 2..=there).contains(count), "{} {kind:?}: {count} of {there}", named.name);
            }
        }
    }
}

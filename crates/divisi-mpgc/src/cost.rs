//! The cost of garbling with each way of looking up keys, and the choice of the cheaper way for a number of
//! parties (docs/linear-garbling.md, 6).
//!
//! Bytes are exact, payload only, and the meter says the same (test `costs_are_those_of_the_meter`). CPU time
//! is an estimate, for the order of magnitude: counts times the time that one item took when whole runs were
//! measured; it differs from machine to machine.

use crate::lookup::{ands_at_once, operation};
use crate::parameters::{DIMENSION, LOOKED_UP, ROW_BYTES};
use divisi_bgv::parameters::{BLOCK, Form, Operation, Parameters as Lattice};
use divisi_field::zp::P16;
use divisi_mixed::vectors;
use divisi_ot::SetupConfig;

/// The numbers of gates and of ANDs of AES-128 with its key schedule, from the published file: 28,176 XORs
/// and 6,400 ANDs.
pub const AES_128: [u64; 2] = [34_576, 6_400];

/// Rows of transfers are made in tiles of this size.
const TILE: u64 = 128;
/// The bits that a number modulo p takes in a message.
const NUMBER_BITS: u64 = 17;

/// Nanoseconds of a party for its contributions to the four rows of a gate; for a lookup by transfers with
/// one other party, both ways; for a slot and prime by ciphertexts. The first two are chosen so that the
/// formula gives the CPU time of whole runs of AES-128 among 3 and among 10, which were measured as processes
/// over TLS on two cores with AVX-512 IFMA (6.57 s and 35.9 s of preprocessing, 3.7 s and 7.3 s of CPU a
/// party). They tell an operator whether to expect seconds or hours; no choice depends on them.
const GATE_NS: f64 = 78_000.0;
const TRANSFER_NS: f64 = 20_000.0;
const SLOT_NS: f64 = 150.0;

/// The cost of garbling one instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GarblingCost {
    parties: u64,
    /// Bits of rows that all parties together send up the tree.
    pub rows: u64,
    /// Bits that all parties together send for the products of masks.
    pub products: u64,
    /// Bits that all parties together send for lookups.
    pub look_ups: u64,
    /// The longest chain of messages, each sent after the one before it has come: the rounds of
    /// preprocessing.
    pub rounds: u64,
    /// An estimate of what one party computes, in seconds.
    pub cpu_seconds: f64,
}

impl GarblingCost {
    /// The cost for a circuit with these numbers of gates and of ANDs. Keys are looked up by ciphertexts with
    /// the parameters `by`, or by transfers with `config` if it is `None`.
    #[must_use]
    pub fn of(parties: usize, [gates, ands]: [u64; 2], config: SetupConfig, by: Option<&Lattice>) -> Self {
        let (n, dimension) = (parties as u64, DIMENSION as u64);
        let peers = n.saturating_sub(1);
        // pairs of a sender and a receiver
        let pairs = n * peers;
        let position = 128_u64.div_ceil(u64::from(config.k).max(1));
        let transfers = |positions: u64| positions.next_multiple_of(TILE) * position;
        let at_once = ands_at_once(by);
        let by_products = by.filter(|lattice| lattice.operation() == Operation::BlockProducts);
        // a round for rows and n for correlations; or those of the ciphertexts, and two for the opening of
        // the masked bits; bits that become numbers take n in addition
        let chain = match (by_products, by) {
            (Some(lattice), _) => {
                let chains = vectors::chains(at_once.min(ands as usize)) as u64;
                n + 2 + chains * lattice.report().rounds as u64
            }
            (None, Some(lattice)) => lattice.report().rounds as u64 + 2,
            (None, None) => n + 1,
        };
        let way_up = if gates > 0 { u64::from(parties.max(1).ilog2()) } else { 0 };
        let rounds = 2 * ands.div_ceil(LOOKED_UP as u64) + ands.div_ceil(at_once as u64) * (chain + way_up);
        let batches = |most: usize| (0..ands).step_by(most).map(move |first| (ands - first).min(most as u64));
        let products = batches(LOOKED_UP).map(|ands| pairs * (transfers(ands) + ands));
        let look_ups = batches(at_once).map(|ands| {
            let count = 4 * ands;
            match by {
                None => pairs * (transfers(count) + count * NUMBER_BITS * dimension),
                Some(lattice) if by_products.is_some() => {
                    let together = vectors::TOGETHER as u64;
                    let blocks = (lattice.dimension() / BLOCK) as u64;
                    let rest = (ands % together).div_ceil(blocks);
                    let ciphertexts = ands / together * together.div_ceil(blocks) + rest;
                    // for each pair a row one way and a number the other; then a masked bit goes to one
                    // party, and one back
                    let numbers = pairs / 2 * count.next_multiple_of(TILE) * (position + NUMBER_BITS);
                    ciphertexts * 8 * lattice.batch_bytes() as u64 + numbers + 2 * peers * count
                }
                Some(lattice) => {
                    let slots = count * dimension;
                    let ciphertexts = slots.div_ceil(lattice.dimension() as u64);
                    // for each coefficient one masked index bit goes to one party, and one back
                    ciphertexts * 8 * lattice.batch_bytes() as u64 + 2 * peers * slots
                }
            }
        });
        let look_up_ns = match by {
            None => peers as f64 * TRANSFER_NS,
            Some(lattice) => dimension as f64 * lattice.chain().len() as f64 * SLOT_NS,
        };
        GarblingCost {
            parties: n,
            rows: peers * gates * 4 * 8 * ROW_BYTES as u64,
            products: products.sum(),
            look_ups: look_ups.sum(),
            rounds: rounds.max(way_up),
            cpu_seconds: (gates as f64 * GATE_NS + 4.0 * ands as f64 * look_up_ns) * 1e-9,
        }
    }

    /// Bits that all parties together send.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.rows + self.products + self.look_ups
    }

    /// Bytes of rows that a party sends. The first party sends none.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        self.rows / 8 / self.parties.saturating_sub(1).max(1)
    }

    /// All other bytes that a party sends. For ciphertexts it is the average over their batches, because
    /// parties exchange their roles from batch to batch.
    #[must_use]
    pub fn other_bytes(&self) -> u64 {
        (self.products + self.look_ups) / 8 / self.parties.max(1)
    }

    /// All bytes that a party other than the first one sends.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.row_bytes() + self.other_bytes()
    }
}

/// The lattice parameters for lookups by ciphertexts in this form, among this number of parties; `None` if
/// there are none.
#[must_use]
pub fn lattice(form: Form, parties: usize) -> Option<Lattice> {
    Lattice::derive(operation(form), form, parties, P16).ok()
}

/// The way of looking up keys that costs a party fewer bytes for such a circuit: parameters for ciphertexts,
/// or `None` for transfers. It depends on public values only, so all parties choose the same.
///
/// It compares transfers with ciphertexts along a tree, whose bytes grow with the logarithm of the number of
/// parties. Those around a ring grow with the number itself, and are not considered.
#[must_use]
pub fn cheaper(parties: usize, circuit: [u64; 2], config: SetupConfig) -> Option<Lattice> {
    let by = lattice(Form::LeanTree, parties)?;
    let cost = |by| GarblingCost::of(parties, circuit, config, by).bytes();
    (cost(Some(&by)) < cost(None)).then_some(by)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aes(parties: usize, by: Option<&Lattice>) -> GarblingCost {
        GarblingCost::of(parties, AES_128, SetupConfig::default(), by)
    }

    /// AES-128: the documented cost, where the paper estimates 51.12 GB.
    #[test]
    fn aes_among_so_many() {
        for (n, most) in [(3, 0.7e9), (10, 1.2e9), (64, 1.4e9), (128, 1.45e9)] {
            let by = cheaper(n, AES_128, SetupConfig::default());
            let cost = aes(n, by.as_ref());
            println!("{n}: {} bytes, {:.1} s", cost.bytes(), cost.cpu_seconds);
            assert!((cost.bytes() as f64) < most, "{} bytes among {n}", cost.bytes());
            // 34,576 gates with four rows each
            assert_eq!(cost.row_bytes(), 460_275_712);
            assert_eq!(by.is_some(), n >= 64);
            let ciphertexts = aes(n, lattice(Form::LeanTree, n).as_ref());
            println!("by ciphertexts: {} bytes, {} rounds", ciphertexts.bytes(), ciphertexts.rounds);
        }
    }

    /// The cost of transfers grows with the number of parties; that of ciphertexts hardly does. So few
    /// parties use transfers, many use ciphertexts, and the cheaper way is always chosen.
    #[test]
    fn few_take_transfers_and_many_ciphertexts() {
        let chosen = |n: usize| cheaper(n, AES_128, SetupConfig::default()).is_some();
        let chosen: Vec<bool> = (2..=180).map(chosen).collect();
        // from 16 parties on
        assert!(chosen[..14].iter().all(|by| !by) && chosen[14..].iter().all(|by| *by), "{chosen:?}");
        for (i, chosen) in chosen.iter().enumerate() {
            let n = i + 2;
            let by = lattice(Form::LeanTree, n).unwrap();
            let (transfers, ciphertexts) = (aes(n, None), aes(n, Some(&by)));
            assert_eq!(*chosen, ciphertexts.bytes() < transfers.bytes());
        }
        // a ciphertext that is hardly filled costs more than a few transfers
        assert!(cheaper(80, [1, 1], SetupConfig::default()).is_none());
    }

    #[test]
    fn circuits_without_ands_take_no_lookup() {
        let cost = GarblingCost::of(5, [10, 0], SetupConfig::default(), None);
        assert_eq!((cost.products, cost.look_ups), (0, 0));
        assert_eq!(cost.bytes(), 10 * 4 * ROW_BYTES as u64);
        assert_eq!(cost.bits(), 4 * 8 * cost.bytes());
    }
}

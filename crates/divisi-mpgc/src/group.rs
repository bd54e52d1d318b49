//! Instances of a circuit that are garbled together, and what a party holds for them meanwhile.

use crate::key::WireKeys;
use crate::lookup::PART;
use crate::parameters::DIMENSION;
use crate::wiring::{Gate, Wire, Wiring};
use divisi_bgv::Sampler;
use divisi_core::Session;
use divisi_core::wipe::WipedVec;

const N: usize = DIMENSION;

/// Our shares of the masks lambda of all wires of an instance.
pub(crate) struct Masks {
    pub lambda: WipedVec<u8>,
}

impl Masks {
    fn new(sampler: &mut Sampler, wiring: &Wiring) -> Masks {
        let wires = wiring.inputs + wiring.gates();
        let (mut lambda, mut bits) = (WipedVec::zeros(wires), WipedVec::zeros(wires));
        sampler.bits(&mut bits);
        lambda.iter_mut().zip(bits.iter()).for_each(|(lambda, bit)| *lambda = *bit as u8);
        for (w, gate) in (wiring.inputs..).zip(&wiring.gates) {
            if let Gate::Xor(u, v) = *gate {
                lambda[w] = lambda[u] ^ lambda[v];
            }
        }
        Masks { lambda }
    }

    /// Our share of the mask of a wire.
    pub fn of(&self, session: &Session, wire: Wire) -> u8 {
        self.lambda[wire.at] ^ u8::from(wire.negated && is_first(session))
    }
}

pub(crate) fn is_first(session: &Session) -> bool {
    session.me().index() == 0
}

/// How many instances are garbled together, if all of them may have this number of ANDs, and of wires.
pub(crate) fn together(wiring: &Wiring, [ands, wires]: [usize; 2]) -> usize {
    let by_ands = ands / wiring.ands().max(1);
    let by_wires = wires / (wiring.inputs + wiring.gates()).max(1);
    by_ands.min(by_wires).max(1)
}

/// An AND of an instance of a group: its operands, and the wire of its output.
#[derive(Clone, Copy)]
pub(crate) struct And {
    pub instance: usize,
    pub out: usize,
    operands: [Wire; 2],
}

/// Instances that are garbled together: lookups go on from one to the next.
pub(crate) struct Group<'g> {
    pub wiring: &'g Wiring,
    pub masks: Vec<Masks>,
    pub keys: Vec<WireKeys>,
    pub products: Products,
    pub found: Found,
}

impl Group<'_> {
    pub fn new<'g>(
        session: &Session,
        sampler: &mut Sampler,
        wiring: &'g Wiring,
        instances: usize,
    ) -> Group<'g> {
        let (wires, is_first) = (wiring.inputs + wiring.gates(), is_first(session));
        let masks = (0..instances).map(|_| Masks::new(sampler, wiring)).collect();
        let keys = (0..instances).map(|_| WireKeys::new(sampler, wires, is_first)).collect();
        Group { wiring, masks, keys, products: Products::default(), found: Found::default() }
    }

    /// The ANDs, at most `most`, behind those whose keys were looked up last.
    pub fn next(&self, most: usize) -> Vec<And> {
        let (inputs, each) = (self.wiring.inputs, self.wiring.ands().max(1));
        let ands = |instance: usize| {
            (inputs..).zip(&self.wiring.gates).filter_map(move |(out, gate)| match *gate {
                Gate::And(u, v) => Some(And { instance, out, operands: [u, v] }),
                Gate::Xor(..) => None,
            })
        };
        let first = self.found.to / each;
        (first..self.masks.len()).flat_map(ands).skip(self.found.to % each).take(most).collect()
    }

    /// Our share of the mask of an operand.
    pub fn mask(&self, session: &Session, and: &And, side: usize) -> u8 {
        self.masks[and.instance].of(session, and.operands[side])
    }
}

/// Shares of lambda_u lambda_v, packed, for a range of the ANDs of a group.
#[derive(Default)]
pub(crate) struct Products {
    shares: WipedVec<u64>,
    from: usize,
    pub to: usize,
}

impl Products {
    /// For `count` ANDs from `from` on.
    pub fn new(shares: WipedVec<u64>, from: usize, count: usize) -> Products {
        Products { shares, from, to: from + count }
    }

    /// The share for an AND.
    pub fn of(&self, and: usize) -> u64 {
        let at = and - self.from;
        self.shares[at / 64] >> (at % 64) & 1
    }
}

/// Shares of the keys of the last lookups, for a range of the ANDs of a group.
#[derive(Default)]
pub(crate) struct Found {
    parts: Vec<WipedVec<u32>>,
    from: usize,
    pub to: usize,
}

impl Found {
    /// The keys for `count` ANDs from `from` on, in parts of [`PART`] lookups.
    pub fn new(parts: Vec<WipedVec<u32>>, from: usize, count: usize) -> Found {
        Found { parts, from, to: from + count }
    }

    /// The share of the key for one row of an AND.
    pub fn of(&self, and: usize, row: usize) -> &[u32] {
        let at = 4 * (and - self.from) + row;
        let (part, at) = (at / PART, at % PART);
        &self.parts[part][at * N..(at + 1) * N]
    }

    /// An AND has its rows: the memory of the parts that no later AND needs is wiped and freed.
    pub fn spend(&mut self, and: usize) {
        let spent = 4 * (and + 1 - self.from);
        if spent.is_multiple_of(PART) {
            self.parts[spent / PART - 1] = WipedVec::zeros(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each part is freed once the last of its lookups has its row, and no part before.
    #[test]
    fn parts_are_freed_one_after_the_other() {
        let (from, ands) = (7, PART);
        let parts: Vec<_> = (0..4 * ands).step_by(PART).map(|_| WipedVec::zeros(1)).collect();
        let mut found = Found::new(parts, from, ands);
        for done in 0..ands {
            found.spend(from + done);
            let held: Vec<_> = found.parts.iter().map(|part| !part.is_empty()).collect();
            let expected: Vec<_> = (0..held.len()).map(|part| 4 * (done + 1) < (part + 1) * PART).collect();
            assert_eq!(held, expected, "{done}");
        }
    }
}

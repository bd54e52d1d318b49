//! The hash as this crate calls it. The tweak of every call has its step, sender, receiver, side, block, and
//! gate or triple, so that no two calls of a session have the same key and tweak \[W12, W19\], and no two
//! protocols hash one key alike.

use divisi_core::{PartyId, Session};
use divisi_ot::hash::{CallSeries, Calls, FIRST_STEP, Tweak, TweakableHash};

/// The protocol step that a hash call belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    HaAnd = FIRST_STEP as isize,
    LaAnd,
    Rows,
    Zero,
}

/// The name of a series of hash calls: who calls, in which step, and for which gates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    pub call: Call,
    /// The garbler, or the party whose key is hashed.
    pub from: PartyId,
    /// The evaluator, or the party whose bit the key is for.
    pub to: PartyId,
    /// The session-wide number of the first gate or triple. No number is used twice.
    pub gate: u64,
}

/// The session's hash.
#[derive(Clone)]
pub(crate) struct Oracle(TweakableHash);

impl Oracle {
    pub fn new(session: &Session) -> Oracle {
        Oracle(TweakableHash::new(session))
    }

    /// The calls of this name. `targets` is the number of targets that each gate or triple has under its key
    /// ([`divisi_ot::hash::TARGETS`]).
    pub fn named(&self, session: &Session, name: Name, targets: usize) -> Named<'_> {
        let place = CallSeries::new(name.call as u8, name.from, name.to);
        Named { calls: self.0.calls(session, place, targets as u64), gate: name.gate }
    }
}

/// Hash calls of one name; their gates come in order.
pub(crate) struct Named<'a> {
    calls: Calls<'a>,
    gate: u64,
}

impl Named<'_> {
    /// Moves on by `gates` gates: the next calls are for the gates after them.
    #[inline]
    pub fn advance(&mut self, gates: usize) {
        self.gate += gates as u64;
    }

    /// For each input x, and each block number below `blocks`: the hash of x under that block's tweak, input
    /// by input. Input `i` belongs to a gate, counted from the next one, and to a side of it. At most 256
    /// blocks and 2^56 gates.
    #[inline]
    pub fn expand(
        &mut self,
        inputs: &[u128],
        blocks: usize,
        place: impl Fn(usize) -> (usize, usize),
        out: &mut [u128],
    ) {
        let first = self.gate;
        let tweak = |i: usize| {
            let (gate, side) = place(i);
            Tweak { unit: first + gate as u64, row: side as u8 }
        };
        self.calls.expand(inputs, blocks, tweak, out);
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use divisi_core::PublicParameters;
    use divisi_core::testing::run;
    use std::collections::HashSet;

    /// \[W12, W19\] Gates have hashes of their own whatever bits their numbers have, of the name or counted
    /// from it: a number that were cut off would return in a long circuit.
    #[test]
    fn no_bit_of_a_gates_number_is_cut_off() {
        let ends = run(2, &PublicParameters::new("tests of numbers"), |session| {
            let oracle = Oracle::new(&session);
            let mut seen = HashSet::new();
            for gate in [0].into_iter().chain((0..56).map(|bit| 1 << bit)) {
                let of = |gate| Name { call: Call::Rows, from: PartyId::P1, to: PartyId::P2, gate };
                let hash = |first: u64, advanced: usize, behind: usize| {
                    let mut calls = oracle.named(&session, of(first), 4);
                    calls.advance(advanced);
                    let mut out = [0; 2];
                    calls.expand(&[5], 2, |_| (behind, 1), &mut out);
                    out
                };
                let out = hash(gate, 0, 0);
                assert!(seen.insert(out), "{gate}");
                assert_eq!([hash(0, gate as usize, 0), hash(0, 0, gate as usize)], [out; 2], "{gate}");
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }
}

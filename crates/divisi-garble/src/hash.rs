//! The hash as this crate calls it: every call names its step, its sender and receiver, its side, its gate or triple and its block, so
//! that no two calls of a session have the same tweak \[W12, W19\] and no two protocols hash one key alike.

use divisi_core::{PartyId, Session};
use divisi_ot::hash::{FIRST_STEP, Hash, Tweak};

/// Which protocol calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    HaAnd = FIRST_STEP as isize,
    LaAnd,
    Rows,
    Zero,
}

/// Who calls, for which gates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    pub call: Call,
    /// The garbler, or the party whose key is hashed.
    pub from: PartyId,
    /// The evaluator, or the party whose bit the key is for.
    pub to: PartyId,
    /// The number of the first gate or triple in the session: none returns.
    pub gate: u64,
    /// Whether the gate is part of the tweak: not in W19's mutant.
    pub once: bool,
}

impl Name {
    /// The same for the gates from the `offset`-th on.
    pub fn from(self, offset: usize) -> Name {
        Name { gate: self.gate + offset as u64, ..self }
    }

    /// The tweak of block 0 for the `offset`-th gate from this one and one of its sides. There are at most 256 blocks and 2^56 gates.
    #[inline]
    pub fn tweak(self, offset: usize, side: usize) -> Tweak {
        Tweak::new(self.call as u8, self.from, self.to, side as u8, self.index(offset))
    }

    #[inline]
    fn index(self, offset: usize) -> u64 {
        if self.once { (self.gate + offset as u64) << 8 } else { 0 }
    }
}

/// The hash of a session.
#[derive(Clone)]
pub(crate) struct Oracle(Hash);

impl Oracle {
    pub fn new(session: &Session) -> Oracle {
        Oracle(Hash::new(session))
    }

    /// For each input x and each of `blocks` blocks: its hash there, input by input. Input `i` belongs to a gate and a side.
    pub fn expand(
        &self,
        inputs: &[u128],
        blocks: usize,
        name: Name,
        place: impl Fn(usize) -> (usize, usize),
        out: &mut Vec<u128>,
    ) {
        out.resize(inputs.len() * blocks, 0);
        let first = |i: usize| {
            let (gate, side) = place(i);
            name.tweak(gate, side)
        };
        self.0.expand(inputs, blocks, first, out);
    }

    /// As [`Oracle::expand`], with the tweak of each input's first block.
    pub fn expand_tweaked(&self, inputs: &[u128], blocks: usize, tweaks: &[Tweak], out: &mut Vec<u128>) {
        // every word is overwritten
        out.resize(inputs.len() * blocks, 0);
        self.0.expand(inputs, blocks, |i| tweaks[i], out);
    }
}

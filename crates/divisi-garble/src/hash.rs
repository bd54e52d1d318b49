//! The hash as this crate calls it: every call names its step, its sender and receiver, its side, its gate or
//! triple and its block, so that no two calls of a session have the same key and tweak \[W12, W19\] and no
//! two protocols hash one key alike.

use divisi_core::{PartyId, Session};
use divisi_ot::hash::{Calls, FIRST_STEP, Place, Tweak, TweakableHash};

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

/// The hash of a session.
#[derive(Clone)]
pub(crate) struct Oracle(TweakableHash);

impl Oracle {
    pub fn new(session: &Session) -> Oracle {
        Oracle(TweakableHash::new(session))
    }

    /// The calls of this name, each gate or triple of which has so many targets under its key
    /// ([`divisi_ot::hash::TARGETS`]).
    pub fn named(&self, session: &Session, name: Name, targets: usize) -> Named<'_> {
        let place = Place::new(name.call as u8, name.from, name.to);
        Named { calls: self.0.calls(session, place, targets as u64), gate: name.gate, once: name.once }
    }
}

/// Calls of one name, whose gates come in order.
pub(crate) struct Named<'a> {
    calls: Calls<'a>,
    gate: u64,
    once: bool,
}

impl Named<'_> {
    /// What follows is for the gates from here on.
    #[inline]
    pub fn advance(&mut self, gates: usize) {
        self.gate += gates as u64;
    }

    /// For each input x and each of `blocks` blocks: its hash there, input by input. Input `i` belongs to a
    /// gate, counted from the next one, and a side. There are at most 256 blocks and 2^56 gates.
    #[inline]
    pub fn expand(
        &mut self,
        inputs: &[u128],
        blocks: usize,
        place: impl Fn(usize) -> (usize, usize),
        out: &mut [u128],
    ) {
        let (first, once) = (self.gate, self.once);
        let tweak = |i: usize| {
            let (gate, side) = place(i);
            Tweak { unit: if once { first + gate as u64 } else { 0 }, row: side as u8 }
        };
        self.calls.expand(inputs, blocks, tweak, out);
    }
}

//! Products of one party's bits with another party's payloads, shared between the two: correlated OT in which
//! the sender chooses the payloads.
//!
//! A row has M and the bit x of its maker, and K = M + x Delta' of its holder. The holder also has the
//! payload y (Gilboa 1999; the derandomised OT of MASCOT, Keller, Orsini and Scholl 2016, ePrint 2016/505,
//! Protocol 4, Multiply):
//!
//! 1. The holder sends d = H(K) - H(K + Delta') + y, and keeps -H(K).
//! 2. The maker keeps H(M) + x d. If x is zero that is H(K), and if it is one it is H(K + Delta') + d = H(K)
//!    + y.
//!
//! Both results add up to x y. H is the hash of [`crate::hash`]; its tweak has the step, the holder, the
//! maker, and the number of the row, which is used once. A party that has M but not Delta' sees d masked by
//! H(M + Delta'). A malicious holder can send a wrong d; then the product for x = 1 is that of another
//! payload. The protocol that uses the products must detect this (MASCOT combines and sacrifices).
//!
//! Payloads are vectors of bits ([`BitVectors`]) or of numbers modulo p ([`Numbers`]; [`Long`] for long
//! ones). Cost: for each row one payload, one way, in one round; the row itself comes from
//! [`crate::Setup::wide_rows`], [`crate::Setup::pad_rows`] or [`crate::Setup::semi_honest_rows`].
//!
//! For example, a triple of MASCOT over GF(2^f) at k = 1 costs to each peer tau f (128 + f) + 5 f^2 bits: tau
//! f rows of pads of 128 bits, for the f bits of tau elements a; tau f payloads b of f bits; and for five
//! authenticated elements f narrow rows of f bits each ([`crate::Setup::mac_rows`] with chosen bits). An
//! authenticated bit is one narrow row, f bits. COPEe (Protocol 1) is the narrow rows themselves: the sum of
//! X^m K\[x_m\] over the bits of x is that of X^m M\[x_m\] plus x Delta_i ([`gadget`]).
//!
//! ```
//! use divisi_core::{PublicParameters, local};
//! use divisi_ot::correlate::{BitVectors, gadget};
//! use divisi_ot::{Bits, SetupConfig, Setup};
//!
//! let (f, config) = (48, SetupConfig::default());
//! let parameters = Setup::describe_field(f, config.describe(PublicParameters::new("an example")));
//! let shares = local::run(2, &parameters, |mut session| {
//!     let mut setup = Setup::over_field(&mut session, config, f)?;
//!     // an element a of GF(2^48), its bits authenticated
//!     let a = setup.mac_rows(&mut session, Bits::Chosen(&[0x1234_5678_9abc], 48))?;
//!     let modulus = 1 << 5 | 1 << 3 | 1 << 2 | 1;
//!     let _mac = gadget(a.macs(session.peers()[0]), f, modulus);
//!     // five random bits of each party times three bits of each party, shared
//!     let mut wide = setup.wide_rows(&mut session, Bits::Random(5))?;
//!     let (bits, payload) = (wide.pads.bits()[0], BitVectors { width: 3 });
//!     let shares = setup.correlate(&mut session, &mut wide.pads, None, &payload, &[0b101; 5])?;
//!     Ok((bits, shares.to_vec()))
//! })?;
//! for row in 0..5 {
//!     // both parties' payloads add up to zero, and so do the products
//!     assert_eq!(shares[0].1[row], shares[1].1[row]);
//! }
//! # Ok::<(), divisi_core::Abort>(())
//! ```

mod ahead;
mod bits;
#[cfg(test)]
mod fuzz;
mod gadget;
mod long;
mod payload;
mod steps;
mod stream;
mod wire;

use crate::hash::{CLASSES, CallSeries, Calls, Tweak, TweakableHash};
use crate::pads::{Pads, Part, Trust};
use crate::setup::{Setup, Source};
pub use ahead::PreprocessedProducts;
use divisi_core::wipe::{self, WipedVec};
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step, taint};
pub use gadget::gadget;
pub use long::Long;
pub use payload::{BitVectors, Numbers, Payload};
use std::ops::Range;
use steps::{Scratch, add_own, excess_of, holder_step, maker_step};
pub use wire::PayloadWord;

const PAYLOAD: Step = step!("payload");

/// How many rows are hashed together.
const BATCH: usize = 128;
/// The approximate length of one message in bits.
const MESSAGE: usize = 1 << 20;
/// How many messages are sent before the first one of a peer is awaited.
const AHEAD: usize = 32;

/// The class of payloads that need this number of blocks. Each class is a step of its own in the hash. `None`
/// if no class is large enough.
fn class(blocks: usize) -> Option<u8> {
    let class = blocks.checked_next_power_of_two()?.ilog2() as u8;
    (blocks > 0 && class < CLASSES).then_some(class)
}

/// The hashes of one direction of a pair.
struct Direction<'h> {
    calls: Calls<'h>,
    blocks: usize,
    /// The number of the next row.
    unit: u64,
    /// The inputs of the hash, for at most [`BATCH`] rows; none where each row has one block.
    inputs: WipedVec<u128>,
}

impl<'h> Direction<'h> {
    fn new<S: Trust>(
        session: &Session,
        hash: &'h TweakableHash,
        blocks: usize,
        class: u8,
        [holder, maker]: [PartyId; 2],
        first: u64,
    ) -> Direction<'h> {
        let place = CallSeries::new(S::STEP + class, holder, maker);
        let calls = hash.calls(session, place, 1 << class);
        let inputs = WipedVec::zeros(if blocks == 1 { 0 } else { BATCH });
        Direction { calls, blocks, unit: first, inputs }
    }

    /// The hashes of the next rows, at most [`BATCH`], after `offset` was added to each.
    fn hashes(&mut self, rows: &[u128], offset: u128, out: &mut [u128]) {
        let unit = self.unit;
        let tweak = |i: usize| Tweak { unit: unit + i as u64, row: 0 };
        if self.blocks == 1 {
            // one block for each row: it is computed in place
            out.iter_mut().zip(rows).for_each(|(out, row)| *out = row ^ offset);
            return self.calls.hash(out, tweak);
        }
        let inputs = &mut self.inputs[..rows.len()];
        inputs.iter_mut().zip(rows).for_each(|(input, row)| *input = row ^ offset);
        self.calls.expand(inputs, self.blocks, tweak, out);
    }
}

impl Setup {
    /// Our shares of products of bits with payloads. All parties' shares of a row add up to (the sum of all
    /// parties' bits) times (the sum of all parties' payloads). `values` are our payloads, [`Payload::words`]
    /// words for each row, the same towards all peers.
    ///
    /// With a `chooser` only that party's bits count. They meet its own payloads, and those of the parties
    /// towards which it has rows; a party that takes no part gets zeros. Each direction of `pads` can be used
    /// once.
    ///
    /// One round. Adversary: a malicious holder can send wrong payloads. A malicious maker is bound to the
    /// bits of its rows if they are [`crate::Checked`], and not bound if they are [`crate::SemiHonest`].
    ///
    /// # Errors
    /// The abort that ends the session, which erases all secrets. [`Abort::Misuse`] unless there is one word
    /// for each payload; for a word that is too wide or not reduced; for a payload that is too long; for rows
    /// of another session; and for rows that were used already.
    pub fn correlate<S: Trust, P: Payload>(
        &mut self,
        session: &mut Session,
        pads: &mut Pads<S>,
        chooser: Option<PartyId>,
        payload: &P,
        values: &[P::Word],
    ) -> Result<WipedVec<P::Word>, Abort> {
        let class = self.class_of(session, pads, payload, values)?;
        let round = Round::taken(session, pads, chooser)?;
        session.observe(S::CHECK); // [K14] [G14]
        let made = wipe::stack(|| {
            session.exchange(|session| self.products(session, &round, class, payload, values))
        });
        self.keep_if(&made);
        made
    }

    /// The class of these payloads, if they fit the rows.
    fn class_of<S: Trust, P: Payload>(
        &self,
        session: &Session,
        pads: &Pads<S>,
        payload: &P,
        values: &[P::Word],
    ) -> Result<u8, Abort> {
        self.admit(session, pads)?;
        let Some(class) = class(payload.blocks()).filter(|_| payload.is_sound()) else {
            return Err(session.misuse(PAYLOAD, Misuse::LengthUnsupported));
        };
        if values.len() != pads.len() * payload.words() {
            return Err(session.misuse(PAYLOAD, Misuse::CountsDiffer));
        }
        // a bit beyond the width would be sent unmasked, in the place of the next word's bits
        if !taint::verdict(PAYLOAD, excess_of(payload, values) == 0) {
            return Err(session.misuse(PAYLOAD, Misuse::OutOfRange));
        }
        Ok(class)
    }

    /// Demands that the rows belong to this session and are not empty.
    fn admit<S: Trust>(&self, session: &Session, pads: &Pads<S>) -> Result<(), Abort> {
        if self.session != *session.id().as_bytes() || !pads.is_of(&self.session) {
            return Err(session.misuse(PAYLOAD, Misuse::OtherSession));
        }
        if pads.is_empty() {
            return Err(session.misuse(PAYLOAD, Misuse::CountsDiffer));
        }
        if session.cause().is_some() || matches!(self.source, Source::Erased) {
            return Err(session.misuse(PAYLOAD, Misuse::Erased));
        }
        Ok(())
    }

    /// Erases all secrets if the result is an error.
    fn keep_if<T>(&mut self, made: &Result<T, Abort>) {
        if made.is_err() {
            self.source = Source::Erased;
            self.deltas.erase();
        }
    }

    /// Our key of the columns whose rows are pads, towards a peer.
    fn key_of_pads(&self, peer: PartyId) -> u128 {
        self.layout.group(&self.deltas.towards(peer), self.layout.pads())
    }

    fn products<S: Trust, P: Payload>(
        &self,
        session: &mut Session,
        round: &Round<S>,
        class: u8,
        payload: &P,
        values: &[P::Word],
    ) -> Result<WipedVec<P::Word>, Abort> {
        let (hash, messages) = (TweakableHash::new(session), messages(payload, round.len));
        let mut work = Work::new(session, &hash, round, class, payload, WipedVec::zeros(values.len()));
        for step in 0..messages.len() + AHEAD {
            if let Some(rows) = messages.get(step) {
                work.send(self, session, rows, values)?;
            }
            if let Some(rows) = step.checked_sub(AHEAD).and_then(|step| messages.get(step)) {
                work.receive(session, rows)?;
            }
        }
        let mut out = work.out;
        if round.chooses {
            add_own(payload, &round.bits, values, &mut out);
        }
        Ok(out)
    }
}

/// The rows of each message.
fn messages<P: Payload>(payload: &P, rows: usize) -> Vec<Range<usize>> {
    let each = (MESSAGE / payload.bits()).next_multiple_of(BATCH);
    (0..rows).step_by(each).map(|first| first..rows.min(first + each)).collect()
}

/// Both steps of a call, message by message.
struct Work<'w, S: Trust, P: Payload> {
    round: &'w Round<S>,
    payload: &'w P,
    sending: Vec<Direction<'w>>,
    receiving: Vec<Direction<'w>>,
    /// Our shares.
    out: WipedVec<P::Word>,
    scratch: Scratch<P::Word>,
    body: Vec<u8>,
}

impl<'w, S: Trust, P: Payload> Work<'w, S, P> {
    fn new(
        session: &Session,
        hash: &'w TweakableHash,
        round: &'w Round<S>,
        class: u8,
        payload: &'w P,
        out: WipedVec<P::Word>,
    ) -> Self {
        let (me, blocks) = (session.me(), payload.blocks());
        let direction = |part: &Part, pair: [PartyId; 2]| {
            Direction::new::<S>(session, hash, blocks, class, pair, part.first)
        };
        let sending = round.others.iter().map(|(peer, part)| direction(part, [me, *peer])).collect();
        let receiving = round.own.iter().map(|(peer, part)| direction(part, [*peer, me])).collect();
        Work { round, payload, sending, receiving, out, scratch: Scratch::new(payload), body: Vec::new() }
    }

    /// The holder's step for some rows, towards every maker.
    fn send(
        &mut self,
        setup: &Setup,
        session: &mut Session,
        rows: &Range<usize>,
        values: &[P::Word],
    ) -> Result<(), Abort> {
        let Work { round, payload, sending, out, scratch, body, .. } = self;
        for ((peer, part), direction) in round.others.iter().zip(sending) {
            let key = setup.key_of_pads(*peer);
            body.clear();
            let (rows, bits) = (rows.clone(), (rows.len() * payload.bits()) as u64);
            holder_step(direction, part, key, rows, *payload, values, out, scratch, body);
            session.send(PAYLOAD, *peer, body, bits)?;
        }
        Ok(())
    }

    /// The maker's step for some rows, with every holder's message.
    fn receive(&mut self, session: &mut Session, rows: &Range<usize>) -> Result<(), Abort> {
        let Work { round, payload, receiving, out, scratch, body, .. } = self;
        for ((peer, part), direction) in round.own.iter().zip(receiving) {
            body.resize((rows.len() * payload.bits()).div_ceil(8), 0);
            session.recv(PAYLOAD, *peer, body)?;
            let (bits, rows) = (&round.bits, rows.clone());
            let right = maker_step(direction, part, bits, rows, *payload, body, out, scratch);
            session.well_formed(PAYLOAD, *peer, body.len(), right)?;
        }
        Ok(())
    }
}

/// The rows of the directions that take part, removed from the pads so that they cannot be used again.
struct Round<S: Trust> {
    len: usize,
    bits: WipedVec<u64>,
    /// Whether our bits count.
    chooses: bool,
    own: Vec<(PartyId, Part)>,
    others: Vec<(PartyId, Part)>,
    trust: std::marker::PhantomData<S>,
}

impl<S: Trust> Round<S> {
    /// [G14] Removes the rows that are used now.
    fn taken(session: &Session, pads: &mut Pads<S>, chooser: Option<PartyId>) -> Result<Round<S>, Abort> {
        let me = session.me();
        let (len, chooses) = (pads.len(), chooser.is_none_or(|chooser| chooser == me));
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for (peer, part) in PartyId::all(session.parties()).zip(&mut pads.own) {
            own.extend(take_if(chooses, part).map(|part| (peer, part)));
        }
        for (peer, part) in PartyId::all(session.parties()).zip(&mut pads.others) {
            let counts = chooser.is_none_or(|chooser| chooser == peer);
            others.extend(take_if(counts, part).map(|part| (peer, part)));
        }
        if pads.serve(chooser) {
            return Err(session.misuse(PAYLOAD, Misuse::UsedTwice));
        }
        Ok(Round {
            len,
            bits: WipedVec::from(pads.bits()),
            chooses,
            own,
            others,
            trust: std::marker::PhantomData,
        })
    }
}

fn take_if(counts: bool, part: &mut Option<Part>) -> Option<Part> {
    if counts { part.take() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row that comes again has other pads, at whatever distance: no number of a row is cut. No two blocks
    /// of a row are equal.
    #[cfg(feature = "testing")]
    #[test]
    fn no_pad_returns() {
        use crate::pads::SemiHonest;
        use divisi_core::testing::run;
        use std::collections::HashSet;
        let ends = run(2, &divisi_core::PublicParameters::new("pads of rows"), |session| {
            let (hash, pair) = (TweakableHash::new(&session), [PartyId::P1, PartyId::P2]);
            for blocks in [1, 3, 10, 64] {
                let class = class(blocks).unwrap_or_default();
                let units = || [0].into_iter().chain((0..48).map(|k| 1 << k));
                let mut pads = HashSet::new();
                for unit in units() {
                    let mut direction =
                        Direction::new::<SemiHonest>(&session, &hash, blocks, class, pair, unit);
                    let mut out = vec![0; blocks];
                    direction.hashes(&[5], 0, &mut out);
                    pads.extend(out);
                }
                assert_eq!(pads.len(), blocks * units().count(), "{blocks}");
            }
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    }

    #[test]
    fn classes_hold_their_payloads() {
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 64, 65, usize::MAX].map(class),
            [None, Some(0), Some(1), Some(2), Some(2), Some(3), Some(6), None, None]
        );
    }
}

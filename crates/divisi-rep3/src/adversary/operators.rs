//! What a corrupt party may do to one of its messages.

use super::stage::{LIMIT, Stage};
use divisi_core::PartyId;
use divisi_net::Frame;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A change of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// The first bit is flipped.
    FlipFirst,
    /// The last bit is flipped: a padding bit, where there is padding.
    FlipLast,
    /// Some bit is flipped.
    FlipRandom,
    /// Some other body of the same length.
    Random,
    /// All bits zero.
    Zero,
    /// Never sent.
    Drop,
    /// One byte less.
    Truncate,
    /// Nothing of it.
    Empty,
    /// One byte more.
    Extend,
    /// Far more than the protocol's length.
    Oversize,
    /// Sent twice.
    Duplicate,
    /// Sent after the next one on that link.
    Reorder,
    /// What the peer itself sent last, sent back.
    Reflect,
    /// What was sent here in another session.
    Replay,
    /// The same change towards both peers, where a plain flip is a split view.
    Both,
    /// What is for one peer goes to the other, and the other way round.
    Swap,
    /// Sent when the time limit has passed.
    Late,
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 17] = [
        Operator::FlipFirst,
        Operator::FlipLast,
        Operator::FlipRandom,
        Operator::Random,
        Operator::Zero,
        Operator::Drop,
        Operator::Truncate,
        Operator::Empty,
        Operator::Extend,
        Operator::Oversize,
        Operator::Duplicate,
        Operator::Reorder,
        Operator::Reflect,
        Operator::Replay,
        Operator::Both,
        Operator::Swap,
        Operator::Late,
    ];

    /// Whether peers have to wait for the time limit.
    #[must_use]
    pub fn is_slow(self) -> bool {
        matches!(self, Operator::Drop | Operator::Late | Operator::Reorder | Operator::Swap)
    }

    /// The changed bytes of a body, for what is not sent over a link.
    pub fn change(self, body: &mut Vec<u8>, salt: u64) {
        let n = body.len();
        match self {
            Operator::FlipFirst if n > 0 => body[0] ^= 1,
            Operator::FlipLast if n > 0 => body[n - 1] ^= 0x80,
            Operator::FlipRandom | Operator::Both if n > 0 => {
                body[salt as usize % n] ^= 1 << (salt >> 32 & 7)
            }
            Operator::Random => {
                let mut x = salt | 1;
                for byte in body.iter_mut() {
                    x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    *byte = (x >> 56) as u8;
                }
            }
            Operator::Zero => body.fill(0),
            Operator::Truncate => body.truncate(n.saturating_sub(1)),
            Operator::Empty => body.clear(),
            Operator::Extend => body.push(0),
            Operator::Oversize => body.resize(n + 100_000, 0x5a),
            _ => {}
        }
    }
}

/// Where in a run: the `n`-th message from the corrupt party to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The corrupt party.
    pub from: PartyId,
    /// To whom it sends.
    pub to: PartyId,
    /// Which of its messages to that peer.
    pub n: usize,
}

#[derive(Default)]
struct Held {
    count: [usize; 3],
    held: Vec<(PartyId, Frame)>,
}

/// Put an operator in place. `replay` has the bodies that `from` sent to `to` in another session, in order.
pub fn place(stage: &Stage, at: Position, operator: Operator, salt: u64, replay: &[Vec<u8>]) {
    let state = Arc::new(Mutex::new(Held::default()));
    let replay = replay.get(at.n).cloned();
    for to in PartyId::all(3).filter(|p| *p != at.from) {
        let (state, replay, tap, recording) =
            (state.clone(), replay.clone(), stage.tap(at.from), stage.recording(at.from));
        stage.hand(at.from, to, move |mut frame| {
            let state = &mut *state.lock().unwrap_or_else(PoisonError::into_inner);
            let n = state.count[to.index()];
            state.count[to.index()] += 1;
            let here = n == at.n && (to == at.to || operator == Operator::Both);
            match operator {
                Operator::Drop if here => vec![],
                Operator::Duplicate if here => vec![frame.clone(), frame],
                Operator::Late if here => {
                    std::thread::sleep(LIMIT + Duration::from_millis(700));
                    vec![frame]
                }
                Operator::Reorder if here => {
                    state.held.push((to, frame));
                    vec![]
                }
                Operator::Reorder if to == at.to => {
                    std::iter::once(frame).chain(state.held.drain(..).map(|(_, held)| held)).collect()
                }
                Operator::Swap if here => {
                    state.held.push((to, frame));
                    vec![]
                }
                Operator::Swap if to != at.to && !state.held.is_empty() => {
                    for (peer, held) in state.held.drain(..) {
                        let (mut first, body) = (held, std::mem::take(&mut frame.body));
                        frame.body = std::mem::replace(&mut first.body, body);
                        // a link that is gone needs none
                        let _ = tap.inject(peer, &first);
                    }
                    vec![frame]
                }
                Operator::Reflect if here => {
                    let seen = recording.read();
                    let theirs = |same_step: bool| {
                        seen.iter()
                            .rev()
                            .find(|s| {
                                s.way == super::stage::Way::In
                                    && s.peer == to
                                    && (!same_step || s.frame.step == frame.step)
                            })
                            .map(|s| s.frame.body.clone())
                    };
                    frame.body = theirs(true).or_else(|| theirs(false)).unwrap_or_default();
                    vec![frame]
                }
                Operator::Replay if here => {
                    frame.body = replay.clone().unwrap_or_default();
                    vec![frame]
                }
                _ if here => {
                    operator.change(&mut frame.body, salt);
                    vec![frame]
                }
                _ => vec![frame],
            }
        });
    }
}

//! What a corrupt party may do to one of its messages.

use super::stage::{LIMIT, Stage, Way};
use divisi_core::PartyId;
use divisi_net::Frame;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A change of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// The first bit is flipped.
    FlipFirst,
    /// The last bit is flipped: a padding bit, where there is padding.
    FlipLast,
    /// Some bit is flipped.
    FlipRandom,
    /// The same flip towards all peers, where a plain one is a split view.
    Both,
    /// Some other body of the same length.
    Random,
    /// All bits zero.
    Zero,
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
    /// What the peer itself sent last at this step, sent back.
    Reflect,
    /// What was sent here in another session.
    Replay,
    /// Never sent.
    Drop,
    /// Sent after the next one on that link.
    Reorder,
    /// Sent when the time limit has passed.
    Late,
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 16] = [
        Operator::FlipFirst,
        Operator::FlipLast,
        Operator::FlipRandom,
        Operator::Both,
        Operator::Random,
        Operator::Zero,
        Operator::Truncate,
        Operator::Empty,
        Operator::Extend,
        Operator::Oversize,
        Operator::Duplicate,
        Operator::Reflect,
        Operator::Replay,
        Operator::Drop,
        Operator::Reorder,
        Operator::Late,
    ];

    /// Whether peers have to wait for the time limit.
    #[must_use]
    pub fn is_slow(self) -> bool {
        matches!(self, Operator::Drop | Operator::Late | Operator::Reorder)
    }

    fn change(self, body: &mut Vec<u8>, salt: u64) {
        let n = body.len();
        match self {
            Operator::FlipFirst if n > 0 => body[0] ^= 1,
            Operator::FlipLast if n > 0 => body[n - 1] ^= 0x80,
            Operator::FlipRandom | Operator::Both if n > 0 => {
                body[salt as usize % n] ^= 1 << (salt >> 32 & 7);
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

/// Put an operator in place. `replay` is what was sent here in another session.
pub fn place(
    stage: &Stage,
    parties: usize,
    at: Position,
    operator: Operator,
    salt: u64,
    replay: Option<Vec<u8>>,
) {
    for to in PartyId::all(parties).filter(|p| *p != at.from) {
        let (mut count, recording, replay) = (0, stage.recording(at.from), replay.clone());
        let held: Arc<Mutex<Vec<Frame>>> = Arc::default();
        stage.hand(at.from, to, move |mut frame| {
            let here = count == at.n && (to == at.to || operator == Operator::Both);
            count += 1;
            let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
            match operator {
                Operator::Drop if here => vec![],
                Operator::Duplicate if here => vec![frame.clone(), frame],
                Operator::Late if here => {
                    std::thread::sleep(LIMIT + Duration::from_millis(700));
                    vec![frame]
                }
                Operator::Reorder if here => {
                    held.push(frame);
                    vec![]
                }
                Operator::Reorder => std::iter::once(frame).chain(held.drain(..)).collect(),
                Operator::Reflect if here => {
                    let seen = recording.read();
                    let theirs = seen
                        .iter()
                        .rev()
                        .find(|s| s.way == Way::In && s.peer == to && s.frame.step == frame.step);
                    frame.body = theirs.map(|s| s.frame.body.clone()).unwrap_or_default();
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

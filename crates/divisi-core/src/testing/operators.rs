//! The changes that a corrupt party may make to one of its messages.

use super::harness::{Harness, MessageDirection};
use crate::PartyId;
use divisi_net::Frame;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A change of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "it is there for tests alone")]
pub enum Operator {
    /// The first bit is flipped.
    FlipFirst,
    /// A bit in the middle is flipped.
    FlipMiddle,
    /// The last bit is flipped: a padding bit, where there is padding.
    FlipLast,
    /// Some bit is flipped.
    FlipRandom,
    /// Some other body of the same length.
    Random,
    /// All bits zero, or one where they are.
    Zero,
    /// Never sent.
    Drop,
    /// One byte less.
    Truncate,
    /// An empty body.
    Empty,
    /// One byte more.
    Extend,
    /// Far more than the protocol's length.
    Oversize,
    /// Sent twice.
    Duplicate,
    /// Sent after the next one on that link.
    Reorder,
    /// The body of the peer's own last message, at this step if there was one, is sent back to it.
    Reflect,
    /// The body that was sent in this position in another session.
    Replay,
    /// The same bit is flipped towards all peers, while [`Operator::FlipRandom`] gives one peer another view.
    Both,
    /// The message and the next one to another peer are exchanged; it is never sent if there is no other
    /// peer.
    Swap,
    /// Sent, with all that follows it on its link, when the time limit has passed.
    Late,
    /// Never sent, nor anything that its sender would send later, to anybody.
    Stop,
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 19] = [
        Operator::FlipFirst,
        Operator::FlipMiddle,
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
        Operator::Stop,
    ];

    /// Whether peers have to wait for the time limit.
    #[must_use]
    pub fn is_slow(self) -> bool {
        matches!(self, Operator::Drop | Operator::Late | Operator::Reorder | Operator::Swap | Operator::Stop)
    }

    /// Change a body that is not sent over a link. Operators that need a link, such as [`Operator::Drop`],
    /// leave it as it is.
    pub fn change(self, body: &mut Vec<u8>, salt: u64) {
        let n = body.len();
        match self {
            Operator::FlipFirst if n > 0 => body[0] ^= 1,
            Operator::FlipMiddle if n > 0 => body[n / 2] ^= 1 << (salt & 7),
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
            Operator::Zero => {
                let is_zero = body.iter().all(|byte| *byte == 0);
                body.fill(if is_zero { 0xff } else { 0 });
            }
            Operator::Truncate => body.truncate(n.saturating_sub(1)),
            Operator::Empty => body.clear(),
            Operator::Extend => body.push(0),
            Operator::Oversize => body.resize(n + 100_000, 0x5a),
            _ => {}
        }
    }
}

/// A position in a run: message number `n` from the corrupt party to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The corrupt party.
    pub from: PartyId,
    /// To whom it sends.
    pub to: PartyId,
    /// Which of its messages to that peer, counted from 0.
    pub n: usize,
}

/// A number that looks random, derived from a position: for samples, and for what an operator chooses.
pub fn salt(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Frames that were kept back, each with its receiver.
type Held = Arc<Mutex<Vec<(PartyId, Frame)>>>;

/// From the first message for which `begins` returns true on, keep back all that `from` sends to `to`, and
/// send it when `time` has passed since that message. Messages that `from` sends later than that never
/// arrive.
pub fn delay(
    harness: &Harness,
    from: PartyId,
    to: PartyId,
    time: Duration,
    mut begins: impl FnMut(&Frame) -> bool + Send + 'static,
) {
    let (tap, held, mut late) = (harness.tap(from), Arc::new(Mutex::new(Vec::new())), false);
    harness.hand(from, to, move |frame| {
        if !late && !begins(&frame) {
            return vec![frame];
        }
        held.lock().unwrap_or_else(PoisonError::into_inner).push(frame);
        if !std::mem::replace(&mut late, true) {
            let (busy, tap, held) = (tap.busy(), tap.clone(), held.clone());
            std::thread::spawn(move || {
                tap.wait(time);
                for frame in held.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
                    // a link that is gone needs none
                    let _ = tap.inject(to, &frame);
                }
                drop(busy);
            });
        }
        vec![]
    });
}

/// Apply an operator to the message at a position. `replay` is what `from` sent to `to` in another session,
/// in order.
pub fn place(harness: &Harness, at: Position, operator: Operator, salt: u64, replay: &[Frame]) {
    let replay = replay.get(at.n).map(|frame| frame.body.clone()).unwrap_or_default();
    place_among(harness, at, &|_| true, operator, salt, replay);
}

/// What became of a change.
#[derive(Default)]
pub(super) struct Fate {
    reached: AtomicBool,
    altered: AtomicBool,
}

impl Fate {
    /// Whether the message has come that was to be changed.
    pub fn is_reached(&self) -> bool {
        self.reached.load(Ordering::SeqCst)
    }

    /// Whether anything else was sent in its place.
    pub fn is_altered(&self) -> bool {
        self.altered.load(Ordering::SeqCst)
    }

    fn note(&self, altered: bool) {
        self.reached.store(true, Ordering::SeqCst);
        self.altered.fetch_or(altered, Ordering::SeqCst);
    }
}

/// Apply an operator to the message at a position among those for which `counts` returns true. `replay` is
/// what was sent there in another session.
pub(super) fn place_among(
    harness: &Harness,
    at: Position,
    counts: &(impl Fn(&Frame) -> bool + Clone + Send + 'static),
    operator: Operator,
    salt: u64,
    replay: Vec<u8>,
) -> Arc<Fate> {
    let fate = Arc::new(Fate::default());
    if operator == Operator::Late {
        let too_late = harness.limit() + Duration::from_millis(700);
        let (note, counts, mut count) = (fate.clone(), counts.clone(), 0);
        delay(harness, at.from, at.to, too_late, move |frame| {
            count += usize::from(counts(frame));
            if count > at.n {
                note.note(true);
            }
            count > at.n
        });
        return fate;
    }
    let (all_held, stopped) = (Held::default(), Arc::new(AtomicBool::new(false)));
    for to in PartyId::all(harness.parties()).filter(|p| *p != at.from) {
        let (mut count, all_held, replay) = (0, all_held.clone(), replay.clone());
        let stopped = stopped.clone();
        let (fate, counts) = (fate.clone(), counts.clone());
        let (tap, recording) = (harness.tap(at.from), harness.recording(at.from));
        harness.hand(at.from, to, move |mut frame| {
            let counted = counts(&frame);
            let here = counted && count == at.n && (to == at.to || operator == Operator::Both);
            count += usize::from(counted);
            let before = here.then(|| frame.body.clone());
            let held = || all_held.lock().unwrap_or_else(PoisonError::into_inner);
            let sent = match operator {
                Operator::Drop if here => vec![],
                Operator::Stop if here || stopped.load(Ordering::SeqCst) => {
                    stopped.store(true, Ordering::SeqCst);
                    vec![]
                }
                Operator::Duplicate if here => vec![frame.clone(), frame],
                Operator::Reorder | Operator::Swap if here => {
                    held().push((to, frame));
                    vec![]
                }
                Operator::Reorder if to == at.to => {
                    std::iter::once(frame).chain(held().drain(..).map(|(_, held)| held)).collect()
                }
                Operator::Swap if to != at.to && counted => {
                    for (peer, mut first) in held().drain(..) {
                        std::mem::swap(&mut first.body, &mut frame.body);
                        // a link that is gone needs none
                        let _ = tap.inject(peer, &first);
                    }
                    vec![frame]
                }
                Operator::Reflect if here => {
                    let mut theirs = recording.read();
                    theirs.retain(|seen| seen.way == MessageDirection::In && seen.peer == to);
                    let same_step = theirs.iter().rposition(|seen| seen.frame.step == frame.step);
                    let last = same_step.or(theirs.len().checked_sub(1));
                    frame.body = last.map(|i| theirs.swap_remove(i).frame.body).unwrap_or_default();
                    vec![frame]
                }
                Operator::Replay if here => {
                    frame.body.clone_from(&replay);
                    vec![frame]
                }
                _ if here => {
                    operator.change(&mut frame.body, salt);
                    vec![frame]
                }
                _ => vec![frame],
            };
            if let Some(before) = before {
                fate.note(!matches!(&sent[..], [only] if only.body == before));
            }
            sent
        });
    }
    fate
}

//! Which messages of which shapes are changed, and how.

use super::ShapeOutcome;
use crate::PartyId;
use crate::testing::{Operator, Position, Sent, salt};
use std::collections::{BTreeMap, BTreeSet};

/// How many changes a census tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is there for tests alone")]
pub enum Extent {
    /// Each step so many times, at messages and with changes that the seed chooses.
    Sample {
        /// Chooses messages and changes.
        seed: u64,
        /// How many changes of each step.
        times: usize,
    },
    /// The first, a middle and the last message of each step on each link of each shape, in every way; of the
    /// ways that make somebody wait one in eight.
    All,
}

impl Extent {
    /// This sample, or everything if the environment has `DIVISI_LONG=1`.
    #[must_use]
    pub fn sample(seed: u64, times: usize) -> Extent {
        if super::is_long() { Extent::All } else { Extent::Sample { seed, times } }
    }
}

/// The honest run of a shape.
pub(super) struct Honest {
    pub sent: Sent,
    pub outcomes: Vec<ShapeOutcome>,
}

/// A message of an honest run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    /// Where it is, among the messages of its step.
    pub at: Position,
    pub step: u32,
    /// Its place among all messages of its link.
    pub place: usize,
    pub len: usize,
}

/// A change of one message of one shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub shape: usize,
    pub message: Message,
    pub operator: Operator,
    pub salt: u64,
}

/// Changes after which no message is what it was.
const CERTAIN: [Operator; 11] = [
    Operator::FlipFirst,
    Operator::FlipMiddle,
    Operator::FlipLast,
    Operator::FlipRandom,
    Operator::Both,
    Operator::Random,
    Operator::Drop,
    Operator::Stop,
    Operator::Reorder,
    Operator::Truncate,
    Operator::Extend,
];

impl Honest {
    /// All messages, step by step.
    pub fn messages(&self) -> BTreeMap<u32, Vec<Message>> {
        let mut all = BTreeMap::<u32, Vec<Message>>::new();
        for ((from, to), frames) in &self.sent {
            let mut counts = BTreeMap::<u32, usize>::new();
            for (place, frame) in frames.iter().enumerate() {
                let n = counts.entry(frame.step).or_default();
                let at = Position { from: *from, to: *to, n: *n };
                let message = Message { at, step: frame.step, place, len: frame.body.len() };
                all.entry(frame.step).or_default().push(message);
                *n += 1;
            }
        }
        all
    }

    fn bytes(&self) -> usize {
        self.sent.values().flatten().map(|frame| frame.body.len()).sum()
    }
}

/// Whether an operator can change this message at all.
fn fits(operator: Operator, message: &Message, parties: usize) -> bool {
    use Operator::{Both, Drop, Duplicate, Extend, Late, Oversize, Reorder, Stop, Swap};
    let bodiless = matches!(operator, Drop | Duplicate | Extend | Late | Oversize | Reorder | Stop);
    (message.len > 0 || bodiless) && (parties > 2 || !matches!(operator, Swap | Both))
}

fn parties(honest: &Honest) -> usize {
    honest.outcomes.len()
}

/// The changes to try. Each step of `thorough` gets three more in a sample: the first bit of its first
/// message, one in the middle of one in the middle, and the last bit of the last one.
pub(super) fn changes(honest: &[Honest], extent: Extent, thorough: &BTreeSet<u32>) -> Vec<Change> {
    let listed: Vec<_> = honest.iter().map(Honest::messages).collect();
    let mut all = Vec::new();
    match extent {
        Extent::Sample { seed, times } => {
            let steps: BTreeSet<u32> = listed.iter().flat_map(BTreeMap::keys).copied().collect();
            for step in steps {
                let mut there: Vec<usize> = (0..listed.len()).collect();
                there.retain(|shape| listed[*shape].contains_key(&step));
                // the one that is run fastest
                let Some(shape) = there.into_iter().min_by_key(|shape| honest[*shape].bytes()) else {
                    continue;
                };
                let messages = &listed[shape][&step];
                for time in 0..times {
                    let salt = salt((seed, step, time));
                    let message = messages[salt as usize % messages.len()];
                    let kinds: &[Operator] = if time == 0 { &CERTAIN } else { &Operator::ALL };
                    let fitting = kinds.iter().filter(|kind| fits(**kind, &message, parties(&honest[shape])));
                    let fitting: Vec<Operator> = fitting.copied().collect();
                    let operator = fitting[(salt >> 40) as usize % fitting.len()];
                    all.push(Change { shape, message, operator, salt });
                }
                let last = messages.len() - 1;
                let more =
                    [(0, Operator::FlipFirst), (last / 2, Operator::FlipMiddle), (last, Operator::FlipLast)];
                let more = more.into_iter().filter(|_| thorough.contains(&step));
                let more = more.map(|(place, operator)| (messages[place], operator));
                let more = more.filter(|(message, kind)| fits(*kind, message, parties(&honest[shape])));
                all.extend(more.map(|(message, operator)| Change { shape, message, operator, salt: seed }));
            }
        }
        Extent::All => {
            for (shape, listed) in listed.iter().enumerate() {
                for message in listed.values().flat_map(|messages| chosen(messages)) {
                    let kinds = Operator::ALL.into_iter();
                    let kinds = kinds.filter(|kind| fits(*kind, &message, parties(&honest[shape])));
                    let change = |operator| {
                        let salt = salt((shape, message.step, message.place, operator));
                        Change { shape, message, operator, salt }
                    };
                    // those that make somebody wait, by sample
                    let wanted =
                        |change: &Change| !change.operator.is_slow() || change.salt.is_multiple_of(8);
                    all.extend(kinds.map(change).filter(wanted));
                }
            }
        }
    }
    // those that only wait come first, several at once
    all.sort_by_key(|change| !change.operator.is_slow());
    all
}

/// The first, a middle and the last message of each link.
fn chosen(messages: &[Message]) -> Vec<Message> {
    let mut links = BTreeMap::<(PartyId, PartyId), Vec<Message>>::new();
    for message in messages {
        links.entry((message.at.from, message.at.to)).or_default().push(*message);
    }
    let mut all = Vec::new();
    for of in links.values() {
        let places = BTreeSet::from([0, of.len() / 2, of.len() - 1]);
        all.extend(places.into_iter().map(|place| of[place]));
    }
    all
}

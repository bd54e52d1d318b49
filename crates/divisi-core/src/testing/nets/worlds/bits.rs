//! The bits of many views, and whether two worlds differ in them.

use super::{Place, View};
use crate::testing::salt;
use std::collections::{BTreeMap, BTreeSet};

/// A net makes fewer tests than this: each may complain by chance with a probability of 10^-9 divided by it.
const TESTS: f64 = (1_u64 << 28) as f64;

/// A bit of the view in each run of a world, 64 runs a word.
type Words = Vec<u64>;

/// The bits of views: a column for each, over the runs of both worlds.
pub(super) struct Columns {
    /// How many words the runs of a world take.
    words: usize,
    /// For each bit the words of world 0, then those of world 1.
    all: Words,
    /// The messages: the first bit, how many bits, and the place.
    messages: Vec<(usize, usize, Place)>,
}

impl Columns {
    /// The bits of these views, of which those with an even number are of world 0. A message that is not in
    /// each, or has several lengths, gives one bit: whether it is as in the first view.
    pub fn of(views: &[View]) -> Columns {
        let words = views.len().div_ceil(2).div_ceil(64);
        let places: BTreeSet<Place> = views.iter().flat_map(BTreeMap::keys).copied().collect();
        let mut columns = Columns { words, all: Vec::new(), messages: Vec::new() };
        for place in places {
            let bodies: Vec<Option<&Vec<u8>>> = views.iter().map(|view| view.get(&place)).collect();
            let length = |body: &Option<&Vec<u8>>| body.map(Vec::len);
            let first = bodies.first().and_then(length);
            let same = bodies.iter().all(|body| length(body) == first);
            let bits = if same { 8 * first.unwrap_or(0) } else { 1 };
            columns.messages.push((columns.len(), bits, place));
            for bit in 0..bits {
                let value = |body: &Option<&Vec<u8>>| match body.filter(|_| same) {
                    Some(body) => body.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1),
                    None => length(body) == first,
                };
                let start = columns.all.len();
                columns.all.resize(start + 2 * words, 0);
                for (number, body) in bodies.iter().enumerate() {
                    let (world, run) = (number % 2, number / 2);
                    if let Some(word) = columns.all.get_mut(start + world * words + run / 64) {
                        *word |= u64::from(value(body)) << (run % 64);
                    }
                }
            }
        }
        columns
    }

    /// How many bits there are.
    pub fn len(&self) -> usize {
        self.all.len().checked_div(2 * self.words).unwrap_or(0)
    }

    /// How often the XOR of these bits is one in each world.
    fn ones(&self, bits: &[usize]) -> [usize; 2] {
        [0, 1].map(|world| {
            let word =
                |bit: &usize, k| self.all.get((2 * bit + world) * self.words + k).copied().unwrap_or(0);
            let xor = |k| bits.iter().fold(0, |sum, bit| sum ^ word(bit, k));
            (0..self.words).map(|k| u64::count_ones(xor(k)) as usize).sum()
        })
    }

    /// The message of a bit, and the place there.
    fn message(&self, bit: usize) -> Option<(Place, usize)> {
        let after = self.messages.partition_point(|(first, ..)| *first <= bit);
        let (first, _, place) = self.messages.get(after.checked_sub(1)?)?;
        Some((*place, bit - first))
    }

    /// What tells the worlds apart, once for each step, and how many pairs of bits were looked at.
    pub fn judge(&self, fisher: &Fisher, most: usize) -> (Vec<(u32, String)>, usize) {
        let mut found = BTreeMap::<u32, String>::new();
        let mut note = |bits: &[usize]| {
            let [a, b] = self.ones(bits);
            if fisher.differs(a, b) {
                let told = bits.iter().filter_map(|bit| self.message(*bit));
                let steps: Vec<u32> = told.clone().map(|(place, _)| place.0).collect();
                let told: Vec<String> = told
                    .map(|((_, from, to, _, nth), bit)| {
                        format!("bit {bit} of message {nth} from {from} to {to}")
                    })
                    .collect();
                let what = format!("{} is one in {a} and in {b} of {} runs", told.join(" xor "), fisher.runs);
                for step in steps {
                    found.entry(step).or_insert_with(|| what.clone());
                }
            }
        };
        (0..self.len()).for_each(|bit| note(&[bit]));
        let mut counted = 0;
        for group in self.steps() {
            let pairs = pairs(&group, most);
            counted += pairs.len();
            pairs.iter().for_each(|pair| note(pair));
        }
        let all: Vec<(usize, usize)> = self.messages.iter().map(|(first, bits, _)| (*first, *bits)).collect();
        let pairs = pairs(&all, most);
        counted += pairs.len();
        pairs.iter().for_each(|pair| note(pair));
        (found.into_iter().collect(), counted)
    }

    /// The messages of each step: the first bit of each, and how many.
    fn steps(&self) -> Vec<Vec<(usize, usize)>> {
        let mut steps = BTreeMap::<u32, Vec<(usize, usize)>>::new();
        for (first, bits, place) in &self.messages {
            steps.entry(place.0).or_default().push((*first, *bits));
        }
        steps.into_values().collect()
    }
}

/// Pairs of bits of these messages, at most so many of each kind: places of powers of two apart, neighbours,
/// the same place of two messages, and by chance.
fn pairs(messages: &[(usize, usize)], most: usize) -> Vec<[usize; 2]> {
    let total: usize = messages.iter().map(|(_, bits)| bits).sum();
    let bits: Vec<usize> = messages.iter().flat_map(|(first, bits)| *first..first + bits).collect();
    let mut all = Vec::new();
    let apart = [3, 5, 6, 7].into_iter().chain((0..).map(|k| 1 << k).take_while(|d| *d < total));
    for distance in apart {
        all.extend(bits.iter().zip(bits.iter().skip(distance)).map(|(a, b)| [*a, *b]));
        if all.len() > most {
            break;
        }
    }
    all.truncate(most);
    let mut aligned = Vec::new();
    'all: for (i, (first, length)) in messages.iter().enumerate() {
        for (other, also) in messages.iter().skip(i + 1) {
            if aligned.len() > most {
                break 'all;
            }
            aligned.extend((0..*length.min(also)).map(|bit| [first + bit, other + bit]));
        }
    }
    aligned.truncate(most);
    all.extend(aligned);
    let chance = if total < 2 { 0 } else { most.min(total * total / 2) };
    let by_chance = (0..chance).filter_map(|n| {
        let salt = salt((n, total));
        let (a, b) = (*bits.get(salt as usize % total)?, *bits.get((salt >> 32) as usize % total)?);
        (a != b).then_some([a, b])
    });
    all.extend(by_chance);
    all
}

/// Fisher's exact test of two frequencies among as many runs of either world.
pub(super) struct Fisher {
    pub runs: usize,
    /// Whether `a` of the runs of world 0 and `b` of those of world 1 are too different, at
    /// `a * (runs + 1) + b`.
    differs: Vec<bool>,
}

impl Fisher {
    pub fn of(runs: usize) -> Fisher {
        let mut logs = vec![0.0_f64; 2 * runs + 1];
        for n in 1..logs.len() {
            logs[n] = logs[n - 1] + (n as f64).ln();
        }
        let choose = |n: usize, k: usize| logs[n] - logs[k] - logs[n - k];
        // of all ways of placing a + b ones among the runs those that place exactly x in world 0
        let share =
            |ones: usize, x: usize| (choose(runs, x) + choose(runs, ones - x) - choose(2 * runs, ones)).exp();
        let differs = |a: usize, b: usize| {
            let (few, ones) = (a.min(b), a + b);
            let least = ones.saturating_sub(runs);
            let tail: f64 = (least..=few).map(|x| share(ones, x)).sum();
            2.0 * tail < 1e-9 / TESTS
        };
        let all = (0..=runs).flat_map(|a| (0..=runs).map(move |b| (a, b)));
        Fisher { runs, differs: all.map(|(a, b)| differs(a, b)).collect() }
    }

    /// Whether the worlds differ.
    pub fn differs(&self, a: usize, b: usize) -> bool {
        self.differs.get(a * (self.runs + 1) + b).copied().unwrap_or(true)
    }
}

//! The elements of each purpose, one like the other, and where each was drawn.

use super::{DrawNet, DrawRun};
use crate::draws::{DrawDoor, DrawnStream, DrawnValue, PartyDraws};
use crate::{Distribution, DrawPurpose, KnownTo, PartyId};
use std::collections::{BTreeMap, BTreeSet};

/// Longer draws are judged in words.
const LONGEST: usize = 64;

/// Where an element was drawn: run, party, strand, and which of this strand's elements for the purpose.
pub(super) type SamplePlace = (usize, usize, u32, usize);

/// All elements of one purpose that came about in one way.
pub(super) struct Samples {
    pub(super) of: &'static DrawPurpose,
    /// How they came about.
    pub(super) door: DrawnBy,
    /// How many bytes each has.
    pub(super) width: usize,
    /// The elements in order.
    pub(super) all: Vec<(SamplePlace, Vec<u8>)>,
    /// The first and the last element of each draw that has several.
    pub(super) ends: [Vec<Vec<u8>>; 2],
    /// Lengths of draws that are no elements.
    pub(super) odd: Vec<usize>,
}

/// How elements came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DrawnBy {
    Stream,
    Door(DrawDoor),
}

impl Samples {
    /// What messages call them.
    pub(super) fn name(&self) -> String {
        match self.door {
            DrawnBy::Stream => format!("{} (stream)", self.of.name()),
            DrawnBy::Door(door) => format!("{} ({door:?})", self.of.name()).to_lowercase(),
        }
    }

    /// Whether all bits of an element are uniform, from which one on.
    pub(super) fn uniform_from(&self) -> Option<usize> {
        match self.of.distribution() {
            Distribution::Bits(_) => Some(0),
            Distribution::OddOrEven => Some(1),
            Distribution::Below(_) | Distribution::Ternary | Distribution::Centred(_) => None,
        }
    }

    /// Whether these are values that were made of other draws.
    pub(super) fn is_made(&self) -> bool {
        self.door == DrawnBy::Door(DrawDoor::Value)
    }
}

/// What one party drew for one purpose in one way, in a strand.
type Draws = BTreeMap<(DrawnBy, &'static str), Vec<(&'static DrawPurpose, usize, usize, u32, Vec<u8>)>>;

/// The elements of all purposes. What several parties draw alike counts once.
pub(super) fn of(net: &DrawNet, runs: &[DrawRun]) -> Vec<Samples> {
    let mut draws = Draws::new();
    for (run, all) in runs.iter().enumerate() {
        let mut known = BTreeSet::new();
        for (party, of_party) in all.parties.iter().enumerate() {
            collect(net, run, party, of_party, &mut known, &mut draws);
        }
    }
    draws.into_iter().filter_map(|((door, _), draws)| split(door, draws)).collect()
}

fn collect(
    net: &DrawNet,
    run: usize,
    party: usize,
    of: &PartyDraws,
    known: &mut BTreeSet<(DrawnBy, &'static str, Vec<u8>)>,
    draws: &mut Draws,
) {
    let me = PartyId::from_index(party);
    let here = |stream: &&DrawnStream| me.is_none_or(|me| me < stream.peer);
    let mut add = |of: &'static DrawPurpose, door, strand, bytes: &[u8], new: bool| {
        if new && of.known_to() != KnownTo::Anyone {
            let draw = (of, run, party, strand, bytes.to_vec());
            draws.entry((door, of.name())).or_default().push(draw);
        }
    };
    for stream in of.pairs.iter().filter(here) {
        add(stream.of, DrawnBy::Stream, stream.strand, &stream.values, true);
    }
    for stream in &of.streams {
        // a party's own stream that another one has, too, is for `places`
        let new = known.insert((DrawnBy::Stream, stream.purpose, stream.key.to_vec()));
        add(stream.of, DrawnBy::Stream, stream.strand, &stream.values, new);
    }
    // what two draw alike counts at the first of them, and twice if one party draws it twice
    let of_others = known.clone();
    for DrawnValue { of, door, strand, bytes, .. } in &of.values {
        let door = DrawnBy::Door(*door);
        let key = (door, of.name(), bytes.clone());
        let again = !known.insert(key.clone()) && net.times(of.name()) > 1;
        let new = of.known_to() == KnownTo::One || !of_others.contains(&key);
        let new = new && !again;
        add(of, door, *strand, bytes, new);
    }
}

fn split(door: DrawnBy, draws: Vec<(&'static DrawPurpose, usize, usize, u32, Vec<u8>)>) -> Option<Samples> {
    let of = draws.first()?.0;
    let first = draws.first()?.4.len();
    let alike = draws.iter().all(|draw| draw.4.len() == first) && door != DrawnBy::Stream;
    let width = match of.distribution() {
        Distribution::Bits(bits) if bits > 8 => bits.div_ceil(8) as usize,
        Distribution::Bits(_) if alike && (1..=LONGEST).contains(&first) => first,
        Distribution::OddOrEven => 16,
        _ => 8,
    };
    let mut samples = Samples { of, door, width, all: Vec::new(), ends: Default::default(), odd: Vec::new() };
    let mut next: BTreeMap<(usize, usize, u32), usize> = BTreeMap::new();
    let whole = !matches!(of.distribution(), Distribution::Bits(..=8)) && door != DrawnBy::Stream;
    for (_, run, party, strand, bytes) in draws {
        let number = next.entry((run, party, strand)).or_default();
        let elements = bytes.chunks_exact(width);
        if whole && !elements.remainder().is_empty() {
            samples.odd.push(bytes.len());
        }
        if elements.len() > 1 {
            let ends = [elements.clone().next(), elements.clone().next_back()];
            samples.ends.iter_mut().zip(ends).for_each(|(all, end)| all.extend(end.map(<[u8]>::to_vec)));
        }
        for element in elements {
            samples.all.push(((run, party, strand, *number), element.to_vec()));
            *number += 1;
        }
    }
    Some(samples)
}

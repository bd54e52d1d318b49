//! What is alike in what parties send if all inputs are equal.
//!
//! A mask, a label or a pad that serves two lanes, calls, gates or batches makes two places of the messages
//! alike: the same bytes, or, where the values behind the mask differ by the same in all lanes, the same
//! differences of neighbours. Correct results do not tell that, and no draw is missing. So shapes are run
//! with equal inputs, and steps in which as many as [`WINDOW`] bytes occur twice are listed, of single
//! messages and of the sums of the messages of all parties, by which shared values are opened.

use super::messages::MessageNet;
use super::plan::Honest;
use crate::PartyId;
use crate::testing::Sent;
use std::collections::{BTreeMap, BTreeSet};

/// So many bytes are alike by chance in fewer than 2^-60 runs.
const WINDOW: usize = 16;
/// How far neighbours are apart, in bytes: multiples of 1, 2, 3, 4, 6, 8 and 16, and of 5 and 9.
const APART: [usize; 2] = [48, 45];

/// In longer messages windows begin with a word: chance must not decide what is looked at.
const LONG: usize = 1 << 12;
const WORD: usize = 8;

/// A message's place: its strand, its step, and how many of them came before.
type Place = (u32, u32, usize);

/// What each party sends in each place, once if it is the same to all.
fn messages(sent: &Sent) -> BTreeMap<(PartyId, Place), BTreeSet<&[u8]>> {
    let mut all = BTreeMap::<_, BTreeSet<&[u8]>>::new();
    for ((from, _), frames) in sent {
        let mut counts = BTreeMap::new();
        for frame in frames {
            let count = counts.entry((frame.strand, frame.step)).or_insert(0);
            let place = (frame.strand, frame.step, *count);
            *count += 1;
            all.entry((*from, place)).or_default().insert(&frame.body);
        }
    }
    all
}

/// The sums of what all parties send in each place, if each sends the same to all, of one length.
fn sums(messages: &BTreeMap<(PartyId, Place), BTreeSet<&[u8]>>) -> Vec<(u32, Vec<u8>)> {
    let mut sums = BTreeMap::<Place, Vec<Vec<u8>>>::new();
    for ((_, place), bodies) in messages {
        let of_place = sums.entry(*place).or_default();
        match (bodies.first(), bodies.len()) {
            (Some(body), 1) => of_place.push(body.to_vec()),
            _ => of_place.push(Vec::new()),
        }
    }
    let sum = |bodies: Vec<Vec<u8>>| {
        let length = bodies.first().map(Vec::len)?;
        let fits = bodies.len() > 1 && bodies.iter().all(|body| body.len() == length);
        let add = |sum: Vec<u8>, body: Vec<u8>| sum.iter().zip(body).map(|(x, y)| x ^ y).collect();
        fits.then(|| bodies.into_iter().reduce(add)).flatten()
    };
    sums.into_iter().filter_map(|((_, step, _), bodies)| Some((step, sum(bodies)?))).collect()
}

/// The steps in which something occurs twice.
fn twice<'b>(all: impl Iterator<Item = (u32, &'b [u8])>) -> BTreeSet<u32> {
    let mut seen: Vec<(u128, u32)> = Vec::new();
    let mut see = |step: u32, bytes: &[u8]| {
        let step_by = if bytes.len() > LONG { WORD } else { 1 };
        let windows = bytes.windows(WINDOW).step_by(step_by).filter_map(<[u8]>::first_chunk);
        seen.extend(windows.map(|window| (u128::from_le_bytes(*window), step)));
    };
    let mut neighbours = Vec::new();
    for (step, body) in all {
        see(step, body);
        for apart in APART {
            neighbours.clear();
            neighbours.extend(body.iter().zip(body.iter().skip(apart)).map(|(x, y)| x ^ y));
            see(step, &neighbours);
        }
    }
    seen.sort_unstable();
    let same = seen.chunk_by(|(one, _), (next, _)| one == next).filter(|same| same.len() > 1);
    same.flatten().map(|(_, step)| *step).collect()
}

/// The steps in which something occurs twice in the sums of the messages of all parties.
#[must_use]
pub fn opened_twice(sent: &Sent) -> BTreeSet<u32> {
    opened(&messages(sent))
}

fn opened(messages: &BTreeMap<(PartyId, Place), BTreeSet<&[u8]>>) -> BTreeSet<u32> {
    twice(sums(messages).iter().map(|(step, sum)| (*step, &sum[..])))
}

/// The steps in which some party sends the same, of a window or more, to several peers.
fn told_to_all(sent: &Sent) -> BTreeSet<u32> {
    let mut peers = BTreeMap::<(PartyId, u32, &[u8]), BTreeSet<PartyId>>::new();
    for ((from, to), frames) in sent {
        for frame in frames.iter().filter(|frame| frame.body.len() >= WINDOW) {
            peers.entry((*from, frame.step, &frame.body)).or_default().insert(*to);
        }
    }
    peers.into_iter().filter(|(_, peers)| peers.len() > 1).map(|((_, step, _), _)| step).collect()
}

/// The items of the lists of what is alike in single messages and in sums, and of what is the same to several
/// peers: each step, and in how many shapes.
pub(super) fn lists(
    net: &MessageNet<'_>,
    equal: &[Honest],
    name: &dyn Fn(u32) -> String,
) -> [Vec<String>; 3] {
    let mut counts = [(); 3].map(|()| BTreeMap::<String, usize>::new());
    for run in equal {
        let messages = messages(&run.sent);
        let single =
            messages.iter().flat_map(|((_, (_, step, _)), all)| all.iter().map(|body| (*step, *body)));
        let found = [twice(single), opened(&messages), told_to_all(&run.sent)];
        for (counts, found) in counts.iter_mut().zip(found) {
            for step in found.into_iter().map(name).filter(|step| !net.varies(step)) {
                *counts.entry(step).or_default() += 1;
            }
        }
    }
    counts.map(|counts| counts.into_iter().map(|(step, shapes)| format!("{step} {shapes}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;
    use divisi_net::Frame;

    const LANES: usize = 100;

    /// Two parties open these values to each other with one step, in shares that are new each time.
    fn opened(values: &[Vec<u8>]) -> Sent {
        let mut sent = Sent::new();
        let mut prg = Prg::new(&[7; 16]);
        for value in values {
            let mut one = vec![0; value.len()];
            prg.fill(&mut one);
            let two = one.iter().zip(value).map(|(x, y)| x ^ y).collect();
            for (link, body) in [((PartyId::P1, PartyId::P2), one), ((PartyId::P2, PartyId::P1), two)] {
                sent.entry(link).or_default().push(Frame { session: 0, strand: 0, step: 5, depth: 0, body });
            }
        }
        sent
    }

    fn masks(of: u8) -> Vec<u8> {
        let mut masks = vec![0; LANES];
        Prg::new(&[of; 16]).fill(&mut masks);
        masks
    }

    /// Of two values, of which each lane is the same, whose masks are these.
    fn masked(first: &[u8], second: &[u8]) -> Sent {
        opened(&[first.iter().map(|x| x ^ 0x13).collect(), second.iter().map(|x| x ^ 0x75).collect()])
    }

    #[test]
    fn a_mask_that_serves_twice_is_found() {
        assert_eq!(opened_twice(&masked(&masks(1), &masks(2))), BTreeSet::new());
        assert_eq!(opened_twice(&masked(&masks(1), &masks(1))), BTreeSet::from([5]));
        let half = [&masks(2)[..30], &masks(1)[..70]].concat();
        assert_eq!(opened_twice(&masked(&masks(1), &half)), BTreeSet::from([5]));
        let one_for_all = masks(2)[..4].repeat(LANES / 4);
        assert_eq!(opened_twice(&masked(&masks(1), &one_for_all)), BTreeSet::from([5]));
    }

    #[test]
    fn messages_that_are_alike_are_found() {
        let twice = |sent: &Sent| {
            let messages = messages(sent);
            let single = messages.values().flatten();
            twice(single.map(|body| (5, *body)))
        };
        let mut sent = opened(&[masks(1), masks(1)]);
        assert_eq!(twice(&sent), BTreeSet::new());
        let repeated = sent[&(PartyId::P1, PartyId::P2)][0].clone();
        sent.entry((PartyId::P2, PartyId::P3)).or_default().push(repeated.clone());
        assert_eq!(twice(&sent), BTreeSet::from([5]));
        assert_eq!(told_to_all(&sent), BTreeSet::new());
        sent.entry((PartyId::P1, PartyId::P3)).or_default().push(repeated);
        assert_eq!(told_to_all(&sent), BTreeSet::from([5]));
    }
}

//! What the servers do next: first the short requests that wait, then one step of one long request, by turns
//! of clients.
//!
//! A round thus lasts as long as the short requests that fit its budget and one long step. A short request
//! waits for at most one round: none waits for another client's whole file.

use super::script::Kind;
use super::turns::Turns;
use divisi_store::KeyName;
use std::collections::HashSet;
use std::hash::Hash;

/// What making a key ready takes of a round, in blocks of AES: so that a client whose keys are never ready
/// has few of its texts in each.
const MAKING: usize = 128;

/// A step that can be done now.
#[derive(Clone, Debug)]
pub(crate) struct Waiting<'a> {
    pub client: &'a str,
    pub kind: Kind,
    /// Its cost in a round, in blocks of AES; 0 for a step that runs by itself.
    pub blocks: usize,
    /// The key that has to be loaded for it.
    pub makes: Option<&'a KeyName>,
    /// The order of arrival: earlier requests have smaller numbers.
    pub came: u64,
}

/// What a round may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// The number of short texts; `blocks`: of their blocks of AES.
    pub short: usize,
    pub blocks: usize,
    /// The number of requests that run by themselves in one step.
    pub single: usize,
    /// The number of steps of long requests.
    pub long: usize,
    /// The number of blocks taken so far.
    pub taken: usize,
}

impl Budget {
    /// A step of a file is 4,096 blocks, too; a request by itself waits for other servers' disks.
    pub const ROUND: Budget = Budget { short: 128, blocks: 4096, single: 2, long: 1, taken: 0 };

    fn places(&mut self, kind: Kind) -> &mut usize {
        match kind {
            Kind::Short => &mut self.short,
            Kind::Single => &mut self.single,
            Kind::Long => &mut self.long,
        }
    }

    /// Take something out of the budget, if there is room; a request that alone exceeds the blocks of a round
    /// runs in a round without others.
    pub fn take(&mut self, kind: Kind, blocks: usize) -> bool {
        if *self.places(kind) == 0 || (blocks > self.blocks && self.taken > 0) {
            return false;
        }
        *self.places(kind) -= 1;
        self.blocks = self.blocks.saturating_sub(blocks);
        self.taken += blocks;
        true
    }
}

/// What is left of a round, where keys have to be made ready for some of what it holds.
pub(crate) struct Room<K> {
    left: Budget,
    making: HashSet<K>,
}

impl<K: Eq + Hash> Room<K> {
    pub fn new(left: Budget) -> Room<K> {
        Room { left, making: HashSet::new() }
    }

    /// Whether a step has room, of those that need a key loaded and others.
    pub fn fits(&self, kind: Kind, blocks: usize, makes: Option<K>) -> bool {
        let makes = self.makes(kind, makes);
        let mut left = self.left;
        left.take(kind, blocks + if makes.is_some() { MAKING } else { 0 })
    }

    fn makes(&self, kind: Kind, makes: Option<K>) -> Option<K> {
        // what runs by itself makes its key in its own step
        makes.filter(|key| kind == Kind::Short && !self.making.contains(key))
    }

    /// As [`Budget::take`], for a step that needs a key loaded, which is done once for all that need it.
    pub fn take(&mut self, kind: Kind, blocks: usize, makes: Option<K>) -> bool {
        let makes = self.makes(kind, makes);
        let taken = self.left.take(kind, blocks + if makes.is_some() { MAKING } else { 0 });
        if taken {
            self.making.extend(makes);
        }
        taken
    }
}

/// The steps of the next round, by their place in `waiting`: of each client in turn one, as long as there is
/// room.
pub(crate) fn plan(waiting: &[Waiting<'_>], turns: &Turns, budget: Budget) -> Vec<usize> {
    let mut order: Vec<usize> = (0..waiting.len()).collect();
    // the second of a client's stands behind the first of everybody's
    order.sort_by_key(|at| waiting[*at].came);
    let mut seen = std::collections::HashMap::new();
    let mut place = vec![0; waiting.len()];
    for at in &order {
        let kind = waiting[*at].kind;
        let nth: &mut usize = seen.entry((waiting[*at].client, kind as u8)).or_default();
        place[*at] = *nth;
        *nth += 1;
    }
    order.sort_by_key(|at| (place[*at], turns.of(waiting[*at].client), waiting[*at].came));
    let (mut left, mut chosen) = (Room::new(budget), Vec::new());
    for kind in [Kind::Short, Kind::Single, Kind::Long] {
        for at in order.iter().copied().filter(|at| waiting[*at].kind == kind) {
            if left.take(kind, waiting[at].blocks, waiting[at].makes) {
                chosen.push(at);
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(client: &str, kind: Kind, blocks: usize, came: u64) -> Waiting<'_> {
        Waiting { client, kind, blocks, makes: None, came }
    }

    const BUDGET: Budget = Budget { short: 3, blocks: 10, single: 1, long: 1, taken: 0 };

    /// A client with many requests gets no more than one with a single one, until there is room left.
    #[test]
    fn clients_take_turns_and_short_things_go_first() {
        let mut all = vec![waiting("greedy", Kind::Long, 0, 0)];
        all.extend((1..6).map(|i| waiting("greedy", Kind::Short, 1, i)));
        all.push(waiting("modest", Kind::Short, 1, 7));
        all.push(waiting("modest", Kind::Long, 0, 8));
        all.push(waiting("modest", Kind::Single, 0, 9));
        let mut turns = Turns::default();
        assert_eq!(plan(&all, &turns, BUDGET), [1, 6, 2, 8, 0]);
        turns.serve("greedy");
        assert_eq!(plan(&all, &turns, BUDGET), [6, 1, 2, 8, 7]);
    }

    /// Blocks are bounded, and what is larger than a round is served by itself.
    #[test]
    fn a_round_has_room_for_so_many_blocks() {
        let turns = Turns::default();
        let all = [6, 5, 4].map(|blocks| waiting(["a", "b", "c"][blocks - 4], Kind::Short, blocks, 0));
        assert_eq!(plan(&all, &turns, BUDGET).len(), 2);
        assert_eq!(plan(&[waiting("a", Kind::Short, 11, 0)], &turns, BUDGET), [0]);
        assert!(plan(&[], &turns, BUDGET).is_empty());
    }

    /// Keys that are not ready take room, each once: texts under them leave most of a round to others.
    #[test]
    fn a_key_that_is_not_ready_takes_its_room() {
        let names: Vec<KeyName> = (0..100).map(|i| format!("k{i}").parse().unwrap()).collect();
        let with = |client, key: usize, came| {
            let waiting = waiting(client, Kind::Short, 1, came);
            Waiting { makes: Some(&names[key]), ..waiting }
        };
        let mut all: Vec<Waiting<'_>> = (0..100).map(|i| with("greedy", i, i as u64)).collect();
        all.push(waiting("modest", Kind::Short, 1000, 200));
        let turns = Turns::default();
        let chosen = plan(&all, &turns, Budget::ROUND);
        assert_eq!(chosen[..2], [0, 100]);
        assert_eq!(chosen.len(), 1 + (Budget::ROUND.blocks - 1000) / (MAKING + 1));
        // one key for all of them is made once
        let same: Vec<Waiting<'_>> = (0..100).map(|i| with("greedy", 7, i)).collect();
        assert_eq!(plan(&same, &turns, Budget::ROUND).len(), 100);
        // what runs by itself needs no room
        let long = Waiting { makes: Some(&names[0]), ..waiting("a", Kind::Long, 0, 0) };
        assert_eq!(plan(&[long], &turns, Budget { blocks: 0, ..BUDGET }), [0]);
    }

    /// Whoever waits is served in the end, however many come after him.
    #[test]
    fn nobody_waits_for_ever() {
        let mut turns = Turns::default();
        let mut rounds = 0;
        loop {
            let names: Vec<String> = (0..20).map(|i| format!("c{}", (rounds * 3 + i) % 40)).collect();
            let mut all = vec![waiting("patient", Kind::Short, 2, 0)];
            all.extend(names.iter().map(|name| waiting(name, Kind::Short, 2, 1)));
            let chosen = plan(&all, &turns, BUDGET);
            if chosen.contains(&0) {
                break;
            }
            chosen.iter().for_each(|at| turns.serve(all[*at].client));
            rounds += 1;
            assert!(rounds < 20);
        }
    }
}

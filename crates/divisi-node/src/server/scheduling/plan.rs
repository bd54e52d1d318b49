//! What the servers do next: first the short requests that wait, then one step of one long request, with
//! clients in turn.
//!
//! A round thus lasts as long as the short requests that fit its budget and one long step. A short request
//! waits for at most one round: none waits for another client's whole file.
//!
//! The budget of the short requests is one of lanes and one of rounds of messages. Short messages under keys
//! of one size, with S-boxes computed in one way, are one computation, whose rounds count once; those of
//! another size or way are another computation, after the first. A client chooses both: one that mixes all of
//! them makes its own requests wait for another round, and nobody's round longer.

use super::script::{Cost, Group, Kind};
use super::turns::Turns;
use divisi_store::KeyName;
use divisi_symmetric::aes::KeySize;
use divisi_symphony::short;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The lanes of a round that the preparation of a key takes, so that a client whose keys are never ready has
/// few of its messages in each round.
const MAKING: usize = 128;

/// What a server knows of a key before it looks at the key's file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyStatus {
    /// `None` if there is no such key.
    pub size: Option<KeySize>,
    /// Whether it is loaded.
    pub is_ready: bool,
}

/// A step that can be done now.
#[derive(Clone, Debug)]
pub(crate) struct Waiting<'a> {
    pub client: &'a str,
    pub kind: Kind,
    pub cost: Cost,
    /// The key that has to be loaded for it.
    pub makes: Option<&'a KeyName>,
    /// The order of arrival: earlier requests have smaller numbers.
    pub came: u64,
}

/// The budget of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// The number of short messages; `lanes` and `rounds`: what all of them take together.
    pub short: usize,
    pub lanes: usize,
    pub rounds: usize,
    /// The number of requests that run by themselves in one step.
    pub single: usize,
    /// The number of steps of long requests, each of which bounds its own lanes and rounds.
    pub long: usize,
    /// The number of lanes taken so far.
    pub taken: usize,
}

impl Budget {
    /// The budget of each round. A step of a file takes at most twice as long, and a step of a hash has as
    /// many rounds of messages; a request by itself waits for other servers' disks.
    pub const ROUND: Budget = Budget { short: 128, lanes: 4096, rounds: 640, single: 2, long: 1, taken: 0 };

    fn places(&mut self, kind: Kind) -> &mut usize {
        match kind {
            Kind::Short => &mut self.short,
            Kind::Single => &mut self.single,
            Kind::Long => &mut self.long,
        }
    }

    /// Take something out of the budget, if there is room; a request that alone exceeds the lanes or rounds
    /// of a round runs in a round without others.
    fn take(&mut self, kind: Kind, lanes: usize, rounds: usize) -> bool {
        let fits = lanes <= self.lanes && rounds <= self.rounds;
        if *self.places(kind) == 0 || (!fits && self.taken > 0) {
            return false;
        }
        *self.places(kind) -= 1;
        self.lanes = self.lanes.saturating_sub(lanes);
        self.rounds = self.rounds.saturating_sub(rounds);
        self.taken += lanes;
        true
    }
}

/// A computation of a round as far as it is planned.
#[derive(Clone, Copy, Default)]
struct Planned {
    lanes: usize,
    /// Whether keys have to be prepared for it; all keys together take the rounds of one.
    makes: bool,
}

impl Planned {
    fn rounds(self, group: Group) -> usize {
        let protocol = group.way.0;
        let making = if self.makes { short::rounds_of_keys(group.size, protocol) } else { 0 };
        short::rounds(group.size, protocol, self.lanes) + making
    }
}

/// What is left of a round, with the computations and the keys that are planned for it.
pub(crate) struct RoundPlan<K> {
    left: Budget,
    planned: HashMap<Group, Planned>,
    making: HashSet<K>,
}

impl<K: Eq + Hash> RoundPlan<K> {
    pub fn new(left: Budget) -> RoundPlan<K> {
        RoundPlan { left, planned: HashMap::new(), making: HashSet::new() }
    }

    /// Whether a step has room; `makes` is the key that it needs loaded.
    pub fn fits(&self, kind: Kind, cost: Cost, makes: Option<K>) -> bool {
        let (lanes, rounds, _) = self.price(cost, self.makes(kind, makes).is_some());
        let mut left = self.left;
        left.take(kind, lanes, rounds)
    }

    fn makes(&self, kind: Kind, makes: Option<K>) -> Option<K> {
        // what runs by itself makes its key in its own step
        makes.filter(|key| kind == Kind::Short && !self.making.contains(key))
    }

    /// The lanes and rounds that a step adds to those that are planned, and what its computation is then.
    fn price(&self, cost: Cost, makes: bool) -> (usize, usize, Planned) {
        let before = cost.group.and_then(|group| self.planned.get(&group)).copied().unwrap_or_default();
        let after = Planned { lanes: before.lanes + cost.lanes, makes: before.makes || makes };
        let rounds = cost.group.map_or(0, |group| after.rounds(group) - before.rounds(group));
        (cost.lanes + if makes { MAKING } else { 0 }, rounds, after)
    }

    /// Like [`Budget::take`], for a step that needs a key loaded, which is done once for all that need it.
    pub fn take(&mut self, kind: Kind, cost: Cost, makes: Option<K>) -> bool {
        let makes = self.makes(kind, makes);
        let (lanes, rounds, after) = self.price(cost, makes.is_some());
        let taken = self.left.take(kind, lanes, rounds);
        if taken {
            self.making.extend(makes);
            self.planned.extend(cost.group.map(|group| (group, after)));
        }
        taken
    }
}

/// The steps of the next round, by their index in `waiting`: one of each client in turn, as long as there is
/// room.
pub(crate) fn plan(waiting: &[Waiting<'_>], turns: &Turns, budget: Budget) -> Vec<usize> {
    let mut order: Vec<usize> = (0..waiting.len()).collect();
    // a client's second request comes after everybody's first
    order.sort_by_key(|at| waiting[*at].came);
    let mut seen = HashMap::new();
    let mut place = vec![0; waiting.len()];
    for at in &order {
        let kind = waiting[*at].kind;
        let nth: &mut usize = seen.entry((waiting[*at].client, kind as u8)).or_default();
        place[*at] = *nth;
        *nth += 1;
    }
    order.sort_by_key(|at| (place[*at], turns.of(waiting[*at].client), waiting[*at].came));
    let (mut left, mut chosen) = (RoundPlan::new(budget), Vec::new());
    for kind in [Kind::Short, Kind::Single, Kind::Long] {
        for at in order.iter().copied().filter(|at| waiting[*at].kind == kind) {
            if left.take(kind, waiting[at].cost, waiting[at].makes) {
                chosen.push(at);
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::SboxChoice;
    use divisi_rep3::Protocol;

    const GROUP: Group = Group { size: KeySize::Aes128, way: SboxChoice::DEFAULT };

    fn waiting(client: &str, kind: Kind, lanes: usize, came: u64) -> Waiting<'_> {
        let group = (kind == Kind::Short).then_some(GROUP);
        Waiting { client, kind, cost: Cost { lanes, group }, makes: None, came }
    }

    const BUDGET: Budget = Budget { short: 3, lanes: 10, single: 1, ..Budget::ROUND };

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

    /// Lanes are bounded, and what is larger than a round is served by itself.
    #[test]
    fn a_round_has_room_for_so_many_lanes() {
        let turns = Turns::default();
        let all = [6, 5, 4].map(|lanes| waiting(["a", "b", "c"][lanes - 4], Kind::Short, lanes, 0));
        assert_eq!(plan(&all, &turns, BUDGET).len(), 2);
        assert_eq!(plan(&[waiting("a", Kind::Short, 11, 0)], &turns, BUDGET), [0]);
        // but never beside others, be they small
        let all = [1, 10].map(|lanes| waiting(["a", "b"][lanes / 10], Kind::Short, lanes, 0));
        assert_eq!(plan(&all, &turns, BUDGET), [0]);
        assert!(plan(&[], &turns, BUDGET).is_empty());
    }

    /// What runs by itself makes its key in a step of its own, and takes no lanes for it: each time.
    #[test]
    fn a_step_by_itself_takes_no_lanes_for_its_key() {
        let budget = Budget { single: 3, lanes: MAKING, ..Budget::ROUND };
        let keys = ["k1", "k2", "k3"].map(|name| name.parse().unwrap());
        let with_keys = |kind| -> Vec<Waiting<'_>> {
            let with = |(key, came)| Waiting { makes: Some(key), ..waiting("a", kind, 0, came) };
            keys.iter().zip(0..).map(with).collect()
        };
        assert_eq!(plan(&with_keys(Kind::Single), &Turns::default(), budget), [0, 1, 2]);
        assert_eq!(plan(&with_keys(Kind::Short), &Turns::default(), budget), [0]);
    }

    /// Every size with every way.
    fn groups() -> Vec<Group> {
        let each =
            |size| Protocol::ALL.iter().map(move |protocol| Group { size, way: SboxChoice(*protocol) });
        KeySize::ALL.into_iter().flat_map(each).collect()
    }

    /// A short message of one block with its tag, of this group.
    fn of(client: &str, group: Group, came: u64) -> Waiting<'_> {
        Waiting { cost: Cost { lanes: 2, group: Some(group) }, ..waiting(client, Kind::Short, 0, came) }
    }

    /// The rounds of what was chosen, each computation once.
    fn rounds(all: &[Waiting<'_>], chosen: &[usize]) -> usize {
        let mut planned: HashMap<Group, Planned> = HashMap::new();
        for at in chosen {
            let planned = planned.entry(all[*at].cost.group.unwrap()).or_default();
            planned.lanes += all[*at].cost.lanes;
            planned.makes |= all[*at].makes.is_some();
        }
        planned.into_iter().map(|(group, planned)| planned.rounds(group)).sum()
    }

    /// The messages of one group cost its rounds once, whatever their number; another key size or another way
    /// to compute S-boxes costs rounds of its own, and the preparation of keys once more.
    #[test]
    fn rounds_count_once_for_a_group() {
        let turns = Turns::default();
        let other = Group { size: KeySize::Aes256, ..GROUP };
        let third = Group { way: SboxChoice(Protocol::Gf8Circuit), ..GROUP };
        let one = |group: Group| short::rounds(group.size, group.way.0, 2);
        let all: Vec<_> = [GROUP, other, GROUP, third, GROUP, other]
            .into_iter()
            .zip(0..)
            .map(|(group, came)| of(["a", "b", "c", "d", "e", "f"][came as usize], group, came))
            .collect();
        let with = |rounds| plan(&all, &turns, Budget { rounds, ..Budget::ROUND });
        // the first request is served, and all that are computed with it
        assert_eq!(with(0), [0, 2, 4]);
        assert_eq!(with(one(GROUP)), [0, 2, 4]);
        assert_eq!(with(one(GROUP) + one(other) - 1), [0, 2, 3, 4]);
        assert_eq!(with(one(GROUP) + one(other)), [0, 1, 2, 4, 5]);
        assert_eq!(with(one(GROUP) + one(other) + one(third)), [0, 1, 2, 3, 4, 5]);
        // two keys of a group are made in the rounds of one
        let names: Vec<KeyName> = ["k", "l"].iter().map(|name| name.parse().unwrap()).collect();
        let makes = |at: usize| Waiting { makes: Some(&names[at / 2]), ..all[at].clone() };
        let made = [makes(0), of("e", other, 1), makes(2)];
        let making = short::rounds_of_keys(GROUP.size, GROUP.way.0);
        let with = |rounds| plan(&made, &turns, Budget { rounds, ..Budget::ROUND });
        assert_eq!(with(one(GROUP) + making + one(other) - 1), [0, 2]);
        assert_eq!(with(one(GROUP) + making + one(other)), [0, 1, 2]);
    }

    /// A client that picks every key size and every way, under keys that are never ready, makes no round
    /// longer than the budget; whoever asks beside it is in the first, and all are served in the end.
    #[test]
    fn many_ways_make_no_round_longer() {
        let names: Vec<KeyName> = (0..150).map(|i| format!("k{i}").parse().unwrap()).collect();
        let groups = groups();
        let mut all: Vec<_> = (0..150)
            .map(|i| Waiting { makes: Some(&names[i]), ..of("greedy", groups[i % groups.len()], i as u64) })
            .collect();
        all.push(of("modest", Group { size: KeySize::Aes192, way: SboxChoice(Protocol::Lut256) }, 200));
        let everything: Vec<usize> = (0..all.len()).collect();
        assert!(rounds(&all, &everything) > 4 * Budget::ROUND.rounds);
        let (mut turns, mut first) = (Turns::default(), true);
        while !all.is_empty() {
            let chosen = plan(&all, &turns, Budget::ROUND);
            let taken = rounds(&all, &chosen);
            assert!(!chosen.is_empty() && taken <= Budget::ROUND.rounds, "{taken} rounds");
            let is_modest = |at: &usize| all[*at].client == "modest";
            assert!(!std::mem::take(&mut first) || chosen.iter().any(is_modest));
            chosen.iter().for_each(|at| turns.serve(all[*at].client));
            let mut places = 0..;
            all.retain(|_| places.next().is_none_or(|at| !chosen.contains(&at)));
        }
    }

    /// Keys that are not ready take room, each once: messages under them leave most of a round to others.
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
        assert_eq!(chosen.len(), 1 + (Budget::ROUND.lanes - 1000) / (MAKING + 1));
        // one key for all of them is made once
        let same: Vec<Waiting<'_>> = (0..100).map(|i| with("greedy", 7, i)).collect();
        assert_eq!(plan(&same, &turns, Budget::ROUND).len(), 100);
        // what runs by itself needs no room
        let long = Waiting { makes: Some(&names[0]), ..waiting("a", Kind::Long, 0, 0) };
        assert_eq!(plan(&[long], &turns, Budget { lanes: 0, rounds: 0, ..BUDGET }), [0]);
    }

    /// A client that waits is served in the end, however many come after it.
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

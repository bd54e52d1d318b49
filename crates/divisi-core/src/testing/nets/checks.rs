//! What honest runs do, against the list in `tests/it/nets/honest.txt`: how often each party executes each
//! check in each shape, how many bits it compares for it, and who receives what. A loop that leaves out a
//! peer, a piece or a lane, and a check that is no longer executed, change a count; a comparison of fewer
//! bits, a digest or a ledger without its last item change the number of bits; a coin that is opened before
//! something that it must follow changes the length of the chain of messages before it, and something that is
//! written to a disk too early the number of checks before it; a value that goes to somebody else adds a
//! receiver.
//!
//! Shapes of three parties have two peers: what is done for later ones is counted in crowds, of five parties
//! or so, which are run honestly alone.
//!
//! Each shape that asks how many lanes it has is run with twice as many, too, and the checks that compare no
//! more then are listed: a comparison of the first lane alone stands there.
//!
//! Shapes are run with equal inputs, too: what occurs twice in their messages is listed (`equal_inputs`).
//!
//! Three laws need no list: each check of the crate is executed by some shape, no comparison is shorter than
//! [`LEAST`] bits, and of each digest that is compared it is known how much went into it. What is an
//! exception is listed with the reason.

use super::equal_inputs;
use super::lists::{self, VARIABLE};
use super::messages::MessageNet;
use super::plan::Honest;
use crate::meter::{ComparedBits, Metered};
use crate::{Check, PartyId};
use std::collections::{BTreeMap, BTreeSet};

const LIST: &str = "tests/it/nets/honest.txt";
/// The heads of the last blocks.
const RECEIVERS: &str = "who receives";
const OF_MORE: &str = "who receives among more parties";
const STEADY: &str = "no more with twice as many lanes";
const SENT: &str = "what is alike in messages, with equal inputs";
const OPENED: &str = "what is alike in the sums of messages";
const TO_ALL: &str = "what a party sends to several peers alike";
/// A comparison of fewer bits is found by name.
const LEAST: u64 = 64;
const HEAD: &str =
    "# What the honest runs of the nets do (docs/nets.md): how often each party executes each check, how many
# bits it compares for it (or values that a random combination covers), after how long chains of messages
# it opens coins, after how many checks it writes to a disk, who receives what, and in how many shapes a step
# has bytes that occur twice. Written by
# DIVISI_NETS=write cargo test --test it nets::census_of_messages
";

/// What a party counted in a run.
#[derive(Clone, Default)]
pub(super) struct Counted {
    checks: BTreeMap<Check, u64>,
    compared: BTreeMap<Check, ComparedBits>,
    /// How many values were opened.
    openings: u64,
    /// For each step the lengths of the chains of messages before its coins.
    coins: BTreeMap<&'static str, Vec<u64>>,
    /// For each step with which something is written to a disk, how many checks were executed before.
    stored: BTreeMap<&'static str, Vec<u64>>,
}

impl Counted {
    pub fn of(metered: Metered) -> Counted {
        let (mut coins, mut stored) = (BTreeMap::<_, Vec<u64>>::new(), BTreeMap::<_, Vec<u64>>::new());
        let depths = metered.coins.iter().map(|(step, depth)| (step, u64::from(*depth)));
        depths.for_each(|(step, depth)| coins.entry(step.name).or_default().push(depth));
        metered.stored.iter().for_each(|(step, after)| stored.entry(step.name).or_default().push(*after));
        let Metered { counts, compared, .. } = metered;
        Counted { checks: counts.checks, compared, openings: counts.openings, coins, stored }
    }

    /// How often a check was executed, and how many bits it compared.
    fn amount(&self, check: Check) -> [u64; 2] {
        let bits = self.compared.get(&check).map_or(0, |bits| bits.all);
        [self.checks.get(&check).copied().unwrap_or(0), bits]
    }

    /// The checks that compared bits themselves.
    pub fn comparing(&self) -> impl Iterator<Item = &'static str> {
        self.compared.iter().filter(|(_, bits)| bits.least > 0).map(|(check, _)| check.id())
    }

    /// What stands in a list, by what it counts.
    fn told(&self) -> BTreeMap<String, String> {
        let coins = self.coins.iter().map(|(step, depths)| (format!("coin {step}"), row(depths)));
        let stored = self.stored.iter().map(|(step, after)| (format!("stored {step}"), row(after)));
        let compared =
            self.compared.iter().map(|(check, bits)| (format!("{check} of"), bits.all.to_string()));
        let openings = (self.openings > 0).then(|| (OPENINGS.to_owned(), self.openings.to_string()));
        let checks = self.checks.iter().map(|(check, n)| (check.to_string(), n.to_string()));
        checks.chain(compared).chain(openings).chain(coins).chain(stored).collect()
    }
}

/// Numbers in order: `2*7+9` are two sevens and a nine.
fn row(numbers: &[u64]) -> String {
    let runs = numbers.chunk_by(|one, next| one == next).filter_map(|run| run.first().zip(Some(run.len())));
    let told = |(number, times): (&u64, usize)| match times {
        1 => number.to_string(),
        _ => format!("{times}*{number}"),
    };
    runs.map(told).collect::<Vec<_>>().join("+")
}

/// What stands in place of receivers on whom chance decides.
const VARIES: &str = "varies";
const OPENINGS: &str = "openings";

/// What parties count in a run: once if it is the same for all.
fn counted(run: &Honest) -> Vec<String> {
    let parties: Vec<_> = run.outcomes.iter().map(|one| one.counted.told()).collect();
    let all: BTreeSet<&String> = parties.iter().flat_map(BTreeMap::keys).collect();
    let counts = |what: &String| {
        let mut counts: Vec<&str> =
            parties.iter().map(|one| one.get(what).map_or("0", String::as_str)).collect();
        if counts.windows(2).all(|two| two.first() == two.last()) {
            counts.truncate(1);
        }
        counts.join("/")
    };
    all.into_iter().map(|what| format!("{what} {}", counts(what))).collect()
}

/// To whom parties send with each step, over all shapes.
fn receivers(honest: &[Honest], name: &dyn Fn(u32) -> String, varies: &BTreeSet<&str>) -> Vec<String> {
    let mut all = BTreeMap::<String, BTreeSet<String>>::new();
    for run in honest {
        let n = run.outcomes.len();
        for (step, messages) in run.messages() {
            let links: BTreeSet<_> =
                messages.iter().map(|message| (message.at.from, message.at.to)).collect();
            let only = |to: fn(PartyId, usize) -> PartyId| links.iter().all(|link| link.1 == to(link.0, n));
            let told = match links.len() {
                len if len == n * (n - 1) => "all".to_owned(),
                len if len == n && only(PartyId::next) => "next".to_owned(),
                len if len == n && only(PartyId::prev) => "previous".to_owned(),
                _ => {
                    let links = links.iter().map(|(from, to)| format!("{}>{}", from.number(), to.number()));
                    links.collect::<Vec<_>>().join("+")
                }
            };
            all.entry(name(step)).or_default().insert(told);
        }
    }
    let told = |(step, told): (String, BTreeSet<String>)| {
        let told = told.into_iter().collect::<Vec<_>>().join("|");
        format!("{step} {}", if varies.contains(step.as_str()) { VARIES } else { &told })
    };
    all.into_iter().map(told).collect()
}

/// The checks that are executed as often, and compare as much, with twice as many lanes, in all shapes that
/// have more then.
fn steady([honest, twice]: [&[Honest]; 2]) -> Vec<String> {
    let mut all = BTreeMap::<Check, bool>::new();
    let parties = honest.iter().zip(twice).flat_map(|(one, two)| one.outcomes.iter().zip(&two.outcomes));
    for (one, two) in parties.map(|(one, two)| (&one.counted, &two.counted)) {
        for check in one.checks.keys() {
            let grew = one.amount(*check).iter().zip(two.amount(*check)).any(|(one, two)| *one < two);
            *all.entry(*check).or_default() |= grew;
        }
    }
    let same = all.into_iter().filter(|(_, grew)| !grew);
    same.map(|(check, _)| format!("{check} same")).collect()
}

/// The list that these runs make.
fn list(
    net: &MessageNet<'_>,
    [honest, twice, equal, crowds]: [&[Honest]; 4],
    name: &dyn Fn(u32) -> String,
) -> String {
    let varies = net.varies.iter().map(|(what, _)| *what).collect();
    let mut list = HEAD.to_owned();
    let mut block = |head: &str, items: Vec<String>| lists::block(&mut list, head, &items, ",");
    net.shapes.iter().zip(honest).for_each(|(shape, run)| block(shape.name, counted(run)));
    for (shape, run) in net.crowds.iter().zip(crowds) {
        block(&format!("{} by {}", shape.name, shape.parties), counted(run));
    }
    if !crowds.is_empty() {
        block(OF_MORE, receivers(crowds, name, &varies));
    }
    block(RECEIVERS, receivers(honest, name, &varies));
    let [sent, opened, to_all] = equal_inputs::lists(net, equal, name);
    let steady = steady([honest, twice]);
    for (head, items) in [(STEADY, steady), (SENT, sent), (OPENED, opened), (TO_ALL, to_all)] {
        if !items.is_empty() {
            block(head, items);
        }
    }
    list
}

/// What differs from the list, and which of these checks nobody executes.
pub(super) fn judge(net: &MessageNet<'_>, runs: [&[Honest]; 4], name: &dyn Fn(u32) -> String) -> Vec<String> {
    let (made, [honest, ..]) = (list(net, runs, name), runs);
    let mut faults = lists::judge(net.folder, LIST, &made, differences);
    let outcomes = honest.iter().flat_map(|run| &run.outcomes);
    let executed: BTreeSet<&str> =
        outcomes.flat_map(|one| one.counted.checks.keys().map(|check| check.id())).collect();
    let known: BTreeSet<&str> = net.checks.iter().map(|check| check.id()).collect();
    let spared: BTreeSet<&str> = net.idle.iter().map(|(check, _)| *check).collect();
    let never = known.iter().filter(|check| !executed.contains(*check) && !spared.contains(*check));
    faults.extend(never.map(|check| format!("no shape executes the check {check}")));
    let busy = spared.iter().filter(|check| executed.contains(*check) || !known.contains(*check));
    faults.extend(busy.map(|check| format!("the check {check} is called idle for nothing")));
    faults.extend(narrow(net, honest));
    faults
}

/// Checks that compare too little, or digests of which nobody knows what went into them.
fn narrow(net: &MessageNet<'_>, honest: &[Honest]) -> BTreeSet<String> {
    let (mut faults, mut needed) = (BTreeSet::new(), BTreeSet::new());
    let spared: BTreeSet<&str> = net.narrow.iter().map(|(check, _)| *check).collect();
    for (shape, run) in net.shapes.iter().zip(honest) {
        for (check, bits) in run.outcomes.iter().flat_map(|one| &one.counted.compared) {
            let told = match *bits {
                ComparedBits { unknown: 1.., .. } => "a digest that nobody knows the content of".to_owned(),
                ComparedBits { least: least @ 1..LEAST, .. } => format!("only {least} bits"),
                _ => continue,
            };
            needed.insert(check.id());
            if !spared.contains(check.id()) {
                faults.insert(format!("{}: the check {check} compares {told}", shape.name));
            }
        }
    }
    let vain = spared.difference(&needed);
    faults.extend(vain.map(|check| format!("the check {check} is called narrow for nothing")));
    faults
}

/// The items of a list, by block and what they count.
fn items(list: &str) -> BTreeMap<(&str, String), String> {
    let mut all = BTreeMap::new();
    for block in list.split("\n\n").skip(1) {
        let (head, rest) = block.split_once('\n').unwrap_or((block, ""));
        let rest = rest.split_whitespace().collect::<Vec<_>>().join(" ");
        let items = rest.split(", ").filter_map(|item| item.rsplit_once(' '));
        all.extend(items.map(|(what, told)| ((head, what.to_owned()), told.to_owned())));
    }
    all
}

fn differences(written: &str, made: &str) -> Vec<String> {
    let (written, made) = (items(written), items(made));
    let places: BTreeSet<_> = written.keys().chain(made.keys()).collect();
    let differs = places.into_iter().filter(|place| written.get(*place) != made.get(*place));
    let told = |place: &(&str, String)| {
        let of = |list: &BTreeMap<(&str, String), String>| {
            list.get(place).map_or_else(|| "none".to_owned(), String::clone)
        };
        let ((block, what), made, written) = (place, of(&made), of(&written));
        format!("{block}: {what} is {made}, and {LIST} says {written}: if that is right, {VARIABLE}=write")
    };
    differs.map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::nets::messages::honest;
    use crate::testing::nets::{NetShape, ShapeSecurity};
    use crate::{checks, step};

    #[test]
    fn whoever_forgets_the_fourth_peer_is_named() {
        let made = |peers: usize| {
            let run = move |session: crate::Session, _, _: &mut _| {
                let mut some = session.peers().into_iter().take(peers);
                some.try_for_each(|peer| session.require(checks::M0_3, step!("planted"), true, Some(peer)))
            };
            let net = MessageNet {
                folder: "",
                shapes: Vec::new(),
                crowds: vec![NetShape::new("toy", 5, ShapeSecurity::AllButOne, run)],
                silent: &[],
                checks: &[],
                idle: &[],
                varies: &[],
                narrow: &[],
            };
            let runs = honest(&net.crowds, 1).unwrap();
            list(&net, [&[], &[], &[], &runs], &|step| step.to_string())
        };
        assert_eq!(differences(&made(4), &made(4)), [""; 0]);
        let found = differences(&made(4), &made(3));
        assert!(matches!(&found[..], [one] if one.starts_with("toy by 5: M0.3 is ")), "{found:?}");
    }

    #[test]
    fn what_differs_is_named() {
        let list = |count: &str| format!("{HEAD}\nwide\n    W4 {count},\n    W5 1\n\nsmall\n    W4 1\n");
        assert_eq!(differences(&list("4"), &list("4")), [] as [String; 0]);
        let found = differences(&list("4"), &list("4/2/4"));
        assert!(matches!(&found[..], [one] if one.starts_with("wide: W4 is 4/2/4, and ")), "{found:?}");
        let found = differences(HEAD, &format!("{HEAD}\n{RECEIVERS}\n    x::y/give 1>2\n"));
        assert!(
            matches!(&found[..], [one] if one.contains("x::y/give is 1>2") && one.contains("none")),
            "{found:?}"
        );
    }
}

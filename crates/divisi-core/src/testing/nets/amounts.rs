//! How much is drawn for each purpose, against the list in `tests/it/nets/drawn.txt`: the bytes that each
//! party draws in each shape. Whoever draws a mask once for several values, a short one whose bits serve
//! twice, or the same for all lanes draws less. Values that are used twice are no draws, so that no other
//! judge of draws sees them.

use super::lists::{self, VARIABLE};
use crate::draws::PartyDraws;
use std::collections::{BTreeMap, BTreeSet};

const LIST: &str = "tests/it/nets/drawn.txt";
const HEAD: &str =
    "# How many bytes each party draws for each purpose in the shapes of the nets (docs/nets.md), of
# single values the first 32 KiB. Written by
# DIVISI_NETS=write cargo test --test it nets::draws
";

/// The bytes drawn for each purpose, by shape.
#[derive(Default)]
pub(super) struct Amounts(BTreeMap<&'static str, Vec<String>>);

/// The bytes that a party drew for each purpose.
fn of_party(draws: &PartyDraws) -> BTreeMap<&'static str, u64> {
    let mut bytes = BTreeMap::new();
    let streams = draws.pairs.iter().chain(&draws.streams).map(|stream| (stream.purpose, stream.bytes()));
    let values = draws.values.iter().map(|value| (value.of.name(), value.bytes.len() as u64));
    for (purpose, drawn) in streams.chain(values) {
        *bytes.entry(purpose).or_default() += drawn;
    }
    bytes
}

impl Amounts {
    /// Adds what parties drew in a shape, each once if it is the same for all.
    pub fn add(&mut self, shape: &'static str, draws: &[PartyDraws]) {
        let parties: Vec<_> = draws.iter().map(of_party).collect();
        let all: BTreeSet<&str> = parties.iter().flat_map(|party| party.keys().copied()).collect();
        let told = |purpose: &str| {
            let mut bytes: Vec<u64> =
                parties.iter().map(|party| party.get(purpose).copied().unwrap_or(0)).collect();
            if bytes.windows(2).all(|two| two.first() == two.last()) {
                bytes.truncate(1);
            }
            let bytes: Vec<String> = bytes.iter().map(u64::to_string).collect();
            format!("{purpose} {}", bytes.join("/"))
        };
        let other = self.0.insert(shape, all.into_iter().map(told).collect());
        assert!(other.is_none(), "two shapes are called {shape}");
    }

    fn list(&self) -> String {
        let mut list = HEAD.to_owned();
        self.0.iter().for_each(|(shape, told)| lists::block(&mut list, shape, told, ","));
        list
    }

    /// What differs from the list in a package's folder.
    pub fn judge(&self, folder: &str) -> Vec<String> {
        lists::judge(folder, LIST, &self.list(), differences)
    }
}

/// The amounts of a list, by shape and purpose.
fn read(list: &str) -> BTreeMap<(&str, String), String> {
    let blocks = list.split("\n\n").skip(1).filter_map(|block| block.split_once('\n'));
    let amounts = |(shape, told): (_, &str)| {
        let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
        let amount = |told: &str| {
            let (purpose, bytes) = told.trim().rsplit_once(' ')?;
            Some(((shape, purpose.to_owned()), bytes.to_owned()))
        };
        words.split(',').filter_map(amount).collect::<Vec<_>>()
    };
    blocks.flat_map(amounts).collect()
}

fn differences(written: &str, made: &str) -> Vec<String> {
    let (written, made) = (read(written), read(made));
    let all: BTreeSet<_> = written.keys().chain(made.keys()).collect();
    let told = |key: &(&str, String)| {
        let [before, now] = [&written, &made].map(|list| list.get(key).map_or("none", String::as_str));
        let (shape, purpose) = key;
        (before != now).then(|| {
            format!(
                "{purpose}: parties draw {now} bytes ({shape}); {LIST} says {before}: if that is right, \
                 {VARIABLE}=write"
            )
        })
    };
    all.into_iter().filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PartyId;
    use crate::draws::DrawnStream;

    #[expect(dead_code, reason = "nobody asks for all of them")]
    mod toy {
        crate::purposes! {
            /// A mask.
            MASK = "mask of an amount", Pair, Bits(128);
        }
    }

    fn drawn(bytes: u64) -> PartyDraws {
        let stream = DrawnStream {
            strand: 0,
            peer: PartyId::P1,
            purpose: toy::MASK.name(),
            of: toy::MASK,
            generation: 0,
            key: [0; 16],
            drawn: vec![0..bytes / 2, bytes / 2..bytes],
            caller: std::panic::Location::caller(),
            values: Vec::new(),
        };
        PartyDraws { pairs: vec![stream.clone(), stream], ..PartyDraws::default() }
    }

    #[test]
    fn whoever_draws_less_is_named() {
        let list = |bytes: [u64; 2]| {
            let mut amounts = Amounts::default();
            amounts.add("a shape", &bytes.map(drawn));
            amounts.add("another", &bytes.map(drawn));
            amounts.list()
        };
        assert_eq!(differences(&list([16, 16]), &list([16, 16])), [""; 0]);
        for less in [[16, 8], [8, 16], [8, 8]] {
            let found = differences(&list([16, 16]), &list(less));
            let named = |fault: &String| fault.starts_with("mask of an amount: parties draw ");
            assert!(found.len() == 2 && found.iter().all(named), "{found:?}");
        }
        let found = differences(HEAD, &list([16, 16]));
        assert!(found.len() == 2 && found.iter().all(|fault| fault.contains("says none")), "{found:?}");
    }
}

//! Delta lies at one place in the memory of a process until it is wiped, and nowhere afterwards: this process
//! plants Deltas and searches its own memory for them. One test, so that nothing runs beside the search.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::testing::memory::{Needle, find, once};
use divisi_core::testing::{Harness, party};
use divisi_core::{Abort, PublicParameters, Session};
use divisi_ot::testing::{planted, planted_over_field};
use divisi_ot::{Base, Bits, Setup, SetupConfig};
use std::sync::{Barrier, Mutex};

const CHECK: &str = "divisi_ot::vole/check";
const TREES: &str = "divisi_ot::setup::pairs/trees";

/// The Deltas of all parties of one run, and what was wrong when the memory was searched for them.
struct Planted {
    needles: Vec<Needle>,
    all: Barrier,
    wrong: Mutex<Vec<String>>,
}

impl Planted {
    fn new(n: usize, seed: u8) -> Planted {
        let needles = (0..n).map(|i| Needle::new(seed + i as u8, i == 0)).collect();
        Planted { needles, all: Barrier::new(n), wrong: Mutex::default() }
    }

    /// All parties wait while the first one searches the memory. Failures are reported at the end, because a
    /// panic here would leave the other parties waiting.
    fn look(&self, session: &Session, there: bool, when: &str) {
        self.all.wait();
        if session.me().index() == 0 {
            let found = find(&self.needles.iter().collect::<Vec<_>>()).unwrap();
            for (i, found) in found.iter().enumerate() {
                if !if there { once(found) } else { found.is_empty() } {
                    let wrong = format!("{when}, Delta_{} of {}: {found:x?}", i + 1, self.needles.len());
                    self.wrong.lock().unwrap().push(wrong);
                }
            }
        }
        self.all.wait();
    }
}

/// Which key is searched for, and which rows are made: Delta of labels with authenticated bits, or Delta'
/// over a field with wide rows.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Labels(Base),
    Pads,
}

impl Kind {
    fn batch(self, setup: &mut Setup, session: &mut Session, count: usize) -> Result<(), Abort> {
        match self {
            Kind::Labels(_) => setup.authenticated_bits(session, count).map(drop),
            Kind::Pads => setup.wide_rows(session, Bits::Random(count)).map(drop),
        }
    }
}

/// A set-up and two batches; with `lie` a message of the last party is changed on its way to the first.
fn play(n: usize, kind: Kind, seed: u8, lie: Option<&'static str>) -> Vec<Result<(), Abort>> {
    let planted_in = Planted::new(n, seed);
    let base = if let Kind::Labels(base) = kind { base } else { Base::Both };
    let config = SetupConfig { base, ..SetupConfig::default() };
    let parameters = config.describe(PublicParameters::new("delta in memory"));
    let harness = Harness::new(n, &parameters);
    if let Some(step) = lie {
        harness.change(party(n as u8), party(1), step, 0, |body| {
            let last = body.len() - 1;
            body[last] ^= 4;
        });
    }
    let ends = harness.act(|mut session| {
        let look = |session: &Session, there, when| planted_in.look(session, there, when);
        let needle = &planted_in.needles[session.me().index()];
        let mut setup = match kind {
            Kind::Labels(_) => planted(&mut session, config, needle),
            // the key of MACs is searched for in divisi-spdz, where it is alpha
            Kind::Pads => planted_over_field(&mut session, config, &Needle::new(seed + 50, false), needle),
        };
        if lie.is_none() {
            look(&session, true, "after the set-up");
        }
        let made = setup.as_mut().map_err(|abort| abort.clone()).and_then(|setup| {
            let first = kind.batch(setup, &mut session, 1000);
            // a party that has only received the end of the session notices it when it continues
            first.and(kind.batch(setup, &mut session, 300))
        });
        look(&session, lie.is_none(), "after two batches");
        drop(setup);
        look(&session, false, "after the end");
        made
    });
    let wrong = planted_in.wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{kind:?} {lie:?}: {wrong:#?}");
    ends
}

#[test]
fn delta_lies_in_one_place_and_in_none_after_the_end() {
    // the search finds what is there
    let needle = Needle::new(99, false);
    let mut planted = std::hint::black_box(Box::new([[0_u8; 16]; 3]));
    needle.plant(&mut planted[1]);
    assert!(once(&needle.copies().unwrap()));
    planted[0] = planted[1];
    assert_eq!(needle.copies().unwrap().len(), 4);
    planted.fill([0; 16]);
    assert_eq!(needle.copies().unwrap(), []);

    let mut seed = 100;
    for n in [2, 3] {
        for kind in [Kind::Labels(Base::Both), Kind::Labels(Base::Half), Kind::Pads] {
            for lie in [None, Some(CHECK), Some(TREES)] {
                let ends = play(n, kind, seed, lie);
                seed += 5;
                match lie {
                    None => assert!(ends.iter().all(Result::is_ok), "{ends:?}"),
                    Some(step) => assert!(ends.iter().all(Result::is_err), "{step}: {ends:?}"),
                }
            }
        }
    }
}

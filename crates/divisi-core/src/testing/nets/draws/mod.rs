//! The census of draws. A [`DrawNet`] runs the shapes of an engine from known randomness, records every draw
//! ([`crate::draws`]), and judges each without knowing it:
//!
//! - `places`: no range of a stream is drawn twice, and no two streams have one key;
//! - `repeats`: no 64 bits occur twice over any lane, call, party, strand or run, nor small multiples of
//!   them, and no element has equal halves, thirds or shifts;
//! - `uniform`: each bit of what is uniform takes both values, equally often; other distributions have their
//!   mean and variance;
//! - `relations`: no bit is a sum of others, within a purpose or two of them;
//! - `used`: a purpose whose draws are changed changes what is sent or put out;
//! - and each purpose of the sources is drawn by some shape.
//!
//! All runs come from seeds, so a net says the same every time; with other seeds it would complain about
//! randomness that is as it should be with a probability below 10^-7.

mod places;
mod relations;
mod repeats;
mod samples;
#[cfg(test)]
mod tests;
mod uniform;
mod used;

use crate::draws::{DrawRecord, KnownDraws, PartyDraws};
use crate::testing::Harness;
use crate::{Abort, DrawPurpose, PublicParameters, Session};
use divisi_net::{Machine, World};
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A protocol or a job that a net runs.
#[derive(Clone)]
pub struct DrawShape {
    /// What it is, for messages.
    pub name: &'static str,
    /// How many parties there are.
    pub parties: usize,
    /// The parameters of the session.
    pub parameters: PublicParameters,
    /// How often it is run, each time from another seed.
    pub runs: usize,
    /// What each party does. It returns what the party puts out and stores.
    pub play: fn(Session) -> Result<Vec<u8>, Abort>,
}

/// What a net knows of an engine.
#[derive(Clone, Default)]
pub struct DrawNet {
    /// The purposes of the engine's sources.
    pub purposes: Vec<&'static DrawPurpose>,
    /// What it runs. To look whether a purpose is used, the net takes the first shape that draws it.
    pub shapes: Vec<DrawShape>,
    /// Purposes that no shape draws, each with the reason.
    pub spared: Vec<(&'static str, &'static str)>,
    /// Purposes of which one is made of the other, or whose draws are alike for another reason, which is
    /// given last.
    pub related: Vec<(&'static str, &'static str, &'static str)>,
    /// Purposes for which a party draws the same several times: how often, and the reason.
    pub again: Vec<(&'static str, usize, &'static str)>,
}

/// What happened in one run.
struct DrawRun {
    shape: &'static str,
    parties: Vec<PartyDraws>,
    ends: Vec<Result<Vec<u8>, String>>,
}

impl DrawNet {
    /// Runs everything and returns what is wrong: a line for each fault, with the purpose's name. It prints
    /// how much was judged.
    #[must_use]
    pub fn judge(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut runs = Vec::new();
        for (number, shape) in self.shapes.iter().enumerate() {
            for run in 0..shape.runs {
                runs.push(shape.run(1 + (number << 16 | run) as u64, None));
            }
        }
        for run in &runs {
            let aborts = run.ends.iter().filter_map(|end| end.as_ref().err());
            faults.extend(aborts.map(|abort| format!("{}: {abort}", run.shape)));
        }
        faults.extend(self.never_drawn(&runs));
        faults.extend(places::judge(self, &runs));
        let samples = samples::of(self, &runs);
        faults.extend(repeats::judge(&samples));
        faults.extend(uniform::judge(self, &samples));
        faults.extend(relations::judge(self, &samples));
        faults.extend(used::judge(self));
        let purposes: BTreeSet<&str> = samples.iter().map(|samples| samples.of.name()).collect();
        let elements: usize = samples.iter().map(|samples| samples.all.len()).sum();
        println!("draws: {} runs, {} purposes, {elements} elements", runs.len(), purposes.len());
        faults.sort();
        faults.dedup();
        faults
    }

    /// The purposes of the sources that no shape draws, and those that are spared and drawn.
    fn never_drawn(&self, runs: &[DrawRun]) -> Vec<String> {
        let drawn: BTreeSet<&str> = runs.iter().flat_map(DrawRun::names).collect();
        let spared: BTreeSet<&str> = self.spared.iter().map(|(name, _)| *name).collect();
        let names: BTreeSet<&str> = self.purposes.iter().map(|purpose| purpose.name()).collect();
        let never = names.iter().filter(|name| !drawn.contains(*name) && !spared.contains(*name));
        let never = never.map(|name| format!("{name}: no shape draws it"));
        let idle = spared.iter().filter(|name| drawn.contains(*name) || !names.contains(*name));
        never.chain(idle.map(|name| format!("{name}: it is spared for nothing"))).collect()
    }

    fn may_be_alike(&self, one: &str, other: &str) -> bool {
        one == other
            || self.related.iter().any(|(a, b, _)| (*a, *b) == (one, other) || (*b, *a) == (one, other))
    }

    /// How often a party may draw the same for a purpose.
    fn times(&self, name: &str) -> usize {
        self.again.iter().find(|(again, ..)| *again == name).map_or(1, |(_, times, _)| *times)
    }
}

impl DrawShape {
    /// One run from a seed, in which the draws of one purpose may be changed.
    fn run(&self, seed: u64, changed: Option<&str>) -> DrawRun {
        let known =
            KnownDraws { seed, session: seed, changed: changed.map(str::to_owned), part: None, doubt: false };
        let parameters = self.parameters.clone().drawing(known);
        let world = Arc::new(LinkWorld::new(seed));
        let records: Mutex<Vec<DrawRecord>> = Mutex::default();
        let ends = Harness::in_world(self.parties, &parameters, world).act(|session| {
            let record = session.draw_record();
            records.lock().unwrap_or_else(PoisonError::into_inner).extend(record);
            (self.play)(session)
        });
        let mut records = records.into_inner().unwrap_or_else(PoisonError::into_inner);
        records.sort_by_key(DrawRecord::party);
        DrawRun {
            shape: self.name,
            parties: records.iter().map(DrawRecord::read).collect(),
            ends: ends.into_iter().map(|end| end.map_err(|abort| abort.to_string())).collect(),
        }
    }
}

impl DrawRun {
    /// The names of the purposes that were drawn.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.parties.iter().flat_map(|party| {
            let streams = party.pairs.iter().chain(&party.streams).filter(|stream| stream.bytes() > 0);
            streams.map(|stream| stream.of.name()).chain(party.values.iter().map(|value| value.of.name()))
        })
    }
}

/// A world in which the secrets of links are known. Sessions draw nothing else from it.
pub(super) struct LinkWorld {
    seed: u64,
    drawn: AtomicU64,
}

impl LinkWorld {
    pub(super) fn new(seed: u64) -> LinkWorld {
        LinkWorld { seed, drawn: AtomicU64::new(0) }
    }
}

impl World for LinkWorld {
    fn now(&self) -> Instant {
        Machine.now()
    }

    fn unix_time(&self) -> Duration {
        Machine.unix_time()
    }

    fn entropy(&self, out: &mut [u8]) {
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        let key = u128::from(self.seed) << 64 | u128::from(number);
        crate::Prg::new(&key.to_le_bytes()).fill(out);
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Machine.spawn(name, work)
    }
}

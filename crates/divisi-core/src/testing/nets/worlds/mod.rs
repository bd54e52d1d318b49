//! The two worlds test: what corrupt parties see must not tell which of two secrets an honest party has.
//!
//! A [`WorldNet`] runs each shape many times with either secret. Whatever the corrupt parties know is the
//! same in all runs: their own randomness, what they share with others, and the session's id. The honest
//! parties' randomness is another one each time. What the corrupt parties receive must then be distributed
//! alike in both worlds:
//!
//! - each bit of each message, and whether a message comes and how long it is;
//! - each bit of what a message, and those of the same place that corrupt parties send, add up to: an opening
//!   tells its value by the sum of all shares, though the share of a corrupt party that a dealer gave it, or
//!   that it drew with others, is another one each time;
//! - the XOR of two bits of one step: neighbours, places of powers of two apart, the same place of two
//!   messages, and pairs by chance; the same over all messages of the view.
//!
//! A message that is masked with something that a corrupt party knows, a mask that is used for two values,
//! and one that is left out are all seen as a bit, or the XOR of two, with a frequency of its own in each
//! world. All runs come from seeds, so a net says the same every time; with other seeds it would complain
//! about views that are as they should be with a probability below 10^-9.

mod bits;
#[cfg(test)]
mod tests;

use self::bits::{Columns, Fisher};
use super::sources;
use crate::draws::KnownDraws;
use crate::local::first;
use crate::testing::{Harness, many, salt, sent};
use crate::{Abort, PartyId, Prg, PublicParameters, Session};
use divisi_net::{Machine, World};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often a shape is run in each world, and how many pairs of bits of a step, and of the whole view, are
/// looked at of each kind: by default, and with `DIVISI_LONG=1`.
const DEFAULT: (usize, usize) = (40, 1 << 16);
const LONG: (usize, usize) = (256, 1 << 20);
/// What everything depends on that is the same in all runs.
const KNOWN: u64 = 0x0077_6f72_6c64;

/// Which of the two worlds a run is in.
#[derive(Clone, Copy, Debug)]
pub struct WorldRun {
    /// 0 or 1.
    pub world: usize,
    /// Another value in each run: for what a dealer of a test draws.
    pub seed: u64,
}

/// What each party does in a run. It returns what the party puts out, which must be the same in all runs for
/// corrupt parties.
type Play = Arc<dyn Fn(Session, WorldRun) -> Result<Vec<u8>, Abort> + Send + Sync>;

/// A protocol or a job with a secret, one in each world, of which some parties must learn nothing.
#[derive(Clone)]
pub struct WorldShape {
    name: String,
    parties: usize,
    /// They see the same as one.
    corrupt: BTreeSet<PartyId>,
    parameters: PublicParameters,
    play: Play,
}

impl WorldShape {
    /// A shape, with a name for messages, in which these of so many parties are corrupt together.
    pub fn new(
        name: impl Into<String>,
        parties: usize,
        corrupt: &[u8],
        play: impl Fn(Session, WorldRun) -> Result<Vec<u8>, Abort> + Send + Sync + 'static,
    ) -> WorldShape {
        let (name, parameters) = (name.into(), PublicParameters::new("worlds"));
        let corrupt = corrupt.iter().map(|number| crate::testing::party(*number)).collect();
        WorldShape { name, parties, corrupt, parameters, play: Arc::new(play) }
    }

    /// The same shape, in a session with these parameters.
    #[must_use]
    pub fn agreeing(self, parameters: PublicParameters) -> WorldShape {
        WorldShape { parameters, ..self }
    }

    /// The bits of what the corrupt parties see, over all runs in both worlds.
    fn columns(&self, runs: usize) -> Result<Columns, String> {
        let runs = many(2 * runs, 2, |i| self.view(i % 2, i / 2));
        let (mut views, mut ends) = (Vec::new(), Vec::new());
        for run in runs {
            let (view, end) = run.map_err(|abort| abort.to_string())?;
            views.push(view);
            ends.push(end);
        }
        let told = ends.first().is_some_and(|first| ends.iter().all(|end| end == first));
        if !told {
            return Err("what corrupt parties put out is not the same in all runs".to_owned());
        }
        Ok(Columns::of(&views))
    }

    /// What the corrupt parties receive, and put out, in a run.
    fn view(&self, world: usize, run: usize) -> Result<(View, Vec<Vec<u8>>), Abort> {
        let (corrupt, own) = (&self.corrupt, salt((world, run)));
        let drawn = AtomicU64::new(0);
        let links = SharedWorld { parties: self.parties, corrupt: corrupt.clone(), own, drawn };
        let harness = Harness::in_world(self.parties, &self.parameters, Arc::new(links));
        let recordings = harness.recordings();
        let parameters = |party: PartyId| {
            let seed = if corrupt.contains(&party) { KNOWN } else { own };
            self.parameters.clone().drawing(KnownDraws {
                seed,
                session: KNOWN,
                changed: None,
                part: None,
                doubt: false,
            })
        };
        let ends =
            harness.act_each(parameters, |session| (self.play)(session, WorldRun { world, seed: own }));
        let ends = first(ends)?;
        let ends = PartyId::all(self.parties).zip(ends).filter(|(party, _)| corrupt.contains(party));
        let ends = ends.map(|(_, end)| end).collect();
        let (mut view, mut given, mut counts) = (View::new(), View::new(), BTreeMap::<_, usize>::new());
        for ((from, to), frames) in sent(&recordings) {
            let seen = match (corrupt.contains(&from), corrupt.contains(&to)) {
                (false, true) => &mut view,
                (true, false) => &mut given,
                _ => continue,
            };
            for frame in frames {
                let nth = counts.entry((frame.step, from, to, frame.strand)).or_default();
                seen.insert((frame.step, from, to, frame.strand, *nth), frame.body);
                *nth += 1;
            }
        }
        let sums = sums(&view, &given, corrupt);
        view.extend(sums);
        Ok((view, ends))
    }
}

/// For each message that a corrupt party receives, its sum with what other honest parties send to it, and
/// with what corrupt parties give to its first sender, in the same place and of the same length. Its own
/// place says that the party sent it to itself.
fn sums(view: &View, given: &View, corrupt: &BTreeSet<PartyId>) -> View {
    let mut sums = View::new();
    for (&(step, from, to, strand, nth), body) in view {
        match sums.entry((step, to, to, strand, nth)) {
            Entry::Occupied(mut sum) => add(sum.get_mut(), body),
            Entry::Vacant(place) => {
                let sum = place.insert(body.clone());
                let shares = corrupt.iter().filter_map(|party| given.get(&(step, *party, from, strand, nth)));
                shares.for_each(|share| add(sum, share));
            }
        }
    }
    sums
}

/// Add a message to one of the same length.
fn add(sum: &mut [u8], body: &[u8]) {
    if sum.len() == body.len() {
        sum.iter_mut().zip(body).for_each(|(sum, byte)| *sum ^= byte);
    }
}

/// The shapes of a crate.
pub struct WorldNet<'a> {
    /// The crate's folder.
    pub folder: &'a str,
    /// What is run.
    pub shapes: Vec<WorldShape>,
}

/// A message's place in a view: its step, who sent it to whom, in which strand, and how many of them came
/// before.
type Place = (u32, PartyId, PartyId, u32, usize);
/// What corrupt parties receive.
type View = BTreeMap<Place, Vec<u8>>;

impl WorldNet<'_> {
    /// Runs everything and returns what tells the worlds apart: a line for each step, with the first bit. It
    /// prints how much was compared.
    #[must_use]
    pub fn judge(&self) -> Vec<String> {
        let (runs, most) = if super::is_long() { LONG } else { DEFAULT };
        let names = sources::names(Path::new(self.folder));
        let (mut faults, mut views, mut bits, mut pairs) = (Vec::new(), 0, 0, 0);
        for shape in &self.shapes {
            let told = |what: &str| format!("{}: {what}", shape.name);
            match shape.columns(runs) {
                Err(what) => faults.push(told(&what)),
                Ok(columns) => {
                    let (found, counted) = columns.judge(&Fisher::of(runs), most);
                    (views, bits, pairs) = (views + 1, bits + columns.len(), pairs + counted);
                    for (step, what) in found {
                        let name = names.get(&step).cloned().unwrap_or_else(|| format!("step {step:#010x}"));
                        faults.push(told(&format!("{name}: {what}")));
                    }
                }
            }
        }
        println!("worlds: {views} views, {bits} bits, {pairs} pairs");
        faults
    }
}

/// A world in which corrupt parties share the same secrets with others in all runs, and honest ones have
/// others with each other each time. Links draw them pair by pair; sessions draw nothing from it.
struct SharedWorld {
    parties: usize,
    corrupt: BTreeSet<PartyId>,
    own: u64,
    drawn: AtomicU64,
}

impl World for SharedWorld {
    fn now(&self) -> Instant {
        Machine.now()
    }

    fn unix_time(&self) -> Duration {
        Duration::from_secs(1_800_000_000)
    }

    fn entropy(&self, out: &mut [u8]) {
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        let pairs = PartyId::all(self.parties).flat_map(|high| {
            PartyId::all(self.parties).filter(move |low| *low < high).map(move |low| (low, high))
        });
        let pair = pairs.into_iter().nth(number as usize);
        let is_known =
            pair.is_some_and(|(low, high)| self.corrupt.contains(&low) || self.corrupt.contains(&high));
        let seed = if is_known { KNOWN } else { self.own };
        Prg::new(&(u128::from(seed) << 64 | u128::from(number)).to_le_bytes()).fill(out);
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Machine.spawn(name, work)
    }
}

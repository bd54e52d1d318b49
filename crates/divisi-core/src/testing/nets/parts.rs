//! The census of parts: whatever is drawn is used from its first part to its last.
//!
//! A run in which the first or the last part of one draw is changed, and nothing else, sends or puts out
//! something else. So whoever cuts off what was drawn, or uses something else in its place, is found by the
//! line at which it is drawn, however the value is distributed. Of the last part the highest bit alone is
//! changed; where that changes nothing, and other bits do, the list says so. A [`PartNet`] runs the shapes of
//! an engine from known randomness, lists all places in the sources of the engine at which they draw, and
//! changes two draws of each, the first one and the last one of the last party, and the middle of one between
//! them.
//!
//! What changes with each is listed (`masks`), and how much is drawn (`amounts`). So is at how many lines of
//! a file something depends on the first part of a draw and not on its last part, or the other way round: a
//! seed of which each half serves something else is easier to guess.
//!
//! A line that tosses a coin is a place, too: the opened coin is changed at one party, after what opens it
//! was sent. All that depends on a part of it depends on every part: of a coin of which one half chooses one
//! thing and the other half another, each is easier to guess.
//!
//! A place is a line that calls a door. A function that draws for its callers says so by `track_caller`: then
//! each of their lines is a place.

use super::NetShape;
use super::amounts::Amounts;
use super::masks::{Masks, Message, Sent, changed};
use crate::draws::{ChangedPart, DrawPart, DrawPlace, KnownDraws, PartyDraws};
use crate::purposes::COIN;
use crate::testing::many;
use crate::{Abort, PartyId};
use std::collections::{BTreeMap, BTreeSet};

/// What a census of parts knows of an engine.
pub struct PartNet<'n> {
    /// The folder of the package that has the list of what depends on which draw, as `CARGO_MANIFEST_DIR`
    /// says it.
    pub folder: &'n str,
    /// The names of the packages in whose sources draws are judged.
    pub packages: &'n [&'n str],
    /// What it runs.
    pub shapes: Vec<NetShape>,
    /// Purposes and the ends of the paths of files in which a part of what is drawn changes nothing, each
    /// with the reason.
    pub idle: &'n [(&'n str, &'n str, IdlePart, &'n str)],
}

/// Which part of what is drawn is not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is there for tests alone")]
pub enum IdlePart {
    /// The first one.
    First,
    /// The last one.
    Last,
    /// So many bits at the end; the one before them is judged.
    End(u32),
    /// Each.
    Any,
}

/// How many runs with other draws may leave a message as it is, if no draw is what it depends on.
const BARE_RUNS: u64 = 24;

/// How many bytes of each part of a draw are changed until what stays the same does not depend on it.
const UNEVEN_BYTES: u32 = 5;

/// What happened in a run.
#[derive(PartialEq, Eq)]
pub(super) struct Happened {
    pub ends: Vec<(Result<(), String>, Vec<(&'static str, Vec<u8>)>)>,
    /// What each party sent.
    pub sent: Sent,
}

/// One run, from the seeds of inputs, of draws and of the session.
fn run(
    shape: &NetShape,
    [inputs, seed, session]: [u64; 3],
    part: Option<ChangedPart>,
    doubt: bool,
) -> (Happened, Vec<PartyDraws>) {
    let of = |(end, outcome, draws): (Result<(), Abort>, super::ShapeOutcome, PartyDraws)| {
        let end = end.map_err(|abort| abort.to_string());
        ((end, outcome.outputs().to_vec()), draws)
    };
    let known = KnownDraws { seed, session, changed: None, part, doubt };
    let (ends, draws): (Vec<_>, Vec<_>) = shape.draw(&known, inputs).into_iter().map(of).unzip();
    let sent = draws.iter().map(|draws: &PartyDraws| draws.sent.clone()).collect();
    (Happened { ends, sent }, draws)
}

/// The messages that depend on the first part of single draws, and those that depend on their last part, by
/// line and number.
type Ends = BTreeMap<(String, u64), (ChangedPart, [BTreeSet<Message>; 2])>;

/// The parts on which nothing depends. What depends on the others goes into the list, and what depends on the
/// ends of draws to `ends`.
fn unused(
    shape: &NetShape,
    seed: u64,
    happened: &Happened,
    parts: &[ChangedPart],
    masks: &mut Masks,
    ends: &mut Ends,
) -> Vec<ChangedPart> {
    let others = many(parts.len(), 2, |i| run(shape, [seed; 3], Some(parts[i]), true).0);
    for (part, other) in parts.iter().zip(&others) {
        masks.add(Some(part.place), happened, other);
        let end = match part.part {
            DrawPart::First => 0,
            DrawPart::Last | DrawPart::Bit(_) => 1,
            DrawPart::Middle => continue,
        };
        let (_, depend) = ends
            .entry((part.place.caller.to_string(), part.number))
            .or_insert_with(|| (*part, Default::default()));
        depend[end].extend(changed(happened, other));
    }
    // whatever decides whether a check fails, and nothing else, changes nothing under doubt
    let same = parts.iter().zip(&others).filter(|(_, other)| *other == happened);
    let same: Vec<ChangedPart> = same.map(|(part, _)| *part).collect();
    let sure = |part| run(shape, [seed; 3], part, false).0;
    let unused = many(same.len(), 2, |i| sure(None) == sure(Some(same[i])));
    same.into_iter().zip(unused).filter(|(_, unused)| *unused).map(|(part, _)| part).collect()
}

/// The messages that depend on one part of a coin or of another draw, and not on another part of it.
fn uneven(shape: &NetShape, seed: u64, happened: &Happened, part: &ChangedPart) -> Vec<Message> {
    let depends = |byte: u32| {
        let part = ChangedPart { part: DrawPart::Bit(8 * byte), ..*part };
        changed(happened, &run(shape, [seed; 3], Some(part), true).0)
    };
    let mut parts: [BTreeSet<Message>; 3] = Default::default();
    // a message of a single bit is the same by chance for some bytes
    for byte in 0..UNEVEN_BYTES {
        for (part, last) in parts.iter_mut().zip([0, 5, 11]) {
            part.extend(depends(last + byte));
        }
        let whole = parts.iter().flatten().collect::<BTreeSet<_>>().len();
        if parts.iter().all(|part| part.len() == whole) {
            return Vec::new();
        }
    }
    let [last, middle, first] = &parts;
    let every = |message: &Message| [last, middle, first].iter().all(|part| part.contains(message));
    parts.iter().flatten().filter(|message| !every(message)).copied().collect()
}

/// What is sent that depends on inputs and on no draw.
fn bare(shape: &NetShape, seed: u64, happened: &Happened, inputs: &Happened) -> Vec<Message> {
    let mut bare = changed(happened, inputs);
    // every other run has the same single bit
    for more in (1..BARE_RUNS).map(|more| seed + more) {
        if bare.is_empty() {
            break;
        }
        let drawn = changed(happened, &run(shape, [seed, more, more], None, true).0);
        bare.retain(|message| !drawn.contains(message));
    }
    bare
}

/// How many single draws all parties made.
fn count(draws: &[PartyDraws]) -> u64 {
    draws.iter().flat_map(|draws| draws.places.values()).sum()
}

impl PartNet<'_> {
    /// Runs everything and returns what is wrong: a line for each fault, with the purpose's name and the
    /// place. It prints how much was judged.
    #[must_use]
    pub fn judge(&self, seed: u64) -> Vec<String> {
        let mut amounts = Amounts::default();
        let mut faults = self.judge_parts(seed, &mut amounts);
        faults.extend(amounts.judge(self.folder));
        faults
    }

    fn judge_parts(&self, seed: u64, amounts: &mut Amounts) -> Vec<String> {
        let mut faults = Vec::new();
        let counted = |shape| {
            let (happened, draws) = run(shape, [seed; 3], None, true);
            (count(&draws), shape, happened, draws)
        };
        let mut honest: Vec<(u64, &NetShape, Happened, Vec<PartyDraws>)> =
            self.shapes.iter().map(counted).collect();
        honest.iter().for_each(|(_, shape, _, draws)| amounts.add(shape.name, draws));
        // a place is judged in the shape that draws least: by a clock it would be another one now and then
        honest.sort_by_key(|(count, shape, ..)| (*count, shape.name));
        let (mut places, mut met, mut masks) = (BTreeSet::new(), BTreeSet::new(), Masks::default());
        for (_, shape, happened, draws) in &honest {
            let mut parts = Vec::new();
            for (ends, middle) in &self.parts(draws) {
                let at = middle.place;
                masks.add_place(at);
                let DrawPlace { of, caller, .. } = at;
                let mut spared = self.idle.iter();
                let spared = spared.position(|(name, end, ..)| *name == of && caller.file().ends_with(end));
                met.extend(spared);
                let idle = spared.and_then(|at| self.idle.get(at)).map(|(.., idle, _)| *idle);
                let judged = |part: &DrawPart| match idle {
                    None => true,
                    Some(IdlePart::First) => *part != DrawPart::First,
                    Some(IdlePart::Last) => *part == DrawPart::First,
                    Some(IdlePart::End(_)) => *part != DrawPart::Middle,
                    Some(IdlePart::Any) => false,
                };
                let left = if let Some(IdlePart::End(bits)) = idle { bits } else { 0 };
                if places.insert((of, caller.to_string())) {
                    for which in [DrawPart::First, DrawPart::Bit(left)].into_iter().filter(judged) {
                        parts.extend(ends.iter().map(|part| ChangedPart { part: which, ..*part }));
                    }
                    parts.extend(Some(*middle).filter(|middle| judged(&middle.part)));
                }
            }
            if !parts.is_empty() && run(shape, [seed; 3], None, true).0 != *happened {
                faults.push(format!("{}: known randomness gives two runs", shape.name));
                continue;
            }
            let inputs = run(shape, [seed + 1, seed, seed], None, true).0;
            masks.add(None, happened, &inputs);
            masks.add_bare(bare(shape, seed, happened, &inputs));
            for part in
                parts.iter().filter(|part| part.place.of == COIN.name() && part.part == DrawPart::First)
            {
                let steps = uneven(shape, seed, happened, part).into_iter().map(|(_, (_, step, _))| step);
                faults.extend(steps.collect::<BTreeSet<_>>().into_iter().map(|step| {
                    let caller = part.place.caller;
                    format!("coin: {step} depends on a part of what {caller} tosses ({})", shape.name)
                }));
            }
            let mut ends = Ends::new();
            let mut unused = unused(shape, seed, happened, &parts, &mut masks, &mut ends);
            // where the highest bit is not used, others have to be
            let high = unused.extract_if(.., |changed| changed.part == DrawPart::Bit(0));
            let low: Vec<_> = high.map(|changed| ChangedPart { part: DrawPart::Last, ..changed }).collect();
            let whole = self::unused(shape, seed, happened, &low, &mut masks, &mut ends);
            low.iter().filter(|part| !whole.contains(part)).for_each(|part| masks.add_low(part.place));
            let differ = |[first, last]: &[BTreeSet<_>; 2]| !last.is_empty() && first != last;
            let differ = ends.values().filter(|(_, ends)| differ(ends)).map(|(part, _)| part);
            for part in differ.filter(|part| part.place.of != COIN.name()) {
                if !uneven(shape, seed, happened, part).is_empty() {
                    masks.add_uneven(part.place);
                }
            }
            faults.extend(unused.into_iter().chain(whole).map(
                |ChangedPart { place, number, part, .. }| {
                    let which = match part {
                        DrawPart::First => "first",
                        DrawPart::Middle => "middle",
                        DrawPart::Last | DrawPart::Bit(_) => "last",
                    };
                    let when = match number {
                        0 => "first",
                        _ if part == DrawPart::Middle => "in the middle",
                        _ => "last",
                    };
                    let DrawPlace { of, caller, .. } = place;
                    let what = format!("the {which} part of what {caller} draws {when}");
                    format!("{of}: nothing depends on {what} ({})", shape.name)
                },
            ));
        }
        let unmet = self.idle.iter().enumerate().filter(|(i, _)| !met.contains(i));
        faults.extend(unmet.map(|(_, (of, end, ..))| format!("{of}: {end} is spared for nothing")));
        println!("parts: {} shapes, {} places", honest.len(), places.len());
        faults.extend(masks.judge(self.folder));
        faults
    }

    /// The last and the first draw at each place in the sources, of the last party and strand that draws
    /// there; and the middle of one between them, if there is one.
    fn parts(&self, draws: &[PartyDraws]) -> Vec<(Vec<ChangedPart>, ChangedPart)> {
        let own = |file: &str| self.packages.iter().any(|name| file.contains(&format!("{name}/src/")));
        let mut found = Vec::new();
        for (party, draws) in draws.iter().enumerate().rev() {
            let Some(party) = PartyId::from_index(party) else { continue };
            for (place, count) in draws.places.iter().rev().filter(|(place, _)| own(place.caller.file())) {
                let numbers = BTreeSet::from([count - 1, 0]).into_iter().rev();
                let part = |number| ChangedPart { place: *place, party, number, part: DrawPart::First };
                let middle = ChangedPart { part: DrawPart::Middle, ..part(count / 2) };
                found.push((numbers.map(part).collect(), middle));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;

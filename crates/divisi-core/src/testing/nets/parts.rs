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
//! What changes with each is listed (`masks`), and how much is drawn (`amounts`).
//!
//! A line that tosses a coin is a place, too: the opened coin is changed at one party, after what opens it
//! was sent.
//!
//! A place is a line that calls a door. A function that draws for its callers says so by `track_caller`: then
//! each of their lines is a place.

use super::NetShape;
use super::amounts::Amounts;
use super::masks::{Masks, Message, Sent, changed};
use crate::draws::{ChangedPart, DrawPart, DrawPlace, KnownDraws, PartyDraws};
use crate::testing::many;
use crate::{Abort, PartyId};
use std::collections::BTreeSet;

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

/// The parts on which nothing depends. What depends on the others goes into the list.
fn unused(
    shape: &NetShape,
    seed: u64,
    happened: &Happened,
    parts: &[ChangedPart],
    masks: &mut Masks,
) -> Vec<ChangedPart> {
    let changed = many(parts.len(), 2, |i| run(shape, [seed; 3], Some(parts[i]), true).0);
    parts.iter().zip(&changed).for_each(|(part, other)| masks.add(Some(part.place), happened, other));
    // whatever decides whether a check fails, and nothing else, changes nothing under doubt
    let same = parts.iter().zip(&changed).filter(|(_, other)| *other == happened);
    let same: Vec<ChangedPart> = same.map(|(part, _)| *part).collect();
    let sure = |part| run(shape, [seed; 3], part, false).0;
    let unused = many(same.len(), 2, |i| sure(None) == sure(Some(same[i])));
    same.into_iter().zip(unused).filter(|(_, unused)| *unused).map(|(part, _)| part).collect()
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
            let mut unused = unused(shape, seed, happened, &parts, &mut masks);
            // where the highest bit is not used, others have to be
            let high = unused.extract_if(.., |changed| changed.part == DrawPart::Bit(0));
            let low: Vec<_> = high.map(|changed| ChangedPart { part: DrawPart::Last, ..changed }).collect();
            let whole = self::unused(shape, seed, happened, &low, &mut masks);
            low.iter().filter(|part| !whole.contains(part)).for_each(|part| masks.add_low(part.place));
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
mod tests {
    use super::*;
    use crate::testing::nets::{ShapeOutcome, ShapeSecurity};
    use crate::{Coins, DrawPurpose, Session, step};

    #[expect(dead_code, reason = "nobody asks for all of them")]
    mod purposes {
        crate::purposes! {
            /// A mask.
            MASK = "mask of a part", One, Bits(128);
            /// Small numbers.
            SMALL = "small numbers of a part", One, Ternary;
        }
    }

    /// What is wrong, and what depends on which draw.
    fn judged(
        idle: &[(&str, &str, IdlePart, &str)],
        of: impl Fn(&Session, u8) -> Vec<u8> + Copy + Send + Sync + 'static,
    ) -> [Vec<String>; 2] {
        let run = move |mut session: Session, input: u64, out: &mut ShapeOutcome| {
            let told = of(&session, input as u8);
            for peer in session.peers() {
                session.send(step!("told"), peer, &told, 0)?;
                session.recv(step!("told"), peer, &mut told.clone())?;
            }
            out.put("done", vec![1]);
            Ok(())
        };
        let shape = || NetShape::new("parts", 2, ShapeSecurity::Curious, run);
        let net = PartNet { folder: "no folder", packages: &["divisi-core"], shapes: vec![shape()], idle };
        let (mut listed, faults): (Vec<_>, _) = net
            .judge_parts(1, &mut Amounts::default())
            .into_iter()
            .partition(|fault| fault.contains(" depends on: "));
        listed.retain(|line| !line.contains(" depends on: session "));
        [faults, listed]
    }

    fn faults(idle: &[(&str, &str, IdlePart, &str)], of: fn(&Session) -> Vec<u8>) -> Vec<String> {
        let [faults, _] = judged(idle, move |session, _| of(session));
        faults
    }

    fn mask(session: &Session, purpose: &'static DrawPurpose) -> [u8; 16] {
        let mut out = [0; 16];
        session.entropy(purpose, &mut out);
        out
    }

    fn small() -> Vec<u8> {
        let mut small = [-1_i64, 0, 1, 0];
        purposes::SMALL.numbers(&mut small, |x, _| if x == 1 { -1 } else { x + 1 });
        small.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn what_is_used_from_the_first_to_the_last_has_no_fault() {
        let whole = |session: &Session| [mask(session, purposes::MASK).to_vec(), small()].concat();
        assert_eq!(faults(&[], whole), [] as [String; 0]);
    }

    #[test]
    fn the_steps_that_depend_on_a_draw_are_listed() {
        let [_, listed] = judged(&[], |session, _| mask(session, purposes::MASK).to_vec());
        let [one] = &listed[..] else { panic!("{listed:?}") };
        assert!(one.contains("/told depends on: mask of a part, testing/nets/parts.rs;"), "{one}");
        // the second mask reaches no message
        let [_, listed] = judged(&[], |session, _| {
            small();
            mask(session, purposes::MASK).to_vec()
        });
        assert_eq!(listed.len(), 1, "{listed:?}");
    }

    #[test]
    fn an_input_that_nothing_masks_is_found() {
        let bare = |masked: fn(u8, u8) -> [u8; 2]| {
            let of =
                move |session: &Session, input| masked(mask(session, purposes::MASK)[0] & 1, input).to_vec();
            let [_, listed] = judged(&[], of);
            listed.iter().any(|line| line.contains("/told depends on: inputs and no draw;"))
        };
        assert!(bare(|_, input| [0, input]));
        // one bit hides one bit
        assert!(!bare(|mask, input| [0, (input & 1) ^ mask]));
        assert!(!bare(|mask, input| [mask, input]));
    }

    #[test]
    fn parts_that_are_cut_off_are_found() {
        let found = |of: fn(&Session) -> Vec<u8>, words: &str| {
            let faults = faults(&[], of);
            assert!(faults.iter().any(|fault| fault.contains(words)), "{words}: {faults:?}");
        };
        let last = "mask of a part: nothing depends on the last part";
        found(|session| mask(session, purposes::MASK)[..15].to_vec(), last);
        // the second draw is not used: the first one is; or the other way round
        let first = "mask of a part: nothing depends on the first part";
        found(|session| [(); 2].map(|()| mask(session, purposes::MASK))[1].to_vec(), first);
        found(|session| [mask(session, purposes::MASK), mask(session, purposes::MASK)][0].to_vec(), last);
        let middle = "mask of a part: nothing depends on the middle part";
        let hollow = |session: &Session| {
            let mut mask = mask(session, purposes::MASK);
            mask[4..12].fill(0);
            mask.to_vec()
        };
        found(hollow, middle);
        let of_two = |session: &Session| {
            let [one, _, three] = [(); 3].map(|()| mask(session, purposes::MASK));
            [one, one, three].concat()
        };
        found(of_two, middle);
        let later = |session: &Session| [&mask(session, purposes::MASK)[..], &small()[8..]].concat();
        found(later, "small numbers of a part: nothing depends on the first part");
        // no part is left out, but a bit of the last one is
        let short = |session: &Session| {
            let mut mask = mask(session, purposes::MASK);
            mask[15] &= 0x7f;
            mask.to_vec()
        };
        found(short, "1 draws do not use their highest bit: mask of a part");
        let of_one = |session: &Session| {
            let mut mask = mask(session, purposes::MASK);
            if session.me().index() == 1 {
                mask[8..].fill(0);
            }
            mask.to_vec()
        };
        found(of_one, last);
    }

    /// Of an opened coin, too, each part is used: what parties send to open it is the same then.
    #[test]
    fn a_coin_that_is_cut_off_is_found() {
        let judged = |used: std::ops::Range<usize>| {
            let run = move |mut session: Session, _: u64, _: &mut ShapeOutcome| {
                let coin = Coins::commit(&mut session)?.toss(&mut session, step!("coin"))?;
                let told = &coin[used.clone()];
                session
                    .peers()
                    .into_iter()
                    .try_for_each(|peer| session.send(step!("told"), peer, told, 0))?;
                let mut theirs = told.to_vec();
                session
                    .peers()
                    .into_iter()
                    .try_for_each(|peer| session.recv(step!("told"), peer, &mut theirs))
            };
            let shapes = vec![NetShape::new("coins", 2, ShapeSecurity::Curious, run)];
            let net = PartNet { folder: "no folder", packages: &["divisi-core"], shapes, idle: &[] };
            let mut faults = net.judge_parts(1, &mut Amounts::default());
            faults.retain(|fault| fault.starts_with("coin: nothing depends on"));
            faults
        };
        assert_eq!(judged(0..16), [""; 0]);
        assert!(judged(0..15)[0].contains("the last part") && judged(1..16)[0].contains("the first part"));
    }

    #[test]
    fn what_is_spared_must_be_there() {
        let of = |name, part| (name, "parts.rs", part, "a test");
        let short = |session: &Session| mask(session, purposes::MASK)[..15].to_vec();
        let spared = [of("mask of a part", IdlePart::Last), of("no mask", IdlePart::Any)];
        assert_eq!(faults(&spared, short), ["no mask: parts.rs is spared for nothing"]);
        // of what is spared in part the rest is judged
        assert_eq!(faults(&[of("mask of a part", IdlePart::First)], short).len(), 1);
        assert_eq!(faults(&[of("mask of a part", IdlePart::Any)], short), [""; 0]);
        // up to the bits at the end
        assert_eq!(faults(&[of("mask of a part", IdlePart::End(8))], short), [""; 0]);
        let fault = "mask of a part: nothing depends on the last part";
        assert!(faults(&[of("mask of a part", IdlePart::End(7))], short)[0].starts_with(fault));
    }
}

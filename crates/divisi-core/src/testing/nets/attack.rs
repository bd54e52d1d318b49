//! A run in which one message of a corrupt party is changed, and the verdict on it.

use super::plan::{Change, Honest, Message};
use super::shape::ShapeEnds;
use super::{NetShape, ShapeOutcome, ShapeSecurity};
use crate::testing::operators::place_among;
use crate::testing::{MessageDirection, Operator, Recording, Seen};
use crate::{Abort, PartyId, Step};
use divisi_net::Frame;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How often a shape runs with each of two inputs until a difference is no chance.
const RUNS: u64 = 17;

/// What is wrong with a change whose message was not sent.
pub(super) const UNREACHED: &str = "the change did not reach a message";

/// What became of a change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tried {
    /// Whether something else was sent than in the honest run.
    pub altered: bool,
    /// Whether a party ended its session.
    pub noticed: bool,
}

/// How a run with a change ended.
struct Changed {
    ends: ShapeEnds,
    /// What the receiver of the changed message saw.
    seen: Recording,
    altered: bool,
}

/// Run a shape with one message changed. Whatever it is, nobody panics or waits for ever.
fn run(
    shape: &NetShape,
    change: &Change,
    honest: &Honest,
    [inputs, world]: [u64; 2],
) -> Result<Changed, String> {
    let (harness, at, step) = (shape.harness(world), change.message.at, change.message.step);
    let (clock, limit) = (harness.clock(), harness.limit());
    let replay = honest.sent.get(&(at.from, at.to)).and_then(|sent| sent.get(change.message.place));
    let replay = replay.map(|frame| frame.body.clone()).unwrap_or_default();
    let counts = move |frame: &Frame| frame.step == step;
    let seen = harness.recording(at.to);
    let fate = place_among(&harness, at, &counts, change.operator, change.salt, replay);
    let (begun, begun_there) = (Instant::now(), clock());
    let ends = catch_unwind(AssertUnwindSafe(|| shape.act(harness, inputs, world)));
    let skipped = clock().saturating_duration_since(begun_there).saturating_sub(begun.elapsed());
    let ends = ends.map_err(|_| "a party panicked".to_owned())?;
    if !fate.is_reached() {
        return Err(UNREACHED.into());
    }
    // a party may wait, and another one for it; time that somebody computed was not skipped
    if skipped > 2 * limit + Duration::from_secs(2) {
        return Err(format!("a party waited for {skipped:?}"));
    }
    Ok(Changed { ends, seen, altered: fate.is_altered() })
}

/// Change one message of a shape, in a world of its own, and judge how the honest parties end. Where chance
/// decides whether the message is sent (`varies`), how they end is not compared with other runs.
pub(super) fn attack(
    shape: &NetShape,
    change: &Change,
    honest: &Honest,
    [inputs, world]: [u64; 2],
    varies: bool,
) -> Result<Tried, String> {
    let Changed { ends, seen, altered } = run(shape, change, honest, [inputs, world])?;
    judge(shape, change, honest, &ends)?;
    released(shape, change, &seen, &ends)?;
    let noticed = ends.iter().any(|(end, _)| end.is_err());
    if shape.security == ShapeSecurity::OneOfThree {
        let somebody_stops = honest_parties(change, &ends).any(|(_, end)| end.is_err());
        if altered && !somebody_stops && is_noticed(change) && !is_of(shape.inputs, change) {
            return Err("no honest party noticed".into());
        }
    }
    // what was not altered with some inputs may be so with others: a message of an honest run
    let is_compared = altered && !varies && !change.operator.is_slow();
    if is_compared && shape.security != ShapeSecurity::Curious {
        is_blind(shape, change, honest, [inputs, world], &ends)?;
    }
    Ok(Tried { altered, noticed })
}

/// The honest parties, and how they ended.
fn honest_parties<'e>(
    change: &Change,
    ends: &'e ShapeEnds,
) -> impl Iterator<Item = (PartyId, &'e Result<(), Abort>)> {
    let corrupt = change.message.at.from;
    PartyId::all(ends.len())
        .zip(ends)
        .map(|(party, (end, _))| (party, end))
        .filter(move |(party, _)| *party != corrupt)
}

/// How each honest party ended: well, by which check at which step, or because others did.
fn told(change: &Change, ends: &ShapeEnds) -> BTreeSet<String> {
    let told = |(party, end): (PartyId, &Result<(), Abort>)| match end {
        Ok(()) => format!("{party} ends well"),
        Err(Abort::CheckFailed { check, step, .. }) => format!("{party} ends by check {check} at {step}"),
        Err(_) => format!("{party} ends without a check"),
    };
    honest_parties(change, ends).map(told).collect()
}

/// Where honest parties stop does not depend on the inputs: nothing happens always with some and never with
/// others. Once it may, by chance: another row of a garbled gate is looked at.
fn is_blind(
    shape: &NetShape,
    change: &Change,
    honest: &Honest,
    [inputs, world]: [u64; 2],
    ends: &ShapeEnds,
) -> Result<(), String> {
    let run = |inputs: u64, world: u64| run(shape, change, honest, [inputs, world]);
    let mut often: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for again in 0..RUNS {
        // who is the first to leave may depend on which run is the later one: each is so in turn
        let other_before = (again % 2 == 1).then(|| run(inputs + 1, world + again)).transpose()?;
        let first =
            if again == 0 { told(change, ends) } else { told(change, &run(inputs, world + again)?.ends) };
        let other = other_before.map_or_else(|| run(inputs + 1, world + again), Ok)?;
        if !other.altered {
            return Ok(());
        }
        for (side, told) in [first, told(change, &other.ends)].into_iter().enumerate() {
            told.into_iter().for_each(|told| often.entry(told).or_default()[side] += 1);
        }
        often.retain(|_, [one, other]| one.abs_diff(*other) as u64 == again + 1);
        if often.is_empty() {
            return Ok(());
        }
    }
    Err(format!("how honest parties end depends on the inputs, in {RUNS} runs each: {often:?}"))
}

/// Whether somebody must notice among three: what comes twice, late, or where something equal was due may be
/// the same to its receiver; a changed message never is.
fn is_noticed(change: &Change) -> bool {
    use Operator::{Both, FlipFirst, FlipLast, FlipMiddle, FlipRandom};
    is_refused(change) || matches!(change.operator, FlipFirst | FlipMiddle | FlipLast | FlipRandom | Both)
}

/// Whether the changed message is of one of these steps.
fn is_of(steps: &[&'static str], change: &Change) -> bool {
    steps.iter().any(|name| Step::new(name).id == change.message.step)
}

/// Whether the message has another length, or does not come: its receiver must refuse it.
fn is_refused(change: &Change) -> bool {
    use Operator::{Drop, Empty, Extend, Oversize, Stop, Truncate};
    matches!(change.operator, Drop | Empty | Extend | Oversize | Stop | Truncate)
}

/// Whether the message does not come, and its receiver takes the next one, of the same length, for it: then
/// it learns later that something is wrong, and perhaps not who did it.
fn is_replaced(change: &Change, honest: &Honest) -> bool {
    let Message { at, step, place, len } = change.message;
    let sent = honest.sent.get(&(at.from, at.to)).into_iter().flatten();
    let next = sent.skip(place + 1).find(|frame| frame.step == step);
    matches!(change.operator, Operator::Drop) && next.is_some_and(|frame| frame.body.len() == len)
}

fn judge(shape: &NetShape, change: &Change, honest: &Honest, ends: &ShapeEnds) -> Result<(), String> {
    let at = change.message.at;
    let parties = || PartyId::all(ends.len()).zip(ends).filter(|(party, _)| *party != at.from);
    for (party, (end, outcome)) in parties() {
        if party == at.to && is_refused(change) && end.is_ok() {
            return Err(format!("{party} accepted a message of another length, or none"));
        }
        let curious = shape.security == ShapeSecurity::Curious;
        if let Err(abort) = end
            && curious
            && is_refused(change)
            && !is_replaced(change, honest)
            && abort.peer().is_none()
        {
            return Err(format!("{party} names nobody: {abort}"));
        }
        // with what was changed a result may be wrong, but not without what was not accepted
        if curious && !is_refused(change) {
            continue;
        }
        if let Err(Abort::CheckFailed { culprit: Some(culprit), check, .. }) = end
            && *culprit != at.from
        {
            return Err(format!("{party} blamed {culprit} by check {check}"));
        }
        let right = &honest.outcomes[party.index()];
        let lawful = || is_of(shape.inputs, change) && (shape.lawful)(at.from, outcome, right);
        if let Some(wrong) = differs(outcome, right, end.is_ok())
            && !lawful()
        {
            return Err(format!("{party} put out a wrong `{wrong}`"));
        }
    }
    // what all put out in the honest run is the same at all that put it out now
    let outputs = || parties().map(|(party, (_, outcome))| (party, outcome));
    for ((one, ours), (other, theirs)) in outputs().zip(outputs().skip(1)) {
        let [one, other] = [one, other].map(|party| &honest.outcomes[party.index()]);
        let alike = one.outputs().iter().zip(other.outputs()).map(|(one, other)| one == other);
        let differ = ours.outputs().iter().zip(theirs.outputs()).zip(alike);
        let mut differ = differ.filter(|((ours, theirs), alike)| *alike && ours != theirs);
        if let Some(((ours, _), _)) = differ.next()
            && shape.security != ShapeSecurity::Curious
        {
            return Err(format!("honest parties put out different `{}`", ours.0));
        }
    }
    Ok(())
}

/// Whoever got the changed message, and found by a check that something is wrong, released nothing in
/// between.
fn released(shape: &NetShape, change: &Change, seen: &Recording, ends: &ShapeEnds) -> Result<(), String> {
    let (at, step) = (change.message.at, change.message.step);
    let Some((Err(Abort::CheckFailed { check, step: found, .. }), outcome)) = ends.get(at.to.index()) else {
        return Ok(());
    };
    let ids: Vec<u32> = shape.releases.iter().map(|name| Step::new(name).id).collect();
    // a check of what others release at the same time comes after what is released
    let at_once = ids.contains(&step) || ids.contains(&found.id);
    if at_once || shape.security == ShapeSecurity::Curious {
        return Ok(());
    }
    let seen = seen.read();
    let changed =
        |seen: &&Seen| seen.way == MessageDirection::In && seen.peer == at.from && seen.frame.step == step;
    let came = seen.iter().enumerate().filter(|(_, seen)| changed(seen)).nth(at.n);
    let Some((came, _)) = came else { return Ok(()) };
    let later = seen.iter().skip(came);
    let later = later.filter(|seen| seen.way == MessageDirection::Out && ids.contains(&seen.frame.step));
    if later.count().min(outcome.released_since()) > 0 {
        return Err(format!("{} released something before check {check} ended its session", at.to));
    }
    Ok(())
}

/// The first output that is not the honest run's; a party that aborted may have put out only some.
fn differs(outcome: &ShapeOutcome, right: &ShapeOutcome, whole: bool) -> Option<&'static str> {
    let mut pairs = outcome.outputs().iter().zip(right.outputs());
    let wrong = pairs.find(|(ours, right)| ours != right).map(|((name, _), _)| *name);
    let [have, want] = [outcome, right].map(|of| of.outputs().len());
    wrong.or_else(|| (have > want || whole && have < want).then_some("number of outputs"))
}

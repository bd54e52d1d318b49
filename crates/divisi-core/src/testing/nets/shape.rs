//! What nets run: a protocol or a job of an engine, with inputs that a seed determines.

use super::KnownWorld;
use super::checks::Counted;
use super::draws::LinkWorld;
use crate::draws::{DrawRecord, KnownDraws, PartyDraws};
use crate::testing::{Harness, MessageDirection, Recording};
use crate::{Abort, PartyId, PublicParameters, Session, Step};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Which parties of a shape may be corrupt, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is there for tests alone")]
pub enum ShapeSecurity {
    /// All but one, who follow the protocol.
    Curious,
    /// All but one, who deviate at will.
    AllButOne,
    /// One of three, who deviates at will.
    OneOfThree,
}

/// What a party of a shape puts out, in order; what it put out before an abort remains.
#[derive(Clone, Default)]
pub struct ShapeOutcome {
    outputs: Vec<(&'static str, Vec<u8>)>,
    /// How many releasing messages the party had sent when it put out the last output.
    released: usize,
    /// How often the party executed each check, and when it opened which coins.
    pub(super) counted: Counted,
    counter: Option<(Recording, Vec<u32>)>,
    /// How many times as many lanes as usual the run has, and whether the shape asked for any.
    size: usize,
    pub(super) grows: bool,
}

impl ShapeOutcome {
    /// The party puts out this value. Of honest parties it must be the same in every run.
    pub fn put(&mut self, name: &'static str, value: impl Into<Vec<u8>>) {
        self.outputs.push((name, value.into()));
        self.released = self.released_now();
    }

    /// How many lanes (or instances, or rows) the shape computes, where it has so many by default: nets run
    /// it with twice as many, too, and list the checks that do not compare more then.
    pub fn lanes(&mut self, by_default: usize) -> usize {
        self.grows = true;
        by_default * self.size.max(1)
    }

    /// What was put out, each with its name.
    #[must_use]
    pub fn outputs(&self) -> &[(&'static str, Vec<u8>)] {
        &self.outputs
    }

    fn released_now(&self) -> usize {
        self.counter.as_ref().map_or(0, |(recording, steps)| {
            recording.count(|way, frame| way == MessageDirection::Out && steps.contains(&frame.step))
        })
    }

    /// How many messages that release something this party has sent since its last output.
    pub(super) fn released_since(&self) -> usize {
        self.released_now().saturating_sub(self.released)
    }
}

/// How each party of a run ended, and what it put out until then, in the parties' order.
pub type ShapeEnds = Vec<(Result<(), Abort>, ShapeOutcome)>;

/// Whether outputs are right for other inputs of this party.
pub type Lawful = fn(PartyId, &ShapeOutcome, &ShapeOutcome) -> bool;

/// The program of every party.
type Program = Box<dyn Fn(Session, u64, &mut ShapeOutcome) -> Result<(), Abort> + Send + Sync>;

/// A protocol or a job of an engine, as nets run it. A *wide* shape has everything in it twice and unevenly.
pub struct NetShape {
    /// What faults call it.
    pub name: &'static str,
    /// How many parties there are.
    pub parties: usize,
    /// Who may be corrupt.
    pub security: ShapeSecurity,
    /// The steps with which a party sends its own input: a corrupt party may send another one.
    pub inputs: &'static [&'static str],
    /// The steps that give an output to somebody: none of them may be sent if what it gives is wrong.
    pub releases: &'static [&'static str],
    /// Whether the outputs of an honest party are right for some inputs of this corrupt party, if those of
    /// the last argument are right for its honest inputs.
    pub lawful: Lawful,
    parameters: PublicParameters,
    limit: Option<Duration>,
    run: Program,
}

impl NetShape {
    /// A shape without inputs of parties and without steps that release something.
    pub fn new(
        name: &'static str,
        parties: usize,
        security: ShapeSecurity,
        run: impl Fn(Session, u64, &mut ShapeOutcome) -> Result<(), Abort> + Send + Sync + 'static,
    ) -> NetShape {
        let (parameters, run) = (PublicParameters::new(name), Box::new(run));
        let lawful: Lawful = |_, _, _| false;
        NetShape { name, parties, security, inputs: &[], releases: &[], lawful, parameters, limit: None, run }
    }

    /// The same shape, in which parties send inputs with these steps.
    #[must_use]
    pub fn carries(self, inputs: &'static [&'static str], lawful: Lawful) -> NetShape {
        NetShape { inputs, lawful, ..self }
    }

    /// The same shape, in which parties release outputs with these steps.
    #[must_use]
    pub fn releases(self, releases: &'static [&'static str]) -> NetShape {
        NetShape { releases, ..self }
    }

    /// The same shape, in a session with these parameters.
    #[must_use]
    pub fn agreeing(self, parameters: PublicParameters) -> NetShape {
        NetShape { parameters, ..self }
    }

    /// The same shape with this time limit for messages: where a thread of a party may wait for another one
    /// of it, no time is skipped.
    #[must_use]
    pub fn waiting(self, limit: Duration) -> NetShape {
        NetShape { limit: Some(limit), ..self }
    }

    /// The links of a run, in the world of this seed.
    #[must_use]
    pub fn harness(&self, world: u64) -> Harness {
        let harness = Harness::in_world(self.parties, &self.parameters, Arc::new(KnownWorld::new(world)));
        self.limit.into_iter().fold(harness, Harness::waiting)
    }

    /// Run all parties over these links, with inputs of one seed, in the world of another one.
    pub fn act(&self, harness: Harness, inputs: u64, world: u64) -> ShapeEnds {
        self.act_at(1, harness, inputs, world)
    }

    /// The same with so many times as many lanes.
    pub(super) fn act_at(&self, size: usize, harness: Harness, inputs: u64, world: u64) -> ShapeEnds {
        let releases: Vec<u32> = self.releases.iter().map(|name| Step::new(name).id).collect();
        let start = |recording| ShapeOutcome {
            counter: Some((recording, releases.clone())),
            size,
            ..ShapeOutcome::default()
        };
        let outcomes: Vec<Mutex<ShapeOutcome>> =
            harness.recordings().into_iter().map(|recording| Mutex::new(start(recording))).collect();
        let parameters = |party: PartyId| {
            KnownWorld::enter(world, party);
            // what this thread compared before belongs to no check of this run
            let _ = crate::compared::tally::take();
            let known = KnownDraws { seed: world, session: world, changed: None, part: None, doubt: false };
            self.parameters.clone().drawing(known)
        };
        let ends = harness.act_each(parameters, |session| {
            let outcome = &outcomes[session.me().index()];
            let (counts, mut outcome) =
                (session.counter(), outcome.lock().unwrap_or_else(PoisonError::into_inner));
            let end = (self.run)(session, inputs, &mut outcome);
            outcome.counted = Counted::of(counts());
            end
        });
        let outcomes = outcomes.into_iter().map(|o| o.into_inner().unwrap_or_else(PoisonError::into_inner));
        ends.into_iter().zip(outcomes).collect()
    }

    /// Runs all parties from known randomness, with inputs of a seed: how each ended, what it put out, and
    /// what it drew.
    pub(super) fn draw(
        &self,
        known: &KnownDraws,
        inputs: u64,
    ) -> Vec<(Result<(), Abort>, ShapeOutcome, PartyDraws)> {
        let parameters = self.parameters.clone().drawing(known.clone());
        let harness = Harness::in_world(self.parties, &parameters, Arc::new(LinkWorld::new(known.seed)));
        let harness = self.limit.into_iter().fold(harness, Harness::waiting);
        let found: Vec<Mutex<(ShapeOutcome, Option<DrawRecord>)>> =
            (0..self.parties).map(|_| Mutex::default()).collect();
        let ends = harness.act(|session| {
            let mut found = found[session.me().index()].lock().unwrap_or_else(PoisonError::into_inner);
            found.1 = session.draw_record();
            (self.run)(session, inputs, &mut found.0)
        });
        let found = found.into_iter().map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner));
        let all = ends.into_iter().zip(found);
        all.map(|(end, (outcome, record))| {
            (end, outcome, record.map_or_else(PartyDraws::default, |record| record.read()))
        })
        .collect()
    }
}

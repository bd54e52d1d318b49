//! The public data of a call: its number, roles and circuits, and the pieces in which it is sent.

use divisi_circuit::Program;
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step};

const PLAN: Step = step!("plan");

/// ANDs in a piece of tables: each garbler's half of it, with a digest, is one frame.
pub(crate) const PIECE: usize = 4064;
/// The most ANDs whose tables leave before the views are compared: whole pieces. The evaluator keeps them,
/// and stands idle until labels come, so that they are no more than HMAC-SHA-256 of a short message has.
pub(crate) const BESIDE: usize = 12 * PIECE;
/// The most bytes that may wait for a garbler's line before it garbles more.
pub(crate) const AHEAD: usize = 1 << 20;
/// Input wires, times lanes, in a piece of labels.
pub(crate) const CHUNK: usize = 1024;
/// The most lanes in a group.
const LANES: usize = 64;
/// How many bytes of labels a group may hold, unless a single lane takes more.
const GROUP_BYTES: usize = 2 << 20;

/// The name of the counter of calls: no two calls of a strand have the same number.
const NUMBERS: &str = "rep3 garbled call";

/// Which party plays P1, P2 and P3 of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Roles {
    /// P1: garbles, and learns z.
    pub(crate) first: PartyId,
    /// P2: garbles.
    pub(crate) second: PartyId,
    /// P3: evaluates.
    pub(crate) evaluator: PartyId,
}

/// One of the three roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    First,
    Second,
    Evaluator,
}

impl Roles {
    /// The roles of a call, by its number from 1 on: every party plays each role in turn.
    fn of(call: u64, me: PartyId) -> Roles {
        let turn = (call.wrapping_sub(1) % 3) as usize;
        // there are three
        let first = PartyId::all(3).nth(turn).unwrap_or(me);
        Roles { first, second: first.next(3), evaluator: first.prev(3) }
    }

    /// The other garbler.
    pub(crate) fn other(self, garbler: Role) -> PartyId {
        if garbler == Role::First { self.second } else { self.first }
    }

    /// What this party does.
    pub(crate) fn role(self, me: PartyId) -> Role {
        match me {
            me if me == self.first => Role::First,
            me if me == self.second => Role::Second,
            _ => Role::Evaluator,
        }
    }
}

/// One circuit of a call, on so many lanes.
pub(crate) struct Part<'p> {
    pub(crate) program: &'p Program,
    pub(crate) lanes: usize,
    /// The number of lanes that run together.
    group: usize,
}

impl<'p> Part<'p> {
    /// A program on so many lanes.
    pub(crate) fn new(program: &'p Program, lanes: usize) -> Part<'p> {
        Part { program, lanes, group: group(program) }
    }

    /// The groups of lanes: the first lane of each, and how many there are.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (lanes, group) = (self.lanes, self.group);
        (0..lanes).step_by(group).map(move |first| (first, group.min(lanes - first)))
    }

    /// Whether nothing comes out of it.
    fn is_empty(&self) -> bool {
        self.lanes == 0 || self.program.output_bits() == 0
    }
}

/// The job of the calls of an engine, as its caller states it, and the name of the last call.
#[derive(Default)]
pub(crate) struct Handles {
    job: [u8; 32],
    last: [u8; 32],
}

impl Handles {
    /// Set the job of the calls that follow: public, and agreed on by all.
    pub(crate) fn take(&mut self, job: &[u8]) {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 rep3 garbled job v1");
        hasher.update(job);
        self.job = *hasher.finalize().as_bytes();
    }

    /// The name under which a call that was garbled ahead goes on when its inputs are there: it says what it
    /// is for, and what was called since.
    pub(crate) fn use_of(&mut self, ahead: &[u8; 32]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 rep3 garbled use of a call v1");
        hasher.update(ahead).update(&self.job).update(&self.last);
        self.last = *hasher.finalize().as_bytes();
        self.last
    }
}

/// When a call is garbled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// With all inputs.
    Now,
    /// Before its inputs are known, except the first `known` bits of each lane.
    Ahead { known: usize },
}

/// A call.
pub(crate) struct CallPlan<'p> {
    pub(crate) roles: Roles,
    /// Those parts that have outputs, with their places among the caller's jobs.
    pub(crate) parts: Vec<(usize, Part<'p>)>,
    /// H(session, strand, call, roles, handles of inputs and outputs, the name before, when, circuits,
    /// lanes): part of every digest and every derivation.
    pub(crate) name: [u8; 32],
}

impl<'p> CallPlan<'p> {
    /// The next call of this strand, whose number is spent with it. All parties at the same place.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for a circuit that is too large for one call.
    pub(crate) fn next(
        session: &mut Session,
        handles: &mut Handles,
        when: When,
        jobs: &[(&'p Program, usize)],
    ) -> Result<CallPlan<'p>, Abort> {
        let digest = Program::digest;
        let call = session.count(NUMBERS);
        let roles = Roles::of(call, session.me());
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 rep3 garbled call v1");
        hasher.update(session.id().as_bytes()).update(&session.number().to_le_bytes());
        hasher.update(&call.to_le_bytes());
        hasher.update(&[roles.first, roles.second, roles.evaluator].map(PartyId::number));
        hasher.update(&handles.job).update(&handles.last);
        let known = if let When::Ahead { known } = when { known } else { 0 };
        hasher.update(&[u8::from(when != When::Now)]).update(&(known as u64).to_le_bytes());
        let mut parts = Vec::new();
        for (place, (program, lanes)) in jobs.iter().enumerate() {
            hasher.update(&digest(program)).update(&(*lanes as u64).to_le_bytes());
            let part = Part::new(program, *lanes);
            let counted = (program.and_count() + 2 * program.input_bits() + program.output_bits())
                .checked_mul(*lanes)
                .is_some_and(|units| units < 1 << 48);
            if !counted {
                return Err(session.misuse(PLAN, Misuse::TooLarge));
            }
            if !part.is_empty() {
                parts.push((place, part));
            }
        }
        handles.last = *hasher.finalize().as_bytes();
        Ok(CallPlan { roles, parts, name: handles.last })
    }

    /// The number of output bits.
    pub(crate) fn output_bits(&self) -> usize {
        self.parts.iter().map(|(_, part)| part.program.output_bits() * part.lanes).sum()
    }
}

/// How many lanes of a program run together.
fn group(program: &Program) -> usize {
    let widest = program.levels().iter().map(divisi_circuit::Level::and_count).max().unwrap_or(0);
    let wires = program.slots() + widest + 2 * program.input_bits() + 2 * program.output_bits();
    (GROUP_BYTES / 16 / wires.max(1)).clamp(1, LANES)
}

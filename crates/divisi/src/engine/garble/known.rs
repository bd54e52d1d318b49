//! Known answers through authenticated garbling: texts or messages of equal lengths are instances of one
//! circuit ([`super::super::drawn`]) and are garbled together, all in one session.

use super::super::drawn::{Drawn, KNOWN, from_bits};
use super::super::job::{Job, Own};
use super::super::{BenchSchedule, Differ, EngineParty, Prepared, Rows, Unsupported, Watch, alike};
use super::garbling::Garbling;
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session};
use divisi_garble::{Garble, Plan, SETUP_PHASE};
use divisi_ot::Setup;
use zeroize::Zeroizing;

/// The largest number of ANDs that are garbled together, unless one instance has more.
const TOGETHER: usize = 1 << 19;

/// Texts or messages as circuits.
pub(super) struct KnownAnswers<'j> {
    job: &'j Job,
    garbling: Garbling,
    drawn: Drawn<'j>,
}

impl<'j> KnownAnswers<'j> {
    /// # Errors
    /// [`Unsupported`] for a mode or a message for which there is no circuit.
    pub fn new(job: &'j Job, garbling: Garbling) -> Result<Self, Unsupported> {
        Ok(KnownAnswers { job, garbling, drawn: Drawn::new(job, "garble")? })
    }
}

impl Prepared for KnownAnswers<'_> {
    fn parties(&self) -> usize {
        self.garbling.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let parameters = PublicParameters::new("garble known answers").with("circuits", &self.drawn.digest());
        self.garbling.describe(parameters.with("count", &(count as u64).to_le_bytes()))
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule { batch: self.job.count(), warmup: (warmup, self.job.count()), one_session: false }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.drawn.deal(self.garbling.parties, inputs)
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(
        &'p self,
        mut session: Session,
        _: usize,
        _: &Own,
    ) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        session.phase(SETUP_PHASE);
        let setup = Setup::new(&mut session, self.garbling.config)?;
        let garble = Garble::new(&session, setup, self.garbling.options);
        Ok(Box::new(Learner { of: self, session, garble, openings: 0 }))
    }
}

/// One party, which learns all outputs.
struct Learner<'p> {
    of: &'p KnownAnswers<'p>,
    session: Session,
    garble: Garble,
    /// The number of bytes that this party learned.
    openings: u64,
}

impl Learner<'_> {
    /// Run all instances of one circuit, as many together as [`TOGETHER`] allows. Returns their outputs, and
    /// the rest of `own` after this party's values for them.
    fn instances<'o>(&mut self, number: usize, own: &'o [u8]) -> Result<(Vec<Vec<u8>>, &'o [u8]), Abort> {
        let Learner { of, session, garble, .. } = self;
        let misfit = || Abort::Misuse { step: KNOWN, what: "values that fit no circuit" };
        let program = of.drawn.program(number)?;
        let all: Vec<PartyId> = PartyId::all(of.garbling.parties).collect();
        let owners: Vec<PartyId> = all.iter().copied().cycle().take(program.inputs().len()).collect();
        // instances whose tables exceed the budget are streamed
        let manner = Garbling { streamed: true, ..of.garbling };
        let plan: Plan<'_> = manner.plan(&program, &owners, &all, 1).map_err(|_| misfit())?;
        let count = of.drawn.places(number).len();
        let width = plan.wires_of(session.me()).count();
        let (now, rest) = own.split_at_checked(count * width).ok_or_else(misfit)?;
        let mut outputs = Vec::with_capacity(count);
        let most = (TOGETHER / plan.and_count().max(1)).max(1);
        for first in (0..count).step_by(most) {
            let count = most.min(count - first);
            let inputs = (first..first + count)
                .map(|i| now.get(i * width..(i + 1) * width).unwrap_or_default().to_vec());
            let inputs: Zeroizing<Vec<Vec<u8>>> = Zeroizing::new(inputs.collect());
            let learned = if of.garbling.options.admit(&plan, of.garbling.config.rho, count).is_err() {
                garble.streamed(session, &plan, &inputs)?
            } else {
                let (ands, wires) = (count * plan.and_count(), count * plan.wires());
                let mut made = garble.function_independent(session, ands, wires)?;
                let garbled = garble.function_dependent(session, &mut made, &plan, count)?;
                garble.online(session, garbled, &inputs)?
            };
            outputs.extend(learned.iter().map(|bits| from_bits(bits)));
        }
        Ok((outputs, rest))
    }
}

impl EngineParty for Learner<'_> {
    fn batch(&mut self, count: usize, own: &Own, _: &mut dyn Watch) -> Result<Own, Abort> {
        let (mut rest, mut all) = (own.as_slice(), Vec::new());
        for number in 0..self.of.drawn.count() {
            let (outputs, later) = self.instances(number, rest)?;
            rest = later;
            self.openings += outputs.iter().map(|output| output.len() as u64).sum::<u64>();
            all.push(outputs);
        }
        Ok(self.of.drawn.rows(count, all))
    }

    fn meter(&mut self) -> Counts {
        Counts { openings: self.openings, ..self.session.meter().read() }
    }
}

//! Known answers by GMW: texts or messages of equal lengths are instances of one circuit
//! ([`super::super::drawn`]), side by side.

use super::super::drawn::{Drawn, from_bits};
use super::super::job::{Job, Own};
use super::super::{BenchSchedule, Differ, EngineParty, Prepared, Rows, Unsupported, Watch, alike};
use super::manner::Manner;
use super::values::{evaluate, learn_all};
use super::{ONLINE, SETUP};
use crate::engine::drawn::KNOWN;
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session};
use divisi_mixed::Gmw;

/// Texts or messages as circuits.
pub(super) struct KnownAnswers<'j> {
    job: &'j Job,
    manner: Manner,
    drawn: Drawn<'j>,
}

impl<'j> KnownAnswers<'j> {
    /// # Errors
    /// [`Unsupported`] for a mode or a message for which there is no circuit.
    pub fn new(job: &'j Job, manner: Manner) -> Result<Self, Unsupported> {
        Ok(KnownAnswers { job, manner, drawn: Drawn::new(job, "mixed")? })
    }
}

impl Prepared for KnownAnswers<'_> {
    fn parties(&self) -> usize {
        self.manner.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let parameters = PublicParameters::new("mixed known answers").with("circuits", &self.drawn.digest());
        self.manner.describe(parameters.with("count", &(count as u64).to_le_bytes()))
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule { batch: self.job.count(), warmup: (warmup, self.job.count()), one_session: false }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.drawn.deal(self.manner.parties, inputs)
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
        session.phase(SETUP);
        let gmw = Gmw::new(session, self.manner.config)?;
        Ok(Box::new(Learner { of: self, gmw, openings: 0 }))
    }
}

/// One party, which learns all outputs.
struct Learner<'p> {
    of: &'p KnownAnswers<'p>,
    gmw: Gmw,
    /// The number of bytes that this party learned.
    openings: u64,
}

impl EngineParty for Learner<'_> {
    fn batch(&mut self, count: usize, own: &Own, _: &mut dyn Watch) -> Result<Own, Abort> {
        let Learner { of, gmw, openings } = self;
        let (mut rest, mut all) = (own.as_slice(), Vec::new());
        gmw.session().phase(ONLINE);
        let parties: Vec<PartyId> = PartyId::all(of.manner.parties).collect();
        for number in 0..of.drawn.count() {
            let program = of.drawn.program(number)?;
            let instances = of.drawn.places(number).len();
            let owner = |(i, width): (usize, &usize)| std::iter::repeat_n(parties[i % parties.len()], *width);
            let owners: Vec<PartyId> = program.inputs().iter().enumerate().flat_map(owner).collect();
            let width = owners.iter().filter(|owner| **owner == gmw.session().me()).count();
            let misfit = || Abort::Misuse { step: KNOWN, what: "values that fit no circuit" };
            let (now, later) = rest.split_at_checked(instances * width).ok_or_else(misfit)?;
            rest = later;
            let outputs = evaluate(gmw, &program, &owners, instances, now)?;
            let learned = learn_all(gmw, &parties, instances, &outputs)?;
            let bits = program.output_bits().max(1);
            let outputs: Vec<Vec<u8>> = learned.chunks(bits).map(from_bits).collect();
            *openings += outputs.iter().map(|output| output.len() as u64).sum::<u64>();
            all.push(outputs);
        }
        Ok(of.drawn.rows(count, all))
    }

    fn meter(&mut self) -> Counts {
        Counts { openings: self.openings, ..self.gmw.session().meter().read() }
    }
}

//! The jobs of benchmarks: blocks, messages of one length, evaluations of a circuit.

use super::BenchOptions;
use crate::circuit;
use crate::engine;
use crate::engine::job::{Between, BlocksJob, Cipher, CircuitJob, DigestsJob, JobSpec};
use crate::failure::Failure;
use crate::name::Name;
use divisi_core::{Direction, PartyId};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::gates::Adder;
use std::sync::Arc;

/// A number of instances. One that does not fit this machine's memory is as good as any other such number.
fn instances(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

impl BenchOptions {
    /// The number of instances.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.job.count() as u64
    }

    /// The same, for this many instances.
    #[must_use]
    pub fn counted(self, count: u64) -> BenchOptions {
        BenchOptions { job: self.job.counted(instances(count)), ..self }
    }

    /// The same, for this many blocks of a cipher.
    #[must_use]
    pub fn of_blocks(self, cipher: Cipher, direction: Direction, count: u64) -> BenchOptions {
        let job = JobSpec::Blocks(BlocksJob { cipher, direction, count: instances(count) });
        BenchOptions { job, ..self }
    }

    /// The same, for a hash or MAC of this many messages of one length. How words are added follows from what
    /// was chosen before.
    #[must_use]
    pub fn of_messages(self, algorithm: Algorithm, message_bytes: usize, count: u64) -> BenchOptions {
        let using = Settings { adder: self.adder(), ..Settings::new(algorithm) };
        let job = JobSpec::Digests(DigestsJob { using, message_bytes, count: instances(count) });
        BenchOptions { job, ..self }
    }

    /// The same, for this many evaluations of the circuit of that name, or in the file of that name. Its
    /// inputs are dealt by a client, or belong to the parties in turn, in which case party 1 learns the
    /// outputs.
    ///
    /// # Errors
    /// [`Failure`] if the settings make no sense, or the circuit cannot be read.
    pub fn of_circuit(self, name: &Name, count: u64) -> Result<BenchOptions, Failure> {
        let (engine, adder, settings) = (self.engine()?, self.adder(), self.settings());
        engine::check(engine, &settings)?;
        let circuit = circuit::hold(name.clone(), adder, settings.is_streamed())?;
        let between = if engine.profile().deals {
            Between::Client
        } else {
            let parties: Vec<PartyId> = PartyId::all(engine::parties(engine, &settings)).collect();
            let first: Vec<PartyId> = parties.iter().copied().take(1).collect();
            let owners = parties.into_iter().cycle().take(circuit.inputs().len()).collect();
            Between::with_all_to(owners, &first, circuit.outputs().len())
        };
        let (circuit, count) = (Arc::new(circuit), instances(count));
        Ok(BenchOptions { job: JobSpec::Circuit(CircuitJob { circuit, adder, between, count }), ..self })
    }

    /// How words are added.
    fn adder(&self) -> Adder {
        self.choice.mode().map_or(Adder::FewestAnds, crate::mode::Priority::adder)
    }

    /// How many blocks or messages the engine computes at once.
    ///
    /// # Errors
    /// [`Failure`] if there is no such engine.
    pub fn chunk(&self) -> Result<usize, Failure> {
        Ok(engine::at_once(self.engine()?, &self.job, &self.settings()))
    }
}

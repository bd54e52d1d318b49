//! Circuits by GMW, all instances side by side: triples first, then one round for each level.
//!
//! Adversary: that of [`divisi_mixed::gmw`]: all parties but one, semi-honest.

use super::manner::{CircuitProtocol, Manner};
use super::{ONLINE, PREPROCESSING, SETUP, lattice_json};
use crate::keys::KeyLookups;
use divisi_bgv::parameters::Parameters as Lattice;
use divisi_circuit::Program;
use divisi_core::{Abort, Boolean, PartyId, ProgramRun, PublicParameters, Security, Session};
use divisi_engine::evaluations::Evaluates;
use divisi_engine::job::{CircuitJob, Own, numbers};
use divisi_engine::{Unsupported, Watch, members, timed};
use divisi_mixed::gmw::triples_for;
use divisi_mixed::{Gmw, GmwBit};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

/// The most instances of a run.
pub(super) const MOST: usize = 1 << 24;
/// The largest number of triples, of three bits each, that a party holds at once, unless 64 instances take
/// more.
const TRIPLES: usize = 1 << 28;

impl Evaluates for Manner {
    type Plan<'c> = &'c Program;
    /// Whether triples are made before the circuit: those of known answers are made level by level.
    type Party = (Gmw, bool);

    const ENGINE: &'static str = "mixed";
    const MOST: usize = MOST;

    fn parties(&self) -> usize {
        self.parties
    }

    fn plan<'c>(&self, job: &'c CircuitJob) -> Result<&'c Program, Unsupported> {
        job.circuit.program()
    }

    fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        Manner::describe(self, parameters)
    }

    fn subject(&self, job: &CircuitJob, _: &&Program) -> PublicParameters {
        subject(job)
    }

    fn agreement(&self, job: &CircuitJob, _: &&Program) -> Vec<(&'static str, [u8; 32])> {
        agreement(self, job)
    }

    fn batch(&self, job: &CircuitJob, program: &&Program) -> usize {
        // whole words of lanes
        let batch = TRIPLES / program.and_count().max(1) / 64 * 64;
        batch.max(64).min(job.count.max(1))
    }

    fn facts(&self, job: &CircuitJob, _: &&Program) -> Map<String, Value> {
        facts(self, job, None)
    }

    fn start(&self, mut session: Session, first: Option<(&CircuitJob, usize)>) -> Result<Self::Party, Abort> {
        session.phase(SETUP);
        let mut gmw = Gmw::deferred(session, self.config);
        // a circuit without ANDs needs no transfers
        if first.is_none_or(|(job, _)| job.circuit.and_count() > 0) {
            gmw.set_up()?;
        }
        Ok((gmw, first.is_some()))
    }

    fn session((gmw, _): &mut Self::Party) -> &mut Session {
        gmw.session()
    }

    fn evaluate(
        &self,
        (gmw, has_triples): &mut Self::Party,
        (job, program): (&CircuitJob, &&Program),
        count: usize,
        own: &[u8],
        watch: &mut dyn Watch,
    ) -> Result<Own, Abort> {
        if *has_triples {
            timed(watch, PREPROCESSING, || {
                gmw.session().phase(PREPROCESSING);
                gmw.prepare(triples_for(program, count))
            })?;
        }
        timed(watch, ONLINE, || {
            gmw.session().phase(ONLINE);
            let inputs = share(gmw, &owners(job), count, own)?;
            let mut jobs = [ProgramRun::new(program, inputs)];
            gmw.run(&mut jobs)?;
            let [done] = jobs;
            learn(gmw, job, count, &done.wires)
        })
    }
}

/// The owner of each input wire.
pub(super) fn owners(job: &CircuitJob) -> Vec<PartyId> {
    let owner = |(owner, width): (&PartyId, &usize)| std::iter::repeat_n(*owner, *width);
    job.owners().iter().zip(job.circuit.inputs()).flat_map(owner).collect()
}

/// The parameters that say what is computed and for whom, without the settings.
pub(super) fn subject(job: &CircuitJob) -> PublicParameters {
    let parameters = PublicParameters::new("mixed")
        .with("circuit", &job.circuit.digest())
        .with("owners", &numbers(&owners(job)));
    job.describe_receivers(parameters)
}

/// What is computed, and with which settings.
pub(super) fn agreement(engine: &impl Evaluates, job: &CircuitJob) -> Vec<(&'static str, [u8; 32])> {
    let how = engine.describe(PublicParameters::new("run.mixed.how"));
    vec![
        ("another circuit, or the same with other owners or receivers", subject(job).digest()),
        ("the circuit with other settings (--k, --protocol, --form)", how.digest()),
    ]
}

/// The JSON members of a circuit, which is garbled if there are lookups of keys.
pub(super) fn facts(manner: &Manner, job: &CircuitJob, keys: Option<&KeyLookups>) -> Map<String, Value> {
    let ring = keys.and_then(KeyLookups::lattice);
    members(json!({
        "protocol": manner.circuits.unwrap_or(CircuitProtocol::Gmw).name(),
        "op": keys.map(|_| CircuitProtocol::Mpgc.name()),
        "form": keys.map(|keys| keys.form.name()),
        "insecure": keys.map(|_| manner.insecure),
        "ring_dimension": ring.map(Lattice::dimension),
        "log2_q": ring.map(Lattice::log2_q),
        "log2_whole": ring.map(Lattice::log2_whole),
        "lattice": lattice_json(ring.and_then(Lattice::hardness)),
        "computational_bits": COMPUTATIONAL_BITS,
        "security": Security::SemiHonest.name(),
        "k": manner.config.k,
        "and_gates": job.circuit.and_count(),
    }))
}

/// Shares of all inputs: `own` has this party's wires, one to a byte, instance after instance.
pub(super) fn share(
    gmw: &mut Gmw,
    owners: &[PartyId],
    count: usize,
    own: &[u8],
) -> Result<Vec<GmwBit>, Abort> {
    let me = gmw.session().me();
    let width = owners.iter().filter(|owner| **owner == me).count();
    let mut wire = 0;
    let mut inputs = Vec::with_capacity(owners.len());
    for owner in owners {
        let mut values = None;
        if *owner == me {
            let lane = |i: usize| u64::from(own.get(i * width + wire).copied().unwrap_or(0));
            values = Some(GmwBit::of((0..count).map(lane)));
            wire += 1;
        }
        inputs.push(gmw.input(*owner, count, values.as_ref())?);
    }
    Ok(inputs)
}

/// Open outputs, each value to its receivers alone, in one round. A party gets the output wires of its
/// values, one to a byte, instance after instance.
pub(super) fn learn(gmw: &mut Gmw, job: &CircuitJob, count: usize, bits: &[GmwBit]) -> Result<Own, Abort> {
    let (me, groups) = (gmw.session().me(), job.output_groups());
    let mut sent = Vec::with_capacity(groups.len());
    for group in &groups {
        let bits: Vec<GmwBit> = group.wires.iter().filter_map(|wire| bits.get(*wire)).cloned().collect();
        sent.push(gmw.send_to(&group.receivers, &bits)?);
    }
    let mut learned = Vec::with_capacity(groups.len());
    for (group, sent) in groups.into_iter().zip(sent) {
        let Some(bits) = sent.receive(gmw.session())? else { continue };
        let rows = (0..count).flat_map(|lane| bits.iter().map(move |bit| bit.lane(lane) as u8));
        learned.push((group, Zeroizing::new(rows.collect())));
    }
    Ok(job.join_groups(me, count, learned))
}

//! The parties' inputs to a circuit, and its outputs to the parties.
//!
//! Adversary: that of [`divisi_mixed::gmw`]: all parties but one, semi-honest.

use divisi_circuit::Program;
use divisi_core::{Abort, Boolean, PartyId, ProgramRun, Step, step};
use divisi_engine::job::{CircuitJob, OutputGroup, Own};
use divisi_mixed::{Gmw, GmwBit};
use zeroize::Zeroizing;

const INPUT: Step = step!("input");

/// Shares of all inputs: `own` has this party's wires, one to a byte, instance after instance.
pub(super) fn share(
    gmw: &mut Gmw,
    owners: &[PartyId],
    count: usize,
    own: &[u8],
) -> Result<Vec<GmwBit>, Abort> {
    let me = gmw.session().me();
    let width = owners.iter().filter(|owner| **owner == me).count();
    if own.len() != width * count {
        return Err(gmw.session().misuse(INPUT, "inputs of another length than declared"));
    }
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
pub(super) fn learn(
    gmw: &mut Gmw,
    job: &CircuitJob,
    groups: &[OutputGroup],
    count: usize,
    bits: &[GmwBit],
) -> Result<Own, Abort> {
    let me = gmw.session().me();
    let mut sent = Vec::with_capacity(groups.len());
    for group in groups {
        let bits: Vec<GmwBit> = group.wires.iter().filter_map(|wire| bits.get(*wire)).cloned().collect();
        sent.push(gmw.send_to(&group.receivers, &bits)?);
    }
    let mut learned = Vec::with_capacity(groups.len());
    for (group, sent) in groups.iter().zip(sent) {
        let Some(bits) = sent.receive(gmw.session())? else { continue };
        let rows = (0..count).flat_map(|lane| bits.iter().map(move |bit| bit.lane(lane) as u8));
        learned.push((group.clone(), Zeroizing::new(rows.collect())));
    }
    Ok(job.join_groups(me, count, learned))
}

/// Open outputs to all parties. Each gets all output wires, one to a byte, instance after instance.
pub(super) fn learn_all(
    gmw: &mut Gmw,
    parties: &[PartyId],
    count: usize,
    bits: &[GmwBit],
) -> Result<Own, Abort> {
    let outputs = gmw.output(parties, bits)?.unwrap_or_default();
    let rows = (0..count).flat_map(|lane| outputs.iter().map(move |bit| bit.lane(lane) as u8));
    Ok(Zeroizing::new(rows.collect()))
}

/// Evaluate a program on all instances side by side: shares of its outputs.
pub(super) fn evaluate(
    gmw: &mut Gmw,
    program: &Program,
    owners: &[PartyId],
    count: usize,
    own: &[u8],
) -> Result<Vec<GmwBit>, Abort> {
    let inputs = share(gmw, owners, count, own)?;
    let mut jobs = [ProgramRun::new(program, inputs)];
    gmw.run(&mut jobs)?;
    let [job] = jobs;
    Ok(job.wires)
}

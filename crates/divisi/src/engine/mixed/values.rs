//! The parties' inputs to a circuit, and its outputs to the parties.
//!
//! Adversary: that of [`divisi_mixed::gmw`]: all parties but one, semi-honest.

use super::super::job::Own;
use divisi_circuit::Program;
use divisi_core::{Abort, Boolean, PartyId, ProgramRun, Step, step};
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

/// Open outputs to their receivers. A receiver gets all output wires, one to a byte, instance after instance;
/// another party gets nothing.
pub(super) fn learn(
    gmw: &mut Gmw,
    receivers: &[PartyId],
    count: usize,
    bits: &[GmwBit],
) -> Result<Own, Abort> {
    let outputs = gmw.output(receivers, bits)?.unwrap_or_default();
    let rows = (0..if outputs.is_empty() { 0 } else { count })
        .flat_map(|lane| outputs.iter().map(move |bit| bit.lane(lane) as u8));
    Ok(Zeroizing::new(rows.collect()))
}

/// Evaluate a program on all instances side by side, from [`share`] to [`learn`].
pub(super) fn evaluate(
    gmw: &mut Gmw,
    program: &Program,
    owners: &[PartyId],
    receivers: &[PartyId],
    count: usize,
    own: &[u8],
) -> Result<Own, Abort> {
    let inputs = share(gmw, owners, count, own)?;
    let mut jobs = [ProgramRun::new(program, inputs)];
    gmw.run(&mut jobs)?;
    let [job] = jobs;
    learn(gmw, receivers, count, &job.wires)
}

//! One party of a benchmark of garbling, in a process of its own, under the orders of the coordinating process.
//!
//! Adversary: that of [`divisi_garble`]. The coordinator is trusted: it knows all inputs and outputs.

use super::super::measure::Mark;
use super::super::message::Took;
use super::super::party::{costs, precise_waiting};
use super::super::{CONNECT, CONNECT_EACH};
use super::{Batch, Order, Orders, plan, waves};
use crate::circuit;
use crate::failure::Failure;
use crate::garbling::Garbling;
use crate::local::{Pipes, seat};
use crate::run::READ_TOO;
use divisi_core::{Counts, Parameters, Session};
use divisi_garble::{Garble, Plan, SETUP_PHASE};
use divisi_net::{Emulation, Mesh, Options as Net};
use divisi_ot::Setup;
use divisi_symmetric::gates::Adder;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Be a party until the orders end. Failures are reported, not printed.
///
/// # Errors
/// What was reported, or could not be.
pub fn run() -> Result<(), Failure> {
    let pipes = Pipes::take()?;
    let failed = match work(&pipes) {
        Ok(()) => return Ok(()),
        Err(failure) => failure,
    };
    // The coordinator may be gone; then nobody is to be told.
    let _ = pipes.report::<()>(Err(failed.clone()));
    Err(failed)
}

fn out_of_place() -> Failure {
    Failure::usage("an order out of its place: use one version of the program")
}

fn work(pipes: &Pipes) -> Result<(), Failure> {
    let listener = seat::listen(pipes)?;
    let orders: Orders = pipes.order()?;
    let adder = if orders.low_depth { Adder::LowDepth } else { Adder::FewestAnds };
    let garbling = Garbling::from(orders.garbling);
    let start = Instant::now();
    let circuit = circuit::hold(&orders.circuit, adder, garbling.streamed)?;
    let read = start.elapsed();
    if circuit.digest() != orders.digest {
        return Err(Failure::usage(format!("{} has changed meanwhile: leave it as it is", circuit.name())));
    }
    let plan = plan(&circuit, &garbling, orders.count)?;
    let count = usize::try_from(orders.count).map_err(|_| out_of_place())?;
    let start = Instant::now();
    let net = Net {
        timeout: Duration::from_millis(orders.timeout_ms),
        emulation: Emulation::new(orders.rtt_ms, orders.rate_mbit),
        ..Net::default()
    };
    let parties = u32::try_from(garbling.parties).unwrap_or(u32::MAX);
    let within = CONNECT + CONNECT_EACH * parties + READ_TOO * read;
    let (_door, mesh) = orders.seat.join(pipes, listener, &net, within)?;
    pipes.report(Ok(start.elapsed().as_secs_f64()))?;
    if orders.rtt_ms.is_some() || orders.rate_mbit.is_some() {
        precise_waiting();
    }
    // The orders end with the process: whoever gives them closes our standard input.
    loop {
        match pipes.order()? {
            Order::Begin(session) => repetition(pipes, &mesh, &garbling, &plan, session, count)?,
            _ => return Err(out_of_place()),
        }
    }
}

/// Wait at the barrier, do a phase, tell what it took.
fn timed<R>(pipes: &Pipes, phase: impl FnOnce() -> Result<R, divisi_core::Abort>) -> Result<R, Failure> {
    pipes.report(Ok(()))?;
    match pipes.order()? {
        Order::Go => {}
        _ => return Err(out_of_place()),
    }
    let start = Mark::now();
    let result = phase()?;
    pipes.report::<Took>(Ok(start.until(Mark::now())))?;
    Ok(result)
}

/// One session: four phases, each behind its barrier.
fn repetition(
    pipes: &Pipes,
    mesh: &Arc<Mesh>,
    garbling: &Garbling,
    plan: &Plan<'_>,
    number: u32,
    count: usize,
) -> Result<(), Failure> {
    let own = pipes.bytes()?;
    let width = plan.wires_of(mesh.me()).count();
    if own.len() != width * count {
        return Err(Failure::usage("inputs of another length than was said: use one version of the program"));
    }
    let inputs: Vec<Vec<u8>> =
        (0..count).map(|i| own.get(i * width..(i + 1) * width).unwrap_or_default().to_vec()).collect();
    let parameters = garbling.describe(
        Parameters::new(super::ROLE)
            .with("plan", &plan.digest())
            .with("count", &(count as u64).to_le_bytes()),
    );
    let mut begun = 0;
    let (mut session, mut garble) = timed(pipes, || {
        let mut session = Session::start(mesh, number, &parameters)?;
        begun = session.meter().read().phases.get(session.current_phase()).map_or(0, |phase| phase.rounds);
        session.phase(SETUP_PHASE);
        let setup = Setup::new(&mut session, garbling.config)?;
        let garble = Garble::new(&session, setup, garbling.options);
        Ok((session, garble))
    })?;
    let mut learned: Vec<u8> = Vec::new();
    let mut rest = &inputs[..];
    for wave in waves(plan, garbling, count) {
        let (inputs, later) = rest.split_at(wave.min(rest.len()));
        rest = later;
        let (ands, wires) = (wave * plan.and_count(), wave * plan.wires());
        let outputs = if garbling.streamed {
            timed(pipes, || garble.streamed(&mut session, plan, inputs))?
        } else {
            let mut made = timed(pipes, || garble.function_independent(&mut session, ands, wires))?;
            let garbled = timed(pipes, || garble.function_dependent(&mut session, &mut made, plan, wave))?;
            timed(pipes, || garble.online(&mut session, garbled, inputs))?
        };
        learned.extend(outputs.iter().flat_map(|bits| bits.iter()));
    }
    let made = garble.made().into_iter();
    let batches: Vec<Batch> = made.map(|(triples, bucket)| Batch { triples, bucket }).collect();
    match pipes.order()? {
        Order::Outputs => {}
        _ => return Err(out_of_place()),
    }
    pipes.raw(&learned)?;
    let mut counts = session.meter().read();
    // the set-up's steps come after those that begin the session
    if let Some(setup) = counts.phases.get_mut(SETUP_PHASE) {
        setup.rounds += begun;
    }
    pipes.report(Ok((costs(&Counts::default(), &counts), batches)))
}

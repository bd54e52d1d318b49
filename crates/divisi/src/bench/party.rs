//! One party of a benchmark, in a process of its own, under the orders of the coordinating process.
//!
//! Adversary: that of [`divisi_rep3`]. The coordinator is trusted: it knows all inputs and outputs, as the dealer and the client
//! of a real run do. Blocks stream through in chunks ([`super::measure`]).

use super::CONNECT;
use super::ROLE;
use super::measure::{Columns, INPUT, Mark, Ready, Task, segment};
use super::message::{Costs, Order, Plan, Times};
use super::work::What;
use crate::failure::Failure;
use crate::local::{Pipes, peak_rss, seat};
use divisi_core::{Abort, Check, Counts, Direction, Parameters, PhaseCounts, Session, settle};
use divisi_net::{Emulation, Mesh, Options, Permits};
use divisi_rep3::deal::Part;
use divisi_rep3::{Agreement, Passes, Rep3, Trio};
use divisi_symmetric::aes::KeySize;
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

fn work(pipes: &Pipes) -> Result<(), Failure> {
    let listener = seat::listen(pipes)?;
    let plan: Plan = pipes.order()?;
    let usage = |e: String| Failure::usage(e);
    let task = Task {
        what: plan.work.task()?,
        input_bytes: plan.work.input_bytes(),
        protocol: plan.protocol.parse().map_err(usage)?,
        security: plan.security.parse().map_err(usage)?,
        key: KeySize::from_bits(plan.work.key_bits as usize)
            .ok_or_else(|| usage("no such key size: give 128, 192 or 256".into()))?,
        direction: if plan.work.decrypt { Direction::Decrypt } else { Direction::Encrypt },
        chunk: (plan.chunk as usize).max(1),
        statistical: plan.statistical,
        passes: Passes::for_bits(plan.statistical)
            .ok_or_else(|| usage("no verification reaches so many bits: give at most 114".into()))?,
    };
    let start = Instant::now();
    let permits = Permits::new(plan.threads as usize);
    let options = Options {
        timeout: Duration::from_millis(plan.timeout_ms),
        emulation: Emulation::new(plan.rtt_ms, plan.rate_mbit),
        permits: permits.clone(),
        ..Options::default()
    };
    let (_door, mesh) = plan.seat.join(pipes, listener, &options, CONNECT)?;
    pipes.report(Ok(start.elapsed().as_secs_f64()))?;

    if plan.rtt_ms.is_some() || plan.rate_mbit.is_some() {
        precise_waiting();
    }
    let _permit = permits.enter();
    // The orders end with the process: whoever gives them closes our standard input.
    loop {
        match permits.outside(|| pipes.order())? {
            Order::Begin { session, strands } => serve(pipes, &mesh, &task, session, strands as usize)?,
            _ => return Err(Failure::usage("an order out of its place: use one version of the program")),
        }
    }
}

/// Where the system rounds the ends of waits up to save power, ask it not to: an emulated message is late by that much.
pub(super) fn precise_waiting() {
    #[cfg(target_os = "linux")]
    {
        // what is refused costs precision, nothing else
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
}

/// Wait for the barrier with this thread's permit free.
fn barrier(pipes: &Pipes, permits: &Permits) -> Result<Mark, Failure> {
    pipes.report(Ok(()))?;
    match permits.outside(|| pipes.order())? {
        Order::Go => Ok(Mark::now()),
        _ => Err(Failure::usage("an order out of its place: use one version of the program")),
    }
}

fn part(pipes: &Pipes) -> Result<Part, Failure> {
    Ok(Part { first: pipes.bytes()?, second: pipes.bytes()? })
}

/// One session: its setup, then repetitions until it is over.
fn serve(pipes: &Pipes, mesh: &Arc<Mesh>, task: &Task, number: u32, strands: usize) -> Result<(), Failure> {
    let permits = mesh.permits();
    let key = part(pipes)?;
    let start = barrier(pipes, &permits)?;
    let parameters = Parameters::new(ROLE)
        .with("protocol", task.protocol.name().as_bytes())
        .with("security", task.security.name().as_bytes())
        .with("work", &task.what.name())
        .with("message bytes", &(task.input_bytes as u64).to_le_bytes())
        .with("key bits", &(task.key.bits() as u64).to_le_bytes())
        .with("decrypt", &[u8::from(task.direction == Direction::Decrypt)])
        .with("chunk", &(task.chunk as u64).to_le_bytes())
        .with("statistical bits", &task.statistical.to_le_bytes())
        .with("strands", &(strands as u64).to_le_bytes());
    let session = Session::start(mesh, number, &parameters)?;
    let others = (1..strands).map(|_| session.strand()).collect::<Result<Vec<_>, _>>()?;
    let engine = |session| {
        let mut trio = Trio::new(session)?;
        trio.set_passes(task.passes);
        Ok::<_, Abort>(Rep3::new(trio, task.protocol, task.security))
    };
    let mut engines = std::iter::once(session).chain(others).map(engine).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = engines.first_mut() else {
        return Err(Failure::usage("no strands: give at least one thread"));
    };
    let ready = schedule(first, task, &key)?;
    // From here on the meter counts one repetition at a time; to each belongs what the setup cost.
    let of_setup = as_setup(first.trio().session().meter().read());
    first.trio().session().meter().reset();
    let mut setup = start.until(Mark::now());
    pipes.report(Ok(Times { setup, ..Times::default() }))?;

    loop {
        let blocks = match permits.outside(|| pipes.order())? {
            Order::Inputs { blocks } => blocks as usize,
            Order::Counts => {
                let Some(first) = engines.first_mut() else { return Ok(()) };
                let meter = first.trio().session().meter();
                pipes.report(Ok(costs(&of_setup, &meter.read())))?;
                meter.reset();
                continue;
            }
            Order::End => return Ok(()),
            _ => return Err(Failure::usage("an order out of its place: use one version of the program")),
        };
        let inputs = part(pipes)?;
        let start = barrier(pipes, &permits)?;
        let chunks = agree(&mut engines, &inputs, blocks, task)?;
        drop(inputs);
        setup = start.until(Mark::now());
        pipes.report(Ok(Times { setup, ..Times::default() }))?;

        let start = barrier(pipes, &permits)?;
        let meet = || barrier(pipes, &permits).map(drop);
        let (outputs, times) = segment(&mut engines, task, &ready, &chunks, start, &permits, &meet)?;
        pipes.report(Ok(times))?;

        match permits.outside(|| pipes.order())? {
            Order::Outputs => {}
            _ => return Err(Failure::usage("an order out of its place: use one version of the program")),
        }
        for (number, output) in outputs.iter().enumerate() {
            let Some(engine) = engines.first_mut() else { break };
            let answer = engine.trio().answer(&(number as u64).to_le_bytes(), output)?;
            pipes.raw(&answer.component)?;
            pipes.raw(&answer.digest)?;
        }
    }
}

/// What is made once for a key, inside the computation, verified: a key schedule, states of pads, powers of a hash key.
fn schedule(rep: &mut Rep3, task: &Task, key: &Part) -> Result<Ready, Failure> {
    let public = blake3::hash(b"a key of a benchmark");
    agreed(rep.trio().agree_input(Check::A24, public.as_bytes(), Some(key))?)?; // [A24]
    let mut bytes = Vec::with_capacity(key.first.len());
    for (first, second) in key.first.iter().zip(&key.second) {
        bytes.push(rep.trio().input(&Part { first: vec![*first], second: vec![*second] })?);
    }
    Ok(match &task.what {
        What::Aes => {
            let round_keys = divisi_node::cipher::expand(rep, &bytes)?;
            let pending = rep.close(round_keys);
            Ready::Aes(settle(rep, pending)?)
        }
        What::Function(settings) => Ready::Function(divisi_node::tags::prepare(rep, settings, &bytes)?),
        What::Circuit(_) => Ready::Circuit,
    })
}

/// Compare the inputs of a segment with the other parties, and cut them into chunks.
fn agree(engines: &mut [Rep3], inputs: &Part, blocks: usize, task: &Task) -> Result<Vec<Columns>, Failure> {
    let width = task.input_bytes;
    if inputs.first.len() != width * blocks || inputs.second.len() != width * blocks {
        return Err(Failure::usage("inputs of another length than was said: use one version of the program"));
    }
    if let Some(engine) = engines.first_mut() {
        engine.trio().session().phase("setup"); // also of a later segment, and of a later repetition
        let public = blake3::hash(&(blocks as u64).to_le_bytes());
        agreed(engine.trio().agree_input(Check::A24, public.as_bytes(), Some(inputs))?)?; // [A24]
    }
    let chunk = |first: usize| {
        let lanes = task.chunk.min(blocks - first);
        let column = |j: usize| {
            let side = |side: &[u8]| {
                let start = width * first + j * lanes;
                side.get(start..start + lanes).unwrap_or_default().to_vec()
            };
            Part { first: side(&inputs.first), second: side(&inputs.second) }
        };
        Columns { columns: (0..width).map(column).collect(), lanes, first: first as u64 }
    };
    Ok((0..blocks).step_by(task.chunk).map(chunk).collect())
}

fn agreed(agreement: Agreement) -> Result<(), Failure> {
    match agreement {
        Agreement::Agreed => Ok(()),
        other => {
            let error = format!("the parties did not get the same inputs ({other:?}): run the command again");
            Err(Failure::new(crate::failure::Kind::Abort, error).at(INPUT.to_string()))
        }
    }
}

/// What was counted before the first input: all of it is *setup*, also what the key schedule made ahead, as its time is.
fn as_setup(counts: Counts) -> Counts {
    let mut setup = PhaseCounts::default();
    for phase in counts.phases.values() {
        add(&mut setup, phase);
    }
    Counts { phases: [("setup", setup)].into(), ..counts }
}

fn add(sum: &mut PhaseCounts, phase: &PhaseCounts) {
    sum.bits += phase.bits;
    sum.bytes += phase.bytes;
    sum.rounds = sum.rounds.max(phase.rounds);
}

/// What the meter counted in a repetition, and in the setup of its session.
pub(super) fn costs(setup: &Counts, repetition: &Counts) -> Costs {
    let (mut phases, mut checks) = (setup.phases.clone(), setup.checks.clone());
    for (name, phase) in &repetition.phases {
        add(phases.entry(name).or_default(), phase);
    }
    for (check, n) in &repetition.checks {
        *checks.entry(*check).or_default() += n;
    }
    let least = |setup: Option<f64>, repetition| setup.into_iter().chain(repetition).reduce(f64::min);
    Costs {
        phases: phases.iter().map(|(name, p)| ((*name).to_owned(), (p.bits, p.bytes, p.rounds))).collect(),
        checks: checks.iter().map(|(check, n)| (check.id().to_owned(), *n)).collect(),
        verification_error_bits: least(setup.verification_error_bits, repetition.verification_error_bits),
        computational_bits: least(setup.computational_bits, repetition.computational_bits),
        peak_rss_bytes: peak_rss(),
        kernel: divisi_field::kernel::active().name().to_owned(),
    }
}

//! One party of a benchmark, in a process of its own, under the orders of the coordinating process.
//!
//! Adversary: that of [`divisi_rep3`]. The coordinator is trusted: it knows all inputs and outputs, as the dealer and the client
//! of a real run do. Blocks stream through in chunks; each chunk is verified before the next begins in its strand, so that what
//! is owed stays bounded. With several strands the verification of one chunk overlaps the work on others.

use super::CONNECT;
use super::ROLE;
use super::message::{Costs, Order, Plan, Times, Took};
use crate::cleanup::lock;
use crate::failure::Failure;
use crate::local::Pipes;
use divisi_core::{Abort, Check, Direction, Parameters, PartyId, Session, Step, Verified, settle, step};
use divisi_net::Config;
use divisi_net::Identity;
use divisi_net::{Door, Emulation, Machine, Mesh, Options, Permits};
use divisi_rep3::deal::Part;
use divisi_rep3::{Agreement, Byte, Protocol, Rep3, Security, Trio};
use divisi_symmetric::aes::{self, KeySize, RoundKeys};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const INPUT: Step = step!("input");

/// Wall time and the process's user and system time.
#[derive(Clone, Copy)]
struct Mark {
    wall: Instant,
    cpu: f64,
}

impl Mark {
    fn now() -> Self {
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Mark { wall: Instant::now(), cpu: cpu.tv_sec as f64 + cpu.tv_nsec as f64 * 1e-9 }
    }

    fn until(self, end: Mark) -> Took {
        let seconds = end.wall.saturating_duration_since(self.wall).as_secs_f64();
        Took { seconds, cpu_seconds: end.cpu - self.cpu }
    }
}

/// What the plan's words mean.
struct Task {
    protocol: Protocol,
    security: Security,
    key: KeySize,
    direction: Direction,
    chunk: usize,
}

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
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let port =
        listener.as_ref().map_err(|e| e.to_string()).and_then(|l| l.local_addr().map_err(|e| e.to_string()));
    let no_port = |e| {
        Failure::unavailable(format!(
            "no port of 127.0.0.1 is free ({e}): see that the loopback network is up"
        ))
    };
    pipes.report(port.map(|address| address.port()).map_err(no_port))?;
    let listener = listener.map_err(|e| no_port(e.to_string()))?;

    let plan: Plan = pipes.order()?;
    pipes.leave_no(Path::new(&plan.room));
    let usage = |e: String| Failure::usage(e);
    let task = Task {
        protocol: plan.protocol.parse().map_err(usage)?,
        security: plan.security.parse().map_err(usage)?,
        key: KeySize::from_bits(plan.key_bits as usize)
            .ok_or_else(|| usage("no such key size: give 128, 192 or 256".into()))?,
        direction: if plan.decrypt { Direction::Decrypt } else { Direction::Encrypt },
        chunk: (plan.chunk as usize).max(1),
    };
    let me = PartyId::new(plan.me).ok_or_else(|| usage("there is no party 0: give 1 to 3".into()))?;
    let config = Config::parse(&plan.config).map_err(|e| usage(e.to_string()))?;
    let identity = Identity::load(Path::new(&plan.identity)).map_err(|e| usage(e.to_string()))?;
    // All three run when they learn of each other, so there is nothing to wait for but the machine.
    let within = config.connect().min(CONNECT);
    let start = Instant::now();
    let door = Door::open_at(listener, config, me, Arc::new(identity), Arc::new(Machine))
        .map_err(|e| usage(e.to_string()))?;
    let permits = Permits::new(plan.threads as usize);
    let options = Options {
        timeout: Duration::from_millis(plan.timeout_ms),
        emulation: Emulation::new(plan.rtt_ms, plan.rate_mbit),
        permits: permits.clone(),
        ..Options::default()
    };
    let mesh = Mesh::join_with(&door, within, &options).map_err(|e| {
        let failure = Failure::unavailable(e.to_string()).at(e.step().to_string());
        match e.peer() {
            Some(peer) => failure.with_peer(peer),
            None => failure,
        }
    })?;
    let mesh = Arc::new(mesh);
    pipes.report(Ok(start.elapsed().as_secs_f64()))?;

    let _permit = permits.enter();
    // The orders end with the process: whoever gives them closes our standard input.
    loop {
        match permits.outside(|| pipes.order())? {
            Order::Begin { session, strands } => repetition(pipes, &mesh, &task, session, strands as usize)?,
            _ => return Err(Failure::usage("an order out of its place: use one version of the program")),
        }
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

fn repetition(
    pipes: &Pipes,
    mesh: &Arc<Mesh>,
    task: &Task,
    number: u32,
    strands: usize,
) -> Result<(), Failure> {
    let permits = mesh.permits();
    let key = part(pipes)?;
    let start = barrier(pipes, &permits)?;
    let parameters = Parameters::new(ROLE)
        .with("protocol", task.protocol.name().as_bytes())
        .with("security", task.security.name().as_bytes())
        .with("key bits", &(task.key.bits() as u64).to_le_bytes())
        .with("decrypt", &[u8::from(task.direction == Direction::Decrypt)])
        .with("chunk", &(task.chunk as u64).to_le_bytes())
        .with("strands", &(strands as u64).to_le_bytes());
    let session = Session::start(mesh, number, &parameters)?;
    let others = (1..strands).map(|_| session.strand()).collect::<Result<Vec<_>, _>>()?;
    let engine = |session| Ok::<_, Abort>(Rep3::new(Trio::new(session)?, task.protocol, task.security));
    let mut engines = std::iter::once(session).chain(others).map(engine).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = engines.first_mut() else {
        return Err(Failure::usage("no strands: give at least one thread"));
    };
    let round_keys = schedule(first, &key)?;
    let mut setup = start.until(Mark::now());
    pipes.report(Ok(Times { setup, ..Times::default() }))?;

    loop {
        let blocks = match permits.outside(|| pipes.order())? {
            Order::Inputs { blocks } => blocks as usize,
            Order::Counts => break,
            _ => return Err(Failure::usage("an order out of its place: use one version of the program")),
        };
        let inputs = part(pipes)?;
        let start = barrier(pipes, &permits)?;
        let chunks = agree(&mut engines, &inputs, blocks, task)?;
        drop(inputs);
        setup = start.until(Mark::now());
        pipes.report(Ok(Times { setup, ..Times::default() }))?;

        let start = barrier(pipes, &permits)?;
        let (outputs, mut times) = match engines.as_mut_slice() {
            [only] => one_strand(only, task, &round_keys, &chunks)?,
            many => strands_at_once(many, task, &round_keys, &chunks, start, &permits)?,
        };
        times.setup = Took::default();
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
    let Some(first) = engines.first_mut() else { return Ok(()) };
    pipes.report(Ok(costs(first.trio().session())))
}

/// The key schedule, inside the computation, verified.
fn schedule(rep: &mut Rep3, key: &Part) -> Result<Verified<RoundKeys<Byte>>, Failure> {
    let public = blake3::hash(b"a key of a benchmark");
    agreed(rep.trio().agree_input(Check::A24, public.as_bytes(), Some(key))?)?; // [A24]
    let mut bytes = Vec::with_capacity(key.first.len());
    for (first, second) in key.first.iter().zip(&key.second) {
        bytes.push(rep.trio().input(&Part { first: vec![*first], second: vec![*second] })?);
    }
    let round_keys = aes::expand(rep, &bytes)?;
    let pending = rep.close(round_keys);
    Ok(settle(rep, pending)?)
}

/// A chunk's inputs: 16 columns, a lane a block.
type Columns = Vec<Part>;

/// Compare the inputs of a segment with the other parties, and cut them into chunks.
fn agree(engines: &mut [Rep3], inputs: &Part, blocks: usize, task: &Task) -> Result<Vec<Columns>, Failure> {
    if inputs.first.len() != 16 * blocks || inputs.second.len() != 16 * blocks {
        return Err(Failure::usage("inputs of another length than was said: use one version of the program"));
    }
    if let Some(engine) = engines.first_mut() {
        let public = blake3::hash(&(blocks as u64).to_le_bytes());
        agreed(engine.trio().agree_input(Check::A24, public.as_bytes(), Some(inputs))?)?; // [A24]
    }
    let sides = inputs.first.chunks(16 * task.chunk).zip(inputs.second.chunks(16 * task.chunk));
    let columns = |(first, second): (&[u8], &[u8])| {
        let lanes = first.len() / 16;
        let sides = first.chunks(lanes).zip(second.chunks(lanes));
        sides.map(|(first, second)| Part { first: first.to_vec(), second: second.to_vec() }).collect()
    };
    Ok(sides.map(columns).collect())
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

/// One chunk, from shares of inputs to shares of outputs.
fn chunk(
    rep: &mut Rep3,
    task: &Task,
    round_keys: &RoundKeys<Byte>,
    columns: &Columns,
) -> Result<divisi_core::Pending<Vec<Byte>, divisi_rep3::Products>, Abort> {
    rep.trio().session().phase("online");
    let state = columns.iter().map(|part| rep.trio().input(part)).collect::<Result<Vec<_>, _>>()?;
    let misfit = Abort::Misuse { step: INPUT, what: "a block that has not 16 bytes" };
    let mut state: [Byte; 16] = state.try_into().map_err(|_| misfit)?;
    match task.direction {
        Direction::Encrypt => aes::encrypt(rep, round_keys, &mut state)?,
        Direction::Decrypt => aes::decrypt(rep, round_keys, &mut state)?,
    }
    Ok(rep.close(state.into()))
}

type Outputs = Vec<Verified<Vec<Byte>>>;

/// All chunks in this thread: the clock changes hands between computing and verifying a chunk.
fn one_strand(
    rep: &mut Rep3,
    task: &Task,
    round_keys: &Verified<RoundKeys<Byte>>,
    chunks: &[Columns],
) -> Result<(Outputs, Times), Abort> {
    let (mut outputs, mut times) = (Vec::with_capacity(chunks.len()), Times::default());
    let mut start = Mark::now();
    for columns in chunks {
        let pending = chunk(rep, task, round_keys.get(), columns)?;
        let computed = Mark::now();
        rep.trio().session().phase("verification");
        outputs.push(settle(rep, pending)?);
        let verified = Mark::now();
        times.online.add(start.until(computed));
        times.verification.add(computed.until(verified));
        start = verified;
    }
    Ok((outputs, times))
}

/// Every k-th chunk in a strand of its own: *online* runs until the last chunk has its output shares, and *verification* is
/// what is then left to wait for.
fn strands_at_once(
    engines: &mut [Rep3],
    task: &Task,
    round_keys: &Verified<RoundKeys<Byte>>,
    chunks: &[Columns],
    start: Mark,
    permits: &Permits,
) -> Result<(Outputs, Times), Abort> {
    let (k, computed) = (engines.len(), Mutex::new(start));
    let strand = |s: usize, rep: &mut Rep3| {
        let _permit = permits.enter();
        let mut outputs = Vec::new();
        for columns in chunks.iter().skip(s).step_by(k) {
            let pending = chunk(rep, task, round_keys.get(), columns)?;
            *lock(&computed) = Mark::now();
            rep.trio().session().phase("verification");
            outputs.push(settle(rep, pending)?);
        }
        Ok(outputs)
    };
    let results: Vec<Result<Outputs, Abort>> = permits.outside(|| {
        std::thread::scope(|scope| {
            let strand = &strand;
            let threads: Vec<_> =
                engines.iter_mut().enumerate().map(|(s, rep)| scope.spawn(move || strand(s, rep))).collect();
            let ended = |_| Err(Abort::Misuse { step: INPUT, what: "a strand ended without a result" });
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(ended)).collect()
        })
    });
    let end = Mark::now();
    let computed = *lock(&computed);
    // The first strand that has a cause of its own, not only the news of another's.
    let mut strands = Vec::with_capacity(k);
    let mut failed: Option<Abort> = None;
    for result in results {
        match result {
            Ok(outputs) => strands.push(outputs.into_iter()),
            Err(abort) if failed.as_ref().is_none_or(|f| f.peer().is_none()) => failed = Some(abort),
            Err(_) => {}
        }
    }
    if let Some(abort) = failed {
        return Err(abort);
    }
    let outputs = (0..chunks.len()).filter_map(|c| strands.get_mut(c % k).and_then(Iterator::next)).collect();
    Ok((
        outputs,
        Times { setup: Took::default(), online: start.until(computed), verification: computed.until(end) },
    ))
}

fn costs(session: &Session) -> Costs {
    let counts = session.meter().read();
    Costs {
        phases: counts
            .phases
            .iter()
            .map(|(name, p)| ((*name).to_owned(), (p.bits, p.bytes, p.rounds)))
            .collect(),
        checks: counts.checks.iter().map(|(check, n)| (check.id().to_owned(), *n)).collect(),
        verification_error_bits: counts.verification_error_bits,
        peak_rss_bytes: peak_rss(),
        kernel: divisi_field::kernel::active().name().to_owned(),
    }
}

/// The most memory that this process ever had, where the system keeps count.
fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

//! The start of a party's process, for any command: its number, the job, the settings, and the mesh with the
//! other parties.
//!
//! Trust: the process that started it knows all inputs and outputs.

use crate::engine::{self, Engine, EngineSettings, JobSpec, Prepared, settings};
use crate::failure::Failure;
use crate::local::{Pipes, PrivateDir, Processes, loopback};
use divisi_net::{Emulation, Mesh, Options as Net, PartyId, Permits};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time limit for parties on one machine to connect.
pub const CONNECT: Duration = Duration::from_secs(5);
/// How much longer this time limit is for each party, because many parties may share few processors.
const CONNECT_EACH: Duration = Duration::from_millis(100);
/// A party gives its peers this many times its own time to read the circuit, because many parties may share
/// few processors.
const READ_TOO: u32 = 4;
/// How much longer the process that gives the orders waits than the parties, so that a party reports first:
/// it knows more about what it waits for.
pub(crate) const MARGIN: Duration = Duration::from_millis(300);

/// How long this many parties of one machine may take to connect.
pub(crate) fn connect(parties: usize) -> Duration {
    CONNECT + CONNECT_EACH * u32::try_from(parties).unwrap_or(u32::MAX)
}

/// The settings of the links between parties.
#[derive(Clone, Copy)]
pub(crate) struct Links {
    /// How long a receive waits for a message.
    pub timeout: Duration,
    /// Emulated round-trip time, in milliseconds.
    pub rtt_ms: Option<f64>,
    /// Emulated bandwidth, in 10^6 bits a second.
    pub rate_mbit: Option<f64>,
    /// Whether the number of threads of a party that run at the same time is limited.
    pub permits: bool,
}

/// The first message to every party.
#[derive(Serialize, Deserialize)]
struct Orders {
    endpoint: loopback::PartyEndpoint,
    engine: String,
    settings: settings::SettingsMessage,
    job: Vec<u8>,
    timeout_ms: u64,
    rtt_ms: Option<f64>,
    rate_mbit: Option<f64>,
    permits: bool,
}

/// Give all parties their orders.
///
/// # Errors
/// [`Failure`] if a party has ended or does not report its port in time, or if the job runs only within one
/// process.
pub(crate) fn begin(
    processes: &mut Processes,
    folder: &PrivateDir,
    step: &str,
    engine: &dyn Engine,
    settings: &EngineSettings,
    job: &JobSpec,
    links: Links,
) -> Result<(), Failure> {
    let within = (links.timeout + MARGIN).max(connect(processes.count())) + MARGIN;
    let endpoints = loopback::endpoints(processes, folder, step, within)?;
    for (party, endpoint) in PartyId::all(endpoints.len()).zip(endpoints) {
        let orders = Orders {
            endpoint,
            engine: engine.name().to_owned(),
            settings: settings.into(),
            job: job.message()?,
            timeout_ms: links.timeout.as_millis() as u64,
            rtt_ms: links.rtt_ms,
            rate_mbit: links.rate_mbit,
            permits: links.permits,
        };
        processes.order(party, &orders)?;
    }
    Ok(())
}

/// A party that has joined the others.
pub(crate) struct Joined<'p> {
    pub pipes: &'p Pipes,
    pub prepared: &'p dyn Prepared,
    pub mesh: &'p Arc<Mesh>,
    /// The seconds that joining took.
    pub seconds: f64,
    /// Whether links are emulated.
    pub emulated: bool,
}

/// Act as a party: take the orders, prepare the job, join the others, and run `rest`. Failures are reported,
/// not printed.
///
/// # Errors
/// [`Failure`] if a step fails; unless standard input could not be taken over, it has been reported.
pub(crate) fn be(rest: impl FnOnce(&Joined<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
    let pipes = Pipes::take()?;
    let failed = match join(&pipes, rest) {
        Ok(()) => return Ok(()),
        Err(failure) => failure,
    };
    // the process that gave the orders may be gone, and then there is nobody to report to
    let _ = pipes.report::<()>(Err(failed.clone()));
    Err(failed)
}

fn join(pipes: &Pipes, rest: impl FnOnce(&Joined<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
    let listener = loopback::listen(pipes)?;
    let orders: Orders = pipes.order()?;
    let engine = engine::named(&orders.engine).map_err(Failure::usage)?;
    let settings = EngineSettings::try_from(orders.settings).map_err(Failure::usage)?;
    let start = Instant::now();
    let job = JobSpec::read(&orders.job, engine)?;
    let read = start.elapsed();
    let prepared = engine::prepare(engine, &job, &settings)?;
    let start = Instant::now();
    let permits = if orders.permits { Permits::new(settings.threads) } else { Permits::unlimited() };
    let net = Net {
        timeout: Duration::from_millis(orders.timeout_ms),
        emulation: Emulation::new(orders.rtt_ms, orders.rate_mbit),
        permits: permits.clone(),
        ..Net::default()
    };
    let within = connect(prepared.parties()) + READ_TOO * read;
    let (_listener, mesh) = orders.endpoint.join(pipes, listener, &net, within)?;
    let seconds = start.elapsed().as_secs_f64();
    let emulated = orders.rtt_ms.is_some() || orders.rate_mbit.is_some();
    let _permit = orders.permits.then(|| permits.enter());
    rest(&Joined { pipes, prepared: &*prepared, mesh: &mesh, seconds, emulated })
}

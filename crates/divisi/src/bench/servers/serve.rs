//! A benchmark of many clients at the same time: how many requests three servers answer, and how long each
//! takes.
//!
//! Each client has an identity, a thread of this process, and connections to the servers that stay open; it
//! sends one request after the other. A request counts if it began after the clock started and ended before
//! it stopped; percentiles are over all such requests of a kind. A request that is refused, or has to be
//! tried again, counts as refused, and its client tries again 10 ms later; any other failure ends the
//! benchmark.
//!
//! | mix | clients | requests |
//! |---|---|---|
//! | `one-block` | all | AES-GCM of 16 bytes, encrypted and decrypted by turns: the plaintext must come back |
//! | `file` | all | AES-GCM of 1 MiB: an ordinary library must decrypt it, for which the key is exported before the clock starts |
//! | `hash` | all | SHA-256 of 64 KiB, compared with an ordinary library |
//! | `mixed` | one | a file of 1 GiB, in progress when the clock starts, and usually when it stops; only its length is checked |
//! | | one | SHA-256 of 16 MiB, likewise |
//! | | the others | one block |
//!
//! A request in progress when the clock stops does not count: its connection is dropped. Requests that take
//! longer than the clock runs are thus in no percentile; a small count, or no percentile at all, shows it.

pub use super::mix::{Mix, RequestKind};

use super::percentiles::percentile;
use super::worker::{Shared, Tally};
use super::{Cost, clients};
use crate::bench::calibration_json;
use crate::calibrate::Calibration;
use crate::cleanup::Cleanup;
use crate::failure::Failure;
use crate::local::servers::Servers;
use crate::local::{PartyProgram, PrivateDir};
use crate::server::raise_descriptors;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The largest number of clients: a server accepts no more connections, and each client has one. (It accepts
/// 32 of any one client.)
pub const MOST_CLIENTS: usize = 256;
/// The longest time that is measured, in seconds; every latency is kept in memory.
pub const LONGEST: f64 = 3600.0;

/// How long the clients send requests before the clock starts.
const SETTLE: Duration = Duration::from_millis(500);

/// What to measure.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The number of clients.
    pub clients: usize,
    /// How long the clock runs, in seconds.
    pub seconds: f64,
    /// The mix of requests.
    pub mix: Mix,
    /// How long a receive waits for a message.
    pub timeout: Option<Duration>,
}

impl ServeOptions {
    /// Check that the options make sense.
    ///
    /// # Errors
    /// [`Failure`] with a sentence that says what to correct.
    pub fn check(&self) -> Result<(), Failure> {
        let usage = |error: String| Err(Failure::usage(error));
        match self {
            ServeOptions { clients: 0, .. } => usage("--clients is 0: give at least 1".into()),
            ServeOptions { clients, .. } if *clients > MOST_CLIENTS => usage(format!(
                "--clients is {clients}, and a server accepts {MOST_CLIENTS} connections at a time: give at most that"
            )),
            ServeOptions { clients, mix: Mix::Mixed, .. } if *clients < 3 => usage(format!(
                "--clients is {clients}, and `mixed` needs one for a file, one for a hash and one for blocks: give at least 3"
            )),
            ServeOptions { seconds, .. } if !(*seconds > 0.0 && *seconds <= LONGEST) => {
                usage(format!("--seconds is not between 0 and {LONGEST}: give less"))
            }
            _ => Ok(()),
        }
    }
}

/// The results of the requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfKind {
    /// The kind.
    pub kind: RequestKind,
    /// How many requests were done.
    pub count: usize,
    /// The 50th, 90th and 99th percentile of their latency, in milliseconds; `None` without requests.
    pub percentiles: [Option<f64>; 3],
    /// How many requests were refused, or had to be tried again.
    pub refused: u64,
}

impl OfKind {
    fn new(kind: RequestKind, mut tally: Tally) -> OfKind {
        tally.latencies.sort_by(f64::total_cmp);
        let percentiles = [50.0, 90.0, 99.0].map(|percent| percentile(&tally.latencies, percent));
        OfKind { kind, count: tally.latencies.len(), percentiles, refused: tally.refused }
    }
}

/// The result of the benchmark.
#[derive(Clone, Debug)]
pub struct ServeReport {
    /// The options.
    pub options: ServeOptions,
    /// The results for each kind of the mix.
    pub kinds: Vec<OfKind>,
    /// The servers' costs while the clock ran.
    pub cost: Cost,
    /// The calibration of the machine just before.
    pub calibration: Calibration,
    /// Whether all results were right.
    pub checked: bool,
}

impl ServeReport {
    /// Requests of a kind that were done, per second.
    #[must_use]
    pub fn per_second(&self, of: &OfKind) -> f64 {
        of.count as f64 / self.options.seconds
    }

    /// The object that `--json` prints.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let of_kind = |of: &OfKind| {
            let [p50, p90, p99] = of.percentiles;
            let figures = json!({
                "count": of.count,
                "per_second": self.per_second(of),
                "p50_ms": p50,
                "p90_ms": p90,
                "p99_ms": p99,
                "refused": of.refused,
            });
            (of.kind.name().to_owned(), figures)
        };
        json!({
            "schema": 1,
            "clients": self.options.clients,
            "seconds": self.options.seconds,
            "mix": self.options.mix.name(),
            "kinds": self.kinds.iter().map(of_kind).collect::<Map<String, Value>>(),
            "cpu_seconds_per_party": self.cost.cpu_seconds,
            "peak_rss_bytes_per_party": self.cost.peak_rss_bytes,
            "calibration": calibration_json(&self.calibration),
            "checked": self.checked,
        })
    }
}

/// Run the benchmark.
///
/// # Errors
/// [`Failure`] if an option makes no sense, a server fails, or a request fails other than by a refusal. The
/// report says whether a result was wrong.
pub fn run(
    options: &ServeOptions,
    program: &PartyProgram,
    calibration: Calibration,
    cleanup: &Cleanup,
) -> Result<ServeReport, Failure> {
    options.check()?;
    raise_descriptors();
    let folder = PrivateDir::new(cleanup)?;
    let names: Vec<String> = (1..=options.clients).map(|number| format!("client-{number}")).collect();
    let mut servers = Servers::start(program, &folder, &names, options.timeout, cleanup)?;
    let (failed, failures) = channel();
    let shared = Arc::new(Shared::new(failed));
    let over = Over(Arc::clone(&shared));
    let workers = clients::all(&mut servers, options.mix, &names, &shared);
    let workers = workers.map_err(|failure| servers.cause(failure))?;
    for worker in workers {
        let thread = std::thread::Builder::new().name("client".into()).spawn(move || worker.run());
        // the thread ends when `over` or the servers are dropped
        thread
            .map_err(|e| Failure::unavailable(format!("no thread can be started ({e}): free some memory")))?;
    }

    wait(&failures, SETTLE).map_err(|failure| servers.cause(failure))?;
    let before = servers.usage()?;
    let lasting = Duration::from_secs_f64(options.seconds);
    shared.start(lasting);
    wait(&failures, lasting).map_err(|failure| servers.cause(failure))?;
    let after = servers.usage()?;
    drop(over);
    servers.close()?;
    folder.close()?;
    let mut tallies = shared.take();
    let kinds = options.mix.kinds().iter();
    Ok(ServeReport {
        options: options.clone(),
        kinds: kinds.map(|kind| OfKind::new(*kind, tallies.remove(kind).unwrap_or_default())).collect(),
        cost: Cost::between(&before, &after),
        calibration,
        checked: !shared.was_wrong(),
    })
}

/// Ends the clients' work when it is dropped.
struct Over(Arc<Shared>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Wait for so long, or for the first failure.
fn wait(failures: &Receiver<Failure>, lasting: Duration) -> Result<(), Failure> {
    match failures.recv_timeout(lasting) {
        Ok(failure) => Err(failure),
        Err(RecvTimeoutError::Timeout) => Ok(()),
        Err(RecvTimeoutError::Disconnected) => Err(Failure::unavailable("the clients ended: try again")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_make_no_sense_are_refused() {
        let good = ServeOptions { clients: 3, seconds: 1.0, mix: Mix::Mixed, timeout: None };
        assert!(good.check().is_ok());
        assert!(ServeOptions { clients: 256, seconds: 3600.0, ..good.clone() }.check().is_ok());
        for bad in [
            ServeOptions { clients: 0, ..good.clone() },
            ServeOptions { clients: 257, ..good.clone() },
            ServeOptions { clients: 2, ..good.clone() },
            ServeOptions { seconds: 0.0, ..good.clone() },
            ServeOptions { seconds: f64::NAN, ..good.clone() },
            ServeOptions { seconds: 3601.0, ..good },
        ] {
            assert_eq!(bad.check().unwrap_err().kind.exit_code(), 2, "{bad:?}");
        }
    }

    #[test]
    fn figures_are_those_of_the_window() {
        let tally = Tally { latencies: vec![30.0, 10.0, 20.0, 40.0], refused: 7 };
        let report = ServeReport {
            options: ServeOptions { clients: 1, seconds: 2.0, mix: Mix::OneBlock, timeout: None },
            kinds: vec![
                OfKind::new(RequestKind::OneBlock, tally),
                OfKind::new(RequestKind::Hash, Tally::default()),
            ],
            cost: Cost { cpu_seconds: 1.5, peak_rss_bytes: None },
            calibration: Calibration { aes_ctr_gb_s: 1.0, loopback_gbit_s: 1.0, clmul_ns: 1.0 },
            checked: false,
        };
        let json = report.to_json();
        let blocks = json!({
            "count": 4, "per_second": 2.0, "p50_ms": 20.0, "p90_ms": 40.0, "p99_ms": 40.0, "refused": 7
        });
        assert_eq!(json["kinds"]["one-block"], blocks);
        assert!(json["kinds"]["hash"]["p50_ms"].is_null() && json["kinds"]["hash"]["count"] == 0);
        assert!(json["checked"] == false && json["peak_rss_bytes_per_party"].is_null(), "{json}");
    }
}

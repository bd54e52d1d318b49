//! `divisi bench file` and `divisi bench serve`.

use super::progress::ProgressDisplay;
use super::{CommandOutput, Context, ProtocolChoice, positive};
use clap::Args;
use divisi::bench::servers::serve::{self, Mix};
use divisi::bench::servers::{Cost, file};
use divisi::calibrate::calibrate;
use divisi::failure::Failure;
use divisi::local::this_program;

/// Measure how fast three servers on this machine encrypt and decrypt a file of random bytes; the result is
/// compared byte by byte.
///
/// Three servers run as three processes, joined by TLS over loopback; the client is this process. The clock
/// runs from the first byte read to the last byte written; MB are 10^6 bytes of text. CPU is the time of the
/// busiest server, encryption and decryption together.
#[derive(Args)]
#[command(after_help = "Example: divisi bench file --bytes 67108864\n\
                        A client far away: divisi bench file --bytes 1000000 --rtt 20 --json")]
pub struct File {
    /// The length of the file in bytes
    #[arg(long, value_name = "N")]
    bytes: u64,
    /// Emulate this round-trip time in milliseconds between the client and each server, at most 1000. The
    /// links among the servers are not emulated, and the set-up of connections is not slowed down
    #[arg(long, value_name = "MS", value_parser = positive)]
    rtt: Option<f64>,
    #[command(flatten)]
    pub(super) choice: ProtocolChoice,
}

/// Measure three servers on this machine under many clients at once, every result checked.
///
/// Three servers run as three processes, joined by TLS over loopback; the clients are threads of this
/// process, each with an identity of its own and connections that stay open, and send one request after the
/// other. A request counts if it began after the clock started and ended before it stopped. A request that is
/// refused, or that the servers ask to try again, is counted as such and repeated after 10 ms; any other
/// failure ends the benchmark. A wrong result ends it with exit code 1.
#[derive(Args)]
#[command(after_help = "Example: divisi bench serve --clients 16 --seconds 10\n\
                        Beside a long file and a long hash: divisi bench serve --clients 3 --seconds 60 --mix mixed --json")]
pub struct Serve {
    /// The number of clients, at most 256: a server accepts no more connections
    #[arg(long, value_name = "N")]
    clients: usize,
    /// The duration of the measurement in seconds, at most 3600
    #[arg(long, value_name = "S", value_parser = positive)]
    seconds: f64,
    /// The requests: one-block (AES-GCM of 16 bytes, encrypted and decrypted in turn), file (AES-GCM of 1
    /// MiB), hash (SHA-256 of 64 KiB), or mixed: one client encrypts a file of 1 GiB and one hashes 16 MiB,
    /// both longer than the measurement lasts, and all others send one block
    #[arg(long, default_value = "one-block", value_name = "NAME", value_parser = mix)]
    mix: Mix,
}

fn mix(text: &str) -> Result<Mix, String> {
    let names = || Mix::ALL.map(Mix::name).join(", ");
    Mix::ALL.into_iter().find(|mix| mix.name() == text).ok_or_else(|| format!("choose one of {}", names()))
}

pub fn measure_file(context: &Context, arguments: &File) -> Result<CommandOutput, Failure> {
    let options = file::FileOptions {
        bytes: arguments.bytes,
        choice: arguments.choice.get(),
        rtt_ms: arguments.rtt,
        timeout: context.timeout,
    };
    options.check()?;
    let program = this_program()?;
    let calibration = calibrate()?;
    let progress = ProgressDisplay::new(context, options.bytes.saturating_mul(2), 1 << 20);
    let report = file::run(&options, &program, calibration, &context.cleanup, &mut |done| progress.at(done));
    progress.end();
    let report = report?;
    let rtt = options.rtt_ms.map(|rtt| format!(", round trip to the client {rtt} ms")).unwrap_or_default();
    let text = format!(
        "a file of {} bytes by {}{rtt}: encrypted at {:.2} MB/s, decrypted at {:.2} MB/s\n{}; the decrypted file is the same, byte by byte\n{}",
        options.bytes,
        options.choice,
        report.encrypt_mb_per_second(),
        report.decrypt_mb_per_second(),
        cost(&report.cost),
        report.calibration.summary(),
    );
    Ok(CommandOutput::new(text, report.to_json()))
}

pub fn measure_serving(context: &Context, arguments: &Serve) -> Result<CommandOutput, Failure> {
    let options = serve::ServeOptions {
        clients: arguments.clients,
        seconds: arguments.seconds,
        mix: arguments.mix,
        timeout: context.timeout,
    };
    options.check()?;
    let program = this_program()?;
    let calibration = calibrate()?;
    let report = serve::run(&options, &program, calibration, &context.cleanup)?;
    let mut done = CommandOutput::new(text(&report), report.to_json());
    if !report.checked {
        done.failure = Some(Failure::mismatch(
            "a result was wrong, so the figures mean nothing: report this with the output of `divisi --version`",
        ));
    }
    Ok(done)
}

fn text(report: &serve::ServeReport) -> String {
    let o = &report.options;
    let plural = if o.clients == 1 { "" } else { "s" };
    let mut lines = vec![format!("{} client{plural}, {} s, {}:", o.clients, o.seconds, o.mix.name())];
    for of in &report.kinds {
        let latency = match of.percentiles {
            [Some(p50), Some(p90), Some(p99)] => format!("p50 {p50:.1} ms, p90 {p90:.1} ms, p99 {p99:.1} ms"),
            _ => "none ended in time".into(),
        };
        lines.push(format!(
            "  {}: {} done, {:.1}/s; {latency}; {} refused",
            of.kind.name(),
            of.count,
            report.per_second(of),
            of.refused
        ));
    }
    let checked = if report.checked { "all results received were right" } else { "a result was WRONG" };
    lines.push(format!("{}; {checked}", cost(&report.cost)));
    lines.push(report.calibration.summary());
    lines.join("\n")
}

fn cost(cost: &Cost) -> String {
    let memory = cost
        .peak_rss_bytes
        .map_or("unknown".into(), |bytes| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20)));
    format!("CPU {:.2} s a server; memory {memory}", cost.cpu_seconds)
}

//! The arguments that all benchmarks among processes have.

use super::differences::{about_security, about_statistical_of_all, securities};
use super::engine::EngineChoice;
use super::{Context, positive};
use clap::Args;
use divisi::bench::BenchOptions;
use divisi_core::Security;

/// Repetitions, threads and emulated network.
#[derive(Args)]
pub struct Effort {
    #[arg(long, value_name = "NAME", value_parser = securities(|_| true), help = about_security())]
    pub security: Option<Security>,
    /// The number of threads of a party that run at the same time
    #[arg(long, default_value_t = 1, value_name = "T")]
    pub threads: usize,
    /// The number of repetitions
    #[arg(long, default_value_t = 5, value_name = "R")]
    pub reps: usize,
    /// The number of warm-up runs before the first repetition: of a chunk where the engine computes a
    /// repetition in chunks, else of a whole repetition
    #[arg(long, default_value_t = 4, value_name = "CHUNKS")]
    pub warmup: usize,
    /// Emulate this round-trip time in milliseconds
    #[arg(long, value_name = "MS", value_parser = positive)]
    pub rtt: Option<f64>,
    /// Emulate links of this bandwidth, in 10^6 bits a second
    #[arg(long, value_name = "MBIT", value_parser = positive)]
    pub rate: Option<f64>,
    #[arg(long, value_name = "BITS", help = about_statistical_of_all())]
    pub statistical: Option<u32>,
}

impl Effort {
    pub fn options(&self, context: &Context, choice: Option<EngineChoice>) -> BenchOptions {
        BenchOptions {
            engine: choice.map_or(BenchOptions::default().engine, |choice| choice.engine().name()),
            parties: choice.and_then(|choice| choice.parties),
            security: choice
                .map_or(self.security.unwrap_or(Security::Malicious), |c| c.security(self.security)),
            threads: self.threads,
            reps: self.reps,
            warmup: self.warmup,
            rtt_ms: self.rtt,
            rate_mbit: self.rate,
            statistical: self.statistical,
            timeout: context.timeout.unwrap_or(BenchOptions::default().timeout),
            ..BenchOptions::default()
        }
    }
}

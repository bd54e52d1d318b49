//! Arguments of every benchmark among processes.

use super::engine::EngineChoice;
use super::{Context, positive};
use clap::Args;
use divisi::bench::BenchOptions;
use divisi_rep3::Security;

/// How often, with how much, over what.
#[derive(Args)]
pub struct Effort {
    /// The adversary to protect from: malicious or semi-honest [default: malicious, of mixed semi-honest]
    #[arg(long, value_name = "NAME")]
    pub security: Option<Security>,
    /// How many threads of a party run at once
    #[arg(long, default_value_t = 1, value_name = "T")]
    pub threads: usize,
    /// The number of repetitions
    #[arg(long, default_value_t = 5, value_name = "R")]
    pub reps: usize,
    /// How many chunks to run before the first time, with garble how many repetitions
    #[arg(long, default_value_t = 4, value_name = "CHUNKS")]
    pub warmup: usize,
    /// Pretend that a message takes half of so many milliseconds
    #[arg(long, value_name = "MS", value_parser = positive)]
    pub rtt: Option<f64>,
    /// Pretend that each link carries so many 10^6 bits a second
    #[arg(long, value_name = "MBIT", value_parser = positive)]
    pub rate: Option<f64>,
    /// Let a lie pass a verification with probability at most 2^-BITS, up to 114; above 57 it is verified
    /// twice; with garble 40 or 64 [default: 57, with garble 40]
    #[arg(long, value_name = "BITS")]
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

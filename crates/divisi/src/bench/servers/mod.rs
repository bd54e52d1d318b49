//! Benchmarks of the three servers, as their clients see them.
//!
//! The meaning of the figures: the servers are three processes, joined by TLS over loopback, as `divisi demo`
//! starts them. The clients run in this process, whose work is part of every latency and of no figure of CPU
//! or memory. CPU is a server's user and system time between two marks, memory is its peak since its start;
//! each is the largest of the three servers'. Every result is checked.
//!
//! | module | what |
//! |---|---|
//! | [`mod@file`] | one client, one file, encrypted and decrypted |
//! | [`serve`] | many clients at once |

mod clients;
pub mod file;
mod mix;
mod percentiles;
mod proxy;
pub mod serve;
mod worker;

use crate::failure::Failure;
use crate::local::Usage;
use divisi_node::KeyName;

/// The servers' costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// User and system time of the busiest server between two marks.
    pub cpu_seconds: f64,
    /// The largest memory of any server in bytes, if the system tells.
    pub peak_rss_bytes: Option<u64>,
}

impl Cost {
    /// Between two marks, of the same servers in the same order.
    fn between(before: &[Usage], after: &[Usage]) -> Cost {
        let spent = before.iter().zip(after).map(|(before, after)| after.cpu_seconds - before.cpu_seconds);
        Cost {
            cpu_seconds: spent.fold(0.0, f64::max),
            peak_rss_bytes: after.iter().filter_map(|usage| usage.peak_rss_bytes).max(),
        }
    }
}

fn key_name(name: &str) -> Result<KeyName, Failure> {
    name.parse().map_err(|e| Failure::usage(format!("{e:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_that_of_the_server_that_has_most_of_it() {
        let of = |cpu_seconds, memory| Usage { cpu_seconds, peak_rss_bytes: Some(memory) };
        let before = [of(1.0, 9), of(2.0, 1), of(3.0, 1)];
        let after = [of(1.5, 9), of(3.0, 20), of(3.25, 4)];
        let cost = Cost::between(&before, &after);
        assert_eq!(cost, Cost { cpu_seconds: 1.0, peak_rss_bytes: Some(20) });
    }
}

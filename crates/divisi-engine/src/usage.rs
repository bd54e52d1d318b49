//! The resources that a process has used, as the system counts them.

use serde::{Deserialize, Serialize};

/// The resources that a process has used since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// User and system time of all its threads, in seconds.
    pub cpu_seconds: f64,
    /// The largest memory that it ever had, in bytes, if the system counts it.
    pub peak_rss_bytes: Option<u64>,
}

impl Usage {
    /// The resources that this process has used so far.
    #[must_use]
    pub fn now() -> Usage {
        Usage { cpu_seconds: cpu_seconds(), peak_rss_bytes: peak_rss() }
    }
}

/// User and system time of this process.
pub fn cpu_seconds() -> f64 {
    let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    cpu.tv_sec as f64 + cpu.tv_nsec as f64 * 1e-9
}

/// The largest memory that this process ever had, in bytes, if the system counts it.
pub fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

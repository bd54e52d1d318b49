//! The machine that a report was measured on, and what else it did meanwhile: its processor, its load, and
//! the share of its cores that other processes took.

use procfs::process::{Process, Stat, all_processes};
use procfs::{CpuInfo, CpuTime, Current, CurrentSI, KernelStats, LoadAverage, Meminfo};
use serde::Serialize;

/// The machine that ran the measurements.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredOn {
    /// The processor's name.
    pub processor: String,
    /// The number of threads that run at the same time.
    pub cores: usize,
    /// Memory in bytes, if the system tells.
    pub memory_bytes: Option<u64>,
    /// The system and its version.
    pub system: String,
}

impl MeasuredOn {
    /// This machine, as far as the system tells.
    pub fn here() -> Self {
        let processor = CpuInfo::current().ok().and_then(|of| of.model_name(0).map(str::to_owned));
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        MeasuredOn {
            processor: processor.unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_bytes: Meminfo::current().ok().map(|of| of.mem_total),
            system: format!("{} {}", std::env::consts::OS, release.trim()).trim_end().to_owned(),
        }
    }
}

/// The free memory of this machine in MiB, if the system tells.
pub fn available_mib() -> Option<u64> {
    Some(Meminfo::current().ok()?.mem_available? >> 20)
}

/// Time of all cores since the system began, in ticks of 1/100 s: what processes and other machines on the
/// same processor took, and all of it. Interrupts count as idle: most of them carry the messages of the
/// measurement itself, and belong to no process. Time of guests is in that of users already.
fn busy_of_all(time: &CpuTime) -> [u64; 2] {
    let busy = time.user + time.nice + time.system + time.steal.unwrap_or(0);
    let idle = [Some(time.idle), time.iowait, time.irq, time.softirq];
    [busy, busy + idle.into_iter().flatten().sum::<u64>()]
}

/// The ticks of this process and of its children, those that have ended and those that run.
fn own() -> Option<u64> {
    let ticks = |of: &Stat| of.utime + of.stime + (of.cutime + of.cstime).unsigned_abs();
    let me = Process::myself().ok()?.stat().ok()?;
    let all = all_processes().ok()?.filter_map(|process| process.ok()?.stat().ok());
    Some(ticks(&me) + all.filter(|of| of.ppid == me.pid).map(|of| ticks(&of)).sum::<u64>())
}

/// The system's counters at one moment.
pub struct Counters {
    load: Option<f64>,
    cores: Option<[u64; 2]>,
    /// The ticks of this process and its children.
    own: Option<u64>,
}

impl Counters {
    /// The counters now.
    pub fn now() -> Counters {
        // the system tells two digits
        let load = LoadAverage::current().ok().map(|of| (f64::from(of.one) * 100.0).round() / 100.0);
        let cores = KernelStats::current().ok().map(|of| busy_of_all(&of.total));
        Counters { load, cores, own: own() }
    }

    /// What happened from here to the moment of `end`.
    pub fn until(&self, end: &Counters) -> Meanwhile {
        let others = || {
            let ([busy_then, all_then], [busy, all]) = (self.cores?, end.cores?);
            let (busy, all) = (busy.saturating_sub(busy_then), all.saturating_sub(all_then));
            let others = busy.saturating_sub(end.own?.saturating_sub(self.own?));
            (all > 0).then(|| others as f64 / all as f64)
        };
        Meanwhile { load: [self.load, end.load], others_share: others() }
    }
}

/// What the machine did beside the measurements, while they were made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Meanwhile {
    /// The load, as an average of one minute, before and after; `None` if the system does not tell.
    pub load: [Option<f64>; 2],
    /// The share of all cores' time that others took, other machines on the same processor, too; or `None`.
    pub others_share: Option<f64>,
}

impl Meanwhile {
    /// Whether others took so much of the cores that the figures are doubtful.
    pub fn is_disturbed(&self) -> bool {
        self.others_share.is_some_and(|share| share > 0.1)
    }

    /// The warning for a report that was disturbed.
    pub fn warning(&self) -> Option<String> {
        let share = self.others_share.filter(|_| self.is_disturbed())?;
        Some(format!(
            "other processes took {:.1} % of the cores while this was measured, more than 10 %: the figures are those of a \
             busy machine; measure again when it is idle",
            100.0 * share
        ))
    }

    /// The load and the share of others, in words.
    pub fn line(&self) -> String {
        let [before, after] =
            self.load.map(|load| load.map_or("unknown".into(), |load| format!("{load:.2}")));
        let others = self
            .others_share
            .map_or("unknown".into(), |share| format!("{:.1} % of the cores", 100.0 * share));
        format!("load {before} before and {after} after; other processes meanwhile: {others}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs::FromReadSI;

    fn counters(load: f64, busy: u64, all: u64, own: u64) -> Counters {
        Counters { load: Some(load), cores: Some([busy, all]), own: Some(own) }
    }

    #[test]
    fn the_share_of_others_is_what_is_left_of_busy_cores() {
        let begin = counters(0.25, 1000, 5000, 10);
        // of 2,000 ticks 900 were busy, of which 650 were our own
        let meanwhile = begin.until(&counters(2.5, 1900, 7000, 660));
        assert_eq!(meanwhile, Meanwhile { load: [Some(0.25), Some(2.5)], others_share: Some(0.125) });
        assert!(meanwhile.is_disturbed());
        assert!(meanwhile.warning().unwrap().starts_with("other processes took 12.5 % of the cores"));
        assert_eq!(
            meanwhile.line(),
            "load 0.25 before and 2.50 after; other processes meanwhile: 12.5 % of the cores"
        );
        // a tenth is not more than a tenth
        let tenth = begin.until(&counters(2.5, 1900, 7000, 710));
        assert_eq!((tenth.others_share, tenth.is_disturbed(), tenth.warning()), (Some(0.1), false, None));
        // two counters of the system need not agree to the tick
        assert_eq!(begin.until(&counters(0.0, 1900, 7000, 950)).others_share, Some(0.0));
    }

    #[test]
    fn a_busy_machine_of_long_queues_is_one_that_warns() {
        // two cores, a minute, a load of 28: we had 9 seconds of 120
        let meanwhile = counters(28.0, 0, 0, 0).until(&counters(28.1, 12_000, 12_000, 900));
        assert_eq!(meanwhile.others_share, Some(0.925));
        assert!(meanwhile.warning().unwrap().contains("92.5 %"));
    }

    #[test]
    fn what_the_system_does_not_tell_is_unknown_and_no_warning() {
        let nothing = Counters { load: None, cores: None, own: None };
        let meanwhile = counters(1.0, 1, 2, 3).until(&nothing);
        assert_eq!(meanwhile, Meanwhile { load: [Some(1.0), None], others_share: None });
        assert!(meanwhile.warning().is_none() && meanwhile.line().ends_with("meanwhile: unknown"));
        // no time has passed
        assert_eq!(counters(1.0, 1, 2, 3).until(&counters(1.0, 1, 2, 3)).others_share, None);
    }

    #[test]
    fn busy_cores_are_those_of_processes_and_of_other_machines() {
        let of = |line: &str| {
            let text = format!("{line}\ncpu0 1 1 1 1 1 1 1 1 1 1\nctxt 1\nbtime 1\nprocesses 1\n");
            let stats = KernelStats::from_read(text.as_bytes(), procfs::current_system_info()).unwrap();
            busy_of_all(&stats.total)
        };
        assert_eq!(of("cpu  100 20 30 4000 50 6 7 8 9 10"), [158, 4221]);
        // a system without virtual machines counts no stolen time
        assert_eq!(of("cpu 1 2 3 4 5 6 7"), [6, 28]);
    }

    #[test]
    fn the_machine_has_a_name_and_a_core() {
        let here = MeasuredOn::here();
        assert!(!here.processor.is_empty() && here.cores > 0 && !here.system.is_empty());
    }

    /// What this process and its children use is found again, also while they run.
    #[test]
    fn own_time_includes_children_that_run() {
        let before = own().unwrap();
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(700));
        let during = own().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let after = own().unwrap();
        assert!(during > before && after >= during, "{before} {during} {after}");
    }
}

//! The machine that a report was measured on, and what else it did meanwhile: its processor, its load, and
//! the share of its cores that other processes took.

mod proc;

use proc::{Ticks, field, load, own, ticks};
use serde::Serialize;
use serde_json::{Value, json};

/// The share of the cores above which other processes make the figures doubtful.
pub const MOST_OF_OTHERS: f64 = 0.1;

fn file(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

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
    #[must_use]
    pub fn here() -> Self {
        let kib =
            field(&file("/proc/meminfo"), "MemTotal").and_then(|kib| kib.split(' ').next()?.parse().ok());
        let release = file("/proc/sys/kernel/osrelease");
        MeasuredOn {
            processor: field(&file("/proc/cpuinfo"), "model name")
                .unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_bytes: kib.map(|kib: u64| kib.saturating_mul(1024)),
            system: format!("{} {}", std::env::consts::OS, release.trim()).trim_end().to_owned(),
        }
    }
}

/// The system's counters at one moment.
pub(super) struct Counters {
    /// The load of the last minute.
    load: Option<f64>,
    cores: Option<Ticks>,
    /// The ticks of this process and its children.
    own: Option<u64>,
}

impl Counters {
    /// The counters now.
    pub fn now() -> Counters {
        Counters { load: load(&file("/proc/loadavg")), cores: ticks(&file("/proc/stat")), own: own() }
    }

    /// What happened from here to the moment of `end`.
    pub fn until(&self, end: &Counters) -> Meanwhile {
        Meanwhile { load: [self.load, end.load], others_share: self.others(end) }
    }

    fn others(&self, end: &Counters) -> Option<f64> {
        let (cores, own) = (end.cores?.since(self.cores?), end.own?.saturating_sub(self.own?));
        (cores.all > 0).then(|| cores.busy.saturating_sub(own) as f64 / cores.all as f64)
    }
}

/// What the machine did beside the measurements, while they were made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Meanwhile {
    /// The load, as an average of one minute, before and after; `None` if the system does not tell.
    pub load: [Option<f64>; 2],
    /// The share of all cores' time that other processes took, and with them other machines on the same
    /// processor; `None` if the system does not tell.
    pub others_share: Option<f64>,
}

impl Meanwhile {
    /// Whether others took so much that the figures are doubtful.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.others_share.is_some_and(|share| share > MOST_OF_OTHERS)
    }

    /// The warning for a report that was disturbed.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let share = self.others_share.filter(|_| self.is_disturbed())?;
        Some(format!(
            "other processes took {:.1} % of the cores while this was measured, more than {:.0} %: the figures are those of \
             a busy machine; measure again when it is idle",
            100.0 * share,
            100.0 * MOST_OF_OTHERS
        ))
    }

    /// The load and the share of others, in words.
    #[must_use]
    pub fn line(&self) -> String {
        let [before, after] =
            self.load.map(|load| load.map_or("unknown".into(), |load| format!("{load:.2}")));
        let others = self
            .others_share
            .map_or("unknown".into(), |share| format!("{:.1} % of the cores", 100.0 * share));
        format!("load {before} before and {after} after; other processes meanwhile: {others}")
    }

    /// Add the members of a report's JSON: `load` {`before`, `after`}, `others_share` of the cores, and
    /// `disturbed`, whether that is more than a tenth.
    pub(super) fn add_to(&self, json: &mut Value) {
        let [before, after] = self.load;
        json["load"] = json!({ "before": before, "after": after });
        json["others_share"] = json!(self.others_share);
        json["disturbed"] = json!(self.is_disturbed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(load: f64, busy: u64, all: u64, own: u64) -> Counters {
        Counters { load: Some(load), cores: Some(Ticks { busy, all }), own: Some(own) }
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
        let mut json = json!({});
        meanwhile.add_to(&mut json);
        assert_eq!(
            json,
            json!({ "load": { "before": 1.0, "after": null }, "others_share": null, "disturbed": false })
        );
    }

    #[test]
    fn the_machine_has_a_name_and_a_core() {
        let here = MeasuredOn::here();
        assert!(!here.processor.is_empty() && here.cores > 0 && !here.system.is_empty());
    }
}

//! The system's files about the machine and its processes (proc(5)), and what they say.

use std::fs;

/// Time of all cores since the system began, in ticks of 1/100 s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ticks {
    /// Spent on processes, or on other machines that share the processor.
    pub busy: u64,
    /// All of it.
    pub all: u64,
}

impl Ticks {
    /// The time since an earlier moment.
    pub fn since(self, earlier: Ticks) -> Ticks {
        Ticks { busy: self.busy.saturating_sub(earlier.busy), all: self.all.saturating_sub(earlier.all) }
    }
}

/// The value of the first line that begins with a name.
pub fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim_start_matches([' ', '\t', ':']).trim().to_owned())
}

/// The load of the last minute, from /proc/loadavg.
pub fn load(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// The time of all cores, from /proc/stat. Interrupts count as idle: most of them carry the messages of the
/// measurement itself, and belong to no process. Time of guests is in that of users already.
pub fn ticks(text: &str) -> Option<Ticks> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let counts: Vec<u64> = line.split_whitespace().map_while(|count| count.parse().ok()).collect();
    let [user, nice, system, idle, iowait, irq, softirq, ref rest @ ..] = *counts.as_slice() else {
        return None;
    };
    let steal = rest.first().copied().unwrap_or(0);
    let busy = user + nice + system + steal;
    Some(Ticks { busy, all: busy + idle + iowait + irq + softirq })
}

/// The parent of a process, and the ticks of the process and of those of its children that have ended, from
/// /proc/PID/stat. The name before them is in parentheses, and may contain any character.
pub fn process(text: &str) -> Option<(u32, u64)> {
    let (_, fields) = text.rsplit_once(')')?;
    // after the name: the state is field 3, the parent 4, and times are fields 14 to 17
    let mut fields = fields.split_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let times: Vec<u64> = fields.skip(9).take(4).map_while(|ticks| ticks.parse().ok()).collect();
    (times.len() == 4).then(|| (parent, times.iter().sum()))
}

/// The ticks of this process and of its children, those that have ended and those that run.
pub fn own() -> Option<u64> {
    let read = |path: &std::path::Path| fs::read_to_string(path).ok().and_then(|text| process(&text));
    let (_, own) = read("/proc/self/stat".as_ref())?;
    let all = fs::read_dir("/proc")
        .ok()?
        .filter_map(Result::ok)
        .filter_map(|entry| read(&entry.path().join("stat")));
    let children = all.filter(|(parent, _)| *parent == std::process::id()).map(|(_, ticks)| ticks);
    Some(own + children.sum::<u64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_and_load_are_read() {
        let cpuinfo = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) CPU @ 2.60GHz\n\
                       processor\t: 1\nmodel name\t: another\n";
        assert_eq!(field(cpuinfo, "model name").as_deref(), Some("Intel(R) Xeon(R) CPU @ 2.60GHz"));
        assert_eq!(field("Features\t: fp asimd\n", "model name"), None);
        assert_eq!(load("28.04 27.50 20.10 30/512 12345\n"), Some(28.04));
        assert_eq!((load(""), load("much")), (None, None));
    }

    #[test]
    fn busy_cores_are_those_of_processes_and_of_other_machines() {
        let text = "cpu  100 20 30 4000 50 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n";
        assert_eq!(ticks(text), Some(Ticks { busy: 158, all: 4221 }));
        // a system without virtual machines counts no stolen time
        assert_eq!(ticks("cpu 1 2 3 4 5 6 7\n"), Some(Ticks { busy: 6, all: 28 }));
        assert_eq!((ticks("cpu  1 2 3\n"), ticks("cpu0 1 2 3 4 5 6 7 8\n"), ticks("")), (None, None, None));
        let (early, late) = (Ticks { busy: 5, all: 9 }, Ticks { busy: 8, all: 20 });
        assert_eq!(late.since(early), Ticks { busy: 3, all: 11 });
    }

    #[test]
    fn a_process_has_a_parent_and_times_whatever_its_name() {
        let stat = "4711 (a) b (c) S 42 1 1 0 -1 4194304 99 7 0 0 250 31 4000 500 20 0 1 0 1356409 3133440";
        assert_eq!(process(stat), Some((42, 250 + 31 + 4000 + 500)));
        assert_eq!((process("4711 (short) S 42 1 1"), process("no process")), (None, None));
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

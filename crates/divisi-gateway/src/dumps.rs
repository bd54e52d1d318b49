//! Protection of the process's memory, as the servers have it: no core dump is written, and no other process
//! of the same user reads it.

#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Forbid core dumps, and `ptrace` and `/proc/PID/mem` to other processes. Call it before a secret is read.
/// If the system does not support one of the two, the other still takes effect.
pub(crate) fn forbid() {
    // each of the two calls only adds protection, so a failure of one is no reason to stop
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Raise the limit of open descriptors to the most that the system allows without privileges: a connection
/// takes one.
pub(crate) fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // with fewer descriptors fewer connections are open at a time
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Have the system kill this process when its parent ends, so that a process of a demonstration does not
/// outlive it.
pub(crate) fn end_with_parent() {
    // where the system cannot, whoever kills the demonstration ends its processes, too
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For the process of these tests, too: nothing in them needs a core dump.
    #[test]
    fn no_core_is_dumped_and_no_memory_shown() {
        forbid();
        let core = getrlimit(Resource::Core);
        assert_eq!((core.current, core.maximum), (Some(0), Some(0)));
        #[cfg(any(target_os = "linux", target_os = "android"))]
        assert_eq!(rustix::process::dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    }
}

//! Protection of a process's memory: no core dump is written, and no other process of the same user reads it.
//!
//! Root can read it all the same, and swap belongs to the operating system: SECURITY.md says what is out of
//! scope.

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// Forbid core dumps, and `ptrace` and `/proc/PID/mem` to other processes. Call it first in a process that
/// will hold secrets. If the system does not support one of the two, the other still takes effect.
pub fn forbid() {
    // each of the two calls only adds protection, so a failure of one is no reason to stop
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

//! Secrets of a process stay in it: no core dump is written, and no other process of the same user reads its
//! memory.
//!
//! Whoever is root reads it all the same, and swap is the operating system's: SECURITY.md says what is out of
//! scope.

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// Forbid core dumps, and `ptrace` and `/proc/PID/mem` to others. Call it first in a process that will hold
/// secrets; a system that does not know one of the two leaves the other in force.
pub fn forbid() {
    // both only add to what protects: a refusal changes nothing
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

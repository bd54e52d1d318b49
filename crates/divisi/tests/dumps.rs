//! No other process reads the memory of one that holds secrets. A process of its own: `forbid` cannot be
//! taken back, and other tests look into their own memory.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};

#[test]
fn neither_a_debugger_nor_a_core_dump_sees_the_memory() {
    assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::Dumpable, "this test was started wrongly");
    divisi::dumps::forbid();
    // what ptrace, /proc/PID/mem and core dumps are refused by
    assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    let core = getrlimit(Resource::Core);
    assert_eq!((core.current, core.maximum), (Some(0), Some(0)));
}

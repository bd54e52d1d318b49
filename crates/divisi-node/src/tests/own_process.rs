//! Tests that measure the memory of their process, each in a process of its own beside others.

use std::process::Command;

/// The bytes by which the memory of servers and clients, which are one process, may grow during an attack:
/// buffers of all connections that there may be at each of three servers, messages that were sent ahead and
/// answers that wait, the threads that serve them, and memory that the allocator keeps.
const GROWTH: usize = 256 << 20;

/// The resident bytes of this process, where the system tells.
pub fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    1024 * line.trim().trim_end_matches(" kB").parse::<usize>().unwrap()
}

/// Check that the memory did not grow by more than an attack may take.
pub fn bounded_memory(before: usize, what: &str) {
    let grown = resident().saturating_sub(before);
    println!("{what}: {} MiB more", grown >> 20);
    assert!(grown <= GROWTH, "{what}: {grown} bytes more");
}

/// Do the work of the test of this path in a process of its own: this program again, with this test alone.
pub fn in_own_process(test: &str, work: impl FnOnce()) {
    const ALONE: &str = "DIVISI_TEST_IN_OWN_PROCESS";
    if std::env::var_os(ALONE).is_some() {
        return work();
    }
    let mut own = Command::new(std::env::current_exe().unwrap());
    let output = own.args(["--exact", test, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{output:?}");
}

//! Tests that measure the memory of their process, each in a process of its own beside others.

use std::process::Command;

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

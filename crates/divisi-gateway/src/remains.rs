//! What lies in the memory of a process of tests, which is looked through.

use std::os::unix::fs::FileExt;
use zeroize::Zeroizing;

/// How often so many bytes of one of these patterns lie in the memory of this process. A pattern is computed
/// byte by byte, so that it lies nowhere itself.
pub(crate) fn copies(length: usize, patterns: &[fn(usize) -> u8]) -> usize {
    let memory = std::fs::File::open("/proc/self/mem").unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let (mut page, mut found) = (Zeroizing::new(vec![0; 4096]), 0);
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (range, _) = line.split_once(' ').unwrap();
        let (from, to) = range.split_once('-').unwrap();
        let [from, to] = [from, to].map(|digits| u64::from_str_radix(digits, 16).unwrap());
        for at in (from..to).step_by(page.len()) {
            // what is no memory is skipped, and what was read is left nowhere
            if memory.read_exact_at(&mut page, at).is_ok() && page.iter().any(|byte| *byte != 0) {
                for secret in patterns {
                    let is_copy =
                        |bytes: &&[u8]| bytes.iter().enumerate().all(|(i, byte)| *byte == secret(i));
                    found += page.windows(length).filter(is_copy).count();
                }
            }
            page.fill(0);
        }
    }
    found
}

/// Do the work of the test of this name in a process of its own, in which nothing else is done.
pub(crate) fn in_own_process(test: &str, work: impl FnOnce()) {
    const ALONE: &str = "DIVISI_TEST_IN_OWN_PROCESS";
    if std::env::var_os(ALONE).is_some() {
        return work();
    }
    let mut own = std::process::Command::new(std::env::current_exe().unwrap());
    let output = own.args(["--exact", test]).env(ALONE, "1").output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{output:?}");
}

//! Making triples ahead takes only the memory of the triples that stay and of one batch that is under way:
//! the rows of 2^22 triples would take 64 MiB for each party and direction.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::PublicParameters;
use divisi_core::testing::run;
use divisi_mixed::Gmw;
use divisi_ot::SetupConfig;

/// The most memory that this process ever had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
}

fn prepare(triples: usize) {
    let ends = run(2, &PublicParameters::new("mixed memory"), |session| {
        let mut gmw = Gmw::new(session, SetupConfig::default())?;
        gmw.prepare(triples)
    });
    assert!(ends.iter().all(Result::is_ok));
}

#[test]
fn triples_take_a_few_bits_each() {
    prepare(1 << 14);
    let before = peak();
    prepare(1 << 22);
    let grown = peak() - before;
    // of two parties: three bits that stay, two on the way, and at most 64 chunks of 64 KiB of corrections
    // each way
    let most = 2 * ((5 << 22) / 8 + 4 * (64 * (64 << 10)));
    assert!(grown < most + (8 << 20), "{grown} bytes");
}

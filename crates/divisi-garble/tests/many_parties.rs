//! Many parties in one process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::party;
use divisi_garble::lab::{BitSource, GarbleLab, in_turn};
use divisi_garble::{GarbleOptions, Plan};
use divisi_symmetric::circuits;
use divisi_symmetric::gates::Adder;
use std::time::{Duration, Instant};

/// Whether all inputs are one, and their parity.
fn all_and_parity(n: usize) -> Program {
    let mut g = Build::new();
    let x: Vec<_> = (0..n).map(|_| g.input(1)[0]).collect();
    let (mut all, mut parity) = (x[0], x[0]);
    for x in &x[1..] {
        all = g.and(all, *x);
        parity = g.xor(parity, *x);
    }
    g.output(&[all, parity]);
    g.finish()
}

fn everybody(n: usize, bits: BitSource) {
    let program = all_and_parity(n);
    let plan = Plan::for_all(&program, n, &in_turn(n, n)).unwrap();
    let lab = GarbleLab { bits, ..GarbleLab::default() };
    let mut inputs = vec![vec![1; n]; 2];
    inputs[1][n / 2] = 0;
    for (outputs, _) in lab.run(&plan, &inputs).unwrap() {
        assert_eq!(outputs, [[1, (n % 2) as u8], [0, ((n - 1) % 2) as u8]]);
    }
}

#[test]
fn sixty_four_parties() {
    everybody(64, BitSource::Dealer);
}

#[test]
fn ten_parties_from_the_set_up_on() {
    everybody(10, BitSource::Protocol);
}

/// Demands that a run takes at most a minute and 10 GiB. On a machine that has other things to do it may take
/// longer, but not more than a minute of two processors.
fn within_limits(run: impl FnOnce()) {
    let begun = Instant::now();
    run();
    let took = begun.elapsed();
    if took < Duration::from_secs(60) && !cfg!(target_os = "linux") {
        return;
    }
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // after the name in parentheses, which is the second field: user and system time stand 14th and 15th, in
    // hundredths of a second
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let used: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum::<u64>() / 100;
    assert!(took < Duration::from_secs(60) || used < 120, "it took {took:?}, and {used} s of processors");
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    let kibibytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kibibytes < 10 << 20, "{kibibytes} KiB");
    println!("{took:?}, {used} s of processors, {kibibytes} KiB");
}

#[test]
#[ignore = "a minute, optimised"]
fn a_hundred_and_twenty_eight_parties() {
    within_limits(|| everybody(128, BitSource::Protocol));
}

#[test]
#[ignore = "a minute and 10 GiB, optimised"]
fn aes_of_sixty_four_parties() {
    let program = circuits::named("aes128", Adder::FewestAnds).unwrap().unwrap();
    let plan = Plan::for_all(&program, 64, &[party(1), party(64)]).unwrap();
    let options = GarbleOptions { memory: 16 << 20, batch: 400, ..GarbleOptions::default() };
    let lab = GarbleLab { bits: BitSource::Protocol, options, streamed: true, ..GarbleLab::default() };
    let mut ends = Vec::new();
    within_limits(|| ends = lab.run(&plan, &[vec![0; 256]]).unwrap());
    let want = hex::decode("66e94bd4ef8a2c3b884cfa59ca342b2e").unwrap();
    let bits: Vec<u8> = want.iter().rev().flat_map(|b| (0..8).map(move |i| b >> i & 1)).collect();
    assert!(ends.iter().all(|(outputs, _)| outputs[0] == bits));
}

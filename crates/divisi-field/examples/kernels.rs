//! Prints the cost of the hot operations under every kernel that this processor runs: one table, quickly.
//!
//! `cargo run --release -p divisi-field --example kernels`; with statistics: `just bench-kernels`.

mod operations;

use std::time::{Duration, Instant};

use divisi_field::kernel;

fn main() {
    println!("ns per unit, the best of {ROUNDS} rounds\n");
    print!("{:<44}", "operation");
    kernel::available().iter().for_each(|kernel| print!("{:>12}", kernel.name()));
    println!();
    operations::each(&mut |name, units, f| line(name, units, f));
}

const ROUNDS: usize = 15;

/// One line: `units` are what one call of `f` does.
fn line(name: &str, units: usize, f: &mut dyn FnMut()) {
    print!("{name:<44}");
    for kernel in kernel::available() {
        let mut measured = || {
            let mut best = f64::MAX;
            for _ in 0..ROUNDS {
                let mut calls = 0;
                let start = Instant::now();
                while calls < 8 || start.elapsed() < Duration::from_millis(2) {
                    (0..8).for_each(|_| f());
                    calls += 8;
                }
                best = best.min(start.elapsed().as_nanos() as f64 / f64::from(calls));
            }
            best
        };
        if let Ok(best) = kernel::with(kernel, &mut measured) {
            print!("{:>12.4}", best / units as f64);
        }
    }
    println!();
}

//! Times the hot operations under every kernel that this processor runs, with statistics, and compares the
//! times with those of the last run.
//!
//! `just bench-kernels`, or of some: `just bench-kernels 'gf64 dot.*avx2'`. Throughput is in units a second:
//! a unit is what the name says.

#[path = "../../../crates/divisi-field/examples/operations/mod.rs"]
mod operations;

use criterion::{BenchmarkId, Criterion, Throughput};
use divisi_field::kernel;
use std::time::Duration;

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(50)
        .configure_from_args();
    operations::each(&mut |name, units, f| {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(units as u64));
        for kernel in kernel::available() {
            group.bench_function(BenchmarkId::from_parameter(kernel), |bencher| {
                // cannot fail: the kernel is one of those available
                let _ = kernel::with(kernel, || bencher.iter(&mut *f));
            });
        }
        group.finish();
    });
    criterion.final_summary();
}

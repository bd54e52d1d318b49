//! What operations take, among parties in one process, in CPU time of the busiest one:
//! `cargo test --release -p divisi-mixed --test it speed:: -- --ignored --nocapture`.

use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_core::testing::run;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, PublicParameters as Agreed, Session};
use divisi_field::zp::{Modulus, P32};
use divisi_mixed::{Gmw, GmwBit, Mixed, Num, cot, dabit};
use divisi_ot::{Bits, Links, Setup, SetupConfig};
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;
use std::time::Duration;

/// The CPU time of the calling thread at the last measurement.
struct Lap(Duration);

impl Lap {
    fn now() -> Duration {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    }

    fn begin() -> Lap {
        Lap(Lap::now())
    }

    /// Nanoseconds for each item since the last measurement.
    fn each(&mut self, items: usize) -> f64 {
        let before = std::mem::replace(&mut self.0, Lap::now());
        (self.0 - before).as_nanos() as f64 / items as f64
    }
}

/// The time of the busiest party, column by column: the least of some runs.
fn measure(names: &[&str], n: usize, runs: usize, f: impl Fn(Session) -> Result<Vec<f64>, Abort> + Sync) {
    let mut best = vec![f64::MAX; names.len()];
    for _ in 0..runs {
        let ends = run(n, &Agreed::new("mixed speed"), &f);
        for (i, best) in best.iter_mut().enumerate() {
            *best = best.min(ends.iter().map(|end| end.as_ref().unwrap()[i]).fold(0.0, f64::max));
        }
    }
    let told = names.iter().zip(&best).map(|(name, ns)| format!("{name} {ns:.1}"));
    println!("n = {n}: ns an item: {}", told.collect::<Vec<_>>().join(", "));
}

#[test]
#[ignore = "a measurement"]
fn boolean_triples() {
    for (n, count) in [(2, 1 << 20), (2, 1 << 16), (4, 1 << 18)] {
        measure(&["rows", "products", "all, batched"], n, 5, |session| {
            let mut gmw = Gmw::new(session, SetupConfig::default())?;
            let (session, setup) = gmw.ends()?;
            let mut lap = Lap::begin();
            let mut pads = setup.semi_honest_rows(session, Bits::Random(count), Links::All)?;
            let rows = lap.each(count);
            setup.correlate_bits(session, &mut pads, &vec![u64::MAX; count / 64])?;
            let products = lap.each(count);
            drop(pads);
            lap.each(1);
            gmw.prepare(count)?;
            Ok(vec![rows, products, lap.each(count)])
        });
    }
}

#[test]
#[ignore = "a measurement"]
fn bits_and_conversions() {
    let (plain, count, items) = (Modulus::new(P32).unwrap(), 1 << 17, 1 << 14);
    for n in [2, 4] {
        measure(&["random bit by transfers", "B2A ahead", "B2A online"], n, 5, |session| {
            let mut gmw = Gmw::new(session, SetupConfig::default())?;
            let (session, setup) = gmw.ends()?;
            let mut lap = Lap::begin();
            cot::dabit(session, setup, plain, count)?;
            let bit = lap.each(count);
            let mut mixed = Mixed::new(gmw, plain, None, None)?;
            lap.each(1);
            mixed.prepare_bits(32 * items)?;
            let ahead = lap.each(items);
            mixed.b2a(&vec![GmwBit::zero(items); 32])?;
            Ok(vec![bit, ahead, lap.each(items)])
        });
    }
}

/// The times by which the default form is chosen, with as many batches as parties, so that each party has
/// every role once.
#[test]
#[ignore = "a measurement"]
fn random_bits_of_two_forms() {
    let plain = Modulus::new(P32).unwrap();
    for n in [4, 8, 16] {
        let lattice = Parameters::derive(Operation::Bits, Form::LeanTree, n, P32).unwrap();
        let ring = Arc::new(Ring::new(lattice).unwrap());
        let count = ring.dimension();
        measure(&["cot", "lean-tree"], n, 1, |mut session| {
            let keys = Keys::generate(&mut session, &ring)?;
            let mut sampler = Sampler::new(&session);
            let mut setup = Setup::new(&mut session, SetupConfig::default())?;
            let mut lap = Lap::begin();
            for _ in 0..n {
                cot::dabit(&mut session, &mut setup, plain, count)?;
            }
            let transfers = lap.each(n * count);
            for _ in 0..n {
                dabit::dabit(&mut session, &keys, &mut sampler)?;
            }
            Ok(vec![transfers, lap.each(n * count)])
        });
    }
}

#[test]
#[ignore = "a measurement"]
fn numbers() {
    let plain = Modulus::new(P32).unwrap();
    for n in [2, 4] {
        let lattice = Parameters::derive(Operation::Triples, Form::LeanTree, n, P32).unwrap();
        let ring = Arc::new(Ring::new(lattice).unwrap());
        let items = ring.dimension();
        measure(&["arithmetic triple", "A2B ahead", "A2B online"], n, 3, |session| {
            let gmw = Gmw::new(session, SetupConfig::default())?;
            let mut mixed = Mixed::new(gmw, plain, None, Some(&ring))?;
            let mut lap = Lap::begin();
            mixed.prepare_products(4 * items)?;
            let triple = lap.each(4 * items);
            mixed.prepare_a2b(items)?;
            let ahead = lap.each(items);
            mixed.a2b(&Num::new(WipedVec::zeros(items)))?;
            Ok(vec![triple, ahead, lap.each(items)])
        });
    }
}

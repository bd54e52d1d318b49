//! Prints what the operations of one party cost, one core:
//! `cargo run --release -p divisi-bgv --example costs`.

use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Keys, Ring, Sampler, encode};
use divisi_core::{Abort, PublicParameters as Agreed, Session, local, step};
use std::sync::{Arc, Barrier};
use std::time::Instant;

fn main() {
    println!("us a call; set-up of all parties in one process on their cores in ms\n");
    for (operation, form, parties) in [
        (Operation::Bits, Form::LeanRing, 2),
        (Operation::Bits, Form::LeanRing, 4),
        (Operation::Bits, Form::LeanTree, 4),
        (Operation::Triples, Form::LeanTree, 2),
    ] {
        let Ok(parameters) = Parameters::derive(operation, form, parties, (1 << 32) - (1 << 30) + 1) else {
            continue;
        };
        let agreed = parameters.describe(Agreed::new("costs"));
        let Some(ring) = Ring::new(parameters).map(Arc::new) else { continue };
        let p = ring.parameters();
        println!(
            "{} {} n = {parties}: N = {}, log2 q = {:.0}, {} primes",
            operation.name(),
            form.name(),
            p.dimension(),
            p.log2_q(),
            p.chain().len()
        );
        let barrier = Barrier::new(parties);
        if let Err(abort) = local::run(parties, &agreed, |session| one(session, &ring, &barrier)) {
            println!("  {abort}");
        }
    }
}

fn one(mut session: Session, ring: &Arc<Ring>, barrier: &Barrier) -> Result<(), Abort> {
    let start = Instant::now();
    let keys = Keys::generate(&mut session, ring)?;
    let setup = start.elapsed();
    barrier.wait();
    if session.me().index() == 0 {
        println!("  {:<28}{:>9.1}", "set-up, ms", setup.as_secs_f64() * 1e3);
        let mut sampler = Sampler::new(&session);
        let top = ring.parameters().top();
        let slots = encode::signs(ring, &vec![1; ring.dimension()]);
        let plain = encode::encode(ring, &slots, ring.parameters().limbs(top));
        let x = keys.encrypt(&mut sampler, top, Some(&plain));
        let limbs = ring.parameters().limbs(top);
        line("encode", || drop(encode::encode(ring, &slots, limbs)));
        line("encrypt", || drop(keys.encrypt(&mut sampler, top, None)));
        line("times plain, encoding aside", || {
            let mut x = x.clone();
            x.times_plain(ring, &plain);
        });
        line("switch down", || drop(x.clone().switch(ring, top - 1)));
        if ring.parameters().operation() == Operation::Bits {
            line("hop", || drop(keys.hop(&session, &mut sampler, x.clone(), &slots)));
        }
        if ring.parameters().special().is_some() {
            line("product, relinearised", || drop(x.times(&keys, &session, step!("times"), &x)));
        }
    }
    barrier.wait();
    Ok(())
}

fn line(name: &str, mut f: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        f();
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
    }
    println!("  {name:<28}{best:>9.1}");
}

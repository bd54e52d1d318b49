//! Prints what the operations of one party cost on one core: `cargo run --release -p divisi-bgv --example
//! costs`.

use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Keys, Poly, Ring, Sampler, encode};
use divisi_core::{Abort, PublicParameters as Agreed, Session, local, step};
use divisi_field::ntt::Ntt;
use std::sync::{Arc, Barrier};
use std::time::Instant;

fn main() {
    println!("microseconds a call; set-up in milliseconds, with all parties in one process\n");
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
    largest_ring((1 << 32) - (1 << 30) + 1);
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
        let x = keys.encrypt(&mut sampler, top, Some(&encode::coefficients(ring, &slots)));
        let limbs = ring.parameters().limbs(top);
        line("encode", || drop(encode::encode(ring, &slots, limbs)));
        line("encrypt", || drop(keys.encrypt(&mut sampler, top, None)));
        line("times plain, encoding aside", || {
            let mut c = x.components().map(Poly::clone);
            c.iter_mut().for_each(|c| ring.mul(c, &plain));
        });
        line("switch down", || drop(x.clone().switch(ring, top - 1)));
        if ring.parameters().operation() == Operation::Bits {
            line("hop", || drop(keys.hop(&session, &mut sampler, x.clone(), &slots)));
        }
        if ring.parameters().special().is_some() {
            let most = ring.parameters().limbs_of_products();
            let level = (0..=top).rev().find(|level| ring.parameters().limbs(*level) <= most).unwrap_or(0);
            let x = x.switch(ring, level);
            line("product, relinearised", || drop(x.times(&keys, &session, step!("times"), &x)));
        }
    }
    barrier.wait();
    Ok(())
}

/// The largest ring: one transform, and a product of a ciphertext of some 530 bits by a plaintext.
fn largest_ring(plain: u64) {
    let Ok(parameters) = Parameters::derive(Operation::Bits, Form::LeanRing, 32, plain) else { return };
    let bits = |limbs: usize| parameters.chain()[..limbs].iter().map(|q| (*q as f64).log2()).sum::<f64>();
    let limbs = (1..=parameters.chain().len()).find(|limbs| bits(*limbs) > 530.0).unwrap_or(1);
    println!("N = {}: log2 q = {:.0}, {limbs} primes", parameters.dimension(), bits(limbs));
    if let Some(ntt) = Ntt::new(parameters.chain()[0], parameters.dimension()) {
        let mut x: Vec<u64> = (0..ntt.len() as u64).collect();
        line("transform", || ntt.forward(&mut x));
        line("transform back", || ntt.inverse(&mut x));
    }
    let Some(ring) = Ring::new(parameters) else { return };
    let slots: Vec<u64> = (0..ring.dimension() as u64).collect();
    let mut c = [(); 2].map(|()| encode::encode(&ring, &slots, limbs));
    let plain = encode::encode(&ring, &slots, limbs);
    line("times plain, encoding aside", || c.iter_mut().for_each(|c| ring.mul(c, &plain)));
    line("times plain", || {
        let plain = encode::encode(&ring, &slots, limbs);
        c.iter_mut().for_each(|c| ring.mul(c, &plain));
    });
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

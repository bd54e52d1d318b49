//! The two worlds of one party's shares, which are encrypted, multiplied, refreshed and shared again; all
//! others are curious together, and one of them has the ciphertext.

use crate::tools::{PASS, elements, small};
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Ciphertext, Keys, Ring, Sampler};
use divisi_core::testing::nets::worlds::{WorldNet, WorldRun, WorldShape};
use divisi_core::testing::party;
use divisi_core::{Abort, PublicParameters, Session};
use std::sync::Arc;

fn play(mut session: Session, run: WorldRun, ring: &Arc<Ring>) -> Result<Vec<u8>, Abort> {
    let keys = Keys::generate(&mut session, ring)?;
    let mut sampler = Sampler::new(&session);
    let (n, p) = (ring.dimension(), ring.parameters().plain());
    let seed = if session.me() == party(1) { 10 + run.world as u64 } else { 2 };
    let holder = party(2);
    let [a, b] = [elements(seed, p, n), elements(seed + 50, p, n)];
    let x = keys.a2e(&mut session, &mut sampler, holder, &a)?;
    let y = keys.a2e(&mut session, &mut sampler, holder, &b)?;
    let z = match (x, y) {
        (Some(x), Some(y)) => Some(x.times(&keys, &session, PASS, &y)?.switch(ring, 0)),
        _ => None,
    };
    let factor = Ciphertext::factor_after(ring, 1, ring.parameters().top(), 0);
    keys.e2a(&mut session, &mut sampler, holder, z.as_ref(), factor)?;
    Ok(Vec::new())
}

#[test]
fn the_others_cannot_tell_two_worlds_apart() {
    let ring = small(Operation::Triples, Form::LeanTree, 3);
    let agreed = ring.parameters().describe(PublicParameters::new("worlds"));
    let own = ring.clone();
    let play = move |session, run| play(session, run, &own);
    let shape = WorldShape::new("a product", 3, &[2, 3], play).agreeing(agreed);
    let net = WorldNet { folder: env!("CARGO_MANIFEST_DIR"), shapes: vec![shape] };
    assert_eq!(net.judge(), [] as [String; 0]);
}

//! The nets of threshold BGV (docs/nets.md): shapes of keys, shares and refreshes, and the censuses over
//! them. Whoever deviates may make results wrong; nobody waits for ever, panics, or accepts a message of
//! another length.

mod draws;
mod worlds;

use crate::tools::{PASS, elements, small};
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Ciphertext, Keys, Ring, Sampler, encode};
use divisi_core::testing::nets::messages::{Extent, MessageNet};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, ShapeSecurity, varied};
use divisi_core::testing::party;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, PublicParameters, Session};
use std::sync::Arc;

/// Chooses what default tests change.
const SEED: u64 = 1;

/// Everything among so many parties.
fn shapes(parties: usize) -> Vec<NetShape> {
    let of = |name, operation, form, run: fn(Session, u64, &Arc<Ring>) -> Result<(), Abort>| {
        let ring = small(operation, form, parties);
        let agreed = ring.parameters().describe(PublicParameters::new(name));
        NetShape::new(name, parties, ShapeSecurity::Curious, move |session, seed, out: &mut ShapeOutcome| {
            run(session, seed, &ring)?;
            out.put("done", vec![1]);
            Ok(())
        })
        .agreeing(agreed)
    };
    vec![
        of("products of shares", Operation::Triples, Form::LeanTree, triples),
        of("refreshes", Operation::PrivateTables, Form::LeanRing, refreshes),
        of("refreshes in the paper's form", Operation::PrivateTables, Form::Paper, refreshes),
        of("products of vectors", Operation::BlockProducts, Form::LeanTree, vectors),
    ]
}

/// a b on shares: two A2E, a product, E2A; at two holders.
fn triples(mut session: Session, seed: u64, ring: &Arc<Ring>) -> Result<(), Abort> {
    let keys = Keys::generate(&mut session, ring)?;
    let mut sampler = Sampler::new(&session);
    let (n, p) = (ring.dimension(), ring.parameters().plain());
    for holder in [party(1), party(3)] {
        let me = varied(seed, session.me().index() as u64) + seed;
        let [a, b] = [elements(me, p, n), elements(me + varied(seed, 50), p, n)];
        let x = keys.a2e(&mut session, &mut sampler, holder, &a)?;
        let y = keys.a2e(&mut session, &mut sampler, holder, &b)?;
        let z = match (x, y) {
            (Some(x), Some(y)) => Some(x.times(&keys, &session, PASS, &y)?.switch(ring, 0)),
            _ => None,
        };
        let factor = Ciphertext::factor_after(ring, 1, ring.parameters().top(), 0);
        keys.e2a(&mut session, &mut sampler, holder, z.as_ref(), factor)?;
    }
    Ok(())
}

/// Shared vectors times shared numbers, twice, with other roles and sizes. The last party answers for several
/// products of a call: its draws are those that the census of parts changes.
fn vectors(mut session: Session, seed: u64, ring: &Arc<Ring>) -> Result<(), Abort> {
    let keys = Keys::generate(&mut session, ring)?;
    let mut sampler = Sampler::new(&session);
    let (n, p) = (ring.dimension(), ring.parameters().plain());
    let me = varied(seed, session.me().index() as u64) + seed;
    for (adder, holder, products) in [(party(1), party(3), 1), (party(2), party(2), 3)] {
        let shares = [0, 9, 5].map(|more| WipedVec::from(&*elements(me + varied(seed, more), p, n)));
        let x = keys.a2e_to_all(&mut session, &mut sampler, adder, &shares[..products])?;
        let factors = [1, 2, 3].map(|more| vec![WipedVec::from(&*elements(me + varied(seed, more), p, 1))]);
        keys.times_shares(&mut session, &mut sampler, holder, &x, &factors[..products])?;
    }
    Ok(())
}

/// Every party in turn has a ciphertext refreshed, and opened to shares.
fn refreshes(mut session: Session, seed: u64, ring: &Arc<Ring>) -> Result<(), Abort> {
    let keys = Keys::generate(&mut session, ring)?;
    let mut sampler = Sampler::new(&session);
    let top = ring.parameters().top();
    let factor = Ciphertext::factor_after(ring, 1, top, 0);
    let slots = elements(seed, ring.parameters().plain(), ring.dimension());
    for (place, holder) in [1, 2, 3].map(party).into_iter().enumerate() {
        let held = (session.me() == holder).then(|| {
            let encoded = encode::coefficients(ring, &slots);
            keys.encrypt(&mut sampler, top, Some(&encoded)).switch(ring, 0)
        });
        keys.refresh(&mut session, &mut sampler, holder, held.as_ref(), factor, 1 + place % top)?;
        keys.e2a(&mut session, &mut sampler, holder, held.as_ref(), factor)?;
    }
    Ok(())
}

/// Steps with which nothing is sent.
const SILENT: &[(&str, &str)] = &[
    ("divisi_bgv::exchange/exchange", "names what an exchange refuses, which is local"),
    ("divisi_bgv::hop/hop", "names what a hop refuses, which is local"),
    ("divisi_bgv::keys/parameters", "names what is refused before keys are made"),
];

fn net() -> MessageNet<'static> {
    MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes: shapes(3),
        crowds: shapes(5),
        silent: SILENT,
        checks: divisi_bgv::checks::ALL,
        idle: &[],
        varies: &[],
        narrow: &[],
    }
}

#[test]
fn census_of_messages() {
    net().demand(Extent::sample(SEED, 2));
}

#[test]
#[ignore = "every step, in every way"]
fn census_of_all_messages() {
    net().demand(Extent::All);
}

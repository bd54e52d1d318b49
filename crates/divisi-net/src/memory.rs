//! Meshes in memory: all parties in one process, each in its own threads.
//!
//! A link is no more than the receiver's inbox, so a hundred parties cost 9,900 empty queues and no thread.
//! There is no encryption, and the link secrets are drawn afresh for each mesh.

use crate::fabric::{Fabric, Link, Out};
use crate::mesh::Mesh;
use crate::options::Options;
use crate::{Machine, PartyId, World};
use std::sync::{Arc, OnceLock, Weak};
use zeroize::Zeroizing;

/// The meshes of `n` parties, in order.
pub fn mesh(n: usize) -> Vec<Mesh> {
    mesh_with(n, &Options::default(), Arc::new(Machine))
}

/// The meshes of `n` (at most 255) parties, in order, with all choices made by the caller.
pub fn mesh_with(n: usize, options: &Options, world: Arc<dyn World>) -> Vec<Mesh> {
    let places: Vec<Arc<OnceLock<Weak<Fabric>>>> = PartyId::all(n).map(|_| Arc::default()).collect();
    // Row i holds the secrets of party i with those before it.
    let secrets: Vec<Vec<Zeroizing<[u8; 32]>>> =
        (0..places.len()).map(|i| (0..i).map(|_| fresh(&*world)).collect()).collect();
    let fabric = |me: PartyId| {
        let links = PartyId::all(n).zip(&places).map(|(peer, place)| {
            let (low, high) = (me.min(peer).index(), me.max(peer).index());
            let secret = secrets.get(high)?.get(low)?.clone();
            Some(Link::new(peer, options, Out::Memory(place.clone()), secret))
        });
        Arc::new(Fabric::new(me, world.clone(), options, links.collect()))
    };
    PartyId::all(n)
        .zip(&places)
        .map(|(me, place)| {
            let fabric = fabric(me);
            // Each place is filled once, here.
            let _ = place.set(Arc::downgrade(&fabric));
            Mesh::from_fabric(fabric)
        })
        .collect()
}

fn fresh(world: &dyn World) -> Zeroizing<[u8; 32]> {
    let mut secret = Zeroizing::new([0; 32]);
    world.entropy(&mut *secret);
    secret
}

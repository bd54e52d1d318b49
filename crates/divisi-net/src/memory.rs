//! Meshes in memory: all parties in one process, each in its own threads.
//!
//! A link is no more than the receiver's inbox, so a hundred parties cost 9,900 empty queues and no thread.
//! There is no encryption, and the link secrets are drawn afresh for each mesh.

use crate::fabric::{Fabric, Link, Out};
use crate::mesh::Mesh;
use crate::options::Options;
use crate::skip::Skipping;
use crate::{Machine, PartyId, World};
use std::sync::{Arc, OnceLock, Weak};
use zeroize::Zeroizing;

/// The meshes of `n` parties, in order.
pub fn mesh(n: usize) -> Vec<Mesh> {
    mesh_with(n, &Options::default(), Arc::new(Machine))
}

/// The meshes of `n` (at most 255) parties, in order, with all options given by the caller.
pub fn mesh_with(n: usize, options: &Options, world: Arc<dyn World>) -> Vec<Mesh> {
    build(n, options, world, None)
}

/// Like [`mesh_with`], for tests in which a message never arrives: as soon as no party can send anything,
/// because all of them wait in a receive or have ended, the first time limit passes at once. A limit can then
/// be long, so that a busy machine does not reach it, and costs no time. A thread that acts for a party
/// without a channel of it says so by [`crate::tamper::Tap::busy`].
pub fn mesh_that_skips(n: usize, options: &Options, world: Arc<dyn World>) -> Vec<Mesh> {
    let skipping = Skipping::new(n, world);
    build(n, options, skipping.clone(), Some(skipping))
}

fn build(n: usize, options: &Options, world: Arc<dyn World>, skipping: Option<Arc<Skipping>>) -> Vec<Mesh> {
    let places: Vec<Arc<OnceLock<Weak<Fabric>>>> = PartyId::all(n).map(|_| Arc::default()).collect();
    // Row i holds the secrets of party i with those before it.
    let secrets: Vec<Vec<Zeroizing<[u8; 32]>>> =
        (0..places.len()).map(|i| (0..i).map(|_| fresh(&*world)).collect()).collect();
    let fabric = |me: PartyId| {
        let links = PartyId::all(n).zip(&places).map(|(peer, place)| {
            let (low, high) = (me.min(peer).index(), me.max(peer).index());
            let secret = secrets.get(high)?.get(low)?.clone();
            let link = Link::new(peer, options, Out::Memory(place.clone()), secret);
            Some(skipping.iter().fold(link, Link::with_skipping))
        });
        let fabric = Fabric::new(me, world.clone(), options, links.collect());
        Arc::new(skipping.iter().fold(fabric, Fabric::with_skipping))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bit of a link's secret is drawn.
    #[test]
    fn secrets_have_no_bit_that_stays() {
        crate::world::assert_drawn(|| fresh(&Machine).to_vec());
    }
}

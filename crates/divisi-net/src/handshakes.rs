//! Handshakes under way at a door: how many there may be, in all and from one address.
//!
//! Anybody can open a connection and say nothing. So a place is held for a short time only, newcomers that find
//! no place wait in the listening port's own queue, and no far machine takes more than its part of the places.
//! Connections of this machine share one address, parties, clients and all, and are not told apart.

use crate::world::lock;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Connections whose identity is not proved yet.
const ALL: usize = 64;
/// Those of one far address, once half of all places are taken.
const ONE: usize = 16;
/// How long a connection may take to say the first thing.
pub(crate) const SILENCE: Duration = Duration::from_secs(1);

/// The handshakes under way, by address.
#[derive(Default)]
pub(crate) struct Handshakes {
    places: Mutex<BTreeMap<IpAddr, usize>>,
    freed: Condvar,
}

impl Handshakes {
    /// Waits at most this long for a free place; whether there is one.
    pub fn wait(&self, time: Duration) -> bool {
        let full = |places: &mut BTreeMap<IpAddr, usize>| places.values().sum::<usize>() >= ALL;
        let waited = self.freed.wait_timeout_while(lock(&self.places), time, full);
        let mut places = waited.unwrap_or_else(PoisonError::into_inner).0;
        !full(&mut places)
    }

    /// Takes a place; `None` if this address has its part already.
    pub fn admit(self: &Arc<Self>, from: IpAddr) -> Option<Place> {
        let from = from.to_canonical();
        let places = &mut *lock(&self.places);
        let crowded = places.values().sum::<usize>() >= ALL / 2;
        let own = places.entry(from).or_default();
        if crowded && *own >= ONE && !from.is_loopback() {
            return None;
        }
        *own += 1;
        Some(Place { of: self.clone(), from })
    }
}

/// One handshake's place, while it lives.
pub(crate) struct Place {
    of: Arc<Handshakes>,
    from: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let places = &mut *lock(&self.of.places);
        if let Some(own) = places.get_mut(&self.from) {
            *own -= 1;
            if *own == 0 {
                places.remove(&self.from);
            }
        }
        self.of.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    #[test]
    fn one_address_leaves_places_for_others() {
        let all: Arc<Handshakes> = Arc::default();
        let greedy: Vec<_> = (0..200).filter_map(|_| all.admit(IpAddr::from([192, 0, 2, 1]))).collect();
        assert_eq!(greedy.len(), ALL / 2);
        // The same address in its other form is the same address.
        let mapped = std::net::Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped();
        assert!(all.admit(mapped.into()).is_none());
        let second: Vec<_> = (0..200).filter_map(|_| all.admit(IpAddr::from([192, 0, 2, 2]))).collect();
        assert_eq!(second.len(), ONE);
        assert!(all.wait(SOON) && all.admit(IpAddr::from([192, 0, 2, 3])).is_some());
        drop((greedy, second));
        assert!(lock(&all.places).is_empty());
    }

    #[test]
    fn this_machine_may_use_all_places_and_gets_them_back() {
        let all: Arc<Handshakes> = Arc::default();
        let mut held: Vec<_> = (0..ALL).filter_map(|_| all.admit(IpAddr::from([127, 0, 0, 1]))).collect();
        assert_eq!(held.len(), ALL);
        assert!(!all.wait(SOON));
        held.pop();
        assert!(all.wait(SOON));
    }
}

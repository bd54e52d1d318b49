//! Handshakes in progress at a listening port: their limit, and which of them are dropped.
//!
//! Anybody can open a connection and stop in the middle of the handshake. Therefore the number of places is
//! limited, and when all are taken, a newcomer replaces the oldest handshake of the address that has most of
//! them: a flood displaces itself, and a quick peer is served. The parties' addresses in the configuration,
//! and those from which a party has authenticated, have places of their own, so that a party can connect
//! during a flood. Machines in one IPv6 network (/64) count as one address.

use crate::world::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The number of places for connections whose identity is not proved yet. A flood of 200 a second that stops
/// after the server's first words holds 300 places, each for [`ANSWER`].
const ALL: usize = 320;
/// The number of further places that are kept for the addresses of parties.
const PARTIES: usize = 32;
/// The number of addresses of parties that are remembered.
const KNOWN: usize = 1024;
/// How long a connection may be silent at first, unless its place is needed: its machine may be busy.
pub(crate) const SILENCE: Duration = Duration::from_secs(5);
/// How long a connection may take to answer the server's first words.
pub(crate) const ANSWER: Duration = Duration::from_millis(1500);

/// The address by which machines are told apart: in IPv6 the network (/64).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Origin(IpAddr);

impl Origin {
    fn of(address: IpAddr) -> Origin {
        Origin(match address.to_canonical() {
            IpAddr::V6(v6) if !v6.is_loopback() => {
                let network = u128::from(v6) >> 64 << 64;
                Ipv6Addr::from(network).into()
            }
            other => other,
        })
    }
}

/// The number of handshakes that ended without a known identity, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Replaced by newer ones.
    pub displaced: u64,
    /// Silent, or too slow.
    pub slow: u64,
    /// Showed an identity that is not in the configuration, or this party's own.
    pub unknown: u64,
    /// Malformed, or closed by the peer.
    pub broken: u64,
}

impl Refused {
    /// The sum of all.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.displaced + self.slow + self.unknown + self.broken
    }
}

struct Held {
    from: Origin,
    /// Whether it stands in a place that is kept for parties.
    kept: bool,
    socket: Option<TcpStream>,
}

#[derive(Default)]
struct Table {
    /// In the order of their coming.
    held: BTreeMap<u64, Held>,
    next: u64,
    parties: BTreeSet<Origin>,
    refused: Refused,
}

/// The handshakes under way.
#[derive(Default)]
pub(crate) struct Handshakes(Mutex<Table>);

impl Handshakes {
    /// Takes a place for a connection from this address; an older one may have to give way.
    pub fn admit(self: &Arc<Self>, from: IpAddr, socket: Option<TcpStream>) -> HandshakeSlot {
        let from = Origin::of(from);
        let table = &mut *lock(&self.0);
        let general = table.held.values().filter(|held| !held.kept).count();
        let kept = general >= ALL && table.parties.contains(&from);
        if kept {
            if table.held.len() - general >= PARTIES {
                table.displace(|held| held.kept);
            }
        } else if general >= ALL {
            let crowd = table.most_crowded();
            table.displace(|held| !held.kept && Some(held.from) == crowd);
        }
        let number = table.next;
        table.next += 1;
        table.held.insert(number, Held { from, kept, socket });
        HandshakeSlot { of: self.clone(), number }
    }

    /// Records that this is the address of a party, by the configuration or because a party proved its
    /// identity from it.
    pub fn proved(&self, from: IpAddr) {
        let table = &mut *lock(&self.0);
        if table.parties.len() < KNOWN {
            table.parties.insert(Origin::of(from));
        }
    }

    /// Forgets the addresses of all parties.
    pub fn forget_parties(&self) {
        lock(&self.0).parties.clear();
    }

    /// Whether this is known to be the address of a party.
    #[cfg(test)]
    pub fn expects(&self, from: IpAddr) -> bool {
        lock(&self.0).parties.contains(&Origin::of(from))
    }

    /// Counts a failed handshake, unless it was displaced, which is counted already.
    pub fn count(&self, slot: &HandshakeSlot, why: impl FnOnce(&mut Refused) -> &mut u64) {
        let table = &mut *lock(&self.0);
        if table.held.contains_key(&slot.number) {
            *why(&mut table.refused) += 1;
        }
    }

    /// The counts since the last call.
    pub fn take_refused(&self) -> Refused {
        std::mem::take(&mut lock(&self.0).refused)
    }
}

impl Table {
    /// The address with the most places that are not kept for parties.
    fn most_crowded(&self) -> Option<Origin> {
        let mut places: BTreeMap<Origin, usize> = BTreeMap::new();
        for held in self.held.values().filter(|held| !held.kept) {
            *places.entry(held.from).or_default() += 1;
        }
        places.into_iter().max_by_key(|(_, places)| *places).map(|(from, _)| from)
    }

    /// Ends the oldest handshake for which `of` is true.
    fn displace(&mut self, of: impl Fn(&Held) -> bool) {
        let oldest = self.held.iter().find(|(_, held)| of(held)).map(|(number, _)| *number);
        if let Some(held) = oldest.and_then(|number| self.held.remove(&number)) {
            self.refused.displaced += 1;
            // its thread finds the socket closed; an error means that it is closed already
            let _ = held.socket.map(|socket| socket.shutdown(Shutdown::Both));
        }
    }
}

/// One handshake's place, while it lives.
pub(crate) struct HandshakeSlot {
    of: Arc<Handshakes>,
    number: u64,
}

impl Drop for HandshakeSlot {
    fn drop(&mut self) {
        lock(&self.of.0).held.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn v4(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn holds(all: &Handshakes, slot: &HandshakeSlot) -> bool {
        lock(&all.0).held.contains_key(&slot.number)
    }

    #[test]
    fn a_flood_displaces_itself() {
        let all: Arc<Handshakes> = Arc::default();
        let [honest, other] = [1, 9].map(|last| all.admit(v4(last), None));
        let flood: Vec<_> = (0..2 * ALL).map(|_| all.admit(v4(2), None)).collect();
        assert!(holds(&all, &honest) && holds(&all, &other));
        assert!(!holds(&all, &flood[0]) && holds(&all, &flood[2 * ALL - 1]));
        let late = all.admit(v4(3), None);
        assert!(holds(&all, &late) && holds(&all, &honest));
        assert_eq!(all.take_refused().displaced, ALL as u64 + 3);
        assert_eq!(all.take_refused(), Refused::default());
        drop((flood, late, honest, other));
        assert!(lock(&all.0).held.is_empty());
    }

    #[test]
    fn parties_have_places_that_no_flood_takes() {
        let all: Arc<Handshakes> = Arc::default();
        all.proved(v4(7));
        // while there is room, parties leave the places that are kept for them
        let early: Vec<_> = (0..ALL).map(|_| all.admit(v4(7), None)).collect();
        assert!(early.iter().all(|place| holds(&all, place)));
        assert!(lock(&all.0).held.values().all(|held| !held.kept));
        drop(early);
        let flood: Vec<_> = (0..=255_u8)
            .flat_map(|i| [[198, 51, 100, i], [203, 0, 113, i]])
            .map(|from| all.admit(IpAddr::from(from), None))
            .collect();
        let before = all.take_refused().displaced;
        let party = all.admit(v4(7), None);
        let held = lock(&all.0).held.len();
        assert_eq!((before, held, all.take_refused().displaced), (512 - ALL as u64, ALL + 1, 0));
        let more: Vec<_> = (0..=255).map(|i| all.admit(IpAddr::from([10, 0, 0, i]), None)).collect();
        assert!(holds(&all, &party));
        // a flood from the address of a party displaces connections from that address
        let own: Vec<_> = (0..PARTIES).map(|_| all.admit(v4(7), None)).collect();
        assert!(!holds(&all, &party) && own.iter().all(|place| holds(&all, place)));
        // and the places that are kept count for no flood
        let late = all.admit(v4(9), None);
        let general = lock(&all.0).held.values().filter(|held| !held.kept).count();
        assert!(holds(&all, &late) && general == ALL);
        drop((flood, more));
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let address = |text: &str| Origin::of(text.parse().unwrap());
        assert_eq!(address("2001:db8:1:2::3"), address("2001:db8:1:2:ffff::9"));
        assert_ne!(address("2001:db8:1:2::3"), address("2001:db8:1:3::3"));
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
        assert_eq!(address("::1"), Origin(IpAddr::from(Ipv6Addr::LOCALHOST)));
    }

    #[test]
    fn what_was_displaced_is_counted_once() {
        let all: Arc<Handshakes> = Arc::default();
        let first = all.admit(v4(1), None);
        let _rest: Vec<_> = (0..ALL).map(|_| all.admit(v4(1), None)).collect();
        all.count(&first, |refused| &mut refused.broken);
        let second = all.admit(v4(2), None);
        all.count(&second, |refused| &mut refused.slow);
        assert_eq!(all.take_refused(), Refused { displaced: 2, slow: 1, ..Refused::default() });
    }
}

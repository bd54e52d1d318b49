//! Which connections of clients are open, and which of them gives way to a newcomer.

use crate::request;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The most connections at a time of all clients together, and of one client. More are turned away, except
/// that a client without a connection gets the place of another's.
const CONNECTIONS: (usize, usize) = (256, request::CONNECTIONS);
/// The largest number of connections for a short time, while older ones are being closed.
const LEAVING: usize = 2 * CONNECTIONS.0;

/// What is known of an open connection.
struct Open {
    number: u64,
    /// It has to close in favour of another client's, once it has sent its client all answers.
    leaves: bool,
    /// Since when it has had no request; `None` while it has one.
    idle: Option<Instant>,
}

/// The connections by client, the oldest first.
#[derive(Default)]
struct Table {
    open: BTreeMap<String, Vec<Open>>,
    next: u64,
}

impl Table {
    /// The connection that gives way: the oldest of the client with most; where nobody has more than one,
    /// the one without a request for longest. `None` if each client has one, with a request.
    fn gives_way(&mut self) -> Option<&mut Open> {
        let staying = |open: &[Open]| open.iter().filter(|open| !open.leaves).count();
        let most = self.open.iter().max_by_key(|(_, open)| staying(open));
        let most = most.filter(|(_, open)| staying(open) > 1).map(|(name, _)| name.clone());
        if let Some(name) = most {
            return self.open.get_mut(&name)?.iter_mut().find(|open| !open.leaves);
        }
        let idle = self.open.values_mut().flatten().filter(|open| !open.leaves && open.idle.is_some());
        idle.min_by_key(|open| (open.idle, open.number))
    }
}

/// The connections of all clients.
#[derive(Clone, Default)]
pub(super) struct OpenConnections(Arc<Mutex<Table>>);

/// Counts a connection while its thread lives.
pub(crate) struct ConnectionSlot {
    all: OpenConnections,
    name: String,
    number: u64,
}

impl ConnectionSlot {
    /// A slot for a connection of this client, if there is room; another connection may have to give way.
    pub(super) fn admit(all: &OpenConnections, name: &str, now: Instant) -> Option<ConnectionSlot> {
        let mut table = all.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = table.open.get(name).map_or(0, Vec::len);
        let total = table.open.values().map(Vec::len).sum::<usize>();
        let staying = table.open.values().flatten().filter(|open| !open.leaves).count();
        if own >= CONNECTIONS.1 || total >= LEAVING || (total >= CONNECTIONS.0 && own > 0) {
            return None;
        }
        if staying >= CONNECTIONS.0
            && let Some(open) = table.gives_way()
        {
            // if none can give way, the newcomer takes one of the places for connections that leave
            open.leaves = true;
        }
        let number = table.next;
        table.next += 1;
        let open = Open { number, leaves: false, idle: Some(now) };
        table.open.entry(name.to_owned()).or_default().push(open);
        Some(ConnectionSlot { all: all.clone(), name: name.to_owned(), number })
    }

    /// Whether this connection has to close, once its client has all answers; `idle` says since when it has
    /// had no request.
    pub fn leaves(&self, idle: Option<Instant>) -> bool {
        let mut table = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own =
            table.open.get_mut(&self.name).and_then(|own| own.iter_mut().find(|o| o.number == self.number));
        own.is_some_and(|open| {
            open.idle = idle;
            open.leaves
        })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut table = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = table.open.get_mut(&self.name) {
            own.retain(|open| open.number != self.number);
        }
        table.open.retain(|_, own| !own.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Those of these slots that are to leave; `since` says since when each is idle.
    fn leaving(slots: &[ConnectionSlot], since: impl Fn(usize) -> Option<Instant>) -> Vec<usize> {
        (0..slots.len()).filter(|at| slots[*at].leaves(since(*at))).collect()
    }

    /// Clients that hold all connections cannot keep out a client that has none; a client with one connection
    /// keeps it.
    #[test]
    fn who_has_no_connection_gets_one_of_whoever_has_most() {
        let (all, now) = (OpenConnections::default(), Instant::now());
        let admit = |name: &str| ConnectionSlot::admit(&all, name, now);
        let each = CONNECTIONS.1;
        let names: Vec<String> = (0..CONNECTIONS.0 / each).map(|i| format!("greedy {i}")).collect();
        let mut held: Vec<ConnectionSlot> =
            (0..CONNECTIONS.0).map(|i| admit(&names[i / each]).expect("there is space")).collect();
        let leaving = |slots: &[ConnectionSlot]| leaving(slots, |_| Some(now)).len();
        assert!(names.iter().all(|name| admit(name).is_none()));
        let modest: Vec<ConnectionSlot> = (0..20).filter_map(|i| admit(&format!("m{i}"))).collect();
        assert_eq!((modest.len(), leaving(&held), leaving(&modest)), (20, 20, 0));
        // none loses more than its share, and the oldest goes first
        for name in &names {
            let own: Vec<bool> =
                held.iter().filter(|slot| slot.name == *name).map(|slot| slot.leaves(Some(now))).collect();
            let gone = own.iter().filter(|leaves| **leaves).count();
            assert!((2..=3).contains(&gone) && own[..gone].iter().all(|leaves| *leaves), "{own:?}");
        }
        assert!(admit("m0").is_none());
        // places that are given up are free again
        held.retain(|slot| !slot.leaves(Some(now)));
        drop(modest);
        assert!((0..20).all(|_| admit("m0").is_some()));
        let again: Vec<ConnectionSlot> = (0..20).filter_map(|_| admit("m0")).collect();
        assert_eq!((again.len(), leaving(&held)), (20, 0));
    }

    /// One client has so many connections and no more, also where nobody else has any; what it closes is free
    /// for it again.
    #[test]
    fn a_client_alone_has_no_more_than_its_share() {
        let (all, now) = (OpenConnections::default(), Instant::now());
        let admit = || ConnectionSlot::admit(&all, "greedy", now);
        let mut held: Vec<ConnectionSlot> = (0..2 * CONNECTIONS.0).filter_map(|_| admit()).collect();
        assert_eq!(held.len(), CONNECTIONS.1);
        held.truncate(CONNECTIONS.1 - 3);
        assert_eq!((0..10).filter_map(|_| admit().map(|slot| held.push(slot))).count(), 3);
    }

    /// A connection that was told to leave is its client's until it is closed: as long as it stays, the
    /// client gets no other in its place.
    #[test]
    fn who_does_not_close_what_has_to_leave_gets_no_more() {
        let (all, now) = (OpenConnections::default(), Instant::now());
        let admit = |name: &str| ConnectionSlot::admit(&all, name, now);
        let names: Vec<String> = (0..CONNECTIONS.0 / CONNECTIONS.1).map(|i| format!("greedy {i}")).collect();
        let mut held: Vec<ConnectionSlot> =
            names.iter().flat_map(|name| [name; CONNECTIONS.1]).filter_map(|name| admit(name)).collect();
        let modest: Vec<ConnectionSlot> = (0..20).filter_map(|i| admit(&format!("m{i}"))).collect();
        assert_eq!((leaving(&held, |_| None).len(), modest.len()), (20, 20));
        drop(modest);
        // there is room again, since one of them is gone
        held.retain(|slot| slot.name != names[0]);
        assert!(names[1..].iter().all(|name| admit(name).is_none()));
        held.retain(|slot| !slot.leaves(None));
        assert!(names[1..].iter().all(|name| admit(name).is_some()));
    }

    /// Where all have one connection, the one that has been idle for longest gives way, never one with a
    /// request; and if all have a request, the newcomer is served all the same.
    #[test]
    fn so_many_clients_with_one_connection_each_keep_out_nobody() {
        let (all, start) = (OpenConnections::default(), Instant::now());
        let at = |i: usize| start + Duration::from_millis(i as u64);
        let held: Vec<ConnectionSlot> = (0..CONNECTIONS.0)
            .map(|i| ConnectionSlot::admit(&all, &format!("m{i}"), at(i)).expect("room"))
            .collect();
        // who has one gets no other one
        assert!(ConnectionSlot::admit(&all, "m0", start).is_none());
        // the later one came, the longer it is idle; of the last ten each has a request
        let since = |i: usize| (i < CONNECTIONS.0 - 10).then(|| at(2 * CONNECTIONS.0 - i));
        assert!(leaving(&held, since).is_empty());
        let late = ConnectionSlot::admit(&all, "late", at(1000)).expect("the place of one that is idle");
        assert_eq!(leaving(&held, since), [CONNECTIONS.0 - 11]);
        let later = ConnectionSlot::admit(&all, "later", at(1001)).expect("the place of another");
        assert_eq!(leaving(&held, since), [CONNECTIONS.0 - 12, CONNECTIONS.0 - 11]);
        assert!(!late.leaves(None) && !later.leaves(None));
        // all have requests that never end: newcomers come and go for ever
        assert_eq!(leaving(&held, |_| None).len(), 2);
        for i in 0..2 * LEAVING {
            assert!(ConnectionSlot::admit(&all, &format!("n{i}"), at(2000 + i)).is_some(), "{i}");
        }
        assert_eq!(leaving(&held, |_| None).len(), 2);
        drop((late, later));
    }

    /// While older ones are being closed there are so many connections, and no more.
    #[test]
    fn those_that_leave_have_so_many_places() {
        let (all, now) = (OpenConnections::default(), Instant::now());
        let newcomers = 0..2 * LEAVING;
        let held: Vec<ConnectionSlot> =
            newcomers.filter_map(|i| ConnectionSlot::admit(&all, &format!("m{i}"), now)).collect();
        assert_eq!((held.len(), leaving(&held, |_| Some(now)).len()), (LEAVING, CONNECTIONS.0));
    }

    /// Connections that are told to leave and stay take nobody's place.
    #[test]
    fn those_that_were_told_to_leave_and_stay_keep_out_nobody() {
        let (all, now) = (OpenConnections::default(), Instant::now());
        let names: Vec<String> =
            (0..CONNECTIONS.0).map(|i| format!("greedy {}", i / CONNECTIONS.1)).collect();
        let held: Vec<ConnectionSlot> = names
            .iter()
            .map(|name| ConnectionSlot::admit(&all, name, now).expect("there is space"))
            .collect();
        for i in 0..2 * LEAVING {
            let slot = ConnectionSlot::admit(&all, &format!("m{i}"), now).expect("there is space");
            assert!(!slot.leaves(None));
        }
        assert_eq!(leaving(&held, |_| None).len(), 1);
    }
}

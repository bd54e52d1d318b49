//! A client that sends what it likes.

use super::harness::{ServersHarness, TIMEOUT, world};
use crate::request::{Reply, ToClient, ToServer, connection_id};
use crate::wire::{LONGEST, VERSIONS, decode, encode};
use divisi_net::{Connection, PartyId};
use std::collections::BTreeSet;

/// A client without manners: three connections, and whatever one likes on each.
pub(super) struct Rogue {
    pub connections: Vec<Connection>,
}

impl Rogue {
    pub fn connect(harness: &ServersHarness, name: &str) -> Rogue {
        let mut rogue = Rogue::dial(harness, name);
        let mut challenges = [[0; 32]; 3];
        for (i, slot) in challenges.iter_mut().enumerate() {
            let Some(ToClient::Welcome { challenge, .. }) = rogue.receive(i) else { panic!("no welcome") };
            // a challenge that is seldom another one would let a recorded connection begin again
            assert!(challenge.iter().collect::<BTreeSet<_>>().len() > 12, "{challenge:?}");
            *slot = challenge;
        }
        for i in 0..3 {
            rogue.say(i, &ToServer::Begin { version: VERSIONS.1, challenges });
            assert_eq!(rogue.receive(i), Some(ToClient::Ready));
        }
        assert_ne!(connection_id(&challenges), [0; 32]);
        rogue
    }

    pub fn dial(harness: &ServersHarness, name: &str) -> Rogue {
        let dial = |party| {
            Connection::dial(&harness.config, party, harness.identity(name), &world(), TIMEOUT).unwrap()
        };
        Rogue { connections: PartyId::all(3).map(dial).collect() }
    }

    pub fn say(&mut self, i: usize, message: &ToServer) {
        self.connections[i].send(&encode(message, message.body()).unwrap()).unwrap();
    }

    pub fn receive(&mut self, i: usize) -> Option<ToClient> {
        loop {
            let bytes = self.connections[i].recv_within(LONGEST, 3 * TIMEOUT).ok()?;
            match decode::<Reply>(&bytes).unwrap().what {
                ToClient::Waiting => {}
                answer => return Some(answer),
            }
        }
    }

    /// Each server its own message; what each answers.
    pub fn exchange(&mut self, message: impl Fn(usize) -> ToServer) -> Vec<Option<ToClient>> {
        (0..3).for_each(|i| self.say(i, &message(i)));
        (0..3).map(|i| self.receive(i)).collect()
    }
}

//! Clients and servers of releases whose protocols differ.

use super::harness::{TIMEOUT, mesh, with_alice, world};
use super::rogue::Rogue;
use crate::request::{Reply, ToClient, ToServer};
use crate::wire::{VERSIONS, encode};
use crate::{Client, Error, ErrorKind, ServerConnection};
use divisi_net::{Listener, PartyId};
use std::sync::Arc;
use std::time::Duration;

/// What a server of another release says first: the versions in its welcome, and the one in which that is
/// written.
#[derive(Clone, Copy)]
struct Release {
    speaks: (u16, u16),
    writes: u16,
}

/// The errors of a client, and of one that asks a single server how it is, where one server is of another
/// release.
fn met(odd: PartyId, release: Release) -> [Error; 2] {
    let (listeners, made) = mesh(&["alice"]);
    std::thread::scope(|s| {
        for ((party, listener), identity) in PartyId::all(3).zip(listeners).zip(made.parties) {
            let config = made.config.clone();
            s.spawn(move || {
                let listener =
                    Listener::open_at(listener, config, party, Arc::new(identity), world()).unwrap();
                let (lowest, highest) = if party == odd { release.speaks } else { VERSIONS };
                // both clients come to the odd one, and one of them to the others
                for _ in 0..1 + usize::from(party == odd) {
                    let mut connection = listener.next_client(Duration::from_secs(30)).unwrap();
                    let welcome =
                        ToClient::Welcome { lowest, highest, party: party.number(), challenge: [0; 32] };
                    let mut bytes = encode(&Reply::apart(welcome), 0).unwrap();
                    if party == odd {
                        bytes[2..4].copy_from_slice(&release.writes.to_le_bytes());
                    }
                    connection.send(&bytes).unwrap();
                    // until the client has gone
                    while connection.recv(1000).is_ok() {}
                }
            });
        }
        let (config, alice) = (&made.config, &made.clients[0]);
        [
            Client::connect(config, alice, world()).err().unwrap(),
            ServerConnection::connect(config, odd, alice, world(), TIMEOUT).err().unwrap(),
        ]
    })
}

#[test]
fn a_client_names_the_server_of_another_release_and_its_versions() {
    let (older, newer) = (VERSIONS.0 - 1, VERSIONS.1 + 1);
    let releases = [
        // one that still writes what this one reads
        Release { speaks: (newer, newer + 2), writes: VERSIONS.1 },
        Release { speaks: (1, older), writes: VERSIONS.1 },
        Release { speaks: (newer, newer), writes: newer },
        Release { speaks: (older, older), writes: older },
    ];
    for (release, odd) in releases.into_iter().zip([1, 2, 3, 1]) {
        let odd = PartyId::new(odd).unwrap();
        let (lowest, highest) = release.speaks;
        let (ours, theirs) = VERSIONS;
        let says = format!(
            "{odd} speaks versions {lowest} to {highest} of the protocol, this program {ours} to {theirs}: use releases \
             that have one in common"
        );
        for error in met(odd, release) {
            assert_eq!(
                (error.kind, error.retry, error.peer),
                (ErrorKind::Refused, false, Some(odd)),
                "{error}"
            );
            assert_eq!(error.message, says);
        }
    }
}

#[test]
fn servers_name_the_version_that_a_client_chose() {
    let (harness, _) = with_alice();
    let mut rogue = Rogue::dial(&harness, "alice");
    for i in 0..3 {
        let Some(ToClient::Welcome { challenge, .. }) = rogue.receive(i) else { panic!("no welcome") };
        rogue.say(i, &ToServer::Begin { version: VERSIONS.1 + 1, challenges: [challenge; 3] });
        let Some(ToClient::Failed(failed)) = rogue.receive(i) else { panic!("it was served") };
        let chose = format!("and the client chose {}: use releases", VERSIONS.1 + 1);
        assert!(failed.message.contains(&chose), "{failed:?}");
        assert_eq!((failed.kind, failed.retry), (ErrorKind::Refused, false));
    }
    harness.assert_unharmed();
}

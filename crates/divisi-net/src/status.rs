//! What a server says of itself to `mesh check`: whether it is in a session, with whom, and since when.
//!
//! It follows the greeting that answers a check. A party that is no server, or a server of an earlier
//! version, says nothing more and closes; an earlier version that checks does not read it.

use crate::PartyId;
use crate::hello::take;
use crate::identity::Fingerprint;

/// The version of the encoding.
const VERSION: u8 = 1;
/// The longest encoding: 255 parties twice, and words.
pub(crate) const LONGEST: usize = 12 * 1024;
/// The largest number of characters of what a server says is wrong.
const WORDS: usize = 600;

/// Whether a server is in a session, and what keeps it from serving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerStatus {
    /// The other parties of its session and the identities that they proved; empty if it is in no session.
    pub session: Vec<(PartyId, Fingerprint)>,
    /// Since when it is in this session or in none, in milliseconds since 1970 by its clock.
    pub since_unix_ms: u64,
    /// The parties whose store of keys differed from its own when the session began.
    pub stores_differ: Vec<PartyId>,
    /// What keeps it from serving, in its own words; empty if nothing does.
    pub trouble: String,
}

impl ServerStatus {
    /// `length of the rest | version | since | number of parties, each with its identity | number of parties
    /// with other stores, each | words`
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = vec![VERSION];
        body.extend(self.since_unix_ms.to_le_bytes());
        // no mesh has more than 255 parties
        body.push(self.session.len() as u8);
        for (party, identity) in self.session.iter().take(255) {
            body.push(party.number());
            body.extend(identity.bytes());
        }
        body.push(self.stores_differ.len() as u8);
        body.extend(self.stores_differ.iter().take(255).map(|party| party.number()));
        body.extend(clean(&self.trouble).bytes());
        let mut out = (body.len() as u16).to_le_bytes().to_vec();
        out.append(&mut body);
        out
    }

    /// Decodes what follows the length; `None` if the bytes are no status of this version.
    pub(crate) fn decode(bytes: &[u8]) -> Option<ServerStatus> {
        let mut rest = bytes;
        let [version] = take::<1>(&mut rest)?;
        let since_unix_ms = u64::from_le_bytes(take::<8>(&mut rest)?);
        let [parties] = take::<1>(&mut rest)?;
        let mut session = Vec::new();
        for _ in 0..parties {
            let [party] = take::<1>(&mut rest)?;
            session.push((PartyId::new(party)?, Fingerprint::new(take::<32>(&mut rest)?)));
        }
        let [differ] = take::<1>(&mut rest)?;
        let mut stores_differ = Vec::new();
        for _ in 0..differ {
            let [party] = take::<1>(&mut rest)?;
            stores_differ.push(PartyId::new(party)?);
        }
        // it goes to a terminal
        let trouble = clean(&String::from_utf8_lossy(rest));
        (version == VERSION).then_some(ServerStatus { session, since_unix_ms, stores_differ, trouble })
    }
}

/// Words of a bounded length in printable ASCII.
fn clean(words: &str) -> String {
    let seen = |c: char| c.is_ascii_graphic() || c == ' ';
    words.chars().take(WORDS).map(|c| if seen(c) { c } else { '?' }).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    pub(crate) fn status() -> ServerStatus {
        let party = |number| PartyId::new(number).unwrap();
        ServerStatus {
            session: vec![(party(1), Fingerprint::new([5; 32])), (party(3), Fingerprint::new([6; 32]))],
            since_unix_ms: 0x0102_0304,
            stores_differ: vec![party(3)],
            trouble: "x\u{1b}y".into(),
        }
    }

    #[test]
    fn golden_bytes() {
        let bytes = status().encode();
        let expected = [
            "5100",
            "01",
            "0403020100000000",
            "02",
            "01",
            &"05".repeat(32),
            "03",
            &"06".repeat(32),
            "0103",
            "783f79",
        ]
        .concat();
        assert_eq!(hex::encode(&bytes), expected);
        let back = ServerStatus::decode(&bytes[2..]).unwrap();
        assert_eq!(back, ServerStatus { trouble: "x?y".into(), ..status() });
        assert!(ServerStatus::decode(&[2; 30]).is_none(), "another version");
    }

    /// Each status is decoded by itself, whatever came before it.
    #[test]
    fn lists_of_every_length_come_back() {
        for (joined, differ) in [(2, 1), (0, 0), (1, 2), (0, 2), (2, 0)] {
            let mut other = ServerStatus { trouble: "no key".into(), ..status() };
            other.session.truncate(joined);
            other.stores_differ =
                other.session.iter().map(|(party, _)| *party).chain(other.stores_differ).collect();
            other.stores_differ.truncate(differ);
            assert_eq!(ServerStatus::decode(&other.encode()[2..]), Some(other));
        }
    }
}

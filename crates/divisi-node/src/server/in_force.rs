//! The parties that a server's configuration has in force.

use divisi_core::PartyId;
use divisi_net::{Config, Fingerprint};

/// The parties of the configuration in force, and how often they have changed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct MeshInForce {
    /// Counts the changes: a session with other parties ends even if the same come back.
    changes: u64,
    /// A digest of the parties' identities.
    pub digest: [u8; 32],
    /// The digest by which the configurations of parties are compared.
    pub parties: [u8; 16],
    pub identities: Vec<(PartyId, Fingerprint)>,
}

impl MeshInForce {
    pub fn of(config: &Config) -> MeshInForce {
        let mut digest = blake3::Hasher::new_derive_key("divisi 2026 mesh of a key v1");
        let identities: Vec<_> =
            config.parties().iter().map(|party| (party.id, party.pin.fingerprint())).collect();
        identities.iter().for_each(|(_, identity)| {
            digest.update(identity.bytes());
        });
        let parties = config.digest().parties;
        MeshInForce { changes: 0, digest: *digest.finalize().as_bytes(), parties, identities }
    }

    /// What is in force after these, by another configuration.
    pub fn then(&self, config: &Config) -> MeshInForce {
        MeshInForce { changes: self.changes + 1, ..MeshInForce::of(config) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_net::Machine;

    /// Whoever joined under a configuration that was replaced is told, also if the same one came back.
    #[test]
    fn parties_that_came_back_are_others() {
        let hosts = ["a:1", "b:1", "c:1"].map(String::from);
        let config = || Config::create(3, &hosts, &["alice".into()], &Machine).unwrap().config;
        let [first, second] = [config(), config()];
        let joined = MeshInForce::of(&first);
        assert!(joined == MeshInForce::of(&first));
        assert!(joined != MeshInForce::of(&second));
        assert!(joined != joined.then(&second).then(&first));
    }

    /// Each party's identity counts: another one of any of them makes other parties.
    #[test]
    fn parties_of_whom_one_is_another_are_others() {
        let config = || Config::create(3, &[], &[], &Machine).unwrap().config;
        let [first, second] = [config(), config()];
        let joined = MeshInForce::of(&first);
        for party in second.parties() {
            let other = MeshInForce::of(&first.add_party(party.id, None, party.pin).unwrap());
            assert!(joined.digest != other.digest && joined.parties != other.parties, "{}", party.id);
            assert!(joined.identities != other.identities && joined != other, "{}", party.id);
        }
    }
}

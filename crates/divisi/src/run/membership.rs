//! One party of a mesh in this process, the others elsewhere: from the paths of its files to the mesh.

use crate::failure::Failure;
use crate::local::loopback;
use divisi_net::{Config, Identity, Listener, Machine, Mesh, Options as Net, PartyId};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// This process's party in a mesh.
pub struct Membership {
    /// The number of the party.
    pub party: PartyId,
    /// The path of the configuration.
    pub config: PathBuf,
    /// The path of the identity.
    pub identity: PathBuf,
    /// The address on which it listens, if it is not the configuration's.
    pub listen: Option<String>,
}

/// A party whose files are right, and who has not joined the others yet.
pub(crate) struct Identified<'m> {
    of: &'m Membership,
    config: Config,
    identity: Identity,
}

fn usage(e: impl ToString) -> Failure {
    Failure::usage(e.to_string())
}

impl Membership {
    /// The configuration.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be read.
    pub(crate) fn load(&self) -> Result<Config, Failure> {
        Config::load(&self.config).map_err(usage)
    }

    /// Check that the identity is that of the party in this configuration.
    ///
    /// # Errors
    /// [`Failure`] if it is another, or cannot be read.
    pub(crate) fn identify(&self, config: Config) -> Result<Identified<'_>, Failure> {
        let identity = Identity::load(&self.identity).map_err(usage)?;
        config.check_identity(self.party, &identity).map_err(usage)?;
        Ok(Identified { of: self, config, identity })
    }
}

impl Identified<'_> {
    /// Listen, and join the others: the mesh, and the listener that it was made with, which must be kept.
    ///
    /// # Errors
    /// [`Failure`] for an address that cannot be opened, or a party that cannot be reached in time.
    pub(crate) fn join(self, timeout: Option<Duration>) -> Result<(Listener, Arc<Mesh>), Failure> {
        let Identified { of, config, identity } = self;
        let net = Net { timeout: timeout.unwrap_or(config.timeout()), ..Net::default() };
        let within = config.connect();
        let (identity, world) = (Arc::new(identity), Arc::new(Machine));
        let listener = match &of.listen {
            Some(address) => Listener::open_on(address, config, of.party, identity, world),
            None => Listener::open(config, of.party, identity, world),
        };
        let listener = listener.map_err(usage)?;
        let mesh = loopback::join(&listener, within, &net)?;
        Ok((listener, mesh))
    }
}

//! The options of a server.

use super::allowances::Limits;
use crate::admit::{Admit, Lists};
#[cfg(test)]
use divisi_core::PartyId;
#[cfg(test)]
use divisi_net::Mesh;
use divisi_rep3::RoundsChoice;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The options of a server.
#[derive(Clone)]
pub struct ServerOptions {
    /// The address on which it listens, `host:port`, if it is not the configuration's: behind address
    /// translation others reach the server at another address.
    pub listen: Option<String>,
    /// How long a receive waits for a message, if it differs from the configuration.
    pub timeout: Option<Duration>,
    /// The number of threads that may compute at the same time; `None` for no limit.
    pub threads: Option<usize>,
    /// Decides which client may do what.
    pub admit: Arc<dyn Admit>,
    /// The limits of each client, where the configuration sets none.
    pub limits: Limits,
    /// How long requests under way have to end when the server is told to stop.
    pub ending: Duration,
    /// How long an order of its operator waits for the operators of the others.
    pub orders: Duration,
    /// How the programs of hashes, MACs and modes of chained blocks run: this server proposes it in the
    /// rounds that it leads, and goes along with what the others propose in theirs. Both promise the same
    /// against the same adversary; level by level has 128 bits of computational security, constant rounds
    /// have 117.
    pub rounds: RoundsChoice,
    /// Whether the operator says that the store of keys is new. Without it a server whose store is empty
    /// serves nothing while the others have keys.
    pub new_store: bool,
    /// Takes each line of the log. No line holds a secret.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
    /// Changes the messages of a corrupt server of a test to the others.
    #[cfg(test)]
    pub(crate) hand: Option<Arc<dyn Fn(&Mesh) + Send + Sync>>,
    /// The client that a corrupt server of a test never serves when it leads.
    #[cfg(test)]
    pub(crate) passes_over: Option<(PartyId, &'static str)>,
    /// The longest interval at which a leader shows that it is alive, if it is not that of what ships.
    #[cfg(test)]
    pub(crate) beat: Option<Duration>,
    /// How long an operator waits for the outcome of an order, beside the beats of the servers, if it is not
    /// as long as with what ships.
    #[cfg(test)]
    pub(crate) outcome: Option<Duration>,
    /// The interval at which refused handshakes are logged, if it is not a minute.
    #[cfg(test)]
    pub(crate) minute: Option<Duration>,
    /// The clocks of the three servers, in seconds since 1970, if they are not the machine's.
    #[cfg(test)]
    pub(crate) clocks: Option<Arc<std::sync::Mutex<[u64; 3]>>>,
    /// The simulated disk of one server.
    #[cfg(test)]
    pub(crate) disk: Option<(PartyId, crate::tests::TestDisk)>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            listen: None,
            timeout: None,
            threads: None,
            admit: Arc::new(Lists),
            limits: Limits::default(),
            ending: Duration::from_secs(10),
            orders: Duration::from_secs(3600),
            rounds: RoundsChoice::default(),
            new_store: false,
            log: Arc::new(|_| {}),
            #[cfg(test)]
            hand: None,
            #[cfg(test)]
            passes_over: None,
            #[cfg(test)]
            beat: None,
            #[cfg(test)]
            outcome: None,
            #[cfg(test)]
            minute: None,
            #[cfg(test)]
            clocks: None,
            #[cfg(test)]
            disk: None,
        }
    }
}

/// Why a server cannot run: one sentence that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError(pub(super) String);

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServerError {}

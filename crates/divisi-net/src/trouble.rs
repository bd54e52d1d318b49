//! Why a connection to a peer could not be made.

use crate::identity::Fingerprint;
use crate::wire::Broken;
use std::fmt;

/// Why a peer is not connected, as a clause that follows the peer's name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// Nothing listens at the address, or the network does not lead there.
    Unreachable {
        /// The address dialled.
        address: String,
        /// The error of the system.
        error: String,
    },
    /// It never dialled this party.
    Absent,
    /// It accepted the connection and did not answer in time.
    Silent,
    /// It closed the connection.
    Closed,
    /// Another identity than the pinned one answered.
    WrongIdentity {
        /// The fingerprint that the configuration pins.
        pinned: Fingerprint,
        /// The fingerprint that the peer showed.
        presented: Fingerprint,
    },
    /// It does not accept this identity.
    Refused {
        /// This side's fingerprint.
        own: Fingerprint,
    },
    /// It does not speak this protocol.
    NotDivisi {
        /// What was wrong.
        what: String,
    },
    /// The two ends have no version in common.
    Version {
        /// Lowest and highest of this program.
        ours: (u16, u16),
        /// Lowest and highest of the peer's.
        theirs: (u16, u16),
    },
    /// Its configuration names other parties, or gives them other identities.
    Digest {
        /// This side's [`crate::IdentityDigest::parties`].
        ours: [u8; 16],
        /// The peer's.
        theirs: [u8; 16],
    },
    /// One of the two emulates a network, the other does not.
    Emulation,
    /// It says that it is another party.
    NotIt,
    /// It has no room for more connections.
    Busy,
}

impl Trouble {
    /// Whether a new attempt may succeed soon.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Absent | Self::Silent | Self::Closed | Self::Busy => true,
            Self::WrongIdentity { .. }
            | Self::Refused { .. }
            | Self::NotDivisi { .. }
            | Self::Version { .. }
            | Self::Digest { .. }
            | Self::Emulation
            | Self::NotIt => false,
        }
    }

    pub(crate) fn from_broken(broken: Broken, pinned: Fingerprint, own: Fingerprint) -> Self {
        match broken {
            Broken::Timeout => Self::Silent,
            Broken::Closed => Self::Closed,
            Broken::Identity(presented) => Self::WrongIdentity { pinned, presented },
            Broken::Alert(rustls::AlertDescription::InternalError) => Self::Closed,
            Broken::Alert(_) => Self::Refused { own },
            Broken::Unpinned => Self::NotDivisi { what: "it shows no Ed25519 public key".into() },
            Broken::Tls(what) => Self::NotDivisi { what },
            Broken::Io(kind) => Self::NotDivisi { what: kind.to_string() },
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { address, error } => write!(f, "is not reachable at {address} ({error})"),
            Self::Absent => f.write_str("did not connect in time"),
            Self::Silent => f.write_str("accepted the connection but did not answer in time"),
            Self::Closed => f.write_str("closed the connection"),
            Self::WrongIdentity { pinned, presented } => {
                write!(f, "showed the identity {presented} where the configuration pins {pinned}")
            }
            Self::Refused { own } => write!(f, "does not accept this identity ({own})"),
            Self::NotDivisi { what } => write!(f, "does not speak this protocol ({what})"),
            Self::Version { ours, theirs } => write!(
                f,
                "speaks versions {} to {} of the protocol, this program {} to {}",
                theirs.0, theirs.1, ours.0, ours.1
            ),
            Self::Digest { ours, theirs } => {
                write!(
                    f,
                    "has other parties in its configuration (digest {}, here {})",
                    short(theirs),
                    short(ours)
                )
            }
            Self::Emulation => f.write_str("was started with other --rtt or --rate options"),
            Self::NotIt => f.write_str("says that it is another party"),
            Self::Busy => f.write_str("has no space for more connections"),
        }
    }
}

fn short(digest: &[u8; 16]) -> String {
    hex::encode(digest.get(..8).unwrap_or_default())
}

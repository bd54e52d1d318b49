//! A server's access policy: which clients may use which keys. Each server decides by itself; a request that
//! one server refuses is refused.

use divisi_core::{Refusal, Step, step};
use divisi_store::{KeyInfo, Purpose};

const ADMIT: Step = step!("admit");
/// The most clients that a key can name.
pub(crate) const CLIENTS: usize = 64;
/// The longest name of a client that a configuration takes.
pub(crate) const CLIENT_NAME: usize = 64;

/// Whether a configuration takes this for a client's name.
pub(crate) fn is_client_name(name: &str) -> bool {
    let good = |b: u8| b.is_ascii_alphanumeric() || b"-_.@".contains(&b);
    (1..=CLIENT_NAME).contains(&name.len()) && name.bytes().all(good)
}

/// A client, identified by the identity with which it authenticated its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// The client's name in the configuration.
    pub name: String,
    /// The fingerprint of the client's identity.
    pub fingerprint: [u8; 32],
}

/// What a client asks for.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a policy that admits clients decides about each kind of request"
)]
pub enum What<'a> {
    /// To make a new key or import one.
    Make,
    /// To list the keys that the client may use.
    List,
    /// To hash a message without a key.
    Hash,
    /// To learn that this key exists.
    See(&'a KeyInfo),
    /// To encrypt with this key.
    Encrypt(&'a KeyInfo),
    /// To decrypt with this key.
    Decrypt(&'a KeyInfo),
    /// To make or compare a tag with this key.
    Mac(&'a KeyInfo),
    /// To export this key to its maker.
    Export(&'a KeyInfo),
    /// To have this key destroyed.
    Destroy(&'a KeyInfo),
    /// To change which clients this key serves.
    Serve(&'a KeyInfo),
}

impl What<'_> {
    /// Check that a key is used for its own purpose only. No policy of a server changes this.
    pub(crate) fn is_purpose(&self) -> Result<(), Refusal> {
        // whether the mode that a request asks for fits its key's type is checked when the request begins
        let (key, tags) = match self {
            What::Encrypt(key) | What::Decrypt(key) => (key, false),
            What::Mac(key) => (key, true),
            _ => return Ok(()),
        };
        if key.purpose == key.kind.purpose() && (key.purpose == Purpose::Mac) == tags {
            return Ok(());
        }
        let reason = format!(
            "key {} is of type {}, and serves nothing else: use or make a key of another type",
            key.name, key.kind
        );
        Err(Refusal { step: ADMIT, reason })
    }
}

/// The proof that a request was admitted: a server loads no key and counts no use without one.
#[derive(Debug)]
pub struct Grant(());

impl Grant {
    /// The proof, for implementations of [`Admit`] to return once they admit the request.
    #[must_use]
    pub fn given() -> Grant {
        Grant(())
    }
}

/// A server's policy.
pub trait Admit: Send + Sync {
    /// Admit or refuse this client's request.
    ///
    /// # Errors
    /// A refusal with the reason.
    fn admit(&self, who: &Who, what: &What<'_>) -> Result<Grant, Refusal>;
}

/// The policy of the lists stored with the keys. Every client of the configuration may make keys, list its
/// own and hash. A key may be used by its maker and by the clients that its maker named; only its maker may
/// destroy it, change which clients it serves, or export it if it was made exportable. The operators decide
/// which identity has a name: a client whose identity they replace keeps its keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lists;

impl Admit for Lists {
    fn admit(&self, who: &Who, what: &What<'_>) -> Result<Grant, Refusal> {
        let made = |key: &KeyInfo| key.maker.name == who.name;
        let serves = |key: &KeyInfo| made(key) || key.clients.contains(&who.name);
        let refused = match what {
            What::Make | What::List | What::Hash => None,
            What::See(key) | What::Encrypt(key) | What::Decrypt(key) | What::Mac(key) => {
                (!serves(key)).then(|| {
                    format!(
                        "key {} does not serve client {}: ask its owner, {}, for `key grant`",
                        key.name, who.name, key.maker.name
                    )
                })
            }
            What::Export(key) if !key.exportable => {
                Some(format!("key {} was not made exportable: it stays with the servers", key.name))
            }
            What::Export(key) | What::Destroy(key) | What::Serve(key) => (!made(key)).then(|| {
                format!(
                    "client {} did not make key {}: only its maker, {}, may do this",
                    who.name, key.name, key.maker.name
                )
            }),
        };
        refused.map_or(Ok(Grant(())), |reason| Err(Refusal { step: ADMIT, reason }))
    }
}

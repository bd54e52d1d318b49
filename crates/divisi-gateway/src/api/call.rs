//! What a handler sees of a request.

use super::answer::ApiAnswer;
use super::fields::Fields;
use super::{Gateway, RequestHead};
use crate::backend::{Backend, BackendTrouble, Key, KeyKind};
use crate::config::Mount;
use crate::json::Json;
use crate::tokens::{Permission, Token};
use divisi_node::KeyName;

/// A request that is to be done.
pub struct ApiCall<'a> {
    /// The API.
    pub gateway: &'a Gateway,
    /// The mount, or that of no path for `sys` and `auth`.
    pub mount: &'a Mount,
    /// The parameters of the path.
    pub params: &'a [(&'static str, String)],
    /// The parameters of the body or the query.
    pub members: &'a Json,
    /// Who asks: `None` only on routes without a token.
    pub token: Option<&'a Token>,
    /// The request.
    pub head: &'a RequestHead,
}

/// The answer for a key that is not there.
pub(super) const ABSENT: &str = "encryption key not found";

impl ApiCall<'_> {
    /// A parameter of the path; empty if the path has none of this name.
    #[must_use]
    pub fn param(&self, name: &str) -> &str {
        self.params.iter().find(|(other, _)| *other == name).map_or("", |(_, value)| value.as_str())
    }

    /// The parameters, converted before anything is done.
    #[must_use]
    pub const fn fields(&self) -> Fields<'_> {
        Fields::new(self.members)
    }

    /// The servers.
    #[must_use]
    pub fn servers(&self) -> &dyn Backend {
        self.gateway.servers.as_ref()
    }

    /// All mounts.
    #[must_use]
    pub fn mounts(&self) -> &[Mount] {
        &self.gateway.mounts
    }

    /// The time, in seconds since 1970.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.gateway.world.unix_time().as_secs()
    }

    /// When the gateway started, in seconds since 1970.
    #[must_use]
    pub const fn started(&self) -> u64 {
        self.gateway.started
    }

    /// Fresh randomness.
    pub fn entropy(&self, out: &mut [u8]) {
        self.gateway.world.entropy(out);
    }

    /// Whether who asks may do this with the key of the path, or at all.
    #[must_use]
    pub fn permits(&self, operation: Permission) -> bool {
        let key = self.params.iter().find(|(name, _)| *name == "name").map(|(_, key)| key.as_str());
        self.token.is_some_and(|token| token.permits(operation, &self.mount.path, key))
    }

    /// The servers' name of the key in the path.
    ///
    /// # Errors
    /// Why no key of the servers can have this name.
    pub fn key_name(&self) -> Result<KeyName, String> {
        format!("{}{}", self.mount.prefix, self.param("name")).parse()
    }

    /// The key in the path, if it is there.
    ///
    /// # Errors
    /// The answer if the servers cannot say so.
    pub fn key(&self) -> Result<Option<Key>, ApiAnswer> {
        match self.key_name() {
            Ok(name) => Ok(self.servers().find(&name)?),
            Err(_) => Ok(None),
        }
    }

    /// The key in the path, for a use that its type must have.
    ///
    /// # Errors
    /// The answer if there is none, or it is of another type.
    pub fn key_that(&self, fits: impl Fn(KeyKind) -> Result<(), String>) -> Result<Key, ApiAnswer> {
        let key = self.key()?.ok_or_else(|| ApiAnswer::mistake(ABSENT))?;
        fits(key.kind).map_err(ApiAnswer::mistake)?;
        Ok(key)
    }

    /// Do something with the key of the path. It is looked up only when the servers refuse: so that the error
    /// is about the key, if it is the reason, and what succeeds costs no look.
    ///
    /// # Errors
    /// The answer.
    pub fn with_key<T>(
        &self,
        fits: impl Fn(KeyKind) -> Result<(), String>,
        work: impl FnOnce(&KeyName) -> Result<T, BackendTrouble>,
    ) -> Result<T, ApiAnswer> {
        let name = self.key_name().map_err(|_| ApiAnswer::mistake(ABSENT))?;
        match work(&name) {
            Err(BackendTrouble::Refused(why)) => {
                self.key_that(fits)?;
                Err(ApiAnswer::mistake(why))
            }
            other => Ok(other?),
        }
    }
}

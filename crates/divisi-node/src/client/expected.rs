//! The key that a request is meant for: its name may belong to another one by now, as who made a key can
//! destroy it and make a new one of the same name.
//!
//! Servers find keys by their names, and say which one they found, all three alike, before they compute
//! anything; only of a decryption by GCM they do not. Adversary: one malicious server, whose word alone is
//! not believed.

use super::Client;
use crate::error::{Error, ErrorKind};
use crate::request::UsedKey;
use divisi_core::{Step, step};
use divisi_store::KeyName;

const ANOTHER: Step = step!("another_key");

impl Client {
    /// Take no key from now on but the one of this id, whatever its name belongs to when a request comes;
    /// with `None` the name is enough, as at first. A request that would use another one fails, and nothing
    /// of it is returned. A decryption by GCM finds out by the tag, which the other key does not have.
    pub fn expect_key(&mut self, id: Option<[u8; 16]>) {
        self.expected = id;
    }

    /// Keep which key the servers have found under this name.
    pub(super) fn found(&mut self, name: &KeyName, used: UsedKey) -> Result<(), Error> {
        let is_meant = self.is_meant(&used.id);
        self.used = Some(used);
        if is_meant { Ok(()) } else { Err(another(name)) }
    }

    /// Ask the servers which key has this name, if a certain one is meant.
    pub(super) fn look_up(&mut self, name: &KeyName) -> Result<(), Error> {
        if self.expected.is_none() {
            return Ok(());
        }
        match self.key_named(name)? {
            Some(listed) if !self.is_meant(&listed.key.id) => Err(another(name)),
            _ => Ok(()),
        }
    }

    fn is_meant(&self, id: &[u8; 16]) -> bool {
        self.expected.is_none_or(|expected| expected == *id)
    }
}

fn another(name: &KeyName) -> Error {
    let message = format!(
        "the name {name} belongs to another key by now, and the one that was meant is destroyed: no result of the \
         new one was used; ask for the key of this name again"
    );
    Error::new(ErrorKind::Refused, ANOTHER, message)
}

//! The routes of a mount, a module a group.

mod batch;
pub(super) mod datakey;
pub(super) mod decrypt;
pub(super) mod encrypt;
mod formats;
pub(super) mod hash;
pub(super) mod hmac;
pub(super) mod keys;
mod lanes;
pub(super) mod random;
pub(super) mod refused;
pub(super) mod rewrap;
pub(super) mod verify;

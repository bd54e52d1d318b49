//! Message authentication codes.

pub mod hmac;
pub mod kmac;

//! Outputs of an engine, and comparisons that reveal nothing but their answer.
//!
//! Modes that need a public value in between (GCM hashes its ciphertext), and callers that run a mode on an
//! engine, are written against these traits, as ciphers are against [`Bytes`](crate::Bytes): what is opened
//! was settled before, because [`Opens::open`] takes a [`Verified`] and only [`settle`] makes one \[M0.7\].

use crate::{Abort, Debt, Pending, Verified, settle};

/// An engine whose values owe a verification until they are settled.
pub trait Settles: Sized {
    /// The debt of its values.
    type Debt: Debt<Payer = Self>;

    /// End a computation: its outputs, which owe the verification of everything that they depend on.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn closed<T>(&mut self, out: T) -> Result<Pending<T, Self::Debt>, Abort>;

    /// End a computation, and verify what its outputs owe.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn settled<T>(&mut self, out: T) -> Result<Verified<T>, Abort> {
        let pending = self.closed(out)?;
        settle(self, pending)
    }
}

/// An engine that opens values of this kind to all its parties.
pub trait Opens<X>: Settles {
    /// The opened value.
    type Public;

    /// Open a settled value to all parties.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn open(&mut self, x: Verified<X>) -> Result<Self::Public, Abort>;

    /// Settle a value, then open it to all parties.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn reveal(&mut self, x: X) -> Result<Self::Public, Abort> {
        let verified = self.settled(x)?;
        self.open(verified)
    }
}

/// An engine that tests whether values are zero, and reveals nothing else.
pub trait Compares<X>: Settles {
    /// For each value whether all its lanes are zero; all parties learn the answers. Settles what the values
    /// owe.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn vanish(&mut self, x: &[X]) -> Result<Vec<bool>, Abort>;
}

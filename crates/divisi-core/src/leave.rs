//! Outputs of an engine, and comparisons that reveal nothing but their answer.
//!
//! Modes that need a public value in between (GCM hashes its ciphertext), and callers that run a mode on an
//! engine, are written against these traits, as ciphers are against [`Bytes`](crate::Bytes): what is opened
//! was settled before, because [`Opens::open`] takes a [`Verified`] and only [`settle`] makes one \[M0.7\].

use crate::{Abort, Blocks, Bytes, Convert, Debt, Lanes, Misuse, Pending, Step, Verified, settle, step};

const LANES: Step = step!("lanes");

/// An engine whose values owe a verification until they are settled.
pub trait Settles: Sized {
    /// The debt of its values.
    type Debt: Debt<Payer = Self>;

    /// End a computation. Its outputs are returned as a value that owes the verification of everything that
    /// they depend on.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
    fn closed<T>(&mut self, out: T) -> Result<Pending<T, Self::Debt>, Abort>;

    /// End a computation, and verify what its outputs owe.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
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
    /// The abort that ends the session, if a link or a check fails.
    fn open(&mut self, x: Verified<X>) -> Result<Self::Public, Abort>;

    /// Settle a value, then open it to all parties.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
    fn reveal(&mut self, x: X) -> Result<Self::Public, Abort> {
        let verified = self.settled(x)?;
        self.open(verified)
    }
}

/// An engine that tests whether values are zero, and reveals nothing else.
pub trait Compares<X>: Settles {
    /// Return for each value whether all its lanes are zero; all parties learn the answers. Settles what the
    /// values owe.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
    fn vanish(&mut self, x: &[X]) -> Result<Vec<bool>, Abort>;

    /// Return for each lane of a value whether it is zero; all parties learn the answers. Settles what the
    /// value owes.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails; [`Abort::Misuse`] if the lanes of the
    /// value cannot be taken apart.
    fn vanish_lanes(&mut self, x: X) -> Result<Vec<bool>, Abort>
    where
        X: Lanes,
    {
        let lanes = each_lane(&x)?;
        self.vanish(&lanes)
    }
}

/// An engine that tests whether blocks of 16 bytes are zero, and reveals nothing else.
///
/// Every engine that converts bytes to blocks of GF(2^128), and compares those, has this trait.
pub trait ComparesBytes: Bytes + Settles {
    /// Return for each block, and each of its lanes, whether all its bytes are zero; all parties learn the
    /// answers. Settles what the blocks owe.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails; [`Abort::Misuse`] if the bytes of a block
    /// have different numbers of lanes.
    fn vanish_blocks(&mut self, x: Vec<[Self::Byte; 16]>) -> Result<Vec<Vec<bool>>, Abort>;
}

impl<E> ComparesBytes for E
where
    E: Bytes
        + Blocks
        + Convert<[<E as Bytes>::Byte; 16], <E as Blocks>::Block>
        + Compares<<E as Blocks>::Block>,
{
    fn vanish_blocks(&mut self, x: Vec<[E::Byte; 16]>) -> Result<Vec<Vec<bool>>, Abort> {
        let (mut all, mut widths) = (Vec::new(), Vec::with_capacity(x.len()));
        for block in x {
            let block: E::Block = self.convert(block)?;
            widths.push(block.lanes());
            all.extend(each_lane(&block)?);
        }
        let mut answers = self.vanish(&all)?.into_iter();
        Ok(widths.into_iter().map(|lanes| answers.by_ref().take(lanes).collect()).collect())
    }
}

/// The lanes of a value, one by one.
fn each_lane<X: Lanes>(x: &X) -> Result<Vec<X>, Abort> {
    let lanes: Option<Vec<X>> = (0..x.lanes()).map(|lane| x.gather(&[lane])).collect();
    lanes.ok_or(Abort::Misuse { step: LANES, what: Misuse::LanesDiffer })
}

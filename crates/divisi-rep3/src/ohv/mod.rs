//! F_RandOHV: one-hot vectors of random places, made ahead and used once (MAESTRO Figure 6, Protocol 5, Protocol 8).
//!
//! A vector e^(r) of length 2^k is kept as its monomials: the bits r_i and the products m_S = prod over S of r_i for every set S
//! of at least two bits. Each entry is a sum of them (Eq. 4 multiplied out), so that whoever has one has the other without a
//! message; a lookup needs sums of entries only, and gets them from the monomials with fewer operations ([`crate::lookup`]).
//! 2^k - k - 1 products, as many as the paper's, in as many bits.
//!
//! Adversary: as [`crate::multiply`]: an error can be added to each product until it is verified. [`Rep3::vectors`] verifies
//! what it makes before anybody gets it \[A17\]; a vector is no value that could be copied, and a lookup consumes it \[A18\]. Its
//! place r is drawn by F_rand and held by nobody.
//!
//! Three kinds, by the lookup they serve: 16 entries ([`nibble`], for lut16), two of 16 whose tensor product is additively
//! shared (for lut256-additive), 256 replicated ([`byte`], for lut256).

pub(crate) mod byte;
pub(crate) mod nibble;
mod shelf;

pub(crate) use shelf::{Shelves, Use};

use crate::engine::pack;
use crate::ledger::{Made, Records};
use crate::origin::Place;
use crate::verify::Products;
use crate::wire::Shape;
use crate::{Protocol, Rep3};
use byte::BYTE_PLANES;
use divisi_core::{Abort, Pending, Step, Verified, settle, step};
use nibble::{NIBBLE_PLANES, NIBBLES_PLANES};
use std::sync::Arc;

/// One-hot vectors for one layer of lookups. They cannot be copied, and the layer takes them by value.
pub struct OneHots {
    pub(crate) kind: Kind,
    /// The how manieth vectors of this strand they are.
    pub(crate) number: u64,
    /// Where and how they were verified.
    place: Place,
}

/// By the lookup they serve.
pub(crate) enum Kind {
    Nibble(Arc<Records<NIBBLE_PLANES>>),
    Nibbles(Arc<Records<NIBBLES_PLANES>>),
    Byte(Arc<Records<BYTE_PLANES>>),
}

impl OneHots {
    /// Whether they were made for a layer of this shape in this engine's strand, with its security and for
    /// its protocol.
    pub(crate) fn fit(&self, engine: &Rep3, shape: &Shape) -> bool {
        if self.place != engine.place() {
            return false;
        }
        match (&self.kind, engine.protocol()) {
            (Kind::Nibble(made), Protocol::Lut16) => made.lanes == shape.0,
            (Kind::Nibbles(made), Protocol::Lut256Additive) => made.lanes == shape.0,
            (Kind::Byte(made), Protocol::Lut256) => made.lanes == shape.0,
            _ => false,
        }
    }
}

const VECTORS: Step = step!("vectors");

impl Rep3 {
    /// Make one-hot vectors for `layers` S-box layers of `bytes` bytes of `lanes` lanes under the present protocol, verified:
    /// those of a layer together. Two or three rounds and a verification for all of them; counted in the present phase.
    ///
    /// # Errors
    /// [`Abort::Misuse`] under a protocol that uses none; whatever ends the session.
    pub fn vectors(
        &mut self,
        layers: usize,
        bytes: usize,
        lanes: usize,
    ) -> Result<Vec<Verified<OneHots>>, Abort> {
        self.vectors_of(layers, &pack::shape(bytes, lanes))
    }

    /// As [`Rep3::vectors`], for layers of this shape.
    pub(crate) fn vectors_of(
        &mut self,
        layers: usize,
        shape: &Shape,
    ) -> Result<Vec<Verified<OneHots>>, Abort> {
        if layers == 0 || shape.0.is_empty() {
            return Ok(Vec::new());
        }
        let protocol = self.protocol();
        let trio = self.trio();
        let kinds: Vec<Kind> = match protocol {
            Protocol::Lut16 => {
                nibble::make::<NIBBLE_PLANES>(trio, layers, shape)?.map(Kind::Nibble).collect()
            }
            Protocol::Lut256Additive => {
                nibble::make::<NIBBLES_PLANES>(trio, layers, shape)?.map(Kind::Nibbles).collect()
            }
            Protocol::Lut256 => byte::make(trio, layers, shape)?.map(Kind::Byte).collect(),
            _ => return Err(trio.session.misuse(VECTORS, "one-hot vectors for a protocol without lookups")),
        };
        let mut owed = self.none();
        if self.records() {
            owed.made.extend(kinds.iter().map(|kind| match kind {
                Kind::Nibble(made) => Made::Nibble(Arc::clone(made)),
                Kind::Nibbles(made) => Made::Nibbles(Arc::clone(made)),
                Kind::Byte(made) => Made::Byte(Arc::clone(made)),
            }));
        }
        // verified by themselves, whatever else is owed [A17]
        let place = self.place();
        let mut each = Vec::with_capacity(kinds.len());
        for kind in kinds {
            let number = self.trio().session.count("rep3 one-hot vectors");
            each.push(OneHots { kind, number, place });
        }
        // they depend on nothing that was closed before, so that they need not wait for it
        let pending: Pending<Vec<OneHots>, Products> = Pending::owing(each, owed);
        Ok(settle(self, pending)?.each())
    }
}

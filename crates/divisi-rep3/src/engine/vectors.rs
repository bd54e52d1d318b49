//! The one-hot vectors of an engine: made and verified ahead of use, and restocked in idle time.

use super::one_hots::OneHots;
use super::vector_stock::Use;
use super::{Account, Rep3, pack};
use crate::record::Record;
use crate::verify::Products;
use crate::wire::Shape;
use divisi_core::{Abort, Pending, Verified, settle};

impl Rep3 {
    /// Make and verify one-hot vectors for `layers` S-box layers of `bytes` bytes of `lanes` lanes under the
    /// present protocol; one [`OneHots`] a layer. Two or three rounds and one verification for all of them,
    /// counted in the present phase.
    ///
    /// # Errors
    /// [`Abort::Misuse`] under a protocol without one-hot vectors; the abort that ends the session.
    pub fn vectors(
        &mut self,
        layers: usize,
        bytes: usize,
        lanes: usize,
    ) -> Result<Vec<Verified<OneHots>>, Abort> {
        self.vectors_of(layers, &pack::shape(bytes, lanes))
    }

    /// Like [`Rep3::vectors`], for layers of this shape.
    pub(crate) fn vectors_of(
        &mut self,
        layers: usize,
        shape: &Shape,
    ) -> Result<Vec<Verified<OneHots>>, Abort> {
        if layers == 0 || shape.0.is_empty() {
            return Ok(Vec::new());
        }
        let protocol = self.protocol();
        let layers = protocol.sbox().make_vectors(self.trio(), layers, shape)?;
        let mut owed = self.none();
        if self.records() {
            owed.made.extend(layers.iter().map(Record::share));
        }
        // verified by themselves, whatever else is owed [A17]
        let engine_id = self.engine_id();
        let mut each = Vec::with_capacity(layers.len());
        for made in layers {
            let number = self.trio().session.count("rep3 one-hot vectors");
            each.push(OneHots { made, protocol, number, engine_id });
        }
        // they depend on nothing that was closed before, so that they need not wait for it
        let pending: Pending<Vec<OneHots>, Products> = Pending::owing(each, owed);
        Ok(settle(self, pending)?.each())
    }

    /// Whether [`Rep3::restock`] has anything to make.
    #[must_use]
    pub fn lacks_stock(&self) -> bool {
        self.stocks.lack() || self.calls.lack()
    }

    /// The bytes of verified preprocessing in stock: at most 96 MiB of one-hot vectors, or one layer if that
    /// is larger; of calls garbled ahead at most what [`Rep3::stock_calls`] allows.
    #[must_use]
    pub fn stocked_bytes(&self) -> usize {
        self.stocks.bytes() + self.calls.bytes()
    }

    /// In idle time: make and verify a portion of one-hot vectors for layers like the last ones, or garble
    /// one call like the last ones; counted as preprocessing. All three parties call this at the same place;
    /// the history of their calls determines what is made. Returns for whom each part of it was made
    /// ([`Rep3::use_account`]), parts that took the same work.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn restock(&mut self) -> Result<Vec<Account>, Abort> {
        let Some((protocol, shape, accounts)) = self.stocks.wanted() else {
            return Ok(self.restock_calls()?.into_iter().collect());
        };
        let place = self.trio().session.detour("preprocessing");
        let vectors = self.with_protocol(protocol, |rep| rep.vectors_of(accounts.len(), &shape));
        self.trio().session.back(place);
        self.stocks.put(protocol, &shape, vectors?, Use::Later);
        Ok(accounts)
    }
}

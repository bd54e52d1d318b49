//! F_LUT: lookup in a public table at a secret place, by a one-hot vector and one opening (MAESTRO Protocols
//! 4 and 6).
//!
//! `c = v + r` is opened for the place r of a fresh vector; then every share of T(v) is a sum over the vector
//! turned by c: [`table`]. Nothing else is opened, and c reveals nothing: r is uniform and used once.
//!
//! Adversary: one malicious party. What it can do to the opening depends on how v is shared:
//!
//! - **Additively** ([`Trio::open_additive`]; Protocol 4 step 3, Protocol 6 step 4): each party sends its
//!   share of c to both others, re-randomised by F_zero \[A16\], because the share of v is a function of
//!   replicated secrets that its receiver partly knows. The opening is not bound to v: a party can add an
//!   error to c, which is an error of v that the checks of [`crate::sbox`] find; and it can show its peers
//!   different shares, which the comparison of views finds before the first message of the verification
//!   \[A2\]. Whatever honest parties see then, the corrupt one can compute from what it sent and received, so
//!   that digests of such openings reveal nothing new to it.
//! - **Replicated** ([`Trio::open_layer`]; the variants of section 3.5.1): each party sends one component to
//!   its next. A false component makes the receiver's c wrong, and with it everything that it computes until
//!   the comparison: a digest over values that rest on it would let the corrupt party test guesses of a
//!   secret. So the views of everything opened before are compared in the same round as each such opening,
//!   and nothing is sent after a difference \[A22\]. After the comparison the vector's c is right, and T(v)
//!   needs no check of its own.

pub(crate) mod table;

use crate::checks;
use crate::trio::Trio;
use crate::wire::{self, Shape};
use divisi_core::{Abort, ComparedDigest, Step, step, taint};
use divisi_field::{Field, Plane};
use divisi_net::Fault;
use zeroize::Zeroizing;

const VIEW: Step = step!("view");

impl Trio {
    /// Reconst of additively shared planes: on return `c` is the opened value. One round, twice the planes'
    /// bits.
    pub(crate) fn open_additive<const K: usize>(
        &mut self,
        step: Step,
        c: &mut [[Plane; K]],
        shape: &Shape,
        view: bool,
    ) -> Result<(), Abort> {
        if view {
            self.session.observe(checks::A16);
        }
        self.streams.add_zero(c, shape); // [A16]
        let mut wire = std::mem::take(&mut self.wire);
        wire::write(c, shape, &mut wire);
        let mut theirs = Vec::new();
        self.exchange_shares(step, &mut wire, shape.bits(K), false, |message| {
            wire::read::<K>(message, shape, &mut theirs)?;
            add_planes(c, &theirs);
            Some(())
        })?;
        taint::public(step, c);
        if view {
            wire::write(c, shape, &mut wire);
            self.absorb("open_additive", &wire); // [A2]
        }
        self.wire = wire;
        Ok(())
    }

    /// Reconst of additively shared elements whose bits above the low `bits` are zero: returns the opened
    /// values. In the same round the views of all that was opened before are compared \[A22\]. One round,
    /// twice the elements' bits.
    pub(crate) fn open_additive_low<F: Field>(
        &mut self,
        step: Step,
        share: Vec<F>,
        bits: usize,
    ) -> Result<Vec<F>, Abort> {
        let (n, share) = (share.len(), Zeroizing::new(share));
        let mut wire = Zeroizing::new(wire::write_low(&share, bits));
        self.session.observe(checks::A16);
        self.streams.add_zero_bytes(&mut wire, n * bits); // [A16]
        let mut c = vec![F::ZERO; n];
        let mut add = |message: &[u8]| {
            let theirs = Zeroizing::new(wire::read_low::<F>(message, n, bits)?);
            c.iter_mut().zip(theirs.iter()).for_each(|(c, x)| *c = *c + *x);
            Some(())
        };
        let own = add(&wire);
        self.exchange_shares(step, &mut wire, (n * bits) as u64, true, add)?;
        if own.is_none() {
            return Err(self.malformed_from(self.me(), step, wire.len()));
        }
        taint::public(step, &mut c);
        self.absorb("open_additive", &wire::write_low(&c, bits)); // [A2]
        Ok(c)
    }

    /// Send our share to both others, and take theirs by `add`; if `chained`, compare the views of all that
    /// was opened before \[A22\].
    fn exchange_shares(
        &mut self,
        step: Step,
        wire: &mut [u8],
        bits: u64,
        chained: bool,
        mut add: impl FnMut(&[u8]) -> Option<()>,
    ) -> Result<(), Abort> {
        let views = if chained && self.uncompared { Some(self.send_view()?) } else { None };
        for peer in [self.next, self.prev] {
            self.session.send(step, peer, wire, bits)?;
        }
        if let Some(digest) = views {
            self.compare_views(&digest)?; // [A22]
        }
        for peer in [self.prev, self.next] {
            self.session.recv(step, peer, wire)?;
            if add(wire).is_none() {
                return Err(self.malformed_from(peer, step, wire.len()));
            }
        }
        Ok(())
    }

    /// Reconst of replicated planes that feed a lookup: `own` and `second` are our two components, the opened
    /// value is returned. In the same round the views of all that was opened before are compared \[A22\]. One
    /// round, the planes' bits.
    pub(crate) fn open_layer<const K: usize>(
        &mut self,
        step: Step,
        mut own: Vec<[Plane; K]>,
        second: &[[Plane; K]],
        shape: &Shape,
        view: bool,
    ) -> Result<Vec<[Plane; K]>, Abort> {
        let mut wire = std::mem::take(&mut self.wire);
        wire::write(&own, shape, &mut wire);
        self.missing_layer(step, &mut wire, shape.bits(K), view)?;
        let mut missing = Vec::new();
        if wire::read(&wire, shape, &mut missing).is_none() {
            return Err(self.malformed_from(self.prev, step, wire.len()));
        }
        add_planes(&mut own, second);
        add_planes(&mut own, &missing);
        taint::public(step, &mut own);
        if view {
            wire::write(&own, shape, &mut wire);
            self.absorb("open_layer", &wire); // [A2]
        }
        self.wire = wire;
        Ok(own)
    }

    /// Send our first component, which is in `wire`, to the next, and receive the one that we miss from the
    /// previous in its place; in the same round compare the views of all that was opened before \[A22\].
    pub(crate) fn missing_layer(
        &mut self,
        step: Step,
        wire: &mut [u8],
        bits: u64,
        view: bool,
    ) -> Result<(), Abort> {
        let views = if view && self.uncompared { Some(self.send_view()?) } else { None };
        self.session.send(step, self.next, wire, bits)?;
        if let Some(digest) = views {
            self.compare_views(&digest)?; // [A22]
        }
        self.session.recv(step, self.prev, wire)
    }

    /// Send the digest of all that was opened so far to both others.
    fn send_view(&mut self) -> Result<[u8; 32], Abort> {
        let digest = self.view.to_compare();
        for peer in [self.next, self.prev] {
            self.session.send(VIEW, peer, &digest, 0)?;
        }
        Ok(digest)
    }

    /// Compare this digest with those of both others, before anything that depends on the last opening is
    /// digested \[A22\].
    fn compare_views(&mut self, digest: &[u8; 32]) -> Result<(), Abort> {
        for peer in [self.next, self.prev] {
            let mut theirs = [0; 32];
            self.session.recv(VIEW, peer, &mut theirs)?;
            let same = self.session.same_digest(digest, &theirs);
            self.session.require(checks::A22, VIEW, same, None)?; // [A22]
        }
        self.uncompared = false;
        Ok(())
    }

    pub(crate) fn malformed_from(&self, peer: divisi_core::PartyId, step: Step, length: usize) -> Abort {
        self.session.fail(Fault::Malformed { peer, step, want: length, got: length }.into())
    }
}

/// `x += y`, tile by tile.
pub(crate) fn add_planes<const K: usize>(x: &mut [[Plane; K]], y: &[[Plane; K]]) {
    for (x, y) in x.iter_mut().flatten().zip(y.iter().flatten()) {
        *x ^= *y;
    }
}

/// Scratch for a layer: K planes a tile, wiped when it is dropped.
pub(crate) fn scratch<const K: usize>(shape: &Shape) -> Zeroizing<Vec<[Plane; K]>> {
    Zeroizing::new(vec![[Plane::ZERO; K]; shape.0.len()])
}

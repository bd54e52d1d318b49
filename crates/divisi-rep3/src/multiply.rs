//! Reshare and multiplication with additive errors (MAESTRO section 2.6; AFLNO16, ePrint 2016/768).
//!
//! Adversary: one malicious party can add an error of its choice to a result, through its Reshare message;
//! nothing else, and it learns nothing: what it receives is masked by F_zero. The error stays until the batch
//! is verified ([`crate::verify`]).
//!
//! Cost: one field element a product to one neighbour, one round.

use crate::record::Records;
use crate::share::Rep;
use crate::trio::Trio;
use crate::wire::{self, Shape};
use divisi_core::{Abort, Step, wipe};
use divisi_field::{BigField, Field, Plane, Word};
use divisi_net::Fault;
use std::ops::Range;
use zeroize::Zeroizing;

impl Trio {
    /// Reshare on planes: `<<z>>` to `[[z]]`. Afterwards `z` is our first component; returns our second.
    ///
    /// 1. Re-randomise by a share of zero. 2. Party i sends its share to i-1. 3. Party i holds (z_i,
    ///    z_{i+1}).
    pub(crate) fn reshare<const K: usize>(
        &mut self,
        step: Step,
        z: &mut [[Plane; K]],
        shape: &Shape,
    ) -> Result<Zeroizing<Vec<[Plane; K]>>, Abort> {
        self.streams.add_zero(z, shape); // 1.
        self.exchange(step, z, shape)
    }

    /// Steps 2 and 3.
    fn exchange<const K: usize>(
        &mut self,
        step: Step,
        z: &mut [[Plane; K]],
        shape: &Shape,
    ) -> Result<Zeroizing<Vec<[Plane; K]>>, Abort> {
        let mut wire = std::mem::take(&mut self.wire);
        wire::write(z, shape, &mut wire);
        self.session.send(step, self.prev, &wire, shape.bits(K))?; // 2.
        let mut second = Zeroizing::new(Vec::new());
        self.session.recv(step, self.next, &mut wire)?;
        let read = wire::read(&wire, shape, &mut second); // 3.
        self.wire = wire;
        match read {
            Some(()) => Ok(second),
            None => Err(self.malformed(step, shape.bytes(K))),
        }
    }

    /// Reshare at the end of a chain of additive layers, like [`Trio::reshare`]. Without the re-randomisation
    /// the sender's share would reveal something about the third party's share to the receiver \[A19\].
    pub(crate) fn reshare_chain<const K: usize>(
        &mut self,
        step: Step,
        z: &mut [[Plane; K]],
        shape: &Shape,
    ) -> Result<Zeroizing<Vec<[Plane; K]>>, Abort> {
        self.reshare(step, z, shape) // [A19]
    }

    /// Reshare on some planes of the records of several layers, in place: before, the planes of our first
    /// component hold our share of `<<z>>`; afterwards those of both components hold `[[z]]`. One message for
    /// each layer, one round for all of them.
    pub(crate) fn reshare_within<const K: usize>(
        &mut self,
        step: Step,
        layers: &mut [Records<K>],
        planes: Range<usize>,
        shape: &Shape,
    ) -> Result<(), Abort> {
        let mut wire = std::mem::take(&mut self.wire);
        for layer in layers.iter_mut() {
            self.streams.add_zero_within(layer, planes.clone(), shape); // 1.
            let own = layer.iter().map(|tile| &tile[0][planes.clone()]);
            wire::write_planes(own, shape, planes.len(), &mut wire);
            self.session.send(step, self.prev, &wire, shape.bits(planes.len()))?; // 2.
        }
        wire.resize(shape.bytes(planes.len()), 0);
        for layer in layers {
            self.session.recv(step, self.next, &mut wire)?;
            let second = layer.iter_mut().map(|tile| &mut tile[1][planes.clone()]);
            if wire::read_planes(&wire, shape, second).is_none() {
                return Err(self.malformed(step, shape.bytes(planes.len()))); // 3.
            }
        }
        self.wire = wire;
        Ok(())
    }

    /// Reshare on field elements.
    pub(crate) fn reshare_elements<F: Field>(&mut self, step: Step, z: Vec<F>) -> Result<Rep<F>, Abort> {
        self.reshare_low(step, z, F::BITS)
    }

    /// Reshare on field elements whose bits above the low `bits` are zero.
    pub(crate) fn reshare_low<F: Field>(
        &mut self,
        step: Step,
        z: Vec<F>,
        bits: usize,
    ) -> Result<Rep<F>, Abort> {
        let (n, z) = (z.len(), Zeroizing::new(z));
        let mut message = Zeroizing::new(wire::write_low(&z, bits));
        self.streams.add_zero_bytes(&mut message, n * bits); // 1.
        self.session.send(step, self.prev, &message, (n * bits) as u64)?; // 2.
        let own = wire::read_low(&message, n, bits);
        self.confirm_coin()?; // the coin that came before this message [A4]
        self.session.recv(step, self.next, &mut message)?;
        match (own, wire::read_low(&message, n, bits)) {
            (Some(a), Some(b)) => Ok(Rep { a, b }), // 3.
            _ => Err(self.malformed(step, message.len())),
        }
    }

    /// The abort for a message of the next party that has the right length, but is no valid encoding.
    pub(crate) fn malformed(&self, step: Step, length: usize) -> Abort {
        self.session.fail(Fault::Malformed { peer: self.next, step, want: length, got: length }.into())
    }
}

/// MultLocal on planes: `<<xy>>_i = x_i y_i + (x_i + x_{i+1})(y_i + y_{i+1})`.
#[inline(always)]
pub(crate) fn mult_local<W: Word, const K: usize>(
    x: &[[W; K]; 2],
    y: &[[W; K]; 2],
    mul: impl Fn(&[W; K], &[W; K]) -> [W; K],
) -> [W; K] {
    let mut z = mul(&x[0], &y[0]);
    let cross = mul(&sum(&x[0], &x[1]), &sum(&y[0], &y[1]));
    let mut k = 0;
    while k < K {
        z[k] ^= cross[k];
        k += 1;
    }
    z
}

/// The sum of two elements on planes.
#[inline(always)]
pub(crate) fn sum<W: Word, const K: usize>(x: &[W; K], y: &[W; K]) -> [W; K] {
    let mut z = *x;
    let mut k = 0;
    while k < K {
        z[k] ^= y[k];
        k += 1;
    }
    z
}

/// MultLocal of an inner product: our additive share of the sum of `x_j y_j`.
pub(crate) fn dot_local<F: BigField>(x: [&[F]; 2], y: [&[F]; 2], scratch: &mut [Vec<F>; 2]) -> F {
    for (sum, v) in scratch.iter_mut().zip([x, y]) {
        sum.clear();
        wipe::reserve(sum, v[0].len());
        sum.extend_from_slice(v[0]);
        F::add_assign(sum, v[1]);
    }
    F::dot(x[0], y[0]) + F::dot(&scratch[0], &scratch[1])
}

//! Ciphertexts, and what one party does with them alone.

use crate::parameters::noise::plus;
use crate::ring::{Poly, Ring};
use crate::wire;
use divisi_core::{Abort, PartyId, Session, Step};

/// (c_0, c_1) at a level: c_0 + s c_1 is the plaintext times a public factor modulo p, plus p times noise.
/// Public, but for what it encrypts.
#[derive(Clone)]
pub struct Ciphertext {
    pub(crate) level: usize,
    /// Modulo p: every dropped prime has divided the plaintext.
    pub(crate) factor: u64,
    /// The bound on log2 of the 2-norm of E / p ([`crate::parameters::noise`]): public.
    pub(crate) noise: f64,
    pub(crate) c0: Poly,
    pub(crate) c1: Poly,
}

impl Ciphertext {
    pub(crate) fn new(level: usize, factor: u64, noise: f64, c0: Poly, c1: Poly) -> Ciphertext {
        Ciphertext { level, factor, noise, c0, c1 }
    }

    /// Zeros, to be received into: of this level and factor, which the protocol knows.
    fn empty(ring: &Ring, level: usize, factor: u64) -> Ciphertext {
        let (limbs, noise) = (ring.parameters().limbs(level), ring.parameters().noise_at(level));
        Ciphertext::new(level, factor, noise, ring.zero(limbs, false), ring.zero(limbs, false))
    }

    /// Receive one of this level and factor \[G10\], whose sender took the steps of the parameters: its noise
    /// is within the bound of this level.
    ///
    /// # Errors
    /// As [`wire::receive`].
    pub fn receive(
        session: &mut Session,
        ring: &Ring,
        step: Step,
        from: PartyId,
        level: usize,
        factor: u64,
    ) -> Result<Ciphertext, Abort> {
        let mut x = Ciphertext::empty(ring, level, factor);
        wire::receive(session, ring, step, from, &mut x.components_mut())?;
        Ok(x)
    }

    /// How many switches are left.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// What the plaintext is multiplied by, modulo p.
    #[must_use]
    pub fn factor(&self) -> u64 {
        self.factor
    }

    /// The bound on log2 of the 2-norm of E / p.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// Both components.
    #[must_use]
    pub fn components(&self) -> [&Poly; 2] {
        [&self.c0, &self.c1]
    }

    pub(crate) fn components_mut(&mut self) -> [&mut Poly; 2] {
        [&mut self.c0, &mut self.c1]
    }

    /// The sum.
    ///
    /// # Errors
    /// [`Abort::Misuse`] of different levels or factors.
    pub fn add(
        &mut self,
        ring: &Ring,
        session: &Session,
        step: Step,
        other: &Ciphertext,
    ) -> Result<(), Abort> {
        if self.level != other.level || self.factor != other.factor {
            return Err(session.misuse(step, "a sum of ciphertexts of different levels or factors"));
        }
        ring.add(&mut self.c0, &other.c0);
        ring.add(&mut self.c1, &other.c1);
        self.noise = plus(self.noise, other.noise);
        Ok(())
    }

    /// The product with an encoded plaintext over the same primes, with coefficients like uniform ones (H4 of
    /// docs/bgv.md).
    pub fn times_plain(&mut self, ring: &Ring, plain: &Poly) {
        ring.mul(&mut self.c0, plain);
        ring.mul(&mut self.c1, plain);
        self.noise = ring.parameters().bounds().times_plain(self.noise);
    }

    /// Down to a level, prime by prime; nothing if it is there.
    #[must_use]
    pub fn switch(mut self, ring: &Ring, level: usize) -> Ciphertext {
        let limbs = ring.parameters().limbs(level);
        let dropped = limbs.max(1)..self.c0.limbs();
        if !dropped.is_empty() {
            let bits = dropped.map(|limb| (ring.modulus(limb).get() as f64).log2()).sum();
            self.noise = ring.parameters().bounds().switched(self.noise, bits);
        }
        while self.c0.limbs() > limbs.max(1) {
            self.factor = ring.plain().mul(self.factor, ring.quotient(self.c0.limbs() - 1));
            self.c0 = ring.drop_last(self.c0);
            self.c1 = ring.drop_last(self.c1);
        }
        self.level = self.level.min(level);
        self
    }

    /// The factor after [`Ciphertext::switch`].
    #[must_use]
    pub fn factor_after(ring: &Ring, factor: u64, from: usize, to: usize) -> u64 {
        let limbs = |level| ring.parameters().limbs(level);
        (limbs(to)..limbs(from)).fold(factor, |factor, limb| ring.plain().mul(factor, ring.quotient(limb)))
    }
}

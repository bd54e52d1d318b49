//! Ciphertexts, and the operations on them that need no messages.

use crate::ring::{Poly, Ring};
use crate::tree;
use crate::wire;
use divisi_core::{Abort, PartyId, Session, Step};

/// A ciphertext (c_0, c_1) at a level of the chain: E = c_0 + s c_1 is the plaintext times a public factor
/// modulo p, plus p times noise. Only the plaintext is secret.
#[derive(Clone)]
pub struct Ciphertext {
    pub(crate) level: usize,
    /// The factor of the plaintext modulo p: each dropped prime divided the plaintext by itself.
    pub(crate) factor: u64,
    /// A public bound on log2 of the 2-norm of E / p ([`crate::parameters::noise`]).
    pub(crate) noise: f64,
    pub(crate) c0: Poly,
    pub(crate) c1: Poly,
}

impl Ciphertext {
    pub(crate) fn new(level: usize, factor: u64, noise: f64, mut c0: Poly, mut c1: Poly) -> Ciphertext {
        c0.publish();
        c1.publish();
        Ciphertext { level, factor, noise, c0, c1 }
    }

    /// A ciphertext at this level and with this factor, into which a received one is written.
    fn empty(ring: &Ring, level: usize, factor: u64) -> Ciphertext {
        let (limbs, noise) = (ring.parameters().limbs(level), ring.parameters().noise_at(level));
        Ciphertext::new(level, factor, noise, ring.zero(limbs, false), ring.zero(limbs, false))
    }

    /// Receives a ciphertext of this level and factor, which the protocol knows \[G10\]. Its sender made the
    /// steps that the parameters plan, so its noise is within the bound of the level.
    ///
    /// # Errors
    /// It fails as [`wire::receive`] does.
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

    /// The level: how many modulus switches are still possible.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// The public factor of the plaintext, modulo p.
    #[must_use]
    pub fn factor(&self) -> u64 {
        self.factor
    }

    /// The bound on log2 of the 2-norm of E / p.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The components c_0 and c_1.
    #[must_use]
    pub fn components(&self) -> [&Poly; 2] {
        [&self.c0, &self.c1]
    }

    /// Adds up one ciphertext by each party, all of this level and factor, along a tree; the party at its top
    /// gets the sum, the others `None`. Each ciphertext has at most the noise of this one. Sums of fresh
    /// encryptions have independent errors; of others the sum has n times as much noise. Cost: two
    /// polynomials from each other party; floor(log2 n) rounds.
    ///
    /// # Errors
    /// It fails as [`wire::receive`] does.
    pub fn add_up(
        self,
        session: &mut Session,
        ring: &Ring,
        step: Step,
        top: PartyId,
    ) -> Result<Option<Ciphertext>, Abort> {
        let (level, factor, bounds) = (self.level, self.factor, ring.parameters().bounds());
        let is_fresh = (self.noise - bounds.fresh()).abs() < 1e-9;
        let summed =
            if is_fresh { bounds.gathered() } else { self.noise + (session.parties() as f64).log2() };
        let noise = summed.max(ring.parameters().noise_at(level));
        let sum = tree::up_to(session, ring, step, top, [self.c0, self.c1])?;
        Ok(sum.map(|[c0, c1]| Ciphertext::new(level, factor, noise, c0, c1)))
    }

    pub(crate) fn components_mut(&mut self) -> [&mut Poly; 2] {
        [&mut self.c0, &mut self.c1]
    }

    /// Multiplies by an encoded plaintext over the same primes, whose coefficients have to be like uniform
    /// ones (H4 of docs/bgv.md): those of random signs, or of numbers of which a party drew its share. With
    /// another plaintext the noise may exceed the bound that is kept here, and then no flood hides it.
    pub(crate) fn times_plain(&mut self, ring: &Ring, plain: &Poly) {
        for c in self.components_mut() {
            // the product is secret: its quotient by the ciphertext before is the plaintext
            c.withhold();
            ring.mul(c, plain);
        }
        self.noise = ring.parameters().bounds().times_plain(self.noise);
    }

    /// [`Ciphertext::times_plain`], for tests.
    #[cfg(feature = "testing")]
    pub fn times_random_plain(&mut self, ring: &Ring, plain: &Poly) {
        self.times_plain(ring, plain);
    }

    /// Switches the modulus down to `level`, prime by prime; does nothing if the ciphertext is at that level
    /// or below.
    #[must_use]
    pub fn switch(self, ring: &Ring, level: usize) -> Ciphertext {
        let from = self.c0.limbs();
        self.switch_from(ring, from, level)
    }

    /// The rest of a switch of a ciphertext that had `from` primes, and has fewer already.
    #[must_use]
    pub(crate) fn switch_from(mut self, ring: &Ring, from: usize, level: usize) -> Ciphertext {
        let limbs = ring.parameters().limbs(level).max(1);
        if limbs < from {
            let bits = (limbs..from).map(|limb| (ring.modulus(limb).get() as f64).log2()).sum();
            self.noise = ring.parameters().bounds().switched(self.noise, bits);
            let quotients = (limbs..from).map(|limb| ring.quotient(limb));
            self.factor = quotients.fold(self.factor, |factor, quotient| ring.plain().mul(factor, quotient));
        }
        while self.c0.limbs() > limbs {
            for c in self.components_mut() {
                *c = ring.drop_last(c);
                c.publish();
            }
        }
        self.level = self.level.min(level);
        self
    }

    /// The factor of a ciphertext after it was switched from level `from` to level `to`.
    #[must_use]
    pub fn factor_after(ring: &Ring, factor: u64, from: usize, to: usize) -> u64 {
        let limbs = |level| ring.parameters().limbs(level);
        (limbs(to)..limbs(from)).fold(factor, |factor, limb| ring.plain().mul(factor, ring.quotient(limb)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parameters::{Form, Operation, Parameters};

    /// Nobody measures the noise of what arrives: it counts as the most that the plan gives its level.
    #[test]
    fn what_is_received_counts_with_the_noise_of_its_level() {
        let plain = divisi_field::zp::P32;
        let p = Parameters::danger_insecure(Operation::PrivateTables, Form::Paper, 3, plain).unwrap();
        let ring = Ring::new(p).unwrap();
        for level in 0..=ring.parameters().top() {
            let noise = Ciphertext::empty(&ring, level, 1).noise();
            assert!(noise > 0.0 && noise >= ring.parameters().noise_at(level), "{level}: {noise}");
        }
    }

    /// A sum counts with at least the noise that the plan gives its level, however little its terms have.
    #[test]
    fn a_sum_counts_with_the_noise_of_its_level() {
        let plain = divisi_field::zp::P32;
        let p = Parameters::danger_insecure(Operation::PrivateTables, Form::Paper, 2, plain).unwrap();
        let ring = Ring::new(p).unwrap();
        let ends = divisi_core::local::run(2, &divisi_core::PublicParameters::new("sums"), |mut session| {
            for level in 0..=ring.parameters().top() {
                let poly = ring.zero(ring.parameters().limbs(level), false);
                let term = Ciphertext::new(level, 1, 1.0, poly.clone(), poly);
                let sum = term.add_up(&mut session, &ring, divisi_core::step!("sums"), PartyId::P1)?;
                let noise = sum.map_or(f64::INFINITY, |sum| sum.noise());
                assert!(noise >= ring.parameters().noise_at(level).max(2.0), "{level}: {noise}");
            }
            // terms with a little more noise than fresh ones may have the same noise
            for level in 0..=ring.parameters().top() {
                let alike = ring.parameters().noise_at(level).max(ring.parameters().bounds().fresh()) + 0.5;
                let poly = ring.zero(ring.parameters().limbs(level), false);
                let term = Ciphertext::new(level, 1, alike, poly.clone(), poly);
                let sum = term.add_up(&mut session, &ring, divisi_core::step!("sums"), PartyId::P1)?;
                assert!(sum.is_none_or(|sum| sum.noise() > alike + 0.99), "{level}");
            }
            Ok(())
        });
        assert!(ends.is_ok(), "{ends:?}");
    }
}

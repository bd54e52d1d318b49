//! Products of ciphertexts.

use crate::cipher::Ciphertext;
use crate::keys::Keys;
use divisi_core::{Abort, Session, Step};

impl Ciphertext {
    /// Multiplies two ciphertexts and relinearises the result: each digit of d_2 is multiplied by its part of
    /// the key, and the special prime is divided out. It needs no message and no fresh encryption, as its
    /// result is a function of public values.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if levels differ or are above that of products, or if there is no relinearisation
    /// key.
    pub fn times(
        &self,
        keys: &Keys,
        session: &Session,
        step: Step,
        other: &Ciphertext,
    ) -> Result<Ciphertext, Abort> {
        let ring = keys.ring();
        let Some(relinearisation) = keys.relinearisation() else {
            return Err(session.misuse(step, "a product of ciphertexts without a key for it"));
        };
        if self.level != other.level {
            return Err(session.misuse(step, "a product of ciphertexts of different levels"));
        }
        if self.c0.limbs() > ring.parameters().limbs_of_products() {
            return Err(session.misuse(step, "a product of ciphertexts above the level of products"));
        }
        let (mut d0, mut d1, mut d2) = (self.c0.clone(), self.c0.clone(), self.c1.clone());
        ring.mul(&mut d0, &other.c0);
        ring.mul(&mut d1, &other.c1);
        ring.add_product(&mut d1, &self.c1, &other.c0);
        ring.mul(&mut d2, &other.c1);
        ring.to_coefficients(&mut d2);
        let limbs = d2.limbs();
        let mut sums = [ring.zero(limbs, true), ring.zero(limbs, true)];
        for (digit, part) in relinearisation.iter().take(ring.digits(limbs)).enumerate() {
            let digit = ring.spread(&d2, digit);
            sums.iter_mut().zip(part).for_each(|(sum, key)| ring.add_product(sum, &digit, key));
        }
        let [r0, r1] = sums.map(|sum| ring.drop_last(sum));
        ring.add(&mut d0, &r0);
        ring.add(&mut d1, &r1);
        let factor = ring.plain().mul(self.factor, other.factor);
        let noise = ring.parameters().noise_of_product(self.noise, other.noise);
        Ok(Ciphertext::new(self.level, factor, noise, d0, d1))
    }
}

//! Products of ciphertexts.

use crate::cipher::Ciphertext;
use crate::keys::Keys;
use divisi_core::{Abort, Misuse, Session, Step};

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
            return Err(session.misuse(step, Misuse::KeyMissing));
        };
        if self.level != other.level {
            return Err(session.misuse(step, Misuse::LevelUnfit));
        }
        if self.c0.limbs() > ring.parameters().limbs_of_products() {
            return Err(session.misuse(step, Misuse::LevelUnfit));
        }
        let (mut d0, mut d1, mut d2) = (self.c0.clone(), self.c0.clone(), self.c1.clone());
        ring.mul(&mut d0, &other.c0);
        ring.mul(&mut d1, &other.c1);
        ring.add_product(&mut d1, &self.c1, &other.c0);
        ring.mul(&mut d2, &other.c1);
        ring.to_coefficients(&mut d2);
        d2.publish();
        let sums = ring.products_of_digits(&mut d2, relinearisation);
        for (d, mut sum) in [&mut d0, &mut d1].into_iter().zip(sums) {
            sum.publish();
            let mut r = ring.drop_last(&mut sum);
            r.publish();
            ring.add(d, &r);
        }
        let factor = ring.plain().mul(self.factor, other.factor);
        let noise = ring.parameters().noise_of_product(self.noise, other.noise);
        Ok(Ciphertext::new(self.level, factor, noise, d0, d1))
    }
}

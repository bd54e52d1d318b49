//! Two entries that are kept or exchanged: the special case of GYKW, section 4.1, for a table of two vectors
//! of N numbers.
//!
//! The paper passes two ciphertexts, of both entries, from party to party; each keeps or exchanges them and
//! makes both private again. Here the sum of the entries stays shared, and only a ciphertext of their
//! difference passes: an exchange changes its sign. So a party multiplies it by its sign 1 - 2 r_i and adds a
//! fresh encryption of zero \[G1\]. A sign leaves the size of noise as it is; the noise of n encryptions of
//! zero is planned ([`Operation::VectorTables`]), so there is no
//! level to switch to, no product of plaintexts and no relinearisation.
//!
//! Adversary: semi-honest, all parties but one. *Private* as a hop of the lean forms is (docs/bgv.md, 5):
//! both components of the encryption of zero are RLWE samples, so that what a party sends is uniform to
//! whoever lacks one key share, whatever the sign is. That holds also if the sign changes nothing, and
//! against a party that made the ciphertext and has its randomness; noise, which depends on signs, is hidden
//! at the decryption \[G2, G4\].

use crate::checks;
use crate::cipher::Ciphertext;
use crate::keys::Keys;
use crate::parameters::Operation;
use crate::sample::Sampler;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, Session, Step, step};

const EXCHANGE: Step = step!("exchange");

impl Keys {
    /// \[x\] times 1 - 2 r for our bit r, hidden by a fresh encryption of zero. Its bound on noise is that of
    /// the parameters, which plan one such step of each party: no ciphertext may pass a party twice.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the keys are for another operation or session, or the ciphertext is not at the
    /// bottom, or has more noise than the parameters plan.
    pub fn keep_or_exchange(
        &self,
        session: &Session,
        sampler: &mut Sampler,
        mut x: Ciphertext,
        r: u64,
    ) -> Result<Ciphertext, Abort> {
        let (ring, p) = (self.ring(), self.ring().parameters());
        self.belong(session, EXCHANGE)?;
        if p.operation() != Operation::VectorTables {
            return Err(session.misuse(EXCHANGE, Misuse::KeyUnfit));
        }
        if x.level() > 0 {
            return Err(session.misuse(EXCHANGE, Misuse::LevelUnfit));
        }
        if !p.hides(x.noise()) {
            return Err(session.misuse(EXCHANGE, Misuse::NoiseTooHigh));
        }
        let mut sign = WipedVec::zeros(ring.dimension());
        if let Some(first) = sign.first_mut() {
            *first = 1 - 2 * (r & 1) as i64;
        }
        let sign = ring.small(&sign, p.limbs(0), false);
        session.observe(checks::G1); // [G1]
        let zero = self.encrypt(sampler, 0, None);
        for (c, zero) in x.components_mut().into_iter().zip(zero.components()) {
            // the product is secret: its quotient by the ciphertext before is the sign
            c.withhold();
            ring.mul(c, &sign);
            ring.add(c, zero);
        }
        let Ciphertext { factor, c0, c1, .. } = x;
        Ok(Ciphertext::new(0, factor, p.noise_at(0), c0, c1))
    }
}

//! A hop: a party multiplies a ciphertext by its own secret signs, and hides them before it passes the
//! ciphertext on.
//!
//! GYKW, Figure 6, step 3 for one party, with CP of appendix A.1. Products by signs 1 - 2 r replace the
//! paper's rotations, so that a ciphertext serves N tables. Adversary: semi-honest, all parties but one.
//!
//! *lean* forms: the party adds a fresh encryption of zero, on both components. By the RLWE assumption all
//! that it sends is uniform to an adversary that lacks one key share, whatever the signs are. Floods are then
//! needed only for decryptions (docs/bgv.md, 5).
//!
//! *paper* form: the party adds floods on both components. The first one hides the noise of the product, so
//! that only the plaintext depends on the signs. The second one is the error of the encryption of zero; it is
//! so narrow that, multiplied by the key, it is as large as the first one (D4). Whoever has the whole key can
//! decrypt before and after the hop, and divide. Every flooded hop counts as a partial decryption \[G12\].

use crate::checks;
use crate::cipher::Ciphertext;
use crate::encode;
use crate::keys::Keys;
use crate::parameters::Form;
use crate::parameters::noise::plus;
use crate::ring::Mask;
use crate::sample::{Hiding, Sampler};
use divisi_core::{Abort, Misuse, Session, Step, step};

const HOP: Step = step!("hop");

impl Keys {
    /// Multiplies the slots of \[x\] by `signs`, one for each of the N slots, each of them 1 or p - 1: signs
    /// of uniform bits, as the bound on the noise assumes (H4 of docs/bgv.md). The result is one level below.
    ///
    /// # Errors
    /// [`Abort::Misuse`] at the lowest level, if there are not N signs, and, in the paper's form, if the
    /// parameters have no flood for this level or the ciphertext has more noise than that flood hides;
    /// [`Abort::CheckFailed`] if the session has used up its partial decryptions.
    pub fn hop(
        &self,
        session: &Session,
        sampler: &mut Sampler,
        mut x: Ciphertext,
        signs: &[u64],
    ) -> Result<Ciphertext, Abort> {
        let (ring, level, from) = (self.ring(), x.level(), x.c0.limbs());
        self.belong(session, HOP)?;
        if level == 0 {
            return Err(session.misuse(HOP, Misuse::LevelUnfit));
        }
        if signs.len() != ring.dimension() {
            return Err(session.misuse(HOP, Misuse::CountsDiffer));
        }
        session.observe(checks::G1); // [G1]
        if ring.parameters().form() == Form::Paper {
            x = self.flooded_product(session, sampler, x, signs)?;
        } else {
            let noise = ring.parameters().bounds().times_plain(x.noise);
            x = self.hidden_product(sampler, x, &encode::coefficients(ring, signs), noise);
        }
        Ok(x.switch_from(ring, from, level - 1))
    }

    /// \[x\] times the signs, plus an encryption of zero with floods in place of the errors.
    fn flooded_product(
        &self,
        session: &Session,
        sampler: &mut Sampler,
        mut x: Ciphertext,
        signs: &[u64],
    ) -> Result<Ciphertext, Abort> {
        let (ring, level) = (self.ring(), x.level());
        if !ring.parameters().plans(level, x.noise) {
            return Err(session.misuse(HOP, Misuse::NoiseTooHigh));
        }
        self.spend(session, HOP)?; // [G12]
        let Some(widths) = ring.parameters().hop_floods(level) else {
            return Err(session.misuse(HOP, Misuse::NotMade));
        };
        x.times_plain(ring, &encode::encode(ring, signs, ring.parameters().limbs(level)));
        let ([z0, z1], noise) = self.encrypt_flooded(sampler, level, widths);
        x.noise = plus(x.noise, noise);
        let [c0, c1] = x.components_mut();
        ring.add(c0, &z0);
        ring.add(c1, &z1);
        Ok(x)
    }

    /// A hop before the switch of its modulus, for tests of the noise there. It makes the parts of a hop one
    /// after the other; together they are the same as a hop (test `a_hop_is_the_sum_of_its_parts`).
    ///
    /// # Errors
    /// It fails as [`Keys::hop`] does.
    #[cfg(feature = "testing")]
    pub fn hop_before_its_switch(
        &self,
        session: &Session,
        sampler: &mut Sampler,
        mut x: Ciphertext,
        signs: &[u64],
    ) -> Result<Ciphertext, Abort> {
        let (ring, level) = (self.ring(), x.level());
        if ring.parameters().form() == Form::Paper {
            return self.flooded_product(session, sampler, x, signs);
        }
        x.times_plain(ring, &encode::encode(ring, signs, ring.parameters().limbs(level)));
        let zero = self.encrypt(sampler, level, None);
        x.add(ring, session, HOP, &Ciphertext { factor: x.factor, ..zero })?;
        Ok(x)
    }

    /// \[x\] times the plaintext with these coefficients, plus a fresh encryption of zero
    /// ([`Keys::encrypt`]), divided by the last prime. `noise` bounds that of the product. One function does
    /// all of this, in one pass through memory and without transforms of errors ([`Ring::product_below`]).
    pub(crate) fn hidden_product(
        &self,
        sampler: &mut Sampler,
        x: Ciphertext,
        m: &[i64],
        noise: f64,
    ) -> Ciphertext {
        let (ring, n) = (self.ring(), self.ring().dimension());
        let Hiding { errors: [e0, e1], v } = sampler.hiding(n);
        let [first, second] = self.public();
        let masks = [Some(Mask { key: first, errors: &e0 }), Some(Mask { key: second, errors: &e1 })];
        let [c0, c1] = ring.product_below([x.c0, x.c1], m, &v, masks);
        let noise = plus(noise, ring.parameters().bounds().fresh());
        Ciphertext::new(x.level, x.factor, noise, c0, c1)
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parameters::{Operation, Parameters};
    use crate::ring::{Poly, Ring};
    use divisi_core::testing::run;
    use divisi_core::{Prg, PublicParameters};
    use divisi_field::zp::{P16, P32, P62};
    use std::sync::Arc;

    /// A hop gives the same as its parts, one after the other: a product, an encryption of zero with the same
    /// randomness, their sum, and a switch of the modulus.
    #[test]
    fn a_hop_is_the_sum_of_its_parts() {
        for (plain, form) in [(P32, Form::LeanRing), (P16, Form::LeanTree), (P62, Form::LeanTree)] {
            let p = Parameters::danger_insecure(Operation::Bits, form, 4, plain).unwrap();
            let ring = Arc::new(Ring::new(p).unwrap());
            let ends = run(4, &ring.parameters().describe(PublicParameters::new("hops")), |mut session| {
                let keys = Keys::generate(&mut session, &ring)?;
                let sampler = || Sampler::of(Prg::new(&[9; 16]));
                let signs: Vec<u64> =
                    (0..ring.dimension() as u64).map(|i| if i * i % 7 < 3 { 1 } else { plain - 1 }).collect();
                let mut x = keys.encrypt(&mut Sampler::new(&session), ring.parameters().top(), None);
                while x.level() > 0 {
                    let hop = keys.hop(&session, &mut sampler(), x.clone(), &signs)?;
                    let level = x.level();
                    x.times_plain(&ring, &encode::encode(&ring, &signs, ring.parameters().limbs(level)));
                    // a hop may be known to all, a product that nothing hides may not
                    assert!(hop.components().into_iter().all(Poly::is_public));
                    assert!(!x.components().into_iter().any(Poly::is_public));
                    let zero = keys.encrypt(&mut sampler(), level, None);
                    x.add(&ring, &session, HOP, &Ciphertext { factor: x.factor, ..zero })?;
                    x = x.switch(&ring, level - 1);
                    assert!(hop.c0.words() == x.c0.words() && hop.c1.words() == x.c1.words(), "{level}");
                    assert_eq!((hop.level, hop.factor, hop.noise), (x.level, x.factor, x.noise));
                }
                Ok(())
            });
            ends.into_iter().for_each(Result::unwrap);
        }
    }
}

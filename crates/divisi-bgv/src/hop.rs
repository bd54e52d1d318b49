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
use crate::sample::Sampler;
use divisi_core::{Abort, Session, Step, step};

const HOP: Step = step!("hop");

impl Keys {
    /// Multiplies the slots of \[x\] by `signs`, one for each of the N slots. The result is one level below.
    ///
    /// # Errors
    /// [`Abort::Misuse`] at the lowest level, if there are not N signs, and if the parameters have no flood
    /// for this level; [`Abort::CheckFailed`] if the session has used up its partial decryptions.
    pub fn hop(
        &self,
        session: &Session,
        sampler: &mut Sampler,
        mut x: Ciphertext,
        signs: &[u64],
    ) -> Result<Ciphertext, Abort> {
        let (ring, level) = (self.ring(), x.level());
        self.belong(session, HOP)?;
        if level == 0 || signs.len() != ring.dimension() {
            return Err(session.misuse(HOP, "a hop at the lowest level, or not one sign for each slot"));
        }
        let plain = encode::encode(ring, signs, ring.parameters().limbs(level));
        x.times_plain(ring, &plain);
        let zero = if ring.parameters().form() == Form::Paper {
            self.spend(session, HOP)?; // [G12]
            let Some(widths) = ring.parameters().hop_floods(level) else {
                return Err(session.misuse(HOP, "no flood for this level"));
            };
            self.encrypt_flooded(sampler, level, widths)
        } else {
            self.encrypt(sampler, level, None)
        };
        session.observe(checks::G1); // [G1]
        x.noise = plus(x.noise, zero.noise);
        let [z0, z1] = zero.components();
        let [c0, c1] = x.components_mut();
        ring.add(c0, z0);
        if !session.mutated(checks::G1) {
            ring.add(c1, z1); // the mutant adds noise to the first component only, as the authors' code does
        }
        Ok(x.switch(ring, level - 1))
    }
}

//! What a party does to a ciphertext that passes it: its own signs, and nothing that tells them.
//!
//! GYKW, Figure 6, step 3 for one party, with products by signs in place of rotations (N tables a
//! ciphertext), and CP of appendix A.1. Adversary: semi-honest, all but one.
//! *lean*: a fresh encryption of zero on both components, whatever the signs: by the assumption of RLWE all
//! that leaves is uniform to whoever lacks one key share, and floods are needed only where something is
//! decrypted (docs/bgv.md, 5).
//! *paper*: floods on both components. The first hides the noise of the product, so that the signs are in the
//! plaintext alone (whoever has all of the key decrypts before and after the hop, and divides); the second is
//! the error of the encryption of zero, and as wide as counts as much after its product with the key (D4).
//! Every flooded hop counts as a partial decryption \[G12\].

use crate::cipher::Ciphertext;
use crate::encode;
use crate::keys::Keys;
use crate::parameters::Form;
use crate::parameters::noise::plus;
use crate::sample::Sampler;
use divisi_core::{Abort, Check, Session, Step, step};

const HOP: Step = step!("hop");

impl Keys {
    /// \[x\] -> \[x * signs\], one level below. `signs` are N slots.
    ///
    /// # Errors
    /// [`Abort::Misuse`] at the bottom, for another number of slots, and where the parameters have no flood
    /// for it; [`Abort::CheckFailed`] when the session has made its decryptions.
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
            return Err(session.misuse(HOP, "a hop has a level below it, and a sign for each slot"));
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
        session.observe(Check::G1); // [G1]
        x.noise = plus(x.noise, zero.noise);
        let [z0, z1] = zero.components();
        let [c0, c1] = x.components_mut();
        ring.add(c0, z0);
        if !session.mutated(Check::G1) {
            ring.add(c1, z1); // the mutant adds noise to the first component only, as the authors' code
        }
        Ok(x.switch(ring, level - 1))
    }
}

//! Linear combinations of ciphertexts: what GYKW's Figure 2 computes on values of the type *enc*.
//!
//! Sums, differences, public multiples and public addends need no messages, and change nothing secret: each
//! is a public function of ciphertexts. Noise grows by what is added, at most as the weight of a combination
//! does ([`Operation::Linear`](crate::parameters::Operation::Linear)): the sum of the absolute values of its
//! multiples, where a public addend weighs as much as a ciphertext. Parameters for a weight have floods that
//! hide the noise of that weight \[G2\], so the answers of an E2A stay within 2^-40 of answers that have the
//! floods alone (docs/bgv.md, 10). A combination that weighs more is refused by the call that makes it.

use crate::cipher::Ciphertext;
use crate::encode;
use crate::parameters::MOST_WEIGHT;
use crate::parameters::noise::plus;
use crate::ring::{Poly, Ring};
use divisi_core::{Abort, Misuse, Session, Step};

impl Ciphertext {
    /// Adds another ciphertext to this one. The sum has the noise of both. Above the bottom nothing is
    /// decrypted, so its noise is not limited here: what floods must hide is refused by the step that floods.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if levels or factors differ; at the bottom also if the sum has more noise than
    /// floods hide, or the parameters are not for linear combinations.
    pub fn add(
        &mut self,
        ring: &Ring,
        session: &Session,
        step: Step,
        other: &Ciphertext,
    ) -> Result<(), Abort> {
        self.combine(ring, session, step, other, Ring::add)
    }

    /// Subtracts another ciphertext from this one. The difference has the noise of both.
    ///
    /// # Errors
    /// It fails as [`Ciphertext::add`] does.
    pub fn subtract(
        &mut self,
        ring: &Ring,
        session: &Session,
        step: Step,
        other: &Ciphertext,
    ) -> Result<(), Abort> {
        self.combine(ring, session, step, other, Ring::sub)
    }

    /// Multiplies this ciphertext by a public integer, whose absolute value multiplies the noise.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the integer is beyond 2^16, and, at the bottom, if the product has more noise
    /// than floods hide.
    pub fn scale(&mut self, ring: &Ring, session: &Session, step: Step, multiple: i64) -> Result<(), Abort> {
        let size = multiple.unsigned_abs();
        // every prime is larger than this
        if size > u64::from(MOST_WEIGHT) {
            return Err(session.misuse(step, Misuse::NoiseTooHigh));
        }
        let noise = self.noise + (size as f64).log2();
        self.admit_noise(ring, session, step, noise)?;
        for c in self.components_mut() {
            ring.scale(c, size);
            if multiple < 0 {
                ring.neg(c);
            }
        }
        self.noise = noise;
        Ok(())
    }

    /// Adds a public number, below p, to each of the N slots. The noise grows by less than that of a shared
    /// encryption, and is counted as if it grew by as much.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are not N numbers, each below p; at the bottom also if the sum has more
    /// noise than floods hide.
    pub fn add_public(
        &mut self,
        ring: &Ring,
        session: &Session,
        step: Step,
        addends: &[u64],
    ) -> Result<(), Abort> {
        let plain = ring.plain();
        if addends.len() != ring.dimension() {
            return Err(session.misuse(step, Misuse::CountsDiffer));
        }
        if addends.iter().any(|addend| *addend >= plain.get()) {
            return Err(session.misuse(step, Misuse::OutOfRange));
        }
        let noise = plus(self.noise, ring.parameters().bounds().shared());
        self.admit_noise(ring, session, step, noise)?;
        let mut scaled = addends.to_vec();
        plain.scale(&mut scaled, self.factor);
        let limbs = self.c0.limbs();
        ring.add(&mut self.c0, &encode::encode(ring, &scaled, limbs));
        self.noise = noise;
        Ok(())
    }

    /// The sum or difference of both components, and of the noise of both, if that may be made.
    fn combine(
        &mut self,
        ring: &Ring,
        session: &Session,
        step: Step,
        other: &Ciphertext,
        operation: impl Fn(&Ring, &mut Poly, &Poly),
    ) -> Result<(), Abort> {
        if self.level != other.level || self.factor != other.factor {
            return Err(session.misuse(step, Misuse::LevelUnfit));
        }
        let noise = plus(self.noise, other.noise);
        self.admit_noise(ring, session, step, noise)?;
        operation(ring, &mut self.c0, &other.c0);
        operation(ring, &mut self.c1, &other.c1);
        self.noise = noise;
        Ok(())
    }

    /// Demands, at the bottom, that floods hide this noise, and that it grows under parameters for linear
    /// combinations alone: others may plan for noise that comes later.
    fn admit_noise(&self, ring: &Ring, session: &Session, step: Step, noise: f64) -> Result<(), Abort> {
        let p = ring.parameters();
        let fits = p.hides(noise) && (noise <= self.noise || p.operation().weight().is_some());
        if self.level == 0 && !fits {
            return Err(session.misuse(step, Misuse::NoiseTooHigh));
        }
        Ok(())
    }
}

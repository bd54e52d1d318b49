//! Interactive bootstrapping: a ciphertext at the bottom of the chain becomes one at a higher level.
//!
//! GYKW, section 7.1 (after MTBH21): E2A and A2E in one. docs/bgv.md, 9, shows why it is private.

use crate::checks;
use crate::cipher::Ciphertext;
use crate::common::Seed;
use crate::encode;
use crate::keys::{Keys, subtract_product};
use crate::ring::Poly;
use crate::sample::Sampler;
use crate::shares::to_answer;
use crate::wire;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step};

const ASK: Step = step!("refresh.ask");
const ANSWER: Step = step!("refresh.answer");

impl Keys {
    /// The holder of \[x\] at the bottom gets a fresh \[x\] at `level`, with factor 1. All parties call it.
    /// Those other than the holder pass `None` and the public factor, and get `None`. Adversary: semi-honest,
    /// all parties but one. Cost: the holder sends c_1 to every other party, and each of these sends N
    /// coefficients modulo the primes of answers and one polynomial of the level; two rounds. Each answer is
    /// masked, flooded and counted, as in E2A. It comes with an encryption of the same mask \[G3\] under the
    /// party's own key share. The encryptions have a common public polynomial, from a seed that is used in
    /// this call alone \[G13\].
    ///
    /// # Errors
    /// [`Abort::Misuse`] if `level` is the bottom or above the top; otherwise it fails as [`Keys::e2a`]
    /// does.
    pub fn refresh(
        &self,
        session: &mut Session,
        sampler: &mut Sampler,
        holder: PartyId,
        x: Option<&Ciphertext>,
        factor: u64,
        level: usize,
    ) -> Result<Option<Ciphertext>, Abort> {
        let ring = self.ring();
        self.belong(session, ASK)?;
        if !(1..=ring.parameters().top()).contains(&level) {
            return Err(session.misuse(ASK, Misuse::LevelUnfit));
        }
        let limbs = ring.parameters().limbs(level);
        let count = session.count("refresh");
        session.observe(checks::G13); // [G13]
        let a = Seed::new(session.id().as_bytes(), "refresh", session.number(), count);
        let a = a.expand(ring, limbs, false);
        if session.me() != holder {
            // 1. c_1
            let mut c1 = ring.zero(ring.parameters().limbs(0), false);
            wire::receive(session, ring, ASK, holder, &mut [&mut c1])?; // [G10]
            // 2. h_i, without its lowest primes (D6), and b_i, in one message
            let [h, b] = self.both_parts(session, sampler, c1, &a, factor)?;
            wire::send(session, ring, ANSWER, holder, &[&to_answer(ring, h), &b])?;
            return Ok(None);
        }
        let x = self.at_bottom(session, ASK, x, factor)?;
        for peer in session.peers() {
            wire::send(session, ring, ASK, peer, &[x.components()[1]])?;
        }
        // 3. x_h = c_0 + s_h c_1 + sum of h_i, and b = sum of b_i
        let mut sum = self.own_part(x);
        let mut b = ring.zero(limbs, false);
        for peer in session.peers() {
            let answer = ring.parameters().answer_limbs();
            let (mut h, mut theirs) = (ring.zero(answer, false), ring.zero(limbs, false));
            wire::receive(session, ring, ANSWER, peer, &mut [&mut h, &mut theirs])?; // [G10]
            ring.add(&mut sum, &h);
            ring.add(&mut b, &theirs);
        }
        let share = self.share_of(&sum);
        ring.add(&mut b, &self.encrypt_share(sampler, &a, share, factor));
        Ok(Some(Ciphertext::new(level, 1, ring.parameters().bounds().shared(), b, a)))
    }

    /// h_i = s_i c_1 + p e_i - x_i, as coefficients over all primes of the bottom, and b_i, which encrypts
    /// x_i.
    fn both_parts(
        &self,
        session: &Session,
        sampler: &mut Sampler,
        c1: Poly,
        a: &Poly,
        factor: u64,
    ) -> Result<[Poly; 2], Abort> {
        let mask = self.mask(session, sampler);
        let (h, share) = self.answer(session, sampler, c1, mask)?;
        Ok([h, self.encrypt_share(sampler, a, share, factor)])
    }

    /// h_i of an answer to a refresh before its lowest bits are dropped (D6): for tests, which see more than
    /// a holder does.
    ///
    /// # Errors
    /// It fails as [`Keys::refresh`] does.
    #[cfg(feature = "testing")]
    pub fn answer_of_refresh(
        &self,
        session: &Session,
        sampler: &mut Sampler,
        c1: Poly,
        factor: u64,
    ) -> Result<Poly, Abort> {
        let ring = self.ring();
        let a = ring.zero(ring.parameters().limbs(ring.parameters().top()), false);
        let [h, _] = self.both_parts(session, sampler, c1, &a, factor)?;
        Ok(h)
    }

    /// The mask x_i, uniform modulo p.
    #[cfg_attr(feature = "testing", track_caller)]
    fn mask(&self, session: &Session, sampler: &mut Sampler) -> WipedVec<u64> {
        let ring = self.ring();
        session.observe(checks::G3); // [G3]
        sampler.elements(ring.plain(), ring.dimension())
    }

    /// -a s_i + p e + x'_i for our share x'_i of the plaintext. `share` has the coefficients of x'_i times
    /// the factor of answers ([`Keys::factor_of_answers`]), by which they are divided.
    #[cfg_attr(feature = "testing", track_caller)]
    fn encrypt_share(&self, sampler: &mut Sampler, a: &Poly, mut share: WipedVec<u64>, factor: u64) -> Poly {
        let (ring, plain) = (self.ring(), self.ring().plain());
        plain.scale(&mut share, plain.invert(self.factor_of_answers(factor)));
        let errors = sampler.errors(ring.dimension());
        let mut b = ring.noisy(&errors, &encode::centred(ring, &share), a.limbs());
        drop(errors);
        subtract_product(ring, &mut b, a, self.share());
        b
    }
}

//! Conversions between ciphertexts and additive shares.

use crate::checks;
use crate::cipher::Ciphertext;
use crate::common::Seed;
use crate::encode;
use crate::keys::{Keys, subtract_product};
use crate::parameters::Form;
use crate::ring::{Poly, Ring};
use crate::sample::Sampler;
use crate::wire;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step, taint};

const ASK: Step = step!("e2a.ask");
const ANSWER: Step = step!("e2a.answer");
const GIVE: Step = step!("a2e.give");
const FLOOD: Step = step!("flood");
const REDUCED: Step = step!("a2e.reduced");

impl Keys {
    /// E2A, Figure 15 of GYKW: all parties get additive shares of the N slots of the holder's \[x\]. Those
    /// other than the holder pass `None` and the public factor. Adversary: semi-honest, all parties but one.
    /// Cost: the holder sends c_1 to every other party, and each of these sends N coefficients modulo the
    /// first prime, or modulo the first two for a p of more than some 40 bits; two rounds. Deviations: D5, in
    /// the lean forms the holder sends c_1 alone, because nobody else needs c_0; in the paper's form it sends
    /// both, as in Figure 6. D6, answers are switched to the first primes before they are sent.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the ciphertext is not at the bottom, or has more noise than the floods hide
    /// ([`crate::linear`]); [`Abort::CheckFailed`] if the session has used up its partial decryptions
    /// \[G12\], and, naming the sender, if coefficients are not reduced \[G10\].
    pub fn e2a(
        &self,
        session: &mut Session,
        sampler: &mut Sampler,
        holder: PartyId,
        x: Option<&Ciphertext>,
        factor: u64,
    ) -> Result<WipedVec<u64>, Abort> {
        let ring = self.ring();
        self.belong(session, ASK)?;
        let both = ring.parameters().form() == Form::Paper;
        let mut shares = if session.me() == holder {
            let x = self.at_bottom(session, ASK, x, factor)?;
            let [c0, c1] = x.components();
            let sent: &[&Poly] = if both { &[c0, c1] } else { &[c1] };
            for peer in session.peers() {
                wire::send(session, ring, ASK, peer, sent)?;
            }
            // 2. <x>_1 = s_1 c_1 + c_0 + sum of h_i
            let mut sum = self.own_part(x);
            for peer in session.peers() {
                let mut h = ring.zero(ring.parameters().answer_limbs(), false);
                wire::receive(session, ring, ANSWER, peer, &mut [&mut h])?; // [G10]
                ring.add(&mut sum, &h);
            }
            self.share_of(&sum)
        } else {
            let mut c1 = ring.zero(ring.parameters().limbs(0), false);
            let mut c0 = ring.zero(if both { c1.limbs() } else { 0 }, false);
            let mut components: Vec<&mut Poly> = if both { vec![&mut c0, &mut c1] } else { vec![&mut c1] };
            wire::receive(session, ring, ASK, holder, &mut components)?; // [G10]
            // 1. h_i, with <x>_i uniform
            let mask = sampler.elements(ring.plain(), ring.dimension());
            let (h, share) = self.answer(session, sampler, c1, mask)?;
            wire::send(session, ring, ANSWER, holder, &[&to_answer(ring, h)])?;
            share
        };
        encode::decode(ring, &mut shares);
        let plain = ring.plain();
        plain.scale(&mut shares, plain.invert(self.factor_of_answers(factor)));
        Ok(shares)
    }

    /// The holder's ciphertext, if it is at the bottom, has this factor, and its noise is hidden by the
    /// floods.
    pub(crate) fn at_bottom<'x>(
        &self,
        session: &Session,
        step: Step,
        x: Option<&'x Ciphertext>,
        factor: u64,
    ) -> Result<&'x Ciphertext, Abort> {
        let Some(x) = x.filter(|x| x.level() == 0 && x.factor() == factor) else {
            return Err(session.misuse(step, Misuse::LevelUnfit));
        };
        if !self.ring().parameters().hides(x.noise()) {
            return Err(session.misuse(step, Misuse::NoiseTooHigh));
        }
        Ok(x)
    }

    /// The holder's part c_0 + s_h c_1, as coefficients modulo the primes of answers.
    pub(crate) fn own_part(&self, x: &Ciphertext) -> Poly {
        own_part(self.ring(), self.share(), x.components())
    }

    /// The holder's share, from the sum of all parts: its coefficients modulo p.
    pub(crate) fn share_of(&self, sum: &Poly) -> WipedVec<u64> {
        share_of(self.ring(), sum)
    }

    /// h_i over all primes of the bottom, and the coefficients of our share: the mask <x>_i times the factor
    /// of the primes that are dropped from h_i before it is sent (D6).
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn answer(
        &self,
        session: &Session,
        sampler: &mut Sampler,
        c1: Poly,
        mut mask: WipedVec<u64>,
    ) -> Result<(Poly, WipedVec<u64>), Abort> {
        let h = self.partial(session, sampler, c1, &mask)?;
        self.ring().plain().scale(&mut mask, self.factor_of_answers(1));
        Ok((h, mask))
    }

    /// The factor of the shares of a ciphertext with this factor: the primes dropped from answers divide
    /// them, too.
    pub(crate) fn factor_of_answers(&self, factor: u64) -> u64 {
        let (ring, plain) = (self.ring(), self.ring().plain());
        let dropped = ring.parameters().answer_limbs()..ring.parameters().limbs(0);
        dropped.fold(factor, |f, limb| plain.mul(f, ring.quotient(limb)))
    }

    /// h_i = s_i c_1 + p e_i - <x>_i as coefficients over all primes of the bottom. e_i is a flood \[G4\],
    /// <x>_i is uniform. The call counts as a partial decryption \[G12\].
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn partial(
        &self,
        session: &Session,
        sampler: &mut Sampler,
        c1: Poly,
        mask: &[u64],
    ) -> Result<Poly, Abort> {
        let (ring, n) = (self.ring(), self.ring().dimension());
        self.spend(session, ANSWER)?; // [G12]
        let mut flood = WipedVec::zeros(n);
        session.observe(checks::G4); // [G4]
        ring.parameters().flood().sample(sampler.prg(), &mut flood);
        flood.first().into_iter().for_each(|e| taint::leak(FLOOD, *e as u8));
        Ok(flooded(ring, self.share(), &c1, flood, mask))
    }

    /// The answer to this second component before its lowest bits are dropped (D6): for tests, which see more
    /// than a holder does.
    ///
    /// # Errors
    /// It fails as [`Keys::e2a`] does.
    #[cfg(feature = "testing")]
    pub fn partial_decryption(
        &self,
        session: &Session,
        sampler: &mut Sampler,
        c1: Poly,
    ) -> Result<Poly, Abort> {
        let share = sampler.elements(self.ring().plain(), self.ring().dimension());
        self.partial(session, sampler, c1, &share)
    }

    /// A2E, appendix A.3: N shared slots become a ciphertext at the receiver, at the top level. Adversary:
    /// semi-honest, all parties but one. Cost: one polynomial from each party to the receiver; one round.
    /// Deviation D7: each party encrypts under its own key share, -a s_i + p e_i + m_i, with a common public
    /// polynomial a, so that the sum is an encryption under the whole key. a comes from a seed that is used
    /// in this call alone \[G13\].
    ///
    /// The shares are plain numbers, which do not say to which session they belong. So keys of another
    /// session are refused, but shares of another session cannot be recognised.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are not N slots, each below p; [`Abort::CheckFailed`] that names the sender
    /// if coefficients are not reduced.
    pub fn a2e(
        &self,
        session: &mut Session,
        sampler: &mut Sampler,
        receiver: PartyId,
        share: &[u64],
    ) -> Result<Option<Ciphertext>, Abort> {
        let ring = self.ring();
        let [mut b, a] = self.share_under_key(session, sampler, share)?;
        if session.me() != receiver {
            wire::send(session, ring, GIVE, receiver, &[&b])?;
            return Ok(None);
        }
        for peer in session.peers() {
            let mut theirs = ring.zero(b.limbs(), false);
            wire::receive(session, ring, GIVE, peer, &mut [&mut theirs])?; // [G10]
            ring.add(&mut b, &theirs);
        }
        let noise = ring.parameters().bounds().shared();
        Ok(Some(Ciphertext::new(ring.parameters().top(), 1, noise, b, a)))
    }

    /// Our part of an A2E at the top: -a s_i + p e_i + m_i, and the polynomial a that all parties have in
    /// this call alone \[G13\]. By RLWE the part is uniform to whoever lacks s_i, so it is public.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are not N slots, each below p, or in another session.
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn share_under_key(
        &self,
        session: &mut Session,
        sampler: &mut Sampler,
        share: &[u64],
    ) -> Result<[Poly; 2], Abort> {
        let ring = self.ring();
        self.belong(session, GIVE)?;
        if share.len() != ring.dimension() {
            return Err(session.misuse(GIVE, Misuse::CountsDiffer));
        }
        if !taint::verdict(REDUCED, excess(ring.parameters().plain(), share) == 0) {
            return Err(session.misuse(GIVE, Misuse::OutOfRange));
        }
        let limbs = ring.parameters().chain().len();
        let count = session.count("a2e");
        session.observe(checks::G13); // [G13]
        let a = Seed::new(session.id().as_bytes(), "a2e", session.number(), count).expand(ring, limbs, false);
        let errors = sampler.errors(ring.dimension());
        let mut b = ring.noisy(&errors, &encode::coefficients(ring, share), limbs);
        drop(errors);
        subtract_product(ring, &mut b, &a, self.share());
        Ok([b, a])
    }
}

/// One if a number is p or above, zero if none is; in constant time.
pub(crate) fn excess(p: u64, numbers: &[u64]) -> u64 {
    // p has at most 62 bits: the difference is negative, or the number itself is huge
    numbers.iter().fold(0, |all, x| all | x | (p - 1).wrapping_sub(*x)) >> 63
}

/// c_0 + s_h c_1 of a key share, as coefficients modulo the primes of answers; in constant time.
pub(crate) fn own_part(ring: &Ring, share: &Poly, [c0, c1]: [&Poly; 2]) -> Poly {
    let mut sum = c0.clone();
    ring.add_product(&mut sum, share, c1);
    ring.to_coefficients(&mut sum);
    to_answer(ring, sum)
}

/// The coefficients, which are given modulo the primes of answers, centred and reduced modulo p; in constant
/// time.
pub(crate) fn share_of(ring: &Ring, sum: &Poly) -> WipedVec<u64> {
    let (first, plain) = (ring.modulus(0), ring.plain());
    let mut share = WipedVec::zeros(ring.dimension());
    if sum.limbs() == 1 {
        let residues = share.iter_mut().zip(sum.words());
        residues.for_each(|(share, c)| *share = plain.of_signed(first.centred(*c)));
    } else {
        ring.joined(sum, |i, c| share[i] = plain.of_wide(c));
    }
    share
}

/// s_i c_1 + p e_i - <x>_i as coefficients over the primes of c_1, for a flood e_i; in constant time. The
/// last two terms are coefficients already, so the sum takes no transforms of theirs.
pub(crate) fn flooded(ring: &Ring, share: &Poly, c1: &Poly, mut flood: WipedVec<i128>, mask: &[u64]) -> Poly {
    let (plain, p) = (ring.plain(), i128::from(ring.plain().get()));
    let mut h = ring.zero(c1.limbs(), false);
    ring.add_product(&mut h, share, c1);
    ring.to_coefficients(&mut h);
    let hidden = if ring.parameters().answers_are_words() {
        let terms = flood.iter_mut().zip(mask);
        terms.for_each(|(term, x)| *term = p * *term - i128::from(plain.centred(*x)));
        ring.wide_coefficients(&flood, c1.limbs())
    } else {
        ring.wide_noisy(&flood, &encode::centred(ring, mask), c1.limbs())
    };
    ring.add(&mut h, &hidden);
    h
}

/// Drops all primes but those of answers, of a polynomial given by coefficients.
pub(crate) fn to_answer(ring: &Ring, mut x: Poly) -> Poly {
    while x.limbs() > ring.parameters().answer_limbs() {
        x = ring.drop_last_of_coefficients(x);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::{Operation, Parameters};
    use divisi_core::Prg;
    use divisi_field::zp::{P32, P62};

    fn ring(plain: u64) -> Ring {
        Ring::new(Parameters::danger_insecure(Operation::Bits, Form::LeanTree, 3, plain).unwrap()).unwrap()
    }

    /// Where 128 bits hold p times a flood, the sum modulo each prime is the same.
    #[test]
    fn floods_are_multiplied_in_both_ways() {
        let ring = ring(P32);
        assert!(ring.parameters().answers_are_words());
        let (n, limbs) = (ring.dimension(), ring.parameters().limbs(0));
        let mut own = Sampler::of(Prg::new(&[3; 16]));
        let (mask, mut drawn) = (own.elements(ring.plain(), n), WipedVec::zeros(n));
        ring.parameters().flood().sample(own.prg(), &mut drawn);
        (drawn[0], drawn[1]) = (0, -1);
        let share = ring.small(&own.ternary(n), ring.parameters().chain().len(), false);
        let mut c1 = ring.zero(limbs, false);
        c1.words_mut().iter_mut().enumerate().for_each(|(i, word)| *word = i as u64);
        let mut other = ring.zero(limbs, false);
        ring.add_product(&mut other, &share, &c1);
        ring.to_coefficients(&mut other);
        ring.add(&mut other, &ring.wide_noisy(&drawn, &encode::centred(&ring, &mask), limbs));
        assert!(flooded(&ring, &share, &c1, drawn, &mask).words() == other.words());
    }

    /// Coefficients modulo two primes are read as the number between minus and plus half of their product.
    #[test]
    fn coefficients_are_joined() {
        let ring = ring(P62);
        assert_eq!(ring.parameters().answer_limbs(), 2);
        let [first, second] = [0, 1].map(|limb| ring.modulus(limb));
        let product = i128::from(first.get()) * i128::from(second.get());
        let mut numbers = vec![0, 1, -1, product / 2, -(product / 2), i128::from(P62), -i128::from(P62)];
        let hash = |i: i128| i * i * i * 0x9e37_79b9_7f4a_7c15 * 0xabcd_ef01;
        numbers.extend((1..500).flat_map(|i| [hash(i), -hash(i)]).map(|x| x % (product / 2)));
        let mut sum = ring.zero(2, false);
        let n = ring.dimension();
        for (i, number) in numbers.iter().enumerate() {
            sum.words_mut()[i] = first.of_wide(*number);
            sum.words_mut()[n + i] = second.of_wide(*number);
        }
        let share = share_of(&ring, &sum);
        for (number, share) in numbers.iter().zip(share.iter()) {
            assert_eq!(i128::from(*share), number.rem_euclid(i128::from(P62)), "{number}");
        }
    }
}

//! Products of shared vectors of 1,024 numbers by shared numbers, without a chain of messages: the special
//! case of GYKW, section 4.1, for entries that are vectors, as the keys of linear garbling are.
//!
//! A ciphertext has N / 1024 vectors, each in a *block*: the slots at which X^1024 has one value. So a
//! plaintext with one coefficient for each block, of X^0, X^1024 and so on, multiplies each block by a number
//! of its own, and noise by N / 1024 p/2 at most. Let D be the vectors, shared, and e a number for each
//! block, shared modulo p: e = sum of e_i.
//!
//! 1. A2E of D, whose sum all parties get ([`Keys::a2e_to_all`]).
//! 2. P_i multiplies \[D\] by its e_i, adds a fresh encryption of zero, and switches the modulus
//!    ([`Keys::times_shares`]). It sends the second component; the holder adds them up and sends the sum u to
//!    all.
//! 3. P_i keeps the first component, w_i, and answers with h_i = s_i u + w_i + p f_i - x_i for a flood f_i
//!    and a uniform x_i. x_i is its share of e D, and the holder's is s_h u + w_h + sum of h_i.
//!
//! *Right*: the sum of all s_i u + w_i is that of the decryptions of all products, which is e D with the
//! noise that the parameters plan (docs/bgv.md, 11). The paper sends both components
//! around the parties; here the first components are never sent, because only their sum with a decryption
//! matters.
//!
//! *Private*, against all parties but P_i, whatever randomness of \[D\] they hold. First P_i's answers: all
//! summands but P_i's are known, so h_i is minus their sum, plus e D - x_i, which is uniform, plus noise that
//! the flood hides \[G2, G4\]. Then s_i and the v of the encryption of zero stand in no answer. So the second
//! component e_i c_1 + a v + p e' of P_i is an RLWE sample with a secret of its own, and its part of the A2E
//! one under s_i, with a polynomial of its own \[G13\]: both are uniform, whatever e_i and D are \[G1\]. No
//! flood is needed when the encryption of zero is added: c_1 e_i alone would reveal e_i, its sum with a
//! uniform polynomial does not, to anybody who lacks v. Nor does it matter who knows the errors of \[D\],
//! because what depends on them is in answers only.
//!
//! Cost for K products of a ciphertext, of all parties together: 2 (n - 1) polynomials at the top, and for
//! each product 2 (n - 1) at the bottom and n - 1 answers; two rounds, and three more. No relinearisation
//! key.

use crate::checks;
use crate::cipher::Ciphertext;
use crate::encode;
use crate::keys::Keys;
use crate::parameters::{BLOCK, Operation};
use crate::ring::{Poly, Ring};
use crate::sample::Sampler;
use crate::shares::{excess, own_part, to_answer};
use crate::wire;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step, taint};

const GATHER: Step = step!("vectors.gather");
const TELL: Step = step!("vectors.tell");
const ADD: Step = step!("blocks.add");
const ASK: Step = step!("blocks.ask");
const ANSWER: Step = step!("blocks.answer");
const REDUCED: Step = step!("blocks.reduced");

impl Keys {
    /// A2E of several lists of N shared slots, which come to all parties as ciphertexts at the top. One party
    /// adds them up. Adversary: semi-honest, all parties but one. Cost: for each ciphertext every other party
    /// sends a polynomial to this one and gets one back, because the second component is common to all
    /// parties; two rounds.
    ///
    /// # Errors
    /// It fails as [`Keys::a2e`] does.
    pub fn a2e_to_all(
        &self,
        session: &mut Session,
        sampler: &mut Sampler,
        adder: PartyId,
        shares: &[WipedVec<u64>],
    ) -> Result<Vec<Ciphertext>, Abort> {
        let ring = self.ring();
        let parts = shares.iter().map(|share| self.share_under_key(session, sampler, share)); // [G13]
        let (mut sums, commons): (Vec<Poly>, Vec<Poly>) =
            parts.collect::<Result<Vec<_>, _>>()?.into_iter().map(|[b, a]| (b, a)).unzip();
        sum_to_all(session, ring, [GATHER, TELL], adder, &mut sums)?;
        let (top, noise) = (ring.parameters().top(), ring.parameters().bounds().shared());
        let all = sums.into_iter().zip(commons);
        Ok(all.map(|(b, a)| Ciphertext::new(top, 1, noise, b, a)).collect())
    }

    /// Shares of the slots of each \[x\] times shared numbers. `factors` has, for each ciphertext, our shares
    /// modulo p of the numbers of each product: one for each block of 1,024 slots. The bounds on noise assume
    /// that shares are uniform, as those of random numbers are. Returns N shares for each product, in order.
    /// All parties have the same ciphertexts, of [`Keys::a2e_to_all`]. Adversary: semi-honest, all
    /// parties but one (see above). Cost: for each product every other party sends a polynomial at the bottom
    /// to the holder, gets one back, and sends an answer; three rounds.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the keys are for another operation, the ciphertexts not at the top or with too
    /// much noise, or the factors not one for each block and below p; [`Abort::CheckFailed`] if the session
    /// has used up its partial decryptions \[G12\], and, naming the sender, if coefficients are not reduced
    /// \[G10\].
    pub fn times_shares(
        &self,
        session: &mut Session,
        sampler: &mut Sampler,
        holder: PartyId,
        x: &[Ciphertext],
        factors: &[Vec<WipedVec<u64>>],
    ) -> Result<Vec<WipedVec<u64>>, Abort> {
        let (ring, p) = (self.ring(), self.ring().parameters());
        self.admit_products(session, x, factors)?;
        let factor = Ciphertext::factor_after(ring, 1, p.top(), 0);
        // 2. [D] e_i + [0], without the last prime
        session.observe(checks::G1); // [G1]
        let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
        for (x, factors) in x.iter().zip(factors) {
            for factors in factors {
                let Ciphertext { c0, c1, .. } = self.hidden_by_zero(sampler, x, factors);
                firsts.push(c0);
                seconds.push(c1);
            }
        }
        sum_to_all(session, ring, [ADD, ASK], holder, &mut seconds)?;
        // 3. the holder's parts, or the others' answers
        let mut shares = Vec::with_capacity(firsts.len());
        if session.me() == holder {
            let parts = firsts.iter().zip(&seconds);
            let mut sums: Vec<Poly> = parts.map(|(w, u)| own_part(ring, self.share(), [w, u])).collect();
            for peer in session.peers() {
                wire::receive_sum(session, ring, ANSWER, peer, &mut sums)?; // [G10]
            }
            shares.extend(sums.iter().map(|sum| self.share_of(sum)));
        } else {
            let mut answers = Vec::with_capacity(firsts.len());
            for (mut w, u) in firsts.into_iter().zip(seconds) {
                let mask = sampler.elements(ring.plain(), ring.dimension());
                let (mut h, share) = self.answer(session, sampler, u, mask)?; // [G4, G12]
                ring.to_coefficients(&mut w);
                ring.add(&mut h, &w);
                answers.push(to_answer(ring, h));
                shares.push(share);
            }
            wire::send(session, ring, ANSWER, holder, &answers.iter().collect::<Vec<_>>())?;
        }
        let plain = ring.plain();
        let scale = plain.invert(self.factor_of_answers(factor));
        for share in &mut shares {
            encode::decode(ring, share);
            plain.scale(share, scale);
        }
        Ok(shares)
    }

    /// \[x\] times our share of a number for each block, hidden by a fresh encryption of zero, at the bottom.
    fn hidden_by_zero(&self, sampler: &mut Sampler, x: &Ciphertext, factors: &[u64]) -> Ciphertext {
        let ring = self.ring();
        let m = encode::coefficients(ring, &spread(ring, factors));
        let noise = ring.parameters().bounds().times_shares(x.noise, BLOCK);
        let product = self.hidden_product(sampler, x.clone(), &m, noise);
        product.switch_from(ring, x.c0.limbs(), 0)
    }

    /// Refuses what does not fit products with shares.
    fn admit_products(
        &self,
        session: &Session,
        x: &[Ciphertext],
        factors: &[Vec<WipedVec<u64>>],
    ) -> Result<(), Abort> {
        let p = self.ring().parameters();
        self.belong(session, ADD)?;
        if p.operation() != Operation::BlockProducts {
            return Err(session.misuse(ADD, Misuse::KeyUnfit));
        }
        if x.iter().any(|x| x.level() != p.top() || x.factor() != 1) {
            return Err(session.misuse(ADD, Misuse::LevelUnfit));
        }
        if x.iter().any(|x| !p.plans(p.top(), x.noise())) {
            return Err(session.misuse(ADD, Misuse::NoiseTooHigh));
        }
        let all = factors.iter().flatten();
        if factors.len() != x.len() || all.clone().any(|factors| factors.len() != p.blocks()) {
            return Err(session.misuse(ADD, Misuse::CountsDiffer));
        }
        let beyond = all.fold(0, |beyond, factors| beyond | excess(p.plain(), factors));
        if !taint::verdict(REDUCED, beyond == 0) {
            return Err(session.misuse(ADD, Misuse::OutOfRange));
        }
        Ok(())
    }
}

/// For tests of noise.
#[cfg(feature = "testing")]
impl Keys {
    /// Our product of a call of [`Keys::times_shares`], of which others see the second component only.
    #[must_use]
    pub fn product_with_shares(&self, sampler: &mut Sampler, x: &Ciphertext, factors: &[u64]) -> Ciphertext {
        self.hidden_by_zero(sampler, x, factors)
    }

    /// The same before the switch of its modulus, its parts made one after the other.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the ciphertext is not at the top.
    pub fn product_before_its_switch(
        &self,
        session: &Session,
        sampler: &mut Sampler,
        x: &Ciphertext,
        factors: &[u64],
    ) -> Result<Ciphertext, Abort> {
        let (ring, mut product) = (self.ring(), x.clone());
        let m = encode::encode(ring, &spread(ring, factors), x.c0.limbs());
        for c in product.components_mut() {
            ring.mul(c, &m);
        }
        product.noise = ring.parameters().bounds().times_shares(x.noise, BLOCK);
        let zero = self.encrypt(sampler, x.level, None);
        product.add(ring, session, ADD, &Ciphertext { factor: x.factor, ..zero })?;
        Ok(product)
    }
}

/// A number for each slot: that of its block.
fn spread(ring: &Ring, factors: &[u64]) -> WipedVec<u64> {
    let mut slots = WipedVec::zeros(ring.dimension());
    slots.chunks_mut(BLOCK).zip(factors).for_each(|(block, factor)| block.fill(*factor));
    slots
}

/// Adds up everybody's polynomials at one party, which sends the sums to all. What is sent is uniform to
/// whoever lacks a party's secrets, so the sums are public. Two rounds.
fn sum_to_all(
    session: &mut Session,
    ring: &Ring,
    [gather, tell]: [Step; 2],
    adder: PartyId,
    polys: &mut [Poly],
) -> Result<(), Abort> {
    if session.me() == adder {
        for peer in session.peers() {
            wire::receive_sum(session, ring, gather, peer, polys)?; // [G10]
        }
        for peer in session.peers() {
            wire::send(session, ring, tell, peer, &polys.iter().collect::<Vec<_>>())?;
        }
        return Ok(());
    }
    wire::send(session, ring, gather, adder, &polys.iter().collect::<Vec<_>>())?;
    wire::receive(session, ring, tell, adder, &mut polys.iter_mut().collect::<Vec<_>>()) // [G10]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parameters::{Form, Parameters};
    use divisi_core::testing::{Harness, MessageDirection, party};
    use divisi_core::{Prg, PublicParameters};
    use divisi_field::zp::P16;
    use std::sync::Arc;

    /// Numbers that are alike in each block make a polynomial with one coefficient for each block.
    #[test]
    fn blocks_have_a_coefficient_each() {
        let p = Parameters::derive(Operation::BlockProducts, Form::LeanTree, 3, P16).unwrap();
        let (blocks, ring) = (p.blocks(), Ring::new(p).unwrap());
        assert!(blocks > 1);
        let factors: Vec<u64> = (0..blocks as u64).map(|i| (i + 3) * 7919 % P16).collect();
        let m = encode::coefficients(&ring, &spread(&ring, &factors));
        assert!(m.iter().enumerate().all(|(i, c)| i % BLOCK == 0 || *c == 0));
        assert!(m.iter().step_by(BLOCK).filter(|c| **c != 0).count() == blocks);
    }

    /// What P_2 answers is its part of the decryption, with a flood of the right width and a fresh share; the
    /// randomness of its product is known here.
    #[cfg(feature = "testing")]
    #[test]
    fn answers_of_products_have_their_flood_and_a_fresh_share() {
        let p = Parameters::danger_insecure(Operation::BlockProducts, Form::LeanTree, 2, P16).unwrap();
        let (ring, calls) = (Arc::new(Ring::new(p).unwrap()), 8);
        let p = ring.parameters();
        let harness = Harness::new(2, &p.describe(PublicParameters::new("answers of products")));
        let recording = harness.recording(party(1));
        let ends = harness.act(|mut session| {
            let keys = Keys::generate(&mut session, &ring)?;
            let mut sampler = Sampler::new(&session);
            let me = session.me().index() as u8;
            let (mut parts, mut shares) = (Vec::new(), Vec::new());
            for call in 0..calls {
                let zeros = [WipedVec::zeros(ring.dimension())];
                let x = keys.a2e_to_all(&mut session, &mut sampler, party(1), &zeros)?;
                let known = || Sampler::of(Prg::new(&[16 * me + call; 16]));
                let factors = known().elements(ring.plain(), p.blocks());
                let own = keys.hidden_by_zero(&mut known(), &x[0], &factors);
                let factors = [vec![factors]];
                shares.extend(keys.times_shares(&mut session, &mut known(), party(1), &x, &factors)?);
                parts.push(own);
            }
            Ok((keys.reveal(), parts, shares))
        });
        let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        let first = ring.modulus(0);
        let dropped: f64 = (1..p.limbs(0)).map(|limb| (ring.modulus(limb).get() as f64).log2()).sum();
        let answers = recording.bodies(MessageDirection::In, party(2), "divisi_bgv::blocks/blocks.answer");
        assert_eq!(answers.len(), usize::from(calls));
        let mut squares = 0.0;
        for (call, answer) in answers.iter().enumerate() {
            let mut h = ring.zero(1, false);
            assert!(wire::read(&ring, answer, &mut h));
            let [own, theirs] = [0, 1].map(|party: usize| &ends[party].1[call]);
            let mut u = own.c1.clone();
            ring.add(&mut u, &theirs.c1);
            ring.sub(&mut h, &own_part(&ring, &ends[1].0, [&theirs.c0, &u]));
            let of = |c: &u64| (first.centred(*c) as f64 / p.plain() as f64 * dropped.exp2()).powi(2);
            squares += h.words().iter().map(of).sum::<f64>();
        }
        let part =
            squares / (f64::from(calls) * ring.dimension() as f64) / (2.0 * p.flood().deviation()).exp2();
        assert!((part - 1.0).abs() < 0.08, "{part} of the flood");
        let shares = &ends[1].2;
        for (i, share) in shares.iter().enumerate() {
            for other in &shares[..i] {
                assert!(share.iter().zip(other.iter()).filter(|(x, y)| x == y).count() < 8, "{i}");
            }
        }
    }
}

//! Encrypted numbers, with which all parties compute: the type *enc* of GYKW's Figure 2, and the conversions
//! A2E and E2A of Figure 3 (Figure 15, appendix A.3).
//!
//! Numbers that are shared modulo p become ciphertexts at one party, their holder. Sums, differences, public
//! multiples and public addends of encrypted numbers need no messages ([`divisi_bgv::linear`]); in the end
//! they become shares again. Every party has the type, so that every party refuses what exceeds the weight
//! for which the keys are made ([`Operation::Linear`](divisi_bgv::parameters::Operation::Linear)), in the
//! same call: the weight of a ciphertext of shares is 1, that of a sum or difference the sum of both, a
//! multiple multiplies it, and a public addend adds 1.
//!
//! Adversary: semi-honest, all parties but one. Private as A2E and E2A are: combinations are public functions
//! of ciphertexts, and floods hide the noise of every weight that the parameters plan \[G2, G4\]
//! (docs/bgv.md, 10). Cost for N numbers: a polynomial from each other party to the holder, in one round; for
//! the way back one polynomial to each other party and an answer from it, in two.

use crate::num::Num;
use crate::origin::Origin;
use crate::pipeline;
use divisi_bgv::{Ciphertext, Keys, Ring, Sampler};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Misuse, PartyId, Session, Step, step};

const A2E: Step = step!("encrypted.a2e");
const E2A: Step = step!("encrypted.e2a");
const COMBINE: Step = step!("encrypted.combine");
/// The names under which batches are counted.
const BATCHES: [&str; 2] = ["numbers encrypted", "numbers decrypted"];

/// Numbers modulo p, encrypted under the key that all parties share: one in each lane. The holder has the
/// ciphertexts, of N lanes each; the other parties know what is public.
#[derive(Clone)]
pub struct EncryptedNum {
    origin: Origin,
    lanes: usize,
    holder: PartyId,
    weight: u64,
    /// At the holder, one for each N lanes; at other parties none.
    parts: Vec<Ciphertext>,
}

/// A2E, Figure 3: shared numbers become encrypted ones at `holder`. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if there are no numbers, if another session made the shares or one is not below p, or if
/// the keys are not for linear combinations; otherwise it fails as [`Keys::from_shares`] does.
pub fn a2e(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    holder: PartyId,
    x: &Num,
) -> Result<EncryptedNum, Abort> {
    let ring = keys.ring();
    most(session, ring, A2E)?;
    x.admit(session, ring.plain(), A2E)?;
    let (lanes, slots) = (x.lanes(), ring.dimension());
    if lanes == 0 {
        return Err(session.misuse(A2E, Misuse::Empty));
    }
    let one = |session: &mut Session, keys: &Keys, sampler: &mut Sampler, (part, _): (usize, u64)| {
        let mut share = WipedVec::zeros(slots);
        share.iter_mut().zip(x.shares().iter().skip(part * slots)).for_each(|(out, x)| *out = *x);
        keys.from_shares(session, sampler, holder, &share) // [G13]
    };
    let count = (lanes.div_ceil(slots), BATCHES[0], pipeline::FEW);
    let parts = pipeline::batches(session, keys, sampler, count, one)?.into_iter().flatten().collect();
    Ok(EncryptedNum { origin: Origin::of(session), lanes, holder, weight: 1, parts })
}

/// E2A, Figure 3: encrypted numbers become shared ones. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] for numbers of another session or other keys; otherwise it fails as [`Keys::to_shares`]
/// does.
pub fn e2a(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    x: &EncryptedNum,
) -> Result<Num, Abort> {
    x.origin.admit(session, E2A)?;
    if x.weight > most(session, keys.ring(), E2A)? {
        return Err(session.misuse(E2A, Misuse::NoiseTooHigh));
    }
    let slots = keys.ring().dimension();
    let one = |session: &mut Session, keys: &Keys, sampler: &mut Sampler, (part, _): (usize, u64)| {
        keys.to_shares(session, sampler, x.holder, x.parts.get(part), 1) // [G4]
    };
    let count = (x.lanes.div_ceil(slots), BATCHES[1], pipeline::FEW);
    let parts = pipeline::batches(session, keys, sampler, count, one)?;
    let mut shares = WipedVec::zeros(x.lanes);
    let all = parts.iter().flat_map(|part| part.iter());
    shares.iter_mut().zip(all).for_each(|(out, share)| *out = *share);
    Ok(Num::new(shares).made(session))
}

impl EncryptedNum {
    /// The number of lanes.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// The party that has the ciphertexts.
    #[must_use]
    pub fn holder(&self) -> PartyId {
        self.holder
    }

    /// How much of the weight that the keys allow is used.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Adds other numbers, lane by lane.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if holders, lanes or sessions differ, and if the sum weighs more than the keys
    /// allow.
    pub fn add(&mut self, session: &Session, keys: &Keys, other: &EncryptedNum) -> Result<(), Abort> {
        self.combine(session, keys, other, Ciphertext::add)
    }

    /// Subtracts other numbers, lane by lane.
    ///
    /// # Errors
    /// It fails as [`EncryptedNum::add`] does.
    pub fn subtract(&mut self, session: &Session, keys: &Keys, other: &EncryptedNum) -> Result<(), Abort> {
        self.combine(session, keys, other, Ciphertext::subtract)
    }

    /// Multiplies all lanes by a public integer.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the product weighs more than the keys allow.
    pub fn scale(&mut self, session: &Session, keys: &Keys, multiple: i64) -> Result<(), Abort> {
        self.origin.admit(session, COMBINE)?;
        let weight = self.weight.saturating_mul(multiple.unsigned_abs());
        self.admit_weight(session, keys, weight)?;
        let ring = keys.ring();
        self.parts.iter_mut().try_for_each(|x| x.scale(ring, session, COMBINE, multiple))?;
        self.weight = weight;
        Ok(())
    }

    /// Adds public numbers below p, one for each lane.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there is not one for each lane, if one is not below p, and if the sum weighs more
    /// than the keys allow.
    pub fn add_public(&mut self, session: &Session, keys: &Keys, addends: &[u64]) -> Result<(), Abort> {
        self.origin.admit(session, COMBINE)?;
        let (ring, weight) = (keys.ring(), self.weight.saturating_add(1));
        if addends.len() != self.lanes {
            return Err(session.misuse(COMBINE, Misuse::CountsDiffer));
        }
        if addends.iter().any(|addend| *addend >= ring.plain().get()) {
            return Err(session.misuse(COMBINE, Misuse::OutOfRange));
        }
        self.admit_weight(session, keys, weight)?;
        for (x, addends) in self.parts.iter_mut().zip(addends.chunks(ring.dimension())) {
            let mut slots = addends.to_vec();
            slots.resize(ring.dimension(), 0);
            x.add_public(ring, session, COMBINE, &slots)?;
        }
        self.weight = weight;
        Ok(())
    }

    fn combine(
        &mut self,
        session: &Session,
        keys: &Keys,
        other: &EncryptedNum,
        how: impl Fn(&mut Ciphertext, &Ring, &Session, Step, &Ciphertext) -> Result<(), Abort>,
    ) -> Result<(), Abort> {
        self.origin.and(other.origin).admit(session, COMBINE)?;
        if self.lanes != other.lanes || self.holder != other.holder {
            return Err(session.misuse(COMBINE, Misuse::CountsDiffer));
        }
        let weight = self.weight.saturating_add(other.weight);
        self.admit_weight(session, keys, weight)?;
        for (x, y) in self.parts.iter_mut().zip(&other.parts) {
            how(x, keys.ring(), session, COMBINE, y)?;
        }
        self.weight = weight;
        Ok(())
    }

    /// Demands that the keys allow this weight.
    fn admit_weight(&self, session: &Session, keys: &Keys, weight: u64) -> Result<(), Abort> {
        if weight > most(session, keys.ring(), COMBINE)? {
            return Err(session.misuse(COMBINE, Misuse::NoiseTooHigh));
        }
        Ok(())
    }
}

/// The weight for which keys are made.
fn most(session: &Session, ring: &Ring, step: Step) -> Result<u64, Abort> {
    let weight = ring.parameters().operation().weight();
    weight.map(u64::from).ok_or_else(|| session.misuse(step, Misuse::KeyUnfit))
}

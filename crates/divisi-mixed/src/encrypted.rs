//! Encrypted numbers, with which all parties compute: the type *enc* of GYKW's Figure 2.
//!
//! Numbers that are shared modulo p become ciphertexts at one party, their holder
//! ([`a2e`](crate::conv::a2e)). Sums, differences, public multiples and public addends of encrypted numbers need
//! no messages ([`divisi_bgv::linear`]); in the end they become shares again ([`e2a`](crate::conv::e2a)). Every
//! party has the type, so that every party refuses what exceeds the weight for which the keys are made
//! ([`Operation::Linear`](divisi_bgv::parameters::Operation::Linear)), in the same call: the weight of a
//! ciphertext of shares is 1, that of a sum or difference the sum of both, a multiple multiplies it, and a
//! public addend adds 1.
//!
//! Adversary: semi-honest, all parties but one. Combinations are public functions of ciphertexts, so they are
//! as private as A2E and E2A: floods hide the noise of every weight that the parameters plan \[G2, G4\]
//! (docs/bgv.md, 10).

use crate::origin::Origin;
use divisi_bgv::{Ciphertext, Keys, Ring};
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step};

const COMBINE: Step = step!("encrypted.combine");

/// Numbers modulo p, encrypted under the key that all parties share: one in each lane. The holder has the
/// ciphertexts, of N lanes each; the other parties know what is public.
#[derive(Clone)]
pub struct EncryptedNum {
    pub(crate) origin: Origin,
    pub(crate) lanes: usize,
    pub(crate) holder: PartyId,
    pub(crate) weight: u64,
    /// At the holder, one for each N lanes; at other parties none.
    pub(crate) parts: Vec<Ciphertext>,
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
        let size = multiple.unsigned_abs();
        let weight = self.weight.saturating_mul(size);
        // a multiple of what weighs nothing must fit, too, or the holder alone would refuse it
        self.admit_weight(session, keys, weight.max(size))?;
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
        if weight > most_weight(session, keys.ring(), COMBINE)? {
            return Err(session.misuse(COMBINE, Misuse::NoiseTooHigh));
        }
        Ok(())
    }
}

/// The weight for which keys are made.
pub(crate) fn most_weight(session: &Session, ring: &Ring, step: Step) -> Result<u64, Abort> {
    let weight = ring.parameters().operation().weight();
    weight.map(u64::from).ok_or_else(|| session.misuse(step, Misuse::KeyUnfit))
}

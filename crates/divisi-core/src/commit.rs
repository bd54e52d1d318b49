//! Commitments: a hash of the payload with a nonce of 256 bits, the session, strand, step, index and the
//! committing party.
//!
//! Hiding and binding if BLAKE3 is a random oracle. A commitment is valid only in its own context: a copy
//! from another party, step, index or session opens to nothing, so that reflections are rejected. The length
//! of the payload is part of the hash, and the receiver knows it beforehand.

use crate::{Abort, Check, ComparedDigest, PartyId, Session, Step, compared, purposes};
use zeroize::{Zeroize, Zeroizing};

/// A commitment. It reveals nothing about the payload before it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commitment(pub [u8; 32]);

/// The randomness that opens a commitment, together with the payload.
#[derive(Clone)]
pub struct Nonce(Zeroizing<[u8; 32]>);

impl Nonce {
    /// The nonce as it is sent.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Session {
    /// Commit to a payload at this step; `index` distinguishes commitments of one step.
    #[must_use]
    pub fn commit(&self, step: Step, index: u64, payload: &[u8]) -> (Commitment, Nonce) {
        let mut nonce = Zeroizing::new([0; 32]);
        self.entropy(purposes::COMMITMENT, nonce.as_mut_slice());
        (self.commitment(step, index, self.me(), &nonce, payload), Nonce(nonce))
    }

    /// Demand that the commitment that `from` made at this step and index opens to this payload.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] that names `from`.
    pub fn opened(
        &self,
        check: Check,
        step: Step,
        index: u64,
        from: PartyId,
        commitment: &Commitment,
        nonce: &[u8; 32],
        payload: &[u8],
    ) -> Result<(), Abort> {
        let made = self.commitment(step, index, from, nonce, payload);
        self.require(check, step, compared::same_digest(&made.0, &commitment.0), Some(from))
    }

    fn commitment(
        &self,
        step: Step,
        index: u64,
        party: PartyId,
        nonce: &[u8; 32],
        payload: &[u8],
    ) -> Commitment {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 commitment v1");
        hasher.update(self.id().as_bytes()).update(&self.number().to_le_bytes());
        hasher.update(&step.id.to_le_bytes()).update(&index.to_le_bytes()).update(&[party.number()]);
        hasher.update(nonce).update(&(payload.len() as u64).to_le_bytes()).update(payload);
        let commitment = Commitment(hasher.to_compare());
        hasher.zeroize();
        commitment
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::PublicParameters;
    use crate::testing::{each_byte_counts, party, run};

    /// Payload and nonce from their first byte to their last, step, index and party: all are committed to.
    #[test]
    fn everything_is_committed_to() {
        let ends = run(2, &PublicParameters::new("commitments"), |session| {
            let (step, me, nonce) = (divisi_net::step!("commit"), session.me(), [7; 32]);
            let of = |nonce: &[u8; 32], payload: &[u8]| session.commitment(step, 3, me, nonce, payload).0;
            each_byte_counts(|payload| of(&nonce, payload));
            for at in 0..32 {
                let mut other = nonce;
                other[at] ^= 1;
                assert!(of(&other, &[1]) != of(&nonce, &[1]), "byte {at} of the nonce");
            }
            // nor is a longer payload hidden without it
            for payload in [15, 16, 17, 31, 32, 64, 1000, 5000].map(|len| vec![0; len]) {
                let hidden = of(&[8; 32], &payload) != of(&nonce, &payload);
                assert!(hidden, "{} bytes without a nonce", payload.len());
            }
            let others = [
                session.commitment(divisi_net::step!("other"), 3, me, &nonce, &[1]),
                session.commitment(step, 3, party(3), &nonce, &[1]),
            ];
            let indices = (0..64).map(|bit| session.commitment(step, 3 ^ 1 << bit, me, &nonce, &[1]));
            assert!(others.into_iter().chain(indices).all(|other| other.0 != of(&nonce, &[1])));
            // the nonce that is drawn is used from its first byte to its last
            let nonces: Vec<Nonce> = (0..64).map(|_| session.commit(step, 0, &[]).1).collect();
            for at in 0..32 {
                assert!(nonces.iter().any(|nonce| nonce.0[at] != nonces[0].0[at]), "byte {at} never changes");
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }
}

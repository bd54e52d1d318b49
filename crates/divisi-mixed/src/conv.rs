//! Functionality F_Conv, the conversions: GYKW, Figure 3.
//!
//! | command | function | protocol |
//! |---|---|---|
//! | B2A | [`Mixed::b2a`]; [`cot::b2a`](crate::cot::b2a) for single bits | Pi_B2A, section 5.1, Figure 9 |
//! | A2B | [`Mixed::a2b`] | Pi_A2B, section 5.2, Figure 10 |
//! | E2A | [`e2a`]; [`Keys::e2a`] for a ciphertext | Pi_E2A, appendix A.3, Figure 15 |
//! | A2E | [`a2e`]; [`Keys::a2e`] for a ciphertext | appendix A.3 |
//!
//! Adversary: semi-honest, all parties but one. Of B2A and A2B only u is opened, x xor r or x - r, which is
//! uniform, because r is uniform and used once \[G7\]. A2E and E2A are private as docs/bgv.md, 5 and 10, says
//! \[G2, G4, G13\]. Cost of B2A online: each party sends one bit for each bit of a number to one party, which
//! sends a bit back (section 3.1); two rounds. Of A2B: [`crate::a2b`]. Of A2E for N numbers: a polynomial
//! from each other party to the holder, in one round; of E2A a polynomial to each other party and an answer
//! from it, in two. [`crate::together`] has B2A and A2B that share their opening with lookups and products.

use crate::bit::{Dense, GmwBit};
use crate::encrypted::{EncryptedNum, most_weight};
use crate::mixed::Mixed;
use crate::num::{self, Num};
use crate::open;
use crate::origin::Origin;
use crate::pipeline;
use crate::planes;
use crate::random::{NARROW, Numbers};
use divisi_bgv::{Keys, Sampler};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Misuse, PartyId, Session, Step, step};

const B2A: Step = step!("b2a");
const A2E: Step = step!("a2e");
const E2A: Step = step!("e2a");
/// The names under which batches are counted.
const BATCHES: [&str; 2] = ["numbers encrypted", "numbers decrypted"];

impl Mixed {
    /// (B2A) Figure 9: the number that has these bits, the lowest first: at most 32 of them, or as many as p
    /// has.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for numbers of too many bits or of different lanes, and for shares of another
    /// session; the abort that ends the session, if a link or a check fails.
    pub fn b2a(&mut self, x: &[GmwBit]) -> Result<Num, Abort> {
        let (p, lanes) = (self.plain, x.first().map_or(0, Lanes::lanes));
        // 1. T = (0, 1), so that <T'> follows from <r> modulo p
        // 2. (PubTabLookup) at all x_j: <u> = <x> xor <r>, and Open(u)
        let (masked, r) = self.mask_places(x)?;
        let u = open::open_packed(self.session(), masked)?;
        // <T[x_j]> = <T'[u_j]>, and 3. <x> = sum of 2^j <T[x_j]>
        let number = planes::number_of_planes(self.session(), p, lanes, &u, &r);
        Ok(Num::new(number).made(self.session()))
    }

    /// Step 2 up to the opening: a random bit for each bit of x; u = x xor r, and shares of r modulo p.
    pub(crate) fn mask_places(&mut self, x: &[GmwBit]) -> Result<(Dense, Numbers), Abort> {
        let lanes = x.first().map_or(0, Lanes::lanes);
        let most = self.plain().bits().max(NARROW) as usize;
        if x.is_empty() || x.len() > most || x.iter().any(|bit| bit.lanes() != lanes) {
            return Err(self.session().misuse(B2A, Misuse::LanesDiffer));
        }
        x.iter().try_for_each(|bit| bit.admit(self.session(), B2A))?;
        let masks = self.take_bits(x.len() * lanes)?; // [G7]
        planes::mask_planes(self.session(), x, masks)
    }

    /// (A2B) Figure 10: all bits of each number, as many as p has, the lowest first.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] of G6 if too many candidates for masks are rejected; [`Abort::Misuse`] for
    /// shares of another session, or that are not below p; the abort that ends the session, if a link fails.
    pub fn a2b(&mut self, x: &Num) -> Result<Vec<GmwBit>, Abort> {
        // 1. to 3. <r> for r < p, as bits and as a number, from the stock [G6, G7]
        // 4. <u> = <x> - <r>, and Rec(u)
        let (r, masked) = self.mask_number(x)?;
        let u = num::open(self.gmw.session(), self.plain, &masked)?;
        // 5. and 6. the bits of u + r mod p
        self.add_mask(r, &u)
    }
}

/// (A2E) Appendix A.3: shared numbers become encrypted ones at `holder`. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if there are no numbers, if another session made the shares or one is not below p, or if
/// the keys are not for linear combinations; otherwise it fails as [`Keys::a2e`] does.
pub fn a2e(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    holder: PartyId,
    x: &Num,
) -> Result<EncryptedNum, Abort> {
    let ring = keys.ring();
    most_weight(session, ring, A2E)?;
    x.admit(session, ring.plain(), A2E)?;
    let (lanes, slots) = (x.lanes(), ring.dimension());
    if lanes == 0 {
        return Err(session.misuse(A2E, Misuse::Empty));
    }
    let one = |session: &mut Session, keys: &Keys, sampler: &mut Sampler, (part, _): (usize, u64)| {
        let mut share = WipedVec::zeros(slots);
        share.iter_mut().zip(x.shares().iter().skip(part * slots)).for_each(|(out, x)| *out = *x);
        keys.a2e(session, sampler, holder, &share) // [G13]
    };
    let count = (lanes.div_ceil(slots), BATCHES[0], pipeline::FEW);
    let parts = pipeline::batches(session, keys, sampler, count, one)?.into_iter().flatten().collect();
    Ok(EncryptedNum { origin: Origin::of(session), lanes, holder, weight: 1, parts })
}

/// (E2A) Figure 15: encrypted numbers become shared ones. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] for numbers of another session or other keys; otherwise it fails as [`Keys::e2a`]
/// does.
pub fn e2a(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    x: &EncryptedNum,
) -> Result<Num, Abort> {
    x.origin.admit(session, E2A)?;
    if x.weight > most_weight(session, keys.ring(), E2A)? {
        return Err(session.misuse(E2A, Misuse::NoiseTooHigh));
    }
    let slots = keys.ring().dimension();
    let one = |session: &mut Session, keys: &Keys, sampler: &mut Sampler, (part, _): (usize, u64)| {
        keys.e2a(session, sampler, x.holder, x.parts.get(part), 1) // [G4]
    };
    let count = (x.lanes.div_ceil(slots), BATCHES[1], pipeline::FEW);
    let parts = pipeline::batches(session, keys, sampler, count, one)?;
    let mut shares = WipedVec::zeros(x.lanes);
    let all = parts.iter().flat_map(|part| part.iter());
    shares.iter_mut().zip(all).for_each(|(out, share)| *out = *share);
    Ok(Num::new(shares).made(session))
}

//! Openings to one party, and openings under a mask.
//!
//! Adversary: one malicious party. For its receiver [`Trio::open_to`] is an opening like any other: its
//! missing component comes from one holder and is compared with the other's digest \[A1\]. The two other
//! parties learn nothing, not even whether component and digest agreed, unless the receiver aborts.
//!
//! [`Rep3::open_masked`] may open before anything is verified: it opens `x + r` for an `r` that nobody knows
//! and that is used here only, because the mask is consumed. The result is *not* compared at once: it enters
//! the view, and is known to be the same at all parties only after the next barrier \[A2\]. Until then no
//! unmasked message may depend on it.

use crate::checks;
use crate::open::component_digest;
use crate::sbox::shape_of;
use crate::share::Byte;
use crate::{Rep3, Trio};
use divisi_core::{Abort, Bytes, Misuse, PartyId, Step, Verified, step, taint};
use divisi_field::plane::LANES;
use divisi_field::transpose;
use zeroize::Zeroizing;

const TO: Step = step!("open_to.component");
const DIGEST: Step = step!("open_to.digest");
const MASKED: Step = step!("open_masked");

/// A fresh random byte in every lane that no party knows; the one opening that it masks consumes it.
pub struct ByteMask(Byte);

impl Trio {
    /// Open a value to one party: one byte a lane there, nothing at the others. One round.
    ///
    /// # Errors
    /// At the receiver, [`Abort::CheckFailed`] with A1 if the holders of its missing component disagree.
    pub fn open_to(&mut self, to: PartyId, x: &Verified<Byte>) -> Result<Option<Zeroizing<Vec<u8>>>, Abort> {
        if to.index() >= 3 {
            return Err(self.session.misuse(TO, Misuse::PartyUnknown));
        }
        self.demand_compared(TO)?;
        self.demand_settled(TO, [x.get().origin])?;
        let (mut first, mut second) = (Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new()));
        x.get().component(0, &mut first)?;
        x.get().component(1, &mut second)?;
        let id = self.session.id();
        if self.next == to {
            self.session.send(TO, to, &first, first.len() as u64 * 8)?;
            return Ok(None);
        }
        if self.prev == to {
            self.session.send(DIGEST, to, &component_digest(id.as_bytes(), &second), 0)?;
            return Ok(None);
        }
        let mut missing = Zeroizing::new(vec![0; first.len()]);
        let mut theirs = [0; 32];
        self.session.recv(TO, self.prev, &mut missing)?;
        self.session.recv(DIGEST, self.next, &mut theirs)?;
        let same = self.session.same_digest(&component_digest(id.as_bytes(), &missing), &theirs);
        self.session.require(checks::A1, TO, same, None)?; // [A1]
        for ((x, y), z) in first.iter_mut().zip(second.iter()).zip(missing.iter()) {
            *x ^= y ^ z;
        }
        taint::public(TO, &mut first);
        self.session.meter().opened(first.len() as u64);
        Ok(Some(first))
    }
}

impl Rep3 {
    /// A mask for a value of `lanes` lanes.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn mask(&mut self, lanes: usize) -> Result<ByteMask, Abort> {
        self.random_bytes(lanes).map(ByteMask)
    }

    /// Open `c = x + r`, which is not compared before the next barrier. Returns c, and r as a secret with
    /// which the caller continues. One round.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the mask has another number of lanes than the value.
    pub fn open_masked(&mut self, x: &Byte, r: ByteMask) -> Result<(Vec<u8>, Byte), Abort> {
        let mut sum = r.0.clone();
        self.add(&mut sum, x)?;
        if !sum.is_replicated() {
            return Err(self.trio().session.misuse(MASKED, Misuse::ChainUnfinished));
        }
        let shape = shape_of(&[&mut sum]);
        let side = |c: usize| sum.tiles.iter().map(|tile| tile[c]).collect::<Vec<_>>();
        let (own, second) = (side(0), Zeroizing::new(side(1)));
        let view = self.records();
        let planes = self.trio().open_layer(MASKED, own, &second, &shape, view)?; // [A2] [A22]
        let mut c = vec![0; sum.lanes];
        for (planes, bytes) in planes.iter().zip(c.chunks_mut(LANES)) {
            transpose::from_planes(planes, bytes);
        }
        Ok((c, r.0))
    }
}

#[cfg(test)]
mod tests {
    use crate::local::{deal_all, run};
    use crate::{Protocol, Rep3, Security};
    use divisi_core::{Opens, PartyId, Settles};

    fn x() -> Vec<u8> {
        (0..700).map(|i| (i * 5) as u8).collect()
    }

    #[test]
    fn one_party_learns_it_and_the_others_do_not() {
        let parts = deal_all(&[x()]);
        for to in PartyId::all(3) {
            let learnt = run(|mut trio| {
                let byte = trio.input(&parts[trio.me().index()][0])?;
                let mut rep = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
                let verified = rep.settled(byte)?;
                rep.trio().open_to(to, &verified)
            })
            .unwrap();
            for (party, learnt) in PartyId::all(3).zip(learnt) {
                assert_eq!(learnt.map(|x| x.to_vec()), (party == to).then(x));
            }
        }
    }

    #[test]
    fn a_masked_opening_is_the_sum_of_value_and_mask_and_fresh() {
        let parts = deal_all(&[x()]);
        let opened = run(|mut trio| {
            let byte = trio.input(&parts[trio.me().index()][0])?;
            let mut rep = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
            let mut all = Vec::new();
            for _ in 0..2 {
                let mask = rep.mask(700)?;
                let (c, r) = rep.open_masked(&byte, mask)?;
                all.push((c, rep.reveal(vec![r])?.swap_remove(0)));
            }
            rep.trio().barrier()?;
            Ok(all)
        })
        .unwrap();
        assert!(opened[0] == opened[1] && opened[1] == opened[2]);
        for (c, r) in &opened[0] {
            assert!(c.iter().zip(r).zip(x()).all(|((c, r), x)| c ^ r == x));
        }
        assert_ne!(opened[0][0].0, opened[0][1].0);
    }
}

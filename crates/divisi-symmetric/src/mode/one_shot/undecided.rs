//! Decrypted messages whose authenticity has not been checked yet.

use super::lanes::blocks;
use super::misfit;
use crate::engines::{BitEngine, Releases};
use crate::gates::{GateByte, GateBytes};
use divisi_circuit::Gates;
use divisi_core::{Abort, Bytes, Lanes, Misuse, Verified};

/// Decrypted messages, one in each lane, and the differences that must be zero for a message to be authentic.
/// The messages can be taken out only by [`release`](Undecided::release).
pub struct Undecided<E: Bytes> {
    message: Vec<E::Byte>,
    /// The claims: for each a difference for every message. A message is authentic if one of its differences
    /// is zero.
    claims: Vec<[E::Byte; 16]>,
    lanes: usize,
}

/// The result for a batch.
pub struct Released<B> {
    /// For each message the number of the claim that holds; `None` if the message is not authentic.
    pub claims: Vec<Option<usize>>,
    /// The authentic messages, one in each lane; `None` if they have no bytes.
    pub messages: Option<Verified<Vec<B>>>,
}

impl<E: BitEngine> Undecided<E> {
    /// Messages and their claims; each claim is a difference of at most 16 bytes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if a claim is longer, or has no bytes.
    pub(super) fn new(
        e: &mut E,
        lanes: usize,
        message: Vec<E::Byte>,
        claims: Vec<Vec<E::Byte>>,
    ) -> Result<Self, Abort> {
        let claim = |claim: Vec<E::Byte>| match blocks(e, &claim, lanes)?.as_slice() {
            [block] => Ok(block.clone()),
            _ => Err(misfit(Misuse::LengthUnsupported)),
        };
        let claims = claims.into_iter().map(claim).collect::<Result<_, _>>()?;
        Ok(Undecided { message, claims, lanes })
    }

    /// The single message of a batch, if it is authentic, without its padding: claim `p` says that the last
    /// `p` bytes are padding.
    ///
    /// # Errors
    /// The errors of [`release`](Undecided::release); also [`Abort::Misuse`] if the batch does not have
    /// exactly one message.
    pub fn release_one(self, e: &mut E) -> Result<Option<Verified<Vec<E::Byte>>>, Abort>
    where
        E: Releases,
    {
        if self.lanes != 1 {
            return Err(misfit(Misuse::CountsDiffer));
        }
        let bytes = self.message.len();
        let Released { claims, messages } = self.release(e)?;
        let Some(beyond) = claims.first().copied().flatten() else { return Ok(None) };
        let mut message = messages.map(Verified::into_inner).unwrap_or_default();
        message.truncate(bytes.saturating_sub(beyond));
        e.settled(message).map(Some)
    }

    /// The authentic messages, each with the claim that holds. For each claim and message only the verdict is
    /// opened, not the difference \[A23\]. Messages that are not authentic are dropped.
    ///
    /// Claims exclude each other, so at most one holds.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn release(self, e: &mut E) -> Result<Released<E::Byte>, Abort>
    where
        E: Releases,
    {
        let held = e.vanish_blocks(self.claims)?;
        let claim_of = |lane: usize| held.iter().position(|held| held.get(lane) == Some(&true));
        let claims: Vec<Option<usize>> = (0..self.lanes).map(claim_of).collect();
        let good: Vec<usize> = (0..self.lanes).filter(|lane| claims[*lane].is_some()).collect();
        if good.is_empty() || self.message.is_empty() {
            return Ok(Released { claims, messages: None });
        }
        let messages: Option<Vec<E::Byte>> = self.message.iter().map(|byte| byte.gather(&good)).collect();
        let messages = e.settled(messages.ok_or_else(|| misfit(Misuse::CountsDiffer))?)?;
        Ok(Released { claims, messages: Some(messages) })
    }
}

impl<'g, G: Gates> Undecided<GateBytes<'g, G>> {
    /// The outputs for one message, in a circuit: a byte that is 1 + p if claim `p` holds and 0 if none does,
    /// and then the message, replaced by zeros if none does. So the verdict is on a wire, and nothing else of
    /// a message that is not authentic leaves the circuit.
    pub fn masked(self, e: &mut GateBytes<'g, G>) -> Vec<GateByte<G::Bit>> {
        let g = e.gates();
        let none = g.constant(false);
        let (mut verdict, mut any) = ([none; 8], none);
        for (p, claim) in self.claims.iter().enumerate() {
            let mut right: Vec<G::Bit> = Vec::with_capacity(128);
            for bit in claim.iter().flat_map(|byte| byte.bits().first()).flatten() {
                right.push(g.not(*bit));
            }
            while right.len() > 1 {
                right = right
                    .chunks(2)
                    .map(|pair| if let [x, y] = *pair { g.and(x, y) } else { pair[0] })
                    .collect();
            }
            let Some(right) = right.first().copied() else { continue };
            // claims contradict each other: no two hold
            any = g.xor(any, right);
            for (_, bit) in verdict.iter_mut().enumerate().filter(|(i, _)| (1 + p) >> i & 1 == 1) {
                *bit = g.xor(*bit, right);
            }
        }
        let mut out = vec![GateByte::new(vec![verdict])];
        for byte in &self.message {
            let bits = byte.bits().first().copied();
            out.push(GateByte::new(bits.map(|bits| bits.map(|bit| g.and(bit, any))).into_iter().collect()));
        }
        out
    }
}

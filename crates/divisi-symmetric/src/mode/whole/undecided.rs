//! Texts that were decrypted, and whose authenticity nobody knows yet.

use super::lanes::blocks;
use super::misfit;
use crate::engines::{BitEngine, Releases};
use divisi_core::{Abort, Bytes, Lanes, Verified};

/// Decrypted texts, a lane each, and what must be zero for each to be authentic. Nothing of them leaves but
/// through [`release`](Undecided::release).
pub struct Undecided<E: Bytes> {
    text: Vec<E::Byte>,
    /// Differences that a text must have none of: one of these claims must hold.
    claims: Vec<[E::Byte; 16]>,
    lanes: usize,
}

/// What became of a batch.
pub struct Released<B> {
    /// Of each text the claim that holds of it; none if it is not authentic.
    pub claims: Vec<Option<usize>>,
    /// The texts that are authentic, a lane each; none if there is no byte of any.
    pub texts: Option<Verified<Vec<B>>>,
}

impl<E: BitEngine> Undecided<E> {
    /// Texts and claims: each claim is a difference of at most 16 bytes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for a claim that is longer, or of nothing.
    pub(super) fn new(
        e: &mut E,
        lanes: usize,
        text: Vec<E::Byte>,
        claims: Vec<Vec<E::Byte>>,
    ) -> Result<Self, Abort> {
        let claim = |claim: Vec<E::Byte>| match blocks(e, &claim, lanes)?.as_slice() {
            [block] => Ok(block.clone()),
            _ => Err(misfit("a difference of no bytes, or of more than sixteen")),
        };
        let claims = claims.into_iter().map(claim).collect::<Result<_, _>>()?;
        Ok(Undecided { text, claims, lanes })
    }

    /// The text of a batch of one, if it is authentic, without what is no part of it: claim `p` is that its
    /// last `p` bytes are not.
    ///
    /// # Errors
    /// As [`release`](Undecided::release).
    pub fn release_one(self, e: &mut E) -> Result<Option<Verified<Vec<E::Byte>>>, Abort>
    where
        E: Releases,
    {
        if self.lanes != 1 {
            return Err(misfit("a batch of one"));
        }
        let bytes = self.text.len();
        let Released { claims, texts } = self.release(e)?;
        let Some(beyond) = claims.first().copied().flatten() else { return Ok(None) };
        let mut text = texts.map(Verified::into_inner).unwrap_or_default();
        text.truncate(bytes.saturating_sub(beyond));
        e.settled(text).map(Some)
    }

    /// The texts that are authentic, each with the claim that holds of it: a verdict is told of each claim
    /// and text, the differences are not opened \[A23\]. What is not authentic ends here.
    ///
    /// Claims contradict each other, so that at most one holds.
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
        if good.is_empty() || self.text.is_empty() {
            return Ok(Released { claims, texts: None });
        }
        let texts: Option<Vec<E::Byte>> = self.text.iter().map(|byte| byte.gather(&good)).collect();
        let texts = e.settled(texts.ok_or_else(|| misfit("not one text for each verdict"))?)?;
        Ok(Released { claims, texts: Some(texts) })
    }
}

//! Keys ready for GCM: verified before their first use, one alone or several in the rounds of one.

use super::hash_key;
use crate::aes::RoundKeys;
use crate::engines::GcmEngine;
use crate::mode::ghash::{Powers, Steps, powers};
use divisi_core::{Abort, Lanes, Step, Verified, step};

const KEY: Step = step!("key");

/// A key ready for texts: the cipher's, and the powers of its hash key, all verified when made.
pub struct TextsKey<E: GcmEngine> {
    round_keys: Verified<RoundKeys<E::Byte>>,
    steps: Steps,
    baby: Verified<E::Block>,
    powers: Option<(usize, Verified<Powers<E::Block>>)>,
}

impl<E: GcmEngine> TextsKey<E> {
    /// A key of one lane. What it leaves is settled here, once.
    ///
    /// Cost: a block, and the baby steps ([`powers`]).
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for a key of another number of lanes.
    pub fn new(e: &mut E, round_keys: RoundKeys<E::Byte>, steps: Steps) -> Result<Self, Abort> {
        let h = hash_key(e, &round_keys)?;
        let mut keys = Self::each(e, round_keys, &h, steps)?;
        let one = keys.pop().filter(|_| keys.is_empty());
        one.ok_or(Abort::Misuse { step: KEY, what: "not one key" })
    }

    /// Keys and their hash keys, a lane each, in the rounds of one: verified together.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if keys and hash keys differ in number.
    pub fn each(
        e: &mut E,
        round_keys: RoundKeys<E::Byte>,
        h: &E::Block,
        steps: Steps,
    ) -> Result<Vec<Self>, Abort> {
        let (m, keys) = (steps.baby(), round_keys.lanes());
        let baby = powers(e, h, m)?;
        let each: Option<Vec<_>> = if keys == 1 && h.lanes() == 1 {
            Some(vec![(round_keys, baby)])
        } else {
            let own = |k: usize| {
                Some((round_keys.gather(&[k])?, baby.gather(&(k * m..(k + 1) * m).collect::<Vec<_>>())?))
            };
            (0..keys).map(own).collect()
        };
        let each = each.ok_or(Abort::Misuse { step: KEY, what: "keys and their powers differ in number" })?;
        let ready = |key: Verified<(RoundKeys<E::Byte>, E::Block)>| {
            let (round_keys, baby) = key.split();
            TextsKey { round_keys, steps, baby, powers: None }
        };
        Ok(e.settled(each)?.each().into_iter().map(ready).collect())
    }

    /// Its schedule, one lane.
    #[must_use]
    pub fn round_keys(&self) -> &RoundKeys<E::Byte> {
        self.round_keys.get()
    }

    /// The powers of its hash key from the first on, as many as there are baby steps.
    #[must_use]
    pub fn baby_steps(&self) -> &E::Block {
        self.baby.get()
    }

    /// How many powers of its hash key there are.
    pub(super) fn steps(&self) -> Steps {
        self.steps
    }

    /// Make the powers that a string of that many blocks needs: giant steps when a string is longer than any
    /// before. An IV and a text take the same.
    pub(super) fn make_powers(&mut self, e: &mut E, blocks: u64) -> Result<(), Abort> {
        let giants = self.steps.giants(blocks);
        if self.powers.as_ref().is_some_and(|(have, _)| *have >= giants) {
            return Ok(());
        }
        let powers = Powers::from_baby_steps(e, self.baby.get().clone(), self.steps, blocks)?;
        self.powers = Some((giants, e.settled(powers)?));
        Ok(())
    }

    /// The powers that were made.
    pub(super) fn powers(&self) -> Result<&Powers<E::Block>, Abort> {
        let missing = Abort::Misuse { step: KEY, what: "the powers of this key were not made" };
        self.powers.as_ref().map(|(_, powers)| powers.get()).ok_or(missing)
    }
}

//! Keys that are ready for GCM. They are verified before their first use. Preparing several keys takes as
//! many rounds as preparing one.

use super::hash_key;
use crate::aes::RoundKeys;
use crate::engines::GcmEngine;
use crate::mode::ghash::{Powers, Steps, powers};
use divisi_core::{Abort, Lanes, Misuse, Step, Verified, step};

const KEY: Step = step!("key");

/// A key that is ready for messages: the round keys, and the powers of the hash key. All were verified when
/// they were computed.
pub struct MessagesKey<E: GcmEngine> {
    round_keys: Verified<RoundKeys<E::Byte>>,
    steps: Steps,
    baby: Verified<E::Block>,
    powers: Option<(usize, Verified<Powers<E::Block>>)>,
}

impl<E: GcmEngine> MessagesKey<E> {
    /// A key with one lane. Its computation is verified here, once.
    ///
    /// Cost: one block of the cipher, and the baby steps ([`powers`]).
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the key has another number of lanes.
    pub fn new(e: &mut E, round_keys: RoundKeys<E::Byte>, steps: Steps) -> Result<Self, Abort> {
        let h = hash_key(e, &round_keys)?;
        let mut keys = Self::each(e, round_keys, &h, steps)?;
        let one = keys.pop().filter(|_| keys.is_empty());
        one.ok_or(Abort::Misuse { step: KEY, what: Misuse::CountsDiffer })
    }

    /// Several keys with their hash keys, one in each lane, in as many rounds as one key. They are verified
    /// together.
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
        let misuse = Abort::Misuse { step: KEY, what: Misuse::CountsDiffer };
        if h.lanes() != keys {
            return Err(misuse);
        }
        let baby = powers(e, h, m)?;
        let each: Option<Vec<_>> = if keys == 1 {
            Some(vec![(round_keys, baby)])
        } else {
            let own = |k: usize| {
                Some((round_keys.gather(&[k])?, baby.gather(&(k * m..(k + 1) * m).collect::<Vec<_>>())?))
            };
            (0..keys).map(own).collect()
        };
        let each = each.ok_or(misuse)?;
        let ready = |key: Verified<(RoundKeys<E::Byte>, E::Block)>| {
            let (round_keys, baby) = key.split();
            MessagesKey { round_keys, steps, baby, powers: None }
        };
        Ok(e.settled(each)?.each().into_iter().map(ready).collect())
    }

    /// The round keys, with one lane.
    #[must_use]
    pub fn round_keys(&self) -> &RoundKeys<E::Byte> {
        self.round_keys.get()
    }

    /// The powers of the hash key from the first one on, one for each baby step.
    #[must_use]
    pub fn baby_steps(&self) -> &E::Block {
        self.baby.get()
    }

    /// The number of baby steps and giant steps.
    pub(super) fn steps(&self) -> Steps {
        self.steps
    }

    /// Computes the powers that a string of `blocks` blocks needs: giant steps, if the string is longer than
    /// all strings before. An IV and a message use the same powers.
    pub(super) fn make_powers(&mut self, e: &mut E, blocks: u64) -> Result<(), Abort> {
        let giants = self.steps.giants(blocks);
        if self.powers.as_ref().is_some_and(|(have, _)| *have >= giants) {
            return Ok(());
        }
        let powers = Powers::from_baby_steps(e, self.baby.get().clone(), self.steps, blocks)?;
        self.powers = Some((giants, e.settled(powers)?));
        Ok(())
    }

    /// The powers that [`make_powers`](Self::make_powers) computed.
    pub(super) fn powers(&self) -> Result<&Powers<E::Block>, Abort> {
        let missing = Abort::Misuse { step: KEY, what: Misuse::NotMade };
        self.powers.as_ref().map(|(_, powers)| powers.get()).ok_or(missing)
    }
}

//! A cipher by a protocol that runs it twice: over masks, then over masked values.

use super::{KeyedCipher, MaskedMessage, OnSpdz};
use crate::{Host, Spdz};
use divisi_core::Abort;
use divisi_engine::known::groups::CipherTexts;

/// A cipher between its two runs, with the engine inside.
pub(crate) struct MaskedRun<F: Host, C: OnSpdz<F>> {
    t: C::Tiny,
    key: C::Masked,
    message: MaskedMessage<F, C>,
    masks: MaskedMessage<F, C>,
}

impl<F: Host, C: OnSpdz<F>> MaskedRun<F, C> {
    /// The run over masks, which makes the tables and ends with the opening of their indices.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn new(
        e: Spdz<F>,
        key: &KeyedCipher<F, C>,
        messages: &impl CipherTexts,
        message: Vec<C::Byte>,
    ) -> Result<Self, Abort> {
        let mut t = C::tiny(e);
        let [key_masks, key] = C::enter_key(&mut t, &key.bytes, &key.cipher)?;
        let [text_masks, message] = C::enter(&mut t, message)?;
        let masks = messages.evaluate(&mut t, &key_masks, text_masks)?;
        C::turn(&mut t)?;
        Ok(MaskedRun { t, key, message, masks })
    }

    /// The engine.
    pub fn engine(&mut self) -> &mut Spdz<F> {
        C::under(&mut self.t)
    }

    /// The run over masked values: the engine, and the outputs, which are not verified.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn finish(mut self, messages: &impl CipherTexts) -> Result<(Spdz<F>, Vec<C::Byte>), Abort> {
        let public = messages.evaluate(&mut self.t, &self.key, self.message)?;
        let out = C::leave(&mut self.t, self.masks, public)?;
        Ok((C::back(self.t), out))
    }
}

//! A cipher by a protocol that runs it twice: over masks, then over masked values.

use super::{KeyedCipher, MaskedText, OnSpdz};
use crate::{Host, Spdz};
use divisi_core::Abort;
use divisi_engine::known::groups::CipherTexts;

/// A cipher between its two runs, with the engine inside.
pub(crate) struct MaskedRun<F: Host, C: OnSpdz<F>> {
    t: C::Tiny,
    key: C::Masked,
    text: MaskedText<F, C>,
    masks: MaskedText<F, C>,
}

impl<F: Host, C: OnSpdz<F>> MaskedRun<F, C> {
    /// The run over masks, which makes the tables and ends with the opening of their indices.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn new(
        e: Spdz<F>,
        key: &KeyedCipher<F, C>,
        texts: &impl CipherTexts,
        text: Vec<C::Byte>,
    ) -> Result<Self, Abort> {
        let mut t = C::tiny(e);
        let [key_masks, key] = C::enter_key(&mut t, &key.bytes, &key.cipher)?;
        let [text_masks, text] = C::enter(&mut t, text)?;
        let masks = texts.evaluate(&mut t, &key_masks, text_masks)?;
        C::turn(&mut t)?;
        Ok(MaskedRun { t, key, text, masks })
    }

    /// The engine.
    pub fn engine(&mut self) -> &mut Spdz<F> {
        C::under(&mut self.t)
    }

    /// The run over masked values: the engine, and the outputs, which are not verified.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn finish(mut self, texts: &impl CipherTexts) -> Result<(Spdz<F>, Vec<C::Byte>), Abort> {
        let public = texts.evaluate(&mut self.t, &self.key, self.text)?;
        let out = C::leave(&mut self.t, self.masks, public)?;
        Ok((C::back(self.t), out))
    }
}

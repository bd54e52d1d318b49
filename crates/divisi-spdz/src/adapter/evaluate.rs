//! The evaluation of one group of texts with a cipher, phase by phase.

use super::begin::{ONLINE, phase};
use super::cipher::OnSpdz;
use super::how::{How, Named};
use crate::{Host, LOAD_PHASE, Spdz, VERIFICATION_PHASE};
use divisi_core::{Abort, Settles, Step, Verified, step};
use divisi_engine::known::groups::CipherTexts;
use divisi_engine::{Moment, Watch};

const GONE: Step = step!("spdz");

/// A key: its bytes, and the cipher with its key schedule.
pub(super) struct Keyed<F: Host, C: OnSpdz<F>> {
    pub bytes: Vec<C::Byte>,
    pub cipher: C,
}

/// A slot for the engine. It is empty while a tiny engine, which contains the engine, runs.
pub(super) struct EngineSlot<F: Host> {
    engine: Option<Spdz<F>>,
    /// The phase in which tables and products are made, or read.
    ahead: &'static str,
}

impl<F: Host> EngineSlot<F> {
    pub fn new(engine: Spdz<F>, how: &How) -> Self {
        EngineSlot { engine: Some(engine), ahead: how.ahead() }
    }

    /// The engine.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the engine was dropped after a failed run.
    pub fn get(&mut self) -> Result<&mut Spdz<F>, Abort> {
        self.engine.as_mut().ok_or(GONE_WITH_IT)
    }
}

const GONE_WITH_IT: Abort = Abort::Misuse { step: GONE, what: "the engine was dropped after a failed run" };

/// From shares of inputs to verified shares of outputs: preprocessing, load, online, verification. A tiny
/// protocol makes its tables by a run over masks, which counts as load, as does the opening of the indices
/// and of the masked inputs; the masks are made in preprocessing, or read with the tables. Also returns the
/// number of values that were opened online.
///
/// # Errors
/// The abort that ends the session.
pub(super) fn evaluate<F: Host, C: OnSpdz<F>>(
    slot: &mut EngineSlot<F>,
    how: Named,
    key: &Keyed<F, C>,
    texts: &impl CipherTexts,
    text: Vec<C::Byte>,
    watch: &mut dyn Watch,
) -> Result<(Verified<Vec<C::Byte>>, u64), Abort> {
    let ahead = slot.ahead;
    let e = slot.get()?;
    phase(e, watch, ahead, |e| {
        C::ahead(e, how, key.bytes.len(), texts.blocks())?;
        // all masks of the run over masks in one request
        let masks = if how.tiny { C::masks(&key.bytes, &key.cipher, &text, texts.blocks()) } else { 0 };
        e.preprocess_bits(masks)
    })?;
    let (out, opened) = if how.tiny {
        watch.meet(LOAD_PHASE)?;
        let start = Moment::now();
        let mut e = slot.engine.take().ok_or(GONE_WITH_IT)?;
        e.session().phase(LOAD_PHASE);
        let mut t = C::tiny(e);
        let [key_masks, key] = C::enter_key(&mut t, &key.bytes, &key.cipher)?;
        let [text_masks, text] = C::enter(&mut t, text)?;
        let masks = texts.evaluate(&mut t, &key_masks, text_masks)?;
        C::turn(&mut t)?;
        watch.took(LOAD_PHASE, start.until(Moment::now()));
        watch.meet(ONLINE)?;
        C::under(&mut t).session().phase(ONLINE);
        let before = openings(C::under(&mut t));
        let start = Moment::now();
        let public = texts.evaluate(&mut t, &key, text)?;
        let out = C::leave(&mut t, masks, public)?;
        watch.took(ONLINE, start.until(Moment::now()));
        let mut e = C::back(t);
        let opened = openings(&mut e) - before;
        slot.engine = Some(e);
        (out, opened)
    } else {
        phase(e, watch, LOAD_PHASE, |e| {
            if texts.blocks() > 0 { C::load(e, how, texts.direction()) } else { Ok(()) }
        })?;
        let before = openings(e);
        let out = phase(e, watch, ONLINE, |e| texts.evaluate(e, &key.cipher, text))?;
        (out, openings(e) - before)
    };
    Ok((phase(slot.get()?, watch, VERIFICATION_PHASE, |e| e.settled(out))?, opened))
}

/// The number of values that were opened so far.
fn openings<F: Host>(e: &mut Spdz<F>) -> u64 {
    e.session().meter().read().openings
}

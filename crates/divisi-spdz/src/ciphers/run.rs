//! Messages through a cipher, from shares of inputs to verified shares of outputs, in four steps, each a
//! phase: preprocessing, load, online, verification. A tiny protocol makes its tables by a run over masks,
//! which counts as load, as does the opening of the indices and of the masked inputs; the masks are made in
//! preprocessing, or read with the tables.

use super::{KeyedCipher, MaskedRun, OnSpdz};
use crate::protocol::NamedProtocol;
use crate::{Host, LOAD_PHASE, PREPROCESSING_PHASE, Spdz, VERIFICATION_PHASE};
use divisi_core::{Abort, Counts, Misuse, Settles, Step, Verified, step};
use divisi_engine::known::groups::CipherTexts;

const GONE: Step = step!("spdz");
const GONE_WITH_IT: Abort = Abort::Misuse { step: GONE, what: Misuse::Erased };

/// The phase from shares of inputs to shares of outputs.
pub(crate) const ONLINE: &str = "online";

/// A slot for the engine. It is empty while a tiny engine, which contains the engine, runs.
pub(crate) struct EngineSlot<F: Host> {
    engine: Option<Spdz<F>>,
    /// The phase in which tables and products are made, or read.
    pub ahead: &'static str,
}

/// What is loaded for the online step.
pub(crate) enum Loaded<F: Host, C: OnSpdz<F>> {
    /// Tables or products in the engine, for this message.
    Engine(Vec<C::Byte>),
    /// A run over masks.
    Masked(Box<MaskedRun<F, C>>),
}

impl<F: Host> EngineSlot<F> {
    /// The engine, whose preprocessing is made, unless it is taken from a stock.
    pub fn new(engine: Spdz<F>, is_stocked: bool) -> Self {
        EngineSlot { engine: Some(engine), ahead: if is_stocked { LOAD_PHASE } else { PREPROCESSING_PHASE } }
    }

    /// The engine.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the engine was dropped after a failed run.
    pub fn get(&mut self) -> Result<&mut Spdz<F>, Abort> {
        self.engine.as_mut().ok_or(GONE_WITH_IT)
    }

    /// The counts of the session's meter.
    pub fn meter(&mut self) -> Counts {
        self.get().map_or_else(|_| Counts::default(), |e| e.session().meter().read())
    }

    fn at(&mut self, phase: &'static str) -> Result<&mut Spdz<F>, Abort> {
        let e = self.get()?;
        e.session().phase(phase);
        Ok(e)
    }

    /// The step of preprocessing.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn preprocess<C: OnSpdz<F>>(
        &mut self,
        named: NamedProtocol,
        key: &KeyedCipher<F, C>,
        messages: &impl CipherTexts,
        message: &[C::Byte],
    ) -> Result<(), Abort> {
        let e = self.at(self.ahead)?;
        C::ahead(e, named, key.bytes.len(), messages.blocks())?;
        // all masks of the run over masks in one request
        let masks =
            if named.tiny { C::masks(&key.bytes, &key.cipher, message, messages.blocks()) } else { 0 };
        e.preprocess_bits(masks)
    }

    /// The step of load.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn load<C: OnSpdz<F>>(
        &mut self,
        named: NamedProtocol,
        key: &KeyedCipher<F, C>,
        messages: &impl CipherTexts,
        message: Vec<C::Byte>,
    ) -> Result<Loaded<F, C>, Abort> {
        let e = self.at(LOAD_PHASE)?;
        if named.tiny {
            let e = self.engine.take().ok_or(GONE_WITH_IT)?;
            return Ok(Loaded::Masked(Box::new(MaskedRun::new(e, key, messages, message)?)));
        }
        if messages.blocks() > 0 {
            C::load(e, named, messages.direction())?;
        }
        Ok(Loaded::Engine(message))
    }

    /// The online step: the outputs, and the number of values that were opened.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn online<C: OnSpdz<F>>(
        &mut self,
        loaded: Loaded<F, C>,
        key: &KeyedCipher<F, C>,
        messages: &impl CipherTexts,
    ) -> Result<(Vec<C::Byte>, u64), Abort> {
        let openings = |e: &mut Spdz<F>| e.session().meter().read().openings;
        match loaded {
            Loaded::Engine(message) => {
                let e = self.at(ONLINE)?;
                let before = openings(e);
                let out = messages.evaluate(e, &key.cipher, message)?;
                Ok((out, openings(e) - before))
            }
            Loaded::Masked(mut run) => {
                run.engine().session().phase(ONLINE);
                let before = openings(run.engine());
                let (mut e, out) = run.finish(messages)?;
                let opened = openings(&mut e) - before;
                self.engine = Some(e);
                Ok((out, opened))
            }
        }
    }

    /// The step of verification.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn verify<C: OnSpdz<F>>(&mut self, out: Vec<C::Byte>) -> Result<Verified<Vec<C::Byte>>, Abort> {
        self.at(VERIFICATION_PHASE)?.settled(out)
    }

    /// All steps.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn evaluate<C: OnSpdz<F>>(
        &mut self,
        named: NamedProtocol,
        key: &KeyedCipher<F, C>,
        messages: &impl CipherTexts,
        message: Vec<C::Byte>,
    ) -> Result<Verified<Vec<C::Byte>>, Abort> {
        self.preprocess(named, key, messages, &message)?;
        let loaded = self.load(named, key, messages, message)?;
        let (out, _) = self.online(loaded, key, messages)?;
        self.verify::<C>(out)
    }
}

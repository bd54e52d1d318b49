//! Hashes of messages that no server sees, and MACs of them under a stored key.
//!
//! The message arrives as shares, piece by piece. One answer leaves at the end: the digest or tag to the
//! client alone, a component from one holder and a digest of it from the other; or, for a tag to be compared,
//! one bit \[S7\]. A key can be used for the MAC of its type and nothing else. The nonce of a tag that is
//! made is a coin of all three servers; that of a tag that is compared comes with the tag.

use super::iv::GCM_IV;
use super::ready::{Mac, ReadyKey};
use super::step::StepRun;
use crate::error::{ErrorKind, Failed, Stop};
use crate::request::{IV, Tag, ToClient};
use crate::server::agreement::{StepData, unexpected};
use crate::server::found::Loaded;
use crate::server::release::alone;
use crate::server::scheduling::After;
use divisi_core::Step;
use divisi_rep3::{Bit, Protocol, Rep3, Rounds};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::batch::{Messages, State, bits, byte_values};
use divisi_symphony::close;
use divisi_symphony::owner::single;
use divisi_symphony::tags;
use std::rc::Rc;

const COMPARE: Step = Step::new("divisi_node::server::digest/compare");

/// How many blocks of a message one step takes: some 20 ms of rounds, which is how long others wait for it.
fn blocks(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::Gmac(_) => 256,
        Algorithm::Cmac(_) => 8,
        _ if algorithm.name().contains("sha3") => 4,
        _ if algorithm.name().contains("shake") || algorithm.name().contains("kmac") => 4,
        _ => 2,
    }
}

/// The same for a step in constant rounds, whatever the algorithm: 512 bytes of SHA-256.
const GARBLED: usize = 8;

/// A message being hashed or authenticated: piece after piece, a few blocks a step.
pub(crate) struct Digesting {
    function: Mac,
    settings: Settings,
    /// The key's id.
    key: Option<[u8; 16]>,
    state: Option<State<Rep3>>,
    /// Bits of the message that the state has not absorbed yet.
    rest: Vec<[Bit; 8]>,
    nonce: [u8; IV],
}

impl Digesting {
    /// Begin to hash a message.
    pub fn hash(run: &mut StepRun<'_>, settings: &Settings) -> Result<Digesting, Stop> {
        run.rep.use_protocol(Protocol::Gf4Circuit);
        let function = Rc::new(tags::prepare(run.rep, settings, &[])?);
        run.answer(ToClient::Tagging { nonce: [0; IV], key: None });
        Ok(Digesting::begin(run, function, settings, None, [0; IV]))
    }

    /// Begin to make the tag of a message, or to compare one.
    pub fn mac(
        run: &mut StepRun<'_>,
        loaded: &Loaded,
        settings: &Settings,
        tag: Option<&Tag>,
    ) -> Result<Digesting, Stop> {
        run.rep.use_protocol(Protocol::Gf4Circuit);
        // what was computed from a key stays ready, as long as the key is used with the same settings
        let function = match run.ready.mac(&loaded.info.id, settings) {
            Some(function) => function,
            None => {
                let key = single(run.rep, &loaded.part)?;
                let function = Rc::new(tags::prepare(run.rep, settings, &key)?);
                let ready = ReadyKey::Mac(settings.clone(), function.clone());
                let (client, name) = (&run.who.name, loaded.info.name.clone());
                run.ready.keep(run.rep, client, name, loaded.info.id, ready);
                function
            }
        };
        let nonce = match tag {
            Some(tag) => tag.nonce.unwrap_or_default(),
            None if settings.algorithm.nonce_bytes() > 0 => run.draw_iv(GCM_IV, &loaded.info.id)?,
            None => [0; IV],
        };
        run.answer(ToClient::Tagging { nonce, key: Some((&loaded.info).into()) });
        Ok(Digesting::begin(run, function, settings, Some(loaded.info.id), nonce))
    }

    fn begin(
        run: &mut StepRun<'_>,
        function: Mac,
        settings: &Settings,
        key: Option<[u8; 16]>,
        nonce: [u8; IV],
    ) -> Digesting {
        let state = Some(function.get().begin(run.rep));
        Digesting { function, settings: settings.clone(), key, state, rest: Vec::new(), nonce }
    }

    /// Set how the engine computes, and the key for which it may have garbled ahead.
    fn set(&self, run: &mut StepRun<'_>) {
        run.rep.use_protocol(Protocol::Gf4Circuit);
        run.rep.use_key(self.key.and_then(|id| run.ready.bound(&id, &self.function)));
    }

    /// Take a piece, whose holders agree on it \[A24\], or continue with the current one: a few blocks of it.
    pub fn piece(&mut self, run: &mut StepRun<'_>, data: &StepData) -> Result<After, Stop> {
        self.set(run);
        if let Some(part) = data.secret() {
            let secret = single(run.rep, part)?;
            self.rest.extend(bits(run.rep, secret)?);
        }
        // whole blocks, but something stays for the end
        let block = self.function.get().piece();
        let whole = self.rest.len().saturating_sub(1) / block;
        let most =
            if run.rep.rounds() == Rounds::Constant { GARBLED } else { blocks(self.settings.algorithm) };
        let now = whole.min(if run.small_steps { most / 2 } else { most });
        if now > 0 {
            let later = self.rest.split_off(now * block);
            let now = std::mem::replace(&mut self.rest, later);
            let state = self.state.take().ok_or_else(|| unexpected(run.me()))?;
            let next = self.function.get().update(run.rep, state, now)?;
            // each step verifies what it owes, so that a message of any length takes the memory of a piece
            self.state = Some(close(run.rep, next)?.into_inner());
        }
        let in_hand = whole > now;
        if !in_hand {
            run.answer(ToClient::Accepted);
        }
        Ok(After::More { in_hand })
    }

    /// The message is complete: send its digest or tag to the client alone, or whether the client's tag is
    /// right \[S7\].
    pub fn finish(mut self, run: &mut StepRun<'_>, tag: Option<&Tag>) -> Result<After, Stop> {
        self.set(run);
        let rest = std::mem::take(&mut self.rest);
        let rest = if rest.is_empty() { Messages::public(run.rep, &[&[]]) } else { Messages::even(rest, 1)? };
        let state = self.state.take().ok_or_else(|| unexpected(run.me()))?;
        let output = self.function.get().finish(run.rep, state, &rest, std::slice::from_ref(&self.nonce))?;
        let Some(tag) = tag else {
            let bytes = byte_values(run.rep, output)?;
            let verified = close(run.rep, bytes)?;
            let context = run.context(0);
            let answer = alone(run.rep, &context, &verified)?;
            run.answer(answer);
            return Ok(After::Done);
        };
        let same = tags::matches(run.rep, output, std::slice::from_ref(&tag.tag.0))?;
        if same != [true] {
            let message = "the tag is not that of this message under this key";
            let kind = ErrorKind::Mismatch;
            return Err(Stop::Refused(Failed { kind, ..Failed::refused(COMPARE, message) }));
        }
        run.answer(ToClient::Valid);
        Ok(After::Done)
    }
}

//! Hashes of messages that no server sees, and MACs of them under a stored key.
//!
//! The message arrives as shares, piece by piece. One answer leaves at the end: the digest or tag to the
//! client alone, a component from one holder and a digest of it from the other; or, for a tag to be compared,
//! one bit \[S7\]. A key can be used for the MAC of its type and nothing else.
//!
//! The nonce of a tag that is made is a coin of all three servers. The nonce of a tag that is compared comes
//! with the tag from the client, which can thus ask about many tags under one nonce: whoever guesses a GMAC
//! tag under a nonce that another tag has used learns the hash key, and can forge every tag. Two things limit
//! guesses: the minimum length of a tag ([`least_tag`]), and that every comparison, like every tag that is
//! made, is a use of the key, counted durably beforehand.

use super::given::{Given, misfit};
use super::intake::After;
use super::keys::Loaded;
use super::ready::{Mac, ReadyKey};
use super::text::draw_iv;
use super::turn::Turn;
use crate::error::{Failed, Stop};
use crate::request::{Asked, IV, OUTPUT, Tag, ToClient, UsedKey};
use crate::wire::Blob;
use divisi_core::Step;
use divisi_rep3::{Bit, Protocol, Rep3, Rounds};
use divisi_store::KeyInfo;
use divisi_symmetric::algorithm::{Algorithm, DIGITS, Settings};
use divisi_symmetric::batch::{Messages, State, bits, byte_values};
use divisi_symphony::close;
use divisi_symphony::owner::single;
use divisi_symphony::tags;
use std::rc::Rc;

const SETTINGS: Step = Step::new("divisi_node::server::digest/settings");
const COMPARE: Step = Step::new("divisi_node::server::digest/compare");

/// The settings of the requested function, or the reason why this server refuses it.
pub(crate) fn settings(asked: &Asked, keyed: bool) -> Result<Settings, Failed> {
    let settings = asked.settings().map_err(|what| Failed::refused(SETTINGS, what))?;
    if settings.algorithm.is_mac() != keyed {
        let message = format!("{} {} key", settings.algorithm, if keyed { "takes no" } else { "takes a" });
        return Err(Failed::refused(SETTINGS, message));
    }
    let (algorithm, given) = (settings.algorithm, settings.output_bytes);
    let least = least_tag(algorithm);
    if given < least {
        let most = if algorithm.has_any_length() { OUTPUT } else { algorithm.output_bytes() };
        let message = format!(
            "tags of {algorithm} must have {least} to {most} bytes, not {given}, so that nobody guesses one by trying: ask for more"
        );
        return Err(Failed::refused(SETTINGS, message));
    }
    Ok(settings)
}

/// The minimum length in bytes of a tag that servers make or compare: 96 bits for GMAC, where one guessed tag
/// gives the hash key away (SP 800-38D, 5.2.1.2, without the shorter tags of its appendix C), else 64 bits
/// (SP 800-38B, A.2).
#[must_use]
pub fn least_tag(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::Gmac(_) => 12,
        // digits, which are made and not compared
        Algorithm::Otp(_) => *DIGITS.start(),
        _ if algorithm.is_mac() => 8,
        _ => 0,
    }
}

/// Check that a tag to be compared has the form that these settings require.
pub(crate) fn fits(settings: &Settings, tag: &Tag) -> Result<(), Failed> {
    let message = match (tag.nonce.is_some(), settings.algorithm.nonce_bytes() > 0) {
        _ if matches!(settings.algorithm, Algorithm::Otp(_)) => {
            "a one-time password could be found by trying, so servers do not compare it: have it made, and compare it yourself"
        }
        (true, false) => "tags of this algorithm have no nonce: give none",
        (false, true) => "a tag of this algorithm is compared under the nonce that it was made with: give it",
        _ if tag.tag.0.len() != settings.output_bytes => {
            "the tag has another length than the one asked for: give the whole tag"
        }
        _ => return Ok(()),
    };
    Err(Failed::refused(SETTINGS, message))
}

/// Check that a key is for the algorithm of the request.
pub(crate) fn serves(key: &KeyInfo, settings: &Settings) -> Result<(), Failed> {
    let (name, kind, algorithm) = (&key.name, key.kind, settings.algorithm);
    let message =
        || format!("key {name} is of type {kind}, and {algorithm} was asked for: a key serves one algorithm");
    if algorithm.name() == kind.name() { Ok(()) } else { Err(Failed::refused(SETTINGS, message())) }
}

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
    pub fn hash(turn: &mut Turn<'_>, settings: &Settings) -> Result<Digesting, Stop> {
        turn.rep.use_protocol(Protocol::Gf4Circuit);
        let function = Rc::new(tags::prepare(turn.rep, settings, &[])?);
        turn.answer(ToClient::Tagging { nonce: [0; IV], key: None });
        Ok(Digesting::begin(turn, function, settings, None, [0; IV]))
    }

    /// Begin to make the tag of a message, or to compare one.
    pub fn mac(
        turn: &mut Turn<'_>,
        loaded: &Loaded,
        settings: &Settings,
        tag: Option<&Tag>,
    ) -> Result<Digesting, Stop> {
        turn.rep.use_protocol(Protocol::Gf4Circuit);
        // what was computed from a key stays ready, as long as the key is used with the same settings
        let function = match turn.ready.mac(&loaded.info.id, settings) {
            Some(function) => function,
            None => {
                let key = single(turn.rep, &loaded.part)?;
                let function = Rc::new(tags::prepare(turn.rep, settings, &key)?);
                let ready = ReadyKey::Mac(settings.clone(), function.clone());
                let (client, name) = (&turn.who.name, loaded.info.name.clone());
                turn.ready.keep(turn.rep, client, name, loaded.info.id, ready);
                function
            }
        };
        let nonce = match tag {
            Some(tag) => tag.nonce.unwrap_or_default(),
            None if settings.algorithm.nonce_bytes() > 0 => draw_iv(turn, &loaded.info)?,
            None => [0; IV],
        };
        let used = UsedKey { id: loaded.info.id, maker: loaded.info.maker.name.clone() };
        turn.answer(ToClient::Tagging { nonce, key: Some(used) });
        Ok(Digesting::begin(turn, function, settings, Some(loaded.info.id), nonce))
    }

    fn begin(
        turn: &mut Turn<'_>,
        function: Mac,
        settings: &Settings,
        key: Option<[u8; 16]>,
        nonce: [u8; IV],
    ) -> Digesting {
        let state = Some(function.get().begin(turn.rep));
        Digesting { function, settings: settings.clone(), key, state, rest: Vec::new(), nonce }
    }

    /// Set how the engine computes, and the key for which it may have garbled ahead.
    fn set(&self, turn: &mut Turn<'_>) {
        turn.rep.use_protocol(Protocol::Gf4Circuit);
        turn.rep.use_key(self.key.and_then(|id| turn.ready.bound(&id, &self.function)));
    }

    /// Take a piece, whose holders agree on it \[A24\], or continue with the current one: a few blocks of it.
    pub fn piece(&mut self, turn: &mut Turn<'_>, given: &Given) -> Result<After, Stop> {
        self.set(turn);
        if let Some(part) = given.secret() {
            let secret = single(turn.rep, part)?;
            self.rest.extend(bits(turn.rep, secret)?);
        }
        // whole blocks, but something stays for the end
        let block = self.function.get().piece();
        let whole = self.rest.len().saturating_sub(1) / block;
        let most =
            if turn.rep.rounds() == Rounds::Constant { GARBLED } else { blocks(self.settings.algorithm) };
        let now = whole.min(if turn.brisk { most / 2 } else { most });
        if now > 0 {
            let later = self.rest.split_off(now * block);
            let now = std::mem::replace(&mut self.rest, later);
            let state = self.state.take().ok_or_else(|| misfit(turn.me()))?;
            let next = self.function.get().update(turn.rep, state, now)?;
            // each step verifies what it owes, so that a message of any length takes the memory of a piece
            self.state = Some(close(turn.rep, next)?.into_inner());
        }
        let in_hand = whole > now;
        if !in_hand {
            turn.answer(ToClient::Accepted);
        }
        Ok(After::More { in_hand })
    }

    /// The message is complete: send its digest or tag to the client alone, or whether the client's tag is
    /// right \[S7\].
    pub fn finish(mut self, turn: &mut Turn<'_>, tag: Option<&Tag>) -> Result<After, Stop> {
        self.set(turn);
        let rest = std::mem::take(&mut self.rest);
        let rest =
            if rest.is_empty() { Messages::public(turn.rep, &[&[]]) } else { Messages::even(rest, 1)? };
        let state = self.state.take().ok_or_else(|| misfit(turn.me()))?;
        let output = self.function.get().finish(turn.rep, state, &rest, std::slice::from_ref(&self.nonce))?;
        let Some(tag) = tag else { return tell(turn, output) };
        let same = tags::matches(turn.rep, output, std::slice::from_ref(&tag.tag.0))?;
        if same != [true] {
            let message = "the tag is not that of this message under this key";
            let kind = crate::ErrorKind::Mismatch;
            return Err(Stop::Refused(Failed { kind, ..Failed::refused(COMPARE, message) }));
        }
        turn.answer(ToClient::Valid);
        Ok(After::Done)
    }
}

/// Send an output to the client alone, after everything that it depends on was verified.
fn tell(turn: &mut Turn<'_>, output: Vec<[Bit; 8]>) -> Result<After, Stop> {
    let bytes = byte_values(turn.rep, output)?;
    let verified = close(turn.rep, bytes)?;
    let context = turn.context(0);
    let mut answer = turn.rep.trio().answer(&context, &verified)?;
    let component = Blob(std::mem::take(&mut answer.component));
    turn.answer(ToClient::Answer { component, digest: answer.digest });
    Ok(After::Done)
}

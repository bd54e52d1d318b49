//! Hashes of messages that no server sees, and MACs of them with a stored key.
//!
//! The message comes in parts, piece by piece; what leaves is one answer in the end: the digest or tag to the client alone, a component from
//! one holder and a digest of it from the other; or, for a tag to be compared, one bit \[S7\]. A key serves the MAC of its type and nothing
//! else.
//!
//! The nonce of a tag that is made is a coin of all three servers. That of a tag that is compared comes with it from the client, who can thus
//! ask about many tags under one nonce: guessing one of GMAC under a nonce that another tag has gives the hash key away, and with it every
//! tag. What keeps a guess from being right is the tag's length, of which there is a least one ([`least`]), and that every comparison is a
//! use of the key, counted durably before, as is every tag that is made.

use super::keys::load;
use super::text::draw_iv;
use super::turn::{ReadyKey, Turn};
use crate::admit::What;
use crate::error::{Failed, Stop};
use crate::owner::single;
use crate::request::{Asked, IV, MESSAGE, OUTPUT, PIECE, Tag, ToClient, ToServer, UsedKey};
use crate::settle::close;
use crate::tags;
use crate::wire::Blob;
use divisi_core::{Check, Step, Verified, step};
use divisi_rep3::deal::Part;
use divisi_rep3::{Bit, Protocol, Rep3};
use divisi_store::{KeyInfo, KeyName};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::batch::{Function, Messages, bits, byte_values};

const SETTINGS: Step = step!("settings");
const MESSAGE_PART: Step = step!("message");
const FINISH: Step = step!("finish");
const COMPARE: Step = step!("compare");

/// What is asked for, if this server does it.
fn settings(asked: &Asked, length: u64, keyed: bool) -> Result<Settings, Failed> {
    let settings = asked.settings().map_err(|what| Failed::refused(SETTINGS, what))?;
    if settings.algorithm.is_mac() != keyed {
        let message = format!("{} {} key", settings.algorithm, if keyed { "takes no" } else { "takes a" });
        return Err(Failed::refused(SETTINGS, message));
    }
    let (algorithm, given) = (settings.algorithm, settings.output_bytes);
    let least = least(algorithm);
    if given < least {
        let most = if algorithm.has_any_length() { OUTPUT } else { algorithm.output_bytes() };
        let message = format!(
            "tags of {algorithm} have {least} to {most} bytes here, not {given}, so that none is guessed by asking: ask for more"
        );
        return Err(Failed::refused(SETTINGS, message));
    }
    if length > MESSAGE {
        let message =
            format!("the message has {length} bytes, and servers take at most {MESSAGE}: hash it before");
        return Err(Failed::refused(SETTINGS, message));
    }
    Ok(settings)
}

/// The fewest bytes of a tag that servers make or compare, whoever asks how often: 96 bits for GMAC, of which one tag that is guessed gives
/// all away (SP 800-38D, 5.2.1.2, without the shorter ones of its appendix C), else 64 (SP 800-38B, A.2).
fn least(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::Gmac(_) => 12,
        _ if algorithm.is_mac() => 8,
        _ => 0,
    }
}

/// That a tag to be compared is one of these settings.
fn fits(settings: &Settings, tag: &Tag) -> Result<(), Failed> {
    let message = match (tag.nonce.is_some(), settings.algorithm.nonce_bytes() > 0) {
        (true, false) => "a nonce belongs to no tag of this algorithm: give none",
        (false, true) => "a tag of this algorithm is compared under the nonce that it was made with: give it",
        _ if tag.tag.0.len() != settings.output_bytes => {
            "the tag has another length than was asked for: give all of it"
        }
        _ => return Ok(()),
    };
    Err(Failed::refused(SETTINGS, message))
}

/// Hash a message.
pub(crate) fn hash(turn: &mut Turn<'_>, asked: &Asked, length: u64) -> Result<(), Stop> {
    turn.rep.use_protocol(Protocol::Gf4Circuit);
    let settings = turn.all(SETTINGS, settings(asked, length, false))?;
    let function = tags::prepare(turn.rep, &settings, &[])?;
    turn.answer(ToClient::Tagging { nonce: [0; IV], key: None });
    let output = output(turn, function.get(), length, &[0; IV])?;
    tell(turn, output)
}

/// Make the tag of a message, or compare it with one.
pub(crate) fn mac(
    turn: &mut Turn<'_>,
    name: &KeyName,
    asked: &Asked,
    length: u64,
    tag: Option<&Tag>,
) -> Result<(), Stop> {
    turn.rep.use_protocol(Protocol::Gf4Circuit);
    let wanted = settings(asked, length, true).and_then(|settings| {
        tag.map_or(Ok(()), |tag| fits(&settings, tag))?;
        Ok(settings)
    });
    let serves = |key: &KeyInfo| {
        let algorithm = wanted.as_ref().map_err(Clone::clone)?.algorithm;
        let message = || {
            let kind = key.kind;
            format!("key {name} is of type {kind}, and {algorithm} was asked for: a key serves one algorithm")
        };
        let same = algorithm.name() == key.kind.name();
        if same { Ok(()) } else { Err(Failed::refused(SETTINGS, message())) }
    };
    // a comparison is a use, too: counted before, whatever comes out
    let loaded = load(turn, name, |key| What::Mac(key), serves, true)?;
    let settings = wanted?;
    // what a key leaves stays ready, as long as it is used in the same way
    let kept = match turn.ready.take(&loaded.info.id) {
        Some(ReadyKey::Mac(with, function)) if with == settings => Some(function),
        _ => None,
    };
    let function = match kept {
        Some(function) => function,
        None => prepare(turn.rep, &settings, &loaded.part)?,
    };
    let nonce = match tag {
        Some(tag) => tag.nonce.unwrap_or_default(),
        None if settings.algorithm.nonce_bytes() > 0 => draw_iv(turn, &loaded.info)?,
        None => [0; IV],
    };
    let used = UsedKey { id: loaded.info.id, maker: loaded.info.maker.name.clone() };
    turn.answer(ToClient::Tagging { nonce, key: Some(used) });
    let output = output(turn, function.get(), length, &nonce);
    if !matches!(output, Err(Stop::Abort(_))) {
        turn.ready.put(name.clone(), loaded.info.id, ReadyKey::Mac(settings, function));
    }
    let output = output?;
    let Some(tag) = tag else { return tell(turn, output) };
    let same = tags::matches(turn.rep, output, std::slice::from_ref(&tag.tag.0))?;
    if same != [true] {
        let message = "the tag is not that of this message under this key";
        let kind = crate::ErrorKind::Mismatch;
        return Err(Stop::Refused(Failed { kind, ..Failed::refused(COMPARE, message) }));
    }
    turn.answer(ToClient::Valid);
    Ok(())
}

fn prepare(rep: &mut Rep3, settings: &Settings, key: &Part) -> Result<Verified<Function<Rep3>>, Stop> {
    let key = single(rep, key)?;
    Ok(tags::prepare(rep, settings, &key)?)
}

/// The output for a message that comes piece by piece.
fn output(
    turn: &mut Turn<'_>,
    function: &Function<Rep3>,
    length: u64,
    nonce: &[u8; IV],
) -> Result<Vec<[Bit; 8]>, Stop> {
    let mut state = function.begin(turn.rep);
    let mut rest: Vec<[Bit; 8]> = Vec::new();
    for index in 0..length.div_ceil(PIECE as u64) {
        let bytes = (length - index * PIECE as u64).min(PIECE as u64) as usize;
        let part = turn.part(MESSAGE_PART, index, bytes);
        let mine = part.as_ref().map_err(Clone::clone);
        turn.agree(MESSAGE_PART, Check::A24, &index.to_le_bytes(), mine)?;
        let secret = single(turn.rep, &part?)?;
        rest.extend(bits(turn.rep, secret)?);
        // whole blocks, and something is left for the end
        let now = rest.len().saturating_sub(1) / function.piece() * function.piece();
        let later = rest.split_off(now);
        let now = std::mem::replace(&mut rest, later);
        if !now.is_empty() {
            let next = function.update(turn.rep, state, now)?;
            // what a piece owes is verified with it, so that a message of any length takes the memory of a piece
            state = close(turn.rep, next)?.into_inner();
        }
        turn.answer(ToClient::Accepted);
    }
    let finish = turn.word(FINISH, &ToServer::Finish { number: turn.number, item: turn.item });
    turn.all(FINISH, finish)?;
    let rest = if rest.is_empty() { Messages::public(turn.rep, &[&[]]) } else { Messages::even(rest, 1)? };
    Ok(function.finish(turn.rep, state, &rest, std::slice::from_ref(nonce))?)
}

/// An output to the client alone, when all behind it is verified.
fn tell(turn: &mut Turn<'_>, output: Vec<[Bit; 8]>) -> Result<(), Stop> {
    let bytes = byte_values(turn.rep, output)?;
    let verified = close(turn.rep, bytes)?;
    let context = turn.context(0);
    let mut answer = turn.rep.trio().answer(&context, &verified)?;
    let component = Blob(std::mem::take(&mut answer.component));
    turn.answer(ToClient::Answer { component, digest: answer.digest });
    Ok(())
}

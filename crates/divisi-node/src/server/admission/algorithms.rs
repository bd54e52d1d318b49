//! What keys and algorithms take: the checks of a request that need its key's entry and no secret.
//!
//! A client can ask about many tags under one nonce, for the nonce of a tag that is compared comes with the
//! tag: whoever guesses a GMAC tag under a nonce that another tag has used learns the hash key, and can forge
//! every tag. Two things limit guesses: the minimum length of a tag ([`least_tag`]), and that every
//! comparison, like every tag that is made, is a use of the key, counted durably beforehand.

use crate::error::Failed;
use crate::request::{AAD, FunctionRequest, Mode, ModeRequest, OUTPUT, Tag};
use crate::wire::Blob;
use divisi_core::Step;
use divisi_store::{KeyInfo, Purpose};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::{Algorithm, DIGITS, Settings};
use divisi_symmetric::mode::gcm::Lengths;

const ALGORITHM: Step = Step::new("divisi_node::server::work/algorithm");
const LENGTHS: Step = Step::new("divisi_node::server::text/lengths");
const MODE: Step = Step::new("divisi_node::server::whole/settings");
const SETTINGS: Step = Step::new("divisi_node::server::digest/settings");

/// Check that a key is for AES-GCM.
pub(crate) fn gcm_serves(key: &KeyInfo) -> Result<(), Failed> {
    if key.purpose == Purpose::Gcm && key.kind.purpose() == Purpose::Gcm {
        return Ok(());
    }
    let (name, kind) = (&key.name, key.kind);
    let message = format!(
        "key {name} is of type {kind}, and gcm was asked for: a key serves the algorithms of its type"
    );
    Err(Failed::refused(ALGORITHM, message))
}

/// Check that a message and its associated data are short enough for GCM.
pub(crate) fn gcm_takes(aad: &Blob, length: u64) -> Result<(), Failed> {
    let fits = aad.0.len() <= AAD && Lengths::new(aad.0.len() as u64, length).is_ok();
    let message =
        "the message is longer than GCM allows (2^36 - 32 bytes, 64 KiB of associated data here): split it";
    if fits { Ok(()) } else { Err(Failed::refused(LENGTHS, message)) }
}

/// The size of an AES key.
pub(crate) fn key_size(key: &KeyInfo) -> Result<KeySize, Failed> {
    let size = KeySize::from_bytes(key.kind.bytes());
    size.ok_or_else(|| Failed::refused(LENGTHS, "the key is not an AES key: use another one"))
}

/// Check that a key is for this mode.
pub(crate) fn mode_serves(key: &KeyInfo, mode: Mode) -> Result<(), Failed> {
    let purpose = match mode {
        Mode::Cbc => Purpose::Cbc,
        Mode::Siv => Purpose::Siv,
        Mode::Kw | Mode::Kwp => Purpose::Wrap,
    };
    if key.purpose == purpose && key.kind.purpose() == purpose {
        return Ok(());
    }
    let (name, kind) = (&key.name, key.kind);
    Err(Failed::refused(
        MODE,
        format!(
            "key {name} is of type {kind}, and {mode} was asked for: a key serves the algorithms of its type"
        ),
    ))
}

/// Check that the mode accepts a message of this length.
pub(crate) fn mode_takes(asked: &ModeRequest) -> Result<(), Failed> {
    asked.misfit().map_or(Ok(()), |message| Err(Failed::refused(MODE, message)))
}

/// The settings of the requested function, or the reason why this server refuses it.
pub(crate) fn function_settings(asked: &FunctionRequest, keyed: bool) -> Result<Settings, Failed> {
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
pub(crate) fn tag_fits(settings: &Settings, tag: &Tag) -> Result<(), Failed> {
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
pub(crate) fn function_serves(key: &KeyInfo, settings: &Settings) -> Result<(), Failed> {
    let (name, kind, algorithm) = (&key.name, key.kind, settings.algorithm);
    let message =
        || format!("key {name} is of type {kind}, and {algorithm} was asked for: a key serves one algorithm");
    if algorithm.name() == kind.name() { Ok(()) } else { Err(Failed::refused(SETTINGS, message())) }
}

//! Requests in the modes other than GCM.

use super::functions::SboxChoice;
use crate::wire::Blob;
use divisi_store::KeyName;
use divisi_symmetric::mode::one_shot::wrap;
use serde::{Deserialize, Serialize};

/// The maximum length of a message for SIV, KW and KWP, in bytes.
pub const MODE_MESSAGE: usize = 16_384;
/// The most bytes of associated data with SIV.
pub(crate) const MODE_AAD: usize = 1024;

/// A mode other than GCM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Mode {
    /// Cipher block chaining, of whole blocks (SP 800-38A).
    Cbc,
    /// Synthetic IV (RFC 5297).
    Siv,
    /// Key wrapping, RFC 3394.
    Kw,
    /// Key wrapping with padding, RFC 5649.
    Kwp,
}

impl Mode {
    /// All of them.
    pub(crate) const ALL: [Mode; 4] = [Mode::Cbc, Mode::Siv, Mode::Kw, Mode::Kwp];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::Cbc => "cbc",
            Mode::Siv => "siv",
            Mode::Kw => "kw",
            Mode::Kwp => "kwp",
        }
    }

    /// Why the mode does not take a message of this length, and what to do; `None` if it takes it. `length`
    /// is that of the message to be encrypted, for CBC with its padding, or that of the message to be
    /// decrypted, with the IV before it.
    #[must_use]
    pub fn misfit(self, encrypts: bool, length: u64) -> Option<String> {
        let iv = if encrypts { 0 } else { self.iv_bytes() };
        let bytes = usize::try_from(length).unwrap_or(usize::MAX);
        let most = match self {
            Mode::Cbc => usize::MAX,
            // a semiblock more than what was wrapped
            Mode::Kw | Mode::Kwp if !encrypts => MODE_MESSAGE + 8,
            _ => MODE_MESSAGE + iv,
        };
        if bytes > most {
            return Some(format!(
                "{self} takes at most {most} bytes, not {length}: use a key of type aes-256 (AES-GCM) for longer texts"
            ));
        }
        let (good, says) = match (self, encrypts) {
            (Mode::Cbc, true) => {
                (bytes > 0 && bytes.is_multiple_of(16), "whole blocks of 16 bytes: pad the text")
            }
            (Mode::Cbc, false) => (
                bytes >= iv + 16 && bytes.is_multiple_of(16),
                "an IV and whole blocks, 32, 48, 64 .. bytes in all: give the whole file that cbc made",
            ),
            (Mode::Siv, true) => (true, ""),
            (Mode::Siv, false) => {
                (bytes >= iv, "an IV of 16 bytes and a message: give the whole file that siv made")
            }
            (Mode::Kw, true) if bytes == 0 => (false, "16, 24, 32 .. bytes: give a key to wrap"),
            (Mode::Kw, true) => {
                (wrap::kw_takes(bytes), "16, 24, 32 .. bytes: use --algorithm kwp for other lengths")
            }
            (Mode::Kwp, true) => (bytes > 0, "a byte at least: give a key to wrap"),
            (Mode::Kw, false) => {
                (wrap::unwraps(bytes, false), "24, 32, 40 .. bytes: give the whole file that kw made")
            }
            (Mode::Kwp, false) => {
                (wrap::unwraps(bytes, true), "16, 24, 32 .. bytes: give the whole file that kwp made")
            }
        };
        let verb = if encrypts { "encrypts" } else { "decrypts" };
        let (takes, remedy) = says.split_once(": ").unwrap_or((says, ""));
        (!good).then(|| format!("{self} {verb} {takes}, not {length} bytes: {remedy}"))
    }

    /// The bytes of the IV that stands before a ciphertext.
    pub(crate) fn iv_bytes(self) -> usize {
        if matches!(self, Mode::Cbc | Mode::Siv) { 16 } else { 0 }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A request to encrypt or decrypt a message in a mode other than GCM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ModeRequest {
    pub key: KeyName,
    pub mode: Mode,
    pub encrypts: bool,
    /// The associated data of SIV: one string, which may be empty, or none.
    pub aad: Option<Blob>,
    pub length: u64,
    /// For decryption the IV of CBC or SIV; else zeros.
    pub iv: [u8; 16],
    pub way: SboxChoice,
}

impl ModeRequest {
    /// What the servers do with the message, as a verb for messages.
    pub fn verb(&self) -> &'static str {
        if self.encrypts { "encrypt" } else { "decrypt" }
    }

    /// The length of its associated data, in bytes.
    pub fn aad_bytes(&self) -> usize {
        self.aad.as_ref().map_or(0, |aad| aad.0.len())
    }

    /// Why the mode does not take a message of this length, or so much associated data; `None` if it does.
    pub fn misfit(&self) -> Option<String> {
        let mode = self.mode;
        if mode != Mode::Siv && self.aad.is_some() {
            return Some(format!(
                "{mode} takes no associated data: leave them out, or use a key for siv or gcm"
            ));
        }
        if self.aad_bytes() > MODE_AAD {
            let bytes = self.aad_bytes();
            return Some(format!(
                "siv takes at most {MODE_AAD} bytes of associated data, not {bytes}: give fewer"
            ));
        }
        let iv = if self.encrypts { 0 } else { mode.iv_bytes() as u64 };
        mode.misfit(self.encrypts, self.length.saturating_add(iv))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_mode_does_not_take_is_told_with_what_to_do() {
        let whole = MODE_MESSAGE as u64;
        for (mode, encrypts, taken, refused) in [
            (
                Mode::Kw,
                true,
                [16, 24, whole],
                vec![(0, "give a key"), (8, "kwp"), (21, "kwp"), (whole + 8, "at most")],
            ),
            (
                Mode::Kw,
                false,
                [24, 32, whole + 8],
                vec![(16, "24, 32"), (25, "whole file"), (whole + 16, "AES-GCM")],
            ),
            (Mode::Kwp, true, [1, 21, whole], vec![(0, "a byte at least"), (whole + 1, "at most")]),
            (Mode::Kwp, false, [16, 24, whole + 8], vec![(8, "16, 24"), (17, "whole file")]),
            (Mode::Siv, true, [0, 1, whole], vec![(whole + 1, "at most 16384 bytes")]),
            (Mode::Siv, false, [16, 17, whole + 16], vec![(15, "an IV"), (whole + 17, "at most")]),
            (Mode::Cbc, true, [16, 32, 1 << 30], vec![(0, "pad"), (21, "pad")]),
            (
                Mode::Cbc,
                false,
                [32, 48, 1 << 30],
                vec![(16, "32, 48"), (21, "not 21 bytes: give the whole file")],
            ),
        ] {
            for length in taken {
                assert_eq!(mode.misfit(encrypts, length), None, "{mode} {length}");
            }
            for (length, says) in refused {
                let said = mode.misfit(encrypts, length).unwrap();
                assert!(said.contains(says) && said.matches(": ").count() == 1, "{mode} {length}: {said}");
            }
        }
    }
}

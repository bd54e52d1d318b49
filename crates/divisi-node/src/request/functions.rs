//! Requests for hashes and MACs, and the ways to compute S-boxes.

use super::{AAD, IV, OUTPUT};
use crate::wire::Blob;
use divisi_rep3::Protocol;
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::gates::Adder;
use serde::{Deserialize, Serialize};

/// A tag to be compared, with the nonce under which it was made, if there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tag {
    pub nonce: Option<[u8; IV]>,
    pub tag: Blob,
}

/// A hash or MAC, as it is said on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FunctionRequest {
    pub(super) algorithm: String,
    pub(super) customization: Blob,
    pub(super) function: Blob,
    pub(super) output_bytes: u32,
    pub(super) xof: bool,
}

impl FunctionRequest {
    /// The settings of the function. A message is computed in one lane, where rounds dominate the time, so
    /// that SHA-2 uses adders of low depth.
    pub fn settings(&self) -> Result<Settings, String> {
        if self.algorithm.len() > 32 {
            return Err("an algorithm has a shorter name".into());
        }
        let settings = Settings {
            algorithm: self.algorithm.parse()?,
            adder: Adder::LowDepth,
            customization: self.customization.0.clone(),
            function: self.function.0.clone(),
            output_bytes: self.output_bytes as usize,
            xof: self.xof,
            // requests have whole bytes
            spare_output_bits: 0,
            spare_key_bits: 0,
        };
        settings.check()?;
        if settings.output_bytes > OUTPUT || settings.customization.len() + settings.function.len() > AAD {
            return Err(format!(
                "servers give at most {OUTPUT} bytes, and take at most {AAD} of customization"
            ));
        }
        Ok(settings)
    }
}

impl From<&Settings> for FunctionRequest {
    fn from(settings: &Settings) -> FunctionRequest {
        FunctionRequest {
            algorithm: settings.algorithm.name(),
            customization: Blob(settings.customization.clone()),
            function: Blob(settings.function.clone()),
            output_bytes: u32::try_from(settings.output_bytes).unwrap_or(u32::MAX),
            xof: settings.xof,
        }
    }
}

/// How the servers are to compute S-boxes. On the wire it is the protocol's code, so that servers offer
/// everything that their engine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "u32", try_from = "u32")]
pub(crate) struct SboxChoice(pub Protocol);

impl SboxChoice {
    /// The protocol that clients ask for by default.
    pub const DEFAULT: SboxChoice = SboxChoice(Protocol::Gf4Circuit);
}

impl From<SboxChoice> for u32 {
    fn from(way: SboxChoice) -> u32 {
        way.0.code()
    }
}

impl TryFrom<u32> for SboxChoice {
    type Error = &'static str;

    fn try_from(code: u32) -> Result<SboxChoice, &'static str> {
        Protocol::of_code(code).map(SboxChoice).ok_or("no way to compute S-boxes has this code")
    }
}

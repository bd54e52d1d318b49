//! The inputs of a run, and what must come out, computed in the clear.
#![allow(clippy::disallowed_methods)] // randomness of a test or a measurement

use super::{AAD, RunWork, lengths, messages, outputs};
use crate::noise::Same;
use crate::{calls, tables};
use aes_gcm::Aes128Gcm;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use divisi_core::{Abort, Bytes, Direction, Plain, PlainByte};
use divisi_net::World;
use divisi_rep3::deal::{self, Part};
use divisi_symmetric::aes;
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::batch::{Function, byte_values};

/// Inputs of a run as its parties hold them, and what must come out.
pub(super) struct Inputs {
    pub(super) parts: [Vec<Part>; 3],
    pub(super) iv: [u8; 12],
    pub(super) expected: Vec<Vec<u8>>,
}

impl Inputs {
    pub(super) fn new(work: RunWork) -> Result<Inputs, String> {
        let same = Same::default();
        let draw = |n: usize| {
            let mut bytes = vec![0; n];
            same.entropy(&mut bytes);
            bytes
        };
        let iv = [0x5a; 12];
        let key = draw(16);
        let (inputs, expected): (Vec<Vec<u8>>, _) = match work {
            RunWork::Openings(n) => {
                let message = draw(n);
                (vec![message.clone()], vec![message])
            }
            RunWork::Lookups(_, n) => {
                let places = draw(n);
                let entries = tables::entries(&places);
                (vec![places], vec![entries])
            }
            RunWork::Aes(direction, n) => {
                let columns: Vec<Vec<u8>> = (0..16).map(|_| draw(n)).collect();
                let expected = in_the_clear(&key, &columns, direction).map_err(|abort| abort.to_string())?;
                (key.iter().map(|byte| vec![*byte]).chain(columns).collect(), expected)
            }
            RunWork::OneShot(whole) => {
                let (key, message) = (draw(whole.key_bytes()), draw(whole.text_bytes()));
                let secret =
                    |bytes: &[u8]| bytes.iter().map(|byte| Plain.public(&[*byte])).collect::<Vec<_>>();
                let expected = whole.run(&mut Plain, &secret(&key), &secret(&message));
                let expected = expected.map_err(|abort| abort.to_string())?;
                if expected.last() != Some(&message) {
                    return Err("a message that goes there and back is another one".to_owned());
                }
                ([key, message].concat().into_iter().map(|byte| vec![byte]).collect(), expected)
            }
            RunWork::Gcm(n) => {
                let message = draw(n);
                let payload = Payload { msg: &message, aad: AAD };
                let cipher = Aes128Gcm::new_from_slice(&key).map_err(|e| e.to_string())?;
                let sealed = cipher.encrypt(&iv.into(), payload).map_err(|e| e.to_string())?;
                (vec![key, message], vec![sealed])
            }
            RunWork::Call(call) => {
                let columns: Vec<Vec<u8>> = (0..calls::BYTES).map(|_| draw(calls::LANES)).collect();
                let expected = call.in_the_clear(&columns).map_err(|abort| abort.to_string())?;
                (columns, expected)
            }
            RunWork::Function(name, _) | RunWork::Garbled(name, _) | RunWork::GarbledFirst(name) => {
                let n = messages(work);
                let settings = work.settings().ok_or_else(|| format!("no hash and no MAC: {name}"))?;
                let key = draw(settings.algorithm.key_bytes());
                let longest = lengths(n).into_iter().max().unwrap_or(0);
                let columns: Vec<Vec<u8>> = (0..longest).map(|_| draw(n)).collect();
                let expected =
                    function_in_the_clear(&settings, &key, &columns, n).map_err(|abort| abort.to_string())?;
                (key.iter().map(|byte| vec![*byte]).chain(columns).collect(), expected)
            }
        };
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        for input in &inputs {
            let dealt = deal::split(input, |out| same.entropy(out));
            parts.iter_mut().zip(dealt).for_each(|(parts, part)| parts.push(part));
        }
        Ok(Inputs { parts, iv, expected })
    }
}

/// The same cipher on the engine that computes in the clear.
fn in_the_clear(key: &[u8], columns: &[Vec<u8>], direction: Direction) -> Result<Vec<Vec<u8>>, Abort> {
    let key: Vec<PlainByte> = key.iter().map(|byte| Plain.public(&[*byte])).collect();
    let round_keys = aes::expand(&mut Plain, &key)?;
    let mut state: [PlainByte; 16] = std::array::from_fn(|i| Plain.public(&columns[i]));
    match direction {
        Direction::Encrypt => aes::encrypt(&mut Plain, &round_keys, &mut state)?,
        Direction::Decrypt => aes::decrypt(&mut Plain, &round_keys, &mut state)?,
    }
    Ok(state.iter().map(|byte| byte.values().to_vec()).collect())
}

/// The same hash or MAC on the engine that computes in the clear.
fn function_in_the_clear(
    settings: &Settings,
    key: &[u8],
    columns: &[Vec<u8>],
    n: usize,
) -> Result<Vec<Vec<u8>>, Abort> {
    let e = &mut Plain;
    let key: Vec<PlainByte> = key.iter().map(|byte| e.public(&[*byte])).collect();
    let message = columns.iter().map(|column| e.public(column)).collect();
    let function = Function::prepare(e, settings, &key)?;
    let output = outputs(e, &function, message, n)?;
    Ok(byte_values(e, output)?.iter().map(|byte| byte.values().to_vec()).collect())
}

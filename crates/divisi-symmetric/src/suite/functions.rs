//! Runs any hash or MAC on an engine: at once, or in pieces.

use crate::algorithm::Settings;
use crate::batch::{Function, MacEngine, Messages, bits, byte_values};
use crate::mode::gcm::IV_BYTES;
use divisi_core::testing::{Lab, Outputs};

/// A key, a nonce and a message.
#[derive(Clone, Debug)]
pub struct Case {
    /// The key; empty for a hash.
    pub key: Vec<u8>,
    /// The nonce; zeros if there is none.
    pub nonce: [u8; IV_BYTES],
    /// The message.
    pub message: Vec<u8>,
}

fn columns(rows: &[&Vec<u8>]) -> Vec<Vec<u8>> {
    let longest = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    (0..longest).map(|j| rows.iter().map(|row| row.get(j).copied().unwrap_or(0xa5)).collect()).collect()
}

/// The outputs of all cases in one run. Keys and messages are secret, with a lane for each case; keys have
/// the same length.
///
/// # Panics
/// If the run aborts.
pub fn outputs<L: Lab<Engine: MacEngine>>(lab: &L, settings: &Settings, cases: &[Case]) -> Vec<Vec<u8>> {
    let key_bytes = cases.first().map_or(0, |case| case.key.len());
    let keys = columns(&cases.iter().map(|case| &case.key).collect::<Vec<_>>());
    let messages = columns(&cases.iter().map(|case| &case.message).collect::<Vec<_>>());
    let nonces: Vec<_> = cases.iter().map(|case| case.nonce).collect();
    let opened = lab.run(&[keys, messages].concat(), |e, bytes| {
        let (key, columns) = bytes.split_at(key_bytes);
        let function = Function::prepare(e, settings, key)?;
        let columns = bits(e, columns.to_vec())?;
        let messages = if columns.is_empty() {
            Messages::public(e, &vec![&[][..]; cases.len()])
        } else {
            Messages::new(columns, cases.iter().map(|case| case.message.len()).collect())?
        };
        let out = function.output(e, &messages, &nonces)?;
        assert_eq!(out.len(), function.output_bytes());
        Ok(Outputs::bytes(byte_values(e, out)?))
    });
    let opened = opened.unwrap_or_else(|abort| panic!("{abort}")).bytes;
    (0..cases.len()).map(|lane| opened.iter().map(|column| column[lane]).collect()).collect()
}

/// The output for one message, processed in pieces of the smallest length.
///
/// # Panics
/// If the run aborts.
pub fn in_pieces<L: Lab<Engine: MacEngine>>(lab: &L, settings: &Settings, case: &Case) -> Vec<u8> {
    let inputs = [columns(&[&case.key]), columns(&[&case.message])].concat();
    let opened = lab.run(&inputs, |e, bytes| {
        let (key, columns) = bytes.split_at(case.key.len());
        let function = Function::prepare(e, settings, key)?;
        let mut rest = bits(e, columns.to_vec())?;
        let mut state = function.begin(e);
        while rest.len() > function.piece() {
            let next = rest.split_off(function.piece());
            state = function.update(e, state, std::mem::replace(&mut rest, next))?;
        }
        let rest = if rest.is_empty() { Messages::public(e, &[&[]]) } else { Messages::even(rest, 1)? };
        let out = function.finish(e, state, &rest, &[case.nonce])?;
        Ok(Outputs::bytes(byte_values(e, out)?))
    });
    opened.unwrap_or_else(|abort| panic!("{abort}")).bytes.concat()
}

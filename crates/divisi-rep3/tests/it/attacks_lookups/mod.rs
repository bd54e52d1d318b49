//! Attacks on lookups and their one-hot vectors: openings split between peers, vectors that are wrong, used
//! twice or out of step, outputs that are not the S-box's.

mod openings;
mod vectors;

use crate::common::prelude::*;
use divisi_symmetric::aes;

const COIN: &str = "divisi_rep3::random/coin.share";

/// The steps and lengths of what a party sent, and to whom.
fn sent(recording: &Recording) -> Vec<(u8, u32, usize)> {
    let out = recording.read().into_iter().filter(|seen| seen.way == MessageDirection::Out);
    out.map(|seen| (seen.peer.index() as u8, seen.frame.step, seen.frame.body.len())).collect()
}

/// Whether a party sent a share of a coin after this message of its own.
fn verified_after(recording: &Recording, step: &'static str, nth: usize) -> bool {
    let sent = sent(recording);
    let id = Step::new(step).id;
    let to = sent.iter().find(|(_, s, _)| *s == id).unwrap().0;
    let at = sent.iter().enumerate().filter(|(_, s)| s.1 == id && s.0 == to).nth(nth).unwrap().0;
    sent[at..].iter().any(|(_, s, _)| *s == Step::new(COIN).id)
}

/// AES-128 on one block, encrypted or decrypted, of this state under this key: the opened output.
fn aes_128(
    trio: Trio,
    protocol: Protocol,
    direction: Direction,
    [key, state]: [&[[Part; 16]; 3]; 2],
) -> Result<Vec<u8>, Abort> {
    let me = trio.me().index();
    let mut e = Rep3::new(trio, protocol, Security::Malicious);
    let mut input = |parts: &[[Part; 16]; 3]| {
        parts[me].iter().map(|part| e.trio().input(part)).collect::<Result<Vec<Byte>, _>>()
    };
    let (key, state) = (input(key)?, input(state)?);
    let round_keys = e.with_protocol(Protocol::Gf4Circuit, |e| aes::expand(e, &key))?;
    let mut state: [Byte; 16] = state.try_into().ok().unwrap();
    match direction {
        Direction::Encrypt => aes::encrypt(&mut e, &round_keys, &mut state)?,
        Direction::Decrypt => aes::decrypt(&mut e, &round_keys, &mut state)?,
    }
    Ok(e.reveal(state.to_vec())?.concat())
}

/// A part of each byte for each party.
fn parts(bytes: [u8; 16]) -> [[Part; 16]; 3] {
    deal_all(&bytes.map(|byte| vec![byte])).map(|parts| parts.try_into().ok().unwrap())
}

const KEY: [u8; 16] =
    [0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 9, 0xcf, 0x4f, 0x3c];

//! AES on the three-party engine: the parts that depend on how S-boxes are computed.
//!
//! A key's schedule is made in the way that suits a short chain
//! ([`for_key_schedule`](divisi_rep3::Protocol::for_key_schedule)), and blocks are encrypted in chunks whose
//! data fit the cache ([`blocks_at_once`](divisi_rep3::Protocol::blocks_at_once)): the one-hot vectors of a
//! lookup protocol are made before the first layer, for all rounds. Those of lut256 take 10 KB for each block
//! of AES-128, and as much again while they are made.

use crate::settle::close;
use divisi_core::{Abort, Bytes, Direction, Lanes, Misuse, Step, Verified, step};
use divisi_rep3::{Block, Byte, Rep3};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::mode::ctr::{joined, pieces};
use divisi_symmetric::mode::gcm;

const STREAM: Step = step!("stream");

/// The round keys of several keys, with a lane for each key.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if `key` has not 16, 24 or 32 bytes, or their lanes
/// differ.
pub fn expand(rep: &mut Rep3, key: &[Byte]) -> Result<RoundKeys<Byte>, Abort> {
    with_schedule(rep, |rep| aes::expand(rep, key))
}

/// The round keys of several keys and their hash keys for GCM, with a lane for each key.
///
/// # Errors
/// The errors of [`expand`].
pub fn expand_for_gcm(rep: &mut Rep3, key: &[Byte]) -> Result<(RoundKeys<Byte>, Block), Abort> {
    with_schedule(rep, |rep| gcm::expand(rep, key))
}

/// Run `f`, which makes what is made once for a key, under the protocol for key schedules.
pub(crate) fn with_schedule<R>(
    rep: &mut Rep3,
    f: impl FnOnce(&mut Rep3) -> Result<R, Abort>,
) -> Result<R, Abort> {
    rep.with_protocol(rep.protocol().for_key_schedule(), f)
}

/// Encrypt or decrypt blocks, as many at a time as suits the protocol; each piece is verified before the
/// next. `keys` has one key for all blocks, or one for each.
pub(crate) fn through(
    rep: &mut Rep3,
    direction: Direction,
    keys: &RoundKeys<Byte>,
    blocks: &[Byte; 16],
) -> Result<Verified<[Byte; 16]>, Abort> {
    let misfit = Abort::Misuse { step: STREAM, what: Misuse::CountsDiffer };
    let mut made = Vec::new();
    for range in pieces(blocks[0].lanes(), rep.blocks_at_once()) {
        let index: Vec<usize> = range.collect();
        let own = if keys.lanes() == 1 { Some(keys.clone()) } else { keys.gather(&index) };
        let own = own.ok_or_else(|| misfit.clone())?;
        let piece: Option<Vec<Byte>> = blocks.iter().map(|byte| byte.gather(&index)).collect();
        let mut piece: [Byte; 16] =
            piece.and_then(|piece| piece.try_into().ok()).ok_or_else(|| misfit.clone())?;
        match direction {
            Direction::Encrypt => aes::encrypt(rep, &own, &mut piece)?,
            Direction::Decrypt => aes::decrypt(rep, &own, &mut piece)?,
        }
        made.push(close(rep, piece)?.into_inner());
    }
    let whole = joined(rep, made)?;
    close(rep, whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::settle;
    use divisi_rep3::local::{deal_all, run};
    use divisi_rep3::{Protocol, Security, deal::Part};
    use divisi_symmetric::mode::ctr;

    /// A key stream in pieces, with a key for each block, has the encryption of each counter block, under
    /// every protocol.
    #[test]
    fn a_stream_in_pieces_is_the_stream() {
        use aes_gcm::aes::Aes128;
        use aes_gcm::aes::cipher::{BlockCipherEncrypt, KeyInit};
        let keys: [[u8; 16]; 3] = [[1; 16], [2; 16], *b"sixteen bytes in"];
        let parts = deal_all(&(0..16).map(|i| keys.iter().map(|key| key[i]).collect()).collect::<Vec<_>>());
        let n = 1024 + 512 + 7;
        let index: Vec<usize> = (0..n).map(|l| l * l % 3).collect();
        let counters = ctr::columns(&[0x5a; 16], 3, n);
        for protocol in Protocol::ALL {
            let opened = run(|trio| {
                let mine: &[Part] = &parts[trio.me().index()];
                let mut rep = Rep3::new(trio, *protocol, Security::Malicious);
                let key = mine.iter().map(|part| rep.trio().input(part)).collect::<Result<Vec<_>, _>>()?;
                let keys = expand(&mut rep, &key)?;
                assert_eq!(rep.protocol(), *protocol);
                let stream = ctr::pieced_keystream(&mut rep, &keys, Some(&index), &counters)?;
                let pending = rep.close(stream.to_vec());
                let verified = settle(&mut rep, pending)?;
                rep.trio().open(&verified)
            })
            .unwrap();
            for (l, k) in index.iter().enumerate() {
                let mut block = counters.each_ref().map(|column| column[l]).into();
                Aes128::new(&keys[*k].into()).encrypt_block(&mut block);
                assert!((0..16).all(|i| opened[0][i][l] == block[i]), "{protocol} {l}");
            }
        }
    }
}

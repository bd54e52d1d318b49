//! AES on the three-party engine: what of it depends on how S-boxes are computed.
//!
//! A key's schedule is made in the way that suits a short chain ([`Protocol::for_key_schedule`]), and
//! blocks go through the cipher so many at once that what they take with them fits the cache: the
//! one-hot vectors of a lookup are made ahead of its layers, for all rounds, and those of lut256 are 10
//! KB a block of AES-128, and as much again while they are made.

use crate::settle::close;
use divisi_core::{Abort, Direction, Lanes, Step, Verified, step};
use divisi_rep3::{Byte, Protocol, Rep3};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::mode::ctr;
use std::ops::Range;

const STREAM: Step = step!("stream");

/// How many blocks go through the cipher at once: with gf4-circuit a message of a step is 32 KiB then,
/// whose cost the arithmetic of the step exceeds, and what is owed to the verification stays below 16
/// MiB. With lut256 it is the vectors that count: 10 MB of them, at each of three parties that may share
/// a processor.
#[must_use]
pub fn blocks_at_once(protocol: Protocol) -> usize {
    match protocol {
        Protocol::Lut256 => 1024,
        _ => 4096,
    }
}

/// The round keys of keys, a lane each.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if `key` has not 16, 24 or 32 bytes, or their lanes
/// differ.
pub fn expand(rep: &mut Rep3, key: &[Byte]) -> Result<RoundKeys<Byte>, Abort> {
    with_schedule(rep, |rep| aes::expand(rep, key))
}

/// Do what is done once for a key.
pub(crate) fn with_schedule<R>(
    rep: &mut Rep3,
    f: impl FnOnce(&mut Rep3) -> Result<R, Abort>,
) -> Result<R, Abort> {
    rep.with_protocol(rep.protocol().for_key_schedule(), f)
}

/// The key stream of these counter blocks, as many at a time as suits the protocol. `keys` has the key
/// of all, or `index` tells which of its lanes is the key of each.
pub(crate) fn keystream(
    rep: &mut Rep3,
    keys: &RoundKeys<Byte>,
    index: Option<&[usize]>,
    counters: &[Vec<u8>; 16],
) -> Result<[Byte; 16], Abort> {
    let misfit = Abort::Misuse { step: STREAM, what: "blocks without a key" };
    let mut whole: Option<[Byte; 16]> = None;
    for Range { start, end } in pieces(counters[0].len(), blocks_at_once(rep.protocol())) {
        let columns = counters.each_ref().map(|column| column.get(start..end).unwrap_or_default().to_vec());
        let piece = match index {
            None => ctr::keystream(rep, keys, &columns)?,
            Some(index) => {
                let own = index.get(start..end).and_then(|index| keys.gather(index));
                ctr::keystream(rep, &own.ok_or_else(|| misfit.clone())?, &columns)?
            }
        };
        whole = Some(match whole {
            None => piece,
            Some(whole) => {
                let joined: Option<Vec<Byte>> = whole.iter().zip(&piece).map(|(x, y)| x.with(y)).collect();
                joined.and_then(|joined| joined.try_into().ok()).ok_or_else(|| misfit.clone())?
            }
        });
    }
    whole.ok_or(misfit)
}

/// Blocks through the cipher or its inverse, as many at a time as suits the protocol; what each piece
/// owes is verified with it. `keys` has the key of all, or one for each block.
pub(crate) fn through(
    rep: &mut Rep3,
    direction: Direction,
    keys: &RoundKeys<Byte>,
    blocks: &[Byte; 16],
) -> Result<Verified<[Byte; 16]>, Abort> {
    let misfit = Abort::Misuse { step: STREAM, what: "blocks and keys differ in number" };
    let mut whole: Option<[Byte; 16]> = None;
    for range in pieces(blocks[0].lanes(), blocks_at_once(rep.protocol())) {
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
        let piece = close(rep, piece)?.into_inner();
        whole = Some(match whole {
            None => piece,
            Some(whole) => {
                let joined: Option<Vec<Byte>> = whole.iter().zip(&piece).map(|(x, y)| x.with(y)).collect();
                joined.and_then(|joined| joined.try_into().ok()).ok_or_else(|| misfit.clone())?
            }
        });
    }
    close(rep, whole.ok_or(misfit)?)
}

/// `0..n` in pieces of `at_once`; a rest of less than half a piece goes with the last one, whose rounds
/// it shares.
fn pieces(n: usize, at_once: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let left = n - start;
        let now = if left < at_once + at_once / 2 { left } else { at_once };
        start += now;
        (now > 0).then(|| start - now..start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::settle;
    use divisi_rep3::local::{deal_all, run};
    use divisi_rep3::{Security, deal::Part};

    #[test]
    fn pieces_cover_all_and_a_small_rest_goes_with_the_last() {
        let lengths = |n| pieces(n, 512).map(|p| p.len()).collect::<Vec<_>>();
        assert_eq!(lengths(0), [0; 0]);
        assert_eq!(lengths(767), [767]);
        assert_eq!(lengths(768), [512, 256]);
        assert_eq!(lengths(4097), [512, 512, 512, 512, 512, 512, 512, 513]);
        for n in 1..3000 {
            let mut next = 0;
            for piece in pieces(n, 512) {
                assert!(piece.start == next && !piece.is_empty() && piece.len() < 768);
                next = piece.end;
            }
            assert_eq!(next, n);
        }
    }

    /// In pieces and with a key for each block it is what blocks one by one would give, under every protocol.
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
                let stream = keystream(&mut rep, &keys, Some(&index), &counters)?;
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

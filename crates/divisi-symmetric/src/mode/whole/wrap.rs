//! Key wrapping (SP 800-38F; KW is RFC 3394, KWP RFC 5649): keys under a key, without a nonce.
//!
//! The wrapped key is secret on its way in and on its way out: what a server sees is the ciphertext alone, and
//! of a ciphertext whether it is one. KWP keeps the length of what it wraps inside: one of eight lengths is
//! possible for a ciphertext, each is a claim of its own, and only the one that holds is told, with the text.
//!
//! Cost: six calls of the cipher for each semiblock of eight bytes, one after the other.

use super::lanes::{constant, lanes_of};
use super::{Undecided, misfit};
use crate::aes::RoundKeys;
use crate::batch::Engine;
use crate::mode::block::BlockCipher;
use divisi_core::{Abort, Direction};

/// ICV1 (SP 800-38F, 6.2).
const ICV1: [u8; 8] = [0xa6; 8];
/// ICV2 (6.3).
const ICV2: [u8; 4] = [0xa6, 0x59, 0x59, 0xa6];
/// A semiblock.
const HALF: usize = 8;
/// Steps of W for each semiblock.
const TIMES: usize = 6;

/// Which way of the cipher wraps: the standard allows its inverse (5.1).
fn turned(direction: Direction, inverse: bool) -> Direction {
    match (direction, inverse) {
        (Direction::Encrypt, false) | (Direction::Decrypt, true) => Direction::Encrypt,
        _ => Direction::Decrypt,
    }
}

/// Whether a key of so many bytes can be wrapped by KW: two semiblocks at least.
#[must_use]
pub fn kw_takes(bytes: usize) -> bool {
    bytes >= 2 * HALF && bytes.is_multiple_of(HALF) && u32::try_from(bytes).is_ok()
}

/// Whether a ciphertext can have so many bytes: of KW, and of KWP.
#[must_use]
pub fn unwraps(bytes: usize, padded: bool) -> bool {
    let least = if padded { 2 } else { 3 };
    bytes >= least * HALF && bytes.is_multiple_of(HALF) && u32::try_from(bytes).is_ok()
}

/// W (6.1, algorithm 1): semiblocks, the first of them the integrity value.
fn w<E: Engine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    direction: Direction,
    s: &[E::Byte],
    lanes: usize,
) -> Result<Vec<E::Byte>, Abort> {
    let (a, r) = s.split_at_checked(HALF).ok_or_else(|| misfit("three semiblocks"))?;
    let (mut a, mut r) = (a.to_vec(), r.to_vec());
    if r.len() < 2 * HALF || !r.len().is_multiple_of(HALF) {
        return Err(misfit("three semiblocks"));
    }
    for t in 1..=TIMES * (r.len() / HALF) {
        // step 2: A^t = MSB(CIPH(A || R_2)) + t, the R move up, R_n = LSB
        a.extend(r.drain(..HALF));
        let mut block = key.permute(e, direction, a)?;
        r.extend(block.split_off(HALF));
        a = block;
        count(e, &mut a, t, lanes)?;
    }
    a.extend(r);
    Ok(a)
}

/// W^-1 (6.1, algorithm 2).
fn w_inverse<E: Engine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    direction: Direction,
    c: &[E::Byte],
    lanes: usize,
) -> Result<Vec<E::Byte>, Abort> {
    let (a, r) = c.split_at_checked(HALF).ok_or_else(|| misfit("three semiblocks"))?;
    let (mut a, mut r) = (a.to_vec(), r.to_vec());
    if r.len() < 2 * HALF || !r.len().is_multiple_of(HALF) {
        return Err(misfit("three semiblocks"));
    }
    for t in (1..=TIMES * (r.len() / HALF)).rev() {
        count(e, &mut a, t, lanes)?;
        a.extend(r.split_off(r.len() - HALF));
        let mut block = key.permute(e, direction, a)?;
        let mut rest = block.split_off(HALF);
        a = block;
        rest.append(&mut r);
        r = rest;
    }
    a.extend(r);
    Ok(a)
}

/// `a += [t]_64`.
fn count<E: Engine>(e: &mut E, a: &mut [E::Byte], t: usize, lanes: usize) -> Result<(), Abort> {
    for (byte, t) in a.iter_mut().zip((t as u64).to_be_bytes()).filter(|(_, t)| *t != 0) {
        e.add_public(byte, &vec![t; lanes])?;
    }
    Ok(())
}

/// KW (6.2, algorithm 3) of keys, a lane each.
///
/// # Errors
/// Whatever ends the session; [`Abort::Misuse`] for a key that is no two semiblocks or more.
pub fn kw<E: Engine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    inverse: bool,
    text: &[E::Byte],
) -> Result<Vec<E::Byte>, Abort> {
    let lanes = lanes_of(&[text])?;
    let mut s = constant(e, &ICV1, lanes);
    s.extend_from_slice(text);
    w(e, key, turned(Direction::Encrypt, inverse), &s, lanes)
}

/// KW backwards (algorithm 4).
///
/// # Errors
/// Whatever ends the session; [`Abort::Misuse`] for what is no three semiblocks or more.
pub fn kw_open<E: Engine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    inverse: bool,
    ciphertext: &[E::Byte],
) -> Result<Undecided<E>, Abort> {
    let lanes = lanes_of(&[ciphertext])?;
    let mut s = w_inverse(e, key, turned(Direction::Decrypt, inverse), ciphertext, lanes)?;
    let text = s.split_off(HALF);
    for (byte, icv) in s.iter_mut().zip(ICV1) {
        e.add_public(byte, &vec![icv; lanes])?;
    }
    Undecided::new(e, lanes, text, vec![s])
}

/// The integrity value of KWP for a text of so many bytes.
fn aiv(bytes: usize) -> Result<[u8; HALF], Abort> {
    let bytes = u32::try_from(bytes).map_err(|_| misfit("fewer than 2^32 bytes"))?;
    let mut aiv = [0; HALF];
    aiv[..4].copy_from_slice(&ICV2);
    aiv[4..].copy_from_slice(&bytes.to_be_bytes());
    Ok(aiv)
}

/// KWP (6.3, algorithm 5) of texts of a byte or more, a lane each.
///
/// # Errors
/// Whatever ends the session; [`Abort::Misuse`] for texts of no bytes.
pub fn kwp<E: Engine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    inverse: bool,
    text: &[E::Byte],
) -> Result<Vec<E::Byte>, Abort> {
    let lanes = lanes_of(&[text])?;
    let mut s = constant(e, &aiv(text.len())?, lanes);
    s.extend_from_slice(text);
    s.extend(constant(e, &vec![0; text.len().next_multiple_of(HALF) - text.len()], lanes));
    let direction = turned(Direction::Encrypt, inverse);
    if s.len() == 2 * HALF { key.permute(e, direction, s) } else { w(e, key, direction, &s, lanes) }
}

/// KWP backwards (algorithm 6). Claim `p` is that the last `p` bytes are no part of the text: the length inside
/// says so, and they are zero.
///
/// # Errors
/// Whatever ends the session; [`Abort::Misuse`] for what is no two semiblocks or more.
pub fn kwp_open<E: Engine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    inverse: bool,
    ciphertext: &[E::Byte],
) -> Result<Undecided<E>, Abort> {
    let lanes = lanes_of(&[ciphertext])?;
    let direction = turned(Direction::Decrypt, inverse);
    let mut s = if ciphertext.len() == 2 * HALF {
        key.permute(e, direction, ciphertext.to_vec())?
    } else {
        w_inverse(e, key, direction, ciphertext, lanes)?
    };
    let text = s.split_off(HALF);
    let mut claims = Vec::with_capacity(HALF);
    for p in 0..HALF {
        let mut claim = s.clone();
        for (byte, aiv) in claim.iter_mut().zip(aiv(text.len() - p)?) {
            e.add_public(byte, &vec![aiv; lanes])?;
        }
        claim.extend(text.iter().rev().take(p).cloned());
        claims.push(claim);
    }
    Undecided::new(e, lanes, text, claims)
}

//! Key wrapping (SP 800-38F; KW is RFC 3394, KWP is RFC 5649): encryption of keys, without a nonce.
//!
//! The wrapped key stays secret when it is wrapped and when it is unwrapped. A server sees only the
//! ciphertext, and whether that is valid. KWP has the length of the wrapped key inside. For a given
//! ciphertext eight lengths are possible; each is a claim of its own, and only the claim that holds is
//! revealed, with the message.
//!
//! Cost: six calls of the cipher for each semiblock of eight bytes, one after the other.

use super::lanes::{constant, lanes_of};
use super::{Undecided, misfit};
use crate::aes::RoundKeys;
use crate::engines::BitEngine;
use crate::mode::block::BlockCipher;
use divisi_core::{Abort, Direction, Lanes, Misuse};

/// ICV1 (SP 800-38F, 6.2).
const ICV1: [u8; 8] = [0xa6; 8];
/// ICV2 (6.3).
const ICV2: [u8; 4] = [0xa6, 0x59, 0x59, 0xa6];
/// The length of a semiblock in bytes.
const HALF: usize = 8;
/// How many steps W has for each semiblock.
const TIMES: usize = 6;

/// The direction in which the cipher is used. With `inverse`, wrapping uses the inverse cipher, which the
/// standard also allows (5.1).
fn turned(direction: Direction, inverse: bool) -> Direction {
    match (direction, inverse) {
        (Direction::Encrypt, false) | (Direction::Decrypt, true) => Direction::Encrypt,
        _ => Direction::Decrypt,
    }
}

/// Whether KW can wrap a key of this many bytes: at least two semiblocks.
#[must_use]
pub fn kw_takes(bytes: usize) -> bool {
    bytes >= 2 * HALF && bytes.is_multiple_of(HALF) && u32::try_from(bytes).is_ok()
}

/// Whether this can be the length of a ciphertext in bytes: of KWP if `padded`, else of KW.
#[must_use]
pub fn unwraps(bytes: usize, padded: bool) -> bool {
    let least = if padded { 2 } else { 3 };
    bytes >= least * HALF && bytes.is_multiple_of(HALF) && u32::try_from(bytes).is_ok()
}

/// KW or KWP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a standard has these and no others")]
pub enum WrapForm {
    /// KW.
    Kw,
    /// KWP.
    Kwp,
}

/// What is public about a wrapping: all but its value, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrapShape {
    form: WrapForm,
    direction: Direction,
    inverse: bool,
    done: usize,
}

/// Keys that are being wrapped or unwrapped, one in each lane: W (6.1, algorithms 1 and 2), a few calls of
/// the cipher at a time.
pub struct Wrapping<B> {
    form: WrapForm,
    direction: Direction,
    inverse: bool,
    lanes: usize,
    a: Vec<B>,
    r: Vec<B>,
    /// How many calls have been made.
    done: usize,
}

impl<B: Clone + Lanes> Wrapping<B> {
    /// Begins with a key to be wrapped, or with a ciphertext. With `inverse`, wrapping uses the inverse
    /// cipher.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the form does not [allow](kw_takes) the length.
    pub fn new<E: BitEngine<Byte = B>>(
        e: &mut E,
        form: WrapForm,
        direction: Direction,
        inverse: bool,
        message: &[B],
    ) -> Result<Self, Abort> {
        let lanes = lanes_of(&[message])?;
        let encrypts = direction == Direction::Encrypt;
        let takes = match form {
            WrapForm::Kw if encrypts => kw_takes(message.len()),
            WrapForm::Kwp if encrypts => !message.is_empty(),
            _ => unwraps(message.len(), form == WrapForm::Kwp),
        };
        if !takes {
            return Err(misfit(Misuse::LengthUnsupported));
        }
        let mut s = match (form, encrypts) {
            (WrapForm::Kw, true) => constant(e, &ICV1, lanes),
            (WrapForm::Kwp, true) => constant(e, &aiv(message.len())?, lanes),
            _ => Vec::new(),
        };
        s.extend_from_slice(message);
        s.extend(constant(e, &vec![0; message.len().next_multiple_of(HALF) - message.len()], lanes));
        let r = s.split_off(HALF);
        Ok(Wrapping { form, direction, inverse, lanes, a: s, r, done: 0 })
    }

    /// What is public about it.
    pub(crate) fn shape(&self) -> WrapShape {
        let Wrapping { form, direction, inverse, done, .. } = *self;
        WrapShape { form, direction, inverse, done }
    }

    /// Its value: A, then R.
    pub(crate) fn value(&self) -> Vec<B> {
        [&self.a[..], &self.r].concat()
    }

    /// A wrapping of one message with this shape and value.
    pub(crate) fn resumed(shape: WrapShape, mut value: Vec<B>) -> Self {
        let WrapShape { form, direction, inverse, done } = shape;
        let r = value.split_off(HALF.min(value.len()));
        Wrapping { form, direction, inverse, lanes: 1, a: value, r, done }
    }

    /// Sets the value after `calls` calls that were made outside, or as many as were left.
    pub(crate) fn advance(&mut self, mut value: Vec<B>, calls: usize) {
        self.r = value.split_off(HALF.min(value.len()));
        self.a = value;
        self.done = self.calls().min(self.done.saturating_add(calls));
    }

    /// How many calls there are: one if the key has one semiblock (KWP only), otherwise six for each
    /// semiblock of the key.
    fn calls(&self) -> usize {
        let n = self.r.len() / HALF;
        if n == 1 { 1 } else { TIMES * n }
    }

    /// Whether all calls have been made.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done >= self.calls()
    }

    /// Makes `calls` calls, or as many as are left.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn go_on<E: BitEngine<Byte = B>>(
        &mut self,
        e: &mut E,
        key: &RoundKeys<B>,
        calls: usize,
    ) -> Result<(), Abort> {
        let encrypts = self.direction == Direction::Encrypt;
        let cipher = turned(self.direction, self.inverse);
        let all = self.calls();
        for _ in 0..calls.min(all - self.done) {
            let mut a = std::mem::take(&mut self.a);
            if all == 1 {
                a.append(&mut self.r);
                let mut block = key.permute(e, cipher, a)?;
                self.r = block.split_off(HALF);
                self.a = block;
            } else if encrypts {
                // algorithm 1: A^t = MSB(CIPH(A || R_2)) + t, the R are shifted, R_n = LSB
                a.extend(self.r.drain(..HALF));
                let mut block = key.permute(e, cipher, a)?;
                self.r.extend(block.split_off(HALF));
                self.a = block;
                count(e, &mut self.a, self.done + 1, self.lanes)?;
            } else {
                // algorithm 2: the same in reverse order
                count(e, &mut a, all - self.done, self.lanes)?;
                a.extend(self.r.split_off(self.r.len() - HALF));
                let mut block = key.permute(e, cipher, a)?;
                let mut r = block.split_off(HALF);
                r.append(&mut self.r);
                self.r = r;
                self.a = block;
            }
            self.done += 1;
        }
        Ok(())
    }

    /// The ciphertext, after all calls.
    #[must_use]
    pub fn wrapped(mut self) -> Vec<B> {
        self.a.append(&mut self.r);
        self.a
    }

    /// The unwrapped key, after all calls. Claim `p` of KWP says that the last `p` bytes are padding: the
    /// length inside agrees, and they are zero.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn unwrapped<E: BitEngine<Byte = B>>(self, e: &mut E) -> Result<Undecided<E>, Abort> {
        let Wrapping { form, lanes, a, r, .. } = self;
        let mut claims = Vec::with_capacity(HALF);
        for p in 0..if form == WrapForm::Kw { 1 } else { HALF } {
            let value = if form == WrapForm::Kw { ICV1 } else { aiv(r.len() - p)? };
            let mut claim = a.clone();
            for (byte, value) in claim.iter_mut().zip(value) {
                e.add_public(byte, &vec![value; lanes])?;
            }
            claim.extend(r.iter().rev().take(p).cloned());
            claims.push(claim);
        }
        Undecided::new(e, lanes, r, claims)
    }
}

/// `a += [t]_64`.
fn count<E: BitEngine>(e: &mut E, a: &mut [E::Byte], t: usize, lanes: usize) -> Result<(), Abort> {
    for (byte, t) in a.iter_mut().zip((t as u64).to_be_bytes()).filter(|(_, t)| *t != 0) {
        e.add_public(byte, &vec![t; lanes])?;
    }
    Ok(())
}

/// KWP's integrity value for a key of this many bytes.
fn aiv(bytes: usize) -> Result<[u8; HALF], Abort> {
    let bytes = u32::try_from(bytes).map_err(|_| misfit(Misuse::TooLarge))?;
    let mut aiv = [0; HALF];
    aiv[..4].copy_from_slice(&ICV2);
    aiv[4..].copy_from_slice(&bytes.to_be_bytes());
    Ok(aiv)
}

/// Wraps keys, one in each lane: algorithm 3 or 5.
///
/// # Errors
/// The errors of [`Wrapping::new`].
pub fn wrap<E: BitEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    form: WrapForm,
    inverse: bool,
    message: &[E::Byte],
) -> Result<Vec<E::Byte>, Abort> {
    let mut wrapping = Wrapping::new(e, form, Direction::Encrypt, inverse, message)?;
    wrapping.go_on(e, key, usize::MAX)?;
    Ok(wrapping.wrapped())
}

/// Unwraps keys, one in each lane: algorithm 4 or 6.
///
/// # Errors
/// The errors of [`Wrapping::new`].
pub fn unwrap<E: BitEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    form: WrapForm,
    inverse: bool,
    ciphertext: &[E::Byte],
) -> Result<Undecided<E>, Abort> {
    let mut wrapping = Wrapping::new(e, form, Direction::Decrypt, inverse, ciphertext)?;
    wrapping.go_on(e, key, usize::MAX)?;
    wrapping.unwrapped(e)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{Plain, PlainByte};

    /// SP 800-38F, 5.3.1: a key to wrap has two semiblocks or more, and for KWP any bytes; a ciphertext has
    /// three semiblocks or more, and of KWP two.
    #[test]
    fn each_form_takes_its_lengths() {
        for bytes in 0..50 {
            let whole = bytes % 8 == 0;
            for (form, direction, takes) in [
                (WrapForm::Kw, Direction::Encrypt, whole && bytes >= 16),
                (WrapForm::Kw, Direction::Decrypt, whole && bytes >= 24),
                (WrapForm::Kwp, Direction::Encrypt, bytes > 0),
                (WrapForm::Kwp, Direction::Decrypt, whole && bytes >= 16),
            ] {
                let message = vec![PlainByte::new(vec![1]); bytes];
                let begun = Wrapping::new(&mut Plain, form, direction, false, &message);
                assert_eq!(begun.is_ok(), takes, "{form:?} {direction:?} {bytes}");
            }
        }
    }

    /// The number of a step is added whole, however many there are.
    #[test]
    fn numbers_of_steps_are_whole() {
        for t in [1_u64, 255, 256, 4095, 4096, 65_535, 65_536, (1 << 24) + 5, (1 << 32) + 7] {
            let mut a = [0xa6; HALF].map(|byte| PlainByte::new(vec![byte]));
            count(&mut Plain, &mut a, t as usize, 1).unwrap();
            let a = a.map(|byte| byte.values()[0]);
            assert_eq!(u64::from_be_bytes(a) ^ u64::from_be_bytes(ICV1), t);
        }
    }

    /// Of the claims of KWP one holds if all before the key is right and all after it is zero, else none.
    #[test]
    fn each_byte_beside_the_key_counts() {
        let unwrapped = |value: &[u8]| {
            let value: Vec<PlainByte> = value.iter().map(|byte| PlainByte::new(vec![*byte])).collect();
            let decrypt = Direction::Decrypt;
            let mut wrapping = Wrapping::new(&mut Plain, WrapForm::Kwp, decrypt, false, &value).unwrap();
            wrapping.advance(value, usize::MAX);
            let released = wrapping.unwrapped(&mut Plain).unwrap().release_one(&mut Plain).unwrap();
            released.map(|key| key.get().len())
        };
        for (halves, padding) in (1..4).flat_map(|halves| (0..HALF).map(move |padding| (halves, padding))) {
            let key = HALF * halves - padding;
            let value = [&aiv(key).unwrap()[..], &vec![7; key], &vec![0; padding]].concat();
            assert_eq!(unwrapped(&value), Some(key));
            for at in (0..HALF).chain(HALF + key..value.len()) {
                let mut other = value.clone();
                other[at] ^= 0x80;
                assert_eq!(unwrapped(&other), None, "{key} bytes, {padding} behind them, byte {at}");
            }
            // two that are alike do not make up for each other
            for at in HALF + key + 1..value.len() {
                let mut other = value.clone();
                (other[at - 1], other[at]) = (3, 3);
                assert_eq!(unwrapped(&other), None, "{key} bytes, {padding} behind them, byte {at}");
            }
        }
    }
}

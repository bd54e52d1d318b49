//! SIV (RFC 5297): a tag of the associated data and the message is the IV of the encryption.
//!
//! **What repetition reveals.** Equal keys, associated data and messages give equal ciphertexts: this is
//! deterministic encryption. Different messages give unrelated IVs. The servers see the IV before the
//! ciphertext; the client receives both.

use super::lanes::{add, constant, count, lanes_of, masked, public, stream, with_highest};
use super::{Releases, Undecided, misfit};
use crate::aes::{RoundKeys, expand};
use crate::engines::BitEngine;
use crate::mode::cmac::{self, Doubles};
use divisi_core::{Abort, Lanes, Misuse};

/// A key that is ready for use: K1 authenticates, K2 encrypts (2.2).
pub struct SivKey<E: BitEngine> {
    mac: cmac::CmacKey<E, RoundKeys<E::Byte>>,
    cipher: RoundKeys<E::Byte>,
}

impl<E: BitEngine> SivKey<E> {
    /// From the bytes of both keys, of 16, 24 or 32 bytes each.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the key has another length.
    pub fn new(e: &mut E, key: &[E::Byte]) -> Result<Self, Abort> {
        let (k1, k2) = key.split_at(key.len() / 2);
        let [k1, k2] = [expand(e, k1)?, expand(e, k2)?];
        SivKey::from_round_keys(e, k1, k2)
    }

    /// From round keys.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn from_round_keys(
        e: &mut E,
        mac: RoundKeys<E::Byte>,
        cipher: RoundKeys<E::Byte>,
    ) -> Result<Self, Abort> {
        Ok(SivKey { mac: cmac::CmacKey::new(e, mac)?, cipher })
    }

    fn tag(&self, e: &mut E, lanes: usize, message: &[E::Byte]) -> Result<Vec<E::Byte>, Abort> {
        self.mac.tag(e, lanes, message)
    }

    /// S2V (2.4) of public strings followed by the message. `strings` has for each string a list of rows, one
    /// for each message.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn s2v(
        &self,
        e: &mut E,
        lanes: usize,
        strings: &[Vec<Vec<u8>>],
        message: &[E::Byte],
    ) -> Result<Vec<E::Byte>, Abort> {
        let mut chaining = self.s2v_begin(e, lanes, strings, message)?;
        self.s2v_go_on(e, &mut chaining, usize::MAX)?;
        Ok(chaining.tag())
    }

    /// Continues S2V by `blocks` blocks.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn s2v_go_on(
        &self,
        e: &mut E,
        chaining: &mut cmac::Chaining<E::Byte>,
        blocks: usize,
    ) -> Result<(), Abort> {
        self.mac.go_on(e, chaining, blocks)
    }

    /// Begins S2V: computes everything but the last CMAC, which can be continued a few blocks at a time.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn s2v_begin(
        &self,
        e: &mut E,
        lanes: usize,
        strings: &[Vec<Vec<u8>>],
        message: &[E::Byte],
    ) -> Result<cmac::Chaining<E::Byte>, Abort> {
        let strings: Vec<Vec<E::Byte>> =
            strings.iter().map(|rows| public(e, rows)).collect::<Result<_, _>>()?;
        self.s2v_of(e, lanes, &strings, message)
    }

    /// The same for strings that may be shared.
    pub(crate) fn s2v_of(
        &self,
        e: &mut E,
        lanes: usize,
        strings: &[Vec<E::Byte>],
        message: &[E::Byte],
    ) -> Result<cmac::Chaining<E::Byte>, Abort> {
        let zeros = constant(e, &[0; 16], lanes);
        let mut d = self.tag(e, lanes, &zeros)?;
        for string in strings {
            let tag = self.tag(e, lanes, string)?;
            d = RoundKeys::<E::Byte>::double(e, d)?;
            add(e, &mut d, &tag)?;
        }
        let t = if let Some(before) = message.len().checked_sub(16) {
            // Sn xorend D
            let mut t = message.to_vec();
            add(e, t.get_mut(before..).unwrap_or_default(), &d)?;
            t
        } else {
            // dbl(D) + pad(Sn)
            let mut t = RoundKeys::<E::Byte>::double(e, d)?;
            add(e, &mut t, message)?;
            let first = t.get_mut(message.len()).ok_or_else(|| misfit(Misuse::BlockLength))?;
            e.add_public(first, &vec![0x80; lanes])?;
            t
        };
        self.mac.begin(e, lanes, &t)
    }

    /// The key stream of public synthetic IVs (2.5).
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn stream(&self, e: &mut E, ivs: &[[u8; 16]], bytes: usize) -> Result<Vec<E::Byte>, Abort> {
        let counters: Vec<Vec<[u8; 16]>> = ivs.iter().map(|iv| counters(*iv, bytes.div_ceil(16))).collect();
        stream(e, &self.cipher, &counters, bytes)
    }

    /// Encrypts (2.6): returns the IVs, which all parties learn, and the ciphertexts, still shared.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if lanes do not fit.
    pub fn seal(
        &self,
        e: &mut E,
        lanes: usize,
        strings: &[Vec<Vec<u8>>],
        message: &[E::Byte],
    ) -> Result<(Vec<[u8; 16]>, Vec<E::Byte>), Abort>
    where
        E: Releases,
    {
        let v = self.s2v(e, lanes, strings, message)?;
        let ivs = rows(&e.reveal(v)?, lanes)?;
        let mut ciphertext = self.stream(e, &ivs, message.len())?;
        add(e, &mut ciphertext, message)?;
        Ok((ivs, ciphertext))
    }

    /// Encrypts one message without opening anything, for circuits: returns the IV and the ciphertext, both
    /// shared.
    ///
    /// Cost: that of [`SivKey::seal`], and an adder of 32 bits a block.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if there is more than one lane.
    pub fn seal_shared(
        &self,
        e: &mut E,
        strings: &[Vec<Vec<u8>>],
        message: &[E::Byte],
    ) -> Result<(Vec<E::Byte>, Vec<E::Byte>), Abort> {
        let v = self.s2v(e, 1, strings, message)?;
        let mut first = v.clone();
        // with these two bits zero, no counter carries out of the lowest word of 32 bits
        for i in [8, 12] {
            if let Some(byte) = first.get_mut(i) {
                *byte = with_highest(e, byte, false)?;
            }
        }
        let counters = count(e, first, message.len())?;
        let mut ciphertext = masked(e, &self.cipher, counters, message.len())?;
        add(e, &mut ciphertext, message)?;
        Ok((v, ciphertext))
    }

    /// Decrypts (2.7) public ciphertexts, one in each row, with the received IVs.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if rows have different lengths.
    pub fn open(
        &self,
        e: &mut E,
        strings: &[Vec<Vec<u8>>],
        ivs: &[[u8; 16]],
        ciphertext: &[Vec<u8>],
    ) -> Result<Undecided<E>, Abort> {
        let lanes = ivs.len();
        let mut message = self.stream(e, ivs, ciphertext.first().map_or(0, Vec::len))?;
        let known = public(e, ciphertext)?;
        add(e, &mut message, &known)?;
        if !message.is_empty() && lanes_of(&[&message])? != lanes {
            return Err(misfit(Misuse::CountsDiffer));
        }
        let tag = self.s2v(e, lanes, strings, &message)?;
        self.undecided(e, ivs, message, tag)
    }

    /// Decrypted messages with their received IVs and the computed tags.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lanes do not fit.
    pub fn undecided(
        &self,
        e: &mut E,
        ivs: &[[u8; 16]],
        message: Vec<E::Byte>,
        tag: Vec<E::Byte>,
    ) -> Result<Undecided<E>, Abort> {
        undecided(e, ivs, message, tag)
    }
}

/// [`SivKey::undecided`], which needs no key.
///
/// # Errors
/// [`Abort::Misuse`] if the lanes do not fit.
pub fn undecided<E: BitEngine>(
    e: &mut E,
    ivs: &[[u8; 16]],
    message: Vec<E::Byte>,
    tag: Vec<E::Byte>,
) -> Result<Undecided<E>, Abort> {
    let mut difference = tag;
    let received = public(e, &ivs.iter().map(|iv| iv.to_vec()).collect::<Vec<_>>())?;
    add(e, &mut difference, &received)?;
    Undecided::new(e, ivs.len(), message, vec![difference])
}

/// The first `bytes` bytes of one message, whose block `b` is lane `b` of these bytes.
pub(crate) fn in_order<B: Lanes>(blocks: &[B], bytes: usize) -> Result<Vec<B>, Abort> {
    let byte = |at: usize| blocks.get(at % 16)?.gather(&[at / 16]);
    (0..bytes).map(byte).collect::<Option<Vec<B>>>().ok_or_else(|| misfit(Misuse::CountsDiffer))
}

/// Opened columns, as a block for each message.
pub(super) fn rows(columns: &[Vec<u8>], lanes: usize) -> Result<Vec<[u8; 16]>, Abort> {
    let byte = |l: usize, i: usize| columns.get(i).and_then(|column| column.get(l)).copied();
    let row = |l: usize| (0..16).map(|i| byte(l, i)).collect::<Option<Vec<u8>>>();
    let rows: Option<Vec<[u8; 16]>> = (0..lanes).map(|l| row(l)?.try_into().ok()).collect();
    rows.ok_or_else(|| misfit(Misuse::CountsDiffer))
}

/// The counter blocks of an IV (2.5): two of its bits are cleared, so that a counter of 32 or of 64 bits has
/// no carry.
pub(crate) fn counters(mut iv: [u8; 16], n: usize) -> Vec<[u8; 16]> {
    iv[8] &= 0x7f;
    iv[12] &= 0x7f;
    let first = u128::from_be_bytes(iv);
    (0..n as u128).map(|i| first.wrapping_add(i).to_be_bytes()).collect()
}

impl<E: BitEngine> SivKey<E> {
    /// How many keys there are.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.cipher.lanes()
    }
}

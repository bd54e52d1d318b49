//! GCM of a text that is in memory, on any engine that opens bytes and compares blocks.

use super::{Lengths, TagLength, hash, hash_key, j0, tag, tag_masks};
use crate::aes::{self, RoundKeys};
use crate::mode::ctr;
use crate::mode::ghash::{Powers, Steps};
use divisi_core::{Abort, Blocks, Bytes, Compares, Convert, Lanes, Opens, Step, Verified, step};

const WHOLE: Step = step!("gcm");

/// What sealing and opening need of an engine.
pub trait GcmEngine:
    Bytes
    + Blocks
    + Convert<[<Self as Bytes>::Byte; 16], <Self as Blocks>::Block>
    + Convert<<Self as Blocks>::Block, [<Self as Bytes>::Byte; 16]>
    + Opens<Vec<<Self as Bytes>::Byte>, Public = Vec<Vec<u8>>>
    + Compares<<Self as Blocks>::Block>
{
}

impl<E> GcmEngine for E where
    E: Bytes
        + Blocks
        + Convert<[<E as Bytes>::Byte; 16], <E as Blocks>::Block>
        + Convert<<E as Blocks>::Block, [<E as Bytes>::Byte; 16]>
        + Opens<Vec<<E as Bytes>::Byte>, Public = Vec<Vec<u8>>>
        + Compares<<E as Blocks>::Block>
{
}

/// A key ready for use: the cipher's, and the hash key.
pub struct TextsKey<E: GcmEngine> {
    round_keys: RoundKeys<E::Byte>,
    h: E::Block,
    steps: Steps,
}

/// How many blocks of a text of so many bytes have a byte at place `i`: the lanes of column `i`.
#[must_use]
pub fn lanes_at(bytes: usize, i: usize) -> usize {
    (bytes + 15).saturating_sub(i) / 16
}

impl<E: GcmEngine> TextsKey<E> {
    /// A key of one lane. What it leaves is settled here, once.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn new(e: &mut E, round_keys: RoundKeys<E::Byte>, steps: Steps) -> Result<Self, Abort> {
        let h = hash_key(e, &round_keys)?;
        let (round_keys, h) = e.settled((round_keys, h))?.into_inner();
        Ok(TextsKey { round_keys, h, steps })
    }

    /// Encrypt a text, whose column `i` has a lane for each block with a byte at place `i` ([`lanes_at`]):
    /// the ciphertext and the whole tag (SP 800-38D, algorithm 4), which all parties learn, the ciphertext
    /// before the tag is made.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for columns that are no text, or are longer than
    /// GCM allows.
    pub fn seal(
        &self,
        e: &mut E,
        iv: &[u8; 12],
        aad: &[u8],
        text: Vec<E::Byte>,
    ) -> Result<(Vec<u8>, [u8; 16]), Abort> {
        self.seal_from(e, &from_nonce::<E>(iv), aad, text)
    }

    /// [`seal`](TextsKey::seal) from counter blocks of the caller's, which may be secret.
    ///
    /// # Errors
    /// As [`seal`](TextsKey::seal), and those of `counters`.
    pub fn seal_from(
        &self,
        e: &mut E,
        counters: &Counters<'_, E>,
        aad: &[u8],
        text: Vec<E::Byte>,
    ) -> Result<(Vec<u8>, [u8; 16]), Abort> {
        let bytes = text.iter().map(Lanes::lanes).sum();
        let (mut stream, mask) = self.stream(e, counters, bytes)?;
        if text.len() != stream.len() || text.iter().zip(&stream).any(|(x, y)| x.lanes() != y.lanes()) {
            return Err(misuse("columns that are not those of a text"));
        }
        for (stream, text) in stream.iter_mut().zip(&text) {
            e.add(stream, text)?;
        }
        // verified together: what one value owes goes with all that was made until then
        let (stream, mask) = e.settled((stream, mask))?.split();
        let opened = e.open(stream)?;
        let ciphertext = interleaved(&opened, bytes)?;
        let block = self.tag(e, aad, &ciphertext, mask.get())?;
        let tag: [E::Byte; 16] = e.convert(block)?;
        let opened = e.reveal(tag.into())?;
        let tag = interleaved(&opened, 16)?.try_into().map_err(|_| misuse("a tag of 16 bytes"))?;
        Ok((ciphertext, tag))
    }

    /// Decrypt a ciphertext (algorithm 5): the columns of the plaintext, verified, if the tag is right; else
    /// nothing is made of it. Whether it is right is all that is told: the difference of the tags is not
    /// opened \[A23\].
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for a text that is longer than GCM allows, or a tag
    /// that is no tag.
    pub fn open(
        &self,
        e: &mut E,
        iv: &[u8; 12],
        aad: &[u8],
        ciphertext: &[u8],
        received: &[u8],
    ) -> Result<Option<Verified<Vec<E::Byte>>>, Abort> {
        self.open_from(e, &from_nonce::<E>(iv), aad, ciphertext, received)
    }

    /// [`open`](TextsKey::open) from counter blocks of the caller's, which may be secret.
    ///
    /// # Errors
    /// As [`open`](TextsKey::open), and those of `counters`.
    pub fn open_from(
        &self,
        e: &mut E,
        counters: &Counters<'_, E>,
        aad: &[u8],
        ciphertext: &[u8],
        received: &[u8],
    ) -> Result<Option<Verified<Vec<E::Byte>>>, Abort> {
        let size = TagLength::from_bits_even_short(8 * received.len())
            .map_err(|_| misuse("a tag of another length"))?;
        let element = size.element(received).ok_or_else(|| misuse("a tag of another length"))?;
        let (_, mask) = self.stream(e, counters, 0)?;
        let mut difference = self.tag(e, aad, ciphertext, &mask)?;
        e.add_public_block(&mut difference, &[element])?;
        if received.len() < 16 {
            let mut bytes: [E::Byte; 16] = e.convert(difference)?;
            for byte in bytes.iter_mut().skip(received.len()) {
                *byte = e.public(&[0]);
            }
            difference = e.convert(bytes)?;
        }
        if e.vanish(&[difference])? != [true] {
            return Ok(None);
        }
        let (mut stream, _) = self.stream(e, counters, ciphertext.len())?;
        for (i, byte) in stream.iter_mut().enumerate() {
            let column: Vec<u8> = ciphertext.iter().skip(i).step_by(16).copied().collect();
            if !column.is_empty() {
                e.add_public(byte, &column)?;
            }
        }
        e.settled(stream).map(Some)
    }

    /// The powers of the hash key that a string of so many blocks takes.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn powers(&self, e: &mut E, blocks: u64) -> Result<Powers<E::Block>, Abort> {
        Powers::new(e, &self.h, self.steps, blocks)
    }

    /// The key stream of so many bytes, no byte more, and what masks the tag.
    fn stream(
        &self,
        e: &mut E,
        counters: &Counters<'_, E>,
        bytes: usize,
    ) -> Result<(Vec<E::Byte>, E::Block), Abort> {
        let mut all = counters(e, 1 + bytes.div_ceil(16))?;
        aes::encrypt(e, &self.round_keys, &mut all)?;
        let mask = tag_masks(e, &all, &[0])?;
        let cut =
            |(i, byte): (usize, &E::Byte)| byte.gather(&(1..1 + lanes_at(bytes, i)).collect::<Vec<_>>());
        let stream: Option<Vec<E::Byte>> = all.iter().enumerate().map(cut).collect();
        Ok((stream.ok_or_else(|| misuse("not one key stream byte for each byte"))?, mask))
    }

    fn tag(&self, e: &mut E, aad: &[u8], ciphertext: &[u8], mask: &E::Block) -> Result<E::Block, Abort> {
        let lengths = Lengths::new(aad.len() as u64, ciphertext.len() as u64);
        let lengths = lengths.map_err(|_| misuse("a message that is longer than GCM allows"))?;
        let powers = Powers::new(e, &self.h, self.steps, lengths.hash_blocks())?;
        let ghash = hash(e, &powers, aad, ciphertext)?;
        tag(e, ghash, mask)
    }
}

/// So many counter blocks from the first one on, which masks the tag: a lane each.
pub type Counters<'c, E> = dyn Fn(&mut E, usize) -> Result<[<E as Bytes>::Byte; 16], Abort> + 'c;

/// The public counter blocks of an IV of 96 bits.
fn from_nonce<E: GcmEngine>(
    iv: &[u8; 12],
) -> impl Fn(&mut E, usize) -> Result<[E::Byte; 16], Abort> + use<E> {
    let j0 = j0(iv);
    move |e, n| Ok(ctr::columns(&j0, 0, n).each_ref().map(|column| e.public(column)))
}

/// A text back from its columns.
///
/// # Errors
/// [`Abort::Misuse`] if they hold fewer bytes.
pub fn interleaved(columns: &[Vec<u8>], bytes: usize) -> Result<Vec<u8>, Abort> {
    let byte = |at: usize| columns.get(at % 16).and_then(|column| column.get(at / 16)).copied();
    (0..bytes).map(byte).collect::<Option<_>>().ok_or_else(|| misuse("columns that are not those of a text"))
}

fn misuse(what: &'static str) -> Abort {
    Abort::Misuse { step: WHOLE, what }
}

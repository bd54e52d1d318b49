//! GCM of a text in memory, on any engine that can open bytes and compare blocks.

use super::{Lengths, TagLength, hash, hash_key, j0, tag, tag_masks};
use crate::aes::{self, RoundKeys};
use crate::mode::ctr;
use crate::mode::ghash::{Powers, Steps};
use divisi_core::{Abort, Blocks, Bytes, Compares, Convert, Lanes, Opens, Step, Verified, step};

const WHOLE: Step = step!("gcm");

/// The operations of an engine that encryption and decryption need.
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

/// A key that is ready for use: round keys, and the hash key.
pub struct TextsKey<E: GcmEngine> {
    round_keys: RoundKeys<E::Byte>,
    h: E::Block,
    steps: Steps,
}

/// How many blocks of a text of this many bytes have a byte at position `i`: the number of lanes of column
/// `i`.
#[must_use]
pub fn lanes_at(bytes: usize, i: usize) -> usize {
    (bytes + 15).saturating_sub(i) / 16
}

impl<E: GcmEngine> TextsKey<E> {
    /// A key with one lane. Its computation is verified here, once.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn new(e: &mut E, round_keys: RoundKeys<E::Byte>, steps: Steps) -> Result<Self, Abort> {
        let h = hash_key(e, &round_keys)?;
        let (round_keys, h) = e.settled((round_keys, h))?.into_inner();
        Ok(TextsKey { round_keys, h, steps })
    }

    /// Encrypts a text: returns the ciphertext and the full tag (SP 800-38D, algorithm 4), which all parties
    /// learn, the ciphertext first. Column `i` of the text has a lane for each block with a byte at position
    /// `i` ([`lanes_at`]).
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the columns are not those of a text, or the text
    /// is longer than GCM allows.
    pub fn seal(
        &self,
        e: &mut E,
        iv: &[u8; 12],
        aad: &[u8],
        text: Vec<E::Byte>,
    ) -> Result<(Vec<u8>, [u8; 16]), Abort> {
        self.seal_from(e, &from_nonce::<E>(iv), aad, text)
    }

    /// [`seal`](TextsKey::seal) with other counter blocks, which may be secret.
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
        // the two values are verified together, with everything that was computed before
        let (stream, mask) = e.settled((stream, mask))?.split();
        let opened = e.open(stream)?;
        let ciphertext = interleaved(&opened, bytes)?;
        let block = self.tag(e, aad, &ciphertext, mask.get())?;
        let tag: [E::Byte; 16] = e.convert(block)?;
        let opened = e.reveal(tag.into())?;
        let tag = interleaved(&opened, 16)?.try_into().map_err(|_| misuse("a tag of 16 bytes"))?;
        Ok((ciphertext, tag))
    }

    /// Decrypts a ciphertext (algorithm 5). If the tag is right: the columns of the plaintext, verified.
    /// Otherwise `None`, and nothing is decrypted. All parties learn whether the tag is right, and nothing
    /// else: the difference of the tags is not opened \[A23\].
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the text is longer than GCM allows, or the tag
    /// has another length.
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

    /// [`open`](TextsKey::open) with other counter blocks, which may be secret.
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

    /// The powers of the hash key for a string of this many blocks.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn powers(&self, e: &mut E, blocks: u64) -> Result<Powers<E::Block>, Abort> {
        Powers::new(e, &self.h, self.steps, blocks)
    }

    /// The key stream of exactly this many bytes, and the mask of the tag.
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

/// Makes this many counter blocks, one in each lane. The first one masks the tag.
pub type Counters<'c, E> = dyn Fn(&mut E, usize) -> Result<[<E as Bytes>::Byte; 16], Abort> + 'c;

/// The public counter blocks of an IV of 96 bits.
fn from_nonce<E: GcmEngine>(
    iv: &[u8; 12],
) -> impl Fn(&mut E, usize) -> Result<[E::Byte; 16], Abort> + use<E> {
    let j0 = j0(iv);
    move |e, n| Ok(ctr::columns(&j0, 0, n).each_ref().map(|column| e.public(column)))
}

/// The text whose columns these are.
///
/// # Errors
/// [`Abort::Misuse`] if the columns have fewer bytes.
pub fn interleaved(columns: &[Vec<u8>], bytes: usize) -> Result<Vec<u8>, Abort> {
    let byte = |at: usize| columns.get(at % 16).and_then(|column| column.get(at / 16)).copied();
    (0..bytes).map(byte).collect::<Option<_>>().ok_or_else(|| misuse("columns that are not those of a text"))
}

fn misuse(what: &'static str) -> Abort {
    Abort::Misuse { step: WHOLE, what }
}

//! GCM (SP 800-38D) with an IV of 96 bits, under a shared key.
//!
//! Encryption is counter mode from `inc_32(J_0)` on. The tag is
//! `GHASH(A || 0* || C || 0* || lengths) + E_K(J_0)`: [`ghash`](super::ghash) of public data, plus one block
//! of key stream. Everything that is opened is verified before. A plaintext is returned only if its tag was
//! found right, and nothing else is revealed about a received tag.
//!
//! | item | what it does | used for |
//! |---|---|---|
//! | [`MessagesKey`] | prepares a key; encrypts or decrypts a message in memory | known answers |
//! | [`StreamSealer`], [`StreamOpener`] | a message that comes in chunks | long messages of a key service |
//! | [`GcmBatch`] | many messages at once, under one key or one each | short messages of a key service |
//!
//! All three run on every engine that opens bytes and compares blocks ([`GcmEngine`]), and share the
//! functions that make key streams and masks and compare tags. They differ in GHASH: a message in chunks has
//! few powers of the hash key and many blocks ([`GhashState`]); each of many messages has all powers that it
//! needs, so that its hash is one sum.
//!
//! IVs of other lengths ([`long_iv`]) need a second GHASH and counters that are computed on
//! shares, and have no advantage (SP 800-38D, 5.2.1.1, recommends 96 bits). They are supported for messages
//! that others have encrypted; so are the tags of 32 and 64 bits of appendix C.

mod batch;
mod compare;
mod hash;
mod key;
mod keystream;
mod limits;
pub mod long_iv;
mod many;
mod message;
mod one_shot;
mod stream;

pub use crate::engines::GcmEngine;
pub use batch::{GcmBatch, GcmItem, GcmOutcome, GcmPayload, GcmPayloads};
pub use compare::TAG_BYTES;
pub use hash::{GhashState, Padding, hash};
pub use key::MessagesKey;
pub use limits::{Lengths, MAX_BLOCKS, TagLength, TooLong, UnsupportedTag};
pub use many::Outcome;
pub use message::{interleaved, lanes_at};
pub use stream::{StreamOpener, StreamSealer};

use crate::aes::{self, RoundKeys};
use divisi_core::{Abort, Blocks, Bytes, Convert, Lanes, Misuse, step};
use divisi_field::{Field, Gf128};

/// The length of the IV in bytes.
pub const IV_BYTES: usize = 12;

/// The pre-counter block `J_0` (SP 800-38D, algorithm 4, step 2): the IV, and the counter 1.
///
/// Its key stream, position 0 of [`ctr::columns`](super::ctr::columns), masks the tag; the message starts at
/// position 1.
#[must_use]
pub fn j0(iv: &[u8; IV_BYTES]) -> [u8; 16] {
    let mut block = [0; 16];
    block[..IV_BYTES].copy_from_slice(iv);
    block[15] = 1;
    block
}

/// A block as an element of GHASH's field: the first bit is the coefficient of 1 (SP 800-38D, 6.3).
pub(crate) fn element(block: [u8; 16]) -> u128 {
    Gf128::from_ghash(block).to_bits()
}

/// The hash keys `H = E_K(0^128)` (SP 800-38D, algorithm 4, step 1), with a lane for each key.
///
/// Cost: one [`aes::encrypt`] and one conversion.
///
/// # Errors
/// The abort that ends the session.
pub fn hash_key<E>(e: &mut E, round_keys: &RoundKeys<E::Byte>) -> Result<E::Block, Abort>
where
    E: Bytes + Blocks + Convert<[E::Byte; 16], E::Block> + ?Sized,
{
    let zero = vec![0; round_keys.lanes()];
    let mut state = std::array::from_fn(|_| e.public(&zero));
    aes::encrypt(e, round_keys, &mut state)?;
    e.convert(state)
}

/// The round keys and the hash keys of keys of 16, 24 or 32 bytes, one in each lane.
///
/// Cost: a key schedule, and that of [`hash_key`].
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the key has another length.
pub fn expand<E>(e: &mut E, key: &[E::Byte]) -> Result<(RoundKeys<E::Byte>, E::Block), Abort>
where
    E: Bytes + Blocks + Convert<[E::Byte; 16], E::Block> + ?Sized,
{
    let round_keys = aes::expand(e, key)?;
    let h = hash_key(e, &round_keys)?;
    Ok((round_keys, h))
}

/// The masks `E_K(J_0)` of tags, which are in these lanes of the key stream.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if there is no such lane.
pub fn tag_masks<E>(e: &mut E, keystream: &[E::Byte; 16], lanes: &[usize]) -> Result<E::Block, Abort>
where
    E: Bytes + Blocks + Convert<[E::Byte; 16], E::Block> + ?Sized,
{
    let bytes: Option<Vec<E::Byte>> = keystream.iter().map(|byte| byte.gather(lanes)).collect();
    let state = bytes.and_then(|bytes| <[E::Byte; 16]>::try_from(bytes).ok());
    let step = step!("tag_masks");
    e.convert(state.ok_or(Abort::Misuse { step, what: Misuse::LengthDiffers })?)
}

/// The whole tag (SP 800-38D, algorithm 4, step 6): GHASH plus `E_K(J_0)`. Local.
///
/// # Errors
/// [`Abort::Misuse`] if the lanes differ.
pub fn tag<E: Blocks + ?Sized>(e: &mut E, ghash: E::Block, ek_j0: &E::Block) -> Result<E::Block, Abort> {
    let mut tag = ghash;
    e.add_block(&mut tag, ek_j0)?;
    Ok(tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::ctr;

    #[test]
    fn the_tag_has_the_counter_one_and_the_text_starts_at_two() {
        let columns = ctr::columns(&j0(&[0xca; 12]), 0, 2);
        let lane = |l: usize| columns.each_ref().map(|column| column[l]);
        assert_eq!(lane(0), j0(&[0xca; 12]));
        assert_eq!(
            (lane(0)[11..].to_vec(), lane(1)[11..].to_vec()),
            (vec![0xca, 0, 0, 0, 1], vec![0xca, 0, 0, 0, 2])
        );
    }
}

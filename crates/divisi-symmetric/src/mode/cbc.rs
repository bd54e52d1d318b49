//! Cipher block chaining (SP 800-38A, 6.2), without padding, which is left to the caller.

use super::block::{BlockCipher, first_lanes, misfit};
use divisi_core::{Abort, Direction, Lanes, Misuse};

/// Encrypts messages of whole blocks, one in each lane: C_1 = E(P_1 + IV), C_j = E(P_j + C_(j-1)).
///
/// Messages may differ in length. They are sorted, the longest first, so that the bytes of a block have as
/// many lanes as there are messages with this block. The ciphertext has the same form. The IVs are public,
/// one for each lane; `iv` has a column for each byte.
///
/// Cost: one call of the cipher for each block of the longest message, one after the other.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if messages are not whole blocks, or lanes do not fit.
pub fn encrypt<E: ?Sized, C: BlockCipher<E>>(
    e: &mut E,
    cipher: &C,
    iv: &[Vec<u8>],
    message: &[C::Byte],
) -> Result<Vec<C::Byte>, Abort> {
    if !message.len().is_multiple_of(C::BYTES) || iv.len() != C::BYTES {
        return Err(misfit(Misuse::BlockLength));
    }
    let state = C::public_block(e, iv);
    encrypt_from(e, cipher, state, message)
}

/// [`encrypt`], given the block of ciphertext (or the IV) before the first block.
///
/// # Errors
/// The errors of [`encrypt`].
pub fn encrypt_from<E: ?Sized, C: BlockCipher<E>>(
    e: &mut E,
    cipher: &C,
    mut state: Vec<C::Byte>,
    message: &[C::Byte],
) -> Result<Vec<C::Byte>, Abort> {
    if !message.len().is_multiple_of(C::BYTES) {
        return Err(misfit(Misuse::BlockLength));
    }
    let mut ciphertext = Vec::with_capacity(message.len());
    for block in message.chunks(C::BYTES) {
        let lanes = block.first().map_or(0, Lanes::lanes);
        let mut sum = first_lanes(&state, lanes)?;
        C::add_block(e, &mut sum, block)?;
        let key = cipher.of_lanes(&(0..lanes).collect::<Vec<_>>())?;
        state = key.permute(e, Direction::Encrypt, sum)?;
        ciphertext.extend_from_slice(&state);
    }
    Ok(ciphertext)
}

/// Decrypts blocks, one in each lane: P_j = D(C_j) + C_(j-1). The ciphertext is public. `previous` has for
/// each block the one before it, or the IV ([`previous`]).
///
/// Cost: one call of the cipher, whatever the messages' lengths.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the columns are not blocks, or lanes do not fit.
pub fn decrypt<E: ?Sized, C: BlockCipher<E>>(
    e: &mut E,
    cipher: &C,
    previous: &[Vec<u8>],
    ciphertext: &[Vec<u8>],
) -> Result<Vec<C::Byte>, Abort> {
    let blocks = C::public_block(e, ciphertext);
    let mut plain = cipher.permute(e, Direction::Decrypt, blocks)?;
    let previous = C::public_block(e, previous);
    C::add_block(e, &mut plain, &previous)?;
    Ok(plain)
}

/// The block before each block of a ciphertext: the IV, then all blocks but the last.
#[must_use]
pub fn previous(iv: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let before = ciphertext.len().saturating_sub(iv.len());
    [iv, ciphertext.get(..before).unwrap_or_default()].concat()
}

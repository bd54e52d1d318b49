//! Cipher feedback and output feedback (SP 800-38A, 6.3 and 6.4), over any block cipher.
//!
//! Each lane has a message, the longest first, so that the bytes of a block have as many lanes as there are
//! messages with this block. Both modes use the cipher in the encrypting direction only.

use super::block::{BlockCipher, first_lanes, misfit};
use divisi_core::{Abort, Direction, Lanes, Misuse};

/// CFB encryption with segments of `segment` bytes (6.3): C_j = P_j + the first bytes of E(I_j); I_(j+1) is
/// I_j shifted by one segment, with C_j at its end. The last segment of a message may be incomplete: it is
/// added to as many bytes of the stream, and nothing follows it.
///
/// Cost: one call of the cipher for each segment of the longest message, one after the other.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if a segment is longer than a block, or lanes do not
/// fit.
pub fn cfb_encrypt<E: ?Sized, C: BlockCipher<E>>(
    e: &mut E,
    cipher: &C,
    segment: usize,
    iv: &[Vec<u8>],
    message: &[C::Byte],
) -> Result<Vec<C::Byte>, Abort> {
    if segment == 0 || segment > C::BYTES || iv.len() != C::BYTES {
        return Err(misfit(Misuse::LengthUnsupported));
    }
    let mut input = C::public_block(e, iv);
    let mut ciphertext = Vec::with_capacity(message.len());
    for now in message.chunks(segment) {
        let lanes = now.first().map_or(0, Lanes::lanes);
        input = first_lanes(&input, lanes)?;
        let key = cipher.of_lanes(&(0..lanes).collect::<Vec<_>>())?;
        let stream = key.permute(e, Direction::Encrypt, input.clone())?;
        let mut sum = Vec::with_capacity(now.len());
        for (stream, message) in stream.iter().zip(now) {
            // a message that ends within the segment has no lane in its later bytes
            let mut byte = stream.first(message.lanes()).ok_or_else(unsorted)?;
            C::add(e, &mut byte, message)?;
            sum.push(byte);
        }
        input.drain(..segment);
        input.extend_from_slice(&sum);
        ciphertext.extend(sum);
    }
    Ok(ciphertext)
}

fn unsorted() -> Abort {
    misfit(Misuse::MessageUnfit)
}

/// CFB decryption of segments, one in each lane: P_j = C_j + the first bytes of E(I_j). The ciphertext is
/// public, and so are the cipher's inputs: `inputs` has one for each segment ([`cfb_inputs`]).
///
/// Cost: one call of the cipher, whatever the messages' lengths.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the columns are not segments, or lanes do not fit.
pub fn cfb_decrypt<E: ?Sized, C: BlockCipher<E>>(
    e: &mut E,
    cipher: &C,
    inputs: &[Vec<u8>],
    ciphertext: &[Vec<u8>],
) -> Result<Vec<C::Byte>, Abort> {
    let blocks = C::public_block(e, inputs);
    let mut plain = cipher.permute(e, Direction::Encrypt, blocks)?;
    plain.truncate(ciphertext.len());
    let ciphertext = C::public_block(e, ciphertext);
    C::add_block(e, &mut plain, &ciphertext)?;
    Ok(plain)
}

/// The input of the cipher for each segment of a ciphertext: the last block of bytes of IV and ciphertext
/// before the segment.
#[must_use]
pub fn cfb_inputs(iv: &[u8], segment: usize, ciphertext: &[u8]) -> Vec<u8> {
    let all = [iv, ciphertext].concat();
    let starts = (0..ciphertext.len()).step_by(segment.max(1));
    starts.filter_map(|at| all.get(at..at + iv.len())).flatten().copied().collect()
}

/// OFB (6.4), which encrypts and decrypts in the same way: the stream is E(IV), E(E(IV)), ..; the last block
/// of a message may be incomplete.
///
/// Cost: one call of the cipher for each block of the longest message, one after the other.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if lanes do not fit.
pub fn ofb<E: ?Sized, C: BlockCipher<E>>(
    e: &mut E,
    cipher: &C,
    iv: &[Vec<u8>],
    message: &[C::Byte],
) -> Result<Vec<C::Byte>, Abort> {
    if iv.len() != C::BYTES {
        return Err(misfit(Misuse::BlockLength));
    }
    let mut state = C::public_block(e, iv);
    let mut out = Vec::with_capacity(message.len());
    for block in message.chunks(C::BYTES) {
        let lanes = block.first().map_or(0, Lanes::lanes);
        let key = cipher.of_lanes(&(0..lanes).collect::<Vec<_>>())?;
        state = key.permute(e, Direction::Encrypt, first_lanes(&state, lanes)?)?;
        for (stream, message) in state.iter().zip(block) {
            // a message that ends within the block has no lane in its later bytes
            let mut sum = stream.first(message.lanes()).ok_or_else(unsorted)?;
            C::add(e, &mut sum, message)?;
            out.push(sum);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_what_was_before() {
        assert_eq!(cfb_inputs(&[1, 2, 3, 4], 4, &[5, 6, 7, 8, 9, 10, 11, 12]), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(cfb_inputs(&[1, 2, 3], 1, &[4, 5]), [1, 2, 3, 2, 3, 4]);
        assert!(cfb_inputs(&[1, 2, 3], 1, &[]).is_empty());
    }
}

//! CFB with segments of one bit (SP 800-38A, 6.3 with s = 1).

use super::lanes::{are_blocks, lanes_of};
use super::misfit;
use crate::aes::{self, RoundKeys};
use crate::engines::BitEngine;
use crate::mode::block::BlockCipher;
use divisi_core::{Abort, Direction, Lanes, Misuse};

/// Encrypts messages of `bits` bits, one in each lane, the highest bit of a byte first: C_j = P_j + the first
/// bit of E(I_j); I_(j+1) is I_j shifted by one bit, with C_j at its end. Bits after the message are zero.
///
/// Cost: one call of the cipher for each bit, one after the other.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if a message has another length, or the IV is not a
/// block.
pub fn encrypt<E: BitEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    iv: &[Vec<u8>],
    bits: usize,
    message: &[E::Byte],
) -> Result<Vec<E::Byte>, Abort> {
    let lanes = lanes_of(&[message])?;
    if !are_blocks(iv, lanes) || message.len() != bits.div_ceil(8) {
        return Err(misfit(Misuse::MessageUnfit));
    }
    let mut out = Vec::with_capacity(message.len());
    // the first bit of the block comes first
    let bit = |at: usize| -> Vec<bool> {
        iv.iter().map(|iv| iv.get(at / 8).is_some_and(|byte| byte >> (7 - at % 8) & 1 == 1)).collect()
    };
    let mut input: Vec<E::Bit> = (0..128).map(|at| e.public_bit(&bit(at))).collect();
    let zero = e.public_bit(&vec![false; lanes]);
    for (i, byte) in message.iter().enumerate() {
        let byte: [E::Bit; 8] = e.convert(byte.clone())?;
        let mut made: [E::Bit; 8] = std::array::from_fn(|_| zero.clone());
        for (at, bit) in byte.iter().enumerate().rev() {
            if 8 * i + 7 - at >= bits {
                break;
            }
            let mut block = Vec::with_capacity(16);
            for eight in input.chunks(8) {
                let mut eight: Vec<E::Bit> = eight.to_vec();
                eight.reverse();
                let eight: [E::Bit; 8] = eight.try_into().map_err(|_| misfit(Misuse::BlockLength))?;
                block.push(e.convert(eight)?);
            }
            // the two bits are added as the highest bits of two bytes; only the sum is converted to bits
            let mut first = key.permute(e, Direction::Encrypt, block)?.swap_remove(0);
            let mut own: [E::Bit; 8] = std::array::from_fn(|_| zero.clone());
            own[7] = bit.clone();
            let own: E::Byte = e.convert(own)?;
            e.add(&mut first, &own)?;
            let [.., sum]: [E::Bit; 8] = e.convert(first)?;
            input.remove(0);
            input.push(sum.clone());
            made[at] = sum;
        }
        out.push(e.convert(made)?);
    }
    Ok(out)
}

/// Decrypts public messages of `bits` bits, one in each row.
///
/// Cost: one call of the cipher, for all bits at once.
///
/// # Errors
/// The errors of [`encrypt`].
pub fn decrypt<E: BitEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    iv: &[Vec<u8>],
    bits: usize,
    ciphertext: &[Vec<u8>],
) -> Result<Vec<E::Byte>, Abort> {
    let lanes = ciphertext.len();
    let fits = ciphertext.iter().all(|row| row.len() == bits.div_ceil(8));
    if !are_blocks(iv, lanes) || !fits {
        return Err(misfit(Misuse::MessageUnfit));
    }
    let inputs: Vec<Vec<[u8; 16]>> =
        iv.iter().zip(ciphertext).map(|(iv, row)| inputs(iv, row, bits)).collect();
    let column = |i: usize| -> Vec<u8> {
        (0..bits).flat_map(|j| inputs.iter().map(move |own| own.get(j).map_or(0, |block| block[i]))).collect()
    };
    let mut all: [E::Byte; 16] = std::array::from_fn(|i| e.public(&column(i)));
    let index: Vec<usize> = (0..bits).flat_map(|_| 0..lanes).collect();
    let keys = if key.lanes() == 1 { Some(key.clone()) } else { key.gather(&index) };
    aes::encrypt(e, &keys.ok_or_else(|| misfit(Misuse::CountsDiffer))?, &mut all)?;
    let first: [E::Bit; 8] = e.convert(all[0].clone())?;
    let zero = e.public_bit(&vec![false; lanes]);
    let mut out = Vec::with_capacity(bits.div_ceil(8));
    for i in 0..bits.div_ceil(8) {
        let mut byte: [E::Bit; 8] = std::array::from_fn(|_| zero.clone());
        for (at, bit) in byte.iter_mut().enumerate() {
            let j = 8 * i + 7 - at;
            if j < bits {
                let own: Vec<usize> = (j * lanes..(j + 1) * lanes).collect();
                *bit = first[7].gather(&own).ok_or_else(|| misfit(Misuse::CountsDiffer))?;
            }
        }
        let mut byte: E::Byte = e.convert(byte)?;
        let spare = (8 * (i + 1)).saturating_sub(bits);
        let known: Vec<u8> =
            ciphertext.iter().map(|row| row.get(i).map_or(0, |byte| byte >> spare << spare)).collect();
        e.add_public(&mut byte, &known)?;
        out.push(byte);
    }
    Ok(out)
}

/// The input of the cipher for each bit: the 128 bits of IV and ciphertext before it.
fn inputs(iv: &[u8], ciphertext: &[u8], bits: usize) -> Vec<[u8; 16]> {
    let mut state = [0; 16];
    state.iter_mut().zip(iv).for_each(|(to, byte)| *to = *byte);
    let mut state = u128::from_be_bytes(state);
    let mut all = Vec::with_capacity(bits);
    for j in 0..bits {
        all.push(state.to_be_bytes());
        let bit = ciphertext.get(j / 8).map_or(0, |byte| byte >> (7 - j % 8) & 1);
        state = state << 1 | u128::from(bit);
    }
    all
}

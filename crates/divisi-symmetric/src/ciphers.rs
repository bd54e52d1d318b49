//! Block ciphers as circuits. [`crate::circuits`] gives them names, and [`crate::batch`] runs them block by
//! block.

use crate::aes::{self, KeySize};
use crate::des::{self, TripleKey};
use crate::drawn::{DrawnBytes, drawn};
use crate::gates::{GateByte, GateBytes};
use divisi_circuit::{Build, BuildBit, Program};
use divisi_core::{Abort, Convert, Direction, Misuse, Step, step};

const CIPHER: Step = step!("cipher");

/// AES with its key schedule; the inputs are key and block, the output is a block.
///
/// # Errors
/// None for this circuit; but ciphers are written over traits whose engines can fail.
pub fn aes(size: KeySize, direction: Direction) -> Result<Program, Abort> {
    drawn(&[size.bytes(), 16], |e, mut values| {
        let (block, key) = (values.pop().unwrap_or_default(), values.pop().unwrap_or_default());
        let round_keys = aes::expand(e, &key)?;
        let misfit = |_| Abort::Misuse { step: CIPHER, what: Misuse::BlockLength };
        let mut state: [GateByte<BuildBit>; 16] = block.try_into().map_err(misfit)?;
        match direction {
            Direction::Encrypt => aes::encrypt(e, &round_keys, &mut state)?,
            Direction::Decrypt => aes::decrypt(e, &round_keys, &mut state)?,
        }
        Ok(vec![state.to_vec()])
    })
}

/// Triple DES with three keys; the inputs are 24 bytes of key, of which every eighth bit is ignored, and a
/// block; the output is a block.
///
/// # Errors
/// None for this circuit; but ciphers are written over traits whose engines can fail.
pub fn triple_des(direction: Direction) -> Result<Program, Abort> {
    drawn(&[24, 8], |e, values| {
        let [key, block] = &values[..] else { return Ok(Vec::new()) };
        let bits = |e: &mut GateBytes<'_, Build>, bytes: &DrawnBytes| -> Result<Vec<_>, Abort> {
            let of_byte = |byte: &GateByte<BuildBit>| -> Result<[_; 8], Abort> { e.convert(byte.clone()) };
            let bytes = bytes.iter().map(of_byte).collect::<Result<Vec<_>, _>>()?;
            Ok(bytes.into_iter().flat_map(|bits| bits.into_iter().rev()).collect())
        };
        let key = TripleKey::new(&bits(e, key)?)?;
        let misfit = |_| Abort::Misuse { step: CIPHER, what: Misuse::BlockLength };
        let mut state: [_; 64] = bits(e, block)?.try_into().map_err(misfit)?;
        des::triple(e, direction, &key, &mut state)?;
        let bytes = state.as_chunks::<8>().0.iter().map(|bits| {
            let mut bits = bits.clone();
            bits.reverse();
            e.convert(bits)
        });
        Ok(vec![bytes.collect::<Result<_, _>>()?])
    })
}

//! AES as one program for each block, which takes the key itself and computes the key schedule. It is for
//! engines whose rounds do not grow with a program's depth: there, 1,280 bits of round keys as inputs would
//! cost more than the ANDs of the key schedule.

use super::drawn::{inputs, output};
use super::{MacEngine, bits, byte_values, unfit};
use crate::aes::KeySize;
use crate::ciphers;
use crate::mode::block::BlockCipher;
use divisi_circuit::Program;
use divisi_core::{Abort, Direction, Lanes, Misuse, ProgramRun};
use std::sync::OnceLock;

/// A key in bytes; one for all lanes, or one for each.
pub struct BlockKey<E: MacEngine> {
    size: KeySize,
    bytes: Vec<E::Byte>,
}

impl<E: MacEngine> BlockKey<E> {
    /// A key of 16, 24 or 32 bytes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if it has another length.
    pub fn new(bytes: Vec<E::Byte>) -> Result<Self, Abort> {
        let size = KeySize::ALL.into_iter().find(|size| size.bytes() == bytes.len());
        Ok(BlockKey { size: size.ok_or_else(|| unfit(Misuse::LengthUnsupported))?, bytes })
    }
}

/// The circuit of AES, recorded at its first use.
fn program(size: KeySize, d: Direction) -> Result<&'static Program, Abort> {
    static PROGRAMS: [OnceLock<Program>; 6] = [const { OnceLock::new() }; 6];
    let at = 2 * (size.bytes() / 8 - 2) + usize::from(d == Direction::Decrypt);
    let place = PROGRAMS.get(at).ok_or_else(|| unfit(Misuse::LengthUnsupported))?;
    if let Some(program) = place.get() {
        return Ok(program);
    }
    let made = ciphers::aes(size, d)?;
    Ok(place.get_or_init(|| made))
}

impl<E: MacEngine> Lanes for BlockKey<E> {
    fn lanes(&self) -> usize {
        self.bytes.first().map_or(0, Lanes::lanes)
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        let bytes: Option<Vec<E::Byte>> = self.bytes.iter().map(|byte| byte.gather(index)).collect();
        Some(BlockKey { size: self.size, bytes: bytes? })
    }
}

impl<E: MacEngine> BlockCipher<E> for BlockKey<E> {
    type Byte = E::Byte;

    const BYTES: usize = 16;

    fn public(e: &mut E, values: &[u8]) -> E::Byte {
        e.public(values)
    }

    fn add(e: &mut E, x: &mut E::Byte, y: &E::Byte) -> Result<(), Abort> {
        e.add(x, y)
    }

    fn permute(&self, e: &mut E, d: Direction, block: Vec<E::Byte>) -> Result<Vec<E::Byte>, Abort> {
        if block.len() != 16 {
            return Err(unfit(Misuse::BlockLength));
        }
        let (key, block) = (bits(e, self.bytes.clone())?, bits(e, block)?);
        let kept = 8 * key.len();
        let mut jobs = [ProgramRun::new(program(self.size, d)?, inputs(vec![key, block])).keeping(kept)];
        e.run(&mut jobs)?;
        let [job] = jobs;
        byte_values(e, output(job.wires))
    }
}

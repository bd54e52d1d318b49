//! Triple DES as a program for each block, which takes the key: for engines that run programs but have no
//! lookups in small tables.

use super::drawn::{inputs, output};
use super::{MacEngine, bits, byte_values, bytes, unfit, wires};
use crate::ciphers;
use crate::gates::byte_program;
use crate::mode::block::BlockCipher;
use crate::mode::cmac::Doubles;
use divisi_circuit::{Gates, Program};
use divisi_core::{Abort, Direction, Lanes, Misuse, ProgramRun};
use std::sync::OnceLock;

/// The bytes of a block.
const BLOCK: usize = 8;

/// A key of triple DES in bytes; one for all lanes, or one for each.
pub struct TripleByProgram<E: MacEngine> {
    bytes: Vec<E::Byte>,
}

impl<E: MacEngine> TripleByProgram<E> {
    /// A key of 24 bytes (K1, K2, K3), or of 16 (K1, K2, and K1 again: SP 800-67, 3.2).
    ///
    /// # Errors
    /// [`Abort::Misuse`] if it has another length.
    pub fn new(mut bytes: Vec<E::Byte>) -> Result<Self, Abort> {
        if bytes.len() == 2 * BLOCK {
            bytes.extend_from_within(..BLOCK);
        }
        if bytes.len() != 3 * BLOCK {
            return Err(unfit(Misuse::LengthUnsupported));
        }
        Ok(TripleByProgram { bytes })
    }
}

/// The circuit in this direction, recorded when it is first used.
fn program(d: Direction) -> Result<&'static Program, Abort> {
    static PROGRAMS: [OnceLock<Program>; 2] = [const { OnceLock::new() }; 2];
    let [encrypt, decrypt] = &PROGRAMS;
    let place = if d == Direction::Encrypt { encrypt } else { decrypt };
    if let Some(program) = place.get() {
        return Ok(program);
    }
    let made = ciphers::triple_des(d)?;
    Ok(place.get_or_init(|| made))
}

/// A block times x in GF(2^64), where x^64 = x^4 + x^3 + x + 1 (SP 800-38B, 6.1).
fn doubled<G: Gates>(g: &mut G, block: Vec<[G::Bit; 8]>) -> Vec<[G::Bit; 8]> {
    let zero = g.constant(false);
    let highest = block.first().map_or(zero, |byte| byte[7]);
    let below = |j: usize| block.get(j + 1).map_or(zero, |byte| byte[7]);
    let shifted = |(j, byte): (usize, &[G::Bit; 8])| {
        let [b0, b1, b2, b3, b4, b5, b6, _] = *byte;
        [below(j), b0, b1, b2, b3, b4, b5, b6]
    };
    let mut out: Vec<[G::Bit; 8]> = block.iter().enumerate().map(shifted).collect();
    if let Some(last) = out.last_mut() {
        for i in [0, 1, 3, 4] {
            last[i] = g.xor(last[i], highest);
        }
    }
    out
}

impl<E: MacEngine> Lanes for TripleByProgram<E> {
    fn lanes(&self) -> usize {
        self.bytes.first().map_or(0, Lanes::lanes)
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        let bytes: Option<Vec<E::Byte>> = self.bytes.iter().map(|byte| byte.gather(index)).collect();
        Some(TripleByProgram { bytes: bytes? })
    }
}

impl<E: MacEngine> BlockCipher<E> for TripleByProgram<E> {
    type Byte = E::Byte;

    const BYTES: usize = BLOCK;

    fn public(e: &mut E, values: &[u8]) -> E::Byte {
        e.public(values)
    }

    fn add(e: &mut E, x: &mut E::Byte, y: &E::Byte) -> Result<(), Abort> {
        e.add(x, y)
    }

    fn permute(&self, e: &mut E, d: Direction, block: Vec<E::Byte>) -> Result<Vec<E::Byte>, Abort> {
        if block.len() != BLOCK {
            return Err(unfit(Misuse::BlockLength));
        }
        let (key, block) = (bits(e, self.bytes.clone())?, bits(e, block)?);
        let mut jobs = [ProgramRun::new(program(d)?, inputs(vec![key, block]))];
        e.run(&mut jobs)?;
        let [job] = jobs;
        byte_values(e, output(job.wires))
    }
}

impl<E: MacEngine> Doubles<E> for TripleByProgram<E> {
    fn double(e: &mut E, block: Vec<E::Byte>) -> Result<Vec<E::Byte>, Abort> {
        static DOUBLING: OnceLock<Program> = OnceLock::new();
        let doubling =
            DOUBLING.get_or_init(|| byte_program([BLOCK], |g, [block]| doubled(g, block.to_vec())));
        if block.len() != BLOCK {
            return Err(unfit(Misuse::BlockLength));
        }
        let block = bits(e, block)?;
        let mut jobs = [ProgramRun::new(doubling, wires(block))];
        e.run(&mut jobs)?;
        let [job] = jobs;
        byte_values(e, bytes(job.wires))
    }
}

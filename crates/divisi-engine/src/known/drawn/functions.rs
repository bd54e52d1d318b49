//! The circuits of blocks, of messages in GCM, and of hashes and MACs.

use crate::job::{Cipher, MessagesJob};
use divisi_circuit::{Build, BuildBit, Gates, Program};
use divisi_core::{Abort, Bytes, Direction};
use divisi_symmetric::aes;
use divisi_symmetric::batch::triple::TripleByProgram;
use divisi_symmetric::batch::{Function, Messages as Batch, bits, byte_values};
use divisi_symmetric::circuits;
use divisi_symmetric::gates::{GateByte, GateBytes};
use divisi_symmetric::mode::block::BlockCipher;
use divisi_symmetric::mode::one_shot;

/// The circuit of a block. With `counter` the last input, the counter block, is encrypted and added to the
/// message.
pub fn block(widths: &[usize], cipher: Cipher, counter: bool, decrypt: bool) -> Result<Program, Abort> {
    let direction = if decrypt { Direction::Decrypt } else { Direction::Encrypt };
    circuits::drawn(widths, |e, values| {
        let state = values.last().cloned().unwrap_or_default();
        let mut state = match cipher {
            Cipher::Aes(_) => aes::expand(e, &values[0])?.permute(e, direction, state)?,
            Cipher::TripleDes(_) => TripleByProgram::new(values[0].clone())?.permute(e, direction, state)?,
        };
        if counter {
            state.iter_mut().zip(&values[1]).try_for_each(|(pad, message)| e.add(pad, message))?;
        }
        Ok(vec![state])
    })
}

/// The circuit of a message in GCM. It gives a byte that is 1 if the message is authentic, the resulting
/// message, and the tag that was made (zeros in decryption). If the message is not authentic, all outputs are
/// zero.
pub fn gcm(widths: &[usize], decrypt: bool, tag_bytes: usize) -> Result<Program, Abort> {
    circuits::drawn(widths, |e, values| {
        let [key, message, iv, aad, received] = &values[..] else { return Ok(Vec::new()) };
        let keys = aes::expand(e, key)?;
        let direction = if decrypt { Direction::Decrypt } else { Direction::Encrypt };
        let (mut other, tag) = one_shot::gcm::crypt(e, &keys, direction, iv, aad, message)?;
        let mut tag = tag.get(..tag_bytes).unwrap_or_default().to_vec();
        let mut verdict = e.public(&[1]);
        if decrypt {
            verdict = same(e, &tag, received);
            let right = verdict.bits().first().map(|bits| bits[0]);
            let right = right.unwrap_or_else(|| e.gates().constant(false));
            for byte in &mut other {
                let bits = byte.bits().first().copied();
                let masked = bits.map(|bits| bits.map(|bit| e.gates().and(bit, right)));
                *byte = GateByte::new(masked.into_iter().collect());
            }
            tag = (0..tag_bytes).map(|_| e.public(&[0])).collect();
        }
        Ok(vec![[vec![verdict], other, tag].concat()])
    })
}

/// The circuit of a hash or MAC; with `compares`, of the verdict whether it equals the last input value.
pub fn message(
    widths: &[usize],
    job: &MessagesJob,
    compares: bool,
    spare_bits: usize,
    iv: &[u8],
) -> Result<Program, Abort> {
    circuits::drawn(widths, |e, values| {
        let function = Function::prepare(e, &job.using, &values[0])?;
        let message = bits(e, values[1].clone())?;
        let length = (8 * message.len()).saturating_sub(spare_bits);
        let messages = Batch::of_bits(message, vec![length])?;
        let begun = function.begin(e);
        let output = function.finish_with(e, begun, &messages, &[iv])?;
        let output = byte_values(e, output)?;
        Ok(vec![if compares { vec![same(e, &output, &values[2])] } else { output }])
    })
}

/// A byte that is 1 if two values of one lane are equal, else 0.
pub fn same(
    e: &mut GateBytes<'_, Build>,
    x: &[GateByte<BuildBit>],
    y: &[GateByte<BuildBit>],
) -> GateByte<BuildBit> {
    let wires = |value: &[GateByte<BuildBit>]| -> Vec<BuildBit> {
        value.iter().flat_map(|byte| byte.bits()).flatten().copied().collect()
    };
    let (x, y, g) = (wires(x), wires(y), e.gates());
    let mut equal: Vec<BuildBit> = Vec::with_capacity(x.len());
    for (x, y) in x.iter().zip(&y) {
        let differs = g.xor(*x, *y);
        equal.push(g.not(differs));
    }
    while equal.len() > 1 {
        equal = equal.chunks(2).map(|pair| if let [x, y] = *pair { g.and(x, y) } else { pair[0] }).collect();
    }
    let [none, all] = [false, true].map(|value| g.constant(value));
    let mut byte = [none; 8];
    byte[0] = if x.len() == y.len() { equal.first().copied().unwrap_or(all) } else { none };
    GateByte::new(vec![byte])
}

//! Outputs of SHAKE and cSHAKE: the first 128 bits of an output are the message of the next one, and its last
//! 16 bits determine the length of the next one.

use super::digests::to_be_made;
use super::{Calls, Stopped};
use crate::engine::Rows;
use crate::engine::job::MessagesJob;
use divisi_symmetric::algorithm::Settings;

/// The bytes of a message.
const MESSAGE: usize = 16;

/// The lengths of outputs, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLengths {
    /// The shortest.
    pub least: usize,
    /// The longest.
    pub most: usize,
    /// The difference between one length and the next.
    pub step: usize,
}

impl OutputLengths {
    /// The length of the output that follows this one.
    fn after(self, output: &XofOutput) -> usize {
        let many = self.most.saturating_sub(self.least) / self.step.max(1) + 1;
        self.least + usize::from(output.last_bits()) % many * self.step
    }
}

/// Chains of outputs, in which each output determines the next message.
#[derive(Clone, Debug)]
pub struct OutputChains {
    /// The function.
    pub settings: Settings,
    /// Whether the previous output determines the customization, too (cSHAKE).
    pub customizes: bool,
    /// The first message.
    pub start: Vec<u8>,
    /// The possible lengths of outputs.
    pub lengths: OutputLengths,
    /// The end of each chain.
    pub ends: Vec<XofOutput>,
}

/// An output as files contain it: its last bits are at the high end of the last byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XofOutput {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The number of its bits.
    pub bits: usize,
}

impl XofOutput {
    /// The number of bits of the last byte that do not belong to the output.
    fn spare(&self) -> usize {
        (8 * self.bytes.len()).saturating_sub(self.bits).min(7)
    }

    /// The last 16 bits as a number.
    fn last_bits(&self) -> u16 {
        let last = self.bytes.iter().rev().take(3).rev();
        let number = last.fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        (number >> self.spare()) as u16
    }

    /// The next message: the first bits of the output, padded with zeros.
    fn message(&self) -> Vec<u8> {
        let mut message = self.bytes.clone();
        message.resize(MESSAGE, 0);
        message
    }
}

impl OutputChains {
    /// How many chains run one after the other; otherwise they run side by side.
    pub(super) fn after_each_other(&self) -> usize {
        if self.customizes { self.ends.len() } else { 1 }
    }

    pub(super) fn run(&self, calls: &mut Calls<'_>) -> Result<bool, Stopped> {
        if self.customizes { self.one_after_the_other(calls) } else { self.side_by_side(calls) }
    }

    fn first(&self) -> XofOutput {
        XofOutput { bytes: self.start.clone(), bits: 8 * self.start.len() }
    }

    /// All chains at once: a call makes the longest output that a lane needs, and the other lanes take the
    /// beginning of theirs.
    fn side_by_side(&self, calls: &mut Calls<'_>) -> Result<bool, Stopped> {
        let starts = [self.first()].into_iter().chain(self.ends.iter().rev().skip(1).rev().cloned());
        let mut lanes: Vec<(XofOutput, usize)> = starts
            .enumerate()
            .map(|(lane, start)| {
                let bits = if lane == 0 { self.lengths.most } else { self.lengths.after(&start) };
                (start, bits)
            })
            .collect();
        for _ in 0..calls.chain {
            let longest = lanes.iter().map(|(_, bits)| bits.div_ceil(8)).max().unwrap_or(0);
            let using = Settings { output_bytes: longest, ..self.settings.clone() };
            let mut inputs = Rows::default();
            lanes.iter().for_each(|(last, _)| inputs.push(&[&last.message()]));
            let messages = vec![to_be_made(MESSAGE); lanes.len()];
            let job = MessagesJob { using, key_bytes: 0, messages }.into();
            let answers = calls.call(&job, &inputs)?;
            for ((last, bits), answer) in lanes.iter_mut().zip(answers.iter()) {
                let bytes = answer.get(..bits.div_ceil(8)).unwrap_or_default().to_vec();
                *last = XofOutput { bytes, bits: *bits };
                *bits = self.lengths.after(last);
            }
        }
        Ok(lanes.len() == self.ends.len() && lanes.iter().zip(&self.ends).all(|((last, _), end)| last == end))
    }

    /// One chain after the other, each with the customization with which the one before it ended.
    fn one_after_the_other(&self, calls: &mut Calls<'_>) -> Result<bool, Stopped> {
        let (mut last, mut bits) = (self.first(), self.lengths.most);
        let mut customization = Vec::new();
        for end in &self.ends {
            for _ in 0..calls.chain {
                let bytes = bits.div_ceil(8);
                let using = Settings {
                    output_bytes: bytes,
                    spare_output_bits: 8 * bytes - bits,
                    customization,
                    ..self.settings.clone()
                };
                let message = last.message();
                let mut inputs = Rows::default();
                inputs.push(&[&message]);
                let messages = vec![to_be_made(MESSAGE)];
                let job = MessagesJob { using, key_bytes: 0, messages }.into();
                let answers = calls.call(&job, &inputs)?;
                last = XofOutput { bytes: answers.row(0).to_vec(), bits };
                // SHA-3 has the last bits of a string at the low end of its last byte
                let spare = last.spare();
                last.bytes.iter_mut().last().into_iter().for_each(|byte| *byte <<= spare);
                bits = self.lengths.after(&last);
                customization = letters(&[message.as_slice(), &last.last_bits().to_be_bytes()].concat());
            }
            if last != *end {
                return Ok(false);
            }
        }
        Ok(!self.ends.is_empty())
    }
}

/// Map bytes to capital letters, as the standard does for customization strings.
fn letters(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| b'A' + byte % 26).collect()
}

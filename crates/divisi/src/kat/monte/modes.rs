//! Chains of messages of a mode of a block cipher, each message made of earlier answers.

use super::{Calls, STEPS, Stopped};
use crate::engine::Rows;
use crate::engine::job::{self, Cipher, CipherMode, JobSpec, ModeMessage, OneShot};
use crate::kat::vector::VectorAlgorithm;
use divisi_core::Direction;

/// Chains of messages.
#[derive(Clone, Debug)]
pub struct ModeChains {
    /// The cipher.
    pub cipher: Cipher,
    /// The direction.
    pub direction: Direction,
    /// The start and the end of each chain.
    pub lanes: Vec<Thousand>,
}

/// One chain of messages.
#[derive(Clone, Debug)]
pub struct Thousand {
    /// The key.
    pub key: Vec<u8>,
    /// The IV; empty where there is none.
    pub iv: Vec<u8>,
    /// The first message.
    pub text: Vec<u8>,
    /// The last answer.
    pub end: Vec<u8>,
}

impl ModeChains {
    /// The number of steps of a chain: ten thousand for triple DES (SP 800-20).
    pub(super) fn steps(&self) -> usize {
        if self.cipher.aes().is_some() { STEPS } else { 10 * STEPS }
    }

    pub(super) fn run(&self, algorithm: VectorAlgorithm, calls: &mut Calls<'_>) -> Result<bool, Stopped> {
        let mut all: Vec<Feed> =
            self.lanes.iter().map(|lane| Feed::new(algorithm, self.direction, lane)).collect();
        for _ in 0..calls.chain {
            let (job, inputs) = self.job(algorithm, &all);
            let answers = calls.call(&job, &inputs)?;
            for (feed, answer) in all.iter_mut().zip(answers.iter()) {
                // for a one-shot mode, the first byte says whether there is a message
                let answer =
                    if let VectorAlgorithm::OneShot(_) = algorithm { answer.get(1..) } else { Some(answer) };
                feed.took(algorithm, self.direction, answer.unwrap_or_default().to_vec());
            }
        }
        Ok(all.iter().zip(&self.lanes).all(|(feed, lane)| feed.answers.last() == Some(&lane.end)))
    }

    fn job(&self, algorithm: VectorAlgorithm, feeds: &[Feed]) -> (JobSpec, Rows) {
        let mode = super::super::modes::mode(algorithm);
        let public = matches!(mode, CipherMode::Cbc | CipherMode::Cfb { .. } | CipherMode::OneShot(_));
        let sealed = public && self.direction == Direction::Decrypt;
        let mut inputs = Rows::default();
        let mut messages = Vec::with_capacity(self.lanes.len());
        for (lane, feed) in self.lanes.iter().zip(feeds) {
            messages.push(ModeMessage {
                direction: self.direction,
                iv: feed.iv.clone(),
                aad: Vec::new(),
                bytes: feed.text.len(),
                spare_bits: if algorithm == CFB1 { 7 } else { 0 },
                tag_bytes: 0,
                sealed: sealed.then(|| (feed.text.clone(), Vec::new())),
            });
            inputs.push(&[&lane.key, if sealed { &[] } else { &feed.text }]);
        }
        (job::ModesJob { mode, cipher: self.cipher, messages }.into(), inputs)
    }
}

const CFB1: VectorAlgorithm = VectorAlgorithm::OneShot(OneShot::Cfb1);

/// The state of one chain.
struct Feed {
    /// The next input.
    text: Vec<u8>,
    /// The IV of the next input.
    iv: Vec<u8>,
    /// Inputs for the first steps, before there is an answer: the segments of the IV.
    first: Vec<Vec<u8>>,
    answers: Vec<Vec<u8>>,
}

impl Feed {
    fn new(algorithm: VectorAlgorithm, direction: Direction, lane: &Thousand) -> Self {
        let bit = |i: usize| lane.iv.get(i / 8).map_or(0, |byte| byte << (i % 8) & 0x80);
        let first = match algorithm {
            CFB1 => (0..8 * lane.iv.len()).map(|i| vec![bit(i)]).collect(),
            VectorAlgorithm::Cfb8 => lane.iv.chunks(1).map(<[u8]>::to_vec).collect(),
            VectorAlgorithm::Ecb | VectorAlgorithm::TripleEcb => Vec::new(),
            // the first answer is the second input
            VectorAlgorithm::TripleCbc if direction == Direction::Decrypt => Vec::new(),
            _ => vec![lane.iv.clone()],
        };
        Feed { text: lane.text.clone(), iv: lane.iv.clone(), first, answers: Vec::new() }
    }

    /// Take an answer: the next message is an earlier answer or a part of the IV, and the next IV is the
    /// value that the mode chains.
    fn took(&mut self, algorithm: VectorAlgorithm, direction: Direction, answer: Vec<u8>) {
        let ciphertext = if direction == Direction::Encrypt { &answer } else { &self.text };
        match algorithm {
            VectorAlgorithm::Cbc | VectorAlgorithm::Cfb128 | VectorAlgorithm::TripleCbc => {
                self.iv = ciphertext.clone()
            }
            VectorAlgorithm::Ofb => self.iv = answer.iter().zip(&self.text).map(|(x, y)| x ^ y).collect(),
            VectorAlgorithm::Cfb8 => {
                self.iv.drain(..1);
                self.iv.extend_from_slice(ciphertext);
            }
            CFB1 => {
                let bit = ciphertext.first().map_or(0, |byte| byte >> 7);
                let carried: Vec<u8> = self.iv.iter().skip(1).map(|byte| byte >> 7).chain([bit]).collect();
                self.iv.iter_mut().zip(carried).for_each(|(byte, bit)| *byte = *byte << 1 | bit);
            }
            _ => {}
        }
        let fed = self.answers.len();
        self.answers.push(answer);
        let next = match fed.checked_sub(self.first.len()) {
            None => self.first.get(fed),
            Some(at) => self.answers.get(at),
        };
        self.text = next.cloned().unwrap_or_default();
    }
}

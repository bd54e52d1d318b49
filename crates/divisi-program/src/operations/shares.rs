//! The sharing of an operation's inputs, and the sums of its outputs, by the process that deals the inputs
//! and compares the results.

use super::{Op, Operations};
use crate::purposes;
use divisi_core::Prg;
use divisi_net::{Machine, World};
use zeroize::Zeroizing;

/// The words of a list of bytes, eight bytes each, the lowest first.
pub(super) fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).filter_map(|word| word.try_into().ok().map(u64::from_le_bytes)).collect()
}

/// The bytes of a list of words: the inverse of [`words`].
pub(super) fn bytes(words: impl IntoIterator<Item = u64>) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(words.into_iter().flat_map(u64::to_le_bytes).collect())
}

impl Operations {
    /// Shares of the inputs, a list of words as bytes for each party: of bits modulo 2, of numbers modulo p.
    pub fn shares(&self, inputs: impl Iterator<Item = u64>) -> Vec<Zeroizing<Vec<u8>>> {
        if self.job.op.is_random() {
            return vec![Zeroizing::default(); self.parties];
        }
        let mut key = Zeroizing::new([0; 16]);
        #[expect(clippy::disallowed_methods, reason = "inputs of measurements belong to no session")]
        Machine.entropy(key.as_mut_slice());
        let mut prg = Prg::of(purposes::SHARES, &key);
        let in_bits = matches!(self.job.op, Op::B2a | Op::Lookup2 | Op::Lookup);
        // the bits of an input
        let all = u64::MAX >> (64 - 8 * self.job.input_length());
        let numbers = inputs.map(|x| if in_bits { x } else { self.plain.reduce(x) });
        let mut first: Zeroizing<Vec<u64>> = Zeroizing::new(numbers.collect());
        let mut others = Vec::new();
        for _ in 1..self.parties {
            let mut share = Zeroizing::new(vec![0; first.len()]);
            prg.words(&mut share);
            for (first, share) in first.iter_mut().zip(share.iter_mut()) {
                if in_bits {
                    *share &= all;
                    *first ^= *share;
                } else {
                    *share = self.plain.reduce(*share);
                    *first = self.plain.sub(*first, *share);
                }
            }
            others.push(bytes(share.iter().copied()));
        }
        [bytes(first.iter().copied())].into_iter().chain(others).collect()
    }

    /// The output rows of `count` items from the outputs of each party, or the position of a party whose
    /// outputs have a wrong length.
    pub fn sums(&self, count: usize, outputs: &[Zeroizing<Vec<u8>>]) -> Result<Vec<u8>, usize> {
        let each = match self.job.op {
            Op::Dabit => 2,
            Op::TripleArith => 3,
            _ => 1,
        };
        let columns = if self.job.op == Op::TripleBool { 3 * count.div_ceil(64) } else { each * count };
        let lists: Vec<Vec<u64>> = outputs.iter().map(|output| words(output)).collect();
        if let Some(wrong) = lists.iter().position(|list| list.len() != columns) {
            return Err(wrong);
        }
        // a faulty party's numbers may be beyond p
        let p = self.plain;
        let sum = |at: usize| {
            lists.iter().fold(0, |sum, list| p.add(sum, p.reduce(list.get(at).copied().unwrap_or(0))))
        };
        let xor = |at: usize| lists.iter().fold(0, |sum, list| sum ^ list.get(at).copied().unwrap_or(0));
        let verdict = |right: bool| vec![u8::from(right)];
        let row = |i: usize| match self.job.op {
            Op::Dabit => verdict(xor(i) == sum(count + i) && xor(i) < 2),
            Op::TripleArith => verdict(p.mul(sum(i), sum(count + i)) == sum(2 * count + i)),
            Op::TripleBool => {
                let (at, words) = (i / 64, count.div_ceil(64));
                verdict((xor(at) & xor(words + at) ^ xor(2 * words + at)) >> (i % 64) & 1 == 0)
            }
            Op::A2b => xor(i).to_le_bytes().to_vec(),
            _ => sum(i).to_le_bytes().to_vec(),
        };
        Ok((0..count).flat_map(row).collect())
    }
}

//! Monte Carlo tests of hashes: chains of digests.

use super::{Calls, Stopped};
use crate::engine::Rows;
use crate::engine::job::{MessagesJob, PublicMessage};
use divisi_symmetric::algorithm::Settings;
use std::collections::VecDeque;

/// Chains of digests, in which earlier digests make the next message.
#[derive(Clone, Debug)]
pub struct Digests {
    /// The hash.
    pub settings: Settings,
    /// The number of digests that make a message: three for SHA-1 and SHA-2, one for SHA-3.
    pub joined: usize,
    /// In the standard's alternate version, the length in bytes to which a message is cut, or padded with
    /// zeros.
    pub message_bytes: Option<usize>,
    /// The start of each chain.
    pub starts: Vec<Vec<u8>>,
    /// The end of each chain.
    pub ends: Vec<Vec<u8>>,
}

impl Digests {
    pub(super) fn run(&self, calls: &mut Calls<'_>) -> Result<bool, Stopped> {
        let mut last: Vec<VecDeque<Vec<u8>>> =
            self.starts.iter().map(|start| vec![start.clone(); self.joined].into()).collect();
        for _ in 0..calls.chain {
            let mut inputs = Rows::default();
            let mut messages = Vec::with_capacity(last.len());
            for joined in &last {
                let mut message: Vec<u8> = joined.iter().flatten().copied().collect();
                if let Some(bytes) = self.message_bytes {
                    message.resize(bytes, 0);
                }
                messages.push(to_be_made(message.len()));
                inputs.push(&[&message]);
            }
            let job = MessagesJob { using: self.settings.clone(), key_bytes: 0, messages }.into();
            let answers = calls.call(&job, &inputs)?;
            for (joined, answer) in last.iter_mut().zip(answers.iter()) {
                joined.pop_front();
                joined.push_back(answer.to_vec());
            }
        }
        let right = last.iter().zip(&self.ends).all(|(joined, end)| joined.back() == Some(end));
        Ok(right && last.len() == self.ends.len())
    }
}

/// A message of this many bytes whose output is to be made.
pub(super) fn to_be_made(bytes: usize) -> PublicMessage {
    PublicMessage { bytes, spare_bits: 0, nonce: vec![0; 12], makes: true, received: None }
}

//! Digests of digests.

use super::{Calls, STEPS, Stopped};
use crate::engine::Rows;
use crate::engine::job::{Job, MessagesJob, PublicMessage};
use divisi_symmetric::algorithm::Settings;
use std::collections::VecDeque;

/// Digests of the digests before them.
#[derive(Clone, Debug)]
pub struct Digests {
    /// The hash.
    pub settings: Settings,
    /// How many digests make a message: three of SHA-1 and SHA-2, one of SHA-3.
    pub joined: usize,
    /// To how many bytes a message is cut, or filled up with zeros, in the standard's alternate version.
    pub message_bytes: Option<usize>,
    /// Where each thousand begins.
    pub starts: Vec<Vec<u8>>,
    /// And how it ends.
    pub ends: Vec<Vec<u8>>,
}

impl Digests {
    pub(super) fn run(&self, calls: &mut Calls<'_>) -> Result<bool, Stopped> {
        let mut last: Vec<VecDeque<Vec<u8>>> =
            self.starts.iter().map(|start| vec![start.clone(); self.joined].into()).collect();
        for _ in 0..STEPS {
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
            let job = Job::Messages(MessagesJob { using: self.settings.clone(), key_bytes: 0, messages });
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

/// A message of so many bytes whose output is to be made.
pub(super) fn to_be_made(bytes: usize) -> PublicMessage {
    PublicMessage { bytes, spare_bits: 0, nonce: vec![0; 12], makes: true, received: None }
}

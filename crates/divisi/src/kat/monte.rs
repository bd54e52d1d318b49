//! Monte Carlo tests (ACVP, AES 6.2 and SHA 6.2; SP 800-17): a thousand answers fed into one another, a
//! hundred times. Where each thousand begins and how it ends stands in the file, so that the thousands run
//! side by side, a lane each: a step of all of them is one call of the engine, whose answers are public as
//! the file is.
//!
//! They take long, so that they run where they are asked for (`--long`), with a word on standard error of
//! how far they are.

use super::{KatOptions, VectorAlgorithm, ended};
use crate::engine::job::{Cipher, CipherMode, Job, MessagesJob, PublicMessage, PublicText, TextsJob};
use crate::engine::{Rows, Unsupported, together};
use crate::failure::Failure;
use divisi_core::Direction;
use divisi_symmetric::algorithm::Settings;
use std::time::{Duration, Instant};

/// Why they are not run where nothing is said.
pub const NEEDS_LONG: &str = "needs --long";

/// Messages of gigabytes, which no engine is fed: also with `--long`.
pub const LARGE: &str = "a test of large data";

/// How many steps a thousand has.
const STEPS: usize = 1000;
/// How often a word is said.
const EVERY: Duration = Duration::from_secs(10);

/// A Monte Carlo test.
#[derive(Clone, Debug)]
pub struct Monte {
    /// Its number in the file.
    pub id: u64,
    /// What is computed.
    pub algorithm: VectorAlgorithm,
    /// How.
    pub kind: Fed,
}

/// What is fed into what.
#[derive(Clone, Debug)]
pub enum Fed {
    /// Texts in a mode of a block cipher.
    Texts {
        /// The cipher.
        cipher: Cipher,
        /// Which way.
        direction: Direction,
        /// Where each thousand begins, and how it ends.
        lanes: Vec<Thousand>,
    },
    /// Digests of the last three digests.
    Digests {
        /// The hash.
        settings: Settings,
        /// Where each thousand begins.
        starts: Vec<Vec<u8>>,
        /// And how it ends.
        ends: Vec<Vec<u8>>,
    },
}

/// A thousand of texts.
#[derive(Clone, Debug)]
pub struct Thousand {
    /// The key.
    pub key: Vec<u8>,
    /// The IV; empty where there is none.
    pub iv: Vec<u8>,
    /// The first text.
    pub text: Vec<u8>,
    /// The last answer.
    pub end: Vec<u8>,
}

/// What is said of how far it is.
struct Progress {
    name: String,
    begun: Instant,
    said: Instant,
}

impl Progress {
    fn new(name: String) -> Self {
        let now = Instant::now();
        Progress { name, begun: now, said: now }
    }

    fn at(&mut self, done: usize) {
        if self.said.elapsed() < EVERY && done != 20 {
            return;
        }
        self.said = Instant::now();
        let took = self.begun.elapsed().as_secs_f64();
        let left = took / done.max(1) as f64 * (STEPS.saturating_sub(done)) as f64;
        if left > 1.0 {
            eprintln!("divisi: {}: {done} of {STEPS} steps, about {left:.0} s to go", self.name);
        }
    }
}

impl Monte {
    /// Whether all thousands end as the file says; why not if the engine cannot. With it how many calls of
    /// the engine that took, and how many values were opened.
    pub(super) fn run(&self, options: &KatOptions) -> Result<Result<(bool, u64, u64), Unsupported>, Failure> {
        let mut progress = Progress::new(format!("{} #{}", self.algorithm, self.id));
        let (mut calls, mut openings) = (0, 0);
        let mut call = |job: &Job, inputs: &Rows| -> Result<Result<Rows, Unsupported>, Failure> {
            let prepared = match options.engine.prepare(job, &options.settings) {
                Ok(prepared) => prepared,
                Err(lacks) => return Ok(Err(lacks)),
            };
            let (outputs, counts) = together(&*prepared, &[], inputs).map_err(ended)?;
            calls += 1;
            openings += counts.openings;
            Ok(Ok(job.outputs(outputs, inputs.count())))
        };
        let right = match &self.kind {
            Fed::Texts { cipher, direction, lanes } => {
                let mut all: Vec<Feed> = lanes.iter().map(|lane| Feed::new(self.algorithm, lane)).collect();
                for step in 0..STEPS {
                    let (job, inputs) = texts(self.algorithm, *cipher, *direction, lanes, &all);
                    let answers = match call(&job, &inputs)? {
                        Ok(answers) => answers,
                        Err(lacks) => return Ok(Err(lacks)),
                    };
                    for (feed, answer) in all.iter_mut().zip(answers.iter()) {
                        feed.took(self.algorithm, *direction, answer.to_vec());
                    }
                    progress.at(step + 1);
                }
                all.iter().zip(lanes).all(|(feed, lane)| feed.answers.last() == Some(&lane.end))
            }
            Fed::Digests { settings, starts, ends } => {
                let mut last: Vec<[Vec<u8>; 3]> =
                    starts.iter().map(|start| [start.clone(), start.clone(), start.clone()]).collect();
                for step in 0..STEPS {
                    let mut inputs = Rows::default();
                    let mut messages = Vec::with_capacity(last.len());
                    for three in &last {
                        let message = three.concat();
                        messages.push(PublicMessage {
                            bytes: message.len(),
                            spare_bits: 0,
                            nonce: vec![0; 12],
                            makes: true,
                            received: None,
                        });
                        inputs.push(&[&message]);
                    }
                    let job = Job::Messages(MessagesJob { using: settings.clone(), key_bytes: 0, messages });
                    let answers = match call(&job, &inputs)? {
                        Ok(answers) => answers,
                        Err(lacks) => return Ok(Err(lacks)),
                    };
                    for (three, answer) in last.iter_mut().zip(answers.iter()) {
                        three.rotate_left(1);
                        three[2] = answer.to_vec();
                    }
                    progress.at(step + 1);
                }
                last.iter().zip(ends).all(|(three, end)| three[2] == *end)
            }
        };
        Ok(Ok((right, calls, openings)))
    }
}

/// One thousand, on its way.
struct Feed {
    /// What goes in next.
    text: Vec<u8>,
    /// The IV that it goes in with.
    iv: Vec<u8>,
    /// What is fed before there is an answer to feed: the IV's segments.
    first: Vec<Vec<u8>>,
    answers: Vec<Vec<u8>>,
    fed: usize,
}

impl Feed {
    fn new(algorithm: VectorAlgorithm, lane: &Thousand) -> Self {
        let first = match algorithm {
            VectorAlgorithm::Cfb8 => lane.iv.chunks(1).map(<[u8]>::to_vec).collect(),
            VectorAlgorithm::Ecb | VectorAlgorithm::TripleEcb => Vec::new(),
            _ => vec![lane.iv.clone()],
        };
        Feed { text: lane.text.clone(), iv: lane.iv.clone(), first, answers: Vec::new(), fed: 0 }
    }

    /// An answer came: the next text is the answer so many steps before, or a part of the IV; the next IV is
    /// what the mode chains with.
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
            _ => {}
        }
        self.answers.push(answer);
        let next = match self.fed.checked_sub(self.first.len()) {
            None => self.first.get(self.fed),
            Some(at) => self.answers.get(at),
        };
        self.text = next.cloned().unwrap_or_default();
        self.fed += 1;
    }
}

fn texts(
    algorithm: VectorAlgorithm,
    cipher: Cipher,
    direction: Direction,
    lanes: &[Thousand],
    feeds: &[Feed],
) -> (Job, Rows) {
    let mode = super::texts::mode(algorithm);
    let decrypts = direction == Direction::Decrypt;
    let mut inputs = Rows::default();
    let mut texts = Vec::with_capacity(lanes.len());
    for (lane, feed) in lanes.iter().zip(feeds) {
        let sealed = matches!(mode, CipherMode::Cbc | CipherMode::Cfb { .. }) && decrypts;
        texts.push(PublicText {
            direction,
            iv: feed.iv.clone(),
            aad: Vec::new(),
            bytes: feed.text.len(),
            spare_bits: 0,
            tag_bytes: 0,
            sealed: sealed.then(|| (feed.text.clone(), Vec::new())),
        });
        inputs.push(&[&lane.key, if sealed { &[] } else { &feed.text }]);
    }
    (Job::Texts(TextsJob { mode, cipher, texts }), inputs)
}

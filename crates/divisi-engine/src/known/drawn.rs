//! Known answers as circuits, for engines that only evaluate circuits: each function becomes a circuit, and
//! messages of equal lengths are instances of one circuit.
//!
//! Input values belong to the parties in turn (the key, then the message, then the tag that is compared), and
//! every party learns the outputs, which must be the same at all parties. For a tag that is only compared,
//! one bit is opened.

mod functions;
mod mode;

use super::taken;
use crate::circuit::{HeldCircuit, NamedCircuit};
use crate::cleanup::lock;
use crate::job::{AnswersJob, CipherMode, JobSpec, MessagesJob, ModeMessage, ModesJob, Own, PublicMessage};
use crate::{Rows, Unsupported};
use divisi_core::{Abort, Direction, Misuse, Step, step};
use functions::{block, gcm, message};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use zeroize::Zeroizing;

pub const KNOWN: Step = step!("known");

/// No circuit is drawn for a longer message: the gates of a hash would fill the memory.
const LONGEST_MESSAGE: usize = 1 << 10;

/// What a circuit computes. Lengths are in bytes; `spare_bits` is in bits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drawing {
    /// A block of a cipher. The inputs are key and message, with `counter` also the counter block.
    Block { counter: bool, decrypt: bool },
    /// A message in GCM. The inputs are key, message, IV and associated data, in decryption also the tag that
    /// is compared.
    Gcm { decrypt: bool, bytes: usize, iv: usize, aad: usize, tag: usize },
    /// The message at this position in the job, in a mode that chains blocks or takes a message as a whole.
    /// The inputs are key and message.
    Text { place: usize },
    /// A hash or MAC of a message of this length. The inputs are key and message, and with `compares` the tag
    /// that is compared. The IV is a constant.
    Message { compares: bool, bytes: usize, spare_bits: usize, iv: Vec<u8> },
}

/// The circuits that a job's messages need. Each circuit has a list of instances: the position of
/// a message in the job, and the number of the block in it.
pub struct Drawn<'j> {
    job: &'j AnswersJob,
    drawings: Vec<(Drawing, Vec<(usize, usize)>)>,
    /// The circuit that was made last, and its number. The size of a circuit grows with the length of its
    /// message, so only one circuit is kept.
    drawn: Mutex<Option<(usize, Arc<HeldCircuit>)>>,
}

impl<'j> Drawn<'j> {
    /// The circuits of a job, for the engine of this name.
    ///
    /// # Errors
    /// [`Unsupported`] for a mode or a message for which there is no circuit.
    pub fn new(job: &'j AnswersJob, engine: &str) -> Result<Self, Unsupported> {
        let mut drawings: BTreeMap<Drawing, Vec<(usize, usize)>> = BTreeMap::new();
        let mut instances = Vec::new();
        match job {
            AnswersJob::Modes(messages) => {
                let at_once = matches!(messages.mode, CipherMode::Ecb | CipherMode::Ctr | CipherMode::Gcm);
                let (aes, ghash) = (messages.cipher.aes().is_some(), messages.mode == CipherMode::Gcm);
                let no_circuit = match messages.mode {
                    CipherMode::Cmac => aes,
                    CipherMode::Gcm | CipherMode::OneShot(_) => !aes,
                    _ => false,
                };
                if no_circuit {
                    return Err(Unsupported::new(format!(
                        "a mode for which the engine {engine} has no circuit"
                    )));
                }
                taken::check(job)?;
                if !at_once {
                    return Drawn::messages(job, messages);
                }
                let counter = messages.mode == CipherMode::Ctr;
                for (i, message) in messages.messages.iter().enumerate() {
                    if ghash {
                        let (bytes, aad, tag) = (message.bytes, message.aad.len(), message.tag_bytes);
                        if bytes.max(aad).max(message.iv.len()) > LONGEST_MESSAGE {
                            instances.push(i);
                        }
                        let (decrypt, iv) = (message.sealed.is_some(), message.iv.len());
                        let drawing = Drawing::Gcm { decrypt, bytes, iv, aad, tag };
                        drawings.entry(drawing).or_default().push((i, 0));
                        continue;
                    }
                    // the pad is an encryption of the counter block in both directions
                    if message.bytes == 0 {
                        continue;
                    }
                    let decrypt = message.direction == Direction::Decrypt && !counter;
                    let places = drawings.entry(Drawing::Block { counter, decrypt }).or_default();
                    places.extend(
                        (0..message.bytes.div_ceil(messages.cipher.block_bytes())).map(|block| (i, block)),
                    );
                }
            }
            AnswersJob::Messages(messages) => {
                for (i, message) in messages.messages.iter().enumerate() {
                    if message.bytes.max(message.nonce.len()) > LONGEST_MESSAGE {
                        instances.push(i);
                    }
                    let wanted = [(false, message.makes), (true, message.received.is_some())];
                    for (compares, _) in wanted.into_iter().filter(|(_, wanted)| *wanted) {
                        let PublicMessage { bytes, spare_bits, .. } = *message;
                        let iv = message.nonce.clone();
                        let drawing = Drawing::Message { compares, bytes, spare_bits, iv };
                        drawings.entry(drawing).or_default().push((i, 0));
                    }
                }
            }
            AnswersJob::Chain(_) | AnswersJob::Large(_) => {
                return Err(Unsupported::new("a job without messages"));
            }
        }
        if !instances.is_empty() {
            let reason = format!("a message or an IV of more than {LONGEST_MESSAGE} bytes");
            return Err(Unsupported { reason, instances });
        }
        Ok(Drawn { job, drawings: drawings.into_iter().collect(), drawn: Mutex::default() })
    }

    /// A circuit for each message. An empty one has no circuit, unless its mode makes something of it.
    fn messages(job: &'j AnswersJob, messages: &ModesJob) -> Result<Self, Unsupported> {
        let is_drawn = |(_, public): &(usize, &ModeMessage)| mode::is_drawn(messages, public);
        let drawn: Vec<(usize, &ModeMessage)> =
            messages.messages.iter().enumerate().filter(is_drawn).collect();
        let too_long = |(_, public): &&(usize, &ModeMessage)| {
            public.aad.len() > LONGEST_MESSAGE || mode::calls(messages, public) > mode::MOST_CALLS
        };
        let instances: Vec<usize> = drawn.iter().filter(too_long).map(|(place, _)| *place).collect();
        if !instances.is_empty() {
            let most = mode::MOST_CALLS;
            let reason = format!("a message of more than {most} calls of the cipher, one circuit");
            return Err(Unsupported { reason, instances });
        }
        let drawing = |(place, _)| (Drawing::Text { place }, vec![(place, 0)]);
        Ok(Drawn { job, drawings: drawn.into_iter().map(drawing).collect(), drawn: Mutex::default() })
    }

    /// The number of circuits.
    pub fn count(&self) -> usize {
        self.drawings.len()
    }

    /// The instances of a circuit: for each the number of its message, and of the block in it.
    pub fn places(&self, number: usize) -> &[(usize, usize)] {
        self.drawings.get(number).map_or(&[], |(_, places)| places)
    }

    /// A digest of the list of circuits, for the parties to compare.
    pub fn digest(&self) -> [u8; 32] {
        // the public data of a job are constants in its circuits
        let all = format!("{:?} {:?}", self.drawings, self.job);
        blake3::derive_key("divisi 2026 known answers v1", all.as_bytes())
    }

    /// For each party its input values in all instances of all circuits, in the circuits' order.
    pub fn deal(&self, parties: usize, inputs: &Rows) -> Vec<Own> {
        let mut owns = vec![Own::default(); parties];
        for (drawing, places) in &self.drawings {
            for place in places {
                let values = Zeroizing::new(self.values(drawing, inputs.row(place.0), *place));
                for (i, value) in values.iter().enumerate() {
                    if let Some(own) = owns.get_mut(i % parties.max(1)) {
                        own.extend(to_bits(value));
                    }
                }
            }
        }
        owns
    }

    /// The rows of outputs, from the circuits' outputs, circuit after circuit and instance after instance.
    pub fn rows(&self, count: usize, outputs: Vec<Vec<Vec<u8>>>) -> Own {
        let mut rows = vec![Vec::new(); count];
        // an output comes before the verdict about a received one, and blocks come in their order
        for ((drawing, places), outputs) in self.drawings.iter().zip(outputs) {
            for ((i, _), output) in places.iter().zip(outputs) {
                if let Some(row) = rows.get_mut(*i) {
                    row.extend(self.arranged(drawing, output));
                }
            }
        }
        // an empty message has an empty row
        for (i, row) in rows.iter_mut().enumerate() {
            row.resize(self.job.output_bytes(i), 0);
        }
        Own::new(rows.concat())
    }

    /// An output of a circuit in the order of its row.
    fn arranged(&self, drawing: &Drawing, output: Vec<u8>) -> Vec<u8> {
        match (drawing, self.job) {
            (Drawing::Text { place }, AnswersJob::Modes(messages)) => match messages.messages.get(*place) {
                Some(public) => mode::arranged(messages.mode, public, output),
                None => output,
            },
            _ => output,
        }
    }

    /// The widths of the input values of a circuit, in bytes.
    fn widths(&self, drawing: &Drawing) -> Vec<usize> {
        match (drawing, self.job) {
            (Drawing::Block { counter, .. }, AnswersJob::Modes(messages)) => {
                let block = messages.cipher.block_bytes();
                [messages.cipher.key_bytes(), block, block][..if *counter { 3 } else { 2 }].to_vec()
            }
            (Drawing::Text { place }, AnswersJob::Modes(messages)) => {
                let secret =
                    messages.messages.get(*place).map_or(0, |message| message.secret_bytes(messages.mode));
                vec![messages.key_bytes(), secret]
            }
            (Drawing::Gcm { decrypt, bytes, iv, aad, tag }, AnswersJob::Modes(messages)) => {
                vec![messages.cipher.key_bytes(), *bytes, *iv, *aad, if *decrypt { *tag } else { 0 }]
            }
            (Drawing::Message { compares, bytes, .. }, AnswersJob::Messages(messages)) => {
                let tag = if *compares { messages.using.output_bytes } else { 0 };
                vec![messages.key_bytes, *bytes, tag]
            }
            _ => Vec::new(),
        }
    }

    /// A circuit by its number. It is made unless it was the last one that any party asked for.
    pub fn circuit(&self, number: usize) -> Result<Arc<HeldCircuit>, Abort> {
        let misfit = || Abort::Misuse { step: KNOWN, what: Misuse::CircuitUnfit };
        let mut last = lock(&self.drawn);
        if let Some((_, circuit)) = last.as_ref().filter(|(drawn, _)| *drawn == number) {
            return Ok(Arc::clone(circuit));
        }
        *last = None;
        let (drawing, _) = self.drawings.get(number).ok_or_else(misfit)?;
        let widths = self.widths(drawing);
        let program = match (drawing, self.job) {
            (Drawing::Block { counter, decrypt }, AnswersJob::Modes(job)) => {
                block(&widths, job.cipher, *counter, *decrypt)?
            }
            (Drawing::Gcm { decrypt, tag, .. }, _) => gcm(&widths, *decrypt, *tag)?,
            (Drawing::Text { place }, AnswersJob::Modes(job)) => {
                let message = job.messages.get(*place).ok_or_else(misfit)?;
                mode::program(&widths, job, message)?
            }
            (Drawing::Message { compares, spare_bits, iv, .. }, AnswersJob::Messages(job)) => {
                message(&widths, job, *compares, *spare_bits, iv)?
            }
            _ => return Err(misfit()),
        };
        let circuit = NamedCircuit { name: "known answers".into(), program, file: None };
        let circuit = Arc::new(HeldCircuit::Program(circuit));
        *last = Some((number, Arc::clone(&circuit)));
        Ok(circuit)
    }

    /// The input values of an instance in order, without those of no bytes, from the input row of its
    /// message.
    fn values(&self, drawing: &Drawing, row: &[u8], (i, block): (usize, usize)) -> Vec<Vec<u8>> {
        let (key, message) = row.split_at(self.key_bytes().min(row.len()));
        let mut values = match (drawing, self.job) {
            (Drawing::Block { counter, .. }, AnswersJob::Modes(job)) => {
                let width = job.cipher.block_bytes();
                let mut own = message.chunks(width).nth(block).unwrap_or_default().to_vec();
                own.resize(width, 0);
                let mut counted = job.messages.get(i).map(|message| message.iv.clone()).unwrap_or_default();
                counted.resize(width, 0);
                add(&mut counted, block);
                [key.to_vec(), own].into_iter().chain((*counter).then_some(counted)).collect()
            }
            (Drawing::Gcm { .. }, AnswersJob::Modes(job)) => match job.messages.get(i) {
                Some(own) => {
                    let (message, tag) = own.sealed.clone().unwrap_or_else(|| (message.to_vec(), Vec::new()));
                    vec![key.to_vec(), message, own.iv.clone(), own.aad.clone(), tag]
                }
                None => Vec::new(),
            },
            (Drawing::Text { .. }, _) => vec![key.to_vec(), message.to_vec()],
            (Drawing::Message { compares, .. }, AnswersJob::Messages(job)) => {
                let received = job.messages.get(i).and_then(|message| message.received.clone());
                let received = received.filter(|_| *compares).unwrap_or_default();
                vec![key.to_vec(), message.to_vec(), received]
            }
            _ => Vec::new(),
        };
        values.retain(|value| !value.is_empty());
        values
    }

    fn key_bytes(&self) -> usize {
        match self.job {
            AnswersJob::Modes(messages) => messages.key_bytes(),
            AnswersJob::Messages(MessagesJob { key_bytes, .. }) => *key_bytes,
            _ => 0,
        }
    }
}

/// Adds a number of blocks to a counter block, which is a big-endian integer that wraps around (SP 800-38A,
/// appendix B.1).
fn add(counter: &mut [u8], blocks: usize) {
    let mut carry = blocks as u128;
    for byte in counter.iter_mut().rev() {
        let sum = u128::from(*byte) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
}

/// The bits of a value in the order of a circuit's wires: the lowest bit of the last byte first.
fn to_bits(value: &[u8]) -> impl Iterator<Item = u8> + '_ {
    value.iter().rev().flat_map(|byte| (0..8).map(move |i| byte >> i & 1))
}

/// The bytes of an output from its wires: the inverse of [`to_bits`].
pub fn from_bits(bits: &[u8]) -> Vec<u8> {
    bits.chunks(8).rev().map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit & 1)).collect()
}

/// The output rows of a job from its circuits, evaluated in the clear; `None` if there are no circuits for
/// the job.
pub fn in_the_clear(job: &JobSpec, inputs: &Rows) -> Option<Rows> {
    let JobSpec::Answers(answers) = job else { return None };
    let drawn = Drawn::new(answers, "test").ok()?;
    let owns = drawn.deal(1, inputs);
    let mut own = owns.first()?.iter();
    let mut outputs = Vec::new();
    for number in 0..drawn.count() {
        let circuit = drawn.circuit(number).ok()?;
        let program = circuit.program().ok()?;
        let mut instances = Vec::new();
        for _ in drawn.places(number) {
            let wires: Vec<Vec<u64>> =
                own.by_ref().take(program.input_bits()).map(|bit| vec![u64::from(*bit)]).collect();
            let out = divisi_circuit::plain::run(program, &wires).ok()?;
            let bits: Vec<u8> =
                out.iter().map(|wire| wire.first().map_or(0, |word| (word & 1) as u8)).collect();
            instances.push(from_bits(&bits));
        }
        outputs.push(instances);
    }
    let all = drawn.rows(inputs.count(), outputs);
    Some(job.outputs(all.to_vec(), inputs.count()))
}

#[cfg(test)]
mod tests;

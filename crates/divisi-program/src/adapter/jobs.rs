//! Jobs on numbers and bits: single operations, and programs.

use super::images::{APPLICATION, LabelledImages};
use crate::held::HeldProgram;
use crate::plain::{Entries, evaluate};
use divisi_core::Prg;
use divisi_engine::job::EngineJob;
use divisi_engine::name::Name;
use divisi_engine::{ExpectedOutput, Failure, Own, Rows, members};
use divisi_net::{Machine, World};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::ffi::OsString;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A program on numbers and bits.
#[derive(Clone)]
pub struct ProgramJob {
    /// The program.
    pub program: Arc<HeldProgram>,
    /// The number of runs, one after the other.
    pub count: usize,
    /// The images that are read; `None` for the program's own samples.
    pub images: Option<Arc<LabelledImages>>,
}

impl ProgramJob {
    /// The runs of the application or the program's file of this name, on images if they are given.
    ///
    /// # Errors
    /// [`Failure`] if the file cannot be read, or if the program reads no images, or more than there are.
    pub fn load(
        name: &Name,
        images: Option<Arc<LabelledImages>>,
        count: usize,
    ) -> Result<ProgramJob, Failure> {
        if images.is_some() && name.unicode() != Some(APPLICATION) {
            let error = format!("{name} reads no images: give --program {APPLICATION}");
            return Err(Failure::usage(error));
        }
        if let Some(images) = images.as_ref().filter(|images| images.len() < count) {
            let error = format!("there are {} images: give a --count of at most that", images.len());
            return Err(Failure::usage(error));
        }
        Ok(ProgramJob { program: Arc::new(HeldProgram::load(name)?), count, images })
    }
}

/// Operations on numbers and bits. An input is a number of four bytes, the lowest first; an output is a
/// number of eight bytes, or, for operations without inputs, a byte that is 1 if the result is consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationJob {
    /// The operation.
    pub op: Op,
    /// The number of bits of a number that is converted from bits.
    pub bits: usize,
    /// The number of entries of a table.
    pub entries: usize,
    /// Whether each lookup has a private table of its own, instead of one public table for all.
    pub private: bool,
    /// The number of items.
    pub count: usize,
}

/// An operation on numbers and bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// Random bits shared modulo 2 and modulo p.
    Dabit,
    /// Bits to numbers.
    B2a,
    /// Numbers to bits.
    A2b,
    /// A ciphertext to shares.
    E2a,
    /// Shares to a ciphertext.
    A2e,
    /// Lookups in public tables of two entries.
    Lookup2,
    /// Lookups in tables of up to 256 entries.
    Lookup,
    /// Triples of numbers.
    TripleArith,
    /// Triples of bits.
    TripleBool,
}

impl Op {
    /// All operations.
    pub const ALL: [Op; 9] = [
        Op::Dabit,
        Op::B2a,
        Op::A2b,
        Op::E2a,
        Op::A2e,
        Op::Lookup2,
        Op::Lookup,
        Op::TripleArith,
        Op::TripleBool,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Op::Dabit => "dabit",
            Op::B2a => "b2a",
            Op::A2b => "a2b",
            Op::E2a => "e2a",
            Op::A2e => "a2e",
            Op::Lookup2 => "lookup2",
            Op::Lookup => "lookup",
            Op::TripleArith => "triple-arith",
            Op::TripleBool => "triple-bool",
        }
    }

    /// Whether the operation has no inputs.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Op::Dabit | Op::TripleArith | Op::TripleBool)
    }
}

impl std::str::FromStr for Op {
    type Err = String;

    fn from_str(name: &str) -> Result<Op, String> {
        let names = || Op::ALL.map(Op::name).join(", ");
        Op::ALL.into_iter().find(|op| op.name() == name).ok_or_else(|| format!("choose one of {}", names()))
    }
}

/// The length of the entries of a program's value, in bytes: eight a number, one a bit.
#[must_use]
pub fn length(value: &crate::Value) -> usize {
    let each = match value.kind() {
        crate::ValueKind::Num => 8,
        crate::ValueKind::Bits(width) => width,
    };
    value.shape().entries() * each
}

/// Entries as bytes: eight a number, the lowest first, or one a bit.
pub fn encode(entries: &Entries, out: &mut Own) {
    match entries {
        Entries::Num(numbers) => numbers.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        Entries::Bits(words) => words.iter().flatten().for_each(|bit| out.push(u8::from(*bit))),
    }
}

/// The inverse of [`encode`]: the entries of a value, and the bytes that follow them. `None` for bytes that
/// [`encode`] does not write.
#[must_use]
pub fn decode<'b>(value: &crate::Value, bytes: &'b [u8]) -> Option<(Entries, &'b [u8])> {
    let (own, rest) = bytes.split_at_checked(length(value))?;
    let entries = match value.kind() {
        crate::ValueKind::Num => {
            let number = |bytes: &[u8]| bytes.try_into().ok().map(i64::from_le_bytes);
            Entries::Num(own.chunks_exact(8).map(number).collect::<Option<_>>()?)
        }
        crate::ValueKind::Bits(width) => {
            let bit = |byte: &u8| (*byte <= 1).then_some(*byte == 1);
            let word = |bytes: &[u8]| bytes.iter().map(bit).collect::<Option<Vec<bool>>>();
            Entries::Bits(own.chunks_exact(width.max(1)).map(word).collect::<Option<_>>()?)
        }
    };
    Some((entries, rest))
}

/// A job as one process sends it to another, which reads the program's file again.
#[derive(Serialize, Deserialize)]
enum Message {
    Program { name: OsString, digest: [u8; 32], count: u64 },
    Operation { op: String, bits: u64, entries: u64, private: bool, count: u64 },
}

impl Message {
    fn bytes(&self) -> Vec<u8> {
        // nothing in a message fails to be encoded; a job that is none is refused by the reader
        postcard::to_stdvec(self).unwrap_or_default()
    }
}

/// An operation as a message.
pub(super) fn message(job: OperationJob) -> Vec<u8> {
    let OperationJob { op, bits, entries, private, count } = job;
    let [bits, entries, count] = [bits, entries, count].map(|n| n as u64);
    Message::Operation { op: op.name().to_owned(), bits, entries, private, count }.bytes()
}

/// Read a job that another process has sent.
///
/// # Errors
/// [`Failure`] if the message is not one, or the program's file cannot be read or has changed.
pub(super) fn read(message: &[u8]) -> Result<Arc<dyn EngineJob>, Failure> {
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let message = postcard::from_bytes(message)
        .map_err(|_| Failure::usage("a job that is none: use one version of divisi for all parties"))?;
    Ok(match message {
        Message::Program { name, digest, count } => {
            let program = Arc::new(HeldProgram::load(name)?);
            if program.digest() != digest {
                let error = format!("{} has changed meanwhile: leave it as it is", program.name());
                return Err(Failure::usage(error));
            }
            Arc::new(ProgramJob { program, count: number(count), images: None })
        }
        Message::Operation { op, bits, entries, private, count } => Arc::new(OperationJob {
            op: op.parse().map_err(|e: String| Failure::usage(e))?,
            bits: number(bits),
            entries: number(entries),
            private,
            count: number(count),
        }),
    })
}

impl EngineJob for ProgramJob {
    fn count(&self) -> usize {
        self.count
    }

    /// The entries of all inputs: eight bytes a number, the lowest first, and one byte a bit.
    fn input_bytes(&self) -> usize {
        self.program.program().inputs().iter().map(|input| length(&input.value)).sum()
    }

    /// The entries of all outputs, in the same form.
    fn output_bytes(&self) -> usize {
        self.program.program().outputs().iter().map(|output| length(&output.value)).sum()
    }

    /// By evaluation in the clear.
    fn expected(&self) -> ExpectedOutput {
        let held = Arc::clone(&self.program);
        Box::new(move |_, mut row| {
            let mut inputs = Vec::new();
            for input in held.program().inputs() {
                let (entries, rest) = decode(&input.value, row)?;
                row = rest;
                inputs.push(entries);
            }
            let mut out = Own::default();
            evaluate(held.program(), &inputs).ok()?.iter().for_each(|entries| encode(entries, &mut out));
            Some(out.to_vec())
        })
    }

    /// The user's images, or an application's own inputs, or random valid ones.
    fn inputs(&self, first: usize, count: usize) -> Result<Option<Rows>, Failure> {
        let mut key = Zeroizing::new([0; 16]);
        Machine.entropy(key.as_mut_slice());
        let (mut prg, mut rows) = (Prg::new(&key), Rows::default());
        let mut draw = |below: u64| {
            let mut word = [0];
            prg.words(&mut word);
            word[0] % below.max(1)
        };
        for i in 0..count {
            let mut row = Own::default();
            let samples = match &self.images {
                Some(images) => images.inputs(first + i)?,
                None => self.program.samples(&mut draw)?,
            };
            samples.iter().for_each(|entries| encode(entries, &mut row));
            rows.push(&[&row]);
        }
        Ok(Some(rows))
    }

    fn right(&self, first: usize, outputs: &Rows) -> Option<usize> {
        let images = self.images.as_ref()?;
        let logits = self.program.program().outputs().first()?;
        let is_right = |(i, row): &(usize, &[u8])| {
            let logits = decode(&logits.value, row);
            matches!(&logits, Some((Entries::Num(x), _)) if images.is_right(first + i, x))
        };
        Some(outputs.iter().enumerate().filter(is_right).count())
    }

    fn facts(&self, count: usize, right: usize) -> Map<String, Json> {
        match &self.images {
            Some(_) => members(json!({ "images": count, "images_right": right })),
            None => Map::new(),
        }
    }

    fn message(&self) -> Vec<u8> {
        let (name, digest) = (self.program.name().exact().to_owned(), self.program.digest());
        Message::Program { name, digest, count: self.count as u64 }.bytes()
    }

    fn counted(&self, count: usize) -> Arc<dyn EngineJob> {
        Arc::new(ProgramJob { count, ..self.clone() })
    }
}

#[cfg(test)]
mod fuzz {
    use super::*;

    /// Entries that are decoded are encoded to the same bytes.
    #[test]
    fn random_entries() {
        let body =
            "divisi program 1\ninput x 1 num 2x2\ninput y 2 bits 7 3\ninput z 1 bits 130 1\noutput x 1\n";
        let program = crate::text::read(body, &|_| Err("no circuits".into())).unwrap();
        let values: Vec<crate::Value> = program.inputs().iter().map(|input| input.value.clone()).collect();
        let written = |all: &[Entries]| {
            let mut out = Own::default();
            all.iter().for_each(|entries| encode(entries, &mut out));
            out.to_vec()
        };
        let some = [
            Entries::Num(vec![1, -2, i64::MAX, 4]),
            Entries::Bits(vec![vec![true; 7]; 3]),
            Entries::Bits(vec![vec![false; 130]]),
        ];
        let seeds = [written(&some), written(&some[..1])];
        divisi_fuzz::run("entries", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let (mut rest, mut all) = (bytes, Vec::new());
            for value in &values {
                let Some((entries, others)) = decode(value, rest) else { break };
                rest = others;
                all.push(entries);
            }
            let again = written(&all);
            if bytes.starts_with(&again) { Ok(!all.is_empty()) } else { Err("other entries".into()) }
        });
    }
}

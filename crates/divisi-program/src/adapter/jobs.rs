//! Jobs on numbers and bits: single operations, and programs.

use crate::entries::{decode, encode, length};
use crate::held::HeldProgram;
use crate::images::{APPLICATION, LabelledImages};
use crate::operations::OperationJob;
use crate::plain::{Entries, evaluate};
use crate::purposes;
use crate::size::NumberSize;
use divisi_core::Prg;
use divisi_engine::job::EngineJob;
use divisi_engine::name::Name;
use divisi_engine::{ExpectedOutput, Failure, Own, Rows, Unsupported, members};
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
        let job = ProgramJob { program: Arc::new(HeldProgram::load(name)?), count, images };
        job.check_images()?;
        Ok(job)
    }

    /// Check that the program reads images if there are some, and not more than there are.
    pub(super) fn check_images(&self) -> Result<(), Unsupported> {
        let Some(images) = &self.images else { return Ok(()) };
        let name = self.program.name();
        if name.unicode() != Some(APPLICATION) {
            let error = format!("{name} reads no images: give --program {APPLICATION}");
            return Err(Unsupported::new(error));
        }
        if images.len() < self.count {
            let error = format!("there are {} images: give a --count of at most that", images.len());
            return Err(Unsupported::new(error));
        }
        Ok(())
    }
}

/// A job as one process sends it to another, which reads the program's file again.
#[derive(Serialize, Deserialize)]
enum Message {
    Program {
        name: OsString,
        digest: [u8; 32],
        count: u64,
    },
    Operation {
        op: String,
        bits: u64,
        entries: u64,
        private: bool,
        count: u64,
    },
    /// The same on numbers of another size, given by its bits.
    OperationOfSize {
        numbers: u32,
        op: String,
        bits: u64,
        entries: u64,
        private: bool,
        count: u64,
    },
}

impl Message {
    fn bytes(&self) -> Vec<u8> {
        // nothing in a message fails to be encoded; a job that is none is refused by the reader
        postcard::to_stdvec(self).unwrap_or_default()
    }
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
        Message::Operation { op, bits, entries, private, count } => {
            Arc::new(operation(NumberSize::default(), &op, [bits, entries, count], private)?)
        }
        Message::OperationOfSize { numbers, op, bits, entries, private, count } => {
            let size = NumberSize::ALL.into_iter().find(|size| size.bits() == numbers);
            let size = size.filter(|size| *size != NumberSize::default());
            let size =
                size.ok_or_else(|| Failure::usage(format!("there are no numbers of {numbers} bits")))?;
            Arc::new(operation(size, &op, [bits, entries, count], private)?)
        }
    })
}

fn operation(numbers: NumberSize, op: &str, sizes: [u64; 3], private: bool) -> Result<OperationJob, Failure> {
    let op = op.parse().map_err(|e: String| Failure::usage(e))?;
    let [bits, entries, count] = sizes.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    Ok(OperationJob { op, numbers, bits, entries, private, count })
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
        #[expect(clippy::disallowed_methods, reason = "inputs of examples belong to no session")]
        Machine.entropy(key.as_mut_slice());
        let (mut prg, mut rows) = (Prg::of(purposes::EXAMPLES, &key), Rows::default());
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

impl EngineJob for OperationJob {
    fn count(&self) -> usize {
        self.count
    }

    fn input_bytes(&self) -> usize {
        self.input_length()
    }

    fn output_bytes(&self) -> usize {
        if self.op.is_random() { 1 } else { 8 }
    }

    fn expected(&self) -> ExpectedOutput {
        let job = *self;
        Box::new(move |number, row| job.expected(number, row))
    }

    fn message(&self) -> Vec<u8> {
        let OperationJob { op, numbers, bits, entries, private, count } = *self;
        let [bits, entries, count] = [bits, entries, count].map(|n| n as u64);
        let op = op.name().to_owned();
        let message = match numbers {
            NumberSize::Bits31 => Message::Operation { op, bits, entries, private, count },
            wide => Message::OperationOfSize { numbers: wide.bits(), op, bits, entries, private, count },
        };
        message.bytes()
    }

    fn counted(&self, count: usize) -> Arc<dyn EngineJob> {
        Arc::new(OperationJob { count, ..*self })
    }
}

#[cfg(test)]
mod fuzz {
    use super::*;

    /// Jobs of each kind. A message that is accepted is encoded again in the same way.
    #[test]
    fn random_jobs() {
        let seeds = [
            Message::Program { name: "program.txt".into(), digest: [8; 32], count: 1 },
            Message::Operation { op: "mul".into(), bits: 32, entries: 8, private: false, count: 9 },
            Message::Operation { op: "b2a".into(), bits: 32, entries: 8, private: true, count: 300 },
            Message::OperationOfSize {
                numbers: 61,
                op: "a2b".into(),
                bits: 62,
                entries: 8,
                private: false,
                count: 7,
            },
        ];
        let seeds = seeds.map(|message| message.bytes());
        divisi_fuzz::golden("jobs", env!("CARGO_MANIFEST_DIR"), &seeds);
        divisi_fuzz::run("jobs", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let Ok(message) = postcard::from_bytes::<Message>(bytes) else { return Ok(false) };
            let once = message.bytes();
            if postcard::from_bytes::<Message>(&once).map(|message| message.bytes()) != Ok(once.clone()) {
                return Err("another job".into());
            }
            if matches!(message, Message::Program { .. }) {
                return Ok(true);
            }
            match read(&once) {
                Ok(job) if job.message() != once => Err("a job that is encoded otherwise".into()),
                _ => Ok(true),
            }
        });
    }
}

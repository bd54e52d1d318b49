//! The inputs of a benchmark: random rows, or inputs of a program; and the number of a user's images whose
//! digits were read rightly.

use crate::engine::job::{Job, ProgramJob, decode, encode};
use crate::engine::{Own, Rows, members};
use crate::failure::Failure;
use divisi_core::Prg;
use divisi_net::{Machine, World};
use divisi_program::plain::Entries;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

/// The number of a user's images that a repetition has read, and of those whose digits were read rightly.
#[derive(Clone, Copy, Default)]
pub(super) struct Read {
    images: usize,
    right: usize,
}

/// The next `count` input rows of a repetition that has read the images in `before` already.
pub(super) fn rows(job: &Job, count: usize, before: Read) -> Result<Rows, Failure> {
    if let Job::Program(job) = job {
        return of_program(job, count, before);
    }
    let widths = || (0..count).map(|i| job.input_bytes(i));
    let mut bytes = vec![0; widths().sum()];
    Machine.entropy(&mut bytes);
    Ok(Rows::cut(bytes, widths()))
}

fn of_program(job: &ProgramJob, count: usize, before: Read) -> Result<Rows, Failure> {
    let mut key = Zeroizing::new([0; 16]);
    Machine.entropy(key.as_mut_slice());
    let (mut prg, mut rows) = (Prg::new(&key), Rows::default());
    let mut draw = |below: u64| {
        let mut word = [0];
        prg.words(&mut word);
        word[0] % below.max(1)
    };
    for _ in 0..count {
        // an application's own inputs, or random valid ones
        let mut row = Own::default();
        let samples = match &job.images {
            Some(images) => images.inputs(before.images + rows.count())?,
            None => job.program.samples(&mut draw)?,
        };
        samples.iter().for_each(|entries| encode(entries, &mut row));
        rows.push(&[&row]);
    }
    Ok(rows)
}

impl Read {
    /// Count the images of these outputs, if the job reads images.
    pub(super) fn count(&mut self, job: &Job, outputs: &Rows) {
        let Job::Program(ProgramJob { images: Some(images), program, .. }) = job else { return };
        for row in outputs.iter() {
            let logits = program.program().outputs().first();
            let logits = logits.and_then(|output| decode(&output.value, row));
            let right = matches!(&logits, Some((Entries::Num(x), _)) if images.is_right(self.images, x));
            self.images += 1;
            self.right += usize::from(right);
        }
    }

    /// The counts as JSON members; none if the job reads no images.
    pub(super) fn facts(self, job: &Job) -> Map<String, Value> {
        match job {
            Job::Program(ProgramJob { images: Some(_), .. }) => {
                members(json!({ "images": self.images, "images_right": self.right }))
            }
            _ => Map::new(),
        }
    }
}

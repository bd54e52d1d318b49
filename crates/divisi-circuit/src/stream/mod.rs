//! Circuits that stay in their file: looked through once, then run from it as often as needed, gate by gate, in five bytes a wire and
//! what the live wires take.
//!
//! What a run is given are steps on slots, as of a [`Program`](crate::Program), but in the file's order and without levels. What
//! everybody knows is folded on the way, so that **no step reads a wire with a public value, or one wire twice**: constants, a wire
//! with itself (be it behind copies or negations), products and sums with constants. A copy is the wire itself. A negation is a sign on it,
//! which becomes a step where a product or an output reads it.
//!
//! The file may change between two readings. Each one ends with a comparison of its length and its digest with those of the first, and
//! [`Stream::walk`] says [`Fault::Changed`] then. What a reading gave before its end is the circuit of whatever bytes were there: slots are always
//! below [`Stream::slots`], and no step has a public operand or two equal ones; but **nothing of it may be released before the walk ended well**.

mod origin;
mod walk;

pub use origin::{Fault, LONGEST, Origin};

use crate::bristol::{Counts, Format, Header, Survey, survey};
use crate::program::Slot;
use origin::Reading;
use std::fmt;
use std::sync::Arc;
use walk::Walk;

/// One step of a run. `out` may be one of the operands' slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `out = x + y`.
    Xor {
        /// Where the result goes.
        out: Slot,
        /// One operand.
        x: Slot,
        /// The other, not the same.
        y: Slot,
    },
    /// `out = x + 1`.
    Not {
        /// Where the result goes.
        out: Slot,
        /// The operand.
        x: Slot,
    },
    /// The next product, `x y`: its result waits. No step writes a slot that a waiting product reads.
    And {
        /// One operand.
        x: Slot,
        /// The other, not the same.
        y: Slot,
    },
    /// The oldest result that waits.
    Take {
        /// Where it goes.
        out: Slot,
    },
}

/// Where an output bit is in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// In a slot.
    Slot(Slot),
    /// Everybody knows it.
    Constant(bool),
}

/// A circuit in its file.
#[derive(Clone)]
pub struct Stream {
    origin: Arc<dyn Origin>,
    length: u64,
    digest: [u8; 32],
    survey: Arc<Survey>,
    slots: usize,
    ands: usize,
    results: Arc<[End]>,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stream { origin, slots, ands, .. } = self;
        f.debug_struct("Stream").field("origin", origin).field("slots", slots).field("ands", ands).finish()
    }
}

impl Stream {
    /// Looks through a file, in two readings.
    ///
    /// # Errors
    /// [`Fault::Wrong`] as [`read`](crate::bristol::read) says it, or if the file has more than [`LONGEST`] bytes; the other faults.
    pub fn open(origin: impl Origin + 'static) -> Result<Stream, Fault> {
        let mut reading = Reading::new(&origin, None)?;
        let length = reading.length();
        let survey = survey(&mut reading, usize::try_from(length).unwrap_or(usize::MAX))?;
        let digest = reading.finish()?;
        let mut stream = Stream {
            origin: Arc::new(origin),
            length,
            digest,
            survey: Arc::new(survey),
            slots: 0,
            ands: 0,
            results: Arc::new([]),
        };
        let mut walk = Walk::new(&stream.survey, usize::MAX);
        stream.read(&mut walk, &mut |_| Ok::<(), Fault>(()))?;
        let (slots, ands, results) = (walk.slots(), walk.ands(), walk.results());
        (stream.slots, stream.ands, stream.results) = (slots, ands, results.into());
        Ok(stream)
    }

    /// Gives its steps to `step`, in one reading: the same ones to all who have the same file.
    ///
    /// # Errors
    /// The first of `step`; [`Fault::Changed`] or [`Fault::Unreadable`] if the file is not what it was, at the latest after the last step.
    pub fn walk<E: From<Fault>>(&self, mut step: impl FnMut(Step) -> Result<(), E>) -> Result<(), E> {
        let mut walk = Walk::new(&self.survey, self.slots);
        self.read(&mut walk, &mut step)?;
        let same =
            walk.slots() == self.slots && walk.ands() == self.ands && walk.results()[..] == self.results[..];
        if same { Ok(()) } else { Err(Fault::Changed.into()) }
    }

    /// That the file is what it was, byte for byte: one reading, without a look at the gates.
    ///
    /// # Errors
    /// [`Fault::Changed`] or [`Fault::Unreadable`].
    pub fn unchanged(&self) -> Result<(), Fault> {
        let mut reading = Reading::new(&*self.origin, Some(self.length))?;
        std::io::copy(&mut reading, &mut std::io::sink())?;
        if reading.finish()? == self.digest { Ok(()) } else { Err(Fault::Changed) }
    }

    fn read<E: From<Fault>>(
        &self,
        walk: &mut Walk<'_>,
        step: &mut impl FnMut(Step) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reading = Reading::new(&*self.origin, Some(self.length))?;
        walk.run(&mut reading, step)?;
        if reading.finish()? == self.digest { Ok(()) } else { Err(Fault::Changed.into()) }
    }

    fn header(&self) -> &Header {
        &self.survey.header
    }

    /// The width of each input value in wires.
    #[must_use]
    pub fn inputs(&self) -> &[usize] {
        &self.header().inputs
    }

    /// The width of each output value in wires.
    #[must_use]
    pub fn outputs(&self) -> &[usize] {
        &self.header().outputs
    }

    /// How many input wires there are. Input wire `i` stands in slot `i`.
    #[must_use]
    pub fn input_bits(&self) -> usize {
        self.inputs().iter().sum()
    }

    /// How many wires are held at once.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Products among the steps: those of the file but for what everybody knows.
    #[must_use]
    pub fn and_count(&self) -> usize {
        self.ands
    }

    /// Where the output wires are in the end. A slot may stand here twice.
    #[must_use]
    pub fn results(&self) -> &[End] {
        &self.results
    }

    /// How the file is written.
    #[must_use]
    pub fn format(&self) -> Format {
        self.header().format
    }

    /// What the file has.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.survey.counts
    }

    /// The longest chain of products in the file.
    #[must_use]
    pub fn and_depth(&self) -> usize {
        self.survey.and_depth
    }

    /// A digest of the file, byte for byte.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }
}

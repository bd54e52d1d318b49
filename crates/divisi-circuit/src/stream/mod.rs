//! Circuits that stay in their file: looked through once, then run from it as often as needed, gate by gate,
//! in five bytes a wire and what the live wires take.
//!
//! What a run is given are steps on slots, as of a [`Program`](crate::Program), but in the file's order and
//! without levels. What everybody knows is folded on the way, so that **no step reads a wire with a public
//! value, or one wire twice**: constants, a wire with itself (be it behind copies or negations), products and
//! sums with constants. A copy is the wire itself. A negation is a sign on it, which becomes a step where a
//! product or an output reads it.
//!
//! The file may change between two readings. The first one keeps a digest of every piece of 64 KiB, and no
//! later one believes a byte before its whole piece was compared: a run goes through the gates that were
//! surveyed, and ends with [`CircuitFault::Changed`] where the file is another. What it gave before that is the
//! beginning of the right circuit.
//!
//! Memory is five bytes a wire, 32 a piece, and what the longest line takes: with `MAND` some 90 bytes a
//! product of it. A wire that is read 255 times or more keeps its slot to the end.

mod origin;
mod walk;

pub use origin::{CircuitFault, LONGEST, Origin};

use crate::bristol::{BitOrder, FileCounts, Format, Header, Survey, survey};
use crate::program::Slot;
use origin::{Pieces, Reading};
use std::fmt;
use std::sync::Arc;
use walk::Walk;

/// One step of a run. `out` may be one of the operands' slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateStep {
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
    pieces: Arc<Pieces>,
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
    /// [`CircuitFault::Wrong`] as [`read`](crate::bristol::read) says it, or if the file has more than [`LONGEST`]
    /// bytes; the other faults.
    pub fn open(origin: impl Origin + 'static) -> Result<Stream, CircuitFault> {
        let mut reading = Reading::new(&origin, None)?;
        let length = reading.length();
        let surveyed = survey(&mut reading, length);
        if let Some(fault) = reading.fault() {
            return Err(fault);
        }
        let survey = surveyed?;
        let pieces = Arc::new(reading.finish()?);
        let mut stream = Stream {
            origin: Arc::new(origin),
            pieces,
            survey: Arc::new(survey),
            slots: 0,
            ands: 0,
            results: Arc::new([]),
        };
        let mut walk = Walk::new(&stream.survey, usize::MAX);
        stream.read(&mut walk, &mut |_| Ok::<(), CircuitFault>(()))?;
        let (slots, ands, results) = (walk.slots(), walk.ands(), walk.results());
        (stream.slots, stream.ands, stream.results) = (slots, ands, results.into());
        Ok(stream)
    }

    /// Gives its steps to `step`, in one reading: the same ones to all who have the same file.
    ///
    /// # Errors
    /// The first of `step`; [`CircuitFault::Changed`] or [`CircuitFault::Unreadable`] where the file is not what it was: no
    /// step is of another file.
    pub fn walk<E: From<CircuitFault>>(
        &self,
        mut step: impl FnMut(GateStep) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut walk = Walk::new(&self.survey, self.slots);
        self.read(&mut walk, &mut step)?;
        let same =
            walk.slots() == self.slots && walk.ands() == self.ands && walk.results()[..] == self.results[..];
        if same { Ok(()) } else { Err(CircuitFault::Changed.into()) }
    }

    fn read<E: From<CircuitFault>>(
        &self,
        walk: &mut Walk<'_>,
        step: &mut impl FnMut(GateStep) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reading = Reading::new(&*self.origin, Some(&self.pieces))?;
        let length = reading.length();
        let went = walk.run(&mut reading, length, step);
        if let Some(fault) = reading.fault() {
            return Err(fault.into());
        }
        went?;
        reading.finish()?;
        Ok(())
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

    /// In which order the wires of its values stand, if it is a published file that is known.
    #[must_use]
    pub fn order(&self) -> Option<BitOrder> {
        self.survey.order
    }

    /// What the file has.
    #[must_use]
    pub fn counts(&self) -> FileCounts {
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
        self.pieces.digest()
    }
}

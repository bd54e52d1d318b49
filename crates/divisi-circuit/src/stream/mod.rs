//! Circuits that are run directly from their file, as often as needed. The memory is five bytes for each
//! wire, and the values of the wires that exist at one time.
//!
//! A run gets steps on slots, like those of a [`Program`](crate::Program), but in the file's order and
//! without levels. Public values are folded while the file is read, so that **no step reads a wire with a
//! public value, or one wire twice**. Folded are constants, gates on a wire and itself (also behind copies or
//! negations), and XORs and ANDs with constants. A copy is another name of its wire. A negation is noted at
//! the wire, and becomes a step if an AND or an output reads it.
//!
//! The file may change between two readings. The first reading keeps a digest of every piece of 64 KiB. Later
//! readings use no byte of a piece before they have compared its digest. So a run processes the gates that
//! were checked at first, and ends with [`CircuitFault::Changed`] where the file differs; the steps before
//! that are the beginning of the right circuit.
//!
//! Memory: five bytes for each wire, 32 for each piece, and that of the longest line (a `MAND` takes about 90
//! bytes for each of its ANDs). A wire that is read 255 times or more keeps its slot to the end.

mod origin;
mod translate;

pub use origin::{CircuitFault, LONGEST, Origin};

use crate::bristol::{BitOrder, FileCounts, Format, Header, Survey, survey};
use crate::program::Slot;
use origin::{Pieces, Reading};
use std::fmt;
use std::sync::Arc;
use translate::Translation;

/// One step of a run. `out` may be the slot of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever evaluates a circuit does all of them")]
pub enum GateStep {
    /// `out = x + y`.
    Xor {
        /// The slot of the result.
        out: Slot,
        /// The first operand.
        x: Slot,
        /// The second operand, which is another slot.
        y: Slot,
    },
    /// `out = x + 1`.
    Not {
        /// The slot of the result.
        out: Slot,
        /// The operand.
        x: Slot,
    },
    /// The next AND, `x y`. Its result is put into a queue. No step writes a slot that an AND in the queue
    /// reads.
    And {
        /// The first operand.
        x: Slot,
        /// The second operand, which is another slot.
        y: Slot,
    },
    /// Takes the oldest result from the queue.
    Take {
        /// The slot of the result.
        out: Slot,
    },
}

/// Where an output bit is after the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum End {
    /// In a slot.
    Slot(Slot),
    /// It is a public constant.
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
    /// Checks a file and plans its slots, in two readings.
    ///
    /// # Errors
    /// [`CircuitFault::Wrong`] if [`read`](crate::bristol::read) would refuse the file, or if it has more
    /// than [`LONGEST`] bytes; [`CircuitFault::Unreadable`] if the system cannot read it;
    /// [`CircuitFault::Changed`] if it changes between the two readings.
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
        let mut translation = Translation::new(&stream.survey, usize::MAX);
        stream.read(&mut translation, &mut |_| Ok::<(), CircuitFault>(()))?;
        let (slots, ands, results) = (translation.slots(), translation.ands(), translation.results());
        (stream.slots, stream.ands, stream.results) = (slots, ands, results.into());
        Ok(stream)
    }

    /// Passes the circuit's steps to `step`, in one reading. The steps depend only on the file's bytes.
    ///
    /// # Errors
    /// The first error of `step`; [`CircuitFault::Changed`] or [`CircuitFault::Unreadable`] if the file has
    /// changed or cannot be read. All steps before an error are those of the unchanged file.
    pub fn for_each_step<E: From<CircuitFault>>(
        &self,
        mut step: impl FnMut(GateStep) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut translation = Translation::new(&self.survey, self.slots);
        self.read(&mut translation, &mut step)?;
        let same = translation.slots() == self.slots
            && translation.ands() == self.ands
            && translation.results()[..] == self.results[..];
        if same { Ok(()) } else { Err(CircuitFault::Changed.into()) }
    }

    fn read<E: From<CircuitFault>>(
        &self,
        translation: &mut Translation<'_>,
        step: &mut impl FnMut(GateStep) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reading = Reading::new(&*self.origin, Some(&self.pieces))?;
        let length = reading.length();
        let went = translation.run(&mut reading, length, step);
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

    /// How many input wires there are. Input wire `i` is in slot `i`.
    #[must_use]
    pub fn input_bits(&self) -> usize {
        self.inputs().iter().sum()
    }

    /// The largest number of wires that exist at one time.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The number of ANDs among the steps: those of the file without folded ones.
    #[must_use]
    pub fn and_count(&self) -> usize {
        self.ands
    }

    /// Where the output wires are after the run. A slot may occur twice.
    #[must_use]
    pub fn results(&self) -> &[End] {
        &self.results
    }

    /// The format of the file.
    #[must_use]
    pub fn format(&self) -> Format {
        self.header().format
    }

    /// The order of the wires of its values, if it is a known published file.
    #[must_use]
    pub fn order(&self) -> Option<BitOrder> {
        self.survey.order
    }

    /// The file's gates by kind.
    #[must_use]
    pub fn counts(&self) -> FileCounts {
        self.survey.counts
    }

    /// The AND depth of the file.
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

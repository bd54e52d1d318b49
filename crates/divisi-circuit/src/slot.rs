//! Slots, and the gates that need no communication.

/// A place that holds the value of one wire at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub(crate) u32);

impl Slot {
    /// The slot's number, below [`Program::slots`](crate::Program::slots).
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A gate that needs no communication. `out` may be the slot of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever evaluates a circuit does all of them")]
pub enum LinearGate {
    /// `out = value`.
    Constant {
        /// The slot of the result.
        out: Slot,
        /// The value.
        value: bool,
    },
    /// `out = x + 1`.
    Not {
        /// The slot of the result.
        out: Slot,
        /// The operand.
        x: Slot,
    },
    /// `out = x + y`.
    Xor {
        /// The slot of the result.
        out: Slot,
        /// The first operand.
        x: Slot,
        /// The second operand.
        y: Slot,
    },
}

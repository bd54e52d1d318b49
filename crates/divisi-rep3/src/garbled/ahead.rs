//! A call garbled ahead, as one party holds it.

use super::store::Stored;
use crate::origin::EngineId;
use divisi_circuit::Program;
use divisi_core::Bound;
use std::fmt;
use std::sync::Arc;

/// The most bytes that one call garbled ahead may take at a party.
const MOST: usize = 48 << 20;

/// One call of one program, garbled before its inputs are known: tables, masked decoding bits, and all masks
/// r23; at P1 and P2 Delta and labels. It can be used once, in its own strand of its own session, and is
/// wiped after use, when it is dropped, and when the session ends by an abort.
///
/// Its number, and with it its seed and its masks, is spent whether it is used or not: nothing of it is ever
/// made again. The type prevents a second use:
///
/// ```compile_fail,E0382
/// # use divisi_rep3::{Ahead, Bit, Rep3};
/// fn twice(engine: &mut Rep3, ahead: Ahead, x: Vec<Bit>) {
///     let _ = engine.run_ahead(ahead, x.clone());
///     let _ = engine.run_ahead(ahead, x);
/// }
/// ```
#[must_use = "what is dropped was garbled for nothing"]
pub struct Ahead {
    pub(crate) engine_id: EngineId,
    /// Without constants inside.
    pub(crate) program: Arc<Program>,
    pub(crate) lanes: usize,
    /// How many inputs of each lane were known when it was garbled.
    pub(crate) known: usize,
    pub(crate) stored: Bound<Stored>,
}

impl fmt::Debug for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ahead").field("lanes", &self.lanes).field("bytes", &self.bytes()).finish()
    }
}

impl Ahead {
    /// The number of its lanes.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// The bytes that it takes at the party that stores most: 32 for each AND or, at garblers, for each input
    /// bit, whichever is more, and 17 for each output bit.
    #[must_use]
    pub fn bytes(&self) -> usize {
        bytes(&self.program, self.lanes).unwrap_or(usize::MAX)
    }

    /// Whether it can still be used: its session has not ended.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.stored.peek(|_| ()).is_some()
    }
}

/// The bytes that a program takes ahead; `None` if they cannot be counted.
fn bytes(program: &Program, lanes: usize) -> Option<usize> {
    let lane = 32 * program.and_count().max(program.input_bits()) + 17 * program.output_bits();
    lane.checked_mul(lanes)
}

/// The bytes that a program takes ahead; `None` unless it may be garbled ahead: it must have inputs and
/// outputs, and not be too large.
pub(crate) fn size(program: &Program, lanes: usize) -> Option<usize> {
    let some = lanes > 0 && program.input_bits() > 0 && program.output_bits() > 0;
    bytes(program, lanes).filter(|bytes| some && *bytes <= MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::{Build, Gates};

    #[test]
    fn what_goes_ahead_has_lanes_inputs_and_outputs() {
        let program = |inputs: usize, outputs: usize| {
            let mut g = Build::new();
            let x = g.input(inputs);
            let x = if inputs == 0 { vec![g.constant(true)] } else { x };
            g.output(&vec![x[0]; outputs]);
            g.finish()
        };
        assert!(size(&program(1, 1), 1).is_some() && size(&program(1, 1), 0).is_none());
        assert!(size(&program(1, 0), 1).is_none() && size(&program(0, 1), 1).is_none());
    }
}

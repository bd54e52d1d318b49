//! The tables that leave beside a barrier, and what waits for it: all that depends on inputs.

use super::garbler::{Garbler, InputLabels};
use super::labels::LabelGates;
use super::plan::BESIDE;
use crate::views::Begun;
use divisi_core::Abort;
use divisi_core::wipe::WipedVec;

/// What goes into a group of lanes at a garbler.
pub(super) struct Inputs<'i> {
    /// The labels of all inputs for zero.
    pub(super) x: &'i [u128],
    /// For those inputs that are known: the labels of u and of x23 for zero.
    pub(super) labels: &'i InputLabels,
    /// Our two components of these inputs.
    pub(super) sides: &'i [WipedVec<u8>; 2],
}

/// The labels that P1 and P2 send of a group of lanes.
pub(super) struct Labels<'l> {
    pub(super) inputs: &'l Inputs<'l>,
    /// The labels for zero of the masks r23 of its outputs.
    pub(super) r: &'l [u128],
    /// The masks r23, at P2.
    pub(super) r23: Option<&'l [u8]>,
}

impl Labels<'_> {
    /// Step 4.
    pub(super) fn send(&self, garbler: &mut Garbler<'_, '_>) -> Result<(), Abort> {
        let Inputs { labels, sides, .. } = self.inputs;
        garbler.send_inputs(labels, &sides[0], &sides[1])?;
        garbler.send_masks(self.r, self.r23)
    }
}

/// A garbler of a call's first group while a barrier is under way: its first tables leave at once, then it
/// compares views, sends the labels, and goes on with the tables.
pub(super) struct Beside<'g, 't, 'h> {
    garbler: &'g mut Garbler<'t, 'h>,
    waiting: Option<(Begun, Labels<'g>)>,
    /// How many more ANDs may be garbled before the views are compared.
    left: usize,
}

impl<'g, 't, 'h> Beside<'g, 't, 'h> {
    pub(super) fn new(garbler: &'g mut Garbler<'t, 'h>, labels: Labels<'g>, views: Begun) -> Self {
        Beside { garbler, waiting: Some((views, labels)), left: BESIDE }
    }

    /// Compare views \[A2\], and send what depends on them, if that is not done.
    pub(super) fn end(&mut self) -> Result<(), Abort> {
        let Some((views, labels)) = self.waiting.take() else { return Ok(()) };
        self.garbler.compare_views(views)?;
        labels.send(self.garbler)
    }
}

impl LabelGates for Beside<'_, '_, '_> {
    fn not(&self, label: u128) -> u128 {
        self.garbler.not(label)
    }

    fn constant(&self, value: bool) -> u128 {
        self.garbler.constant(value)
    }

    fn products(&mut self, operands: &[u128], out: &mut [u128]) -> Result<(), Abort> {
        let now = if self.waiting.is_some() { self.left.min(out.len()) } else { out.len() };
        let (before, after) = out.split_at_mut(now);
        self.garbler.products(&operands[..2 * now], before)?;
        self.left -= now.min(self.left);
        if self.left == 0 {
            self.end()?;
        }
        if after.is_empty() { Ok(()) } else { self.garbler.products(&operands[2 * now..], after) }
    }
}

//! Folding of constants inside a circuit.

use crate::build::Build;
use crate::program::Program;
use std::borrow::Cow;

impl Program {
    /// The same circuit without constants inside: only an output may still be a constant.
    #[must_use]
    pub fn folded(&self) -> Cow<'_, Program> {
        if !self.has_public_gates() {
            return Cow::Borrowed(self);
        }
        let mut g = Build::new();
        let inputs: Vec<_> = self.inputs().iter().flat_map(|&width| g.input(width)).collect();
        let Some(results) = self.replay(&mut g, &inputs) else { return Cow::Borrowed(self) };
        let mut rest = &results[..];
        for &width in self.outputs() {
            let (value, later) = rest.split_at(width);
            g.output(value);
            rest = later;
        }
        Cow::Owned(g.finish())
    }
}

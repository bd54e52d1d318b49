//! Circuits as statements of a program: level by level, or garbled ahead.

use crate::interval::Interval;
use crate::program::{Action, Arg, ProgramError, Script, Statement, Value, ValueKind, right_width};
use crate::shape::Shape;
use divisi_circuit::Program as Circuit;
use std::sync::Arc;

impl Script {
    /// Applies a circuit to bits, entry by entry. Returns a value for each output of the circuit.
    ///
    /// # Errors
    /// If the number or the widths of the arguments are not those of the circuit's inputs, or shapes do not
    /// fit.
    pub fn circuit(&mut self, circuit: &Arc<Circuit>, args: &[Arg]) -> Result<Vec<Value>, ProgramError> {
        self.any(Action::Circuit(Arc::clone(circuit)), circuit, args)
    }

    /// Like [`Script::circuit`], but the circuit is garbled ahead: it takes two rounds whatever its depth,
    /// and a number of bytes that hardly grows with the number of parties.
    ///
    /// # Errors
    /// The errors of [`Script::circuit`].
    pub fn garbled(&mut self, circuit: &Arc<Circuit>, args: &[Arg]) -> Result<Vec<Value>, ProgramError> {
        self.any(Action::Garbled(Arc::clone(circuit)), circuit, args)
    }

    fn any(&mut self, op: Action, circuit: &Circuit, args: &[Arg]) -> Result<Vec<Value>, ProgramError> {
        let widths = circuit.inputs();
        if args.len() != widths.len() {
            return Err(format!("the circuit takes {} values, and {} are given", widths.len(), args.len()));
        }
        for width in widths.iter().chain(circuit.outputs()) {
            right_width(ValueKind::Bits(*width))?;
        }
        let mut values = Vec::with_capacity(args.len());
        let mut shape = Shape::one();
        for (i, (arg, width)) in args.iter().zip(widths).enumerate() {
            let value = self.made(arg, ValueKind::Bits(*width))?;
            if value.kind() != ValueKind::Bits(*width) {
                let what = value.describe();
                return Err(format!("value {} of the circuit has {width} bits, and this is {what}", i + 1));
            }
            let joined = shape.join(value.shape());
            shape = joined.ok_or_else(|| {
                format!(
                    "the shapes {shape} and {} do not fit: sides must be equal, or one of them 1",
                    value.shape()
                )
            })?;
            values.push(value.id);
        }
        let results: Vec<Value> = circuit
            .outputs()
            .iter()
            .map(|width| self.fresh(ValueKind::Bits(*width), shape.clone(), Interval::of_bits(*width)))
            .collect();
        self.statements.push(Statement { op, args: values, results: results.iter().map(|v| v.id).collect() });
        Ok(results)
    }
}

//! Records what an engine would compute as a circuit.

use crate::gates::{GateByte, GateBytes};
use divisi_circuit::{Build, BuildBit, Program};
use divisi_core::Abort;

/// Bytes of one lane, in order.
pub type DrawnBytes = Vec<GateByte<BuildBit>>;

/// The circuit of a function. Its inputs have these numbers of bytes (0 stands for an input without wires).
/// `draw` computes the outputs from them, on an engine that only records gates.
///
/// # Errors
/// The errors of `draw`.
pub fn drawn(
    inputs: &[usize],
    draw: impl FnOnce(&mut GateBytes<'_, Build>, Vec<DrawnBytes>) -> Result<Vec<DrawnBytes>, Abort>,
) -> Result<Program, Abort> {
    let mut g = Build::new();
    let value = |bytes: &usize| -> DrawnBytes {
        let bytes = if *bytes == 0 { Vec::new() } else { input(&mut g, *bytes) };
        bytes.into_iter().map(|bits| GateByte::new(vec![bits])).collect()
    };
    let values = inputs.iter().map(value).collect();
    let outputs = draw(&mut GateBytes::new(&mut g), values)?;
    for value in outputs {
        output(&mut g, value.iter().flat_map(|byte| byte.bits().to_vec()).collect());
    }
    Ok(g.finish())
}

/// An input value of this many bytes, in order.
pub(crate) fn input(g: &mut Build, bytes: usize) -> Vec<[BuildBit; 8]> {
    let mut value = g.input(8 * bytes).as_chunks().0.to_vec();
    value.reverse();
    value
}

/// An output value with these bytes, in order.
pub(crate) fn output(g: &mut Build, mut bytes: Vec<[BuildBit; 8]>) {
    bytes.reverse();
    g.output(bytes.as_flattened());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use divisi_circuit::plain;

    /// Each output has its own bytes, in order; an input without bytes has no wires.
    #[test]
    fn outputs_are_those_that_are_drawn() {
        let program = drawn(&[1, 0, 2], |_, mut values| {
            let (last, none, first) = (values.remove(2), values.remove(1), values.remove(0));
            assert!(none.is_empty());
            Ok(vec![last, first])
        });
        let program = program.unwrap();
        assert_eq!((program.inputs(), program.outputs()), (&[8, 16][..], &[16, 8][..]));
        // the lowest bit of the last byte is the first wire of a value
        let wires = |values: &[u16]| -> Vec<Vec<u64>> {
            let bits = |value: u16, width: u32| (0..width).map(move |i| vec![u64::from(value >> i & 1)]);
            values.iter().flat_map(|value| bits(*value, if *value < 256 { 8 } else { 16 })).collect()
        };
        assert_eq!(plain::run(&program, &wires(&[0x5a, 0x1234])).unwrap(), wires(&[0x1234, 0x5a]));
    }
}

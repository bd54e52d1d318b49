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

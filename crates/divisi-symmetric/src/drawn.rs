//! Circuits of what an engine would do: drawn by one that computes nothing and writes down.

use crate::gates::{GateByte, GateBytes};
use divisi_circuit::{Build, BuildBit, Program};
use divisi_core::Abort;

/// Bytes of one lane, the first one first.
pub type DrawnBytes = Vec<GateByte<BuildBit>>;

/// The circuit whose input values have so many bytes (none has no wires) and whose outputs `draw` makes of
/// them, on an engine that computes nothing and writes down.
///
/// # Errors
/// Those of `draw`.
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

/// An input value of that many bytes, the first one first.
pub(crate) fn input(g: &mut Build, bytes: usize) -> Vec<[BuildBit; 8]> {
    let mut value = g.input(8 * bytes).as_chunks().0.to_vec();
    value.reverse();
    value
}

/// An output value, the first byte first.
pub(crate) fn output(g: &mut Build, mut bytes: Vec<[BuildBit; 8]>) {
    bytes.reverse();
    g.output(bytes.as_flattened());
}

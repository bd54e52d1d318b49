//! What a client deals: the key, from which something is made once, and the inputs of a batch. The parties
//! compare it before its first use \[A24\].

use super::{Columns, INPUT, Ready, SETUP, Task, What};
use divisi_core::{Abort, Misuse, settle};
use divisi_rep3::checks;
use divisi_rep3::deal::Part;
use divisi_rep3::{Agreement, Rep3, Rounds};
use divisi_symmetric::batch::block::BlockKey;
use std::ops::Range;

/// Make, inside the computation, what is made once for a key, and verify it: a key schedule, states of pads,
/// powers of a hash key.
pub(crate) fn schedule(rep: &mut Rep3, task: &Task, key: &Part) -> Result<Ready, Abort> {
    let public = blake3::hash(b"a key of a benchmark");
    let agreed = rep.trio().agree_input(checks::A24, public.as_bytes(), Some(key))?; // [A24]
    same(rep, agreed)?;
    let mut bytes = Vec::with_capacity(key.first.len());
    for (first, second) in key.first.iter().zip(&key.second) {
        bytes.push(rep.trio().input(&Part { first: vec![*first], second: vec![*second] })?);
    }
    Ok(match &task.what {
        What::Aes { .. } if task.rounds == Rounds::Constant => {
            // the program of a block computes the key schedule itself
            let pending = rep.close_linear(BlockKey::new(bytes)?)?;
            Ready::Block(settle(rep, pending)?)
        }
        What::Aes { .. } => {
            let round_keys = crate::cipher::expand(rep, &bytes)?;
            let pending = rep.close(round_keys);
            Ready::Aes(settle(rep, pending)?)
        }
        What::Function(using) => Ready::Function(crate::tags::prepare(rep, using, &bytes)?),
        What::Circuit(_) => Ready::Circuit,
    })
}

/// Compare the inputs of a batch with the other parties, and cut them into chunks.
pub(crate) fn agree(
    engines: &mut [Rep3],
    task: &Task,
    inputs: &Part,
    count: usize,
) -> Result<Vec<Columns>, Abort> {
    let width = task.input_bytes;
    let Some(engine) = engines.first_mut() else { return Ok(Vec::new()) };
    if inputs.first.len() != width * count || inputs.second.len() != width * count {
        return Err(engine.trio().session().misuse(INPUT, Misuse::LengthDiffers));
    }
    engine.trio().session().phase(SETUP); // also of a later batch, and of a later repetition
    let public = blake3::hash(&(count as u64).to_le_bytes());
    let agreed = engine.trio().agree_input(checks::A24, public.as_bytes(), Some(inputs))?; // [A24]
    same(engine, agreed)?;
    if task.rounds == Rounds::Constant {
        // settle the inputs: a call that begins with inputs that are not settled takes one more message
        engine.trio().barrier()?;
    }
    let chunk = |lanes: Range<usize>| {
        let column = |j: usize| {
            let side = |side: &[u8]| {
                let start = width * lanes.start + j * lanes.len();
                side.get(start..start + lanes.len()).unwrap_or_default().to_vec()
            };
            Part { first: side(&inputs.first), second: side(&inputs.second) }
        };
        Columns { columns: (0..width).map(column).collect(), lanes: lanes.len(), first: lanes.start as u64 }
    };
    Ok(task.chunks(count).map(chunk).collect())
}

/// Check that the client dealt the same to all parties. The client of a benchmark is trusted, so a difference
/// is a misuse.
fn same(rep: &mut Rep3, agreement: Agreement) -> Result<(), Abort> {
    match agreement {
        Agreement::Agreed => Ok(()),
        _ => Err(rep.trio().session().misuse(INPUT, Misuse::InputsDiffer)),
    }
}

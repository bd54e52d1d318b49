//! Messages of different lengths through the steps of a hash or MAC.

use super::messages::{First, Messages, gather};
use super::{SecretByte, bytes, unfit, wires};
use divisi_circuit::Program;
use divisi_core::{Abort, Boolean, Lanes, ProgramRun};

/// Which messages a step is about.
pub(super) struct Here<'o> {
    /// Their numbers, lane by lane.
    pub(super) lanes: &'o [usize],
    /// The first lane whose message ends with this block; those after it do, too.
    pub(super) ending: usize,
    /// How many blocks came before.
    pub(super) block: usize,
}

/// A state and a block -> the next state.
pub(super) trait Step<E: Boolean> {
    fn step(
        &mut self,
        e: &mut E,
        state: Vec<SecretByte<E>>,
        block: Vec<SecretByte<E>>,
        here: &Here<'_>,
    ) -> Result<Vec<SecretByte<E>>, Abort>;
}

impl<E: Boolean> Step<E> for &Program {
    fn step(
        &mut self,
        e: &mut E,
        state: Vec<SecretByte<E>>,
        block: Vec<SecretByte<E>>,
        _: &Here<'_>,
    ) -> Result<Vec<SecretByte<E>>, Abort> {
        let inputs = state.into_iter().chain(block).collect();
        let mut jobs = [ProgramRun::new(self, wires(inputs))];
        e.run(&mut jobs)?;
        let [job] = jobs;
        Ok(bytes(job.wires))
    }
}

/// Whole blocks for every lane -> the next state; the last of them ends no message.
pub(super) fn update<E: Boolean>(
    e: &mut E,
    mut step: impl Step<E>,
    block: usize,
    mut state: Vec<SecretByte<E>>,
    columns: Vec<SecretByte<E>>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let lanes = columns.first().map_or(0, |byte| byte[0].lanes());
    if !columns.len().is_multiple_of(block.max(1)) {
        return Err(unfit("a text that is not a whole number of blocks"));
    }
    let lanes: Vec<usize> = (0..lanes).collect();
    let (mut columns, mut number) = (columns.into_iter(), 0);
    loop {
        let next: Vec<SecretByte<E>> = columns.by_ref().take(block).collect();
        if next.is_empty() {
            return Ok(state);
        }
        state = step.step(e, state, next, &Here { lanes: &lanes, ending: lanes.len(), block: number })?;
        number += 1;
    }
}

/// What a hash does with a message: steps of whole blocks, of which the last is filled up.
pub(super) struct Rule<S, P> {
    /// A state and a block -> the next state.
    pub(super) step: S,
    /// The length of a block in bytes.
    pub(super) block: usize,
    /// Which bit of a byte comes first, where messages end within one.
    pub(super) first: First,
    /// What follows a message of so many bits: from the byte on in which it ends, whose bits are the
    /// message's or the padding's.
    pub(super) padding: P,
}

/// The states after all blocks of each message, from a state of one lane for all or of one for each.
pub(super) fn absorb<E: Boolean, S: Step<E>, P: Fn(usize) -> Vec<u8>>(
    e: &mut E,
    mut rule: Rule<S, P>,
    state: &[SecretByte<E>],
    messages: &Messages<E>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let n = messages.lanes();
    // longest first, so that lanes with blocks left are the first ones, and those that have not ended at a
    // byte likewise
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|lane| std::cmp::Reverse(messages.bits()[*lane]));
    let in_order = order.is_sorted();
    let gathered = if in_order { None } else { Some(messages.gather(&order)?) };
    let sorted = gathered.as_ref().unwrap_or(messages);
    // a state of one lane serves all as it is
    let mut state = match state.first().map(|byte| byte[0].lanes()) {
        None | Some(1) => state.to_vec(),
        Some(lanes) if lanes == n && in_order => state.to_vec(),
        Some(lanes) if lanes == n => {
            state.iter().map(|byte| gather(byte, &order)).collect::<Result<Vec<_>, _>>()?
        }
        Some(_) => return Err(unfit("states and messages of different numbers of lanes")),
    };
    // what follows a message, by its length
    let lengths: std::collections::BTreeSet<usize> = sorted.bits().iter().copied().collect();
    let paddings: std::collections::BTreeMap<usize, Vec<u8>> =
        lengths.into_iter().map(|length| (length, (rule.padding)(length))).collect();
    let blocks = |length: usize| (length / 8 + paddings.get(&length).map_or(0, Vec::len)) / rule.block;
    let after = |length: usize, beyond: usize| {
        paddings.get(&length).and_then(|padding| padding.get(beyond)).copied().unwrap_or(0)
    };
    let mut done: Vec<Vec<SecretByte<E>>> = Vec::new();
    let mut alive = n;
    let mut block = 0;
    while alive > 0 {
        let going = sorted.bits()[..alive].partition_point(|length| blocks(*length) > block + 1);
        let input = (block * rule.block..(block + 1) * rule.block)
            .map(|j| sorted.byte(e, j, alive, rule.first, after));
        let input = input.collect::<Result<Vec<_>, _>>()?;
        let here = Here { lanes: &order[..alive], ending: going, block };
        let next = rule.step.step(e, state, input, &here)?;
        block += 1;
        if going == 0 && done.is_empty() {
            done.push(next);
            state = Vec::new();
        } else if going < alive {
            let select = |lanes: std::ops::Range<usize>| {
                let lanes: Vec<usize> = lanes.collect();
                next.iter().map(|byte| gather(byte, &lanes)).collect::<Result<Vec<_>, Abort>>()
            };
            done.push(select(going..alive)?);
            state = select(0..going)?;
        } else {
            state = next;
        }
        alive = going;
    }
    if in_order && done.len() == 1 {
        return Ok(done.swap_remove(0));
    }
    // shortest first so far: turn round, and back to the order of the messages
    done.reverse();
    let mut place = vec![0; n];
    order.iter().enumerate().for_each(|(at, lane)| place[*lane] = at);
    let width = done.first().map_or(0, Vec::len);
    let joined = (0..width).map(|j| {
        let bits: Vec<E::Bit> = (0..8)
            .map(|i| {
                let parts: Vec<&E::Bit> = done.iter().map(|part| &part[j][i]).collect();
                if let [only] = parts[..] { only.clone() } else { e.join_bits(&parts) }
            })
            .collect();
        let byte: SecretByte<E> = bits.try_into().map_err(|_| unfit("a byte without eight bits"))?;
        gather(&byte, &place)
    });
    joined.collect()
}

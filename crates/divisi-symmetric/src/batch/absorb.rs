//! Runs messages of different lengths through the steps of a hash or MAC.

use super::messages::{First, Messages, gather};
use super::{SecretByte, bytes, unfit, wires};
use divisi_circuit::Program;
use divisi_core::{Abort, Boolean, Lanes, Misuse, ProgramRun};

/// The messages that one step processes, and their places.
pub(super) struct Here<'o> {
    /// The number of the message in each lane.
    pub(super) lanes: &'o [usize],
    /// The first lane whose message ends with this block, or the number of lanes if none ends. The messages
    /// of all later lanes end with it, too.
    pub(super) ending: usize,
    /// How many blocks came before this one.
    pub(super) block: usize,
}

/// A step: computes the next state from a state and a block.
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

/// The state after whole blocks, as many in every lane. More of each message must follow.
pub(super) fn update<E: Boolean>(
    e: &mut E,
    step: &mut dyn Step<E>,
    block: usize,
    mut state: Vec<SecretByte<E>>,
    columns: Vec<SecretByte<E>>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let lanes = columns.first().map_or(0, |byte| byte[0].lanes());
    if !columns.len().is_multiple_of(block.max(1)) {
        return Err(unfit(Misuse::BlockLength));
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

/// How a hash processes a message: by steps on whole blocks, of which the last is padded.
pub(super) struct Rule<'r, E> {
    /// Computes the next state from a state and a block.
    pub(super) step: &'r mut dyn Step<E>,
    /// The length of a block in bytes.
    pub(super) block: usize,
    /// Which bit of a byte is the first, for messages that end within a byte.
    pub(super) first: First,
    /// The padding after a message of this many bits, from the byte on in which the message ends; in that
    /// byte it is added to the message's bits.
    pub(super) padding: &'r dyn Fn(usize) -> Vec<u8>,
}

/// The state after all blocks of each message. `state`, the state at the beginning, has one lane for all
/// messages, or one for each.
pub(super) fn absorb<E: Boolean>(
    e: &mut E,
    rule: Rule<'_, E>,
    state: &[SecretByte<E>],
    messages: &Messages<E>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let n = messages.lanes();
    // messages are sorted, the longest first, so that those with blocks left are in the first lanes; of equal
    // length in bytes, those that end with a whole byte come first
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|lane| std::cmp::Reverse(messages.bits()[*lane]));
    let in_order = order.is_sorted();
    let gathered = if in_order { None } else { Some(messages.gather(&order)?) };
    let sorted = gathered.as_ref().unwrap_or(messages);
    // a state with one lane is used for all messages as it is
    let mut state = match state.first().map(|byte| byte[0].lanes()) {
        None | Some(1) => state.to_vec(),
        Some(lanes) if lanes == n && in_order => state.to_vec(),
        Some(lanes) if lanes == n => {
            state.iter().map(|byte| gather(byte, &order)).collect::<Result<Vec<_>, _>>()?
        }
        Some(_) => return Err(unfit(Misuse::LanesDiffer)),
    };
    // the padding for each length
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
            .map(|j| sorted.byte(e, j, alive, rule.first, &after));
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
    // the shortest messages ended first: reverse, and then restore the order of the messages
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
        let byte: SecretByte<E> = bits.try_into().map_err(|_| unfit(Misuse::CountsDiffer))?;
        gather(&byte, &place)
    });
    joined.collect()
}

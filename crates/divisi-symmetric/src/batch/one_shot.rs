//! Whole hashes and MACs as one program each, for engines whose rounds do not grow with a program's depth
//! ([`divisi_core::Boolean::is_free_of_depth`]).
//!
//! A key enters in its prepared form: the pad states of HMAC, the state of KMAC, and for CMAC the subkey for
//! the message's length with the AES key, because the key schedule costs less than round keys as inputs.
//! Public states, and padding, are constants. GMAC needs one block and is otherwise linear; it has no such
//! program.

use super::drawn::{ADDER, Finish, MOST, Named, Task, inputs, output, program};
use super::function::Kind;
use super::{Function, MacEngine, Messages, SecretByte, State, cmac, gather, unfit};
use crate::drawn::drawn;
use crate::mac::cmac::is_complete;
use crate::mac::hmac::PadStates;
use divisi_circuit::Program;
use divisi_core::{Abort, Lanes, Misuse, ProgramRun};
use std::collections::BTreeMap;

impl<E: MacEngine> Function<E> {
    fn named(&self) -> Option<Named> {
        Some(match &self.kind {
            Kind::Hash(hash, _) => Named::Hash(*hash),
            Kind::Xof(xof) => Named::Xof(xof.clone()),
            Kind::Hmac(hash, ..) => Named::Hmac(*hash),
            Kind::Otp(hash, ..) => Named::Otp(*hash),
            Kind::Kmac(kmac, _, output) => Named::Kmac(kmac.clone(), *output),
            Kind::Cmac(key) => Named::Cmac(key.bytes()),
            Kind::Gmac(_) => return None,
        })
    }

    /// The inputs that a program takes from the key. `complete` says that messages end with a complete block,
    /// `begun` that there is a state with the beginning of the messages.
    fn kept(&self, e: &mut E, complete: bool, begun: bool) -> Result<Vec<SecretByte<E>>, Abort> {
        Ok(match &self.kind {
            Kind::Hash(..) | Kind::Xof(_) | Kind::Gmac(_) => Vec::new(),
            Kind::Hmac(_, _, states) | Kind::Otp(_, _, states) if begun => states.outer.clone(),
            Kind::Kmac(..) if begun => Vec::new(),
            Kind::Hmac(_, _, states) | Kind::Otp(_, _, states) => {
                [states.inner.clone(), states.outer.clone()].concat()
            }
            Kind::Kmac(_, state, _) => state.clone(),
            Kind::Cmac(key) => key.kept(e, complete)?,
        })
    }

    /// The function inside a program, from these inputs.
    fn of_kept(
        e: &mut E,
        named: Named,
        mut kept: Vec<SecretByte<E>>,
        bytes: usize,
        spare: usize,
    ) -> Result<Self, Abort> {
        let kind = match named {
            Named::Hash(hash) => Kind::Hash(hash, ADDER),
            Named::Xof(xof) => Kind::Xof(xof),
            Named::Hmac(hash) | Named::Otp(hash) => {
                // if a message has begun, only the outer state is still needed
                let outer = if kept.len() > hash.state_bytes() {
                    kept.split_off(hash.state_bytes())
                } else {
                    kept.clone()
                };
                let states = PadStates { inner: kept, outer };
                if matches!(named, Named::Otp(_)) {
                    Kind::Otp(hash, ADDER, states)
                } else {
                    Kind::Hmac(hash, ADDER, states)
                }
            }
            Named::Kmac(kmac, output) => Kind::Kmac(kmac, kept, output),
            Named::Cmac(_) => Kind::Cmac(cmac::LaneCmacKey::of_kept(e, kept)?),
            Named::Chained => return Err(unfit(Misuse::Unsupported)),
        };
        Ok(Function { kind, bytes, spare })
    }

    /// A step on several blocks at once, in as few programs as possible; `None` if it is better to go block
    /// by block.
    pub(super) fn update_whole(
        &self,
        e: &mut E,
        state: &State<E>,
        piece: &[SecretByte<E>],
    ) -> Result<Option<State<E>>, Abort> {
        let Some(named) = self.named().filter(|_| e.is_free_of_depth()) else { return Ok(None) };
        let block = self.piece();
        if !piece.len().is_multiple_of(block) {
            return Err(unfit(Misuse::BlockLength));
        }
        let kept = match self.kind {
            Kind::Cmac(_) => self.kept(e, true, true)?,
            _ => Vec::new(),
        };
        let width = self.begin(e).state.len();
        let mut now = state.clone();
        for piece in piece.chunks((MOST / block).max(1) * block) {
            // a public state is a constant; the initial state of a MAC comes from its key
            let known = now.before == 0 && matches!(self.kind, Kind::Hash(..) | Kind::Xof(_) | Kind::Cmac(_));
            let given = if known { 0 } else { width };
            let kept_bytes = kept.len();
            let make = || draw_update(named.clone(), [kept_bytes, given, piece.len()]);
            let program = program(&named, Task::Update(known, piece.len()), make)?;
            let state = if known { Vec::new() } else { now.state };
            let wires = inputs(vec![kept.clone(), state, piece.to_vec()]);
            let mut jobs = [ProgramRun::new(&program, wires).keeping(8 * kept_bytes)];
            e.run(&mut jobs)?;
            let [job] = jobs;
            now = State { state: output(job.wires), before: now.before + piece.len() as u64 };
        }
        Ok(Some(now))
    }

    /// The output for each message in one run, with a program for each length; `None` if that is no better,
    /// or if a message is too long for a program.
    pub(super) fn finish_whole(
        &self,
        e: &mut E,
        state: &State<E>,
        messages: &Messages<E>,
    ) -> Result<Option<Vec<SecretByte<E>>>, Abort> {
        let Some(named) = self.named().filter(|_| e.is_free_of_depth()) else { return Ok(None) };
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (lane, bits) in messages.bits().iter().enumerate() {
            groups.entry(*bits).or_default().push(lane);
        }
        if groups.is_empty() || groups.keys().any(|bits| *bits > 8 * MOST) {
            return Ok(None);
        }
        let (before, n, single) = (state.before, messages.lanes(), groups.len() == 1);
        // these lanes of a value that has one lane for all messages, or one for each
        let of_lanes = |bytes: &[SecretByte<E>], lanes: &[usize]| -> Result<Vec<SecretByte<E>>, Abort> {
            let once = |byte: &SecretByte<E>| byte.iter().all(|bit| bit.lanes() == 1) && n != 1;
            let fits = |byte: &SecretByte<E>| byte.iter().all(|bit| bit.lanes() == n);
            bytes
                .iter()
                .map(|byte| match byte {
                    byte if once(byte) || (single && fits(byte)) => Ok(byte.clone()),
                    byte if fits(byte) => gather(byte, lanes),
                    _ => Err(unfit(Misuse::LanesDiffer)),
                })
                .collect()
        };
        let mut programs = Vec::with_capacity(groups.len());
        for (bits, lanes) in &groups {
            let complete = bits % 8 == 0 && is_complete(before + *bits as u64 / 8);
            let kept = self.kept(e, complete, before > 0)?;
            let given = if before == 0 { Vec::new() } else { state.state.clone() };
            let (bytes, spare, kept_bytes) = (self.bytes, self.spare, kept.len());
            let task = Finish { before, bits: *bits, bytes, spare };
            let make = || draw_finish(named.clone(), [kept_bytes, given.len()], task);
            let program = program(&named, Task::Finish(task), make)?;
            let message = if single { messages.clone() } else { messages.gather(lanes)? };
            let message = message.first_bytes(bits.div_ceil(8));
            let values = vec![of_lanes(&kept, lanes)?, of_lanes(&given, lanes)?, message];
            programs.push((program, inputs(values), 8 * kept_bytes));
        }
        let mut jobs: Vec<ProgramRun<'_, E::Bit>> = programs
            .iter_mut()
            .map(|(program, wires, kept)| ProgramRun::new(program, std::mem::take(wires)).keeping(*kept))
            .collect();
        e.run(&mut jobs)?;
        let outputs: Vec<Vec<SecretByte<E>>> = jobs.into_iter().map(|job| output(job.wires)).collect();
        in_order(e, outputs, &groups, n).map(Some)
    }
}

/// The program of a step on several blocks, whose inputs have these numbers of bytes. No engine's type is in
/// it, so that it is compiled once.
fn draw_update(named: Named, sizes: [usize; 3]) -> Result<Program, Abort> {
    drawn(&sizes, |g, values| {
        let [kept, state, piece] = &values[..] else { return Ok(Vec::new()) };
        let (kept, state) = (super::bits(g, kept.clone())?, super::bits(g, state.clone())?);
        let piece = super::bits(g, piece.clone())?;
        let function = Function::of_kept(g, named, kept, 1, 0)?;
        let start = if state.is_empty() { function.begin(g).state } else { state };
        let next = function.update(g, State { state: start, before: 0 }, piece)?;
        Ok(vec![super::byte_values(g, next.state)?])
    })
}

/// The program of a last step. What is kept of the key, and the state, have these numbers of bytes. No
/// engine's type is in it, so that it is compiled once.
fn draw_finish(named: Named, [kept, given]: [usize; 2], task: Finish) -> Result<Program, Abort> {
    let Finish { before, bits, bytes, spare } = task;
    drawn(&[kept, given, bits.div_ceil(8)], |g, values| {
        let [kept, state, message] = &values[..] else { return Ok(Vec::new()) };
        let kept = super::bits(g, kept.clone())?;
        let function = Function::of_kept(g, named, kept, bytes, spare)?;
        let start = match super::bits(g, state.clone())? {
            state if state.is_empty() => function.begin(g).state,
            state => state,
        };
        let message = if bits == 0 {
            Messages::public(g, &[&[]])
        } else {
            Messages::of_bits(super::bits(g, message.clone())?, vec![bits])?
        };
        let output = function.finish(g, State { state: start, before }, &message, &[])?;
        Ok(vec![super::byte_values(g, output)?])
    })
}

/// The outputs of groups of messages, in the order of the messages.
fn in_order<E: MacEngine>(
    e: &mut E,
    mut outputs: Vec<Vec<SecretByte<E>>>,
    groups: &BTreeMap<usize, Vec<usize>>,
    n: usize,
) -> Result<Vec<SecretByte<E>>, Abort> {
    // a function without inputs has one output for all messages
    for (output, lanes) in outputs.iter_mut().zip(groups.values()) {
        for bit in output.iter_mut().flatten().filter(|bit| bit.lanes() == 1 && lanes.len() > 1) {
            *bit = bit.gather(&vec![0; lanes.len()]).ok_or_else(|| unfit(Misuse::LanesDiffer))?;
        }
    }
    if let [_] = outputs[..] {
        return Ok(outputs.swap_remove(0));
    }
    let mut place = vec![0; n];
    for (at, lane) in groups.values().flatten().enumerate() {
        if let Some(place) = place.get_mut(*lane) {
            *place = at;
        }
    }
    let width = outputs.first().map_or(0, Vec::len);
    let byte = |j: usize| {
        let bit = |i: usize, e: &mut E| {
            let parts: Vec<&E::Bit> = outputs.iter().filter_map(|output| Some(&output.get(j)?[i])).collect();
            e.join_bits(&parts)
        };
        gather(&std::array::from_fn(|i| bit(i, e)), &place)
    };
    (0..width).map(byte).collect()
}

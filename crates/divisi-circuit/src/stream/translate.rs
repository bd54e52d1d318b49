//! Translates gates to steps: decides what each wire is, which slot holds it, and when the slot is free
//! again.
//!
//! A reading returns only gates that the survey has checked. An impossible gate (with a wire that does not
//! exist, or one slot too many) nevertheless ends the translation, with [`CircuitFault::Changed`].

use super::{CircuitFault, End, GateStep};
use crate::bristol::{Gate, MANY, Negations, Reader, Survey};
use crate::program::Slot;
use std::io::BufRead;

/// The largest number of ANDs in the queue, so that engines can compute many at once; also of slots that
/// become free when the queue is emptied.
const WAITING: usize = 256;

/// The value of a wire.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// A public constant.
    Constant(bool),
    /// The value in a slot, or its negation.
    Held { slot: u32, negated: bool },
}

/// A wire's value in four bytes; 0 if the wire has not been written.
#[derive(Clone, Copy, Default)]
struct Packed(u32);

impl Packed {
    fn new(value: Value) -> Packed {
        Packed(match value {
            Value::Constant(value) => 2 | u32::from(value),
            Value::Held { slot, negated } => (slot + 2) << 1 | u32::from(negated),
        })
    }

    fn get(self) -> Option<Value> {
        let bit = self.0 & 1 == 1;
        match self.0 >> 1 {
            0 => None,
            1 => Some(Value::Constant(bit)),
            slot => Some(Value::Held { slot: slot - 2, negated: bit }),
        }
    }
}

impl Value {
    fn negated_if(self, sign: bool) -> Value {
        match self {
            Value::Constant(value) => Value::Constant(value != sign),
            Value::Held { slot, negated } => Value::Held { slot, negated: negated != sign },
        }
    }
}

/// The state of a slot.
#[derive(Clone, Copy, Default)]
struct SlotState {
    /// How many reads of its wires are still to come; `u32::MAX` if the slot is never freed.
    readers: u32,
    /// Whether its value is a result in the queue.
    waits: bool,
    /// Whether it is free, or will be when the queue is empty.
    free: bool,
}

/// The number of reads of a wire from the count of the survey; `u32::MAX` if the slot is never freed.
fn count(readers: u8) -> u32 {
    if readers == MANY { u32::MAX } else { u32::from(readers) }
}

/// The state of a pass over a file's gates.
pub(super) struct Translation<'s> {
    survey: &'s Survey,
    wires: Vec<Packed>,
    states: Vec<SlotState>,
    free: Vec<u32>,
    /// Slots that are free once the queue is empty; an AND in the queue may still read them.
    later: Vec<u32>,
    /// The slots of the results in the queue, oldest first.
    waiting: Vec<u32>,
    most: usize,
    ands: usize,
    results: Vec<End>,
}

impl<'s> Translation<'s> {
    /// The state at the beginning, with at most `most` slots.
    pub fn new(survey: &'s Survey, most: usize) -> Self {
        let header = &survey.header;
        let inputs: usize = header.inputs.iter().sum();
        let mut translation = Translation {
            survey,
            wires: vec![Packed::default(); header.wires],
            states: Vec::new(),
            free: Vec::new(),
            later: Vec::new(),
            waiting: Vec::new(),
            most,
            ands: 0,
            results: Vec::new(),
        };
        // wires' numbers fit 32 bits, because the file's length is limited
        for (slot, (wire, readers)) in
            (0_u32..).zip(translation.wires.iter_mut().zip(&survey.readers).take(inputs))
        {
            *wire = Packed::new(Value::Held { slot, negated: false });
            translation.states.push(SlotState { readers: count(*readers), ..SlotState::default() });
        }
        (0..translation.states.len() as u32).rev().for_each(|slot| translation.leave(slot));
        translation
    }

    pub fn slots(&self) -> usize {
        self.states.len()
    }

    pub fn ands(&self) -> usize {
        self.ands
    }

    pub fn results(self) -> Vec<End> {
        self.results
    }

    /// Passes all gates of a file of `length` bytes to `step`, as steps.
    pub fn run<E: From<CircuitFault>>(
        &mut self,
        input: impl BufRead,
        length: usize,
        step: &mut impl FnMut(GateStep) -> Result<(), E>,
    ) -> Result<(), E> {
        let changed = |error: crate::bristol::BristolError| match CircuitFault::from(error) {
            CircuitFault::Wrong(_) => CircuitFault::Changed,
            fault => fault,
        };
        let mut reader = Reader::new(input, length).map_err(changed)?;
        if *reader.header() != self.survey.header {
            return Err(CircuitFault::Changed.into());
        }
        while let Some((_, gate)) = reader.gate().map_err(changed)? {
            match gate {
                Gate::Xor { x, y, out, negated } => self.xor([x, y], out, negated, step)?,
                Gate::And { x, y, out, signs } => self.and([x, y], out, signs, step)?,
                Gate::Mand { x, y, out } => {
                    for ((&x, &y), &out) in x.iter().zip(y).zip(out) {
                        self.and([x, y], out, Negations::default(), step)?;
                    }
                }
                Gate::Inv { x, out } => {
                    let value = self.read(x)?;
                    self.rename(out, value.negated_if(true), &[value])?;
                }
                Gate::Eqw { x, out } => {
                    let value = self.read(x)?;
                    self.rename(out, value, &[value])?;
                }
                Gate::Eq { value, out } => self.rename(out, Value::Constant(value), &[])?,
            }
        }
        self.take_all(step)?;
        self.finish(step)
    }

    fn xor<E: From<CircuitFault>>(
        &mut self,
        [x, y]: [usize; 2],
        out: usize,
        sign: bool,
        step: &mut impl FnMut(GateStep) -> Result<(), E>,
    ) -> Result<(), E> {
        let (a, b) = (self.read(x)?, self.read(y)?);
        match (a, b) {
            (Value::Constant(value), other) | (other, Value::Constant(value)) => {
                self.rename(out, other.negated_if(value != sign), &[a, b])?;
            }
            (Value::Held { slot: x, negated: s }, Value::Held { slot: y, negated: t }) => {
                if x == y {
                    self.rename(out, Value::Constant((s != t) != sign), &[a, b])?;
                    return Ok(());
                }
                self.need([x, y], step)?;
                [a, b].into_iter().for_each(|value| self.done(value));
                let to = self.reserve(self.readers(out))?;
                self.write(out, Value::Held { slot: to, negated: (s != t) != sign })?;
                step(GateStep::Xor { out: Slot(to), x: Slot(x), y: Slot(y) })?;
                self.leave(to);
            }
        }
        self.take_if_many(step)
    }

    fn and<E: From<CircuitFault>>(
        &mut self,
        [x, y]: [usize; 2],
        out: usize,
        signs: Negations,
        step: &mut impl FnMut(GateStep) -> Result<(), E>,
    ) -> Result<(), E> {
        let [a, b] = [self.read(x)?, self.read(y)?].map(|value| value.negated_if(signs.operands));
        let known = match (a, b) {
            (Value::Constant(false), _) | (_, Value::Constant(false)) => Some(Value::Constant(false)),
            (Value::Constant(true), other) | (other, Value::Constant(true)) => Some(other),
            (Value::Held { slot: x, negated: s }, Value::Held { slot: y, negated: t }) => {
                (x == y).then_some(if s == t { a } else { Value::Constant(false) })
            }
        };
        if let Some(value) = known {
            self.rename(out, value.negated_if(signs.result), &[a, b])?;
            return Ok(());
        }
        let (x, y) = (self.plain(a, step)?, self.plain(b, step)?);
        let to = self.reserve(self.readers(out))?;
        self.write(out, Value::Held { slot: to, negated: signs.result })?;
        step(GateStep::And { x: Slot(x), y: Slot(y) })?;
        self.ands += 1;
        self.waiting.push(to);
        if let Some(state) = self.states.get_mut(to as usize) {
            state.waits = true;
        }
        // slots that are freed from here on must wait for the queue
        for (value, slot) in [(a, x), (b, y)] {
            self.done(value);
            self.leave(slot);
        }
        self.leave(to);
        self.take_if_many(step)
    }

    /// A slot that holds the value without negation; a new one if the value was negated.
    fn plain<E: From<CircuitFault>>(
        &mut self,
        value: Value,
        step: &mut impl FnMut(GateStep) -> Result<(), E>,
    ) -> Result<u32, E> {
        let Value::Held { slot, negated } = value else { return Err(CircuitFault::Changed.into()) };
        self.need([slot, slot], step)?;
        if !negated {
            return Ok(slot);
        }
        let to = self.reserve(0)?;
        step(GateStep::Not { out: Slot(to), x: Slot(slot) })?;
        Ok(to)
    }

    /// Where the outputs are. Their slots are never freed, so nothing overwrites them.
    fn finish<E: From<CircuitFault>>(
        &mut self,
        step: &mut impl FnMut(GateStep) -> Result<(), E>,
    ) -> Result<(), E> {
        let outputs: usize = self.survey.header.outputs.iter().sum();
        for wire in self.wires.len().saturating_sub(outputs)..self.wires.len() {
            let end = match self.read(wire)? {
                Value::Constant(value) => End::Constant(value),
                value => End::Slot(Slot(self.plain(value, step)?)),
            };
            self.results.push(end);
        }
        Ok(())
    }

    /// Takes results from the queue until these slots have their values.
    fn need<E>(
        &mut self,
        slots: [u32; 2],
        step: &mut impl FnMut(GateStep) -> Result<(), E>,
    ) -> Result<(), E> {
        let waits = |slot: u32| self.states.get(slot as usize).is_some_and(|state| state.waits);
        if slots.into_iter().any(waits) { self.take_all(step) } else { Ok(()) }
    }

    fn take_if_many<E>(&mut self, step: &mut impl FnMut(GateStep) -> Result<(), E>) -> Result<(), E> {
        if self.waiting.len().max(self.later.len()) < WAITING { Ok(()) } else { self.take_all(step) }
    }

    fn take_all<E>(&mut self, step: &mut impl FnMut(GateStep) -> Result<(), E>) -> Result<(), E> {
        for i in 0..self.waiting.len() {
            let Some(&to) = self.waiting.get(i) else { break };
            step(GateStep::Take { out: Slot(to) })?;
            if let Some(state) = self.states.get_mut(to as usize) {
                state.waits = false;
            }
        }
        self.waiting.clear();
        self.free.append(&mut self.later);
        Ok(())
    }

    /// The value of a wire.
    fn read(&self, wire: usize) -> Result<Value, CircuitFault> {
        self.wires.get(wire).and_then(|packed| packed.get()).ok_or(CircuitFault::Changed)
    }

    fn write(&mut self, wire: usize, value: Value) -> Result<(), CircuitFault> {
        match self.wires.get_mut(wire) {
            Some(state @ Packed(0)) => *state = Packed::new(value),
            _ => return Err(CircuitFault::Changed),
        }
        Ok(())
    }

    fn readers(&self, wire: usize) -> u32 {
        count(self.survey.readers.get(wire).copied().unwrap_or(MANY))
    }

    /// Makes `out` another name of a value, without a step: later reads of `out` are reads of the value. The
    /// operands were read once.
    fn rename(&mut self, out: usize, value: Value, operands: &[Value]) -> Result<(), CircuitFault> {
        let readers = self.readers(out);
        if let Value::Held { slot, .. } = value
            && let Some(state) = self.states.get_mut(slot as usize)
        {
            state.readers = state.readers.saturating_add(readers);
        }
        self.write(out, value)?;
        operands.iter().for_each(|operand| self.done(*operand));
        Ok(())
    }

    /// Counts one read of a value; after the last one its slot is free.
    fn done(&mut self, value: Value) {
        let Value::Held { slot, .. } = value else { return };
        let Some(state) = self.states.get_mut(slot as usize) else { return };
        if state.readers != u32::MAX && state.readers > 0 {
            state.readers -= 1;
            self.leave(slot);
        }
    }

    /// A slot for a wire that is read this often: the one that was freed last, if there is one.
    fn reserve(&mut self, readers: u32) -> Result<u32, CircuitFault> {
        let state = SlotState { readers, waits: false, free: false };
        if let Some(slot) = self.free.pop() {
            if let Some(held) = self.states.get_mut(slot as usize) {
                *held = state;
            }
            return Ok(slot);
        }
        if self.states.len() >= self.most {
            return Err(CircuitFault::Changed);
        }
        self.states.push(state);
        Ok(self.states.len() as u32 - 1)
    }

    /// Frees a slot if nothing will read it.
    fn leave(&mut self, slot: u32) {
        let Some(state) = self.states.get_mut(slot as usize) else { return };
        if state.readers == 0 && !state.free {
            state.free = true;
            let list = if self.waiting.is_empty() { &mut self.free } else { &mut self.later };
            list.push(slot);
        }
    }
}

//! The local gates of a level in little memory: a slot takes two bytes, or four in a program with more than
//! 2^16 slots. Programs consist of these gates for the most part: a hash has five XORs for each AND.

use crate::slot::{LinearGate, Slot};

/// Rows of slots.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rows<const N: usize> {
    Narrow(Box<[[u16; N]]>),
    Wide(Box<[[u32; N]]>),
}

impl<const N: usize> Default for Rows<N> {
    fn default() -> Self {
        Rows::Narrow(Box::default())
    }
}

impl<const N: usize> Rows<N> {
    fn new(rows: &[[Slot; N]]) -> Self {
        // as many bytes as the largest slot needs, so that equal rows are kept equally
        if rows.as_flattened().iter().all(|slot| slot.0 <= u32::from(u16::MAX)) {
            Rows::Narrow(rows.iter().map(|row| row.map(|slot| slot.0 as u16)).collect())
        } else {
            Rows::Wide(rows.iter().map(|row| row.map(|slot| slot.0)).collect())
        }
    }

    fn len(&self) -> usize {
        match self {
            Rows::Narrow(rows) => rows.len(),
            Rows::Wide(rows) => rows.len(),
        }
    }

    #[inline]
    fn get(&self, at: usize) -> Option<[Slot; N]> {
        match self {
            Rows::Narrow(rows) => rows.get(at).map(|row| row.map(|slot| Slot(u32::from(slot)))),
            Rows::Wide(rows) => rows.get(at).map(|row| row.map(Slot)),
        }
    }

    #[inline(always)]
    fn each(&self, mut f: impl FnMut([Slot; N])) {
        match self {
            Rows::Narrow(rows) => rows.iter().for_each(|row| f(row.map(|slot| Slot(u32::from(slot))))),
            Rows::Wide(rows) => rows.iter().for_each(|row| f(row.map(Slot))),
        }
    }
}

/// The local gates of a level: constants first, then XORs, then negations; each kind in its order. No XOR
/// of a level reads one of its negations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Local {
    constants: Box<[(Slot, bool)]>,
    xors: Rows<3>,
    nots: Rows<2>,
}

impl Local {
    pub(crate) fn iter(&self) -> LinearGates<'_> {
        LinearGates { local: self, at: 0 }
    }

    /// Calls one of three functions for each gate, in their order, with a state: each kind in a loop of its
    /// own.
    #[inline(always)]
    pub(crate) fn each<S: ?Sized>(
        &self,
        state: &mut S,
        constant: impl Fn(&mut S, Slot, bool),
        xor: impl Fn(&mut S, [Slot; 3]),
        not: impl Fn(&mut S, [Slot; 2]),
    ) {
        self.constants.iter().for_each(|(out, value)| constant(state, *out, *value));
        self.xors.each(|row| xor(state, row));
        self.nots.each(|row| not(state, row));
    }

    fn len(&self) -> usize {
        self.constants.len() + self.xors.len() + self.nots.len()
    }
}

/// Gates by kinds, while a level is made.
#[derive(Default)]
pub(crate) struct Kinds {
    constants: Vec<(Slot, bool)>,
    xors: Vec<[Slot; 3]>,
    nots: Vec<[Slot; 2]>,
}

impl Kinds {
    pub(crate) fn push(&mut self, gate: LinearGate) {
        match gate {
            LinearGate::Constant { out, value } => self.constants.push((out, value)),
            LinearGate::Xor { out, x, y } => self.xors.push([out, x, y]),
            LinearGate::Not { out, x } => self.nots.push([out, x]),
        }
    }

    /// Takes all gates out, as those of a level.
    pub(crate) fn take(&mut self) -> Local {
        let local = Local {
            constants: self.constants.as_slice().into(),
            xors: Rows::new(&self.xors),
            nots: Rows::new(&self.nots),
        };
        self.constants.clear();
        self.xors.clear();
        self.nots.clear();
        local
    }
}

/// The local gates of a level, in the order in which they run.
#[derive(Clone, Debug)]
pub struct LinearGates<'l> {
    local: &'l Local,
    at: usize,
}

fn constant((out, value): (Slot, bool)) -> LinearGate {
    LinearGate::Constant { out, value }
}

fn xor([out, x, y]: [Slot; 3]) -> LinearGate {
    LinearGate::Xor { out, x, y }
}

fn not([out, x]: [Slot; 2]) -> LinearGate {
    LinearGate::Not { out, x }
}

impl Iterator for LinearGates<'_> {
    type Item = LinearGate;

    #[inline]
    fn next(&mut self) -> Option<LinearGate> {
        let Local { constants, xors, nots } = self.local;
        let gate = match self.at.checked_sub(constants.len()) {
            None => constants.get(self.at).copied().map(constant),
            Some(at) => match at.checked_sub(xors.len()) {
                None => xors.get(at).map(xor),
                Some(at) => nots.get(at).map(not),
            },
        };
        self.at += usize::from(gate.is_some());
        gate
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.local.len().saturating_sub(self.at);
        (left, Some(left))
    }
}

impl ExactSizeIterator for LinearGates<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gates come back as they went in, gate by gate from any place on and kind by kind, whatever the slots.
    #[test]
    fn gates_come_back() {
        for far in [0, u32::from(u16::MAX) - 9, u32::from(u16::MAX) - 3, 1 << 20] {
            let slot = |i: u32| Slot(far + i);
            let gates = [
                LinearGate::Constant { out: slot(0), value: true },
                LinearGate::Constant { out: slot(1), value: false },
                LinearGate::Xor { out: slot(2), x: slot(3), y: slot(4) },
                LinearGate::Xor { out: slot(5), x: slot(2), y: slot(2) },
                LinearGate::Xor { out: slot(6), x: slot(5), y: slot(3) },
                LinearGate::Not { out: slot(7), x: slot(6) },
                LinearGate::Not { out: slot(3), x: slot(3) },
            ];
            let mut kinds = Kinds::default();
            gates.iter().rev().for_each(|gate| {
                if matches!(gate, LinearGate::Not { .. }) {
                    kinds.push(*gate);
                }
            });
            kinds.nots.reverse();
            gates.iter().take(5).for_each(|gate| kinds.push(*gate));
            let local = kinds.take();
            assert_eq!(kinds.take(), Local::default());
            assert_eq!(local.iter().len(), gates.len());
            for from in 0..=gates.len() {
                let mut rest = local.iter();
                assert_eq!(rest.by_ref().take(from).collect::<Vec<_>>(), gates[..from]);
                assert_eq!(rest.len(), gates.len() - from);
                assert_eq!(rest.collect::<Vec<_>>(), gates[from..]);
            }
            let mut each = Vec::new();
            local.each(
                &mut each,
                |each, out, value| each.push(LinearGate::Constant { out, value }),
                |each, row| each.push(xor(row)),
                |each, row| each.push(not(row)),
            );
            assert_eq!(each, gates);
        }
    }
}

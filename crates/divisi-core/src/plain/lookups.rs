//! Lookups in the clear, which read every value of a table for every index.

use super::{Plain, PlainBit, unfit};
use crate::{Abort, Boolean, Lanes, Lookup, Lookups};
use zeroize::Zeroizing;

impl Lookups for Plain {
    type Bit = PlainBit;

    fn constant_bit(&mut self, values: &[bool]) -> PlainBit {
        self.public_bit(values)
    }

    fn add_bit(&mut self, x: &mut PlainBit, y: &PlainBit) -> Result<(), Abort> {
        if y.lanes() != 1 && y.lanes() != x.lanes() {
            return Err(unfit());
        }
        let lane = |l: usize| x.lane(l) ^ y.lane(if y.lanes() == 1 { 0 } else { l });
        let sum = Zeroizing::new((0..x.lanes()).map(lane).collect::<Vec<_>>());
        *x = PlainBit::new(&sum);
        Ok(())
    }

    fn look_up(&mut self, layer: &mut [Lookup<PlainBit>]) -> Result<(), Abort> {
        for Lookup { table, wires } in layer {
            let lanes = wires.first().map_or(0, Lanes::lanes);
            if wires.len() != table.index || wires.iter().any(|wire| wire.lanes() != lanes) {
                return Err(unfit());
            }
            let value = |lane: usize| {
                let index = wires.iter().rev().fold(0, |index, wire| index << 1 | u32::from(wire.lane(lane)));
                let all = (0_u32..).zip(table.values);
                // 0xff if the two are equal, 0 otherwise
                let equal = |i: u32| ((index ^ i).wrapping_sub(1) >> 31).wrapping_neg() as u8;
                all.fold(0, |value, (i, entry)| value | entry & equal(i))
            };
            let values = Zeroizing::new((0..lanes).map(value).collect::<Vec<u8>>());
            let bit = |k: usize| {
                let bits = Zeroizing::new(values.iter().map(|v| v >> k & 1 == 1).collect::<Vec<_>>());
                PlainBit::new(&bits)
            };
            *wires = (0..table.width).map(bit).collect();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LookupOnto, Misuse, Table};

    #[test]
    fn every_index_gives_its_value() {
        static TABLE: Table = Table { index: 3, width: 4, values: &[7, 1, 15, 0, 8, 9, 2, 5] };
        let wires = (0..3).map(|k| PlainBit::new(&[0, 1, 2, 3, 4, 5, 6, 7].map(|i| i >> k & 1 == 1)));
        let mut layer = [Lookup { table: &TABLE, wires: wires.collect() }];
        Plain.look_up(&mut layer).unwrap();
        for (lane, value) in TABLE.values.iter().enumerate() {
            let found = layer[0].wires.iter().rev().fold(0, |v, wire| v << 1 | u8::from(wire.lane(lane)));
            assert_eq!(found, *value);
        }
        assert!(Plain.look_up(&mut layer).is_err());
    }

    /// A value goes to as many places as it has bits, all of which are there; each call looks.
    #[test]
    fn places_of_values_are_there() {
        static TABLE: Table = Table { index: 2, width: 2, values: &[0, 3, 1, 2] };
        let bit = PlainBit::new(&[true]);
        let onto = |to: &[usize]| {
            let mut state = vec![PlainBit::new(&[false]); 4];
            let zero = PlainBit::new(&[false]);
            let layer =
                [LookupOnto { table: &TABLE, index: vec![[&bit, &zero], [&zero, &bit]], to: to.to_vec() }];
            Plain.look_up_onto(&layer, &mut state).map(|()| state.iter().map(|bit| bit.lane(0)).collect())
        };
        assert_eq!(onto(&[1, 3]), Ok(vec![false, false, false, true]));
        // all lookups of a layer, also onto one place
        let mut state = vec![PlainBit::new(&[false]); 4];
        let zero = PlainBit::new(&[false]);
        let layer = [(vec![[&bit, &zero]; 2], [0, 1]), (vec![[&bit, &zero], [&bit, &bit]], [1, 2])];
        let layer = layer.map(|(index, to)| LookupOnto { table: &TABLE, index, to: to.to_vec() });
        Plain.look_up_onto(&layer, &mut state).unwrap();
        assert_eq!(state.iter().map(|bit| bit.lane(0)).collect::<Vec<_>>(), [false, false, true, false]);
        for to in [&[1][..], &[1, 2, 3], &[1, 4], &[4, 1], &[1, 260], &[]] {
            let end: Result<Vec<bool>, Abort> = onto(to);
            assert!(matches!(end, Err(Abort::Misuse { what: Misuse::CircuitUnfit, .. })), "{to:?}: {end:?}");
        }
    }
}

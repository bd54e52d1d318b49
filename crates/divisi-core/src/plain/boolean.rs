//! Boolean programs in the clear, 64 lanes in a word.

use super::{Plain, PlainByte, unfit};
use crate::{Abort, Boolean, Convert, Lanes, ProgramRun};
use divisi_circuit::plain;
use zeroize::Zeroizing;

/// A bit in every lane: lane `l` is bit `l mod 64` of word `l / 64`; bits beyond the last lane are zero. It
/// is treated as a secret, like [`PlainByte`].
#[derive(Clone)]
pub struct PlainBit {
    lanes: usize,
    words: Zeroizing<Vec<u64>>,
}

impl PlainBit {
    /// A bit with `values[l]` in lane `l`.
    #[must_use]
    pub fn new(values: &[bool]) -> Self {
        let word = |values: &[bool]| values.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit));
        PlainBit { lanes: values.len(), words: Zeroizing::new(values.chunks(64).map(word).collect()) }
    }

    /// The value in a lane.
    ///
    /// # Panics
    /// If there is no such lane.
    #[must_use]
    pub fn lane(&self, lane: usize) -> bool {
        assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        self.words[lane / 64] >> (lane % 64) & 1 == 1
    }

    fn values(&self) -> impl Iterator<Item = bool> {
        (0..self.lanes).map(|lane| self.lane(lane))
    }

    /// The words for this many lanes; a single lane is repeated in all.
    fn spread(&self, lanes: usize) -> Option<Vec<u64>> {
        match self.lanes {
            n if n == lanes => Some(self.words.to_vec()),
            1 => Some(vec![(self.words[0] & 1).wrapping_neg(); lanes.div_ceil(64)]),
            _ => None,
        }
    }
}

impl Lanes for PlainBit {
    fn lanes(&self) -> usize {
        self.lanes
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        if index.iter().any(|lane| *lane >= self.lanes) {
            return None;
        }
        Some(PlainBit::new(&index.iter().map(|lane| self.lane(*lane)).collect::<Vec<_>>()))
    }
}

impl Boolean for Plain {
    type Bit = PlainBit;

    fn public_bit(&mut self, values: &[bool]) -> PlainBit {
        PlainBit::new(values)
    }

    fn join_bits(&mut self, parts: &[&PlainBit]) -> PlainBit {
        PlainBit::new(&parts.iter().flat_map(|part| part.values()).collect::<Vec<_>>())
    }

    fn run(&mut self, jobs: &mut [ProgramRun<'_, PlainBit>]) -> Result<(), Abort> {
        for job in jobs {
            let some = job.wires.iter().map(Lanes::lanes).find(|lanes| *lanes != 1);
            let lanes = some.unwrap_or(1);
            let inputs = job.wires.iter().map(|bit| bit.spread(lanes)).collect::<Option<Vec<_>>>();
            let outputs =
                inputs.and_then(|inputs| plain::run(job.program, &inputs).ok()).ok_or_else(unfit)?;
            let last = match lanes % 64 {
                0 => u64::MAX,
                rest => (1 << rest) - 1,
            };
            let bit = |mut words: Vec<u64>| {
                words.truncate(lanes.div_ceil(64));
                if let Some(word) = words.last_mut() {
                    *word &= last;
                }
                PlainBit { lanes, words: Zeroizing::new(words) }
            };
            job.wires = outputs.into_iter().map(bit).collect();
        }
        Ok(())
    }
}

/// Bit `i` of the byte is `bits[i]`.
impl Convert<PlainByte, [PlainBit; 8]> for Plain {
    fn convert(&mut self, x: PlainByte) -> Result<[PlainBit; 8], Abort> {
        let bit = |i: usize| x.values().iter().map(|byte| byte >> i & 1 == 1).collect::<Vec<_>>();
        Ok(std::array::from_fn(|i| PlainBit::new(&bit(i))))
    }
}

impl Convert<[PlainBit; 8], PlainByte> for Plain {
    fn convert(&mut self, x: [PlainBit; 8]) -> Result<PlainByte, Abort> {
        let lanes = x[0].lanes;
        if x.iter().any(|bit| bit.lanes != lanes) {
            return Err(unfit());
        }
        let byte = |lane: usize| x.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(bit.lane(lane)));
        Ok(PlainByte::new((0..lanes).map(byte).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::{Build, Gates};

    fn multiplexer() -> divisi_circuit::Program {
        let mut g = Build::new();
        let [c, x, y] = g.input(3)[..] else { panic!("three wires") };
        let chosen = g.choose(c, x, y);
        let not = g.not(chosen);
        g.output(&[chosen, not]);
        g.finish()
    }

    #[test]
    fn one_lane_serves_all_and_nothing_stays_beyond_the_last() {
        let program = multiplexer();
        for lanes in [1, 2, 63, 64, 65, 200] {
            let pattern = |k: usize| (0..lanes).map(|l| (l * k + l / 3) % 2 == 1).collect::<Vec<_>>();
            let (c, x) = (pattern(1), pattern(2));
            let inputs = vec![PlainBit::new(&c), PlainBit::new(&x), PlainBit::new(&[true])];
            let mut jobs = [ProgramRun::new(&program, inputs)];
            Plain.run(&mut jobs).unwrap();
            let [chosen, not] = &jobs[0].wires[..] else { panic!("two wires") };
            assert!((0..lanes).all(|l| chosen.lane(l) == (!c[l] || x[l]) && not.lane(l) != chosen.lane(l)));
            assert_eq!(Plain.join_bits(&[chosen, not]).lanes(), 2 * lanes);
            assert!(not.words.iter().map(|w| w.count_ones() as usize).sum::<usize>() <= lanes);
        }
        let uneven = vec![PlainBit::new(&[true; 2]), PlainBit::new(&[true; 3]), PlainBit::new(&[true])];
        assert!(Plain.run(&mut [ProgramRun::new(&program, uneven)]).is_err());
        assert!(Plain.run(&mut [ProgramRun::new(&program, Vec::new())]).is_err());
    }

    #[test]
    fn bytes_fall_into_bits_and_come_back() {
        let values: Vec<u8> = (0..=255).collect();
        let bits: [PlainBit; 8] = Plain.convert(PlainByte::new(values.clone())).unwrap();
        assert!(bits[3].lane(8) && !bits[3].lane(16));
        let gathered = bits.each_ref().map(|bit| bit.gather(&[255, 7]).unwrap());
        let byte: PlainByte = Plain.convert(gathered).unwrap();
        assert_eq!(byte.values(), [255, 7]);
        let byte: PlainByte = Plain.convert(bits).unwrap();
        assert_eq!(byte.values(), values);
    }
}

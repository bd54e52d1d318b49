//! The further traits of [`GateBytes`], so that every hash and MAC becomes a circuit: bits, on which programs
//! are copied gate by gate; and blocks for GHASH, which are multiplied by Karatsuba's method.

use super::bytes::{GateByte, GateBytes, unfit};
use divisi_circuit::Gates;
use divisi_core::{Abort, Blocks, Boolean, Convert, Lanes, ProgramRun};

/// The degree of GHASH's field.
const BITS: usize = 128;

/// A wire in every lane.
#[derive(Clone)]
pub struct GateBit<B>(pub(super) Vec<B>);

/// 128 wires in every lane: bit `i` is the coefficient of `x^i`.
#[derive(Clone)]
pub struct GateBlock<B>(Vec<[B; BITS]>);

impl<B: Copy> Lanes for GateBit<B> {
    fn lanes(&self) -> usize {
        self.0.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        index.iter().map(|&lane| self.0.get(lane).copied()).collect::<Option<_>>().map(GateBit)
    }
}

impl<B: Copy> Lanes for GateBlock<B> {
    fn lanes(&self) -> usize {
        self.0.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        index.iter().map(|&lane| self.0.get(lane).copied()).collect::<Option<_>>().map(GateBlock)
    }
}

impl<G: Gates> Boolean for GateBytes<'_, G> {
    type Bit = GateBit<G::Bit>;

    fn public_bit(&mut self, values: &[bool]) -> Self::Bit {
        GateBit(values.iter().map(|&value| self.g.constant(value)).collect())
    }

    fn join_bits(&mut self, parts: &[&Self::Bit]) -> Self::Bit {
        GateBit(parts.iter().flat_map(|part| &part.0).copied().collect())
    }

    fn run(&mut self, jobs: &mut [ProgramRun<'_, Self::Bit>]) -> Result<(), Abort> {
        for job in jobs {
            let lanes = job.wires.iter().map(Lanes::lanes).find(|lanes| *lanes != 1).unwrap_or(1);
            let mut outputs = vec![GateBit(Vec::with_capacity(lanes)); job.program.output_bits()];
            for lane in 0..lanes {
                // a value with one lane is used for all lanes
                let bit =
                    |wire: &GateBit<G::Bit>| wire.0.get(if wire.lanes() == 1 { 0 } else { lane }).copied();
                let inputs: Vec<G::Bit> =
                    job.wires.iter().map(bit).collect::<Option<_>>().ok_or_else(unfit)?;
                let results = job.program.replay(self.g, &inputs).ok_or_else(unfit)?;
                outputs.iter_mut().zip(results).for_each(|(output, bit)| output.0.push(bit));
            }
            job.wires = outputs;
        }
        Ok(())
    }
}

impl<G: Gates> Convert<GateByte<G::Bit>, [GateBit<G::Bit>; 8]> for GateBytes<'_, G> {
    fn convert(&mut self, x: GateByte<G::Bit>) -> Result<[GateBit<G::Bit>; 8], Abort> {
        Ok(std::array::from_fn(|i| GateBit(x.bits().iter().map(|bits| bits[i]).collect())))
    }
}

impl<G: Gates> Convert<[GateBit<G::Bit>; 8], GateByte<G::Bit>> for GateBytes<'_, G> {
    fn convert(&mut self, x: [GateBit<G::Bit>; 8]) -> Result<GateByte<G::Bit>, Abort> {
        let lanes = x[0].lanes();
        if x.iter().any(|bit| bit.lanes() != lanes) {
            return Err(unfit());
        }
        Ok(GateByte::new((0..lanes).map(|lane| std::array::from_fn(|i| x[i].0[lane])).collect()))
    }
}

/// Converts bytes to a block in GHASH's order: the coefficient of `x^i` is bit `7 - i mod 8` of byte `i / 8`.
impl<G: Gates> Convert<[GateByte<G::Bit>; 16], GateBlock<G::Bit>> for GateBytes<'_, G> {
    fn convert(&mut self, x: [GateByte<G::Bit>; 16]) -> Result<GateBlock<G::Bit>, Abort> {
        let lanes = x[0].lanes();
        if x.iter().any(|byte| byte.lanes() != lanes) {
            return Err(unfit());
        }
        let block = |lane: usize| std::array::from_fn(|i| x[i / 8].bits()[lane][7 - i % 8]);
        Ok(GateBlock((0..lanes).map(block).collect()))
    }
}

/// The inverse conversion.
impl<G: Gates> Convert<GateBlock<G::Bit>, [GateByte<G::Bit>; 16]> for GateBytes<'_, G> {
    fn convert(&mut self, x: GateBlock<G::Bit>) -> Result<[GateByte<G::Bit>; 16], Abort> {
        let byte = |block: &[G::Bit; BITS], j: usize| std::array::from_fn(|i| block[8 * j + 7 - i]);
        Ok(std::array::from_fn(|j| GateByte::new(x.0.iter().map(|block| byte(block, j)).collect())))
    }
}

impl<G: Gates> Blocks for GateBytes<'_, G> {
    type Block = GateBlock<G::Bit>;

    fn add_block(&mut self, x: &mut Self::Block, y: &Self::Block) -> Result<(), Abort> {
        if y.lanes() != 1 && y.lanes() != x.lanes() {
            return Err(unfit());
        }
        for (x, y) in x.0.iter_mut().zip(y.0.iter().cycle()) {
            for (x, &y) in x.iter_mut().zip(y) {
                *x = self.g.xor(*x, y);
            }
        }
        Ok(())
    }

    fn add_public_block(&mut self, x: &mut Self::Block, c: &[u128]) -> Result<(), Abort> {
        let block = |c: &u128| std::array::from_fn(|i| self.g.constant(c >> i & 1 == 1));
        let c = GateBlock(c.iter().map(block).collect());
        self.add_block(x, &c)
    }

    fn combine(&mut self, x: &Self::Block, c: &[u128]) -> Result<Self::Block, Abort> {
        if c.len() != x.lanes() {
            return Err(unfit());
        }
        let mut sum = vec![self.g.constant(false); 2 * BITS - 1];
        for (x, c) in x.0.iter().zip(c) {
            for shift in (0..BITS).filter(|shift| c >> shift & 1 == 1) {
                add(self.g, &mut sum[shift..], x);
            }
        }
        Ok(GateBlock(vec![reduce(self.g, sum)]))
    }

    fn square(&mut self, x: &Self::Block) -> Self::Block {
        let square = |x: &[G::Bit; BITS]| {
            let zero = self.g.constant(false);
            let spread = (0..2 * BITS - 1).map(|i| if i % 2 == 0 { x[i / 2] } else { zero }).collect();
            reduce(self.g, spread)
        };
        GateBlock(x.0.iter().map(square).collect())
    }

    fn multiply(&mut self, x: &Self::Block, y: &Self::Block) -> Result<Self::Block, Abort> {
        if x.lanes() != y.lanes() {
            return Err(unfit());
        }
        let products = x.0.iter().zip(&y.0).map(|(x, y)| {
            let product = product(self.g, x, y);
            reduce(self.g, product)
        });
        Ok(GateBlock(products.collect()))
    }

    fn dot(&mut self, sums: &[(&Self::Block, &Self::Block)]) -> Result<Self::Block, Abort> {
        let mut results = Vec::with_capacity(sums.len());
        for (x, y) in sums {
            if x.lanes() != y.lanes() {
                return Err(unfit());
            }
            let mut sum = vec![self.g.constant(false); 2 * BITS - 1];
            for (x, y) in x.0.iter().zip(&y.0) {
                let product = product(self.g, x, y);
                add(self.g, &mut sum, &product);
            }
            results.push(reduce(self.g, sum));
        }
        Ok(GateBlock(results))
    }

    fn join(&mut self, parts: &[&Self::Block]) -> Self::Block {
        GateBlock(parts.iter().flat_map(|part| &part.0).copied().collect())
    }
}

/// `x += y` for polynomials; `y` is not longer than `x`.
fn add<G: Gates>(g: &mut G, x: &mut [G::Bit], y: &[G::Bit]) {
    for (x, &y) in x.iter_mut().zip(y) {
        *x = g.xor(*x, y);
    }
}

/// The product of two polynomials with the same number of coefficients, a power of two, by Karatsuba's
/// method: `3^k` ANDs for `2^k` coefficients.
fn product<G: Gates>(g: &mut G, x: &[G::Bit], y: &[G::Bit]) -> Vec<G::Bit> {
    if let ([x], [y]) = (x, y) {
        return vec![g.and(*x, *y)];
    }
    let half = x.len() / 2;
    let ((x0, x1), (y0, y1)) = (x.split_at(half), y.split_at(half));
    let (low, high) = (product(g, x0, y0), product(g, x1, y1));
    let (mut xs, mut ys) = (x0.to_vec(), y0.to_vec());
    add(g, &mut xs, x1);
    add(g, &mut ys, y1);
    let mut middle = product(g, &xs, &ys);
    add(g, &mut middle, &low);
    add(g, &mut middle, &high);
    let mut product = low;
    product.push(g.constant(false));
    product.extend(high);
    add(g, &mut product[half..], &middle);
    product
}

/// The remainder of a polynomial of 255 coefficients: `x^128 = x^7 + x^2 + x + 1`.
fn reduce<G: Gates>(g: &mut G, mut x: Vec<G::Bit>) -> [G::Bit; BITS] {
    for i in (BITS..2 * BITS - 1).rev() {
        for to in [0, 1, 2, 7].map(|k| i - BITS + k) {
            x[to] = g.xor(x[to], x[i]);
        }
    }
    std::array::from_fn(|i| x[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::Build;
    use divisi_circuit::plain::Words;
    use divisi_core::{Bytes, Lookup, Lookups, Plain, Table};

    fn blocks(e: &mut GateBytes<'_, Words>, values: &[[u8; 16]]) -> GateBlock<u64> {
        let bytes: [GateByte<u64>; 16] =
            std::array::from_fn(|j| e.public(&values.iter().map(|block| block[j]).collect::<Vec<_>>()));
        e.convert(bytes).unwrap()
    }

    fn values(e: &mut GateBytes<'_, Words>, x: GateBlock<u64>) -> Vec<Vec<u8>> {
        let bytes: [GateByte<u64>; 16] = e.convert(x).unwrap();
        let value = |bits: &[u64; 8]| bits.iter().rev().fold(0, |sum, bit| sum << 1 | (bit & 1) as u8);
        bytes.iter().map(|byte| byte.bits().iter().map(value).collect()).collect()
    }

    /// Bits of which one has other lanes are no byte.
    #[test]
    fn bits_of_a_byte_have_the_same_lanes() {
        for at in 0..8 {
            for (lanes, other) in [(2, 1), (1, 2), (3, 259)] {
                let bits = std::array::from_fn(|i| GateBit(vec![7; if i == at { other } else { lanes }]));
                let byte: Result<GateByte<u64>, Abort> = GateBytes::new(&mut Words).convert(bits);
                assert!(byte.is_err(), "{at} {lanes} {other}");
            }
        }
    }

    /// Each lane has its own bits, also of later wires and in later runs; a wire of one lane serves all.
    #[test]
    fn lanes_are_run_and_looked_up_one_by_one() {
        static SQUARES: Table = Table { index: 2, width: 4, values: &[0, 1, 4, 9] };
        let mut g = Build::new();
        let wires = Build::input(&mut g, 3);
        let both = g.and(wires[0], wires[1]);
        let sum = g.xor(both, wires[2]);
        g.output(&[sum]);
        let program = g.finish();
        let mut words = Words;
        let mut e = GateBytes::new(&mut words);
        for _ in 0..2 {
            let x = [true, true, false, true].map(|bit| [bit, true]).concat();
            let wires = [&x[..4], &x[2..6], &[true]].map(|bits| e.public_bit(bits)).to_vec();
            let mut jobs = [ProgramRun::new(&program, wires)];
            e.run(&mut jobs).unwrap();
            let expected = (0..4).map(|lane| !(x[lane] && x[lane + 2])).map(|bit| e.g.constant(bit));
            assert_eq!(jobs[0].wires[0].0, expected.collect::<Vec<u64>>());
        }
        // of many lanes each
        let lanes: Vec<bool> = (0..257).map(|lane| lane % 3 == 0).collect();
        let wires = [&lanes[..], &[true], &[false]].map(|bits| e.public_bit(bits)).to_vec();
        let mut jobs = [ProgramRun::new(&program, wires)];
        e.run(&mut jobs).unwrap();
        let expected: Vec<u64> = lanes.iter().map(|bit| e.g.constant(*bit)).collect();
        assert_eq!(jobs[0].wires[0].0, expected);
        // one is added to each, and two to no three
        let mut sum = e.public_bit(&[true, false, true]);
        assert!(e.add_bit(&mut sum, &GateBit(vec![0; 2])).is_err());
        assert!(e.add_bit(&mut sum, &GateBit(vec![u64::MAX])).is_ok());
        assert_eq!(sum.0, [0, u64::MAX, 0]);
        let index = [[true, false, true, false], [false, true, true, false]];
        let wires = index.map(|bits| e.public_bit(&bits)).to_vec();
        let mut layer = [Lookup { table: &SQUARES, wires }];
        e.look_up(&mut layer).unwrap();
        let value = |lane: usize| layer[0].wires.iter().rev().fold(0, |n, bit| n << 1 | (bit.0[lane] & 1));
        assert_eq!([0, 1, 2, 3].map(value), [1, 4, 9, 0]);
    }

    #[test]
    fn blocks_are_those_of_the_plain_engine() {
        let sample = |seed: u8| -> Vec<[u8; 16]> {
            (0..3_u8)
                .map(|l| std::array::from_fn(|j| seed.wrapping_mul(j as u8 + 3).wrapping_add(91 * l)))
                .collect()
        };
        let (x, y) = (sample(37), sample(101));
        let plain = |values: &[[u8; 16]]| {
            let bytes: [_; 16] = std::array::from_fn(|j| {
                Plain.public(&values.iter().map(|block| block[j]).collect::<Vec<_>>())
            });
            Plain.convert(bytes).unwrap()
        };
        let mut words = Words;
        let mut e = GateBytes::new(&mut words);
        let (gx, gy) = (blocks(&mut e, &x), blocks(&mut e, &y));
        let (px, py) = (plain(&x), plain(&y));
        let c = [1, u128::MAX / 3, 1 << 127];
        let mut got = vec![e.multiply(&gx, &gy).unwrap(), e.dot(&[(&gx, &gy), (&gy, &gy)]).unwrap()];
        got.extend([e.square(&gx), e.combine(&gx, &c).unwrap(), e.join(&[&gy, &gx])]);
        let mut sum = gx.clone();
        e.add_block(&mut sum, &gy.first(1).unwrap()).unwrap();
        e.add_public_block(&mut sum, &c).unwrap();
        got.push(sum);
        let mut want = vec![Plain.multiply(&px, &py).unwrap(), Plain.dot(&[(&px, &py), (&py, &py)]).unwrap()];
        want.extend([Plain.square(&px), Plain.combine(&px, &c).unwrap(), Plain.join(&[&py, &px])]);
        let mut sum = px.clone();
        Plain.add_block(&mut sum, &py.first(1).unwrap()).unwrap();
        Plain.add_public_block(&mut sum, &c).unwrap();
        want.push(sum);
        for (got, want) in got.into_iter().zip(want) {
            let want: [divisi_core::PlainByte; 16] = Plain.convert(want).unwrap();
            assert_eq!(values(&mut e, got), want.map(|byte| byte.values().to_vec()));
        }
        assert!(e.multiply(&gx, &gy.first(1).unwrap()).is_err() && e.combine(&gx, &[1]).is_err());
        assert!(e.dot(&[(&gx, &gy), (&gx, &gy.first(1).unwrap())]).is_err());
    }
}

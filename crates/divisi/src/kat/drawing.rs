//! An engine that computes nothing and draws: its values are wires of a circuit in the making, so that every function that is
//! written over the traits of engines is a circuit as well.

use divisi_circuit::{Bit, Build, Gates, Program};
use divisi_core::{Abort, Blocks, Boolean, Bytes, Convert, Direction, Job, Lanes, Matrix, Step, step};
use divisi_field::{Field, Gf128};
use divisi_symmetric::gates::{GateByte, GateBytes};
use std::cell::RefCell;

const DRAW: Step = step!("draw");

/// Bits of a block.
const BLOCK: usize = 128;

/// The sheet that several pens draw on.
#[derive(Clone, Copy)]
pub(super) struct Sheet<'s>(&'s RefCell<Build>);

impl Gates for Sheet<'_> {
    type Bit = Bit;

    fn constant(&mut self, value: bool) -> Bit {
        self.0.borrow_mut().constant(value)
    }

    fn xor(&mut self, x: Bit, y: Bit) -> Bit {
        self.0.borrow_mut().xor(x, y)
    }

    fn not(&mut self, x: Bit) -> Bit {
        self.0.borrow_mut().not(x)
    }

    fn dot(&mut self, terms: &[(Bit, Bit)]) -> Bit {
        self.0.borrow_mut().dot(terms)
    }
}

/// The engine.
pub(super) struct Drawing<'s> {
    sheet: Sheet<'s>,
    bytes: GateBytes<'s, Sheet<'s>>,
}

/// One wire in every lane.
#[derive(Clone)]
pub(super) struct Wire(Vec<Bit>);

/// The wires of a block in every lane: coefficient i of the field's element is wire i.
#[derive(Clone)]
pub(super) struct WireBlock(Vec<[Bit; BLOCK]>);

/// Bytes of one lane, as wires.
pub(super) type WireByte = [Bit; 8];

/// The circuit whose input values have so many bytes, and whose output values `draw` gives. Values have the order of those of
/// `divisi circuit emit`: the last byte's lowest bit first.
pub(super) fn circuit(
    inputs: &[usize],
    draw: impl FnOnce(&mut Drawing<'_>, Vec<Vec<WireByte>>) -> Result<Vec<Vec<WireByte>>, Abort>,
) -> Result<Program, Abort> {
    let sheet = RefCell::new(Build::new());
    let values: Vec<Vec<WireByte>> =
        inputs.iter().map(|bytes| input(&mut sheet.borrow_mut(), *bytes)).collect();
    let mut pen = Sheet(&sheet);
    let mut drawing = Drawing { sheet: Sheet(&sheet), bytes: GateBytes::new(&mut pen) };
    let outputs = draw(&mut drawing, values)?;
    drop(drawing);
    let mut build = sheet.into_inner();
    for mut value in outputs {
        value.reverse();
        build.output(value.as_flattened());
    }
    Ok(build.finish())
}

fn input(build: &mut Build, bytes: usize) -> Vec<WireByte> {
    if bytes == 0 {
        return Vec::new();
    }
    let mut value = build.input(8 * bytes).as_chunks().0.to_vec();
    value.reverse();
    value
}

fn unfit() -> Abort {
    Abort::Misuse { step: DRAW, what: "values that differ in lanes, or do not fit the circuit" }
}

impl Drawing<'_> {
    /// Bytes of one lane as the engine's own.
    pub fn bytes_of(value: &[WireByte]) -> Vec<GateByte<Bit>> {
        value.iter().map(|byte| GateByte::new(vec![*byte])).collect()
    }

    /// And back.
    pub fn wires_of(bytes: &[GateByte<Bit>]) -> Result<Vec<WireByte>, Abort> {
        bytes.iter().map(|byte| byte.bits().first().copied().ok_or_else(unfit)).collect()
    }

    /// The same from single wires.
    pub fn joined(bytes: &[[Wire; 8]]) -> Result<Vec<WireByte>, Abort> {
        let byte = |byte: &[Wire; 8]| {
            let bits: Option<Vec<Bit>> = byte.iter().map(|wire| wire.0.first().copied()).collect();
            bits.and_then(|bits| bits.try_into().ok()).ok_or_else(unfit)
        };
        bytes.iter().map(byte).collect()
    }

    /// One bit that tells whether two values are the same, as a byte.
    pub fn same(&mut self, x: &[WireByte], y: &[WireByte]) -> WireByte {
        let g = &mut self.sheet;
        let mut equal: Vec<Bit> = Vec::new();
        for (x, y) in x.as_flattened().iter().zip(y.as_flattened()) {
            let differs = g.xor(*x, *y);
            equal.push(g.not(differs));
        }
        while equal.len() > 1 {
            equal =
                equal.chunks(2).map(|pair| if let [x, y] = *pair { g.and(x, y) } else { pair[0] }).collect();
        }
        let [none, all] = [false, true].map(|value| g.constant(value));
        let mut byte = [none; 8];
        byte[0] = if x.len() == y.len() { equal.first().copied().unwrap_or(all) } else { none };
        byte
    }

    /// Sum two values, bit by bit.
    pub fn sum(&mut self, x: &[WireByte], y: &[WireByte]) -> Vec<WireByte> {
        let g = &mut self.sheet;
        x.iter().zip(y).map(|(x, y)| std::array::from_fn(|i| g.xor(x[i], y[i]))).collect()
    }

    /// The block whose bit j is the sum of the bits i of `x` for which bit j of `image(i)` is one.
    fn mapped(&mut self, x: &[Bit; BLOCK], image: impl Fn(usize) -> u128) -> [Bit; BLOCK] {
        let images: Vec<u128> = (0..BLOCK).map(image).collect();
        std::array::from_fn(|j| {
            let mut sum = self.sheet.constant(false);
            for (x, image) in x.iter().zip(&images) {
                if image >> j & 1 == 1 {
                    sum = self.sheet.xor(sum, *x);
                }
            }
            sum
        })
    }

    fn product(&mut self, x: &[Bit; BLOCK], y: &[Bit; BLOCK]) -> [Bit; BLOCK] {
        let long = polynomials(&mut self.sheet, x, y);
        let mut low: [Bit; BLOCK] = std::array::from_fn(|i| long[i]);
        // y^128 times what stands above
        let mut high = [self.sheet.constant(false); BLOCK];
        high[..long.len() - BLOCK].copy_from_slice(&long[BLOCK..]);
        let top = Gf128::from_low_bits(1 << 127) * Gf128::from_low_bits(2);
        let high = self.mapped(&high, |i| (Gf128::from_low_bits(1 << i) * top).to_bits());
        low.iter_mut().zip(high).for_each(|(low, high)| *low = self.sheet.xor(*low, high));
        low
    }
}

/// The product of two polynomials over GF(2) of one length, a power of two: three of half the length instead of four (Karatsuba).
fn polynomials(g: &mut Sheet<'_>, x: &[Bit], y: &[Bit]) -> Vec<Bit> {
    if let ([x], [y]) = (x, y) {
        return vec![g.and(*x, *y)];
    }
    let half = x.len() / 2;
    let ((x0, x1), (y0, y1)) = (x.split_at(half), y.split_at(half));
    let mut sums =
        |a: &[Bit], b: &[Bit]| -> Vec<Bit> { a.iter().zip(b).map(|(a, b)| g.xor(*a, *b)).collect() };
    let (xs, ys) = (sums(x0, x1), sums(y0, y1));
    let (low, high, mid) = (polynomials(g, x0, y0), polynomials(g, x1, y1), polynomials(g, &xs, &ys));
    let mut out = vec![g.constant(false); 2 * x.len() - 1];
    for (i, ((low, high), mid)) in low.iter().zip(&high).zip(&mid).enumerate() {
        let ends = g.xor(*low, *high);
        let mid = g.xor(*mid, ends);
        for (at, bit) in [(i, *low), (i + half, mid), (i + 2 * half, *high)] {
            out[at] = g.xor(out[at], bit);
        }
    }
    out
}

impl Lanes for Wire {
    fn lanes(&self) -> usize {
        self.0.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        index.iter().map(|lane| self.0.get(*lane).copied()).collect::<Option<_>>().map(Wire)
    }
}

impl Lanes for WireBlock {
    fn lanes(&self) -> usize {
        self.0.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        index.iter().map(|lane| self.0.get(*lane).copied()).collect::<Option<_>>().map(WireBlock)
    }
}

impl Boolean for Drawing<'_> {
    type Bit = Wire;

    fn public_bit(&mut self, values: &[bool]) -> Wire {
        Wire(values.iter().map(|value| self.sheet.constant(*value)).collect())
    }

    fn join_bits(&mut self, parts: &[&Wire]) -> Wire {
        Wire(parts.iter().flat_map(|part| part.0.iter().copied()).collect())
    }

    fn run(&mut self, jobs: &mut [Job<'_, Wire>]) -> Result<(), Abort> {
        for job in jobs {
            let lanes = job.wires.iter().map(Lanes::lanes).find(|lanes| *lanes != 1).unwrap_or(1);
            if job.wires.iter().any(|wire| wire.lanes() != 1 && wire.lanes() != lanes) {
                return Err(unfit());
            }
            let mut outputs = vec![Wire(Vec::with_capacity(lanes)); job.program.output_bits()];
            for lane in 0..lanes {
                let inputs: Vec<Bit> =
                    job.wires.iter().map(|wire| wire.0[lane % wire.lanes().max(1)]).collect();
                let results = job.program.replay(&mut self.sheet, &inputs).ok_or_else(unfit)?;
                outputs.iter_mut().zip(results).for_each(|(out, bit)| out.0.push(bit));
            }
            job.wires = outputs;
        }
        Ok(())
    }
}

impl Bytes for Drawing<'_> {
    type Byte = GateByte<Bit>;

    fn public(&mut self, values: &[u8]) -> Self::Byte {
        self.bytes.public(values)
    }

    fn add(&mut self, x: &mut Self::Byte, y: &Self::Byte) -> Result<(), Abort> {
        self.bytes.add(x, y)
    }

    fn add_public(&mut self, x: &mut Self::Byte, c: &[u8]) -> Result<(), Abort> {
        self.bytes.add_public(x, c)
    }

    fn linear<const N: usize>(&mut self, m: &Matrix<N>, x: &mut [Self::Byte; N]) -> Result<(), Abort> {
        self.bytes.linear(m, x)
    }

    fn sbox(&mut self, d: Direction, x: &mut [&mut Self::Byte]) -> Result<(), Abort> {
        self.bytes.sbox(d, x)
    }
}

impl Blocks for Drawing<'_> {
    type Block = WireBlock;

    fn add_block(&mut self, x: &mut WireBlock, y: &WireBlock) -> Result<(), Abort> {
        if y.lanes() != 1 && y.lanes() != x.lanes() {
            return Err(unfit());
        }
        for (x, y) in x.0.iter_mut().zip(y.0.iter().cycle()) {
            x.iter_mut().zip(y).for_each(|(x, y)| *x = self.sheet.xor(*x, *y));
        }
        Ok(())
    }

    fn add_public_block(&mut self, x: &mut WireBlock, c: &[u128]) -> Result<(), Abort> {
        let constant = |c: &u128| std::array::from_fn(|i| self.sheet.constant(c >> i & 1 == 1));
        let c = WireBlock(c.iter().map(constant).collect());
        self.add_block(x, &c)
    }

    fn combine(&mut self, x: &WireBlock, c: &[u128]) -> Result<WireBlock, Abort> {
        if x.lanes() != c.len() {
            return Err(unfit());
        }
        let mut sum = WireBlock(vec![[self.sheet.constant(false); BLOCK]]);
        for (x, c) in x.0.iter().zip(c) {
            let c = Gf128::from_low_bits(*c);
            let product = self.mapped(x, |i| (Gf128::from_low_bits(1 << i) * c).to_bits());
            self.add_block(&mut sum, &WireBlock(vec![product]))?;
        }
        Ok(sum)
    }

    fn square(&mut self, x: &WireBlock) -> WireBlock {
        let square = |i: usize| (Gf128::from_low_bits(1 << i) * Gf128::from_low_bits(1 << i)).to_bits();
        WireBlock(x.0.iter().map(|x| self.mapped(x, square)).collect())
    }

    fn multiply(&mut self, x: &WireBlock, y: &WireBlock) -> Result<WireBlock, Abort> {
        let lanes = x.lanes().max(y.lanes());
        if [x, y].iter().any(|block| block.lanes() != 1 && block.lanes() != lanes) {
            return Err(unfit());
        }
        let at = |block: &WireBlock, lane: usize| block.0[lane % block.lanes()];
        Ok(WireBlock((0..lanes).map(|lane| self.product(&at(x, lane), &at(y, lane))).collect()))
    }

    fn dot(&mut self, sums: &[(&WireBlock, &WireBlock)]) -> Result<WireBlock, Abort> {
        let mut out = Vec::with_capacity(sums.len());
        for (x, y) in sums {
            if x.lanes() != y.lanes() {
                return Err(unfit());
            }
            let mut sum = WireBlock(vec![[self.sheet.constant(false); BLOCK]]);
            for (x, y) in x.0.iter().zip(&y.0) {
                let product = self.product(x, y);
                self.add_block(&mut sum, &WireBlock(vec![product]))?;
            }
            out.extend(sum.0);
        }
        Ok(WireBlock(out))
    }

    fn join(&mut self, parts: &[&WireBlock]) -> WireBlock {
        WireBlock(parts.iter().flat_map(|part| part.0.iter().copied()).collect())
    }
}

impl Convert<GateByte<Bit>, [Wire; 8]> for Drawing<'_> {
    fn convert(&mut self, x: GateByte<Bit>) -> Result<[Wire; 8], Abort> {
        Ok(std::array::from_fn(|i| Wire(x.bits().iter().map(|byte| byte[i]).collect())))
    }
}

impl Convert<[Wire; 8], GateByte<Bit>> for Drawing<'_> {
    fn convert(&mut self, x: [Wire; 8]) -> Result<GateByte<Bit>, Abort> {
        let lanes = x[0].lanes();
        if x.iter().any(|wire| wire.lanes() != lanes) {
            return Err(unfit());
        }
        Ok(GateByte::new((0..lanes).map(|lane| std::array::from_fn(|i| x[i].0[lane])).collect()))
    }
}

/// Which coefficient of the element each bit of GHASH's 16 bytes is (SP 800-38D, 6.3).
fn ghash_order() -> [usize; BLOCK] {
    std::array::from_fn(|at| {
        let mut bytes = [0; 16];
        bytes[at / 8] = 1 << (at % 8);
        Gf128::from_ghash(bytes).to_bits().trailing_zeros() as usize
    })
}

impl Convert<[GateByte<Bit>; 16], WireBlock> for Drawing<'_> {
    fn convert(&mut self, x: [GateByte<Bit>; 16]) -> Result<WireBlock, Abort> {
        let (lanes, order, none) = (x[0].lanes(), ghash_order(), self.sheet.constant(false));
        if x.iter().any(|byte| byte.lanes() != lanes) {
            return Err(unfit());
        }
        let block = |lane: usize| {
            let mut block = [none; BLOCK];
            order.iter().enumerate().for_each(|(at, i)| block[*i] = x[at / 8].bits()[lane][at % 8]);
            block
        };
        Ok(WireBlock((0..lanes).map(block).collect()))
    }
}

impl Convert<WireBlock, [GateByte<Bit>; 16]> for Drawing<'_> {
    fn convert(&mut self, x: WireBlock) -> Result<[GateByte<Bit>; 16], Abort> {
        let order = ghash_order();
        let byte = |j: usize, block: &[Bit; BLOCK]| std::array::from_fn(|i| block[order[8 * j + i]]);
        Ok(std::array::from_fn(|j| GateByte::new(x.0.iter().map(|block| byte(j, block)).collect())))
    }
}

#[cfg(test)]
mod tests;

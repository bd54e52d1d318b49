//! An engine for [`Bytes`] that records gates, so that AES becomes a circuit.

use super::linear::LinearMap;
use super::sbox::sbox;
use divisi_circuit::Gates;
use divisi_core::{Abort, Bytes, Direction, Lanes, Matrix, Misuse, step};
use divisi_field::{Field, Gf8};
use std::collections::HashMap;

/// An engine with bytes of eight wires, for everything that is written over [`Bytes`].
pub struct GateBytes<'g, G> {
    pub(super) g: &'g mut G,
    /// The XORs of each matrix, by its coefficients; they are computed once.
    maps: HashMap<Vec<u8>, Vec<LinearMap>>,
}

/// A byte of eight wires in every lane.
#[derive(Clone)]
pub struct GateByte<B>(Vec<[B; 8]>);

impl<B> GateByte<B> {
    /// A byte with `bits[l]`, the lowest first, in lane `l`.
    #[must_use]
    pub fn new(bits: Vec<[B; 8]>) -> Self {
        GateByte(bits)
    }

    /// The bits, lane by lane.
    #[must_use]
    pub fn bits(&self) -> &[[B; 8]] {
        &self.0
    }
}

impl<B: Copy> Lanes for GateByte<B> {
    fn lanes(&self) -> usize {
        self.0.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        index.iter().map(|&lane| self.0.get(lane).copied()).collect::<Option<_>>().map(GateByte)
    }
}

impl<'g, G: Gates> GateBytes<'g, G> {
    /// An engine over these gates.
    pub fn new(g: &'g mut G) -> Self {
        GateBytes { g, maps: HashMap::new() }
    }

    /// The gates that it records to.
    pub fn gates(&mut self) -> &mut G {
        self.g
    }
}

pub(super) fn unfit() -> Abort {
    Abort::Misuse { step: step!("lanes"), what: Misuse::LanesDiffer }
}

impl<G: Gates> Bytes for GateBytes<'_, G> {
    type Byte = GateByte<G::Bit>;

    fn public(&mut self, values: &[u8]) -> Self::Byte {
        GateByte(super::public_bytes(self.g, values))
    }

    fn add(&mut self, x: &mut Self::Byte, y: &Self::Byte) -> Result<(), Abort> {
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

    fn add_public(&mut self, x: &mut Self::Byte, c: &[u8]) -> Result<(), Abort> {
        let c = self.public(c);
        self.add(x, &c)
    }

    fn linear<const N: usize>(&mut self, m: &Matrix<N>, x: &mut [Self::Byte; N]) -> Result<(), Abort> {
        let lanes = x.first().map_or(0, Lanes::lanes);
        if x.iter().any(|x| x.lanes() != lanes) {
            return Err(unfit());
        }
        let maps = self.maps.entry(m.0.as_flattened().to_vec()).or_insert_with(|| maps(m));
        for lane in 0..lanes {
            let bits: Vec<G::Bit> = x.iter().flat_map(|x| x.0[lane]).collect();
            let sums = maps.iter().flat_map(|map| map.apply(self.g, &bits)).collect::<Vec<_>>();
            for (x, sums) in x.iter_mut().zip(sums.as_chunks().0) {
                x.0[lane] = *sums;
            }
        }
        Ok(())
    }

    fn sbox(&mut self, d: Direction, x: &mut [&mut Self::Byte]) -> Result<(), Abort> {
        for byte in x.iter_mut().flat_map(|x| x.0.iter_mut()) {
            *byte = sbox(self.g, d, *byte);
        }
        Ok(())
    }

    fn join_bytes(&mut self, parts: &[&Self::Byte]) -> Result<Self::Byte, Abort> {
        Ok(GateByte(parts.iter().flat_map(|part| part.0.iter().copied()).collect()))
    }
}

/// The linear map of a matrix on bits, in groups of eight rows.
fn maps<const N: usize>(m: &Matrix<N>) -> Vec<LinearMap> {
    let map = |rows: &[[u8; N]]| {
        let contains = |i: usize| {
            let product = |row: &[u8; N]| u64::from((Gf8(row[i / 8]) * Gf8(1 << (i % 8))).0);
            rows.iter().rev().fold(0, |bits, row| bits << Gf8::BITS | product(row))
        };
        LinearMap::new(&(0..8 * N).map(contains).collect::<Vec<_>>(), 8 * rows.len())
    };
    m.0.chunks(8).map(map).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::plain::Words;
    use divisi_core::Plain;

    fn values(bytes: &[GateByte<u64>]) -> Vec<Vec<u8>> {
        let value = |bits: &[u64; 8]| bits.iter().rev().fold(0, |sum, bit| sum << 1 | (bit & 1) as u8);
        bytes.iter().map(|byte| byte.bits().iter().map(value).collect()).collect()
    }

    #[test]
    fn matrices_of_any_size_are_those_of_the_plain_engine() {
        let m = Matrix::<9>(std::array::from_fn(|i| std::array::from_fn(|j| (17 * i + 5 * j) as u8)));
        let input: [[u8; 2]; 9] = std::array::from_fn(|i| [31 * i as u8, 255 - i as u8]);
        let mut plain = input.map(|x| Plain.public(&x));
        Plain.linear(&m, &mut plain).unwrap();
        let mut words = Words;
        let mut e = GateBytes::new(&mut words);
        let mut x = input.map(|x| e.public(&x));
        e.linear(&m, &mut x).unwrap();
        assert_eq!(values(&x), plain.map(|x| x.values().to_vec()));
    }

    #[test]
    fn lanes_must_fit() {
        let mut words = Words;
        let mut e = GateBytes::new(&mut words);
        let (mut two, three) = (e.public(&[1, 2]), e.public(&[1, 2, 3]));
        assert!(matches!(e.add(&mut two, &three), Err(Abort::Misuse { .. })));
        assert!(matches!(e.add_public(&mut two, &[1, 2, 3]), Err(Abort::Misuse { .. })));
        let mut uneven = [two.clone(), three];
        assert!(matches!(e.linear(&Matrix([[1, 2], [3, 4]]), &mut uneven), Err(Abort::Misuse { .. })));
        e.add_public(&mut two, &[0xf0]).unwrap();
        let got = two.gather(&[1, 1, 0]).unwrap();
        assert_eq!(values(&[got]), [[0xf2, 0xf2, 0xf1]]);
        assert!(two.gather(&[2]).is_none());
    }
}

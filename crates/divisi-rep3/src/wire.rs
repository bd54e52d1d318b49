//! Bit planes and field elements as messages: exactly the bits in use, the padding of a plane's last byte
//! zero.

use crate::packed::{self, Reader, Writer};
use divisi_core::{Step, step, taint};
use divisi_field::{Field, Plane};

/// What reading makes public: whether a peer's padding is zero, as that of an honest one is.
const PADDING: Step = step!("padding");

/// The number of lanes in use in each tile of a layer, in order. Both ends of a message know it.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Shape(pub(crate) Vec<usize>);

impl Shape {
    /// Payload bits of a message with `planes` bits a lane.
    pub(crate) fn bits(&self, planes: usize) -> u64 {
        (self.0.iter().sum::<usize>() * planes) as u64
    }

    /// Bytes of that message.
    pub(crate) fn bytes(&self, planes: usize) -> usize {
        self.0.iter().map(|lanes| lanes.div_ceil(8) * planes).sum()
    }
}

/// The message of a layer: tile by tile, plane by plane.
pub(crate) fn write<const K: usize>(tiles: &[[Plane; K]], shape: &Shape, out: &mut Vec<u8>) {
    write_planes(tiles.iter().map(|tile| &tile[..]), shape, K, out);
}

/// The message of some planes of each tile, the same number of each.
pub(crate) fn write_planes<'p>(
    tiles: impl Iterator<Item = &'p [Plane]>,
    shape: &Shape,
    planes: usize,
    out: &mut Vec<u8>,
) {
    out.clear();
    out.reserve(shape.bytes(planes));
    for (tile, lanes) in tiles.zip(&shape.0) {
        for plane in tile {
            out.extend_from_slice(&plane.to_le_bytes()[..lanes.div_ceil(8)]);
        }
    }
}

/// Reads what [`write`] wrote; `None` if the length is wrong or a padding bit is set.
pub(crate) fn read<const K: usize>(bytes: &[u8], shape: &Shape, out: &mut Vec<[Plane; K]>) -> Option<()> {
    out.clear();
    out.resize(shape.0.len(), [Plane::ZERO; K]);
    read_planes(bytes, shape, out.iter_mut().map(|tile| &mut tile[..]))
}

/// Reads what [`write_planes`] wrote.
pub(crate) fn read_planes<'p>(
    mut bytes: &[u8],
    shape: &Shape,
    tiles: impl Iterator<Item = &'p mut [Plane]>,
) -> Option<()> {
    let mut padding = 0;
    for (tile, lanes) in tiles.zip(&shape.0) {
        let n = lanes.div_ceil(8);
        for plane in tile {
            let (now, later) = bytes.split_at_checked(n)?;
            bytes = later;
            let mut full = [0; 64];
            full[..n].copy_from_slice(now);
            if lanes % 8 != 0 {
                padding |= full[n - 1] >> (lanes % 8);
            }
            *plane = Plane::from_le_bytes(&full);
        }
    }
    (bytes.is_empty() && taint::verdict(PADDING, padding == 0)).then_some(())
}

/// Field elements, little-endian, each with as many bits as the field.
pub(crate) fn write_elements<F: Field>(elements: &[F]) -> Vec<u8> {
    write_low(elements, F::BITS)
}

/// The low `bits` bits of each element, whose others are zero.
pub(crate) fn write_low<F: Field>(elements: &[F], bits: usize) -> Vec<u8> {
    let mut out = Writer::with_capacity(elements.len() * bits);
    for x in elements {
        let x = x.to_bits();
        out.push(x as u64, bits.min(64));
        if bits > 64 {
            out.push((x >> 64) as u64, bits - 64);
        }
    }
    out.finish()
}

/// Reads `n` elements that [`write_elements`] wrote; `None` if the length is wrong or a padding bit is set.
pub(crate) fn read_elements<F: Field>(bytes: &[u8], n: usize) -> Option<Vec<F>> {
    read_low(bytes, n, F::BITS)
}

/// Reads what [`write_low`] wrote.
pub(crate) fn read_low<F: Field>(bytes: &[u8], n: usize, bits: usize) -> Option<Vec<F>> {
    if bytes.len() != packed::bytes(n * bits) || !packed::padding_is_zero(bytes, n * bits) {
        return None;
    }
    let mut from = Reader::new(bytes);
    let element = |_| {
        let low = u128::from(from.take(bits.min(64)));
        let high = if bits > 64 { u128::from(from.take(bits - 64)) } else { 0 };
        F::from_low_bits(low | high << 64)
    };
    Some((0..n).map(element).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(seed: u64) -> [Plane; 4] {
        let mut x = seed;
        [(); 4].map(|()| {
            Plane([(); 8].map(|()| {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                x
            }))
        })
    }

    #[test]
    fn a_layer_comes_back_and_is_as_long_as_its_bits() {
        for lanes in [1, 7, 8, 9, 63, 64, 65, 511, 512] {
            let shape = Shape(vec![lanes, 512, 1]);
            let mut tiles = vec![sample(1), sample(2), sample(3)];
            tiles[0].iter_mut().for_each(|p| p.keep(lanes));
            tiles[2].iter_mut().for_each(|p| p.keep(1));
            let (mut bytes, mut back) = (Vec::new(), Vec::new());
            write(&tiles, &shape, &mut bytes);
            assert_eq!(bytes.len(), shape.bytes(4));
            assert_eq!(shape.bits(4), 4 * (lanes as u64 + 513));
            assert!(read(&bytes, &shape, &mut back).is_some());
            assert!(back == tiles);
        }
    }

    #[test]
    fn padding_and_wrong_lengths_are_refused() {
        let shape = Shape(vec![9]);
        let mut back: Vec<[Plane; 1]> = Vec::new();
        assert!(read(&[0xff, 0x01], &shape, &mut back).is_some());
        assert!(read(&[0xff, 0x02], &shape, &mut back).is_none());
        assert!(read(&[0xff], &shape, &mut back).is_none());
        assert!(read(&[0xff, 0x01, 0], &shape, &mut back).is_none());
    }
}

//! The shape of the products of one table: for j = 1, .., log - 1 a bit and a vector of 2^j bits, in pieces.

use crate::demux::PIECE;

/// Some bits of a vector under one MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The number of its product, from 0.
    pub product: usize,
    /// The position of its first bit among those of all vectors.
    pub from: usize,
    /// The number of its bits.
    pub width: usize,
}

/// The products of a table of 2^log entries: W = 2^log - 2 bits in P pieces.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub log: usize,
    pub pieces: Vec<Piece>,
}

impl Shape {
    pub fn new(log: usize) -> Self {
        let mut pieces = Vec::new();
        for product in 0..log.saturating_sub(1) {
            let (bits, width) = (2 << product, PIECE.min(2 << product));
            let from = bits - 2;
            pieces.extend((0..bits / width).map(|i| Piece { product, from: from + i * width, width }));
        }
        Shape { log, pieces }
    }

    /// The number of products, log - 1.
    pub fn products(&self) -> usize {
        self.log.saturating_sub(1)
    }

    /// W: the number of bits of all vectors.
    pub fn bits(&self) -> usize {
        (1 << self.log) - 2
    }

    /// The positions of the pieces of one product.
    pub fn pieces_of(&self, product: usize) -> std::ops::Range<usize> {
        let first = self.pieces.iter().take_while(|piece| piece.product < product).count();
        let count = self.pieces.iter().filter(|piece| piece.product == product).count();
        first..first + count
    }

    /// The number of bits of the last vector: half the number of entries.
    pub fn half(&self) -> usize {
        1 << self.products()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demux::products;

    #[test]
    fn pieces_cover_all_vectors() {
        for log in 2..=10 {
            let shape = Shape::new(log);
            assert_eq!((shape.pieces.len(), shape.bits()), (products(log), (1 << log) - 2));
            let mut next = 0;
            for piece in &shape.pieces {
                assert_eq!(piece.from, next);
                assert!(piece.width <= PIECE);
                next += piece.width;
            }
            assert_eq!(next, shape.bits());
            let last = shape.pieces_of(log - 2);
            assert_eq!(last.end, shape.pieces.len());
            let bits: usize = shape.pieces[last].iter().map(|piece| piece.width).sum();
            assert_eq!(bits, shape.half());
        }
        assert_eq!((Shape::new(8).pieces.len(), Shape::new(6).pieces.len()), (11, 5));
    }
}

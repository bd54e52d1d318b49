//! What the author of a circuit needs: bits that are added and multiplied.

/// Bits of GF(2) and the gates between them, one gate at a time.
///
/// Addition is free on every engine; products cost communication. A [`dot`](Gates::dot) is one gate, because
/// engines with replicated shares send one bit for a whole sum of products; others pay for each term.
pub trait Gates {
    /// A wire.
    type Bit: Copy;

    /// A wire with a value that everybody knows.
    fn constant(&mut self, value: bool) -> Self::Bit;

    /// `x + y`.
    fn xor(&mut self, x: Self::Bit, y: Self::Bit) -> Self::Bit;

    /// `x + 1`.
    fn not(&mut self, x: Self::Bit) -> Self::Bit;

    /// The sum of the products `x y` over all terms; 0 if there are none.
    fn dot(&mut self, terms: &[(Self::Bit, Self::Bit)]) -> Self::Bit;

    /// `x y`.
    fn and(&mut self, x: Self::Bit, y: Self::Bit) -> Self::Bit {
        self.dot(&[(x, y)])
    }

    /// `x` where `c` is 1, `y` where it is 0: one product.
    fn choose(&mut self, c: Self::Bit, x: Self::Bit, y: Self::Bit) -> Self::Bit {
        let difference = self.xor(x, y);
        let taken = self.and(c, difference);
        self.xor(taken, y)
    }

    /// What at least two of the three are: one product.
    fn majority(&mut self, x: Self::Bit, y: Self::Bit, z: Self::Bit) -> Self::Bit {
        let (xy, xz) = (self.xor(x, y), self.xor(x, z));
        let product = self.and(xy, xz);
        self.xor(product, x)
    }
}

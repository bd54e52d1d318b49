//! The trait that authors of circuits use: bits that are added and multiplied.

/// Bits of GF(2), and gates on them, one gate at a time.
///
/// XORs are free on every engine; ANDs cost communication. A [`dot`](Gates::dot) (a sum of products) is one
/// gate, because engines with replicated shares send one bit for the whole sum; other engines pay for each
/// product.
pub trait Gates {
    /// A wire.
    type Bit: Copy;

    /// A wire with a public constant.
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

    /// `x` if `c` is 1, else `y`: one AND.
    fn choose(&mut self, c: Self::Bit, x: Self::Bit, y: Self::Bit) -> Self::Bit {
        let difference = self.xor(x, y);
        let taken = self.and(c, difference);
        self.xor(taken, y)
    }

    /// The majority of three bits: one AND.
    fn majority(&mut self, x: Self::Bit, y: Self::Bit, z: Self::Bit) -> Self::Bit {
        let (xy, xz) = (self.xor(x, y), self.xor(x, z));
        let product = self.and(xy, xz);
        self.xor(product, x)
    }
}

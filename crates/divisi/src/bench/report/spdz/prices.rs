//! The cost of preprocessing by formula, in bits to each peer (docs/spdz.md, sections 7 and 8; the crate's
//! test `prices` compares the formulas with the meter).

use divisi_ot::bucket;

/// The least statistical security of the buckets, in bits.
const RHO: u32 = 40;

/// The width of the field, and the sizes of rows in bits to each peer (docs/spdz.md, 7).
#[derive(Clone, Copy)]
pub struct Sizes {
    /// The bits of the field of MACs.
    pub f: usize,
    /// The bits of a narrow row, which authenticates a random bit: f / k, rounded up.
    pub narrow: usize,
    /// The bits of the pads that a wide row has in addition: 128 / k, rounded up.
    pads: usize,
}

impl Sizes {
    /// For a field of f bits and partitions of k columns.
    pub fn new(f: usize, k: usize) -> Sizes {
        Sizes { f, narrow: f.div_ceil(k), pads: 128_usize.div_ceil(k) }
    }

    /// MASCOT's product of two elements.
    pub fn element(&self) -> usize {
        4 * self.f * (self.pads + self.f) + 5 * self.f * self.narrow
    }

    /// MASCOT's product of two bytes: rho and sigma, sixteen random bits, and what is opened.
    fn byte_by_mascot(&self) -> usize {
        self.element() + 4 * self.f + 16 * self.narrow
    }

    /// MASCOT's product of a bit and an element.
    fn bit_and_element(&self) -> usize {
        self.element() + 4 * self.f + self.narrow + 1
    }

    /// A table of 2^l entries from buckets of b.
    fn table(&self, l: u32, b: usize) -> usize {
        let Sizes { f, narrow, pads } = self;
        let (entries, p) = (1_usize << l, products(l));
        let (w, l) = (entries - 2, l as usize);
        b * ((l - 1) * (narrow + pads) + w * narrow + w + p * f)
            + b * w
            + entries / 2
            + (entries / 2 + 1) * narrow
    }

    /// A product of bytes from buckets of b.
    fn byte(&self, b: usize) -> usize {
        let Sizes { f, narrow, pads } = self;
        b * (8 * (narrow + pads) + 8 * narrow + 8 * (8 + f)) + 8 * (b - 1)
    }

    /// A product of bits from buckets of b.
    fn bit(&self, b: usize) -> usize {
        let Sizes { f, narrow, pads } = self;
        b * (2 * narrow + pads + 1 + f) + b - 1
    }
}

/// The number of products for a masked table of 2^l entries, in pieces of 32 bits (Table 1).
pub fn products(l: u32) -> usize {
    (1..l).map(|j| (1_usize << j).div_ceil(32)).sum()
}

/// The preprocessing that a block of a protocol takes.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Material {
    /// The numbers of products of bytes, and of random bits.
    Bytes(usize, usize),
    /// Products in GF(2^6), and random bits, for which there is no formula here.
    Sixes,
    /// The number of tables; l, for 2^l entries each; and the number of bits of the masks, if the cipher runs
    /// over masks, else 0.
    Tables(usize, u32, usize),
}

/// The material of a protocol.
pub fn material(protocol: &str) -> Option<Material> {
    Some(match protocol {
        "aes-bd" => Material::Bytes(960, 2_560),
        "aes-rp" => Material::Bytes(640, 5_120),
        "aes-lt" => Material::Tables(160, 8, 0),
        "aes-tinytable" => Material::Tables(160, 8, 1_280),
        "3des-raw" => Material::Sixes,
        "3des-pv" => Material::Bytes(1_152, 9_216),
        "3des-lt" => Material::Tables(384, 6, 0),
        "3des-tinytable" => Material::Tables(384, 6, 1_536),
        _ => return None,
    })
}

impl Material {
    /// Triples (for tables: products of a bit and an element) and random bits, as Table 2 counts them.
    pub fn counts(self) -> Option<[usize; 2]> {
        match self {
            Material::Bytes(triples, bits) => Some([triples, bits]),
            Material::Sixes => None,
            // random bits for the index, and to decompose all entries
            Material::Tables(tables, l, masks) => {
                Some([tables * products(l), tables * (l as usize + (1 << l)) + masks])
            }
        }
    }

    /// Megabytes to each peer for a block by MASCOT.
    pub fn by_mascot(self, sizes: Sizes) -> Option<f64> {
        let bits = match self {
            Material::Bytes(triples, bits) => triples * sizes.byte_by_mascot() + bits * sizes.narrow,
            Material::Sixes => return None,
            Material::Tables(tables, l, masks) => {
                let [triples, bits] = self.counts()?;
                let opened = if masks > 0 { tables * l as usize } else { 0 };
                triples * sizes.bit_and_element() + bits * sizes.narrow + tables * (1 << l) + opened
            }
        };
        Some(bits as f64 / 8e6)
    }

    /// Megabytes to each peer for a block by buckets, if this many blocks are made together.
    pub fn by_buckets(self, sizes: Sizes, blocks: usize) -> Option<f64> {
        let size = |items: usize| bucket::size_behind_firsts((items * blocks).max(1), RHO);
        let bits = match self {
            Material::Bytes(triples, bits) => triples * sizes.byte(size(triples)) + bits * sizes.narrow,
            Material::Sixes => return None,
            Material::Tables(tables, l, masks) => {
                // if the cipher runs over masks, the lookups' inputs are opened, too
                let opened = if masks > 0 { tables * l as usize } else { 0 };
                tables * sizes.table(l, size(tables)) + masks * sizes.narrow + opened
            }
        };
        Some(bits as f64 / 8e6)
    }
}

/// Kilobytes to each peer for a whole table of this many entries, its decomposition into bits included, from
/// buckets of three.
pub fn table(sizes: Sizes, entries: usize) -> f64 {
    sizes.table(entries.ilog2(), 3) as f64 / 8e3
}

/// Kilobytes to each peer for the products of a table, each a product of two bits in buckets of three.
pub fn by_ands(sizes: Sizes, entries: usize) -> f64 {
    ((entries - 2) * sizes.bit(3)) as f64 / 8e3
}

/// Kilobytes to each peer for the products of a table by MASCOT, including the cost of keeping one factor of
/// each a bit.
pub fn products_by_mascot(sizes: Sizes, entries: usize) -> f64 {
    (products(entries.ilog2()) * sizes.bit_and_element()) as f64 / 8e3
}

#[cfg(test)]
mod tests {
    use super::super::papers::COSTS;
    use super::*;

    /// The numbers of triples and random bits are those of Table 2, except for 3DES-Raw.
    #[test]
    fn counts_are_the_papers() {
        for row in COSTS.iter().filter(|row| row.protocol != "3des-raw") {
            let counts = material(row.protocol).unwrap().counts().unwrap();
            assert_eq!(counts, [row.triples as usize, row.bits as usize], "{}", row.protocol);
        }
        assert!(material("3des-raw").unwrap().counts().is_none() && material("aes").is_none());
    }

    /// Megabytes of a block by either preprocessing (docs/spdz.md, section 7).
    #[test]
    fn blocks_cost_what_the_documentation_says() {
        for (protocol, mascot, four, eight) in [
            ("aes-bd", 4.20, 0.328, 0.246),
            ("aes-rp", 2.82, 0.224, 0.166),
            ("aes-lt", 7.89, 0.297, 0.181),
            ("aes-tinytable", 7.89, 0.299, 0.182),
            ("3des-pv", 5.07, 0.403, 0.300),
            ("3des-lt", 8.51, 0.212, 0.133),
            ("3des-tinytable", 8.51, 0.214, 0.134),
        ] {
            let of = material(protocol).unwrap();
            let near = |figure: Option<f64>, at: f64| (figure.unwrap() / at - 1.0).abs() < 0.03;
            assert!(near(of.by_mascot(Sizes::new(40, 1)), mascot), "{protocol}");
            assert!(near(of.by_buckets(Sizes::new(48, 4), 2048), four), "{protocol}");
            assert!(near(of.by_buckets(Sizes::new(48, 8), 2048), eight), "{protocol}");
        }
    }
}

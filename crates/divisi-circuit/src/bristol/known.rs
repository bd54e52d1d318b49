//! Published files with a different order of bits. They are recognised by their gates.
//!
//! Neither format says which bit of a value its first wire is. Bristol Fashion has one order by convention,
//! which `divisi::WireValue` describes. Files of the older format have that order or its reverse, and some of
//! them were given a header of Bristol Fashion without changing the order. The comparison is of gates and not
//! of bytes, so that header, blank lines, comments and line ends make no difference.

use super::syntax::{Gate, Header};

/// The order of the wires of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum BitOrder {
    /// The order of Bristol Fashion: wire 0 is the last bit of a value.
    LastBitFirst,
    /// Wire 0 is the first bit.
    FirstBitFirst,
}

/// Digests of known files, and their order.
/// `DIVISI_CIRCUITS=FILE cargo test -p divisi-circuit --lib -- --ignored --nocapture fingerprints` prints the
/// digest of a file.
///
/// The files are those of emp-toolkit/emp-tool (commit 00f7552, `emp-tool/circuits/files`). Others have files
/// with the same gates, too: SCALE-MAMBA (`Circuits/Bristol`) has the first one with a header of Bristol
/// Fashion.
const KNOWN: [(u128, BitOrder); 6] = [
    // AES-non-expanded.txt
    (0x2291_f636_f5be_af7a_1025_f677_c0fb_b376, BitOrder::FirstBitFirst),
    // sha-256.txt
    (0xbdff_ea3b_64a7_1274_8f20_c1f4_f3db_0176, BitOrder::FirstBitFirst),
    // adder_32bit.txt
    (0x3d14_e83d_848d_bce0_cade_31e9_0242_bee4, BitOrder::LastBitFirst),
    // aes_128.txt
    (0x8cb1_7b15_9fb1_ce32_639f_4df3_4767_9f6a, BitOrder::LastBitFirst),
    // aes_256.txt
    (0xd1f7_0b23_0541_bf16_9fda_7dd8_c5f7_7061, BitOrder::LastBitFirst),
    // sha256.txt
    (0x44cd_17fa_c022_793d_fc6b_58f0_cfdf_8302, BitOrder::LastBitFirst),
];

/// Computes a digest of widths and gates while they are read.
pub(super) struct Fingerprint(blake3::Hasher);

impl Fingerprint {
    pub fn new(header: &Header) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 gates of a circuit file v1");
        // inputs and outputs are hashed as one list, as the older format has it: so a circuit has the same
        // digest in both
        for number in [header.gates, header.wires].iter().chain(&header.inputs).chain(&header.outputs) {
            hasher.update(&(*number as u64).to_le_bytes());
        }
        Fingerprint(hasher)
    }

    pub fn add(&mut self, gate: &Gate<'_>) {
        let mut put = |kind: u8, wires: &[usize]| {
            self.0.update(&[kind]).update(&(wires.len() as u64).to_le_bytes());
            wires.iter().for_each(|wire| {
                self.0.update(&(*wire as u64).to_le_bytes());
            });
        };
        match *gate {
            Gate::Xor { x, y, out, negated } => put(u8::from(negated), &[x, y, out]),
            Gate::And { x, y, out, signs } => {
                put(2 + u8::from(signs.operands) + 2 * u8::from(signs.result), &[x, y, out]);
            }
            Gate::Inv { x, out } => put(6, &[x, out]),
            Gate::Eqw { x, out } => put(7, &[x, out]),
            Gate::Eq { value, out } => put(8 + u8::from(value), &[out]),
            Gate::Mand { x, y, out } => {
                put(10, x);
                put(10, y);
                put(10, out);
            }
        }
    }

    /// The first bytes of the digest.
    pub fn digest(&self) -> [u8; 16] {
        let mut digest = [0; 16];
        digest.copy_from_slice(&self.0.finalize().as_bytes()[..16]);
        digest
    }

    pub fn order(&self) -> Option<BitOrder> {
        let digest = u128::from_be_bytes(self.digest());
        KNOWN.into_iter().find(|(known, _)| *known == digest).map(|(_, order)| order)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reader;
    use std::io::BufReader;

    fn digest(text: &[u8]) -> [u8; 16] {
        let mut reader = Reader::new(BufReader::new(text), text.len()).unwrap();
        while reader.gate().unwrap().is_some() {}
        reader.known.digest()
    }

    #[test]
    fn a_header_and_comments_make_no_difference_and_gates_do() {
        let of = |text: &str| digest(text.as_bytes());
        let gates = "2 1 0 1 2 XOR\n";
        let known = of(&format!("1 3\n1 1 1\n{gates}"));
        assert_eq!(of(&format!("// new\r\n1 3\r\n2 1 1\r\n1 1\r\n\r\n{gates}")), known);
        for other in
            ["2 1 1 0 2 XOR\n", "2 1 0 1 2 XNOR\n", "2 1 0 1 2 OR\n", "2 1 0 1 2 NOR\n", "2 1 0 1 2 NAND\n"]
        {
            assert_ne!(of(&format!("1 3\n1 1 1\n{other}")), known);
        }
    }

    /// Recognises the published adder among the test data, with the order that the adder's test relies on.
    #[test]
    fn a_published_file_is_known() {
        let text = include_bytes!("../../tests/vectors/adder_32bit.txt");
        let mut reader = Reader::new(BufReader::new(&text[..]), text.len()).unwrap();
        while reader.gate().unwrap().is_some() {}
        assert_eq!(reader.known_order(), Some(super::BitOrder::LastBitFirst));
    }

    #[test]
    #[ignore = "prints the digests of the files that DIVISI_CIRCUITS names, with spaces between"]
    fn fingerprints() {
        for path in std::env::var("DIVISI_CIRCUITS").unwrap_or_default().split_whitespace() {
            let digest = digest(&std::fs::read(path).unwrap());
            println!("{path} {:#034x}", u128::from_be_bytes(digest));
        }
    }
}

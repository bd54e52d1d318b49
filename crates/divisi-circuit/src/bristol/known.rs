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

    /// Files that differ in one number of a header, in one wire or constant of one gate, in its name or in
    /// the order of two gates.
    #[test]
    fn each_gate_and_each_of_its_wires_counts() {
        let text = "20 30\n2 2 2\n1 1\n2 1 0 1 4 XOR\n2 1 0 1 5 XNOR\n2 1 1 2 6 AND\n2 1 1 2 7 NAND\n\
            2 1 1 2 8 OR\n2 1 1 2 9 NOR\n1 1 3 10 INV\n1 1 3 11 EQW\n1 1 0 12 EQ\n1 1 1 13 EQ\n\
            4 2 0 1 2 3 14 15 MAND\n2 1 0 1 16 MAND\n";
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let first: Vec<Vec<String>> = text.lines().map(words).collect();
        let mut all = vec![first.clone()];
        for (i, line) in first.iter().enumerate() {
            let is_gate = i > 2;
            for (j, word) in line.iter().enumerate().skip(if is_gate { 2 } else { usize::from(i > 0) }) {
                let mut change = |word: String| {
                    let mut other = first.clone();
                    other[i][j] = word;
                    all.push(other);
                };
                let is_constant = j == 2 && line.last().is_some_and(|name| name == "EQ");
                match word.parse::<u64>() {
                    Ok(value) if is_constant => change((value ^ 1).to_string()),
                    // a header's numbers are limited
                    Ok(value) if !is_gate => change((value + 1).to_string()),
                    Ok(value) => {
                        [1, 1 << 8, 1 << 16, 1 << 32].iter().for_each(|by| change((value + by).to_string()));
                    }
                    Err(_) if line[0] == "1" && !is_constant => {
                        ["INV", "EQW"].into_iter().for_each(|name| change(name.to_owned()));
                    }
                    Err(_) => {
                        let names = ["XOR", "XNOR", "AND", "NAND", "OR", "NOR", "MAND"];
                        names.iter().filter(|_| line[0] == "2").for_each(|name| change((*name).to_owned()));
                    }
                }
            }
            if i > 3 {
                let mut other = first.clone();
                other.swap(i - 1, i);
                all.push(other);
            }
        }
        let mut seen = std::collections::BTreeMap::new();
        for lines in all {
            let gates = lines.len() - 3;
            let text: String = lines.iter().map(|words| words.join(" ") + "\n").collect();
            let mut reader = Reader::new(BufReader::new(text.as_bytes()), 1 << 16).unwrap();
            (0..gates).for_each(|_| assert!(reader.gate().unwrap().is_some()));
            assert_eq!(*seen.entry(reader.known.digest()).or_insert_with(|| text.clone()), text);
        }
        assert!(seen.len() > 180, "{}", seen.len());
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

//! Circuits by name or from files. Their input and output values are [`WireValue`]s, whose page says which
//! bit of a value is on which wire.

mod held;
mod info;
mod rewrite;

pub use held::{HeldCircuit, hold};
pub use info::{About, info};
pub use rewrite::{AS_IT_IS, can_transcribe, is_better_transcribed, optimised, transcribe, turned, write_as};

use crate::failure::Failure;
use crate::name::Name;
use crate::source;
use crate::value::WireValue;
use divisi_circuit::bristol::{self, BitOrder, FileCounts, Format};
use divisi_circuit::{Program, plain};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::circuits::{self, LONGEST_MESSAGE};
use divisi_symmetric::gates::Adder;
use std::fmt;
use std::io::{self, Write};
use zeroize::Zeroizing;

/// The largest file that is read, in bytes.
const LONGEST: u64 = 1 << 30;

/// A circuit, and its origin.
pub struct NamedCircuit {
    /// The name of the circuit, or of its file, as it was given.
    pub name: Name,
    /// The circuit.
    pub program: Program,
    /// The format of its file, the counts in it, and the order of the wires in its values if the file is a
    /// known published one; `None` for a circuit that this program makes.
    pub file: Option<(Format, FileCounts, Option<BitOrder>)>,
}

/// The built-in circuit of that name; else the circuit in the file of that name.
///
/// # Errors
/// [`Failure`] if the file cannot be read, or is no circuit; it names the line.
pub fn load(name: impl Into<Name>, adder: Adder) -> Result<NamedCircuit, Failure> {
    load_text(name, adder).map(|(circuit, _)| circuit)
}

/// Like [`load`], with the text of the file; `None` for a built-in circuit.
///
/// # Errors
/// Those of [`load`].
pub fn load_text(name: impl Into<Name>, adder: Adder) -> Result<(NamedCircuit, Option<Vec<u8>>), Failure> {
    let name: Name = name.into();
    if let Some(program) = built_in(&name, adder)? {
        return Ok((NamedCircuit { name, program, file: None }, None));
    }
    let (name, text) = text_of(&name)?;
    Ok((read(name, &text)?, Some(text)))
}

/// Like [`load_text`] for a file whose gates may be out of order: they are sorted, in the text, too. Also
/// returns whether they were out of order.
///
/// # Errors
/// Those of [`load`].
pub fn load_sorted(
    name: impl Into<Name>,
    adder: Adder,
) -> Result<(NamedCircuit, Option<Vec<u8>>, bool), Failure> {
    let name: Name = name.into();
    if let Some(program) = built_in(&name, adder)? {
        return Ok((NamedCircuit { name, program, file: None }, None, false));
    }
    let (name, text) = text_of(&name)?;
    let (text, was_unsorted) = bristol::sort(&text).map_err(|e| Failure::usage(format!("{name}, {e}")))?;
    Ok((read(name, &text)?, Some(text), was_unsorted))
}

/// The text of the file of that name, and the name under which it can be read again.
fn text_of(name: &Name) -> Result<(Name, Vec<u8>), Failure> {
    let (name, _) = in_file(name)?;
    let mut held = source::read(name.path(), LONGEST).map_err(|e| unread(&name, e))?;
    // a circuit is public, and need not be wiped
    let text = std::mem::take(&mut *held);
    Ok((name, text))
}

/// The circuit of a file with this text.
fn read(name: Name, text: &[u8]) -> Result<NamedCircuit, Failure> {
    let source = bristol::read(text).map_err(|e| Failure::usage(format!("{name}, {e}")))?;
    Ok(NamedCircuit {
        name,
        program: source.program,
        file: Some((source.format, source.counts, source.order)),
    })
}

/// The file of that name, or of the content of the pipe of that name, because each party of a run reads the
/// file again; and its length in bytes. Checks that it is not too long.
fn in_file(name: &Name) -> Result<(Name, usize), Failure> {
    let name = source::lasting(name, LONGEST).map_err(|e| unread(name, e))?;
    let length = std::fs::metadata(name.path()).map_err(|e| unread(&name, e))?.len();
    if length > LONGEST {
        return Err(Failure::usage(format!(
            "{name} has {length} bytes: files of more than {LONGEST} bytes are not read"
        )));
    }
    Ok((name, usize::try_from(length).unwrap_or(usize::MAX)))
}

fn unread(name: &str, e: impl fmt::Display) -> Failure {
    Failure::usage(format!(
        "{name} cannot be read ({e}): give a file in Bristol Fashion, or one of the circuits {}",
        names()
    ))
}

fn built_in(name: &Name, adder: Adder) -> Result<Option<Program>, Failure> {
    name.unicode().map_or(Ok(None), |name| named(name, adder))
}

/// A built-in circuit by its name, or that of a hash or MAC for messages of one length: `hmac-sha256:32` for
/// 32 bytes.
///
/// # Errors
/// [`Failure`] if what follows the colon is no length, or a length that is too long for a circuit.
pub fn named(name: &str, adder: Adder) -> Result<Option<Program>, Failure> {
    let Some((algorithm, length)) = name.split_once(':') else { return Ok(circuits::named(name, adder)?) };
    let Ok(algorithm) = algorithm.parse::<Algorithm>() else { return Ok(None) };
    let length = length.parse().ok().filter(|length| *length <= LONGEST_MESSAGE).ok_or_else(|| {
        Failure::usage(format!(
            "{name}: give the length of a message in bytes after the colon, at most {LONGEST_MESSAGE}, as in {algorithm}:32"
        ))
    })?;
    let settings = Settings { adder, ..Settings::new(algorithm) };
    Ok(Some(circuits::function(&settings, algorithm.key_bytes(), length)?))
}

/// The names of built-in circuits, for help and error messages.
#[must_use]
pub fn names() -> String {
    format!(
        "{}, or a hash or MAC with the length of a message in bytes, as hmac-sha256:32",
        circuits::NAMES.join(", ")
    )
}

impl NamedCircuit {
    /// The counts of gates and wires that its file has, or would have.
    ///
    /// # Errors
    /// Never in practice, because nothing is written.
    pub fn counts(&self) -> Result<FileCounts, Failure> {
        match &self.file {
            Some((_, counts, _)) => Ok(*counts),
            None => write(&self.program, &mut io::sink()).map_err(|e| Failure::unavailable(e.to_string())),
        }
    }

    /// Whether wire 0 is the first bit of a value: known for some published files.
    #[must_use]
    pub fn is_first_bit_first(&self) -> bool {
        matches!(self.file, Some((_, _, Some(BitOrder::FirstBitFirst))))
    }

    /// A digest of the circuit, for parties to compare.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 circuit v1");
        // a hasher takes all that is written
        let _ = write(&self.program, &mut hasher);
        *hasher.finalize().as_bytes()
    }

    /// Its outputs in the clear for these inputs.
    ///
    /// # Errors
    /// [`Failure`] if number or widths of the values are not those of its inputs.
    pub fn evaluate(&self, inputs: &[WireValue]) -> Result<Vec<WireValue>, Failure> {
        let widths: Vec<usize> = inputs.iter().map(|value| value.bits().len()).collect();
        if widths != self.program.inputs() {
            let wanted = self.program.inputs();
            return Err(Failure::usage(format!("values of {widths:?} bits: the circuit takes {wanted:?}")));
        }
        let bits = inputs.iter().flat_map(WireValue::bits);
        let wires: Vec<Vec<u64>> = bits.map(|bit| vec![u64::from(*bit)]).collect();
        let out = plain::run(&self.program, &wires).map_err(|e| Failure::usage(e.to_string()))?;
        let bit = |wire: &Vec<u64>| wire.first().map_or(0, |word| (word & 1) as u8);
        let bits = Zeroizing::new(out.iter().map(bit).collect::<Vec<u8>>());
        Ok(WireValue::cut(&bits, self.program.outputs()))
    }
}

impl NamedCircuit {
    /// Its outputs in the clear for many inputs, one in each lane. `inputs` has columns of bytes: the first
    /// byte of every lane, then the second byte of every lane, and so on; the wires of a lane follow each
    /// other from the lowest bit of its first byte on. The outputs have the same form, with zeros after the
    /// last wire.
    #[must_use]
    pub fn columns(&self, lanes: usize, inputs: &[u8]) -> Vec<u8> {
        let wires = words(self.program.input_bits(), lanes, inputs);
        in_columns(lanes, &plain::run(&self.program, &wires).unwrap_or_default())
    }
}

/// The bits of the first `wires` wires, packed into words with one bit a lane, from columns of bytes.
fn words(wires: usize, lanes: usize, columns: &[u8]) -> Vec<Vec<u64>> {
    let wire = |i: usize| {
        let column = columns.get(i / 8 * lanes..(i / 8 + 1) * lanes).unwrap_or_default();
        let word = |bytes: &[u8]| {
            bytes.iter().rev().fold(0, |word, byte| word << 1 | u64::from(byte >> (i % 8) & 1))
        };
        column.chunks(64).map(word).collect::<Vec<u64>>()
    };
    (0..wires).map(wire).collect()
}

/// Wires as columns of bytes.
fn in_columns(lanes: usize, wires: &[Vec<u64>]) -> Vec<u8> {
    let bit =
        |wire: &Vec<u64>, lane: usize| wire.get(lane / 64).map_or(0, |word| (word >> (lane % 64) & 1) as u8);
    let byte = |wires: &[Vec<u64>], lane: usize| {
        wires.iter().rev().fold(0, |byte, wire| byte << 1 | bit(wire, lane))
    };
    wires.chunks(8).flat_map(|wires| (0..lanes).map(|lane| byte(wires, lane)).collect::<Vec<u8>>()).collect()
}

/// Write a program in Bristol Fashion.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(program: &Program, out: &mut (impl Write + ?Sized)) -> io::Result<FileCounts> {
    bristol::write(program, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197, C.1, and FIPS 180-4's "abc": through the circuits with a name, in the order of their
    /// published files.
    #[test]
    fn values_are_written_as_the_standards_print_them() {
        let evaluate = |name: &str, inputs: &[&str]| {
            let circuit = load(name, Adder::FewestAnds).unwrap();
            let widths = circuit.program.inputs().iter();
            let inputs = inputs.iter().zip(widths);
            let inputs = inputs.map(|(digits, width)| WireValue::from_hex(digits, *width).unwrap());
            circuit.evaluate(&inputs.collect::<Vec<_>>()).unwrap()[0].to_hex()
        };
        let aes =
            evaluate("aes128", &["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff"]);
        assert_eq!(aes, "69c4e0d86a7b0430d8cdb78070b4c55a");
        let block = format!("61626380{}18", "0".repeat(118));
        let state = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(evaluate("sha256", &[&block, state]), digest);
    }

    /// Columns of bytes are made of the wires that were made of them, in more lanes than a word has.
    #[test]
    fn wires_come_back_as_columns() {
        let lanes = 70;
        let columns: Vec<u8> = (0..3 * lanes).map(|i| (i * i * 31 / 7) as u8 ^ 0x81).collect();
        assert_eq!(in_columns(lanes, &words(24, lanes, &columns)), columns);
        let mut short = columns.clone();
        short[2 * lanes..].iter_mut().for_each(|byte| *byte &= 0xf);
        assert_eq!(in_columns(lanes, &words(20, lanes, &columns)), short);
    }

    /// Values of other numbers and widths are refused, also if they have as many bits together.
    #[test]
    fn values_that_do_not_fit_are_refused() {
        let circuit = load("aes128", Adder::FewestAnds).unwrap();
        let value = |bytes: usize| WireValue::from_bytes(&vec![7; bytes]);
        assert!(circuit.evaluate(&[value(16), value(16)]).is_ok());
        for widths in [&[16][..], &[32], &[15, 17], &[16, 16, 16], &[16, 16 + 32]] {
            let values: Vec<WireValue> = widths.iter().map(|bytes| value(*bytes)).collect();
            assert!(circuit.evaluate(&values).is_err(), "{widths:?}");
        }
    }

    /// The longest message has a circuit, and a longer one has none.
    #[test]
    fn messages_of_circuits_have_a_longest_length() {
        let named = |bytes: usize| named(&format!("sha3-224:{bytes}"), Adder::FewestAnds);
        assert!(named(LONGEST_MESSAGE).unwrap().is_some());
        assert!(named(LONGEST_MESSAGE + 1).is_err());
    }

    /// Each value is turned, of inputs and of outputs, the last one, too.
    #[test]
    fn each_value_is_turned() {
        let program = load("aes128", Adder::FewestAnds).unwrap().program;
        let turned = rewrite::turned(&program).unwrap();
        assert_eq!((turned.inputs(), turned.outputs()), (program.inputs(), program.outputs()));
        let bits = |i: usize| vec![u64::from(i * i % 7 < 3)];
        let forth: Vec<Vec<u64>> = (0..256).map(bits).collect();
        let back: Vec<Vec<u64>> = [&forth[..128], &forth[128..]]
            .map(|value| value.iter().rev().cloned().collect::<Vec<_>>())
            .concat();
        let mut expected = plain::run(&program, &forth).unwrap();
        expected.reverse();
        assert_eq!(plain::run(&turned, &back).unwrap(), expected);
    }
}

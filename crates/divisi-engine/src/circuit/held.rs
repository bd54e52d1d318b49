//! A circuit for an engine: in memory, or in its file until it runs.

use super::{NamedCircuit, built_in, in_columns, in_file, load, unread, words};
use crate::failure::Failure;
use crate::name::Name;
use crate::unsupported::Unsupported;
use divisi_circuit::bristol::BitOrder;
use divisi_circuit::stream::CircuitFault;
use divisi_circuit::{Program, Stream, plain};
use divisi_symmetric::gates::Adder;

/// A circuit in memory or in a file.
#[expect(clippy::exhaustive_enums, reason = "who matches it must not overlook a new one")]
pub enum HeldCircuit {
    /// In memory.
    Program(NamedCircuit),
    /// In its file, which must not change.
    File {
        /// The name of the file.
        name: Name,
        /// The survey of the file.
        stream: Stream,
    },
}

/// The built-in circuit of that name; else the circuit in the file of that name, which stays in the file if
/// it is `streamed`.
///
/// # Errors
/// [`Failure`] if the file cannot be read, or is no circuit; it names the line.
pub fn hold(name: impl Into<Name>, adder: Adder, streamed: bool) -> Result<HeldCircuit, Failure> {
    let name: Name = name.into();
    if !streamed || built_in(&name, adder)?.is_some() {
        return load(name, adder).map(HeldCircuit::Program);
    }
    let (name, _) = in_file(&name)?;
    let stream = Stream::open(name.path().to_owned()).map_err(|fault| failure(&name, &fault))?;
    Ok(HeldCircuit::File { name, stream })
}

/// The failure of a file that cannot be read or is no circuit.
fn failure(name: &str, fault: &CircuitFault) -> Failure {
    match fault {
        CircuitFault::Unreadable { reason } => unread(name, reason),
        fault => Failure::usage(format!("{name}, {fault}")),
    }
}

impl HeldCircuit {
    /// The name of the circuit or of its file, as it was given.
    #[must_use]
    pub fn name(&self) -> &Name {
        match self {
            HeldCircuit::Program(circuit) => &circuit.name,
            HeldCircuit::File { name, .. } => name,
        }
    }

    /// The width of each input value.
    #[must_use]
    pub fn inputs(&self) -> &[usize] {
        match self {
            HeldCircuit::Program(circuit) => circuit.program.inputs(),
            HeldCircuit::File { stream, .. } => stream.inputs(),
        }
    }

    /// The width of each output value.
    #[must_use]
    pub fn outputs(&self) -> &[usize] {
        match self {
            HeldCircuit::Program(circuit) => circuit.program.outputs(),
            HeldCircuit::File { stream, .. } => stream.outputs(),
        }
    }

    /// Whether wire 0 is the first bit of a value: known for some published files.
    #[must_use]
    pub fn is_first_bit_first(&self) -> bool {
        match self {
            HeldCircuit::Program(circuit) => circuit.is_first_bit_first(),
            HeldCircuit::File { stream, .. } => stream.order() == Some(BitOrder::FirstBitFirst),
        }
    }

    /// The number of ANDs.
    #[must_use]
    pub fn and_count(&self) -> usize {
        match self {
            HeldCircuit::Program(circuit) => circuit.program.and_count(),
            HeldCircuit::File { stream, .. } => stream.counts().and,
        }
    }

    /// The longest chain of ANDs.
    #[must_use]
    pub fn and_depth(&self) -> usize {
        match self {
            HeldCircuit::Program(circuit) => circuit.program.and_depth(),
            HeldCircuit::File { stream, .. } => stream.and_depth(),
        }
    }

    /// A digest of the circuit, for parties to compare.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        match self {
            HeldCircuit::Program(circuit) => circuit.digest(),
            HeldCircuit::File { stream, .. } => stream.digest(),
        }
    }

    /// The program, for engines that need all of it.
    ///
    /// # Errors
    /// [`Unsupported`] if the circuit stays in its file.
    pub fn program(&self) -> Result<&Program, Unsupported> {
        match self {
            HeldCircuit::Program(circuit) => Ok(&circuit.program),
            HeldCircuit::File { name, .. } => Err(Unsupported::new(format!(
                "{name} stays in its file with --streamed, and this engine needs all of it: leave --streamed out"
            ))),
        }
    }

    /// See [`NamedCircuit::columns`].
    ///
    /// # Errors
    /// [`Failure`] if its file has changed.
    pub fn columns(&self, lanes: usize, inputs: &[u8]) -> Result<Vec<u8>, Failure> {
        match self {
            HeldCircuit::Program(circuit) => Ok(circuit.columns(lanes, inputs)),
            HeldCircuit::File { stream, .. } => {
                let outputs = self.run(stream, &words(stream.input_bits(), lanes, inputs))?;
                Ok(in_columns(lanes, &outputs))
            }
        }
    }

    fn run(&self, stream: &Stream, wires: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, Failure> {
        plain::run_stream(stream, wires).map_err(|unrun| Failure::usage(format!("{}, {unrun}", self.name())))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The first bit is first where the file's order is known to be that one.
    #[test]
    fn the_order_of_bits_is_that_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("circuit.txt");
        std::fs::write(&other, "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n").unwrap();
        let published =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../divisi-circuit/tests/vectors/adder_32bit.txt");
        for path in [other, published.into()] {
            for streamed in [false, true] {
                let held = hold(path.clone().into_os_string(), Adder::FewestAnds, streamed).unwrap();
                assert!(!held.is_first_bit_first(), "{path:?} {streamed}");
                let HeldCircuit::Program(mut circuit) = held else { continue };
                for order in [Some(BitOrder::FirstBitFirst), Some(BitOrder::LastBitFirst), None] {
                    circuit.file.as_mut().unwrap().2 = order;
                    assert_eq!(circuit.is_first_bit_first(), order == Some(BitOrder::FirstBitFirst));
                }
            }
        }
    }

    /// Circuits that differ have other digests, in memory and in their files.
    #[test]
    fn digests_tell_circuits_apart() {
        let dir = tempfile::tempdir().unwrap();
        let (path, adder) = (dir.path().join("circuit.txt"), Adder::FewestAnds);
        for streamed in [false, true] {
            let digest = |gate: &str| {
                std::fs::write(&path, format!("1 3\n2 1 1\n1 1\n\n2 1 0 1 2 {gate}\n")).unwrap();
                hold(path.clone().into_os_string(), adder, streamed).unwrap().digest()
            };
            let [and, xor, again] = ["AND", "XOR", "AND"].map(digest);
            assert!(and == again && and != xor && and[1..] != xor[1..], "{streamed}");
        }
    }

    /// The last of many gates counts, and each gate before it.
    #[test]
    fn digests_have_all_of_a_long_circuit() {
        const GATES: usize = 6000;
        let dir = tempfile::tempdir().unwrap();
        let (path, adder) = (dir.path().join("circuit.txt"), Adder::FewestAnds);
        for streamed in [false, true] {
            let digest = |other: usize| {
                let mut text = format!("{GATES} {}\n2 1 1\n1 1\n\n", GATES + 2);
                for i in 0..GATES {
                    let gate = if i == other { "XOR" } else { "AND" };
                    text.push_str(&format!("2 1 {i} {} {} {gate}\n", i + 1, i + 2));
                }
                std::fs::write(&path, text).unwrap();
                hold(path.clone().into_os_string(), adder, streamed).unwrap().digest()
            };
            let others = [GATES, GATES - 1, GATES - 2, 4100, 300, 0];
            let digests: std::collections::BTreeSet<[u8; 32]> = others.into_iter().map(digest).collect();
            assert_eq!(digests.len(), others.len(), "{streamed}");
        }
    }
}

//! The expected outputs of a benchmark: from ordinary libraries, from a circuit or table in the clear, or
//! from a job of one engine, which knows them.

use super::ordinary;
use crate::engine::job::{JobSpec, nonce};
use crate::engine::{ExpectedOutput, Rows};
use crate::failure::Failure;
use aes::Block;

/// The source of the expected outputs.
pub(super) enum Expected<'j> {
    Library(ExpectedOutput),
    /// A circuit, evaluated in the clear.
    Circuit(&'j crate::circuit::HeldCircuit),
}

impl<'j> Expected<'j> {
    pub fn new(job: &'j JobSpec, key: &[u8]) -> Result<Self, Failure> {
        if let JobSpec::Circuit(job) = job {
            return Ok(Expected::Circuit(&job.circuit));
        }
        let missing = || Failure::mismatch("no ordinary library takes this key: report this");
        Ok(Expected::Library(library(job, key).ok_or_else(missing)?))
    }

    /// The number of the first wrong output; `None` if all are right.
    pub fn wrong(&self, inputs: &Rows, outputs: &Rows) -> Result<Option<usize>, Failure> {
        let count = inputs.count();
        Ok(match self {
            Expected::Library(ordinary) => (0..count).find(|i| {
                let expected = ordinary(*i as u64, inputs.row(*i));
                expected.is_none_or(|expected| expected != outputs.row(*i))
            }),
            Expected::Circuit(circuit) => {
                let width = |wires: &[usize]| wires.iter().sum::<usize>().div_ceil(8);
                let columns = inputs.columns(0..count, width(circuit.inputs()));
                let expected = circuit.columns(count, &columns)?;
                let width = width(circuit.outputs());
                let got = outputs.columns(0..count, width);
                if expected.len() != got.len() || outputs.iter().any(|row| row.len() != width) {
                    return Ok(Some(0));
                }
                let at = expected.iter().zip(&got).position(|(expected, got)| expected != got);
                at.map(|at| at % count.max(1))
            }
        })
    }
}

/// The outputs of an ordinary library, or of a table; `None` if there is none for this job or key.
fn library(job: &JobSpec, key: &[u8]) -> Option<ExpectedOutput> {
    match job {
        JobSpec::Digests(job) => {
            let (using, key) = (job.using.clone(), key.to_vec());
            Some(Box::new(move |number, message| ordinary::output(&using, &key, &nonce(number), message)))
        }
        JobSpec::Blocks(job) if job.cipher.aes().is_none() => {
            let (key, direction) = (key.to_vec(), job.direction);
            Some(Box::new(move |_, input| ordinary::triple_des(&key, direction, input)))
        }
        JobSpec::Blocks(job) => {
            let cipher = ordinary::cipher(key, job.direction)?;
            Some(Box::new(move |_, input| {
                let mut block = Block::try_from(input).ok()?;
                cipher(&mut block);
                Some(block.to_vec())
            }))
        }
        JobSpec::Lookups(job) => {
            let job = job.clone();
            Some(Box::new(move |_, row| job.expected(row)))
        }
        JobSpec::Own(job) => Some(job.expected()),
        JobSpec::Circuit(_) | JobSpec::Answers(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::hold;
    use crate::engine::job::Cipher;
    use crate::engine::job::{Between, BlocksJob, CircuitJob, DigestsJob};
    use divisi_core::Direction;
    use divisi_symmetric::aes::KeySize;
    use divisi_symmetric::algorithm::Settings;
    use divisi_symmetric::gates::Adder;
    use std::sync::Arc;

    fn rows(rows: &[&[u8]]) -> Rows {
        let mut all = Rows::default();
        rows.iter().for_each(|row| all.push(&[row]));
        all
    }

    #[test]
    fn a_wrong_output_is_found_and_named() {
        // FIPS 197, appendix C.1, in row 0; another block in row 1.
        let key: Vec<u8> = (0..16).collect();
        let blocks = |direction| {
            JobSpec::Blocks(BlocksJob { cipher: Cipher::Aes(KeySize::Aes128), direction, count: 2 })
        };
        let (there, back) = (blocks(Direction::Encrypt), blocks(Direction::Decrypt));
        let plain: [u8; 16] = std::array::from_fn(|i| 0x11 * i as u8);
        let sealed = hex::decode("69c4e0d86a7b0430d8cdb78070b4c55a").unwrap();
        let zero = library(&there, &key).unwrap()(0, &[0; 16]).unwrap();
        let inputs = rows(&[&plain, &[0; 16]]);
        let wrong = |job: &JobSpec, inputs: &Rows, outputs: &Rows| {
            Expected::new(job, &key).unwrap().wrong(inputs, outputs).unwrap()
        };
        assert_eq!(wrong(&there, &inputs, &rows(&[&sealed, &zero])), None);
        assert_eq!(wrong(&back, &rows(&[&sealed, &zero]), &inputs), None);
        let mut changed = zero.clone();
        changed[15] ^= 1;
        assert_eq!(wrong(&there, &inputs, &rows(&[&sealed, &changed])), Some(1));
        assert_eq!(wrong(&there, &inputs, &rows(&[&sealed[1..], &zero])), Some(0));
        assert_eq!(wrong(&there, &inputs, &rows(&[&sealed])), Some(1));
        let using = Settings::new("sha256".parse().unwrap());
        let hash = JobSpec::Digests(DigestsJob { using, message_bytes: 0, count: 1 });
        let digest = library(&hash, &[]).unwrap()(0, &[]).unwrap();
        let none = rows(&[&[]]);
        assert_eq!(wrong(&hash, &none, &rows(&[&digest])), None);
        assert_eq!(wrong(&hash, &none, &rows(&[&digest[1..]])), Some(0));
    }

    /// Of a circuit every bit of every output counts.
    #[test]
    fn a_wrong_bit_of_a_circuit_is_found_and_named() {
        let circuit = Arc::new(hold("aes128", Adder::FewestAnds, false).unwrap());
        let inputs = [1, 2, 3].map(|i| std::array::from_fn::<u8, 32, _>(|j| (i * j) as u8));
        let inputs = rows(&inputs.each_ref().map(|row| &row[..]));
        let columns = circuit.columns(3, &inputs.columns(0..3, 32)).unwrap();
        let outputs = [0, 1, 2].map(|row| std::array::from_fn::<u8, 16, _>(|j| columns[3 * j + row]));
        let job = CircuitJob { circuit, adder: Adder::FewestAnds, between: Between::Client, count: 3 };
        let job = JobSpec::Circuit(job);
        let expected = Expected::new(&job, &[]).unwrap();
        let wrong =
            |of: [[u8; 16]; 3]| expected.wrong(&inputs, &rows(&of.each_ref().map(|row| &row[..]))).unwrap();
        assert_eq!(wrong(outputs), None);
        for (row, byte) in (0..3).flat_map(|row| [(row, 0), (row, 5), (row, 15)]) {
            let mut outputs = outputs;
            outputs[row][byte] ^= 0x80;
            assert_eq!(wrong(outputs), Some(row));
        }
    }
}

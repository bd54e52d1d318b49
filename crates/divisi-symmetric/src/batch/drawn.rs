//! Programs of whole functions, which are made once and kept; their inputs and outputs.

use super::chain::Chain;
use super::{SecretByte, hmac, wires};
use crate::drawn::drawn;
use crate::gates::Adder;
use crate::hash::Hash;
use crate::mac::hmac::PadStates;
use crate::mac::kmac::{Kmac, OutputLength};
use crate::sha3::Xof;
use divisi_circuit::Program;
use divisi_core::{Abort, Boolean, ProgramRun};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest length in bytes of a message that one program processes.
pub(super) const MOST: usize = 512;
/// The adder of these programs. They run on engines whose rounds do not grow with depth, so it is the one
/// with the fewest ANDs.
pub(super) const ADDER: Adder = Adder::FewestAnds;
/// How many programs are kept.
const KEPT: usize = 24;

/// A function, without its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Hash(Hash),
    Xof(Xof),
    Hmac(Hash),
    Otp(Hash),
    Kmac(Kmac, OutputLength),
    /// CMAC with keys of this many bytes.
    Cmac(usize),
    /// AES in a mode of chained blocks.
    Chained,
}

/// What a program computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// The pad states of a key of this many bytes.
    Pads(usize),
    /// The next state, from the prepared key, the state and this many bytes of the message. If the flag is
    /// set, the state is a constant of the program; otherwise it is an input.
    Update(bool, usize),
    /// The output of `bytes` bytes, whose last `spare` bits are set to zero, from the prepared key, the state
    /// (an input, if the `before` bytes that it contains are not zero) and the last `bits` bits of the
    /// message.
    Finish { before: u64, bits: usize, bytes: usize, spare: usize },
    /// Blocks that are chained, from values of these numbers of bytes, the key first.
    Chain(Chain, Vec<usize>),
}

/// Programs with what they compute; the one that was used last is at the end.
type Programs = Vec<(Named, Task, Arc<Program>)>;

static PROGRAMS: Mutex<Programs> = Mutex::new(Vec::new());

/// The program for this task; it is made if it is not there.
pub(super) fn program(
    named: &Named,
    task: Task,
    make: impl FnOnce() -> Result<Program, Abort>,
) -> Result<Arc<Program>, Abort> {
    let programs = || PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |entry: &(Named, Task, Arc<Program>)| entry.0 == *named && entry.1 == task;
    {
        let mut programs = programs();
        if let Some(at) = programs.iter().position(is_it) {
            let entry = programs.remove(at);
            let program = entry.2.clone();
            programs.push(entry);
            return Ok(program);
        }
    }
    let made = Arc::new(make()?);
    let mut programs = programs();
    if programs.len() >= KEPT {
        programs.remove(0);
    }
    programs.push((named.clone(), task, made.clone()));
    Ok(made)
}

/// The wires of values in the order of [`drawn`]: the last byte of each value first.
pub(super) fn inputs<B>(values: Vec<Vec<[B; 8]>>) -> Vec<B> {
    values.into_iter().flat_map(|value| wires(value.into_iter().rev().collect())).collect()
}

/// The bytes of a program's one output.
pub(super) fn output<B>(wires: Vec<B>) -> Vec<[B; 8]> {
    let mut bytes = super::bytes(wires);
    bytes.reverse();
    bytes
}

/// [`hmac::pad_states`], in one program if the engine prefers that.
pub(super) fn pad_states<E: Boolean>(
    e: &mut E,
    hash: Hash,
    adder: Adder,
    key: &[SecretByte<E>],
) -> Result<PadStates<E::Bit>, Abort> {
    if !e.is_free_of_depth() || key.is_empty() || key.len() > MOST {
        return hmac::pad_states(e, hash, adder, key);
    }
    let make = || {
        drawn(&[key.len()], |g, mut values| {
            let key = super::bits(g, values.pop().unwrap_or_default())?;
            let states = hmac::pad_states(g, hash, ADDER, &key)?;
            Ok(vec![super::byte_values(g, [states.inner, states.outer].concat())?])
        })
    };
    let program = program(&Named::Hmac(hash), Task::Pads(key.len()), make)?;
    let mut jobs = [ProgramRun::new(&program, inputs(vec![key.to_vec()]))];
    e.run(&mut jobs)?;
    let [job] = jobs;
    let mut inner = output(job.wires);
    let outer = inner.split_off(hash.state_bytes().min(inner.len()));
    Ok(PadStates { inner, outer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sha2::Sha2;
    use divisi_circuit::Build;

    /// A program that is kept serves what it was made for, and nothing that differs from it in anything.
    #[test]
    fn kept_programs_are_found_by_all_that_they_compute() {
        let sha2 = Hash::Sha2(Sha2::Sha256);
        let xofs = [
            Xof::shake128(),
            Xof::shake256(),
            Xof::cshake128(b"a", b"b"),
            Xof::cshake128(b"a", b"c"),
            Xof::cshake128(b"b", b"b"),
            Xof::cshake256(b"a", b"b"),
        ];
        let kmacs = [
            (Kmac::kmac128(b"a"), OutputLength::Fixed(32)),
            (Kmac::kmac128(b"b"), OutputLength::Fixed(32)),
            (Kmac::kmac256(b"a"), OutputLength::Fixed(32)),
            (Kmac::kmac128(b"a"), OutputLength::Xof(32)),
            (Kmac::kmac128(b"a"), OutputLength::Bits(255)),
        ];
        let mut names = vec![Named::Hash(sha2), Named::Hash(Hash::Sha1), Named::Hmac(sha2), Named::Otp(sha2)];
        names.extend([Named::Cmac(16), Named::Cmac(32), Named::Chained]);
        names.extend(xofs.into_iter().map(Named::Xof));
        names.extend(kmacs.into_iter().map(|(kmac, output)| Named::Kmac(kmac, output)));
        // of lengths that nothing else has
        let finish = |before, bits, bytes, spare| Task::Finish { before, bits, bytes, spare };
        let mut tasks = vec![Task::Pads(7777), Task::Pads(7778), Task::Update(true, 7777)];
        tasks.extend([Task::Update(false, 7777), Task::Update(true, 7778), finish(64, 7777, 32, 1)]);
        tasks.extend([finish(128, 7777, 32, 1), finish(64, 7778, 32, 1), finish(64, 7777, 33, 1)]);
        tasks.extend([finish(64, 7777, 32, 2), Task::Chain(Chain::Cbc, vec![16, 16, 7777])]);
        tasks.extend([
            Task::Chain(Chain::Mac, vec![16, 16, 7777]),
            Task::Chain(Chain::Cbc, vec![16, 7777, 16]),
        ]);
        let made = |named: &Named, task: Task| {
            let mut made = false;
            let make = || {
                made = true;
                Ok(Build::new().finish())
            };
            program(named, task, make).is_ok() && made
        };
        for named in &names {
            assert!(made(named, Task::Pads(9999)), "{named:?}");
        }
        for task in tasks {
            assert!(made(&Named::Chained, task.clone()), "{task:?}");
        }
    }
}

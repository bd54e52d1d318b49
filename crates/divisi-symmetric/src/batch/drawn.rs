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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// The output, from the prepared key, the state and the end of the message.
    Finish(Finish),
    /// Blocks that are chained, from values of these numbers of bytes, the key first.
    Chain(Chain, Vec<usize>),
}

/// A last step: the output of `bytes` bytes, whose last `spare` bits are set to zero, from the state (an
/// input, if the `before` bytes that it contains are not zero) and the last `bits` bits of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finish {
    pub before: u64,
    pub bits: usize,
    pub bytes: usize,
    pub spare: usize,
}

/// The place of a program, which is locked while the program is made.
type Place = Arc<Mutex<Option<Arc<Program>>>>;

/// Places of programs, with what they compute; the one that was used last is at the end.
type Places = Mutex<Vec<(Named, Task, Place)>>;

/// Those of this process.
static PROGRAMS: Places = Places::new(Vec::new());

/// The program for this task. Whoever asks for it first makes it, and others wait meanwhile: several strands
/// often begin with the same function.
pub(super) fn program(
    named: &Named,
    task: Task,
    make: impl FnOnce() -> Result<Program, Abort>,
) -> Result<Arc<Program>, Abort> {
    kept(&PROGRAMS, named, task, make)
}

/// The program for this task, which is kept in one of these places.
fn kept(
    places: &Places,
    named: &Named,
    task: Task,
    make: impl FnOnce() -> Result<Program, Abort>,
) -> Result<Arc<Program>, Abort> {
    let place = place(places, named, task);
    let mut program = lock(&place);
    if let Some(program) = &*program {
        return Ok(program.clone());
    }
    let made = Arc::new(make()?);
    *program = Some(made.clone());
    Ok(made)
}

/// The place for the program of this task, in which there may be none yet.
fn place(places: &Places, named: &Named, task: Task) -> Place {
    let mut programs = lock(places);
    let at = programs.iter().position(|(of, its, _)| of == named && *its == task);
    let entry = match at {
        Some(at) => programs.remove(at),
        None => (named.clone(), task, Place::default()),
    };
    let place = entry.2.clone();
    if programs.len() >= KEPT {
        programs.remove(0);
    }
    programs.push(entry);
    place
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
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

/// The program of [`hmac::pad_states`] for a key of this many bytes.
fn draw_pad_states(hash: Hash, key_bytes: usize) -> Result<Program, Abort> {
    drawn(&[key_bytes], |g, mut values| {
        let key = super::bits(g, values.pop().unwrap_or_default())?;
        let states = hmac::pad_states(g, hash, ADDER, &key)?;
        Ok(vec![super::byte_values(g, [states.inner, states.outer].concat())?])
    })
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
    let program = program(&Named::Hmac(hash), Task::Pads(key.len()), || draw_pad_states(hash, key.len()))?;
    let mut jobs = [ProgramRun::new(&program, inputs(vec![key.to_vec()]))];
    e.run(&mut jobs)?;
    let [job] = jobs;
    let mut inner = output(job.wires);
    let outer = inner.split_off(hash.state_bytes().min(inner.len()));
    Ok(PadStates { inner, outer })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::sha2::Sha2;
    use divisi_circuit::Build;
    use divisi_core::{Misuse, step};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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
        let finish = |before, bits, bytes, spare| Task::Finish(Finish { before, bits, bytes, spare });
        let mut tasks = vec![Task::Pads(7777), Task::Pads(7778), Task::Update(true, 7777)];
        tasks.extend([Task::Update(false, 7777), Task::Update(true, 7778), finish(64, 7777, 32, 1)]);
        tasks.extend([finish(128, 7777, 32, 1), finish(64, 7778, 32, 1), finish(64, 7777, 33, 1)]);
        tasks.extend([finish(64, 7777, 32, 2), Task::Chain(Chain::Cbc, vec![16, 16, 7777])]);
        tasks.extend([
            Task::Chain(Chain::Mac, vec![16, 16, 7777]),
            Task::Chain(Chain::Cbc, vec![16, 7777, 16]),
        ]);
        let places = Places::default();
        let made = |named: &Named, task: Task| {
            let mut made = false;
            let make = || {
                made = true;
                Ok(Build::new().finish())
            };
            kept(&places, named, task, make).is_ok() && made
        };
        for named in &names {
            assert!(made(named, Task::Pads(9999)), "{named:?}");
        }
        for task in tasks {
            assert!(made(&Named::Chained, task.clone()), "{task:?}");
        }
    }

    /// Whoever asks for a program while it is made waits for it.
    #[test]
    fn a_program_that_many_ask_for_is_made_once() {
        let (asked, made, places) = (AtomicUsize::new(0), AtomicUsize::new(0), Places::default());
        let ask = || {
            asked.fetch_add(1, Relaxed);
            let make = || {
                made.fetch_add(1, Relaxed);
                while asked.load(Relaxed) < 4 {
                    std::thread::yield_now();
                }
                Ok(Build::new().finish())
            };
            kept(&places, &Named::Chained, Task::Pads(5555), make).unwrap()
        };
        let programs = std::thread::scope(|scope| {
            let threads = [0; 4].map(|_| scope.spawn(ask));
            threads.map(|thread| thread.join().unwrap())
        });
        assert!(programs.iter().all(|program| Arc::ptr_eq(program, &programs[0])));
        assert_eq!(made.into_inner(), 1);
    }

    /// What could not be made is tried again.
    #[test]
    fn a_program_that_could_not_be_made_is_made_by_the_next() {
        let places = Places::default();
        let ask = |made| kept(&places, &Named::Chained, Task::Pads(6666), || made);
        let abort = Abort::Misuse { step: step!("drawn"), what: Misuse::CircuitUnfit };
        assert_eq!(ask(Err(abort.clone())).err(), Some(abort));
        assert!(ask(Ok(Build::new().finish())).is_ok());
    }
}

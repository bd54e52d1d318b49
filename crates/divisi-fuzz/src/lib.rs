//! Random inputs for a decoder: no input may make it panic, take long, or accept bytes that its encoder would
//! not write. And how often tests repeat what they do ([`repetitions`]).
//!
//! This crate is for tests only; each test is in the crate of its decoder. Inputs are mutations of a corpus:
//! what the encoders write, and the files of `tests/corpus/NAME` in that crate, to which every input that
//! once failed is added. They follow from a seed and from the corpus, which never has fresh randomness, so
//! that a failure can be reproduced. `DIVISI_FUZZ_INPUTS` is their number: a few thousand by default, a
//! million every night (`just fuzz`). What the encoders write is kept as files, too ([`golden`]): a change of
//! the bytes of a format is noticed.
//!
//! ```
//! divisi_fuzz::run("numbers", env!("CARGO_MANIFEST_DIR"), &[b"17".to_vec()], |bytes| {
//!     let Some(number) = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<u32>().ok()) else {
//!         return Ok(false);
//!     };
//!     if number.to_string().parse() == Ok(number) { Ok(true) } else { Err("another number".into()) }
//! });
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::panic, reason = "a test ends so")]

mod mutate;

use mutate::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest time that an input may take, on a machine that has other work.
const LONGEST: Duration = Duration::from_secs(10);
/// The largest length of an input.
const BYTES: usize = 4096;
/// The number of inputs if `DIVISI_FUZZ_INPUTS` is not set.
const INPUTS: u64 = 3_000;

/// Run a decoder on inputs made from `seeds` and from the crate's corpus `name`. `decode` returns whether it
/// accepted an input, or an error if it accepted one that it should not have accepted.
///
/// # Panics
/// If `decode` panics, takes too long or returns an error: the message contains the input. Also if it accepts
/// none of the inputs.
pub fn run(
    name: &str,
    manifest_dir: &str,
    seeds: &[Vec<u8>],
    mut decode: impl FnMut(&[u8]) -> Result<bool, String>,
) {
    let said = |variable: &str| std::env::var(variable).ok().and_then(|text| text.parse().ok());
    let (inputs, seed) =
        (said("DIVISI_FUZZ_INPUTS").unwrap_or(INPUTS), said("DIVISI_FUZZ_SEED").unwrap_or(1));
    let mut corpus = seeds.to_vec();
    // golden files are among the seeds
    let kept = files(&Path::new(manifest_dir).join("tests/corpus").join(name));
    corpus.extend(kept.into_iter().filter(|file| !seeds.contains(file)));
    let mut random = Random::new(seed);
    let mut taken = 0_u64;
    for at in 0..inputs.max(corpus.len() as u64) {
        // first the corpus, unchanged
        let input = match usize::try_from(at).ok().and_then(|at| corpus.get(at)) {
            Some(whole) => whole.clone(),
            None => random.mutation(&corpus, BYTES),
        };
        let begun = Instant::now();
        let problem = match catch_unwind(AssertUnwindSafe(|| decode(&input))) {
            // Miri is some thousand times slower
            Ok(Ok(took)) if begun.elapsed() <= LONGEST || cfg!(miri) => {
                taken += u64::from(took);
                continue;
            }
            Ok(Ok(_)) => format!("took {:?}", begun.elapsed()),
            Ok(Err(problem)) => problem,
            Err(_) => "panicked".into(),
        };
        let bytes: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
        panic!("{name}: input {at} of seed {seed}: {problem}; in hexadecimal: {bytes}");
    }
    assert!(taken > 0, "{name}: no input was accepted");
}

/// How often a test does something, how many seeds it tries, or which part of a sample it takes: `short`, or
/// `long` where the environment has `DIVISI_LONG=1`, as it does every night (`just long`).
///
/// Whatever a test is for happens among the short ones: each kind of message, each engine, each mode. A limit
/// for a rate is computed from this number, so that it holds for both.
#[must_use]
pub fn repetitions<N>(short: N, long: N) -> N {
    if std::env::var_os("DIVISI_LONG").is_some_and(|value| value == "1") { long } else { short }
}

/// Demand that `seeds`, which today's encoders wrote, are the files `golden-01`, `golden-02` ... of the
/// crate's corpus `name`, and that there are no more of these. With `DIVISI_CORPUS=write` the files are
/// written anew.
///
/// # Panics
/// If a file differs, is missing, or belongs to no seed.
pub fn golden(name: &str, manifest_dir: &str, seeds: &[Vec<u8>]) {
    let folder = Path::new(manifest_dir).join("tests/corpus").join(name);
    let file = |at: usize| folder.join(format!("golden-{at:02}"));
    if std::env::var("DIVISI_CORPUS").as_deref() == Ok("write") {
        let write = || seeds.iter().zip(1..).try_for_each(|(seed, at)| std::fs::write(file(at), seed));
        if let Err(e) = std::fs::create_dir_all(&folder).and_then(|()| write()) {
            panic!("{name}: the corpus cannot be written: {e}");
        }
    }
    for (seed, at) in seeds.iter().zip(1..) {
        assert!(
            std::fs::read(file(at)).is_ok_and(|bytes| bytes == *seed),
            "{name}: what is encoded today is not what golden-{at:02} has. If the format has a new version, \
             write the files anew with DIVISI_CORPUS=write"
        );
    }
    assert!(!file(seeds.len() + 1).exists(), "{name}: a golden file that nothing writes");
}

/// The contents of all files in a folder, in the order of their names; none if there is no such folder.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn fails(decode: impl FnMut(&[u8]) -> Result<bool, String>) -> bool {
        catch_unwind(AssertUnwindSafe(|| run("none", ".", &[vec![1, 2, 3]], decode))).is_err()
    }

    #[test]
    fn what_is_wrong_with_a_decoder_is_found() {
        assert!(!fails(|bytes| Ok(bytes.len() == 3)));
        assert!(fails(|bytes| Ok(bytes.len() > 20 && bytes[19] < 200)).then_some(()).is_none());
        assert!(fails(|bytes| if bytes.len() > 3 { Err("too long".into()) } else { Ok(true) }));
        assert!(fails(|bytes| Ok(bytes.iter().map(|byte| 100 / u32::from(*byte)).sum::<u32>() > 0)));
        assert!(fails(|_| Ok(false)));
    }

    #[test]
    fn a_corpus_that_differs_from_its_encoder_is_found() {
        let dir = std::env::temp_dir().join(format!("divisi-fuzz-{}", std::process::id()));
        let folder = dir.join("tests/corpus/some");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("golden-01"), [1, 2]).unwrap();
        std::fs::write(folder.join("golden-02"), [3]).unwrap();
        let same = |seeds: &[Vec<u8>]| {
            catch_unwind(|| golden("some", dir.to_str().unwrap_or_default(), seeds)).is_ok()
        };
        assert!(same(&[vec![1, 2], vec![3]]));
        assert!(
            !same(&[vec![1, 2], vec![4]]) && !same(&[vec![1, 2]]) && !same(&[vec![1, 2], vec![3], vec![]])
        );
        std::fs::remove_dir_all(dir).unwrap();
    }
}

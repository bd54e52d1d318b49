//! Gives random inputs to a decoder: none may panic, take long, or be kept as something that would not be
//! written.
//!
//! For tests alone, each in the crate whose decoder it is. Inputs are mutations of a corpus: what the
//! encoders write, and the files of `tests/corpus/NAME` in that crate, where an input belongs that failed
//! once. They follow from a seed, so that a failure can be had again. How many there are says
//! `DIVISI_FUZZ_INPUTS`: a few thousand by default, a million every night (`just fuzz`).
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

/// No input may take longer, on a machine that does other things too.
const LONGEST: Duration = Duration::from_secs(10);
/// The longest input.
const BYTES: usize = 4096;
/// How many inputs there are if nobody says.
const INPUTS: u64 = 3_000;

/// Give a decoder inputs made of `seeds` and of the crate's corpus of that name; `decode` says whether it
/// took one, or what was wrong with what it took.
///
/// # Panics
/// If an input makes it panic, or takes too long, or `decode` says so: with the input; and if it takes not
/// even what is in the corpus.
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
    corpus.extend(files(&Path::new(manifest_dir).join("tests/corpus").join(name)));
    let mut random = Random::new(seed);
    let mut taken = 0_u64;
    for at in 0..inputs.max(corpus.len() as u64) {
        // first the corpus as it is
        let input = match usize::try_from(at).ok().and_then(|at| corpus.get(at)) {
            Some(whole) => whole.clone(),
            None => random.mutation(&corpus, BYTES),
        };
        let begun = Instant::now();
        let problem = match catch_unwind(AssertUnwindSafe(|| decode(&input))) {
            Ok(Ok(took)) if begun.elapsed() <= LONGEST => {
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
    assert!(taken > 0, "{name}: nothing of the corpus was taken");
}

/// What is in a folder, if there is one.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

#[cfg(test)]
mod tests {
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
}

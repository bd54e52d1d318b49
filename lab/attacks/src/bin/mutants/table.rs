//! Two tables: what came of each mutant, and why some survive (`lab/attacks/mutants/survivors.tsv`).

use crate::found::Mutant;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// What came of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This test failed.
    Caught(String),
    /// This test was not through in time.
    Hung(String),
    /// So many tests reach it, and none failed.
    Survived(usize),
    /// It does not build.
    Unviable,
}

/// What came of which mutant.
pub struct Results {
    file: File,
    known: BTreeMap<String, Outcome>,
}

const HEAD: &str = "file\tmutant\tnth\ttext\toutcome\tby\tcommit\n";

impl Results {
    /// The results of a file, to which new ones are added; it is made if there is none.
    pub fn open(path: &Path) -> Result<Results, String> {
        let wrong = |e: std::io::Error| format!("{path:?}: {e}");
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(wrong)?;
        let mut file = File::options().append(true).create(true).open(path).map_err(wrong)?;
        let text = std::fs::read_to_string(path).map_err(wrong)?;
        if text.is_empty() {
            file.write_all(HEAD.as_bytes()).map_err(wrong)?;
        }
        let mut known = BTreeMap::new();
        for (at, line) in text.lines().enumerate().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            let outcome = match fields[..] {
                [_, _, _, _, "caught", by, _] => Outcome::Caught(by.into()),
                [_, _, _, _, "hung", by, _] => Outcome::Hung(by.into()),
                [_, _, _, _, "survived", by, _] => {
                    Outcome::Survived(by.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
                }
                [_, _, _, _, "unviable", _, _] => Outcome::Unviable,
                _ => return Err(format!("{path:?}: line {} is not understood", at + 1)),
            };
            // a later line of the same mutant counts
            known.insert(fields[..4].join("\t"), outcome);
        }
        Ok(Results { file, known })
    }

    pub fn of(&self, mutant: &Mutant) -> Option<&Outcome> {
        self.known.get(&mutant.key())
    }

    pub fn add(&mut self, mutant: &Mutant, outcome: Outcome, commit: &str) -> Result<(), String> {
        let (word, by) = match &outcome {
            Outcome::Caught(by) => ("caught", by.clone()),
            Outcome::Hung(by) => ("hung", by.clone()),
            Outcome::Survived(tests) => ("survived", format!("{tests} tests")),
            Outcome::Unviable => ("unviable", String::new()),
        };
        println!("{word:8} {}:{}: {} {by}", mutant.file, mutant.line, mutant.what);
        let line = format!("{}\t{word}\t{by}\t{commit}\n", mutant.key());
        self.file.write_all(line.as_bytes()).map_err(|e| e.to_string())?;
        self.known.insert(mutant.key(), outcome);
        Ok(())
    }
}

/// Why a survivor does no harm, by its key.
pub type Explained = BTreeMap<String, String>;

/// The survivors' table: the first four columns as in the results, then the reason.
pub fn explained(path: &Path) -> Result<Explained, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path:?}: {e}"))?;
    let mut explained = Explained::new();
    for (at, line) in text.lines().enumerate().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            [_, _, _, _, reason] if !reason.trim().is_empty() => {
                explained.insert(fields[..4].join("\t"), reason.to_owned());
            }
            _ => return Err(format!("{path:?}: line {} is not understood", at + 1)),
        }
    }
    Ok(explained)
}

//! The mutants that cargo-mutants finds, each by a name that stays the same when lines above it move.

use crate::concern::Tests;
use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

/// What kind of change it is, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Genre {
    /// The function's body is another value.
    Body,
    /// An operator between two operands is another one.
    Binary,
    /// The operator before an operand is left out.
    Unary,
    /// The guard of an arm is true or false.
    Guard,
    /// Something that cannot be switched.
    Other,
}

/// A mutant.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub file: String,
    pub line: usize,
    /// Its description, without its place.
    pub what: String,
    /// Its number, from 1 on, among the mutants of the file that have the same description and function text.
    pub nth: usize,
    /// A digest of the function's text: a result for another text does not count.
    pub text: String,
    pub genre: Genre,
    /// What is replaced, in bytes of the file.
    pub span: Range<usize>,
    pub replacement: String,
}

impl Mutant {
    /// Its key in the tables.
    pub fn key(&self) -> String {
        format!("{}\t{}\t{}\t{}", self.file, self.what, self.nth, self.text)
    }

    /// The file with this change alone.
    pub fn applied(&self, text: &str) -> String {
        format!("{}{}{}", &text[..self.span.start], self.replacement, &text[self.span.end..])
    }
}

/// All mutants of the table's files, those of files with few of them first.
pub fn list(project: &Path, tests: &Tests) -> Result<Vec<Mutant>, String> {
    let files = tests.files().flat_map(|file| ["--file", file]);
    listed(project, files.map(str::to_owned).collect())
}

/// All mutants of the lines of the table's files that have changed since a revision.
pub fn changed(project: &Path, base: &str, tests: &Tests) -> Result<Vec<Mutant>, String> {
    let git =
        Command::new("git").args(["diff", base, "--"]).args(tests.files()).current_dir(project).output();
    let git = git.map_err(|e| format!("git: {e}"))?;
    if !git.status.success() {
        return Err(format!("git: {}", String::from_utf8_lossy(&git.stderr).trim()));
    }
    if git.stdout.is_empty() {
        return Ok(Vec::new());
    }
    let diff = project.join("target/mutants/diff");
    let written = diff.parent().map_or(Ok(()), std::fs::create_dir_all);
    written.and_then(|()| std::fs::write(&diff, git.stdout)).map_err(|e| format!("{diff:?}: {e}"))?;
    listed(project, vec!["--in-diff".into(), diff.display().to_string()])
}

/// What cargo-mutants lists with these arguments.
fn listed(project: &Path, arguments: Vec<String>) -> Result<Vec<Mutant>, String> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["mutants", "--workspace", "--list", "--json"]).args(arguments).current_dir(project);
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| format!("cargo mutants: {e}"))?;
    if !output.status.success() {
        return Err("cargo-mutants lists nothing: install it by `cargo install cargo-mutants`".into());
    }
    // if there is no mutant, it may print a sentence instead of JSON
    if output.stdout.trim_ascii().first() != Some(&b'[') {
        return Ok(Vec::new());
    }
    let listed: Vec<Value> =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo mutants: {e}"))?;
    let mut texts = BTreeMap::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for value in &listed {
        let file = value["file"].as_str().unwrap_or_default();
        if !texts.contains_key(file) {
            let text = std::fs::read_to_string(project.join(file)).map_err(|e| format!("{file}: {e}"))?;
            texts.insert(file.to_owned(), text);
        }
        let mut mutant = mutant(value, file, &texts[file]).ok_or(format!("not as expected: {value}"))?;
        let nth = seen.entry(mutant.key()).or_default();
        *nth += 1;
        mutant.nth = *nth;
        all.push(mutant);
    }
    let mut many: BTreeMap<String, usize> = BTreeMap::new();
    all.iter().for_each(|mutant| *many.entry(mutant.file.clone()).or_default() += 1);
    all.sort_by_key(|mutant| (many[&mutant.file], mutant.file.clone()));
    Ok(all)
}

fn mutant(value: &Value, file: &str, text: &str) -> Option<Mutant> {
    let span = range(&value["span"], text)?;
    let function = range(&value["function"]["span"], text).unwrap_or(span.clone());
    let name = value["name"].as_str()?;
    // path:line:column: what
    let what = name.splitn(4, ':').nth(3)?.trim().to_owned();
    let replacement = value["replacement"].as_str()?.to_owned();
    let genre = match value["genre"].as_str()? {
        // the function returns an `impl Iterator`, so its body and the replacement have different types and
        // cannot be branches of one function
        "FnValue" if replacement.starts_with("::std::iter::") => Genre::Other,
        "FnValue" => Genre::Body,
        "BinaryOperator" => Genre::Binary,
        "UnaryOperator" => Genre::Unary,
        "MatchArmGuard" => Genre::Guard,
        _ => Genre::Other,
    };
    Some(Mutant {
        file: file.to_owned(),
        line: usize::try_from(value["span"]["start"]["line"].as_u64()?).ok()?,
        what,
        nth: 0,
        text: digest(&text[function]),
        genre,
        span,
        replacement,
    })
}

/// A span of lines and columns, both counted from 1, in bytes.
fn range(span: &Value, text: &str) -> Option<Range<usize>> {
    let at = |end: &str| {
        let number = |name: &str| usize::try_from(span[end][name].as_u64()?).ok();
        byte(text, number("line")?, number("column")? - 1)
    };
    Some(at("start")?..at("end")?)
}

/// The byte at a line, counted from 1, and a column, counted from 0 in characters.
pub fn byte(text: &str, line: usize, column: usize) -> Option<usize> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let rest = text.get(start..)?;
    Some(start + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at))
}

/// A short digest of a text, the same on every machine: FNV-1a.
fn digest(text: &str) -> String {
    struct Fnv(u64);
    impl Hasher for Fnv {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    hasher.write(text.as_bytes());
    format!("{:010x}", hasher.finish() & 0xff_ffff_ffff)
}

//! The mutants that cargo-mutants finds, each by a name that stays the same when lines above it move.

use crate::concern::Tests;
use divisi_attacks::mirror::Source;
use serde_json::{Value, json};
use std::collections::BTreeMap;
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
    /// A rule's: the replacement stands for the text, and `{on}` in it for whether it is on.
    Rule,
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

    /// All of it for other programs.
    pub fn json(&self) -> Value {
        let Mutant { file, line, what, nth, text, span, replacement, .. } = self;
        let (start, end) = (span.start, span.end);
        json!({ "file": file, "line": line, "what": what, "nth": nth, "text": text, "start": start, "end": end,
            "replacement": replacement })
    }

    /// The file with this change alone.
    pub fn applied(&self, text: &str) -> String {
        format!("{}{}{}", &text[..self.span.start], self.replacement, &text[self.span.end..])
    }
}

/// Where cargo-mutants looks: the copy, in which nothing is switched.
const NOW: &str = "target/mutants/b";
/// The same of an older revision; these are the names of the two in a diff.
const BEFORE: &str = "target/mutants/a";

/// All mutants of the files that have tests, those of files with few of them first.
pub fn list(project: &Path, source: &Source, tests: &Tests) -> Result<Vec<Mutant>, String> {
    let now = project.join(NOW);
    source.write(&now, |_, _| Ok(None))?;
    listed(&now, source, tests.files().flat_map(|file| ["--file", file]).map(str::to_owned).collect())
}

/// All mutants of the lines of these files that have changed since a revision, in the copy.
pub fn changed(project: &Path, source: &Source, base: &str, tests: &Tests) -> Result<Vec<Mutant>, String> {
    let (now, before) = (project.join(NOW), project.join(BEFORE));
    source.write(&now, |_, _| Ok(None))?;
    of_revision(project, base)?.write(&before, |_, _| Ok(None))?;
    let mut differences = Vec::new();
    for file in tests.files() {
        let [old, new] =
            [&before, &now].map(|folder| Path::new(folder.file_name().unwrap_or_default()).join(file));
        let old = if before.join(file).exists() { old } else { "/dev/null".into() };
        let mut git = Command::new("git");
        git.args(["diff", "--no-index", "--no-prefix", "--"])
            .args([old, new])
            .current_dir(project.join("target/mutants"));
        let git = git.output().map_err(|e| format!("git: {e}"))?;
        // 1 is the answer that they differ
        if !matches!(git.status.code(), Some(0 | 1)) {
            return Err(format!("git: {}", String::from_utf8_lossy(&git.stderr).trim()));
        }
        differences.extend(git.stdout);
    }
    if differences.is_empty() {
        return Ok(Vec::new());
    }
    let diff = project.join("target/mutants/diff");
    std::fs::write(&diff, differences).map_err(|e| format!("{diff:?}: {e}"))?;
    listed(&now, source, vec!["--in-diff".into(), diff.display().to_string()])
}

/// The files of the copy as a revision has them.
fn of_revision(project: &Path, revision: &str) -> Result<Source, String> {
    let (folder, archive) =
        (project.join("target/mutants/revision"), project.join("target/mutants/revision.tar"));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|e| format!("{folder:?}: {e}"))?;
    }
    std::fs::create_dir_all(&folder).map_err(|e| format!("{folder:?}: {e}"))?;
    let ran = |command: &mut Command| match command.stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(e) => Err(format!("{command:?}: {e}")),
    };
    ran(Command::new("git").args(["archive", "-o"]).arg(&archive).arg(revision).current_dir(project))?;
    ran(Command::new("tar").arg("-xf").arg(&archive).current_dir(&folder))?;
    Source::read(&folder)
}

/// What cargo-mutants lists with these arguments.
fn listed(copy: &Path, source: &Source, arguments: Vec<String>) -> Result<Vec<Mutant>, String> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["mutants", "--workspace", "--list", "--json"]).args(arguments).current_dir(copy);
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
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for value in &listed {
        let file = value["file"].as_str().unwrap_or_default();
        let text = source.text(file).ok_or(format!("{file}: no such file"))?;
        let mut mutant = mutant(value, file, text).ok_or(format!("not as expected: {value}"))?;
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
pub fn digest(text: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:010x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, mix) & 0xff_ffff_ffff)
}

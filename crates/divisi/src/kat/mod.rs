//! Known answers: published test vectors, in the formats of Wycheproof (v1) and ACVP, through an engine: of ACVP internalProjection.json,
//! which has questions and answers, or prompt.json and expectedResults.json, which are put together.
//!
//! A test group of a file becomes one call of the engine. A vector passes if every direction that the file tells gives the
//! right answer, and an invalid one if it is refused. What the engine cannot do is counted, with the reason.
//!
//! Trust: the parties of an engine are threads of this process, over links in memory. That protects nothing and is not meant
//! to: the vectors are public, and so are the keys in them.

mod acvp;
mod batch;
pub mod chains;
pub mod functions;
mod garble;
mod lab;
mod plain;
mod tags;
mod wycheproof;

use crate::failure::Failure;
use crate::garbling::Garbling;
use crate::mode::Choice;
use divisi_rep3::Security;
use divisi_symmetric::aes::KeySize;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// No file of test vectors is longer.
const LONGEST: u64 = 1 << 30;

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Replicated sharing among three.
    Rep3,
    /// Authenticated garbling.
    Garble,
    /// One party, in the clear.
    Plain,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Rep3 => "rep3",
            Engine::Garble => "garble",
            Engine::Plain => "plain",
        })
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "rep3" => Ok(Engine::Rep3),
            "garble" => Ok(Engine::Garble),
            "plain" => Ok(Engine::Plain),
            "spdz" => Err(format!("the engine {name} is not in this version: choose rep3, garble or plain")),
            _ => Err(format!("unknown engine {name:?}: choose rep3, garble or plain")),
        }
    }
}

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The engine.
    pub engine: Engine,
    /// How it computes S-boxes.
    pub choice: Choice,
    /// Against whom.
    pub security: Security,
    /// How the engine garble garbles, and among how many.
    pub garbling: Garbling,
}

/// What files have answers for: a mode of AES, a hash, a MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// Galois/counter mode.
    Gcm,
    /// One block at a time.
    Ecb,
    /// Counter mode.
    Ctr,
    /// A hash or MAC.
    Function(divisi_symmetric::algorithm::Algorithm),
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Algorithm::Gcm => "AES-GCM",
            Algorithm::Ecb => "AES-ECB",
            Algorithm::Ctr => "AES-CTR",
            Algorithm::Function(function) => return function.fmt(f),
        })
    }
}

/// Which ways a vector is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// From plaintext to ciphertext.
    Encrypt,
    /// And back.
    Decrypt,
    /// Both.
    Both,
}

/// What must come of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Its answer.
    Valid,
    /// A refusal.
    Invalid,
    /// Either.
    Acceptable,
}

/// One test vector.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Its number in the file.
    pub id: u64,
    /// The key.
    pub key: Vec<u8>,
    /// The IV, or the first counter block; empty where there is none.
    pub iv: Vec<u8>,
    /// The associated data.
    pub aad: Vec<u8>,
    /// The plaintext.
    pub plaintext: Vec<u8>,
    /// The ciphertext.
    pub ciphertext: Vec<u8>,
    /// The tag; empty where there is none.
    pub tag: Vec<u8>,
    /// Which ways.
    pub ways: Ways,
    /// What must come.
    pub expected: Expected,
}

/// Vectors that an engine runs in one call: one algorithm, keys of one size.
#[derive(Clone, Debug)]
pub struct Group {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The keys' size.
    pub size: KeySize,
    /// The vectors.
    pub vectors: Vec<Vector>,
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// What an engine can run.
    pub groups: Vec<Group>,
    /// Likewise, hashes and MACs.
    pub functions: Vec<functions::Group>,
    /// Likewise, digests of digests.
    pub chains: Vec<chains::Chain>,
    /// What it cannot, by algorithm and reason.
    pub unsupported: BTreeMap<(Algorithm, String), u64>,
    /// The vectors of an algorithm that this version does not know, by its name.
    pub unknown: BTreeMap<String, u64>,
}

/// Why vectors of an algorithm that is not known do not run.
const NOT_KNOWN: &str = "an algorithm that is not in this version";

/// What became of the vectors of one algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The algorithm's name.
    pub algorithm: String,
    /// Vectors with the right answer.
    pub passed: u64,
    /// Vectors with a wrong one.
    pub failed: u64,
    /// Vectors that were not tried, by reason.
    pub unsupported: BTreeMap<String, u64>,
    /// The first vectors that failed, as file and number.
    pub failures: Vec<String>,
}

/// What came of all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// One for each algorithm.
    pub algorithms: Vec<Tally>,
    /// How many calls of the engine that took.
    pub calls: u64,
    /// How many values the parties opened.
    pub openings: u64,
}

impl Tally {
    fn count(&mut self, right: bool, file: &str, id: u64) {
        if right {
            self.passed += 1;
        } else {
            self.failed += 1;
            if self.failures.len() < 10 {
                self.failures.push(format!("{file} #{id}"));
            }
        }
    }
}

impl Report {
    /// Whether something ran and nothing failed.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.algorithms.iter().all(|tally| tally.failed == 0)
            && self.algorithms.iter().any(|tally| tally.passed > 0)
    }
}

/// What came of one vector's ways: the text, and the tag where there is one; nothing if it was refused.
type Answer = Option<(Vec<u8>, Vec<u8>)>;

/// What an engine gives for a group: for each vector the answers of the ways it was walked, and how many values were opened.
struct Answers {
    encrypted: Vec<Answer>,
    decrypted: Vec<Answer>,
    openings: u64,
}

impl Vector {
    fn encrypts(&self) -> bool {
        self.expected == Expected::Valid && self.ways != Ways::Decrypt
    }

    /// An invalid vector is one that decryption must refuse, whichever way the file had in mind.
    fn decrypts(&self) -> bool {
        self.expected != Expected::Valid || self.ways != Ways::Encrypt
    }

    fn is_right(&self, encrypted: &Answer, decrypted: &Answer) -> bool {
        let sealed =
            encrypted.as_ref().is_some_and(|(text, tag)| *text == self.ciphertext && *tag == self.tag);
        let opened = decrypted.as_ref().is_some_and(|(text, _)| *text == self.plaintext);
        let back = match self.expected {
            Expected::Valid => opened,
            Expected::Invalid => decrypted.is_none(),
            Expected::Acceptable => opened || decrypted.is_none(),
        };
        (sealed || !self.encrypts()) && (back || !self.decrypts())
    }
}

/// Read files of test vectors, each with its name: answers that stand in a file of their own go to their questions.
///
/// # Errors
/// If one cannot be read, is no JSON, has an algorithm that this version does not know, or answers questions that are in none.
pub fn read(paths: &[PathBuf]) -> Result<Vec<(String, Content)>, Failure> {
    let files = paths.iter().map(|path| Ok((path.display().to_string(), json(path)?)));
    let mut files = files.collect::<Result<Vec<(String, Value)>, Failure>>()?;
    acvp::join(&mut files).map_err(Failure::usage)?;
    let parsed = files.iter().map(|(name, json)| match parse_any(json) {
        Ok(content) => Ok((name.clone(), content)),
        Err(why) => Err(Failure::usage(format!("{name}: {why}"))),
    });
    let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
    // one that is not known is counted beside others; nothing but such is a mistake
    match parsed.first() {
        Some((name, content)) if parsed.iter().all(|(_, content)| !content.unknown.is_empty()) => {
            Err(Failure::usage(format!("{name}: {}", not_known(content))))
        }
        _ => Ok(parsed),
    }
}

/// What to say of a file of an algorithm that is not known.
fn not_known(content: &Content) -> String {
    let names: Vec<&str> = content.unknown.keys().map(String::as_str).collect();
    format!(
        "the algorithm {:?} is not in this version: it runs AES-GCM, AES-CMAC, AES-GMAC, HMAC and KMAC of Wycheproof, and of ACVP \
         AES-GCM, -ECB, -CTR and -GMAC, CMAC-AES, SHA2, SHA3, SHAKE, cSHAKE, HMAC and KMAC",
        names.join(", ")
    )
}

fn json(path: &Path) -> Result<Value, Failure> {
    let shown = path.display();
    let unread = |e: std::io::Error| {
        Failure::usage(format!("{shown} cannot be read ({e}): give a JSON file of test vectors"))
    };
    if !std::fs::metadata(path).map_err(unread)?.is_file() {
        return Err(unread(std::io::Error::other("it is no file")));
    }
    let mut text = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text));
    if read.map_err(unread)? as u64 > LONGEST {
        return Err(Failure::usage(format!("{shown} has more than {LONGEST} bytes: split it")));
    }
    serde_json::from_slice(&text).map_err(|e| {
        Failure::usage(format!("{shown} is not JSON ({e}): give a file of Wycheproof (v1) or ACVP"))
    })
}

/// Read test vectors of either format.
///
/// # Errors
/// Why they cannot be read, and what to do.
pub fn parse(json: &Value) -> Result<Content, String> {
    let content = parse_any(json)?;
    if content.unknown.is_empty() { Ok(content) } else { Err(not_known(&content)) }
}

/// The same, where vectors of an algorithm that is not known are counted.
fn parse_any(json: &Value) -> Result<Content, String> {
    let json = acvp::body(json)?;
    let algorithm = json.get("algorithm").and_then(Value::as_str);
    let groups = json.get("testGroups").and_then(Value::as_array);
    let (Some(algorithm), Some(groups)) = (algorithm, groups) else {
        return Err(
            "it has no \"algorithm\" and \"testGroups\": give a file of Wycheproof (v1) or ACVP".into()
        );
    };
    match algorithm {
        "AES-GCM" => wycheproof::gcm(groups),
        "ACVP-AES-GCM" => acvp::groups(Algorithm::Gcm, groups),
        "ACVP-AES-ECB" => acvp::groups(Algorithm::Ecb, groups),
        "ACVP-AES-CTR" => acvp::groups(Algorithm::Ctr, groups),
        other => functions::acvp(other, groups)
            .or_else(|| functions::wycheproof(other, groups))
            .unwrap_or_else(|| {
                let tests =
                    |group: &Value| group.get("tests").and_then(Value::as_array).map_or(0, Vec::len) as u64;
                let vectors = groups.iter().map(tests).sum();
                Ok(Content { unknown: [(other.to_owned(), vectors)].into(), ..Content::default() })
            }),
    }
}

/// Run files through an engine.
///
/// # Errors
/// If a file cannot be read, or the engine aborts.
pub fn run(files: &[PathBuf], options: &Options) -> Result<Report, Failure> {
    // All are read before any runs: a mistyped name does not cost a run.
    run_contents(&read(files)?, options)
}

/// Run vectors, of named origin, through an engine.
///
/// # Errors
/// If the engine aborts.
pub fn run_contents(contents: &[(String, Content)], options: &Options) -> Result<Report, Failure> {
    let mut tallies: BTreeMap<Algorithm, Tally> = BTreeMap::new();
    let (mut calls, mut openings) = (0, 0);
    let tally =
        |tallies: &mut BTreeMap<Algorithm, Tally>, algorithm: Algorithm, change: &dyn Fn(&mut Tally)| {
            let name = || Tally { algorithm: algorithm.to_string(), ..Tally::default() };
            change(tallies.entry(algorithm).or_insert_with(name));
        };
    for (name, content) in contents {
        for ((algorithm, reason), n) in &content.unsupported {
            tally(&mut tallies, *algorithm, &|t| *t.unsupported.entry(reason.clone()).or_default() += n);
        }
        for group in content.groups.iter().filter(|group| !group.vectors.is_empty()) {
            let lacks = garble::lacks(group.algorithm).filter(|_| options.engine == Engine::Garble);
            if let Some(reason) = lacks {
                let n = group.vectors.len() as u64;
                tally(&mut tallies, group.algorithm, &|t| {
                    *t.unsupported.entry(reason.into()).or_default() += n
                });
                continue;
            }
            let answers = match options.engine {
                Engine::Garble => garble::blocks(group, &options.garbling)?,
                Engine::Rep3 => lab::run(group, options)?,
                Engine::Plain => plain::run(group)?,
            };
            calls += 1;
            openings += answers.openings;
            for (i, vector) in group.vectors.iter().enumerate() {
                let right = match (answers.encrypted.get(i), answers.decrypted.get(i)) {
                    (Some(encrypted), Some(decrypted)) => vector.is_right(encrypted, decrypted),
                    _ => false,
                };
                tally(&mut tallies, group.algorithm, &|t| t.count(right, name, vector.id));
            }
        }
        for chain in &content.chains {
            let algorithm = Algorithm::Function(chain.settings.algorithm);
            if options.engine == Engine::Garble {
                tally(&mut tallies, algorithm, &|t| {
                    *t.unsupported.entry(garble::CHAIN.into()).or_default() += 1
                });
                continue;
            }
            let (right, opened) = chains::run(chain, options)?;
            calls += 1;
            openings += opened;
            tally(&mut tallies, algorithm, &|t| t.count(right, name, chain.id));
        }
        for group in content.functions.iter().filter(|group| !group.vectors.is_empty()) {
            let algorithm = Algorithm::Function(group.settings.algorithm);
            let (short, gone) = garble::shorten(group);
            let group = if options.engine == Engine::Garble { &short } else { group };
            if let Some((reason, n)) = gone.filter(|_| options.engine == Engine::Garble) {
                tally(&mut tallies, algorithm, &|t| *t.unsupported.entry(reason.clone()).or_default() += n);
            }
            if group.vectors.is_empty() {
                continue;
            }
            let (answers, opened) = tags::run(group, options)?;
            calls += 1;
            openings += opened;
            for (i, vector) in group.vectors.iter().enumerate() {
                let right = answers.get(i).is_some_and(|answer| vector.is_right(answer));
                tally(&mut tallies, algorithm, &|t| t.count(right, name, vector.id));
            }
        }
    }
    let mut unknown: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, n) in contents.iter().flat_map(|(_, content)| &content.unknown) {
        *unknown.entry(name).or_default() += n;
    }
    let unknown = unknown.into_iter().map(|(name, n)| Tally {
        algorithm: name.to_owned(),
        unsupported: [(NOT_KNOWN.to_owned(), n)].into(),
        ..Tally::default()
    });
    Ok(Report { algorithms: tallies.into_values().chain(unknown).collect(), calls, openings })
}

/// Sort a vector into a group, or say why it cannot run.
fn sort(content: &mut Content, algorithm: Algorithm, sorted: Vec<Result<Vector, String>>) {
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    for vector in sorted {
        let vector = vector.and_then(|vector| {
            let bits = 8 * vector.key.len();
            match KeySize::from_bits(bits) {
                Some(size) => Ok((size, vector)),
                None => Err(format!("a key of {bits} bits")),
            }
        });
        match vector {
            Ok((size, vector)) => {
                let group = || Group { algorithm, size, vectors: Vec::new() };
                groups.entry(size.bits()).or_insert_with(group).vectors.push(vector);
            }
            Err(reason) => *content.unsupported.entry((algorithm, reason)).or_default() += 1,
        }
    }
    content.groups.extend(groups.into_values());
}

/// What GCM can take: 96 bits of IV, a tag of 96 to 128.
fn gcm_can(vector: Vector) -> Result<Vector, String> {
    let (iv, tag) = (8 * vector.iv.len(), 8 * vector.tag.len());
    if iv != 96 {
        return Err(format!("an IV of {iv} bits"));
    }
    match divisi_symmetric::mode::gcm::TagLength::from_bits(tag) {
        Ok(_) => Ok(vector),
        Err(_) => Err(format!("a tag of {tag} bits")),
    }
}

/// A member of a JSON object that is bytes in hexadecimal digits.
fn bytes(test: &Value, names: &[&str]) -> Result<Vec<u8>, String> {
    let found = names.iter().find_map(|name| test.get(name)).and_then(Value::as_str);
    let name = names.first().copied().unwrap_or_default();
    hex::decode(found.ok_or_else(|| format!("no {name:?} in the file"))?)
        .map_err(|_| format!("{name:?} is not hexadecimal"))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_acvp;
#[cfg(test)]
mod tests_of_functions;
#[cfg(test)]
mod tests_of_garbling;

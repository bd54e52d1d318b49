//! Records as sets of ACVP, one for each algorithm.

use super::hashes::{hash, sponge_message, strength};
use super::records::Record;
use divisi_core::Direction;
use serde_json::{Map, Value, json};

/// The sets of a file.
pub(super) fn make(stem: &str, comments: &str, records: &[Record]) -> Vec<Value> {
    let about = format!("{stem} {comments}");
    let words = || comments.split(|c: char| !c.is_ascii_alphanumeric());
    let in_comments = || MODES.into_iter().find(|mode| words().any(|word| word == *mode));
    let mut sets = Sets {
        mode: MODES.into_iter().find(|mode| stem.contains(mode)).or_else(in_comments),
        is_long: ["mct", "monte"].iter().any(|word| about.contains(word)),
        letters: about.chars().filter(char::is_ascii_alphanumeric).collect(),
        groups: Vec::new(),
    };
    let mut rest = records;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if first.has("seed") || (first.has("msg") && first.values.len() == 1) {
            // the beginning of a Monte Carlo test of a hash, whose ends follow
            let ends = after.iter().take_while(|r| !r.has("msg") && (r.has("md") || r.has("output")));
            let ends: Vec<&Record> = ends.collect();
            rest = after.get(ends.len()..).unwrap_or_default();
            sets.chain(first, &ends);
        } else if first.has("plaintext") || first.has("ciphertext") {
            let kind = sets.mode(first);
            let alike = after.iter().take_while(|record| sets.mode(record) == kind).count();
            let all: Vec<&Record> = std::iter::once(first).chain(after.iter().take(alike)).collect();
            rest = after.get(alike..).unwrap_or_default();
            sets.messages(kind, &all);
        } else {
            sets.other(first);
        }
    }
    sets.finish()
}

/// The modes that a file may name.
const MODES: [&str; 8] = ["cfb128", "cfb64", "cfb8", "cfb1", "ofb", "cbc", "ctr", "ecb"];

struct Sets {
    /// The mode that the file's name or its comments say.
    mode: Option<&'static str>,
    /// Whether they say that the tests are Monte Carlo tests.
    is_long: bool,
    /// Their letters and digits.
    letters: String,
    /// For each algorithm and what is said of a group the tests.
    groups: Vec<((String, Value), Vec<Value>)>,
}

/// The mode of a message and its direction.
type Mode = Option<(String, Direction)>;

impl Sets {
    fn put(&mut self, algorithm: &str, group: Value, test: Value) {
        let own = (algorithm.to_owned(), group);
        match self.groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, tests)) => tests.push(test),
            None => self.groups.push((own, vec![test])),
        }
    }

    fn finish(self) -> Vec<Value> {
        let mut sets: Vec<(String, Vec<Value>)> = Vec::new();
        for ((algorithm, mut group), tests) in self.groups {
            if let Some(group) = group.as_object_mut() {
                group.insert("tests".into(), tests.into());
            }
            match sets.iter_mut().find(|(known, _)| *known == algorithm) {
                Some((_, groups)) => groups.push(group),
                None => sets.push((algorithm, vec![group])),
            }
        }
        let set = |(algorithm, groups)| json!({ "algorithm": algorithm, "testGroups": Value::Array(groups) });
        sets.into_iter().map(set).collect()
    }

    /// Count a record of a kind that is not known, by the names of its values.
    fn unknown(&mut self, record: &Record) {
        let names: Vec<&str> = record.values.iter().map(|(name, _)| name.as_str()).collect();
        let names: Vec<&str> = names.into_iter().filter(|name| *name != "count").take(8).collect();
        self.put(&format!("CAVP ({})", names.join(", ")), json!({}), json!({ "tcId": record.line }));
    }

    /// The mode of a message: by the file's name, or its comments, or whether there is an IV.
    fn mode(&self, record: &Record) -> Mode {
        if !record.has("plaintext") && !record.has("ciphertext") {
            return None;
        }
        let by_iv = if record.has("iv") { "cbc" } else { "ecb" };
        // what was made of several files has the comments of one
        let mode = self.mode.filter(|mode| record.has("iv") != (*mode == "ecb")).unwrap_or(by_iv);
        let triple = ["keys", "key1"].iter().any(|name| record.has(name));
        let cipher = if triple { "TDES" } else { "AES" };
        let name = format!("ACVP-{cipher}-{}", mode.to_ascii_uppercase());
        Some((name, record.direction("plaintext", "ciphertext")))
    }

    /// Messages of one mode and direction that follow each other: vectors, or the chains of a Monte Carlo
    /// test.
    fn messages(&mut self, mode: Mode, records: &[&Record]) {
        let Some((algorithm, direction)) = mode else { return };
        let way = if direction == Direction::Encrypt { "encrypt" } else { "decrypt" };
        // of single bits the digits are bits
        if algorithm == "ACVP-AES-CFB1" {
            records.iter().for_each(|record| self.unknown(record));
            return;
        }
        let line = records.first().map_or(0, |record| record.line);
        let text = |record: &Record| {
            let mut test = keys(record);
            copy(record, &[("iv", "iv"), ("plaintext", "pt"), ("ciphertext", "ct")], &mut test);
            test
        };
        if self.is_long || is_chain(direction, records) {
            let ends: Vec<Value> = records.iter().map(|record| Value::Object(text(record))).collect();
            let group = json!({ "testType": "MCT", "direction": way });
            self.put(&algorithm, group, json!({ "tcId": line, "resultsArray": ends }));
            return;
        }
        for record in records {
            let mut test = text(record);
            test.insert("tcId".into(), json!(record.line));
            self.put(&algorithm, json!({ "testType": "AFT", "direction": way }), Value::Object(test));
        }
    }

    /// A Monte Carlo test of a hash: its beginning, and its ends.
    fn chain(&mut self, first: &Record, ends: &[&Record]) {
        let Some(end) = ends.first() else { return self.unknown(first) };
        let mut group = json!({ "testType": "MCT" });
        let (algorithm, names) = if let Some(digest) = end.get("md") {
            (hash(&self.letters, end, 4 * digest.len()), [("md", "md"), ("md", "md")])
        } else if let Some(bits) = strength(&self.letters) {
            let length = |name: &str| end.number(&format!("{name} output length (bits)"));
            group["minOutLen"] = json!(length("minimum"));
            group["maxOutLen"] = json!(length("maximum"));
            (format!("SHAKE-{bits}"), [("output", "md"), ("outputlen", "outLen")])
        } else {
            return self.unknown(first);
        };
        let end = |record: &&Record| {
            let mut end = Map::new();
            copy(record, &names, &mut end);
            Value::Object(end)
        };
        let ends: Vec<Value> = ends.iter().map(end).collect();
        let seed = first.get("seed").or(first.get("msg")).unwrap_or_default();
        self.put(&algorithm, group, json!({ "tcId": first.line, "msg": seed, "resultsArray": ends }));
    }

    /// A hash, a MAC, or a message of GCM.
    fn other(&mut self, record: &Record) {
        let mut test = Map::new();
        test.insert("tcId".into(), json!(record.line));
        let length = |name: &str, unit: u64| record.number(name).map(|length| length.saturating_mul(unit));
        let say = |test: &mut Map<String, Value>, name: &str, bits: Option<u64>| {
            if let Some(bits) = bits {
                test.insert(name.into(), json!(bits));
            }
        };
        let aft = json!({ "testType": "AFT" });
        if let (Some(digest), Some(message)) = (record.get("md").or(record.get("output")), record.get("msg"))
        {
            let algorithm = match (record.has("md"), strength(&self.letters)) {
                (true, _) => hash(&self.letters, record, 4 * digest.len()),
                (false, Some(bits)) => format!("SHAKE-{bits}"),
                (false, None) => return self.unknown(record),
            };
            let bits = length("len", 1).or(length("input length", 1));
            let sponge = algorithm.starts_with("SHA3") || algorithm.starts_with("SHAKE");
            let message = match bits {
                Some(bits) if sponge => sponge_message(message, bits),
                _ => message.to_owned(),
            };
            test.insert("msg".into(), json!(message));
            test.insert("md".into(), json!(digest));
            say(&mut test, "len", bits);
            say(&mut test, "outLen", length("outputlen", 1).filter(|_| algorithm.starts_with("SHAKE")));
            return self.put(&algorithm, aft, Value::Object(test));
        }
        if record.has("mac") && record.has("msg") {
            let mut way = "gen";
            if let Some(result) = record.get("result") {
                way = "ver";
                let passed = match result.as_bytes().first() {
                    Some(b'p' | b'P') => true,
                    Some(b'f' | b'F') => false,
                    // a verdict that nobody can read is none
                    _ => return self.unknown(record),
                };
                test.insert("testPassed".into(), json!(passed));
            }
            test.extend(keys(record));
            copy(record, &[("msg", "msg"), ("mac", "mac")], &mut test);
            say(&mut test, "macLen", length("tlen", 8));
            say(&mut test, "msgLen", length("mlen", 8));
            let algorithm = match length("l", 8).and_then(|bits| usize::try_from(bits).ok()) {
                Some(bits) => format!("HMAC-{}", hash(&self.letters, record, bits)),
                None if record.has("key1") => "CMAC-TDES".into(),
                None => "CMAC-AES".into(),
            };
            return self.put(&algorithm, json!({ "testType": "AFT", "direction": way }), Value::Object(test));
        }
        if ["key", "iv", "aad", "tag"].iter().all(|name| record.has(name)) && !record.has("salt") {
            let decrypts = record.direction("pt", "ct") == Direction::Decrypt;
            let names =
                [("key", "key"), ("iv", "iv"), ("aad", "aad"), ("pt", "pt"), ("ct", "ct"), ("tag", "tag")];
            copy(record, &names, &mut test);
            say(&mut test, "tagLen", length("taglen", 1));
            test.insert("testPassed".into(), json!(!record.fails));
            let way = if decrypts { "decrypt" } else { "encrypt" };
            let group = json!({ "testType": "AFT", "direction": way });
            return self.put("ACVP-AES-GCM", group, Value::Object(test));
        }
        self.unknown(record);
    }
}

/// Copy values under other names: lengths of outputs as numbers, all else as text.
fn copy(record: &Record, names: &[(&str, &str)], to: &mut Map<String, Value>) {
    for (from, name) in names {
        let Some(value) = record.get(from) else { continue };
        let value = if *name == "outLen" { json!(value.parse::<u64>().ok()) } else { json!(value) };
        to.insert((*name).into(), value);
    }
}

/// The key of a record: of triple DES three keys, of which the third may be the first, or one for all three.
fn keys(record: &Record) -> Map<String, Value> {
    let mut keys = Map::new();
    if let Some(one) = record.get("keys") {
        keys.insert("key".into(), json!(one.repeat(3)));
    } else if record.has("key1") {
        copy(record, &[("key1", "key1"), ("key2", "key2"), ("key1", "key3"), ("key3", "key3")], &mut keys);
    } else {
        copy(record, &[("key", "key")], &mut keys);
    }
    keys
}

/// Whether these are the chains of a Monte Carlo test, of which each begins with the end of the one before,
/// as its message or IV, and has another key.
fn is_chain(direction: Direction, records: &[&Record]) -> bool {
    let (text, end) = match direction {
        Direction::Encrypt => ("plaintext", "ciphertext"),
        Direction::Decrypt => ("ciphertext", "plaintext"),
    };
    let follows = |pair: &[&Record]| {
        let [before, after] = pair else { return false };
        let end = before.get(end).filter(|end| end.len() >= 16);
        end.is_some() && (after.get(text) == end || after.get("iv") == end) && keys(before) != keys(after)
    };
    records.len() > 1 && records.windows(2).all(follows)
}

#[cfg(test)]
mod tests {
    use super::super::records;
    use super::*;

    #[test]
    fn a_verdict_that_is_neither_good_nor_bad_is_not_known() {
        for (result, passed) in [
            ("P", Some(true)),
            ("p (0 )", Some(true)),
            ("F (1 - Message changed)", Some(false)),
            ("f", Some(false)),
            ("", None),
            ("?", None),
            ("OK", None),
        ] {
            let text = format!("Count = 0\nKey = 00\nMsg = 00\nMac = 00\nResult = {result}\n");
            let (comments, records) = records::read(&text).unwrap();
            let sets = make("cmacveraes128", &comments, &records);
            let [set] = &sets[..] else { panic!("{sets:?}") };
            let test = &set["testGroups"][0]["tests"][0];
            assert_eq!(test.get("testPassed").and_then(Value::as_bool), passed, "{result:?}");
            let algorithm = if passed.is_some() { "CMAC-AES" } else { "CAVP (key, msg, mac, result)" };
            assert_eq!(set["algorithm"], algorithm, "{result:?}");
        }
    }
}

//! A replay of recorded exchanges of OpenBao 2.6.2 (`tests/exchanges.jsonl`, each line one): status, headers
//! and body are those of the record, but for what `tests/differences.toml` lists with a reason.
//!
//! A line has `id`, `method`, `path`, one of `request_body` (JSON), `request_raw`, `request_raw_latin1` or
//! none, `status` (null where the server closed the connection), `response_body`, `response_text` or
//! `response_empty`; headers if they are not the usual ones. `volatile` has JSON pointers of values that
//! differ from run to run, `refs` values of the request that come from an earlier answer.

use super::stay::{Answered, Stay, TOKEN};
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Differences {
    difference: Vec<Difference>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    reason: String,
    exchanges: Vec<String>,
}

/// The groups of which at most [`MOST`] exchanges may differ.
const GROUPS: [&str; 6] = ["list", "encrypt", "decrypt", "batch", "random", "hash"];
const MOST: usize = 90;

/// A ciphertext, token or header value of an earlier answer, changed as the record says.
fn changed(text: &str, change: &str) -> String {
    let bytes = || BASE64.decode(text.rsplit(':').next().unwrap().as_bytes()).unwrap();
    let labelled = |bytes: &[u8]| format!("vault:v1:{}", BASE64.encode(bytes));
    let tail = text.rsplit(':').next().unwrap_or_default();
    let version = |version: &str| format!("vault:{version}:{tail}");
    let flipped = |at: usize| {
        let mut bytes = bytes();
        let at = at.min(bytes.len() - 1);
        bytes[at] ^= 1;
        labelled(&bytes)
    };
    match change {
        "" => text.to_owned(),
        "flip-last-byte" => flipped(usize::MAX),
        "flip-first-byte" => flipped(0),
        "flip-middle-byte" => flipped(14),
        "prefix-only-base64" => tail.to_owned(),
        "prefix-bao" => format!("bao{}", &text[5..]),
        "prefix-upper" => format!("VAULT{}", &text[5..]),
        "version-1" => version("v1"),
        "version-2" => version("v2"),
        "version-0" => version("v0"),
        "version-neg" => version("v-1"),
        "version-01" => version("v01"),
        "version-plus1" => version("v+1"),
        "version-x" => version("vx"),
        "version-9" => version("v9"),
        "no-v" => version("1"),
        "append-colon-x" => format!("{text}:x"),
        "append-newline" => format!("{text}\n"),
        "prepend-space" => format!(" {text}"),
        "cut-base64-char" | "cut-last-char" => text[..text.len() - 1].to_owned(),
        "strip-padding" => text.trim_end_matches('=').to_owned(),
        "url-safe" => format!("{}{}", &text[..9], text[9..].replace('+', "-").replace('/', "_")),
        "truncate-20-bytes" => labelled(&bytes()[..20]),
        "truncate-11-bytes" => labelled(&bytes()[..11]),
        "bearer" => format!("Bearer {text}"),
        "bearer-lower" => format!("bearer {text}"),
        "upper" => text.to_uppercase(),
        "append-x" => format!("{text}x"),
        other => panic!("the record has a change {other:?} that this replay does not know"),
    }
}

/// The answer in the form of the record.
fn form(answered: Option<Answered>, address: &str) -> Value {
    let Some(answered) = answered else {
        return json!({"status": null, "no_response": "RemoteDisconnected"});
    };
    let told = |(name, value): &(String, String)| (name.clone(), json!(value.replace(address, "server")));
    let headers = answered.headers.iter().filter(|(name, _)| !["Date", "Content-Length"].contains(&&**name));
    let headers: Map<String, Value> = headers.map(told).collect();
    let mut out = json!({"status": answered.status, "response_headers": headers});
    let text = String::from_utf8_lossy(&answered.body).replace(address, "server");
    let (member, value) = match (text.as_str(), serde_json::from_str(&text)) {
        ("", _) => ("response_empty", json!(true)),
        (_, Ok(body)) => ("response_body", body),
        (_, Err(_)) => ("response_text", json!(text)),
    };
    out[member] = value;
    out
}

fn is_refused(answer: &Value) -> bool {
    answer["status"] != json!(200)
}

/// What the record has of the answer.
fn recorded(line: &Value) -> Value {
    let usual = json!({
        "Cache-Control": "no-store",
        "Content-Type": "application/json",
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
    });
    let mut out = json!({"status": line["status"]});
    for member in ["response_body", "response_text", "response_empty", "no_response"] {
        if let Some(value) = line.get(member) {
            out[member] = value.clone();
        }
    }
    if line.get("no_response").is_none() {
        out["response_headers"] = line.get("response_headers").unwrap_or(&usual).clone();
    }
    out
}

/// Send the request of a line, with values of earlier answers; `None` if one that it needs is not there.
fn replayed(stay: &Stay, line: &Value, answers: &BTreeMap<String, Value>) -> Option<Value> {
    let mut line = line.clone();
    for from in line["refs"].as_array().cloned().unwrap_or_default() {
        let text = |name: &str| from[name].as_str().unwrap_or_default();
        if text("at") == "/request_headers/X-Vault-Token" && answers.get(text("from")).is_some_and(is_refused)
        {
            // the record makes tokens of applications; those of a gateway stand in its file
            line["request_headers"]["X-Vault-Token"] = json!(TOKEN);
            continue;
        }
        let value = answers.get(text("from"))?.pointer(text("pointer"))?;
        let value = match value.as_str() {
            Some(value) => json!(changed(value, text("change"))),
            None => value.clone(),
        };
        *line.pointer_mut(text("at"))? = value;
    }
    let usual =
        json!({"X-Vault-Token": TOKEN, "X-Vault-Request": "true", "Content-Type": "application/json"});
    let headers = line.get("request_headers").unwrap_or(&usual).as_object().unwrap();
    let headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, value.as_str().unwrap())).collect();
    let body = match (line.get("request_body"), line["request_raw"].as_str(), &line["request_raw_latin1"]) {
        (Some(body), _, _) => Some(body.to_string().into_bytes()),
        (None, Some(text), _) => Some(text.as_bytes().to_vec()),
        (None, None, Value::String(text)) => Some(text.chars().map(|char| char as u8).collect()),
        (None, None, _) => None,
    };
    let (method, path) = (line["method"].as_str().unwrap(), line["path"].as_str().unwrap());
    Some(form(stay.ask(method, path, &headers, body.as_deref()), &stay.address.to_string()))
}

/// Replace what differs from run to run.
fn mask(answer: &mut Value, line: &Value) {
    for pointer in line["volatile"].as_array().into_iter().flatten() {
        if let Some(value) = answer.pointer_mut(pointer.as_str().unwrap()) {
            *value = json!("*");
        }
    }
    if line["response_cut"] == json!(true) {
        for member in ["response_body", "response_text"] {
            answer.as_object_mut().unwrap().remove(member);
        }
    }
}

#[test]
fn recorded_exchanges_are_answered_alike_but_for_those_with_a_reason() {
    let file =
        |name: &str| std::fs::read_to_string(format!("{}/tests/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let all: Differences = toml::from_str(&file("differences.toml")).unwrap();
    let mut listed = BTreeSet::new();
    for difference in &all.difference {
        assert!(difference.reason.len() > 10, "{}", difference.reason);
        for id in &difference.exchanges {
            assert!(listed.insert(id.clone()), "{id} is there twice");
        }
    }
    let stay = Stay::start(&["--mount", "transit", "--mount", "t2"]);
    let (mut answers, mut differ) = (BTreeMap::new(), BTreeMap::new());
    for line in file("exchanges.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let id = line["id"].as_str().unwrap().to_owned();
        let Some(answer) = replayed(&stay, &line, &answers) else {
            differ.insert(id, "it needs an answer that is not there".to_owned());
            continue;
        };
        answers.insert(id.clone(), answer.clone());
        let (mut wanted, mut got) = (recorded(&line), answer);
        mask(&mut wanted, &line);
        mask(&mut got, &line);
        if wanted != got {
            differ.insert(id, format!("recorded {wanted}\n     got {got}"));
        }
    }
    let unlisted: Vec<_> = differ.iter().filter(|(id, _)| !listed.contains(*id)).collect();
    assert!(unlisted.is_empty(), "differences that are not listed: {unlisted:#?}");
    let none: Vec<_> = listed.iter().filter(|id| !differ.contains_key(*id)).collect();
    assert!(none.is_empty(), "listed differences that are none: {none:#?}");
    let counted = differ.keys().filter(|id| GROUPS.contains(&id.split('.').next().unwrap())).count();
    assert!(counted <= MOST, "{counted} of the groups that count differ");
}

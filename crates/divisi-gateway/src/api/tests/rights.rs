//! What a permission is for, and what leaves the gateway for those who have it.

use super::system::with_app;
use super::*;
use crate::backend::{Backend, KeyKind};
use std::collections::BTreeSet;

/// Requests that need one permission each.
const ASKED: &[(&str, &str, &str, &str)] = &[
    ("encrypt", "POST", "transit/encrypt/k", r#"{"plaintext":"YWJj"}"#),
    ("decrypt", "POST", "transit/decrypt/k", r#"{"ciphertext":"vault:v1:AAAA"}"#),
    ("rewrap", "POST", "transit/rewrap/k", r#"{"ciphertext":"vault:v1:AAAA"}"#),
    ("datakey", "POST", "transit/datakey/plaintext/k", ""),
    ("datakey", "POST", "transit/datakey/wrapped/k", ""),
    ("hmac", "POST", "transit/hmac/h", r#"{"input":"YWJj"}"#),
    ("hmac", "POST", "transit/hmac/h/sha2-256", r#"{"input":"YWJj"}"#),
    ("verify", "POST", "transit/verify/h", r#"{"input":"YWJj","hmac":"vault:v1:AAAA"}"#),
    ("verify", "POST", "transit/verify/h/sha2-256", r#"{"input":"YWJj","hmac":"vault:v1:AAAA"}"#),
    ("encrypt", "POST", "transit/encrypt/k", r#"{"batch_input":[{"plaintext":"YWJj"}]}"#),
    ("decrypt", "POST", "transit/decrypt/k", r#"{"batch_input":[{"ciphertext":"vault:v1:AAAA"}]}"#),
    ("rewrap", "POST", "transit/rewrap/k", r#"{"batch_input":[{"ciphertext":"vault:v1:AAAA"}]}"#),
    ("hmac", "POST", "transit/hmac/h", r#"{"batch_input":[{"input":"YWJj"}]}"#),
    ("verify", "POST", "transit/verify/h", r#"{"batch_input":[{"input":"YWJj","hmac":"vault:v1:AAAA"}]}"#),
    ("random", "POST", "transit/random", ""),
    ("random", "POST", "transit/random/16", ""),
    ("hash", "POST", "transit/hash", r#"{"input":"YWJj"}"#),
    ("hash", "POST", "transit/hash/sha2-256", r#"{"input":"YWJj"}"#),
    ("create", "POST", "transit/keys/new", ""),
    ("read", "GET", "transit/keys/k", ""),
    ("list", "LIST", "transit/keys", ""),
    ("manage", "DELETE", "transit/keys/k", ""),
];

/// Whoever has one permission may do what this permission is for, and nothing of what another one is for.
#[test]
fn a_permission_permits_its_own_requests_alone() {
    let all: BTreeSet<&str> = ASKED.iter().map(|(permission, ..)| *permission).collect();
    assert_eq!(all.len(), 12);
    for permission in all {
        let bench = with_app("[\"transit/*\"]", &format!("[\"{permission}\"]"));
        for (needed, method, target, body) in ASKED {
            let status = bench.as_token("app", method, target, body).status;
            assert_eq!(status != 403, *needed == permission, "{permission}: {method} {target}: {status}");
        }
    }
}

/// Whoever may do everything with one key does nothing with another one, whatever else stands in the path.
#[test]
fn a_token_is_for_the_key_of_the_path() {
    let of =
        |target: &str| target.split('/').find(|part| ["k", "h", "new"].contains(part)).map(str::to_owned);
    for own in ["k", "h", "new", "plaintext", "wrapped", "sha2-256"] {
        let bench = with_app(&format!("[\"transit/{own}\"]"), "[\"*\"]");
        for (_, method, target, body) in ASKED {
            let Some(key) = of(target) else { continue };
            let status = bench.as_token("app", method, target, body).status;
            assert_eq!(status != 403, key == own, "{own}: {method} {target}: {status}");
        }
    }
}

/// A token that may encrypt makes no key, and a list shows a token the keys that it may list.
#[test]
fn tokens_make_and_list_what_their_file_says() {
    let bench = Bench::new();
    let encrypts = |body: &str| bench.as_token("app", "POST", "transit/encrypt/k", body).status;
    let encrypt = || encrypts(r#"{"plaintext":""}"#);
    // not by a batch, and not by a text that is none, either
    for body in [r#"{"plaintext":""}"#, r#"{"batch_input":[{"plaintext":""}]}"#, r#"{"plaintext":"%"}"#] {
        assert_eq!(encrypts(body), 403, "{body}");
    }
    assert_eq!(bench.as_token("app", "POST", "transit/keys/k", "").status, 403);
    assert_eq!(bench.as_token("app", "GET", "transit/keys/k", "").status, 404);
    for name in ["a", "k", "other"] {
        bench.ask("POST", &format!("transit/keys/{name}"), "");
    }
    assert_eq!(encrypt(), 200);
    let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(b"app"));
    let tokens = format!(
        "[[token]]\nname = \"app\"\nsha256 = \"{hash}\"\nkeys = [\"transit/k\"]\noperations = [\"list\"]\n"
    );
    bench.gateway.replace_tokens(Tokens::parse(&tokens).unwrap());
    // the limit counts what is shown
    for query in ["", "?limit=1", "?limit=9", "?after=a", "?after=a&limit=9", "?after=A&limit=1"] {
        let answer = bench.as_token("app", "LIST", &format!("transit/keys{query}"), "");
        let listed = read(&answer.body.unwrap()).unwrap();
        assert_eq!(listed.at(&["data", "keys"]), Some(&Json::texts(["k"])), "{query}");
    }
    assert_eq!(bench.as_token("app", "LIST", "transit/keys?after=k&limit=9", "").status, 404);
    // the file that was read again counts from now on, and the old one no more
    assert_eq!((encrypt(), bench.ask("POST", "transit/keys/new", "").0), (403, 403));
}

/// A list shows a token the keys that it may list and no others, however many there are.
#[test]
fn a_long_list_shows_a_token_its_own_keys() {
    let bench = with_app("[\"transit/*7\", \"transit/k0000\"]", "[\"list\"]");
    let is_own = |name: &&String| name.ends_with('7') || *name == "k0000";
    let mut names = Vec::new();
    for count in 1..=1025_usize {
        names.push(format!("k{:04}", count - 1));
        bench.servers.make(&names[count - 1].parse().unwrap(), KeyKind::Aes256).unwrap();
        // around each size of which somebody may have made a border
        if ![count - 1, count, count + 1].into_iter().any(|near| near.is_power_of_two() || near % 100 == 0) {
            continue;
        }
        for most in [1, 20, count] {
            let target = format!("transit/keys?limit={most}");
            let answer = bench.as_token("app", "LIST", &target, "");
            let listed = read(&answer.body.unwrap()).unwrap();
            let own = Json::texts(names.iter().filter(is_own).take(most));
            assert!(listed.at(&["data", "keys"]) == Some(&own), "{count} {most}");
        }
    }
}

/// A wrapped data key leaves wrapped alone; each is another one in every 16 bytes, whatever its size, and so
/// are random bytes.
#[test]
fn data_keys_and_random_bytes_are_fresh_in_all_their_bytes() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let mut seen = BTreeSet::new();
    // each bit of the last byte takes both values
    for (target, member) in
        [("transit/random/3", "random_bytes"), ("transit/datakey/plaintext/k", "plaintext")]
    {
        let (mut all, mut any) = (u8::MAX, 0);
        for _ in 0..32 {
            let (_, drawn) = bench.ask("POST", target, "");
            let last = *crate::base64::decode(data(&drawn, member)).unwrap().last().unwrap();
            (all, any) = (all & last, any | last);
        }
        assert_eq!((all, any), (0, u8::MAX), "{target}");
    }
    let mut fresh = |text: &str, bytes: usize| {
        let drawn = crate::base64::decode(text).unwrap();
        assert_eq!(drawn.len(), bytes);
        drawn.chunks_exact(16).for_each(|part| assert!(seen.insert(part.to_vec()), "{bytes}"));
    };
    for _ in 0..2 {
        for bits in [128, 256, 512] {
            let body = format!(r#"{{"bits":{bits}}}"#);
            let (_, key) = bench.ask("POST", "transit/datakey/wrapped/k", &body);
            assert!(key.at(&["data", "plaintext"]).is_none());
            let body_of = format!(r#"{{"ciphertext":"{}"}}"#, data(&key, "ciphertext"));
            let (_, opened) = bench.ask("POST", "transit/decrypt/k", &body_of);
            fresh(data(&opened, "plaintext"), bits / 8);
            let (_, key) = bench.ask("POST", "transit/datakey/plaintext/k", &body);
            fresh(data(&key, "plaintext"), bits / 8);
        }
        // the most that is given at once
        let (_, drawn) = bench.ask("POST", "transit/random/131072", "");
        fresh(data(&drawn, "random_bytes"), 128 << 10);
    }
}

/// A request whose key cannot serve it is refused for that, whatever else is wrong, and each time; a batch,
/// as a whole.
#[test]
fn a_batch_is_refused_with_its_key() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/h", r#"{"type":"hmac","key_size":32}"#);
    for _ in 0..2 {
        for body in ["{}", r#"{"key_version":-1}"#, r#"{"batch_input":[{"input":""}],"key_version":9}"#] {
            let (status, words) = bench.error("POST", "transit/hmac/none", body);
            assert!(status == 400 && words.contains("encryption key not found"), "{body} {words}");
        }
    }
    for route in ["rewrap", "decrypt"] {
        let body = r#"{"batch_input":[{"ciphertext":"vault:v1:AAAA"}]}"#;
        let (status, answer) = bench.ask("POST", &format!("transit/{route}/h"), body);
        assert!(status == 400 && answer.get("errors").is_some(), "{route} {answer:?}");
    }
}

/// So is a batch of which an item has a member of another type, be it the last, or a context where others
/// have none.
#[test]
fn a_batch_is_refused_with_an_item() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    for route in ["encrypt", "decrypt"] {
        for member in ["context", "associated_data", "reference"] {
            let item = format!(r#"{{"ciphertext":"vault:v1:AAAA","plaintext":"","{member}":{{}}}}"#);
            let body = format!(r#"{{"batch_input":[{item}]}}"#);
            let (status, answer) = bench.ask("POST", &format!("transit/{route}/k"), &body);
            assert!(status == 400 && answer.get("errors").is_some(), "{route} {member} {answer:?}");
        }
    }
    let items = r#"{"plaintext":""},{"plaintext":""},{"plaintext":"","context":"AA=="}"#;
    let (status, words) = bench.error("POST", "transit/encrypt/k", &format!("{{\"batch_input\":[{items}]}}"));
    assert!(status == 400 && words.contains("in all the request blocks or in none"), "{words}");
}

/// What the path has counts before the same in the body, be it the last of the path; and what a query asks of
/// every route is no parameter of this one.
#[test]
fn parameters_are_those_of_the_route() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/h", r#"{"type":"hmac","key_size":32}"#);
    let (_, answer) = bench.ask("POST", "transit/hmac/h/sha2-256", r#"{"input":"","urlalgorithm":"x"}"#);
    let Some(Json::Array(warnings)) = answer.get("warnings") else { panic!("{answer:?}") };
    assert!(warnings[0].as_str().unwrap().contains("replaced the value"), "{answer:?}");
    for (query, known) in [("list=false", true), ("help=0", true), ("helpful=0", false)] {
        let (_, answer) = bench.ask("GET", &format!("transit/keys/h?{query}"), "");
        assert_eq!(answer.get("warnings") == Some(&Json::Null), known, "{query} {answer:?}");
    }
    assert_ne!(bench.ask("GET", "transit/nothing", "").0, bench.ask("GET", "transit/encrypt/h", "").0);
    // a mount says whether it makes keys
    for (mount, makes) in [("transit", true), ("deep/er", false)] {
        let (_, answer) = bench.ask("GET", &format!("{mount}/config/keys"), "");
        assert_eq!(answer.at(&["data", "disable_upsert"]), Some(&Json::Bool(!makes)), "{mount}");
    }
}

/// Associated data bind by each of their bytes and by their length, whichever route seals and opens.
#[test]
fn all_of_associated_data_counts() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let base64 = |bytes: &[u8]| crate::base64::encode(bytes).to_string();
    let whole: Vec<u8> = (0..100).collect();
    let others = (0..100).map(|at| {
        let mut other = whole.clone();
        other[at] ^= 1;
        other
    });
    let others = others.chain([whole[..99].to_vec(), [&whole[..], &[0]].concat(), Vec::new()]);
    let others: Vec<String> = others.map(|other| base64(&other)).collect();
    let aad = base64(&whole);
    let seal = |target: &str, body: &str| {
        let (status, answer) = bench.ask("POST", target, body);
        assert_eq!(status, 200, "{target}");
        data(&answer, "ciphertext").to_owned()
    };
    let sealed = seal("transit/encrypt/k", &format!(r#"{{"plaintext":"YWJj","associated_data":"{aad}"}}"#));
    let body = |sealed: &str, aad: &str| format!(r#"{{"ciphertext":"{sealed}","associated_data":"{aad}"}}"#);
    let all = [
        sealed.clone(),
        seal("transit/rewrap/k", &body(&sealed, &aad)),
        seal("transit/datakey/wrapped/k", &format!(r#"{{"associated_data":"{aad}"}}"#)),
    ];
    for sealed in all {
        for target in ["transit/decrypt/k", "transit/rewrap/k"] {
            assert_eq!(bench.ask("POST", target, &body(&sealed, &aad)).0, 200);
            for other in &others {
                assert_eq!(bench.ask("POST", target, &body(&sealed, other)).0, 400, "{target} {other}");
            }
        }
        let items: Vec<String> = others.iter().map(|other| body(&sealed, other)).collect();
        let batch = format!(r#"{{"batch_input":[{},{}]}}"#, body(&sealed, &aad), items.join(","));
        for target in ["transit/decrypt/k", "transit/rewrap/k"] {
            let (_, answer) = bench.ask("POST", target, &batch);
            let Some(Json::Array(results)) = answer.at(&["data", "batch_results"]) else { panic!() };
            let wrong = |item: &Json| item.get("error").and_then(Json::as_str).is_some_and(|e| !e.is_empty());
            let right: Vec<usize> = (0..results.len()).filter(|at| !wrong(&results[*at])).collect();
            assert_eq!((results.len(), right), (others.len() + 1, vec![0]), "{target}");
        }
    }
}

/// A token without operations may do nothing, and one without keys nothing with a key.
#[test]
fn empty_lists_permit_nothing() {
    for (keys, operations) in [("[\"*\"]", "[]"), ("[]", "[\"*\"]"), ("[]", "[]")] {
        let bench = with_app(keys, operations);
        for (needed, method, target, body) in ASKED {
            let may = operations != "[]" && ["random", "hash", "list"].contains(needed);
            let status = bench.as_token("app", method, target, body).status;
            assert_eq!(status != 403, may, "{keys} {operations}: {method} {target}: {status}");
        }
    }
}

/// Each text opens under its own associated data alone, also if it has none, by each route, singly and in a
/// batch; and so does a text that makes its key.
#[test]
fn a_text_without_associated_data_opens_under_none() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let all = ["", "aGk=", "aGo=", "aA==", "aGkA"];
    for (own, key) in
        all.iter().enumerate().flat_map(|(at, own)| [(own, "k".to_owned()), (own, format!("n{at}"))])
    {
        let asked = format!(r#"{{"plaintext":"YWJj","associated_data":"{own}"}}"#);
        let (_, sealed) = bench.ask("POST", &format!("transit/encrypt/{key}"), &asked);
        let sealed = data(&sealed, "ciphertext");
        let bodies = all.map(|aad| format!(r#"{{"ciphertext":"{sealed}","associated_data":"{aad}"}}"#));
        for (route, member) in [("decrypt", "plaintext"), ("rewrap", "ciphertext")] {
            let target = format!("transit/{route}/{key}");
            let alone = bodies.each_ref().map(|body| bench.ask("POST", &target, body).0 == 200);
            let (_, answer) =
                bench.ask("POST", &target, &format!(r#"{{"batch_input":[{}]}}"#, bodies.join(",")));
            let Some(Json::Array(results)) = answer.at(&["data", "batch_results"]) else {
                panic!("{target}")
            };
            let text =
                |result: &Json| result.get(member).and_then(Json::as_str).is_some_and(|t| !t.is_empty());
            let batched: Vec<bool> = results.iter().map(text).collect();
            let right = all.map(|aad| aad == *own);
            assert_eq!((alone, &batched[..]), (right, &right[..]), "{target} {own:?}");
        }
    }
}

/// Whoever presents no token of the file is told nothing but what is open to all, whatever the route.
#[test]
fn strangers_are_turned_away_from_every_route() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let mut asked = 0;
    for route in ROUTES.iter().filter(|route| !route.open && !route.without_token) {
        let word = |word: &str| match word {
            ":name" => "k".to_owned(),
            "*" => "transit".to_owned(),
            other => other.trim_start_matches(':').to_owned(),
        };
        let path = route.path.split('/').map(word).collect::<Vec<_>>().join("/");
        let path = if route.side == Side::Mount { format!("transit/{path}") } else { path };
        for token in ["", "nobody", "roo", "Root", "root "] {
            for body in ["", "{}", r#"{"type":"transit","path":"transit","plaintext":""}"#] {
                let answer = bench.as_token(token, route.verb.method(), &path, body);
                let why = answer.body.map(|body| String::from_utf8_lossy(&body).into_owned());
                let refused = why.is_some_and(|why| why.contains("permission denied"));
                assert!(refused && answer.status == 403, "{} {token:?} {}", route.name(), answer.status);
                asked += 1;
            }
        }
    }
    assert!(asked > 600, "{asked}");
    // the list of mounts is there for all, and empty
    for token in ["", "nobody"] {
        let answer = bench.as_token(token, "GET", "sys/internal/ui/mounts", "");
        let listed = read(&answer.body.unwrap()).unwrap();
        assert_eq!(listed.at(&["data", "secret"]), Some(&Json::empty()));
    }
}

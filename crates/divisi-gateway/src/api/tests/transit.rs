//! Operations whose answers depend on their own keys and algorithms, whatever was asked before.

use super::*;
use crate::backend::{Backend, KeyKind};
use sha2::{Sha224, Sha384, Sha512};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// Each algorithm has its own digest of each input.
#[test]
fn digests_are_those_of_the_input() {
    fn of<D: Digest>(input: &[u8]) -> String {
        data_encoding::HEXLOWER.encode(&D::digest(input))
    }
    let all: [(&str, fn(&[u8]) -> String); 8] = [
        ("sha2-224", of::<Sha224>),
        ("sha2-256", of::<Sha256>),
        ("sha2-384", of::<Sha384>),
        ("sha2-512", of::<Sha512>),
        ("sha3-224", of::<Sha3_224>),
        ("sha3-256", of::<Sha3_256>),
        ("sha3-384", of::<Sha3_384>),
        ("sha3-512", of::<Sha3_512>),
    ];
    let bench = Bench::new();
    // of each digest the last bit is now 0, now 1
    for input in ["", "abc", "abd", "abe", "abf", "abg", "abh", "abi"] {
        let body = format!("{{\"input\":\"{}\"}}", crate::base64::encode(input.as_bytes()).as_str());
        for (name, digest) in all {
            let (_, answer) = bench.ask("POST", &format!("transit/hash/{name}"), &body);
            assert_eq!(data(&answer, "sum"), digest(input.as_bytes()), "{name} {input}");
            let body = body.replace('}', ",\"format\":\"base64\"}");
            let (_, answer) = bench.ask("POST", &format!("transit/hash/{name}"), &body);
            let sum = data_encoding::HEXLOWER.decode(digest(input.as_bytes()).as_bytes()).unwrap();
            assert_eq!(data(&answer, "sum"), crate::base64::encode(&sum).as_str(), "{name} {input}");
        }
    }
}

/// A tag of a batch is that of the key of its path.
#[test]
fn tags_of_batches_are_those_of_their_key() {
    let bench = Bench::new();
    for name in ["h", "i"] {
        bench.ask("POST", &format!("transit/keys/{name}"), r#"{"type":"hmac","key_size":32}"#);
        let (_, alone) = bench.ask("POST", &format!("transit/hmac/{name}"), r#"{"input":"YWJj"}"#);
        let batch = r#"{"batch_input":[{"input":""},{"input":"YWJj"}]}"#;
        let (_, answer) = bench.ask("POST", &format!("transit/hmac/{name}"), batch);
        let Some(Json::Array(items)) = answer.at(&["data", "batch_results"]) else { panic!("{name}") };
        let tags: Vec<_> = items.iter().map(|item| item.get("hmac").and_then(Json::as_str)).collect();
        assert!(tags[1] == Some(data(&alone, "hmac")) && tags[0] != tags[1], "{name}");
        // and holds under that key alone
        let body = format!("{{\"input\":\"YWJj\",\"hmac\":\"{}\"}}", data(&alone, "hmac"));
        for under in ["h", "i"].into_iter().filter(|under| *under <= name) {
            let (_, answer) = bench.ask("POST", &format!("transit/verify/{under}"), &body);
            assert_eq!(answer.at(&["data", "valid"]), Some(&Json::Bool(under == name)), "{under} {name}");
        }
    }
}

/// What would show a key in the clear is refused, one as the other.
#[test]
fn no_key_is_made_that_can_be_shown() {
    let bench = Bench::new();
    for field in ["exportable", "allow_plaintext_backup"] {
        let (status, why) = bench.error("POST", "transit/keys/k", &format!("{{\"{field}\":true}}"));
        assert!(
            status == 400 && why.contains("exported or backed up in plaintext"),
            "{field}: {status} {why}"
        );
    }
}

/// A size that does not go with a type is refused for this reason, each time, whether the key is there or
/// not.
#[test]
fn sizes_of_keys_are_refused_each_time() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    for name in ["k", "new", "k"] {
        for (kind, size, why) in [
            ("hmac", 16, "invalid key_size 16"),
            ("hmac", 31, "invalid key_size 31"),
            ("hmac", 513, "invalid key_size 513"),
            ("hmac", 768, "invalid key_size 768"),
            ("aes256-gcm96", 16, "key_size is not valid for algorithm aes256-gcm96"),
            ("aes128-gcm96", 32, "key_size is not valid for algorithm aes128-gcm96"),
            ("aes256-gcm96", 256, "key_size is not valid for algorithm aes256-gcm96"),
        ] {
            let body = format!("{{\"type\":\"{kind}\",\"key_size\":{size}}}");
            let found = bench.error("POST", &format!("transit/keys/{name}"), &body);
            assert_eq!(found, (400, why.to_owned()), "{name} {body}");
        }
    }
    for size in [33, 256, 32 + 256, 512] {
        let found =
            bench.error("POST", "transit/keys/new", &format!("{{\"type\":\"hmac\",\"key_size\":{size}}}"));
        assert_eq!(found, (400, "keys of type hmac have 32 bytes here: set key_size to 32".to_owned()));
    }
    for (seconds, why) in [
        ("256", "must be 0 to disable"),
        ("3599", "at least an hour"),
        ("7168", "not yet: keys"),
        ("\"3599s\"", "at least an hour"),
        ("\"3600s\"", "not yet: keys"),
        ("\"59m\"", "at least an hour"),
        ("\"60m\"", "not yet: keys"),
        ("\"1h\"", "not yet: keys"),
        ("\"1d\"", "not yet: keys"),
    ] {
        let body = format!("{{\"auto_rotate_period\":{seconds}}}");
        let (status, said) = bench.error("POST", "transit/keys/new", &body);
        assert!(status == 400 && said.contains(why), "{seconds}: {said}");
    }
    // nor is a key that is not there asked for each of a batch
    for _ in 0..2 {
        let found =
            bench.error("POST", "transit/decrypt/new", r#"{"batch_input":[{"ciphertext":"vault:v1:AAAA"}]}"#);
        assert_eq!(found, (400, "encryption key not found".to_owned()));
    }
}

/// A batch with a context makes no key that would not derive one from it.
#[test]
fn a_batch_makes_no_key_for_a_context() {
    let bench = Bench::new();
    for (context, status) in [(r#","context":"YWJj""#, 400), ("", 200)] {
        let body = format!("{{\"batch_input\":[{{\"plaintext\":\"YWJj\"{context}}}]}}");
        assert_eq!(bench.ask("POST", "transit/encrypt/new", &body).0, status, "{context}");
        assert_eq!(bench.ask("GET", "transit/keys/new", "").0 == 200, status == 200, "{context}");
    }
}

/// A request has an id of its own.
#[test]
fn ids_of_requests_differ() {
    let bench = Bench::new();
    assert_ne!(bench.gateway.request_id(), bench.gateway.request_id());
}

/// A key says what it is for.
#[test]
fn a_key_says_what_it_serves() {
    let bench = Bench::new();
    for (name, body, encrypts) in [("k", "", true), ("h", r#"{"type":"hmac","key_size":32}"#, false)] {
        let path = format!("transit/keys/{name}");
        bench.ask("POST", &path, body);
        let (_, answer) = bench.ask("GET", &path, "");
        assert_eq!(answer.at(&["data", "supports_encryption"]), Some(&Json::Bool(encrypts)), "{name}");
        // another parameter, which begins like that for a list, makes no list of it
        let (_, read) = bench.ask("GET", &(path + "?lease=true"), "");
        assert_eq!(read.at(&["data"]), answer.at(&["data"]), "{name}");
    }
}

/// Whoever asks for a key that somebody else makes at the same time gets that one.
#[test]
fn a_key_that_is_made_meanwhile_is_read() {
    let bench = Bench::new();
    for (name, kind, size) in [("k", "aes128-gcm96", 0), ("l", "hmac", 32)] {
        let (path, made) =
            (format!("transit/keys/{name}"), format!(r#"{{"type":"{kind}","key_size":{size}}}"#));
        bench.ask("POST", &path, &made);
        bench.servers.overlook();
        let (status, answer) = bench.ask("POST", &path, "");
        assert_eq!((status, data(&answer, "type"), data(&answer, "name")), (200, kind, name));
    }
}

/// No key verifies signatures, and each says its type.
#[test]
fn signatures_are_verified_by_no_key() {
    let bench = Bench::new();
    for (name, kind) in [("k", "aes128-gcm96"), ("h", "hmac"), ("l", "aes256-gcm96")] {
        let size = if kind == "hmac" { 32 } else { 0 };
        let made = format!("{{\"type\":\"{kind}\",\"key_size\":{size}}}");
        bench.ask("POST", &format!("transit/keys/{name}"), &made);
        for body in [r#"{"input":"","signature":"x"}"#, r#"{"batch_input":[{"input":"","signature":"x"}]}"#] {
            let found = bench.error("POST", &format!("transit/verify/{name}"), body);
            assert_eq!(found, (400, format!("key type {kind} does not support verification")), "{body}");
        }
    }
}

/// Of a batch each tag is compared under the key of the path, and the batch has tags alone.
#[test]
fn tags_of_a_batch_are_compared_one_by_one() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let hmac = r#"{"type":"hmac","key_size":32}"#;
    for name in ["h", "i"] {
        bench.ask("POST", &format!("transit/keys/{name}"), hmac);
    }
    let tag = |name: &str, input: &str| {
        let (_, answer) =
            bench.ask("POST", &format!("transit/hmac/{name}"), &format!("{{\"input\":\"{input}\"}}"));
        data(&answer, "hmac").to_owned()
    };
    let (one, two) = (tag("h", "YWJj"), tag("h", ""));
    let item = |input: &str, tag: &str| format!("{{\"input\":\"{input}\",\"hmac\":\"{tag}\"}}");
    let items = [item("YWJj", &one), item("YWJj", &two), item("", &two), format!("{{\"hmac\":\"{two}\"}}")];
    let body = format!("{{\"batch_input\":[{}]}}", items.join(","));
    // twice, and under another key between
    for (name, right) in
        [("h", [true, false, true, false]), ("i", [false; 4]), ("h", [true, false, true, false])]
    {
        let (_, answer) = bench.ask("POST", &format!("transit/verify/{name}"), &body);
        let Some(Json::Array(results)) = answer.at(&["data", "batch_results"]) else { panic!("{name}") };
        let valid = results.iter().map(|result| result.get("valid") == Some(&Json::Bool(true)));
        assert_eq!(valid.collect::<Vec<_>>(), right, "{name}");
        assert_eq!(results[3].get("error").and_then(Json::as_str), Some("missing input"));
    }
    for (name, items, why) in [
        ("h", r#"{"input":""}"#, "no batch_input elements have 'signature' or 'hmac'"),
        ("h", r#"{"input":"","hmac":"x"},{"input":""}"#, "some elements of batch_input are missing 'hmac'"),
        (
            "h",
            r#"{"input":"","hmac":"x"},{"input":"","signature":"x"}"#,
            "elements of batch_input must all provide 'signature' or all provide 'hmac'",
        ),
    ] {
        for _ in 0..2 {
            let body = format!("{{\"batch_input\":[{items}]}}");
            assert_eq!(bench.error("POST", &format!("transit/verify/{name}"), &body), (400, why.to_owned()));
        }
    }
    // a key that encrypts, and one that is not there, authenticate nothing, each time
    for name in ["k", "none", "k"] {
        let (status, why) = bench.error("POST", &format!("transit/verify/{name}"), &body);
        assert!(status == 400 && !why.is_empty(), "{name}: {status} {why}");
    }
}

/// A data key has the length that is asked for, is shown if it is to be, and opens under its key.
#[test]
fn data_keys_have_their_lengths() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    for (bits, bytes) in [(128, 16), (256, 32), (512, 64)] {
        let body = format!("{{\"bits\":{bits}}}");
        let (_, answer) = bench.ask("POST", "transit/datakey/plaintext/k", &body);
        let plaintext = data(&answer, "plaintext").to_owned();
        assert_eq!(crate::base64::decode(&plaintext).unwrap().len(), bytes);
        let body_to_open = format!("{{\"ciphertext\":\"{}\"}}", data(&answer, "ciphertext"));
        let (_, opened) = bench.ask("POST", "transit/decrypt/k", &body_to_open);
        assert_eq!(data(&opened, "plaintext"), plaintext);
        let (_, wrapped) = bench.ask("POST", "transit/datakey/wrapped/k", &body);
        assert!(wrapped.at(&["data", "plaintext"]).is_none());
    }
    for bits in [0, 64, 127, 129, 384, 128 + 256, 256 + 65536] {
        for _ in 0..2 {
            let found = bench.error("POST", "transit/datakey/plaintext/k", &format!("{{\"bits\":{bits}}}"));
            assert_eq!(found, (400, "invalid bit length".to_owned()), "{bits}");
        }
    }
}

/// Of a key that is not there that is said, each time, whatever else is wrong.
#[test]
fn data_keys_of_no_key_are_refused_for_that() {
    let bench = Bench::new();
    let right = bench.error("POST", "transit/datakey/plaintext/none", r#"{"bits":128}"#);
    for _ in 0..2 {
        let wrong = bench.error("POST", "transit/datakey/plaintext/none", r#"{"bits":64}"#);
        assert!(wrong == right && !right.1.contains("bit length"), "{wrong:?} {right:?}");
    }
}

/// A key whose name Transit does not take is no key of a mount, and nor is one whose name begins otherwise.
#[test]
fn keys_of_a_mount_are_listed() {
    let bench = Bench::new();
    for name in ["app-k", "app-l", "app-", "app-k-", "app-.", "apq-m"] {
        bench.servers.make(&name.parse().unwrap(), KeyKind::Aes256).unwrap();
    }
    for (query, names) in
        [("", &["k", "l"][..]), ("&after=k", &["l"]), ("&limit=1", &["k"]), ("&after=j", &["k", "l"])]
    {
        let (_, answer) = bench.ask("GET", &format!("deep/er/keys?list=true{query}"), "");
        let Some(Json::Array(listed)) = answer.at(&["data", "keys"]) else { panic!("{answer:?}") };
        assert_eq!(listed.iter().filter_map(Json::as_str).collect::<Vec<_>>(), names, "{query}");
    }
    assert_eq!(bench.ask("GET", "deep/er/keys?list=true&after=l", "").0, 404);
}

/// A parameter in the body is replaced by that of the path where the path has one of its name.
#[test]
fn parameters_that_the_path_replaces_are_named() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    for (target, replaced) in [
        ("transit/random/16", true),
        ("transit/random", true),
        ("transit/encrypt/k", false),
        ("transit/hash", false),
    ] {
        let body = r#"{"source":"platform","plaintext":"","input":""}"#;
        let (_, answer) = bench.ask("POST", target, body);
        let Some(Json::Array(warnings)) = answer.get("warnings") else { panic!("{target}: {answer:?}") };
        let warned = |words: &str| {
            warnings
                .iter()
                .filter_map(Json::as_str)
                .any(|text| text.contains(words) && text.contains("source"))
        };
        assert_eq!((warned("replaced"), warned("ignored")), (replaced, !replaced), "{target}");
    }
}

/// No beginning of a tag is right, not even an empty one, and nothing that is longer.
#[test]
fn a_tag_is_right_with_all_of_its_bytes() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/h", r#"{"type":"hmac","key_size":32}"#);
    let (_, tagged) = bench.ask("POST", "transit/hmac/h", r#"{"input":"YWJj"}"#);
    let tag = crate::base64::decode(data(&tagged, "hmac").strip_prefix("vault:v1:").unwrap()).unwrap();
    let longer = [&tag[..], &[0; 32]].concat();
    for length in [0, 1, 8, 16, 31, 32, 33, 64] {
        let given = crate::base64::encode(&longer[..length]);
        let item = format!(r#"{{"input":"YWJj","hmac":"vault:v1:{}"}}"#, given.as_str());
        let (_, alone) = bench.ask("POST", "transit/verify/h", &item);
        assert_eq!(alone.at(&["data", "valid"]), Some(&Json::Bool(length == 32)), "{length}");
        let (_, answer) = bench.ask("POST", "transit/verify/h", &format!(r#"{{"batch_input":[{item}]}}"#));
        let Some(Json::Array(results)) = answer.at(&["data", "batch_results"]) else { panic!("{length}") };
        let valid = results[0].get("valid") == Some(&Json::Bool(true));
        assert_eq!((valid, results[0].get("error").is_some()), (length == 32, false), "{length}");
    }
}

/// At whichever call the servers fail, and whether one of them is named or none: the whole answer is 503.
#[test]
fn wherever_servers_fail_the_answer_says_so() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    bench.ask("POST", "transit/keys/h", r#"{"type":"hmac","key_size":32}"#);
    let (_, sealed) = bench.ask("POST", "transit/encrypt/k", r#"{"plaintext":"YWJj"}"#);
    let (_, tagged) = bench.ask("POST", "transit/hmac/h", r#"{"input":"YWJj"}"#);
    let sealed = format!(r#""ciphertext":"{}""#, data(&sealed, "ciphertext"));
    let tagged = format!(r#""input":"YWJj","hmac":"{}""#, data(&tagged, "hmac"));
    let mut asked = vec![
        ("LIST", "transit/keys", String::new()),
        ("GET", "transit/keys/k", String::new()),
        ("POST", "transit/keys/k", String::new()),
        ("POST", "transit/datakey/plaintext/k", String::new()),
    ];
    for (target, item) in [
        ("transit/encrypt/k", r#""plaintext":"YWJj""#),
        ("transit/decrypt/k", &sealed),
        ("transit/rewrap/k", &sealed),
        ("transit/hmac/h", r#""input":"YWJj""#),
        ("transit/verify/h", &tagged),
    ] {
        asked.push(("POST", target, format!("{{{item}}}")));
        asked.push(("POST", target, format!(r#"{{"batch_input":[{{{item}}},{{{item}}}]}}"#)));
    }
    for (party, (method, target, body)) in
        [None, Some(2)].into_iter().flat_map(|p| asked.iter().map(move |a| (p, a)))
    {
        bench.servers.fail(Some(BackendTrouble::Down(party, "it is away".into())));
        let after = |calls: usize| {
            bench.servers.spare(calls);
            let (status, _) = bench.ask(method, target, body);
            (bench.servers.spare(0) == 0).then_some(status)
        };
        // the last one had all the calls that it needs
        let all: Vec<u16> = (0..).map_while(after).collect();
        let (last, earlier) = all.split_last().unwrap();
        assert!(*last == 200 && !earlier.is_empty(), "{target} {body}: {all:?}");
        assert!(earlier.iter().all(|status| *status == 503), "{target} {body} {party:?}: {all:?}");
    }
}

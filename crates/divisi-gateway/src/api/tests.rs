//! The API over a table in memory: whole requests, as recorded ones have them.

mod mounts;
mod remains;
mod rights;
mod system;
mod transit;

use super::*;
use crate::backend::{BackendTrouble, Memory};
use crate::json::read;
use divisi_net::Machine;
use sha2::{Digest, Sha256};

struct Bench {
    gateway: Gateway,
    servers: Arc<Memory>,
}

impl Bench {
    fn new() -> Bench {
        let servers = Arc::new(Memory::default());
        let mount =
            |path: &str, prefix: &str, upsert| Mount { path: path.into(), prefix: prefix.into(), upsert };
        let mounts = vec![mount("transit", "", true), mount("deep/er", "app-", false)];
        let hash = |token: &str| data_encoding::HEXLOWER.encode(&Sha256::digest(token));
        let tokens = format!(
            "[[token]]\nname = \"root\"\nsha256 = \"{}\"\nkeys = [\"*\"]\noperations = [\"*\"]\n[[token]]\nname = \
             \"app\"\nsha256 = \"{}\"\nkeys = [\"transit/k\"]\noperations = [\"encrypt\", \"read\"]\n",
            hash("root"),
            hash("app")
        );
        let tokens = Tokens::parse(&tokens).unwrap();
        let gateway = Gateway::new(servers.clone(), mounts, Some(tokens), Arc::new(Machine));
        Bench { gateway, servers }
    }

    fn as_token(&self, token: &str, method: &str, target: &str, body: &str) -> ApiAnswer {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let head = RequestHead {
            method: method.into(),
            path: format!("/v1/{path}"),
            query: query.into(),
            token: Some(token.to_owned().into()),
            ..RequestHead::default()
        };
        let plan = self.gateway.plan(&head);
        self.gateway.answer(&head, &plan, body.as_bytes(), "id").0
    }

    fn ask(&self, method: &str, target: &str, body: &str) -> (u16, Json) {
        let answer = self.as_token("root", method, target, body);
        let body = answer.body.map_or(Json::Null, |body| read(&body).unwrap_or(Json::Null));
        (answer.status, body)
    }

    fn error(&self, method: &str, target: &str, body: &str) -> (u16, String) {
        let (status, answer) = self.ask(method, target, body);
        let Some(Json::Array(errors)) = answer.get("errors") else { return (status, "-".into()) };
        (status, errors.first().map_or("", |error| error.as_str().unwrap()).to_owned())
    }
}

fn data<'a>(answer: &'a Json, name: &str) -> &'a str {
    answer.at(&["data", name]).and_then(Json::as_str).unwrap()
}

#[test]
fn what_is_encrypted_is_decrypted_and_rewrapped() {
    let bench = Bench::new();
    assert_eq!(bench.ask("POST", "transit/keys/k", "").0, 200);
    let (status, sealed) =
        bench.ask("PUT", "transit/encrypt/k", r#"{"plaintext":"YWJj","associated_data":"aGk="}"#);
    assert_eq!(status, 200);
    let sealed = data(&sealed, "ciphertext").to_owned();
    let body = format!(r#"{{"ciphertext":"{sealed}","associated_data":"aGk="}}"#);
    assert_eq!(data(&bench.ask("POST", "transit/decrypt/k", &body).1, "plaintext"), "YWJj");
    assert_eq!(bench.ask("POST", "transit/rewrap/k", &body).0, 200);
    let bare = format!(r#"{{"ciphertext":"{sealed}"}}"#);
    let forged = (400, "cipher: message authentication failed".to_owned());
    assert_eq!(bench.error("POST", "transit/decrypt/k", &bare), forged);
    let (_, key) = bench.ask("POST", "transit/datakey/plaintext/k", "");
    let body = format!(r#"{{"ciphertext":"{}"}}"#, data(&key, "ciphertext"));
    let (_, opened) = bench.ask("POST", "transit/decrypt/k", &body);
    assert_eq!(data(&opened, "plaintext"), data(&key, "plaintext"));
}

/// Associated data bind a text, each item of a batch, and what is encrypted anew.
#[test]
fn associated_data_bind_each_item() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let batch = r#"{"batch_input":[{"plaintext":"YWJj","associated_data":"aGk="},{"plaintext":"YWJj"}]}"#;
    let (_, answer) = bench.ask("POST", "transit/encrypt/k", batch);
    let Some(Json::Array(items)) = answer.at(&["data", "batch_results"]) else { panic!() };
    let sealed = |item: &Json| item.get("ciphertext").and_then(Json::as_str).unwrap().to_owned();
    let (bound, bare) = (sealed(&items[0]), sealed(&items[1]));
    let opens = |ciphertext: &str, aad: &str| {
        let body = format!(r#"{{"ciphertext":"{ciphertext}","associated_data":"{aad}"}}"#);
        bench.ask("POST", "transit/decrypt/k", &body).0
    };
    assert_eq!([opens(&bound, "aGk="), opens(&bound, ""), opens(&bound, "aGo=")], [200, 400, 400]);
    assert_eq!([opens(&bare, ""), opens(&bare, "aGk=")], [200, 400]);
    let body = format!(r#"{{"ciphertext":"{bound}","associated_data":"aGk="}}"#);
    let anew = data(&bench.ask("POST", "transit/rewrap/k", &body).1, "ciphertext").to_owned();
    assert_eq!([opens(&anew, "aGk="), opens(&anew, "")], [200, 400]);
    let (_, key) = bench.ask("POST", "transit/datakey/plaintext/k", r#"{"associated_data":"aGk="}"#);
    let wrapped = data(&key, "ciphertext");
    assert_eq!([opens(wrapped, "aGk="), opens(wrapped, "")], [200, 400]);
}

/// What has no ciphertext is that, whether there is such a key or not.
#[test]
fn no_ciphertext_is_said_before_no_key() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let missing = (400, "missing ciphertext to decrypt".to_owned());
    for route in ["decrypt/k", "rewrap/k", "decrypt/none", "rewrap/none"] {
        for body in ["{}", r#"{"ciphertext":""}"#, r#"{"context":"aGk="}"#] {
            assert_eq!(bench.error("POST", &format!("transit/{route}"), body), missing, "{route} {body}");
        }
    }
}

#[test]
fn mistakes_have_the_recorded_answers() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    bench.ask("POST", "transit/keys/h", r#"{"type":"hmac","key_size":32}"#);
    for (method, target, body, status, text) in [
        ("POST", "transit/encrypt/k", "{}", 400, "missing plaintext to encrypt"),
        ("POST", "transit/encrypt/k", r#"{"plaintext":"a%b="}"#, 400, "illegal base64 data at input byte 1"),
        (
            "POST",
            "transit/encrypt/k",
            r#"{"plaintext":"","key_version":-1}"#,
            400,
            "requested version for encryption is negative",
        ),
        (
            "POST",
            "transit/encrypt/h",
            r#"{"plaintext":""}"#,
            400,
            "message encryption not supported for key type hmac",
        ),
        ("POST", "deep/er/encrypt/x", r#"{"plaintext":""}"#, 400, "encryption key not found"),
        ("POST", "transit/decrypt/x", r#"{"ciphertext":"vault:v1:AAAA"}"#, 400, "encryption key not found"),
        (
            "POST",
            "transit/decrypt/x",
            r#"{"batch_input":[{"ciphertext":"vault:v1:AAAA"}]}"#,
            400,
            "encryption key not found",
        ),
        ("POST", "transit/decrypt/k", r#"{"ciphertext":"vault:v1:AAAA"}"#, 400, "invalid ciphertext length"),
        ("POST", "transit/decrypt/k", r#"{"ciphertext":""}"#, 400, "missing ciphertext to decrypt"),
        ("POST", "transit/encrypt/k/", "{}", 400, "cannot write to a path ending in '/'"),
        ("POST", "transit/encrypt/k", "{", 400, "failed to decode JSON input: unexpected EOF"),
        ("GET", "transit/keys/x", "", 404, ""),
        ("GET", "transit/keys?list=yes", "", 400, ""),
        ("GET", "nomount/x", "", 404, "no handler for route \"nomount/x\". route entry not found."),
        ("LIST", "nomount/x", "", 404, "no handler for route \"nomount/x/\". route entry not found."),
        (
            "DELETE",
            "transit/keys/k",
            "",
            400,
            "error deleting policy k: deletion is not allowed for this key",
        ),
        ("DELETE", "transit/keys/x", "", 400, "error deleting policy x: could not delete key; not found"),
        (
            "GET",
            "transit/backup/k",
            "",
            500,
            "1 error occurred:\n\t* exporting is disallowed on the policy\n\n",
        ),
        ("POST", "transit/keys/n", r#"{"type":"aes"}"#, 400, "unknown key type aes"),
        ("OPTIONS", "transit/keys/k", "", 400, "cannot handle internal-only request operation"),
        ("FOO", "transit/keys/k", "", 405, ""),
    ] {
        assert_eq!(bench.error(method, target, body), (status, text.to_owned()), "{method} {target} {body}");
    }
}

#[test]
fn batches_keep_their_order_and_their_references() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/b", "");
    let batch = r#"{"batch_input":[{"plaintext":"YQ=="},{"plaintext":"%","reference":"bad"}]"#;
    let (status, answer) = bench.ask("POST", "transit/encrypt/b", &format!("{batch}}}"));
    assert_eq!((status, answer.get("errors").is_none()), (400, true));
    let Some(Json::Array(results)) = answer.at(&["data", "batch_results"]) else { panic!() };
    assert_eq!(results[1].get("error").unwrap().as_str(), Some("illegal base64 data at input byte 0"));
    assert_eq!(results[1].get("reference").unwrap().as_str(), Some("bad"));
    assert_eq!(results[0].get("reference").unwrap().as_str(), Some(""));
    let code = format!("{batch},\"partial_failure_response_code\":207}}");
    assert_eq!(bench.ask("POST", "transit/encrypt/b", &code).0, 207);
    assert_eq!(
        bench.error("POST", "transit/encrypt/b", r#"{"batch_input":[]}"#).1,
        "missing batch input to process"
    );
}

/// What is wrong with an item of a batch is said at its place, and first of all that it has no ciphertext;
/// the items beside it are opened.
#[test]
fn an_item_without_ciphertext_says_so_at_its_place() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let (_, sealed) = bench.ask("PUT", "transit/encrypt/k", r#"{"plaintext":"YWJj"}"#);
    let sealed = data(&sealed, "ciphertext");
    let item = |ciphertext: &str, context: &str| {
        format!(r#"{{"ciphertext":"{ciphertext}","context":"{context}","associated_data":""}}"#)
    };
    let items = [item("", "%"), item(sealed, "YQ=="), item("", "YQ=="), item(sealed, "%")];
    let batch = format!(r#"{{"batch_input":[{}]}}"#, items.join(","));
    let missing = Some("missing ciphertext to decrypt");
    for (route, opened) in [("decrypt", "plaintext"), ("rewrap", "ciphertext")] {
        let (_, answer) = bench.ask("POST", &format!("transit/{route}/k"), &batch);
        let Some(Json::Array(results)) = answer.at(&["data", "batch_results"]) else { panic!("{route}") };
        let errors: Vec<_> = results.iter().map(|item| item.get("error").and_then(Json::as_str)).collect();
        let illegal = Some("illegal base64 data at input byte 0");
        assert_eq!(errors, [missing, None, missing, illegal], "{route}");
        assert!(results[1].get(opened).and_then(Json::as_str).is_some_and(|text| !text.is_empty()));
    }
}

#[test]
fn keys_are_listed_without_the_prefix_of_their_mount() {
    let bench = Bench::new();
    for name in ["b", "a", "Z"] {
        assert_eq!(bench.ask("POST", &format!("deep/er/keys/{name}"), "").0, 200);
    }
    let names = |target: &str| match bench.ask("LIST", target, "").1.at(&["data", "keys"]) {
        Some(Json::Array(names)) => names.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
        _ => Vec::new(),
    };
    assert_eq!(names("deep/er/keys"), ["Z", "a", "b"]);
    assert_eq!(names("deep/er/keys?after=Z&limit=1"), ["a"]);
    assert_eq!(names("transit/keys"), ["app-Z", "app-a", "app-b"]);
}

#[test]
fn tokens_permit_what_their_file_says() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let status = |token, method, target| bench.as_token(token, method, target, r#"{"plaintext":""}"#).status;
    assert_eq!(status("app", "POST", "transit/encrypt/k"), 200);
    assert_eq!(status("app", "POST", "transit/encrypt/other"), 403);
    assert_eq!(status("app", "POST", "transit/decrypt/k"), 403);
    assert_eq!(status("wrong", "POST", "transit/encrypt/k"), 403);
    assert_eq!(status("wrong", "GET", "transit/nope"), 403);
    assert_eq!(status("wrong", "GET", "sys/health"), 200);
    assert_eq!(status("wrong", "GET", "sys/internal/ui/mounts"), 200);
}

/// No mistake stands for trouble of a server, and no trouble for a mistake.
#[test]
fn servers_that_are_down_are_503_everywhere() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    bench.servers.fail(Some(BackendTrouble::Down(Some(2), "it does not run".into())));
    for (method, target, body) in [
        ("POST", "transit/encrypt/k", r#"{"plaintext":""}"#),
        ("POST", "transit/encrypt/k", r#"{"plaintext":"%"}"#),
        ("POST", "transit/encrypt/k", r#"{"batch_input":[{"plaintext":""}]}"#),
        ("POST", "transit/decrypt/k", r#"{"ciphertext":"vault:v1:AAAA"}"#),
        ("POST", "transit/keys/other", ""),
        ("GET", "transit/keys/k", ""),
        ("LIST", "transit/keys", ""),
        ("POST", "transit/datakey/wrapped/k", ""),
        ("GET", "sys/health", ""),
    ] {
        let answer = bench.as_token("root", method, target, body);
        assert_eq!(answer.status, 503, "{method} {target}");
        assert!(answer.headers.iter().any(|(name, _)| *name == "Retry-After"), "{method} {target}");
        assert!(String::from_utf8_lossy(&answer.body.unwrap()).contains("party 2"), "{method} {target}");
    }
    assert_eq!(bench.ask("POST", "transit/random", "").0, 200);
}

#[test]
fn a_path_that_moved_stays_at_its_host() {
    let bench = Bench::new();
    let head =
        RequestHead { method: "GET".into(), path: "/./\\evil.example".into(), ..RequestHead::default() };
    let plan = bench.gateway.plan(&head);
    let answer = bench.gateway.answer(&head, &plan, b"", "id").0;
    assert_eq!(answer.status, 307);
    assert_eq!(answer.headers, [("Location", "/%5Cevil.example".to_owned())]);
    assert!(!String::from_utf8_lossy(&answer.body.unwrap()).contains('\\'));
    // and a program that does something is sent there without a page for people
    let head = RequestHead { method: "POST".into(), ..head };
    let plan = bench.gateway.plan(&head);
    let answer = bench.gateway.answer(&head, &plan, b"", "id").0;
    assert_eq!((answer.status, answer.body.is_none(), answer.content_type), (307, true, None));
}

/// An answer repeats little of what was sent, and a form has as many texts as JSON.
#[test]
fn long_texts_are_not_repeated() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    bench.ask("POST", "transit/keys/h", r#"{"type":"hmac","key_size":32}"#);
    let long = "9".repeat(100_000);
    for (target, body) in [
        ("transit/keys/n", format!("{{\"type\":\"{long}\"}}")),
        ("transit/keys/n", format!("{{\"auto_rotate_period\":\"{long}\"}}")),
        ("transit/keys/n", format!("{{\"{long}\":1}}")),
        ("transit/encrypt/n", format!("{{\"plaintext\":\"\",\"type\":\"{long}\"}}")),
        ("transit/encrypt/k", format!("{{\"plaintext\":\"\",\"key_version\":0.{long}}}")),
        ("transit/hash", format!("{{\"input\":\"\",\"algorithm\":\"{long}\"}}")),
        ("transit/hash", format!("{{\"input\":\"\",\"format\":\"{long}\"}}")),
        ("transit/random", format!("{{\"format\":\"{long}\"}}")),
        ("transit/random", format!("{{\"source\":\"{long}\"}}")),
        ("transit/hmac/h", format!("{{\"input\":\"\",\"algorithm\":\"{long}\"}}")),
        ("transit/verify/h", format!("{{\"input\":\"\",\"hmac\":\"\",\"algorithm\":\"{long}\"}}")),
        ("transit/decrypt/k", format!("{{\"ciphertext\":\"{long}\"}}")),
        ("transit/decrypt/k", format!("{{\"ciphertext\":\"vault:v{long}:\"}}")),
        ("sys/mounts/new", format!("{{\"type\":\"{long}\"}}")),
        ("sys/capabilities-self", format!("{{\"path\":\"{long}\"}}")),
        ("nomount/x", format!("{{\"a\":{long}}}")),
    ] {
        let answer = bench.as_token("root", "POST", target, &body);
        let length = answer.body.map_or(0, |body| body.len());
        assert!(length < 1500, "{target} {} {length}", body.get(..40).unwrap());
    }
    let form = |pairs: usize| is_form(vec!["a=b"; pairs].join("&").as_bytes());
    assert!(form(500) && !form(501) && !form(1_000_000));
}

/// Whether a body that is said to be a form is one.
fn is_form(body: &[u8]) -> bool {
    let kind = Some("application/x-www-form-urlencoded".to_owned());
    let head = RequestHead { content_type: kind, ..RequestHead::default() };
    body_of(&head, body).is_ok()
}

#[test]
fn a_form_is_whole() {
    assert!(["a=b", "a=%41&b=+", "a"].iter().all(|text| is_form(text.as_bytes())));
    for broken in [&b"a=%"[..], b"a=%4", b"a=%zz", b"%g1=a", b"a=b&c=%", b"a;b=c", b"a=\xff"] {
        assert!(!is_form(broken), "{broken:?}");
    }
    // it has what its pairs say
    let kind = Some("application/x-www-form-urlencoded; charset=utf-8".to_owned());
    let head = RequestHead { content_type: kind, ..RequestHead::default() };
    let Ok(read) = body_of(&head, b"a=%41&b=+&c") else { panic!("a form") };
    assert_eq!(
        ["a", "b", "c"].map(|name| read.get(name).and_then(Json::as_str)),
        [Some("A"), Some(" "), Some("")]
    );
    // and is JSON if it begins so, behind any space
    let Ok(read) = body_of(&head, b" \n{\"a\":\"b=c\"}") else { panic!("JSON") };
    assert_eq!(read.get("a").and_then(Json::as_str), Some("b=c"));
    // nor is what is not said to be one
    let kind = Some("application/json".to_owned());
    assert!(body_of(&RequestHead { content_type: kind, ..RequestHead::default() }, b"a=b").is_err());
}

/// Whatever is sent, the answer is one of those of the page: 500 stands for a backup alone.
#[test]
fn random_requests_are_answered() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let seeds: Vec<Vec<u8>> = [
        "POST transit/encrypt/k {\"batch_input\":[{\"plaintext\":\"YQ==\"}],\"key_version\":1}",
        "GET transit/keys?list=true&after=a {}",
        "POST transit/verify/k {\"input\":\"YQ==\",\"hmac\":\"vault:v1:AAAA\"}",
    ]
    .map(|seed| seed.as_bytes().to_vec())
    .to_vec();
    divisi_fuzz::run("requests", env!("CARGO_MANIFEST_DIR"), &seeds, |input| {
        let text = String::from_utf8_lossy(input);
        let mut words = text.splitn(3, ' ');
        let mut word = || words.next().unwrap_or("");
        let (method, target, body) = (word(), word(), word());
        let answer = bench.as_token("root", method, target, body);
        let text = answer.body.map(|body| String::from_utf8_lossy(&body).into_owned()).unwrap_or_default();
        match answer.status {
            200..=299 => Ok(true),
            500 if !text.contains("exporting is disallowed") => Err(format!("{target} is answered by 500")),
            _ => Ok(false),
        }
    });
}

/// The page for users, which is not in the package of this crate.
fn page() -> Option<String> {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/transit.md")).ok()
}

/// The cells of the rows of the table below a heading.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let cell = |cell: &str| {
        cell.trim().trim_matches('`').replace("\\|", "|").replace("\\n", "\n").replace("\\t", "\t")
    };
    rows.map(|row| row.trim_matches('|').split(" | ").map(cell).collect()).collect()
}

#[test]
fn the_page_has_every_route() {
    let Some(page) = page() else { return };
    let mut listed: Vec<String> =
        rows(&page, "Routes").into_iter().map(|mut row| row.swap_remove(0)).collect();
    let mut routes: Vec<String> = ROUTES.iter().map(Route::name).collect();
    listed.sort_unstable();
    routes.sort_unstable();
    assert_eq!(listed, routes);
}

/// Each row of the page's errors is a request to keys `k` and `h`, and its answer.
#[test]
fn the_page_has_errors_as_they_are() {
    let Some(page) = page() else { return };
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    bench.ask("POST", "transit/keys/h", r#"{"type":"hmac","key_size":32}"#);
    let rows = rows(&page, "Errors");
    assert!(rows.len() > 50, "{} rows", rows.len());
    for row in rows {
        let [request, body, status, text] = &row[..] else { panic!("{row:?}") };
        let (method, target) = request.split_once(' ').unwrap();
        let (code, error) = bench.error(method, target, body);
        assert_eq!((code.to_string(), &error), (status.clone(), text), "{request} {body}");
    }
}

//! Whole connections, as clients have them, over a table in memory.

mod held;

use super::*;
use crate::backend::{BackendTrouble, Memory};
use crate::config::{Listen, Mount};
use crate::tokens::Tokens;
use divisi_net::Machine;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tokio::sync::watch;

/// The SHA-256 of `root`.
const ROOT: &str = "4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2";
const LONGEST: usize = 256 << 10;

struct Bench {
    runtime: tokio::runtime::Runtime,
    address: SocketAddr,
    service: Arc<Service>,
    stop: watch::Sender<bool>,
    serves: tokio::task::JoinHandle<()>,
}

fn service(log_keys: bool) -> Arc<Service> {
    service_that_logs(log_keys, std::io::sink())
}

fn service_that_logs(log_keys: bool, out: impl Write + Send + 'static) -> Arc<Service> {
    service_over(Arc::new(Memory::default()), log_keys, out)
}

fn service_over(servers: Arc<Memory>, log_keys: bool, out: impl Write + Send + 'static) -> Arc<Service> {
    service_with_prefix("", servers, log_keys, out)
}

/// Whose keys have this before their names, at the servers.
fn service_with_prefix(
    prefix: &str,
    servers: Arc<Memory>,
    log_keys: bool,
    out: impl Write + Send + 'static,
) -> Arc<Service> {
    let mount = Mount { path: "transit".into(), prefix: prefix.into(), upsert: true };
    let tokens =
        format!("[[token]]\nname = \"root\"\nsha256 = \"{ROOT}\"\nkeys = [\"*\"]\noperations = [\"*\"]\n");
    let tokens = Tokens::parse(&tokens).unwrap();
    let gateway = Gateway::new(servers, vec![mount], Some(tokens), Arc::new(Machine));
    let limits = ServiceLimits { body_bytes: LONGEST, queue: 8, turns: 2, log_keys };
    let log = GatewayLog::new(out).unwrap();
    Service::new(Arc::new(gateway), log, limits)
}

impl Bench {
    fn new() -> Bench {
        let service = service(false);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.unwrap();
        let (stop, stopped) = watch::channel(false);
        let within = runtime.enter();
        let socket = bind(&Listen::Address("127.0.0.1:0".parse().unwrap())).unwrap();
        drop(within);
        let Socket::Tcp(listener) = &socket else { panic!() };
        let address = listener.local_addr().unwrap();
        let router = Arc::clone(&service).router();
        let serves = runtime.spawn(async move { serve(socket, &router, None, stopped).await });
        Bench { runtime, address, service, stop, serves }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// The budgets are whole again.
    fn is_whole(&self) -> bool {
        soon(|| {
            self.service.memory.available_permits() == budget_of(LONGEST)
                && self.service.strangers.available_permits() == body::units(BODIES_OF_STRANGERS)
        })
    }
}

/// Whether something holds within the time that a busy machine may take.
fn soon(holds: impl Fn() -> bool) -> bool {
    (0..3000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        holds()
    })
}

/// What strangers send counts against a budget of theirs, and what others send against another one.
#[test]
fn strangers_and_others_have_budgets_apart() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let service = service(false);
    let asked = |token: Option<&str>| {
        let (method, path) = ("POST".to_owned(), "/v1/transit/hash".to_owned());
        let token = token.map(|token| token.to_owned().into());
        let head = RequestHead { method, path, token, ..RequestHead::default() };
        let body = Body::from(r#"{"input":"YWJj"}"#);
        runtime.block_on(service.answer(head, None, body, "id")).answer.status
    };
    let all = || [Some("root"), Some("wrong"), None].map(asked);
    assert_eq!(all(), [200, 403, 403]);
    for (budget, statuses) in [(&service.strangers, [200, 429, 429]), (&service.memory, [429, 403, 403])] {
        let many = u32::try_from(budget.available_permits()).unwrap();
        let taken = Arc::clone(budget).try_acquire_many_owned(many).unwrap();
        assert_eq!(all(), statuses);
        drop(taken);
    }
    assert_eq!(all(), [200, 403, 403]);
}

/// The name of a key is for the log only if the configuration says so.
#[test]
fn names_of_keys_are_logged_if_that_is_configured() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    // where the name is not the first part that a path leaves open, and where there is none
    let paths = [
        ("GET", "keys/k", Some("k")),
        ("POST", "datakey/plaintext/k", Some("k")),
        ("POST", "random/32", None),
    ];
    for (method, path, name) in paths {
        let named = [false, true].map(|log_keys| {
            let (method, path) = (method.to_owned(), format!("/v1/transit/{path}"));
            let head = RequestHead { method, path, ..RequestHead::default() };
            runtime.block_on(service(log_keys).answer(head, None, Body::empty(), "id")).key
        });
        assert_eq!(named, [None, name.map(str::to_owned)], "{path}");
    }
}

/// Nothing that a client sends is logged, whatever comes of its request, and whether its token is known or
/// not.
#[test]
fn nothing_of_a_request_is_logged() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let service = service_that_logs(false, writer);
    let tokens = [Some("root"), Some("secret-token"), None];
    let asked = [
        ("GET", "/v1/transit/keys/secret-key", ""),
        ("POST", "/v1/transit/keys/secret-key", r#"{"type":"secret-type"}"#),
        ("POST", "/v1/transit/encrypt/secret-key", r#"{"plaintext":"secret text"}"#),
        ("POST", "/v1/transit/decrypt/secret-key", r#"{"ciphertext":"secret-text"}"#),
        ("POST", "/v1/transit/hmac/secret-key/secret-name", r#"{"input":"YWJj"}"#),
        ("POST", "/v1/transit/hash/secret-name", r#"{"input":"YWJj"}"#),
        ("POST", "/v1/transit/random/secret-name", "secret text"),
        ("POST", "/v1/transit/encrypt/secret-key/secret", ""),
        ("SECRET", "/v1/transit/encrypt/secret-key", ""),
        ("GET", "/v1/secret-mount/keys/secret-key?secret=secret", ""),
        ("GET", "/v1//secret", ""),
        ("GET", "/secret", ""),
    ];
    let requests = asked.iter().flat_map(|ask| tokens.map(|token| (ask, token)));
    for ((method, target, body), token) in requests.clone() {
        let request = Request::builder().method(*method).uri(*target).header("X-Vault-Namespace", "root");
        let request = token.into_iter().fold(request, |with, token| with.header("X-Vault-Token", token));
        let request = request.body(Body::from(*body)).unwrap();
        runtime.block_on(handle(State(service.clone()), request));
    }
    service.log.flush(Duration::from_secs(20));
    // the pipe ends with the log
    drop(service);
    let mut log = String::new();
    reader.read_to_string(&mut log).unwrap();
    assert_eq!(log.lines().count(), requests.count());
    assert!(!log.to_lowercase().contains("secret"), "{log}");
}

/// No answer is kept on its way, whatever its length and its status.
#[test]
fn no_answer_is_kept_on_its_way() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let service = service(false);
    for (path, body, statuses) in [
        ("random/1", "", [200, 403]),
        ("random/1500", "", [200, 403]),
        ("random/100000", "", [200, 403]),
        ("random/0", "", [400, 403]),
        ("encrypt/k", r#"{"plaintext":""}"#, [200, 403]),
        ("decrypt/k", "{", [400, 400]),
        ("../x", "", [307, 307]),
    ] {
        for (token, status) in ["root", "nobody"].into_iter().zip(statuses) {
            let request = Request::builder().method("POST").uri(format!("/v1/transit/{path}"));
            let request = request.header("X-Vault-Token", token).body(Body::from(body)).unwrap();
            let answer = runtime.block_on(handle(State(service.clone()), request));
            let kept = answer.headers().get(CACHE_CONTROL).map(|value| value.as_bytes().to_vec());
            assert_eq!((answer.status().as_u16(), kept), (status, Some(b"no-store".to_vec())), "{path}");
        }
    }
}

/// What a server says of a key is logged without the key's name, unless the configuration says that keys are
/// named; the client hears it as it is.
#[test]
fn a_servers_words_are_logged_without_the_key() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    for (log_keys, prefix) in [(false, ""), (true, ""), (false, "app-"), (true, "app-")] {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let servers = Arc::new(Memory::default());
        let name = format!("{prefix}k");
        let why = "party 2 says: the files of key a-k, a_k, ak, k do not belong together: destroy k";
        let why = &why.replace(" k", &format!(" {name}")).replace(&format!("{name}ey"), "key");
        servers.fail(Some(BackendTrouble::Down(Some(2), why.into())));
        let service = service_with_prefix(prefix, servers, log_keys, writer);
        for (method, path) in [("GET", "keys/k"), ("POST", "encrypt/k"), ("POST", "datakey/wrapped/k")] {
            let request = Request::builder().method(method).uri(format!("/v1/transit/{path}"));
            let request = request.header("X-Vault-Token", "root").body(Body::from(r#"{"plaintext":""}"#));
            let answer = runtime.block_on(handle(State(service.clone()), request.unwrap()));
            assert_eq!(answer.status(), 503);
            let told = runtime.block_on(axum::body::to_bytes(answer.into_body(), 9999)).unwrap();
            assert!(String::from_utf8_lossy(&told).contains(why.as_str()), "{path}");
        }
        service.log.flush(Duration::from_secs(20));
        drop(service);
        let mut log = String::new();
        reader.read_to_string(&mut log).unwrap();
        let hidden = || why.replace(&format!(" {name}"), " KEY").replace("KEYey", "key");
        let noted = if log_keys { why.clone() } else { hidden() };
        assert_eq!(log.matches(&noted).count(), 3, "{log}");
    }
}

/// The head of the next answer, whose body is read over.
fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).unwrap() == 0 {
            break;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).unwrap();
    head
}

const INIT: &[u8] = b"GET /v1/sys/init HTTP/1.1\r\nHost: x\r\n";

#[test]
fn a_body_that_nobody_expects_is_no_next_request() {
    let bench = Bench::new();
    let mut stream = bench.connect();
    for method in ["GET", "DELETE", "LIST", "FOO"] {
        let head_of_it =
            format!("{method} /v1/transit/keys/x HTTP/1.1\r\nHost: x\r\nX-Vault-Token: root\r\n");
        let body = vec![b'x'; 60_000];
        stream.write_all(head_of_it.as_bytes()).unwrap();
        stream.write_all(b"Content-Length: 60000\r\n\r\n").unwrap();
        stream.write_all(&body).unwrap();
        let first = head(&mut stream);
        assert!(!first.contains("Connection: close"), "{method} {first}");
        stream.write_all(&[INIT, b"\r\n"].concat()).unwrap();
        assert!(head(&mut stream).starts_with("HTTP/1.1 200"), "{method}");
    }
    stream.write_all(&[INIT, b"Content-Length: 100000\r\n\r\n"].concat()).unwrap();
    let answer = head(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("Connection: close"), "{answer}");
}

#[test]
fn strangers_have_little_memory_in_chunks_too() {
    let bench = Bench::new();
    let post = b"POST /v1/transit/encrypt/k HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n";
    let mut stream = bench.connect();
    stream.write_all(&[&post[..], b"\r\n11000\r\n", &[b' '; 0x11000]].concat()).unwrap();
    let answer = head(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("Connection: close"), "{answer}");
    // the same from somebody who is known is read
    let mut stream = bench.connect();
    let body = [&[b' '; 0x10ffe][..], b"{}"].concat();
    let known = [&post[..], b"X-Vault-Token: root\r\n\r\n11000\r\n", &body, b"\r\n0\r\n\r\n"].concat();
    stream.write_all(&known).unwrap();
    assert!(head(&mut stream).starts_with("HTTP/1.1 400"));
    // what is announced is refused before it comes, for want of a token
    let mut stream = bench.connect();
    let announced = b"POST /v1/transit/encrypt/k HTTP/1.1\r\nHost: x\r\nContent-Length: 69632\r\n\r\n";
    stream.write_all(announced).unwrap();
    let answer = head(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("Connection: close"), "{answer}");
    // a short one is read, so that another request may follow
    let mut stream = bench.connect();
    let short = b"POST /v1/transit/encrypt/k HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
    stream.write_all(short).unwrap();
    let answer = head(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 403") && !answer.contains("Connection: close"), "{answer}");
    let mut stream = bench.connect();
    stream.write_all(&[&post[..], b"\r\n20\r\n"].concat()).unwrap();
    stream.write_all(b"{\"a\":[0,0,0,0,0,0,0,0,0,0,0,0]} \r\n0\r\n\r\n").unwrap();
    assert!(head(&mut stream).starts_with("HTTP/1.1 403"));
    drop(stream);
    assert!(bench.is_whole());
}

/// A token is presented in either header: an empty one is none.
#[test]
fn an_empty_token_is_none() {
    let [own, bearer] = ["own", "Bearer other"].map(HeaderValue::from_static);
    let empty = HeaderValue::from_static("");
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, bearer);
    for (given, expected) in [(None, "other"), (Some(empty), "other"), (Some(own), "own")] {
        given.into_iter().for_each(|given| drop(headers.insert("x-vault-token", given)));
        assert_eq!(*token(&headers).unwrap(), expected);
    }
}

/// An answer has all of its headers.
#[test]
fn all_headers_are_sent() {
    let named = ["Retry-After", "X-Vault-Namespace"];
    let answer = named.iter().fold(ApiAnswer::busy(), |answer, name| answer.with_header(name, "1".into()));
    let sent = response(answer, None);
    assert!(named.iter().all(|name| sent.headers().get(*name).is_some_and(|value| value == "1")));
}

/// Answers that nobody reads take no more than the budget, and others are told so.
#[test]
fn unread_answers_count() {
    let bench = Bench::new();
    let all = budget_of(LONGEST) / body::units(2 * (128 << 10));
    let mut streams: Vec<TcpStream> = (0..3).map(|_| bench.connect()).collect();
    let held = Arc::clone(&bench.service.memory);
    let rest = u32::try_from(budget_of(LONGEST) - 100).unwrap();
    let rest = held.try_acquire_many(rest).unwrap();
    assert!(all > 3);
    let ask = |bytes: usize| {
        let body = format!("{{\"bytes\":{bytes},\"format\":\"hex\"}}");
        let length = body.len();
        format!(
            "POST /v1/transit/random HTTP/1.1\r\nHost: x\r\nX-Vault-Token: root\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    };
    for (stream, (bytes, status)) in streams.iter_mut().zip([(131_071, 429), (20_000, 200), (100, 200)]) {
        stream.write_all(ask(bytes).as_bytes()).unwrap();
        let answer = head(stream);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{bytes} {answer}");
    }
    drop((rest, streams));
    assert!(bench.is_whole());
}

#[test]
fn a_gateway_that_stops_refuses_who_comes_later() {
    let bench = Bench::new();
    // a request under way keeps it
    let mut stream = bench.connect();
    let post =
        b"POST /v1/transit/random HTTP/1.1\r\nHost: x\r\nX-Vault-Token: root\r\nContent-Length: 2\r\n\r\n{";
    stream.write_all(post).unwrap();
    // it is under way when its body has a share of the budget
    assert!(soon(|| bench.service.memory.available_permits() < budget_of(LONGEST)));
    bench.stop.send(true).unwrap();
    let refused = soon(|| TcpStream::connect(bench.address).is_err());
    assert!(refused && !bench.serves.is_finished());
    stream.write_all(b"}").unwrap();
    assert!(head(&mut stream).starts_with("HTTP/1.1 200"));
    bench.runtime.block_on(bench.serves).unwrap();
}

/// The socket of a gateway that is gone is taken over; one that is served, and what is no socket, are not.
#[test]
fn a_path_that_is_taken_is_left_alone() {
    let bench = Bench::new();
    let _within = bench.runtime.enter();
    let folder = tempfile::tempdir().unwrap();
    let (file, socket) = (folder.path().join("file"), folder.path().join("socket"));
    std::fs::write(&file, "text").unwrap();
    let why = bind(&Listen::Socket(file.clone())).err().unwrap();
    assert!(why.contains("is no socket"), "{why}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "text");
    let served = bind(&Listen::Socket(socket.clone())).unwrap();
    let why = bind(&Listen::Socket(socket.clone())).err().unwrap();
    assert!(why.contains("another process serves the socket"), "{why}");
    // the first is reached still
    assert!(std::os::unix::net::UnixStream::connect(&socket).is_ok());
    drop(served);
    assert!(bind(&Listen::Socket(socket)).is_ok());
    let why = bind(&Listen::Address(bench.address)).err().unwrap();
    assert!(why.contains("choose another port"), "{why}");
}

/// Many half heads take little each, and leave a place for others.
#[test]
fn half_heads_are_short() {
    let bench = Bench::new();
    let long = [INIT, b"X-A: ", &[b'a'; 17 << 10]].concat();
    let mut stream = bench.connect();
    stream.write_all(&long).unwrap();
    assert!(head(&mut stream).starts_with("HTTP/1.1 431"));
    let mut streams: Vec<TcpStream> = (0..300).map(|_| bench.connect()).collect();
    streams.iter_mut().for_each(|stream| stream.write_all(INIT).unwrap());
    let mut stream = bench.connect();
    stream.write_all(b"GET /v1/sys/health HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    assert!(head(&mut stream).starts_with("HTTP/1.1 200"));
}

/// Answers are not to be kept, but for what is said of something that is no request.
#[test]
fn answers_are_not_to_be_kept() {
    let (json, text) = (Some("application/json"), Some("text/plain"));
    for (status, content_type, says) in [
        (200, json, true),
        (400, json, true),
        (404, text, true),
        (503, None, true),
        (400, text, false),
        (400, None, false),
    ] {
        let answer = ApiAnswer { content_type, ..ApiAnswer::empty(status) };
        let response = response(answer, None);
        for header in [CACHE_CONTROL, STRICT_TRANSPORT_SECURITY] {
            assert_eq!(response.headers().contains_key(&header), says, "{status} {content_type:?}");
        }
    }
}

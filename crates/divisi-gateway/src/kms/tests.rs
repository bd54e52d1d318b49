//! The face, called by a client of gRPC at a unix socket, over servers that are a table in memory.

mod hostile;

use super::generated::client::KeyManagementServiceClient;
use super::generated::{DecryptRequest, EncryptRequest, StatusRequest, StatusResponse};
use super::seal::LONGEST_PLAINTEXT;
use super::{KmsFace, KmsParts, fresh};
use crate::backend::{Backend, BackendTrouble, KeyKind, Memory};
use crate::config::Listen;
use crate::http::bind;
use crate::log::GatewayLog;
use crate::turns::ServerTurns;
use divisi_net::Machine;
use divisi_node::KeyName;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::{Code, Status};

const PLAINTEXT: &[u8] = b"a key of the cluster";
const UID: &str = "31f37c47-9c6b-4ac5-b6c9-5c0a5b1d0c2e";

/// A connection as tonic's client wants it.
#[derive(Clone)]
struct Wire(SendRequest<Body>);

impl Service<Request<Body>> for Wire {
    type Response = Response<hyper::body::Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, hyper::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A face at a socket.
struct Setting {
    servers: Arc<Memory>,
    key: KeyName,
    turns: ServerTurns,
    log: GatewayLog,
    lines: Lines,
    path: PathBuf,
    /// The places of requests under way.
    requests: Arc<tokio::sync::Semaphore>,
    stop: watch::Sender<bool>,
    serves: JoinHandle<()>,
    _folder: TempDir,
}

impl Setting {
    /// With a key of this type.
    fn start(kind: Option<KeyKind>) -> Setting {
        let servers = Arc::new(Memory::default());
        let key: KeyName = "cluster-etcd".parse().unwrap();
        kind.iter().for_each(|kind| drop(servers.make(&key, *kind).unwrap()));
        Setting::over(servers, key)
    }

    fn over(servers: Arc<Memory>, key: KeyName) -> Setting {
        Setting::logging(servers, key, false)
    }

    fn logging(servers: Arc<Memory>, key: KeyName, log_keys: bool) -> Setting {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kms.sock");
        let socket = bind(&Listen::Socket(path.clone())).unwrap();
        let (lines, turns) = (Lines::default(), ServerTurns::new(1, 1));
        let log = GatewayLog::new(lines.clone()).unwrap();
        let face = KmsFace::new(KmsParts {
            servers: Arc::clone(&servers) as Arc<dyn Backend>,
            key: key.clone(),
            turns: turns.clone(),
            log: log.clone(),
            log_keys,
            world: Arc::new(Machine),
        });
        let ((stop, stopped), requests) = (watch::channel(false), Arc::clone(&face.requests));
        let serves = tokio::spawn(async move { face.serve(socket, stopped).await });
        Setting { servers, key, turns, log, lines, path, requests, stop, serves, _folder: folder }
    }

    async fn wire(&self) -> Wire {
        let stream = UnixStream::connect(&self.path).await.unwrap();
        let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Wire(sender)
    }

    async fn client(&self) -> Client {
        let origin = "http://localhost".parse().unwrap();
        Client(KeyManagementServiceClient::with_origin(self.wire().await, origin))
    }

    /// The log, once it has this text.
    async fn logged(&self, text: &str) -> String {
        let begun = Instant::now();
        loop {
            self.log.flush(Duration::from_secs(5));
            let log = String::from_utf8(self.lines.0.lock().unwrap().clone()).unwrap();
            if log.contains(text) {
                return log;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "no {text:?} in {log}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn fail(&self, trouble: Option<BackendTrouble>) {
        self.servers.fail(trouble);
    }
}

struct Client(KeyManagementServiceClient<Wire>);

impl Client {
    async fn status(&mut self) -> StatusResponse {
        self.0.status(StatusRequest {}).await.unwrap().into_inner()
    }

    /// Ask until the plugin says that it is so.
    async fn until(&mut self, healthz: &str) -> StatusResponse {
        let begun = Instant::now();
        loop {
            let status = self.status().await;
            // sentences about what is missing have these two letters, too
            let is_so =
                if healthz == "ok" { status.healthz == "ok" } else { status.healthz.contains(healthz) };
            if is_so {
                return status;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{}", status.healthz);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn encrypt(&mut self, plaintext: &[u8]) -> Result<(Vec<u8>, String), Status> {
        let request = EncryptRequest { plaintext: plaintext.to_vec(), uid: UID.into() };
        let answer = self.0.encrypt(request).await?.into_inner();
        assert!(answer.annotations.is_empty());
        Ok((answer.ciphertext, answer.key_id))
    }

    async fn decrypt(&mut self, ciphertext: &[u8], key_id: &str) -> Result<Vec<u8>, Status> {
        let (ciphertext, key_id) = (ciphertext.to_vec(), key_id.to_owned());
        let request = DecryptRequest { ciphertext, uid: UID.into(), key_id, ..DecryptRequest::default() };
        self.0.decrypt(request).await.map(|answer| answer.into_inner().plaintext.clone())
    }
}

fn refused<T>(done: Result<T, Status>, code: Code, what: &str) {
    let status = done.err().unwrap();
    assert_eq!(status.code(), code, "{status}");
    assert!(status.message().contains(what), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_encrypts_it_decrypts_and_the_log_has_neither_text_nor_name() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    let mode = std::fs::metadata(&setting.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut client = setting.client().await;
    let status = client.until("ok").await;
    assert_eq!((status.version.as_str(), status.key_id.len()), ("v2", 32));
    let (ciphertext, key_id) = client.encrypt(PLAINTEXT).await.unwrap();
    assert_eq!((ciphertext.len(), &key_id), (PLAINTEXT.len() + 29, &status.key_id));
    assert_eq!(client.decrypt(&ciphertext, &key_id).await.unwrap(), PLAINTEXT);
    // the next gateway over the same servers opens it, too
    let later = Setting::over(Arc::clone(&setting.servers), setting.key.clone());
    assert_eq!(later.client().await.decrypt(&ciphertext, &key_id).await.unwrap(), PLAINTEXT);
    setting.log.flush(Duration::from_secs(5));
    let log = String::from_utf8(setting.lines.0.lock().unwrap().clone()).unwrap();
    for route in ["kms/status", "kms/encrypt", "kms/decrypt"] {
        assert!(log.contains(&format!("\"route\":\"{route}\",\"status\":200")), "{log}");
    }
    for route in ["kms/encrypt", "kms/decrypt"] {
        let mut lines = log.lines().filter(|line| line.contains(route));
        assert!(lines.all(|line| line.contains(UID)), "{log}");
    }
    assert!(!log.contains("a key of") && !log.contains("cluster-etcd"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_id_that_is_not_the_present_keys_is_refused() {
    let setting = Setting::start(Some(KeyKind::Aes128));
    let mut client = setting.client().await;
    let (ciphertext, old) = client.encrypt(PLAINTEXT).await.unwrap();
    for wrong in ["", "old", &old.to_uppercase(), &"é".repeat(16), &"0".repeat(4000)] {
        refused(client.decrypt(&ciphertext, wrong).await, Code::InvalidArgument, "none of this plugin's");
    }
    let other = "0".repeat(32);
    refused(client.decrypt(&ciphertext, &other).await, Code::FailedPrecondition, &other);
    setting.servers.replace(&setting.key);
    refused(client.decrypt(&ciphertext, &old).await, Code::FailedPrecondition, &old);
    let (ciphertext, new) = client.encrypt(PLAINTEXT).await.unwrap();
    assert_ne!(old, new);
    assert_eq!(client.status().await.key_id, new);
    assert_eq!(client.decrypt(&ciphertext, &new).await.unwrap(), PLAINTEXT);
    // whoever encrypts while the key changes gets the id under which it opens
    setting.servers.replace(&setting.key);
    let (ciphertext, newest) = client.encrypt(PLAINTEXT).await.unwrap();
    assert_ne!(new, newest);
    assert_eq!(client.decrypt(&ciphertext, &newest).await.unwrap(), PLAINTEXT);
}

/// What is encrypted while the key is replaced has the id of the key that opens it, or is not given out,
/// whichever byte of the id is another one.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_given_out_is_opened_by_the_key_of_its_id() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    let mut client = setting.client().await;
    for replaced in [0, 1, 2, 3, 0].into_iter().chain([1; 16]) {
        setting.servers.replace_after(replaced);
        let sealed = client.encrypt(PLAINTEXT).await;
        setting.servers.replace_after(0);
        match sealed {
            Ok((ciphertext, id)) => assert_eq!(client.decrypt(&ciphertext, &id).await.unwrap(), PLAINTEXT),
            Err(status) => assert!(replaced > 1 && status.message().contains("was replaced"), "{status}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_its_own_is_refused() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    let mut client = setting.client().await;
    let (ciphertext, key_id) = client.encrypt(PLAINTEXT).await.unwrap();
    for place in 0..ciphertext.len() {
        let mut forged = ciphertext.clone();
        forged[place] ^= 1;
        let what = if place == 0 { "not of this plugin" } else { "not authentic" };
        refused(client.decrypt(&forged, &key_id).await, Code::InvalidArgument, what);
    }
    for length in 0..ciphertext.len() {
        let cut = client.decrypt(&ciphertext[..length], &key_id).await;
        assert_eq!(cut.unwrap_err().code(), Code::InvalidArgument);
    }
    // a ciphertext that the same key made for Transit
    let sealed = setting.servers.encrypt(&setting.key, b"", PLAINTEXT).unwrap();
    let sealed = [&[1], &sealed[..]].concat();
    refused(client.decrypt(&sealed, &key_id).await, Code::InvalidArgument, "not authentic");
    assert_eq!(setting.servers.decrypt(&setting.key, b"", &ciphertext[1..]), Err(BackendTrouble::Forged));
    assert_eq!(client.decrypt(&ciphertext, &key_id).await.unwrap(), PLAINTEXT);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_refused_and_the_connection_goes_on() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    let mut client = setting.client().await;
    let longest = vec![7; LONGEST_PLAINTEXT];
    let (ciphertext, key_id) = client.encrypt(&longest).await.unwrap();
    assert_eq!(ciphertext.len(), 1024);
    assert_eq!(client.decrypt(&ciphertext, &key_id).await.unwrap(), longest);
    refused(client.encrypt(&vec![7; LONGEST_PLAINTEXT + 1]).await, Code::InvalidArgument, "at most 995");
    refused(client.decrypt(&vec![1; 1025], &key_id).await, Code::InvalidArgument, "1025 bytes");
    let huge = client.encrypt(&vec![7; 1 << 20]).await;
    assert_eq!(huge.unwrap_err().code(), Code::OutOfRange);
    assert_eq!(client.decrypt(&ciphertext, &key_id).await.unwrap(), longest);
    let (empty, key_id) = client.encrypt(b"").await.unwrap();
    assert_eq!(client.decrypt(&empty, &key_id).await.unwrap(), b"");
}

/// The log has the name of the key for whoever wants it there, but not where nobody asked for the key.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_may_have_the_name() {
    let servers = Arc::new(Memory::default());
    let key: KeyName = "cluster-etcd".parse().unwrap();
    servers.make(&key, KeyKind::Aes256).unwrap();
    let setting = Setting::logging(servers, key, true);
    setting.client().await.until("ok").await;
    for call in ["Other", "Encrypt", "Other"] {
        let request = hyper::Request::post(format!("http://localhost/v2.KeyManagementService/{call}"));
        setting.wire().await.call(request.body(Body::empty()).unwrap()).await.unwrap();
    }
    let log = setting.logged("kms/encrypt").await;
    for line in log.lines().filter(|line| line.contains("\"route\":")) {
        assert_eq!(line.contains("cluster-etcd"), !line.contains("\"none\""), "{line}");
    }
    assert!(log.contains("\"none\""), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_server_is_named_and_waited_for() {
    let servers = Arc::new(Memory::default());
    let key: KeyName = "cluster-etcd".parse().unwrap();
    servers.make(&key, KeyKind::Aes256).unwrap();
    let down = || Some(BackendTrouble::Down(Some(2), "it does not answer".into()));
    servers.fail(down());
    let setting = Setting::over(servers, key);
    let mut client = setting.client().await;
    let status = client.status().await;
    assert_eq!((status.key_id.as_str(), status.healthz.contains("party 2 (it does not")), ("", true));
    refused(client.encrypt(PLAINTEXT).await, Code::Unavailable, "party 2: it does not answer");
    setting.fail(None);
    let key_id = client.until("ok").await.key_id;
    let (ciphertext, named) = client.encrypt(PLAINTEXT).await.unwrap();
    assert_eq!(key_id, named);
    // the client is told what a server says of the key, and the log has it without the name
    setting.fail(Some(BackendTrouble::Down(Some(2), "party 2 lost key cluster-etcd: give it back".into())));
    refused(client.decrypt(&ciphertext, &key_id).await, Code::Unavailable, "party 2 lost key cluster-etcd:");
    setting.fail(down());
    refused(client.decrypt(&ciphertext, &key_id).await, Code::Unavailable, "party 2");
    let status = client.status().await;
    assert!(status.key_id == key_id && status.healthz.contains("party 2"), "{}", status.healthz);
    setting.fail(None);
    assert_eq!(client.decrypt(&ciphertext, &key_id).await.unwrap(), PLAINTEXT);
    setting.log.flush(Duration::from_secs(5));
    let log = String::from_utf8(setting.lines.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("\"status\":503") && log.contains("party 2: it does not answer"), "{log}");
    assert!(log.contains("party 2 lost key KEY: give it back") && !log.contains("cluster-etcd"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_not_there_or_does_not_encrypt_is_no_key() {
    for (kind, what) in [(None, "no key cluster-etcd"), (Some(KeyKind::Hmac), "of type hmac")] {
        let setting = Setting::start(kind);
        let mut client = setting.client().await;
        assert_eq!(client.until(what).await.key_id, "");
        refused(client.encrypt(PLAINTEXT).await, Code::FailedPrecondition, what);
        assert_eq!(client.until(what).await.key_id, "");
        refused(client.decrypt(&[1; 40], &"0".repeat(32)).await, Code::FailedPrecondition, what);
        // what is found is known before it is in the log
        let log = setting.logged("for KMS v2").await;
        assert!(!log.contains("cluster-etcd"), "{log}");
        // what names itself in no way gets an id that no other has
        let log = setting.logged("kms/decrypt").await;
        let ids: Vec<&str> = log.lines().filter(|line| line.contains("kms/status")).collect();
        let ids: Vec<_> =
            ids.iter().filter_map(|line| line.split("\"id\":\"").nth(1)?.split('"').next()).collect();
        assert!(ids.len() > 1 && ids.iter().enumerate().all(|(i, id)| !ids[..i].contains(id)), "{log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_and_a_turn_that_does_not_come_are_said() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    let mut client = setting.client().await;
    client.until("ok").await;
    let turn = setting.turns.take().await.unwrap();
    refused(client.encrypt(PLAINTEXT).await, Code::ResourceExhausted, "try again");
    // nobody hears of a turn that does not come, but who says how long to wait
    drop(turn);
    let turn = setting.turns.take_own().await.unwrap();
    let asked = |plaintext: &[u8]| {
        let mut request =
            tonic::Request::new(EncryptRequest { plaintext: plaintext.to_vec(), uid: UID.into() });
        request.set_timeout(Duration::from_millis(300));
        request
    };
    refused(client.0.encrypt(asked(PLAINTEXT)).await, Code::DeadlineExceeded, "no turn");
    setting.fail(Some(BackendTrouble::Down(Some(3), "it is stopped".into())));
    refused(client.0.encrypt(asked(PLAINTEXT)).await, Code::Unavailable, "party 3 (it is stopped)");
    setting.fail(None);
    // the state needs no turn
    assert_eq!(client.status().await.healthz, "ok");
    drop(turn);
    assert!(client.encrypt(PLAINTEXT).await.is_ok());
}

/// What is found is said once, and again when something else was said between.
#[test]
fn a_line_is_said_when_it_changes() {
    let mut said = None;
    let lines = ["one", "one", "", "one", "one more", "one", ""].map(|line| {
        fresh(&mut said, Some(line.to_owned()).filter(|line| !line.is_empty())).unwrap_or_default()
    });
    assert_eq!(lines, ["one", "", "", "", "one more", "one", ""]);
}

//! Certificates in files. Those here are self-signed, of one key that is used nowhere else.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tempfile::TempDir;

const KEY: &str = include_str!("tests/key.pem");
/// From 2020 to 2119.
const VALID: &str = include_str!("tests/valid.pem");
/// From 2000 to 2001.
const EXPIRED: &str = include_str!("tests/expired.pem");
/// From 2110 to 2119.
const LATER: &str = include_str!("tests/later.pem");

struct Setting {
    files: TlsFiles,
    _folder: TempDir,
    /// By how many seconds the next change is later.
    changes: u64,
}

impl Setting {
    fn with(certificate: &str) -> Setting {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let files = TlsFiles { certificate: path("certificate.pem"), key: path("key.pem") };
        std::fs::write(&files.certificate, certificate).unwrap();
        std::fs::write(&files.key, KEY).unwrap();
        std::fs::set_permissions(&files.key, std::fs::Permissions::from_mode(0o600)).unwrap();
        Setting { files, _folder: folder, changes: 0 }
    }

    /// Give a file another content, at a later time.
    fn change(&mut self, path: &Path, content: &str) {
        std::fs::write(path, content).unwrap();
        self.changes += 2;
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(self.changes)).unwrap();
    }

    fn error(&self) -> String {
        Certificates::load(&self.files).map(drop).unwrap_err()
    }
}

#[test]
fn a_certificate_is_valid_today() {
    let valid = Setting::with(VALID);
    assert!(Certificates::load(&valid.files).is_ok());
    // and whoever offers HTTP/2 first is told that there is none
    assert_eq!(config(&valid.files).unwrap().alpn_protocols, [b"http/1.1"]);
    for (certificate, what) in [
        (EXPIRED, "has expired: give one that is valid"),
        (LATER, "is not valid yet: check the clock"),
        ("", "has no certificate in PEM in it"),
    ] {
        let error = Setting::with(certificate).error();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn a_private_key_that_others_can_read_is_refused() {
    let setting = Setting::with(VALID);
    std::fs::set_permissions(&setting.files.key, std::fs::Permissions::from_mode(0o640)).unwrap();
    let error = setting.error();
    assert!(error.contains("can be read by others (mode 0640): run `chmod 600"), "{error}");
}

#[test]
fn a_certificate_is_read_again_when_it_changes() {
    let mut setting = Setting::with(VALID);
    let TlsFiles { certificate, key } = setting.files.clone();
    let certificates = Certificates::load(&setting.files).unwrap();
    let first = certificates.current();
    assert_eq!(certificates.renew(), Ok(false));
    setting.change(&certificate, EXPIRED);
    assert!(certificates.renew().unwrap_err().contains("has expired"));
    assert!(Arc::ptr_eq(&first, &certificates.current()), "the old one stays in use");
    assert_eq!(certificates.renew(), Ok(false), "it is said once");
    setting.change(&certificate, VALID);
    assert_eq!(certificates.renew(), Ok(true));
    let second = certificates.current();
    assert!(!Arc::ptr_eq(&first, &second));
    setting.change(&key, KEY);
    assert_eq!(certificates.renew(), Ok(true));
    assert!(!Arc::ptr_eq(&second, &certificates.current()));
    // also if one is older than the other, as what was restored is, or older than before
    for path in [&certificate, &key, &certificate] {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(file.metadata().unwrap().modified().unwrap() - Duration::from_secs(100)).unwrap();
        assert_eq!((certificates.renew(), certificates.renew()), (Ok(true), Ok(false)), "{path:?}");
    }
}

/// Whoever says nothing loses its place: without a handshake or with half a one, with half a head, and after
/// its last answer.
#[test]
fn whoever_says_nothing_is_sent_away() {
    use crate::config::Listen;
    use crate::http::{Socket, bind, serve};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let certificates = Arc::new(Certificates::load(&Setting::with(VALID).files).unwrap());
    // its clock runs ahead while all wait
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().start_paused(true).build().unwrap().block_on(async {
        for (has_tls, said, seconds) in [
            (true, "", 10),
            (true, "\x16\x03\x01", 10),
            (false, "", 30),
            (false, "GET /v1/x HTTP/1.1\r\nHost", 30),
            (false, "GET /v1/x HTTP/1.1\r\nHost: x\r\n\r\n", 30),
        ] {
            let socket = bind(&Listen::Address("127.0.0.1:0".parse().unwrap())).unwrap();
            let Socket::Tcp(listener) = &socket else { panic!("an address") };
            let address = listener.local_addr().unwrap();
            let (stop, stopped) = tokio::sync::watch::channel(false);
            let silent = async {
                let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
                stream.write_all(said.as_bytes()).await.unwrap();
                let begun = tokio::time::Instant::now();
                let mut answer = Vec::new();
                let ends = stream.read_to_end(&mut answer);
                // a connection that is reset has ended, too
                let ended = tokio::time::timeout(Duration::from_secs(600), ends).await.is_ok();
                stop.send(true).unwrap();
                (ended, begun.elapsed().as_secs())
            };
            let (router, tls) = (axum::Router::new(), has_tls.then_some(&certificates));
            let ((ended, lasted), ()) = tokio::join!(silent, serve(socket, &router, tls, stopped));
            assert!(ended && (seconds..=2 * seconds).contains(&lasted), "{said:?} {lasted}");
        }
    });
}

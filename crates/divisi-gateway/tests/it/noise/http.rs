//! Random requests to the HTTP face.

use super::{NOISY, Noise, bear, until_closed};
use crate::stay::Stay;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

const METHODS: [&str; 9] = ["GET", "POST", "PUT", "LIST", "DELETE", "HEAD", "PATCH", "OPTIONS", "FOO"];
const PATHS: [&str; 14] = [
    "/v1/transit/encrypt/k",
    "/v1/transit/decrypt/k",
    "/v1/transit/rewrap/k",
    "/v1/transit/datakey/plaintext/k",
    "/v1/transit/hmac/k",
    "/v1/transit/verify/k",
    "/v1/transit/hash/sha2-512",
    "/v1/transit/random/100",
    "/v1/transit/keys/k",
    "/v1/transit/keys?list=true&after=a",
    "/v1/sys/mounts/transit",
    "/v1/sys/capabilities-self",
    "/v1/auth/token/lookup-self",
    "/v1/sys/health?standbyok=true&sealedcode=299",
];
const BODIES: [&str; 8] = [
    "{\"plaintext\":\"YWJj\",\"associated_data\":\"YQ==\",\"key_version\":1}",
    "{\"ciphertext\":\"vault:v1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"context\":\"\"}",
    "{\"batch_input\":[{\"plaintext\":\"YQ==\",\"reference\":\"a\"},{\"plaintext\":\"%\"}]}",
    "{\"input\":\"YQ==\",\"hmac\":\"vault:v1:AAAA\",\"algorithm\":\"sha2-256\"}",
    "{\"type\":\"hmac\",\"key_size\":32,\"exportable\":false,\"auto_rotate_period\":\"1h\"}",
    "{\"bytes\":100,\"format\":\"hex\",\"paths\":[\"transit/encrypt/k\"]}",
    "plaintext=YWJj&key_version=1",
    "[[[[[[[[1e999,\"\\ud800\",null,true]]]]]]]]",
];

/// Send this; the answer is no fault of the gateway. Whether the servers answered in time.
fn sent(stay: &Stay, bytes: &[u8]) -> bool {
    let mut stream = TcpStream::connect(stay.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    // it may be closed already
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let answer = until_closed(&mut stream);
    let answer = String::from_utf8_lossy(&answer);
    let shown = || String::from_utf8_lossy(bytes).into_owned();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1."), "{} {answer}", shown());
    let status = answer.split(' ').nth(1).unwrap_or_default();
    assert_ne!(status, "500", "{} {answer}", shown());
    status != "503"
}

/// A request with a length that is right, too short, too long or far too long, or in chunks.
fn request(noise: &mut Noise) -> Vec<u8> {
    let (method, path) = (noise.one(&METHODS), noise.one(&PATHS));
    let body = noise.one(&BODIES);
    let body = noise.changed(body);
    let path = if noise.below(3) == 0 { noise.changed(path) } else { path.as_bytes().to_vec() };
    let token = if noise.below(8) == 0 { "wrong" } else { NOISY };
    let mut bytes =
        [method.as_bytes(), b" ", &path, b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"].concat();
    bytes.extend(format!("X-Vault-Token: {token}\r\n").bytes());
    if noise.below(4) == 0 {
        let kind = noise.one(&["application/json", "application/x-www-form-urlencoded", "a/b; c", ";"]);
        bytes.extend(format!("Content-Type: {kind}\r\n").bytes());
    }
    let right = body.len();
    match noise.below(8) {
        0 => bytes.extend(format!("Content-Length: {}\r\n\r\n", right / 2).bytes()),
        1 => bytes.extend(format!("Content-Length: {}\r\n\r\n", right + 7).bytes()),
        2 => bytes.extend(format!("Content-Length: {}\r\n\r\n", noise.next()).bytes()),
        3 => {
            bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
            let length = if noise.below(2) == 0 { right } else { noise.below(1 << 40) };
            bytes.extend(format!("{length:x}\r\n").bytes());
            bytes.extend(&body);
            bytes.extend(b"\r\n0\r\n\r\n");
            return bytes;
        }
        _ => bytes.extend(format!("Content-Length: {right}\r\n\r\n").bytes()),
    }
    bytes.extend(body);
    bytes
}

#[test]
fn random_requests_of_http_are_answered() {
    bear(
        divisi_fuzz::repetitions(2500, 100_000),
        |_, _| {},
        |stay, _, number, noise| match number % 8 {
            0 => {
                let length = noise.below(300);
                sent(stay, &noise.bytes(length))
            }
            1 => {
                let whole = String::from_utf8_lossy(&request(noise)).into_owned();
                sent(stay, &noise.changed(&whole))
            }
            _ => sent(stay, &request(noise)),
        },
    );
}

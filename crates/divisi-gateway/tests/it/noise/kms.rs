//! Random requests to the face of KMS v2.

use super::{Noise, bear, until_closed};
use crate::kms::Kms;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::time::Duration;
use tonic::Code;

/// The beginning of HTTP/2, with settings that change nothing.
const BEGIN: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// The servers' time.
const LATE: [Code; 2] = [Code::Unavailable, Code::DeadlineExceeded];
/// `Encrypt` is rare: it is the servers' work.
const CALLS: [&str; 8] = ["Status", "Decrypt", "Other", "Decrypt", "Status", "Decrypt", "Encrypt", "Decrypt"];

/// A frame with a head that is right but for its meaning.
fn frame(noise: &mut Noise) -> Vec<u8> {
    let body = match noise.below(8) {
        0 => noise.bytes(5000),
        _ => {
            let length = noise.below(40);
            noise.bytes(length)
        }
    };
    // one in eight announces what does not come
    let length = if noise.below(8) == 0 { 0x00ff_ffff } else { body.len() as u32 };
    let [_, a, b, c] = length.to_be_bytes();
    let (kind, flags, stream) = (noise.below(11) as u8, noise.next() as u8, noise.below(5) as u8);
    [&[a, b, c, kind, flags, 0, 0, 0, stream], &body[..]].concat()
}

/// A field of a message: a number, bytes, or something else, of any tag.
fn field(noise: &mut Noise) -> Vec<u8> {
    let (tag, kind) = (1 + noise.below(6) as u8, noise.below(6) as u8);
    let length = noise.below(100);
    let mut bytes = vec![tag << 3 | kind];
    if noise.below(10) == 0 {
        bytes.extend([0xff; 9]);
    } else {
        bytes.push(length as u8);
    }
    bytes.extend(noise.bytes(length));
    bytes
}

/// The bytes of a call: a message behind its length, or what is none.
fn call(noise: &mut Noise) -> Vec<u8> {
    let mut message: Vec<u8> = (0..noise.below(6)).flat_map(|_| field(noise)).collect();
    if noise.below(4) == 0 {
        let length = noise.below(300);
        message = noise.bytes(length);
    }
    let (compressed, length) = match noise.below(12) {
        0 => (1, message.len() as u32),
        1 => (0, u32::MAX),
        2 => (noise.next() as u8, noise.next() as u32),
        _ => (0, message.len() as u32),
    };
    [&[compressed][..], &length.to_be_bytes(), &message].concat()
}

fn raw(kms: &Kms, bytes: &[u8]) {
    let mut stream = UnixStream::connect(kms.path()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    // it may be closed already
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    until_closed(&mut stream);
}

#[test]
fn random_calls_of_kms_are_answered() {
    let known = Mutex::new((Vec::new(), String::new()));
    let prepare = |_: &_, kms: &Kms| *known.lock().unwrap() = kms.encrypt(b"a text").unwrap();
    bear(divisi_fuzz::repetitions(1500, 100_000), prepare, |_, kms, number, noise| match number % 64 {
        0..8 => {
            let length = noise.below(300);
            raw(kms, &noise.bytes(length));
            true
        }
        8..16 => {
            let frames: Vec<u8> = (0..1 + noise.below(6)).flat_map(|_| frame(noise)).collect();
            raw(kms, &[BEGIN, &frames].concat());
            true
        }
        16 => {
            let (mut ciphertext, mut key_id) = known.lock().unwrap().clone();
            if noise.below(2) == 0 {
                let at = noise.below(ciphertext.len());
                ciphertext[at] ^= 1 << noise.below(8);
            } else {
                key_id = String::from_utf8_lossy(&noise.changed(&key_id)).into_owned();
            }
            let ended = kms.decrypt(&ciphertext, &key_id);
            let code = ended.as_ref().map_or_else(tonic::Status::code, |_| Code::Ok);
            let is_right = ended.is_ok_and(|text| text == b"a text");
            let mistakes = [Code::InvalidArgument, Code::FailedPrecondition];
            assert!(is_right || mistakes.contains(&code) || LATE.contains(&code), "{code:?}");
            !LATE.contains(&code)
        }
        _ => {
            let code = kms.raw_call(CALLS[noise.below(CALLS.len())], call(noise));
            let mistakes = [
                Code::Ok,
                Code::InvalidArgument,
                Code::FailedPrecondition,
                Code::OutOfRange,
                Code::Unimplemented,
            ];
            assert!(mistakes.contains(&code) || LATE.contains(&code), "{number}: {code:?}");
            !LATE.contains(&code)
        }
    });
}

//! A request leaves nothing of its plaintext in the memory of the gateway, in whichever form it came.

use super::*;
use crate::remains::{copies, in_own_process};
use zeroize::Zeroizing;

/// The bytes that a copy has at least: more than a block of a hash, whose buffers are not looked for.
const LENGTH: usize = 256;
/// The bytes of the plaintext; its base64 has no character that a form escapes.
const BYTES: usize = 48 * 50;

/// The byte of the plaintext at this place: a small letter.
fn plain(at: usize) -> u8 {
    b'a' + (at % 48 * 7 % 26) as u8
}

/// The character of its base64.
fn base64(at: usize) -> u8 {
    let byte = |nth: usize| u32::from(plain(at / 4 * 3 + nth));
    let group = byte(0) << 16 | byte(1) << 8 | byte(2);
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    DIGITS[(group >> (18 - 6 * (at % 4))) as usize % 64]
}

/// The digit of a number at this place, which is base64, too.
fn digit(at: usize) -> u8 {
    b'1' + (at % 64 * 5 % 9) as u8
}

/// A body with a secret in it, which is wiped.
fn body(before: &str, secret: fn(usize) -> u8, length: usize, after: &str) -> Zeroizing<String> {
    let mut body = Zeroizing::new(String::with_capacity(before.len() + length + after.len()));
    body.push_str(before);
    (0..length).for_each(|at| body.push(char::from(secret(at))));
    body.push_str(after);
    body
}

#[test]
fn nothing_of_a_plaintext_is_left_in_memory() {
    in_own_process("api::tests::remains::nothing_of_a_plaintext_is_left_in_memory", || {
        let bench = Bench::new();
        bench.ask("POST", "transit/keys/k", "");
        bench.ask("POST", "transit/keys/h", r#"{"type":"hmac","key_size":32}"#);
        let form = "application/x-www-form-urlencoded";
        let ask = |path: &str, kind: &str, body: &str| {
            let head = RequestHead {
                method: "POST".into(),
                path: format!("/v1/transit/{path}"),
                token: Some("root".to_owned().into()),
                content_type: Some(kind.into()),
                ..RequestHead::default()
            };
            bench.gateway.answer(&head, &bench.gateway.plan(&head), body.as_bytes(), "id").0
        };
        let left = || copies(LENGTH, &[plain, base64, digit]);
        let whole = BYTES / 3 * 4;
        let asked: [(&str, &str, &str, &str); 10] = [
            ("encrypt/k", "", r#"{"plaintext":""#, r#""}"#),
            ("encrypt/k", "", r#"{"batch_input":[{"plaintext":""#, r#""}]}"#),
            ("encrypt/k", "", r#"{"plaintext":""#, r#"%"}"#),
            ("encrypt/k", "", r#"{"plaintext":""#, r#"","key_version":9}"#),
            ("encrypt/none-", form, "plaintext=", ""),
            ("encrypt/k", form, "plaintext=", ""),
            ("encrypt/k", form, "plaintext=", "%3D&x=%"),
            ("hmac/h", "", r#"{"input":""#, r#""}"#),
            ("hmac/h", form, "input=", ""),
            ("hash/sha3-512", "", r#"{"input":""#, r#""}"#),
        ];
        for (path, kind, before, after) in asked {
            let body = body(before, base64, whole, after);
            assert!(left() > 0, "what is there is found");
            drop(ask(path, kind, &body));
            drop(body);
            assert_eq!(left(), 0, "{path} {before}");
        }
        // a number is a text, too
        let number = body(r#"{"plaintext":"#, digit, 300, "}");
        assert_eq!(ask("encrypt/k", "", &number).status, 200);
        drop(number);
        assert_eq!(left(), 0, "a number");
        // and what is opened leaves nothing but the answer
        let text = body(r#"{"plaintext":""#, base64, whole, r#""}"#);
        let sealed = read(&ask("encrypt/k", "", &text).body.unwrap()).unwrap();
        drop(text);
        let one = format!("{{\"ciphertext\":\"{}\"}}", data(&sealed, "ciphertext"));
        let many = format!("{{\"batch_input\":[{one},{one},{one}]}}");
        for path in ["decrypt/k", "rewrap/k"] {
            for body in [&one, &many] {
                let answer = ask(path, "", body);
                assert_eq!(answer.status, 200);
                assert_eq!(left() > 0, path == "decrypt/k");
                drop(answer);
                assert_eq!(left(), 0, "{path}");
            }
        }
    });
}

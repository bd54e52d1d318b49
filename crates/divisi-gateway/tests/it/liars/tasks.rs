//! All that a gateway can be asked to do, and what is right about each answer.

use crate::kms::Kms;
use crate::stay::Stay;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tonic::{Code, Status};

const TEXT: &str = "YSB0ZXh0IG9mIHNvbWUgbGVuZ3Ro";
/// By then the gateway has asked each server how it is.
const SOON: Duration = Duration::from_millis(600);
/// How long the servers may take until they answer when nobody lies any more.
const BACK: Duration = Duration::from_secs(60);
const SECRET: &[u8] = b"a key of the cluster";

/// How a request ended.
#[derive(Debug)]
pub enum End {
    /// With a right answer.
    Right,
    /// With ciphertexts, each of a text: whether they are right is seen when nobody lies any more.
    Sealed(Vec<(Value, Value)>),
    /// With a ciphertext of KMS, and its `key_id`.
    SealedByKms(Vec<u8>, String),
    /// The servers could not answer, with this sentence.
    Down(String),
    /// As it must not end.
    Wrong(#[expect(dead_code, reason = "a test that fails prints it")] String),
}

/// What was made while nobody lied.
pub struct Made {
    sealed: Value,
    batch: Value,
    tag: Value,
    entry: Value,
    keys: Value,
    kms: (Vec<u8>, String),
    /// For names that are new.
    names: AtomicUsize,
}

/// The gateway by both its faces.
pub struct Faces<'s> {
    pub stay: &'s Stay,
    pub kms: Kms,
}

/// A task: its name, and what does it.
pub type Task = (&'static str, fn(&Faces<'_>, &Made) -> End);

/// The name of the one that asks the servers nothing, but tells what they said of themselves.
pub const HEALTH: &str = "how it is";

/// All tasks.
pub const TASKS: [Task; 19] = [
    ("encrypt", encrypt),
    ("decrypt", decrypt),
    ("decrypt what is forged", decrypt_forged),
    ("encrypt a batch", encrypt_batch),
    ("decrypt a batch", decrypt_batch),
    ("hmac", hmac),
    ("verify", |faces, made| verify(faces, &made.tag, true)),
    ("verify what is forged", |faces, made| verify(faces, &forged(&made.tag), false)),
    ("hash", hash),
    ("random", random),
    ("datakey", datakey),
    ("rewrap", rewrap),
    ("make a key", make),
    ("read a key", read),
    ("read a key that is not there", read_absent),
    ("list keys", list),
    ("kms encrypt", kms_encrypt),
    ("kms decrypt", kms_decrypt),
    (HEALTH, health),
];

impl Made {
    pub fn make(faces: &Faces<'_>) -> Made {
        let ask = |path: &str, body: Value| {
            let (status, answer) = faces.stay.json("POST", path, &body);
            assert_eq!(status, 200, "{path}: {answer}");
            answer["data"].clone()
        };
        ask("/v1/transit/keys/k", json!({}));
        ask("/v1/transit/keys/h", json!({"type": "hmac", "key_size": 32}));
        let sealed = ask("/v1/transit/encrypt/k", json!({"plaintext": TEXT}))["ciphertext"].clone();
        Made {
            batch: json!([{"ciphertext": sealed}, {"ciphertext": sealed}]),
            tag: ask("/v1/transit/hmac/h", json!({"input": TEXT}))["hmac"].clone(),
            entry: faces.stay.json("GET", "/v1/transit/keys/k", &Value::Null).1["data"].clone(),
            keys: faces.stay.json("GET", "/v1/transit/keys?list=true", &Value::Null).1["data"].clone(),
            kms: faces.kms.encrypt(SECRET).unwrap(),
            sealed,
            names: AtomicUsize::new(0),
        }
    }
}

/// The answer, which is asked for again while the servers cannot give it.
fn at_last<A>(ask: impl Fn() -> A, is_down: impl Fn(&A) -> bool) -> A {
    let begun = Instant::now();
    loop {
        let answer = ask();
        if !is_down(&answer) || begun.elapsed() > BACK {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl End {
    /// What was encrypted is right if it is what the servers open, now that nobody lies.
    pub fn settle(self, faces: &Faces<'_>) -> End {
        let right = |right| if right { End::Right } else { End::Wrong("it opens to something else".into()) };
        match self {
            End::Sealed(sealed) => right(sealed.iter().all(|(ciphertext, text)| {
                let body = json!({"ciphertext": ciphertext});
                let open = || faces.stay.json("POST", "/v1/transit/decrypt/k", &body);
                at_last(open, |(status, _)| *status == 503).1["data"]["plaintext"] == *text
            })),
            End::SealedByKms(ciphertext, key_id) => {
                let open = || faces.kms.decrypt(&ciphertext, &key_id);
                let opened = at_last(open, |opened| opened.as_ref().is_err_and(is_unavailable));
                right(opened.is_ok_and(|plaintext| plaintext == SECRET))
            }
            end => end,
        }
    }
}

/// The same text with another last byte.
fn forged(text: &Value) -> Value {
    let text = text.as_str().unwrap();
    let (label, digits) = text.rsplit_once(':').unwrap();
    let mut bytes = data_encoding::BASE64.decode(digits.as_bytes()).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    Value::from(format!("{label}:{}", data_encoding::BASE64.encode(&bytes)))
}

/// Ask for an answer of which `right` says whether it is right.
fn asked(
    faces: &Faces<'_>,
    method: &str,
    path: &str,
    body: &Value,
    right: impl FnOnce(u16, &Value) -> bool,
) -> End {
    answered(faces, method, path, body, |status, data| right(status, data).then_some(End::Right))
}

/// The same, of which `end` says how it ended, if it is no wrong one.
fn answered(
    faces: &Faces<'_>,
    method: &str,
    path: &str,
    body: &Value,
    end: impl FnOnce(u16, &Value) -> Option<End>,
) -> End {
    match faces.stay.json(method, path, body) {
        (503, answer) => End::Down(answer["errors"][0].as_str().unwrap_or_default().to_owned()),
        (status, answer) => {
            end(status, &answer["data"]).unwrap_or_else(|| End::Wrong(format!("{status} {answer}")))
        }
    }
}

/// An answer with a ciphertext of this text.
fn sealed(status: u16, data: &Value, text: &Value) -> Option<End> {
    let is_one = status == 200 && data["ciphertext"].is_string() && text.is_string();
    is_one.then(|| End::Sealed(vec![(data["ciphertext"].clone(), text.clone())]))
}

fn encrypt(faces: &Faces<'_>, _: &Made) -> End {
    answered(faces, "POST", "/v1/transit/encrypt/k", &json!({"plaintext": TEXT}), |status, data| {
        sealed(status, data, &TEXT.into())
    })
}

fn decrypt(faces: &Faces<'_>, made: &Made) -> End {
    let body = json!({"ciphertext": made.sealed});
    asked(faces, "POST", "/v1/transit/decrypt/k", &body, |status, data| {
        status == 200 && data["plaintext"] == TEXT
    })
}

fn decrypt_forged(faces: &Faces<'_>, made: &Made) -> End {
    let body = json!({"ciphertext": forged(&made.sealed)});
    asked(faces, "POST", "/v1/transit/decrypt/k", &body, |status, _| status == 400)
}

fn encrypt_batch(faces: &Faces<'_>, _: &Made) -> End {
    let body = json!({"batch_input": [{"plaintext": TEXT}, {"plaintext": TEXT}]});
    answered(faces, "POST", "/v1/transit/encrypt/k", &body, |status, data| {
        let items = data["batch_results"].as_array()?;
        let whole = status == 200 && items.len() == 2 && items.iter().all(|item| item["error"].is_null());
        let pairs = items.iter().map(|item| (item["ciphertext"].clone(), Value::from(TEXT)));
        whole.then(|| End::Sealed(pairs.collect()))
    })
}

fn decrypt_batch(faces: &Faces<'_>, made: &Made) -> End {
    let body = json!({"batch_input": made.batch});
    asked(faces, "POST", "/v1/transit/decrypt/k", &body, |status, data| {
        let items = data["batch_results"].as_array().cloned().unwrap_or_default();
        status == 200 && items.len() == 2 && items.iter().all(|item| item["plaintext"] == TEXT)
    })
}

fn hmac(faces: &Faces<'_>, made: &Made) -> End {
    asked(faces, "POST", "/v1/transit/hmac/h", &json!({"input": TEXT}), |status, data| {
        status == 200 && data["hmac"] == made.tag
    })
}

fn verify(faces: &Faces<'_>, tag: &Value, valid: bool) -> End {
    let body = json!({"input": TEXT, "hmac": tag});
    asked(faces, "POST", "/v1/transit/verify/h", &body, |status, data| {
        status == 200 && data["valid"] == valid
    })
}

fn hash(faces: &Faces<'_>, _: &Made) -> End {
    let sum = Sha256::digest(data_encoding::BASE64.decode(TEXT.as_bytes()).unwrap());
    let sum = data_encoding::HEXLOWER.encode(&sum);
    asked(faces, "POST", "/v1/transit/hash", &json!({"input": TEXT}), |status, data| {
        status == 200 && data["sum"] == sum
    })
}

fn random(faces: &Faces<'_>, _: &Made) -> End {
    asked(faces, "POST", "/v1/transit/random/32", &json!({"format": "hex"}), |status, data| {
        status == 200 && data["random_bytes"].as_str().is_some_and(|bytes| bytes.len() == 64)
    })
}

fn datakey(faces: &Faces<'_>, _: &Made) -> End {
    answered(faces, "POST", "/v1/transit/datakey/plaintext/k", &json!({}), |status, data| {
        sealed(status, data, &data["plaintext"])
    })
}

fn rewrap(faces: &Faces<'_>, made: &Made) -> End {
    let body = json!({"ciphertext": made.sealed});
    answered(faces, "POST", "/v1/transit/rewrap/k", &body, |status, data| sealed(status, data, &TEXT.into()))
}

fn make(faces: &Faces<'_>, made: &Made) -> End {
    let name = format!("new-{}", made.names.fetch_add(1, Ordering::SeqCst));
    asked(faces, "POST", &format!("/v1/transit/keys/{name}"), &json!({}), |status, data| {
        let is_new = data["keys"]["1"].as_u64() >= made.entry["keys"]["1"].as_u64();
        status == 200 && data["name"] == name && data["type"] == "aes256-gcm96" && is_new
    })
}

fn read(faces: &Faces<'_>, made: &Made) -> End {
    asked(faces, "GET", "/v1/transit/keys/k", &Value::Null, |status, data| {
        status == 200 && *data == made.entry
    })
}

fn read_absent(faces: &Faces<'_>, _: &Made) -> End {
    asked(faces, "GET", "/v1/transit/keys/none", &Value::Null, |status, _| status == 404)
}

/// Keys that were made since are listed, too.
fn list(faces: &Faces<'_>, made: &Made) -> End {
    asked(faces, "GET", "/v1/transit/keys?list=true", &Value::Null, |status, data| {
        let old = data["keys"].as_array().into_iter().flatten();
        let old = old.filter(|name| !name.as_str().unwrap_or_default().starts_with("new-"));
        status == 200 && old.eq(made.keys["keys"].as_array().unwrap())
    })
}

fn is_unavailable(status: &Status) -> bool {
    status.code() == Code::Unavailable
}

fn by_kms<T>(done: Result<T, Status>, end: impl FnOnce(T) -> Option<End>) -> End {
    match done {
        Err(status) if is_unavailable(&status) => End::Down(status.message().to_owned()),
        Err(status) => End::Wrong(status.to_string()),
        Ok(answer) => end(answer).unwrap_or_else(|| End::Wrong("another answer".into())),
    }
}

fn kms_encrypt(faces: &Faces<'_>, made: &Made) -> End {
    by_kms(faces.kms.encrypt(SECRET), |(ciphertext, key_id)| {
        (key_id == made.kms.1).then_some(End::SealedByKms(ciphertext, key_id))
    })
}

fn kms_decrypt(faces: &Faces<'_>, made: &Made) -> End {
    by_kms(faces.kms.decrypt(&made.kms.0, &made.kms.1), |plaintext| {
        (plaintext == SECRET).then_some(End::Right)
    })
}

/// The health is a hint: a server that lies about itself is taken at its word, after a while.
fn health(faces: &Faces<'_>, made: &Made) -> End {
    std::thread::sleep(SOON);
    let (healthz, key_id) = faces.kms.status();
    let (status, answer) = faces.stay.json("GET", "/v1/sys/health", &Value::Null);
    match status {
        _ if key_id != made.kms.1 || healthz.is_empty() => End::Wrong(format!("{healthz} {key_id}")),
        200 => End::Right,
        503 => End::Down(answer["missing"].to_string()),
        _ => End::Wrong(format!("{status} {answer}")),
    }
}

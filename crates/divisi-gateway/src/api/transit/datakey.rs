//! `datakey`: a fresh key of the client, encrypted with a key of the servers. The gateway draws it, so that
//! it passes through the gateway's memory also where only the ciphertext is answered.

use super::super::answer::{ApiAnswer, Reply};
use super::super::call::ApiCall;
use super::formats;
use crate::backend::VERSION;
use crate::base64::{decode, encode};
use crate::json::Json;
use zeroize::Zeroizing;

pub fn datakey(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let fields = call.fields();
    let context = fields.text("context")?.unwrap_or_default();
    let aad = fields.text("associated_data")?.unwrap_or_default();
    let version = fields.int("key_version")?.unwrap_or(0);
    let bits = fields.int("bits")?.unwrap_or(256);
    let shows = match call.param("plaintext") {
        "plaintext" => true,
        "wrapped" => false,
        _ => return Err(ApiAnswer::mistake("Invalid path, must be 'plaintext' or 'wrapped'")),
    };
    let checked = || {
        decode(&context).map_err(|_| ApiAnswer::mistake("failed to base64-decode context"))?;
        let aad = formats::associated(&aad).map_err(|why| ApiAnswer::wrapped(400, &why))?;
        let bytes = match bits {
            128 => 16,
            256 => 32,
            512 => 64,
            _ => return Err(ApiAnswer::mistake("invalid bit length")),
        };
        formats::version(version).map_err(ApiAnswer::mistake)?;
        Ok((aad, bytes))
    };
    let (aad, bytes) = match checked() {
        Ok(both) => both,
        Err(answer) => {
            call.key_that(formats::encrypts)?;
            return Err(answer);
        }
    };
    let mut plaintext = Zeroizing::new(vec![0; bytes]);
    call.entropy(&mut plaintext);
    let sealed = call.with_key(formats::encrypts, |name| call.servers().encrypt(name, &aad, &plaintext))?;
    let mut members = vec![
        ("ciphertext".to_owned(), Json::text(formats::join(&sealed))),
        ("key_version".to_owned(), Json::number(VERSION)),
    ];
    if shows {
        members.push(("plaintext".to_owned(), Json::String(encode(&plaintext))));
    }
    Ok(Reply::data(Json::Object(members)))
}

//! `decrypt`: one ciphertext or a batch.

use super::super::answer::{ApiAnswer, Reply};
use super::super::call::{ABSENT, ApiCall};
use super::encrypt::{Wrong, finish, verdict};
use super::{batch, formats, lanes};
use crate::base64::{decode, encode};
use crate::json::Json;
use zeroize::Zeroizing;

const TEXTS: [&str; 4] = ["ciphertext", "context", "associated_data", "reference"];
pub(super) const MISSING: &str = "missing ciphertext to decrypt";

/// What is to be decrypted.
pub(super) struct Item {
    pub aad: Zeroizing<Vec<u8>>,
    pub sealed: Vec<u8>,
}

/// An item of checked parameters.
pub(super) fn item(ciphertext: &str, context: &str, aad: &str) -> Result<Item, Wrong> {
    if ciphertext.is_empty() {
        return Err(Wrong::Plain(MISSING.into()));
    }
    decode(context).map_err(|e| Wrong::Plain(e.to_string()))?;
    let aad = formats::associated(aad).map_err(Wrong::Wrapped)?;
    let sealed = formats::sealed(ciphertext).map_err(Wrong::Plain)?;
    Ok(Item { aad, sealed })
}

/// The members of a plaintext's result.
fn members(plaintext: &[u8]) -> Vec<(&'static str, Json)> {
    vec![("plaintext", Json::String(encode(plaintext)))]
}

pub fn decrypt(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let fields = call.fields();
    let Some(items) = batch::items(&fields, "")? else {
        let ciphertext = fields.text("ciphertext")?.unwrap_or_default();
        let context = fields.text("context")?.unwrap_or_default();
        let aad = fields.text("associated_data")?.unwrap_or_default();
        if ciphertext.is_empty() {
            return Err(ApiAnswer::mistake(MISSING));
        }
        let item = match item(&ciphertext, &context, &aad) {
            Ok(item) => item,
            Err(wrong) => {
                call.key_that(formats::decrypts)?;
                return Err(wrong.answer());
            }
        };
        // a long text need not be there twice while the servers work
        drop(ciphertext);
        let work = |name: &divisi_node::KeyName| call.servers().decrypt(name, &item.aad, &item.sealed);
        let plaintext = call.with_key(formats::decrypts, work)?;
        return Ok(Reply::of([("plaintext", Json::String(encode(&plaintext)))]));
    };
    let code = fields.int("partial_failure_response_code")?;
    batch::check(items, "ciphertext", MISSING, &TEXTS, &[])?;
    batch::contexts(items)?;
    call.key_that(formats::decrypts)?;
    let name = call.key_name().map_err(|_| ApiAnswer::mistake(ABSENT))?;
    let opened = lanes::each(call.servers(), items, |given| {
        let text = |name| batch::member(given, name);
        match item(&text("ciphertext"), &text("context"), &text("associated_data")) {
            Err(wrong) => Ok(Err(wrong.text())),
            Ok(item) => verdict(call.servers().decrypt(&name, &item.aad, &item.sealed).map(|p| members(&p))),
        }
    });
    finish(items, opened, code, &[("plaintext", Json::text(""))])
}

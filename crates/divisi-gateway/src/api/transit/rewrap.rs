//! `rewrap`: a ciphertext is decrypted and encrypted again. Its plaintext passes through the gateway's
//! memory, and nothing else. Associated data is taken, which the recorded server ignores.

use super::super::answer::{ApiAnswer, Reply};
use super::super::call::{ABSENT, ApiCall};
use super::decrypt::{self, MISSING};
use super::encrypt::{Wrong, members, verdict};
use super::{batch, formats, lanes};
use crate::backend::BackendTrouble;
use crate::json::Json;
use divisi_node::KeyName;

pub fn rewrap(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let fields = call.fields();
    let again = |name: &KeyName, item: &decrypt::Item| -> Result<Vec<u8>, BackendTrouble> {
        let plaintext = call.servers().decrypt(name, &item.aad, &item.sealed)?;
        call.servers().encrypt(name, &item.aad, &plaintext)
    };
    let Some(items) = batch::items(&fields, "'' ")? else {
        let ciphertext = fields.text("ciphertext")?.unwrap_or_default();
        let context = fields.text("context")?.unwrap_or_default();
        let aad = fields.text("associated_data")?.unwrap_or_default();
        let version = fields.int("key_version")?.unwrap_or(0);
        if ciphertext.is_empty() {
            return Err(ApiAnswer::mistake(MISSING));
        }
        let checked = decrypt::item(&ciphertext, &context, &aad).map_err(Wrong::answer);
        let checked = checked.and_then(|item| match formats::version(version) {
            Ok(()) => Ok(item),
            Err(why) => Err(ApiAnswer::mistake(why)),
        });
        let item = match checked {
            Ok(item) => item,
            Err(answer) => {
                call.key_that(formats::decrypts)?;
                return Err(answer);
            }
        };
        let sealed = call.with_key(formats::decrypts, |name| again(name, &item))?;
        let members = members(&sealed).into_iter().map(|(name, value)| (name.to_owned(), value));
        return Ok(Reply::data(Json::Object(members.collect())));
    };
    call.key_that(formats::decrypts)?;
    let name = call.key_name().map_err(|_| ApiAnswer::mistake(ABSENT))?;
    let done = lanes::each(call.servers(), items, |given| {
        let text = |name| batch::member(given, name);
        let item = decrypt::item(&text("ciphertext"), &text("context"), &text("associated_data"));
        let version = batch::number(given, "key_version").and_then(formats::version);
        match (item.map_err(Wrong::text), version) {
            (Err(why), _) | (_, Err(why)) => Ok(Err(why)),
            (Ok(item), Ok(())) => verdict(again(&name, &item).map(|sealed| members(&sealed))),
        }
    });
    // a batch of this route is 200, whatever becomes of its items
    let outcomes = done.into_iter().collect::<Result<Vec<_>, BackendTrouble>>()?;
    Ok(batch::results(items, outcomes, &[]))
}

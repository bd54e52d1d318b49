//! `verify`: the servers compare a tag with that of a message.

use super::super::answer::{ApiAnswer, Reply};
use super::super::call::{ABSENT, ApiCall};
use super::encrypt::verdict;
use super::hmac::algorithm;
use super::{batch, formats, lanes};
use crate::backend::{BackendTrouble, MAC};
use crate::json::{ECHO, Json, cut};
use divisi_node::KeyName;
use zeroize::Zeroizing;

/// What is to be compared.
struct Item {
    tag: Zeroizing<Vec<u8>>,
    message: Zeroizing<Vec<u8>>,
}

fn item(tag: &str, input: &str) -> Result<Item, String> {
    let message = formats::input(input)?;
    Ok(Item { tag: formats::tag(tag)?, message })
}

/// A tag of another length is wrong, and no server need be asked.
fn compare(call: &ApiCall<'_>, name: &KeyName, item: &Item) -> Result<bool, BackendTrouble> {
    if item.tag.len() == MAC { call.servers().verify(name, &item.tag, &item.message) } else { Ok(false) }
}

fn no_signature(call: &ApiCall<'_>) -> ApiAnswer {
    match call.key_that(|_| Ok(())) {
        Ok(key) => ApiAnswer::mistake(format!("key type {} does not support verification", key.kind.name())),
        Err(answer) => answer,
    }
}

pub fn verify(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let fields = call.fields();
    let input = fields.text("input")?.unwrap_or_default();
    let tag = fields.text("hmac")?;
    let signature = fields.text("signature")?;
    let named = match fields.text("hash_algorithm")? {
        Some(named) => Some(named),
        None => fields.text("algorithm")?,
    };
    if let Some(items) = batch::items(&fields, "'' ")? {
        return of_batch(call, items, named);
    }
    if signature.is_some() {
        return Err(no_signature(call));
    }
    let Some(tag) = tag else {
        return Err(ApiAnswer::mistake("neither a 'signature' nor an 'hmac' were given to verify"));
    };
    let key = call.key_that(formats::authenticates)?;
    algorithm(call, named, unknown)?;
    let item = item(&tag, &input).map_err(ApiAnswer::mistake)?;
    let valid = compare(call, &key.name, &item)?;
    Ok(Reply::of([("valid", Json::Bool(valid))]))
}

fn unknown(name: &str) -> String {
    format!("invalid hash algorithm \"{}\"", cut(name, ECHO))
}

fn of_batch(
    call: &ApiCall<'_>,
    items: &[Json],
    named: Option<Zeroizing<String>>,
) -> Result<Reply, ApiAnswer> {
    let has = |name: &str| items.iter().filter(|item| item.get(name).is_some()).count();
    let (tags, signatures) = (has("hmac"), has("signature"));
    match (tags, signatures) {
        (0, 0) => return Err(ApiAnswer::mistake("no batch_input elements have 'signature' or 'hmac'")),
        (0, _) => return Err(no_signature(call)),
        (_, 0) if tags < items.len() => {
            return Err(ApiAnswer::mistake("some elements of batch_input are missing 'hmac'"));
        }
        (_, 0) => {}
        _ => {
            let why = "elements of batch_input must all provide 'signature' or all provide 'hmac'";
            return Err(ApiAnswer::mistake(why));
        }
    }
    call.key_that(formats::authenticates)?;
    algorithm(call, named, unknown)?;
    let name = call.key_name().map_err(|_| ApiAnswer::mistake(ABSENT))?;
    let done = lanes::each(call.servers(), items, |given| {
        if given.get("input").is_none() {
            return Ok(Err("missing input".into()));
        }
        match item(&batch::member(given, "hmac"), &batch::member(given, "input")) {
            Err(why) => Ok(Err(why)),
            Ok(item) => verdict(compare(call, &name, &item).map(|valid| {
                // a result that is false has no member, as upstream's has none
                if valid { vec![("valid", Json::Bool(true))] } else { Vec::new() }
            })),
        }
    });
    let outcomes = done.into_iter().collect::<Result<Vec<_>, BackendTrouble>>()?;
    Ok(batch::results(items, outcomes, &[]))
}

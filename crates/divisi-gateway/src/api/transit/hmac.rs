//! `hmac`: the servers' tag of a message, or of each message of a batch.

use super::super::answer::{ApiAnswer, Reply};
use super::super::call::{ABSENT, ApiCall};
use super::encrypt::verdict;
use super::{batch, formats, lanes};
use crate::backend::{BackendTrouble, VERSION};
use crate::json::Json;
use zeroize::Zeroizing;

/// The algorithms of upstream.
const ALGORITHMS: [&str; 10] = [
    "none", "sha1", "sha2-224", "sha2-256", "sha2-384", "sha2-512", "sha3-224", "sha3-256", "sha3-384",
    "sha3-512",
];

/// The algorithm that a request names, which must be sha2-256; `unknown` is the error for a name that
/// upstream does not know.
pub(super) fn algorithm(
    call: &ApiCall<'_>,
    given: Option<Zeroizing<String>>,
    unknown: fn(&str) -> String,
) -> Result<(), ApiAnswer> {
    let named = given.as_ref().map_or("sha2-256", |given| given.as_str());
    let name = if call.param("urlalgorithm").is_empty() { named } else { call.param("urlalgorithm") };
    match name {
        "sha2-256" => Ok(()),
        known if ALGORITHMS.contains(&known) => {
            Err(ApiAnswer::mistake(format!("algorithm {known} is not supported here: use sha2-256")))
        }
        other => Err(ApiAnswer::mistake(unknown(other))),
    }
}

/// The message of an item, or the text of its error.
fn message(text: Option<&str>) -> Result<Zeroizing<Vec<u8>>, String> {
    formats::input(text.ok_or("missing input for HMAC")?)
}

pub fn hmac(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let fields = call.fields();
    let input = fields.text("input")?;
    let named = fields.text("algorithm")?;
    let version = fields.int("key_version")?.unwrap_or(0);
    let items = batch::items(&fields, "'' ")?;
    call.key_that(formats::authenticates)?;
    match version {
        ..0 => return Err(ApiAnswer::mistake("key version does not exist (cannot be negative)")),
        0..=VERSION => {}
        _ => {
            let why = format!("key version does not exist; latest key version is {VERSION}");
            return Err(ApiAnswer::mistake(why));
        }
    }
    algorithm(call, named, |_| "unsupported algorithm '\\x00'".into())?;
    let Some(items) = items else {
        let message = message(input.as_ref().map(|text| text.as_str())).map_err(ApiAnswer::mistake)?;
        let tag = call.with_key(formats::authenticates, |name| call.servers().mac(name, &message))?;
        return Ok(Reply::of([("hmac", Json::text(formats::join(&tag)))]));
    };
    let name = call.key_name().map_err(|_| ApiAnswer::mistake(ABSENT))?;
    let done = lanes::each(call.servers(), items, |item| {
        let text = item.get("input").map(|_| batch::member(item, "input"));
        match message(text.as_ref().map(|text| text.as_str())) {
            Err(why) => Ok(Err(why)),
            Ok(message) => {
                let tag = call.servers().mac(&name, &message);
                verdict(tag.map(|tag| vec![("hmac", Json::text(formats::join(&tag)))]))
            }
        }
    });
    let outcomes = done.into_iter().collect::<Result<Vec<_>, BackendTrouble>>()?;
    Ok(batch::results(items, outcomes, &[]))
}

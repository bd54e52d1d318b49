//! `encrypt`: one text or a batch; a key that is not there is made if the mount and the token allow it.

use super::super::answer::{ApiAnswer, Reply};
use super::super::call::{ABSENT, ApiCall};
use super::super::fields::Fields;
use super::{batch, formats, keys, lanes};
use crate::backend::{BackendTrouble, VERSION};
use crate::base64::decode;
use crate::json::Json;
use crate::tokens::Permission;
use zeroize::Zeroizing;

/// The texts of an item, and what must be in it.
const TEXTS: [&str; 4] = ["plaintext", "context", "associated_data", "reference"];
const MISSING: &str = "missing plaintext to encrypt";

/// What is to be encrypted.
pub(super) struct Item {
    pub aad: Zeroizing<Vec<u8>>,
    pub plaintext: Zeroizing<Vec<u8>>,
}

/// An item of checked parameters.
fn item(plaintext: &str, context: &str, aad: &str, version: i64) -> Result<Item, Wrong> {
    // a key that is not derived uses no context, and yet it must be base64
    decode(context).map_err(|e| Wrong::Plain(e.to_string()))?;
    formats::version(version).map_err(Wrong::Plain)?;
    let plaintext = decode(plaintext).map_err(|e| Wrong::Plain(e.to_string()))?;
    let aad = formats::associated(aad).map_err(Wrong::Wrapped)?;
    Ok(Item { aad, plaintext })
}

/// What is wrong with an item, and in which form a single one says so.
pub(super) enum Wrong {
    Plain(String),
    Wrapped(String),
}

impl Wrong {
    pub fn text(self) -> String {
        let (Wrong::Plain(text) | Wrong::Wrapped(text)) = self;
        text
    }

    pub fn answer(self) -> ApiAnswer {
        match self {
            Wrong::Plain(text) => ApiAnswer::mistake(text),
            Wrong::Wrapped(text) => ApiAnswer::wrapped(400, &text),
        }
    }
}

/// The members of a ciphertext's result.
pub(super) fn members(sealed: &[u8]) -> Vec<(&'static str, Json)> {
    vec![("ciphertext", Json::text(formats::join(sealed))), ("key_version", Json::number(VERSION))]
}

pub fn encrypt(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let fields = Fields::unchecked(call.members);
    match batch::items(&fields, "")? {
        Some(items) => of_batch(call, &fields, items),
        None => of_one(call, &fields),
    }
}

fn of_one(call: &ApiCall<'_>, fields: &Fields<'_>) -> Result<Reply, ApiAnswer> {
    let plaintext = fields.text("plaintext")?.ok_or_else(|| ApiAnswer::mistake(MISSING))?;
    let context = fields.text("context")?.unwrap_or_default();
    let aad = fields.text("associated_data")?.unwrap_or_default();
    let version = fields.int("key_version")?.unwrap_or(0);
    let asked = New::asked(fields, !context.is_empty())?;
    let item = match item(&plaintext, &context, &aad, version) {
        Ok(item) => item,
        Err(wrong) => {
            ensure(call, &asked)?;
            return Err(wrong.answer());
        }
    };
    // a long text need not be there twice while the servers work
    drop(plaintext);
    let name = call.key_name().map_err(|_| ApiAnswer::mistake(ABSENT))?;
    let seal = || call.servers().encrypt(&name, &item.aad, &item.plaintext);
    let sealed = match seal() {
        Err(BackendTrouble::Refused(_)) => {
            // the key is not there, or of another type; or else the second refusal is the answer
            ensure(call, &asked)?;
            seal()?
        }
        other => other?,
    };
    Ok(Reply::of([
        ("ciphertext", Json::text(formats::join(&sealed))),
        ("key_version", Json::number(VERSION)),
    ]))
}

fn of_batch(call: &ApiCall<'_>, fields: &Fields<'_>, items: &[Json]) -> Result<Reply, ApiAnswer> {
    let code = fields.int("partial_failure_response_code")?;
    batch::check(items, "plaintext", MISSING, &TEXTS, &["key_version"])?;
    batch::contexts(items)?;
    let derived = items.first().is_some_and(|item| !batch::member(item, "context").is_empty());
    let asked = New::asked(fields, derived)?;
    ensure(call, &asked)?;
    let name = call.key_name().map_err(|_| ApiAnswer::mistake(ABSENT))?;
    let sealed = lanes::each(call.servers(), items, |given| {
        let text = |name| batch::member(given, name);
        let version = batch::number(given, "key_version").unwrap_or(0);
        match item(&text("plaintext"), &text("context"), &text("associated_data"), version) {
            Err(wrong) => Ok(Err(wrong.text())),
            Ok(item) => {
                verdict(call.servers().encrypt(&name, &item.aad, &item.plaintext).map(|s| members(&s)))
            }
        }
    });
    finish(items, sealed, code, &[])
}

/// A refusal of one item is its result; trouble of the servers is that of the whole batch.
pub(super) fn verdict<T>(done: Result<T, BackendTrouble>) -> Result<Result<T, String>, BackendTrouble> {
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(BackendTrouble::Down(party, why)) => Err(BackendTrouble::Down(party, why)),
        Err(other) => Ok(Err(other.to_string())),
    }
}

/// The answer to a batch of `encrypt` or `decrypt`.
pub(super) fn finish(
    items: &[Json],
    done: Vec<Result<batch::Outcome, BackendTrouble>>,
    code: Option<i64>,
    beside_error: &[(&str, Json)],
) -> Result<Reply, ApiAnswer> {
    let outcomes = done.into_iter().collect::<Result<Vec<_>, BackendTrouble>>()?;
    let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    let mut reply = batch::results(items, outcomes, beside_error);
    batch::set_status(&mut reply, code, failed, items.len());
    Ok(reply)
}

/// What a key is to be that `encrypt` makes.
struct New {
    kind: Zeroizing<String>,
    convergent: bool,
    derived: bool,
}

impl New {
    fn asked(fields: &Fields<'_>, derived: bool) -> Result<New, ApiAnswer> {
        let kind = fields.text("type")?.unwrap_or_else(|| Zeroizing::new("aes256-gcm96".into()));
        Ok(New { kind, convergent: fields.flag("convergent_encryption")?, derived })
    }
}

/// Check that the key is there and encrypts, or make it.
fn ensure(call: &ApiCall<'_>, new: &New) -> Result<(), ApiAnswer> {
    if let Some(key) = call.key()? {
        return formats::encrypts(key.kind).map_err(ApiAnswer::mistake);
    }
    if !call.mount.upsert {
        return Err(ApiAnswer::mistake(ABSENT));
    }
    if !call.permits(Permission::Create) {
        return Err(ApiAnswer::forbidden());
    }
    if new.convergent && !new.derived {
        let why = "convergent encryption requires derivation to be enabled, so context is required";
        return Err(ApiAnswer::mistake(why));
    }
    let kind = keys::kind_to_encrypt(&new.kind)?;
    if new.derived {
        return Err(keys::no_derivation());
    }
    keys::make_named(call, kind).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a batch, what is wrong with an item is that item's result; trouble of a server is nobody's mistake.
    #[test]
    fn trouble_of_a_server_is_no_result_of_an_item() {
        let down = BackendTrouble::Down(Some(2), "it is away".into());
        assert_eq!(verdict::<()>(Err(down.clone())), Err(down));
        assert_eq!(verdict(Ok(1)), Ok(Ok(1)));
        for (trouble, why) in [
            (BackendTrouble::Forged, "cipher: message authentication failed"),
            (BackendTrouble::Refused("no".into()), "no"),
            (BackendTrouble::Misuse("no".into()), "no"),
        ] {
            assert_eq!(verdict::<()>(Err(trouble)), Ok(Err(why.into())));
        }
    }
}

//! Keys: made, read and listed. Nothing of a key changes, and the gateway destroys none.

use super::super::answer::{ApiAnswer, Reply};
use super::super::call::ApiCall;
use super::super::path::is_key_name;
use crate::backend::{BackendTrouble, Key, KeyKind, MAC};
use crate::base64::decode;
use crate::json::{ECHO, Json, cut, object};
use crate::tokens::Permission;

const HOUR: i64 = 3600;

/// The types of the recorded server that three servers do not hold.
const OTHERS: [&str; 10] = [
    "chacha20-poly1305",
    "xchacha20-poly1305",
    "ed25519",
    "ecdsa-p256",
    "ecdsa-p384",
    "ecdsa-p521",
    "rsa-2048",
    "rsa-3072",
    "rsa-4096",
    "managed_key",
];
/// Those with which `encrypt` cannot make a key, as it says itself.
const ELLIPTIC: [&str; 3] = ["ecdsa-p256", "ecdsa-p384", "ecdsa-p521"];

fn not_held(kind: &str) -> ApiAnswer {
    ApiAnswer::mistake(format!(
        "keys of type {kind} cannot be held by three servers: choose aes256-gcm96, aes128-gcm96 or hmac"
    ))
}

fn unknown(kind: &str) -> ApiAnswer {
    ApiAnswer::mistake(format!("unknown key type {}", cut(kind, ECHO)))
}

/// The answer to a request for a derived key.
pub(super) fn no_derivation() -> ApiAnswer {
    ApiAnswer::mistake("keys that derive others by a context are not supported: use a key for each context")
}

fn kind(name: &str) -> Result<KeyKind, ApiAnswer> {
    match name {
        "aes256-gcm96" => Ok(KeyKind::Aes256),
        "aes128-gcm96" => Ok(KeyKind::Aes128),
        "hmac" => Ok(KeyKind::Hmac),
        // upstream does not know it either unless it is configured
        other if other != "managed_key" && OTHERS.contains(&other) => Err(not_held(other)),
        other => Err(unknown(other)),
    }
}

/// The type of a key that `encrypt` makes.
pub(super) fn kind_to_encrypt(name: &str) -> Result<KeyKind, ApiAnswer> {
    match kind(name) {
        Ok(kind) if kind.encrypts() => Ok(kind),
        Err(_) if ELLIPTIC.contains(&name) => {
            Err(ApiAnswer::mistake(format!("key type {name} not supported for this operation")))
        }
        Err(answer) if name.starts_with("chacha20") || name.starts_with("xchacha20") => Err(answer),
        _ => Err(unknown(name)),
    }
}

/// A key as it is read.
fn entry(call: &ApiCall<'_>, key: &Key) -> Reply {
    let encrypts = Json::Bool(key.kind.encrypts());
    let no = || Json::Bool(false);
    let of_kind = if key.kind.encrypts() {
        ("keys", object([("1", Json::number(key.made))]))
    } else {
        ("key_size", Json::number(MAC as u64))
    };
    Reply::of([
        ("allow_plaintext_backup", no()),
        ("auto_rotate_period", Json::number(0)),
        ("deletion_allowed", no()),
        ("derived", no()),
        ("exportable", no()),
        ("imported_key", no()),
        of_kind,
        ("latest_version", Json::number(1)),
        ("min_available_version", Json::number(0)),
        ("min_decryption_version", Json::number(1)),
        ("min_encryption_version", Json::number(0)),
        ("name", Json::text(call.param("name"))),
        ("soft_deleted", no()),
        ("supports_decryption", encrypts.clone()),
        ("supports_derivation", encrypts.clone()),
        ("supports_encryption", encrypts),
        ("supports_signing", no()),
        ("type", Json::text(key.kind.name())),
    ])
}

/// Make the key of the path; if somebody makes it at the same time, that one.
pub(super) fn make_named(call: &ApiCall<'_>, kind: KeyKind) -> Result<Key, ApiAnswer> {
    let name = call.key_name().map_err(ApiAnswer::mistake)?;
    match call.servers().make(&name, kind) {
        Ok(key) => Ok(key),
        Err(BackendTrouble::Refused(why)) => call.key()?.ok_or_else(|| ApiAnswer::mistake(why)),
        Err(other) => Err(other.into()),
    }
}

/// Make a key; one that is there already is read, whatever type was asked for.
pub fn make(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let fields = call.fields();
    let name = fields.text("type")?;
    let name = name.as_ref().map_or("aes256-gcm96", |name| name.as_str());
    let derived = fields.flag("derived")?;
    let convergent = fields.flag("convergent_encryption")?;
    let (exportable, backup) = (fields.flag("exportable")?, fields.flag("allow_plaintext_backup")?);
    let rotated = fields.seconds("auto_rotate_period")?;
    let size = fields.int("key_size")?.unwrap_or(0);
    if rotated != 0 && rotated < HOUR {
        return Err(ApiAnswer::mistake("auto rotate period must be 0 to disable or at least an hour"));
    }
    if convergent && !derived {
        return Err(ApiAnswer::mistake("convergent encryption requires derivation to be enabled"));
    }
    // upstream answers for some types before it looks for the key, and so does this for all
    let kind = kind(name)?;
    if kind == KeyKind::Hmac && size != 0 && !(32..=512).contains(&size) {
        return Err(ApiAnswer::mistake(format!("invalid key_size {size}")));
    }
    if kind != KeyKind::Hmac && size != 0 {
        return Err(ApiAnswer::mistake(format!("key_size is not valid for algorithm {name}")));
    }
    if let Some(key) = call.key()? {
        return Ok(entry(call, &key));
    }
    if kind == KeyKind::Hmac && derived {
        let why = "key derivation and convergent encryption not supported for keys of type hmac";
        return Err(ApiAnswer::wrapped(400, why));
    }
    if kind == KeyKind::Hmac && size == 0 {
        let why = "invalid key size for HMAC key, must be between 32 and 512 bytes";
        return Err(ApiAnswer::wrapped(400, why));
    }
    if kind == KeyKind::Hmac && size != MAC as i64 {
        return Err(ApiAnswer::mistake(format!(
            "keys of type hmac have {MAC} bytes here: set key_size to {MAC}"
        )));
    }
    if derived {
        return Err(no_derivation());
    }
    if exportable || backup {
        return Err(ApiAnswer::mistake(
            "no key of three servers can be exported or backed up in plaintext, because none of them has it: leave \
             out exportable and allow_plaintext_backup, and have each operator back up its own store",
        ));
    }
    if rotated != 0 {
        return Err(ApiAnswer::mistake(
            "not yet: keys have version 1 only, so that none is rotated automatically",
        ));
    }
    let key = make_named(call, kind)?;
    Ok(entry(call, &key))
}

/// Read a key.
pub fn read(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    if let Some(context) = call.fields().text("context")? {
        decode(&context).map_err(|_| ApiAnswer::mistake("failed to base64-decode context"))?;
    }
    let key = call.key()?.ok_or_else(|| ApiAnswer::no_text(404))?;
    Ok(entry(call, &key))
}

/// List the names of the mount's keys that the token may see, in the order of their bytes.
pub fn list(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let fields = call.fields();
    let after = fields.text("after")?.unwrap_or_default();
    let limit = fields.int("limit")?.unwrap_or(0);
    let most = usize::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let keys = call.servers().list()?;
    let names = keys.iter().filter_map(|key| key.name.as_str().strip_prefix(call.mount.prefix.as_str()));
    let mut names: Vec<&str> = names.filter(|name| is_key_name(name) && *name > after.as_str()).collect();
    names.retain(|name| {
        call.token.is_some_and(|token| token.permits(Permission::List, &call.mount.path, Some(name)))
    });
    names.truncate(most);
    if names.is_empty() {
        return Err(ApiAnswer::no_text(404));
    }
    Ok(Reply::of([("keys", Json::texts(names))]))
}

/// Delete a key: no key may be deleted here.
pub fn delete(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let name = call.param("name");
    let why = match call.key()? {
        None => "could not delete key; not found",
        Some(_) => "deletion is not allowed for this key",
    };
    Err(ApiAnswer::mistake(format!("error deleting policy {name}: {why}")))
}

/// Whether `encrypt` makes keys.
pub fn config(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    Ok(Reply::of([("disable_upsert", Json::Bool(!call.mount.upsert))]))
}

//! The table of all routes: `docs/transit.md` has a line for each, and a test reads it.

use super::answer::{ApiAnswer, Reply};
use super::call::ApiCall;
use super::route::{Handler, Route, Side, Verb};
use super::transit::{datakey, decrypt, encrypt, hash, hmac, keys, random, refused, rewrap, verify};
use super::{sys, token};
use crate::tokens::Permission;

const fn mount(
    verb: Verb,
    path: &'static str,
    operation: Permission,
    needs_servers: bool,
    run: fn(&ApiCall<'_>) -> Result<Reply, ApiAnswer>,
    fields: &'static [&'static str],
) -> Route {
    let (operation, run) = (Some(operation), Handler::Enveloped(run));
    let (side, fields) = (Side::Mount, Some(fields));
    Route {
        verb,
        head: false,
        side,
        path,
        operation,
        needs_servers,
        open: false,
        without_token: false,
        fields,
        run,
    }
}

/// A route that only refuses: it looks at no parameter.
const fn never(verb: Verb, path: &'static str, run: fn(&ApiCall<'_>) -> Result<Reply, ApiAnswer>) -> Route {
    let route = mount(verb, path, Permission::Manage, false, run, &[]);
    Route { fields: None, ..route }
}

const fn system(verb: Verb, path: &'static str, run: fn(&ApiCall<'_>) -> Result<Reply, ApiAnswer>) -> Route {
    let route = never(verb, path, run);
    Route { side: Side::System, operation: None, ..route }
}

const fn open(path: &'static str, run: fn(&ApiCall<'_>) -> ApiAnswer) -> Route {
    let route = system(Verb::Read, path, refused::not_here);
    Route { open: true, run: Handler::Plain(run), ..route }
}

const ENCRYPT: &[&str] = &[
    "plaintext",
    "context",
    "associated_data",
    "batch_input",
    "type",
    "convergent_encryption",
    "key_version",
    "partial_failure_response_code",
];
const DECRYPT: &[&str] =
    &["ciphertext", "context", "associated_data", "batch_input", "partial_failure_response_code"];
const REWRAP: &[&str] = &["ciphertext", "context", "associated_data", "key_version", "batch_input"];
const DATAKEY: &[&str] = &["context", "bits", "key_version", "associated_data"];
const HMAC: &[&str] = &["input", "algorithm", "key_version", "batch_input"];
const VERIFY: &[&str] = &[
    "input",
    "hmac",
    "signature",
    "context",
    "algorithm",
    "hash_algorithm",
    "prehashed",
    "signature_algorithm",
    "marshaling_algorithm",
    "salt_length",
    "batch_input",
];
const HASH: &[&str] = &["input", "algorithm", "format"];
const RANDOM: &[&str] = &["bytes", "format"];
const KEY: &[&str] = &[
    "type",
    "derived",
    "convergent_encryption",
    "exportable",
    "allow_plaintext_backup",
    "context",
    "auto_rotate_period",
    "key_size",
];

/// All routes. Of two that fit, the first is taken.
pub const ROUTES: &[Route] = &[
    mount(Verb::Write, "encrypt/:name", Permission::Encrypt, true, encrypt::encrypt, ENCRYPT),
    mount(Verb::Write, "decrypt/:name", Permission::Decrypt, true, decrypt::decrypt, DECRYPT),
    mount(Verb::Write, "rewrap/:name", Permission::Rewrap, true, rewrap::rewrap, REWRAP),
    mount(Verb::Write, "datakey/:plaintext/:name", Permission::Datakey, true, datakey::datakey, DATAKEY),
    mount(Verb::Write, "hmac/:name", Permission::Hmac, true, hmac::hmac, HMAC),
    mount(Verb::Write, "hmac/:name/:urlalgorithm", Permission::Hmac, true, hmac::hmac, HMAC),
    mount(Verb::Write, "verify/:name", Permission::Verify, true, verify::verify, VERIFY),
    mount(Verb::Write, "verify/:name/:urlalgorithm", Permission::Verify, true, verify::verify, VERIFY),
    mount(Verb::Write, "hash", Permission::Hash, false, hash::hash, HASH),
    mount(Verb::Write, "hash/:urlalgorithm", Permission::Hash, false, hash::hash, HASH),
    mount(Verb::Write, "random", Permission::Random, false, random::random, RANDOM),
    mount(Verb::Write, "random/:first", Permission::Random, false, random::random, RANDOM),
    mount(Verb::Write, "random/:first/:urlbytes", Permission::Random, false, random::random, RANDOM),
    mount(Verb::List, "keys/", Permission::List, true, keys::list, &["after", "limit"]),
    mount(Verb::Write, "keys/:name", Permission::Create, true, keys::make, KEY),
    mount(Verb::Read, "keys/:name", Permission::Read, true, keys::read, KEY),
    mount(Verb::Delete, "keys/:name", Permission::Manage, true, keys::delete, &[]),
    mount(Verb::Read, "config/keys", Permission::Read, false, keys::config, &[]),
    never(Verb::Write, "config/keys", refused::of_the_configuration),
    never(Verb::Write, "keys/:name/rotate", refused::not_yet),
    never(Verb::Write, "keys/:name/config", refused::not_yet),
    never(Verb::Write, "keys/:name/trim", refused::not_yet),
    never(Verb::Delete, "keys/:name/soft-delete", refused::not_yet),
    never(Verb::Write, "keys/:name/soft-delete", refused::not_yet),
    never(Verb::Write, "keys/:name/soft-delete-restore", refused::not_yet),
    never(Verb::Write, "keys/:name/import", refused::import),
    never(Verb::Write, "keys/:name/import_version", refused::import),
    never(Verb::Read, "wrapping_key", refused::import),
    never(Verb::Read, "export/:kind/:name", refused::export),
    never(Verb::Read, "export/:kind/:name/:version", refused::export),
    never(Verb::Read, "byok-export/:target/:name", refused::export),
    never(Verb::Read, "byok-export/:target/:name/:version", refused::export),
    never(Verb::Read, "backup/:name", refused::backup),
    never(Verb::Write, "restore", refused::restore),
    never(Verb::Write, "restore/:name", refused::restore),
    never(Verb::Write, "sign/:name", refused::sign),
    never(Verb::Write, "sign/:name/:urlalgorithm", refused::sign),
    system(Verb::Read, "sys/mounts", sys::mounts),
    system(Verb::Read, "sys/mounts/*", sys::mount),
    system(Verb::Write, "sys/mounts/*", sys::enable),
    system(Verb::Delete, "sys/mounts/*", sys::disable),
    Route { without_token: true, ..system(Verb::Read, "sys/internal/ui/mounts", sys::ui_mounts) },
    system(Verb::Read, "sys/internal/ui/mounts/*", sys::ui_mount),
    system(Verb::Write, "sys/capabilities-self", sys::capabilities),
    system(Verb::Read, "auth/token/lookup-self", token::lookup),
    system(Verb::Write, "auth/token/lookup-self", token::lookup),
    system(Verb::Write, "auth/token/renew-self", token::renew),
    system(Verb::Write, "auth/token/create", token::create),
    Route { head: true, ..open("sys/health", sys::health) },
    open("sys/seal-status", sys::seal_status),
    open("sys/leader", sys::leader),
    open("sys/init", sys::init),
];

//! What is refused for good or for now: each with the status that clients know, and a sentence that names the
//! way.

use super::super::answer::{ApiAnswer, Reply};
use super::super::call::ApiCall;

type Refused = Result<Reply, ApiAnswer>;

pub fn not_yet(call: &ApiCall<'_>) -> Refused {
    let name = call.param("name");
    Err(ApiAnswer::mistake(format!(
        "not yet: key {name} has version 1 only, and nothing of it can be changed here; divisi key destroys keys \
         and changes whom they serve"
    )))
}

pub fn of_the_configuration(_: &ApiCall<'_>) -> Refused {
    Err(ApiAnswer::mistake("this is set in the gateway's configuration: upsert of the mount"))
}

pub fn import(_: &ApiCall<'_>) -> Refused {
    Err(ApiAnswer::mistake(
        "a key is not imported here, because it would stand in one process: divisi key import splits it at the \
         client",
    ))
}

pub fn export(_: &ApiCall<'_>) -> Refused {
    Err(ApiAnswer::mistake(
        "private key material is not exportable: none of the three servers has it; use encrypt, decrypt and datakey",
    ))
}

/// Clients' tests expect this status, which stands for a mistake of the user nowhere else.
pub fn backup(_: &ApiCall<'_>) -> Refused {
    Err(ApiAnswer::wrapped(500, "exporting is disallowed on the policy"))
}

pub fn restore(_: &ApiCall<'_>) -> Refused {
    Err(ApiAnswer::mistake("there are no backups of keys to restore: each operator backs up its own store"))
}

pub fn sign(_: &ApiCall<'_>) -> Refused {
    Err(ApiAnswer::mistake("there are no keys for signatures: use hmac and verify with a key of type hmac"))
}

/// What the table has in place of a handler where another one is set.
pub fn not_here(_: &ApiCall<'_>) -> Refused {
    Err(ApiAnswer::no_path())
}

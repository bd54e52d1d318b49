//! The routes of `auth/token`: a token of the file does not end, and none is made here.

use super::answer::{ApiAnswer, Reply};
use super::call::ApiCall;
use crate::json::{Json, object};
use crate::tokens::Token;

/// For how long a renewed token is said to be good: clients renew it before. It is good for longer, as long
/// as the file names it.
const LEASE: u64 = 32 * 86_400;

fn policies(token: &Token) -> Json {
    if token.is_root() { Json::texts(["root"]) } else { Json::texts(["default", token.name()]) }
}

fn presented(call: &ApiCall<'_>) -> Json {
    call.head.token.as_ref().map_or_else(|| Json::text(""), |token| Json::String(token.clone()))
}

pub fn lookup(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let token = call.token.ok_or_else(ApiAnswer::no_token)?;
    let root = token.is_root();
    let display = if root { "token".to_owned() } else { format!("token-{}", token.name()) };
    let (lease, started) = (if root { 0 } else { LEASE }, call.started());
    let expires = if root { Json::Null } else { Json::text(date(call.now() + LEASE)) };
    Ok(Reply::of([
        ("accessor", Json::text(token.accessor())),
        ("creation_time", Json::number(started)),
        ("creation_ttl", Json::number(lease)),
        ("display_name", Json::text(display)),
        ("entity_id", Json::text("")),
        ("expire_time", expires),
        ("explicit_max_ttl", Json::number(0)),
        ("id", presented(call)),
        ("issue_time", Json::text(date(started))),
        ("meta", Json::Null),
        ("num_uses", Json::number(0)),
        ("orphan", Json::Bool(true)),
        ("path", Json::text("auth/token/create")),
        ("policies", policies(token)),
        ("renewable", Json::Bool(!root)),
        ("ttl", Json::number(lease)),
        ("type", Json::text("service")),
    ]))
}

pub fn renew(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let token = call.token.ok_or_else(ApiAnswer::no_token)?;
    if token.is_root() {
        return Err(ApiAnswer::mistake("lease is not renewable"));
    }
    let auth = object([
        ("client_token", presented(call)),
        ("accessor", Json::text(token.accessor())),
        ("policies", policies(token)),
        ("token_policies", policies(token)),
        ("metadata", Json::Null),
        ("lease_duration", Json::number(LEASE)),
        ("renewable", Json::Bool(true)),
        ("entity_id", Json::text("")),
        ("token_type", Json::text("service")),
        ("orphan", Json::Bool(true)),
        ("mfa_requirement", Json::Null),
        ("num_uses", Json::number(0)),
    ]);
    Ok(Reply { auth, ..Reply::data(Json::Null) })
}

pub fn create(_: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    Err(ApiAnswer::mistake(
        "tokens are in the gateway's file of tokens: add one there, and send the gateway SIGHUP",
    ))
}

/// A time in seconds since 1970, as RFC 3339 writes it.
fn date(seconds: u64) -> String {
    let (days, left) = (seconds / 86_400, seconds % 86_400);
    // days since 1 March of year 0, in eras of 400 years
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (date, month) = (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + 400 * era + u64::from(month < 3);
    let (hour, minute, second) = (left / 3600, left / 60 % 60, left % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_228_185, "2026-11-21T02:29:45Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(date(seconds), text);
        }
    }
}

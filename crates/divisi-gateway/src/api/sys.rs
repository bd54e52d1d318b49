//! The routes of `sys` that clients of Transit use: the state, the mounts, and what a token may do.

use super::answer::{ApiAnswer, Reply};
use super::call::ApiCall;
use super::path::pairs;
use super::route::Verb;
use crate::config::Mount;
use crate::json::{ECHO, Json, cut, object};
use crate::tokens::Token;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// What clients read as the version of the server.
const VERSION: &str = concat!("2.6.2-divisi.", env!("CARGO_PKG_VERSION"));
const PLUGIN: &str = "v2.6.2+builtin.divisi";

/// The code that a query sets for a state; the first one counts.
fn code(query: &[(String, Zeroizing<String>)], name: &str, usual: u16) -> Result<u16, ApiAnswer> {
    let Some((_, text)) = query.iter().find(|(other, _)| other == name) else { return Ok(usual) };
    let code: u16 = text.parse().map_err(|_| ApiAnswer::no_text(400))?;
    // the recorded server drops the connection for a code that is none; interim answers are none either
    if (200..=999).contains(&code) { Ok(code) } else { Err(ApiAnswer::no_text(400)) }
}

fn name_of_cluster(call: &ApiCall<'_>) -> Json {
    let mount = call.mounts().first().map_or("", |mount| mount.path.as_str());
    Json::text(format!("divisi-{}", digits(&["cluster", mount], 4)))
}

/// Digits that stay the same for the same words.
fn digits(words: &[&str], bytes: usize) -> String {
    let hash = Sha256::digest(words.join("\n"));
    hash.iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

fn uuid(words: &[&str]) -> String {
    let digits = digits(words, 16);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

pub fn health(call: &ApiCall<'_>) -> ApiAnswer {
    let (query, _) = pairs(&call.head.query);
    let codes = || -> Result<(u16, u16), ApiAnswer> {
        for name in ["standbyok", "perfstandbyok"] {
            let given = query.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.as_str());
            if !given.is_empty() && super::fields::parse_flag(given).is_none() {
                return Err(ApiAnswer::no_text(400));
            }
        }
        code(&query, "standbycode", 429)?;
        code(&query, "uninitcode", 501)?;
        Ok((code(&query, "activecode", 200)?, code(&query, "sealedcode", 503)?))
    };
    let (active, sealed) = match codes() {
        Ok(codes) => codes,
        Err(answer) => return answer,
    };
    let state = call.servers().health();
    let good = state.is_good();
    let mut members = vec![
        ("initialized".to_owned(), Json::Bool(true)),
        ("sealed".to_owned(), Json::Bool(!good)),
        ("standby".to_owned(), Json::Bool(!good)),
        ("replication_performance_mode".to_owned(), Json::text("disabled")),
        ("replication_dr_mode".to_owned(), Json::text("disabled")),
        ("server_time_utc".to_owned(), Json::number(call.now())),
        ("version".to_owned(), Json::text(VERSION)),
        ("cluster_name".to_owned(), name_of_cluster(call)),
        ("cluster_id".to_owned(), Json::text(uuid(&["cluster"]))),
    ];
    let why: Vec<String> = state.missing.iter().map(|(party, why)| format!("party {party}: {why}")).collect();
    if !good {
        members.push(("missing".to_owned(), Json::texts(why.clone())));
    }
    let status = if good { active } else { sealed };
    if status == 204 {
        return ApiAnswer::empty(204);
    }
    let mut answer = ApiAnswer::json(status, &Json::Object(members));
    if !good {
        answer.headers.push(("Retry-After", "1".into()));
        answer.note = Some(why.join("; "));
    }
    answer
}

pub fn seal_status(call: &ApiCall<'_>) -> ApiAnswer {
    let good = call.servers().health().is_good();
    ApiAnswer::json(
        200,
        &object([
            ("type", Json::text("shamir")),
            ("initialized", Json::Bool(true)),
            ("sealed", Json::Bool(!good)),
            ("t", Json::number(1)),
            ("n", Json::number(1)),
            ("progress", Json::number(0)),
            ("nonce", Json::text("")),
            ("recovery_seal", Json::Bool(false)),
            ("version", Json::text(VERSION)),
            ("commit_date", Json::text("")),
            ("migration", Json::Bool(false)),
            ("cluster_name", name_of_cluster(call)),
            ("cluster_id", Json::text(uuid(&["cluster"]))),
            ("storage_type", Json::text("divisi")),
        ]),
    )
}

pub fn leader(_: &ApiCall<'_>) -> ApiAnswer {
    ApiAnswer::json(200, &object([("ha_enabled", Json::Bool(false))]))
}

pub fn init(_: &ApiCall<'_>) -> ApiAnswer {
    ApiAnswer::json(200, &object([("initialized", Json::Bool(true))]))
}

/// A mount as `sys` lists it.
fn entry(mount: &Mount) -> Vec<(String, Json)> {
    let config = object([
        ("default_lease_ttl", Json::number(0)),
        ("force_no_cache", Json::Bool(false)),
        ("max_lease_ttl", Json::number(0)),
    ]);
    let accessor = format!("transit_{}", digits(&["accessor", &mount.path], 4));
    let members = [
        ("accessor", Json::text(accessor)),
        ("config", config),
        ("deprecation_status", Json::text("supported")),
        ("description", Json::text("")),
        ("external_entropy_access", Json::Bool(false)),
        ("local", Json::Bool(false)),
        ("options", Json::empty()),
        ("plugin_version", Json::text("")),
        ("running_plugin_version", Json::text(PLUGIN)),
        ("running_sha256", Json::text("")),
        ("seal_wrap", Json::Bool(false)),
        ("type", Json::text("transit")),
        ("uuid", Json::text(uuid(&["mount", &mount.path]))),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn all(call: &ApiCall<'_>) -> Json {
    let mounts = call.mounts().iter();
    Json::Object(mounts.map(|mount| (format!("{}/", mount.path), Json::Object(entry(mount)))).collect())
}

/// The mount at a path, or whose path this one begins with.
fn at<'a>(call: &'a ApiCall<'_>, path: &str, below: bool) -> Option<&'a Mount> {
    call.mounts().iter().find(|mount| {
        let rest = path.strip_prefix(mount.path.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest == "/" || (below && rest.starts_with('/')))
    })
}

pub fn mounts(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    Ok(Reply { spread: true, ..Reply::data(all(call)) })
}

pub fn mount(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let path = call.param("path");
    let mount = at(call, path, false).ok_or_else(|| {
        ApiAnswer::mistake(format!("No secret engine mount at {}/", path.trim_end_matches('/')))
    })?;
    Ok(Reply { spread: true, ..Reply::data(Json::Object(entry(mount))) })
}

/// Clients that set up their mount themselves find it: it was in the configuration. Others learn where.
pub fn enable(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let kind = call.fields().text("type")?.unwrap_or_default();
    if kind.is_empty() {
        return Err(ApiAnswer::mistake("backend type must be specified as a string"));
    }
    if kind.as_str() != "transit" {
        return Err(ApiAnswer::mistake(format!("plugin not found in the catalog: {}", cut(&kind, ECHO))));
    }
    let path = call.param("path");
    match at(call, path, false) {
        Some(_) => Ok(Reply::nothing()),
        None => Err(ApiAnswer::mistake(format!(
            "mounts are in the gateway's configuration: add a [[mount]] with path = \"{path}\""
        ))),
    }
}

pub fn disable(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let path = call.param("path");
    match at(call, path, false) {
        None => Ok(Reply::nothing()),
        Some(_) => Err(ApiAnswer::mistake(format!(
            "mounts are in the gateway's configuration: remove the [[mount]] with path = \"{path}\""
        ))),
    }
}

pub fn ui_mounts(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let secret = if call.token.is_some() { all(call) } else { Json::empty() };
    Ok(Reply::of([("auth", Json::empty()), ("secret", secret)]))
}

pub fn ui_mount(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let path = call.param("path");
    let mount = at(call, path, true).ok_or_else(|| {
        let first = path.split('/').next().unwrap_or_default();
        ApiAnswer::error(
            403,
            format!(
                "preflight capability check returned 403, please ensure client's policies grant access to path \
                 \"{first}/\""
            ),
        )
    })?;
    let mut members = entry(mount);
    members.push(("path".to_owned(), Json::text(format!("{}/", mount.path))));
    Ok(Reply::data(Json::Object(members)))
}

/// What a token may do at a path, in the words of policies.
fn capabilities_at(call: &ApiCall<'_>, token: &Token, path: &str) -> Vec<&'static str> {
    if token.is_root() {
        return vec!["root"];
    }
    let path = path.trim_start_matches('/');
    if matches!(path, "auth/token/lookup-self") {
        return vec!["read"];
    }
    if matches!(path, "auth/token/renew-self" | "sys/capabilities-self") {
        return vec!["update"];
    }
    let Some(mount) = at(call, path, true) else { return vec!["deny"] };
    let rest = path.strip_prefix(mount.path.as_str()).unwrap_or_default().trim_start_matches('/');
    let mut words = Vec::new();
    for (verb, word) in
        [(Verb::Delete, "delete"), (Verb::List, "list"), (Verb::Read, "read"), (Verb::Write, "update")]
    {
        let listed = format!("{}/", rest.trim_end_matches('/'));
        let rest = if verb == Verb::List { listed.as_str() } else { rest };
        let Ok((route, params)) = call.gateway.route_of_mount(verb, rest) else { continue };
        let key = params.iter().find(|(name, _)| *name == "name").map(|(_, key)| key.as_str());
        let Some(operation) = route.operation else { continue };
        if token.permits(operation, &mount.path, key) {
            words.push(word);
            let makes = route.path == "encrypt/:name" && mount.upsert;
            if makes && token.permits(crate::tokens::Permission::Create, &mount.path, key) {
                words.push("create");
            }
        }
    }
    words.sort_unstable();
    if words.is_empty() { vec!["deny"] } else { words }
}

/// The longest path of which a request asks what may be done: the answer has it twice.
const LONGEST_PATH: usize = 2048;

pub fn capabilities(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let token = call.token.ok_or_else(ApiAnswer::no_token)?;
    let fields = call.fields();
    let mut paths: Vec<String> = Vec::new();
    for name in ["paths", "path"] {
        match fields.raw(name) {
            Some(Json::Array(list)) => {
                paths.extend(list.iter().filter_map(|path| path.as_str()).map(str::to_owned));
            }
            Some(Json::String(path)) if !path.is_empty() => paths.push(path.as_str().to_owned()),
            _ => {}
        }
    }
    if paths.is_empty() {
        return Err(ApiAnswer::mistake("paths must be supplied"));
    }
    if paths.iter().any(|path| path.len() > LONGEST_PATH) {
        return Err(ApiAnswer::mistake(format!("a path has at most {LONGEST_PATH} bytes")));
    }
    let mut members = Vec::new();
    for path in &paths {
        let words = Json::texts(capabilities_at(call, token, path));
        if paths.len() == 1 {
            members.push(("capabilities".to_owned(), words.clone()));
        }
        members.push((path.clone(), words));
    }
    Ok(Reply { spread: true, ..Reply::data(Json::Object(members)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They are the beginning of the hash of the words (FIPS 180-4's example of SHA-256).
    #[test]
    fn a_uuid_has_digits_of_its_words() {
        assert_eq!(uuid(&["abc"]), "ba7816bf-8f01-cfea-4141-40de5dae2223");
        assert_eq!(digits(&["abc"], 4), "ba7816bf");
        // (of the two-block message of the same standard)
        assert_eq!(digits(&["abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"], 4), "248d6a61");
    }
}

//! Routes: what one is, and which one a path has. `table.rs` lists them.

use super::answer::{ApiAnswer, Reply};
use super::call::ApiCall;
use super::path::is_key_name;
use super::table::ROUTES;
use crate::json::Json;
use crate::tokens::Permission;

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the recorded server knows these methods")]
pub enum Verb {
    /// `GET`
    Read,
    /// `HEAD`
    Head,
    /// `POST` and `PUT`
    Write,
    /// `DELETE`
    Delete,
    /// `LIST`, and `GET` with `list=true`
    List,
    /// `SCAN`, which no route has
    Scan,
    /// `PATCH`, which no route has
    Patch,
    /// `OPTIONS`, which no route has
    Options,
}

impl Verb {
    /// The meaning of a method; `None` for one that is unknown. Case counts.
    #[must_use]
    pub fn of(method: &str) -> Option<Verb> {
        Some(match method {
            "GET" => Verb::Read,
            "HEAD" => Verb::Head,
            "POST" | "PUT" => Verb::Write,
            "DELETE" => Verb::Delete,
            "LIST" => Verb::List,
            "SCAN" => Verb::Scan,
            "PATCH" => Verb::Patch,
            "OPTIONS" => Verb::Options,
            _ => return None,
        })
    }

    /// The method in the table of `docs/transit.md`.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Verb::Read => "GET",
            Verb::Head => "HEAD",
            Verb::Write => "POST",
            Verb::Delete => "DELETE",
            Verb::List => "LIST",
            Verb::Scan => "SCAN",
            Verb::Patch => "PATCH",
            Verb::Options => "OPTIONS",
        }
    }
}

/// Where a route stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else below /v1/")]
pub enum Side {
    /// Below each mount.
    Mount,
    /// Below `sys` and `auth/token`.
    System,
}

/// How a route is done.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "an answer has the envelope or not")]
pub enum Handler {
    /// The answer is in the envelope.
    Enveloped(fn(&ApiCall<'_>) -> Result<Reply, ApiAnswer>),
    /// The answer is as it is.
    Plain(fn(&ApiCall<'_>) -> ApiAnswer),
}

/// What a handler made.
pub(super) enum Done {
    Reply(Reply),
    Answer(ApiAnswer),
}

impl Done {
    /// Add warnings, where an answer has any.
    pub fn warn(&mut self, warnings: Vec<String>) {
        if let Done::Reply(reply) = self {
            reply.warnings.extend(warnings);
        }
    }

    pub fn answer(self, id: &str) -> ApiAnswer {
        match self {
            Done::Reply(reply) => reply.answer(id),
            Done::Answer(answer) => answer,
        }
    }
}

/// A route.
pub struct Route {
    /// The method.
    pub verb: Verb,
    /// Whether it answers `HEAD`, too.
    pub head: bool,
    /// Where it stands.
    pub side: Side,
    /// The path: `:name` is the name of a key, `:word` any segment, `*` the rest.
    pub path: &'static str,
    /// What a token must permit.
    pub operation: Option<Permission>,
    /// Whether it asks the servers.
    pub needs_servers: bool,
    /// Whether it is known to anybody, before tokens and mounts.
    pub open: bool,
    /// Whether it answers without a token, too.
    pub without_token: bool,
    /// The parameters that it knows. `None` says that it looks at none.
    pub fields: Option<&'static [&'static str]>,
    /// How it is done.
    pub(super) run: Handler,
}

impl Route {
    /// The route as the log and the page name it.
    #[must_use]
    pub fn name(&self) -> String {
        let mount = if self.side == Side::Mount { "MOUNT/" } else { "" };
        format!("{} {mount}{}", self.verb.method(), self.path)
    }

    pub(super) fn run(&self, call: &ApiCall<'_>) -> Result<Done, ApiAnswer> {
        match self.run {
            Handler::Enveloped(handler) => handler(call).map(Done::Reply),
            Handler::Plain(handler) => Ok(Done::Answer(handler(call))),
        }
    }

    /// What the client is told of parameters that are unknown, or that the path has too.
    pub(super) fn warnings(&self, members: &Json, params: &[(&'static str, String)]) -> Vec<String> {
        let (Json::Object(members), Some(known)) = (members, self.fields) else { return Vec::new() };
        let in_path = |name: &str| params.iter().any(|(param, _)| *param == name) || self.shadows(name);
        let (mut ignored, mut replaced) = (Vec::new(), Vec::new());
        for (name, _) in members {
            if in_path(name) {
                replaced.push(name.as_str());
            } else if !known.contains(&name.as_str()) {
                ignored.push(name.as_str());
            }
        }
        let mut warnings = Vec::new();
        for (mut names, before, after) in [
            (ignored, "Endpoint ignored these unrecognized parameters: [", "]"),
            (
                replaced,
                "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [",
                "]",
            ),
        ] {
            names.sort_unstable();
            names.dedup();
            if !names.is_empty() {
                warnings.push(format!("{before}{}{after}", names.join(" ")));
            }
        }
        warnings
    }

    /// `random` takes its source from the path, also where the path has none.
    fn shadows(&self, name: &str) -> bool {
        self.side == Side::Mount && self.path.starts_with("random") && name == "source"
    }
}

/// The route of this path that anybody may use.
pub(super) fn open_route(path: &str) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.open && route.path == path)
}

/// The route of a path, with its parameters; or the answer if there is none, or none with this method.
pub(super) fn find(
    side: Side,
    verb: Verb,
    path: &str,
) -> Result<(&'static Route, Vec<(&'static str, String)>), ApiAnswer> {
    let mut is_known = false;
    for route in ROUTES.iter().filter(|route| route.side == side && !route.open) {
        let Some(params) = fit(route.path, path) else { continue };
        if route.verb == verb {
            return Ok((route, params));
        }
        is_known = true;
    }
    // below a mount `keys` without a slash is the list's path for all methods but LIST
    if !is_known && side == Side::Mount && path == "keys" {
        is_known = true;
    }
    Err(if is_known { ApiAnswer::no_operation() } else { ApiAnswer::no_path() })
}

/// The parameters of a path that fits a pattern.
fn fit(pattern: &'static str, path: &str) -> Option<Vec<(&'static str, String)>> {
    let mut params = Vec::new();
    let (mut segments, mut expected) = (path.split('/'), pattern.split('/'));
    loop {
        match (expected.next(), segments.next()) {
            (None, None) => return Some(params),
            (Some("*"), Some(first)) if !first.is_empty() => {
                let rest: Vec<&str> = std::iter::once(first).chain(segments).collect();
                params.push(("path", rest.join("/")));
                return Some(params);
            }
            (Some(word), Some(segment)) => match word.strip_prefix(':') {
                Some("name") if is_key_name(segment) => params.push(("name", segment.to_owned())),
                Some(name) if name != "name" && !segment.is_empty() => {
                    params.push((name, segment.to_owned()));
                }
                None if word == segment => {}
                _ => return None,
            },
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(verb: Verb, path: &str) -> Result<String, u16> {
        find(Side::Mount, verb, path).map(|(route, _)| route.path.to_owned()).map_err(|answer| answer.status)
    }

    #[test]
    fn paths_and_methods_have_the_recorded_status() {
        for (verb, path, expected) in [
            (Verb::Write, "encrypt/k", Ok("encrypt/:name")),
            (Verb::Read, "encrypt/k", Err(405)),
            (Verb::List, "encrypt/k/", Err(404)),
            (Verb::Write, "encrypt", Err(404)),
            (Verb::Write, "encrypt/e1/x", Err(404)),
            (Verb::List, "keys/", Ok("keys/")),
            (Verb::Read, "keys", Err(405)),
            (Verb::Read, "keys/", Err(405)),
            (Verb::Scan, "keys/", Err(405)),
            (Verb::Write, "keys", Err(405)),
            (Verb::Read, "keys/k/", Err(404)),
            (Verb::List, "keys/k/", Err(404)),
            (Verb::Read, "keys/k/nope", Err(404)),
            (Verb::Read, "keys/k/rotate", Err(405)),
            (Verb::Write, "keys/a b", Err(404)),
            (Verb::Head, "keys/k", Err(405)),
            (Verb::Read, "", Err(404)),
            (Verb::Write, "Keys/k", Err(404)),
            (Verb::Write, "random/seal/16", Ok("random/:first/:urlbytes")),
            (Verb::Write, "cmac/k", Err(404)),
        ] {
            assert_eq!(found(verb, path), expected.map(str::to_owned), "{verb:?} {path}");
        }
        let (_, params) = find(Side::System, Verb::Read, "sys/internal/ui/mounts/a/b").unwrap();
        assert_eq!(params, [("path", "a/b".to_owned())]);
    }

    #[test]
    fn unknown_parameters_are_named_in_order() {
        let (route, params) = find(Side::Mount, Verb::Write, "encrypt/k").unwrap();
        let members = crate::json::read(br#"{"plaintext":"","foo":1,"bar":2,"name":"x"}"#).unwrap();
        let warnings = route.warnings(&members, &params);
        assert_eq!(warnings.len(), 2);
        assert_eq!(warnings[0], "Endpoint ignored these unrecognized parameters: [bar foo]");
        assert!(warnings[1].ends_with("the endpoint's path: [name]"));
    }
}

//! What a route is. `table.rs` lists them all.

use super::answer::{ApiAnswer, Reply};
use super::call::ApiCall;
use crate::json::{ECHO, Json, cut};
use crate::tokens::Permission;

/// The most parameters that a warning names.
const MOST_NAMES: usize = 50;

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
                let names = names.into_iter().map(|name| cut(name, ECHO)).take(MOST_NAMES);
                warnings.push(format!("{before}{}{after}", names.collect::<Vec<_>>().join(" ")));
            }
        }
        warnings
    }

    /// `random` takes its source from the path, also where the path has none.
    fn shadows(&self, name: &str) -> bool {
        self.side == Side::Mount && self.path.starts_with("random") && name == "source"
    }
}

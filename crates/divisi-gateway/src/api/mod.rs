//! The Transit API, without HTTP: a [`RequestHead`] and a body become an [`ApiAnswer`].
//!
//! | module | contents |
//! |---|---|
//! | `path`, `fields`, `answer` | paths, parameters and answers in the forms of the recorded server |
//! | `route`, `table`, `routes` | what a route is; the table of all of them; which one a path has |
//! | `call` | what a handler sees of a request |
//! | `transit` | the routes of a mount, a module a group |
//! | `sys`, `token` | the routes of `sys` and `auth/token` |
//!
//! The order of the checks is the recorded one: the path and the method, the text of the body, the namespace,
//! the token, the mount, the route, what the token permits.

mod answer;
mod call;
mod fields;
mod path;
mod route;
mod routes;
mod sys;
mod table;
#[cfg(test)]
mod tests;
mod token;
mod transit;

pub use answer::{ApiAnswer, Reply};
pub use call::ApiCall;
pub use route::{Handler, Route, Side, Verb};
pub use table::ROUTES;

use crate::backend::Backend;
use crate::config::Mount;
use crate::json::{Json, STRINGS, read_object};
use crate::log::fresh_id;
use crate::tokens::{Token, Tokens};
use divisi_net::World;
use path::{Place, pairs, place};
use std::sync::{Arc, PoisonError, RwLock};

/// Everything about a request but its body.
#[derive(Clone, Default)]
pub struct RequestHead {
    /// The method, as it was sent.
    pub method: String,
    /// The path, as it was sent, without the query.
    pub path: String,
    /// The query.
    pub query: String,
    /// The token that was presented, if one was.
    pub token: Option<zeroize::Zeroizing<String>>,
    /// The namespace, if one was named.
    pub namespace: Option<String>,
    /// The type of the body, if it was named.
    pub content_type: Option<String>,
}

/// The API over three servers.
pub struct Gateway {
    servers: Arc<dyn Backend>,
    mounts: Vec<Mount>,
    /// `None` if the socket lets everybody in.
    tokens: RwLock<Option<Arc<Tokens>>>,
    world: Arc<dyn World>,
    /// When it started, in seconds since 1970.
    started: u64,
}

/// What is known of a request before its body is read.
pub struct RoutePlan<'a> {
    verb: Option<Verb>,
    step: Step<'a>,
}

enum Step<'a> {
    /// The answer does not depend on the body.
    Final(ApiAnswer),
    /// A route that anybody may use.
    Open(&'static Route),
    /// A route of a mount or of `sys`, with the parameters of its path; or the error that follows the check
    /// of the token.
    Found(Result<Found<'a>, ApiAnswer>),
}

struct Found<'a> {
    route: &'static Route,
    mount: &'a Mount,
    params: Vec<(&'static str, String)>,
}

impl RoutePlan<'_> {
    /// Whether the answer needs the servers, so that it may take long.
    #[must_use]
    pub const fn needs_servers(&self) -> bool {
        matches!(&self.step, Step::Found(Ok(found)) if found.route.needs_servers)
    }

    /// The route as the log names it.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.step {
            Step::Open(route) | Step::Found(Ok(Found { route, .. })) => route.name(),
            Step::Final(_) | Step::Found(Err(_)) => "none".into(),
        }
    }

    /// The name of the key in the path, if there is one.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        let Step::Found(Ok(found)) = &self.step else { return None };
        found.params.iter().find(|(name, _)| *name == "name").map(|(_, key)| key.as_str())
    }

    /// The servers' name of this key.
    #[must_use]
    pub fn servers_key(&self) -> Option<String> {
        let Step::Found(Ok(found)) = &self.step else { return None };
        self.key().map(|key| format!("{}{key}", found.mount.prefix))
    }
}

static NOWHERE: Mount = Mount { path: String::new(), prefix: String::new(), upsert: false };

impl Gateway {
    /// The API over these servers. Without tokens everybody may do everything.
    pub fn new(
        servers: Arc<dyn Backend>,
        mounts: Vec<Mount>,
        tokens: Option<Tokens>,
        world: Arc<dyn World>,
    ) -> Gateway {
        let started = world.unix_time().as_secs();
        Gateway { servers, mounts, tokens: RwLock::new(tokens.map(Arc::new)), world, started }
    }

    /// Take other tokens from now on.
    pub fn replace_tokens(&self, tokens: Tokens) {
        *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(tokens));
    }

    /// A fresh id for a request, in the form of a UUID.
    #[must_use]
    pub fn request_id(&self) -> String {
        fresh_id(&*self.world)
    }

    /// What is to be done about a request.
    #[must_use]
    pub fn plan(&self, head: &RequestHead) -> RoutePlan<'_> {
        let verb = Verb::of(&head.method);
        let done = |answer| RoutePlan { verb, step: Step::Final(answer) };
        let below = match place(&head.path) {
            Place::Path(below) => below,
            Place::Moved(to) => return done(moved(head, &to)),
            Place::Outside => return done(ApiAnswer::no_text(404)),
            Place::BadEscape => {
                let body = Some(zeroize::Zeroizing::new(b"400 Bad Request".to_vec()));
                let content_type = Some("text/plain; charset=utf-8");
                let close = vec![("Connection", "close".to_owned())];
                return done(ApiAnswer { body, content_type, headers: close, ..ApiAnswer::empty(400) });
            }
            Place::Zero => return done(ApiAnswer { content_type: None, ..ApiAnswer::empty(400) }),
            Place::Relative => return done(ApiAnswer::mistake("relative paths not supported")),
        };
        if let Some(route) = routes::open_route(&below) {
            let fits = verb == Some(route.verb) || (route.head && verb == Some(Verb::Head));
            return if fits {
                RoutePlan { verb, step: Step::Open(route) }
            } else {
                done(ApiAnswer::no_text(405))
            };
        }
        let Some(verb) = verb else { return done(ApiAnswer::no_text(405)) };
        let (verb, below) = match self.listing(verb, &below, head) {
            Ok(both) => both,
            Err(answer) => return done(answer),
        };
        RoutePlan { verb: Some(verb), step: Step::Found(self.find(verb, &below)) }
    }

    /// What a method means for a path: a list has a slash at the end of its path.
    fn listing(&self, verb: Verb, below: &str, head: &RequestHead) -> Result<(Verb, String), ApiAnswer> {
        let slash = |path: &str| if path.ends_with('/') { path.to_owned() } else { format!("{path}/") };
        match verb {
            Verb::Options => Err(ApiAnswer::mistake("cannot handle internal-only request operation")),
            Verb::Patch => match head.content_type.as_deref() {
                None | Some("") => Err(ApiAnswer::mistake("mime: no media type")),
                Some("application/merge-patch+json") => Ok((verb, below.to_owned())),
                Some(other) => Err(ApiAnswer::error(
                    415,
                    format!("PATCH requires Content-Type of application/merge-patch+json, provided {other}"),
                )),
            },
            Verb::Write if below.ends_with('/') => {
                Err(ApiAnswer::mistake("cannot write to a path ending in '/'"))
            }
            Verb::Read => {
                let (query, _) = pairs(&head.query);
                let list =
                    query.iter().find(|(name, _)| name == "list").map_or("", |(_, value)| value.as_str());
                match fields::parse_flag(list) {
                    Some(true) => Ok((Verb::List, slash(below))),
                    None if !list.is_empty() => Err(ApiAnswer::no_text(400)),
                    _ => Ok((verb, below.to_owned())),
                }
            }
            Verb::List | Verb::Scan => Ok((verb, slash(below))),
            Verb::Write | Verb::Delete | Verb::Head => Ok((verb, below.to_owned())),
        }
    }

    /// The route of a path below a mount, with its parameters.
    fn route_of_mount(
        &self,
        verb: Verb,
        rest: &str,
    ) -> Result<(&'static Route, Vec<(&'static str, String)>), ApiAnswer> {
        routes::find(Side::Mount, verb, rest)
    }

    /// Whether a request presents a token of the file, or needs none.
    #[must_use]
    pub fn knows(&self, head: &RequestHead) -> bool {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner).clone();
        let presented = head.token.as_ref().map_or("", |token| token.as_str());
        tokens.is_none_or(|tokens| tokens.find(presented.as_bytes()).is_some())
    }

    fn find(&self, verb: Verb, below: &str) -> Result<Found<'_>, ApiAnswer> {
        let inside = self.mounts.iter().find_map(|mount| {
            let rest = below.strip_prefix(mount.path.as_str())?;
            let rest = if rest.is_empty() { Some("") } else { rest.strip_prefix('/') };
            Some((mount, Side::Mount, rest?))
        });
        let (mount, side, rest) = match inside {
            Some(found) => found,
            None if below.starts_with("sys/") || below.starts_with("auth/token/") => {
                (&NOWHERE, Side::System, below)
            }
            None => {
                let text = format!("no handler for route \"{}\". route entry not found.", escaped(below));
                return Err(ApiAnswer::error(404, text));
            }
        };
        let (route, params) = routes::find(side, verb, rest)?;
        Ok(Found { route, mount, params })
    }

    /// The answer to a request whose plan and body are known.
    #[must_use]
    pub fn answer(
        &self,
        head: &RequestHead,
        plan: &RoutePlan<'_>,
        body: &[u8],
        id: &str,
    ) -> (ApiAnswer, Option<String>) {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner).clone();
        let everybody = Token::of_the_socket();
        let presented = head.token.as_ref().map_or("", |token| token.as_str());
        let token = match &tokens {
            Some(tokens) => tokens.find(presented.as_bytes()),
            None => Some(&everybody),
        };
        let name = token.map(|token| token.name().to_owned());
        let answer = self.checked(head, plan, body, id, token).unwrap_or_else(|answer| answer);
        let named = head.namespace.clone().filter(|namespace| !namespace.is_empty());
        let answer = match named {
            Some(namespace) => answer.with_header("X-Vault-Namespace", namespace),
            None => answer,
        };
        (if plan.verb == Some(Verb::Head) { answer.without_body() } else { answer }, name)
    }

    fn checked(
        &self,
        head: &RequestHead,
        plan: &RoutePlan<'_>,
        body: &[u8],
        id: &str,
        token: Option<&Token>,
    ) -> Result<ApiAnswer, ApiAnswer> {
        let namespace = head.namespace.as_deref().unwrap_or("");
        let found = match &plan.step {
            Step::Final(answer) => return Ok(answer.clone()),
            Step::Open(_) if !namespace.is_empty() => {
                return Err(ApiAnswer::mistake("operation unavailable in namespaces"));
            }
            Step::Open(route) => {
                let members = query(head);
                let call =
                    ApiCall { gateway: self, mount: &NOWHERE, params: &[], members: &members, token, head };
                return route.run(&call).map(|done| done.answer(id));
            }
            Step::Found(found) => found,
        };
        let members = match plan.verb {
            Some(Verb::Write) => body_of(head, body).map_err(ApiAnswer::mistake)?,
            Some(Verb::Read | Verb::List) => query(head),
            _ => Json::empty(),
        };
        if !matches!(namespace, "" | "/" | "root" | "root/") {
            return Err(ApiAnswer::error(404, "namespace not found"));
        }
        let anybody = matches!(found, Ok(found) if found.route.without_token);
        if token.is_none() && !anybody {
            return Err(ApiAnswer::no_token());
        }
        let Found { route, mount, params } = found.as_ref().map_err(Clone::clone)?;
        let call = ApiCall { gateway: self, mount, params, members: &members, token, head };
        if route.operation.is_some_and(|operation| !call.permits(operation)) {
            return Err(ApiAnswer::forbidden());
        }
        let mut done = route.run(&call)?;
        done.warn(route.warnings(&members, params));
        Ok(done.answer(id))
    }
}

/// The parameters in a query.
fn query(head: &RequestHead) -> Json {
    let (pairs, _) = pairs(&head.query);
    let members = pairs.into_iter().filter(|(name, _)| name != "list" && name != "help");
    Json::Object(members.map(|(name, value)| (name, Json::String(value))).collect())
}

/// The parameters in a body: JSON, whatever its type is said to be; a form, if it is said to be one and is no
/// JSON.
fn body_of(head: &RequestHead, body: &[u8]) -> Result<Json, String> {
    let kind = head.content_type.as_deref().unwrap_or("");
    let is_form = kind.split(';').next().unwrap_or("").trim() == "application/x-www-form-urlencoded";
    let begins = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if !is_form || matches!(begins, None | Some(b'{' | b'[')) {
        return read_object(body);
    }
    let text = std::str::from_utf8(body).map_err(|_| "error parsing form data")?;
    // a pair is two texts, as a member of an object is
    if text.bytes().filter(|byte| *byte == b'&').count() >= STRINGS / 2 {
        return Err("refused form data due to high complexity: exceeded maximum number of strings".into());
    }
    let (pairs, is_whole) = pairs(text);
    if !is_whole {
        return Err("error parsing form data".into());
    }
    Ok(Json::Object(pairs.into_iter().map(|(name, value)| (name, Json::String(value))).collect()))
}

/// The answer to a path with double slashes or dots.
fn moved(head: &RequestHead, to: &str) -> ApiAnswer {
    let query = if head.query.is_empty() { String::new() } else { format!("?{}", head.query) };
    // browsers take a backslash for a slash, and two of them for the name of another host
    let location = format!("{to}{query}").replace('\\', "%5C");
    let answer = if Verb::of(&head.method) == Some(Verb::Read) {
        let link: String = location
            .chars()
            .map(|c| match c {
                '<' => "&lt;".into(),
                '>' => "&gt;".into(),
                '&' => "&amp;".into(),
                '"' => "&#34;".into(),
                '\'' => "&#39;".into(),
                other => other.to_string(),
            })
            .collect();
        let body = format!("<a href=\"{link}\">Temporary Redirect</a>.\n\n").into_bytes();
        let (body, content_type) = (Some(zeroize::Zeroizing::new(body)), Some("text/html; charset=utf-8"));
        ApiAnswer { body, content_type, ..ApiAnswer::empty(307) }
    } else {
        ApiAnswer { content_type: None, ..ApiAnswer::empty(307) }
    };
    answer.with_header("Location", location)
}

/// A path as Go quotes it.
fn escaped(path: &str) -> String {
    path.replace('\\', "\\\\").replace('"', "\\\"")
}

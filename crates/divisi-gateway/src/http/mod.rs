//! HTTP around the API: requests become a [`RequestHead`] and a body, answers become responses.
//!
//! **What bounds the memory**: a body counts against a budget of all bodies as it comes, so that one that
//! drips holds what it has sent and no more; a body that is too long is refused by its announced length. A
//! long answer counts against the same budget until it is sent, and a client that does not read it loses it
//! after a time. Requests that ask the servers wait in a queue of bounded length, and at most as many are
//! done at a time as there are connections. **What is not wiped**: the buffers in which hyper reads and
//! writes.

mod body;
mod certificate;
mod deadline;
mod serve;
#[cfg(test)]
mod tests;
mod tls;

pub(crate) use serve::{ENDING, Stream, accept_until, stopped};
pub use serve::{Socket, bind, serve};
pub use tls::Certificates;

use crate::api::{ApiAnswer, Gateway, RequestHead, Verb};
use crate::log::{GatewayLog, RequestLine, unnamed};
use crate::turns::{NoTurn, ServerTurns};
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::response::Response;
use body::Share;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::body::Frame;
use hyper::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, STRICT_TRANSPORT_SECURITY,
};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

/// From this length on the recorded server sends a body in chunks.
const CHUNKED: usize = 2048;
/// The least budget for bodies, in bytes: it holds two of the longest ones, too.
const BODIES: usize = 8 << 20;
/// By how much the answers to two of the longest bodies may be longer than they.
const LONGER: usize = 256 << 10;
/// The longest body of a request without a token that is known, which is refused anyway: it is read for the
/// sake of programs that send all of it before they read.
const STRANGERS: usize = 64 << 10;
/// The budget for bodies of strangers, in bytes: it is not that of others.
const BODIES_OF_STRANGERS: usize = 1 << 20;
/// The unit of the budget.
pub(crate) const UNIT: usize = 1024;

/// The limits of the service.
#[derive(Clone, Copy, Debug)]
pub struct ServiceLimits {
    /// The longest body.
    pub body_bytes: usize,
    /// The most requests that wait for the servers or are done.
    pub queue: usize,
    /// The most requests that are done at a time.
    pub turns: usize,
    /// Whether the log names keys.
    pub log_keys: bool,
}

/// The API with its limits and its log.
pub struct Service {
    gateway: Arc<Gateway>,
    log: GatewayLog,
    limits: ServiceLimits,
    /// What all bodies may take, in units of [`UNIT`].
    memory: Arc<Semaphore>,
    /// The same for requests without a token that is known.
    strangers: Arc<Semaphore>,
    /// What the bodies that are being worked on may take: each becomes several copies, as values, as bytes,
    /// as what the servers are sent, and as an answer.
    work: Arc<Semaphore>,
    turns: ServerTurns,
}

/// The budget for bodies of at most this length, in units.
const fn budget_of(longest: usize) -> usize {
    let (two, least) = (2 * body::units(longest), body::units(BODIES));
    (if two > least { two } else { least }) + body::units(LONGER)
}

impl Service {
    /// The service.
    #[must_use]
    pub fn new(gateway: Arc<Gateway>, log: GatewayLog, limits: ServiceLimits) -> Arc<Service> {
        let memory = Arc::new(Semaphore::new(budget_of(limits.body_bytes)));
        let strangers = Arc::new(Semaphore::new(body::units(BODIES_OF_STRANGERS)));
        let work = Arc::new(Semaphore::new(body::units(limits.body_bytes)));
        let turns = ServerTurns::new(limits.queue, limits.turns);
        Arc::new(Service { gateway, log, limits, memory, strangers, work, turns })
    }

    /// The turns of its requests, for another face that shares them.
    #[must_use]
    pub fn turns(&self) -> ServerTurns {
        self.turns.clone()
    }

    /// What answers requests: one handler, since the routes are those of the API's table.
    pub fn router(self: Arc<Self>) -> Router {
        Router::new().fallback(handle).with_state(self)
    }

    async fn answer(&self, head: RequestHead, announced: Option<u64>, body: Body, id: &str) -> Handled {
        let plan = self.gateway.plan(&head);
        let (route, key) = (plan.name(), plan.key().filter(|_| self.limits.log_keys).map(str::to_owned));
        let hidden = plan.servers_key().filter(|_| !self.limits.log_keys);
        let stranger = !self.gateway.knows(&head);
        let budget = if stranger { &self.strangers } else { &self.memory };
        let mut whole = true;
        let (answer, token, share) = if Verb::of(&head.method) == Some(Verb::Write) {
            let most = if stranger { STRANGERS } else { self.limits.body_bytes };
            if stranger && announced.is_some_and(|length| length > most as u64) {
                (body::close(ApiAnswer::no_token()), None, None)
            } else {
                match body::read(body, announced, most, budget).await {
                    Ok((body, share)) => self.done(head, plan.needs_servers(), body, share, id).await,
                    Err(answer) => (answer, None, None),
                }
            }
        } else {
            whole = body.is_end_stream() || body::drain(body, announced).await;
            self.done(head, plan.needs_servers(), Zeroizing::default(), None, id).await
        };
        let length = answer.body.as_ref().map_or(0, |body| body.len());
        let (mut answer, share) = match body::share_of_answer(length, share, budget) {
            Some(share) => (answer, share),
            None => (ApiAnswer::busy(), None),
        };
        if let Some(key) = hidden {
            answer.note = answer.note.map(|note| unnamed(&note, &key));
        }
        // what is left of a body would be taken for the next request
        let answer = if whole { answer } else { body::close(answer) };
        Handled { answer, share, route, token, key }
    }

    /// The answer to a request whose body is there, the name of its token, and the share of its body.
    async fn done(
        &self,
        head: RequestHead,
        needs_servers: bool,
        body: Zeroizing<Vec<u8>>,
        share: Share,
        id: &str,
    ) -> (ApiAnswer, Option<String>, Share) {
        let Some(work) = body::work(body.len(), &self.work).await else {
            return (ApiAnswer::down(None, NoTurn::LATE), None, None);
        };
        if !needs_servers {
            let (answer, token) = self.gateway.answer(&head, &self.gateway.plan(&head), &body, id);
            return (answer, token, share);
        }
        let turn = match self.turns.take().await {
            Ok(turn) => turn,
            Err(NoTurn::Full) => return (ApiAnswer::busy(), None, None),
            Err(NoTurn::Late) => return (ApiAnswer::down(None, NoTurn::LATE), None, None),
        };
        let (gateway, id) = (Arc::clone(&self.gateway), id.to_owned());
        // a client that goes away does not stop what the servers have begun
        let done = tokio::task::spawn_blocking(move || {
            let plan = gateway.plan(&head);
            let (answer, token) = gateway.answer(&head, &plan, &body, &id);
            drop((turn, body, work));
            (answer, token, share)
        });
        let ended = || (ApiAnswer::down(None, "the thread of the request ended: see the log"), None, None);
        done.await.unwrap_or_else(|_| ended())
    }
}

/// An answer, and what the log says of it.
struct Handled {
    answer: ApiAnswer,
    /// What the answer takes of the budget.
    share: Share,
    route: String,
    token: Option<String>,
    key: Option<String>,
}

async fn handle(State(service): State<Arc<Service>>, request: Request) -> Response {
    let begun = Instant::now();
    let id = service.gateway.request_id();
    let (parts, body) = request.into_parts();
    let announced = text(&parts.headers, "content-length").and_then(|length| length.parse().ok());
    let head = RequestHead {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or("").to_owned(),
        token: token(&parts.headers),
        namespace: text(&parts.headers, "x-vault-namespace"),
        content_type: text(&parts.headers, "content-type"),
    };
    let handled = service.answer(head, announced, body, &id).await;
    service.log.request(&RequestLine {
        id: &id,
        route: &handled.route,
        status: handled.answer.status,
        lasted: begun.elapsed(),
        token: handled.token.as_deref(),
        key: handled.key.as_deref(),
        note: handled.answer.note.as_deref(),
    });
    response(handled.answer, handled.share)
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The token that is presented: `X-Vault-Token` counts before `Authorization`.
fn token(headers: &HeaderMap) -> Option<Zeroizing<String>> {
    let lossy = |value: &HeaderValue| Zeroizing::new(String::from_utf8_lossy(value.as_bytes()).into_owned());
    let own = headers.get("x-vault-token").filter(|value| !value.is_empty());
    own.map(lossy).or_else(|| {
        let bearer = lossy(headers.get(AUTHORIZATION)?);
        Some(Zeroizing::new(bearer.strip_prefix("Bearer ")?.to_owned()))
    })
}

/// A body in one piece that does not say its length, so that it goes out in chunks.
struct OfUnsaidLength(Option<Bytes>);

impl HttpBody for OfUnsaidLength {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The bytes of an answer, which are wiped, and their share of the budget.
struct Charged {
    bytes: Zeroizing<Vec<u8>>,
    _share: Share,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn response(answer: ApiAnswer, share: Share) -> Response {
    let is_json = answer.content_type == Some("application/json");
    // what is no request at all has none of the usual headers
    let is_bare = answer.status == 400 && !is_json;
    let length = answer.body.as_ref().map_or(0, |body| body.len());
    // the buffer is wiped, and its share free, when the last byte is sent
    let body = answer.body.map(|body| Bytes::from_owner(Charged { bytes: body, _share: share }));
    let body = if length > CHUNKED {
        Body::new(OfUnsaidLength(body))
    } else {
        body.map_or_else(Body::empty, Body::from)
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    let headers = response.headers_mut();
    if !is_bare {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let forever = HeaderValue::from_static("max-age=31536000; includeSubDomains");
        headers.insert(STRICT_TRANSPORT_SECURITY, forever);
    }
    // what has no body has no type
    if let Some(kind) = answer.content_type.filter(|_| answer.status != 304) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    for (name, value) in answer.headers {
        // a header that cannot be sent is left out: nothing depends on it
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
            headers.insert(name, value);
        }
    }
    response
}

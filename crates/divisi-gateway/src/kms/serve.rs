//! Connections of HTTP/2, and what bounds them.
//!
//! A connection must ask something soon, and is closed when it has asked nothing for long. A request has a
//! time in which it must have come and been answered, so that one that drips ends; if its client waits for
//! less, it hears before that whom the gateway waits for. What a peer may send in
//! advance is bounded by the windows of HTTP/2, and what is kept of requests by their number and the limit of
//! a message. It stands in place of tonic's own transport, as `crate::http` does in place of axum's.

use super::KmsFace;
use super::generated::server::KeyManagementServiceServer;
use super::service::KmsService;
use super::told::Told;
use crate::http::{ENDING, Stream, stopped};
use crate::log::{RequestLine, fresh_id, unnamed};
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::{Code, Status};

/// The longest message: an answer of this plugin that comes back is far shorter, and what another one gave
/// has at most 32 kB of annotations.
const LONGEST_MESSAGE: usize = 64 << 10;
/// The longest headers of a request.
const HEADERS: u32 = 8 << 10;
/// The most requests of a connection at a time.
const STREAMS: u32 = 64;
/// What a peer may send before it was read: the least that HTTP/2 allows for a connection.
const WINDOW: u32 = (64 << 10) - 1;
/// How long a request may take, from its headers to its answer.
const REQUEST: Duration = Duration::from_secs(30);
/// How long a connection may be open without a request.
const FIRST: Duration = Duration::from_secs(10);
/// How long a connection may be idle: longer than kube-apiserver waits from one `Status` to the next.
const IDLE: Duration = Duration::from_secs(300);
/// How often a connection is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// The requests of a connection.
struct Activity {
    under_way: usize,
    /// When the last one ended, or the connection began.
    since: Instant,
    /// Whether there was one.
    any: bool,
}

/// A request under way.
struct UnderWay(Arc<Mutex<Activity>>);

impl UnderWay {
    fn of(activity: &Arc<Mutex<Activity>>) -> UnderWay {
        let mut now = activity.lock().unwrap_or_else(PoisonError::into_inner);
        now.under_way += 1;
        now.any = true;
        UnderWay(Arc::clone(activity))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        now.under_way = now.under_way.saturating_sub(1);
        now.since = Instant::now();
    }
}

/// Whether a connection has asked nothing for too long.
fn is_idle(activity: &Mutex<Activity>) -> bool {
    let now = activity.lock().unwrap_or_else(PoisonError::into_inner);
    now.under_way == 0 && now.since.elapsed() >= if now.any { IDLE } else { FIRST }
}

/// Serve a connection until its peer or `stop` ends it.
pub(super) async fn connection(stream: Stream, face: Arc<KmsFace>, mut stop: watch::Receiver<bool>) {
    // there is no address to listen at
    let Stream::Unix(stream) = stream else { return };
    let activity = Activity { under_way: 0, since: Instant::now(), any: false };
    let activity = Arc::new(Mutex::new(activity));
    let service = service_fn(|request| {
        let (face, under_way) = (Arc::clone(&face), UnderWay::of(&activity));
        async move {
            let answer = handle(&face, request).await;
            drop(under_way);
            Ok::<_, Infallible>(answer)
        }
    });
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(HEADERS)
        .initial_connection_window_size(WINDOW)
        .initial_stream_window_size(WINDOW)
        .max_send_buf_size(LONGEST_MESSAGE);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut looks = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            // an error is the client's: it went away, or sent what is no HTTP/2
            _ = connection.as_mut() => return,
            () = stopped(&mut stop) => break,
            _ = looks.tick() => if is_idle(&activity) { break },
        }
    }
    if !activity.lock().unwrap_or_else(PoisonError::into_inner).any {
        return;
    }
    connection.as_mut().graceful_shutdown();
    // a peer that does not end it has no request under way, or had its time
    let _ = tokio::time::timeout(ENDING, connection).await;
}

/// Answer a request, and say so in the log.
async fn handle(face: &Arc<KmsFace>, mut request: Request<Incoming>) -> Response<Body> {
    let begun = Instant::now();
    let route = match request.uri().path() {
        "/v2.KeyManagementService/Status" => "kms/status",
        "/v2.KeyManagementService/Encrypt" => "kms/encrypt",
        "/v2.KeyManagementService/Decrypt" => "kms/decrypt",
        _ => "none",
    };
    let told = Told::default();
    request.extensions_mut().insert(told.clone());
    let answer = answer(face, request).await;
    let status = Status::from_header_map(answer.headers());
    let code = status.as_ref().map_or(Code::Ok, Status::code);
    // other sentences name the key
    let later = matches!(code, Code::Unavailable | Code::ResourceExhausted | Code::DeadlineExceeded);
    let named = face.log_keys && route != "none";
    let note = status.as_ref().filter(|_| later).map(Status::message);
    let note = note.map(|note| if face.log_keys { note.into() } else { unnamed(note, face.key.as_str()) });
    face.log.request(&RequestLine {
        id: &told.take().unwrap_or_else(|| fresh_id(&*face.world)),
        route,
        status: of_http(code),
        lasted: begun.elapsed(),
        token: None,
        key: named.then(|| face.key.as_str()),
        note: note.as_deref(),
    });
    answer
}

async fn answer(face: &Arc<KmsFace>, request: Request<Incoming>) -> Response<Body> {
    let Ok(place) = face.requests.try_acquire() else {
        return Status::resource_exhausted("too many requests are under way: try again").into_http();
    };
    let within = time_of(request.headers()).map_or(REQUEST, |time| time.min(REQUEST));
    let server = KeyManagementServiceServer::new(KmsService(Arc::clone(face)));
    let mut server = server.max_decoding_message_size(LONGEST_MESSAGE);
    let answer = tokio::time::timeout(within, server.call(request)).await;
    drop(place);
    match (answer, face.servers.health().waits_for()) {
        (Ok(Ok(answer)), _) if is_unread(&answer) => {
            Status::invalid_argument("the request cannot be read: send a message of KMS v2").into_http()
        }
        (Ok(Ok(answer)), _) => answer,
        (Err(_), Some(waits)) => {
            Status::unavailable(format!("the servers cannot answer now: the gateway {waits}")).into_http()
        }
        (Err(_), None) => {
            Status::deadline_exceeded("the request did not come, or had no turn, in time: try again")
                .into_http()
        }
    }
}

/// Whether tonic could not read the request: no call answers with these codes, which name the server's fault.
fn is_unread(answer: &Response<Body>) -> bool {
    let status = Status::from_header_map(answer.headers());
    status.is_some_and(|status| matches!(status.code(), Code::Internal | Code::Unknown | Code::DataLoss))
}

/// How long a request may take if its client waits for so long, and is to hear why it gets no answer.
fn time_of(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if !(1..=8).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    let time = match unit {
        "H" => Duration::from_secs(count * 3600),
        "M" => Duration::from_secs(count * 60),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return None,
    };
    // the tenth that is left is for the way back
    Some(time * 9 / 10)
}

/// The status of HTTP that means the same, so that lines of the log have one kind of status.
const fn of_http(code: Code) -> u16 {
    match code {
        Code::Ok => 200,
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => 400,
        Code::ResourceExhausted => 429,
        Code::Cancelled => 499,
        Code::Unimplemented => 501,
        Code::Unavailable => 503,
        Code::DeadlineExceeded => 504,
        _ => 500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection is idle when all of its requests have ended, and only from then on.
    #[test]
    fn a_connection_is_idle_after_its_last_request() {
        let begun = Instant::now();
        let activity = Arc::new(Mutex::new(Activity { under_way: 0, since: begun, any: false }));
        let [one, two] = [(); 2].map(|()| UnderWay::of(&activity));
        for (request, left) in [(one, 1), (two, 0)] {
            let before = Instant::now();
            drop(request);
            let now = activity.lock().unwrap();
            assert_eq!((now.under_way, now.any), (left, true));
            assert!(now.since >= before);
        }
    }

    #[test]
    fn times_of_clients_are_read_and_shortened() {
        let time = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("grpc-timeout", text.parse().unwrap());
            time_of(&headers)
        };
        assert_eq!(time("3S"), Some(Duration::from_millis(2700)));
        assert_eq!(time("2999999u"), Some(Duration::from_nanos(2_699_999_100)));
        assert_eq!(time("99999999H"), Some(Duration::from_secs(99_999_999 * 3240)));
        for wrong in ["", "S", "3", "3s", "-3S", "+3S", "3-S", "3:S", "999999999S", "3 S", "3\u{e9}"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }

    /// A connection that has asked nothing yet is closed soon, one that has asked something after longer, and
    /// one that waits for an answer never.
    #[test]
    fn a_connection_is_idle_after_its_time() {
        for (under_way, any, seconds, idle) in [
            (0, false, 5, false),
            (0, false, 10, true),
            (0, true, 200, false),
            (0, true, 300, true),
            (1, true, 400, false),
        ] {
            // a machine that began a moment ago has no time that long ago
            if let Some(since) = Instant::now().checked_sub(Duration::from_secs(seconds)) {
                let activity = Mutex::new(Activity { under_way, since, any });
                assert_eq!(is_idle(&activity), idle, "{under_way} {any} {seconds}");
            }
        }
    }
}

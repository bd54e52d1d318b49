//! The log: a JSON object on each line of standard error. A line of a request has its id, route, status and
//! duration; no body, no token, and a key's name only if the configuration says so.
//!
//! A thread writes the lines, so that a pipe that nobody reads stops no request: lines that find no room in
//! the queue are dropped, and counted in a line of their own.

use crate::json::{Json, object};
use divisi_net::World;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The largest number of lines that wait to be written.
const QUEUE: usize = 1024;

enum Entry {
    Line(Vec<u8>),
    /// Answer when all earlier lines are written.
    Flush(SyncSender<()>),
}

/// The log. Clones write to the same place.
#[derive(Clone)]
pub struct GatewayLog {
    queue: SyncSender<Entry>,
    dropped: Arc<AtomicU64>,
}

/// What the log says of a request.
#[derive(Clone, Debug)]
pub struct RequestLine<'a> {
    /// The id in the answer.
    pub id: &'a str,
    /// The route of the table, or what stands for none.
    pub route: &'a str,
    /// The status of HTTP, or the one that stands for gRPC's.
    pub status: u16,
    /// The duration.
    pub lasted: Duration,
    /// The name of the token, which is no token.
    pub token: Option<&'a str>,
    /// The name of the key, if the configuration says so.
    pub key: Option<&'a str>,
    /// Why servers could not answer, without the name of the key unless the configuration says so.
    pub note: Option<&'a str>,
}

impl GatewayLog {
    /// A log that a thread of its own writes to `out`.
    ///
    /// # Errors
    /// The system's error if no thread can be started.
    pub fn new(out: impl Write + Send + 'static) -> std::io::Result<GatewayLog> {
        let (queue, entries) = sync_channel(QUEUE);
        let dropped = Arc::<AtomicU64>::default();
        let lost = Arc::clone(&dropped);
        std::thread::Builder::new().name("log".into()).spawn(move || write(out, &entries, &lost))?;
        Ok(GatewayLog { queue, dropped })
    }

    /// A line about the gateway itself.
    pub fn say(&self, line: &str) {
        self.put(&[("line", Json::text(line))]);
    }

    /// A line about a request.
    pub fn request(&self, line: &RequestLine<'_>) {
        let ms = format!("{:.1}", line.lasted.as_secs_f64() * 1e3);
        let mut members = vec![
            ("id", Json::text(line.id)),
            ("route", Json::text(line.route)),
            ("status", Json::number(line.status)),
            ("ms", Json::Number(ms.into())),
        ];
        let further = [("token", line.token), ("key", line.key), ("note", line.note)];
        members.extend(further.into_iter().filter_map(|(name, text)| Some((name, Json::text(text?)))));
        self.put(&members);
    }

    fn put(&self, members: &[(&str, Json)]) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut all = vec![("time".to_owned(), Json::Number(format!("{:.3}", now.as_secs_f64()).into()))];
        all.extend(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let line = Json::Object(all).write_line().to_vec();
        if self.queue.try_send(Entry::Line(line)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Wait until all lines so far are written, but no longer than `within`.
    pub fn flush(&self, within: Duration) {
        let (done, told) = sync_channel(1);
        if self.queue.try_send(Entry::Flush(done)).is_ok() {
            // if nobody reads the log, its last lines are lost
            let _: Result<(), RecvTimeoutError> = told.recv_timeout(within);
        }
    }
}

/// A note without this name of a key: what a server says may repeat it.
#[must_use]
pub fn unnamed(note: &str, key: &str) -> String {
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let (mut text, mut rest) = (String::new(), note);
    while let Some(place) = rest.find(key).filter(|_| !key.is_empty()) {
        let (before, found) = rest.split_at(place);
        let after = found.get(key.len()..).unwrap_or_default();
        // the name of another key may have this one in it
        let last = before.chars().next_back().or_else(|| text.chars().next_back());
        let is_part = last.is_some_and(of_name) || after.starts_with(of_name);
        text.push_str(before);
        text.push_str(if is_part { key } else { "KEY" });
        rest = after;
    }
    text + rest
}

/// A fresh id for a request, in the form of a UUID.
#[must_use]
pub fn fresh_id(world: &dyn World) -> String {
    let mut bytes = [0; 16];
    world.entropy(&mut bytes);
    let digits = data_encoding::HEXLOWER.encode(&bytes);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

fn write(mut out: impl Write, entries: &Receiver<Entry>, dropped: &AtomicU64) {
    while let Ok(entry) = entries.recv() {
        let written = match entry {
            Entry::Line(line) => out.write_all(&line),
            Entry::Flush(done) => {
                let flushed = out.flush();
                // whoever asked may have given up
                let _ = done.try_send(());
                flushed
            }
        };
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let line = object([("line", Json::text(format!("{lost} lines of this log were dropped")))]);
            let _ = out.write_all(&line.write_line());
        }
        // a log that cannot be written stops nothing
        drop(written);
    }
}

//! The log of a server: lines on standard error, each with the time and the party.
//!
//! A separate thread writes the lines, so that a pipe that nobody reads does not stop the server: lines that
//! find no room in the queue are dropped and counted, and the count becomes a line of the log when somebody
//! reads again.

use divisi_net::{Machine, PartyId, World};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

/// The largest number of lines that wait to be written.
const QUEUE: usize = 1024;
/// How often [`Log::flush`] looks for room in a full queue.
const PAUSE: Duration = Duration::from_millis(2);

enum Entry {
    Line(String),
    /// Answer when all earlier lines are written.
    Flush(Sender<()>),
}

/// How a line of the log is written, with the time and the party.
type Form = fn(PartyId, &str) -> String;

/// The log of a server.
#[derive(Clone)]
pub struct Log {
    me: PartyId,
    form: Form,
    queue: SyncSender<Entry>,
    dropped: Arc<AtomicU64>,
}

impl Log {
    /// The log of a party, which a separate thread writes to `out`.
    ///
    /// # Errors
    /// The error of the system if no thread can be started.
    pub fn new(me: PartyId, out: impl Write + Send + 'static) -> std::io::Result<Log> {
        Log::with(me, stamped, out)
    }

    /// The same, with a JSON object on each line: members `time`, `party` and `line`.
    ///
    /// # Errors
    /// As for [`Log::new`].
    pub fn json(me: PartyId, out: impl Write + Send + 'static) -> std::io::Result<Log> {
        Log::with(me, object, out)
    }

    fn with(me: PartyId, form: Form, out: impl Write + Send + 'static) -> std::io::Result<Log> {
        let (queue, entries) = sync_channel(QUEUE);
        let dropped = Arc::<AtomicU64>::default();
        let lost = dropped.clone();
        std::thread::Builder::new().name("log".into()).spawn(move || {
            let form = |line: &str| form(me, line);
            write(&form, out, &entries, &lost);
        })?;
        Ok(Log { me, form, queue, dropped })
    }

    /// Queue a line. Never blocks.
    pub fn line(&self, line: &str) {
        if self.queue.try_send(Entry::Line((self.form)(self.me, line))).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Wait until all lines so far are written, but no longer than `within`.
    pub fn flush(&self, within: Duration) {
        let (until, (done, told)) = (Machine.now() + within, channel());
        // a queue that is full has room as soon as somebody reads
        while self.queue.try_send(Entry::Flush(done.clone())).is_err() && Machine.now() < until {
            std::thread::sleep(PAUSE);
        }
        // if nobody reads the log, its last lines are lost
        let _ = told.recv_timeout(until.saturating_duration_since(Machine.now()));
    }
}

fn write(form: &dyn Fn(&str) -> String, mut out: impl Write, entries: &Receiver<Entry>, dropped: &AtomicU64) {
    for entry in entries {
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let line = format!("{lost} lines of this log were dropped, because nobody read it fast enough");
            let _ = writeln!(out, "{}", form(&line));
        }
        match entry {
            // a closed standard error stops no server
            Entry::Line(line) => drop(writeln!(out, "{line}")),
            Entry::Flush(done) => drop(done.send(())),
        }
    }
}

fn stamped(me: PartyId, line: &str) -> String {
    format!("{} {me}: {line}", utc(Machine.unix_time().as_secs()))
}

fn object(me: PartyId, line: &str) -> String {
    let time = utc(Machine.unix_time().as_secs());
    serde_json::json!({ "time": time, "party": me.number(), "line": line }).to_string()
}

/// A time in seconds since 1970 as RFC 3339 writes it.
#[must_use]
pub fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // In years that begin in March a leap day is the last day, and 400 of them have 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that writes nothing until the channel lets it.
    struct Stuck(std::sync::mpsc::Receiver<()>, Arc<std::sync::Mutex<Vec<u8>>>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            // an error means that the channel is closed: then everything is written
            let _ = self.0.recv();
            self.1.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_that_nobody_reads_stops_nobody_and_tells_how_much_was_lost() {
        let (let_go, wait) = channel();
        let written = Arc::default();
        let log = Log::new(PartyId::P2, Stuck(wait, Arc::clone(&written))).unwrap();
        let lines = QUEUE + 100;
        (0..lines).for_each(|i| log.line(&format!("line {i}")));
        drop(let_go);
        // waits for room in a queue that is full
        log.flush(Duration::from_secs(60));
        log.line("room again");
        log.flush(Duration::from_secs(60));
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert!(text.contains("party 2: line 0\n") && text.ends_with("room again\n"), "{text}");
        let lost: usize = text
            .lines()
            .filter_map(|line| line.split_once("party 2: ")?.1.split_once(" lines of this log were dropped"))
            .map(|(n, _)| n.parse::<usize>().unwrap())
            .sum();
        assert_eq!(lost + text.lines().filter(|line| line.contains(": line ")).count(), lines);
        assert!(lost >= 98, "{lost}");
    }

    /// Each line is an object by itself, whatever the line holds.
    #[test]
    fn a_log_for_programs_has_an_object_on_each_line() {
        let (let_go, wait) = channel();
        let written = Arc::default();
        let log = Log::json(PartyId::P3, Stuck(wait, Arc::clone(&written))).unwrap();
        drop(let_go);
        let said = ["listens", "a \"quoted\" word\nand another line"];
        said.iter().for_each(|line| log.line(line));
        log.flush(Duration::from_secs(60));
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
        for (line, said) in text.lines().zip(said) {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!((object["party"].as_u64(), object["line"].as_str()), (Some(3), Some(said)));
            assert!(object["time"].as_str().unwrap().ends_with('Z'));
        }
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_799, "2024-02-28T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), text);
        }
    }
}

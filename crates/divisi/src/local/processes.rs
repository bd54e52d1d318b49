//! The parties' processes, seen from the process that starts them: its orders, their reports, and which party
//! to name when one fails.

use super::blame::Wrong;
use super::frame::{decode, encode, read_frame, write_frame};
use super::{PARTY, PartyProgram};
use crate::cleanup::{Cleanup, Entry, SharedChild, lock};
use crate::failure::{Failure, Kind};
use divisi_net::PartyId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::io::{self, BufReader, Read};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long to listen to the others when one party has failed.
const LISTEN: Duration = Duration::from_millis(400);
/// How long the end of a process may take to be seen after its peers have lost it.
const END: Duration = Duration::from_millis(250);
/// The number of bytes at the end of a party's standard error that are kept.
const KEPT: usize = 4096;

/// One running party, seen from the process that started it.
struct Process {
    party: PartyId,
    child: SharedChild,
    entry: Option<Entry>,
    /// The queue of a thread that writes to the party's input: a party that does not read delays no other.
    orders: Option<Sender<Vec<u8>>>,
    stderr: Option<JoinHandle<String>>,
    /// Frames that arrived before anybody asked for them.
    early: VecDeque<Vec<u8>>,
}

/// What came from a party: a report, or the end of its output.
type Arrival = (PartyId, io::Result<Vec<u8>>);

/// All parties of one command.
pub struct Processes {
    parties: Vec<Process>,
    arrivals: Receiver<Arrival>,
}

impl Processes {
    /// Start `n` parties as `program party role`, party by party.
    ///
    /// # Errors
    /// [`Failure`] if a process cannot be started.
    pub fn start(program: &PartyProgram, role: &str, n: usize, cleanup: &Cleanup) -> Result<Self, Failure> {
        let (give, arrivals) = channel();
        let mut parties = Vec::with_capacity(n);
        for party in PartyId::all(n) {
            let failed = |e: io::Error| {
                Failure::unavailable(format!(
                    "{party} cannot be started ({e}): check that {} can be run",
                    program.path().display()
                ))
            };
            let mut child = program
                .command([PARTY, role])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .map_err(failed)?;
            let (orders, reports, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
            let child: SharedChild = Arc::new(Mutex::new(child));
            let entry = cleanup.process(Arc::clone(&child));
            let give = give.clone();
            if let Some(reports) = reports {
                std::thread::spawn(move || forward(party, reports, &give));
            }
            let stderr = stderr.map(|stderr| std::thread::spawn(move || tail(stderr)));
            parties.push(Process {
                party,
                child,
                entry: Some(entry),
                orders: orders.map(deliver),
                stderr,
                early: VecDeque::new(),
            });
        }
        Ok(Processes { parties, arrivals })
    }

    /// The number of parties.
    #[must_use]
    pub fn count(&self) -> usize {
        self.parties.len()
    }

    /// The process id of a party.
    #[must_use]
    pub fn process_id(&self, party: PartyId) -> Option<u32> {
        self.parties.get(party.index()).map(|process| lock(&process.child).id())
    }

    /// Send a party an order.
    ///
    /// # Errors
    /// [`Failure`] if the party has ended; it tells how.
    pub fn order(&mut self, party: PartyId, order: &impl Serialize) -> Result<(), Failure> {
        let body = encode(order)?;
        self.bytes(party, &body)
    }

    /// Send a party bytes that it expects.
    ///
    /// # Errors
    /// [`Failure`] if the party has ended; it tells how.
    pub fn bytes(&mut self, party: PartyId, body: &[u8]) -> Result<(), Failure> {
        let orders = self.parties.get_mut(party.index()).and_then(|process| process.orders.as_ref());
        match orders.map(|orders| orders.send(body.to_vec())) {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended(party, "receiving an order")),
        }
    }

    /// Send all parties the same order.
    ///
    /// # Errors
    /// [`Failure`] if a party has ended; it tells how.
    pub fn order_all(&mut self, order: &impl Serialize) -> Result<(), Failure> {
        let body = encode(order)?;
        PartyId::all(self.count()).try_for_each(|party| self.bytes(party, &body))
    }

    /// The next frame of each party, in the parties' order. The parties work in lockstep: when one has
    /// answered, the others must do so within `within`.
    ///
    /// # Errors
    /// [`Failure`] if a party ends or stalls; it names the party, and `step` as the step.
    pub fn frames(&mut self, step: &str, within: Duration) -> Result<Vec<Vec<u8>>, Failure> {
        self.gather(step, within, |_| None)
    }

    /// The next report of each party. A report of failure, from any of them, is the failure of the command.
    ///
    /// # Errors
    /// [`Failure`] if a party reports one, ends, or reports nothing in time.
    pub fn reports<T: DeserializeOwned>(&mut self, step: &str, within: Duration) -> Result<Vec<T>, Failure> {
        let failure = |frame: &[u8]| match decode::<Result<T, Failure>>(frame) {
            Ok(Ok(_)) => None,
            Ok(Err(failure)) | Err(failure) => Some(failure),
        };
        let frames = self.gather(step, within, failure)?;
        frames.iter().map(|frame| decode::<Result<T, Failure>>(frame).and_then(|report| report)).collect()
    }

    fn gather(
        &mut self,
        step: &str,
        within: Duration,
        failure: impl Fn(&[u8]) -> Option<Failure>,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        // A party may be a frame ahead of the others.
        let mut frames: Vec<Option<Vec<u8>>> =
            self.parties.iter_mut().map(|process| process.early.pop_front()).collect();
        let mut wrong = Wrong::default();
        for (party, frame) in PartyId::all(frames.len()).zip(&frames) {
            wrong.said.extend(frame.as_deref().and_then(&failure).map(|failure| (party, failure)));
        }
        let mut until: Option<Instant> = None;
        while let Some(missing) =
            PartyId::all(frames.len()).find(|p| frames.get(p.index()).is_some_and(Option::is_none))
        {
            let arrival = match until {
                None => self.arrivals.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => self.arrivals.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match arrival {
                Ok((party, Ok(frame))) => {
                    match (frames.get_mut(party.index()), self.parties.get_mut(party.index())) {
                        (Some(place @ None), _) => {
                            wrong.said.extend(failure(&frame).map(|failure| (party, failure)));
                            *place = Some(frame);
                        }
                        (_, Some(process)) => process.early.push_back(frame),
                        _ => {}
                    }
                }
                Ok((party, Err(_))) => wrong.ended.push(party),
                Err(_) if wrong.is_something() => break,
                Err(_) => {
                    let error = format!(
                        "{missing} did not answer within {} s at {step} while the others did: see whether its process is \
                         stopped, or give a longer --timeout",
                        within.as_secs_f64()
                    );
                    let failure = Failure { retry: true, ..Failure::new(Kind::Abort, error) };
                    return Err(failure.with_peer(missing).at(step));
                }
            }
            // When a party has failed, the others soon report more about it, or nothing at all.
            let limit = if wrong.is_something() { within.min(LISTEN) } else { within };
            let limit = Instant::now() + limit;
            until = Some(until.map_or(limit, |until| until.min(limit)));
            // a party that has reported and then ended counts once
            let complete =
                PartyId::all(frames.len()).zip(&frames).all(|(p, f)| f.is_some() || wrong.ended.contains(&p));
            if complete && wrong.is_something() {
                break;
            }
        }
        if wrong.is_something() {
            self.see_the_end(&mut wrong);
            let missing = PartyId::all(frames.len()).zip(&frames).filter(|(_, frame)| frame.is_none());
            wrong.silent =
                missing.map(|(party, _)| party).filter(|party| !wrong.ended.contains(party)).collect();
            return Err(self.failure(wrong, step));
        }
        Ok(frames.into_iter().flatten().collect())
    }

    /// Wait a short time for the end of a process whose link others have lost. A party may be killed after it
    /// has reported success, and its peers may then report the lost link before the end of its process is
    /// seen, which is more informative.
    fn see_the_end(&mut self, wrong: &mut Wrong) {
        let until = Instant::now() + END;
        while wrong.lost().is_some() {
            match self.arrivals.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((party, Err(_))) => wrong.ended.push(party),
                Ok((party, Ok(frame))) => {
                    if let Some(process) = self.parties.get_mut(party.index()) {
                        process.early.push_back(frame);
                    }
                }
                Err(_) => break,
            }
        }
    }

    /// The failure for a party that is gone. It includes what the others report about it soon, which is more
    /// informative than its silence.
    fn ended(&mut self, party: PartyId, step: &str) -> Failure {
        let mut wrong = Wrong { ended: vec![party], ..Wrong::default() };
        let soon = Instant::now() + LISTEN;
        while let Ok((other, arrival)) =
            self.arrivals.recv_timeout(soon.saturating_duration_since(Instant::now()))
        {
            let frame = arrival.unwrap_or_default();
            let failure = decode::<Result<(), Failure>>(&frame).ok().and_then(Result::err);
            wrong.said.extend(failure.map(|failure| (other, failure)));
        }
        self.failure(wrong, step)
    }

    fn failure(&mut self, wrong: Wrong, step: &str) -> Failure {
        wrong.failure(step, |party| self.parties.get_mut(party.index()).map(Process::end).unwrap_or_default())
    }

    /// Let the parties end by themselves, which they do when their input ends, and wait for them.
    ///
    /// # Errors
    /// [`Failure`] if a party does not end in time, or ends with a failure.
    pub fn close(mut self, within: Duration) -> Result<(), Failure> {
        for process in &mut self.parties {
            process.orders = None;
        }
        let until = Instant::now() + within;
        for process in &mut self.parties {
            loop {
                match lock(&process.child).try_wait() {
                    Ok(Some(_)) => break,
                    Ok(None) if Instant::now() < until => {}
                    _ => {
                        let error = format!(
                            "the process of {} did not end and was stopped: see its log",
                            process.party
                        );
                        return Err(Failure::unavailable(error).with_peer(process.party));
                    }
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            if let Some(entry) = process.entry.take() {
                entry.keep();
            }
        }
        Ok(())
    }
}

impl Process {
    /// End the process if it still runs. Returns how it ended, and the last line that it wrote to standard
    /// error.
    fn end(&mut self) -> (String, String) {
        self.orders = None;
        let status = {
            let mut child = lock(&self.child);
            // A process that has closed its output is about to end.
            for _ in 0..50 {
                if !matches!(child.try_wait(), Ok(None)) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            if matches!(child.try_wait(), Ok(None)) {
                let _ = child.kill();
            }
            child.wait()
        };
        let said = self.stderr.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        (status.map_or_else(|e| e.to_string(), |status| status.to_string()), last.to_owned())
    }
}

/// Start a thread that writes to a party's input, until the queue that is returned is closed or the party is
/// gone.
fn deliver(mut input: ChildStdin) -> Sender<Vec<u8>> {
    let (give, orders) = channel::<Vec<u8>>();
    std::thread::spawn(
        move || {
            while orders.recv().is_ok_and(|body| write_frame(&mut input, &body).is_ok()) {}
        },
    );
    give
}

/// Pass on every frame that a party sends, until its output ends.
fn forward(party: PartyId, reports: ChildStdout, give: &Sender<Arrival>) {
    let mut reports = BufReader::new(reports);
    loop {
        let frame = read_frame(&mut reports);
        let over = frame.is_err();
        if give.send((party, frame)).is_err() || over {
            return;
        }
    }
}

/// The end of the text that a party writes, read in bounded memory.
fn tail(mut stderr: impl Read) -> String {
    let (mut kept, mut piece) = (Vec::new(), [0; 1024]);
    while let Ok(n @ 1..) = stderr.read(&mut piece) {
        kept.extend_from_slice(piece.get(..n).unwrap_or_default());
        if kept.len() > KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use std::process::Command;

    #[test]
    fn the_last_of_a_long_output_is_kept() {
        let long = "a line\n".repeat(10_000) + "the end";
        let kept = tail(long.as_bytes());
        assert!(kept.len() <= KEPT && kept.ends_with("a line\nthe end"));
    }

    /// Three parties, played by `cat`. The second has reported success before it is killed, and its peers'
    /// reports arrive before the end of its output does.
    #[test]
    fn who_is_killed_after_a_good_report_is_named_with_the_signal() {
        let (give, arrivals) = channel();
        let start = |party| {
            let child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
            let child: SharedChild = Arc::new(Mutex::new(child));
            Process { party, child, entry: None, orders: None, stderr: None, early: VecDeque::new() }
        };
        let mut processes = Processes { parties: PartyId::all(3).map(start).collect(), arrivals };
        for party in PartyId::all(3) {
            let lost = Failure { retry: true, ..Failure::new(Kind::Abort, "the link to party 2 was lost") };
            let report = if party.number() == 2 { Ok(()) } else { Err(lost.with_peer(PartyId::P2)) };
            give.send((party, Ok(encode(&report).unwrap()))).unwrap();
        }
        lock(&processes.parties[1].child).kill().unwrap();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            give.send((PartyId::P2, Err(io::ErrorKind::UnexpectedEof.into()))).unwrap();
        });
        let failure = processes.reports::<()>("a/step", Duration::from_secs(5)).unwrap_err();
        assert!(failure.peer == Some(2) && failure.error.contains("signal: 9"), "{failure:?}");
        for process in &mut processes.parties {
            process.end();
        }
    }
}

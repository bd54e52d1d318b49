//! One request being served: what its items have in common.

use super::Node;
use super::desk::{Gone, Line};
use crate::agree::{About, NOTHING, agree};
use crate::error::{Failed, Stop};
use crate::gcm::GcmKey;
use crate::request::{ToClient, ToServer, context};
use crate::wire::Blob;
use divisi_core::{Check, PartyId, Step, Verified, step};
use divisi_rep3::Rep3;
use divisi_rep3::deal::Part;
use divisi_store::{KeyName, StoreError};
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::batch::Function;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const STOPPING: Step = step!("stopping");

/// How long a client may take for a message without any of its budget: a message's way and the client's work.
const QUICK: Duration = Duration::from_millis(200);
/// The most keys that stay ready in a session.
const READY: usize = 16;

/// Keys made ready in this session: the same, in the same order, at all three.
#[derive(Default)]
pub(crate) struct Ready(Vec<Prepared>);

struct Prepared {
    name: KeyName,
    id: [u8; 16],
    key: ReadyKey,
}

/// A key with what was made of it.
pub(crate) enum ReadyKey {
    /// For AES-GCM.
    Gcm(GcmKey),
    /// For a MAC, as these settings have it.
    Mac(Settings, Verified<Function<Rep3>>),
}

impl Ready {
    /// Take a key out, to be put back after its use.
    pub fn take(&mut self, id: &[u8; 16]) -> Option<ReadyKey> {
        let at = self.0.iter().position(|known| known.id == *id)?;
        Some(self.0.remove(at).key)
    }

    /// Put a key in; the one that was used longest ago may have to go.
    pub fn put(&mut self, name: KeyName, id: [u8; 16], key: ReadyKey) {
        if self.0.len() >= READY {
            self.0.remove(0);
        }
        self.0.push(Prepared { name, id, key });
    }

    /// Wipe all keys of a name, and whether there were any: not by id, which a server whose file is gone does not know.
    pub fn forget(&mut self, name: &KeyName) -> bool {
        let before = self.0.len();
        self.0.retain(|known| known.name != *name);
        self.0.len() < before
    }
}

/// A request on its way.
pub(crate) struct Turn<'a> {
    pub node: &'a Node,
    pub rep: &'a mut Rep3,
    pub ready: &'a mut Ready,
    pub line: Arc<Line>,
    pub number: u64,
    pub item: u32,
    /// Client, connection, number and all items.
    pub request: [u8; 32],
    /// How much longer this request may let other clients wait for its own.
    idle: Cell<Duration>,
}

impl<'a> Turn<'a> {
    pub fn new(
        node: &'a Node,
        rep: &'a mut Rep3,
        ready: &'a mut Ready,
        line: Arc<Line>,
        number: u64,
        request: [u8; 32],
    ) -> Turn<'a> {
        // as long in all as the others' time limit for one message
        Turn { node, rep, ready, line, number, item: 0, request, idle: Cell::new(node.patience * 2) }
    }
}

impl Turn<'_> {
    /// This server's number.
    pub fn me(&self) -> PartyId {
        self.node.me
    }

    /// Tell the client.
    pub fn answer(&self, answer: ToClient) {
        self.line.answer(answer);
    }

    /// What an answer about chunk `index` is bound to.
    pub fn context(&self, index: u64) -> [u8; 32] {
        context(&self.line.id, self.number, self.item, index)
    }

    /// Compare what the client sent, beyond the request itself: `extra` is public, `mine` our part or why there is none.
    pub fn agree(
        &mut self,
        step: Step,
        check: Check,
        extra: &[u8],
        mine: Result<&Part, Failed>,
    ) -> Result<(), Stop> {
        self.stop()?;
        let public = self.public(step, extra);
        let about = About::Client(&self.line.who.name);
        agree(self.rep, step, check, &public, mine, about)
    }

    /// Compare that all go on, or none.
    pub fn all<T>(&mut self, step: Step, mine: Result<T, Failed>) -> Result<T, Stop> {
        match mine {
            Ok(value) => self.agree(step, Check::A25, &[], Ok(&NOTHING)).map(|()| value),
            Err(failed) => Err(match self.agree(step, Check::A25, &[], Err(failed.clone())) {
                Err(stop) => stop,
                Ok(()) => Stop::Refused(failed),
            }),
        }
    }

    /// Compare a stored key \[A26\]: `extra` is all that is public about it.
    pub fn agree_key(
        &mut self,
        step: Step,
        name: &str,
        extra: &[u8],
        mine: Result<&Part, Failed>,
    ) -> Result<(), Stop> {
        self.stop()?;
        let public = self.public(step, extra);
        agree(self.rep, step, Check::A26, &public, mine, About::Key(name))
    }

    fn public(&self, step: Step, extra: &[u8]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 agreed input v1");
        hasher.update(&self.request).update(&self.item.to_le_bytes());
        for part in [step.name.as_bytes(), extra] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        *hasher.finalize().as_bytes()
    }

    /// A server that is to stop ends its session, whatever is being served.
    fn stop(&mut self) -> Result<(), Stop> {
        if self.node.stop.load(Ordering::SeqCst) {
            return Err(self.rep.trio().session().misuse(STOPPING, "this server was told to stop").into());
        }
        Ok(())
    }

    /// What the client says next, in time: a request that keeps others waiting has a budget for its client's slowness.
    pub fn message(&self, step: Step) -> Result<ToServer, Failed> {
        let (desk, patience) = (&self.node.desk, self.node.patience);
        let world = &*desk.world;
        let (who, me) = (&self.line.who.name, self.node.me);
        let begun = world.now();
        let mut waited = Duration::ZERO;
        let failed = |what: String| Failed { retry: true, peer: me.number(), ..Failed::refused(step, what) };
        loop {
            // in short pieces, to see whether others have come
            let until = begun + patience.min(waited + QUICK);
            match self.line.take(until, world) {
                Ok(message) => return Ok(message),
                Err(Gone::Closed) => return Err(failed(format!("client {who} left {me} at {step}"))),
                Err(Gone::Silent) => {}
            }
            let before = std::mem::replace(&mut waited, world.now().saturating_duration_since(begun));
            if waited >= patience {
                let seconds = patience.as_secs_f64();
                return Err(failed(format!("client {who} sent {me} nothing for {seconds:.1} s at {step}")));
            }
            // the first piece is free
            if !before.is_zero() && desk.others_wait(&self.line) {
                let left = self.idle.get().saturating_sub(waited - before);
                self.idle.set(left);
                if left.is_zero() {
                    return Err(failed(format!(
                        "client {who} kept others waiting for {:.1} s in all by what it did not send {me} at {step}: try \
                         again when fewer wait",
                        (patience * 2).as_secs_f64()
                    )));
                }
            }
        }
    }

    /// A store's refusal, for the client: what is wrong with a file of this server's is for its operator.
    pub fn stored(&self, step: Step, name: &KeyName, error: &StoreError) -> Failed {
        let me = self.node.me;
        let message = match error {
            StoreError::Missing(_)
            | StoreError::Exists(_)
            | StoreError::Destroyed(_)
            | StoreError::Unfinished(_)
            | StoreError::Exhausted(_)
            | StoreError::TooLarge(_) => error.to_string(),
            other => {
                self.node.log(&format!("key {name} at {step}: {other}"));
                format!(
                    "the file of key {name} at {me} is damaged or cannot be used: the log of {me} says why"
                )
            }
        };
        Failed::refused(step, message)
    }

    fn unexpected(&self, step: Step) -> Failed {
        let (who, me) = (&self.line.who.name, self.node.me);
        Failed::refused(step, format!("client {who} sent {me} something else than what is due at {step}"))
    }

    /// A chunk of `len` bytes, the `index`-th.
    pub fn data(&self, step: Step, index: u64, len: usize) -> Result<Blob, Failed> {
        match self.message(step)? {
            ToServer::Data { number, item, index: at, body }
                if (number, item, at) == (self.number, self.item, index) && body.0.len() == len =>
            {
                Ok(body)
            }
            _ => Err(self.unexpected(step)),
        }
    }

    /// Our part of a secret of `len` bytes.
    pub fn part(&self, step: Step, index: u64, len: usize) -> Result<Part, Failed> {
        let body = self.data(step, index, 2 * len)?;
        let (first, second) = body.0.split_at(len);
        Ok(Part { first: first.to_vec(), second: second.to_vec() })
    }

    /// That the client has sent all, or begins the next item.
    pub fn word(&self, step: Step, due: &ToServer) -> Result<(), Failed> {
        if self.message(step)? == *due { Ok(()) } else { Err(self.unexpected(step)) }
    }
}

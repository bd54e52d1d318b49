//! A record of what a session drew, for tests (feature `testing`; never part of a build that holds real
//! secrets): each draw's purpose, caller, strand, place and value, whichever door it came through, so that a
//! test notices a value that is left out, given out twice, or related to another. Only sessions whose
//! parameters ask for it have a record ([`crate::PublicParameters::recording`]).
//!
//! A test can also choose the randomness ([`crate::PublicParameters::drawing`]): then what a party draws
//! depends on a seed, the party, its strand, the purpose and how often it was drawn, and not on the order of
//! threads; and the draws of one purpose can be changed alone.
//!
//! Streams of keys and expanded digests belong to the session that their thread used last: a thread runs one
//! party.

mod doubts;
mod parts;

use crate::{DrawPurpose, PartyId, purposes};
use divisi_net::Step;
pub use doubts::CheckUnderDoubt;
pub(crate) use doubts::doubted;
pub(crate) use parts::numbers;
pub use parts::{ChangedPart, DrawPart, DrawPlace};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many bytes of the values of one stream, and of all single draws of a purpose, a record keeps.
const KEPT: usize = 1 << 12;
const KEPT_OF_PURPOSE: usize = 1 << 15;

/// A stream, and what one party drew from it.
#[derive(Clone, Debug)]
pub struct DrawnStream {
    /// The strand that asked for it.
    pub strand: u32,
    /// The peer that shares it; for the stream of a key the party itself.
    pub peer: PartyId,
    /// The name of its purpose.
    pub purpose: &'static str,
    /// What it is for.
    pub of: &'static DrawPurpose,
    /// How many streams for this purpose were requested before.
    pub generation: u64,
    /// Its key.
    pub key: [u8; 16],
    /// The ranges of bytes that were drawn, in order.
    pub drawn: Vec<Range<u64>>,
    /// Who made it.
    pub caller: &'static Location<'static>,
    /// The first bytes that were drawn.
    pub values: Vec<u8>,
}

impl DrawnStream {
    /// How many bytes were drawn.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.drawn.iter().map(|range| range.end.wrapping_sub(range.start)).sum()
    }
}

/// How a value came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "it is there for tests alone")]
pub enum DrawDoor {
    /// From the operating system.
    Entropy,
    /// As a key of a pair.
    PairKey,
    /// From the stream of a digest.
    Expansion,
    /// Made of draws, and fresh.
    Value,
}

/// A value that was drawn at once.
#[derive(Clone, Debug)]
pub struct DrawnValue {
    /// What it is for.
    pub of: &'static DrawPurpose,
    /// How it came about.
    pub door: DrawDoor,
    /// The strand that drew it.
    pub strand: u32,
    /// How often this strand drew for the purpose before.
    pub number: u64,
    /// Who drew it.
    pub caller: &'static Location<'static>,
    /// The value.
    pub bytes: Vec<u8>,
}

/// All that one party drew in a session, and a digest of all that it sent.
#[derive(Clone, Debug, Default)]
pub struct PartyDraws {
    /// The streams that two parties share.
    pub pairs: Vec<DrawnStream>,
    /// The streams of keys.
    pub streams: Vec<DrawnStream>,
    /// Single draws.
    pub values: Vec<DrawnValue>,
    /// Where single draws were made, and how many.
    pub places: BTreeMap<DrawPlace, u64>,
    /// A digest of the messages of each strand with each step to each peer, in order.
    pub sent: BTreeMap<(u32, &'static str, PartyId), [u8; 32]>,
    /// The checks that compared something although every comparison says that it differs, in order.
    pub doubted: Vec<CheckUnderDoubt>,
}

/// Where the randomness of a session comes from, if a test chooses it.
#[derive(Clone, Debug)]
pub struct KnownDraws {
    /// What everything depends on but the session's id and the keys of pairs.
    pub seed: u64,
    /// What these depend on, beside the secrets of links.
    pub session: u64,
    /// The name of the purpose whose draws are changed, if there is one.
    pub changed: Option<String>,
    /// The draw of which a part is changed, if there is one.
    pub part: Option<ChangedPart>,
    /// Whether every comparison says that what it compares differs, and the session goes on after checks
    /// that fail.
    pub doubt: bool,
}

#[derive(Default)]
struct Log {
    all: PartyDraws,
    sent: BTreeMap<(u32, &'static str, PartyId), blake3::Hasher>,
    /// How often each strand drew for each purpose.
    numbers: BTreeMap<(u32, &'static str, DrawDoor), u64>,
    /// How many bytes of each purpose are kept.
    kept: BTreeMap<&'static str, usize>,
}

/// The record of a session, at one party. It can be read when the session has ended.
#[derive(Clone)]
pub struct DrawRecord {
    log: Arc<Mutex<Log>>,
    known: Option<Arc<KnownDraws>>,
    me: PartyId,
}

/// Whether any session of this process has a record: otherwise no thread looks for one.
static ANY: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The record of the session that this thread used last, and the strand.
    static CURRENT: RefCell<Option<(DrawRecord, u32)>> = const { RefCell::new(None) };
}

fn current() -> Option<(DrawRecord, u32)> {
    if !ANY.load(Ordering::Relaxed) {
        return None;
    }
    CURRENT.with_borrow(Clone::clone)
}

/// From now on this thread draws for this strand of a session, which has this record.
#[inline]
pub(crate) fn enter(record: Option<&DrawRecord>, strand: u32) {
    if ANY.load(Ordering::Relaxed) {
        CURRENT.with_borrow_mut(|current| match (&mut *current, record) {
            (Some((same, at)), Some(record)) if Arc::ptr_eq(&same.log, &record.log) => *at = strand,
            (current, record) => *current = record.map(|record| (record.clone(), strand)),
        });
    }
}

impl DrawRecord {
    pub(crate) fn new(me: PartyId, known: Option<&KnownDraws>) -> DrawRecord {
        ANY.store(true, Ordering::Relaxed);
        DrawRecord { log: Arc::default(), known: known.cloned().map(Arc::new), me }
    }

    /// The party whose draws these are.
    #[must_use]
    pub fn party(&self) -> PartyId {
        self.me
    }

    /// What was drawn so far.
    #[must_use]
    pub fn read(&self) -> PartyDraws {
        let log = self.log();
        let sent = log.sent.iter().map(|(place, hasher)| (*place, *hasher.finalize().as_bytes()));
        PartyDraws { sent: sent.collect(), ..log.all.clone() }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changes(&self, of: &DrawPurpose) -> bool {
        self.known.as_ref().is_some_and(|known| known.changed.as_deref() == Some(of.name()))
    }

    /// Another value, if the draws of this purpose are changed: it depends on the value alone, so that
    /// parties which draw the same still do, and changes do not cancel out.
    pub(crate) fn change(&self, of: &DrawPurpose, value: &mut [u8]) {
        if self.changes(of) {
            let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 changed draws of a test v1");
            hasher.update(value);
            #[expect(clippy::disallowed_methods, reason = "this is the door itself")]
            hasher.finalize_xof().fill(value);
        }
    }

    /// Fills `out` with known randomness if a test chose it, else by `fill`.
    pub(crate) fn entropy(
        &self,
        of: &'static DrawPurpose,
        strand: u32,
        caller: &'static Location<'static>,
        out: &mut [u8],
        fill: impl FnOnce(&mut [u8]),
    ) {
        let number = self.log().number(strand, of, DrawDoor::Entropy);
        match &self.known {
            Some(known) => {
                let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 known draws of a test v1");
                let begins = [purposes::NONCE.name(), purposes::CONTRIBUTION.name()].contains(&of.name());
                let seed = if begins { known.session } else { known.seed };
                hasher.update(&seed.to_le_bytes()).update(&[self.me.number()]);
                hasher.update(&strand.to_le_bytes()).update(&number.to_le_bytes());
                hasher.update(&[u8::from(self.changes(of))]).update(of.name().as_bytes());
                #[expect(clippy::disallowed_methods, reason = "this is the door itself")]
                hasher.finalize_xof().fill(out);
            }
            None => fill(out),
        }
        self.part(of, strand, caller, out);
        self.keep(DrawnValue { of, door: DrawDoor::Entropy, strand, number, caller, bytes: out.to_vec() });
    }

    /// Record a value.
    pub(crate) fn note(
        &self,
        of: &'static DrawPurpose,
        door: DrawDoor,
        strand: u32,
        caller: &'static Location<'static>,
        bytes: &[u8],
    ) {
        let number = self.log().number(strand, of, door);
        self.keep(DrawnValue { of, door, strand, number, caller, bytes: bytes.to_vec() });
    }

    fn keep(&self, mut value: DrawnValue) {
        let mut log = self.log();
        let kept = log.kept.entry(value.of.name()).or_default();
        let room = KEPT_OF_PURPOSE.saturating_sub(*kept) & !7;
        value.bytes.truncate(room);
        *kept += value.bytes.len();
        // a purpose without room is known already
        if !value.bytes.is_empty() {
            log.all.values.push(value);
        }
    }

    /// Record a message.
    pub(crate) fn sent(&self, strand: u32, step: Step, to: PartyId, body: &[u8]) {
        let mut log = self.log();
        let hasher = log.sent.entry((strand, step.name, to)).or_default();
        hasher.update(&(body.len() as u64).to_le_bytes()).update(body);
    }

    /// A key that two parties share. A repeated request gives the same key, which is recorded once.
    pub(crate) fn pair_key(
        &self,
        of: &'static DrawPurpose,
        strand: u32,
        caller: &'static Location<'static>,
        key: &mut [u8; 32],
    ) {
        self.change(of, key);
        let known = |value: &DrawnValue| {
            (value.of.name(), value.door, value.strand) == (of.name(), DrawDoor::PairKey, strand)
                && value.bytes == *key
        };
        if !self.log().all.values.iter().any(known) {
            self.note(of, DrawDoor::PairKey, strand, caller, key);
        }
    }

    /// A stream that two parties share: its key, and where its draws are noted.
    pub(crate) fn pair(
        &self,
        strand: u32,
        peer: PartyId,
        of: &'static DrawPurpose,
        generation: u64,
        key: [u8; 16],
        caller: &'static Location<'static>,
    ) -> ([u8; 16], StreamRecord) {
        self.stream(true, strand, peer, of, generation, key, caller)
    }

    fn stream(
        &self,
        shared: bool,
        strand: u32,
        peer: PartyId,
        of: &'static DrawPurpose,
        generation: u64,
        mut key: [u8; 16],
        caller: &'static Location<'static>,
    ) -> ([u8; 16], StreamRecord) {
        self.change(of, &mut key);
        let mut log = self.log();
        let streams = log.all.streams_mut(shared);
        let (purpose, drawn, values) = (of.name(), Vec::new(), Vec::new());
        streams.push(DrawnStream { strand, peer, purpose, of, generation, key, drawn, caller, values });
        let place = streams.len() - 1;
        (key, StreamRecord { record: self.clone(), shared, place })
    }
}

impl PartyDraws {
    fn streams_mut(&mut self, shared: bool) -> &mut Vec<DrawnStream> {
        if shared { &mut self.pairs } else { &mut self.streams }
    }
}

impl Log {
    fn number(&mut self, strand: u32, of: &DrawPurpose, door: DrawDoor) -> u64 {
        let number = self.numbers.entry((strand, of.name(), door)).or_default();
        *number += 1;
        *number - 1
    }
}

/// The stream of a key, in the record of the session that this thread uses: its key, and where its draws are
/// noted.
pub(crate) fn stream(
    of: &'static DrawPurpose,
    key: &[u8; 16],
    caller: &'static Location<'static>,
) -> Option<([u8; 16], StreamRecord)> {
    let (record, strand) = current()?;
    let generation = record.log().all.streams.len() as u64;
    Some(record.stream(false, strand, record.me, of, generation, *key, caller))
}

/// Notes the draws of one stream.
pub(crate) struct StreamRecord {
    record: DrawRecord,
    shared: bool,
    place: usize,
}

impl StreamRecord {
    /// Record that these bytes were drawn, from byte `first` on.
    pub(crate) fn note(&self, first: u64, len: usize, bytes: impl Iterator<Item = u8>) {
        let len = len as u64;
        let mut log = self.record.log();
        if let Some(stream) = log.all.streams_mut(self.shared).get_mut(self.place)
            && len > 0
        {
            stream.drawn.push(first..first.wrapping_add(len));
            let room = KEPT.saturating_sub(stream.values.len());
            stream.values.extend(bytes.take(room));
        }
    }
}

/// Notes what is drawn of an expanded digest.
pub(crate) struct Expansion {
    record: DrawRecord,
    strand: u32,
}

/// The record for a digest that is about to be expanded.
pub(crate) fn expansion() -> Option<Expansion> {
    current().map(|(record, strand)| Expansion { record, strand })
}

impl Expansion {
    #[track_caller]
    pub(crate) fn note(&self, of: &'static DrawPurpose, out: &mut [u8]) {
        self.record.change(of, out);
        self.record.part(of, self.strand, Location::caller(), out);
        self.record.note(of, DrawDoor::Expansion, self.strand, Location::caller(), out);
    }
}

/// Record a value that was made of draws.
#[track_caller]
pub(crate) fn value<T: AsRef<[u8]>>(of: &'static DrawPurpose, value: impl FnOnce() -> T) {
    if let Some((record, strand)) = current() {
        record.note(of, DrawDoor::Value, strand, Location::caller(), value().as_ref());
    }
}

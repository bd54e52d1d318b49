//! A client's requests about keys.

use super::parts::Part;
use super::{Client, differ, disagree, unexpected};
use crate::admit::is_client_name;
use crate::error::{Error, ErrorKind};
use crate::request::{Item, KeyEntry, KeyServe, NewKey, PAGE, ToClient, ToServer, context};
use divisi_core::{PartyId, Step, step};
use divisi_rep3::deal;
use divisi_rep3::open::Answer;
use divisi_store::{KeyName, KeyType};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

const MAKE: Step = step!("make");
const IMPORT: Step = step!("import");
const LIST: Step = step!("list");
const EXPORT: Step = step!("export");
const DESTROY: Step = step!("destroy");
const SERVE: Step = step!("serve");

/// The most pages of a list that a client requests: a server that always announces another page can neither
/// keep it busy for ever nor fill its memory.
const PAGES: usize = 512;

/// A key that at least one server lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The entry that two servers or all have; if no two have the same, that of the first one that has the
    /// key.
    pub key: KeyEntry,
    /// The server that differs from the other two: it lacks the key, has it alone, or has a different entry.
    /// If no two agree, those that do not have this entry. Empty when all three agree.
    pub differs: Vec<PartyId>,
}

impl Client {
    /// The description of a new key of its type's default length, with a fresh name for the request.
    #[must_use]
    pub fn new_key(&self, name: KeyName, kind: KeyType, exportable: bool, clients: Vec<String>) -> NewKey {
        let mut request = [0; 16];
        self.entropy(&mut request);
        let bytes = u32::try_from(kind.bytes()).unwrap_or(u32::MAX);
        NewKey { name, kind, bytes, exportable, clients, request }
    }

    /// Have the servers make a key that nobody knows. A call repeated with the same `new` returns the key
    /// that the first one made.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if its type has no keys of this length; else see [`Error`].
    pub fn key_new(&mut self, new: &NewKey) -> Result<KeyEntry, Error> {
        length_of(new.kind, new.bytes as usize, MAKE)?;
        let answers = self.request(&Item::KeyNew(new.clone()))?;
        let key = self.key(MAKE, answers);
        self.over(key)
    }

    /// Import a key: the servers store shares of all its bytes, also if HMAC will hash it. The length of the
    /// key counts, not that in `new`.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the length of `key` is none of its type; else see [`Error`].
    pub fn key_import(&mut self, new: &NewKey, key: &[u8]) -> Result<KeyEntry, Error> {
        let bytes = length_of(new.kind, key.len(), IMPORT)?;
        let imported = self.bring(&NewKey { bytes, ..new.clone() }, key);
        self.over(imported)
    }

    fn bring(&mut self, new: &NewKey, key: &[u8]) -> Result<KeyEntry, Error> {
        let number = self.next_number();
        let item = Item::KeyImport(new.clone());
        let mut made = None;
        let piece =
            |client: &Client, index| Ok(client.split(key).map(|body| ToServer::Data { number, index, body }));
        let parts = [Part::Request, Part::Piece(0)].into_iter();
        self.send_parts(IMPORT, &item, parts, piece, |client, part, answers| {
            if part == Part::Request {
                return client
                    .same(IMPORT, answers, |answer| matches!(answer, ToClient::Accepted).then_some(()));
            }
            made = Some(client.key(IMPORT, answers)?);
            Ok(())
        })?;
        made.ok_or_else(|| differ(IMPORT, None))
    }

    fn key(&self, step: Step, answers: [ToClient; 3]) -> Result<KeyEntry, Error> {
        self.same(step, answers, |answer| match answer {
            ToClient::Key(key) => Some(key),
            _ => None,
        })
    }

    /// The keys that this client may use, and on which of them the servers differ.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn key_list(&mut self) -> Result<Vec<Listed>, Error> {
        let listed = self.list();
        self.over(listed)
    }

    /// The servers' entries of one key, if this client may use it. One request, however many keys there are.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn key_named(&mut self, name: &KeyName) -> Result<Option<Listed>, Error> {
        let named = self.named(name);
        self.over(named)
    }

    fn named(&mut self, name: &KeyName) -> Result<Option<Listed>, Error> {
        // the page that begins after the last smaller name begins with this key
        let answers = self.request(&Item::KeyList { after: name.before() })?;
        let mut places = [None, None, None];
        for ((party, answer), place) in PartyId::all(3).zip(answers).zip(&mut places) {
            *place = match answer {
                ToClient::Keys { keys, .. } => keys.into_iter().next().filter(|key| key.name == *name),
                other => return Err(unexpected(LIST, party, other)),
            };
        }
        Ok(listed(places))
    }

    fn list(&mut self) -> Result<Vec<Listed>, Error> {
        let mut found: BTreeMap<KeyName, [Option<KeyEntry>; 3]> = BTreeMap::new();
        for party in PartyId::all(3) {
            // each server's list to its end: what one hides, another shows
            let mut after = None;
            for page in 0.. {
                if page == PAGES {
                    return Err(endless(party));
                }
                let answers = self.request(&Item::KeyList { after: after.clone() })?;
                let (keys, more) = match answers.into_iter().nth(party.index()) {
                    Some(ToClient::Keys { keys, more }) => (keys, more),
                    Some(other) => return Err(unexpected(LIST, party, other)),
                    None => return Err(differ(LIST, Some(party))),
                };
                let last = keys.last().map(|key| key.name.clone());
                let ascends = keys.windows(2).all(|pair| pair[0].name < pair[1].name);
                let follows =
                    keys.first().is_none_or(|key| after.as_ref().is_none_or(|after| *after < key.name));
                if !ascends || !follows || (more && last.is_none()) {
                    return Err(endless(party));
                }
                for key in keys {
                    let places = found.entry(key.name.clone()).or_default();
                    places[party.index()] = Some(key);
                }
                if !more {
                    break;
                }
                after = last;
            }
        }
        Ok(found.into_values().filter_map(listed).collect())
    }

    /// Export a key that was made exportable; for its maker only. If a certain key is meant
    /// ([`Client::expect_key`]), the servers are asked before which one has this name.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn key_export(&mut self, name: &KeyName) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.look_up(name)?;
        let answers = self.request(&Item::KeyExport { name: name.clone() })?;
        let context = context(&self.id, self.number, 0);
        self.over(combine(EXPORT, &context, answers))
    }

    /// Let a key serve another client, or, unless it `serves`, one client less; for its owner only. Returns
    /// the key as it is at all three servers from the next request on. If a certain key is meant
    /// ([`Client::expect_key`]), the servers are asked before which one has this name.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if no client can have this name; else see [`Error`].
    pub fn key_serve(&mut self, name: &KeyName, client: &str, serves: bool) -> Result<KeyEntry, Error> {
        if !is_client_name(client) {
            let shown: String = client.chars().take(64).flat_map(char::escape_default).collect();
            let message =
                format!("\"{shown}\" is no name of a client: see `key list` for those that there are");
            return Err(Error::new(ErrorKind::Usage, SERVE, message));
        }
        self.look_up(name)?;
        let asked = KeyServe { name: name.clone(), client: client.to_owned(), serves };
        let answers = self.request(&Item::KeyServe(asked))?;
        let key = self.key(SERVE, answers);
        self.over(key)
    }

    /// Have a key destroyed at all servers; for its maker only. If a certain key is meant
    /// ([`Client::expect_key`]), the servers are asked before which one has this name.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn key_destroy(&mut self, name: &KeyName) -> Result<(), Error> {
        self.look_up(name)?;
        let answers = self.request(&Item::KeyDestroy { name: name.clone() })?;
        let done = self.same(DESTROY, answers, |answer| matches!(answer, ToClient::Done).then_some(()));
        self.over(done)
    }
}

/// Check that a type has keys of this length.
fn length_of(kind: KeyType, bytes: usize, step: Step) -> Result<u32, Error> {
    let lengths = kind.lengths();
    match u32::try_from(bytes) {
        Ok(fits) if lengths.contains(&bytes) => Ok(fits),
        _ => {
            let (least, most) = lengths.into_inner();
            let takes = if least == most { least.to_string() } else { format!("{least} to {most}") };
            let message = format!(
                "a key of type {kind} has {takes} bytes, this one {bytes}: give the raw bytes of the key"
            );
            Err(Error::new(ErrorKind::Usage, step, message))
        }
    }
}

/// The entry of a key that most servers report, and who reports another one or none: one server that lies
/// makes no honest one the odd one. `None` if no server has the key.
fn listed(places: [Option<KeyEntry>; 3]) -> Option<Listed> {
    let [a, b, c] = &places;
    let first = places.iter().flatten().next()?;
    let most = match (a == b || a == c, b == c) {
        (true, _) => a.as_ref(),
        (_, true) => b.as_ref(),
        _ => Some(first),
    };
    let differs = PartyId::all(3).zip(&places).filter(|(_, place)| place.as_ref() != most);
    let differs = differs.map(|(party, _)| party).collect();
    Some(Listed { key: most.unwrap_or(first).clone(), differs })
}

/// The failure for a list of keys that is not in order, or does not end.
fn endless(party: PartyId) -> Error {
    let keys = PAGES * PAGE;
    let message = format!(
        "{party} lists keys out of order, or more than {keys}: its answer was not used; check which release it runs"
    );
    Error::new(ErrorKind::Mismatch, LIST, message).with_peer(party)
}

/// Reconstruct a secret from its three components, each of which is compared with the digest of its other
/// holder.
pub(super) fn combine(
    step: Step,
    context: &[u8; 32],
    answers: [ToClient; 3],
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut read = Vec::with_capacity(3);
    for (party, answer) in PartyId::all(3).zip(answers) {
        match answer {
            ToClient::Answer { mut component, digest } => {
                read.push(Answer { component: std::mem::take(&mut component.0), digest });
            }
            other => return Err(unexpected(step, party, other)),
        }
    }
    let read = <[Answer; 3]>::try_from(read).map_err(|_| differ(step, None))?;
    deal::combine(context, &read).map_err(|d| disagree(step, d))
}

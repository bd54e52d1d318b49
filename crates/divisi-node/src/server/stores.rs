//! Whether the three servers have the same keys. They compare what their stores have at the start of each
//! session: a server that lost its store, or was started with the data of another one, would otherwise be
//! noticed by clients only, key by key.
//!
//! A difference is logged by all three, and stays until the next session. A server whose store is empty while
//! another one has active keys serves nothing, unless its operator said that the store is new: such a server
//! has probably been started with the wrong directory.
//!
//! Adversary: one malicious server. What it says of its store causes lines in logs. With keys that it only
//! claims to have it keeps a server whose store is empty from serving, as it could by refusing every request.
//! Nothing depends on these words that a server computes: each use of a key compares the key \[A26\].

use crate::error::{ErrorKind, Failed, parties};
use divisi_core::{PartyId, Step};
use divisi_store::{KeyName, StoreSummary};
use std::path::{Path, PathBuf};
use std::{fs, io};

pub(crate) const STORES: Step = Step::new("divisi_node::server::stores/stores");

/// The version of the message.
const VERSION: u8 = 1;
/// `version | empty | number of active keys | digest of them`
pub(crate) const LENGTH: usize = 42;
/// The file in a data directory whose operator said that its store is new.
const NEW: &str = "new-store";

/// What the last comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stores {
    /// The parties whose active keys are others than this server's.
    pub differ: Vec<PartyId>,
    /// The servers that serve nothing, because their store is empty while another one has keys.
    pub lost: Vec<PartyId>,
}

/// What a server says of its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreWord {
    /// Whether it has no key of its own, and its operator did not say that it is new.
    pub empty: bool,
    pub active: u64,
    pub digest: [u8; 32],
}

impl StoreWord {
    pub fn of(summary: StoreSummary, is_new: bool) -> StoreWord {
        let StoreSummary { known, active, digest } = summary;
        StoreWord { empty: known == 0 && !is_new, active, digest }
    }

    pub fn encode(&self) -> [u8; LENGTH] {
        let mut out = [0; LENGTH];
        out[0] = VERSION;
        out[1] = u8::from(self.empty);
        out[2..10].copy_from_slice(&self.active.to_le_bytes());
        out[10..].copy_from_slice(&self.digest);
        out
    }

    /// `None` for bytes that no honest server sends.
    pub fn decode(bytes: &[u8; LENGTH]) -> Option<StoreWord> {
        let (mut active, mut digest) = ([0; 8], [0; 32]);
        active.copy_from_slice(&bytes[2..10]);
        digest.copy_from_slice(&bytes[10..]);
        let word = StoreWord { empty: bytes[1] == 1, active: u64::from_le_bytes(active), digest };
        (bytes[0] == VERSION && bytes[1] <= 1 && !(word.empty && word.active > 0)).then_some(word)
    }

    pub fn has_keys_of(&self, other: &StoreWord) -> bool {
        (self.active, self.digest) == (other.active, other.digest)
    }
}

/// What the words of the three servers mean, for `me`.
pub(crate) fn judge(me: PartyId, words: &[StoreWord; 3]) -> Stores {
    let own = &words[me.index()];
    let differs = |party: &PartyId| !words[party.index()].has_keys_of(own);
    let lost = |party: &PartyId| words[party.index()].empty && words.iter().any(|word| word.active > 0);
    Stores { differ: PartyId::all(3).filter(differs).collect(), lost: PartyId::all(3).filter(lost).collect() }
}

/// What keeps a server whose store is empty from serving.
fn lost(servers: &[PartyId]) -> String {
    format!(
        "the store of keys of {} is empty while another server has keys, so that nothing is served: start that \
         server with the --data that it had or restore it from a backup, or, if its keys are lost, start it with \
         --new-store",
        parties(servers.iter().copied())
    )
}

impl Stores {
    /// What keeps the servers from serving, if a store is lost.
    pub fn trouble(&self) -> String {
        if self.lost.is_empty() { String::new() } else { lost(&self.lost) }
    }

    /// Refuse every request while the store of server `me` is lost.
    pub fn admits(&self, me: PartyId) -> Result<(), Failed> {
        if !self.lost.contains(&me) {
            return Ok(());
        }
        let failed = Failed::refused(STORES, lost(&[me]));
        Err(Failed { kind: ErrorKind::Unavailable, peer: me.number(), ..failed })
    }

    /// The failure of a request for a key that server `me` does not have.
    pub fn lacks_key(&self, me: PartyId, step: Step, name: &KeyName) -> Failed {
        if self.differ.is_empty() {
            return Failed::refused(step, format!("there is no key {name} at {me}: see `key list`"));
        }
        let message = format!(
            "there is no key {name} at {me}, whose store does not have the keys of {}: its operator has to restore its \
             data directory, unless the key was being destroyed: then give `key destroy` again; if the directory is \
             lost, destroy the key and make it again",
            parties(self.differ.iter().copied())
        );
        Failed { peer: me.number(), ..Failed::refused(step, message) }
    }
}

/// The path of the file that says that the store in this directory is new.
pub(crate) fn mark(data: &Path) -> PathBuf {
    data.join(NEW)
}

/// Write that the store in this directory is new, for as long as it has no key.
pub(crate) fn write_mark(data: &Path) -> io::Result<()> {
    fs::File::create(mark(data))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(active: u64) -> StoreWord {
        StoreWord { empty: active == 0, active, digest: [active as u8; 32] }
    }

    #[test]
    fn golden_bytes() {
        let bytes = StoreWord { empty: false, active: 0x0102, digest: [7; 32] }.encode();
        assert_eq!(hex::encode(bytes), ["01", "00", "0201000000000000", &"07".repeat(32)].concat());
        assert_eq!(StoreWord::decode(&word(0).encode()), Some(word(0)));
    }

    #[test]
    fn random_words_of_stores() {
        let seeds =
            [word(0), word(3), StoreWord { empty: false, ..word(0) }].map(|word| word.encode().to_vec());
        divisi_fuzz::golden("stores", env!("CARGO_MANIFEST_DIR"), &seeds);
        divisi_fuzz::run("stores", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let Some(bytes) = bytes.first_chunk::<LENGTH>() else { return Ok(false) };
            match StoreWord::decode(bytes) {
                Some(word) if word.encode() == *bytes => Ok(true),
                Some(_) => Err("a word that is written otherwise".into()),
                None => Ok(false),
            }
        });
    }

    /// Three empty stores are a new mesh; one beside others with keys is lost, unless it is new.
    #[test]
    fn an_empty_store_is_lost_beside_one_with_keys() {
        let party = |number| PartyId::new(number).unwrap();
        let judged = |me, words| {
            let Stores { differ, lost } = judge(party(me), &words);
            [differ, lost].map(|all| all.into_iter().map(PartyId::number).collect::<Vec<_>>())
        };
        assert_eq!(judged(1, [word(0), word(0), word(0)]), [Vec::<u8>::new(), Vec::new()]);
        assert_eq!(judged(1, [word(4), word(4), word(4)]), [Vec::<u8>::new(), Vec::new()]);
        assert_eq!(judged(1, [word(4), word(4), word(0)]), [vec![3], vec![3]]);
        assert_eq!(judged(3, [word(4), word(4), word(0)]), [vec![1, 2], vec![3]]);
        assert_eq!(judged(2, [word(0), word(4), word(0)]), [vec![1, 3], vec![1, 3]]);
        // a single key is one
        assert_eq!(judged(1, [word(1), word(0), word(1)]), [vec![2], vec![2]]);
        let new = StoreWord { empty: false, ..word(0) };
        assert_eq!(judged(3, [word(4), word(4), new]), [vec![1, 2], vec![]]);
        let mut others = word(4);
        others.digest[31] ^= 1;
        assert_eq!(judged(2, [word(4), word(4), others]), [vec![3], vec![]]);
        let more = StoreWord { active: 260, ..word(4) };
        assert_eq!(judged(2, [word(4), word(4), more]), [vec![3], vec![]]);
    }
}

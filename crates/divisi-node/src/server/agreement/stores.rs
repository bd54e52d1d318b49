//! The comparison of the servers' stores at the start of each session.

use crate::server::node::Node;
use crate::server::stores::{LENGTH, STORES, StoreWord, judge};
use divisi_core::{Abort, PartyId, Session};
use divisi_net::Fault;
use std::fs;
use std::sync::PoisonError;

/// Compare the stores of the three servers.
pub(crate) fn compare_stores(node: &Node, session: &mut Session) -> Result<(), Abort> {
    let is_new = node.options.new_store || node.new_store.exists();
    let mine = StoreWord::of(node.keys.summary(node.me.number()), is_new);
    if node.keys.summary(node.me.number()).known > 0 {
        // the store has keys: from now on it may not be empty again without a word of the operator; a file
        // that stays only means that the store may be empty once more
        let _ = fs::remove_file(&node.new_store);
    }
    let mut words = [mine.clone(), mine.clone(), mine.clone()];
    for peer in session.peers() {
        session.send(STORES, peer, &mine.encode(), 0)?;
    }
    for peer in session.peers() {
        let mut bytes = [0; LENGTH];
        session.recv(STORES, peer, &mut bytes)?;
        let malformed = Fault::Malformed { peer, step: STORES, want: LENGTH, got: LENGTH };
        words[peer.index()] = StoreWord::decode(&bytes).ok_or_else(|| session.fail(malformed.into()))?;
    }
    let stores = judge(node.me, &words);
    if !stores.differ.is_empty() {
        let said = PartyId::all(3).map(|party| {
            let word = &words[party.index()];
            let same = match party {
                _ if party == node.me => "",
                _ if word.has_keys_of(&mine) => " (the same)",
                _ => " (others)",
            };
            format!("{party} has {}{same}", word.active)
        });
        node.log(&format!(
            "the servers do not have the same active keys: {}; before you restore anything: a key that was made only \
             partly is repaired by using it once, and one that was destroyed only partly by giving `key destroy` \
             again; any other key that a server lacks serves nobody: restore the data directory of that server, or \
             destroy the key and make it again",
            said.collect::<Vec<_>>().join(", ")
        ));
    }
    if !stores.lost.is_empty() {
        node.log(&stores.trouble());
    }
    *node.stores.lock().unwrap_or_else(PoisonError::into_inner) = stores;
    Ok(())
}

//! The lies: what a server is made to say, or to hear.

use super::words::{Failure, Said, Word};
use divisi_node::ErrorKind;

fn failed(kind: ErrorKind, retry: bool, peer: u8, hearsay: bool, message: &str) -> Word {
    let (step, message) = ("divisi_node::server::some/step".into(), message.into());
    Word::Failed(Failure { kind, retry, peer, step, message, hearsay })
}

/// Whether a word answers a request.
fn is_answer(word: &Word) -> bool {
    !matches!(word, Word::Welcome { .. } | Word::Ready | Word::Waiting | Word::Condition(_))
}

/// In place of each answer something else.
fn instead(said: &mut Said, word: Word) {
    if is_answer(&said.what) {
        said.what = word;
    }
}

/// What a server says: a lie, and its name.
pub const SAYS: &[(&str, fn(&mut Said))] = &[
    ("another IV", |said| {
        if let Word::Sealing { iv, .. } = &mut said.what {
            iv[11] ^= 1
        }
    }),
    ("another key that sealed", |said| {
        if let Word::Sealing { key, .. } = &mut said.what {
            key.id[0] ^= 1
        }
    }),
    ("another maker", |said| {
        if let Word::Sealing { key, .. } = &mut said.what {
            key.maker = "mallory".into()
        }
    }),
    ("a maker that is none", |said| {
        if let Word::Sealing { key, .. } = &mut said.what {
            key.maker.clear()
        }
    }),
    ("another ciphertext", |said| match &mut said.what {
        Word::Ciphertext(bytes) => bytes[0] ^= 1,
        Word::Digest(digest) => digest[0] ^= 1,
        _ => {}
    }),
    ("a shorter ciphertext", |said| match &mut said.what {
        Word::Ciphertext(bytes) => drop(bytes.pop()),
        Word::Digest(digest) => digest[31] ^= 0x80,
        _ => {}
    }),
    ("another tag", |said| {
        if let Word::Tag(tag) = &mut said.what {
            tag[15] ^= 1
        }
    }),
    ("another share", |said| {
        if let Word::Answer { component, .. } = &mut said.what {
            component[0] ^= 1
        }
    }),
    ("another end of a share", |said| {
        if let Word::Answer { component, .. } = &mut said.what {
            *component.last_mut().unwrap() ^= 0x80
        }
    }),
    ("another digest of a share", |said| {
        if let Word::Answer { digest, .. } = &mut said.what {
            digest[0] ^= 1
        }
    }),
    ("a shorter share", |said| {
        if let Word::Answer { component, .. } = &mut said.what {
            component.pop();
        }
    }),
    ("a longer share", |said| {
        if let Word::Answer { component, .. } = &mut said.what {
            component.push(0)
        }
    }),
    ("another nonce", |said| {
        if let Word::Tagging { nonce, .. } = &mut said.what {
            nonce[0] ^= 1
        }
    }),
    ("no key that tags", |said| {
        if let Word::Tagging { key, .. } = &mut said.what {
            *key = None
        }
    }),
    ("that it is right", |said| {
        if matches!(said.what, Word::Accepted | Word::Failed(_)) {
            said.what = Word::Valid
        }
    }),
    ("that it is done", |said| {
        if said.what == Word::Valid {
            said.what = Word::Done
        }
    }),
    ("that it accepts", |said| instead(said, Word::Accepted)),
    ("that it is forged", |said| {
        instead(said, failed(ErrorKind::Mismatch, false, 0, false, "the tag is not right"));
    }),
    ("that another says that it is forged", |said| {
        instead(said, failed(ErrorKind::Mismatch, false, 0, true, "the tag is not right"));
    }),
    ("that the tag is not right", |said| {
        if matches!(said.what, Word::Valid | Word::Answer { .. }) {
            said.what = failed(ErrorKind::Mismatch, false, 0, false, "the tag is not right");
        }
    }),
    ("that there is no such key", |said| {
        instead(said, failed(ErrorKind::Refused, false, 0, false, "there is no key k: see `key list`"));
    }),
    ("that another says that there is no such key", |said| {
        instead(said, failed(ErrorKind::Refused, false, 0, true, "there is no key k: see `key list`"));
    }),
    ("that the user is wrong", |said| {
        instead(said, failed(ErrorKind::Usage, false, 0, false, "the text is too long: split it"));
    }),
    ("that another is to blame", |said| {
        instead(said, failed(ErrorKind::Abort, true, 3, false, "party 3 lies"))
    }),
    ("that the session ended", |said| instead(said, failed(ErrorKind::Abort, false, 0, false, "it ended"))),
    ("an answer to another request", |said| {
        if is_answer(&said.what) {
            said.number += 1
        }
    }),
    ("an answer in another place", |said| {
        if is_answer(&said.what) {
            said.nth += 1
        }
    }),
    ("an answer to no request", |said| {
        if is_answer(&said.what) {
            (said.number, said.nth) = (0, 0)
        }
    }),
    ("that it has not joined", |said| {
        if let Word::Condition(told) = &mut said.what {
            told.joined = false
        }
    }),
    ("that it misses all", |said| {
        if let Word::Condition(told) = &mut said.what {
            (told.joined, told.missing) = (false, vec![1, 2, 3])
        }
    }),
    ("that it lost its store", |said| {
        if let Word::Condition(told) = &mut said.what {
            (told.joined, told.lost) = (false, vec![1])
        }
    }),
];

/// What a server says of keys.
pub const KEYS: &[(&str, fn(&mut Said))] = &[
    ("another id", |said| match &mut said.what {
        Word::Key(key) => key.id[15] ^= 1,
        Word::Keys { keys, .. } => keys.iter_mut().for_each(|key| key.id[15] ^= 1),
        _ => {}
    }),
    ("another time", |said| match &mut said.what {
        Word::Key(key) => key.made = None,
        Word::Keys { keys, .. } => keys.iter_mut().for_each(|key| key.made = Some(1)),
        _ => {}
    }),
    ("another type", |said| match &mut said.what {
        Word::Key(key) => key.kind = divisi_node::KeyType::Aes128,
        Word::Keys { keys, .. } => {
            keys.iter_mut().for_each(|key| key.kind = divisi_node::KeyType::HmacSha256)
        }
        _ => {}
    }),
    ("a key that is destroyed", |said| match &mut said.what {
        Word::Key(key) => key.state = divisi_node::KeyState::Destroyed,
        Word::Keys { keys, .. } => {
            keys.iter_mut().for_each(|key| key.state = divisi_node::KeyState::Destroyed)
        }
        _ => {}
    }),
    ("no keys", |said| {
        if let Word::Keys { keys, .. } = &mut said.what {
            keys.clear()
        }
    }),
    ("one key less", |said| {
        if let Word::Keys { keys, .. } = &mut said.what {
            drop(keys.pop())
        }
    }),
    ("one key more", |said| {
        if let Word::Keys { keys, .. } = &mut said.what
            && let Some(mut key) = keys.last().cloned()
        {
            key.name = "zzz".parse().unwrap();
            keys.push(key);
        }
    }),
    ("the key that is not there", |said| {
        if let Word::Keys { keys, .. } = &mut said.what
            && let Some(key) = keys.first_mut()
        {
            key.name = "none".parse().unwrap();
        }
    }),
    ("keys in another order", |said| {
        if let Word::Keys { keys, .. } = &mut said.what {
            keys.reverse()
        }
    }),
    ("a list without end", |said| {
        if let Word::Keys { more, .. } = &mut said.what {
            *more = true
        }
    }),
];

/// Lies with which a connection begins.
pub const FIRST: &[(&str, fn(&mut Said))] = &[
    ("another challenge", |said| {
        if let Word::Welcome { challenge, .. } = &mut said.what {
            challenge[0] ^= 1
        }
    }),
    ("another version", |said| {
        if let Word::Welcome { lowest, highest, .. } = &mut said.what {
            (*lowest, *highest) = (99, 99)
        }
    }),
    ("another number", |said| {
        if let Word::Welcome { party, .. } = &mut said.what {
            *party = *party % 3 + 1
        }
    }),
    ("that nobody is welcome", |said| {
        if matches!(said.what, Word::Welcome { .. }) {
            said.what = failed(ErrorKind::Refused, false, 0, false, "there is no key k");
        }
    }),
    ("that the user began wrongly", |said| {
        if said.what == Word::Ready {
            said.what = failed(ErrorKind::Usage, false, 0, false, "no")
        }
    }),
    ("that the beginning is forged", |said| {
        if said.what == Word::Ready {
            said.what = failed(ErrorKind::Mismatch, false, 0, false, "no")
        }
    }),
];

/// What a server says that may pass: the gateway tries again for a while.
pub const LATER: &[(&str, fn(&mut Said))] = &[
    ("to try again", |said| instead(said, failed(ErrorKind::Unavailable, true, 0, false, "it is stopping"))),
    ("to wait", |said| instead(said, Word::Waiting)),
];

/// What a server takes the gateway to have said: its messages of requests, changed at a place.
pub const HEARS: &[(&str, fn(&mut Vec<u8>))] = &[
    ("another end", |bytes| change(bytes, |bytes| bytes.len() - 1)),
    ("another middle", |bytes| change(bytes, |bytes| bytes.len() / 2)),
    ("another share", |bytes| {
        if bytes.get(4) == Some(&2) {
            change(bytes, |bytes| 8 + (bytes.len() - 8) / 4);
        }
    }),
];

/// Another bit at a place of a request, or of its data.
fn change(bytes: &mut [u8], place: impl Fn(&[u8]) -> usize) {
    if matches!(bytes.get(4), Some(1 | 2)) {
        let place = place(bytes);
        bytes[place] ^= 1;
    }
}

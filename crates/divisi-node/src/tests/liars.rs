//! One server of three lies to a client: the client takes nothing of it, and says who differs.

mod late;
mod servers;

use super::digest::verify;
use super::harness::{TIMEOUT, decrypt, text, world};
use crate::admit::CLIENTS;
use crate::request::{KeyEntry, PAGE, ToClient};
use crate::{CHUNK, Client, ErrorKind, Mode, ServerConnection};
use divisi_net::{Config, Identity, PartyId};
use divisi_symmetric::algorithm::Settings;
use servers::{LENGTH, Lie, TRUTH, entry, everything, met_with, served, served_at, served_with};
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn servers_that_agree_are_believed() {
    assert_eq!(served(0, |_| {}, everything), None);
}

#[test]
fn whoever_tells_something_else_is_named_and_not_believed() {
    fn lie<const N: u8>(m: &mut ToClient) {
        match (N, &mut *m) {
            (0, ToClient::Key(key)) => key.exportable = true,
            (1, ToClient::Sealing { iv, .. }) => iv[0] ^= 1,
            (2, ToClient::Sealing { key, .. }) => key.maker = "alicia".into(),
            (3, ToClient::Ciphertext(body)) => body.0[LENGTH - 1] ^= 1,
            (3, ToClient::Digest(digest)) => digest[31] ^= 1,
            (4, ToClient::Tag(tag)) => tag[15] ^= 0x80,
            (5, ToClient::Valid) => *m = ToClient::Accepted,
            (6, ToClient::Done) => *m = ToClient::Valid,
            (7, ToClient::Accepted) => *m = ToClient::Done,
            _ => {}
        }
    }
    let lies: [Lie; 8] = [lie::<0>, lie::<1>, lie::<2>, lie::<3>, lie::<4>, lie::<5>, lie::<6>, lie::<7>];
    for lie in lies {
        for liar in 0..3 {
            let error = served(liar, lie, everything).expect("a lie was believed");
            assert_eq!((error.kind, error.retry), (ErrorKind::Mismatch, false), "{error:?}");
            assert_eq!(error.peer, PartyId::from_index(liar), "{error:?}");
        }
    }
}

/// Three servers of which no two agree: none of them is named.
#[test]
fn nobody_is_named_where_no_two_agree() {
    fn lie<const N: u8>(m: &mut ToClient) {
        if let ToClient::Sealing { iv, .. } = m {
            iv[11] ^= N;
        }
    }
    let error = served_with([lie::<1>, lie::<2>, TRUTH], everything).expect("a lie was believed");
    assert_eq!((error.kind, error.peer), (ErrorKind::Mismatch, None), "{error:?}");
}

/// Components of an answer: one of its two holders lies, and both are named.
#[test]
fn a_component_is_believed_only_from_both_its_holders() {
    fn lie<const N: u8>(m: &mut ToClient) {
        let ToClient::Answer { component, digest } = m else { return };
        match N {
            0 => component.0[0] ^= 1,
            1 => digest[0] ^= 1,
            2 => _ = component.0.pop(),
            _ => component.0 = vec![0; CHUNK],
        }
    }
    let lies: [Lie; 4] = [lie::<0>, lie::<1>, lie::<2>, lie::<3>];
    for (n, lie) in lies.into_iter().enumerate() {
        for liar in 0..3 {
            let error = served(liar, lie, everything).expect("a lie was believed");
            assert_eq!(error.kind, ErrorKind::Mismatch, "{error:?}");
            let holder = if n == 1 { (liar + 1) % 3 } else { liar };
            let named = format!("party {}", liar + 1);
            assert_eq!(error.peer, PartyId::from_index(holder), "{error:?}");
            assert!(error.message.contains(&named), "{error}");
        }
    }
}

/// A verdict is that of all three: one server makes no right tag wrong and no wrong one right, of a message
/// or of a ciphertext.
#[test]
fn one_server_alone_gives_no_verdict_on_a_tag() {
    fn wrong() -> ToClient {
        let failed = crate::error::Failed::refused(divisi_core::step!("compare"), "the tag is not right");
        ToClient::Failed(crate::error::Failed { kind: ErrorKind::Mismatch, ..failed })
    }
    let hearsay: Lie = |m| {
        if let (ToClient::Valid, ToClient::Failed(failed)) = (&*m, wrong()) {
            *m = ToClient::Failed(crate::error::Failed { hearsay: true, peer: 1, ..failed });
        }
    };
    let own: Lie = |m| {
        if matches!(m, ToClient::Valid) {
            *m = wrong();
        }
    };
    let verified = |client: &mut Client| {
        let settings = Settings::new("hmac-sha256".parse().unwrap());
        let key = "k".parse().unwrap();
        verify(client, &key, &settings, None, &[3; 32], b"text").err()
    };
    let decrypted =
        |client: &mut Client| decrypt(client, &"k".parse().unwrap(), &[0; 17_000], &text(LENGTH + 28)).1;
    let clients: [fn(&mut Client) -> Option<crate::Error>; 2] = [verified, decrypted];
    for client in clients {
        assert_eq!(served(0, |_| {}, client), None);
        for liar in 0..3 {
            // one against two, and two against one
            for lies in [
                [0, 1, 2].map(|i| if i == liar { own } else { TRUTH }),
                [0, 1, 2].map(|i| if i == liar { hearsay } else { TRUTH }),
                [0, 1, 2].map(|i| if i == liar { TRUTH } else { own }),
            ] {
                let error = served_with(lies, client).expect("a lie was believed");
                assert_eq!(error.kind, ErrorKind::Mismatch, "{error:?}");
                assert_eq!((error.peer, error.by_all), (PartyId::from_index(liar), false), "{error:?}");
                assert!(error.message.contains("gave different answers"), "{error}");
            }
        }
        // and all three, one of them in words of its own
        for liar in 0..3 {
            let lies = [0, 1, 2].map(|i| if i == liar { hearsay } else { own });
            for lies in [lies, [own; 3]] {
                let error = served_with(lies, client).unwrap();
                assert_eq!((error.kind, error.peer, error.by_all), (ErrorKind::Mismatch, None, true));
                assert_eq!(error.message, "the tag is not right");
            }
        }
    }
    // whether it is the key that is meant, is asked where all three say so
    let asked = |client: &mut Client| {
        client.expect_key(Some([4; 16]));
        (decrypted(client).is_some(), client.requests())
    };
    let refused: Lie = |m| {
        if matches!(m, ToClient::Valid) {
            *m = ToClient::Failed(crate::error::Failed::refused(divisi_core::step!("compare"), "no"));
        }
    };
    for (lies, requests) in [([own, TRUTH, TRUTH], 1), ([refused; 3], 1), ([own; 3], 2)] {
        assert_eq!(served_with(lies, asked), (true, requests));
    }
    let maker: Lie = |m| {
        if let ToClient::Tagging { key: Some(key), .. } | ToClient::Begun { key, .. } = m {
            key.maker = "\x1b[2Jalice".into();
        }
    };
    let chained = |client: &mut Client| {
        client.encrypt_in_mode(&"k".parse().unwrap(), Mode::Cbc, None, &[7; 32], &mut |_| {}).err()
    };
    let clients: [fn(&mut Client) -> Option<crate::Error>; 2] = [verified, chained];
    for client in clients {
        let error = served(1, maker, client).expect("a lie was believed");
        assert!(error.message.contains("an entry that no key can have"), "{error}");
    }
}

/// What a server says in place of a word outside of requests is its word alone: the error names it, and is
/// neither a verdict on a tag nor a mistake of the user.
#[test]
fn a_failure_outside_of_requests_is_one_servers_word() {
    fn lie<const N: u8, const USAGE: bool>(m: &mut ToClient) {
        let hit = match m {
            ToClient::Welcome { .. } => N == 0,
            ToClient::Ready => N == 1,
            ToClient::Condition(_) => N == 2,
            _ => false,
        };
        if hit {
            let kind = if USAGE { ErrorKind::Usage } else { ErrorKind::Mismatch };
            let failed = crate::error::Failed::refused(divisi_core::step!("x"), "no");
            *m = ToClient::Failed(crate::error::Failed { kind, ..failed });
        }
    }
    let alone = |config: &Config, identity: &Identity, party| {
        ServerConnection::connect(config, party, identity, world(), TIMEOUT)?.status()
    };
    let lies: [[Lie; 2]; 3] = [
        [lie::<0, false>, lie::<0, true>],
        [lie::<1, false>, lie::<1, true>],
        [lie::<2, false>, lie::<2, true>],
    ];
    for (n, lie) in lies.into_iter().enumerate().flat_map(|(n, lies)| lies.map(|lie| (n, lie))) {
        for liar in 0..3 {
            let named = PartyId::from_index(liar);
            met_with(liar, lie, |config, identity| {
                for party in PartyId::all(3) {
                    let said = alone(config, identity, party);
                    assert_eq!(said.is_err(), Some(party) == named, "{said:?}");
                    let Err(error) = said else { continue };
                    assert_eq!((error.kind, error.peer), (ErrorKind::Refused, named), "{error:?}");
                    assert!(!error.by_all && error.step.starts_with("divisi_node::client"), "{error:?}");
                }
            });
            let error = met_with(liar, lie, |config, identity| {
                let mut alice = Client::connect(config, identity, world())?;
                alice.status(TIMEOUT).into_iter().try_for_each(|(_, said)| said.map(drop))
            });
            let error = error.unwrap_err();
            assert_eq!((error.peer, error.by_all), (named, false), "{n}: {error:?}");
            assert_ne!(error.kind, ErrorKind::Usage, "{n}: {error:?}");
        }
    }
}

/// An entry of a key is the one that two servers have, and the third one is named: not who differs from the
/// first.
#[test]
fn whoever_lists_another_key_is_the_odd_one() {
    fn change(m: &mut ToClient, change: impl Fn(&mut Vec<KeyEntry>)) {
        if let ToClient::Keys { keys, .. } = m {
            change(keys);
        }
    }
    let key = "k".parse().unwrap();
    let lies: [Lie; 2] = [|m| change(m, |keys| keys[0].exportable = true), |m| change(m, Vec::clear)];
    for lie in lies {
        for liar in 0..3 {
            let named = served(liar, lie, |client| client.key_named(&key).unwrap().unwrap());
            let listed = served(liar, lie, |client| client.key_list().unwrap());
            for found in listed.into_iter().chain([named]) {
                assert_eq!(found.key, entry("k"));
                assert_eq!(found.differs, Vec::from_iter(PartyId::from_index(liar)));
            }
        }
    }
    // a key that one server alone has, and three different entries
    let more: Lie = |m| change(m, |keys| keys.push(entry("z")));
    for liar in 0..3 {
        let listed = served(liar, more, |client| client.key_list().unwrap());
        assert_eq!(listed[1].key, entry("z"));
        assert_eq!(listed[1].differs, Vec::from_iter(PartyId::from_index(liar)));
    }
    let found = served_with([lies[0], TRUTH, lies[1]], |client| client.key_named(&key).unwrap().unwrap());
    assert!(found.key.exportable && found.differs == [PartyId::P2, PartyId::P3], "{found:?}");
}

/// A key that was not meant is refused also if one server lists it otherwise than the two others.
#[test]
fn another_key_is_refused_whoever_lists_it_otherwise() {
    let key = "k".parse().unwrap();
    let other: Lie = |m| {
        if let ToClient::Keys { keys, .. } = m {
            keys.iter_mut().for_each(|key| key.exportable ^= true);
        }
    };
    for liar in 0..3 {
        let error = served_with([0, 1, 2].map(|i| if i == liar { other } else { TRUTH }), |client| {
            client.expect_key(Some([0xee; 16]));
            client.key_destroy(&key).unwrap_err()
        });
        assert!(error.message.contains("belongs to another key by now"), "{error}");
    }
}

/// Text of a server goes to a terminal: without control characters, and not without end.
#[test]
fn a_servers_words_are_cleaned() {
    fn words(m: &mut ToClient) {
        if matches!(m, ToClient::Key(_)) {
            let mut failed = crate::error::Failed::refused(divisi_core::step!("x"), "\x1b[2J\n".repeat(1000));
            failed.step = "a\rb".into();
            *m = ToClient::Failed(failed);
        }
    }
    let error = served(1, words, everything).unwrap();
    assert!(error.message.len() < 700 && !error.message.chars().any(char::is_control));
    assert_eq!(error.step, "a?b");
}

/// A server's entries of keys go to a terminal and into memory: only those that an honest server could send
/// are accepted.
#[test]
fn a_key_that_none_can_be_is_refused() {
    fn change(m: &mut ToClient, change: impl Fn(&mut KeyEntry)) {
        match m {
            ToClient::Key(key) => change(key),
            ToClient::Keys { keys, .. } => keys.iter_mut().for_each(change),
            _ => {}
        }
    }
    let lies: [Lie; 5] = [
        |m| change(m, |key| key.maker = "\x1b[2Jalice".into()),
        |m| change(m, |key| key.maker = "m".repeat(65)),
        |m| change(m, |key| key.clients = vec!["alicia\n".into()]),
        |m| change(m, |key| key.clients = vec![String::new()]),
        |m| change(m, |key| key.clients = vec!["alicia".into(); CLIENTS + 1]),
    ];
    let listed = |client: &mut Client| client.key_list().err();
    for lie in lies {
        for client in [everything, listed] {
            let error = served(1, lie, client).expect("a lie was believed");
            assert_eq!((error.kind, error.peer), (ErrorKind::Mismatch, Some(PartyId::P2)), "{error:?}");
            assert!(error.message.contains("an entry that no key can have"), "{error}");
        }
    }
}

/// A list without end, or out of order, is not followed.
#[test]
fn a_list_is_followed_only_as_far_as_an_honest_one_could_go() {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    fn page(m: &mut ToClient, len: usize, mut next: impl FnMut() -> usize) {
        if let ToClient::Keys { keys, more } = m {
            *keys = (0..len).map(|_| entry(&format!("k{:09}", next()))).collect();
            *more = true;
        }
    }
    fn last(m: &mut ToClient, names: &[&str], ends: bool) {
        if let ToClient::Keys { keys, more } = m {
            (*keys, *more) = (names.iter().map(|name| entry(name)).collect(), !ends);
        }
    }
    static PAGES: AtomicUsize = AtomicUsize::new(0);
    let lies: [Lie; 8] = [
        |m| page(m, PAGE + 1, || NEXT.fetch_add(1, Ordering::SeqCst)),
        |m| page(m, 1, || NEXT.fetch_add(1, Ordering::SeqCst)),
        |m| page(m, 1, || 7),
        |m| page(m, 0, || 0),
        // lists that end: a key twice, two the wrong way round, and the same on the second page
        |m| last(m, &["k1", "k1"], true),
        |m| last(m, &["k1", "k0"], true),
        |m| last(m, &["k1"], PAGES.fetch_add(1, Ordering::SeqCst) % 2 == 1),
        |m| last(m, [&["k1"][..], &["k0"]][PAGES.fetch_add(1, Ordering::SeqCst) % 2], false),
    ];
    for (n, lie) in lies.into_iter().enumerate() {
        let error = served(0, lie, |client| client.key_list().err()).expect("a lie was believed");
        let words =
            if n == 0 { "more keys than a page has" } else { "lists keys out of order, or more than" };
        assert!(error.message.contains(words), "{error}");
        assert_eq!((error.kind, error.peer), (ErrorKind::Mismatch, Some(PartyId::P1)), "{error:?}");
    }
    let listed = served(0, |_| {}, Client::key_list).unwrap();
    assert!(listed.len() == 1 && listed[0].differs.is_empty());
}

/// A server that fails a request which the two others do: what these still say belongs to no later request,
/// neither by number nor by place.
#[test]
fn answers_to_one_request_are_not_those_to_the_next() {
    fn fails(m: &mut ToClient) {
        if matches!(m, ToClient::Accepted | ToClient::Tagging { .. }) {
            *m = ToClient::Failed(crate::error::Failed::refused(divisi_core::step!("x"), "no"));
        }
    }
    let settings = Settings::new("hmac-sha256".parse().unwrap());
    for liar in 0..3 {
        let results = served(liar, fails, |client| {
            let key = "k".parse().unwrap();
            let mut verify = |text: &[u8]| verify(client, &key, &settings, None, &[0; 32], text);
            [verify(b"one"), verify(b"forged"), verify(b"forged")].map(|result| result.is_ok())
        });
        assert_eq!(results, [false; 3]);
    }
    // an answer in another's place, of this request or of another
    const MOVES: [fn((u64, u64)) -> (u64, u64); 3] = [|(n, i)| (n, i + 1), |(n, i)| (n + 1, i), |_| (0, 0)];
    for moved in MOVES {
        let error = served_at(moved, |client| client.key_list().map(drop)).unwrap_err();
        assert_eq!((error.kind, error.peer), (ErrorKind::Mismatch, Some(PartyId::P1)), "{error}");
    }
}

/// Each piece of a message for a MAC is accepted by all three, or the client names who does not.
#[test]
fn pieces_of_messages_are_accepted_by_all() {
    fn done(m: &mut ToClient) {
        if matches!(m, ToClient::Accepted) {
            *m = ToClient::Done;
        }
    }
    let settings = Settings::new("hmac-sha256".parse().unwrap());
    let verified = |client: &mut Client| {
        verify(client, &"k".parse().unwrap(), &settings, None, &[0; 32], b"a message").map(drop)
    };
    assert_eq!(served(0, |_| {}, verified), Ok(()));
    for liar in 0..3 {
        let error = served(liar, done, verified).expect_err("a lie was believed");
        assert_eq!((error.kind, error.peer), (ErrorKind::Mismatch, PartyId::from_index(liar)), "{error:?}");
    }
}

/// A ciphertext of 256 pieces is sent to its end, piece by piece, before anybody is asked for a verdict: its
/// first pieces are not taken for its last ones.
#[test]
fn a_ciphertext_of_many_pieces_is_not_judged_by_its_first() {
    static ACCEPTED: AtomicUsize = AtomicUsize::new(0);
    fn enough(m: &mut ToClient) {
        let why = match m {
            ToClient::Valid => "asked too early",
            // of three requests and of pieces of each
            ToClient::Accepted if ACCEPTED.fetch_add(1, Ordering::SeqCst) >= 9 => "enough",
            _ => return,
        };
        *m = ToClient::Failed(crate::error::Failed::refused(divisi_core::step!("x"), why));
    }
    let mut file = tempfile::tempfile().unwrap();
    let length = 256 * CHUNK as u64 + crate::OVERHEAD;
    file.set_len(length).unwrap();
    let result = served_with([enough; 3], |client| {
        client.decrypt(&"k".parse().unwrap(), b"", &mut file, length, &mut Vec::new(), &mut |_| {})
    });
    let error = result.expect_err("there was no answer");
    assert!(error.message.contains("enough"), "{error}");
}

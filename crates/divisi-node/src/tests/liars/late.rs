//! A server that tells the truth for a while, and lies then: about the last piece of a long message, on the
//! second page of a list, in the last entry of a page.

use super::servers::{LENGTH, Lie, TRUTH, entry, served, served_with};
use crate::request::{PAGE, PIECE, ToClient};
use crate::tests::harness::{decrypt, encrypt, text};
use crate::{CHUNK, Client, Error, ErrorKind, KeyName, Mode};
use divisi_net::PartyId;

/// Five whole pieces and a short one.
const LONG: usize = 5 * CHUNK + LENGTH;
const LONG_CBC: usize = 5 * PIECE + SHORT_CBC;
const SHORT_CBC: usize = 96;

/// A client's request for a long message: what it returned or wrote, and the error.
type Call = fn(&mut Client) -> (Vec<u8>, Option<Error>);

fn name() -> KeyName {
    "k".parse().unwrap()
}

fn of<T: AsRef<[u8]>>(result: Result<T, Error>) -> (Vec<u8>, Option<Error>) {
    match result {
        Ok(out) => (out.as_ref().to_vec(), None),
        Err(error) => (Vec::new(), Some(error)),
    }
}

fn streamed(client: &mut Client) -> (Vec<u8>, Option<Error>) {
    let mut out = Vec::new();
    let sealed = client.encrypt_stream(&name(), b"", &mut &text(LONG)[..], &mut out, &mut |_| {});
    (out, sealed.err())
}

fn changed(bytes: &mut [u8]) {
    if [LENGTH, SHORT_CBC].contains(&bytes.len()) {
        bytes[SHORT_CBC - 1] ^= 1;
    }
}

/// The last piece and the end are compared as the first pieces are.
#[test]
fn a_lie_at_the_end_of_a_long_message_is_not_believed() {
    let ciphertext: Lie = |m| {
        if let ToClient::Ciphertext(body) = m {
            changed(&mut body.0);
        }
    };
    let component: Lie = |m| {
        if let ToClient::Answer { component, .. } = m {
            changed(&mut component.0);
        }
    };
    let end: Lie = |m| match m {
        ToClient::Tag(tag) => tag[15] ^= 1,
        ToClient::Valid => *m = ToClient::Accepted,
        ToClient::Done => *m = ToClient::Valid,
        _ => {}
    };
    // the first server alone sends ciphertexts
    let (sealed, opened) = ([(ciphertext, 1), (end, 3)], [(component, 3), (end, 3)]);
    let calls: [(Call, [(Lie, usize); 2]); 5] = [
        (|client| of(encrypt(client, &name(), b"", &text(LONG))), sealed),
        (streamed, sealed),
        (|client| decrypt(client, &name(), b"", &text(28 + LONG)), opened),
        (|client| of(client.encrypt_in_mode(&name(), Mode::Cbc, None, &text(LONG_CBC), &mut |_| {})), sealed),
        (
            |client| of(client.decrypt_in_mode(&name(), Mode::Cbc, None, &text(16 + LONG_CBC), &mut |_| {})),
            opened,
        ),
    ];
    for (n, (call, lies)) in calls.into_iter().enumerate() {
        let (whole, error) = served(0, TRUTH, call);
        assert_eq!(error, None, "{n}");
        for (lie, liar) in lies.into_iter().flat_map(|(lie, liars)| (0..liars).map(move |liar| (lie, liar))) {
            let (out, error) = served(liar, lie, call);
            let error = error.expect("a lie was believed");
            assert_eq!(
                (error.kind, error.peer),
                (ErrorKind::Mismatch, PartyId::from_index(liar)),
                "{n}: {error}"
            );
            assert!(out.len() < whole.len(), "{n}: all was written");
        }
    }
}

/// What one server lists on a later page is its word alone, as on the first one.
#[test]
fn whoever_lists_another_key_on_a_later_page_is_the_odd_one() {
    fn keys(m: &mut ToClient, of: impl Fn(&mut Vec<crate::request::KeyEntry>)) {
        if let ToClient::Keys { keys, more } = m {
            *more = keys.iter().any(|key| key.name == name());
            of(keys);
        }
    }
    let pages: Lie = |m| keys(m, |_| {});
    let other: Lie = |m| keys(m, |keys| keys.iter_mut().for_each(|key| key.exportable = key.name != name()));
    let none: Lie = |m| keys(m, |keys| keys.retain(|key| key.name == name()));
    let listed = |lies| served_with(lies, |client| client.key_list().unwrap());
    for liar in 0..3 {
        for lie in [other, none] {
            let found = listed([0, 1, 2].map(|i| if i == liar { lie } else { pages }));
            assert_eq!(
                found.iter().map(|listed| listed.key.clone()).collect::<Vec<_>>(),
                [entry("k"), entry("l")]
            );
            assert!(found[0].differs.is_empty());
            assert_eq!(found[1].differs, Vec::from_iter(PartyId::from_index(liar)));
        }
    }
}

/// Each entry of a full page is looked at.
#[test]
fn the_last_key_of_a_page_is_one_that_can_be() {
    fn page(m: &mut ToClient, maker: &str) {
        if let ToClient::Keys { keys, .. } = m {
            *keys = (0..PAGE).map(|i| entry(&format!("k{i:02}"))).collect();
            keys[PAGE - 1].maker = maker.into();
        }
    }
    let listed = |lie| served(1, lie, |client| client.key_list().err());
    assert_eq!(listed(|m| page(m, "alice")), None);
    let error = listed(|m| page(m, "\x1b[2Jalice")).expect("a lie was believed");
    assert_eq!(error.peer, PartyId::from_index(1));
    assert!(error.message.contains("an entry that no key can have"), "{error}");
}

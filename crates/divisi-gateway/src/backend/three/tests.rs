//! What the gateway makes of what the three servers say.

use super::*;

/// Of servers that are away the whole patience is spent once, and again when they have served meanwhile.
#[test]
fn patience_ends_until_the_servers_have_served() {
    let (mut away, start) = (None, Instant::now());
    for (seconds, serving, left) in [
        (0, true, 5),
        (10, false, 5),
        (12, false, 3),
        (15, false, 0),
        (99, false, 0),
        (100, true, 5),
        (101, false, 5),
        (103, false, 3),
    ] {
        let now = start + Duration::from_secs(seconds);
        assert_eq!(patience(&mut away, serving, now), Duration::from_secs(left), "{seconds} s");
    }
}

/// A caller's forgery or mistake is what all three servers say. What fewer say is the servers' trouble,
/// whatever else the report has in common with theirs.
#[test]
fn only_all_three_servers_find_a_forgery_or_refuse() {
    let of = |kind, by_all| {
        let (step, message) = ("compare".to_owned(), "no".to_owned());
        trouble(Error { kind, retry: false, peer: None, by_all, step, message })
    };
    assert!(matches!(of(ErrorKind::Mismatch, true), BackendTrouble::Forged));
    assert!(matches!(of(ErrorKind::Mismatch, false), BackendTrouble::Down(None, _)));
    assert_eq!(of(ErrorKind::Refused, true), BackendTrouble::Refused("no".into()));
    assert!(matches!(of(ErrorKind::Refused, false), BackendTrouble::Down(None, _)));
    // who is at fault is told, and why
    for kind in [ErrorKind::Abort, ErrorKind::Refused, ErrorKind::Unavailable, ErrorKind::Mismatch] {
        let (peer, step, message) = (PartyId::all(3).nth(1), "compare".to_owned(), "no".to_owned());
        let of_two = trouble(Error { kind, retry: false, peer, by_all: false, step, message });
        assert_eq!(of_two, BackendTrouble::Down(Some(2), "no".into()));
    }
    let (kind, message) = (ErrorKind::Usage, "wrong call".to_owned());
    let misuse =
        trouble(Error { kind, retry: false, peer: None, by_all: true, step: "compare".into(), message });
    assert_eq!(misuse, BackendTrouble::Misuse("wrong call".into()));
    // what passes, and what happens at the door, has nothing to do with the request
    for (retry, step) in [(true, "compare"), (false, CONNECT)] {
        let (kind, step, message) = (ErrorKind::Refused, step.to_owned(), "no".to_owned());
        let by_all = trouble(Error { kind, retry, peer: None, by_all: true, step, message });
        assert!(matches!(by_all, BackendTrouble::Down(None, _)), "{by_all:?}");
    }
}

fn entry(state: KeyState, kind: KeyType) -> KeyEntry {
    let (name, maker, clients) = ("k".parse().unwrap(), "me".to_owned(), Vec::new());
    let (id, bytes, generation, exportable, made) = ([1; 16], 32, 1, false, Some(5));
    KeyEntry { name, id, kind, bytes, generation, state, maker, clients, exportable, made }
}

/// Servers that differ are asked again, in vain if they still do.
#[test]
fn lists_that_differ_are_asked_for_again() {
    for differing in 0..=LISTS {
        let mut asked = 0;
        let listed = agreed(|| {
            asked += 1;
            let differs = if asked > differing { vec![] } else { vec![PartyId::P2] };
            Ok(vec![Listed { key: entry(KeyState::Active, KeyType::Aes256), differs }])
        });
        let ends = if differing < LISTS { Ok(1) } else { Err(differ(&[PartyId::P2])) };
        assert_eq!((listed.map(|keys| keys.len()), asked), (ends, LISTS.min(differing + 1)));
    }
}

/// A key is one of which all three have the same entry, be it found by its name or in whatever place of a
/// list: whichever servers have another one, or none, they are named.
#[test]
fn a_key_of_which_any_servers_differ_is_none() {
    let entry = || entry(KeyState::Active, KeyType::Aes256);
    assert!(of_all(Listed { key: entry(), differs: vec![] }).is_ok_and(|key| key.is_some()));
    for chosen in 1..1 << 3 {
        let differs: Vec<_> = PartyId::all(3).filter(|party| chosen >> party.index() & 1 == 1).collect();
        let found = Listed { key: entry(), differs: differs.clone() };
        assert_eq!(of_all(found.clone()), Err(differ(&differs)), "{differs:?}");
        for place in 0..20 {
            let mut listed = vec![Listed { key: entry(), differs: vec![] }; 20];
            listed[place] = found.clone();
            assert_eq!(agreed(|| Ok(listed.clone())), Err(differ(&differs)), "{differs:?} {place}");
        }
    }
}

/// A key that is being made, or is destroyed, is none.
#[test]
fn only_active_keys_are_keys() {
    let of = |state, kind| key(entry(state, kind));
    assert!(of(KeyState::Active, KeyType::Aes256).is_some_and(|key| key.made == 5 && key.id == [1; 16]));
    assert!(of(KeyState::Prepared, KeyType::Aes256).is_none());
    assert!(of(KeyState::Destroyed, KeyType::Aes256).is_none());
    assert!(of(KeyState::Active, KeyType::Aes192).is_none());
}

/// Who has another entry of a key is named.
#[test]
fn who_differs_is_named() {
    let BackendTrouble::Down(party, why) = differ(&[PartyId::P2]) else { panic!("it is trouble") };
    assert_eq!(party, Some(2));
    assert!(why.contains("party 2"), "{why}");
    let BackendTrouble::Down(party, why) = differ(&[PartyId::P1, PartyId::P3]) else { panic!() };
    assert_eq!(party, Some(1));
    assert!(why.contains("party 1 and party 3"), "{why}");
}

/// A refusal by some is one by all if all three have no such key, or one of another kind. Of a key that
/// is there, whatever some say is trouble.
#[test]
fn a_key_that_all_three_lack_is_a_refusal() {
    let by = |by_all| {
        let (step, message) = ("compare".to_owned(), "party 2 says: no".to_owned());
        Error { kind: ErrorKind::Refused, retry: false, peer: None, by_all, step, message }
    };
    let key = |kind| Key { name: "k".parse().unwrap(), kind, id: [0; 16], made: 0 };
    let of = |found| settled(by(false), KeyKind::encrypts, || found);
    for found in [None, Some(key(KeyKind::Hmac))] {
        let BackendTrouble::Refused(why) = of(Ok(found)) else { panic!("it is not there") };
        assert!(!why.contains("party 2"), "{why}");
    }
    assert!(matches!(of(Ok(Some(key(KeyKind::Aes128)))), BackendTrouble::Down(..)));
    let unknown = Err(BackendTrouble::Down(None, "x".into()));
    assert!(matches!(of(unknown), BackendTrouble::Down(..)));
    let asked = || panic!("all three have said it");
    assert!(matches!(settled(by(true), KeyKind::encrypts, asked), BackendTrouble::Refused(_)));
    // what passes, what happens at the door, and what is no refusal is trouble, whatever there is
    for other in [
        Error { retry: true, ..by(false) },
        Error { step: CONNECT.to_owned(), ..by(false) },
        Error { kind: ErrorKind::Unavailable, ..by(false) },
    ] {
        assert!(matches!(settled(other, KeyKind::encrypts, || Ok(None)), BackendTrouble::Down(..)));
    }
}

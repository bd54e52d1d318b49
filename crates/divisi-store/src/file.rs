//! The format of a key file.
//!
//! `"DIVISIK\n" | version u16 | length of the body u32 | body (postcard) | BLAKE3 of everything before`,
//! numbers little-endian. Version 1 has no change of clients in its body, and versions 1 and 2 have no time
//! at which the key was made; files of all three versions are read, and version 3 is written. The checksum
//! detects accidental damage; whether the servers' files belong together is checked elsewhere (A26).

use crate::error::StoreError;
use crate::key::{KeyFile, KeyInfo, KeyState, Secret};
use postcard::ser_flavors::Size;
use serde::{Deserialize, Serialize};
use std::path::Path;
use zeroize::{Zeroize, Zeroizing};

const MAGIC: [u8; 8] = *b"DIVISIK\n";
/// The version that is written, the one without the time at which the key was made, and the one without a
/// change of clients, too.
const VERSION: u16 = 3;
const WITHOUT_TIME: u16 = 2;
const WITHOUT_CHANGE: u16 = 1;
const HEAD: usize = 14;
const CHECKSUM: usize = 32;
/// No key file is longer.
pub(crate) const LONGEST: usize = 64 * 1024;

/// The body of a key file, to be written.
#[derive(Serialize)]
struct Written<'a> {
    info: &'a KeyInfo,
    reserved: u64,
    components: Option<(&'a [u8], &'a [u8])>,
    next_clients: Option<&'a [String]>,
    /// 0 if it is not known.
    made: u64,
}

/// The body of a key file that was read: all of it in version 1; `next_clients` follows in version 2, and
/// then `made` in version 3.
#[derive(Deserialize)]
struct Read {
    info: KeyInfo,
    reserved: u64,
    components: Option<(Vec<u8>, Vec<u8>)>,
}

/// The bytes of a key file.
pub(crate) fn encode(key: &KeyFile) -> Result<Zeroizing<Vec<u8>>, StoreError> {
    let components = key.secret.as_ref().map(|s| (s.first.as_slice(), s.second.as_slice()));
    let next_clients = key.next_clients.as_deref();
    let made = key.info.made.unwrap_or(0);
    let body = Written { info: &key.info, reserved: key.reserved, components, next_clients, made };
    let too_large = || StoreError::TooLarge(key.info.name.clone());
    let len = postcard::serialize_with_flavor(&body, Size::default()).map_err(|_| too_large())?;
    let end = HEAD + len;
    if end + CHECKSUM > LONGEST {
        return Err(too_large());
    }
    let mut out = Zeroizing::new(vec![0; end + CHECKSUM]);
    let (head, rest) = out.split_at_mut(HEAD);
    postcard::to_slice(&body, rest).map_err(|_| too_large())?;
    head[..8].copy_from_slice(&MAGIC);
    head[8..10].copy_from_slice(&VERSION.to_le_bytes());
    head[10..].copy_from_slice(&(len as u32).to_le_bytes());
    let checksum = *blake3::hash(&out[..end]).as_bytes();
    out[end..].copy_from_slice(&checksum);
    Ok(out)
}

/// Decode the bytes of a key file; `path` is for error messages.
pub(crate) fn decode(path: &Path, bytes: &[u8]) -> Result<KeyFile, StoreError> {
    let damaged = |what| StoreError::Damaged(path.into(), what);
    let (head, rest) = bytes.split_first_chunk::<HEAD>().ok_or_else(|| damaged("it is too short"))?;
    if head[..8] != MAGIC {
        return Err(damaged("it does not begin like a key file"));
    }
    let version = u16::from_le_bytes([head[8], head[9]]);
    if ![WITHOUT_CHANGE, WITHOUT_TIME, VERSION].contains(&version) {
        return Err(StoreError::Version(path.into(), version));
    }
    let len = u32::from_le_bytes([head[10], head[11], head[12], head[13]]) as usize;
    let (body, checksum) = rest.split_at_checked(len).ok_or_else(|| damaged("it is cut off"))?;
    let covered = &bytes[..HEAD + len];
    if blake3::hash(covered).as_bytes() != checksum {
        return Err(damaged("its checksum is wrong"));
    }
    let (read, left) =
        postcard::take_from_bytes::<Read>(body).map_err(|_| damaged("its body is not a key"))?;
    let Read { mut info, reserved, mut components } = read;
    info.bytes = components.as_ref().map_or(info.kind.bytes(), |(first, _)| first.len());
    let (next_clients, left) = match version {
        WITHOUT_CHANGE => (Some(None), left),
        _ => match postcard::take_from_bytes::<Option<Vec<String>>>(left) {
            Ok((clients, left)) => (Some(clients), left),
            Err(_) => (None, left),
        },
    };
    let (made, left) = match version {
        WITHOUT_CHANGE | WITHOUT_TIME => (Some(0), left),
        _ => match postcard::take_from_bytes::<u64>(left) {
            Ok((made, left)) => (Some(made), left),
            Err(_) => (None, left),
        },
    };
    let right = match &components {
        Some((a, b)) => {
            info.state != KeyState::Destroyed && info.kind.lengths().contains(&a.len()) && b.len() == a.len()
        }
        None => info.state == KeyState::Destroyed,
    };
    let destroyed = info.state == KeyState::Destroyed;
    let next_clients = next_clients.filter(|next| left.is_empty() && !(destroyed && next.is_some()));
    let (true, Some(next_clients), Some(made)) = (right, next_clients, made) else {
        components.zeroize();
        let why = "its components do not have the lengths of its type, or it does not end where it should";
        return Err(damaged(why));
    };
    info.made = Some(made).filter(|made| *made > 0);
    let secret = components.map(|(a, b)| Secret { first: Zeroizing::new(a), second: Zeroizing::new(b) });
    Ok(KeyFile { info, reserved, secret, next_clients })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::key::{KeyType, Maker, Purpose};
    use proptest::prelude::*;

    /// A key of 128 bits with components that are easy to find again.
    pub(crate) fn sample(name: &str) -> KeyFile {
        KeyFile {
            info: KeyInfo {
                name: name.parse().unwrap(),
                id: [1; 16],
                kind: KeyType::Aes128,
                bytes: 16,
                purpose: Purpose::Gcm,
                generation: 1,
                state: KeyState::Active,
                request: [2; 16],
                maker: Maker { name: "alice".into(), fingerprint: [3; 32] },
                clients: vec!["bob".into()],
                exportable: true,
                party: 2,
                mesh: [4; 32],
                made: Some(1_800_000_000),
            },
            reserved: 1024,
            secret: Some(Secret {
                first: Zeroizing::new(vec![0xaa; 16]),
                second: Zeroizing::new(vec![0xbb; 16]),
            }),
            next_clients: None,
        }
    }

    /// A file that is as long as one may be is read again; one that is longer is not made.
    #[test]
    fn the_longest_file_is_read_again() {
        let named = |len: usize| {
            let mut key = sample("k");
            key.info.clients = vec!["x".repeat(len)];
            encode(&key)
        };
        let len = LONGEST - named(1 << 14).unwrap().len() + (1 << 14);
        let bytes = named(len).unwrap();
        assert_eq!(bytes.len(), LONGEST);
        assert!(decode(Path::new("k.key"), &bytes).is_ok());
        assert!(matches!(named(len + 1), Err(StoreError::TooLarge(_))));
    }

    /// The bytes of the sample, by hand from postcard's rules: of version 1, and of later ones with a change
    /// and with a time.
    #[test]
    fn golden_bytes() {
        let body = [
            "026b31",         // name
            &"01".repeat(16), // id
            "00",             // aes-128
            "00",             // for GCM
            "01",             // generation
            "01",             // active
            &"02".repeat(16), // request
            "05616c696365",   // maker
            &"03".repeat(32),
            "0103626f62",     // clients
            "01",             // exportable
            "02",             // party
            &"04".repeat(32), // mesh
            "8008",           // 1024 uses reserved
            "01",
            &format!("10{}", "aa".repeat(16)),
            &format!("10{}", "bb".repeat(16)),
        ]
        .concat();
        let covered = ["4449564953494b0a", "0100", "99000000", &body].concat();
        let checksum = "394fdc7387468687563ac88300a7081863e0f6625b52b651d7abb43cb28d763a";
        let old = decode(Path::new("k1"), &hex::decode(covered + checksum).unwrap()).unwrap();
        let untimed = |name| KeyInfo { made: None, ..sample(name).info };
        assert_eq!((&old.info, old.reserved), (&untimed("k1"), 1024));
        assert_eq!(old.secret.as_ref().unwrap().first.as_slice(), [0xaa; 16]);
        assert_eq!(old.next_clients, None);

        let covered = |version: &str, length: &str, rest: &str| {
            ["4449564953494b0a", version, length, &body, rest].concat()
        };
        let whole = |covered: String| {
            let checksum = blake3::hash(&hex::decode(&covered).unwrap()).to_hex();
            covered + checksum.as_str()
        };
        let read = |covered: String| decode(Path::new("k1"), &hex::decode(whole(covered)).unwrap());
        // version 2: no time
        let second = read(covered("0200", "a3000000", "010203626f6203657665")).unwrap();
        assert_eq!(second.next_clients, Some(vec!["bob".into(), "eve".into()]));
        assert_eq!(second.info, untimed("k1"));
        assert_eq!(read(covered("0200", "9a000000", "00")).unwrap().next_clients, None);
        // version 3: what was read without a time is written with none
        assert_eq!(hex::encode(&*encode(&old).unwrap()), whole(covered("0300", "9b000000", "0000")));
        let mut changing = sample("k1");
        changing.next_clients = Some(vec!["bob".into(), "eve".into()]);
        let bytes = encode(&changing).unwrap();
        let rest = "010203626f6203657665 80a4a7da06".replace(' ', "");
        assert_eq!(hex::encode(&*bytes), whole(covered("0300", "a8000000", &rest)));
        let third = decode(Path::new("k1"), &bytes).unwrap();
        assert_eq!((third.next_clients, third.info), (changing.next_clients, changing.info));
        // each version ends where it says
        for (version, length, rest) in [
            ("0100", "9a000000", "00"),
            ("0200", "99000000", ""),
            ("0200", "9b000000", "0000"),
            ("0300", "9a000000", "00"),
            ("0300", "9c000000", "000000"),
        ] {
            assert!(read(covered(version, length, rest)).is_err(), "{version} {rest}");
        }
    }

    #[test]
    fn what_was_written_is_read_and_what_is_damaged_is_not() {
        let path = Path::new("keys/k1.key");
        let bytes = encode(&sample("k1")).unwrap();
        let read = decode(path, &bytes).unwrap();
        assert_eq!(read.info, sample("k1").info);
        assert_eq!(read.reserved, 1024);
        assert_eq!(read.secret.unwrap().second.as_slice(), [0xbb; 16]);
        for at in 0..bytes.len() {
            let mut bad = bytes.to_vec();
            bad[at] ^= 4;
            let error = decode(path, &bad).err().unwrap().to_string();
            assert!(error.contains("keys/k1.key"), "{error}");
            assert_eq!(error.contains("does not begin like"), at < 8, "{error}");
        }
        for len in 0..bytes.len() {
            assert!(decode(path, &bytes[..len]).is_err());
        }
        let mut newer = bytes.to_vec();
        newer[8] = 4;
        assert!(decode(path, &newer).err().unwrap().to_string().contains("format version 4"));
        // a number of two bytes
        (newer[8], newer[9]) = (bytes[8], 1);
        assert!(matches!(decode(path, &newer), Err(StoreError::Version(at, 256..=511)) if at == path));
    }

    #[test]
    fn components_of_another_length_than_the_type_says_are_damage() {
        let mut key = sample("k1");
        key.info.kind = KeyType::Aes256;
        let bytes = encode(&key).unwrap();
        assert!(matches!(decode(Path::new("k"), &bytes), Err(StoreError::Damaged(..))));
        // a key of HMAC has the length of its components
        let of_bytes = |first: usize, second: usize| {
            let mut key = sample("k1");
            (key.info.kind, key.info.purpose) = (KeyType::HmacSha256, Purpose::Mac);
            let [first, second] = [first, second].map(|bytes| Zeroizing::new(vec![7; bytes]));
            key.secret = Some(Secret { first, second });
            decode(Path::new("k"), &encode(&key).unwrap())
        };
        for bytes in [1, 4, 32, 131, 1024] {
            let key = of_bytes(bytes, bytes).unwrap();
            assert_eq!((key.info.bytes, key.secret.unwrap().second.len()), (bytes, bytes));
        }
        for (first, second) in [(0, 0), (1025, 1025), (20, 21)] {
            assert!(matches!(of_bytes(first, second), Err(StoreError::Damaged(..))));
        }
        // a key has components until it is destroyed, and then nobody changes who may use it
        for state in [KeyState::Destroyed, KeyState::Active, KeyState::Prepared] {
            for has_secret in [false, true] {
                for next in [None, Some(vec!["bob".into()])] {
                    let is_right =
                        (state == KeyState::Destroyed) != has_secret && (has_secret || next.is_none());
                    let mut key = KeyFile { next_clients: next, ..sample("k1") };
                    key.info.state = state;
                    key.secret = key.secret.filter(|_| has_secret);
                    let end = decode(Path::new("k"), &encode(&key).unwrap());
                    let is_damaged = matches!(end, Err(StoreError::Damaged(..)));
                    assert!(end.is_ok() == is_right && is_damaged != is_right, "{state:?} {has_secret}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn garbage_never_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..400), framed: bool) {
            if framed && bytes.len() >= HEAD + CHECKSUM {
                let len = bytes.len() - HEAD - CHECKSUM;
                bytes[..8].copy_from_slice(&MAGIC);
                bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
                bytes[10..14].copy_from_slice(&(len as u32).to_le_bytes());
                let sum = *blake3::hash(&bytes[..HEAD + len]).as_bytes();
                bytes[HEAD + len..].copy_from_slice(&sum);
            }
            prop_assert!(decode(Path::new("k"), &bytes).is_err());
        }
    }
}

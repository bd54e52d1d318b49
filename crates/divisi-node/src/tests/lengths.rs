//! MAC keys of the lengths that their standards allow.

use super::digest::{mac, settings};
use super::harness::{ServersHarness, import, text, with_alice};
use crate::{ErrorKind, KeyType, RoundsChoice};
use divisi_symmetric::algorithm::Settings;

/// RFC 4231, test cases 1 to 7: key, message, and the tags by HMAC-SHA-256 and HMAC-SHA-512.
fn rfc_4231() -> Vec<(Vec<u8>, Vec<u8>, &'static str, &'static str)> {
    let larger = "This is a test using a larger than block-size key and a larger than block-size data. The key \
                  needs to be hashed before being used by the HMAC algorithm.";
    vec![
        (
            vec![0x0b; 20],
            b"Hi There".to_vec(),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854",
        ),
        (
            b"Jefe".to_vec(),
            b"what do ya want for nothing?".to_vec(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
        ),
        (
            vec![0xaa; 20],
            vec![0xdd; 50],
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
            "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb",
        ),
        (
            (1..=25).collect(),
            vec![0xcd; 50],
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
            "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3dba91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd",
        ),
        (
            vec![0x0c; 20],
            b"Test With Truncation".to_vec(),
            "a3b6167473100ee06e0c796c2955552b",
            "415fad6271580a531d4179bc891d87a6",
        ),
        (
            vec![0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First".to_vec(),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
        ),
        (
            vec![0xaa; 131],
            larger.as_bytes().to_vec(),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
            "e37b6a775dc87dbaa4dfa9f96e5e3ffddebd71f8867289865df5a32d20cdc944b6022cac3c4982b10d5eeb55c3e4de15134676fb6de0446065c97440fa8c6a58",
        ),
    ]
}

/// Every example of RFC 4231 is imported and makes the tag of the RFC; what is exported is what was imported,
/// also of a key that is longer than a block.
#[test]
fn every_example_of_rfc_4231_is_a_key() {
    let (_harness, mut alice) = with_alice();
    for (at, (key, message, sha256, sha512)) in rfc_4231().into_iter().enumerate() {
        for (kind, right) in [(KeyType::HmacSha256, sha256), (KeyType::HmacSha512, sha512)] {
            let name = import(&mut alice, &format!("k{at}-{kind}"), kind, &key);
            let settings = Settings { output_bytes: right.len() / 2, ..settings(kind.name()) };
            let made = mac(&mut alice, &name, &settings, &message).unwrap();
            assert_eq!(hex::encode(&*made.tag), right, "case {} of {kind}", at + 1);
            assert_eq!(*alice.key_export(&name).unwrap(), key);
        }
    }
}

/// KMAC128, sample 1 of NIST's examples, whose key has 32 bytes; RFC 4226, appendix D and RFC 6238, appendix
/// B, and secrets of other lengths for one-time passwords; a long key in constant rounds.
#[test]
fn other_keys_have_other_lengths() {
    let (_harness, mut alice) = with_alice();
    let key: Vec<u8> = (0x40..0x60).collect();
    let name = import(&mut alice, "kmac", KeyType::Kmac128, &key);
    let tag = mac(&mut alice, &name, &settings("kmac128"), &[0, 1, 2, 3]).unwrap().tag;
    assert_eq!(hex::encode(&*tag), "e5780b0d3ea6f7d3a429c5706aa43a00fadbd7d49628839e3187243f456ee14e");
    let digits: Vec<u8> = b"1234567890".iter().copied().cycle().take(64).collect();
    for (kind, bytes, counter, right) in [
        (KeyType::OtpSha1, 20, 0, "755224"),
        (KeyType::OtpSha1, 20, 9, "520489"),
        (KeyType::OtpSha1, 20, 1, "94287082"),
        (KeyType::OtpSha256, 32, 1, "46119246"),
        (KeyType::OtpSha512, 64, 1, "90693936"),
        (KeyType::OtpSha1, 64, 7, "206672"),
        (KeyType::OtpSha256, 64, 7, "036190"),
        (KeyType::OtpSha512, 10, 7, "943004"),
    ] {
        let settings = Settings { output_bytes: right.len(), ..settings(kind.name()) };
        let name = import(&mut alice, &format!("{kind}-{bytes}-{counter}"), kind, &digits[..bytes]);
        let code = mac(&mut alice, &name, &settings, &u64::to_be_bytes(counter)).unwrap().tag;
        assert_eq!(*code, right.as_bytes(), "{kind} {bytes} {counter}");
    }
    // what no type has is told before anything is sent
    for (kind, bytes) in [(KeyType::HmacSha256, 0), (KeyType::Kmac128, 1025), (KeyType::OtpSha1, 9)] {
        let new = alice.new_key("no".parse().unwrap(), kind, false, vec![]);
        assert_eq!(alice.key_import(&new, &text(bytes)).unwrap_err().kind, ErrorKind::Usage);
        let new = crate::NewKey { bytes: bytes as u32, ..new };
        assert_eq!(alice.key_new(&new).unwrap_err().kind, ErrorKind::Usage);
    }
}

/// A key that the servers draw has the length that was asked for, and the same request finds it again, while
/// one for another length does not.
#[test]
fn a_drawn_key_has_the_length_that_was_asked_for() {
    let harness = ServersHarness::patient(|options| options.rounds = RoundsChoice::Constant);
    let mut alice = harness.connect("alice");
    let new = alice.new_key("k".parse().unwrap(), KeyType::HmacSha256, true, vec![]);
    let new = crate::NewKey { bytes: 100, ..new };
    let made = alice.key_new(&new).unwrap();
    assert_eq!((made.bytes, alice.key_new(&new).unwrap()), (100, made.clone()));
    let other = crate::NewKey { bytes: 101, ..new };
    assert_eq!(alice.key_new(&other).unwrap_err().kind, ErrorKind::Refused);
    let key = alice.key_export(&made.name).unwrap();
    assert!(key.len() == 100 && key.iter().any(|byte| *byte != 0));
    let settings = settings("hmac-sha256");
    let tag = mac(&mut alice, &made.name, &settings, b"text").unwrap().tag;
    assert_eq!(*tag, super::digest::clear(&settings, &key, [0; 12], b"text"));
    // longer than one garbled program
    let long = import(&mut alice, "long", KeyType::HmacSha256, &text(600));
    let tag = mac(&mut alice, &long, &settings, b"text").unwrap().tag;
    assert_eq!(*tag, super::digest::clear(&settings, &text(600), [0; 12], b"text"));
    let listed = alice.key_list().unwrap();
    assert_eq!(listed.iter().map(|listed| listed.key.bytes).collect::<Vec<_>>(), [100, 600]);
}

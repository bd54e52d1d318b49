//! SHA-2, SHA-3, SHAKE and cSHAKE over gates: the standards' known answers, other implementations, and
//! programs that run block by block.

use cshake::digest::{ExtendableOutput, XofReader};
use cshake::{CShake128, CShake256};
use divisi_circuit::{Program, plain};
use divisi_core::testing::PlainLab;
use divisi_core::{Bytes, Opens, Plain};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::batch::{self, Messages, byte_values};
use divisi_symmetric::gates::{Adder, in_the_clear};
use divisi_symmetric::hash::Hash;
use divisi_symmetric::mac::hmac::PadStates;
use divisi_symmetric::sha3::{Xof, permutation_program};
use divisi_symmetric::suite::functions::{Case, outputs};
use proptest::prelude::*;
use sha2::Digest;

const ADDERS: [Adder; 2] = [Adder::FewestAnds, Adder::LowDepth];

/// Hash, message, digest: the examples that NIST publishes with FIPS 180-4 and FIPS 202.
const KNOWN: &[(&str, &str, &str)] = &[
    ("sha224", "", "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"),
    ("sha224", "abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
    ("sha256", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("sha256", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        "sha256",
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ),
    (
        "sha384",
        "abc",
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
    ),
    (
        "sha512",
        "",
        "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
         47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
    ),
    (
        "sha512",
        "abc",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
    ("sha512-256", "abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ("sha3-224", "", "6b4e03423667dbb73b6e15454f0eb1abd4597f9a1b078e3f5b5a6bc7"),
    ("sha3-224", "abc", "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"),
    ("sha3-256", "", "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"),
    ("sha3-256", "abc", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
    (
        "sha3-384",
        "abc",
        "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25",
    ),
    (
        "sha3-512",
        "abc",
        "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
         10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
    ),
];

fn digest(hash: Hash, adder: Adder, message: &[u8]) -> Vec<u8> {
    in_the_clear(message, |g, message| hash.digest(g, adder, message))
}

/// The same by other people's code.
fn theirs(hash: Hash, message: &[u8]) -> Vec<u8> {
    match hash.name() {
        "sha1-for-old-data" => {
            let old = &aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY;
            aws_lc_rs::digest::digest(old, message).as_ref().to_vec()
        }
        "sha224" => sha2::Sha224::digest(message).to_vec(),
        "sha256" => sha2::Sha256::digest(message).to_vec(),
        "sha384" => sha2::Sha384::digest(message).to_vec(),
        "sha512" => sha2::Sha512::digest(message).to_vec(),
        "sha512-224" => sha2::Sha512_224::digest(message).to_vec(),
        "sha512-256" => sha2::Sha512_256::digest(message).to_vec(),
        "sha3-224" => sha3::Sha3_224::digest(message).to_vec(),
        "sha3-256" => sha3::Sha3_256::digest(message).to_vec(),
        "sha3-384" => sha3::Sha3_384::digest(message).to_vec(),
        "sha3-512" => sha3::Sha3_512::digest(message).to_vec(),
        name => panic!("{name} is not known here"),
    }
}

/// The reader's output of cSHAKE, SHAKE if both strings are empty.
fn their_xof(security: usize, n: &[u8], customization: &[u8], message: &[u8], bytes: usize) -> Vec<u8> {
    fn output(mut xof: impl ExtendableOutput, message: &[u8], bytes: usize) -> Vec<u8> {
        xof.update(message);
        let mut output = vec![0; bytes];
        xof.finalize_xof().read(&mut output);
        output
    }
    match security {
        128 => output(CShake128::new_with_function_name(n, customization), message, bytes),
        _ => output(CShake256::new_with_function_name(n, customization), message, bytes),
    }
}

fn our_xof(xof: &Xof, message: &[u8], bytes: usize) -> Vec<u8> {
    in_the_clear(message, |g, message| xof.output(g, message, bytes))
}

fn message(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * i + 7 * i + bytes) as u8).collect()
}

#[test]
fn known_answers_of_hashes() {
    for &(name, message, want) in KNOWN {
        let hash = Hash::from_name(name).unwrap();
        for adder in ADDERS {
            assert_eq!(hex::encode(digest(hash, adder, message.as_bytes())), want, "{name} of {message:?}");
        }
    }
    assert!(Hash::from_name("sha1").is_none());
}

#[test]
fn known_answers_of_xofs() {
    let cases = [
        // FIPS 202's examples; SP 800-185's first sample
        (Xof::shake128(), &[][..], "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26"),
        (Xof::shake256(), &[], "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f"),
        (
            Xof::cshake128(b"", b"Email Signature"),
            &[0, 1, 2, 3],
            "c1c36925b6409a04f1b504fcbca9d82b4017277cb5ed2b2065fc1d3814d5aaf5",
        ),
    ];
    for (xof, message, want) in cases {
        assert_eq!(hex::encode(our_xof(&xof, message, 32)), want);
    }
}

#[test]
fn lengths_around_every_boundary() {
    for hash in Hash::ALL {
        let block = hash.block_bytes();
        // SHA-2 needs 9 or 17 bytes of the last block for itself.
        let lengths = [1, 2].into_iter().flat_map(|blocks| blocks * block - 18..=blocks * block + 1);
        for (i, length) in lengths.chain([0, 1]).enumerate() {
            let message = message(length);
            let got = digest(hash, ADDERS[i % 2], &message);
            assert_eq!(got, theirs(hash, &message), "{} of {length} bytes", hash.name());
            assert_eq!(got.len(), hash.digest_bytes());
        }
    }
    for (security, rate) in [(128, 168), (256, 136)] {
        let xof = |n, s| if security == 128 { Xof::cshake128(n, s) } else { Xof::cshake256(n, s) };
        let long = message(2 * rate);
        for (n, s) in [(&b""[..], &b""[..]), (b"N", b""), (b"", b"S"), (b"some name", &long)] {
            let xof = xof(n, s);
            assert_eq!(xof.sponge().rate(), rate);
            for bytes in [0, 1, rate - 2, rate - 1, rate, rate + 1] {
                let message = message(bytes);
                for length in [0, 1, rate, rate + 1, 2 * rate + 3] {
                    assert_eq!(our_xof(&xof, &message, length), their_xof(security, n, s, &message, length));
                }
            }
        }
    }
}

/// Bytes of many instances as wires of lanes, the lowest bit of the first byte first.
fn wires(messages: &[Vec<u8>]) -> Vec<Vec<u64>> {
    let bit = |i: usize| {
        let words = messages.chunks(64).map(|lanes| {
            lanes.iter().rev().fold(0, |word, message| word << 1 | u64::from(message[i / 8] >> (i % 8) & 1))
        });
        words.collect()
    };
    (0..8 * messages[0].len()).map(bit).collect()
}

fn bytes_of_lane(wires: &[Vec<u64>], lane: usize) -> Vec<u8> {
    let bit = |wire: &Vec<u64>| (wire[lane / 64] >> (lane % 64) & 1) as u8;
    wires.chunks(8).map(|byte| byte.iter().rev().fold(0, |sum, wire| sum << 1 | bit(wire))).collect()
}

/// Hashes as an engine does: one step for each block on all instances, with states that stay on wires.
#[test]
fn programs_hash_block_by_block() {
    for hash in Hash::ALL {
        let length = hash.block_bytes() + 5;
        let messages: Vec<Vec<u8>> = (0..100).map(|lane| message(length + lane)[lane..].to_vec()).collect();
        let padded: Vec<Vec<u8>> =
            messages.iter().map(|message| [message.clone(), hash.padding(length as u64)].concat()).collect();
        let initial = wires(&vec![hash.initial(); messages.len()]);
        let padded = wires(&padded);
        for adder in ADDERS {
            let step: Program = hash.step_program(adder);
            let blocks = padded.chunks(8 * hash.block_bytes());
            assert_eq!(blocks.len(), 2);
            let state = blocks
                .fold(initial.clone(), |state, block| plain::run(&step, &[&state, block].concat()).unwrap());
            let digests = &state[..8 * hash.digest_bytes()];
            for (lane, message) in messages.iter().enumerate() {
                assert_eq!(bytes_of_lane(digests, lane), theirs(hash, message), "{}", hash.name());
            }
        }
    }
}

/// Output longer than a block, by the programs of the sponge.
#[test]
fn programs_squeeze_block_by_block() {
    let xof = Xof::shake128();
    let sponge = xof.sponge();
    let block = [message(3), sponge.padding(3)].concat();
    let inputs = [wires(&[xof.initial()]), wires(&[block])].concat();
    let first = plain::run(&sponge.step_program(), &inputs).unwrap();
    let second = plain::run(&permutation_program(), &first).unwrap();
    let mut got = bytes_of_lane(&first, 0)[..sponge.rate()].to_vec();
    got.extend(&bytes_of_lane(&second, 0)[..20]);
    assert_eq!(got, their_xof(128, b"", b"", &message(3), sponge.rate() + 20));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn messages_of_any_length(message in prop::collection::vec(any::<u8>(), 0..400), which in 0..9_usize) {
        let hash = Hash::ALL[which];
        for adder in ADDERS {
            prop_assert_eq!(digest(hash, adder, &message), theirs(hash, &message));
        }
    }
}

/// Batches of long messages are hashed from their first block to their last; long strings of cSHAKE count
/// whole, and long outputs go on.
#[test]
fn long_messages_strings_and_outputs_in_batches() {
    let e = &mut Plain;
    let hash = Hash::from_name("sha1-for-old-data").unwrap();
    let text = message(258 * hash.block_bytes() + 5);
    let messages = Messages::public(e, &[&text]);
    let output = batch::hash::digest(e, hash, ADDERS[0], &messages).unwrap();
    let output = byte_values(e, output).unwrap();
    assert_eq!(Plain.reveal(output).unwrap().concat(), theirs(hash, &text));
    let (name, text) = (message(4300), message(3));
    let messages = Messages::public(e, &[&text]);
    let output = batch::xof::output(e, &Xof::cshake128(&name, b"S"), &messages, 4500).unwrap();
    let output = byte_values(e, output).unwrap();
    assert!(Plain.reveal(output).unwrap().concat() == their_xof(128, &name, b"S", &text, 4500));
}

/// However much came before, the last block of a digest and of a tag has the length of all of it, which is
/// written out here.
#[test]
fn lengths_of_what_came_before_are_counted_whole() {
    let e = &mut Plain;
    let state = |bytes: usize| -> Vec<u8> { (0..bytes).map(|i| (7 * i) as u8).collect() };
    let secret = |bytes: &[u8]| {
        let bytes = bytes.iter().map(|byte| Plain.public(&[*byte])).collect();
        batch::bits(&mut Plain, bytes).unwrap()
    };
    let open = |bits| Plain.reveal(byte_values(&mut Plain, bits).unwrap()).unwrap().concat();
    let empty = Messages::public(e, &[&[]]);
    let amounts = [20, 29, 32, 60].map(|power| 1_u64 << power);
    for hash in Hash::ALL.into_iter().filter(|hash| !matches!(hash, Hash::Sha3(_))) {
        let (block, start) = (hash.block_bytes(), secret(&state(hash.state_bytes())));
        let states = PadStates { inner: start.clone(), outer: secret(&state(hash.state_bytes())) };
        // the block that pads a message of so many bytes
        let end = |bytes: u64| {
            let mut end = vec![0; block];
            end[0] = 0x80;
            end[block - 16..].copy_from_slice(&(8 * u128::from(bytes)).to_be_bytes());
            secret(&end)
        };
        for before in amounts.map(|amount| amount + block as u64) {
            let digest = batch::hash::resume(e, hash, ADDERS[0], &start, before, &empty).unwrap();
            let mut known = batch::hash::continued(e, hash, ADDERS[0], start.clone(), end(before)).unwrap();
            known.truncate(hash.digest_bytes());
            assert_eq!(open(digest), open(known), "{} after {before}", hash.name());
            // the inner key of a tag is a block of its own
            let tag = batch::hmac::finish(e, hash, ADDERS[0], &states, &start, before, &empty).unwrap();
            let inner = end(before + block as u64);
            let mut inner = batch::hash::continued(e, hash, ADDERS[0], start.clone(), inner).unwrap();
            inner.truncate(hash.digest_bytes());
            let inner = Messages::even(inner, 1).unwrap();
            let known = batch::hash::resume(e, hash, ADDERS[0], &states.outer, block as u64, &inner).unwrap();
            assert_eq!(open(tag), open(known), "hmac-{} after {before}", hash.name());
        }
    }
    // the length goes into the last block of GHASH, before the last product
    let key: Vec<_> = (0..16).map(|i| e.public(&[i])).collect();
    let key = batch::gmac::prepare(e, &key).unwrap();
    for before in amounts {
        let mut other = state(16);
        let length = (u128::from(8 * before) << 64).to_be_bytes();
        let hash = batch::gmac::hash(e, &key, &secret(&other), before, &empty).unwrap();
        other.iter_mut().zip(length).for_each(|(byte, length)| *byte ^= length);
        let known = batch::gmac::hash(e, &key, &secret(&other), 0, &empty).unwrap();
        let [hash, known] = [hash, known].map(|bytes| Plain.reveal(bytes.to_vec()).unwrap());
        assert_eq!(hash, known, "GMAC after {before}");
    }
}

/// A key of HMAC that is longer than a block is hashed, and no other one (FIPS 198-1, section 4).
#[test]
fn keys_of_a_block_are_not_hashed() {
    for hash in Hash::ALL {
        let block = hash.block_bytes();
        for length in [block, block + 1] {
            let key = message(length);
            let mut k0 = if length > block { theirs(hash, &key) } else { key.clone() };
            k0.resize(block, 0);
            let keyed = |pad: u8, rest: &[u8]| {
                let pads: Vec<u8> = k0.iter().map(|byte| byte ^ pad).collect();
                theirs(hash, &[&pads, rest].concat())
            };
            let want = keyed(0x5c, &keyed(0x36, b"a text"));
            let case = Case { key, nonce: [0; 12], message: b"a text".to_vec() };
            let settings = Settings::new(Algorithm::Hmac(hash));
            assert_eq!(outputs(&PlainLab, &settings, &[case]), [want], "{hash:?}: {length}");
        }
    }
}

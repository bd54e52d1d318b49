//! The modules under the names of the Symphony slides give the outputs of the standards, with both securities
//! and in every mode.

use crate::common::{all_end, quick, reference};
use divisi_core::{Abort, Bytes, PartyId, Plain};
use divisi_rep3::adversary::harness::{TrioHarness, party};
use divisi_rep3::checks;
use divisi_rep3::{Rep3, Security, local};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::batch::{Function, Messages, byte_values};
use divisi_symphony::Priority;
use divisi_symphony::macnifico::{Macnifico, Received};
use divisi_symphony::maestro::Maestro;
use divisi_symphony::sharp::{Sharp, input_message, public_message};

const SECURITIES: [Security; 2] = [Security::Malicious, Security::SemiHonest];

/// Run `f` at each of three parties; returns its result, which must be the same at all.
fn same<R: Send + PartialEq + std::fmt::Debug>(
    mode: Priority,
    security: Security,
    f: impl Fn(&mut Rep3, PartyId) -> Result<R, Abort> + Sync,
) -> R {
    let mut results = local::run(|trio| {
        let me = trio.me();
        let rep = &mut Rep3::new(trio, mode.protocol(), security);
        let result = f(rep, me)?;
        // nothing is owed between calls, and semi-honest parties verify nothing
        assert!(!rep.owes());
        let verified = rep.trio().session().meter().read().checks.contains_key(&checks::A5);
        assert!(security == Security::Malicious || !verified);
        Ok(result)
    })
    .unwrap();
    assert!(results[0] == results[1] && results[1] == results[2], "{results:?}");
    results.swap_remove(0)
}

fn message(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 7 + 3) as u8).collect()
}

/// FIPS 197, C.1 to C.3, and back.
#[test]
fn maestro_gives_the_answers_of_the_standard_in_every_mode() {
    let block: [u8; 16] = std::array::from_fn(|i| 0x11 * i as u8);
    let key = (0..32).collect::<Vec<u8>>();
    for (size, answer) in [
        (KeySize::Aes128, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        (KeySize::Aes192, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        (KeySize::Aes256, "8ea2b7ca516745bfeafc49904b496089"),
    ] {
        for mode in Priority::ALL {
            for security in SECURITIES {
                let aes = Maestro::new(size, mode);
                let (sealed, back) = same(mode, security, |rep, me| {
                    let own = (me == party(3)).then_some(&key[..size.bytes()]);
                    let key = aes.input_key(rep, party(3), own)?;
                    let ks = aes.compute_ks(rep, &key)?;
                    let own = [block, [0; 16], block];
                    let m = aes.input_block(rep, party(1), 3, (me == party(1)).then_some(&own[..]))?;
                    assert_eq!((m.len(), m.is_empty()), (3, false));
                    let c = aes.encipher(rep, &ks, &m)?;
                    let back = aes.decipher(rep, &ks, &c)?;
                    Ok((aes.output_block(rep, &c)?, aes.output_block(rep, &back)?))
                });
                assert_eq!(hex::encode(sealed[0]), answer, "{mode} {security}");
                assert!(sealed[2] == sealed[0] && sealed[1] != sealed[0]);
                assert_eq!(back, [block, [0; 16], block]);
            }
        }
    }
}

/// More blocks than go through the cipher at once, and keys that nobody chose: fresh each time, the same
/// at all three.
#[test]
fn a_key_that_nobody_knows_is_fresh_and_serves_any_number_of_blocks() {
    let n = 4096 + 2048 + 5;
    let blocks: Vec<[u8; 16]> = (0..n).map(|l| std::array::from_fn(|i| (l * 31 + i * i) as u8)).collect();
    for size in [KeySize::Aes128, KeySize::Aes256] {
        let aes = Maestro::new(size, Priority::TotalThroughput);
        let (sealed, others, back) = same(aes.mode(), Security::Malicious, |rep, me| {
            let [ks, other] = [aes.dist_key_gen(rep)?, aes.dist_key_gen(rep)?];
            let m = aes.input_block(rep, party(2), n, (me == party(2)).then_some(&blocks[..]))?;
            let c = aes.encipher(rep, &ks, &m)?;
            let others = aes.encipher(rep, &other, &m)?;
            let back = aes.decipher(rep, &ks, &c)?;
            Ok((aes.output_block(rep, &c)?, aes.output_block(rep, &others)?, aes.output_block(rep, &back)?))
        });
        assert!(sealed != others && sealed != blocks && back == blocks);
        // a permutation: no two blocks that differ are the same
        let distinct = |blocks: &[[u8; 16]]| blocks.iter().collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!(distinct(&sealed), distinct(&blocks));
    }
}

/// The function evaluated in the clear; its own tests compare that with other libraries.
fn clear(settings: &Settings, key: &[u8], nonce: [u8; 12], message: &[u8]) -> Vec<u8> {
    let e = &mut Plain;
    let key: Vec<_> = key.iter().map(|byte| e.public(&[*byte])).collect();
    let function = Function::prepare(e, settings, &key).unwrap();
    let messages = Messages::public(e, &[message]);
    let output = function.output(e, &messages, &[nonce]).unwrap();
    byte_values(e, output).unwrap().iter().map(|byte| byte.values()[0]).collect()
}

/// FIPS 180-4, FIPS 202: "abc" and nothing, by name; and messages of a block and more.
#[test]
fn sharp_gives_the_digests_of_the_standards() {
    for (name, abc) in [
        ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("sha3-256", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        ("sha512-256", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        ("shake128", "5881092dd818bf5cf8a3ddb793fbcba74097d5c526a6d35f97b83351940f2cc8"),
    ] {
        let settings = Settings::new(name.parse().unwrap());
        let long = message(150);
        let own: [&[u8]; 3] = [b"abc", b"", &long];
        for security in SECURITIES {
            for mode in [Priority::TotalThroughput, Priority::LowLatency] {
                let hash = Sharp::new(&settings, mode).unwrap();
                assert_eq!(hash.algorithm().name(), name);
                let digests = same(mode, security, |rep, me| {
                    let own = (me == party(2)).then_some(&own[..]);
                    let m = input_message(rep, party(2), &[3, 0, 150], own)?;
                    let d = hash.hash(rep, &m)?;
                    let known = public_message(rep, &[b"abc"])?;
                    let known = hash.hash(rep, &known)?;
                    assert_eq!(hash.output_digest(rep, &known)?, [hex::decode(abc).unwrap()]);
                    hash.output_digest(rep, &d)
                });
                assert_eq!(hex::encode(&digests[0]), abc, "{name} {mode} {security}");
                assert!(digests.iter().zip(own).all(|(d, m)| *d == clear(&settings, &[], [0; 12], m)));
            }
        }
    }
    // and a message of nothing alone
    let hash = Sharp::new(&Settings::new("sha224".parse().unwrap()), Priority::LowLatency).unwrap();
    let digest = same(Priority::LowLatency, Security::Malicious, |rep, me| {
        let own: &[&[u8]] = &[b""];
        let m = input_message(rep, party(1), &[0], (me == party(1)).then_some(own))?;
        let d = hash.hash(rep, &m)?;
        hash.output_digest(rep, &d)
    });
    assert_eq!(hex::encode(&digest[0]), "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f");
}

/// Every MAC: its tags are those in the clear. Compared inside the computation they are right, and others are
/// wrong.
#[test]
fn macnifico_makes_and_compares_the_tags_of_the_standards() {
    for algorithm in Algorithm::macs() {
        let settings = Settings::new(algorithm);
        let mac = Macnifico::new(&settings, Priority::LowLatency).unwrap();
        let (key, long) = (message(algorithm.key_bytes()), message(40));
        let own: [&[u8]; 2] = [b"", &long];
        let securities = if algorithm.name().contains("sha3") || algorithm.name().contains("aes") {
            &SECURITIES[..]
        } else {
            &SECURITIES[..1]
        };
        for security in securities {
            let tags = same(Priority::LowLatency, *security, |rep, me| {
                let k = mac.input_key(rep, party(1), key.len(), (me == party(1)).then_some(&key[..]))?;
                let m = input_message(rep, party(3), &[0, 40], (me == party(3)).then_some(&own[..]))?;
                let tag = mac.tag_gen(rep, &k, &m)?;
                let tags = mac.output_tag(rep, &tag)?;
                assert_eq!(mac.verify(rep, &k, &m, &tags)?, [true, true]);
                let mut wrong = tags.clone();
                wrong[1].tag[settings.output_bytes - 1] ^= 0x80;
                assert_eq!(mac.verify(rep, &k, &m, &wrong)?, [true, false]);
                let other = mac.dist_key_gen(rep)?;
                assert_eq!(mac.verify(rep, &other, &m, &tags)?, [false, false]);
                Ok(tags)
            });
            for (received, message) in tags.iter().zip(own) {
                assert_eq!(received.nonce.is_some(), algorithm.nonce_bytes() > 0);
                let nonce = received.nonce.unwrap_or_default();
                assert_eq!(received.tag, clear(&settings, &key, nonce, message), "{algorithm}");
            }
            // nonces are drawn, each its own, and another library has the same tags
            if let [Some(one), Some(two)] = [tags[0].nonce, tags[1].nonce] {
                assert!(one != two && one != [0; 12]);
                assert_eq!(tags[1].tag, reference(&key, two, own[1], b""));
            }
        }
    }
}

/// SP 800-38B, D.1 (CMAC), test case 1 of the GCM specification (GMAC), SP 800-185 (KMAC): by their
/// names, in every mode that matters to them.
#[test]
fn published_tags_are_right() {
    let block = "6bc1bee22e409f96e93d7e117393172a";
    let kmac = "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f";
    for (name, key, message, nonce, tag) in [
        ("cmac-aes128", "2b7e151628aed2a6abf7158809cf4f3c", block, None, "070a16b46b4d4144f79bdd9dd04a287c"),
        ("gmac-aes128", &"00".repeat(16), "", Some([0; 12]), "58e2fccefa7e3061367f1d57a4e7455a"),
        (
            "kmac128",
            kmac,
            "00010203",
            None,
            "e5780b0d3ea6f7d3a429c5706aa43a00fadbd7d49628839e3187243f456ee14e",
        ),
    ] {
        let [key, message, tag] = [key, message, tag].map(|digits| hex::decode(digits).unwrap());
        let settings = Settings::new(name.parse().unwrap());
        for mode in Priority::ALL {
            let mac = Macnifico::new(&settings, mode).unwrap();
            let found = same(mode, Security::Malicious, |rep, me| {
                let k = mac.input_key(rep, party(2), key.len(), (me == party(2)).then_some(&key[..]))?;
                let own: &[&[u8]] = &[&message];
                let m = input_message(rep, party(2), &[message.len()], (me == party(2)).then_some(own))?;
                let mut wrong = tag.clone();
                wrong[0] ^= 1;
                let right = mac.verify(rep, &k, &m, &[Received { nonce, tag: tag.clone() }])?;
                Ok([right, mac.verify(rep, &k, &m, &[Received { nonce, tag: wrong }])?])
            });
            assert_eq!(found, [[true], [false]], "{name} {mode}");
        }
    }
}

/// Demands that this is refused as misuse, at one party and so at all.
fn misuse(f: &(dyn Fn(&mut Rep3, PartyId) -> Result<(), Abort> + Sync)) {
    let results = TrioHarness::default().act(|trio| {
        let me = trio.me();
        f(&mut quick(trio), me)
    });
    assert!(results.iter().any(|r| matches!(r, Err(Abort::Misuse { .. }))), "{results:?}");
    assert!(results.iter().all(Result::is_err), "{results:?}");
}

/// Arguments that do not fit together are refused as misuse.
#[test]
fn what_does_not_fit_is_misuse() {
    let aes = Maestro::new(KeySize::Aes128, Priority::LowLatency);
    let large = Maestro::new(KeySize::Aes256, Priority::LowLatency);
    // a key of another length, of nobody, of two owners
    misuse(&|rep, me| aes.input_key(rep, party(1), (me == party(1)).then_some(&[0; 32][..])).map(drop));
    misuse(&|rep, _| aes.input_key(rep, party(1), None).map(drop));
    misuse(&|rep, _| aes.input_key(rep, party(1), Some(&[0; 16])).map(drop));
    misuse(&|rep, me| aes.input_block(rep, party(1), 0, (me == party(1)).then_some(&[][..])).map(drop));
    // another number of blocks than the owner has, also after one that was right
    misuse(&|rep, me| {
        let own = (me == party(1)).then_some(&[[0; 16]][..]);
        aes.input_block(rep, party(1), 1, own)?;
        aes.input_block(rep, party(1), 2, own).map(drop)
    });
    misuse(&|rep, me| {
        let key = aes.input_key(rep, party(1), (me == party(1)).then_some(&[0; 16][..]))?;
        large.compute_ks(rep, &key).map(drop)
    });
    misuse(&|rep, me| {
        let key = large.input_key(rep, party(1), (me == party(1)).then_some(&[0; 32][..]))?;
        aes.compute_ks(rep, &key).map(drop)
    });
    misuse(&|rep, me| {
        let ks = large.dist_key_gen(rep)?;
        let m = aes.input_block(rep, party(1), 1, (me == party(1)).then_some(&[[0; 16]][..]))?;
        aes.encipher(rep, &ks, &m).map(drop)
    });
    let [sha, hmac, gmac] =
        ["sha256", "hmac-sha3-256", "gmac-aes128"].map(|n| Settings::new(n.parse().unwrap()));
    assert!(Sharp::new(&sha, Priority::LowLatency).is_ok());
    assert!(Sharp::new(&hmac, Priority::LowLatency).is_err());
    assert!(Macnifico::new(&sha, Priority::LowLatency).is_err());
    misuse(&|rep, _| input_message(rep, party(1), &[], None).map(drop));
    // messages of other lengths than all were told, also behind one that fits, or another number of them
    let texts: [(&[&[u8]], &[usize]); 6] = [
        (&[b"abcd"], &[3]),
        (&[b"ab"], &[3]),
        (&[b"abc", b"ab"], &[3, 3]),
        (&[b"abc", b""], &[3, 1]),
        (&[b"abc", b"abc"], &[3]),
        (&[b"abc"], &[3, 3]),
    ];
    for (own, lengths) in texts {
        misuse(&|rep, me| input_message(rep, party(1), lengths, (me == party(1)).then_some(own)).map(drop));
    }
    // settings that the algorithm does not have
    let empty = Settings { output_bytes: 0, ..sha.clone() };
    let named = Settings { function: b"name".to_vec(), ..sha.clone() };
    assert!([empty, named].iter().all(|wrong| Sharp::new(wrong, Priority::LowLatency).is_err()));
    let longer = Settings { output_bytes: hmac.output_bytes + 1, ..hmac.clone() };
    let other = Settings { xof: true, ..hmac.clone() };
    assert!([longer, other].iter().all(|wrong| Macnifico::new(wrong, Priority::LowLatency).is_err()));
    let [hmac, gmac] = [hmac, gmac].map(|s| Macnifico::new(&s, Priority::LowLatency).unwrap());
    misuse(&|rep, _| {
        let key = hmac.dist_key_gen(rep)?;
        let m = public_message(rep, &[b"abc"])?;
        gmac.tag_gen(rep, &key, &m).map(drop)
    });
    for nonce in [None, Some([0; 12])] {
        let (mac, tag) = if nonce.is_none() { (&gmac, vec![0; 16]) } else { (&hmac, vec![0; 32]) };
        misuse(&|rep, _| {
            let key = mac.dist_key_gen(rep)?;
            let m = public_message(rep, &[b"abc"])?;
            mac.verify(rep, &key, &m, &[Received { nonce, tag: tag.clone() }]).map(drop)
        });
        // fewer tags than messages, or more
        for count in [0, 2] {
            misuse(&|rep, _| {
                let key = mac.dist_key_gen(rep)?;
                let m = public_message(rep, &[b"abc"])?;
                let nonce = if nonce.is_none() { Some([0; 12]) } else { None };
                mac.verify(rep, &key, &m, &vec![Received { nonce, tag: tag.clone() }; count]).map(drop)
            });
        }
        // of two messages the second one
        misuse(&|rep, _| {
            let key = mac.dist_key_gen(rep)?;
            let m = public_message(rep, &[b"abc", b"abc"])?;
            let fits = if nonce.is_none() { Some([0; 12]) } else { None };
            let received = [fits, nonce].map(|nonce| Received { nonce, tag: tag.clone() });
            mac.verify(rep, &key, &m, &received).map(drop)
        });
    }
}

/// A key that was prepared for a MAC serves that MAC with the same settings, and not with others.
#[test]
fn a_key_serves_the_settings_it_was_made_for() {
    let asked = Settings::new("kmac128".parse().unwrap());
    let others = [
        Settings { customization: b"other".to_vec(), ..asked.clone() },
        Settings { output_bytes: asked.output_bytes - 1, ..asked.clone() },
        Settings { spare_output_bits: 1, ..asked.clone() },
        Settings { spare_key_bits: 1, ..asked.clone() },
        Settings { xof: true, ..asked.clone() },
    ];
    for other in others {
        let [asked, made] = [&asked, &other].map(|s| Macnifico::new(s, Priority::LowLatency).unwrap());
        misuse(&|rep, _| {
            let key = made.dist_key_gen(rep)?;
            let m = public_message(rep, &[b"abc"])?;
            asked.tag_gen(rep, &key, &m).map(drop)
        });
    }
}

/// An owner that gives the two others parts that do not fit together, and parties that expect different
/// things.
#[test]
fn inputs_are_compared_before_their_use() {
    let hash = Sharp::new(&Settings::new("sha3-256".parse().unwrap()), Priority::LowLatency).unwrap();
    for lie in [false, true] {
        let harness = TrioHarness::default();
        if lie {
            harness.change(party(1), party(2), "divisi_symphony::owner/input", 0, |body| body[1] ^= 1);
        }
        let results = harness.act(|trio| {
            let me = trio.me();
            let rep = &mut quick(trio);
            let own: &[&[u8]] = &[b"abc"];
            let m = input_message(rep, party(1), &[3], (me == party(1)).then_some(own))?;
            let d = hash.hash(rep, &m)?;
            hash.output_digest(rep, &d)
        });
        if lie {
            all_end(results, checks::A24, "two parts that do not fit");
        } else {
            assert!(results.iter().all(Result::is_ok), "{results:?}");
        }
    }
}

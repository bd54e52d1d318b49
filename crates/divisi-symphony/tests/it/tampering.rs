//! Every step of a request is tampered with: inputs of the parties, prepared keys, ciphers, digests, tags
//! that are made and compared inside the computation, outputs. Whichever message of a corrupt party is
//! changed, an honest party ends with the right answers, or aborts.

use crate::common::{is_compared, quick};
use divisi_core::testing::sent;
use divisi_core::{Abort, PartyId};
use divisi_rep3::adversary::harness::{TrioHarness, links, party};
use divisi_rep3::checks;
use divisi_rep3::{Rep3, Trio};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::Settings;
use divisi_symphony::Priority;
use divisi_symphony::macnifico::{Macnifico, Received};
use divisi_symphony::maestro::Maestro;
use divisi_symphony::sharp::{Sharp, input_message, public_message};

const MESSAGE: &[u8] = b"a message that no party but its owner has";

/// What each party has of a run: outputs, and whether tags were right.
type Outputs = (Vec<Vec<u8>>, Vec<bool>);

/// A MAC: a key and a message brought, a tag made, opened, compared, and a wrong one.
fn mac(trio: Trio, name: &str) -> Result<Outputs, Abort> {
    let me = trio.me();
    let mac = Macnifico::new(&Settings::new(name.parse().unwrap()), Priority::LowLatency)?;
    let rep = &mut quick(trio);
    let bytes = mac.algorithm().key_bytes();
    let key = mac.input_key(rep, party(1), bytes, (me == party(1)).then_some(&[7; 32][..bytes]))?;
    let own: &[&[u8]] = &[MESSAGE];
    let m = input_message(rep, party(2), &[MESSAGE.len()], (me == party(2)).then_some(own))?;
    let tag = mac.tag_gen(rep, &key, &m)?;
    let mut tags = mac.output_tag(rep, &tag)?;
    let mut found = mac.verify(rep, &key, &m, &tags)?;
    tags[0].tag[0] ^= 1;
    found.extend(mac.verify(rep, &key, &m, &tags)?);
    tags[0].tag[0] ^= 1;
    // nonces, and so the tags, differ from run to run
    let told = if tags[0].nonce.is_some() { Vec::new() } else { vec![tags.remove(0).tag] };
    Ok((told, found))
}

/// A digest and a block of AES.
fn cipher_and_digest(trio: Trio) -> Result<Outputs, Abort> {
    let me = trio.me();
    let aes = Maestro::new(KeySize::Aes128, Priority::LowLatency);
    let rep = &mut quick(trio);
    let key = aes.input_key(rep, party(3), (me == party(3)).then_some(&[5; 16][..]))?;
    let ks = aes.compute_ks(rep, &key)?;
    let block = aes.input_block(rep, party(1), 1, (me == party(1)).then_some(&[[9; 16]][..]))?;
    let sealed = aes.encipher(rep, &ks, &block)?;
    let back = aes.decipher(rep, &ks, &sealed)?;
    let mut told = vec![aes.output_block(rep, &sealed)?.concat(), aes.output_block(rep, &back)?.concat()];
    let sha = Sharp::new(&Settings::new("sha3-256".parse().unwrap()), Priority::LowLatency)?;
    let own: &[&[u8]] = &[MESSAGE];
    let m = input_message(rep, party(2), &[MESSAGE.len()], (me == party(2)).then_some(own))?;
    let digest = sha.hash(rep, &m)?;
    told.extend(sha.output_digest(rep, &digest)?);
    Ok((told, Vec::new()))
}

/// Every `every`-th message of each link changed in one of three ways.
fn sweep(every: usize, f: &(dyn Fn(Trio) -> Result<Outputs, Abort> + Sync)) -> usize {
    let harness = TrioHarness::default();
    let recordings = harness.recordings();
    let honest = harness.act(f);
    let right = honest[0].as_ref().unwrap();
    assert!(honest.iter().all(|told| told.as_ref() == Ok(right)));
    let (sent, mut tried) = (sent(&recordings), 0);
    for (from, to) in links() {
        let frames = &sent[&(from, to)];
        for n in (tried % every..frames.len()).step_by(every) {
            let (harness, mut at, way) = (TrioHarness::default(), 0, tried % 3);
            harness.hand(from, to, move |mut frame| {
                let length = frame.body.len();
                match way {
                    _ if at != n || length == 0 => {}
                    0 => frame.body[length / 2] ^= 4,
                    1 => frame.body[length - 1] ^= 0x81,
                    _ => frame.body.truncate(length - 1),
                }
                at += 1;
                vec![frame]
            });
            let told = harness.act(f);
            let mut stopped = frames[n].body.is_empty();
            for (_, told) in PartyId::all(3).zip(&told).filter(|(party, _)| *party != from) {
                match told {
                    Ok(told) => assert_eq!(told, right, "{from} to {to}, message {n}, way {way}"),
                    Err(_) => stopped = true,
                }
            }
            assert!(stopped, "nobody noticed: {from} to {to}, message {n}, way {way}");
            tried += 1;
        }
    }
    tried
}

#[test]
fn tags_are_right_or_there_are_none() {
    for name in ["hmac-sha3-256", "kmac128", "cmac-aes128", "gmac-aes128"] {
        let tried = sweep(23, &|trio| mac(trio, name));
        assert!(tried >= 30, "{name}: {tried}");
    }
}

#[test]
fn blocks_and_digests_are_right_or_there_are_none() {
    let tried = sweep(11, &cipher_and_digest);
    assert!(tried >= 60, "{tried}");
}

/// A party that means another MAC, hash or message than the two others, or compares another tag or
/// nonce: all end before anything is computed.
#[test]
fn what_is_public_is_the_same_at_all_three() {
    type Use = fn(&mut Rep3, PartyId, bool) -> Result<(), Abort>;
    fn settings(name: &str, odd: bool, change: fn(&mut Settings)) -> Settings {
        let mut settings = Settings::new(name.parse().unwrap());
        if odd {
            change(&mut settings);
        }
        settings
    }
    fn mac(odd: bool, change: fn(&mut Settings)) -> Macnifico {
        Macnifico::new(&settings("kmac128", odd, change), Priority::LowLatency).unwrap()
    }
    fn hash(odd: bool, change: fn(&mut Settings)) -> Sharp {
        Sharp::new(&settings("cshake128", odd, change), Priority::LowLatency).unwrap()
    }
    fn verify(rep: &mut Rep3, name: &str, received: &Received) -> Result<(), Abort> {
        let mac = Macnifico::new(&Settings::new(name.parse().unwrap()), Priority::LowLatency)?;
        let key = mac.dist_key_gen(rep)?;
        let m = public_message(rep, &[b"abc"])?;
        mac.verify(rep, &key, &m, std::slice::from_ref(received)).map(drop)
    }
    let uses: [(&str, Use); 10] = [
        ("key", |rep, me, odd| {
            let mac = mac(odd, |s| s.customization = b"c".to_vec());
            mac.input_key(rep, party(1), 16, (me == party(1)).then_some(&[7; 16][..])).map(drop)
        }),
        ("key of all", |rep, _, odd| mac(odd, |s| s.output_bytes = 16).dist_key_gen(rep).map(drop)),
        ("xof", |rep, _, odd| mac(odd, |s| s.xof = true).dist_key_gen(rep).map(drop)),
        ("lengths of what is tagged", |rep, _, odd| {
            let mac = mac(false, |_| {});
            let key = mac.dist_key_gen(rep)?;
            let [one, two] = [public_message(rep, &[b"abc"])?, public_message(rep, &[b"abcd"])?];
            mac.tag_gen(rep, &key, if odd { &two } else { &one }).map(drop)
        }),
        ("tag", |rep, _, odd| {
            verify(rep, "hmac-sha3-256", &Received { nonce: None, tag: vec![u8::from(odd); 32] })
        }),
        ("nonce", |rep, _, odd| {
            verify(rep, "gmac-aes128", &Received { nonce: Some([u8::from(odd); 12]), tag: vec![0; 16] })
        }),
        ("message", |rep, _, odd| public_message(rep, &[if odd { b"abd" } else { b"abc" }]).map(drop)),
        ("border of messages", |rep, _, odd| {
            let messages: [&[u8]; 2] = if odd { [b"ab", b"c"] } else { [b"a", b"bc"] };
            public_message(rep, &messages).map(drop)
        }),
        ("function", |rep, _, odd| {
            let m = public_message(rep, &[b"abc"])?;
            hash(odd, |s| s.function = b"f".to_vec()).hash(rep, &m).map(drop)
        }),
        ("length of a digest", |rep, _, odd| {
            let m = public_message(rep, &[b"abc"])?;
            hash(odd, |s| s.output_bytes = 31).hash(rep, &m).map(drop)
        }),
    ];
    for (what, used) in uses {
        is_compared(checks::A25, what, &[1, 3], |trio, odd| {
            let (me, rep) = (trio.me(), &mut quick(trio));
            let result = used(rep, me, odd);
            // what differs was not computed with
            assert!(result.is_ok() || !rep.owes(), "{what}");
            result
        });
    }
}

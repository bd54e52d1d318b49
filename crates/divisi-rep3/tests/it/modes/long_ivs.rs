//! GCM under IVs of other lengths than 96 bits: J0 stays shared, and each block takes an adder; what it
//! costs, what is opened, and when.

use super::*;
use divisi_core::Lanes;
use divisi_rep3::lab::run;
use divisi_symmetric::aes;
use divisi_symmetric::mode::gcm::{GcmEngine, MessagesKey, interleaved, lanes_at, long_iv};
use divisi_symmetric::mode::ghash::Steps;

/// The number of baby steps: a message of up to sixteen blocks needs no others.
const BABY: usize = 16;

/// Test cases 5 and 6 of the GCM specification (McGrew, Viega): an IV of eight bytes, and one of sixty.
struct Case {
    iv: &'static str,
    ciphertext: &'static str,
    tag: &'static str,
}

const KEY: &str = "feffe9928665731c6d6a8f9467308308";
const AAD: &str = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
const MESSAGE: &str = concat!(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72",
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
);
const CASES: [Case; 2] = [
    Case {
        iv: "cafebabefacedbad",
        ciphertext: concat!(
            "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c7423",
            "73806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598"
        ),
        tag: "3612d2e79e3b0785561be14aaca2fccb",
    },
    Case {
        iv: concat!(
            "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728",
            "c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b"
        ),
        ciphertext: concat!(
            "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca7",
            "01e4a9a4fba43c90ccdcb281d48c7c6fd62875d2aca417034c34aee5"
        ),
        tag: "619cc5aefffe0bfa462af43c1699d050",
    },
];

fn hex(digits: &str) -> Vec<u8> {
    hex::decode(digits).unwrap()
}

fn ready<E: GcmEngine>(e: &mut E, key: &[u8]) -> Result<MessagesKey<E>, Abort> {
    let key = public(e, key);
    let round_keys = aes::expand(e, &key)?;
    MessagesKey::new(e, round_keys, Steps::new(BABY, 64).unwrap())
}

/// The columns of a message.
fn columns<E: Bytes>(e: &mut E, message: &[u8]) -> Vec<E::Byte> {
    (0..16).map(|i| e.public(&message.iter().skip(i).step_by(16).copied().collect::<Vec<_>>())).collect()
}

fn engine(trio: divisi_rep3::Trio, security: Security) -> Rep3 {
    Rep3::new(trio, Protocol::Gf4Circuit, security)
}

#[test]
fn the_specification_says_the_same() {
    for case in CASES {
        let (iv, message, aad) = (hex(case.iv), hex(MESSAGE), hex(AAD));
        let sealed = run(|trio| {
            let mut e = engine(trio, Security::Malicious);
            let mut key = ready(&mut e, &hex(KEY))?;
            let columns = columns(&mut e, &message);
            let before = e.trio().session().meter().read().openings;
            let (ciphertext, tag) = key.seal(&mut e, &iv, &aad, &columns)?;
            let after = e.trio().session().meter().read().openings;
            let opened = key.open(&mut e, &iv, &aad, &ciphertext, &tag)?;
            let opened = opened.map(|message| e.trio().open(&message)).transpose()?;
            Ok((ciphertext, tag.to_vec(), after - before, opened))
        });
        for (ciphertext, tag, openings, opened) in sealed.unwrap() {
            assert_eq!((ciphertext, tag), (hex(case.ciphertext), hex(case.tag)));
            // the ciphertext and its tag, and no counter block: two of them would reveal the hash key
            assert_eq!(openings as usize, message.len() + 16);
            assert_eq!(interleaved(&opened.unwrap(), message.len()).unwrap(), message);
        }
    }
}

/// Each byte of a tag counts, of whole tags and of cut ones, and of a refused message only the masked
/// difference is opened.
#[test]
fn of_a_text_that_is_refused_the_verdict_alone_is_opened() {
    let Case { iv, ciphertext, tag } = &CASES[0];
    let (iv, ciphertext, tag, aad) = (hex(iv), hex(ciphertext), hex(tag), hex(AAD));
    let results = run(|trio| {
        let mut e = engine(trio, Security::Malicious);
        let mut key = ready(&mut e, &hex(KEY))?;
        let mut all = Vec::new();
        for bytes in [16, 13, 4] {
            for at in 0..=bytes {
                let mut tag = tag[..bytes].to_vec();
                tag.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
                let before = e.trio().session().meter().read().openings;
                let message = key.open(&mut e, &iv, &aad, &ciphertext, &tag)?;
                let openings = e.trio().session().meter().read().openings - before;
                all.push((bytes, at, message.is_some(), openings));
            }
        }
        Ok(all)
    });
    for (bytes, at, is_right, openings) in results.unwrap().concat() {
        assert_eq!((is_right, openings), (at == bytes, 16), "{at} of {bytes}");
    }
}

/// Another IV is another key stream, whatever its length.
#[test]
fn every_byte_of_an_iv_counts() {
    let e = &mut Plain;
    let mut key = ready(e, &hex(KEY)).unwrap();
    let (message, iv) = ([0; 32], hex(CASES[1].iv));
    let mut ivs: Vec<Vec<u8>> = (0..iv.len()).map(|at| changed_at(&iv, at, 1)).collect();
    // the same IV, filled up with zeros as GHASH fills it up, and a shorter one
    ivs.extend([iv.clone(), [&iv[..], &[0]].concat(), [&iv[..], &[0; 4]].concat(), iv[..48].to_vec()]);
    let mut streams = Vec::new();
    for iv in ivs {
        let columns = columns(e, &message);
        let (stream, _) = key.seal(e, &iv, b"", &columns).unwrap();
        assert!(stream[..16] != stream[16..], "one counter for two blocks");
        assert!(streams.iter().all(|other: &Vec<u8>| other[..16] != stream[..16]), "{iv:?}");
        streams.push(stream);
    }
    // the standard has no IV of zero bits
    let columns = columns(e, &message);
    assert!(matches!(key.seal(e, b"", b"", &columns), Err(Abort::Misuse { .. })));
    assert!(matches!(key.open(e, b"", b"", b"", &[0; 16]), Err(Abort::Misuse { .. })));
}

/// Bits and rounds of a seal and of an open: an adder of 169 products at depth 5 for each counter block, that
/// of the tag among them. The powers of the hash key are made with the key: IV and messages take the same.
#[test]
fn an_iv_of_another_length_costs_an_adder_a_block() {
    const SBOX: u64 = 20;
    const LAYER: u64 = 4;
    const ADDER: (u64, u64) = (169, 5);
    // the odd powers up to sixteen, whose exponents have four bits at most
    const POWERS: (u64, u64) = (128 * (BABY as u64 / 2 - 1), 2);
    for (iv_bytes, text_bytes) in [(8_usize, 60_usize), (60, 60), (16, 1), (1, 100), (17, 0)] {
        let (iv, aad, n) = (vec![7; iv_bytes], [1; 20], text_bytes.div_ceil(16) as u64);
        let counts = run(|trio| {
            let mut e = engine(trio, Security::SemiHonest);
            e.trio().session().phase("key");
            let mut key = ready(&mut e, &[5; 16])?;
            let secret = |e: &mut Rep3, i| e.random_bytes(lanes_at(text_bytes, i));
            let message = (0..16).map(|i| secret(&mut e, i)).collect::<Result<Vec<Byte>, _>>()?;
            let made = e.trio().session().meter().read().openings;
            assert_eq!(made, 0);
            e.trio().session().phase("seal");
            let (ciphertext, tag) = key.seal(&mut e, &iv, &aad, &message)?;
            e.trio().session().phase("open");
            assert!(key.open(&mut e, &iv, &aad, &ciphertext, &tag)?.is_some());
            e.trio().session().phase("refuse");
            let mut wrong = tag;
            wrong[7] ^= 1;
            assert!(key.open(&mut e, &iv, &aad, &ciphertext, &wrong)?.is_none());
            Ok(e.trio().session().meter().read())
        });
        let counts = &counts.unwrap()[0];
        let phase = |name: &str| (counts.phases[name].bits, u64::from(counts.phases[name].rounds));
        let stream = |blocks: u64| ((ADDER.0 + 160 * SBOX) * blocks, ADDER.1 + 10 * LAYER);
        let sum =
            |parts: &[(u64, u64)]| parts.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        let opening = |bytes: u64| (8 * bytes, u64::from(bytes > 0));
        let verdict = (128 + 128, 2);
        // a message of no bytes has no chunk with which the mask of its tag is made
        let of_seal = [stream(1 + n), opening(text_bytes as u64), opening(16)];
        let of_verdict = [stream(1), verdict];
        let of_text = if n == 0 { (0, 0) } else { stream(n) };
        let key = [((40 + 160) * SBOX, 0), POWERS];
        assert_eq!(phase("key").0, sum(&key).0, "{iv_bytes} {text_bytes}");
        assert_eq!(phase("seal"), sum(&of_seal), "{iv_bytes} {text_bytes}");
        assert_eq!(phase("open"), sum(&[sum(&of_verdict), of_text]), "{iv_bytes} {text_bytes}");
        // the message's counters are not even made
        assert_eq!(phase("refuse"), sum(&of_verdict), "{iv_bytes} {text_bytes}");
        assert_eq!(counts.openings as usize, text_bytes + 16 + 16 + 16);
    }
}

/// J0 is a shared block of one lane: nothing is opened when it and the counter blocks are made.
#[test]
fn counter_blocks_are_made_on_shares() {
    let results = run(|trio| {
        let mut e = engine(trio, Security::Malicious);
        let h = e.random_blocks(1);
        let steps = Steps::new(BABY, 64).unwrap();
        let powers = divisi_symmetric::mode::ghash::Powers::new(&mut e, &h, steps, 3)?;
        let first = long_iv::j0(&mut e, &powers, b"some bytes that are an IV")?;
        assert_eq!(first.lanes(), 1);
        let all = long_iv::counters(&mut e, &first, &[0, 1, 2, 3, 4])?;
        assert_eq!(e.trio().session().meter().read().openings, 0);
        let verified = e.settled(all.to_vec())?;
        let opened = e.open(verified)?;
        let mut sum = e.combine(&first, &[1])?;
        e.add_public_block(&mut sum, &[0])?;
        let first: [Byte; 16] = divisi_core::Convert::convert(&mut e, sum)?;
        let first = e.reveal(first.to_vec())?.concat();
        Ok((opened, first))
    });
    for (opened, first) in results.unwrap() {
        let lane = |l: usize| opened.iter().map(|column| column[l]).collect::<Vec<u8>>();
        let start = u32::from_be_bytes(first[12..].try_into().unwrap());
        for l in 0..5 {
            let count = start.wrapping_add(l as u32).to_be_bytes();
            assert_eq!(lane(l), [&first[..12], &count].concat());
        }
    }
}

//! Tests that take long: chains of a thousand steps of some kinds from ACVP's server (usnistgov/ACVP-Server,
//! gen-val/json-files, in the public domain), and others with the answers of ordinary libraries.

use super::monte::{Fed, NEEDS_LONG, Thousand, XofOutput};
use super::scaffold::{acvp, by_default, counts, one_of_corpus};
use super::*;
use crate::bench::ordinary::{cipher, output, triple_des};
use divisi_core::Direction;
use divisi_fuzz::repetitions;
use divisi_symmetric::algorithm::{Algorithm as Function, Settings as Use};
use serde_json::{Value, json};

fn options(engine: &str) -> KatOptions {
    KatOptions { long: true, ..by_default(engine) }
}

fn run(file: &Value, options: &KatOptions) -> (u64, u64, u64) {
    run_content(parse(file).unwrap(), options)
}

fn run_content(content: Content, options: &KatOptions) -> (u64, u64, u64) {
    counts(&run_contents(&[("file".into(), content)], options).unwrap())
}

/// The same of a file with Monte Carlo tests, of whose chains so many steps are done.
fn run_steps(file: &Value, steps: usize, options: &KatOptions) -> (u64, u64, u64) {
    let mut content = parse(file).unwrap();
    assert!(!content.monte.is_empty() && content.monte.iter().all(|monte| monte.steps == 1000));
    content.monte.iter_mut().for_each(|monte| monte.steps = steps);
    run_content(content, options)
}

/// The output of an ordinary library, with this many bytes.
pub(super) fn ordinary(name: &str, message: &[u8], bytes: usize) -> Vec<u8> {
    let function = Function::hashes().find(|function| function.name() == name).unwrap();
    output(&Use { output_bytes: bytes, ..Use::new(function) }, &[], &[0; 12], message).unwrap()
}

/// The steps of a chain that an engine does; an ordinary library does them all.
fn steps(all: usize) -> usize {
    repetitions(all.min(200), all)
}

/// The end of a chain of triple DES in CBC after this many steps of the standard's pseudocode, by an ordinary
/// library.
fn triple(direction: Direction, lane: &Thousand, steps: usize) -> Vec<u8> {
    let xor = |x: &[u8], y: &[u8]| x.iter().zip(y).map(|(x, y)| x ^ y).collect::<Vec<u8>>();
    let (mut text, mut chained) = (lane.text.clone(), lane.iv.clone());
    for _ in 0..steps {
        if direction == Direction::Encrypt {
            let sealed = triple_des(&lane.key, direction, &xor(&text, &chained)).unwrap();
            (text, chained) = (chained, sealed);
        } else {
            let opened = xor(&triple_des(&lane.key, direction, &text).unwrap(), &chained);
            (text, chained) = (opened, text);
        }
    }
    if direction == Direction::Encrypt { chained } else { text }
}

/// ACVP-TDES-CBC-1.0: a chain of ten thousand steps in each direction. An ordinary library ends where NIST
/// does, and our engine is where the library is.
#[test]
fn ten_thousand_of_triple_des() {
    let mut content = one_of_corpus("monte-tdes");
    for monte in &mut content.monte {
        assert_eq!(monte.steps, 10_000);
        monte.steps = steps(monte.steps);
        let Fed::Modes(messages) = &mut monte.kind else { panic!("chains of messages") };
        let [lane] = &mut messages.lanes[..] else { panic!("one chain") };
        assert_eq!(triple(messages.direction, lane, 10_000), lane.end, "{:?}", messages.direction);
        lane.end = triple(messages.direction, lane, monte.steps);
    }
    assert_eq!(content.monte.len(), 2);
    assert_eq!(run_content(content, &options("plain")), (2, 0, 0));
}

/// ACVP-AES-CFB1-1.0, the last three chains of a thousand steps of its decryption.
#[test]
fn a_thousand_bits() {
    let options = options("plain");
    let content = one_of_corpus("monte-cfb1");
    assert_eq!(run_content(content.clone(), &options), (1, 0, 0));
    let mut wrong = content;
    let Fed::Modes(messages) = &mut wrong.monte[0].kind else { panic!("chains of messages") };
    assert_eq!(messages.lanes.len(), 3);
    messages.lanes[1].end[0] ^= 0x80;
    assert_eq!(run_content(wrong, &options), (0, 1, 0));
}

/// The output of cSHAKE-128 after this many steps of the standard's pseudocode, and the number of its bits,
/// by an ordinary library.
fn customized(start: &[u8], least: usize, most: usize, steps: usize) -> (Vec<u8>, usize) {
    let function = Function::hashes().find(|function| function.name() == "cshake128").unwrap();
    let (mut last, mut bits, mut next) = (start.to_vec(), 0, most);
    let mut customization = Vec::new();
    for _ in 0..steps {
        bits = next;
        last.resize(16, 0);
        let using = Use { output_bytes: bits.div_ceil(8), customization, ..Use::new(function) };
        let mut output = output(&using, &[], &[0; 12], &last).unwrap();
        // files have the last bits at the high end of the last byte
        let spare = bits.next_multiple_of(8) - bits;
        *output.last_mut().unwrap() <<= spare;
        let ending = output[output.len() - 3..].iter().fold(0, |all, byte| all << 8 | u32::from(*byte));
        let number = (ending >> spare) as u16;
        customization =
            [&last[..], &number.to_be_bytes()].concat().iter().map(|byte| b'A' + byte % 26).collect();
        next = least + usize::from(number) % (most - least + 1);
        last = output;
    }
    (last, bits)
}

/// cSHAKE-128-1.0, the first chain of a thousand steps, which ends in an output of 3510 bits. Each step has
/// the customization that the output before determines. An ordinary library ends where NIST does, and our
/// engine is where the library is.
#[test]
fn a_thousand_customized_outputs() {
    let mut content = one_of_corpus("monte-cshake");
    let [monte] = &mut content.monte[..] else { panic!("one test") };
    let Fed::Outputs(outputs) = &mut monte.kind else { panic!("chains of outputs") };
    let start = hex::decode("64160E6663A5C8E916060FF6358957C6").unwrap();
    let by_library = |steps: usize| {
        let (bytes, bits) = customized(&start, 256, 4096, steps);
        XofOutput { bytes, bits }
    };
    assert_eq!((outputs.ends.len(), &outputs.ends[0]), (1, &by_library(1000)));
    (monte.steps, outputs.ends[0]) = (steps(1000), by_library(steps(1000)));
    assert_eq!(run_content(content, &options("plain")), (1, 0, 0));
}

/// Chains of outputs of SHAKE by the standard's pseudocode, several side by side.
#[test]
fn thousands_of_outputs() {
    let steps = steps(1000);
    let thousands = |least: usize, most: usize, count: usize| {
        let (mut last, mut bytes) = ((1..=16).collect::<Vec<u8>>(), most / 8);
        let mut ends = Vec::new();
        for _ in 0..count {
            let mut own = bytes;
            for _ in 0..steps {
                own = bytes;
                last.resize(16, 0);
                last = ordinary("shake256", &last, own);
                let number = usize::from(last[own - 2]) << 8 | usize::from(last[own - 1]);
                let (least, most) = (least.div_ceil(8), most / 8);
                bytes = least + number % (most - least + 1);
            }
            ends.push(json!({ "md": hex::encode(&last), "outLen": 8 * own }));
        }
        let tests = json!([{ "tcId": 1, "msg": hex::encode((1..=16).collect::<Vec<u8>>()), "len": 128,
            "resultsArray": ends }]);
        acvp(
            "SHAKE-256",
            json!([{ "testType": "MCT", "minOutLen": least, "maxOutLen": most, "tests": tests }]),
        )
    };
    assert_eq!(run_steps(&thousands(128, 1234, 3), steps, &options("plain")), (1, 0, 0));
    let mut wrong = thousands(17, 70, 2);
    let end = &mut wrong["testGroups"][0]["tests"][0]["resultsArray"][1]["md"];
    let changed = end.as_str().unwrap().chars().rev().collect::<String>();
    *end = json!(changed);
    assert_eq!(run_steps(&wrong, steps, &options("plain")), (0, 1, 0));
}

/// The standard's alternate version, whose messages are as long as the first: cut, or filled up with zeros.
#[test]
fn thousands_of_cut_digests() {
    let steps = steps(1000);
    let thousands = |name: &str, joined: usize, bytes: usize| {
        let start: Vec<u8> = (0..bytes).map(|i| (i * 7) as u8).collect();
        let (mut seed, mut ends) = (start.clone(), Vec::new());
        for _ in 0..2 {
            let mut last = vec![seed; joined];
            for _ in 0..steps {
                let mut message = last.concat();
                message.resize(bytes, 0);
                last.remove(0);
                last.push(ordinary(name, &message, 32));
            }
            seed = last.pop().unwrap();
            ends.push(json!({ "md": hex::encode(&seed) }));
        }
        let tests = json!([{ "tcId": 1, "msg": hex::encode(start), "len": 8 * bytes, "resultsArray": ends }]);
        json!([{ "testType": "MCT", "mctVersion": "alternate", "tests": tests }])
    };
    for (algorithm, name, joined, bytes) in [("SHA2-256", "sha256", 3, 40), ("SHA3-256", "sha3-256", 1, 20)] {
        let right = acvp(algorithm, thousands(name, joined, bytes));
        assert_eq!(run_steps(&right, steps, &options("plain")), (1, 0, 0), "{algorithm} {bytes}");
        let mut wrong = right;
        wrong["testGroups"][0]["tests"][0]["len"] = json!(8 * bytes - 1);
        assert_eq!(run(&wrong, &options("plain")), (0, 0, 1), "{algorithm} {bytes}");
    }
}

/// Messages that repeat a content inside the computation, shorter than gigabytes, with lengths around that of
/// a piece.
#[test]
fn large_data() {
    let test = |id: usize, name: &str, content: &[u8], bytes: usize| {
        let message: Vec<u8> = content.iter().copied().cycle().take(bytes).collect();
        let md = hex::encode(ordinary(name, &message, 32));
        json!({ "tcId": id, "len": 0, "md": md, "largeMsg": { "content": hex::encode(content),
            "contentLength": 8 * content.len(), "fullLength": 8 * bytes,
                "expansionTechnique": "repeating" } })
    };
    let of = |algorithm: &str, name: &str, lengths: &[usize], width: usize| {
        let content = |seed: usize| (0..width).map(|i| (seed * 31 + i * 11 + 3) as u8).collect::<Vec<u8>>();
        let tests = lengths.iter().enumerate().map(|(i, bytes)| test(i, name, &content(i), *bytes));
        acvp(algorithm, json!([{ "testType": "LDT", "tests": tests.collect::<Vec<_>>() }]))
    };
    let lengths = [5000, 2048, 8, 4096, 2056, 5000];
    let sha2 = of("SHA2-256", "sha256", &lengths, 8);
    assert_eq!(run(&sha2, &options("plain")), (6, 0, 0));
    assert_eq!(run(&of("SHA2-256", "sha256", &[2100, 64], 8), &options("rep3")), (2, 0, 0));
    assert_eq!(run(&of("SHA3-256", "sha3-256", &[5000, 2720, 700, 5], 5), &options("plain")), (4, 0, 0));
    assert_eq!(run(&of("SHAKE-128", "shake128", &[3000, 1000], 1), &options("plain")), (2, 0, 0));
    // a wrong answer, a false length, another kind of repetition, and no answer
    let mut wrong = sha2.clone();
    let tests = &mut wrong["testGroups"][0]["tests"];
    tests[0]["md"] = json!("00".repeat(32));
    tests[1]["largeMsg"]["contentLength"] = json!(72);
    tests[2]["largeMsg"]["expansionTechnique"] = json!("counting");
    tests[3].as_object_mut().unwrap().remove("md");
    assert_eq!(run(&wrong, &options("plain")), (2, 1, 3));
    // if long tests are not asked for, none runs
    let short = KatOptions { long: false, ..options("plain") };
    let report = run_contents(&[("file".into(), parse(&sha2).unwrap())], &short).unwrap();
    assert_eq!(report.algorithms[0].unsupported.get(NEEDS_LONG), Some(&6));
    // an engine that has no hash says so
    assert_eq!(run(&sha2, &options("garble")), (0, 0, 6));
}

/// Data units that an ordinary library enciphers, with tweaks that count up from the first byte (`little`) or
/// from the last one.
fn sealed_units(key: &[u8], tweak: u128, little: bool, text: &[u8], unit: usize) -> Vec<u8> {
    let encrypt = |key: &[u8], block: &[u8]| {
        let mut block = <[u8; 16]>::try_from(block).unwrap().into();
        cipher(key, Direction::Encrypt).unwrap()(&mut block);
        u128::from_le_bytes(block.into())
    };
    let (data, tweaks) = key.split_at(key.len() / 2);
    let mut out = Vec::new();
    for (number, unit) in (0_u128..).zip(text.chunks(unit)) {
        let tweak = if little { (tweak + number).to_le_bytes() } else { (tweak + number).to_be_bytes() };
        let mut mask = encrypt(tweaks, &tweak);
        for block in unit.chunks(16) {
            let block = u128::from_le_bytes(block.try_into().unwrap()) ^ mask;
            out.extend((encrypt(data, &block.to_le_bytes()) ^ mask).to_le_bytes());
            mask = mask << 1 ^ if mask >> 127 == 1 { 0x87 } else { 0 };
        }
    }
    out
}

#[test]
fn several_data_units() {
    let key: Vec<u8> = (0..32).map(|i| 7 * i + 2).collect();
    let text: Vec<u8> = (0..112).map(|i| 2 * i + 1).collect();
    for little in [true, false] {
        let tweak = 0x00ff_u128 << 112 | 0xfe;
        let first = if little { tweak.to_le_bytes() } else { tweak.to_be_bytes() };
        let sealed = sealed_units(&key, tweak, little, &text, 32);
        let group = |direction: &str, unit: u64, sealed: &[u8]| {
            json!({ "testType": "AFT", "direction": direction, "keyLen": 128, "tweakMode": "hex", "tests": [
                { "tcId": 1, "payloadLen": 896, "dataUnitLen": unit, "key": hex::encode(&key),
                    "tweakValue": hex::encode(first),
                  "pt": hex::encode(&text), "ct": hex::encode(sealed) }] })
        };
        let mut wrong = sealed.clone();
        wrong[111] ^= 1;
        let groups = json!([
            group("encrypt", 256, &sealed),
            group("decrypt", 256, &sealed),
            group("encrypt", 256, &wrong),
            // less than a block at the end is no data unit
            group("encrypt", 390, &sealed),
        ]);
        for engine in ["plain", "rep3"] {
            assert_eq!(run(&acvp("ACVP-AES-XTS", groups.clone()), &options(engine)), (2, 1, 1), "{little}");
        }
    }
}

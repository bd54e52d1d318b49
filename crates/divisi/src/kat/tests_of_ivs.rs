//! IVs of GCM and GMAC in files of ACVP: with a salt (XPN), drawn by the module that is tested, and, as
//! circuits, of other lengths than 96 bits.
//!
//! Vectors: usnistgov/ACVP-Server, gen-val/json-files/ACVP-AES-XPN-1.0, internalProjection.json (a work of
//! the United States government, in the public domain), where nothing else is said; a few of them, in
//! tests/vectors/acvp.json.

use super::scaffold::{acvp, among, group, plain, ran, rep3, vectors_in};
use super::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn engines() -> [KatOptions; 4] {
    [rep3(), plain(), among("garble", 2), among("mixed", 2)]
}

fn xpn(groups: Value) -> Value {
    acvp("ACVP-AES-XPN", groups)
}

/// Group and test 16.
fn sixteen() -> (Value, Value) {
    let mut group = vectors_in("acvp.json")["xpn"]["testGroups"][1].clone();
    let test = group["tests"][0].take();
    (group, test)
}

/// Extended packet numbers run on every engine that has GCM. Salt and IV may be exchanged; a vector with a
/// changed bit in either fails.
#[test]
fn extended_packet_numbers() {
    let file = vectors_in("acvp.json")["xpn"].clone();
    for options in engines() {
        assert_eq!(ran(&[("xpn", &file)], &options), (5, 0, BTreeMap::new()));
    }
    let (head, sixteen) = sixteen();
    let only = |test: Value| xpn(json!([group(head.clone(), json!([test]))]));
    let mut exchanged = sixteen.clone();
    (exchanged["iv"], exchanged["salt"]) = (sixteen["salt"].clone(), sixteen["iv"].clone());
    assert_eq!(ran(&[("xpn", &only(exchanged))], &rep3()), (1, 0, BTreeMap::new()));
    for (name, byte) in ["iv", "salt"].into_iter().flat_map(|name| (0..12).map(move |byte| (name, byte))) {
        let mut other = hex::decode(sixteen[name].as_str().unwrap()).unwrap();
        other[byte] ^= 1 << (byte % 8);
        let mut test = sixteen.clone();
        test[name] = json!(hex::encode(other));
        assert_eq!(ran(&[("xpn", &only(test))], &plain()), (0, 1, BTreeMap::new()), "{name} {byte}");
    }
    // with a salt of zeros, XPN is GCM
    let mut same = sixteen.clone();
    let [iv, salt] = ["iv", "salt"].map(|name| hex::decode(same[name].as_str().unwrap()).unwrap());
    same["iv"] = json!(hex::encode(iv.iter().zip(&salt).map(|(x, y)| x ^ y).collect::<Vec<u8>>()));
    same["salt"] = json!("00".repeat(12));
    let mut gcm = only(same);
    assert_eq!(ran(&[("xpn", &gcm)], &rep3()), (1, 0, BTreeMap::new()));
    gcm["algorithm"] = json!("ACVP-AES-GCM");
    assert_eq!(ran(&[("gcm", &gcm)], &rep3()), (1, 0, BTreeMap::new()));
}

/// A vector whose IV or salt the tested module drew is run if the file has that value; if not, there is no
/// answer to compare with.
#[test]
fn what_is_drawn_inside_is_run_where_the_file_has_it() {
    let (external, sixteen) = sixteen();
    let test = |head: Value, without: &str, name: &str| {
        let mut test = sixteen.clone();
        test.as_object_mut().unwrap().remove(without);
        let mut file = xpn(json!([group(head, json!([test]))]));
        file["algorithm"] = json!(name);
        ran(&[(name, &file)], &rep3())
    };
    let internal = |name: &str| {
        let mut head = external.clone();
        head[name] = json!("internal");
        head
    };
    let lacks = |reason: &str| (0, 0, BTreeMap::from([(reason.to_owned(), 1)]));
    assert_eq!(test(internal("ivGen"), "none", "ACVP-AES-XPN"), (1, 0, BTreeMap::new()));
    assert_eq!(test(internal("saltGen"), "none", "ACVP-AES-XPN"), (1, 0, BTreeMap::new()));
    let [iv, salt] = ["an IV", "a salt"].map(|what| format!("{what} that the engine would have to draw"));
    for name in ["ACVP-AES-XPN", "ACVP-AES-GCM", "ACVP-AES-GMAC"] {
        assert_eq!(test(internal("ivGen"), "iv", name), lacks(&iv), "{name}");
    }
    assert_eq!(test(internal("saltGen"), "salt", "ACVP-AES-XPN"), lacks(&salt));
    assert_eq!(test(external.clone(), "salt", "ACVP-AES-XPN"), lacks("no \"salt\" in the file"));
    for (name, value) in [("iv", "00".repeat(8)), ("salt", "00".repeat(16)), ("salt", String::new())] {
        let mut test = sixteen.clone();
        test[name] = json!(value);
        let file = xpn(json!([group(external.clone(), json!([test]))]));
        let reason = "an IV or a salt of another length than 96 bits, which XPN does not have";
        assert_eq!(ran(&[("xpn", &file)], &plain()), lacks(reason));
    }
}

/// A vector of a mode that begins with a block is counted as not run if its IV is no block; the file's other
/// vectors run.
#[test]
fn an_iv_that_is_no_block_is_counted() {
    let key = "2b7e151628aed2a6abf7158809cf4f3c";
    let keys = "0123456789abcdef23456789abcdef01456789abcdef0123";
    for (name, key, block) in [
        ("ACVP-AES-CBC", key, 16),
        ("ACVP-AES-CFB8", key, 16),
        ("ACVP-AES-CFB128", key, 16),
        ("ACVP-AES-OFB", key, 16),
        ("ACVP-TDES-CBC", keys, 8),
        ("AES-CBC-PKCS5", key, 16),
    ] {
        // an answer of zeros is wrong: what runs fails
        let test = |bytes: usize| {
            let (iv, text) = ("00".repeat(bytes), "00".repeat(16));
            json!({ "tcId": bytes, "result": "valid", "key": key, "iv": iv, "pt": text, "msg": text, "ct": text })
        };
        let tests = json!([test(0), test(block - 1), test(block), test(block + 1), test(2 * block)]);
        let group = |direction: &str| json!({ "testType": "AFT", "direction": direction, "tests": tests });
        let file = json!({ "algorithm": name, "testGroups": [group("encrypt"), group("decrypt")] });
        let reasons =
            [0, block - 1, block + 1, 2 * block].map(|bytes| (format!("an IV of {} bits", 8 * bytes), 2));
        for engine in [plain(), among("garble", 2)] {
            assert_eq!(ran(&[(name, &file)], &engine), (0, 2, reasons.clone().into()), "{name}");
        }
    }
}

/// GMAC under IVs of any length also runs as a circuit: tags are made and compared, with the answers of
/// libraries and of NIST; an IV that is too long for a circuit is counted as not run.
#[test]
fn gmac_under_any_iv_runs_as_a_circuit() {
    let files = vectors_in("acvp.json");
    let [prompt, results] = [0, 1].map(|number| files["gmac"][number].clone());
    for options in engines() {
        let files = [("prompt", &prompt), ("results", &results)];
        assert_eq!(ran(&files, &options), (6, 0, BTreeMap::new()));
    }
    use aes::cipher::consts::U16;
    use aes_gcm::aead::{Aead, KeyInit, Payload};
    type Cipher = aes_gcm::AesGcm<aes::Aes128, U16>;
    let (key, iv, aad) = ([7_u8; 16], *b"sixteen bytes 01", *b"what is authenticated");
    let cipher = Cipher::new_from_slice(&key).unwrap();
    let tag = cipher.encrypt(&iv.into(), Payload { msg: b"", aad: &aad }).unwrap();
    let mut wrong = tag.clone();
    wrong[15] ^= 1;
    let test = |id: u64, iv: &[u8], tag: &[u8], result: &str| {
        let [key, iv, aad, tag] = [&key[..], iv, &aad, tag].map(hex::encode);
        json!({ "tcId": id, "key": key, "iv": iv, "msg": aad, "tag": tag, "result": result })
    };
    let mut other = iv;
    other[0] ^= 0x80;
    let tests = [
        test(1, &iv, &tag, "valid"),
        test(2, &iv, &wrong, "invalid"),
        test(3, &other, &tag, "invalid"),
        test(4, &[1; 1025], &tag, "invalid"),
    ];
    let file = json!({ "algorithm": "AES-GMAC", "testGroups": [{ "tests": tests }] });
    let too_long = BTreeMap::from([("a message or an IV of more than 1024 bytes".to_owned(), 1)]);
    assert_eq!(ran(&[("gmac", &file)], &among("garble", 3)), (3, 0, too_long));
    assert_eq!(ran(&[("gmac", &file)], &rep3()), (4, 0, BTreeMap::new()));
}

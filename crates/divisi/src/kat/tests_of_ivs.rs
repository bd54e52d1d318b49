//! IVs of GCM and GMAC in files of ACVP: with a salt (XPN), drawn by the module that is tested, and, as
//! circuits, of other lengths than 96 bits.
//!
//! Vectors: usnistgov/ACVP-Server, gen-val/json-files/ACVP-AES-XPN-1.0, internalProjection.json (a work of
//! the United States government, in the public domain), where nothing else is said.

use super::tests::on;
use super::tests_of_acvp::{gmac, ran};
use super::*;
use divisi_rep3::{Protocol, Security};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn engine(name: &'static str, parties: usize) -> KatOptions {
    let security = if name == "mixed" { Security::SemiHonest } else { Security::Malicious };
    let options = on(name, Protocol::Gf4Circuit, security);
    if name == "plain" {
        return options;
    }
    KatOptions { settings: options.settings.among(parties), ..options }
}

fn engines() -> [KatOptions; 4] {
    [("rep3", 3), ("plain", 1), ("garble", 2), ("mixed", 2)].map(|(name, parties)| engine(name, parties))
}

fn xpn(groups: Value) -> Value {
    json!({ "vsId": 0, "algorithm": "ACVP-AES-XPN", "revision": "1.0", "isSample": false, "testGroups": groups })
}

fn head(direction: &str, key: u64, payload: u64, aad: u64, tag: u64) -> Value {
    json!({ "testType": "AFT", "direction": direction, "keyLen": key, "ivLen": 96, "ivGen": "external", "ivGenMode": "8.2.2",
        "saltLen": 96, "saltGen": "external", "payloadLen": payload, "aadLen": aad, "tagLen": tag })
}

fn group(mut head: Value, tests: Value) -> Value {
    head["tests"] = tests;
    head
}

/// Test 16.
fn sixteen() -> Value {
    json!({ "tcId": 16, "testPassed": true, "pt": "FA5266054DD231FB6128ED2309CCEA5E", "key": "32D25707C313C9498173975CD405814E",
        "aad": "9B15BA571857A05EA45A64DA5AC04B77", "iv": "C65F46EDEE73DF7EADBA0841", "salt": "A4C05C7E5297B2E5980EECF5",
        "ct": "FCB3CE245FAAEE9D85C0EDAD51B5EE61", "tag": "1E2E77B58A27E19E" })
}

fn of_nist() -> Value {
    xpn(json!([
        group(
            head("encrypt", 128, 256, 120, 128),
            json!([
                { "tcId": 1, "testPassed": true, "pt": "C09A7196875707AC78E4D59BC8298CFB347A37AE58FCE1FF45B17998F6266053",
                  "key": "397B09F753EAF06304761D717952F823", "aad": "0A2507E1571E8CA38191EBAA642415", "iv": "DDC200E4B6353C468DAE2A21",
                  "salt": "9049AD7C7DEBC5B67469B42F", "ct": "4065BAAFAFA866D411D37BD2392BCA67341F45C8F4C6AA9ADB5EA76967DCC043",
                  "tag": "BFF49F196C41772442EDDC561C14DE59" },
            ])
        ),
        group(head("encrypt", 128, 128, 128, 64), json!([sixteen()])),
        group(
            head("decrypt", 128, 256, 120, 64),
            json!([
                { "tcId": 80, "testPassed": true, "pt": "156A16569862864D4A09C9B3BF5412072A85557ECD1B2EDD1C939B311BD2EB2B",
                  "key": "B610563ECC5DA1674AB55A611910350A", "aad": "F9C120460AAB76F60C3D6B12570A5C", "iv": "ADC86B4449C305C3C6C5FB39",
                  "salt": "AACE88E262B3A91BA9F5108D", "ct": "D1E889C34597DE86B893670CE0F0A4673807D7B5BD49C21710E03B4B9CFB83EF",
                  "tag": "DC2F51565BAF3ABF" },
            ])
        ),
        group(
            head("decrypt", 256, 128, 120, 64),
            json!([
                { "tcId": 91, "testPassed": true, "pt": "5F3760369D701EF335532F4414AADD95",
                  "key": "02A22736878C2E7C121BB943212A69FD9724314E9861DF2E23D106A35B2A8B49", "aad": "AE7ED775F95F3C07EC4A7A74DF1770",
                  "iv": "8F1B1535CCA0D8F9C1E7BBCE", "salt": "65E5870B8ED27CE9A55AD99E", "ct": "2508360252FE21CB23E0892F1F35CBFF",
                  "tag": "247F0A6174DC3EAF" },
                { "tcId": 92, "testPassed": false, "pt": "97D383E379FDCAC56F5F0A5A757E612F",
                  "key": "8F7DF8198E9B0562D14D0B5C041EDF7FC3BFBFCD252283A24C87A017FC78080D", "aad": "0B3636FE529306AA33F8051199A6BB",
                  "iv": "013ACE6504F9390B06A139E7", "salt": "D6D332DA8F4D2EB78988CFD3", "ct": "088EBD088CBA01482E70B66B582898A1",
                  "tag": "28EA76382A298F91" },
            ])
        ),
    ]))
}

/// Extended packet numbers run on every engine that has GCM. Salt and IV may be exchanged; a vector with a
/// changed bit in either fails.
#[test]
fn extended_packet_numbers() {
    let file = of_nist();
    for options in engines() {
        assert_eq!(ran(&[("xpn", &file)], &options), (5, 0, BTreeMap::new()));
    }
    let only = |test: Value| xpn(json!([group(head("encrypt", 128, 128, 128, 64), json!([test]))]));
    let mut exchanged = sixteen();
    (exchanged["iv"], exchanged["salt"]) = (sixteen()["salt"].clone(), sixteen()["iv"].clone());
    assert_eq!(ran(&[("xpn", &only(exchanged))], &engine("rep3", 3)), (1, 0, BTreeMap::new()));
    for (name, byte) in ["iv", "salt"].into_iter().flat_map(|name| (0..12).map(move |byte| (name, byte))) {
        let mut other = hex::decode(sixteen()[name].as_str().unwrap()).unwrap();
        other[byte] ^= 1 << (byte % 8);
        let mut test = sixteen();
        test[name] = json!(hex::encode(other));
        assert_eq!(
            ran(&[("xpn", &only(test))], &engine("plain", 1)),
            (0, 1, BTreeMap::new()),
            "{name} {byte}"
        );
    }
    // with a salt of zeros, XPN is GCM
    let mut plain = sixteen();
    let [iv, salt] = ["iv", "salt"].map(|name| hex::decode(plain[name].as_str().unwrap()).unwrap());
    plain["iv"] = json!(hex::encode(iv.iter().zip(&salt).map(|(x, y)| x ^ y).collect::<Vec<u8>>()));
    plain["salt"] = json!("00".repeat(12));
    let mut gcm = only(plain);
    assert_eq!(ran(&[("xpn", &gcm)], &engine("rep3", 3)), (1, 0, BTreeMap::new()));
    gcm["algorithm"] = json!("ACVP-AES-GCM");
    assert_eq!(ran(&[("gcm", &gcm)], &engine("rep3", 3)), (1, 0, BTreeMap::new()));
}

/// A vector whose IV or salt the tested module drew is run if the file has that value; if not, there is no
/// answer to compare with.
#[test]
fn what_is_drawn_inside_is_run_where_the_file_has_it() {
    let test = |head: Value, without: &str, name: &str| {
        let mut test = sixteen();
        test.as_object_mut().unwrap().remove(without);
        let mut file = xpn(json!([group(head, json!([test]))]));
        file["algorithm"] = json!(name);
        ran(&[(name, &file)], &engine("rep3", 3))
    };
    let internal = |name: &str| {
        let mut head = head("encrypt", 128, 128, 128, 64);
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
    let external = head("encrypt", 128, 128, 128, 64);
    assert_eq!(test(external.clone(), "salt", "ACVP-AES-XPN"), lacks("no \"salt\" in the file"));
    for (name, value) in [("iv", "00".repeat(8)), ("salt", "00".repeat(16)), ("salt", String::new())] {
        let mut test = sixteen();
        test[name] = json!(value);
        let file = xpn(json!([group(external.clone(), json!([test]))]));
        let reason = "an IV or a salt of another length than 96 bits, which XPN does not have";
        assert_eq!(ran(&[("xpn", &file)], &engine("plain", 1)), lacks(reason));
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
        for engine in [engine("plain", 1), engine("garble", 2)] {
            assert_eq!(ran(&[(name, &file)], &engine), (0, 2, reasons.clone().into()), "{name}");
        }
    }
}

/// GMAC under IVs of any length also runs as a circuit: tags are made and compared, with the answers of
/// libraries and of NIST; an IV that is too long for a circuit is counted as not run.
#[test]
fn gmac_under_any_iv_runs_as_a_circuit() {
    let [prompt, results] = gmac();
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
    assert_eq!(ran(&[("gmac", &file)], &engine("garble", 3)), (3, 0, too_long));
    assert_eq!(ran(&[("gmac", &file)], &engine("rep3", 3)), (4, 0, BTreeMap::new()));
}

//! The demonstration among parties that trust nobody, through the command line.

use crate::has;
use crate::program::{good, refused};
use std::fs;

#[test]
fn a_file_goes_through_parties_that_trust_nobody() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path();
    fs::write(dir.join("note"), b"seventeen bytes..").unwrap();
    for (cipher, bits, more, parties) in [("aes-256-cbc", 256, "", 3), ("3des-cbc", 192, "--parties 2", 2)] {
        let told = good(dir, &format!("demo --engine spdz --file note --cipher {cipher} {more}"));
        has!(told, "cipher": cipher, "key_bits": bits, "bytes": 17, "parties": parties);
        has!(told, "decrypted_equals_file": true, "opened_by_ordinary_library": true);
    }
    good(dir, "prep make --parties 2 --out stock --protocol aes-lt --blocks 6");
    let from = "demo --engine spdz --parties 2 --file note --prep-from stock";
    has!(good(dir, from), "cipher": "aes-128-cbc");
    for (words, says) in [
        ("demo --cipher 3des-cbc", "--cipher belongs to the engine spdz"),
        ("demo --engine spdz --key-bits 256", "--key-bits"),
        ("demo --engine garble", "has no demonstration"),
        ("demo --engine spdz --protocol aes-tinytable", "name another protocol"),
    ] {
        refused(dir, words, says);
    }
}

/// The demonstration leaves the file and its key to a user who asks: the key for its owner alone, and never
/// in the place of another.
#[test]
fn the_demonstration_leaves_its_file_and_key() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let text = b"sixteen bytes, and some more of them";
    fs::write(dir.join("note.txt"), text).unwrap();
    let demo = "demo --engine spdz --parties 2 --file note.txt --out note.cbc";
    has!(good(dir, demo), "out": "note.cbc", "key_file": "note.cbc.key");
    let (sealed, key) =
        (fs::read(dir.join("note.cbc")).unwrap(), fs::read(dir.join("note.cbc.key")).unwrap());
    let mode = fs::metadata(dir.join("note.cbc.key")).unwrap().permissions().mode();
    assert_eq!((sealed.len(), key.len(), mode & 0o777), (16 + 48, 16, 0o600));
    assert_eq!(cbc_of(&key, &sealed), [&text[..], &[12; 12]].concat());
    refused(dir, demo, "note.cbc.key is there already");
    assert_eq!(fs::read(dir.join("note.cbc.key")).unwrap(), key);
    refused(dir, &demo.replace("note.cbc", "no/where"), "cannot be written");
    refused(dir, "demo --file note.txt --out x", "--out belongs to the engine spdz");
}

/// The blocks of a file in CBC, whose first block is the IV, decrypted in the clear.
fn cbc_of(key: &[u8], sealed: &[u8]) -> Vec<u8> {
    use aes_gcm::aes::Aes128;
    use aes_gcm::aes::cipher::{BlockCipherDecrypt, KeyInit};
    let cipher = Aes128::new_from_slice(key).unwrap();
    let blocks = sealed.as_chunks::<16>().0;
    let open = |[before, block]: &[[u8; 16]; 2]| {
        let mut x = (*block).into();
        cipher.decrypt_block(&mut x);
        x.iter().zip(before).map(|(x, before)| x ^ before).collect::<Vec<u8>>()
    };
    blocks.windows(2).flat_map(|two| open(two.first_chunk().unwrap())).collect()
}

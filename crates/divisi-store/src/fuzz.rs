//! Fuzz targets for key files.

use crate::file::tests::sample;
use crate::file::{decode, encode};
use crate::key::{KeyState, KeyType, Purpose, Secret};
use std::path::Path;

/// Files of an active key and of a destroyed one.
fn some_key_files() -> Vec<Vec<u8>> {
    let mut destroyed = sample("k2");
    destroyed.info.state = KeyState::Destroyed;
    destroyed.secret = None;
    let mut changing = sample("k3");
    changing.next_clients = Some(vec!["bob".into(), "carol".into()]);
    let mut long = sample("k4");
    (long.info.kind, long.info.purpose, long.info.bytes) = (KeyType::HmacSha256, Purpose::Mac, 100);
    let [first, second] = [0xcc, 0xdd].map(|byte| vec![byte; 100].into());
    long.secret = Some(Secret { first, second });
    [sample("k1"), destroyed, changing, long]
        .iter()
        .filter_map(|key| encode(key).ok())
        .map(|bytes| bytes.to_vec())
        .collect()
}

/// Decode a file as it is, and with its length and its checksum corrected, so that the decoder reads the
/// body, too. Returns whether the corrected file holds a key; if so, the key must be the same after it was
/// written and read again.
fn key_file(bytes: &[u8]) -> Result<bool, String> {
    let path = Path::new("k.key");
    let _ = decode(path, bytes);
    let Some((head, body)) = bytes.split_first_chunk::<14>() else { return Ok(false) };
    let body = &body[..body.len().saturating_sub(32)];
    let mut whole = [&head[..10], &(body.len() as u32).to_le_bytes(), body].concat();
    whole.extend_from_slice(blake3::hash(&whole).as_bytes());
    let Ok(key) = decode(path, &whole) else { return Ok(false) };
    let again = encode(&key).map_err(|e| format!("a key that cannot be written: {e}"))?;
    let again = decode(path, &again).map_err(|e| format!("what was written is not read: {e}"))?;
    if again.info == key.info && again.next_clients == key.next_clients {
        Ok(true)
    } else {
        Err("another key when read again".into())
    }
}

#[test]
fn random_key_files() {
    divisi_fuzz::golden("key-files", env!("CARGO_MANIFEST_DIR"), &some_key_files());
    divisi_fuzz::run("key-files", env!("CARGO_MANIFEST_DIR"), &some_key_files(), key_file);
}

//! Keys: that of a stock's files in its own file, and what each file's key is made of.

use super::files::{HEAD, STATE};
use super::tests::{filled, key, private_dir};
use super::*;

#[test]
fn a_key_file_is_read_as_it_was_written_and_nothing_else_is_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("seal.key");
    let bytes: [u8; 32] = std::array::from_fn(|i| i as u8 * 7);
    SealKey::new(Zeroizing::new(bytes)).save(&path).unwrap();
    assert_eq!(*SealKey::load(&path).unwrap().0, bytes);
    assert!(matches!(key(1).save(&path), Err(StockError::Io(at, _)) if at == path));
    let text = std::fs::read(&path).unwrap();
    for len in 0..text.len() {
        std::fs::write(&path, &text[..len]).unwrap();
        assert!(matches!(SealKey::load(&path), Err(StockError::NoKey(at)) if at == path), "{len}");
    }
    for bad in [[&text[..], b"0"].concat(), vec![b'0'; 400], text.iter().map(|byte| byte ^ 0x80).collect()] {
        std::fs::write(&path, bad).unwrap();
        assert!(matches!(SealKey::load(&path), Err(StockError::NoKey(at)) if at == path));
    }
    assert!(matches!(SealKey::load(&dir.path().join("none")), Err(StockError::Io(..))));
    std::fs::write(&path, text).unwrap();
    for (mode, fine) in [(0o600, true), (0o400, true), (0o604, false), (0o640, false), (0o610, false)] {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let end = SealKey::load(&path);
        let readable =
            matches!(&end, Err(StockError::Readable(at, seen)) if *at == path && seen & 0o777 == mode);
        assert!(end.is_ok() == fine && readable != fine, "{mode:o}");
    }
}

/// A file's key is never used again: a file that is written again has another salt, all of whose bytes are
/// drawn; so is what binds the files of a stock to its head.
#[test]
fn no_two_files_have_one_salt() {
    let (_dir, path) = private_dir();
    let reserve = filled(&path, 2);
    let salt =
        |name: &str| -> [u8; 32] { std::fs::read(path.join(name)).unwrap()[26..58].try_into().unwrap() };
    let mut salts =
        [HEAD, "tables-8-00000000.lot", "tables-8-00000001.lot", "bits-00000000.lot"].map(salt).to_vec();
    for _ in 0..4 {
        // the same state each time
        reserve.close().unwrap();
        salts.push(salt(STATE));
    }
    let different: std::collections::BTreeSet<_> = salts.iter().collect();
    assert_eq!(different.len(), salts.len());
    // the tests' entropy repeats a number
    assert!(
        salts
            .iter()
            .all(|salt| salt.chunks(8).all(|word| *word == salt[..8] && word.iter().any(|b| *b != 0)))
    );
    let other = private_dir();
    let wraps = [&reserve, &filled(&other.1, 2)].map(|reserve| *reserve.wrap);
    assert!(wraps[0] != wraps[1] && wraps.iter().all(|wrap| wrap[..8] == wrap[24..] && wrap[7] == 0x80));
    assert!(wraps.iter().all(|wrap| wrap[..7].iter().any(|byte| *byte != 0)));
}

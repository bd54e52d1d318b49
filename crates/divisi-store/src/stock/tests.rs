use super::files::{GONE, HEAD, LOCK, LOT, STATE, context, forget, look, read};
use super::*;
use std::sync::atomic::AtomicU64;

pub(crate) fn entropy() -> Entropy {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Box::new(|out| {
        // the last bit is one, so that it is seen when it is left out
        let number = NEXT.fetch_add(1, Ordering::Relaxed) | 1 << 63;
        out.iter_mut().zip(number.to_le_bytes().iter().cycle()).for_each(|(to, byte)| *to = *byte);
    })
}

pub(crate) fn key(byte: u8) -> SealKey {
    SealKey::new(Zeroizing::new([byte; 32]))
}

pub(crate) fn info(party: u8) -> StockInfo {
    let series = |name: &str, lot| Series { name: name.into(), planned: 6, lot, longest: 100 };
    StockInfo {
        id: [7; 32],
        party,
        parties: 2,
        peers: [0; 32],
        protocol: "aes-lt".into(),
        prep: "bucketed".into(),
        field_bits: 48,
        k: 4,
        rho: 40,
        blocks: 6,
        series: vec![series("tables-8", 4), series("bits", 2)],
    }
}

/// A stock with lots, whose bodies are easy to recognise.
pub(super) fn filled(dir: &Path, party: u8) -> Reserve {
    let reserve = Reserve::create(dir, key(1), entropy(), info(party), vec![0xaa; 6].into()).unwrap();
    for (series, count, byte) in [(0, 4, 0x11), (1, 2, 0x21), (0, 2, 0x12), (1, 2, 0x22)] {
        reserve.put(series, count, &[byte; 100]).unwrap();
    }
    reserve.close().unwrap();
    reserve
}

pub(super) fn private_dir() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("party");
    (dir, path)
}

pub(super) fn opened(dir: &Path) -> Result<Reserve, StockError> {
    Reserve::open(dir, key(1), entropy(), 2)
}

#[test]
fn values_are_taken_once_and_lots_are_found_again() {
    let (_dir, path) = private_dir();
    drop(filled(&path, 2));
    let reserve = opened(&path).unwrap();
    assert_eq!((reserve.info(), reserve.secret().as_slice()), (&info(2), &[0xaa; 6][..]));
    assert_eq!(reserve.take(0, 5).unwrap(), 0..5);
    assert_eq!((reserve.lot(0, 0).unwrap()[0], reserve.lot(0, 1).unwrap()[99]), (0x11, 0x12));
    assert!(matches!(reserve.take(0, 2), Err(StockError::UsedUp(_, _, 2, 1, _))));
    reserve.wipe(0, 0).unwrap();
    assert!(matches!(reserve.lot(0, 0), Err(StockError::Damaged(at, _)) if at.starts_with(&path)));
    drop(reserve);
    let reserve = opened(&path).unwrap();
    assert_eq!((reserve.take(0, 1).unwrap(), reserve.take(1, 4).unwrap()), (5..6, 0..4));
    assert!(matches!(reserve.take(1, 1), Err(StockError::UsedUp(_, name, 1, 0, _)) if name == "bits"));
    assert!(matches!(reserve.take(2, 1), Err(StockError::UsedUp(..))));
    drop(reserve);
    // a stock that is used up can be replaced by another
    drop(filled(&path, 2));
    let again = Reserve::create(&path, key(1), entropy(), info(2), Vec::new().into());
    assert!(matches!(again, Err(StockError::Exists(at)) if at == path));
}

#[test]
fn a_second_process_and_another_party_and_another_key_are_refused() {
    let (_dir, path) = private_dir();
    let reserve = filled(&path, 2);
    assert!(matches!(opened(&path), Err(StockError::InUse(at)) if at == path));
    assert!(matches!(forget(&path), Err(StockError::InUse(at)) if at == path));
    drop(reserve);
    for _ in 0..2 {
        let end = Reserve::open(&path, key(1), entropy(), 1);
        assert!(matches!(end, Err(StockError::OtherParty(at, 2)) if at == path));
    }
    let under_another = Reserve::open(&path, key(2), entropy(), 2);
    assert!(matches!(under_another, Err(StockError::OtherKey(at)) if at.starts_with(&path)));
    assert!(matches!(look(&path, &key(2)), Err(StockError::OtherKey(at)) if at.starts_with(&path)));
    for byte in 0..32 {
        let mut other = [1; 32];
        other[byte] ^= 1;
        let other = SealKey::new(Zeroizing::new(other));
        assert!(matches!(look(&path, &other), Err(StockError::OtherKey(_))), "{byte}");
    }
    // another key is told from this one by more than what their files begin with
    let head = |key: &SealKey| key.seal(&[0; 32], &[], &[]).unwrap()[10];
    let alike = (0..=u16::MAX).map(|i| {
        let bytes = std::array::from_fn(|at| i.to_le_bytes()[at % 2]);
        SealKey::new(Zeroizing::new(bytes))
    });
    let alike = alike.skip(0x102).find(|other| head(other) == head(&key(1))).unwrap();
    assert!(matches!(look(&path, &alike), Err(StockError::OtherKey(_))));
    for no_folder in ["none", HEAD] {
        let no_folder = path.join(no_folder);
        assert!(
            matches!(opened(&no_folder), Err(StockError::Missing(at)) if at == no_folder),
            "{no_folder:?}"
        );
    }
    let below = path.join(HEAD).join("below");
    for _ in 0..2 {
        let none = path.join("none");
        assert!(matches!(look(&none, &key(1)), Err(StockError::Missing(at)) if at == none));
        assert!(matches!(look(&below, &key(1)), Err(StockError::Io(at, _)) if at == below));
    }
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(
        matches!(opened(&path), Err(StockError::Readable(at, seen)) if at == path && seen & 0o777 == 0o755)
    );
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(opened(&path).is_ok());
    // a head that cannot be read is not missing
    let (head, kept) = (path.join(HEAD), path.join("kept"));
    std::fs::rename(&head, &kept).unwrap();
    std::os::unix::fs::symlink(&head, &head).unwrap();
    for _ in 0..2 {
        assert!(matches!(opened(&path), Err(StockError::Io(at, _)) if at == head));
    }
    std::fs::rename(&kept, &head).unwrap();
    assert!(forget(&path).unwrap() && !path.exists() && !forget(&path).unwrap());
    // any file of a stock is one, and a directory without any is none
    std::fs::create_dir(&path).unwrap();
    assert!(!forget(&path).unwrap());
    for name in [HEAD, STATE, GONE] {
        let (_dir, path) = private_dir();
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join(name), []).unwrap();
        assert!(forget(&path).unwrap() && !path.exists(), "{name}");
    }
}

/// Each session begins at what its parties agreed on, whatever an earlier session of this process began at.
#[test]
fn each_session_begins_at_its_own_counts() {
    let (_dir, path) = private_dir();
    let reserve = filled(&path, 2);
    for taken in 1..4 {
        let mut counts = reserve.state().counts;
        counts[0].taken = taken;
        reserve.begin(&counts).unwrap();
        assert_eq!(reserve.state().counts[0].taken, taken);
    }
}

/// Of many lots of a series, none is taken for the first one.
#[test]
fn no_lot_is_taken_for_another() {
    const LOTS: u64 = 30;
    let (_dir, path) = private_dir();
    let series = vec![Series { name: "bits".into(), planned: 2 * LOTS, lot: 2, longest: 100 }];
    let info = StockInfo { series, ..info(2) };
    let reserve = Reserve::create(&path, key(1), entropy(), info, vec![0xaa; 6].into()).unwrap();
    (0..LOTS).for_each(|lot| reserve.put(0, 2, &[lot as u8; 100]).unwrap());
    reserve.close().unwrap();
    drop(reserve);
    let file = |lot| path.join(format!("bits-{lot:08}.lot"));
    let first = std::fs::read(file(0)).unwrap();
    for lot in 1..LOTS {
        std::fs::write(file(lot), &first).unwrap();
        let taken = opened(&path).and_then(|reserve| reserve.lot(0, lot).map(drop));
        assert!(matches!(taken, Err(StockError::Damaged(at, _)) if at == file(lot)), "{lot}");
    }
}

/// Files are altered in bits of every byte, and cut to every length: no altered file is accepted, and the
/// attempt to open it destroys nothing.
#[test]
fn what_was_altered_or_cut_off_or_exchanged_does_not_open() {
    let (_dir, path) = private_dir();
    drop(filled(&path, 2));
    let all = |reserve: &Reserve| -> Result<(), StockError> {
        for (series, lot) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            reserve.lot(series, lot)?;
        }
        Ok(())
    };
    let broken = || opened(&path).and_then(|reserve| all(&reserve)).err();
    assert!(broken().is_none());
    for name in [HEAD, STATE, "tables-8-00000000.lot", "bits-00000001.lot"] {
        let file = path.join(name);
        let bytes = std::fs::read(&file).unwrap();
        for at in (0..8 * bytes.len()).step_by(3) {
            let mut bad = bytes.clone();
            bad[at / 8] ^= 1 << (at % 8);
            std::fs::write(&file, &bad).unwrap();
            let error = broken().unwrap_or_else(|| panic!("{name}, bit {at}"));
            assert!(error.to_string().contains(name), "{error}");
        }
        for at in 0..8 {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            std::fs::write(&file, &bad).unwrap();
            assert!(broken().is_some_and(|e| e.to_string().contains("does not begin like")), "{name}, {at}");
        }
        let later = [&bytes[..8], &[3, 2], &bytes[10..]].concat();
        std::fs::write(&file, later).unwrap();
        assert!(matches!(broken(), Some(StockError::Version(at, 0x203)) if at == file), "{name}");
        for len in 0..bytes.len() {
            std::fs::write(&file, &bytes[..len]).unwrap();
            assert!(
                matches!(broken(), Some(StockError::Damaged(at, _)) if at == file),
                "{name}, {len} bytes"
            );
        }
        std::fs::write(&file, [&bytes[..], &[0]].concat()).unwrap();
        assert!(matches!(broken(), Some(StockError::Damaged(at, _)) if at == file), "{name}, longer");
        std::fs::write(&file, &bytes).unwrap();
    }
    let [one, other] = ["bits-00000000.lot", "bits-00000001.lot"].map(|name| path.join(name));
    let bytes = std::fs::read(&other).unwrap();
    std::fs::copy(&one, &other).unwrap();
    assert!(matches!(broken(), Some(StockError::Damaged(at, _)) if at == other));
    std::fs::write(&other, bytes).unwrap();
    assert!(broken().is_none());
    // the state of another stock of this key
    let (_other, elsewhere) = private_dir();
    drop(filled(&elsewhere, 2));
    std::fs::copy(elsewhere.join(STATE), path.join(STATE)).unwrap();
    assert!(matches!(broken(), Some(StockError::Damaged(at, _)) if at == path.join(STATE)));
}

/// The files of lots in a directory.
fn lots(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let all = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.to_str().unwrap().ends_with(LOT))
}

/// An error of a file tells which one it was, and one of a directory which one that was.
#[test]
fn errors_name_their_place() {
    let (_dir, path) = private_dir();
    let reserve = filled(&path, 2);
    let before: Vec<PathBuf> = lots(&path).collect();
    reserve.wipe(0, 0).unwrap();
    let gone: Vec<PathBuf> = before.into_iter().filter(|lot| !lot.exists()).collect();
    let Err(StockError::Damaged(named, _)) = reserve.lot(0, 0) else { panic!("it is missing") };
    assert_eq!(gone, [named]);
    reserve.destroy().unwrap();
    for _ in 0..2 {
        assert!(matches!(reserve.take(0, 1), Err(StockError::Destroyed(named)) if named == path));
    }
    drop(reserve);
    assert!(matches!(opened(&path), Err(StockError::Destroyed(named)) if named == path));
    // a stock without its state
    let (_dir, stateless) = private_dir();
    drop(filled(&stateless, 2));
    std::fs::remove_file(stateless.join(STATE)).unwrap();
    let end = opened(&stateless).map(drop);
    assert!(matches!(&end, Err(StockError::Damaged(at, _)) if *at == stateless.join(STATE)), "{end:?}");
    // sealed by its key and for its place, but no head
    let (_dir, headless) = private_dir();
    drop(filled(&headless, 2));
    let body = key(1).seal(&[0; 32], &context(&[], &[], HEAD), b"no head").unwrap();
    std::fs::write(headless.join(HEAD), body).unwrap();
    let end = opened(&headless).map(drop);
    assert!(matches!(&end, Err(StockError::Damaged(at, _)) if *at == headless.join(HEAD)), "{end:?}");
    // the same of its state
    let (_dir, other) = private_dir();
    drop(filled(&other, 2));
    let (head, _) = read(&MachineDisk, &other, &key(1)).unwrap();
    let body = key(1).seal(&[0; 32], &context(&head.wrap, &[2], STATE), &[0x80; 9]).unwrap();
    std::fs::write(other.join(STATE), body).unwrap();
    let end = opened(&other).map(drop);
    assert!(matches!(&end, Err(StockError::Damaged(at, _)) if *at == other.join(STATE)), "{end:?}");
    // a directory where the lock should be
    let (_dir, other) = private_dir();
    std::fs::create_dir_all(other.join(LOCK)).unwrap();
    let made = Reserve::create(&other, key(1), entropy(), info(2), Vec::new().into());
    assert!(matches!(made, Err(StockError::Io(named, _)) if named == other));
}

/// Whoever has too few values is told how to make more, as often as it asks.
#[test]
fn how_to_make_more_is_told() {
    for (protocol, named) in [("aes-lt", "aes-lt"), ("and", "bit-products")] {
        let (_dir, path) = private_dir();
        let info = StockInfo { protocol: protocol.into(), ..info(2) };
        let reserve = Reserve::create(&path, key(1), entropy(), info, Vec::new().into()).unwrap();
        for _ in 0..2 {
            let told = reserve.used_up("bits".into(), 2, 1).to_string();
            assert!(told.contains(&format!("--protocol {named} --blocks 6")), "{told}");
        }
    }
}

/// A lot may be as long as its own series says, and is overwritten in its whole length.
#[test]
fn each_series_has_a_longest_lot() {
    let (_dir, path) = private_dir();
    let mut info = info(2);
    info.series[0].longest = 10;
    let reserve = Reserve::create(&path, key(1), entropy(), info, Vec::new().into()).unwrap();
    for (series, longest) in [(0, 10), (1, 100)] {
        reserve.put(series, 2, &vec![7; longest]).unwrap();
        assert_eq!(reserve.lot(series, 0).unwrap().len(), longest);
        let file = path.join(file_name(&reserve.info().series[series].name, 0));
        let (kept, len) = (path.join("kept"), std::fs::metadata(&file).unwrap().len());
        std::fs::hard_link(file, &kept).unwrap();
        reserve.wipe(series, 0).unwrap();
        let left = std::fs::read(&kept).unwrap();
        assert!(left.len() as u64 >= len && left.iter().all(|byte| *byte == 0), "{series}: {}", left.len());
        std::fs::remove_file(kept).unwrap();
    }
}

/// Each stock that replaces another one begins without a lot of it.
#[test]
fn nothing_is_left_of_a_stock_that_is_replaced() {
    let (_dir, path) = private_dir();
    for _ in 0..3 {
        drop(filled(&path, 2));
        let reserve = opened(&path).unwrap();
        reserve.take(0, 6).unwrap();
        reserve.take(1, 4).unwrap();
        drop(reserve);
        let next = Reserve::create(&path, key(1), entropy(), info(2), Vec::new().into()).unwrap();
        let left: Vec<PathBuf> = lots(&path).collect();
        assert!(left.is_empty(), "{left:?}");
        next.destroy().unwrap();
        drop(next);
    }
}

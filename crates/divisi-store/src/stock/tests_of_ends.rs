//! Stocks that end: by an abort, or at any operation at which a machine dies.

use super::files::{GONE, LOCK};
use super::tests::{entropy, filled, info, key, opened, private_dir};
use super::*;
use crate::cut::CutDisk;

/// 1.10: a stock that an abort destroyed cannot be opened again, and neither can one whose process died while
/// alpha was at risk.
#[test]
fn what_is_destroyed_does_not_come_back() {
    let (_dir, path) = private_dir();
    let reserve = filled(&path, 2);
    let head = std::fs::read(path.join(HEAD)).unwrap();
    // a state that was half written
    std::fs::write(path.join(NEW), b"half").unwrap();
    reserve.destroy().unwrap();
    assert!(reserve.take(0, 1).is_err() && reserve.close().is_ok() && reserve.risk(false).is_err());
    drop(reserve);
    assert!(matches!(opened(&path), Err(StockError::Destroyed(at)) if at == path));
    let left: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| [GONE, LOCK].contains(&name.to_str().unwrap())), "{left:?}");
    std::fs::write(path.join(HEAD), head).unwrap();
    assert!(matches!(opened(&path), Err(StockError::Damaged(..))));
    forget(&path).unwrap();
    // the process dies during a check
    let reserve = filled(&path, 2);
    reserve.risk(true).unwrap();
    drop(reserve);
    assert!(matches!(opened(&path), Err(StockError::Destroyed(_))));
    assert!(matches!(opened(&path), Err(StockError::Destroyed(_))));
    // what is written during a check does not end the danger
    let writes: [fn(&Reserve) -> _; 2] = [|reserve| reserve.take(0, 1).map(drop), Reserve::close];
    for write in writes {
        forget(&path).unwrap();
        let reserve = filled(&path, 2);
        reserve.risk(true).unwrap();
        write(&reserve).unwrap();
        drop(reserve);
        assert!(matches!(opened(&path), Err(StockError::Destroyed(_))));
    }
    forget(&path).unwrap();
    // the process dies at another time
    let reserve = filled(&path, 2);
    reserve.take(0, 2).unwrap();
    reserve.risk(true).unwrap();
    reserve.close().unwrap();
    reserve.risk(false).unwrap();
    // nothing was closed that was at risk
    assert!(reserve.state().open);
    reserve.take(0, 1).unwrap();
    drop(reserve);
    let reserve = opened(&path).unwrap();
    assert_eq!((reserve.state().open, reserve.take(0, 1).unwrap()), (true, 3..4));
}

/// At whatever operation a machine dies, no value is given out again that was taken by this party or, as the
/// counts say, by another one. A stock that opens is whole, and one whose machine died while alpha could
/// become known does not open.
#[test]
fn no_crash_gives_a_value_twice() {
    let dir = Path::new("/stock");
    let life = |disk: CutDisk, given: &mut Vec<Range<u64>>, at_risk: &mut bool| -> Result<(), StockError> {
        let reserve = Reserve::open_on(Box::new(disk.clone()), dir, key(1), entropy(), 2)?;
        // a peer has taken the first value
        let mut counts = reserve.state().counts;
        counts[0].taken = 1;
        reserve.begin(&counts)?;
        given.push(0..1);
        for count in [1, 2, 1] {
            given.push(reserve.take(0, count)?);
            reserve.risk(true)?;
            *at_risk = true;
            disk.write(&dir.join("other"), b"sigma").map_err(|e| StockError::Io(dir.into(), e))?;
            *at_risk = false;
            reserve.risk(false)?;
        }
        reserve.close()
    };
    let mut deaths = 0;
    for at in 0..200 {
        for seed in 1..4 {
            let disk = CutDisk::new(seed);
            disk.make_dir(dir).unwrap();
            let made = Reserve::create_on(
                Box::new(disk.clone()),
                dir,
                key(1),
                entropy(),
                info(2),
                vec![1; 6].into(),
            );
            let reserve = made.unwrap();
            reserve.put(0, 4, &[1; 100]).unwrap();
            reserve.put(0, 2, &[2; 100]).unwrap();
            reserve.close().unwrap();
            disk.dies_after(at);
            let (mut given, mut at_risk) = (Vec::new(), false);
            let died = life(disk.clone(), &mut given, &mut at_risk).is_err();
            deaths += u32::from(died);
            disk.restart();
            match Reserve::open_on(Box::new(disk), dir, key(1), entropy(), 2) {
                Ok(reserve) => {
                    assert!(!at_risk, "{at} {seed}");
                    let first = given.last().map_or(0, |range| range.end);
                    assert!(reserve.state().counts[0].taken >= first, "{at} {seed}");
                    assert_eq!(reserve.lot(0, 1).unwrap()[0], 2);
                }
                // a state that was written only in part is refused, and no older one is used instead
                Err(StockError::Damaged(..) | StockError::Destroyed(_)) => assert!(died, "{at} {seed}"),
                Err(e) => panic!("{e}"),
            }
        }
    }
    assert!(deaths > 20, "{deaths}");
}

//! Files that are sealed by the stock's own key and for their place, and whose contents cannot be a stock's.

use super::files::{HEAD, STATE, context, file_name, read};
use super::tests::{entropy, info, key};
use super::*;

fn refused(dir: &Path, name: &str, what: &str) {
    let end = Reserve::open(dir, key(1), entropy(), 2).map(drop);
    let place = dir.join(name);
    assert!(matches!(&end, Err(StockError::Damaged(at, said)) if *at == place && *said == what), "{end:?}");
}

#[test]
fn heads_and_states_that_no_stock_writes_are_damage() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("party");
    let reserve = Reserve::create(&dir, key(1), entropy(), info(2), vec![0xaa; 6].into()).unwrap();
    reserve.put(0, 4, &[1; 100]).unwrap();
    reserve.close().unwrap();
    drop(reserve);
    let (head, state) = read(&MachineDisk, &dir, &key(1)).unwrap();
    let put = |name: &str, body: &[u8]| {
        let context = match name {
            HEAD => context(&[], &[], HEAD),
            _ => context(&head.wrap, &[2], name),
        };
        std::fs::write(dir.join(name), key(1).seal(&[3; 32], &context, body).unwrap()).unwrap();
    };
    let of_state = |state: &StockState| postcard::to_stdvec(state).unwrap();
    let other = "it is not the state of this stock";
    let (mut fewer, mut more, mut none) = (state.clone(), state.clone(), state.clone());
    fewer.counts.pop();
    more.counts.push(Count::default());
    none.counts.clear();
    let mut wrong = vec![of_state(&fewer), of_state(&more), of_state(&none)];
    for (series, count) in [(0, Count { made: 4, taken: 5 }), (1, Count { made: 0, taken: 256 })] {
        let mut unsound = state.clone();
        unsound.counts[series] = count;
        wrong.push(of_state(&unsound));
    }
    wrong.push([of_state(&state), vec![0]].concat());
    for body in wrong {
        put(STATE, &body);
        refused(&dir, STATE, other);
    }
    std::fs::remove_file(dir.join(STATE)).unwrap();
    refused(&dir, STATE, "it is missing");
    put(STATE, &of_state(&state));
    let reserve = Reserve::open(&dir, key(1), entropy(), 2).unwrap();
    // each lot that is not there is named
    let name = info(2).series[1].name.clone();
    let place = dir.join(file_name(&name, 7));
    for _ in 0..2 {
        let end = reserve.lot(1, 7).map(drop);
        assert!(matches!(&end, Err(StockError::Damaged(at, "it is missing")) if *at == place), "{end:?}");
    }
    drop(reserve);
    let of_head = postcard::to_stdvec(&head).unwrap();
    put(HEAD, &[&of_head[..], &[0]].concat());
    refused(&dir, HEAD, "it is not the head of a stock");
    put(HEAD, &of_head);
    assert!(Reserve::open(&dir, key(1), entropy(), 2).is_ok());
}

/// A stock of more kinds than its head has room for is refused; a directory that has no head is no stock.
#[test]
fn kinds_are_bounded_and_a_head_is_needed() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("party");
    let kind = info(2).series[0].clone();
    let of = |kinds: usize| StockInfo { series: vec![kind.clone(); kinds], ..info(2) };
    let made = |kinds| Reserve::create(&dir, key(1), entropy(), of(kinds), vec![1; 6].into()).map(drop);
    for kinds in [2000, 5000] {
        let end = made(kinds);
        assert!(
            matches!(&end, Err(StockError::Damaged(at, why)) if *at == dir && why.contains("more kinds")),
            "{end:?}"
        );
    }
    // what can be made can be opened
    let most = (1..2000)
        .collect::<Vec<_>>()
        .partition_point(|kinds| made(*kinds).is_ok_and(|()| forget(&dir).unwrap()));
    for kinds in [10, most] {
        forget(&dir).unwrap();
        made(kinds).unwrap();
        assert!(look(&dir, &key(1)).is_ok(), "{kinds}");
    }
    std::fs::remove_file(dir.join(HEAD)).unwrap();
    for _ in 0..2 {
        assert!(matches!(look(&dir, &key(1)), Err(StockError::Missing(at)) if at == dir));
    }
}

/// Each lot of a series has its own file, however many there are.
#[test]
fn each_of_many_lots_has_its_own_file() {
    let many = (0..70_000).chain([1 << 24, 1 << 32, 1 << 48, u64::MAX]);
    let names: std::collections::HashSet<String> = many.map(|lot| file_name("bits", lot)).collect();
    assert_eq!(names.len(), 70_004);
}

/// A disk that says what is written.
#[derive(Default)]
struct Written(Mutex<Vec<Vec<u8>>>);

impl Disk for std::sync::Arc<Written> {
    fn write(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        self.0.lock().unwrap().push(bytes.to_vec());
        MachineDisk.write(path, bytes)
    }
}

/// A long lot is overwritten to its end before it is removed.
#[test]
fn long_lots_are_overwritten_to_their_end() {
    let dir = tempfile::tempdir().unwrap();
    let disk = std::sync::Arc::<Written>::default();
    let mut long = info(2);
    long.series[0].longest = 300_000;
    let reserve =
        Reserve::create_on(Box::new(disk.clone()), dir.path(), key(1), entropy(), long, vec![1; 6].into());
    let reserve = reserve.unwrap();
    reserve.put(0, 4, &vec![0x11; 300_000]).unwrap();
    assert!(reserve.lot(0, 0).unwrap().iter().all(|byte| *byte == 0x11));
    let stored = disk.0.lock().unwrap().iter().map(Vec::len).max().unwrap();
    disk.0.lock().unwrap().clear();
    reserve.wipe(0, 0).unwrap();
    let zeros = |written: &Vec<u8>| written.len() >= stored && written.iter().all(|byte| *byte == 0);
    assert!(stored > 300_000 && disk.0.lock().unwrap().iter().any(zeros));
}

/// A session begins at the counts that the parties agreed on, of every series.
#[test]
fn a_session_begins_at_the_counts_of_every_series() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("party");
    let series = info(2).series.into_iter().cycle().take(9).collect();
    let many = StockInfo { series, ..info(2) };
    let reserve = Reserve::create(&dir, key(1), entropy(), many, vec![1; 6].into()).unwrap();
    let agreed: Vec<Count> = (0..9).map(|i| Count { made: 300 + i, taken: 1 + i }).collect();
    reserve.begin(&agreed).unwrap();
    assert_eq!(reserve.state().counts, agreed);
    drop(reserve);
    assert_eq!(look(&dir, &key(1)).unwrap().1.counts, agreed);
}

/// Whoever comes while a stock is in use changes nothing of it, also while a check is in progress: then
/// whoever opens it next would destroy it.
#[test]
fn a_stock_in_use_is_left_as_it_is() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("party");
    let secret = || Zeroizing::new(vec![0xaa; 6]);
    let reserve = Reserve::create(&dir, key(1), entropy(), info(2), secret()).unwrap();
    reserve.put(0, 4, &[1; 100]).unwrap();
    reserve.risk(true).unwrap();
    for (number, party) in [(1, 2), (1, 1), (2, 2)] {
        let ends = [
            Reserve::open(&dir, key(number), entropy(), party).map(drop),
            Reserve::create(&dir, key(number), entropy(), info(party), secret()).map(drop),
        ];
        assert!(ends.iter().all(|end| matches!(end, Err(StockError::InUse(at)) if *at == dir)), "{ends:?}");
    }
    reserve.risk(false).unwrap();
    assert_eq!(reserve.take(0, 4).unwrap(), 0..4);
    assert_eq!(*reserve.lot(0, 0).unwrap(), [1; 100]);
}

/// Whoever opened the file of a lock before it was removed with its stock does not hold the directory: the
/// next process makes another file, and holds that.
#[test]
fn a_lock_that_was_removed_holds_nothing() {
    use super::files::{LOCK, held};
    let dir = tempfile::tempdir().unwrap();
    let open = || std::fs::File::create(dir.path().join(LOCK)).unwrap();
    let early = open();
    std::fs::remove_file(dir.path().join(LOCK)).unwrap();
    assert!(matches!(held(dir.path(), early), Err(StockError::InUse(at)) if at == dir.path()));
    let early = open();
    std::fs::remove_file(dir.path().join(LOCK)).unwrap();
    let now = held(dir.path(), open()).unwrap();
    assert!(matches!(held(dir.path(), early), Err(StockError::InUse(_))));
    drop(now);
    assert!(held(dir.path(), open()).is_ok());
}

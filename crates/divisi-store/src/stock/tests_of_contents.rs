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

//! What is owed for a value cannot be forgotten, whichever way its debt goes: copied, resumed, joined,
//! settled elsewhere (M0.7, A13). A run that would forget it ends with a misuse, before anything is opened.
//! That a value does not go anywhere without its debt is shown in `origins.rs`.

use crate::common::prelude::*;
use divisi_rep3::adversary::adaptive::engine;

fn opened_as_linear(e: &mut Rep3, x: Vec<Byte>) -> Result<(), Abort> {
    let verified = linear(e, x)?;
    e.trio().open(&verified).map(drop)
}

/// An engine, and a value that owes a product in it.
fn owing(trio: Trio) -> Result<(Rep3, Vec<Byte>), Abort> {
    let mut e = engine(trio);
    let x = random_sbox(&mut e, 3)?;
    Ok((e, vec![x]))
}

/// A way to forget what a value owes.
type Forgetting = fn(Trio) -> Result<(), Abort>;

const FORGETTING: [(&str, Forgetting); 10] = [
    ("closed as linear", |trio| {
        let (mut e, x) = owing(trio)?;
        opened_as_linear(&mut e, x)
    }),
    ("resumed", |trio| {
        let (mut e, x) = owing(trio)?;
        let x = e.close(x).resume(&mut e);
        opened_as_linear(&mut e, x)
    }),
    ("left by its engine", |trio| {
        let (e, x) = owing(trio)?;
        opened_as_linear(&mut engine(e.into_trio()), x)
    }),
    ("closed, and used again beside the pending value", |trio| {
        let (mut e, x) = owing(trio)?;
        let _pending = e.close(x.clone());
        opened_as_linear(&mut e, x)
    }),
    ("the same, with something linear resumed in between", |trio| {
        let mut e = engine(trio);
        let harmless = e.random_bytes(3)?;
        let harmless = e.close_linear(vec![harmless])?;
        let x = random_sbox(&mut e, 3)?;
        let _pending = e.close(x.clone());
        harmless.resume(&mut e);
        let verified = settled(&mut e, vec![x])?;
        e.trio().open(&verified).map(drop)
    }),
    ("nothing", |trio| {
        let mut e = engine(trio);
        settled(&mut e, ()).map(drop)
    }),
    ("closed, computed on, and only what came of it settled", |trio| {
        let (mut e, mut x) = owing(trio)?;
        let _pending = e.close(x.clone());
        e.sbox(Direction::Decrypt, &mut x.iter_mut().collect::<Vec<_>>())?;
        settled(&mut e, x).map(drop)
    }),
    ("closed, and used again in another engine of the strand", |trio| {
        let (mut e, x) = owing(trio)?;
        let _pending = e.close(x.clone());
        opened_as_linear(&mut engine(e.into_trio()), x)
    }),
    ("closed, and the strand begun again", |trio| {
        let (mut e, x) = owing(trio)?;
        let _pending = e.close(x.clone());
        let trio = Trio::new(e.into_trio().into_session())?;
        opened_as_linear(&mut engine(trio), x)
    }),
    ("paid for by what another strand owes", |mut trio| {
        let (mut two, y) = owing(Trio::new(trio.session().strand()?)?)?;
        let theirs = two.close(y);
        let (mut e, x) = owing(trio)?;
        let _pending = e.close(x.clone());
        settle(&mut e, theirs)?;
        opened_as_linear(&mut e, x)
    }),
];

/// What is owed cannot be forgotten on the way: neither by resuming nor by taking the engine apart.
#[test]
fn debts_cannot_be_forgotten() {
    for (what, forget) in FORGETTING {
        let results = TrioHarness::default().act(forget);
        assert!(results.iter().all(Result::is_err), "{what}: {results:?}");
    }
}

/// A layer of lookups whose vectors were paid before owes the comparison of its openings: also when it was
/// closed and resumed.
#[test]
fn openings_are_owed_when_resumed() {
    for linear in [false, true] {
        let results = TrioHarness::default().act(|trio| {
            let mut e = Rep3::new(trio, Protocol::Lut256, Security::Malicious);
            e.prepare(1, 1, 8)?;
            let mut x = e.public(&[0; 8]);
            e.sbox(Direction::Encrypt, &mut [&mut x])?;
            let x = e.close(x).resume(&mut e);
            let pending = if linear { e.close_linear(x)? } else { e.close(x) };
            settle(&mut e, pending).map(drop)
        });
        assert!(results.iter().all(|result| result.is_err() == linear), "{linear}: {results:?}");
    }
}

/// What is linear in verified values stays so when it is resumed, and closed with nothing else.
#[test]
fn what_is_linear_stays_so_when_resumed() {
    let results = TrioHarness::default().act(|trio| {
        let mut e = engine(trio);
        let x = e.random_bytes(3)?;
        let x = e.close_linear(vec![x])?.resume(&mut e);
        let verified = settled(&mut e, x)?;
        e.trio().open(&verified).map(drop)
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

/// Values of two strands, one of which had an opening that differed between parties, cannot be settled in the
/// other strand: that would never compare the views of the first.
#[test]
fn openings_of_another_strand_are_not_forgotten() {
    for join in [false, true] {
        let harness = TrioHarness::default();
        harness.change(party(1), party(2), "divisi_rep3::sbox::lut256/c", 0, |body| body[0] ^= 1);
        let results = harness.act(|mut trio: Trio| {
            let other = trio.session().strand()?;
            let mut one = Rep3::new(trio, Protocol::Lut256, Security::Malicious);
            let mut two = Rep3::new(Trio::new(other)?, Protocol::Lut256, Security::Malicious);
            let mut x = two.public(&[0; 8]);
            two.sbox(Direction::Encrypt, &mut [&mut x])?;
            let in_two = two.close(vec![x]);
            if join {
                let mut y = one.public(&[0; 8]);
                one.sbox(Direction::Encrypt, &mut [&mut y])?;
                let in_one = one.close(vec![y]);
                let all = Pending::join([in_one, in_two]).unwrap();
                return settle(&mut one, all).map(drop);
            }
            let x = in_two.resume(&mut one);
            one.trio().absorb("anything", &[1]);
            settled(&mut one, x).map(drop)
        });
        assert!(results.iter().all(Result::is_err), "{join}: {results:?}");
    }
}

/// What is settled together is settled: the engine continues.
#[test]
fn joined_values_are_all_paid() {
    let results = TrioHarness::default().act(|trio| {
        let mut e = engine(trio);
        let mut closed = Vec::new();
        for _ in 0..2 {
            let x = random_sbox(&mut e, 3)?;
            closed.push(e.close(x));
        }
        settle(&mut e, Pending::join(closed).unwrap())?;
        let x = e.random_bytes(3)?;
        opened_as_linear(&mut e, vec![x])
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

/// Of three that wait, two are settled together only if the third is the last one, in whichever order they
/// are joined.
#[test]
fn the_last_alone_may_be_left() {
    for (left, reversed) in (0..3).flat_map(|left| [(left, false), (left, true)]) {
        let results = TrioHarness::default().act(|trio| {
            let mut e = engine(trio);
            let mut closed = Vec::new();
            for _ in 0..3 {
                let x = random_sbox(&mut e, 3)?;
                closed.push(e.close(x));
            }
            let left = closed.remove(left);
            if reversed {
                closed.reverse();
            }
            settle(&mut e, Pending::join(closed).unwrap())?;
            settle(&mut e, left).map(drop)
        });
        assert!(results.iter().all(|result| result.is_ok() == (left == 2)), "{left} {reversed}: {results:?}");
    }
}

/// Vectors are made while something that was closed waits, and outputs are settled in their order.
#[test]
fn a_pipeline_is_settled_in_order() {
    let play = |right: bool| {
        TrioHarness::default().act(move |trio| {
            let mut e = Rep3::new(trio, Protocol::Lut16, Security::Malicious);
            let chunk = |e: &mut Rep3| {
                e.prepare(1, 1, 9)?;
                let x = random_sbox(e, 9)?;
                Ok::<_, Abort>(e.close(x))
            };
            let (first, second) = (chunk(&mut e)?, chunk(&mut e)?);
            let (first, second) = if right { (first, second) } else { (second, first) };
            settle(&mut e, first)?;
            settle(&mut e, second).map(drop)
        })
    };
    assert!(play(true).iter().all(Result::is_ok));
    assert!(play(false).iter().all(Result::is_err));
}

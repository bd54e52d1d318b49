//! Encrypted numbers: E2A of combinations gives the right numbers, and what weighs too much is refused by all
//! parties, in the call that makes it.

use crate::common::{foreign, honest, plain, refused, refused_after, refused_for, share, small, with_keys};
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_core::testing::party;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, Session};
use divisi_field::zp::P32;
use divisi_fuzz::repetitions;
use divisi_mixed::conv::{self, a2e, e2a};
use divisi_mixed::encrypted::EncryptedNum;
use divisi_mixed::{Num, num};
use std::sync::Arc;

const WEIGHT: Operation = Operation::Linear { weight: 1024 };

/// The i-th of the numbers with this seed; 0, 1 and p - 1 are among them.
fn number(seed: u64, i: usize) -> u64 {
    [0, 1, P32 - 1].get(i).copied().unwrap_or((i as u64 + 7 * seed) * 0x9e37_79b9 % P32)
}

fn given(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    lanes: usize,
    seed: u64,
) -> Result<EncryptedNum, Abort> {
    let (n, me) = (session.parties(), session.me().index());
    let shares: Vec<u64> = (0..lanes).map(|i| share(n, me, i, number(seed, i), P32)).collect();
    a2e(session, keys, sampler, party(2), &Num::new(WipedVec::from(&*shares)))
}

fn opened(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    x: &EncryptedNum,
) -> Result<Vec<u64>, Abort> {
    let shares = e2a(session, keys, sampler, x)?;
    num::open(session, keys.ring().plain(), &shares)
}

/// E2A of sums of 2 and of 1,024 ciphertexts, of which 64 are different; of a difference, of 3 x + 5, and of
/// a multiple.
fn combinations(ring: &Arc<Ring>) {
    let (p, lanes) = (plain(), 1500);
    let ends = with_keys(ring, |session, keys, sampler| {
        let mut all = Vec::new();
        for seed in 0..64 {
            all.push(given(session, keys, sampler, lanes, seed)?);
        }
        assert_eq!((all[0].lanes(), all[0].holder(), all[0].weight()), (lanes, party(2), 1));
        let mut found = Vec::new();
        let mut two = all[0].clone();
        two.add(session, keys, &all[1])?;
        found.push(opened(session, keys, sampler, &two)?);
        let mut sum = all[0].clone();
        for i in 1..1024 {
            sum.add(session, keys, &all[i % 64])?;
        }
        assert_eq!(sum.weight(), 1024);
        found.push(opened(session, keys, sampler, &sum)?);
        let mut difference = all[0].clone();
        difference.subtract(session, keys, &all[1])?;
        found.push(opened(session, keys, sampler, &difference)?);
        let mut affine = all[0].clone();
        affine.scale(session, keys, 3)?;
        affine.add_public(session, keys, &vec![5; lanes])?;
        assert_eq!(affine.weight(), 4);
        found.push(opened(session, keys, sampler, &affine)?);
        let mut multiple = all[0].clone();
        multiple.scale(session, keys, -1024)?;
        found.push(opened(session, keys, sampler, &multiple)?);
        Ok(found)
    });
    let x = |seed: usize| (0..lanes).map(move |i| number(seed as u64, i));
    let zip = |f: fn(u64, u64) -> u64| x(0).zip(x(1)).map(move |(x, y)| f(x, y) % P32).collect::<Vec<u64>>();
    let sixteen = |i: usize| (0..64).fold(0, |sum, seed| p.add(sum, p.mul(16, number(seed, i))));
    let expected = [
        zip(|x, y| x + y),
        (0..lanes).map(sixteen).collect(),
        zip(|x, y| x + P32 - y),
        zip(|x, _| 3 * x + 5),
        x(0).map(|x| p.neg(p.mul(1024, x))).collect(),
    ];
    for found in honest(ends) {
        assert!(found == expected);
    }
}

#[test]
fn combinations_of_encrypted_numbers() {
    for &n in repetitions(&[3][..], &[2, 3, 16]) {
        combinations(&small(WEIGHT, Form::LeanTree, n));
    }
}

/// A call on numbers of the weight 1, and on a sum of 1,024 of them.
type Heavy = fn(&Session, &Keys, &mut EncryptedNum, &mut EncryptedNum) -> Result<(), Abort>;

/// Every party refuses the 1,025th summand, and whatever else weighs more than 1,024, in the call that makes
/// it.
#[test]
fn what_weighs_too_much_is_refused_by_all() {
    let calls: [Heavy; 8] = [
        |session, keys, x, sum| sum.add(session, keys, x),
        |session, keys, x, sum| sum.subtract(session, keys, x),
        |session, keys, _, sum| sum.add_public(session, keys, &[1, 2]),
        |session, keys, _, sum| sum.scale(session, keys, -2),
        |session, keys, x, _| x.scale(session, keys, 1025),
        |session, keys, x, _| x.scale(session, keys, i64::MIN),
        // what weighs nothing
        |session, keys, x, _| x.scale(session, keys, 0).and_then(|()| x.scale(session, keys, 1 << 17)),
        |session, keys, x, sum| x.scale(session, keys, 512).and_then(|()| x.add(session, keys, sum)),
    ];
    let ring = small(WEIGHT, Form::LeanTree, 2);
    let accepted = |session: &mut Session, keys: &Keys, sampler: &mut Sampler| {
        let x = given(session, keys, sampler, 2, 3)?;
        let (mut two, mut sum) = (x.clone(), x.clone());
        two.add_public(session, keys, &[1, 2])?;
        two.scale(session, keys, 2)?;
        for _ in 1..1024 {
            sum.add(session, keys, &x)?;
        }
        Ok((x, sum))
    };
    refused_after(&ring, accepted, |session, keys, _, (x, sum)| {
        let call = |call: Heavy| call(session, keys, &mut x.clone(), &mut sum.clone());
        refused_for(calls.map(|heavy| (Misuse::NoiseTooHigh, call(heavy))));
    });
}

/// Every party refuses by itself what does not fit, and numbers of another session, after calls that all
/// accept. (2 and 258 lanes are as many in eight bits.)
#[test]
fn what_does_not_fit_is_refused_by_all() {
    let ring = small(WEIGHT, Form::LeanTree, 2);
    let theirs = honest(with_keys(&ring, |session, keys, sampler| given(session, keys, sampler, 2, 0)));
    let foreign = foreign();
    let accepted = |session: &mut Session, keys: &Keys, sampler: &mut Sampler| {
        let mut x = given(session, keys, sampler, 2, 0)?;
        let long = given(session, keys, sampler, 258, 1)?;
        let elsewhere = a2e(session, keys, sampler, party(1), &Num::zero(2))?;
        a2e(session, keys, sampler, party(1), &Num::zero(256))?;
        let y = x.clone();
        x.scale(session, keys, 2)?;
        x.add_public(session, keys, &[1, keys.ring().plain().get() - 1])?;
        x.add(session, keys, &y)?;
        x.subtract(session, keys, &y)?;
        e2a(session, keys, sampler, &x)?;
        Ok([x, long, elsewhere])
    };
    refused_after(&ring, accepted, |session, keys, sampler, [mut x, mut long, elsewhere]| {
        let me = session.me().index();
        let (mut y, (_, shares)) = (theirs[me].clone(), &foreign[me]);
        let mut a2e = |x: &[u64]| {
            let x = Num::new(WipedVec::from(x));
            a2e(session, keys, sampler, party(1), &x).map(drop)
        };
        refused_for([
            (Misuse::Empty, a2e(&[])),
            (Misuse::OutOfRange, a2e(&[P32, 0])),
            (Misuse::OutOfRange, a2e(&[0, P32])),
        ]);
        refused_for([
            (Misuse::OtherSession, conv::a2e(session, keys, sampler, party(1), shares).map(drop)),
            (Misuse::OtherSession, e2a(session, keys, sampler, &y).map(drop)),
            (Misuse::OtherSession, y.scale(session, keys, 2)),
            (Misuse::OtherSession, y.add_public(session, keys, &[1, 2])),
            (Misuse::OtherSession, y.add(session, keys, &x)),
            (Misuse::OtherSession, x.add(session, keys, &y)),
            (Misuse::OtherSession, x.subtract(session, keys, &y)),
            (Misuse::CountsDiffer, x.add(session, keys, &long)),
            (Misuse::CountsDiffer, long.subtract(session, keys, &x)),
            (Misuse::CountsDiffer, x.add(session, keys, &elsewhere)),
            (Misuse::CountsDiffer, x.subtract(session, keys, &elsewhere)),
            (Misuse::CountsDiffer, x.add_public(session, keys, &[1])),
            (Misuse::CountsDiffer, x.add_public(session, keys, &[1; 3])),
            (Misuse::CountsDiffer, x.add_public(session, keys, &[1; 258])),
            (Misuse::OutOfRange, x.add_public(session, keys, &[P32, 1])),
            (Misuse::OutOfRange, x.add_public(session, keys, &[1, P32])),
        ]);
    });
    // keys of conversions allow no combination
    let other = small(Operation::Conversions, Form::LeanTree, 2);
    refused(with_keys(&other, |session, keys, sampler| given(session, keys, sampler, 2, 0).map(drop)));
}

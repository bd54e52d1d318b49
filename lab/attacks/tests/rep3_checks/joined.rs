//! Computations that are settled together, or that go on from one another: a lie in any of them is noticed
//! (A11, A13, M0.7, S6).

use crate::common::is_misuse;
use divisi_core::{Abort, Bytes, Direction, Pending, settle};
use divisi_rep3::adversary::adaptive::engine;
use divisi_rep3::adversary::harness::TrioHarness;
use divisi_rep3::{Passes, Rep3, Trio};

fn sboxes(e: &mut Rep3) -> Result<(), Abort> {
    let mut x = e.random_bytes(9)?;
    e.sbox(Direction::Encrypt, &mut [&mut x])
}

/// Misuse that would let a value leave whose products nobody verified: of another strand, before one that was
/// closed earlier, or with no products at all.
#[test]
fn what_cannot_be_verified_is_not_settled() {
    type Settle = fn(&mut Rep3, &mut Rep3) -> Result<(), Abort>;
    let ways: [(&str, Settle); 6] = [
        ("beside what was not settled", |one, _| {
            let mut x = one.random_bytes(9)?;
            one.sbox(Direction::Encrypt, &mut [&mut x])?;
            let _closed = one.close(x.clone());
            let linear = one.close_linear(x)?;
            settle(one, linear).map(drop)
        }),
        ("joined with another engine's", |one, other| {
            sboxes(one)?;
            sboxes(other)?;
            let both = Pending::join([one.close(()), other.close(())]).unwrap();
            settle(one, both).map(drop)
        }),
        ("resumed in another engine", |one, other| {
            sboxes(other)?;
            other.close(()).resume(one);
            let both = one.close(());
            settle(one, both).map(drop)
        }),
        ("of another strand", |one, other| {
            sboxes(one)?;
            let _ours = one.close(());
            sboxes(other)?;
            let theirs = other.close(());
            settle(one, theirs).map(drop)
        }),
        ("before another", |one, _| {
            sboxes(one)?;
            let _first = one.close(());
            sboxes(one)?;
            let second = one.close(());
            settle(one, second).map(drop)
        }),
        ("over nothing", |one, _| {
            let nothing = one.close(());
            settle(one, nothing).map(drop)
        }),
    ];
    for (what, way) in ways {
        let results = TrioHarness::default().patient().act(|mut trio| {
            let strand = Trio::new(trio.session().strand()?)?;
            way(&mut engine(trio), &mut engine(strand))
        });
        is_misuse(what, &results);
    }
}

/// One pass gives 57 bits, two give 114, and nothing more.
#[test]
fn as_many_passes_as_the_bits_take() {
    for bits in 0..200 {
        let expected = match bits {
            0..=57 => Some(Passes::Once),
            58..=114 => Some(Passes::Twice),
            _ => None,
        };
        assert_eq!(Passes::for_bits(bits), expected, "{bits}");
    }
}

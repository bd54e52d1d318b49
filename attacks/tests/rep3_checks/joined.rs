//! Computations that are settled together, or that go on from one another: a lie in any of them is noticed
//! (A11, A13, M0.7, S6).

use divisi_circuit::{Build, Gates};
use divisi_core::{Abort, Blocks, Boolean, Bytes, Direction, Pending, ProgramRun, Step, settle};
use divisi_rep3::adversary::adaptive::{MULTIPLY, engine};
use divisi_rep3::adversary::harness::{TrioHarness, failed_check, party};
use divisi_rep3::adversary::planes::OUTER;
use divisi_rep3::checks;
use divisi_rep3::{Passes, Products, Rep3, Trio};

const PRODUCTS: &str = "divisi_rep3::engine::boolean/products";

/// Compute something that owes products of one kind.
type Compute = fn(&mut Rep3) -> Result<(), Abort>;

fn bits(e: &mut Rep3) -> Result<(), Abort> {
    let mut g = Build::new();
    let x = g.input(2);
    let z = g.and(x[0], x[1]);
    g.output(&[z]);
    let (program, bit) = (g.finish(), e.public_bit(&[true; 9]));
    e.run(&mut [ProgramRun::new(&program, vec![bit; 2])])
}

fn blocks(e: &mut Rep3) -> Result<(), Abort> {
    let (x, y) = (e.random_blocks(3), e.random_blocks(3));
    e.multiply(&x, &y).map(drop)
}

fn sboxes(e: &mut Rep3) -> Result<(), Abort> {
    let mut x = e.random_bytes(9)?;
    e.sbox(Direction::Encrypt, &mut [&mut x])
}

const KINDS: [(&str, Compute); 3] = [(PRODUCTS, bits), (MULTIPLY, blocks), (OUTER, sboxes)];

/// How what was closed is settled.
type Settle = fn(&mut Rep3, Vec<Pending<(), Products>>) -> Result<(), Abort>;

/// Three computations, settled in this way; a lie in the `wrong`-th, if there is one.
fn settled(
    (step, compute): (&'static str, Compute),
    wrong: Option<usize>,
    way: Settle,
    resumes: bool,
) -> Vec<Result<(), Abort>> {
    TrioHarness::default().patient().act(|trio| {
        let corrupt = trio.me() == party(1);
        let mut e = engine(trio);
        if corrupt {
            let mut count = 0;
            e.trio().deviate(move |at: Step, share: &mut [u8]| {
                if at.name == step {
                    share[0] ^= u8::from(wrong == Some(count));
                    count += 1;
                }
            });
        }
        let mut closed = Vec::new();
        for i in 0..3 {
            compute(&mut e)?;
            let pending = e.close(());
            if resumes && i < 2 {
                pending.resume(&mut e);
            } else {
                closed.push(pending);
            }
        }
        way(&mut e, closed)
    })
}

fn all_are_verified(way: Settle, resumes: bool) {
    for kind in KINDS {
        let results = settled(kind, None, way, resumes);
        assert!(results.iter().all(Result::is_ok), "{}: {results:?}", kind.0);
        for wrong in 0..3 {
            let results = settled(kind, Some(wrong), way, resumes);
            assert!(results[1..].iter().all(Result::is_err), "{} {wrong}: {results:?}", kind.0);
            let found = results.iter().any(|end| failed_check(end) == Some(checks::A7));
            assert!(found, "{} {wrong}: {results:?}", kind.0);
        }
    }
}

#[test]
fn every_computation_is_verified() {
    all_are_verified(|e, closed| settle(e, Pending::join(closed).unwrap()).map(drop), false);
    all_are_verified(|e, closed| closed.into_iter().try_for_each(|one| settle(e, one).map(drop)), false);
}

#[test]
fn what_is_resumed_is_verified() {
    all_are_verified(|e, closed| closed.into_iter().try_for_each(|one| settle(e, one).map(drop)), true);
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
        assert!(results.iter().all(Result::is_err), "{what}: {results:?}");
        assert!(results.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{what}: {results:?}");
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

//! What goes into an operation is of its box, and as long as what goes in with it: each operation refuses an
//! operand of another box, in each place, and operands of different lengths.

use super::*;
use divisi_core::{Misuse, step};
use divisi_rep3::blackbox::{Additive, Mask, Unverified, VerifiedMul, VerifiedRecon};
use divisi_rep3::ohverture::{Cube, Dimensions, HeldTable, LookupTable};

/// What is demanded: that the first operand is of this box, that the second one is, and that they have the
/// same length.
type Demands = [bool; 3];
const ALL: Demands = [true; 3];
/// The second operand is public.
const FIRST: Demands = [true, false, true];
/// There is no other operand.
const ALONE: Demands = [true, false, false];
const ORIGINS: Demands = [true, true, false];

/// Asserts that a use of operands made by these functions, of so many lanes, ends well if they fit, and else
/// as misuse, before anything is sent.
fn refuses<X, Y>(
    what: &str,
    demands: Demands,
    first: impl Fn(&mut BlackBox, usize) -> Result<X, Abort> + Sync,
    second: impl Fn(&mut BlackBox, usize) -> Result<Y, Abort> + Sync,
    used: impl Fn(&mut BlackBox, X, Y) -> Result<(), Abort> + Sync,
) {
    let ends = |makers: [usize; 2], lanes: [usize; 2]| {
        act(TrioHarness::default(), |b| {
            let other = &mut BlackBox::new(Trio::new(b.session().strand()?)?);
            let boxes = [b, other];
            let mut once = |makers: [usize; 2], lanes: [usize; 2]| {
                let x = first(boxes[makers[0]], lanes[0])?;
                let y = second(boxes[makers[1]], lanes[1])?;
                let sent = |b: &mut BlackBox| b.session().meter().read().bits();
                let before = sent(boxes[0]);
                let end = used(boxes[0], x, y);
                let refused = matches!(end, Err(Abort::Misuse { .. }));
                assert!(!refused || sent(boxes[0]) == before, "{what} sends what it then refuses");
                end
            };
            // not only the first use is looked at
            once([0, 0], [N, N])?;
            once(makers, lanes)
        })
    };
    let fit = ends([0, 0], [N, N]);
    assert!(fit.iter().all(Result::is_ok), "{what}: {fit:?}");
    for (makers, demanded) in [[1, 0], [0, 1]].into_iter().zip(demands) {
        if demanded {
            crate::common::is_misuse(&format!("{what} of boxes {makers:?}"), &ends(makers, [N, N]));
        }
    }
    // lengths that agree in their low byte, too
    for lanes in [[N, N + 1], [N, N + 256], [N + 256, N]] {
        if demands[2] {
            crate::common::is_misuse(&format!("{what} of {lanes:?} lanes"), &ends([0, 0], lanes));
        }
    }
}

fn shared(b: &mut BlackBox, lanes: usize) -> Result<Shared<Gf8>, Abort> {
    Ok(b.random(lanes))
}

fn bits(b: &mut BlackBox, lanes: usize) -> Result<Shared<Gf2>, Abort> {
    Ok(b.random(lanes))
}

fn additive(b: &mut BlackBox, lanes: usize) -> Result<Additive<Gf8>, Abort> {
    let x = b.random(lanes);
    b.local_mul(&x, &x)
}

fn opened(b: &mut BlackBox, lanes: usize) -> Result<Unverified<Gf8>, Abort> {
    let x = b.random(lanes);
    b.reconst(&x)
}

fn mask(b: &mut BlackBox, lanes: usize) -> Result<Mask<Gf8>, Abort> {
    Ok(b.mask(lanes))
}

fn proofs(b: &mut BlackBox, _: usize) -> Result<(VerifiedRecon, VerifiedMul), Abort> {
    let recon = b.verify_recon()?;
    let mul = b.verify_mul(&recon)?;
    Ok((recon, mul))
}

fn public(_: &mut BlackBox, lanes: usize) -> Result<Vec<Gf8>, Abort> {
    Ok(sample(lanes, 3))
}

fn nothing(_: &mut BlackBox, _: usize) -> Result<(), Abort> {
    Ok(())
}

/// What an operation without an error gives for operands that do not fit.
fn fits<T>(result: Option<T>) -> Result<(), Abort> {
    result.map(drop).ok_or(Abort::Misuse { step: step!("fits"), what: Misuse::LanesDiffer })
}

#[test]
fn linear_operations_refuse_what_does_not_fit() {
    let same = Linear::<Gf8, Gf8>::new(1, |_, i| Gf8(1 << i));
    let sum = Linear::<Gf8, Gf8>::new(2, |_, i| Gf8(1 << i));
    refuses("linop", ALONE, shared, nothing, |b, x, ()| b.linop(&same, &[&x]).map(drop));
    refuses("linop of two", ALL, shared, shared, |b, x, y| b.linop(&sum, &[&x, &y]).map(drop));
    refuses("add", ALL, shared, shared, |b, x, y| b.add(&x, &y).map(drop));
    refuses("add_public", FIRST, shared, public, |b, x, c| b.add_public(&x, &c).map(drop));
    refuses("mul_public", FIRST, shared, public, |b, x, c| b.mul_public(&x, &c).map(drop));
    refuses("add_opened", ALL, shared, opened, |b, x, c| b.add_opened(&x, &c).map(drop));
    refuses("mul_opened", ALL, shared, opened, |b, x, c| b.mul_opened(&x, &c).map(drop));
    refuses("join", ORIGINS, shared, shared, |b, x, y| b.join(&[&x, &y]).map(drop));
    refuses("a sum of openings", ALL, opened, opened, |_, x, y| fits(x.sum(&y)));
    refuses("a product of openings", ALL, opened, opened, |_, x, y| fits(x.product(&y)));
}

/// A linear function has as many operands as it takes, whatever was computed before.
#[test]
fn linear_functions_refuse_another_number_of_operands() {
    let takes = |count| Linear::<Gf8, Gf8>::new(count, |_, i| Gf8(1 << i));
    for (taken, given) in [(1, 2), (2, 1), (1, 0), (1, 257)] {
        let ends = act(TrioHarness::default(), |b| {
            let x = shared(b, N)?;
            b.linop(&takes(1), &[&x])?;
            b.linop(&takes(taken), &vec![&x; given]).map(drop)
        });
        crate::common::is_misuse(&format!("{given} operands for {taken}"), &ends);
    }
    let ends = act(TrioHarness::default(), |b| {
        let [x, y] = [additive(b, N)?, additive(b, N)?];
        b.linop_additive(&takes(1), x)?;
        b.linop_additive(&takes(2), y).map(drop)
    });
    crate::common::is_misuse("one product for two", &ends);
}

#[test]
fn linear_operations_on_products_refuse_what_does_not_fit() {
    let same = Linear::<Gf8, Gf8>::new(1, |_, i| Gf8(1 << i));
    refuses("linop_additive", ALONE, additive, nothing, |b, x, ()| b.linop_additive(&same, x).map(drop));
    refuses("add_additive", ALL, additive, additive, |b, x, y| b.add_additive(x, y).map(drop));
    refuses("add_shared", ALL, additive, shared, |b, x, y| b.add_shared(x, &y).map(drop));
    refuses("mul_public_additive", FIRST, additive, public, |b, x, c| b.mul_public_additive(x, &c).map(drop));
}

#[test]
fn products_and_openings_refuse_what_does_not_fit() {
    refuses("local_mul", ALL, shared, shared, |b, x, y| b.local_mul(&x, &y).map(drop));
    refuses("reshare", ALONE, additive, nothing, |b, x, ()| b.reshare(x).map(drop));
    refuses("bit_mul", ALL, bits, shared, |b, x, y| b.bit_mul(&x, &y).map(drop));
    refuses("reconst", ALONE, shared, nothing, |b, x, ()| b.reconst(&x).map(drop));
    refuses("reconst_masked", ALL, shared, mask, |b, x, r| b.reconst_masked(&x, r).map(drop));
    refuses("reconst_additive", ALL, additive, mask, |b, x, r| b.reconst_additive(x, r).map(drop));
    refuses("output", ALONE, shared, nothing, |b, x, ()| b.output(&x).map(drop));
    refuses("verify_mul", ALONE, proofs, nothing, |b, (recon, _), ()| b.verify_mul(&recon).map(drop));
    refuses("opened", ORIGINS, opened, proofs, |b, x, (recon, mul)| b.opened(x, &recon, &mul).map(drop));
}

#[test]
fn lookups_refuse_what_does_not_fit() {
    let entries = sample::<Gf8>(256, 9);
    let table = LookupTable::new(&entries).unwrap();
    let parts = [2, 3, 3];
    let cube = Cube::new(parts, 1, &entries).unwrap();
    let rss = |b: &mut BlackBox, lanes| b.rohv_rss(8, lanes);
    let add = |b: &mut BlackBox, lanes| b.rohv_add(8, lanes);
    let three = |b: &mut BlackBox, lanes| b.rohv_cube(parts, lanes);
    refuses("lookup", ALL, shared, rss, |b, x, v| b.lookup(&table, &x, v).map(drop));
    refuses("lookup_additive", ALL, shared, add, |b, x, v| b.lookup_additive(&table, &x, v).map(drop));
    refuses("lookup_of_additive", ALL, additive, rss, |b, x, v| b.lookup_of_additive(&table, x, v).map(drop));
    refuses("lookup_additive_of_additive", ALL, additive, add, |b, x, v| {
        b.lookup_additive_of_additive(&table, x, v).map(drop)
    });
    // an index of other elements, after one that fits
    let other = |b: &mut BlackBox| {
        let [x, y] = [b.random::<Gf4>(N), b.random(N)];
        b.local_mul(&x, &y)
    };
    is_misuse("lookup_of_additive by four bits", |b| {
        let (x, v, other) = (additive(b, N)?, rss(b, N)?, other(b)?);
        b.lookup_of_additive(&table, x, v)?;
        let v = rss(b, N)?;
        b.lookup_of_additive(&table, other, v).map(drop)
    });
    is_misuse("lookup_additive_of_additive by four bits", |b| {
        let (x, v, other) = (additive(b, N)?, add(b, N)?, other(b)?);
        b.lookup_additive_of_additive(&table, x, v)?;
        let v = add(b, N)?;
        b.lookup_additive_of_additive(&table, other, v).map(drop)
    });
    refuses("lookup_cube", ALL, shared, three, |b, x, v| b.lookup_cube(&cube, &[(&x, 8)], v).map(drop));
    refuses("sample", ALONE, rss, nothing, |b, v, ()| b.sample(&table, v).map(drop));
    refuses("sample_additive", ALONE, add, nothing, |b, v, ()| b.sample_additive(&table, v).map(drop));
    refuses("sample_cube", ALONE, three, nothing, |b, v, ()| b.sample_cube(&cube, v).map(drop));
    refuses("entries", ALONE, rss, nothing, |b, v, ()| b.entries(v).map(drop));
    refuses("entries_additive", ALONE, add, nothing, |b, v, ()| b.entries_additive(v).map(drop));
}

/// An index in two inputs, in each way of looking up: neither is of another box, nor longer than the other,
/// nor has more bits than its elements; and vectors of another way fit no table.
#[test]
fn every_input_of_an_index_fits() {
    let entries = sample::<Gf8>(256, 9);
    let ways = [Dimensions::One, Dimensions::Two, Dimensions::Three([2, 3, 3])];
    for way in ways {
        let table = HeldTable::by(way, &entries).unwrap();
        for other in ways.into_iter().filter(|other| *other != way) {
            let other = HeldTable::by(other, &entries).unwrap();
            is_misuse("vectors of another way, after those of its own", |b| {
                let x = b.random::<Gf8>(N);
                for made_for in [&table, &other] {
                    let v = b.one_hots(made_for, N)?;
                    b.look_up(&table, &[(&x, 8)], v)?;
                }
                Ok(())
            });
        }
        for widths in [[3, 5], [5, 3]] {
            is_misuse("more bits than an element has", |b| {
                let [x, y] = [b.random::<Gf4>(N), b.random(N)];
                let v = b.one_hots(&table, N)?;
                b.look_up(&table, &[(&x, widths[0]), (&y, widths[1])], v).map(drop)
            });
        }
        is_misuse("more bits than one element has", |b| {
            let x = b.random::<Gf4>(N);
            let v = b.one_hots(&table, N)?;
            b.look_up(&table, &[(&x, 8)], v).map(drop)
        });
        let first = |b: &mut BlackBox, lanes| Ok((b.random::<Gf8>(lanes), b.one_hots(&table, lanes)?));
        refuses(&format!("the second input, {way:?}"), ALL, first, shared, |b, (x, v), y| {
            b.look_up(&table, &[(&x, 4), (&y, 4)], v).map(drop)
        });
        refuses(&format!("the first input, {way:?}"), ALL, first, shared, |b, (x, v), y| {
            b.look_up(&table, &[(&y, 4), (&x, 4)], v).map(drop)
        });
    }
}

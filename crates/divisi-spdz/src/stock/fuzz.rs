//! Random inputs for the lots of a stock, for messages of shares, which have the same encoding, and for the
//! parties' reports about their stocks.

use super::pack::{body, read};
use super::{Count, REPORT, counted, report};
use crate::part::{Mac, Shareable, Small, Word32};
use crate::share::Auth;
use divisi_core::Prg;
use divisi_core::wipe::WipedVec;
use divisi_field::{Gf2, Gf6, Gf8, Gf40, Gf42, Gf48, Gf72};

fn random<V: Shareable>(count: usize) -> WipedVec<V> {
    let mut values = WipedVec::zeros(count);
    V::add_random(&mut Prg::new(&[1; 16]), &mut values);
    values
}

/// A lot that is accepted is encoded to the same bytes again.
fn lots<V: Shareable, F: Mac>(planes: usize, count: usize) {
    let all = Auth::<V, F> { x: random(planes * count), m: random(planes * count) };
    let seeds = [body(count, &all).to_vec()];
    divisi_fuzz::run("lots", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Some((count, all)) = read::<V, F>(planes, bytes) else { return Ok(false) };
        if body(count, &all).as_slice() == bytes { Ok(true) } else { Err("another lot".into()) }
    });
}

#[test]
fn random_lots() {
    lots::<Gf2, Gf48>(6, 5);
    lots::<Gf6, Gf48>(3, 3);
    lots::<Gf8, Gf42>(3, 4);
}

/// A message of shares that is accepted is encoded to the same bytes again.
fn shares<V: Shareable>() {
    let counts = [1, 7, 8, 9, 63];
    let packed = |count: usize| {
        let mut out = Vec::new();
        V::pack(&random::<V>(count), &mut out);
        out
    };
    divisi_fuzz::run("shares", env!("CARGO_MANIFEST_DIR"), &counts.map(packed), |bytes| {
        let mut taken = false;
        for count in counts {
            let mut sum = vec![V::default(); count];
            if V::add_packed(bytes, &mut sum) {
                taken = true;
                let mut again = Vec::new();
                V::pack(&sum, &mut again);
                if again != bytes {
                    return Err(format!("{count} other values"));
                }
            }
        }
        Ok(taken)
    });
}

#[test]
fn random_shares() {
    shares::<Gf2>();
    shares::<Gf6>();
    shares::<Gf8>();
    shares::<Small<4>>();
    shares::<Small<6>>();
    shares::<Word32>();
    shares::<Gf40>();
    shares::<Gf42>();
    shares::<Gf48>();
    shares::<Gf72>();
}

/// A report that is accepted is encoded to the same bytes again.
#[test]
fn random_reports() {
    let id = [7; 32];
    let some = [Count { made: 600, taken: 3 }, Count { made: 6, taken: 6 }, Count::default()];
    let seeds = [report(&id, false, &some), report(&id, true, &some[..1]), report(&id, false, &[])];
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|report| report.to_vec()).collect();
    divisi_fuzz::golden("reports", env!("CARGO_MANIFEST_DIR"), &seeds);
    divisi_fuzz::run("reports", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut taken = false;
        for series in [0, 1, 3, 48, 49] {
            let Some(rest) = bytes.get(32..).filter(|_| bytes.len() == REPORT) else { continue };
            let Some((open, counts)) = counted(rest, series) else { continue };
            taken = true;
            if counts.len() != series || report(&id, open, &counts)[32..] != *rest {
                return Err(format!("another report of {series} series"));
            }
        }
        Ok(taken)
    });
}

/// Each byte after the counts is zero, and no more is taken than was made.
#[test]
fn every_part_of_a_report_is_looked_at() {
    let count = |made, taken| Count { made, taken };
    for series in [0, 1, 3, 48] {
        let sound = vec![count(600, 600); series];
        let told = |counts: &[Count]| report(&[7; 32], false, counts)[32..].to_vec();
        assert_eq!(counted(&told(&sound), series).unwrap().1.len(), series);
        for at in 0..series {
            let mut counts = sound.clone();
            counts[at].taken += 1;
            assert!(counted(&told(&counts), series).is_none(), "{at} of {series}");
        }
        for at in 1 + 16 * series..REPORT - 32 {
            let mut body = told(&sound);
            body[at] = 1;
            assert!(counted(&body, series).is_none(), "byte {at} of {series}");
        }
    }
}

//! A table for lookups by three factors takes the memory of its coefficients, and little more while they are
//! made: the widest of 2^24 entries, with the list of them, leave a party below 256 MiB.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_field::{Gf64, Gf128};
use divisi_rep3::ohverture::{Cube, Dimensions};

/// The most memory that this process ever had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
}

/// The parts that [`Dimensions`] chooses, which must be three.
fn parts(k: usize, width: usize) -> [usize; 3] {
    match Dimensions::of(k, width) {
        Some(Dimensions::Three(parts)) => parts,
        other => panic!("{k} {width}: {other:?}"),
    }
}

/// One test, because a peak is of the whole process.
#[test]
fn the_widest_entries_leave_a_party_below_its_bound() {
    let entry = |j: usize| Gf64((j as u64).wrapping_mul(0x9e37_79b9) & 0xffff_ffff | 1 << 31);
    // without a list: the coefficients, 64 MiB, and eight bits of each entry, 16 MiB
    let before = peak();
    let made = Cube::from_fn(parts(24, 32), 1, entry).unwrap();
    let grown = peak() - before;
    assert!((64 << 20..(80 << 20) + (4 << 20)).contains(&grown), "{grown} bytes");
    assert_eq!((made.index_bits(), made.width()), (24, 32));
    drop(made);
    let list: Vec<Gf64> = (0..1 << 24).map(entry).collect();
    assert!(Cube::new(parts(24, 32), 1, &list).is_some());
    drop(list);
    assert!(peak() < 256 << 20, "{} bytes", peak());

    // a table without room gets no parts, and cannot be made with any parts
    for (k, width) in [(24, 33), (24, 64), (23, 65)] {
        assert_eq!((Dimensions::of(k, width), Dimensions::three(k, width)), (None, None));
        let wide = |_: usize| Gf128(u128::MAX >> (128 - width));
        for first in 1..=12 {
            let [second, third] = [(k - first) / 2, (k - first).div_ceil(2)];
            assert!(Cube::from_fn([first, second, third], 1, wide).is_none(), "{k} {width} {first}");
        }
    }
    // with one bit less there are both
    let table = Cube::from_fn(parts(23, 64), 1, |j| Gf64(u64::MAX ^ j as u64)).unwrap();
    assert_eq!((table.index_bits(), table.width()), (23, 64));
    drop(table);
    // a list that would take the bound by itself
    let list = vec![Gf128(1); 1 << 24];
    assert!(Cube::new(parts(24, 1), 1, &list).is_none());
}

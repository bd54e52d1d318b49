//! Tests of a pair's rows, with trees whose leaves both parties take from a common list.

use super::*;
use divisi_field::kernel::{Kernel, with};

/// A reproducible sequence.
fn sequence() -> impl FnMut() -> u128 {
    let mut state = 0x1234_5678_9abc_def1_u128;
    move || {
        state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
        state ^ state >> 67
    }
}

/// Maker and holder with leaves from a common list, and the holder's key.
fn ends(layout: Layout, random: &mut impl FnMut() -> u128) -> (Maker, Holder, Key) {
    let delta = layout.key([random() & (u128::MAX >> (128 - layout.columns(0).len())), random()]);
    let delta = if layout.pads() == 0 { [delta[0], 0] } else { delta };
    let (mut maker, mut holder) = (Vec::new(), Vec::new());
    for c in 0..layout.pieces() {
        let Piece { first, bits } = layout.piece(c);
        let seeds: Vec<u128> = (0..1 << bits).map(|_| random()).collect();
        let alpha = (0..bits).map(|b| ((bit(&delta, first + b) & 1) as usize) << b).sum::<usize>();
        let known: Vec<u128> = (1..1 << bits).map(|z| seeds[z ^ alpha]).collect();
        // streams are equal whether or not their keys are kept ready
        holder.push(Leaves::new(&known, layout.k.is_multiple_of(2)));
        maker.push(Leaves::new(&seeds, true));
    }
    (Maker::new(layout, maker), Holder::new(layout, holder), delta)
}

/// Compares with the definition, for every k and width.
#[test]
fn rows_are_correlated_for_every_k() {
    use layout::Width::{Macs, Pads, Wide};
    let mut random = sequence();
    for k in 1..=MAX_K {
        for layout in [Layout::labels(k), Layout::field(k, 12), Layout::field(k, 48), Layout::field(k, 72)] {
            let (mut maker, mut holder, delta) = ends(layout, &mut random);
            let mut sums = Sums::new();
            for (width, tiles) in [(Macs, 1), (Wide, 6), (Pads, CHUNK), (Wide, 2), (Macs, CHUNK - 1)] {
                let groups = layout.groups(width);
                let x: Vec<u128> = (0..tiles).map(|_| random()).collect();
                let columns = || [0, 1].map(|group| vec![0; groups.contains(&group) as usize * tiles * TILE]);
                let (mut v, mut w, mut d) = (columns(), columns(), Vec::new());
                maker.extend(&mut sums, &groups, &x, v.each_mut().map(|v| v.as_mut_slice()), &mut d);
                assert_eq!(d.len(), tiles * layout.trees(&groups).len());
                let to = w.each_mut().map(|w| w.as_mut_slice());
                holder.extend(&mut sums, &groups, &delta, tiles, &d, to);
                assert_eq!(maker.next(), holder.next());
                for group in groups.clone() {
                    let columns = layout.columns(group).len();
                    let key = layout.group(&delta, group);
                    for (at, (v, w)) in v[group].iter().zip(&w[group]).enumerate() {
                        let (tile, column) = (at / TILE, at % TILE);
                        let x = x[tile] & (key >> column & 1).wrapping_neg();
                        assert_eq!(*w, v ^ x, "{layout:?} {tile} {column}");
                        assert!(*v == 0 && column >= columns || v.count_ones() > 20 && column < columns);
                    }
                }
            }
        }
    }
}

/// No word of a stream comes twice, in whatever chunk or call, however many rows were made before: a
/// correction that is masked by a word of another one reveals how their bits differ.
#[test]
fn streams_do_not_begin_again() {
    let layout = Layout::field(4, 48);
    let (mut maker, _, _) = ends(layout, &mut sequence());
    let (mut sums, groups) = (Sums::new(), layout.groups(layout::Width::Wide));
    let mut all = Vec::new();
    for (used, tiles) in [(0, CHUNK), (CHUNK as u64, CHUNK)].into_iter().chain((9..57).map(|b| (1 << b, 2))) {
        maker.used = used;
        let mut columns = [0, 1].map(|_| vec![0; tiles * TILE]);
        // the bits are zeros, so that the corrections are the sums of all streams
        maker.extend(
            &mut sums,
            &groups,
            &vec![0; tiles],
            columns.each_mut().map(|v| v.as_mut_slice()),
            &mut all,
        );
        all.extend(columns.concat().into_iter().filter(|word| *word != 0));
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

/// Parties on different processors make the same rows.
#[test]
fn rows_do_not_depend_on_the_processor() {
    let layout = Layout::labels(2);
    for ready in [true, false] {
        let rows = |kernel| {
            with(kernel, || {
                let leaves = |c: usize| Leaves::new(&[c as u128, 2 << c, 3, 4], ready);
                let mut maker = Maker::new(layout, (0..pieces(2)).map(leaves).collect());
                let (mut v, mut d) = (vec![0; 5 * TILE], Vec::new());
                let mut sums = Sums::new();
                let (first, second) = v.split_at_mut(3 * TILE);
                maker.extend(&mut sums, &(0..1), &[6; 3], [first, &mut []], &mut d);
                maker.extend(&mut sums, &(0..1), &[7; 2], [second, &mut []], &mut d);
                (v, d)
            })
            .unwrap()
        };
        let all: Vec<_> = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).map(rows).collect();
        assert!(all.iter().all(|rows| *rows == all[0]));
    }
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    for (k, f) in (1..=MAX_K).map(|k| (k, 0)).chain([(1, 48), (4, 48), (5, 48), (8, 48), (4, 72)]) {
        let layout = if f == 0 { Layout::labels(k) } else { Layout::field(k, f) };
        let leaves = |less: usize| {
            (0..layout.pieces())
                .map(|c| {
                    let seeds: Vec<u128> =
                        (less..1 << layout.piece(c).bits).map(|y| (c * 1000 + y) as u128).collect();
                    Leaves::new(&seeds, true)
                })
                .collect()
        };
        let (mut maker, mut holder) = (Maker::new(layout, leaves(0)), Holder::new(layout, leaves(1)));
        let x = [5; CHUNK];
        let mut sums = Sums::new();
        let (mut all, mut d) = (vec![1; 64 * CHUNK * TILE], Vec::new());
        let mut best = [f64::MAX; 2];
        for _ in 0..2 {
            // memory that is not in the cache, as when there are many rows
            let now = std::time::Instant::now();
            for v in all.chunks_mut(CHUNK * TILE) {
                d.clear();
                maker.extend(&mut sums, &(0..1), &x, [v, &mut []], &mut d);
            }
            best[0] = best[0].min(now.elapsed().as_secs_f64());
            let now = std::time::Instant::now();
            for w in all.chunks_mut(CHUNK * TILE) {
                holder.extend(&mut sums, &(0..1), &[77, 0], CHUNK, &d, [w, &mut []]);
            }
            best[1] = best[1].min(now.elapsed().as_secs_f64());
        }
        let columns = layout.columns(0).len();
        println!("k = {k}, {columns} columns: {:?} ns a row", best.map(|s| s * 1e9 / all.len() as f64));
    }
}

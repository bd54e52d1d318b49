//! Moving lanes of tiles run by run, a word at a time. Which lanes move where is public.

use crate::tile::Tile;
use divisi_field::plane::LANES;

/// Consecutive entries of a list of lanes: `from`, `from + 1` .., or `from` again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    from: usize,
    /// One or zero.
    step: usize,
    pub(crate) lanes: usize,
}

impl Run {
    /// The `lanes` lanes from `from` on.
    pub(crate) fn of(from: usize, lanes: usize) -> Run {
        Run { from, step: 1, lanes }
    }

    fn lane(self, at: usize) -> usize {
        self.from + self.step * at
    }
}

/// A list of lanes as runs, each as long as can be.
pub(crate) fn runs(mut index: &[usize]) -> impl Iterator<Item = Run> {
    std::iter::from_fn(move || {
        let (first, rest) = index.split_first()?;
        let step = usize::from(rest.first() != Some(first));
        let fits = |(at, lane): &(usize, &usize)| first.checked_add(step * (at + 1)) == Some(**lane);
        let lanes = 1 + rest.iter().enumerate().take_while(fits).count();
        index = &index[lanes..];
        Some(Run { from: *first, step, lanes })
    })
}

/// Puts a run of lanes of `source` at lane `at` of tiles that are zero there. It stops at the first lane that
/// either of them lacks.
pub(crate) fn put<const K: usize>(tiles: &mut [Tile<K>], at: usize, source: &[Tile<K>], run: Run) {
    let mut done = 0;
    while done < run.lanes {
        let (to, from) = (at + done, run.lane(done));
        // to the end of a word on either side
        let capacity = (64 - to % 64).min(run.lanes - done);
        let now = if run.step == 0 { capacity } else { capacity.min(64 - from % 64) };
        let mask = u64::MAX >> (64 - now);
        let (Some(target), Some(source)) = (tiles.get_mut(to / LANES), source.get(from / LANES)) else {
            return;
        };
        let (to, from) = (to % LANES, from % LANES);
        for (target, source) in target.iter_mut().flatten().zip(source.iter().flatten()) {
            let word = source.0[from / 64] >> (from % 64);
            let word = if run.step == 0 { (word & 1).wrapping_neg() } else { word };
            target.0[to / 64] |= (word & mask) << (to % 64);
        }
        done += now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_field::Plane;

    #[test]
    fn a_list_is_its_runs() {
        let list = |index: &[usize]| runs(index).map(|r| (r.from, r.step, r.lanes)).collect::<Vec<_>>();
        assert_eq!(list(&[]), []);
        assert_eq!(list(&[3]), [(3, 1, 1)]);
        assert_eq!(list(&[3, 4, 5, 5, 5, 0]), [(3, 1, 3), (5, 0, 2), (0, 1, 1)]);
        assert_eq!(list(&[usize::MAX, 0, 2, 2]), [(usize::MAX, 1, 1), (0, 1, 1), (2, 0, 2)]);
        for seed in 0..500_usize {
            let index: Vec<usize> = (0..40).map(|i| (seed * i * i + i / (1 + seed % 7)) % 9).collect();
            let back: Vec<usize> =
                runs(&index).flat_map(|run| (0..run.lanes).map(move |at| run.lane(at))).collect();
            assert_eq!(back, index);
        }
    }

    /// Runs give what moving lane by lane gives, over every border of words and tiles.
    #[test]
    fn runs_go_where_their_lanes_go() {
        let source: Vec<Tile<2>> = (0..3)
            .map(|t| {
                let plane = |p: u64| {
                    Plane(std::array::from_fn(|w| {
                        (p + 5 * t + 11 * w as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    }))
                };
                [[plane(1), plane(2)], [plane(3), plane(4)]]
            })
            .collect();
        let places = [0, 1, 63, 64, 65, 500, 511, 512, 513, 700];
        for (from, at) in places.into_iter().flat_map(|from| places.map(|at| (from, at))) {
            for lanes in [1, 2, 63, 64, 65, 127, 129, 512, 600] {
                for run in [Run::of(from, lanes), Run { from, step: 0, lanes }] {
                    let mut tiles: Vec<Tile<2>> = vec![[[Plane::ZERO; 2]; 2]; 3];
                    put(&mut tiles, at, &source, run);
                    let mut expected: Vec<Tile<2>> = vec![[[Plane::ZERO; 2]; 2]; 3];
                    for l in 0..lanes {
                        let (to, from) = (at + l, run.lane(l));
                        let planes = expected[to / LANES].iter_mut().flatten();
                        for (to_plane, from_plane) in planes.zip(source[from / LANES].iter().flatten()) {
                            to_plane.set_lane(to % LANES, from_plane.lane(from % LANES));
                        }
                    }
                    assert!(tiles == expected, "{lanes} lanes from {from} to {at}");
                }
            }
        }
    }
}

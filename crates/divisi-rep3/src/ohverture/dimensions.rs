//! The number of factors of a lookup: what each choice costs, and which is cheapest.

use super::cube::{MAX_CUBE_BITS, has_capacity};
use super::table::MAX_BITS;

/// How many factors a one-hot vector has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "vectors of one, two and three factors have calls of their own")]
pub enum Dimensions {
    /// One replicated vector: [`crate::blackbox::BlackBox::lookup`].
    One,
    /// Two vectors of half the index's bits: [`crate::blackbox::BlackBox::lookup_sqrt`].
    Two,
    /// Three vectors, for parts of these widths in bits: [`crate::blackbox::BlackBox::lookup_cube`].
    Three([usize; 3]),
}

/// How many bits the products of a vector of k bits take.
fn products(k: usize) -> u64 {
    (1 << k) - k as u64 - 1
}

impl Dimensions {
    /// The cheapest way for a table of 2^k entries of `width` bits; `None` if there is no way.
    ///
    /// A bit of preprocessing counts as two bits online, because it is sent, stored and verified. Of ways at
    /// equal cost it is the one with fewer factors, whose lookups take fewer rounds.
    #[must_use]
    pub fn of(k: usize, width: usize) -> Option<Dimensions> {
        let ways = [Dimensions::One, Dimensions::Two].into_iter().filter(|_| (1..=MAX_BITS).contains(&k));
        let ways = ways.chain(Dimensions::three(k, width));
        ways.min_by_key(|way| way.weight(k, width))
    }

    /// The cheapest three parts of an index of k bits; `None` if there are none, or the table has no room in
    /// 64 MiB.
    #[must_use]
    pub fn three(k: usize, width: usize) -> Option<Dimensions> {
        if !(3..=MAX_CUBE_BITS).contains(&k) {
            return None;
        }
        // the second and the third cost the same: halves of what the first leaves
        let parts = (1..=k - 2).map(|first| [first, (k - first) / 2, (k - first).div_ceil(2)]);
        let parts = parts.filter(|parts| has_capacity(*parts, width));
        parts.map(Dimensions::Three).min_by_key(|way| way.weight(k, width))
    }

    /// The number of factors.
    #[must_use]
    pub fn number(self) -> usize {
        match self {
            Dimensions::One => 1,
            Dimensions::Two => 2,
            Dimensions::Three(_) => 3,
        }
    }

    /// The bits that a party sends ahead, for a lookup in a table of 2^k entries.
    #[must_use]
    pub fn bits_ahead(self, k: usize) -> u64 {
        match self {
            Dimensions::One => products(k),
            Dimensions::Two if k == 1 => 0,
            Dimensions::Two => products(k.div_ceil(2)) + products(k / 2),
            Dimensions::Three(parts) => parts.into_iter().map(products).sum(),
        }
    }

    /// The bits that a party sends for the lookup itself.
    #[must_use]
    pub fn bits_online(self, k: usize, width: usize) -> u64 {
        let (k, width) = (k as u64, width as u64);
        match self {
            Dimensions::One => k,
            Dimensions::Two => k + width,
            Dimensions::Three([first, ..]) => k + (width << first),
        }
    }

    /// The rounds of a lookup.
    #[must_use]
    pub fn rounds_online(self) -> u32 {
        self.number() as u32
    }

    fn weight(self, k: usize, width: usize) -> u64 {
        2 * self.bits_ahead(k) + self.bits_online(k, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No other way, and no other parts, weigh less.
    #[test]
    fn the_cheapest_way_is_chosen() {
        for (k, width) in (1..=24).flat_map(|k| [1, 8, 16, 64].map(|width| (k, width))) {
            // a table of 2^24 entries of 64 bits would take 128 MiB
            let Some(chosen) = Dimensions::of(k, width) else {
                assert_eq!((k, width), (24, 64));
                continue;
            };
            let mut least = u64::MAX;
            if k <= 16 {
                least = Dimensions::One.weight(k, width).min(Dimensions::Two.weight(k, width));
            }
            for first in 1..k.saturating_sub(1) {
                for second in 1..k - first {
                    let parts = [first, second, k - first - second];
                    if has_capacity(parts, width) {
                        least = least.min(Dimensions::Three(parts).weight(k, width));
                    }
                }
            }
            assert_eq!(chosen.weight(k, width), least, "{k} {width} {chosen:?}");
        }
        assert_eq!(Dimensions::of(0, 8), None);
        assert_eq!(Dimensions::of(25, 8), None);
        assert_eq!(Dimensions::of(4, 8), Some(Dimensions::Two));
        assert_eq!(Dimensions::of(2, 8), Some(Dimensions::One));
    }

    /// For 2^16 entries of a byte, three factors send at most a third of the bits of two factors ahead, and
    /// at most 0.6 of them in all.
    #[test]
    fn three_factors_send_a_third_ahead_and_six_tenths_in_all() {
        let three = Dimensions::of(16, 8).unwrap();
        assert_eq!(three, Dimensions::Three([4, 6, 6]));
        let [ahead, before] = [three, Dimensions::Two].map(|way| way.bits_ahead(16));
        let [all, both] = [three, Dimensions::Two].map(|way| way.bits_ahead(16) + way.bits_online(16, 8));
        assert_eq!((ahead, before, all, both), (125, 494, 269, 518));
        assert!(3 * ahead <= before && 10 * all <= 6 * both);
    }
}

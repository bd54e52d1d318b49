//! Bucket sizes for combining leaky AND triples (WRK17, section B.5, with the bound corrected).
//!
//! There are l B triples; the adversary may spoil any m of them, and each spoiled triple goes unnoticed with
//! probability 1/2 at most. The coin distributes the triples among l buckets of B. All triples of some bucket
//! are spoiled with probability at most l C(m, B) / C(l B, B). So an adversary that spoils m triples wins
//! with probability at most 2^-m l C(m, B) / C(l B, B). This is largest at m = 2 B - 1, because one more
//! triple multiplies it by (m + 1) / (2 (m + 1 - B)), which is more than one exactly for m < 2 B - 1. The
//! paper takes m = B only, and m multiples of B.

/// The least bucket size for which the adversary wins with probability at most 2^-rho, if `triples` or more
/// triples come out of the buckets.
///
/// # Panics
/// If `triples` is zero, or rho is not between 1 and 100.
#[must_use]
pub fn size(triples: usize, rho: u32) -> usize {
    assert!(triples > 0 && (1..=100).contains(&rho), "a bucket of something");
    (2..).find(|b| error_bits(triples, *b) >= f64::from(rho)).unwrap_or(usize::MAX)
}

/// The bits of security of buckets of size `b` that give `triples` triples: minus the binary logarithm of the
/// largest probability with which an adversary wins.
#[must_use]
pub fn error_bits(triples: usize, b: usize) -> f64 {
    let (l, b) = (triples as f64, b as f64);
    // the adversary cannot spoil more triples than there are
    let m = (2.0 * b - 1.0).min(l * b);
    let mut bits = m - l.log2();
    let mut i = 0.0;
    while i < b {
        bits += ((l * b - i) / (m - i)).log2();
        i += 1.0;
    }
    bits
}

/// The least bucket size for which the adversary wins with probability at most 2^-rho, for `items` or more
/// buckets, if the first item of each bucket is known before the coin
/// ([`crate::partition::Partition::behind_firsts`]).
///
/// # Panics
/// If `items` is zero, or rho is not between 1 and 100.
#[must_use]
pub fn size_behind_firsts(items: usize, rho: u32) -> usize {
    assert!(items > 0 && (1..=100).contains(&rho), "a bucket of something");
    (2..).find(|b| error_bits_behind_firsts(items, *b) >= f64::from(rho)).unwrap_or(usize::MAX)
}

/// The bits of security of such buckets. An adversary that spoils m_1 of the t first items and m_2 of the t
/// (b - 1) others, each unnoticed with probability 1/2 at most, wins with probability at most 2^-(m_1 + m_2)
/// m_1 C(m_2, b - 1) / C(t (b - 1), b - 1). The result is minus the binary logarithm of the largest of these.
#[must_use]
pub fn error_bits_behind_firsts(items: usize, b: usize) -> f64 {
    let (t, others) = (items as f64, b.saturating_sub(1) as f64);
    // 2^-m_1 m_1 is 1/2 for m_1 = 1 and 2, and less for more; 2^-m_2 C(m_2, b - 1) is largest at m_2 = 2 (b -
    // 1) - 1, as above
    let m = (2.0 * others - 1.0).min(t * others);
    let mut bits = 1.0 + m;
    let mut i = 0.0;
    while i < others {
        bits += ((t * others - i) / (m - i)).log2();
        i += 1.0;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Demands that buckets of `least` and more suffice from these numbers on.
    fn are_thresholds(size: fn(usize, u32) -> usize, rho: u32, least: usize, from: &[usize]) {
        for (b, from) in (least..).zip(from) {
            assert_eq!(size(*from, rho), b, "{rho} bits, from {from}");
            assert_eq!(size(from - 1, rho), b + 1, "{rho} bits, below {from}");
        }
    }

    /// The smallest numbers of items for which each bucket size suffices, if the first items are known.
    #[test]
    fn thresholds_behind_firsts() {
        are_thresholds(size_behind_firsts, 40, 3, &[321_060, 3_368, 345, 89, 36]);
        are_thresholds(size_behind_firsts, 64, 4, &[862_004, 22_052, 2_445, 565]);
    }

    /// Compares with the bound for all numbers of spoiled items of either kind.
    #[test]
    fn no_other_split_of_spoiled_items_is_better() {
        for items in [1, 2, 3, 10, 100] {
            for b in 2..9 {
                let best = error_bits_behind_firsts(items, b);
                for m1 in 1..=items.min(40) {
                    for m2 in b - 1..=(items * (b - 1)).min(200) {
                        let (t, others) = (items as f64, (b - 1) as f64);
                        let fits = |of: f64| (0..b - 1).map(|i| (of - i as f64).log2()).sum::<f64>();
                        let bits = (m1 + m2) as f64 - (m1 as f64).log2() - fits(m2 as f64) + fits(t * others);
                        assert!(bits >= best - 1e-9, "{items} {b} {m1} {m2}");
                    }
                }
            }
        }
    }

    /// The smallest numbers of triples for which each bucket size suffices.
    #[test]
    fn thresholds() {
        are_thresholds(size, 40, 3, &[276_325, 3_044, 320, 84, 34]);
        are_thresholds(size, 64, 4, &[779_083, 20_434, 2_300, 537]);
    }

    /// Compares with the bound for every number of spoiled triples.
    #[test]
    fn no_other_number_of_spoiled_triples_is_better() {
        for triples in [1, 2, 3, 10, 100, 3044] {
            for b in 2..12 {
                let best = error_bits(triples, b);
                for m in b..=(triples * b).min(400) {
                    let (l, b, m) = (triples as f64, b as f64, m as f64);
                    let fits = |of: f64| (0..b as usize).map(|i| (of - i as f64).log2()).sum::<f64>();
                    let bits = m - l.log2() - fits(m) + fits(l * b);
                    assert!(bits >= best - 1e-9, "{l} {b} {m}");
                }
            }
        }
    }

    #[test]
    fn one_triple_needs_a_bucket_of_rho() {
        assert_eq!(size(1, 40), 40);
        assert_eq!(size(1, 8), 8);
    }
}

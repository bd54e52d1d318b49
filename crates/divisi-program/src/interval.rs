//! Intervals of integers, and which integers the numbers of a modulus can be.
//!
//! All is exact in 128 bits. What would be beyond them stays at their ends: no modulus has numbers that
//! large, so it is refused all the same.

use std::fmt;

/// All integers from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    low: i128,
    high: i128,
}

impl Interval {
    /// The integers from `low` to `high`; `None` if there are none.
    #[must_use]
    pub const fn new(low: i128, high: i128) -> Option<Interval> {
        if low <= high { Some(Interval { low, high }) } else { None }
    }

    /// One integer.
    #[must_use]
    pub const fn exactly(number: i128) -> Interval {
        Interval { low: number, high: number }
    }

    /// The integers of at most this size (absolute value).
    #[must_use]
    pub const fn of_size(size: u64) -> Interval {
        Interval { low: -(size as i128), high: size as i128 }
    }

    /// The unsigned numbers of this many bits.
    #[must_use]
    pub const fn of_bits(width: usize) -> Interval {
        Interval { low: 0, high: if width < 127 { (1 << width) - 1 } else { i128::MAX } }
    }

    /// The smallest interval that has all these numbers; that of 0 alone for none.
    #[must_use]
    pub fn of(numbers: &[i64]) -> Interval {
        let (low, high) = (numbers.iter().min(), numbers.iter().max());
        let of = |number: Option<&i64>| i128::from(number.copied().unwrap_or(0));
        Interval { low: of(low), high: of(high) }
    }

    /// The smallest number.
    #[must_use]
    pub const fn low(self) -> i128 {
        self.low
    }

    /// The largest number.
    #[must_use]
    pub const fn high(self) -> i128 {
        self.high
    }

    /// Whether a number is in it.
    #[must_use]
    pub const fn contains(self, number: i128) -> bool {
        self.low <= number && number <= self.high
    }

    /// Whether all its numbers are in another interval, too.
    #[must_use]
    pub const fn is_within(self, other: Interval) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// How many bits, at least one, its numbers x have: -1 - x in place of a negative one, so that one bit
    /// more, for the sign, makes two's complement of all of them.
    pub(crate) fn width(self) -> usize {
        let of = |x: i128| (i128::BITS - (x ^ (x >> 127)).leading_zeros()) as usize;
        of(self.low).max(of(self.high)).max(1)
    }

    /// The smallest interval that has the numbers of both.
    #[must_use]
    pub fn with(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The numbers that are in both.
    #[must_use]
    pub fn common(self, other: Interval) -> Option<Interval> {
        Interval::new(self.low.max(other.low), self.high.min(other.high))
    }

    /// The larger one of two numbers, one of each.
    #[must_use]
    pub fn larger(self, other: Interval) -> Interval {
        Interval { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// The smaller one of two numbers, one of each.
    #[must_use]
    pub fn smaller(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// Sums.
    #[must_use]
    pub fn plus(self, other: Interval) -> Interval {
        Interval { low: self.low.saturating_add(other.low), high: self.high.saturating_add(other.high) }
    }

    /// Differences.
    #[must_use]
    pub fn minus(self, other: Interval) -> Interval {
        Interval { low: self.low.saturating_sub(other.high), high: self.high.saturating_sub(other.low) }
    }

    /// Negatives.
    #[must_use]
    pub fn negated(self) -> Interval {
        Interval { low: self.high.saturating_neg(), high: self.low.saturating_neg() }
    }

    /// Products.
    #[must_use]
    pub fn by(self, other: Interval) -> Interval {
        let ends = [self.low, self.high].map(|x| [other.low, other.high].map(|y| x.saturating_mul(y)));
        Interval::around(ends)
    }

    /// Squares.
    #[must_use]
    pub fn squared(self) -> Interval {
        let Interval { low, high } = self.by(self);
        let ends = [self.low, self.high].map(|x| x.saturating_mul(x));
        let least = if self.contains(0) { 0 } else { ends.into_iter().min().unwrap_or(low) };
        Interval { low: least, high }
    }

    /// Sums of this many numbers.
    #[must_use]
    pub fn times(self, count: usize) -> Interval {
        let count = i128::try_from(count).unwrap_or(i128::MAX);
        Interval { low: self.low.saturating_mul(count), high: self.high.saturating_mul(count) }
    }

    /// Products with 2^places, or, for negative places, quotients by 2^-places, rounded down.
    #[must_use]
    pub fn shifted(self, places: i32) -> Interval {
        let by = places.unsigned_abs();
        // as i128 has 127 bits beside its sign, what is multiplied by 2^127 is 0 or beyond it
        let of = |x: i128| match (places < 0, by) {
            (true, by) => x >> by.min(127),
            (false, ..127) => x.saturating_mul(1 << by),
            (false, _) => x.saturating_mul(i128::MAX),
        };
        Interval { low: of(self.low), high: of(self.high) }
    }

    /// Quotients, rounded down. `None` if a divisor is below 1.
    #[must_use]
    pub fn divided(self, by: Interval) -> Option<Interval> {
        // rounded down, a quotient by a positive divisor grows with the dividend, and grows or falls with the
        // divisor, by the dividend's sign: so its ends are among the quotients of ends
        let ends = || [self.low, self.high].map(|x| [by.low, by.high].map(|y| x.div_euclid(y)));
        (by.low >= 1).then(|| Interval::around(ends()))
    }

    fn around(ends: [[i128; 2]; 2]) -> Interval {
        let [[a, b], [c, d]] = ends;
        Interval { low: a.min(b).min(c).min(d), high: a.max(b).max(c).max(d) }
    }
}

/// As a range is declared.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)
    }
}

/// What numbers modulo a prime can be, and which of them the operations on their bits compute rightly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberLimits {
    largest: u64,
    places: u32,
}

impl NumberLimits {
    /// Those of numbers modulo a prime p above 2.
    #[must_use]
    pub const fn modulo(p: u64) -> NumberLimits {
        let largest = (p - 1) / 2;
        NumberLimits { largest, places: largest.ilog2() }
    }

    /// All numbers: -(p-1)/2 to (p-1)/2.
    #[must_use]
    pub const fn all(self) -> Interval {
        Interval::of_size(self.largest)
    }

    /// The numbers that are compared, shifted to the right, divided, or converted to their lowest bits
    /// whatever their sign: their size is below 2^[`NumberLimits::places`], the largest power of two below
    /// p/2. With this power added they are positive, and not reduced modulo p.
    #[must_use]
    pub const fn small(self) -> Interval {
        Interval::of_size((1 << self.places) - 1)
    }

    /// The exponent of the power of two that small numbers are below.
    #[must_use]
    pub const fn places(self) -> u32 {
        self.places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_field::zp::P32;

    /// Against all numbers of small intervals.
    #[test]
    fn intervals_have_all_results_and_no_wider_ends() {
        let all = (-6..=6_i128).flat_map(|low| (low..=6).filter_map(move |high| Interval::new(low, high)));
        let all: Vec<Interval> = all.collect();
        let numbers = |x: Interval| x.low()..=x.high();
        let ends = |found: &mut dyn Iterator<Item = i128>| {
            let found: Vec<i128> = found.collect();
            Interval::new(*found.iter().min().unwrap(), *found.iter().max().unwrap()).unwrap()
        };
        for x in &all {
            assert_eq!(x.squared(), ends(&mut numbers(*x).map(|x| x * x)));
            assert_eq!(x.negated(), ends(&mut numbers(*x).map(|x| -x)));
            let fits = |bits: usize| numbers(*x).all(|x| (-1 << bits..1 << bits).contains(&x));
            assert!(fits(x.width()) && (x.width() == 1 || !fits(x.width() - 1)));
            for places in -4..4 {
                let shift = |x: i128| if places < 0 { x >> -places } else { x << places };
                assert_eq!(x.shifted(places), ends(&mut numbers(*x).map(shift)));
            }
            for y in &all {
                let pairs = || numbers(*x).flat_map(|x| numbers(*y).map(move |y| (x, y)));
                assert_eq!(x.plus(*y), ends(&mut pairs().map(|(x, y)| x + y)));
                assert_eq!(x.minus(*y), ends(&mut pairs().map(|(x, y)| x - y)));
                assert_eq!(x.by(*y), ends(&mut pairs().map(|(x, y)| x * y)));
                assert_eq!(x.larger(*y), ends(&mut pairs().map(|(x, y)| x.max(y))));
                assert_eq!(x.smaller(*y), ends(&mut pairs().map(|(x, y)| x.min(y))));
                let quotients = (y.low() >= 1).then(|| ends(&mut pairs().map(|(x, y)| x.div_euclid(y))));
                assert_eq!(x.divided(*y), quotients, "{x} {y}");
            }
        }
    }

    #[test]
    fn what_is_beyond_128_bits_stays_at_their_ends() {
        let most = Interval::of_size(u64::MAX);
        let product = most.by(most);
        assert!(product.plus(product).times(usize::MAX).high() == i128::MAX);
        assert!(product.times(usize::MAX).minus(product).low() == i128::MIN);
        assert_eq!(Interval::of_bits(500).high(), i128::MAX);
        for places in [60, 126, 127, 500] {
            assert_eq!(Interval::of_bits(126).shifted(places), Interval::new(0, i128::MAX).unwrap());
            assert_eq!(
                Interval::of_bits(1).shifted(places).high(),
                if places < 127 { 1 << places } else { i128::MAX }
            );
            let (below, zero) = (Interval::new(-1, -1).unwrap(), Interval::of(&[]));
            assert_eq!((below.shifted(-places), zero.shifted(places)), (below, zero));
        }
    }

    #[test]
    fn limits_are_those_of_the_prime() {
        let limits = NumberLimits::modulo(P32);
        assert_eq!((limits.all(), limits.places()), (Interval::of_size(1_610_612_736), 30));
        assert_eq!(limits.small().high(), (1 << 30) - 1);
        // one that is twice as wide
        let wide = NumberLimits::modulo((1 << 62) - (1 << 46) + 1);
        assert_eq!((wide.all().high(), wide.places()), ((1 << 61) - (1 << 45), 60));
    }
}

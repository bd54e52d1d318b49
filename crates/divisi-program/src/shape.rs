//! Shapes of values: lists of sides (dimensions). Entries are in row order: the last index changes fastest.

use std::fmt;
use std::str::FromStr;

/// The largest number of entries of a value.
pub const MOST: usize = 1 << 24;
/// The largest number of sides.
pub const SIDES: usize = 8;

/// The sides of a value. It has as many entries as the product of its sides; the last index changes fastest.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Shape(Vec<usize>);

impl Shape {
    /// A shape with these sides. `None` if there are no sides or more than eight, if a side is 0, or if there
    /// are more than 2^24 entries.
    #[must_use]
    pub fn new(sides: &[usize]) -> Option<Shape> {
        let entries = sides.iter().try_fold(1_usize, |product, side| product.checked_mul(*side))?;
        let right = (1..=SIDES).contains(&sides.len()) && (1..=MOST).contains(&entries);
        right.then(|| Shape(sides.to_vec()))
    }

    /// The shape of one entry.
    #[must_use]
    pub fn one() -> Shape {
        Shape(vec![1])
    }

    /// The sides.
    #[must_use]
    pub fn sides(&self) -> &[usize] {
        &self.0
    }

    /// How many entries there are.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.0.iter().product()
    }

    /// The last side.
    #[must_use]
    pub fn last(&self) -> usize {
        self.0.last().copied().unwrap_or(1)
    }

    /// The shape without its last side; for a single side, one entry.
    #[must_use]
    pub fn without_last(&self) -> Shape {
        match self.0.split_last() {
            Some((_, rest)) if !rest.is_empty() => Shape(rest.to_vec()),
            _ => Shape::one(),
        }
    }

    /// The shape of the result of an operation on both, entry by entry. Sides are compared from the last one
    /// on; a side of 1, or a missing one, is repeated. `None` if they do not fit.
    #[must_use]
    pub fn join(&self, other: &Shape) -> Option<Shape> {
        let sides = self.0.len().max(other.0.len());
        let side = |shape: &Shape, i: usize| (i + shape.0.len()).checked_sub(sides).map_or(1, |i| shape.0[i]);
        let joined: Option<Vec<usize>> = (0..sides)
            .map(|i| match (side(self, i), side(other, i)) {
                (x, y) if x == y => Some(x),
                (1, x) | (x, 1) => Some(x),
                _ => None,
            })
            .collect();
        Shape::new(&joined?)
    }

    /// For each entry of `wide`, which is this shape joined with another: the entry of this shape that is
    /// used for it. `None` if both have the same number of entries, so that the order is the same.
    #[must_use]
    pub fn places(&self, wide: &Shape) -> Option<Vec<usize>> {
        if self.entries() == wide.entries() {
            return None;
        }
        let missing = wide.0.len() - self.0.len();
        let mut steps = vec![0; wide.0.len()];
        let mut step = 1;
        for (i, side) in self.0.iter().enumerate().rev() {
            steps[missing + i] = if *side == 1 { 0 } else { step };
            step *= side;
        }
        let mut places = Vec::with_capacity(wide.entries());
        let mut at = vec![0; wide.0.len()];
        loop {
            places.push(at.iter().zip(&steps).map(|(at, step)| at * step).sum());
            let mut i = at.len();
            loop {
                if i == 0 {
                    return Some(places);
                }
                i -= 1;
                at[i] += 1;
                if at[i] < wide.0[i] {
                    break;
                }
                at[i] = 0;
            }
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&sides.join("x"))
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let digits = |side: &&str| !side.is_empty() && side.bytes().all(|c| c.is_ascii_digit());
        let sides: Option<Vec<usize>> =
            text.split('x').map(|side| Some(side).filter(digits)?.parse().ok()).collect();
        sides.and_then(|sides| Shape::new(&sides)).ok_or_else(|| {
            format!(
                "a shape is up to {SIDES} numbers from 1 with x between them, of at most {MOST} entries, as 256x4"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        text.parse().unwrap()
    }

    #[test]
    fn shapes_join_where_a_side_is_one() {
        let join = |x: &str, y: &str| shape(x).join(&shape(y)).map(|shape| shape.to_string());
        assert_eq!(join("256x4", "1x4").as_deref(), Some("256x4"));
        assert_eq!(join("4", "3x1").as_deref(), Some("3x4"));
        assert_eq!(join("1", "2x3x4").as_deref(), Some("2x3x4"));
        assert_eq!(join("3", "4"), None);
        assert_eq!(join("16777216", "2x1"), None, "more entries than a name may have");
        assert_eq!(shape("3x1").places(&shape("3x2")), Some(vec![0, 0, 1, 1, 2, 2]));
        assert_eq!(shape("2").places(&shape("3x2")), Some(vec![0, 1, 0, 1, 0, 1]));
        assert_eq!(shape("3x2").places(&shape("3x2")), None);
        // numbers of entries that differ by 256
        assert_eq!(shape("1").places(&shape("257")), Some(vec![0; 257]));
        assert_eq!((shape("5").without_last(), shape("5x2").without_last()), (Shape::one(), shape("5")));
    }

    #[test]
    fn what_is_no_shape_is_refused() {
        assert_eq!(shape("1x1x1x1x1x1x1x2").entries(), 2);
        assert_eq!(shape("4096x4096").entries(), MOST);
        for text in
            ["", "x", "0", "3x", "3x0", "-1", "+3", "1x1x1x1x1x1x1x1x1", "16777217", "99999999999999999999"]
        {
            assert!(text.parse::<Shape>().is_err(), "{text}");
        }
    }
}

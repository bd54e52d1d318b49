//! Authenticated shares: \[\[x\]\] of KOR+17 (section 2.1), as in SPDZ (Damgård, Keller, Larraia, Pastro,
//! Scholl, Smart 2013).

use crate::part::{Mac, Shareable};
use divisi_core::Lanes;
use divisi_core::wipe::WipedVec;
use divisi_field::BigField;
use std::ops::Range;

/// \[\[x\]\] in every lane: P_i holds x_i and m_i; x is the sum of all x_i, and alpha x the sum of all m_i.
///
/// Shares of a value of `V` are values of `V`. The type does not implement `Debug`; shares are wiped when
/// dropped.
#[derive(Default)]
pub struct Auth<V: Shareable, F: Mac> {
    pub(crate) x: WipedVec<V>,
    pub(crate) m: WipedVec<F>,
}

impl<V: Shareable, F: Mac> Clone for Auth<V, F> {
    #[inline(never)]
    fn clone(&self) -> Self {
        Auth { x: self.x.clone(), m: self.m.clone() }
    }
}

impl<V: Shareable, F: Mac> Auth<V, F> {
    /// A list of shares and of as many MAC shares.
    pub(crate) fn new(x: WipedVec<V>, m: WipedVec<F>) -> Self {
        debug_assert_eq!(x.len(), m.len());
        Auth { x, m }
    }

    /// An empty list with room for values.
    pub(crate) fn with_capacity(lanes: usize) -> Self {
        Auth { x: WipedVec::with_capacity(lanes), m: WipedVec::with_capacity(lanes) }
    }

    /// Shares of zeros, which are all zero.
    pub(crate) fn zeros(lanes: usize) -> Self {
        Auth { x: WipedVec::zeros(lanes), m: WipedVec::zeros(lanes) }
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// \[\[x\]\] + \[\[y\]\], local. Returns false if y has another number of lanes, unless y has one lane,
    /// which is then used for all.
    #[must_use]
    pub(crate) fn add(&mut self, y: &Self) -> bool {
        match (y.x.as_slice(), y.m.as_slice()) {
            ([x], [m]) => {
                let (x, m) = (*x, *m);
                self.x.iter_mut().for_each(|to| *to += x);
                self.m.iter_mut().for_each(|to| *to += m);
                true
            }
            (x, m) if x.len() == self.x.len() => {
                self.x.iter_mut().zip(x).for_each(|(to, x)| *to += *x);
                <F as BigField>::add_assign(&mut self.m, m);
                true
            }
            _ => false,
        }
    }

    /// A copy of these lanes.
    #[inline(never)]
    pub(crate) fn part(&self, lanes: Range<usize>) -> Self {
        Auth { x: WipedVec::from(&self.x[lanes.clone()]), m: WipedVec::from(&self.m[lanes]) }
    }

    /// Take off the last `lanes` lanes; `None` if there are fewer.
    #[inline(never)]
    pub(crate) fn pop(&mut self, lanes: usize) -> Option<Self> {
        self.tail(lanes).map(|mut tail| tail.copied())
    }

    /// The last `lanes` lanes, in place; `None` if there are fewer.
    pub(crate) fn tail(&mut self, lanes: usize) -> Option<Tail<'_, V, F>> {
        let from = self.x.len().checked_sub(lanes)?;
        Some(Tail { of: self, from })
    }

    /// All lanes, in place.
    pub(crate) fn all(&self) -> View<'_, V, F> {
        View { x: &self.x, m: &self.m }
    }

    /// These lanes, in place.
    pub(crate) fn view(&self, lanes: Range<usize>) -> View<'_, V, F> {
        self.all().view(lanes)
    }

    /// Append the lanes of another list.
    #[inline(never)]
    pub(crate) fn append(&mut self, other: &Self) {
        self.extend(other.all());
    }

    /// The same for the lanes of a view. If this list moves because it grows, its old memory is wiped.
    pub(crate) fn extend(&mut self, other: View<'_, V, F>) {
        self.x.reserve(other.x.len());
        self.m.reserve(other.m.len());
        self.x.extend_from_slice(other.x);
        self.m.extend_from_slice(other.m);
    }

    /// Replace the lanes by those of a view; nothing changes if it has another number of lanes.
    pub(crate) fn set(&mut self, other: View<'_, V, F>) {
        if [other.x.len(), other.m.len()] == [self.x.len(), self.m.len()] {
            self.x.copy_from_slice(other.x);
            self.m.copy_from_slice(other.m);
        }
    }
}

/// A borrowed part of a list: shares and MAC shares.
pub(crate) struct View<'a, V, F> {
    pub x: &'a [V],
    pub m: &'a [F],
}

impl<V, F> Clone for View<'_, V, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V, F> Copy for View<'_, V, F> {}

impl<'a, V, F> View<'a, V, F> {
    /// The number of values.
    pub fn len(self) -> usize {
        self.x.len()
    }

    /// These lanes of them.
    pub fn view(self, lanes: Range<usize>) -> View<'a, V, F> {
        View { x: &self.x[lanes.clone()], m: &self.m[lanes] }
    }
}

/// The last values of a list, which are used in place and may be changed there. They are wiped and removed
/// from the list when this is dropped, also after an error.
pub(crate) struct Tail<'a, V: Shareable, F: Mac> {
    of: &'a mut Auth<V, F>,
    from: usize,
}

impl<V: Shareable, F: Mac> Tail<'_, V, F> {
    /// The number of values.
    pub fn len(&self) -> usize {
        self.of.x.len() - self.from
    }

    /// The shares, and the MAC shares.
    pub fn parts(&mut self) -> (&mut [V], &mut [F]) {
        (&mut self.of.x[self.from..], &mut self.of.m[self.from..])
    }

    /// A copy of the first values.
    pub fn first(&mut self, count: usize) -> Auth<V, F> {
        self.of.part(self.from..self.from + count)
    }

    /// A copy of all of these values.
    pub fn copied(&mut self) -> Auth<V, F> {
        self.of.part(self.from..self.of.x.len())
    }
}

impl<V: Shareable, F: Mac> Drop for Tail<'_, V, F> {
    fn drop(&mut self) {
        self.of.x.cut(self.from);
        self.of.m.cut(self.from);
    }
}

impl<V: Shareable, F: Mac> Lanes for Auth<V, F> {
    fn lanes(&self) -> usize {
        self.x.len()
    }

    #[inline(never)]
    fn gather(&self, index: &[usize]) -> Option<Self> {
        let x = index.iter().map(|i| self.x.get(*i).copied()).collect::<Option<_>>()?;
        let m = index.iter().map(|i| self.m.get(*i).copied()).collect::<Option<_>>()?;
        Some(Auth { x, m })
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use divisi_core::testing::memory;
    use divisi_field::{Field, Gf8, Gf48};

    /// \[Q17\] Lanes that were taken from the end are removed after use and overwritten in memory, also where
    /// their user wrote something else; the other lanes do not change.
    #[test]
    fn what_was_used_is_wiped_where_it_lay() {
        let lanes = |lanes: Range<u8>| {
            let m = lanes.clone().map(|i| Gf48::from_low_bits(u128::from(i) << 40 | 1)).collect();
            Auth::<Gf8, Gf48>::new(lanes.map(|i| Gf8(i + 1)).collect(), m)
        };
        let mut all = lanes(0..100);
        let places = [all.x.as_ptr() as usize + 60, all.m.as_ptr() as usize + 8 * 60];
        let mut tail = all.tail(40).unwrap();
        let copied = tail.copied();
        assert!(tail.len() == 40 && *copied.x == *lanes(60..100).x && *copied.m == *lanes(60..100).m);
        tail.parts().0.fill(Gf8(7));
        drop(tail);
        let mut bytes = [1; 8 * 40];
        for (place, size) in places.into_iter().zip([1, 8]) {
            let bytes = &mut bytes[..size * 40];
            memory::read(place, bytes).unwrap();
            assert!(bytes.iter().all(|byte| *byte == 0), "{size}");
        }
        assert!(*all.x == *lanes(0..60).x && *all.m == *lanes(0..60).m);
        assert!(all.tail(61).is_none() && all.len() == 60);
        assert!(all.pop(60).is_some_and(|all| *all.m == *lanes(0..60).m) && all.is_empty());
    }

    /// Lanes are replaced by as many others, and by no other number of them.
    #[test]
    fn lanes_are_replaced_by_as_many() {
        let lanes = |x: u8, m: u128, count: usize| {
            Auth::<Gf8, Gf48>::new(vec![Gf8(x); count].into(), vec![Gf48::from_low_bits(m); count].into())
        };
        for (count, replaced) in [(300, true), (299, false), (301, false), (44, false), (0, false)] {
            let mut all = lanes(1, 2, 300);
            all.set(lanes(3, 4, count).all());
            let right = if replaced { lanes(3, 4, 300) } else { lanes(1, 2, 300) };
            assert!(*all.x == *right.x && *all.m == *right.m, "{count}");
        }
    }
}

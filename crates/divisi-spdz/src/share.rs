//! Authenticated shares: \[\[x\]\] of KOR+17 (section 2.1), as in SPDZ (Damgård, Keller, Larraia, Pastro,
//! Scholl, Smart 2013).

use crate::part::{Mac, Shareable};
use divisi_core::Lanes;
use divisi_field::BigField;
use divisi_ot::wipe;

/// \[\[x\]\] in every lane: P_i holds x_i and m_i; x is the sum of all x_i, and alpha x the sum of all m_i.
///
/// Shares of a value of `V` are values of `V`. The type does not implement `Debug`; shares are wiped when
/// dropped.
#[derive(Clone, Default)]
pub struct Auth<V: Shareable, F: Mac> {
    pub(crate) x: Vec<V>,
    pub(crate) m: Vec<F>,
}

/// Secret values that are wiped when dropped, with the widest stores; `Zeroizing` would wipe them one by one.
pub(crate) struct Wiped<T: Copy + Default>(Vec<T>);

impl<T: Copy + Default> Wiped<T> {
    pub(crate) fn new(values: Vec<T>) -> Self {
        Wiped(values)
    }

    /// The vector itself, which somebody else wipes.
    pub(crate) fn into_vec(mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }
}

impl<T: Copy + Default> std::ops::Deref for Wiped<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Copy + Default> std::ops::DerefMut for Wiped<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Copy + Default> Drop for Wiped<T> {
    fn drop(&mut self) {
        wipe::words(&mut self.0);
    }
}

impl<V: Shareable, F: Mac> Auth<V, F> {
    /// Shares and MAC shares; as many of one as of the other.
    pub(crate) fn new(x: Vec<V>, m: Vec<F>) -> Self {
        debug_assert_eq!(x.len(), m.len());
        Auth { x, m }
    }

    /// Nothing yet, with room.
    pub(crate) fn with_room(lanes: usize) -> Self {
        Auth { x: Vec::with_capacity(lanes), m: Vec::with_capacity(lanes) }
    }

    /// Zeros.
    pub(crate) fn zeros(lanes: usize) -> Self {
        Auth { x: vec![V::default(); lanes], m: vec![F::ZERO; lanes] }
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

    /// \[\[x\]\] + \[\[y\]\], local; false if there are not as many of y, and not one alone that serves all.
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

    /// These lanes.
    #[inline(never)]
    pub(crate) fn part(&self, lanes: std::ops::Range<usize>) -> Self {
        Auth { x: self.x[lanes.clone()].to_vec(), m: self.m[lanes].to_vec() }
    }

    /// The last lanes, taken off; nothing if there are fewer.
    #[inline(never)]
    pub(crate) fn pop(&mut self, lanes: usize) -> Option<Self> {
        let at = self.x.len().checked_sub(lanes)?;
        let last = self.part(at..self.x.len());
        wipe::words(&mut self.x[at..]);
        wipe::words(&mut self.m[at..]);
        self.x.truncate(at);
        self.m.truncate(at);
        Some(last)
    }

    /// The first lane in all: for a mutant.
    pub(crate) fn repeat_first(&mut self) {
        if let ([x, ..], [m, ..]) = (self.x.as_slice(), self.m.as_slice()) {
            let (x, m) = (*x, *m);
            self.x.fill(x);
            self.m.fill(m);
        }
    }

    /// Append the lanes of another.
    #[inline(never)]
    pub(crate) fn append(&mut self, other: &Self) {
        self.x.extend_from_slice(&other.x);
        self.m.extend_from_slice(&other.m);
    }
}

impl<V: Shareable, F: Mac> Drop for Auth<V, F> {
    #[inline(never)]
    fn drop(&mut self) {
        wipe::words(&mut self.x);
        wipe::words(&mut self.m);
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

//! Lists that may hold secrets: they are wiped when dropped, and never printed.

use std::ops::{Deref, DerefMut};

/// A list of a fixed length that is wiped when dropped.
#[derive(Clone)]
pub struct Hidden<T: Copy + Default>(Box<[T]>);

impl<T: Copy + Default> Hidden<T> {
    /// A list of `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        Hidden(vec![T::default(); len].into_boxed_slice())
    }
}

impl<T: Copy + Default> Hidden<T> {
    /// Returns the list, which is public, so that it is not wiped. An empty list is left.
    pub(crate) fn release(&mut self) -> Box<[T]> {
        std::mem::take(&mut self.0)
    }

    fn wipe(&mut self) {
        self.0.fill(T::default());
        zeroize::optimization_barrier(&*self.0);
    }
}

impl<T: Copy + Default> From<&[T]> for Hidden<T> {
    fn from(list: &[T]) -> Self {
        Hidden(list.into())
    }
}

impl<T: Copy + Default> Deref for Hidden<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Copy + Default> DerefMut for Hidden<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Copy + Default> Drop for Hidden<T> {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// Prints the type without its values.
impl<T: Copy + Default> std::fmt::Debug for Hidden<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hidden({} values)", self.0.len())
    }
}

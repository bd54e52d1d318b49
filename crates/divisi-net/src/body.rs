//! The bytes of a message while this crate holds them. They may be shares, and are wiped when they are no
//! longer needed. Buffers inside the TLS library are out of reach.

use std::ops::Deref;

/// Bytes that are wiped when dropped. They never move to another place in memory.
#[cfg_attr(test, derive(PartialEq, Eq))]
pub(crate) struct Body(Vec<u8>);

impl Body {
    /// Room for this many bytes.
    pub fn with_capacity(len: usize) -> Self {
        Self(Vec::with_capacity(len))
    }

    /// Appends as many bytes as there is room for.
    pub fn append(&mut self, bytes: &[u8]) {
        let capacity = self.0.capacity() - self.0.len();
        self.0.extend_from_slice(bytes.get(..capacity).unwrap_or(bytes));
    }
}

impl From<&[u8]> for Body {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        // A plain fill goes by vectors and not byte by byte; the barrier keeps the compiler from leaving it
        // out.
        self.0.fill(0);
        zeroize::optimization_barrier(&*self.0);
    }
}

/// Without the bytes.
impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({} bytes)", self.0.len())
    }
}

//! Doors of randomness that need no session: the stream of a digest, and values that are made of draws.

use crate::DrawPurpose;
use blake3::{Hasher, OutputReader};

impl DrawPurpose {
    /// Tells tests of a value that was made from draws and that the protocol treats as fresh: a key, a mask,
    /// a small polynomial. Where no test records, and in all that ships, `value` is not called.
    #[cfg_attr(feature = "testing", track_caller)]
    #[inline(always)]
    pub fn drawn<T: AsRef<[u8]>>(&'static self, value: impl FnOnce() -> T) {
        #[cfg(feature = "testing")]
        crate::draws::value(self, value);
        #[cfg(not(feature = "testing"))]
        let _ = value;
    }

    /// Lets tests see whether each of these numbers, which were made from draws, is used: they replace the
    /// first or the last one by `other` of it, which is told whether it is the last: so it may change a low
    /// bit of the one and a high bit of the other. Where no test asks for it, and in all that ships, nothing
    /// is done.
    #[cfg_attr(feature = "testing", track_caller)]
    #[inline(always)]
    pub fn numbers<T: Copy>(&'static self, all: &mut [T], other: impl FnOnce(T, bool) -> T) {
        #[cfg(feature = "testing")]
        crate::draws::numbers(self, all, other);
        #[cfg(not(feature = "testing"))]
        let _ = (all, other);
    }
}

/// Digests that are expanded to any length.
pub trait Expands {
    /// The digest of what was hashed, as a stream without an end.
    #[must_use]
    fn expand(&self, purpose: &'static DrawPurpose) -> ExpandedDigest;
}

impl Expands for Hasher {
    #[inline]
    fn expand(&self, purpose: &'static DrawPurpose) -> ExpandedDigest {
        #[expect(clippy::disallowed_methods, reason = "this is the door that names a purpose")]
        let stream = self.finalize_xof();
        ExpandedDigest {
            stream,
            purpose,
            #[cfg(feature = "testing")]
            record: crate::draws::expansion(),
        }
    }
}

/// The stream of a digest.
pub struct ExpandedDigest {
    stream: OutputReader,
    #[cfg_attr(not(feature = "testing"), expect(dead_code, reason = "tests record by it"))]
    purpose: &'static DrawPurpose,
    /// The record of draws, if a test asked for one.
    #[cfg(feature = "testing")]
    record: Option<crate::draws::Expansion>,
}

impl ExpandedDigest {
    /// The next bytes of the stream.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn fill(&mut self, out: &mut [u8]) {
        self.stream.fill(out);
        #[cfg(feature = "testing")]
        if let Some(record) = &self.record {
            record.note(self.purpose, out);
        }
    }
}

impl zeroize::Zeroize for ExpandedDigest {
    fn zeroize(&mut self) {
        self.stream.zeroize();
    }
}

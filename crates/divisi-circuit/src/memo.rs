//! A value that is computed once for a program.

use std::fmt;
use std::sync::OnceLock;

/// The digest of a program, if it has been computed. Comparisons ignore it.
#[derive(Clone, Default)]
pub(crate) struct Memo(pub(crate) OnceLock<[u8; 32]>);

impl PartialEq for Memo {
    fn eq(&self, _: &Memo) -> bool {
        true
    }
}

impl Eq for Memo {}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

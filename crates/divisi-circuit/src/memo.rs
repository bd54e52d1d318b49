//! What is computed of a program once.

use std::fmt;
use std::sync::OnceLock;

/// What was computed of a program, if it was. It follows from the rest, so that it counts in no comparison.
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

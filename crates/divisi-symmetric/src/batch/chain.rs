//! What a program of chained blocks computes.

use crate::mode::one_shot::wrap::WrapShape;

/// What a program on AES computes, beside the sizes of its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chain {
    /// CBC from a state.
    Cbc,
    /// CBC-MAC from a state.
    Mac,
    /// The blocks of the last CMAC of S2V, from public strings and a message.
    S2v,
    /// Calls of key wrapping.
    Wrap(WrapShape, usize),
}

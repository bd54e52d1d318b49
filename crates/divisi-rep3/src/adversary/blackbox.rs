//! What a corrupt party holds of values of the black box.

use crate::blackbox::{Element, Mask, Shared};

/// Its two components of a value.
#[must_use]
pub fn components<F: Element>(x: &Shared<F>) -> [Vec<F>; 2] {
    [x.rep.a.clone(), x.rep.b.clone()]
}

/// Its two components of a mask.
#[must_use]
pub fn components_of_mask<F: Element>(mask: &Mask<F>) -> [Vec<F>; 2] {
    components(&mask.0)
}

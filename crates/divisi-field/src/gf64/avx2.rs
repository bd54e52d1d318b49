//! The AVX2 kernel of GF(2^64). Carry-less products use the widest instruction that the processor has; planes
//! are weighed by shuffles.

use super::Gf64;
use super::unreduced::Unreduced;
use crate::Plane;

pub(super) use super::pclmul::mul;
pub(super) use super::weigh_avx2::{matrices, weigh, weigh_bytes};

/// Defines functions that call those of [`super::vpclmul`] if the processor has VPCLMULQDQ, and otherwise
/// those of [`super::pclmul`].
macro_rules! widest {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?;)*) => { $(
        #[target_feature(enable = "avx2,pclmulqdq")]
        pub(super) fn $name($($argument: $type),*) $(-> $output)? {
            if is_wide() {
                // SAFETY: the instruction was just seen on this processor.
                unsafe { super::vpclmul::$name($($argument),*) }
            } else {
                super::pclmul::$name($($argument),*)
            }
        }
    )* };
}

widest! {
    fn dot(x: &[Gf64], y: &[Gf64]) -> Gf64;
    fn line_products(x: &[Gf64], y: &[Gf64]) -> (Gf64, Gf64);
    fn mul_assign(x: &mut [Gf64], y: &[Gf64]);
    fn scale(x: &mut [Gf64], c: Gf64);
    fn fold(x: &[Gf64], r: Gf64, out: &mut [Gf64]);
    fn add_words(sums: &mut [Unreduced], planes: &[Plane], coefficients: &[Gf64; 8]);
}

/// Whether the processor has VPCLMULQDQ, unless a test disables it. The cost is a load and a branch.
#[inline(always)]
fn is_wide() -> bool {
    #[cfg(test)]
    if PAIRS.get() {
        return false;
    }
    is_x86_feature_detected!("vpclmulqdq")
}

#[cfg(test)]
thread_local! {
    static PAIRS: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
}

/// Runs `f` as on a processor without VPCLMULQDQ.
#[cfg(test)]
pub(super) fn in_pairs(f: impl FnOnce()) {
    PAIRS.set(true);
    f();
    PAIRS.set(false);
}

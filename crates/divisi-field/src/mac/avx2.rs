//! The AVX2 kernel of these fields. It uses the widest carry-less product that the processor has.

use super::{Narrow, pclmul, vpclmul};

pub(super) use super::pclmul::mul;

/// Defines functions that call those of [`vpclmul`] if the processor has VPCLMULQDQ, and otherwise those of
/// [`pclmul`].
macro_rules! widest {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?;)*) => { $(
        #[target_feature(enable = "avx2,pclmulqdq")]
        pub(super) fn $name<F: Narrow>($($argument: $type),*) $(-> $output)? {
            if is_wide() {
                // SAFETY: the instruction was just seen on this processor.
                unsafe { vpclmul::$name($($argument),*) }
            } else {
                pclmul::$name($($argument),*)
            }
        }
    )* };
}

widest! {
    fn dot(x: &[F], y: &[F]) -> F;
    fn mul_assign(x: &mut [F], y: &[F]);
    fn scale(x: &mut [F], c: F);
    fn combine(out: &mut [F], c: &[F], rows: &[&[F]]);
}

/// Whether the processor has VPCLMULQDQ, unless a test disables it. The cost is a load and a branch.
#[inline(always)]
fn is_wide() -> bool {
    #[cfg(test)]
    if SINGLE.get() {
        return false;
    }
    is_x86_feature_detected!("vpclmulqdq")
}

#[cfg(test)]
thread_local! {
    static SINGLE: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
}

/// Runs `f` as on a processor without VPCLMULQDQ.
#[cfg(test)]
pub(super) fn without_vectors(f: impl FnOnce()) {
    SINGLE.set(true);
    f();
    SINGLE.set(false);
}

//! The choice of the instruction set. It is made once, at run time, so that one binary suffices.
//!
//! Modules with kernels ask [`active`] and call the implementation for this kernel. Other crates have no
//! intrinsics and no `unsafe` code: they pass a closure to [`vectorize`] or, for computations on planes in
//! registers, a [`Task`] to [`run`]. Both compile the code once for each kernel.

use core::cell::Cell;
use core::fmt;
use core::str::FromStr;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use std::arch::is_aarch64_feature_detected;
use std::sync::OnceLock;

use crate::word::Word;

/// The environment variable that forces a kernel.
pub const VARIABLE: &str = "DIVISI_KERNEL";

/// An instruction set for which this crate has code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// Instructions of every processor. Carry-less products are made of integer products of masked operands.
    Portable,
    /// 64-bit Arm with the instructions for AES and for carry-less products (AESE, PMULL) beside NEON.
    Neon,
    /// x86-64 with AVX2 and PCLMULQDQ.
    Avx2,
    /// x86-64 with AVX-512 (F, BW, DQ, VL, VBMI), GFNI and VPCLMULQDQ.
    Avx512,
}

impl Kernel {
    /// All kernels, the slowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Neon, Self::Avx2, Self::Avx512];

    /// The kernel's name, as in [`VARIABLE`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this processor has the kernel's instructions.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            // on big-endian processors the order of bytes in registers would not be that in memory
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Neon => {
                is_aarch64_feature_detected!("neon")
                    && is_aarch64_feature_detected!("aes")
                    && is_aarch64_feature_detected!("pmull")
            }
            #[cfg(not(all(target_arch = "aarch64", target_endian = "little")))]
            Self::Neon => false,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("pclmulqdq"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("gfni")
                    && is_x86_feature_detected!("vpclmulqdq")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    fn require(self) -> Result<Self, KernelError> {
        if self.is_available() { Ok(self) } else { Err(KernelError::Unavailable(self)) }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kernel {
    type Err = KernelError;

    fn from_str(name: &str) -> Result<Self, KernelError> {
        Self::ALL
            .into_iter()
            .find(|kernel| kernel.name() == name)
            .ok_or_else(|| KernelError::Unknown(name.to_owned()))
    }
}

/// Why a requested kernel cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelError {
    /// There is no kernel with this name.
    Unknown(String),
    /// This processor lacks instructions of this kernel.
    Unavailable(Kernel),
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                write!(f, "unknown kernel {name:?}: {VARIABLE} takes portable, neon, avx2 or avx512")
            }
            Self::Unavailable(kernel) => {
                write!(f, "this processor cannot run the kernel {kernel}; it can run:")?;
                available().iter().try_for_each(|kernel| write!(f, " {kernel}"))
            }
        }
    }
}

impl core::error::Error for KernelError {}

/// The kernels that this processor can run, the slowest first.
pub fn available() -> Vec<Kernel> {
    Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).collect()
}

/// The kernel that the environment variable names; without the variable, the fastest one.
///
/// A program calls this at its start, and ends with a usage error if the variable is wrong.
pub fn select() -> Result<Kernel, KernelError> {
    choose(std::env::var_os(VARIABLE).map(|name| name.to_string_lossy().into_owned()).as_deref())
}

fn choose(name: Option<&str>) -> Result<Kernel, KernelError> {
    match name {
        Some(name) => name.parse::<Kernel>()?.require(),
        None => Ok(Kernel::ALL.into_iter().rfind(|kernel| kernel.is_available()).unwrap_or(Kernel::Portable)),
    }
}

thread_local! {
    static CURRENT: Cell<Option<Kernel>> = const { Cell::new(None) };
}

/// The kernel in use: that of [`select`], chosen once for the process, unless [`with`] overrides it in this
/// thread. If [`select`] rejects the variable, it is the portable kernel.
#[inline]
pub fn active() -> Kernel {
    CURRENT.get().unwrap_or_else(adopt)
}

#[cold]
fn adopt() -> Kernel {
    static SELECTED: OnceLock<Kernel> = OnceLock::new();
    let kernel = *SELECTED.get_or_init(|| select().unwrap_or(Kernel::Portable));
    CURRENT.set(Some(kernel));
    kernel
}

/// Runs `f` with `kernel` in use in this thread; for tests and benchmarks.
pub fn with<R>(kernel: Kernel, f: impl FnOnce() -> R) -> Result<R, KernelError> {
    struct Restore(Option<Kernel>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(Some(kernel.require()?)));
    Ok(f())
}

/// Runs a closure that is compiled with the instructions of the active kernel, so that loops over words are
/// vectorised.
///
/// Only code that is inlined into the closure profits: mark the closure and the functions it calls
/// `#[inline(always)]`. Code without loops over [`Plane`](crate::Plane) values, such as products, is
/// vectorised only in part and runs many times slower; make it a [`Task`], or write it as [`vectorized!`].
///
/// ```
/// use divisi_field::kernel::vectorize;
///
/// let (mut x, y) = ([1_u64; 100], [3_u64; 100]);
/// vectorize(
///     #[inline(always)]
///     || x.iter_mut().zip(&y).for_each(|(x, y)| *x ^= y),
/// );
/// assert_eq!(x, [2; 100]);
/// ```
#[inline(always)]
pub fn vectorize<R>(f: impl FnOnce() -> R) -> R {
    match active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a kernel becomes active only after `require` or `choose` has seen its features on this
        // processor.
        Kernel::Avx512 => unsafe { x86::avx512(f) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Kernel::Avx2 => unsafe { x86::avx2(f) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        Kernel::Neon => unsafe { arm::neon(f) },
        _ => f(),
    }
}

/// Code on planes in registers, generic over the register type.
///
/// An operation on a register is a single instruction only if everything between it and [`run`] is inlined;
/// otherwise it is a function call. So mark functions and closures `#[inline(always)]`, and prefer loops to
/// `core::array::from_fn` and `map`.
///
/// ```
/// use divisi_field::kernel::{Task, run};
/// use divisi_field::{Plane, Word, gf4};
///
/// struct MulAll<'a>(&'a mut [[Plane; 4]], &'a [[Plane; 4]]);
///
/// impl Task for MulAll<'_> {
///     type Output = ();
///     #[inline(always)]
///     fn run<W: Word>(self) {
///         for (x, y) in self.0.iter_mut().zip(self.1) {
///             let product = gf4::mul(&W::load_all(x), &W::load_all(y));
///             W::store_all(&product, x);
///         }
///     }
/// }
///
/// let mut x = [[Plane::ONES, Plane::ZERO, Plane::ZERO, Plane::ZERO]; 3];
/// let y = [[Plane::ZERO, Plane::ONES, Plane::ZERO, Plane::ZERO]; 3];
/// run(MulAll(&mut x, &y));
/// assert_eq!(x, y);
/// ```
pub trait Task {
    /// What the task returns.
    type Output;

    /// The code. Mark it, and all functions that it calls, `#[inline(always)]`.
    fn run<W: Word>(self) -> Self::Output;
}

/// Runs a task with the registers of the active kernel.
#[inline(always)]
pub fn run<T: Task>(task: T) -> T::Output {
    match active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a kernel becomes active only after `require` or `choose` has seen its features on this
        // processor.
        Kernel::Avx512 => unsafe {
            x86::avx512(
                #[inline(always)]
                || task.run::<crate::word::x86::Zmm>(),
            )
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Kernel::Avx2 => unsafe {
            x86::avx2(
                #[inline(always)]
                || task.run::<crate::word::x86::Ymm>(),
            )
        },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        Kernel::Neon => unsafe {
            arm::neon(
                #[inline(always)]
                || task.run::<crate::word::Baseline>(),
            )
        },
        _ => task.run::<crate::word::Baseline>(),
    }
}

/// Defines a function whose body is a [`Task`]: it is generic over the register `W`, and is called without
/// it.
///
/// Lifetimes of the arguments must be named, before `W`.
///
/// ```
/// use divisi_field::{Plane, Word, gf4, kernel::vectorized};
///
/// vectorized! {
///     /// Squares every element.
///     fn square_all<'a, W>(x: &'a mut [[Plane; 4]]) -> usize {
///         for x in x.iter_mut() {
///             W::store_all(&gf4::square(&W::load_all(x)), x);
///         }
///         x.len()
///     }
/// }
///
/// let mut x = [[Plane::ZERO, Plane::ONES, Plane::ZERO, Plane::ZERO]; 3];
/// assert_eq!(square_all(&mut x), 3);
/// assert_eq!(x, [[Plane::ZERO, Plane::ZERO, Plane::ONES, Plane::ZERO]; 3]);
/// ```
#[macro_export]
macro_rules! vectorized {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident<$($life:lifetime,)* $word:ident>
        ($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $crate::vectorized! {
            $(#[$meta])* $visibility fn $name<$($life,)* $word>($($argument: $type),*) -> () $body
        }
    };
    ($(#[$meta:meta])* $visibility:vis fn $name:ident<$($life:lifetime,)* $word:ident>
        ($($argument:ident: $type:ty),* $(,)?) -> $output:ty $body:block) => {
        $(#[$meta])*
        $visibility fn $name<$($life),*>($($argument: $type),*) -> $output {
            struct Call<$($life),*> {
                $($argument: $type),*
            }
            impl<$($life),*> $crate::kernel::Task for Call<$($life),*> {
                type Output = $output;
                #[inline(always)]
                fn run<$word: $crate::Word>(self) -> $output {
                    let Self { $($argument),* } = self;
                    $body
                }
            }
            $crate::kernel::run(Call { $($argument),* })
        }
    };
}
pub use vectorized;

#[cfg(target_arch = "x86_64")]
mod x86 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni,vpclmulqdq,avx2,pclmulqdq")]
    pub(super) fn avx512<R>(f: impl FnOnce() -> R) -> R {
        f()
    }

    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(super) fn avx2<R>(f: impl FnOnce() -> R) -> R {
        f()
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(super) fn neon<R>(f: impl FnOnce() -> R) -> R {
        f()
    }
}

/// Calls the function of this name in the module of the active kernel.
macro_rules! dispatch {
    ($name:ident($($argument:expr),* $(,)?)) => {
        match $crate::kernel::active() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a kernel becomes active only after its features were seen on this processor.
            $crate::kernel::Kernel::Avx512 => unsafe { avx512::$name($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            $crate::kernel::Kernel::Avx2 => unsafe { avx2::$name($($argument),*) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: as above.
            $crate::kernel::Kernel::Neon => unsafe { neon::$name($($argument),*) },
            _ => portable::$name($($argument),*),
        }
    };
}
pub(crate) use dispatch;

#[cfg(test)]
mod tests;

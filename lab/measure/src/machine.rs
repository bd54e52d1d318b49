//! What needs machine instructions: requests to Valgrind, and the processor's own clock.
//!
//! A request is a sequence of instructions that changes nothing on a processor and that Valgrind knows
//! (valgrind.h, "Valgrind client requests"), so that no library is needed and a program that makes requests
//! runs everywhere.

/// Requests of valgrind.h, memcheck.h and callgrind.h.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Code {
    RunningOnValgrind = 0x1001,
    CountErrors = 0x1201,
    MakeMemUndefined = tool(b'M', b'C') + 1,
    MakeMemDefined = tool(b'M', b'C') + 2,
    DumpStatsAt = tool(b'C', b'T') + 3,
    ZeroStats = tool(b'C', b'T') + 1,
}

const fn tool(a: u8, b: u8) -> u64 {
    (a as u64) << 24 | (b as u64) << 16
}

/// Make a request; 0 where no Valgrind listens, or where the architecture has no code for it here.
fn request(code: Code, first: u64, second: u64) -> u64 {
    let arguments = [code as u64, first, second, 0, 0, 0];
    let mut result = 0_u64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the rotations of rdi add up to 128 bits, so that it is what it was; rbx is exchanged with
    // itself. Valgrind reads the six words at rax and writes rdx. What the tools do to memory is to their own
    // marks of it.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(), inout("rdx") result,
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = arguments;
        result = 0;
    }
    result
}

/// Whether this process runs under Valgrind.
pub fn under_valgrind() -> bool {
    request(Code::RunningOnValgrind, 0, 0) != 0
}

/// How many errors Memcheck has found so far.
pub fn errors() -> u64 {
    request(Code::CountErrors, 0, 0)
}

/// Memcheck takes these bytes as undefined from here on.
pub fn poison(at: *mut u8, bytes: usize) {
    request(Code::MakeMemUndefined, at as u64, bytes as u64);
}

/// Memcheck takes these bytes as defined from here on.
pub fn cure(at: *mut u8, bytes: usize) {
    request(Code::MakeMemDefined, at as u64, bytes as u64);
}

/// Set the count of instructions to zero, in callgrind or in the plugin `qemu/count.c`. The plugin recognises
/// two hint instructions that no processor defines, and that therefore do nothing.
pub fn zero_counts() {
    request(Code::ZeroStats, 0, 0);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint that is not allocated does nothing.
    unsafe {
        core::arch::asm!("hint #90", options(nomem, nostack, preserves_flags));
    }
}

/// Make callgrind write its counts under this name, and continue from zero; the plugin writes them without
/// the name.
pub fn dump_counts(name: &std::ffi::CStr) {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as in `zero_counts`.
    unsafe {
        core::arch::asm!("hint #91", options(nomem, nostack, preserves_flags));
    }
    request(Code::DumpStatsAt, name.as_ptr() as u64, 0);
}

/// The processor's clock, after everything before it is done.
#[cfg(target_arch = "x86_64")]
pub fn ticks() -> u64 {
    use core::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: every x86-64 processor has both instructions.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

/// The finest clock that there is everywhere: nanoseconds.
#[cfg(not(target_arch = "x86_64"))]
pub fn ticks() -> u64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

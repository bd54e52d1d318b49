//! Kernels by their names, and the choice of one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

#[test]
fn names_round_trip() {
    for kernel in Kernel::ALL {
        assert_eq!(kernel.to_string().parse(), Ok(kernel));
    }
}

#[test]
fn an_unknown_name_is_reported() {
    assert_eq!(choose(Some("sse9")), Err(KernelError::Unknown("sse9".to_owned())));
    assert_eq!(choose(Some("")), Err(KernelError::Unknown(String::new())));
    assert!(choose(Some("sse9")).unwrap_err().to_string().contains("sse9"));
}

#[test]
fn a_kernel_is_chosen_exactly_if_available() {
    for kernel in Kernel::ALL {
        let expected = if kernel.is_available() { Ok(kernel) } else { Err(KernelError::Unavailable(kernel)) };
        assert_eq!(choose(Some(kernel.name())), expected);
        assert_eq!(with(kernel, active), expected);
    }
    assert_eq!(choose(None).unwrap(), *available().last().unwrap());
}

#[test]
fn with_restores_the_choice_even_after_a_panic() {
    let before = active();
    let caught = std::panic::catch_unwind(|| with(Kernel::Portable, || panic!("inside")));
    assert!(caught.is_err());
    assert_eq!(active(), before);
}

/// All tests of this crate pass with the portable kernel, too; those of engines are run so each night.
#[test]
#[cfg_attr(miri, ignore = "starts another process")]
fn all_tests_pass_with_the_portable_kernel() {
    // a run with a kernel that somebody chose, as the one below
    if std::env::var_os(VARIABLE).is_some() {
        return;
    }
    let mut tests = std::process::Command::new(std::env::current_exe().unwrap());
    let output = tests.env(VARIABLE, Kernel::Portable.name()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

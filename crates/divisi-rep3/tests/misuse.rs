//! Misuse does not compile: what the types alone forbid (M0.7, A13; ASSURANCE 1.18).

#[test]
fn misuse_does_not_compile() {
    let tests = trybuild::TestCases::new();
    tests.compile_fail("tests/misuse/*.rs");
    assert!(std::fs::read_dir("tests/misuse").is_ok_and(|dir| {
        dir.filter_map(Result::ok).filter(|f| f.path().extension().is_some_and(|e| e == "rs")).count() >= 10
    }));
}

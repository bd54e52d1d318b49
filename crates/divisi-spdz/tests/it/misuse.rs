//! Misuse does not compile: what the types alone forbid (1.18, M0.7).

use divisi_core::testing::misuse::MisusePrograms;
use std::path::Path;

#[test]
fn misuse_does_not_compile() {
    let misuse = MisusePrograms {
        files: &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misuse"),
        libraries: &["divisi_core", "divisi_field", "divisi_store", "divisi_spdz"],
        folder: Path::new(env!("CARGO_TARGET_TMPDIR")),
        cargo: Path::new(env!("CARGO")),
    };
    misuse.does_not_compile(36);
}

//! Makes a test of the first program on each page of documentation.

use std::path::Path;
use std::{env, error::Error, fmt::Write, fs};

/// The name of each test, and the source file that has the page.
const PAGES: [(&str, &str); 12] = [
    ("maestro", "divisi-symphony/src/maestro.rs"),
    ("sharp", "divisi-symphony/src/sharp.rs"),
    ("macnifico", "divisi-symphony/src/macnifico.rs"),
    ("blackbox", "divisi-rep3/src/blackbox/mod.rs"),
    ("ohverture", "divisi-rep3/src/ohverture/mod.rs"),
    ("garble", "divisi-garble/src/lib.rs"),
    ("ot", "divisi-ot/src/lib.rs"),
    ("spdz", "divisi-spdz/src/lib.rs"),
    ("bgv", "divisi-bgv/src/lib.rs"),
    ("mixed", "divisi-mixed/src/lib.rs"),
    ("mpgc", "divisi-mpgc/src/lib.rs"),
    ("local", "divisi-core/src/local.rs"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut tests = String::new();
    for (name, file) in PAGES {
        let path = Path::new("../../crates").join(file);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path)?;
        let page =
            text.lines().filter_map(|line| line.strip_prefix("//!")).map(|line| line.trim_start_matches(' '));
        let program = page.skip_while(|line| *line != "```").skip(1).take_while(|line| *line != "```");
        let program: Vec<&str> = program.map(|line| line.strip_prefix("# ").unwrap_or(line)).collect();
        if program.is_empty() {
            return Err(format!("{file}: no program on this page").into());
        }
        let program = program.join("\n");
        write!(tests, "#[test]\nfn {name}() -> Result<(), divisi_core::Abort> {{\n{program}\n}}\n")?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("pages.rs"), tests)?;
    Ok(())
}

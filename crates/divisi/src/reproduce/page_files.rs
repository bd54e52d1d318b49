//! What the page is made of: its template, its style and script, and the library that draws.

/// The document, with a line of its own for each part.
pub const TEMPLATE: &str = include_str!("page/template.html");
/// The page's style.
pub const STYLE: &str = include_str!("page/page.css");
/// The page's script: marks, plots that are made of them, and what there is to draw.
pub const SCRIPT: &str =
    concat!(include_str!("page/marks.js"), include_str!("page/plots.js"), include_str!("page/page.js"));
/// The library that draws.
pub const UPLOT: &str = include_str!("vendor/uPlot.iife.min.js");
/// Its style.
pub const UPLOT_STYLE: &str = include_str!("vendor/uPlot.min.css");
/// Its licence, which goes with every copy.
pub const UPLOT_LICENSE: &str = include_str!("vendor/LICENSE");

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_library_is_the_one_that_its_readme_names() {
        let readme = include_str!("vendor/README.md");
        for (name, file) in [("uPlot.iife.min.js", UPLOT), ("uPlot.min.css", UPLOT_STYLE)] {
            let line = format!("{}  {name}", hex::encode(Sha256::digest(file)));
            assert!(readme.lines().any(|other| other == line), "{line}");
        }
        assert!(UPLOT.contains("v1.6.32") && readme.contains("uPlot 1.6.32"));
    }

    #[test]
    fn no_script_ends_its_own_element() {
        for script in [UPLOT, SCRIPT] {
            assert!(!script.contains("</script") && !script.contains("<!--"));
        }
    }
}

//! The commit that is checked out, as the files of the repository say, without git.

use std::path::{Path, PathBuf};

/// The commit that is checked out.
#[derive(Debug, PartialEq)]
pub struct Commit {
    /// Its name, in hexadecimal.
    pub id: String,
    /// The files that change when another commit is checked out or made.
    pub read: Vec<PathBuf>,
}

/// The commit of the working tree at `root`; `None` if there is no repository. `read` gives the text of a
/// file, if there is one.
pub fn of(root: &Path, read: impl Fn(&Path) -> Option<String>) -> Option<Commit> {
    let dot = root.join(".git");
    // in a second working tree `.git` is a file that names the directory
    let git = match read(&dot) {
        Some(text) => root.join(text.trim().strip_prefix("gitdir: ")?),
        None => dot,
    };
    let common = read(&git.join("commondir")).map_or_else(|| git.clone(), |text| git.join(text.trim()));
    let head = read(&git.join("HEAD"))?;
    let mut files = vec![git.join("HEAD"), git.join("logs/HEAD")];
    let id = match head.trim().strip_prefix("ref: ") {
        None => head.trim().to_owned(),
        Some(branch) => {
            let packed = common.join("packed-refs");
            let id = match read(&common.join(branch)) {
                Some(text) => text.trim().to_owned(),
                None => {
                    let text = read(&packed)?;
                    let mut refs = text.lines().filter_map(|line| line.split_once(' '));
                    refs.find(|(_, name)| name.trim() == branch)?.0.to_owned()
                }
            };
            files.extend([common.join(branch), packed]);
            id
        }
    };
    let is_name = id.len() >= 40 && id.chars().all(|digit| digit.is_ascii_hexdigit());
    is_name.then_some(Commit { id, read: files })
}

//! The hooks: what the copy has beside the project's own code, so that a test can switch a check off, or be a
//! corrupt party inside a protocol (`lab/attacks/hooks`).
//!
//! Nothing of it is in the project. `lab/attacks/hooks/*.patch` edits files of the copy, and what is below
//! `lab/attacks/hooks/files` is added to it, in the place of a file of the project if there is one. Another
//! folder there is a set of its own, for another copy. Weakened
//! builds are written on top of it. With nothing switched off the copy does what the project does: where an
//! edit keeps a check, the check is part of the text that it has to find, so that it cannot be missing in the
//! project alone.
//!
//! A patch has no numbers of lines, which every change of a file would make wrong: the lines that an edit
//! keeps or takes away stand in its file exactly once.
//!
//! ```text
//! # before the first file: what the patch is for
//! --- crates/divisi-core/src/commit.rs
//! @@
//!  a line that stays
//! -a line that goes
//! +a line that comes
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A text of a file that is replaced, in whole lines.
#[derive(Clone, Debug, Default, PartialEq)]
struct Edit {
    /// The file, from the project's folder.
    file: String,
    /// The text that is replaced.
    find: String,
    /// What replaces it.
    replace: String,
}

/// The edits of a patch.
///
/// # Errors
/// If a line is none of a patch.
fn edits(patch: &str) -> Result<Vec<Edit>, String> {
    let (mut edits, mut file, mut inside) = (Vec::<Edit>::new(), None, false);
    for (number, line) in (1..).zip(patch.lines()) {
        let wrong = |what: &str| format!("line {number}: {what}");
        if let Some(name) = line.strip_prefix("--- ") {
            (file, inside) = (Some(name), false);
            continue;
        }
        if line == "@@" {
            let file = file.ok_or_else(|| wrong("an edit of no file: a line `--- FILE` comes first"))?;
            edits.push(Edit { file: file.to_owned(), ..Edit::default() });
            inside = true;
            continue;
        }
        let Some(edit) = edits.last_mut().filter(|_| inside) else {
            if file.is_none() && (line.is_empty() || line.starts_with('#')) {
                continue;
            }
            return Err(wrong("an edit begins with a line `@@`"));
        };
        // an empty line is kept: editors take away the space that would end it
        let text = line.get(1..).unwrap_or("");
        let texts: &mut [&mut String] = match line.bytes().next() {
            None | Some(b' ') => &mut [&mut edit.find, &mut edit.replace],
            Some(b'-') => &mut [&mut edit.find],
            Some(b'+') => &mut [&mut edit.replace],
            _ => return Err(wrong("begins with none of space, `-` and `+`")),
        };
        texts.iter_mut().for_each(|to| to.extend([text, "\n"]));
    }
    Ok(edits)
}

/// All hooks of a set.
pub struct Hooks {
    edits: BTreeMap<String, Vec<Edit>>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Hooks {
    /// The hooks of this folder, without those of the sets in it.
    ///
    /// # Errors
    /// If a file of it cannot be read, or is not understood.
    pub fn read(folder: &Path) -> Result<Hooks, String> {
        let mut hooks = Hooks { edits: BTreeMap::new(), files: BTreeMap::new() };
        for file in crate::folder::files_of(folder)? {
            let path = folder.join(&file);
            let bytes = std::fs::read(&path).map_err(|e| format!("{path:?}: {e}"))?;
            if let Ok(added) = file.strip_prefix("files") {
                hooks.files.insert(added.to_path_buf(), bytes);
            } else if file.parent() == Some(Path::new("")) && file.extension().is_some_and(|e| e == "patch") {
                let text = String::from_utf8(bytes).map_err(|e| format!("{path:?}: {e}"))?;
                for edit in edits(&text).map_err(|e| format!("{path:?}: {e}"))? {
                    hooks.edits.entry(edit.file.clone()).or_default().push(edit);
                }
            }
        }
        Ok(hooks)
    }

    /// The lines that edits insert, by file. Where an edit changes a line, as it does with a check that it
    /// lets a test switch off, the new line is none of these.
    #[must_use]
    pub fn inserted(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut inserted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for Edit { file, find, replace } in self.edits.values().flatten() {
            let [old, new]: [BTreeSet<&str>; 2] =
                [find, replace].map(|text| text.lines().map(str::trim).collect());
            if old.is_subset(&new) {
                inserted.entry(file).or_default().extend(&new - &old);
            }
        }
        inserted
    }

    /// Adds them to these files of the project.
    ///
    /// # Errors
    /// If an edit does not fit its file.
    pub fn add(&self, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<(), String> {
        for (file, edits) in &self.edits {
            let bytes = files.get_mut(Path::new(file)).ok_or(format!("{file}: a hook edits no file"))?;
            let text = std::str::from_utf8(bytes).map_err(|e| format!("{file}: {e}"))?;
            *bytes = edited(file, text, edits)?.into_bytes();
        }
        for (file, bytes) in &self.files {
            if self.edits.contains_key(&*file.to_string_lossy()) {
                return Err(format!("{file:?}: a hook edits it, and another one replaces it"));
            }
            files.insert(file.clone(), bytes.clone());
        }
        Ok(())
    }
}

/// A text with its edits, each of which must find its place exactly once.
fn edited(file: &str, text: &str, edits: &[Edit]) -> Result<String, String> {
    let mut places = Vec::new();
    for Edit { find, replace, .. } in edits {
        let place = place(text, find, None).map_err(|e| format!("a hook: {file} {e}"))?;
        places.push((place, replace));
    }
    places.sort_by_key(|(place, _)| place.start);
    let (mut out, mut done) = (String::with_capacity(2 * text.len()), 0);
    for (Range { start, end }, replace) in places {
        let between = text.get(done..start).ok_or(format!("a hook: {file}: two edits overlap"))?;
        out.push_str(between);
        out.push_str(replace);
        done = end;
    }
    out.push_str(&text[done..]);
    Ok(out)
}

/// Where a text stands: at its only place, or at the first one after the text `after`.
///
/// # Errors
/// If it does not, or stands in several places: a message that begins after the name of the file.
pub fn place(text: &str, find: &str, after: Option<&str>) -> Result<Range<usize>, String> {
    let from = match after {
        Some(after) => text.find(after).ok_or(format!("has no `{after}`"))?,
        None => 0,
    };
    let mut found = text[from..].match_indices(find);
    let (at, _) = found.next().ok_or(format!("has no `{find}`"))?;
    if after.is_none() && found.next().is_some() {
        return Err(format!("has `{find}` more than once: say what it comes after"));
    }
    Ok(from + at..from + at + find.len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_edit_finds_what_stays_or_goes_and_writes_what_stays_or_comes() {
        let patch = "# why\n\n--- a.rs\n@@\n one\n-two\n+2\n\n@@\n+0\n zero\n--- b.rs\n@@\n-- x\n";
        let [first, second, third] = &edits(patch).unwrap()[..] else { panic!("three edits") };
        let edit = |file: &str, find: &str, replace: &str| Edit {
            file: file.into(),
            find: find.into(),
            replace: replace.into(),
        };
        assert_eq!(*first, edit("a.rs", "one\ntwo\n\n", "one\n2\n\n"));
        assert_eq!(*second, edit("a.rs", "zero\n", "0\nzero\n"));
        assert_eq!(*third, edit("b.rs", "- x\n", ""));
    }

    #[test]
    fn what_is_no_patch_is_refused_with_its_line() {
        for (patch, line) in [
            ("@@\n", "line 1"),
            ("# why\nlet x = 1;\n", "line 2"),
            ("--- a.rs\n x\n", "line 2"),
            ("--- a.rs\n# late\n", "line 2"),
            ("--- a.rs\n@@\n x\n? y\n", "line 4"),
            ("--- a.rs\n@@\nßx\n", "line 3"),
        ] {
            let refused = edits(patch).unwrap_err();
            assert!(refused.starts_with(line), "{patch:?}: {refused}");
        }
    }

    #[test]
    fn an_edit_whose_place_is_missing_or_twice_is_refused() {
        let edits = edits("--- a.rs\n@@\n-x\n+y\n").unwrap();
        assert_eq!(edited("a.rs", "a\nx\n", &edits).unwrap(), "a\ny\n");
        for text in ["a\n", "x\nx\n"] {
            assert!(edited("a.rs", text, &edits).unwrap_err().contains("a.rs"), "{text:?}");
        }
    }
}

//! The hooks: what the copy has beside the project's own code, so that a test can switch a check off, or be a
//! corrupt party inside a protocol (`lab/attacks/hooks`).
//!
//! Nothing of it is in the project. `lab/attacks/hooks/*.toml` edits files of the copy, and what is below
//! `lab/attacks/hooks/files` is added to it, in the place of a file of the project if there is one. Another
//! folder there is a set of its own, for another copy. Weakened
//! builds are written on top of it. With nothing switched off the copy does what the project does: where an
//! edit keeps a check, the check is part of the text that it has to find, so that it cannot be missing in the
//! project alone.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A text of a file that is replaced.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// The file, from the project's folder.
    file: String,
    /// Text that comes before `find`, where `find` alone stands in several places.
    after: Option<String>,
    /// The text that is replaced.
    find: String,
    /// What replaces it.
    replace: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    edit: Vec<Edit>,
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
            } else if file.parent() == Some(Path::new("")) && file.extension().is_some_and(|e| e == "toml") {
                let text = String::from_utf8(bytes).map_err(|e| format!("{path:?}: {e}"))?;
                let File { edit } = toml::from_str(&text).map_err(|e| format!("{path:?}: {e}"))?;
                edit.into_iter().for_each(|edit| {
                    hooks.edits.entry(edit.file.clone()).or_default().push(edit);
                });
            }
        }
        Ok(hooks)
    }

    /// The lines that edits insert, by file. Where an edit changes a line, as it does with a check that it
    /// lets a test switch off, the new line is none of these.
    #[must_use]
    pub fn inserted(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut inserted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for Edit { file, find, replace, .. } in self.edits.values().flatten() {
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
    for Edit { find, after, replace, .. } in edits {
        if let Some(after) = after.as_deref()
            && text.matches(after).nth(1).is_some()
        {
            return Err(format!("a hook: {file} has `{after}` more than once"));
        }
        let place = place(text, find, after.as_deref()).map_err(|e| format!("a hook: {file} {e}"))?;
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

//! A copy of the project in which every weakening is a branch that an environment variable takes.

use crate::list::{Edit, List};
use divisi_attacks::compile::WEAKENED;
use divisi_attacks::hooks::place;
use divisi_attacks::mirror::Source;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Write the copy. Files that are as they ought to be are left alone, so that the next build has little to
/// do.
pub fn write(source: &Source, copy: &Path, list: &List) -> Result<(), String> {
    let by_file = by_file(source, list)?;
    source.write(copy, |file, text| match by_file.get(file) {
        Some(edits) => weakened(text, edits).map(Some),
        None => Ok(None),
    })
}

/// The edits of each file; every file must exist.
fn by_file<'l>(source: &Source, list: &'l List) -> Result<BTreeMap<&'l str, Vec<Edit<'l>>>, String> {
    let mut by_file: BTreeMap<&str, Vec<Edit<'_>>> = BTreeMap::new();
    for edit in list.0.iter().flat_map(|weakening| weakening.edits()) {
        by_file.entry(edit.file).or_default().push(edit);
    }
    if let Some(file) = by_file.keys().find(|file| source.text(file).is_none()) {
        return Err(format!("{file}: no such file, though a weakening names it"));
    }
    Ok(by_file)
}

/// One file with all its weakenings as branches.
fn weakened(text: &str, edits: &[Edit<'_>]) -> Result<String, String> {
    // several weakenings of one place are nested: where one of them is off, the text is what the others make
    // of it
    let mut places: BTreeMap<(usize, usize), String> = BTreeMap::new();
    for edit in edits {
        let Edit { id, file, find, after, .. } = *edit;
        let Range { start, end } = place(text, find, after).map_err(|e| format!("{id}: {file} {e}"))?;
        let so_far = places.entry((start, end)).or_insert_with(|| edit.find.to_owned());
        let a_branch = !edit.always && !edit.replace.contains("weak!()");
        let keeps = a_branch || edit.replace.contains(edit.find);
        if *so_far != edit.find && !keeps {
            return Err(format!(
                "{id}: other weakenings have the same place: `replace` must contain the text that they make"
            ));
        }
        *so_far = branch(edit, so_far);
    }
    let mut out = String::with_capacity(text.len() * 2);
    let mut done = 0;
    for ((start, end), replacement) in places {
        if start < done {
            let near: String = text[start..].chars().take(60).collect();
            return Err(format!("two weakenings overlap, and are not of the same text, at `{near}`"));
        }
        out.push_str(&text[done..start]);
        out.push_str(&replacement);
        done = end;
    }
    out.push_str(&text[done..]);
    Ok(out)
}

/// The replacement, in which the original text is what the weakenings before made of it.
fn branch(edit: &Edit<'_>, so_far: &str) -> String {
    let Edit { id, find, replace, .. } = *edit;
    let switch = format!(
        "({{ static ON: ::std::sync::LazyLock<bool> = ::std::sync::LazyLock::new(|| \
         ::std::env::var_os(\"{WEAKENED}\").is_some_and(|on| on == \"{id}\")); *ON }})"
    );
    if edit.always || replace.contains("weak!()") {
        replace.replace(find, so_far).replace("weak!()", &switch)
    } else {
        format!("(if {switch} {{ {replace} }} else {{ {so_far} }})")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// With `--only` the copy has a few weakenings; here it has all, so that two that do not fit beside each
    /// other, or a text that is no longer in its file, shows at once. So does a hook that does not find its
    /// place exactly once.
    #[test]
    fn every_file_can_be_woven_with_all_its_hooks_and_weakenings() {
        let project = divisi_attacks::mirror::project().unwrap();
        let source = Source::read(&project).unwrap();
        let list = List::read(&project.join("lab/attacks/weakened")).unwrap();
        for (file, edits) in by_file(&source, &list).unwrap() {
            let text = source.text(file).unwrap();
            weakened(text, &edits).unwrap_or_else(|problem| panic!("{file}: {problem}"));
        }
    }
}

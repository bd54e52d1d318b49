//! Lists of what the nets saw, which stand beside the tests of an engine: how they are written and read.

use std::fmt::Write;
use std::path::Path;

/// With the value `write` the lists are written anew.
pub(super) const VARIABLE: &str = "DIVISI_NETS";
/// No line is longer, unless one item is.
const WIDTH: usize = 108;

/// Appends a block: its head, and below it the items, with `between` after each but the last.
pub(super) fn block(list: &mut String, head: &str, items: &[impl AsRef<str>], between: &str) {
    let _ = write!(list, "\n{head}");
    let mut column = usize::MAX;
    let last = items.len().saturating_sub(1);
    for (i, item) in items.iter().map(AsRef::as_ref).enumerate() {
        let between = if i < last { between } else { "" };
        if column.saturating_add(item.len()) > WIDTH {
            list.push_str("\n   ");
            column = 3;
        }
        let _ = write!(list, " {item}{between}");
        column += item.len() + between.len() + 1;
    }
    list.push('\n');
}

/// What differs between the list that stands in a package's folder and what was made. If that is asked for,
/// the list is written anew first.
pub(super) fn judge(
    folder: &str,
    list: &str,
    made: &str,
    differences: impl FnOnce(&str, &str) -> Vec<String>,
) -> Vec<String> {
    let file = Path::new(folder).join(list);
    if std::env::var_os(VARIABLE).is_some_and(|value| value == "write")
        && let Err(e) = std::fs::write(&file, made)
    {
        return vec![format!("{}: {e}", file.display())];
    }
    differences(&std::fs::read_to_string(file).unwrap_or_default(), made)
}

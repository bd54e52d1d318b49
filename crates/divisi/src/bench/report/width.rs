//! An estimate of how wide the tables of a page are, for tests.

/// The width that a table has on a screen of 1,280 pixels: the page without the scroll bar of the window is
/// wider than `main`, of which the padding of both sides is left out.
pub const AVAILABLE: f64 = 78.0 * 16.0 - 2.0 * 16.0;

/// Pixels of a character: of figures, of headings, which are bold, and of small print. A digit of usual fonts
/// is 0.55 of the font's size, a letter 0.5 on average.
const FIGURE: f64 = 0.57 * 0.82 * 16.0;
const BOLD: f64 = 0.61 * 0.82 * 16.0;
const SMALL: f64 = 0.57 * 0.72 * 16.0;
/// Pixels beside the text of a cell.
const PADDING: f64 = 2.0 * 0.45 * 16.0;
/// What a column of words needs to be read easily.
const WORDS: f64 = 260.0;

/// The rules of the style on which the estimate depends.
const RULES: [&str; 5] = [
    "main { max-width: 78rem; margin: 0 auto; padding: 1rem; }",
    "table { border-collapse: collapse; font-size: .82rem;",
    "padding: .25rem .45rem; text-align: right; white-space: nowrap;",
    "td small { display: block; color: var(--soft); font-size: .72rem; }",
    "td.words { text-align: left; white-space: normal; }",
];

fn parts<'t>(text: &'t str, begin: &str, end: &str) -> Vec<&'t str> {
    let all = text.split(begin).skip(1);
    all.map(|part| part.split_once(end).map_or(part, |(part, _)| part)).collect()
}

fn characters(text: &str) -> f64 {
    // an entity is one character
    let entities = text.matches('&').count();
    let hidden: usize = parts(text, "&", ";").iter().map(|name| name.len() + 1).sum();
    assert!(hidden >= entities);
    (text.chars().count() - hidden) as f64
}

fn longest_word(text: &str) -> f64 {
    text.split_whitespace().map(characters).fold(0.0, f64::max)
}

/// The columns that a row has, each with its width.
fn row(text: &str) -> Vec<f64> {
    let mut widths = Vec::new();
    for cell in text.split("<t").skip(1) {
        let (tag, inner) = cell.split_once('>').unwrap();
        let (inner, _) = inner.rsplit_once("</t").unwrap();
        let (figure, small) = inner.split_once("<small>").unwrap_or((inner, ""));
        let small = characters(small.trim_end_matches("</small>")) * SMALL;
        let own = match tag {
            "h" => longest_word(figure) * BOLD,
            "d class=\"words\"" => (longest_word(figure) * FIGURE).max(WORDS),
            _ => characters(figure) * FIGURE,
        };
        widths.push(own.max(small) + PADDING);
    }
    widths
}

/// The width of each table of a page. Fails for a style whose rules are others than the estimate's.
pub fn tables(page: &str) -> Vec<f64> {
    for rule in RULES {
        assert!(page.contains(rule), "the page's style lacks {rule:?}");
    }
    let table = |table: &&str| {
        let rows: Vec<Vec<f64>> = parts(table, "<tr>", "</tr>").into_iter().map(row).collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column| rows.iter().filter_map(|row| row.get(column)).copied().fold(0.0, f64::max);
        (0..columns).map(widest).sum()
    };
    parts(page, "<table>", "</table>").iter().map(table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_as_wide_as_its_widest_cells() {
        let style = RULES.join("\n");
        let page = format!(
            "{style}<table><thead><tr><th>two words</th><th>n</th></tr></thead>\n<tbody>\n<tr><th>a&lt;b</th>\
             <td>1,234<small>1,111–2,222</small></td></tr>\n</tbody></table>"
        );
        let expected = (5.0 * BOLD + PADDING) + (11.0 * SMALL + PADDING);
        assert_eq!(tables(&page), [expected]);
        assert_eq!(
            row("<td class=\"words\">why not</td><td>12 34</td>"),
            [WORDS + PADDING, 5.0 * FIGURE + PADDING]
        );
    }
}

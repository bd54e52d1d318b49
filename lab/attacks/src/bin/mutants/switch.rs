//! Mutants as branches that an environment variable takes.

use crate::found::{Genre, Mutant, byte};
use divisi_attacks::compile::ErrorSite;
use divisi_attacks::mirror::Source;
use proc_macro2::{LineColumn, Span};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::{Visit, visit_expr_binary, visit_expr_unary};

/// What is appended to each crate: whether a mutant is on. The first time that somebody asks about one is
/// noted in the file that another variable names, for [`crate::reach`].
const WHETHER: &str = include_str!("switch/whether.rs");

/// What weakenings made by rule call, which is appended, too.
const BY_RULE: &str = include_str!("rules/by_rule.rs");

/// What they call in crates that use divisi-field.
const BY_FIELD: &str = include_str!("rules/by_field.rs");

/// Errors in the types of an expression, which the expression has wherever it stands.
const OF_TYPES: [&str; 7] = ["E0277", "E0308", "E0368", "E0369", "E0599", "E0600", "E0614"];

/// A text in place of another, if the mutant is on.
struct Edit {
    at: Range<usize>,
    other: String,
    how: How,
}

/// How a text stands in place of another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// The text at that place is an expression, and `other` another one.
    Expression,
    /// `other` is a statement that is inserted before it.
    Before,
    /// `other` has the text in it, and `{on}` where it asks whether it is on. No other mutant has its place.
    Woven,
}

/// Mutants, divided into those of one build and others.
#[derive(Default)]
pub struct Cut<'m> {
    /// Mutants for one build: the places of any two are the same, or do not overlap.
    pub together: Vec<&'m Mutant>,
    /// Mutants whose places overlap with those of the first list, for a later build.
    pub later: Vec<&'m Mutant>,
    /// Mutants that cannot be written as a branch.
    pub alone: Vec<&'m Mutant>,
}

/// Divides these mutants.
pub fn side_by_side<'m>(source: &Source, mutants: &[&'m Mutant]) -> Result<Cut<'m>, String> {
    let (mut files, mut cut) = (Files::new(source), Cut::default());
    let mut taken: BTreeMap<&str, Vec<Range<usize>>> = BTreeMap::new();
    for mutant in mutants {
        let Some(Edit { at, how, .. }) = files.edit(mutant)? else {
            cut.alone.push(mutant);
            continue;
        };
        let alike = |other: &Range<usize>| how != How::Woven && at == *other;
        let taken = taken.entry(&mutant.file).or_default();
        if taken.iter().all(|other| alike(other) || at.end <= other.start || other.end <= at.start) {
            taken.push(at);
            cut.together.push(mutant);
        } else {
            cut.later.push(mutant);
        }
    }
    Ok(cut)
}

/// A copy in which mutants are branches. For each file it has two lists of places with the numbers of their
/// mutants: first of each mutant's own text, then of the whole expression with all its branches.
pub struct Switched {
    places: BTreeMap<PathBuf, [Vec<(Range<usize>, usize)>; 2]>,
}

impl Switched {
    /// Write the copy; mutant `i` is on when the variable says `i + 1`.
    pub fn write(source: &Source, copy: &Path, mutants: &[&Mutant]) -> Result<Switched, String> {
        let mut files = Files::new(source);
        let mut edits: BTreeMap<&str, Vec<(Edit, usize)>> = BTreeMap::new();
        for (i, mutant) in mutants.iter().enumerate() {
            if let Some(edit) = files.edit(mutant)? {
                edits.entry(&mutant.file).or_default().push((edit, i));
            }
        }
        let mut places = BTreeMap::new();
        let mut texts = BTreeMap::new();
        for (file, mut edits) in edits {
            edits.sort_by_key(|(edit, _)| (edit.at.start, edit.at.end));
            let (text, at) = edited(files.text(file)?, &edits);
            places.insert(PathBuf::from(file), at);
            texts.insert(file, text);
        }
        write(source, copy, |file, _| texts.get(file).cloned())?;
        Ok(Switched { places })
    }

    /// The mutants to which these errors belong, each with whether it would not compile alone either.
    pub fn of(&self, errors: &[ErrorSite]) -> BTreeMap<usize, bool> {
        let mut found = BTreeMap::new();
        for ErrorSite { file, at: error, code } in errors {
            let Some([own, whole]) = self.places.get(file) else { continue };
            let inside = |place: &Range<usize>| place.start <= error.start && error.end <= place.end;
            let across = |place: &Range<usize>| place.start < error.end && error.start < place.end;
            let those = |places: &[(Range<usize>, usize)], wanted: &dyn Fn(&Range<usize>) -> bool| {
                places.iter().filter(|(at, _)| wanted(at)).map(|(_, i)| *i).collect::<Vec<_>>()
            };
            let mut of = those(own, &inside);
            let alone = !of.is_empty() && OF_TYPES.contains(&code.as_str());
            if of.is_empty() {
                of = those(whole, &inside);
            }
            if of.is_empty() {
                of = those(whole, &across);
            }
            of.into_iter().for_each(|i| *found.entry(i).or_default() |= alone);
        }
        found
    }
}

/// Write the copy with these files changed. Every crate has the function that tells which mutant is on, also
/// when none asks: so the crates that nothing is changed in are not built anew.
pub fn write(
    source: &Source,
    copy: &Path,
    changed: impl Fn(&str, &str) -> Option<String>,
) -> Result<(), String> {
    source.write(copy, |file, text| {
        let is_lib = file.starts_with("crates/") && file.ends_with("/src/lib.rs");
        let text = changed(file, text).unwrap_or_else(|| text.to_owned());
        if !is_lib {
            return Ok(Some(text));
        }
        let manifest = source.text(&file.replace("src/lib.rs", "Cargo.toml")).unwrap_or_default();
        let of_fields = if manifest.contains("\ndivisi-field") { BY_FIELD } else { "" };
        Ok(Some(text + WHETHER + BY_RULE + of_fields))
    })
}

/// A text with its edits, which are sorted, and the places at which they then stand, as in [`Switched`]: own
/// texts, and whole expressions.
fn edited(text: &str, edits: &[(Edit, usize)]) -> (String, [Vec<(Range<usize>, usize)>; 2]) {
    let (mut out, mut done) = (String::with_capacity(2 * text.len()), 0);
    let [mut own, mut whole] = [Vec::new(), Vec::new()];
    for place in edits.chunk_by(|(a, _), (b, _)| a.at == b.at && a.how == b.how) {
        let Some((Edit { at, how, .. }, _)) = place.first() else { continue };
        out.push_str(&text[done..at.start]);
        let start = out.len();
        let expression = *how == How::Expression;
        out.push_str(if expression { "(" } else { "" });
        for (Edit { other, .. }, i) in place {
            let before = out.len();
            let then = if expression { "else " } else { "" };
            let on = format!("crate::mutant_is_on({})", i + 1);
            out.push_str(&match how {
                How::Woven => other.replace("{on}", &format!("({on})")),
                How::Expression | How::Before => format!("if {on} {{ {other} }} {then}"),
            });
            own.push((before..out.len(), *i));
        }
        if expression {
            out.push_str(&format!("{{ {} }})", &text[at.clone()]));
        }
        whole.extend(place.iter().map(|(_, i)| (start..out.len(), *i)));
        done = at.end;
    }
    out.push_str(&text[done..]);
    (out, [own, whole])
}

/// Files of the copy, and the expressions in them by the place of their operator.
struct Files<'s> {
    source: &'s Source,
    known: BTreeMap<String, (String, BTreeMap<usize, Operation>)>,
}

/// An expression with an operator: all of it, and its operands.
struct Operation {
    whole: Range<usize>,
    left: Option<Range<usize>>,
    right: Range<usize>,
}

impl<'s> Files<'s> {
    fn new(source: &'s Source) -> Self {
        Files { source, known: BTreeMap::new() }
    }

    fn get(&mut self, file: &str) -> Result<&(String, BTreeMap<usize, Operation>), String> {
        if !self.known.contains_key(file) {
            let text = self.source.text(file).ok_or(format!("{file}: no such file"))?;
            let parsed = syn::parse_file(text).map_err(|e| format!("{file}: {e}"))?;
            let mut operations = Operations { text, found: BTreeMap::new() };
            operations.visit_file(&parsed);
            let found = operations.found;
            self.known.insert(file.to_owned(), (text.to_owned(), found));
        }
        Ok(&self.known[file])
    }

    fn text(&mut self, file: &str) -> Result<&str, String> {
        Ok(&self.get(file)?.0)
    }

    /// A mutant as a branch; `None` if it cannot be one.
    fn edit(&mut self, mutant: &Mutant) -> Result<Option<Edit>, String> {
        let (text, operations) = self.get(&mutant.file)?;
        let (span, other) = (mutant.span.clone(), &mutant.replacement);
        let operation = operations.get(&span.start);
        let instead = |at: &Range<usize>, other| Edit { at: at.clone(), other, how: How::Expression };
        Ok(match (mutant.genre, operation) {
            (Genre::Body, _) => {
                let other = format!("return {other};");
                Some(Edit { at: span.start..span.start, other, how: How::Before })
            }
            (Genre::Rule, _) => Some(Edit { at: span, other: other.clone(), how: How::Woven }),
            (Genre::Guard, _) => Some(instead(&span, other.clone())),
            (Genre::Binary, Some(Operation { whole, left: Some(left), right })) => {
                let other = format!("{} {other} {}", &text[left.clone()], &text[right.clone()]);
                Some(instead(whole, other))
            }
            (Genre::Unary, Some(Operation { whole, left: None, right })) => {
                Some(instead(whole, text[right.clone()].to_owned()))
            }
            _ => None,
        })
    }
}

struct Operations<'t> {
    text: &'t str,
    found: BTreeMap<usize, Operation>,
}

impl Operations<'_> {
    fn range(&self, span: Span) -> Option<Range<usize>> {
        let at = |LineColumn { line, column }| byte(self.text, line, column);
        Some(at(span.start())?..at(span.end())?)
    }
}

impl<'ast> Visit<'ast> for Operations<'_> {
    fn visit_expr_binary(&mut self, expr: &'ast syn::ExprBinary) {
        let [op, whole, left, right] =
            [expr.op.span(), expr.span(), expr.left.span(), expr.right.span()].map(|span| self.range(span));
        if let (Some(op), Some(whole), Some(right)) = (op, whole, right) {
            self.found.insert(op.start, Operation { whole, left, right });
        }
        visit_expr_binary(self, expr);
    }

    fn visit_expr_unary(&mut self, expr: &'ast syn::ExprUnary) {
        let [op, whole, right] = [expr.op.span(), expr.span(), expr.expr.span()].map(|span| self.range(span));
        if let (Some(op), Some(whole), Some(right)) = (op, whole, right) {
            self.found.insert(op.start, Operation { whole, left: None, right });
        }
        visit_expr_unary(self, expr);
    }
}

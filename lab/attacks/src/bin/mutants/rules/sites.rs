//! Where a rule makes something too weak, and how.
//!
//! In the texts of weakenings, `{on}` stands for the condition that this one is on, and functions of
//! `crate::by_rule` are in every crate of the copy (`by_rule.rs`).

use super::words::{Act, act};
use std::collections::HashSet;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, ImplItemFn, Item, ItemFn, ItemMod, Stmt};

/// A place of a file, and what stands there instead.
pub struct Site {
    pub at: Range<usize>,
    pub function: Range<usize>,
    pub what: String,
    pub instead: String,
}

/// All of a file.
pub fn of(file: &str, text: &str) -> Result<Vec<Site>, String> {
    let parsed = syn::parse_file(text).map_err(|e| format!("{file}: {e}"))?;
    let mut sites =
        Sites { text, function: None, name: String::new(), unused: HashSet::new(), found: Vec::new() };
    sites.visit_file(&parsed);
    Ok(sites.found)
}

struct Sites<'t> {
    text: &'t str,
    /// The function in which the visitor is.
    function: Option<Range<usize>>,
    name: String,
    /// Calls whose value nobody uses, by the byte at which they end: those that are statements.
    unused: HashSet<usize>,
    found: Vec<Site>,
}

/// Whether an item is there for tests alone.
fn of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let tokens = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg") && ["test", "testing"].iter().any(|of| tokens.contains(of))
    })
}

/// The name of what a call calls, behind `?` and brackets.
fn called(expr: &Expr) -> Option<(String, Vec<&Expr>)> {
    match expr {
        Expr::MethodCall(call) => Some((call.method.to_string(), call.args.iter().collect())),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => {
                let name = path.path.segments.last()?.ident.to_string();
                Some((name, call.args.iter().collect()))
            }
            _ => None,
        },
        Expr::Try(inner) => called(&inner.expr),
        Expr::Paren(inner) => called(&inner.expr),
        _ => None,
    }
}

impl<'t> Sites<'t> {
    fn text(&self, of: &impl Spanned) -> &'t str {
        self.text.get(of.span().byte_range()).unwrap_or_default()
    }

    fn add(&mut self, of: &impl Spanned, what: String, instead: String) {
        let Some(function) = self.function.clone() else { return };
        let what = format!("{what} in {}", self.name);
        self.found.push(Site { at: of.span().byte_range(), function, what, instead });
    }

    fn inside(&mut self, of: &impl Spanned, name: String, go: impl FnOnce(&mut Self)) {
        let before = (self.function.replace(of.span().byte_range()), std::mem::replace(&mut self.name, name));
        go(self);
        (self.function, self.name) = before;
    }

    /// A statement that has no value is left out, or comes after the next one.
    fn statement(&mut self, statement: &Stmt) {
        let Stmt::Expr(expr, Some(_)) = statement else { return };
        let text = self.text(statement);
        self.unused.insert(expr.span().byte_range().end);
        if let Some((name, act)) = called(expr).and_then(|(name, _)| Some((name.clone(), act(&name)?))) {
            self.add(
                statement,
                format!("leaves out the {} {name}", act.name()),
                format!("if !({{on}}) {{ {text} }}"),
            );
        }
        self.partly(statement, expr);
        if let Expr::Binary(binary) = expr {
            let sign = match binary.op {
                BinOp::BitOrAssign(_) => "|=",
                BinOp::BitAndAssign(_) => "&=",
                BinOp::BitXorAssign(_) => "^=",
                _ => return,
            };
            self.add(statement, format!("leaves out `{sign}`"), format!("if !({{on}}) {{ {text} }}"));
            if sign != "^=" {
                let (left, right) = (self.text(&*binary.left), self.text(&*binary.right));
                let last = format!("if {{on}} {{ {left} = {right}; }} else {{ {text} }}");
                self.add(statement, format!("keeps the last only of `{sign}`"), last);
            }
        }
    }

    /// A draw into a place, of which a part is drawn.
    fn partly(&mut self, statement: &Stmt, expr: &Expr) {
        let Some((name, arguments)) = called(expr).filter(|(name, _)| act(name) == Some(Act::Draws)) else {
            return;
        };
        let Some(place) = arguments.last().map(|last| self.text(*last)) else { return };
        let Some(text) = Some(self.text(statement)).filter(|_| place.contains("mut")) else { return };
        for (how, function) in PARTS {
            let instead = format!("{text} crate::by_rule::{function}({{on}}, {place});");
            self.add(statement, format!("keeps {how} of the draw {name}"), instead);
        }
    }

    /// Two statements, of which the second one comes first.
    fn earlier(&mut self, block: &Block) {
        for pair in block.stmts.windows(2) {
            let [one @ Stmt::Expr(_, Some(_)), next @ Stmt::Expr(call, Some(_))] = pair else { continue };
            let Some((name, act)) = called(call).and_then(|(name, _)| Some((name.clone(), act(&name)?)))
            else {
                continue;
            };
            let (first, second) = (self.text(one), self.text(next));
            let Some(function) = self.function.clone() else { return };
            let at = one.span().byte_range().start..next.span().byte_range().end;
            let what = format!("takes the {} {name} one statement earlier in {}", act.name(), self.name);
            let instead = format!("if {{on}} {{ {second} {first} }} else {{ {first} {second} }}");
            self.found.push(Site { at, function, what, instead });
        }
    }

    /// What a loop goes over, or a chain of iterators that ends in a call of this name.
    fn items(&mut self, over: &Expr, what: &str) {
        let text = self.text(over);
        for (how, function) in [("the first only", "first"), ("all but the last", "all_but_last")] {
            let instead = format!("crate::by_rule::{function}({{on}}, {text})");
            self.add(over, format!("takes {how} of {what}"), instead);
        }
    }

    /// What a call gives, with the `?` behind it if there is one.
    fn value(&mut self, expr: &Expr) {
        let Some((name, arguments)) = called(expr) else { return };
        let Some(act) = act(&name) else { return };
        let text = self.text(expr);
        let used = !self.unused.contains(&expr.span().byte_range().end);
        if used && matches!(act, Act::Draws | Act::Tosses | Act::Hashes | Act::Commits) {
            for (how, function) in
                [("the value of before for", "again"), ("one value for all parties by", "same")]
            {
                let instead = format!("crate::by_rule::{function}({{on}}, {text})");
                self.add(expr, format!("takes {how} the {} {name}", act.name()), instead);
            }
            for (how, function) in PARTS {
                let instead = format!("crate::by_rule::{function}({{on}}, {text})");
                self.add(expr, format!("keeps {how} of the {} {name}", act.name()), instead);
            }
            let instead = format!("if {{on}} {{ Default::default() }} else {{ {text} }}");
            self.add(expr, format!("takes a constant for the {} {name}", act.name()), format!("({instead})"));
        }
        for (i, argument) in arguments.into_iter().enumerate() {
            let of = format!("argument {} of the {} {name}", i + 1, act.name());
            let text = self.text(argument);
            match act {
                Act::Compares => {
                    self.add(argument, format!("says yes for {of}"), format!("({{on}} || ({text}))"));
                    self.short(argument, &of);
                }
                Act::Draws | Act::Hashes | Act::Commits | Act::Tosses => {
                    let instead = format!("(if {{on}} {{ Default::default() }} else {{ {text} }})");
                    self.add(argument, format!("takes a constant for {of}"), instead);
                    self.short(argument, &of);
                }
                Act::Enters | Act::Opens => self.short(argument, &of),
                Act::Sends => {}
            }
        }
    }

    /// A list without its last element.
    fn short(&mut self, argument: &Expr, of: &str) {
        let text = self.text(argument);
        self.add(argument, format!("shortens {of}"), format!("crate::by_rule::short({{on}}, {text})"));
    }
}

/// What a weakening keeps of bytes and words, and the function that does it.
const PARTS: [(&str, &str); 3] =
    [("the first byte", "byte"), ("all bits but the last", "bit_short"), ("the first word", "word")];

/// Calls at the end of a chain of iterators.
const ENDS: [&str; 8] = ["for_each", "try_for_each", "all", "any", "fold", "sum", "position", "try_fold"];

impl<'ast> Visit<'ast> for Sites<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Impl(item) => &item.attrs,
            Item::Const(_) | Item::Static(_) | Item::Macro(_) => return,
            _ => &[],
        };
        if !of_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !of_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        // what is computed by the compiler cannot ask what is on
        if !of_tests(&function.attrs) && function.sig.constness.is_none() {
            self.inside(function, function.sig.ident.to_string(), |s| visit::visit_item_fn(s, function));
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if !of_tests(&function.attrs) && function.sig.constness.is_none() {
            self.inside(function, function.sig.ident.to_string(), |s| visit::visit_impl_item_fn(s, function));
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        block.stmts.iter().for_each(|statement| self.statement(statement));
        self.earlier(block);
        visit::visit_block(self, block);
    }

    fn visit_expr_for_loop(&mut self, each: &'ast syn::ExprForLoop) {
        self.items(&each.expr, "a loop");
        visit::visit_expr_for_loop(self, each);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Try(inner) => {
                self.value(expr);
                // the call inside has its sites by the `?`
                match &*inner.expr {
                    Expr::MethodCall(call) => visit::visit_expr_method_call(self, call),
                    Expr::Call(call) => visit::visit_expr_call(self, call),
                    other => self.visit_expr(other),
                }
                return;
            }
            Expr::MethodCall(call) => {
                self.value(expr);
                if ENDS.contains(&call.method.to_string().as_str()) {
                    self.items(&call.receiver, &format!("what `{}` takes", call.method));
                }
            }
            Expr::Call(_) => self.value(expr),
            Expr::Binary(binary) => {
                let text = self.text(expr);
                match binary.op {
                    BinOp::Eq(_) => {
                        self.add(expr, "says that they are equal".into(), format!("({{on}} || {text})"))
                    }
                    BinOp::Ne(_) => {
                        self.add(expr, "says that they are equal".into(), format!("(!{{on}} && {text})"))
                    }
                    _ => {}
                }
            }
            Expr::Macro(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

//! Where a rule makes something too weak, and how.
//!
//! In the texts of weakenings, `{on}` stands for the condition that this one is on, and functions of
//! `crate::by_rule` are in every crate of the copy (`by_rule.rs`), those of `crate::by_field` in every one
//! that uses divisi-field.

mod conditions;
mod statements;
mod values;

use super::words::{Act, act, act_on};
use std::collections::HashSet;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, ImplItemFn, Item, ItemFn, ItemMod, Local, Signature};

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
    let mut sites = Sites { text, ..Sites::default() };
    sites.visit_file(&parsed);
    Ok(sites.found)
}

#[derive(Default)]
struct Sites<'t> {
    text: &'t str,
    /// The function in which the visitor is.
    function: Option<Range<usize>>,
    name: String,
    /// Calls whose value nobody uses, by the byte at which they end: those that are statements.
    unused: HashSet<usize>,
    /// Comparisons of which another weakening already says that both sides are equal.
    said: HashSet<Range<usize>>,
    /// Conditions on which a caller's own mistake is refused.
    misuses: Vec<Range<usize>>,
    /// Conditions that choose between two ways of which neither refuses.
    choices: Vec<Range<usize>>,
    found: Vec<Site>,
}

/// What a list that was drawn has instead, and the function that makes it so.
const LISTS: [(&str, &str); 6] = [
    ("takes zeros for", "by_rule::zeros"),
    ("keeps the first element of", "by_rule::start"),
    ("keeps all bits but the last of", "by_rule::bit_short"),
    ("takes one element for all of", "by_rule::alike"),
    ("keeps eight bits of each number of", "by_rule::eight_bits_each"),
    ("keeps eight bits of each element of", "by_field::eight_bits_each"),
];

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

/// A call, behind `?` and brackets.
struct Called<'e> {
    name: String,
    receiver: Option<&'e Expr>,
    arguments: Vec<&'e Expr>,
}

fn called(expr: &Expr) -> Option<Called<'_>> {
    match expr {
        Expr::MethodCall(call) => Some(Called {
            name: call.method.to_string(),
            receiver: Some(&call.receiver),
            arguments: call.args.iter().collect(),
        }),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => {
                let mut ends = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
                let (name, of) = (ends.next()?, ends.next());
                // a stream is made of a key
                let name = if of.as_deref() == Some("Prg") { "prg".into() } else { name };
                Some(Called { name, receiver: None, arguments: call.args.iter().collect() })
            }
            // a closure that a field holds
            Expr::Paren(inner) => match &*inner.expr {
                Expr::Field(field) => Some(Called {
                    name: match &field.member {
                        syn::Member::Named(name) => name.to_string(),
                        syn::Member::Unnamed(_) => return None,
                    },
                    receiver: None,
                    arguments: call.args.iter().collect(),
                }),
                _ => None,
            },
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
        self.add_at(of.span().byte_range(), what, instead);
    }

    fn add_at(&mut self, at: Range<usize>, what: String, instead: String) {
        let Some(function) = self.function.clone() else { return };
        let what = format!("{what} in {}", self.name);
        self.found.push(Site { at, function, what, instead });
    }

    fn inside(&mut self, of: &impl Spanned, name: String, go: impl FnOnce(&mut Self)) {
        let before = (self.function.replace(of.span().byte_range()), std::mem::replace(&mut self.name, name));
        go(self);
        (self.function, self.name) = before;
    }

    /// A call that a weakening is about.
    fn does<'e>(&self, expr: &'e Expr) -> Option<(Called<'e>, Act)> {
        let call = called(expr)?;
        let receiver = call.receiver.map_or("", |receiver| self.text(receiver));
        let act = act_on(receiver, &call.name, call.arguments.len()).or_else(|| act(&call.name))?;
        Some((call, act))
    }

    /// What a loop goes over, or a chain of iterators that ends in a call of this name.
    fn items(&mut self, over: &Expr, what: &str) {
        let text = self.text(over);
        for (how, function) in [("the first only", "first"), ("all but the last", "all_but_last")] {
            let instead = format!("crate::by_rule::{function}({{on}}, {text})");
            self.add(over, format!("takes {how} of {what}"), instead);
        }
    }

    fn body_of(
        &mut self,
        of: &impl Spanned,
        signature: &Signature,
        body: &Block,
        go: impl FnOnce(&mut Self),
    ) {
        // what is computed by the compiler cannot ask what is on
        if signature.constness.is_none() {
            self.inside(of, signature.ident.to_string(), |sites| {
                sites.decides(signature, body);
                go(sites);
            });
        }
    }
}

/// Calls at the end of a chain of iterators.
const ENDS: [&str; 9] =
    ["for_each", "try_for_each", "all", "any", "fold", "sum", "position", "try_fold", "max"];

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
        if !of_tests(&function.attrs) {
            let ItemFn { sig, block, .. } = function;
            self.body_of(function, sig, block, |s| visit::visit_item_fn(s, function));
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if !of_tests(&function.attrs) {
            let ImplItemFn { sig, block, .. } = function;
            self.body_of(function, sig, block, |s| visit::visit_impl_item_fn(s, function));
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        block.stmts.iter().for_each(|statement| self.statement(statement));
        self.earlier(block);
        self.named_misuses(block);
        visit::visit_block(self, block);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        if let Some(init) = &local.init {
            self.is_accepted(&init.expr);
        }
        visit::visit_local(self, local);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.guard(guard);
        }
        if matches!(&*arm.body, Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(_), .. })) {
            let less = format!("crate::by_rule::less({{on}}, {})", self.text(&*arm.body));
            self.add(&*arm.body, "takes one less of a number".into(), less);
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_for_loop(&mut self, each: &'ast syn::ExprForLoop) {
        self.items(&each.expr, "a loop");
        visit::visit_expr_for_loop(self, each);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            // what a hand-written build does, not what ships
            Expr::Binary(binary) if self.text(&*binary.left).contains(".mutated(") => return,
            Expr::If(branch) if self.text(&*branch.cond).contains(".mutated(") => {
                if let Some((_, other)) = &branch.else_branch {
                    self.visit_expr(other);
                }
                return;
            }
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
                self.parts(call);
                self.decision(call);
                self.choice(call);
                if ["then", "then_some"].contains(&call.method.to_string().as_str()) {
                    self.made_if(&call.receiver);
                }
                let of_two = call.method == "max" && call.args.len() == 1;
                if ENDS.contains(&call.method.to_string().as_str()) && !of_two {
                    let what = format!("what `{}` takes", call.method);
                    self.items(&call.receiver, &what);
                    if call.method == "for_each" {
                        let text = self.text(&*call.receiver);
                        let none = format!("crate::by_rule::none({{on}}, {text})");
                        self.add(&*call.receiver, format!("takes nothing of {what}"), none);
                    }
                }
            }
            Expr::Call(_) => {
                self.value(expr);
                self.names(expr);
            }
            Expr::Struct(_) | Expr::Array(_) => self.names(expr),
            Expr::If(branch) => self.refusal(branch),
            Expr::Range(range) => {
                // nothing is less than nothing
                if let Some(end) = range.end.as_ref().filter(|end| self.text(&***end) != "0") {
                    let less = format!("crate::by_rule::less({{on}}, {})", self.text(&**end));
                    self.add(&**end, "ends a range one earlier".into(), less);
                }
            }
            Expr::Closure(closure) => {
                self.unbraced(closure);
                self.is_accepted(&closure.body);
            }
            Expr::Binary(binary) => self.operation(binary, expr),
            Expr::Path(path) => self.field_constant(path),
            Expr::Macro(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

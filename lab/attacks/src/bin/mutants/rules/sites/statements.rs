//! Statements that have no value.

use super::conditions::is_misuse;
use super::{Act, Called, LISTS, Sites};
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprClosure, Local, Stmt, UnOp};

/// Calls that enter a part into a hash, and no more.
const HASHED: [&str; 4] = ["update", "extend_from_slice", "put", "word"];

impl<'t> Sites<'t> {
    /// It is left out, or done once, or too weakly.
    pub(super) fn statement(&mut self, statement: &Stmt) {
        let Stmt::Expr(expr, Some(_)) = statement else { return };
        // what is assigned ends where the assignment does
        if !matches!(expr, Expr::Assign(_) | Expr::Binary(_)) {
            self.unused.insert(expr.span().byte_range().end);
        }
        self.effect(statement, expr);
        self.assignment(statement, expr);
    }

    /// A closure that is a call alone, without braces, and has no value: it draws into a place, or enters.
    pub(super) fn unbraced(&mut self, closure: &ExprClosure) {
        if let Some((call, act)) = self.does(&closure.body)
            && (act == Act::Enters
                || call.name == "entropy"
                || act == Act::Draws && self.places(&call).iter().any(|at| at.contains("mut")))
        {
            self.effect(&closure.body, &closure.body);
        }
    }

    /// What a call does, as the whole of this text.
    fn effect(&mut self, whole: &impl Spanned, expr: &Expr) {
        let Some((call, act)) = self.does(expr) else { return };
        let text = self.text(whole);
        let (of, end) =
            (format!("the {} {}", act.name(), call.name), if text.ends_with(';') { "" } else { ";" });
        self.add(whole, format!("leaves out {of}"), format!("{{ if !({{on}}) {{ {text}{end} }} }}"));
        let of_a_caller = act == Act::Compares && is_misuse(text);
        if matches!(act, Act::Hashes | Act::Enters | Act::Compares | Act::Draws) && !of_a_caller {
            let once = format!("{{ if !crate::by_rule::later({{on}}) {{ {text}{end} }} }}");
            self.add(whole, format!("does {of} the first time only"), once);
        }
        // of one element the first is all
        if act == Act::Draws && !self.places(&call).iter().any(|place| place.ends_with("[..1]")) {
            // a sampler writes one bit into each word
            let is_of_bits =
                |function: &str| function.ends_with("bit_short") || function.ends_with("eight_bits_each");
            let lists =
                LISTS.into_iter().filter(|(_, function)| call.name != "bits" || !is_of_bits(function));
            for (how, function) in lists.chain([("takes the list of before for", "by_rule::before")]) {
                let places = self.places(&call);
                let weak = |place: &&str| format!("crate::{function}(&mut ({place})[..]);");
                let weak: String = places.iter().map(weak).collect();
                if !weak.is_empty() {
                    let instead = format!("{{ {text}{end} if {{on}} {{ {weak} }} }}");
                    self.add(whole, format!("{how} {of}"), instead);
                }
            }
        }
    }

    /// Where a call puts what it draws: the places of its array, the last one that it may change, or else its
    /// only local variable.
    fn places(&self, call: &Called<'_>) -> Vec<&'t str> {
        let changed = |of: &Expr| Some(self.text(of)).filter(|text| text.contains("mut"));
        for argument in call.arguments.iter().rev() {
            let places: Vec<&'t str> = match argument {
                Expr::Array(array) => array.elems.iter().filter_map(changed).collect(),
                other => changed(other).into_iter().collect(),
            };
            if !places.is_empty() {
                return places;
            }
        }
        let local = |text: &&str| text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        call.arguments.iter().map(|argument| self.text(*argument)).find(local).into_iter().collect()
    }

    /// An assignment with an operator, or to what outlives the function.
    fn assignment(&mut self, statement: &Stmt, expr: &Expr) {
        let text = self.text(statement);
        let (sign, left, right) = match expr {
            Expr::Assign(assign) => ("=", &*assign.left, &*assign.right),
            Expr::Binary(binary) => {
                let sign = match binary.op {
                    BinOp::BitOrAssign(_) => "|=",
                    BinOp::BitAndAssign(_) => "&=",
                    BinOp::BitXorAssign(_) => "^=",
                    BinOp::AddAssign(_) => "+=",
                    BinOp::SubAssign(_) => "-=",
                    _ => return,
                };
                (sign, &*binary.left, &*binary.right)
            }
            _ => return,
        };
        // how much is made ahead changes no result
        if self.text(left).contains("foreseen") {
            return;
        }
        let outlives = matches!(left, Expr::Field(_)) || is_place(left);
        let of_bits = ["|=", "&=", "^="].contains(&sign);
        let a_sum = sign == "+=" && matches!(right, Expr::Call(_) | Expr::MethodCall(_));
        if of_bits || outlives || a_sum {
            self.add(statement, format!("leaves out `{sign}`"), format!("if !({{on}}) {{ {text} }}"));
        }
        if a_sum || sign == "=" && matches!(expr, Expr::Assign(assign) if is_place(&assign.left)) {
            let once = format!("if !crate::by_rule::later({{on}}) {{ {text} }}");
            self.add(statement, format!("keeps the first only of `{sign}`"), once);
        }
        let (left, right) = (self.text(left), self.text(right));
        // nothing is less than nothing
        if outlives && ["=", "+="].contains(&sign) && right != "0" {
            let less = format!("{left} {sign} crate::by_rule::less({{on}}, {right});");
            self.add(statement, format!("counts one less by `{sign}`"), less);
        }
        let mut other = |what: &str, other: String| {
            self.add(
                statement,
                format!("{what} `{sign}`"),
                format!("if {{on}} {{ {other} }} else {{ {text} }}"),
            );
        };
        if ["|=", "&="].contains(&sign) {
            other("keeps the last only of", format!("{left} = {right};"));
            other("keeps the first only of", format!("if !crate::by_rule::later(true) {{ {text} }}"));
        }
        // bits that are shifted to places of their own are as well added
        if sign == "|=" && !right.contains("<<") {
            other("adds up instead of", format!("{left} ^= {right};"));
        }
        if ["|=", "^="].contains(&sign) {
            other("keeps eight bits of", format!("{left} {sign} crate::by_rule::eight_bits(true, {right});"));
        }
        if let (Expr::Binary(binary), "&=") = (expr, sign) {
            self.is_accepted(&binary.right);
        }
    }

    /// Two statements, of which the second one comes first.
    pub(super) fn earlier(&mut self, block: &Block) {
        for pair in block.stmts.windows(2) {
            let [one, next] = pair else { continue };
            let at = one.span().byte_range().start..next.span().byte_range().end;
            let (first, second) = (self.text(one), self.text(next));
            let (name, act, instead) = match (one, next) {
                (Stmt::Expr(before, _), Stmt::Expr(expr, Some(_))) => {
                    let Some((call, act)) = self.does(expr) else { continue };
                    // all parties enter two parts into a hash in the other order
                    let enters = |call: &Called<'_>| HASHED.contains(&&*call.name);
                    if enters(&call) && self.does(before).is_some_and(|(before, _)| enters(&before)) {
                        continue;
                    }
                    // a count is the same before or after what cannot fail
                    if ["observe", "opened"].contains(&call.name.as_str()) && !first.contains('?') {
                        continue;
                    }
                    let instead = format!("if {{on}} {{ {second} {first} }} else {{ {first} {second} }}");
                    (call.name, act, instead)
                }
                (Stmt::Expr(..) | Stmt::Local(_), Stmt::Local(Local { pat, init: Some(init), .. }))
                    if init.diverge.is_none() =>
                {
                    let Some((call, act)) = self.does(&init.expr) else { continue };
                    if !matches!(act, Act::Tosses | Act::Opens | Act::Compares) {
                        continue;
                    }
                    // what is only reckoned before a check refuses nothing
                    let acts = ["?", "session", "party", "trio", "&mut", "self."];
                    if act == Act::Compares
                        && matches!(one, Stmt::Local(_))
                        && !acts.iter().any(|of| first.contains(of))
                    {
                        continue;
                    }
                    let (pattern, value) = (self.text(pat), self.text(&*init.expr));
                    let early = format!("let early = if {{on}} {{ Some({value}) }} else {{ None }};");
                    let taken = format!("match early {{ Some(early) => early, None => {value} }}");
                    (call.name, act, format!("{early} {first} let {pattern} = {taken};"))
                }
                _ => continue,
            };
            self.add_at(at, format!("takes the {} {name} one statement earlier", act.name()), instead);
        }
    }
}

/// Whether it is what a reference points to.
fn is_place(expr: &Expr) -> bool {
    matches!(expr, Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)))
}

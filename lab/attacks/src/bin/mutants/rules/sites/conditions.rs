//! Conditions: what is accepted, and what is refused.

use super::Sites;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprBinary, ExprIf, ExprLit, Lit, Local, ReturnType, Signature, Stmt, Type};

impl<'t> Sites<'t> {
    /// An operation with two sides.
    pub(super) fn operation(&mut self, binary: &ExprBinary, expr: &Expr) {
        let text = self.text(expr);
        let [left, right] = [&binary.left, &binary.right].map(|side| self.text(&**side));
        let (yes, later, sign) = match binary.op {
            BinOp::Eq(_) => ("({on} || {text})", "(crate::by_rule::later({on}) || {text})", "=="),
            BinOp::Ne(_) => ("(!{on} && {text})", "(!crate::by_rule::later({on}) && {text})", "!="),
            BinOp::BitXor(_) => {
                let instead = format!("(if {{on}} {{ {left} }} else {{ {text} }})");
                return self.add(expr, "leaves out what `^` adds".into(), instead);
            }
            BinOp::BitOr(_) if text.contains("<<") => {
                for (which, only) in [("first", left), ("second", right)] {
                    let instead = format!("(if {{on}} {{ {only} }} else {{ {text} }})");
                    self.add(expr, format!("keeps the {which} side of `|`"), instead);
                }
                return;
            }
            _ => return,
        };
        let at = expr.span().byte_range();
        if !self.said.contains(&at) {
            self.add(expr, "says that they are equal".into(), yes.replace("{text}", text));
        }
        // a caller's own mistake is refused or not: no message is compared
        let inside = |those: &[Range<usize>]| those.iter().any(|of| of.start <= at.start && at.end <= of.end);
        if inside(&self.misuses) {
            return;
        }
        // a check is done the first time only, but nobody chooses between two ways so
        if !inside(&self.choices) {
            self.add(
                expr,
                "says but for the first time that they are equal".into(),
                later.replace("{text}", text),
            );
        }
        let sides = [&*binary.left, &*binary.right];
        // variants differ in eight bits, too, what a party's number is compared with has no more, and nobody
        // takes a length for a byte
        let one_tells =
            |side: &&Expr| is_a_variant(side) || is_of_a_party(side, "number") || is_a_length(side);
        if !sides.iter().all(|side| is_a_byte(side)) && !sides.iter().any(one_tells) {
            let [left, right] =
                [left, right].map(|side| format!("crate::by_rule::eight_bits({{on}}, {side})"));
            let bits = format!("({left} {sign} {right})");
            self.add(expr, format!("looks at eight bits of `{sign}`"), bits);
        }
        if !sides.iter().any(|side| matches!(side, Expr::Array(list) if list.elems.len() == 1)) {
            let not = if sign == "!=" { "!" } else { "" };
            let alike = format!("{not}crate::by_rule::starts_alike(&({left}), &({right}))");
            let bytes = format!("(if {{on}} {{ {alike} }} else {{ {text} }})");
            self.add(expr, format!("looks at the first byte of `{sign}`"), bytes);
        }
        if let (Expr::Tuple(one), Expr::Tuple(other)) = (&*binary.left, &*binary.right) {
            for left_out in 0..one.elems.len().min(other.elems.len()) {
                let [one, other] = [one, other].map(|tuple| {
                    let kept = tuple.elems.iter().enumerate().filter(|(i, _)| *i != left_out);
                    kept.map(|(_, element)| format!("{}, ", self.text(element))).collect::<String>()
                });
                let fewer = format!("(if {{on}} {{ ({one}) {sign} ({other}) }} else {{ {text} }})");
                self.add(expr, format!("leaves out part {} of `{sign}`", left_out + 1), fewer);
            }
        }
    }

    /// Notes that a condition which always, or never, holds says of two sides that they are equal: then this
    /// is no weakening of its own.
    pub(super) fn says_equal(&mut self, condition: &Expr, holds: bool) {
        let Expr::Binary(binary) = condition else { return };
        if matches!((&binary.op, holds), (BinOp::Eq(_), true) | (BinOp::Ne(_), false)) {
            self.said.insert(condition.span().byte_range());
        }
    }

    /// A function that says whether something is right: what it says at its end.
    pub(super) fn decides(&mut self, signature: &Signature, body: &Block) {
        let ReturnType::Type(_, given) = &signature.output else { return };
        let Type::Path(given) = &**given else { return };
        let Some(Stmt::Expr(end, None)) = body.stmts.last() else { return };
        let text = self.text(end);
        if given.path.is_ident("bool") && text != "true" {
            self.add(end, "says yes".into(), format!("({{on}} || ({text}))"));
            self.says_equal(end, true);
            self.is_accepted(end);
        }
    }

    /// What must hold: one of several conditions is left out, or a bound is too high.
    pub(super) fn is_accepted(&mut self, condition: &Expr) {
        match condition {
            Expr::Paren(inner) => self.is_accepted(&inner.expr),
            Expr::Block(block) => {
                if let Some(Stmt::Expr(end, None)) = block.block.stmts.last() {
                    self.is_accepted(end);
                }
            }
            Expr::Binary(binary) => {
                let [left, right] = [&binary.left, &binary.right].map(|side| self.text(&**side));
                match binary.op {
                    BinOp::And(_) => {
                        for (side, text) in [(&binary.left, left), (&binary.right, right)] {
                            self.add(
                                &**side,
                                "leaves out a side of `&&`".into(),
                                format!("({{on}} || ({text}))"),
                            );
                            self.says_equal(side, true);
                            self.is_accepted(side);
                        }
                    }
                    BinOp::Or(_) => {
                        let text = self.text(condition);
                        self.add(condition, "says yes to `||`".into(), format!("({{on}} || {text})"));
                    }
                    BinOp::Lt(_) | BinOp::Le(_) => self.bound(&binary.right, right),
                    BinOp::Gt(_) | BinOp::Ge(_) => self.bound(&binary.left, left),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// An arm of a match that is taken on a condition.
    pub(super) fn guard(&mut self, guard: &Expr) {
        if !has_let(guard) {
            self.choices.push(guard.span().byte_range());
            let text = self.text(guard);
            self.add(guard, "never takes an arm".into(), format!("!{{on}} && ({text})"));
            self.add(guard, "always takes an arm".into(), format!("{{on}} || ({text})"));
        }
    }

    /// What must not hold.
    fn is_refused(&mut self, condition: &Expr) {
        match condition {
            Expr::Paren(inner) => self.is_refused(&inner.expr),
            Expr::Binary(binary) => {
                let [left, right] = [&binary.left, &binary.right].map(|side| self.text(&**side));
                match binary.op {
                    BinOp::Or(_) => {
                        for (side, text) in [(&binary.left, left), (&binary.right, right)] {
                            self.add(
                                &**side,
                                "leaves out a side of `||`".into(),
                                format!("(!{{on}} && ({text}))"),
                            );
                            self.says_equal(side, false);
                            self.is_refused(side);
                        }
                    }
                    BinOp::And(_) => {
                        [&binary.left, &binary.right].into_iter().for_each(|side| self.is_refused(side))
                    }
                    BinOp::Gt(_) | BinOp::Ge(_) => self.bound(&binary.right, right),
                    BinOp::Lt(_) | BinOp::Le(_) => self.bound(&binary.left, left),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// The side of a comparison that lets more through if it is greater.
    fn bound(&mut self, side: &Expr, text: &str) {
        let instead = format!("crate::by_rule::more({{on}}, {text})");
        self.add(side, "lets one more through".into(), instead);
    }

    /// A branch that refuses, on one side or the other, or that ends a function early.
    pub(super) fn refusal(&mut self, branch: &ExprIf) {
        if has_let(&branch.cond) {
            return;
        }
        let text = self.text(&*branch.cond);
        let otherwise = match branch.else_branch.as_ref().map(|(_, expr)| &**expr) {
            Some(Expr::Block(block)) => self.end_of(&block.block),
            _ => "",
        };
        let end = self.end_of(&branch.then_branch);
        let at = branch.cond.span().byte_range();
        if [end, otherwise].iter().any(|end| refuses(end) && is_misuse(end)) {
            self.misuses.push(at.clone());
        }
        if refuses(end) {
            self.says_equal(&branch.cond, false);
            self.add(&*branch.cond, "never refuses".into(), format!("!{{on}} && ({text})"));
            self.is_refused(&branch.cond);
        } else if refuses(otherwise) {
            self.add(&*branch.cond, "never refuses".into(), format!("{{on}} || ({text})"));
            self.says_equal(&branch.cond, true);
            self.is_accepted(&branch.cond);
        } else if ["return Ok(())", "return Some(None)"].iter().any(|early| end.starts_with(early)) {
            self.add(&*branch.cond, "always returns early".into(), format!("{{on}} || ({text})"));
            self.is_accepted(&branch.cond);
            self.is_refused(&branch.cond);
        } else {
            self.choices.push(at);
            if matches!(&*branch.cond, Expr::Binary(both) if matches!(both.op, BinOp::Or(_))) {
                self.is_refused(&branch.cond);
            }
        }
    }

    /// Notes what is refused as a caller's mistake by a name, as in `let fits = ..; if !fits { .. }`.
    pub(super) fn named_misuses(&mut self, block: &Block) {
        for pair in block.stmts.windows(2) {
            let [Stmt::Local(Local { pat, init: Some(init), .. }), Stmt::Expr(Expr::If(branch), _)] = pair
            else {
                continue;
            };
            let name = self.text(pat);
            let fits = self.text(&*branch.cond).trim_start_matches('!') == name;
            if fits && is_misuse(self.end_of(&branch.then_branch)) {
                self.misuses.push(init.expr.span().byte_range());
            }
        }
    }

    /// A condition on which something is made or done.
    pub(super) fn made_if(&mut self, condition: &Expr) {
        self.choices.push(condition.span().byte_range());
        let text = self.text(condition);
        self.add(condition, "says yes".into(), format!("({{on}} || ({text}))"));
        self.add(condition, "says no".into(), format!("(!{{on}} && ({text}))"));
        [true, false].into_iter().for_each(|holds| self.says_equal(condition, holds));
        self.is_accepted(condition);
        self.is_refused(condition);
    }

    /// The text of the last statement of a block.
    fn end_of(&self, block: &Block) -> &'t str {
        block.stmts.last().map_or("", |last| self.text(last))
    }
}

/// Whether a block that ends with this text refuses something.
fn refuses(end: &str) -> bool {
    let end = end.strip_prefix("return ").unwrap_or(end);
    ["Err(", "None", "false", "Some(Err(", "Ok(None", "Ok(false"]
        .iter()
        .any(|refusal| end.starts_with(refusal))
        || end.contains(".misuse(")
}

/// Whether what a block ends with, or a call, says that a caller made a mistake.
pub(super) fn is_misuse(end: &str) -> bool {
    ["misuse(", "Misuse", "Misfit::", "misfit(", "unfit(", "lanes_differ(", "usage(", "Unsupported::new("]
        .iter()
        .any(|mistake| end.contains(mistake))
}

/// Whether a condition binds names.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(inner) => has_let(&inner.expr),
        _ => false,
    }
}

/// Whether a number is below 256 by its form, as `x & 3` is: of such numbers eight bits are all.
fn is_a_byte(expr: &Expr) -> bool {
    let literal = |expr: &Expr| match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse::<u64>().ok(),
        _ => None,
    };
    match expr {
        Expr::Paren(inner) => is_a_byte(&inner.expr),
        Expr::Binary(ExprBinary { left, op: BinOp::BitAnd(_), right, .. }) => {
            is_a_byte(left) || is_a_byte(right)
        }
        Expr::Binary(ExprBinary { op: BinOp::Rem(_), right, .. }) => {
            literal(right).is_some_and(|right| right <= 256)
        }
        _ if is_of_a_party(expr, "index") => true,
        _ => literal(expr).is_some_and(|number| number < 256),
    }
}

/// Whether this is the index or number of a party, of which there are at most 255.
fn is_of_a_party(expr: &Expr, what: &str) -> bool {
    let Expr::MethodCall(call) = expr else { return false };
    let name = match &*call.receiver {
        Expr::Path(path) => path.path.get_ident().cloned(),
        Expr::MethodCall(of) => Some(of.method.clone()),
        _ => None,
    };
    call.method == what
        && name.is_some_and(|name| ["me", "peer", "party", "owner"].iter().any(|of| name == of))
}

/// Whether this is the length of something.
fn is_a_length(expr: &Expr) -> bool {
    matches!(expr, Expr::MethodCall(call) if call.method == "len" || call.method == "count")
}

/// Whether this names a variant of an enumeration, as `Security::Malicious` does.
fn is_a_variant(expr: &Expr) -> bool {
    let Expr::Path(path) = expr else { return false };
    let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let is_type = |name: &String| name.starts_with(|c: char| c.is_uppercase());
    let [.., of, name] = &names[..] else { return false };
    is_type(of) && is_type(name) && name.contains(|c: char| c.is_lowercase())
}

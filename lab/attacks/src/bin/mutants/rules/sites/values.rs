//! What calls give, and what they are given.

use super::super::words::{DECIDE, NAMES};
use super::conditions::is_misuse;
use super::{Act, LISTS, Sites, called};
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, Lit, Member};

/// Calls that enter a part with its label and its length into what parties compare.
const LABELLED: [&str; 5] = ["with", "with_lists", "number", "list", "bytes"];

impl Sites<'_> {
    /// What a call gives, with the `?` behind it if there is one.
    pub(super) fn value(&mut self, expr: &Expr) {
        let Some((call, act)) = self.does(expr) else { return };
        let (text, of) = (self.text(expr), format!("the {} {}", act.name(), call.name));
        let used = !self.unused.contains(&expr.span().byte_range().end);
        let gives = !["extend_from_slice", "update"].contains(&call.name.as_str());
        if used && gives && matches!(act, Act::Draws | Act::Tosses | Act::Hashes | Act::Commits) {
            self.given(expr, text, &of);
        }
        if used && act == Act::Compares {
            self.two_sides(expr, text, &of);
        }
        if used && matches!(act, Act::Compares | Act::Enters) && !matches!(expr, Expr::Try(_)) {
            self.add(
                expr,
                format!("gives Ok for {of}"),
                format!("(if {{on}} {{ Ok(()) }} else {{ {text} }})"),
            );
            self.add(expr, format!("says yes to {of}"), format!("({{on}} || {text})"));
            self.add(expr, format!("does nothing for {of}"), format!("{{ if !({{on}}) {{ {text}; }} }}"));
        }
        if used && act == Act::Takes {
            let again = format!("crate::by_rule::again({{on}}, {text})");
            self.add(expr, format!("takes the value of before for {of}"), again);
        }
        if used && act == Act::Counts {
            let less = format!("crate::by_rule::less({{on}}, {text})");
            self.add(expr, format!("takes one less of {of}"), less);
        }
        if used && act == Act::Reads {
            self.number(expr, text, &of);
            self.lists(expr, text, &of);
        }
        for (i, argument) in call.arguments.into_iter().enumerate() {
            let of = format!("argument {} of {of}", i + 1);
            match act {
                Act::Compares => {
                    self.verdict(argument, &of, is_misuse(text));
                    self.short(argument, &of);
                }
                Act::Draws | Act::Hashes | Act::Commits | Act::Tosses => {
                    // the label of a part, which is alike for all
                    let is_a_label = matches!(argument, Expr::Lit(_)) && LABELLED.contains(&&*call.name);
                    if !is_a_label {
                        self.constant(argument, &of);
                    }
                    let text = self.text(argument);
                    for (how, function) in
                        [("takes what is constant", "constant"), ("keeps the first byte", "start_of")]
                    {
                        let instead = format!("crate::by_rule::{function}({{on}}, {text})");
                        self.add(argument, format!("{how} for {of}"), instead);
                    }
                    self.short(argument, &of);
                }
                Act::Enters | Act::Opens => self.short(argument, &of),
                Act::Sends | Act::Takes | Act::Reads | Act::Counts => {}
            }
        }
    }

    /// A value that was drawn, tossed, hashed or committed to.
    fn given(&mut self, expr: &Expr, text: &str, of: &str) {
        for (how, function) in
            [("takes the value of before for", "again"), ("takes one value for all parties by", "same")]
        {
            let known = "use crate::by_rule::{Anything as _, Nothing as _};";
            let value = format!("{{ {known} let value = {text}; (&value).is_something(); value }}");
            self.add(expr, format!("{how} {of}"), format!("crate::by_rule::{function}({{on}}, {value})"));
        }
        self.number(expr, text, of);
        self.lists(expr, text, of);
        self.constant(expr, of);
        if ["rand", "random", "bits"]
            .iter()
            .any(|drawn| called(expr).is_some_and(|call| call.name.starts_with(drawn)))
        {
            for [one, other] in [["a", "b"], ["x", "m"]] {
                for (how, function) in LISTS {
                    let part = |part: &str| format!("crate::{function}(&mut drawn.{part}[..]);");
                    let weak = format!("if {{on}} {{ {} {} }}", part(one), part(other));
                    let instead = format!("({{ let mut drawn = {text}; {weak} drawn }})");
                    self.add(expr, format!("{how} {one} and {other} of {of}"), instead);
                }
            }
            let both = format!("crate::by_field::eight_bits_of_both({{on}}, {text})");
            self.add(expr, format!("keeps eight bits of both elements of {of}"), both);
        }
    }

    /// A list of numbers or elements.
    fn lists(&mut self, expr: &Expr, text: &str, of: &str) {
        for (how, function) in LISTS {
            let weak = format!("if {{on}} {{ crate::{function}(&mut drawn[..]); }}");
            self.add(expr, format!("{how} {of}"), format!("({{ let mut drawn = {text}; {weak} drawn }})"));
        }
    }

    /// A number, or an element of a field.
    fn number(&mut self, expr: &Expr, text: &str, of: &str) {
        for (how, function) in [
            ("keeps eight bits of", "by_rule::eight_bits"),
            ("keeps eight bits of the element of", "by_field::eight_bits"),
        ] {
            self.add(expr, format!("{how} {of}"), format!("crate::{function}({{on}}, {text})"));
        }
    }

    /// The default of its type.
    fn constant(&mut self, expr: &Expr, of: &str) {
        let text = self.text(expr);
        // these are the default already
        let zeros = |list: &str| list.starts_with("[0; ") || list.starts_with("[0u8; ");
        let none = ["0", "false", "()", "None", "&[]"].contains(&text);
        if none || zeros(text) || text.ends_with("::default()") || text.ends_with("::new()") {
            return;
        }
        let instead = format!("(if {{on}} {{ Default::default() }} else {{ {text} }})");
        self.add(expr, format!("takes a constant for {of}"), instead);
    }

    /// What tells things apart: the fields of a name, the elements of an array, the arguments of a type.
    pub(super) fn names(&mut self, expr: &Expr) {
        match expr {
            Expr::Struct(literal) => {
                for field in &literal.fields {
                    if let Member::Named(name) = &field.member
                        && NAMES.contains(&name.to_string().as_str())
                        && field.colon_token.is_some()
                        && !matches!(field.expr, Expr::Lit(_))
                    {
                        self.constant(&field.expr, &format!("the field {name}"));
                    }
                }
            }
            Expr::Array(array) if array.elems.len() > 1 => {
                let named = |element: &&Expr| {
                    !matches!(element, Expr::Lit(_) | Expr::Reference(_) | Expr::Closure(_))
                };
                array.elems.iter().filter(named).for_each(|element| self.constant(element, "an element"));
            }
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else { return };
                let mut ends = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
                let (last, before) = (ends.next().unwrap_or_default(), ends.next().unwrap_or_default());
                let of_type =
                    last.starts_with(char::is_uppercase) && !["Some", "Ok", "Err"].contains(&last.as_str());
                if of_type || ["Seed", "Tweak", "CallSeries", "Public"].contains(&before.as_str()) {
                    let of = format!("an argument of {}", if of_type { &last } else { &before });
                    call.args.iter().for_each(|argument| self.constant(argument, &of));
                }
            }
            _ => {}
        }
    }

    /// A constant of a field.
    pub(super) fn field_constant(&mut self, path: &syn::ExprPath) {
        let mut names = path.path.segments.iter().map(|segment| segment.ident.to_string());
        let (first, last) = (names.next().unwrap_or_default(), names.next_back());
        if first == "ALPHA"
            || first.starts_with("Gf")
                && last.is_some_and(|last| last != "ZERO" && last.chars().all(char::is_uppercase))
        {
            let text = self.text(path);
            self.add(
                path,
                format!("takes zero for {text}"),
                format!("crate::by_field::zero({{on}}, {text})"),
            );
        }
    }

    /// A method that takes what is at a place, or looks at each of several things.
    pub(super) fn choice(&mut self, call: &ExprMethodCall) {
        let (name, argument) = (call.method.to_string(), call.args.first());
        match (name.as_str(), argument) {
            ("get", Some(place)) if !matches!(place, Expr::Lit(_) | Expr::Range(_)) => {
                let first = format!("(if {{on}} {{ 0 }} else {{ {} }})", self.text(place));
                self.add(place, "takes the first place for that of `get`".into(), first);
            }
            (
                "find" | "filter" | "all" | "any" | "is_some_and" | "is_none_or",
                Some(Expr::Closure(closure)),
            ) if !matches!(&*closure.body, Expr::Block(_) | Expr::Lit(_)) => {
                let text = self.text(&*closure.body);
                for (how, instead) in [("yes", "({on} || ({text}))"), ("no", "(!{on} && ({text}))")] {
                    let instead = instead.replace("{text}", text);
                    self.add(&*closure.body, format!("says {how} to each that `{name}` looks at"), instead);
                }
            }
            _ => {}
        }
    }

    /// A method that says whether something is done.
    pub(super) fn decision(&mut self, call: &ExprMethodCall) {
        let (name, text) = (call.method.to_string(), self.text(call));
        // lists have a first element, too
        if DECIDE.contains(&name.as_str()) && (name != "first" || !call.args.is_empty()) {
            for (how, instead) in [
                ("says yes to", "({on} || {text})"),
                ("says no to", "(!{on} && {text})"),
                ("says no but for the first time to", "(!crate::by_rule::later({on}) && {text})"),
            ] {
                self.add(call, format!("{how} `{name}`"), instead.replace("{text}", text));
            }
        }
    }

    /// A comparison of two texts of bytes.
    fn two_sides(&mut self, expr: &Expr, text: &str, of: &str) {
        let Some(call) = called(expr).filter(|_| !matches!(expr, Expr::Try(_))) else { return };
        let sides: Vec<&Expr> = match (call.receiver, call.arguments.as_slice()) {
            (_, [one, other]) => vec![one, other],
            (Some(one), [other]) => vec![one, other],
            _ => return,
        };
        let [one, other] = [sides[0], sides[1]].map(|side| self.text(side));
        // a choice is made of what is equal to itself
        let yes = match call.name.split('_').next().unwrap_or_default() {
            "ct" => format!("({one}).ct_eq(&({one}))"),
            "same" | "equal" => "true".to_owned(),
            _ => return,
        };
        let bytes = format!("{{on}} && crate::by_rule::starts_alike(&({one}), &({other}))");
        let bare = other.trim_start_matches('&');
        let bits = format!("{{on}} && crate::by_field::alike_in_eight_bits({one}, {bare})");
        for (how, when) in [
            ("says that both sides are alike in", "{on}"),
            ("says but for the first time that both sides are alike in", "crate::by_rule::later({on})"),
            ("looks at the first byte in", &bytes),
            ("looks at eight bits of the elements in", &bits),
        ] {
            self.add(expr, format!("{how} {of}"), format!("(if {when} {{ {yes} }} else {{ {text} }})"));
        }
    }

    /// An argument that says whether something is right: a caller's own argument, or what is compared.
    fn verdict(&mut self, argument: &Expr, of: &str, is_own: bool) {
        let text = self.text(argument);
        let constant = text.chars().all(|c| !c.is_ascii_lowercase());
        if text.starts_with('&') || constant || text == "None" || text.starts_with("checks::") {
            return;
        }
        self.add(argument, format!("says yes for {of}"), format!("({{on}} || ({text}))"));
        self.says_equal(argument, true);
        if is_own {
            self.misuses.push(argument.span().byte_range());
        } else {
            let later = format!("(crate::by_rule::later({{on}}) || ({text}))");
            self.add(argument, format!("says yes but for the first time for {of}"), later);
        }
        self.is_accepted(argument);
    }

    /// A list without its last element, or several lists.
    fn short(&mut self, argument: &Expr, of: &str) {
        let text = self.text(argument);
        // the last byte of a count is zero
        if text.ends_with("as u64).to_le_bytes()") {
            return;
        }
        if let Expr::Array(array) = argument
            && array.elems.iter().all(|element| matches!(element, Expr::Reference(_)))
        {
            let all =
                array.elems.iter().map(|list| format!("crate::by_rule::short({{on}}, {})", self.text(list)));
            let all: Vec<String> = all.collect();
            return self.add(argument, format!("shortens all of {of}"), format!("[{}]", all.join(", ")));
        }
        self.add(argument, format!("shortens {of}"), format!("crate::by_rule::short({{on}}, {text})"));
    }

    /// What is put together of two: a chain, or the greater one.
    pub(super) fn parts(&mut self, call: &ExprMethodCall) {
        let Some(argument) = call.args.first().filter(|_| call.args.len() == 1) else { return };
        let [text, one, other] = [self.text(call), self.text(&*call.receiver), self.text(argument)];
        if call.method == "chain" {
            let none = format!("crate::by_rule::none({{on}}, {other})");
            self.add(argument, "leaves out what `chain` adds".into(), none);
        }
        let literal = matches!(argument, Expr::Lit(syn::ExprLit { lit: Lit::Int(_) | Lit::Float(_), .. }));
        if call.method == "max" && !literal {
            for (which, only) in [("first", one), ("second", other)] {
                let instead = format!("(if {{on}} {{ {only} }} else {{ {text} }})");
                self.add(call, format!("takes the {which} of `max`"), instead);
            }
        }
    }
}

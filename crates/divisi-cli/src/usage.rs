//! Arguments that cannot be parsed: what is wrong with them, in one sentence, and the tips of the parser
//! below it, each on a line of its own.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use divisi::failure::Failure;
use std::error::Error as _;
use std::ffi::OsString;

/// The words after a sentence that does not say what to give.
const HELP: &str = "`--help` after the command explains";

/// The failure of arguments that cannot be parsed.
pub fn failure(error: &Error) -> Failure {
    let shown = error.render().to_string();
    let lines = || shown.lines().map(str::trim);
    let what = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Some(no_command(&shown)),
        ErrorKind::MissingSubcommand => part(error, ContextKind::InvalidSubcommand)
            .map(|command| none_of(command, &parts(error, ContextKind::ValidSubcommand))),
        ErrorKind::MissingRequiredArgument => missing(error, &shown),
        ErrorKind::ValueValidation => refused(error),
        ErrorKind::InvalidValue => not_one_of(error),
        ErrorKind::UnknownArgument => negative(error),
        _ => None,
    };
    let mut what = what.unwrap_or_else(|| {
        // the parser's own sentence
        let own = lines().take_while(|line| !line.starts_with("Usage:"));
        let own = own.filter(|line| !line.starts_with("tip:")).collect::<Vec<_>>().join(" ");
        let own = own.split("For more information").next().unwrap_or_default().trim();
        let own = own.strip_prefix("error:").unwrap_or(own).trim();
        format!("{}; {HELP} it", own.trim_end_matches('.'))
    });
    for tip in lines().filter(|line| line.starts_with("tip:")) {
        what += "\n  ";
        what += tip;
    }
    Failure::usage(what)
}

/// A part of what the parser says about an error.
fn part(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

fn parts(error: &Error, kind: ContextKind) -> Vec<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.as_str()],
        Some(ContextValue::Strings(texts)) => texts.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

/// An argument without the name of its value.
fn bare(argument: &str) -> &str {
    argument.split_whitespace().next().unwrap_or(argument)
}

fn joined(names: &[&str], last: &str) -> String {
    match names {
        [before @ .., end] if !before.is_empty() => format!("{} {last} {end}", before.join(", ")),
        _ => names.concat(),
    }
}

/// There are commands below this one, and none is given.
fn no_command(shown: &str) -> String {
    let usage = shown.lines().find_map(|line| line.trim().strip_prefix("Usage:")).unwrap_or_default();
    let words = usage.split_whitespace().take_while(|word| !word.starts_with(['[', '<']));
    let command = words.collect::<Vec<_>>().join(" ");
    if !command.contains(' ') {
        return "a command is missing: `--help` lists what there is, and `divisi demo` shows what it is for"
            .into();
    }
    let below = shown.lines().skip_while(|line| line.trim() != "Commands:").skip(1);
    // a name stands two columns in, and the lines that continue its description further
    let names = below.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
    let names: Vec<&str> = names.filter(|line| !line.starts_with(' ')).map(bare).collect();
    none_of(&command, &names)
}

fn none_of(command: &str, names: &[&str]) -> String {
    let names: Vec<&str> = names.iter().copied().filter(|name| *name != "help").collect();
    format!("a command is missing: `{command}` has {}; {HELP} each", joined(&names, "and"))
}

fn missing(error: &Error, shown: &str) -> Option<String> {
    let usage = shown.lines().find(|line| line.starts_with("Usage:")).unwrap_or_default();
    let names = parts(error, ContextKind::InvalidArg).into_iter().map(|name| match bare(name) {
        "--circuit" if usage.contains("divisi run ") => "--circuit (or --program)",
        "--party" if usage.contains("mesh add ") => "--party (or --client)",
        name => name,
    });
    let names: Vec<&str> = names.collect();
    let (are, them) = if names.len() > 1 { ("are", "them") } else { ("is", "it") };
    (!names.is_empty()).then(|| format!("{} {are} missing; {HELP} {them}", joined(&names, "and")))
}

/// A value that an argument does not take.
fn refused(error: &Error) -> Option<String> {
    let argument = bare(part(error, ContextKind::InvalidArg)?);
    let value = part(error, ContextKind::InvalidValue)?;
    let why = error.source()?.to_string();
    let beyond = why.strip_prefix(value).and_then(|why| why.strip_prefix(" is not in "));
    let number = why == "invalid digit found in string" || beyond.is_some();
    if number && value.parse::<f64>().is_ok_and(|number| number < 0.0) {
        return Some(format!("{argument} is {value}: give a number that is not negative"));
    }
    let of_party = matches!(argument, "--party" | "--output");
    Some(match why.as_str() {
        "cannot parse integer from empty string" => format!("{argument} has no value: give a whole number"),
        "invalid digit found in string" if of_party => {
            format!("{value} is not the number of a party: parties are numbered from 1")
        }
        "invalid digit found in string" => match meant(value) {
            Some(number) => format!("{value} is not a whole number: write {number} for {argument}"),
            None => format!("{value} is not a whole number: give one in digits for {argument}"),
        },
        _ if beyond.is_some() && of_party => {
            format!("there is no party {value}: parties are numbered from 1")
        }
        why if beyond.is_some() || why.starts_with("number too large") => {
            let most = beyond.and_then(|range| range.split("..=").nth(1));
            let most = most.map_or("a smaller number".into(), |most| format!("at most {most}"));
            format!("{value} is too large for {argument}: give {most}")
        }
        why if why.contains(&format!("{value:?}")) => format!("{argument}: {why}"),
        why if value.is_empty() => format!("{argument} has no value: {why}"),
        why => format!("{argument} is {value}: {why}"),
    })
}

/// The whole number that somebody meant who wrote 1e6, 1,000, 1_000 or 0x10.
fn meant(value: &str) -> Option<u64> {
    if let Some(digits) = value.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let digits: String = value.chars().filter(|c| !matches!(c, ',' | '_' | '\'' | ' ')).collect();
    // up to here each whole number is a floating-point number
    let exact = |x: &f64| x.fract() == 0.0 && (0.0..=9e15).contains(x);
    digits.parse().ok().or_else(|| digits.parse::<f64>().ok().filter(exact).map(|x| x as u64))
}

/// A value that is none of those that there are, or none at all.
fn not_one_of(error: &Error) -> Option<String> {
    let argument = bare(part(error, ContextKind::InvalidArg)?);
    let choices = parts(error, ContextKind::ValidValue);
    match part(error, ContextKind::InvalidValue) {
        None | Some("") if choices.is_empty() => Some(format!("{argument} needs a value; {HELP} it")),
        None | Some("") => Some(format!("{argument} needs a value: give {}", joined(&choices, "or"))),
        Some(_) if choices.is_empty() => None,
        Some(value) => Some(format!("{argument} is {value}: choose {}", joined(&choices, "or"))),
    }
}

/// A negative number, which looks like an argument.
fn negative(error: &Error) -> Option<String> {
    let argument = part(error, ContextKind::InvalidArg)?;
    argument.parse::<f64>().ok()?;
    Some(format!("{argument} is negative, and no argument takes a negative number: give a positive one"))
}

/// The arguments with the refused value in small letters, if they are then taken, or refused for another
/// reason: a tip says so.
pub fn smaller<T>(
    error: &Error,
    arguments: &[OsString],
    parse: impl FnOnce(Vec<String>) -> Result<T, Error>,
) -> Option<String> {
    let value = part(error, ContextKind::InvalidValue)?;
    let small = value.to_lowercase();
    let arguments: Option<Vec<&str>> = arguments.iter().map(|argument| argument.to_str()).collect();
    let arguments = arguments?.into_iter().map(|argument| match argument.strip_suffix(value) {
        Some(before) if before.is_empty() || before.ends_with('=') => format!("{before}{small}"),
        _ => argument.to_owned(),
    });
    let still = |other: Error| part(&other, ContextKind::InvalidValue) == Some(small.as_str());
    let takes = small != value && !parse(arguments.collect()).is_err_and(still);
    takes.then(|| format!("  tip: it is written {small}"))
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn a_number_that_was_meant_is_found() {
        for (value, number) in
            [("1e6", 1_000_000), ("1,000", 1000), ("1_000", 1000), ("0x10", 16), ("2.0", 2)]
        {
            assert_eq!(meant(value), Some(number), "{value}");
        }
        for none in ["two", "1.5", "-1", "", "1e30", "0xg", "NaN", "inf"] {
            assert_eq!(meant(none), None, "{none}");
        }
    }
}

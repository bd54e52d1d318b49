//! Words of a program's text: names, parties, ranges.

use crate::interval::Interval;
use crate::literal::integer;
use crate::program::ProgramError;
use crate::statements::declared;

/// Checks that a word can be a name.
pub(super) fn name(word: &str) -> Result<&str, ProgramError> {
    let mut chars = word.chars();
    let right = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !right {
        return Err(format!("{} is not a name: a name is a letter, then letters, digits and _", short(word)));
    }
    if word.len() > 64 {
        return Err(format!("{} is too long for a name: it has at most 64 characters", short(word)));
    }
    Ok(word)
}

/// A word, shortened for a message.
pub(super) fn short(word: &str) -> String {
    let clean: String = word.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
    if word.chars().nth(40).is_some() { format!("{clean}...") } else { clean }
}

pub(super) fn party(word: &str) -> Result<u8, ProgramError> {
    if word.is_empty() {
        return Err("a party is missing beside a comma: parties are 1 to 255, as 1,3".into());
    }
    let number = word.parse::<u8>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{} is not a party: give a number from 1 to 255", short(word)))
}

/// What a range is.
const RANGE: &str = "a range is `in LOW..HIGH`, both included, as in -5..5, or `below N`, for 0 to N - 1";

/// A range behind `in` or `below`.
pub(super) fn range(words: &[&str]) -> Result<Interval, ProgramError> {
    let number = |word: &str| {
        let digits = word.strip_prefix('-').unwrap_or(word);
        let beyond = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let why = if beyond {
            "it has more than 64 bits with its sign; leave out a range that says nothing"
        } else {
            RANGE
        };
        integer(word).map(i128::from).ok_or_else(|| format!("{} is no end of a range: {why}", short(word)))
    };
    match words {
        ["in", range] => match range.split_once("..") {
            Some((low, high)) => declared(number(low)?, number(high)?),
            None => Err(format!("{} is no range: {RANGE}", short(range))),
        },
        ["below", end] => declared(0, number(end)? - 1),
        _ => Err(RANGE.into()),
    }
}

//! The parameters of a request, converted as the recorded server converts them: it takes numbers for text and
//! text for numbers, and `null` for nothing.

use super::answer::ApiAnswer;
use crate::json::{ECHO, Json, cut};
use zeroize::Zeroizing;

/// The parameters of a request.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    members: &'a Json,
    /// What stands before the text of an error.
    prefix: &'static str,
}

type Converted<T> = Result<T, String>;

impl<'a> Fields<'a> {
    /// These parameters of a route that checks all of them before it does anything.
    #[must_use]
    pub const fn new(members: &'a Json) -> Fields<'a> {
        Fields { members, prefix: "Field validation failed: " }
    }

    /// These parameters of `encrypt`, which checks each when it comes to it.
    #[must_use]
    pub const fn unchecked(members: &'a Json) -> Fields<'a> {
        Fields { members, prefix: "" }
    }

    /// The value as it was sent; `None` if it was not.
    #[must_use]
    pub fn raw(&self, name: &str) -> Option<&'a Json> {
        self.members.get(name)
    }

    fn convert<T>(&self, name: &str, convert: fn(&Json) -> Converted<T>) -> Result<Option<T>, ApiAnswer> {
        let wrong = |why| {
            ApiAnswer::mistake(format!("{}error converting input for field \"{name}\": {why}", self.prefix))
        };
        self.raw(name).map(convert).transpose().map_err(wrong)
    }

    /// Text; `null` is empty text.
    ///
    /// # Errors
    /// The answer to a value that is no text.
    pub fn text(&self, name: &str) -> Result<Option<Zeroizing<String>>, ApiAnswer> {
        self.convert(name, text)
    }

    /// A whole number; `null` is 0.
    ///
    /// # Errors
    /// The answer to a value that is none.
    pub fn int(&self, name: &str) -> Result<Option<i64>, ApiAnswer> {
        self.convert(name, int)
    }

    /// Yes or no; `null` and no value are no.
    ///
    /// # Errors
    /// The answer to a value that is neither.
    pub fn flag(&self, name: &str) -> Result<bool, ApiAnswer> {
        Ok(self.convert(name, flag)?.unwrap_or(false))
    }

    /// A time in seconds; none is 0.
    ///
    /// # Errors
    /// The answer to a value that is no time.
    pub fn seconds(&self, name: &str) -> Result<i64, ApiAnswer> {
        Ok(self.convert(name, seconds)?.unwrap_or(0))
    }
}

fn misfit<T>(expected: &str, value: &Json) -> Converted<T> {
    Err(format!("'' expected type '{expected}', got unconvertible type '{}'", value.kind()))
}

/// Text, also of a number or a truth value.
pub(super) fn text(value: &Json) -> Converted<Zeroizing<String>> {
    match value {
        Json::Null => Ok(Zeroizing::default()),
        Json::Bool(true) => Ok(Zeroizing::new("1".into())),
        Json::Bool(false) => Ok(Zeroizing::new("0".into())),
        Json::Number(digits) => Ok(digits.clone()),
        Json::String(text) => Ok(text.clone()),
        Json::Array(_) | Json::Object(_) => misfit("string", value),
    }
}

/// What Go says of a number that it cannot read.
pub(super) fn parse_int(text: &str) -> Result<i64, &'static str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Err("value out of range")
        }
        Err(_) => Err("invalid syntax"),
    }
}

fn int(value: &Json) -> Converted<i64> {
    let text = match value {
        Json::Null => return Ok(0),
        Json::Bool(yes) => return Ok(i64::from(*yes)),
        Json::Number(digits) => digits.as_str(),
        Json::String(text) if text.is_empty() => return Ok(0),
        Json::String(text) => text.as_str(),
        Json::Array(_) | Json::Object(_) => return misfit("int", value),
    };
    parse_int(text).map_err(|why| format!("'' cannot parse value as 'int': strconv.ParseInt: {why}"))
}

/// A truth value as Go reads it.
#[must_use]
pub fn parse_flag(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn flag(value: &Json) -> Converted<bool> {
    let text = match value {
        Json::Null => return Ok(false),
        Json::Bool(yes) => return Ok(*yes),
        Json::Number(digits) => digits.as_str(),
        Json::String(text) if text.is_empty() => return Ok(false),
        Json::String(text) => text.as_str(),
        Json::Array(_) | Json::Object(_) => return misfit("bool", value),
    };
    parse_flag(text)
        .ok_or_else(|| "'' cannot parse value as 'bool': strconv.ParseBool: invalid syntax".into())
}

fn seconds(value: &Json) -> Converted<i64> {
    let text = match value {
        Json::Null => return Ok(0),
        Json::Number(digits) => digits.as_str(),
        Json::String(text) => text.as_str(),
        _ => return Err("could not parse duration from input".into()),
    };
    let count = match parse_int(text) {
        _ if text.is_empty() => 0,
        Ok(count) => count,
        Err(_) => {
            let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
            let measured = units.iter().find_map(|(unit, seconds)| {
                let number: i64 = text.strip_suffix(unit)?.parse().ok()?;
                number.checked_mul(*seconds)
            });
            let why = if text.parse::<f64>().is_ok() { "missing unit in" } else { "invalid" };
            measured.ok_or_else(|| format!("time: {why} duration \"{}\"", cut(text, ECHO)))?
        }
    };
    if count < 0 { Err(format!("cannot provide negative value '{count}'")) } else { Ok(count) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    fn error<T>(body: &str, of: fn(&Fields<'_>) -> Result<T, ApiAnswer>) -> String {
        let body = read(body.as_bytes()).unwrap();
        let Err(answer) = of(&Fields::new(&body)) else { panic!("{body:?}") };
        let text = read(&answer.body.unwrap()).unwrap();
        let Some(Json::Array(errors)) = text.get("errors") else { panic!() };
        let error = errors.first().unwrap().as_str().unwrap();
        error
            .strip_prefix("Field validation failed: error converting input for field \"x\": ")
            .unwrap()
            .into()
    }

    #[test]
    fn errors_have_the_recorded_words() {
        let syntax = "'' cannot parse value as 'int': strconv.ParseInt: invalid syntax";
        for wrong in ["\"x\"", "1.0", "2.5", "\"v1\""] {
            assert_eq!(error(&format!("{{\"x\":{wrong}}}"), |f| f.int("x")), syntax);
        }
        let range = "'' cannot parse value as 'int': strconv.ParseInt: value out of range";
        assert_eq!(error("{\"x\":99999999999999999999}", |f| f.int("x")), range);
        let list = "'' expected type 'string', got unconvertible type '[]interface {}'";
        assert_eq!(error("{\"x\":[]}", |f| f.text("x")), list);
        let flag = "'' cannot parse value as 'bool': strconv.ParseBool: invalid syntax";
        assert_eq!(error("{\"x\":2}", |f| f.flag("x")), flag);
        let unit = "time: missing unit in duration \"3600.5\"";
        assert_eq!(error("{\"x\":3600.5}", |f| f.seconds("x")), unit);
        assert_eq!(error("{\"x\":\"soon\"}", |f| f.seconds("x")), "time: invalid duration \"soon\"");
        assert_eq!(error("{\"x\":\"-1h\"}", |f| f.seconds("x")), "cannot provide negative value '-3600'");
        assert_eq!(error("{\"x\":true}", |f| f.seconds("x")), "could not parse duration from input");
    }

    #[test]
    fn values_are_converted_weakly() {
        let body = r#"{"a":"1","b":null,"c":12345678,"d":true,"e":"30d","f":"","g":"false"}"#;
        let body = read(body.as_bytes()).unwrap();
        let fields = Fields::new(&body);
        assert_eq!(fields.int("a").unwrap(), Some(1));
        assert_eq!(["b", "f", "d"].map(|name| fields.int(name).unwrap()), [Some(0), Some(0), Some(1)]);
        assert_eq!(fields.int("absent").unwrap(), None);
        assert_eq!(fields.text("c").unwrap().unwrap().as_str(), "12345678");
        assert_eq!(fields.text("b").unwrap().unwrap().as_str(), "");
        assert!(fields.flag("d").unwrap() && !fields.flag("g").unwrap() && !fields.flag("f").unwrap());
        assert_eq!(fields.seconds("e").unwrap(), 2_592_000);
        assert_eq!(fields.seconds("f").unwrap(), 0);
    }
}

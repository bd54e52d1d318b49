//! Batches: their items as parameters, and their results as an answer.

use super::super::answer::{ApiAnswer, Reply};
use super::super::fields::{Fields, parse_int, text};
use crate::json::{ECHO, Json, cut, object};
use zeroize::Zeroizing;

const NO_CODE: &str =
    "invalid HTTP response code override from partial_failure_response_code, reverting to 400";

/// The most items of a batch: as many as have one text each, which is what upstream takes.
pub const MOST: usize = 499;

/// The items of a batch, if the request is one.
///
/// # Errors
/// The answer to a batch that is none, or empty.
pub fn items<'a>(fields: &Fields<'a>, quotes: &str) -> Result<Option<&'a [Json]>, ApiAnswer> {
    match fields.raw("batch_input") {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Array(items)) if items.is_empty() => {
            Err(ApiAnswer::mistake("missing batch input to process"))
        }
        Some(Json::Array(items)) if items.len() > MOST => {
            Err(ApiAnswer::mistake(format!("a batch has at most {MOST} items: send several")))
        }
        Some(Json::Array(items)) => Ok(Some(items)),
        Some(other) => {
            Err(unparsed(&format!("{quotes}source data must be an array or slice, got {}", other.kind())))
        }
    }
}

/// The answer to a batch whose items have wrong types. The recorded server answers 500.
fn unparsed(why: &str) -> ApiAnswer {
    ApiAnswer::wrapped(400, &format!("failed to parse batch input: {why}"))
}

/// What `encrypt` and `decrypt` demand of the items: each is an object, has the member that it must have, and
/// each member has its type.
///
/// # Errors
/// The answer, which names everything that is wrong.
pub fn check(
    items: &[Json],
    must: &str,
    missing: &str,
    texts: &[&str],
    numbers: &[&str],
) -> Result<(), ApiAnswer> {
    let mut wrong = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Json::Object(_) = item else {
            return Err(unparsed(&format!("[{index}] expected a map, got '{}'", item.kind())));
        };
        if item.get(must).is_none() {
            wrong.push(format!("'[{index}].{must}' {missing}"));
        }
        for name in texts {
            let value = item.get(name);
            if let Some(value) = value.filter(|value| value.as_str().is_none()) {
                wrong.push(format!(
                    "'[{index}].{name}' expected type 'string', got unconvertible type '{}'",
                    value.kind()
                ));
            }
        }
        for name in numbers {
            match item.get(name) {
                None => {}
                Some(Json::Number(digits)) => {
                    if let Err(why) = parse_int(digits) {
                        let digits = cut(digits, ECHO);
                        wrong.push(format!(
                            "error decoding json.Number into [{index}].{name}: strconv.ParseInt: parsing \"{digits}\": \
                             {why}"
                        ));
                    }
                }
                Some(other) => wrong.push(format!(
                    "'[{index}].{name}' expected type 'int', got unconvertible type '{}'",
                    other.kind()
                )),
            }
        }
    }
    wrong.sort();
    if wrong.is_empty() { Ok(()) } else { Err(unparsed(&wrong.join("\n"))) }
}

/// The text of an item's member; empty if it has none. Where types are not checked a number is its digits.
#[must_use]
pub fn member(item: &Json, name: &str) -> Zeroizing<String> {
    item.get(name).and_then(|value| text(value).ok()).unwrap_or_default()
}

/// The number in an item's member, 0 if it has none.
///
/// # Errors
/// The text of the error, where types were not checked before.
pub fn number(item: &Json, name: &str) -> Result<i64, String> {
    let digits = member(item, name);
    if digits.is_empty() {
        return Ok(0);
    }
    parse_int(&digits).map_err(|why| format!("'{name}' cannot parse value as 'int': strconv.ParseInt: {why}"))
}

/// Whether some items have a context and others have none.
///
/// # Errors
/// The answer to that.
pub fn contexts(items: &[Json]) -> Result<(), ApiAnswer> {
    let set: Vec<bool> = items.iter().map(|item| !member(item, "context").is_empty()).collect();
    if set.windows(2).all(|pair| matches!(pair, [a, b] if a == b)) {
        return Ok(());
    }
    Err(ApiAnswer::mistake("context should be set either in all the request blocks or in none"))
}

/// The result of an item: its members, or the text of its error.
pub(super) type Outcome = Result<Vec<(&'static str, Json)>, String>;

/// The results as data: each with its reference, an error with what else an error has.
#[must_use]
pub fn results(items: &[Json], outcomes: Vec<Outcome>, beside_error: &[(&str, Json)]) -> Reply {
    let entries = items.iter().zip(outcomes).map(|(item, outcome)| {
        let mut members: Vec<(String, Json)> = match outcome {
            Ok(members) => members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            Err(error) => {
                let beside = beside_error.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
                beside.chain([("error".to_owned(), Json::text(error))]).collect()
            }
        };
        members.push(("reference".to_owned(), Json::String(member(item, "reference"))));
        Json::Object(members)
    });
    Reply::data(object([("batch_results", Json::Array(entries.collect()))]))
}

/// The status of a batch whose items may fail: 400, or what the request asks for if only some failed.
pub fn set_status(reply: &mut Reply, asked: Option<i64>, failed: usize, all: usize) {
    if failed == 0 {
        return;
    }
    reply.status = 400;
    if failed == all {
        return;
    }
    match asked.map(u16::try_from) {
        None => {}
        // the recorded server drops the connection below 100, and sends an interim answer below 200
        Some(Ok(code @ 200..=599)) => reply.status = code,
        Some(_) => {
            reply.warnings.push(NO_CODE.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    fn error(batch: &str) -> String {
        let batch = read(batch.as_bytes()).unwrap();
        let Json::Array(items) = &batch else { panic!() };
        error_of(items)
    }

    fn error_of(items: &[Json]) -> String {
        let texts = ["plaintext", "context", "associated_data", "reference"];
        let answer =
            check(items, "plaintext", "missing plaintext to encrypt", &texts, &["key_version"]).unwrap_err();
        let body = read(&answer.body.unwrap()).unwrap();
        let Some(Json::Array(errors)) = body.get("errors") else { panic!() };
        let text = errors[0].as_str().unwrap();
        let text = text.strip_prefix("1 error occurred:\n\t* failed to parse batch input: ").unwrap();
        text.strip_suffix("\n\n").unwrap().to_owned()
    }

    #[test]
    fn wrong_items_have_the_recorded_errors() {
        assert_eq!(error("[\"x\"]"), "[0] expected a map, got 'string'");
        assert_eq!(error("[null]"), "[0] expected a map, got '<nil>'");
        assert_eq!(error("[{}]"), "'[0].plaintext' missing plaintext to encrypt");
        let kind = |name: &str, kind: &str| {
            format!("'{name}' expected type 'string', got unconvertible type '{kind}'")
        };
        let both = [
            kind("[0].plaintext", "json.Number"),
            kind("[1].context", "json.Number"),
            kind("[1].plaintext", "bool"),
        ];
        assert_eq!(error(r#"[{"plaintext":5},{"plaintext":true,"context":7}]"#), both.join("\n"));
        let float = "error decoding json.Number into [0].key_version: strconv.ParseInt: parsing \"1.5\": invalid syntax";
        assert_eq!(error(r#"[{"plaintext":"","key_version":1.5}]"#), float);
        let string = "'[0].key_version' expected type 'int', got unconvertible type 'string'";
        assert_eq!(error(r#"[{"plaintext":"","key_version":"1"}]"#), string);
    }

    /// The last items of the longest batch are looked at as the first ones are.
    #[test]
    fn each_item_of_a_batch_is_checked() {
        let item = |text: &str| read(text.as_bytes()).unwrap();
        for (wrong, what) in [
            ("{}", "plaintext' missing plaintext to encrypt"),
            (r#"{"plaintext":5}"#, "plaintext' expected type 'string', got unconvertible type 'json.Number'"),
            (
                r#"{"plaintext":"","key_version":""}"#,
                "key_version' expected type 'int', got unconvertible type 'string'",
            ),
        ] {
            let mut all: Vec<_> = (0..MOST).map(|at| format!("'[{at}].{what}")).collect();
            all.sort();
            assert_eq!(error_of(&vec![item(wrong); MOST]), all.join("\n"), "{wrong}");
        }
        let mut items = vec![item(r#"{"plaintext":"YQ=="}"#); MOST];
        let has_context = item(r#"{"plaintext":"","context":"YQ=="}"#);
        assert!(contexts(&items).is_ok() && check(&items, "plaintext", "", &[], &[]).is_ok());
        for at in 0..MOST {
            let right = std::mem::replace(&mut items[at], Json::Null);
            assert_eq!(error_of(&items), format!("[{at}] expected a map, got '<nil>'"));
            items[at].clone_from(&has_context);
            assert!(contexts(&items).is_err(), "{at}");
            items[at] = right;
        }
    }

    #[test]
    fn a_batch_of_more_items_is_refused_before_anything_is_made_of_it() {
        for (count, fits) in [(MOST, true), (MOST + 1, false), (3000, false)] {
            for element in ["0", "{}"] {
                let body = format!("{{\"batch_input\":[{}]}}", vec![element; count].join(","));
                let body = read(body.as_bytes()).unwrap();
                assert_eq!(items(&Fields::new(&body), "").is_ok(), fits, "{count}");
            }
        }
        assert!(
            error(&format!("[{{\"plaintext\":\"\",\"key_version\":0.{}1}}]", "0".repeat(9000))).len() < 400
        );
    }

    #[test]
    fn a_status_is_asked_for_only_if_some_fail_and_some_succeed() {
        let status = |asked, failed, all| {
            let mut reply = Reply::data(Json::Null);
            set_status(&mut reply, asked, failed, all);
            (reply.status, reply.warnings.len())
        };
        assert_eq!(status(Some(207), 0, 2), (200, 0));
        assert_eq!(status(Some(207), 1, 2), (207, 0));
        assert_eq!(status(Some(207), 2, 2), (400, 0));
        assert_eq!([status(Some(207), 1, 257), status(Some(207), 256, 257)], [(207, 0); 2]);
        assert_eq!(status(None, 1, 2), (400, 0));
        for wrong in [0, -1, 1, 99, 600, 1 << 40] {
            assert_eq!(status(Some(wrong), 1, 2), (400, 1), "{wrong}");
        }
    }
}

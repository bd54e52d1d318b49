//! What the reader takes, what it says of the rest, and its limits.

use super::*;

fn error(text: &str) -> String {
    read_object(text.as_bytes()).unwrap_err()
}

#[test]
fn errors_have_the_recorded_words() {
    let of = |text: &str| error(text).strip_prefix("failed to decode JSON input: ").unwrap().to_owned();
    assert_eq!(of("{\"plaintext\":"), "unexpected EOF");
    assert_eq!(of("{"), "unexpected EOF");
    assert_eq!(of("hello"), "invalid character 'h' looking for beginning of value");
    assert_eq!(of("[1]"), "json: cannot unmarshal array into Go value of type map[string]interface {}");
    assert_eq!(of("\"x\""), "json: cannot unmarshal string into Go value of type map[string]interface {}");
    assert_eq!(of("true"), "json: cannot unmarshal bool into Go value of type map[string]interface {}");
    assert_eq!(of("{\"plaintext\": \"\"}x"), "invalid character 'x' looking for beginning of value");
    assert_eq!(of("{'plaintext':''}"), r"invalid character '\''");
    assert_eq!(of("{\"a\":NaN}"), "invalid character 'N' looking for beginning of value");
    assert_eq!(of("{\"a\":1,}"), "invalid character '}' looking for beginning of object key string");
    assert_eq!(of("\u{feff}{}"), "invalid character 'ï' looking for beginning of value");
    let big = "json: cannot unmarshal number 1e400 into Go value of type float64";
    assert_eq!(of("{\"a\":1e400}"), big);
}

#[test]
fn what_is_broken_inside_is_refused() {
    for text in ["nul", "nulL", "tru3", "falsy", "-", "-a", "1.", "1.x", "1e", "1e+", "2E-x", ".5", "+1"] {
        assert!(read(text.as_bytes()).is_err(), "{text}");
        assert!(read(format!("[{text}]").as_bytes()).is_err(), "[{text}]");
        assert!(read_object(format!("{{\"a\":{text}}}").as_bytes()).is_err(), "a: {text}");
    }
    for text in
        ["{1:2}", "{\"a\" 1}", "{\"a\",1}", "{\"a\":1 \"b\":2}", "{\"a\":1]", "{,}", "[1 2]", "[1}", "[,]"]
    {
        assert!(read(text.as_bytes()).is_err(), "{text}");
    }
    for text in ["null", "true", "false", "-0.5e+1", "0", "[]", "{}", "[[],{}]", "{\"a\":[1,2],\"b\":-1}"] {
        assert!(read(text.as_bytes()).is_ok(), "{text}");
    }
}

/// A value alone has blanks around it, and nothing else.
#[test]
fn nothing_follows_a_value() {
    for (text, fine) in
        [(" [1]\n ", true), ("1 2", false), ("{} ,", false), ("[1]]", false), ("\"a\" b", false)]
    {
        assert_eq!(read(text.as_bytes()).is_ok(), fine, "{text}");
    }
}

#[test]
fn texts_have_whole_escapes_and_no_control_characters() {
    let of = |text: &str| read_object(format!("{{\"a\":\"{text}\"}}").as_bytes());
    for text in
        [r"\u", r"\u1", r"\u12", r"\u123", r"\u123g", r"\u12g4", r"\ug234", r"\x", "\u{1f}", "\n", "a\u{0}b"]
    {
        assert!(of(text).is_err(), "{text:?}");
    }
    for text in [r"\u1234", r"\uABcd", r"\/", " ", "\u{7f}"] {
        assert!(of(text).is_ok(), "{text:?}");
    }
    for end in 0..=4 {
        assert!(read_object(format!("{{\"a\":\"\\{}", &"u123"[..end]).as_bytes()).is_err());
    }
}

#[test]
fn an_empty_body_is_an_empty_object() {
    for text in ["", " ", "null", "{}", "{}{\"a\":1}", "{}\n"] {
        assert!(read_object(text.as_bytes()).unwrap() == Json::empty(), "{text}");
    }
}

#[test]
fn numbers_keep_their_digits_and_the_last_member_counts() {
    let value = read_object(br#"{"a":1.0,"b":"x","b":"\u0061\ud83d\ude00\ud800"}"#).unwrap();
    assert!(value.get("a") == Some(&Json::Number(Zeroizing::new("1.0".to_owned()))));
    assert_eq!(value.get("b").unwrap().as_str(), Some("a\u{1f600}\u{fffd}"));
    // the first and the last halves
    let value = read_object(br#"{"b":"\ud800\udc00\ud800\udfff\udbff\udc00\udbff\udfff"}"#).unwrap();
    assert_eq!(value.get("b").unwrap().as_str(), Some("\u{10000}\u{103ff}\u{10fc00}\u{10ffff}"));
    let value = read_object(b"{\"a\":\"\xff\xfe\"}").unwrap();
    assert_eq!(value.get("a").unwrap().as_str(), Some("\u{fffd}\u{fffd}"));
    // a character that breaks off, too, byte by byte
    let value = read_object(b"{\"a\":\"\xe2\x82x\"}").unwrap();
    assert_eq!(value.get("a").unwrap().as_str(), Some("\u{fffd}\u{fffd}x"));
}

#[test]
fn a_batch_has_at_most_499_items_of_one_member() {
    let batch = |items: usize| {
        let items = vec![r#"{"plaintext":"QQ=="}"#; items].join(",");
        read_object(format!("{{\"batch_input\":[{items}]}}").as_bytes())
    };
    assert!(batch(499).is_ok());
    let refused = "refused JSON input due to high complexity: exceeded maximum number of strings";
    assert_eq!(batch(500).unwrap_err(), refused);
}

#[test]
fn values_and_what_texts_become_are_bounded() {
    let of = |elements: usize| format!("{{\"a\":[{}0]}}", "0,".repeat(elements - 1));
    assert!(read_object(of(VALUES - 2).as_bytes()).is_ok());
    let refused = "refused JSON input due to high complexity: exceeded maximum number of values";
    assert_eq!(error(&of(VALUES - 1)), refused);
    assert_eq!(error(&of(2_000_000)), refused);
    assert_eq!(error(&format!("{{}} {}", of(VALUES - 1))), refused);
    // a batch of the most texts, each item with a number and a truth value, is none of these
    let items = vec![r#"{"plaintext":"QQ=="}"#; 499].join(",");
    assert!(
        read_object(format!("{{\"batch_input\":[{items}],\"a\":[{}0]}}", "0,".repeat(998)).as_bytes())
            .is_ok()
    );
    for (unit, count) in [(&b"\xff"[..], 32_768), (b"\x7f", 13_107), (b"\\b", 16_384)] {
        let of = |count: usize| [b"{\"a\":\"", &unit.repeat(count)[..], b"\"}"].concat();
        assert!(read_object(&of(count)).is_ok());
        assert!(read_object(&of(count + 1)).unwrap_err().starts_with("refused JSON input"));
    }
}

#[test]
fn a_text_takes_no_more_than_its_bytes_and_an_error_repeats_little() {
    let value = read_object(br#"{"a":"QQ==","b":"\u0041\n"}"#).unwrap();
    let Some(Json::String(text)) = value.get("a") else { panic!() };
    assert_eq!(text.capacity(), 4);
    assert_eq!(value.get("b").unwrap().as_str(), Some("A\n"));
    assert!(error(&format!("{{\"a\":{}}}", "9".repeat(100_000))).len() < 400);
    assert_eq!((cut("aé", 1), cut("aé", 2), cut("", 2)), ("a", "aé", ""));
}

#[test]
fn nesting_is_bounded() {
    let deep = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert!(read_object(deep(600).as_bytes()).is_ok());
    let arrays = format!("{{\"a\":{}", "[".repeat(100_000));
    assert!(error(&arrays).ends_with("exceeded maximum depth"));
}

/// Bytes that are no UTF-8 become three each: so many of all texts together, and no more.
#[test]
fn texts_swell_so_far() {
    let most = 1 << 15;
    for [first, second] in [[most, 0], [most / 2, most / 2], [1, most - 1], [most - 1, 1]] {
        for (more, fits) in [(0, true), (1, false)] {
            let text = |bytes: usize| [&b"\""[..], &vec![0xff; bytes], b"\""].concat();
            let list = [b"[", &text(first)[..], b",", &text(second + more), b"]"].concat();
            assert_eq!(read(&list).is_ok(), fits, "{first} {second} {more}");
        }
    }
}

/// Lists stand in one another so deep, and no deeper.
#[test]
fn lists_are_so_deep() {
    for (deep, fits) in [(1000, true), (1001, true), (1002, false)] {
        let list = "[".repeat(deep) + &"]".repeat(deep);
        assert_eq!(read(list.as_bytes()).is_ok(), fits, "{deep}");
    }
}

//! `random`: bytes of the gateway's own source; no server is asked.

use super::super::answer::{ApiAnswer, Reply};
use super::super::call::ApiCall;
use super::super::fields::parse_int;
use crate::base64::encode;
use crate::json::{ECHO, Json, cut};
use zeroize::Zeroizing;

/// The most bytes of an answer.
const MOST: i64 = 128 << 10;
const SOURCES: [&str; 3] = ["platform", "seal", "all"];

pub fn random(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let fields = call.fields();
    let (first, second) = (call.param("first"), call.param("urlbytes"));
    let asked = fields.int("bytes")?.unwrap_or(32);
    let format = fields.text("format")?;
    let format = format.as_ref().map_or("base64", |format| format.as_str());
    let (source, in_path) = match (first, second) {
        ("", _) => ("platform", None),
        (source, "") if SOURCES.contains(&source) => (source, None),
        (bytes, "") => ("platform", Some(bytes)),
        (source, bytes) => (source, Some(bytes)),
    };
    let bytes = match in_path {
        None => asked,
        Some(bytes) => parse_int(bytes).map_err(|why| {
            ApiAnswer::mistake(format!(
                "error parsing url-set byte count: strconv.Atoi: parsing \"{bytes}\": {why}"
            ))
        })?,
    };
    if bytes < 1 {
        return Err(ApiAnswer::mistake("'bytes' cannot be less than 1"));
    }
    if bytes > MOST {
        return Err(ApiAnswer::mistake(format!("'bytes' should be less than {MOST}")));
    }
    if !matches!(format, "hex" | "base64") {
        let format = cut(format, ECHO);
        let why = format!("unsupported encoding format \"{format}\"; must be \"hex\" or \"base64\"");
        return Err(ApiAnswer::mistake(why));
    }
    if !SOURCES.contains(&source) {
        let source = cut(source, ECHO);
        let why =
            format!("unsupported entropy source \"{source}\"; must be \"platform\" or \"seal\", or \"all\"");
        return Err(ApiAnswer::mistake(why));
    }
    let mut drawn = Zeroizing::new(vec![0; usize::try_from(bytes).unwrap_or(0)]);
    call.entropy(&mut drawn);
    let text =
        if format == "hex" { Zeroizing::new(data_encoding::HEXLOWER.encode(&drawn)) } else { encode(&drawn) };
    let mut reply = Reply::of([("random_bytes", Json::String(text))]);
    if source == "seal" {
        let warning = "no seal/entropy augmentation available, using platform entropy source";
        reply.warnings.push(warning.into());
    }
    Ok(reply)
}

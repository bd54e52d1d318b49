//! `hash`: a digest that the gateway computes itself, since the input is no secret of a key.

use super::super::answer::{ApiAnswer, Reply};
use super::super::call::ApiCall;
use super::formats;
use crate::base64::encode;
use crate::json::{ECHO, Json, cut};
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

fn digest(algorithm: &str, input: &[u8]) -> Option<Vec<u8>> {
    Some(match algorithm {
        "sha2-224" => Sha224::digest(input).to_vec(),
        "sha2-256" => Sha256::digest(input).to_vec(),
        "sha2-384" => Sha384::digest(input).to_vec(),
        "sha2-512" => Sha512::digest(input).to_vec(),
        "sha3-224" => Sha3_224::digest(input).to_vec(),
        "sha3-256" => Sha3_256::digest(input).to_vec(),
        "sha3-384" => Sha3_384::digest(input).to_vec(),
        "sha3-512" => Sha3_512::digest(input).to_vec(),
        _ => return None,
    })
}

pub fn hash(call: &ApiCall<'_>) -> Result<Reply, ApiAnswer> {
    let fields = call.fields();
    let input = fields.text("input")?.ok_or_else(|| ApiAnswer::mistake("input missing"))?;
    let named = fields.text("algorithm")?;
    let format = fields.text("format")?;
    let format = format.as_ref().map_or("hex", |format| format.as_str());
    let input = formats::input(&input).map_err(ApiAnswer::mistake)?;
    if !matches!(format, "hex" | "base64") {
        let format = cut(format, ECHO);
        let why = format!("unsupported encoding format {format}; must be \"hex\" or \"base64\"");
        return Err(ApiAnswer::mistake(why));
    }
    let algorithm = match call.param("urlalgorithm") {
        "" => named.as_ref().map_or("sha2-256", |named| named.as_str()),
        in_path => in_path,
    };
    let sum = digest(algorithm, &input)
        .ok_or_else(|| ApiAnswer::mistake(format!("unsupported algorithm {}", cut(algorithm, ECHO))))?;
    let sum = if format == "hex" { data_encoding::HEXLOWER.encode(&sum) } else { encode(&sum).to_string() };
    Ok(Reply::of([("sum", Json::text(sum))]))
}

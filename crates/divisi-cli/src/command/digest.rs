//! `divisi hash` and `divisi mac`.

use super::progress::ProgressDisplay;
use super::{CommandOutput, Context, Membership, named};
use clap::Args;
use divisi::failure::{Failure, Kind};
use divisi::file::{InputFile, MessageSource};
use divisi_node::{Client, KeyName};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// The length in bytes from which a message takes a second or more.
const LONG: u64 = 8192;

/// Hash a text with three servers, none of which sees the text or the digest. The digest is the one that any
/// library computes.
#[derive(Args)]
#[command(
    after_help = "Example: divisi hash --algorithm sha3-256 --in a.pdf --config mesh.toml --identity client-me.key"
)]
pub struct HashArgs {
    /// The algorithm: sha224 to sha512, sha512-224, sha512-256, sha3-224 to sha3-512, shake128, shake256,
    /// cshake128, cshake256; sha1-for-old-data
    #[arg(long, value_name = "NAME", value_parser = super::bench::hash)]
    algorithm: Algorithm,
    /// The function name of cSHAKE
    #[arg(long, default_value = "", value_name = "TEXT")]
    function_name: String,
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    membership: Membership,
}

/// Make the tag of a text under a key that is shared among three servers, or verify a tag: no server sees the
/// key, the text or the tag that it makes. The tag is the one that any library computes; a GMAC tag is
/// printed after the nonce of 12 bytes that the servers drew.
#[derive(Args)]
#[command(
    after_help = "Example: divisi mac --key tokens --algorithm hmac-sha256 --in a.txt --config mesh.toml --identity client-me.key\n\
                        Verify:  divisi mac --key tokens --in a.txt --verify 5b01... --config mesh.toml --identity client-me.key"
)]
pub struct MacArgs {
    /// The name of the key; its type is the algorithm
    #[arg(long, value_name = "NAME")]
    key: KeyName,
    /// The algorithm: hmac-sha256 and the like, kmac128, kmac256, cmac-aes128, cmac-aes256, gmac-aes128,
    /// gmac-aes256; one-time-password-sha1, -sha256, -sha512; hmac-sha1-for-old-data [default: that of the
    /// key's type]
    #[arg(long, value_name = "NAME", value_parser = super::bench::mac)]
    algorithm: Option<Algorithm>,
    /// Compare this tag instead of making one; a wrong tag ends with exit code 1
    #[arg(long, value_name = "HEX")]
    verify: Option<String>,
    /// The counter of a one-time password (RFC 4226; for RFC 6238 the seconds since 1970 divided by 30), in
    /// place of a text; --bytes is the number of digits, 6 to 8
    #[arg(long, value_name = "N", conflicts_with_all = ["input", "verify"])]
    counter: Option<u64>,
    /// KMACXOF instead of KMAC: shorter tags are the first bytes of longer ones
    #[arg(long)]
    xof: bool,
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    membership: Membership,
}

/// The text to hash, and the length of the output.
#[derive(Args)]
struct Text {
    /// The file or pipe to read; `-` is standard input [default: standard input]. Servers accept 16 MiB, or
    /// as much as `message_bytes` in their configuration says, at most 1 GiB: 16 MiB of SHA-256 take them 45
    /// minutes, in memory that does not grow with the message
    #[arg(long = "in", value_name = "FILE")]
    input: Option<PathBuf>,
    /// The customization string of cSHAKE and KMAC
    #[arg(long, default_value = "", value_name = "TEXT")]
    customization: String,
    /// The length of the output in bytes [default: all of it; for functions with output of any length 32, or
    /// 64 if they have 256 bits of security]
    #[arg(long, value_name = "N")]
    bytes: Option<usize>,
}

impl Text {
    fn settings(&self, algorithm: Algorithm) -> Settings {
        let settings = Settings::new(algorithm);
        Settings {
            customization: self.customization.as_bytes().to_vec(),
            output_bytes: self.bytes.unwrap_or(settings.output_bytes),
            ..settings
        }
    }

    fn open(&self) -> Result<InputFile, Failure> {
        let source = MessageSource::named(self.input.as_deref());
        let input = InputFile::open_message(&source)?;
        if input.length > divisi_node::MESSAGE {
            let (length, most) = (input.length, divisi_node::MESSAGE);
            return Err(Failure::usage(format!(
                "the input has {length} bytes, and servers accept at most {most}: give a shorter one"
            )));
        }
        Ok(input)
    }
}

fn checked(settings: Settings) -> Result<Settings, Failure> {
    settings.check().map_err(Failure::usage)?;
    if settings.output_bytes > divisi_node::OUTPUT {
        let (asked, most) = (settings.output_bytes, divisi_node::OUTPUT);
        return Err(Failure::usage(format!(
            "--bytes is {asked}, and servers return at most {most}: ask for fewer"
        )));
    }
    Ok(settings)
}

pub fn hash(context: &Context, arguments: &HashArgs) -> Result<CommandOutput, Failure> {
    let settings = arguments.text.settings(arguments.algorithm);
    let settings = checked(Settings { function: arguments.function_name.as_bytes().to_vec(), ..settings })?;
    let mut input = arguments.text.open()?;
    let mut client = arguments.membership.connect(context)?;
    let (start, length) = (Instant::now(), input.length);
    let progress = ProgressDisplay::new(context, length, LONG);
    let digest = client.hash(&settings, input.reader(), length, &mut |done| progress.at(done));
    progress.end();
    let digest = digest?;
    let digest = hex::encode(&*digest);
    let json = json!({
        "schema": 1,
        "algorithm": settings.algorithm.name(),
        "in": arguments.text.input.as_deref().map(named),
        "bytes_in": length,
        "digest": digest,
        "seconds": start.elapsed().as_secs_f64(),
    });
    Ok(CommandOutput::new(digest, json))
}

pub fn mac(context: &Context, arguments: &MacArgs) -> Result<CommandOutput, Failure> {
    // what can be refused without the servers is refused before they are asked
    let (algorithm, asked) = match arguments.algorithm {
        Some(algorithm) => (algorithm, None),
        None => {
            let mut client = arguments.membership.connect(context)?;
            (of_key(&mut client, &arguments.key)?, Some(client))
        }
    };
    let settings = arguments.text.settings(algorithm);
    let settings = checked(Settings { xof: arguments.xof, ..settings })?;
    let least = divisi_node::least_tag(settings.algorithm);
    if settings.output_bytes < least {
        return Err(Failure::usage(format!(
            "servers make and compare {} tags of at least {least} bytes, not {}: give a larger --bytes",
            settings.algorithm, settings.output_bytes
        )));
    }
    let given = arguments.verify.as_deref().map(|digits| given(digits, &settings)).transpose()?;
    let is_password = matches!(settings.algorithm, Algorithm::Otp(_));
    if is_password != arguments.counter.is_some() {
        return Err(Failure::usage(
            "--counter and one-time-password-sha1 (or -sha256, -sha512) belong together",
        ));
    }
    let mut input = match arguments.counter {
        Some(counter) => InputFile::of(counter.to_be_bytes().to_vec()),
        None => arguments.text.open()?,
    };
    let mut client = match asked {
        Some(client) => client,
        None => {
            let mut client = arguments.membership.connect(context)?;
            serves(&mut client, &arguments.key, algorithm)?;
            client
        }
    };
    let (start, length) = (Instant::now(), input.length);
    let mut json = json!({
        "schema": 1,
        "algorithm": settings.algorithm.name(),
        "key": arguments.key.as_str(),
        "in": arguments.text.input.as_deref().map(named),
        "bytes_in": length,
        "nonce": null,
        "tag": null,
        "valid": null,
    });
    let progress = ProgressDisplay::new(context, length, LONG);
    let at = &mut |done| progress.at(done);
    let (text, used) = match given {
        Some((nonce, tag)) => {
            let used =
                client.mac_verify(&arguments.key, &settings, nonce, &tag, input.reader(), length, at)?;
            json["valid"] = json!(true);
            ("the tag is right".to_owned(), used)
        }
        None => {
            let made = client.mac(&arguments.key, &settings, input.reader(), length, at)?;
            let digits = || String::from_utf8_lossy(&made.tag).into_owned();
            let tag = if is_password { digits() } else { hex::encode(&*made.tag) };
            let nonce = made.nonce.map(hex::encode);
            json["nonce"] = json!(nonce);
            json["tag"] = json!(tag);
            (nonce.unwrap_or_default() + &tag, made.key)
        }
    };
    json["key_id"] = json!(hex::encode(used.id));
    json["key_maker"] = json!(used.maker);
    json["seconds"] = json!(start.elapsed().as_secs_f64());
    Ok(CommandOutput::new(text, json))
}

/// The algorithm of a key, by the servers' list.
fn of_key(client: &mut Client, key: &KeyName) -> Result<Algorithm, Failure> {
    let Some(found) = client.key_named(key)?.map(|listed| listed.key) else {
        let error = format!("there is no key {key} that serves you: `divisi key list` prints those that do");
        return Err(Failure::new(Kind::Refused, error));
    };
    Algorithm::macs().find(|algorithm| algorithm.name() == found.kind.name()).ok_or_else(|| {
        let kind = found.kind;
        Failure::usage(format!(
            "key {key} is of type {kind}, which makes no tags: use a key of type hmac-sha256 or the like"
        ))
    })
}

/// Check that the key is for the algorithm, by the servers' list. If the key does not exist, it is the
/// servers that refuse the request.
fn serves(client: &mut Client, key: &KeyName, algorithm: Algorithm) -> Result<(), Failure> {
    match client.key_named(key)?.map(|listed| listed.key) {
        Some(found) if found.kind.name() != algorithm.name() => Err(Failure::usage(format!(
            "key {key} is of type {}, and {algorithm} was asked for: a key serves one algorithm",
            found.kind
        ))),
        _ => Ok(()),
    }
}

/// The nonce, if tags of the algorithm have one, and the tag, from hexadecimal digits.
fn given(digits: &str, settings: &Settings) -> Result<(Option<[u8; 12]>, Vec<u8>), Failure> {
    let (nonce, tag) = (settings.algorithm.nonce_bytes(), settings.output_bytes);
    let wrong = |what: String| Failure::usage(format!("--verify {what}: give what `mac` printed"));
    let digits = digits.trim();
    let bytes = hex::decode(digits.strip_prefix("0x").unwrap_or(digits))
        .map_err(|_| wrong("is not hexadecimal".into()))?;
    if bytes.len() != nonce + tag {
        return Err(wrong(format!(
            "has {} byte{}, and {} has {}",
            bytes.len(),
            if bytes.len() == 1 { "" } else { "s" },
            settings.algorithm,
            nonce + tag
        )));
    }
    let (before, tag) = bytes.split_at(nonce);
    Ok((<[u8; 12]>::try_from(before).ok(), tag.to_vec()))
}

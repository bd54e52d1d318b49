//! `divisi encrypt` and `divisi decrypt`.

use super::progress::Progress;
use super::{Context, Done, Membership, ProtocolChoice, named};
use clap::Args;
use divisi::failure::Failure;
use divisi::file::{Input, Sink, Source, Way, transform};
use divisi_node::KeyName;
use serde_json::json;
use std::path::PathBuf;

/// Encrypt or decrypt with a key of the servers. The file is IV (12 bytes), ciphertext, tag (16 bytes):
/// AES-GCM as any library knows it.
#[derive(Args)]
#[command(
    after_help = "Example: divisi encrypt --key files --in a.pdf --out a.pdf.sealed --config mesh.toml --identity client-me.key\n\
                        Back:    divisi decrypt --key files --in a.pdf.sealed --out a.pdf --config mesh.toml --identity client-me.key"
)]
pub struct Arguments {
    /// The name of the key
    #[arg(long, value_name = "NAME")]
    key: KeyName,
    /// Associated data: not encrypted, but decryption fails unless it is the same
    #[arg(long, default_value = "", value_name = "TEXT")]
    aad: String,
    /// The file to read [default: standard input, up to 64 MiB]
    #[arg(long = "in", value_name = "FILE")]
    input: Option<PathBuf>,
    /// The file to write, in the place of one that is there; it appears when it is complete and verified
    /// [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    choice: ProtocolChoice,
    #[command(flatten)]
    membership: Membership,
}

pub fn encrypt(context: &Context, arguments: &Arguments) -> Result<Done, Failure> {
    run(context, arguments, Way::Encrypt)
}

pub fn decrypt(context: &Context, arguments: &Arguments) -> Result<Done, Failure> {
    run(context, arguments, Way::Decrypt)
}

fn run(context: &Context, arguments: &Arguments, way: Way) -> Result<Done, Failure> {
    let source = Source::named(arguments.input.as_deref());
    let sink = Sink::named(arguments.out.as_deref());
    if context.json && matches!(sink, Sink::Stdout) {
        return Err(Failure::usage("--json takes standard output for itself: give a file with --out"));
    }
    let input = Input::open(&source, way)?;
    let mut client = arguments.membership.connect(context)?;
    let choice = arguments.choice.get();
    client.use_protocol(choice.protocol())?;
    let progress = Progress::new(context, input.length, 1 << 20);
    let aad = arguments.aad.as_bytes();
    let done =
        transform(&mut client, way, &arguments.key, aad, input, &sink, &context.cleanup, &mut |done| {
            progress.at(done)
        });
    progress.end();
    let done = done?;
    // A name may have come to another key: whose it is now, as all three servers say.
    let used = client.last_key().filter(|_| way == Way::Encrypt);
    let whose = used.map(|key| format!(", for the key that {} made", key.maker)).unwrap_or_default();
    let text = match &sink {
        Sink::Stdout => String::new(),
        Sink::File(path) => format!(
            "{} holds {} bytes{whose}; {:.2} s, {:.2} MB/s",
            path.display(),
            done.bytes_out,
            done.seconds,
            done.bytes_in as f64 / done.seconds / 1e6
        ),
    };
    let json = json!({
        "schema": 1,
        "key": arguments.key.as_str(),
        "key_id": used.map(|key| hex::encode(key.id)),
        "key_maker": used.map(|key| &key.maker),
        "protocol": choice.protocol().name(),
        "mode": choice.mode_name(),
        "in": arguments.input.as_deref().map(named),
        "out": arguments.out.as_deref().map(named),
        "bytes_in": done.bytes_in,
        "bytes_out": done.bytes_out,
        "seconds": done.seconds,
    });
    Ok(Done::new(text, json))
}

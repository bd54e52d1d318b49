//! `divisi encrypt` and `divisi decrypt`.

use super::associated::AssociatedArgs;
use super::progress::ProgressDisplay;
use super::{CommandOutput, Context, Membership, ProtocolChoice, named};
use clap::Args;
use divisi::failure::Failure;
use divisi::file::{Direction, MessageInput, MessageSource, Sink, Using, transform, transform_whole};
use divisi::source::is_stdin;
use divisi_node::{Client, KeyName, Mode};
use serde_json::json;
use std::path::PathBuf;

/// Encrypt or decrypt with a key of the servers. Any library that has the algorithm and the key can read the
/// file. It has, for gcm, IV (12 bytes), ciphertext, tag (16 bytes); for siv, synthetic IV (16 bytes),
/// ciphertext; for kw and kwp, the wrapped key; for cbc, IV (16 bytes), ciphertext of the text padded by PKCS
/// #7.
#[derive(Args)]
#[command(
    after_help = "Example: divisi encrypt --key files --in a.pdf --out a.pdf.sealed --config mesh.toml --identity client-me.key\n\
                        Back:    divisi decrypt --key files --in a.pdf.sealed --out a.pdf --config mesh.toml --identity client-me.key"
)]
pub struct CryptArgs {
    /// The name of the key
    #[arg(long, value_name = "NAME")]
    key: KeyName,
    /// The algorithm: gcm, cbc (for old data: it authenticates nothing), siv (equal texts give equal files),
    /// kw or kwp (to wrap keys) [default: that of the key's type]
    #[arg(long, value_name = "NAME")]
    algorithm: Option<Using>,
    #[command(flatten)]
    aad: AssociatedArgs,
    /// The file or pipe to read; `-` is standard input. gcm takes a stream of any length, the other
    /// algorithms up to 64 MiB [default: standard input]
    #[arg(long = "in", value_name = "FILE")]
    input: Option<PathBuf>,
    /// The file to write; an existing file is replaced when the new one is complete and verified; `-` is
    /// standard output, to which at most 64 MiB are decrypted [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) choice: ProtocolChoice,
    #[command(flatten)]
    membership: Membership,
}

pub fn encrypt(context: &Context, arguments: &CryptArgs) -> Result<CommandOutput, Failure> {
    run(context, arguments, Direction::Encrypt)
}

pub fn decrypt(context: &Context, arguments: &CryptArgs) -> Result<CommandOutput, Failure> {
    run(context, arguments, Direction::Decrypt)
}

fn run(context: &Context, arguments: &CryptArgs, way: Direction) -> Result<CommandOutput, Failure> {
    let source = MessageSource::named(arguments.input.as_deref());
    let sink = Sink::named(arguments.out.as_deref());
    if context.json && matches!(sink, Sink::Stdout) {
        return Err(Failure::usage("--json uses standard output: give a file with --out"));
    }
    source.differs_from(&sink)?;
    let aad = arguments.aad.read(arguments.input.as_deref().is_none_or(is_stdin))?;
    let input = MessageInput::open(&source, way, &sink)?;
    input.check(way, arguments.algorithm)?;
    let mut client = arguments.membership.connect(context)?;
    let choice = arguments.choice.get();
    client.use_protocol(choice.protocol());
    let using = using(&mut client, arguments, aad.is_some())?;
    let long = if using == Using::Gcm { 1 << 20 } else { 1 << 12 };
    let progress = match input.length() {
        Some(length) => ProgressDisplay::new(context, length, long),
        None => ProgressDisplay::open_ended(),
    };
    let (aad, key, cleanup) = (aad.as_deref(), &arguments.key, &context.cleanup);
    let at = &mut |done| progress.at(done);
    let done = match using {
        // GCM has always associated data, which may be empty
        Using::Gcm => transform(&mut client, way, key, aad.unwrap_or_default(), input, &sink, cleanup, at),
        Using::Mode(mode) => {
            let input = input.all(mode)?;
            transform_whole(&mut client, way, mode, key, aad, input, &sink, cleanup, at)
        }
        other => Err(Failure::usage(format!(
            "this command does not encrypt by {}: give another --algorithm",
            other.name()
        ))),
    };
    progress.end();
    let done = done?;
    // The name may belong to another key by now; so the key's maker is printed, as all three servers report
    // it.
    let used = client.last_key().filter(|_| way == Direction::Encrypt);
    let whose = used.map(|key| format!(", with the key that {} made", key.maker)).unwrap_or_default();
    let text = match &sink {
        Sink::Stdout => String::new(),
        Sink::File(path) | Sink::Stream(path) => format!(
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
        "algorithm": using.name(),
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
    Ok(CommandOutput::new(text, json))
}

/// The algorithm: the one that was asked for, or that of the key's type, which the servers are asked for. If
/// the key does not exist, it is the servers that refuse the request.
fn using(client: &mut Client, arguments: &CryptArgs, has_aad: bool) -> Result<Using, Failure> {
    let using = match client.key_named(&arguments.key)?.map(|listed| listed.key) {
        Some(key) => Using::choose(arguments.algorithm, &key.name, key.kind)?,
        None => arguments.algorithm.unwrap_or(Using::Gcm),
    };
    let takes_aad = matches!(using, Using::Gcm | Using::Mode(Mode::Siv));
    if has_aad && !takes_aad {
        return Err(Failure::usage(format!("{} takes no associated data: leave them out", using.name())));
    }
    Ok(using)
}

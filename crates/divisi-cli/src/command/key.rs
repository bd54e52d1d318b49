//! `divisi key`.

use super::imported;
use super::{CommandOutput, Context, Membership, named};
use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use divisi::failure::{Failure, Kind};
use divisi::output::OutputFile;
use divisi_net::{Config, PartyId};
use divisi_node::operator::{self, Deed, Order, OrderState};
use divisi_node::{KeyEntry, KeyName, KeyState, KeyType, Listed, Purpose};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Subcommand)]
pub enum KeyCommands {
    /// Let the servers draw a key that nobody knows
    #[command(
        after_help = "Example: divisi key new --key files --type aes-256 --clients anna,ben --config mesh.toml --identity client-me.key"
    )]
    New(KeyToDraw),
    /// Split an existing key among the servers
    #[command(
        after_help = "Example: divisi key import --key old --type aes-128 --in key.bin --config mesh.toml --identity client-me.key"
    )]
    Import(Import),
    /// Let a key that you own serve another client, from its next request on
    #[command(
        after_help = "Example: divisi key grant --key files --client carl --config mesh.toml --identity client-me.key"
    )]
    Grant(Served),
    /// Let a key that you own no longer serve a client
    ///
    /// What the client has under way with the key ends; what it has decrypted or exported before stays with
    /// it. Its owner cannot be taken off.
    #[command(
        after_help = "Example: divisi key revoke --key files --client carl --config mesh.toml --identity client-me.key"
    )]
    Revoke(Served),
    /// List the keys that you may use, and the differences between the servers
    ///
    /// Clients that the configuration no longer has are marked.
    #[command(after_help = "Example: divisi key list --config mesh.toml --identity client-me.key")]
    List(Membership),
    /// Export a key that you made exportable
    #[command(
        after_help = "Example: divisi key export --key old --out key.bin --config mesh.toml --identity client-me.key"
    )]
    Export(Export),
    /// Give a key to other clients without its maker, by the operators of all three servers
    ///
    /// Each operator runs this command beside its own server; it takes effect when all three have given the
    /// same within an hour. The first client is the key's owner from then on, as if it had made the key;
    /// clients that are not named lose access.
    #[command(
        after_help = "Example: divisi key chown --key files --to ben,anna --data /var/lib/divisi --config mesh.toml --party 1 --identity party-1.key"
    )]
    Chown(Chown),
    /// Destroy a key at all servers: what it encrypted can never be decrypted again
    ///
    /// The key's maker does it with --yes. With --data, it is an order of a server's operator, given beside
    /// that server: it takes effect when the operators of all three have given it within an hour.
    #[command(
        after_help = "Example: divisi key destroy --key old --yes --config mesh.toml --identity client-me.key\n\
                      Example: divisi key destroy --key old --data /var/lib/divisi --config mesh.toml --party 1 --identity party-1.key"
    )]
    Destroy(Destroy),
}

/// The description of a new key.
#[derive(Args)]
pub struct NewKeyArgs {
    /// The name of the key: A-Z, a-z, 0-9, dot, underscore and dash
    #[arg(long, value_name = "NAME")]
    key: KeyName,
    /// The type of the key, which determines the algorithms it serves: aes-128, aes-192, aes-256 (gcm),
    /// aes-256-siv, aes-256-kw (kw and kwp), aes-256-cbc and the like, hmac-sha256 and the like,
    /// one-time-password-sha1 and the like, kmac128, kmac256, cmac-aes128, cmac-aes256, gmac-aes128,
    /// gmac-aes256
    #[arg(long = "type", value_name = "TYPE")]
    kind: KeyType,
    /// Let its maker export it later; otherwise it never leaves the servers
    #[arg(long)]
    exportable: bool,
    /// The clients that may use it besides you
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    clients: Vec<String>,
    #[command(flatten)]
    membership: Membership,
}

/// A key that the servers draw.
#[derive(Args)]
pub struct KeyToDraw {
    #[command(flatten)]
    new: NewKeyArgs,
    /// The length of the key in bytes: 1 to 1024 for hmac and kmac, 10 to 64 for one-time passwords [default:
    /// that of the hash for hmac and one-time passwords, the security for kmac]
    #[arg(long, value_name = "N")]
    bytes: Option<u32>,
}

/// An existing key.
#[derive(Args)]
pub struct Import {
    #[command(flatten)]
    new: NewKeyArgs,
    /// The file with the raw bytes of the key: for hmac and kmac 1 to 1024, for one-time passwords 10 to 64
    /// [default: standard input]
    #[arg(long = "in", value_name = "FILE")]
    input: Option<PathBuf>,
    /// The file holds the key in base32, as services print the secrets of one-time passwords
    #[arg(long)]
    base32: bool,
}

/// The key to export, and the file.
#[derive(Args)]
pub struct Export {
    /// The name of the key
    #[arg(long, value_name = "NAME")]
    key: KeyName,
    /// The file to make, which only you can read
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    membership: Membership,
}

/// The key that you own, and a client.
#[derive(Args)]
pub struct Served {
    /// The name of the key
    #[arg(long, value_name = "NAME")]
    key: KeyName,
    /// The name of the client
    #[arg(long, value_name = "NAME")]
    client: String,
    #[command(flatten)]
    membership: Membership,
}

/// The key to destroy.
#[derive(Args)]
pub struct Destroy {
    /// The name of the key
    #[arg(long, value_name = "NAME")]
    key: KeyName,
    /// Confirm the destruction
    #[arg(long)]
    yes: bool,
    /// As a server's operator: the directory in which that server keeps its shares of keys
    #[arg(long, value_name = "DIR", requires = "party")]
    data: Option<PathBuf>,
    /// As a server's operator: the number of that server, from 1
    #[arg(long, value_name = "I", value_parser = super::server::party, requires = "data")]
    party: Option<PartyId>,
    #[command(flatten)]
    membership: Membership,
}

/// The key to give away, and its new clients.
#[derive(Args)]
pub struct Chown {
    /// The name of the key
    #[arg(long, value_name = "NAME")]
    key: KeyName,
    /// The new clients of the key: the first owns it, the others may use it
    #[arg(long, value_name = "CLIENT,...", value_delimiter = ',', required = true)]
    to: Vec<String>,
    /// The directory in which your server keeps its shares of keys
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// The number of your server, from 1
    #[arg(long, value_name = "I", value_parser = super::server::party)]
    party: PartyId,
    #[command(flatten)]
    membership: Membership,
}

pub fn run(context: &Context, command: &KeyCommands) -> Result<CommandOutput, Failure> {
    match command {
        KeyCommands::New(KeyToDraw { new, bytes }) => {
            distinct("clients", &new.clients)?;
            if let Some(bytes) = bytes {
                imported::check_length(new.kind, *bytes as usize, || format!("--bytes {bytes} asks for"))?;
                imported::warn_if_short(new.kind, *bytes as usize);
            }
            let mut client = new.membership.connect(context)?;
            let mut wanted = client.new_key(new.key.clone(), new.kind, new.exportable, new.clients.clone());
            wanted.bytes = bytes.unwrap_or(wanted.bytes);
            let made = client.key_new(&wanted)?;
            Ok(CommandOutput::new(
                format!(
                    "the servers hold shares of the new {} key {}: nobody knows the key",
                    made.kind, made.name
                ),
                entry(&made, &[]),
            ))
        }
        KeyCommands::Import(import) => {
            let new = &import.new;
            distinct("clients", &new.clients)?;
            let key = imported::read_key(import.input.as_deref(), new.kind, import.base32)?;
            let mut client = new.membership.connect(context)?;
            let wanted = client.new_key(new.key.clone(), new.kind, new.exportable, new.clients.clone());
            let made = client.key_import(&wanted, &key)?;
            let text = format!(
                "the servers hold shares of the {} key {}: your own copy still decrypts everything, so wipe it if you do not need it",
                made.kind, made.name
            );
            Ok(CommandOutput::new(text, entry(&made, &[])))
        }
        KeyCommands::List(membership) => {
            let (config, _) = membership.load()?;
            let listed = membership.connect(context)?.key_list()?;
            let keys: Vec<Value> = listed
                .iter()
                .map(|Listed { key, differs }| {
                    let differs: Vec<u8> = differs.iter().map(|party| party.number()).collect();
                    let mut entry = entry(key, &differs);
                    entry["not_in_configuration"] = json!(strangers(key, &config));
                    entry
                })
                .collect();
            Ok(CommandOutput::new(table(&listed, &config), json!({ "schema": 1, "keys": keys })))
        }
        KeyCommands::Grant(served) => serve(context, served, true),
        KeyCommands::Revoke(served) => serve(context, served, false),
        KeyCommands::Export(export) => {
            let mut client = export.membership.connect(context)?;
            // The output file is begun first, so that a key that cannot be written is not requested.
            let mut output = OutputFile::beside(&export.out, 0o600, &context.cleanup)?;
            let kind = client.key_named(&export.key)?.map(|listed| listed.key.kind);
            let key = client.key_export(&export.key)?;
            let unwritten = |e: std::io::Error| {
                Failure::usage(format!(
                    "{} cannot be written ({e}): give another place with --out",
                    export.out.display()
                ))
            };
            output.writer().write_all(&key).map_err(unwritten)?;
            output.put_in_empty_place(&export.out)?;
            let text = format!(
                "{} holds the {} bytes of key {}: whoever reads it can {}",
                export.out.display(),
                key.len(),
                export.key,
                kind.map_or("do all that the key does", can)
            );
            Ok(CommandOutput::new(
                text,
                json!({ "schema": 1, "key": export.key.as_str(), "out": named(&export.out), "bytes": key.len() }),
            ))
        }
        KeyCommands::Chown(Chown { key, to, data, party, membership }) => {
            distinct("to", to)?;
            let (config, _) = membership.load()?;
            if let Some(name) = to.iter().find(|name| !config.clients().iter().any(|c| c.name == **name)) {
                let error = format!("client {name} is not in the configuration: add it with `mesh add`");
                return Err(Failure::usage(error));
            }
            ask(membership, data, *party, &Order::chown(key.clone(), to.clone()))
        }
        KeyCommands::Destroy(Destroy { key, data: Some(data), party: Some(party), membership, .. }) => {
            ask(membership, data, *party, &Order { key: key.clone(), deed: Deed::Destroy })
        }
        KeyCommands::Destroy(destroy) => {
            if !destroy.yes {
                let error = format!(
                    "what key {} encrypted can never be decrypted once the key is destroyed: give --yes to confirm",
                    destroy.key
                );
                return Err(Failure::usage(error));
            }
            destroy.membership.connect(context)?.key_destroy(&destroy.key)?;
            let text = format!(
                "key {} is destroyed at all servers; older copies of their disks may still hold its shares",
                destroy.key
            );
            Ok(CommandOutput::new(text, json!({ "schema": 1, "key": destroy.key.as_str() })))
        }
    }
}

/// Let a key serve another client, or one client less.
fn serve(context: &Context, served: &Served, serves: bool) -> Result<CommandOutput, Failure> {
    let Served { key, client, membership } = served;
    let made = membership.connect(context)?.key_serve(key, client, serves)?;
    let others = match made.clients.len() {
        0 => "nobody but you".into(),
        _ => format!("you and {}", made.clients.join(", ")),
    };
    Ok(CommandOutput::new(format!("key {key} serves {others}, from the next request on"), entry(&made, &[])))
}

/// The owner and the clients of a key that the configuration no longer has.
fn strangers<'k>(key: &'k KeyEntry, config: &Config) -> Vec<&'k str> {
    let named = std::iter::once(&key.maker).chain(&key.clients);
    named.filter(|name| !is_known(name, config)).map(String::as_str).collect()
}

fn is_known(name: &str, config: &Config) -> bool {
    config.clients().iter().any(|client| client.name == name)
}

/// What a reader of a key can do.
fn can(kind: KeyType) -> &'static str {
    match kind.purpose() {
        Purpose::Mac if kind.name().starts_with("one-time-password") => {
            "make every password that the key makes"
        }
        Purpose::Mac => "make and verify every tag that the key makes",
        Purpose::Wrap => "unwrap every key that the key wrapped",
        _ => "decrypt everything that the key encrypted",
    }
}

/// Check that each client is named, and once.
fn distinct(argument: &str, clients: &[String]) -> Result<(), Failure> {
    for (i, name) in clients.iter().enumerate() {
        if name.is_empty() {
            let error =
                format!("--{argument} has an empty name: give names of clients with commas between them");
            return Err(Failure::usage(error));
        }
        if clients.iter().take(i).any(|other| other == name) {
            return Err(Failure::usage(format!("--{argument} names {name} twice: name each client once")));
        }
    }
    Ok(())
}

/// Give a server an order, as its operator.
fn ask(membership: &Membership, data: &Path, me: PartyId, order: &Order) -> Result<CommandOutput, Failure> {
    let (config, identity) = membership.load()?;
    config.check_identity(me, &identity).map_err(|e| Failure::usage(e.to_string()))?;
    let (waiting, differs) = match operator::ask(data, me, &identity, order)? {
        OrderState::Done => {
            let json = json!({ "schema": 1, "key": order.key.as_str(), "state": "done", "waiting": [], "differs": [] });
            return Ok(CommandOutput::new(format!("{order}: done at all three servers"), json));
        }
        OrderState::Failed(why) => {
            return Err(Failure::new(
                Kind::Refused,
                format!("{order}: all three asked, and it failed: {why}"),
            ));
        }
        OrderState::Asked { waiting, differs } => (waiting, differs),
    };
    let servers = |parties: &[u8]| {
        let numbers = parties.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        format!("{} {numbers}", if parties.len() > 1 { "servers" } else { "server" })
    };
    let mut text = format!("{order}: asked; waiting for the operators of {}", servers(&waiting));
    if !differs.is_empty() {
        text += &format!(", and the operator of {} gave another order: see the logs", servers(&differs));
    }
    let json = json!({
        "schema": 1,
        "key": order.key.as_str(),
        "state": "asked",
        "waiting": waiting,
        "differs": differs,
    });
    Ok(CommandOutput::new(text, json))
}

fn state(state: KeyState) -> &'static str {
    match state {
        KeyState::Prepared => "prepared",
        KeyState::Active => "active",
        KeyState::Destroyed => "destroyed",
    }
}

fn entry(key: &KeyEntry, differs: &[u8]) -> Value {
    json!({
        "schema": 1,
        "key": key.name.as_str(),
        "id": hex::encode(key.id),
        "type": key.kind.name(),
        "bytes": key.bytes,
        "generation": key.generation,
        "state": state(key.state),
        "maker": key.maker,
        "clients": key.clients,
        "exportable": key.exportable,
        "differs": differs,
    })
}

fn table(listed: &[Listed], config: &Config) -> String {
    if listed.is_empty() {
        return "no key serves you: make one with `divisi key new`".into();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["key", "type", "state", "exportable", "maker", "also serves", "servers that differ"]);
    let marked = |name: &String| match is_known(name, config) {
        true => name.clone(),
        false => format!("{name} (not in the configuration)"),
    };
    for Listed { key, differs } in listed {
        let differs: Vec<String> = differs.iter().map(|party| party.number().to_string()).collect();
        table.add_row([
            key.name.to_string(),
            key.kind.to_string(),
            state(key.state).into(),
            if key.exportable { "yes" } else { "no" }.into(),
            marked(&key.maker),
            key.clients.iter().map(marked).collect::<Vec<_>>().join(", "),
            differs.join(", "),
        ]);
    }
    table.to_string()
}

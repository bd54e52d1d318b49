//! `divisi mesh`.

use super::{CommandOutput, Context, Membership, named};
use clap::{Args, Subcommand};
use divisi::failure::Failure;
use divisi::log::utc;
use divisi_net::{Config, Created, Fingerprint, Identity, Machine, PartyId, Pin, World};
use divisi_rep3::{FAR, LANES_EACH, Rounds, RoundsChoice};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[derive(Subcommand)]
pub enum MeshCommands {
    /// Make identities for all parties and clients, and one configuration for all
    New(NewMeshArgs),
    /// Make one identity on its owner's machine, and print its fingerprint
    Identity(NewIdentity),
    /// Print who is in the configuration, with all fingerprints
    Show(Show),
    /// Put a fingerprint into the configuration
    Add(Add),
    /// Remove a client from the configuration
    Remove(Remove),
    /// Dial every party, and report every link that does not work and every server that is out of step
    #[command(after_help = "Example: divisi mesh check --config mesh.toml --identity client-me.key")]
    Check(Membership),
}

/// Make identities for all parties and clients, and one configuration for all.
#[derive(Args)]
#[command(
    after_help = "Example: divisi mesh new --parties 3 --hosts one.example:4701,two.example:4701,three.example:4701 --clients me --out mesh"
)]
pub struct NewMeshArgs {
    /// The number of parties; servers that keep keys are always 3
    #[arg(long, value_name = "N")]
    parties: usize,
    /// The addresses of the parties as host:port, in their order [default: ports from 4701 on this machine]
    #[arg(long, value_name = "H1:P1,...", value_delimiter = ',')]
    hosts: Vec<String>,
    /// The names of the clients
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    clients: Vec<String>,
    /// The directory to make
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Make one identity on its owner's machine: the private key never leaves it.
#[derive(Args)]
#[command(after_help = "Example: divisi mesh identity --out my-identity")]
pub struct NewIdentity {
    /// The directory to make
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Print the parties and clients of the configuration with their fingerprints, as `mesh new` does.
#[derive(Args)]
#[command(after_help = "Example: divisi mesh show --config mesh.toml")]
pub struct Show {
    /// The configuration
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

/// Put the fingerprint of an identity into the configuration, in place of an existing one. The file may be
/// empty at first: then nobody needs to make the identities of others.
#[derive(Args)]
#[command(after_help = "Example: divisi mesh add --config mesh.toml --client anna --fingerprint 1f3c...")]
pub struct Add {
    /// The configuration to change; give all parties and clients the new one
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The number of the party whose identity it is
    #[arg(long, value_name = "I", required_unless_present = "client", conflicts_with = "client")]
    party: Option<u8>,
    /// The address on which that party listens, if it changes too or the party is new
    #[arg(long, value_name = "HOST:PORT", requires = "party")]
    address: Option<String>,
    /// The name of the client whose identity it is
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// The fingerprint that `mesh identity` printed
    #[arg(long, value_name = "F")]
    fingerprint: String,
}

/// Remove a client from the configuration: from then on the parties refuse it. Its keys stay: an identity
/// that is added under the same name later can use them.
#[derive(Args)]
#[command(after_help = "Example: divisi mesh remove --config mesh.toml --client anna")]
pub struct Remove {
    /// The configuration to change; give it to all parties
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The name of the client
    #[arg(long, value_name = "NAME")]
    client: String,
}

pub fn run(context: &Context, command: &MeshCommands) -> Result<CommandOutput, Failure> {
    match command {
        MeshCommands::New(arguments) => new(context, arguments),
        MeshCommands::Identity(arguments) => identity(context, arguments),
        MeshCommands::Show(arguments) => show(arguments),
        MeshCommands::Add(arguments) => add(arguments),
        MeshCommands::Remove(arguments) => remove(arguments),
        MeshCommands::Check(membership) => check(context, membership),
    }
}

fn usage(e: impl ToString) -> Failure {
    Failure::usage(e.to_string())
}

/// A new directory for secrets, which is removed again if the command fails.
fn directory(context: &Context, path: &Path) -> Result<divisi::cleanup::Entry, Failure> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(path).map_err(|e| {
        usage(match e.kind() {
            std::io::ErrorKind::AlreadyExists => {
                format!("{} exists already: choose another directory for --out", path.display())
            }
            _ => {
                format!("the directory {} cannot be made ({e}): choose another one for --out", path.display())
            }
        })
    })?;
    Ok(context.cleanup.path(path))
}

fn new(context: &Context, arguments: &NewMeshArgs) -> Result<CommandOutput, Failure> {
    let created =
        Config::create(arguments.parties, &arguments.hosts, &arguments.clients, &Machine).map_err(usage)?;
    let entry = directory(context, &arguments.out)?;
    let config = arguments.out.join("mesh.toml");
    write(&config, &created.config.to_toml())?;
    let files = save(&created, &arguments.out)?;
    entry.keep();
    let mut text =
        format!("{} goes to every party and every client; it holds no secret.\n", config.display());
    for (who, _, path, fingerprint) in &files {
        text += &format!("{} goes to {who} alone (fingerprint {fingerprint}).\n", path.display());
    }
    text += "Move each identity to its machine and delete it here. Then, on the machine of each party:\n  \
             divisi server --config mesh.toml --party I --identity party-I.key --data DIR\n\
             and at a client:\n  divisi mesh check --config mesh.toml --identity client-NAME.key";
    let listed = |kind: &str| -> Vec<Value> {
        let of = files.iter().filter(|(_, (k, _), _, _)| *k == kind);
        of.map(|(_, (_, name), path, fingerprint)| {
            json!({ "name": name, "identity": named(path), "fingerprint": fingerprint })
        })
        .collect()
    };
    Ok(CommandOutput::new(
        text,
        json!({ "schema": 1, "config": named(&config), "parties": listed("party"), "clients": listed("client") }),
    ))
}

type Saved = (String, (&'static str, String), PathBuf, String);

fn save(created: &Created, dir: &Path) -> Result<Vec<Saved>, Failure> {
    let mut saved = Vec::new();
    let parties = created.config.parties().iter().map(|party| ("party", party.id.number().to_string()));
    let clients = created.config.clients().iter().map(|client| ("client", client.name.clone()));
    for ((kind, name), identity) in parties.zip(&created.parties).chain(clients.zip(&created.clients)) {
        let path = dir.join(format!("{kind}-{name}.key"));
        identity.save(&path).map_err(usage)?;
        saved.push((format!("{kind} {name}"), (kind, name), path, identity.fingerprint().to_string()));
    }
    Ok(saved)
}

fn identity(context: &Context, arguments: &NewIdentity) -> Result<CommandOutput, Failure> {
    let identity = Identity::generate(&Machine);
    let entry = directory(context, &arguments.out)?;
    let path = arguments.out.join("identity.key");
    identity.save(&path).map_err(usage)?;
    entry.keep();
    let fingerprint = identity.fingerprint();
    let text = format!(
        "{} is your identity: keep it here, and tell its fingerprint to whoever keeps the configuration:\n{fingerprint}\n\
         There: divisi mesh add --config mesh.toml --client NAME --fingerprint {fingerprint}",
        path.display()
    );
    Ok(CommandOutput::new(
        text,
        json!({ "schema": 1, "identity": named(&path), "fingerprint": fingerprint.to_string() }),
    ))
}

fn show(arguments: &Show) -> Result<CommandOutput, Failure> {
    let config = Config::load_unfinished(&arguments.config).map_err(usage)?;
    let mut lines = Vec::new();
    let (mut parties, mut clients) = (Vec::new(), Vec::new());
    for party in config.parties() {
        let fingerprint = party.pin.fingerprint().to_string();
        lines.push(format!("{} at {} (fingerprint {fingerprint})", party.id, party.address));
        let name = party.id.number().to_string();
        parties.push(json!({ "name": name, "address": party.address, "fingerprint": fingerprint }));
    }
    for client in config.clients() {
        let fingerprint = client.pin.fingerprint().to_string();
        lines.push(format!("client {} (fingerprint {fingerprint})", client.name));
        clients.push(json!({ "name": client.name, "fingerprint": fingerprint }));
    }
    if config.parties().len() < 2 {
        lines.push(unfinished(&config));
    }
    let file = named(&arguments.config);
    Ok(CommandOutput::new(
        lines.join("\n"),
        json!({ "schema": 1, "config": file, "parties": parties, "clients": clients }),
    ))
}

/// What a configuration lacks that is no mesh yet.
fn unfinished(config: &Config) -> String {
    let next = config.parties().len() + 1;
    format!(
        "a mesh has at least two parties: add party {next} with `mesh add --party {next} --address HOST:PORT`"
    )
}

fn add(arguments: &Add) -> Result<CommandOutput, Failure> {
    let config = Config::load_unfinished(&arguments.config).map_err(usage)?;
    let wrong = |_| usage("the fingerprint is not 64 hexadecimal digits: copy what `mesh identity` printed");
    let pin = Pin::Fingerprint(arguments.fingerprint.parse::<Fingerprint>().map_err(wrong)?);
    let (who, changed) = match (arguments.party, &arguments.client) {
        (Some(number), _) => {
            let id = PartyId::new(number)
                .ok_or_else(|| usage("there is no party 0: parties are numbered from 1"))?;
            (id.to_string(), config.add_party(id, arguments.address.as_deref(), pin))
        }
        (None, Some(name)) => (format!("client {name}"), config.add_client(name, pin)),
        (None, None) => return Err(usage("neither a party nor a client is named: give --party or --client")),
    };
    let changed = changed.map_err(usage)?;
    write(&arguments.config, &changed.to_toml())?;
    let restart = match arguments.party {
        Some(_) => format!(", and that of {who} is started again with its identity"),
        None => String::new(),
    };
    let pinned = format!("{} now pins {} for {who}", arguments.config.display(), arguments.fingerprint);
    let text = if changed.parties().len() < 2 {
        format!("{pinned}; {}", unfinished(&changed))
    } else {
        format!(
            "{pinned}: give this file to all parties and clients; a running server reads it on SIGHUP{restart}"
        )
    };
    Ok(CommandOutput::new(
        text,
        json!({ "schema": 1, "config": named(&arguments.config), "who": who, "fingerprint": arguments.fingerprint }),
    ))
}

fn remove(arguments: &Remove) -> Result<CommandOutput, Failure> {
    let config = Config::load_unfinished(&arguments.config).map_err(usage)?;
    let changed = config.remove_client(&arguments.client).map_err(usage)?;
    write(&arguments.config, &changed.to_toml())?;
    let text = format!(
        "{} has no client {} any more: give this file to all parties; a running server reads it on SIGHUP",
        arguments.config.display(),
        arguments.client
    );
    let json = json!({ "schema": 1, "config": named(&arguments.config), "removed": arguments.client });
    Ok(CommandOutput::new(text, json))
}

/// Write a file completely or not at all.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || {
        let mut file =
            tempfile::Builder::new().permissions(Permissions::from_mode(0o644)).tempfile_in(dir)?;
        // those of a file that is replaced stay
        if let Ok(there) = std::fs::metadata(path) {
            file.as_file().set_permissions(there.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|e| e.error)
    };
    write().map_err(|e: std::io::Error| {
        usage(format!("{} cannot be written ({e}): give a place that you can write", path.display()))
    })
}

fn check(context: &Context, membership: &Membership) -> Result<CommandOutput, Failure> {
    let (config, identity) = membership.load()?;
    let within = context.timeout.unwrap_or(config.timeout()).min(Duration::from_secs(60));
    let world: Arc<dyn World> = Arc::new(Machine);
    let reports = divisi_net::check(&config, &identity, &world, within).map_err(usage)?;
    let mut lines = Vec::new();
    let mut links = Vec::new();
    for report in &reports {
        let skewed = if report.is_skewed() {
            "; its clock is wrong: set it, or the times in its log mislead"
        } else {
            ""
        };
        let reached = report.result.as_ref().ok();
        let status = reached.and_then(|reached| reached.status.as_ref());
        let out_of_step = report.out_of_step(&config);
        let stands = match (&out_of_step, status) {
            (Some(why), _) => format!("; but it {why}"),
            (None, Some(status)) => {
                let others: Vec<String> = status.session.iter().map(|(party, _)| party.to_string()).collect();
                let since = utc(status.since_unix_ms / 1000);
                format!("; in a session with {} since {since}", others.join(" and "))
            }
            (None, None) => String::new(),
        };
        lines.push(format!("{report}{skewed}{stands}"));
        let session = status.map(|status| {
            json!({
                "with": status.session.iter().map(|(party, _)| party.number()).collect::<Vec<_>>(),
                "since": utc(status.since_unix_ms / 1000),
                "stores_differ": status.stores_differ.iter().map(|party| party.number()).collect::<Vec<_>>(),
            })
        });
        links.push(json!({
            "party": report.peer.number(),
            "address": report.address,
            "fingerprint": report.pinned.to_string(),
            "trouble": report.trouble(),
            "versions": reached.map(|r| [r.versions.0, r.versions.1]),
            "same_configuration": reached.map(|r| r.same_parties && r.same_clients),
            "same_clients": reached.map(|r| r.same_clients),
            "clock_skew_ms": reached.map(|r| r.skew_ms),
            "round_trip_ms": reached.map(|r| r.round_trip.as_secs_f64() * 1e3),
            "session": session,
            "out_of_step": out_of_step,
        }));
    }
    let trips = reports.iter().map(|report| report.result.as_ref().ok().map(|r| r.round_trip));
    let farthest = trips.collect::<Option<Vec<_>>>().and_then(|trips| trips.into_iter().max());
    let is_constant = RoundsChoice::Auto.proposes(farthest, 1) == Rounds::Constant;
    let chosen = if is_constant { "constant" } else { "levels" };
    if farthest.is_some() {
        lines.push(format!(
            "server --rounds auto: {chosen} for a hash, a MAC or chained blocks (constant from a round trip of {} ms on, at \
             most {LANES_EACH} of them in a round of the servers for each millisecond)",
            FAR.as_millis()
        ));
    }
    let auto = if is_constant { RoundsChoice::Constant } else { RoundsChoice::Levels };
    let auto = farthest.map(|_| auto.name());
    let mut done = CommandOutput::new(lines.join("\n"), json!({ "schema": 1, "links": links, "auto": auto }));
    let bad: Vec<_> = reports.iter().filter(|report| report.trouble().is_some()).collect();
    if let Some(first) = bad.first() {
        let error = format!("{} of {} links do not work: {}", bad.len(), reports.len(), first);
        let mut failure = Failure::unavailable(error).with_peer(first.peer).at("mesh check");
        failure.retry = first.result.as_ref().is_err_and(|trouble| trouble.is_passing());
        done.failure = Some(failure);
    } else if let Some((peer, why)) =
        reports.iter().find_map(|report| report.out_of_step(&config).map(|why| (report.peer, why)))
    {
        let error = format!("all links work, but {peer} {why}");
        let mut failure = Failure::unavailable(error).with_peer(peer).at("mesh check");
        failure.retry = true;
        done.failure = Some(failure);
    }
    Ok(done)
}

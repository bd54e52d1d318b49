//! What all commands share: the global options, which mesh and who we are in it, and the form of an output.

use super::Places;
use clap::Args;
use divisi::cleanup::Cleanup;
use divisi::failure::Failure;
use divisi_net::{Config, Identity, Machine};
use divisi_node::Client;
use serde_json::Value;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The output of a command.
pub struct CommandOutput {
    /// The text for people.
    pub text: String,
    /// The object for programs.
    pub json: Value,
    /// A failure that was found although there is a report.
    pub failure: Option<Failure>,
}

impl CommandOutput {
    pub(super) fn new(text: impl Into<String>, json: Value) -> Self {
        CommandOutput { text: text.into(), json, failure: None }
    }
}

/// The global options, and the register for cleaning up.
pub(super) struct Context {
    pub json: bool,
    pub verbose: bool,
    pub timeout: Option<Duration>,
    pub cleanup: Cleanup,
}

/// Print a warning on standard error.
pub(super) fn warn(what: impl Display) {
    let _ = writeln!(std::io::stderr(), "divisi: {what}");
}

/// A file's name for JSON, whose texts are Unicode: U+FFFD replaces everything that is not.
pub(super) fn named(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Numbers for people.
pub(super) fn list(numbers: &[usize]) -> String {
    if numbers.is_empty() {
        return "0".into();
    }
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Which mesh, and who we are in it.
#[derive(Args, Clone)]
pub(super) struct Membership {
    #[command(flatten)]
    places: Places,
}

impl Membership {
    pub(super) fn load(&self) -> Result<(Config, Arc<Identity>), Failure> {
        let (config, identity) = self.places.find()?;
        let config = Config::load(&config).map_err(|e| Failure::usage(e.to_string()))?;
        let identity = Identity::load(&identity).map_err(|e| Failure::usage(e.to_string()))?;
        Ok((config, Arc::new(identity)))
    }

    /// A connection with the three servers.
    pub(super) fn connect(&self, context: &Context) -> Result<Client, Failure> {
        let (mut config, identity) = self.load()?;
        // An identity that the servers would refuse is refused here, before they are asked.
        let own = identity.fingerprint();
        if config.client_of(own).is_none() {
            let whose = match config.party_of(own) {
                Some(party) => format!("that of {party}, a server"),
                None => "not in the configuration".into(),
            };
            let pins: Vec<String> =
                config.clients().iter().map(|c| format!("{} ({})", c.name, c.pin.fingerprint())).collect();
            return Err(Failure::usage(format!(
                "this identity is {whose}: its fingerprint is {own}, and the configuration has the clients {}; give a \
                 client's file, or add this one with `mesh add`",
                pins.join(", ")
            )));
        }
        if let Some(timeout) = context.timeout {
            config = config.with_timeout(timeout);
        }
        Ok(Client::connect(&config, &identity, Arc::new(Machine))?)
    }
}

/// A number above zero.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| *value > 0.0 && *value <= 1e9);
    value.ok_or_else(|| "give a positive number".into())
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let value = text.parse::<f64>().ok().filter(|value| (0.01..=86_400.0).contains(value));
    let value = value.and_then(|value| Duration::try_from_secs_f64(value).ok());
    value.ok_or_else(|| "give a number of seconds from 0.01 to 86400".into())
}

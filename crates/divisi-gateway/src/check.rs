//! `divisi-gateway check`: what is wrong with a configuration, and with which server.

use crate::run::Files;
use divisi_net::{Machine, World, check as dial};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a server may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Read all files and dial each server, with a line for each on `out`. Whether all is well.
///
/// # Errors
/// One sentence about a file that is wrong, or that `out` cannot be written.
pub fn check(path: &Path, out: &mut dyn Write) -> Result<bool, String> {
    let files = Files::load(path)?;
    let written = |e: std::io::Error| format!("standard output cannot be written ({e})");
    let who = files.mesh.client_of(files.identity.fingerprint());
    let name = who.map_or("?", |client| client.name.as_str());
    writeln!(out, "the files are right; the servers know this gateway as client {name}").map_err(written)?;
    let tokens = files.tokens.as_ref().map(|tokens| tokens.count().to_string());
    let tokens = tokens.unwrap_or_else(|| "none, whoever may open the socket may use the keys".into());
    writeln!(out, "tokens: {tokens}").map_err(written)?;
    for mount in &files.config.mounts {
        let (path, prefix) = (&mount.path, &mount.prefix);
        writeln!(out, "mount: /v1/{path}, keys {prefix}*").map_err(written)?;
    }
    let world: Arc<dyn World> = Arc::new(Machine);
    let links = dial(&files.mesh, &files.identity, &world, ANSWER).map_err(|e| e.to_string())?;
    let mut good = true;
    for link in &links {
        let trouble = link.trouble().or_else(|| link.out_of_step(&files.mesh));
        good &= trouble.is_none();
        let state = trouble.as_deref().unwrap_or("serves");
        writeln!(out, "{} at {}: {state}", link.peer, link.address).map_err(written)?;
    }
    Ok(good)
}

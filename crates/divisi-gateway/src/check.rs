//! `divisi-gateway check`: what is wrong with a configuration, and with which server.

use crate::backend::{Backend, Three};
use crate::config::KmsConfig;
use crate::kms::key_id;
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
    if let Some(kms) = &files.config.kms {
        let place = kms.socket.display();
        let found =
            if good { key_of(kms, &files, &world) } else { Err("not looked up: a server is missing".into()) };
        good &= found.is_ok();
        let found = found.unwrap_or_else(|why| why);
        writeln!(out, "kms: socket {place}, key {}: {found}", kms.key).map_err(written)?;
        for mount in files.config.mounts.iter().filter(|mount| kms.key.as_str().starts_with(&mount.prefix)) {
            let (path, key) = (&mount.path, &kms.key);
            writeln!(out, "kms: at /v1/{path} a token that permits key {key} decrypts for the cluster, too")
                .map_err(written)?;
        }
    }
    Ok(good)
}

/// What the servers say of the key of KMS v2.
fn key_of(kms: &KmsConfig, files: &Files, world: &Arc<dyn World>) -> Result<String, String> {
    let servers = Three::new(&files.mesh, &files.identity, world, 1)?;
    match servers.find(&kms.key).map_err(|e| e.to_string())? {
        Some(key) if key.kind.encrypts() => Ok(format!("{}, key_id {}", key.kind.name(), key_id(&key.id))),
        Some(key) => Err(format!(
            "it is of type {}, which does not encrypt: name one of type aes-256 or aes-128",
            key.kind.name()
        )),
        None => {
            Err("the servers have no such key that this gateway may use: make it with `divisi key new`"
                .into())
        }
    }
}

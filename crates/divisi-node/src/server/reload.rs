//! What a change of the configuration changes while a server runs.
//!
//! Whatever a server derives from its configuration is renewed here, or derived anew at each use: what
//! [`Server::reload`] forgets stays as it was until the next start.

use super::allowances::Allowances;
use super::open::{Server, usable};
use super::options::ServerError;
use crate::error::{ErrorKind, Failed};
use divisi_core::Step;
use divisi_net::Config;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

const RELOAD: Step = Step::new("divisi_node::server::reload/reload");

impl Server {
    /// Put another configuration in force: from the next connection and the next request on, and with other
    /// identities of parties at once, because a link to an identity that is not pinned any more ends. Returns
    /// a clause for each change.
    ///
    /// # Errors
    /// If the configuration cannot be used, or pins another identity for this server; then the old one stays.
    pub fn reload(&self, config: Config) -> Result<Vec<String>, ServerError> {
        let node = &*self.node;
        usable(&config)?;
        let limits = Allowances::of_config(&config, &node.options.limits);
        let clients = config.digest().clients;
        let old = node.config();
        let own = |config: &Config| config.party(node.me).map(|party| party.pin.fingerprint()).ok();
        if own(&config) != own(&old) {
            return Err(ServerError(format!(
                "the configuration pins another identity for {}: start this server again with that identity",
                node.me
            )));
        }
        let mut changes = old.changes(&config);
        let address = |config: &Config| config.party(node.me).map(|party| party.address.clone()).ok();
        if node.options.listen.is_none() && address(&config) != address(&old) {
            let at = node.listener.address();
            changes.push(format!("this server listens at {at} until it is started again"));
        }
        if node.options.timeout.is_some() && config.timeout() != old.timeout() {
            changes.push("--timeout takes precedence over timeout_seconds towards the other servers".into());
        }
        {
            let mut mesh = node.mesh.lock().unwrap_or_else(PoisonError::into_inner);
            if !config.has_parties_of(&old) {
                // whoever reads it waits for the lock, and so for the configuration
                *mesh = mesh.then(&config);
            }
            node.listener.reload(config).map_err(|e| ServerError(e.to_string()))?;
        }
        let timeout = node.timeout();
        node.report(|schedule, _| {
            schedule.limits = limits;
            schedule.timeout = timeout;
        });
        node.lists.lock().unwrap_or_else(PoisonError::into_inner).0 = clients;
        Ok(changes)
    }

    /// A session ended without an abort: because the server stops, or because the parties are others now.
    pub(super) fn parties_changed(&self) {
        let node = &*self.node;
        if node.stop.load(Ordering::SeqCst) {
            return;
        }
        node.log("session ended: the configuration has other identities of parties now");
        node.report_missing(None, "the identities of parties in its configuration have changed".into());
        let message = format!(
            "the identities of parties in the configuration of {} have changed: try again when the servers have \
             joined again",
            node.me
        );
        node.fail_all(&Failed {
            kind: ErrorKind::Unavailable,
            retry: true,
            peer: node.me.number(),
            ..Failed::refused(RELOAD, message)
        });
    }
}

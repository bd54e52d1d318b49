//! KMS v2 of Kubernetes on a unix socket: `Status`, `Encrypt` and `Decrypt` over gRPC, by the same
//! [`Backend`] as the HTTP API.
//!
//! kube-apiserver encrypts what it stores under keys of its own, and has a plugin encrypt those. The plugin
//! is the gateway, its key one of the three servers. kube-apiserver stores the ciphertext and the `key_id`,
//! asks `Status` every minute, and encrypts anew when the `key_id` there has changed.
//!
//! | module | contents |
//! |---|---|
//! | `generated` | messages and service, generated from `api.proto` |
//! | `seal` | the format of a ciphertext, and what it is bound to |
//! | `watch` | which key there is, learnt in the background |
//! | `service` | the three calls, and the status of each trouble |
//! | `serve`, `told` | connections of HTTP/2 and their limits; what the log hears of a request |
//!
//! **Adversaries, and what stops each.**
//!
//! | who | may try | what prevents it |
//! |---|---|---|
//! | who can write to the cluster's storage | to change a ciphertext, or to exchange it for one of Transit or of another key | the tag, over associated data that name this interface, the format and the key's id (`seal`); `key_id` must be that of the present key |
//! | who replaces the key at the servers | to have a ciphertext stored under an id that does not open it | the id is part of what is encrypted, and is looked up again after each encryption |
//! | another user of the machine | to call the plugin | the socket's mode is 0600: who may open it may use the key |
//! | who may open the socket | to use up memory, connections or the servers | limits of messages, headers, streams, requests and connections, times for each (`serve`), and the one queue before the servers ([`crate::turns`]) |
//! | a server that lies or is away | a wrong plaintext | the client of divisi-node compares what the three answer; the call ends in `UNAVAILABLE`, which names the server |
//! | who reads the log | plaintexts, names of keys | neither is in it, nor in errors of the servers' absence |
//!
//! Whoever may use the *same key* by Transit can choose associated data that equal those of KMS, and so open
//! its ciphertexts: a cluster gets a key that no token of a mount permits (`check` says where one could).
//!
//! **What is not wiped.** Plaintexts are wiped in the messages and on their way to the servers, but not in
//! the buffers in which hyper, h2 and tonic read and write.

#[allow(
    missing_docs,
    dead_code,
    unreachable_pub,
    clippy::all,
    clippy::expect_used,
    clippy::exhaustive_enums,
    reason = "a program wrote it"
)]
mod generated;
mod seal;
mod serve;
mod service;
#[cfg(test)]
mod tests;
mod told;
mod watch;

pub use seal::key_id;

use crate::backend::Backend;
use crate::http::{Socket, accept_until};
use crate::log::GatewayLog;
use crate::turns::ServerTurns;
use divisi_net::World;
use divisi_node::KeyName;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch as channel};
use watch::KeyWatch;

/// The most requests at a time, of all connections, whether they wait or not: each holds at most a message.
const MOST_REQUESTS: usize = 128;
/// The most connections at a time; whoever comes when all are taken waits.
const MOST_CONNECTIONS: usize = 64;

/// What the face is made of.
pub struct KmsParts {
    /// The servers.
    pub servers: Arc<dyn Backend>,
    /// The name of the key.
    pub key: KeyName,
    /// The queue before the servers.
    pub turns: ServerTurns,
    /// The log.
    pub log: GatewayLog,
    /// Whether the log names keys.
    pub log_keys: bool,
    /// Where ids of requests are drawn.
    pub world: Arc<dyn World>,
}

/// KMS v2 over three servers.
pub struct KmsFace {
    servers: Arc<dyn Backend>,
    key: KeyName,
    watch: KeyWatch,
    turns: ServerTurns,
    log: GatewayLog,
    log_keys: bool,
    world: Arc<dyn World>,
    requests: Arc<Semaphore>,
}

impl KmsFace {
    /// The face; it asks the servers nothing yet.
    #[must_use]
    pub fn new(parts: KmsParts) -> Arc<KmsFace> {
        let KmsParts { servers, key, turns, log, log_keys, world } = parts;
        let watch = KeyWatch::new(Arc::clone(&servers), key.clone());
        let requests = Arc::new(Semaphore::new(MOST_REQUESTS));
        Arc::new(KmsFace { servers, key, watch, turns, log, log_keys, world, requests })
    }

    /// Serve until `stop` says so, then close the socket and give requests that are under way a time to end.
    /// In the background it learns the key, whether or not the servers are there when it starts.
    pub async fn serve(self: Arc<Self>, socket: Socket, stop: channel::Receiver<bool>) {
        let learning = tokio::spawn(Arc::clone(&self).learn());
        let begin = |stream| serve::connection(stream, Arc::clone(&self), stop.clone());
        accept_until(socket, MOST_CONNECTIONS, stop.clone(), begin).await;
        learning.abort();
    }

    async fn learn(self: Arc<Self>) {
        let mut said = None;
        loop {
            if self.watch.is_due() && self.servers.health().is_good() {
                let Some(turn) = self.turns.take_own().await else { return };
                let face = Arc::clone(&self);
                let look = tokio::task::spawn_blocking(move || {
                    // what it finds, and what is wrong, is in the watch
                    let _ = face.watch.look();
                    drop(turn);
                });
                // the thread ends with an error only if the process ends
                let _ = look.await;
                let fresh = fresh(&mut said, self.watch.line(self.log_keys));
                fresh.iter().for_each(|line| self.log.say(line));
            }
            tokio::time::sleep(self.watch.pause()).await;
        }
    }
}

/// The line, if it is another than was said last; it is then the one that was said.
fn fresh(said: &mut Option<String>, line: Option<String>) -> Option<String> {
    let fresh = line.filter(|line| said.as_ref() != Some(line))?;
    *said = Some(fresh.clone());
    Some(fresh)
}

//! The clients of a benchmark: their connections, keys and actions.

use super::key_name;
use super::mix::Mix;
use super::worker::{Job, Shared, Worker};
use crate::bench::ordinary;
use crate::failure::Failure;
use crate::local::servers::Servers;
use divisi_net::{Machine, World};
use divisi_node::{Client, KeyName, KeyType};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::hash::Hash;
use divisi_symmetric::sha2::Sha2;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The most clients that a key can name.
const NAMES: usize = 64;
/// The bytes of a file.
const FILE: usize = 1 << 20;
/// The bytes of a message to be hashed.
const MESSAGE: usize = 64 << 10;
/// The bytes of the one long file, and of the one long message, in the mix `mixed`.
const LONG_FILE: u64 = 1 << 30;
const LONG_MESSAGE: usize = 16 << 20;

/// All clients, connected, each with a key that it may use and that is ready.
///
/// # Errors
/// If a server cannot be reached, or refuses.
pub(super) fn all(
    servers: &mut Servers,
    mix: Mix,
    names: &[String],
    shared: &Arc<Shared>,
) -> Result<Vec<Worker>, Failure> {
    let config = Arc::new(servers.config.clone());
    let mut first = servers.connect(&config, 0)?;
    let keys = make_keys(servers, &mut first, mix, names)?;
    let jobs = Jobs::new(mix);
    let mut first = Some(first);
    let mut workers = Vec::with_capacity(names.len());
    for number in 0..names.len() {
        let client = match first.take() {
            Some(client) => client,
            None => servers.connect(&config, number)?,
        };
        let (key, known) = keys
            .get(number / NAMES)
            .ok_or_else(|| Failure::usage("there are more clients than keys: report this"))?;
        workers.push((client, key.clone(), jobs.job(number, known)));
    }
    let identities = std::mem::take(&mut servers.clients);
    let workers = workers.into_iter().zip(identities).map(|((client, key, job), identity)| {
        let (config, shared) = (Arc::clone(&config), Arc::clone(shared));
        Worker { client: Some(client), config, identity, key, job, shared }
    });
    let mut workers: Vec<Worker> = workers.collect();
    for worker in &mut workers {
        worker.warm_up()?;
    }
    Ok(workers)
}

/// The name of a key, and its bytes if it was exported.
type MadeKey = (KeyName, Option<Arc<Zeroizing<Vec<u8>>>>);

/// Make keys as the first client, each for the next [`NAMES`] clients.
fn make_keys(
    servers: &Servers,
    first: &mut Client,
    mix: Mix,
    names: &[String],
) -> Result<Vec<MadeKey>, Failure> {
    let exported = mix == Mix::File;
    let mut keys = Vec::new();
    for (number, users) in names.chunks(NAMES).enumerate() {
        let name = key_name(&format!("bench-{number}"))?;
        // the clients that a key names do not include its maker
        let users = users.iter().filter(|user| Some(*user) != names.first()).cloned().collect();
        let new = first.new_key(name.clone(), KeyType::Aes128, exported, users);
        servers.first_key(first, &new)?;
        let bytes = if exported { Some(Arc::new(first.key_export(&name)?)) } else { None };
        keys.push((name, bytes));
    }
    Ok(keys)
}

/// The data of the clients' jobs, made once for all clients.
struct Jobs {
    mix: Mix,
    /// A text or message, for mixes whose data are held in memory.
    bytes: Arc<Vec<u8>>,
    settings: Settings,
    digest: Arc<Vec<u8>>,
}

impl Jobs {
    fn new(mix: Mix) -> Jobs {
        let length = match mix {
            Mix::OneBlock => 0,
            Mix::File => FILE,
            Mix::Hash => MESSAGE,
            Mix::Mixed => LONG_MESSAGE,
        };
        let mut bytes = vec![0; length];
        Machine.entropy(&mut bytes);
        let settings = Settings::new(Algorithm::Hash(Hash::Sha2(Sha2::Sha256)));
        let digest = ordinary::output(&settings, &[], &[0; 12], &bytes).unwrap_or_default();
        Jobs { mix, bytes: Arc::new(bytes), settings, digest: Arc::new(digest) }
    }

    /// The job of the client of this number, from 0.
    fn job(&self, number: usize, key: &Option<Arc<Zeroizing<Vec<u8>>>>) -> Job {
        let hash = || Job::Hash {
            message: Arc::clone(&self.bytes),
            digest: Arc::clone(&self.digest),
            settings: self.settings.clone(),
        };
        match (self.mix, number, key) {
            (Mix::File, _, Some(key)) => Job::File { text: Arc::clone(&self.bytes), key: Arc::clone(key) },
            (Mix::Hash, ..) | (Mix::Mixed, 1, _) => hash(),
            (Mix::Mixed, 0, _) => Job::LongFile(LONG_FILE),
            _ => Job::OneBlock { sealed: None },
        }
    }
}

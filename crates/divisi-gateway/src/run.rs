//! The gateway as a program: it reads its files, serves, takes over changed files, and ends in time.

use crate::api::Gateway;
use crate::backend::{Backend, Three};
use crate::config::{GatewayConfig, Listen};
use crate::dumps;
use crate::http::{Certificates, Service, ServiceLimits, Socket, bind, serve};
use crate::kms::{KmsFace, KmsParts};
use crate::log::GatewayLog;
use crate::tokens::Tokens;
use divisi_net::{Identity, Machine, World};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// How long requests may take to end in threads when everything else has ended.
const LAST_THREADS: Duration = Duration::from_secs(1);
/// How long the end waits for the log to be written.
const LAST_LINES: Duration = Duration::from_millis(500);
/// How often the gateway looks whether its certificate changed, and whether the servers serve.
const LOOK: Duration = Duration::from_secs(2);
/// Threads of the runtime: they only move bytes.
const WORKERS: usize = 2;
/// The stack of a thread, which computes no protocol.
const STACK: usize = 1 << 20;

/// What a gateway reads before it serves. Each error is one sentence that says what to do.
pub struct Files {
    /// The configuration.
    pub config: GatewayConfig,
    /// That of the three servers.
    pub mesh: divisi_net::Config,
    /// The gateway's identity.
    pub identity: Arc<Identity>,
    /// The tokens; `None` for a socket without.
    pub tokens: Option<Tokens>,
    /// The certificate, if the gateway has one.
    pub certificates: Option<Arc<Certificates>>,
}

impl Files {
    /// Read and check all files that a configuration names.
    ///
    /// # Errors
    /// One sentence about the first that is wrong.
    pub fn load(path: &Path) -> Result<Files, String> {
        let config = GatewayConfig::load(path)?;
        let mesh = divisi_net::Config::load(&config.mesh).map_err(|e| e.to_string())?;
        let parties = mesh.parties().len();
        if parties != 3 {
            return Err(format!(
                "the mesh of {} has {parties} parties: keys are held by three servers, give their configuration",
                config.mesh.display()
            ));
        }
        let identity = Identity::load(&config.identity).map_err(|e| e.to_string())?;
        let own = identity.fingerprint();
        if mesh.client_of(own).is_none() {
            let what =
                if mesh.party_of(own).is_some() { "a server's, not a client's" } else { "no client's" };
            return Err(format!(
                "the identity {} ({own}) is {what} in {}: give a client's, or add it with `divisi mesh add --client \
                 NAME`",
                config.identity.display(),
                config.mesh.display()
            ));
        }
        let tokens = config.tokens.as_deref().map(Tokens::load).transpose()?;
        let certificates = config.tls.as_ref().map(Certificates::load).transpose()?.map(Arc::new);
        Ok(Files { config, mesh, identity: Arc::new(identity), tokens, certificates })
    }
}

/// Run a gateway until SIGTERM or SIGINT. Its log goes to standard error.
///
/// # Errors
/// One sentence, if it cannot start.
pub fn run(path: &Path) -> Result<(), String> {
    dumps::forbid();
    dumps::raise_descriptors();
    let files = Files::load(path)?;
    let failed = |e: std::io::Error| format!("no thread can be started ({e}): free some memory");
    let log = GatewayLog::new(std::io::stderr()).map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(files.config.connections)
        .thread_stack_size(STACK)
        .enable_all()
        .build()
        .map_err(failed)?;
    let served = runtime.block_on(until_told(files, &log));
    runtime.shutdown_timeout(LAST_THREADS);
    log.flush(LAST_LINES);
    served
}

async fn until_told(files: Files, log: &GatewayLog) -> Result<(), String> {
    let Files { config, mesh, identity, tokens, certificates } = files;
    let world: Arc<dyn World> = Arc::new(Machine);
    let socket = bind(&config.listen)?;
    let _file = SocketFile::of(&config.listen);
    let kms_listen = config.kms.as_ref().map(|kms| Listen::Socket(kms.socket.clone()));
    let kms_socket = kms_listen.as_ref().map(bind).transpose()?;
    let _kms_file = kms_listen.as_ref().map(SocketFile::of);
    let servers: Arc<dyn Backend> = Arc::new(Three::new(&mesh, &identity, &world, config.connections)?);
    let gateway =
        Arc::new(Gateway::new(Arc::clone(&servers), config.mounts.clone(), tokens, Arc::clone(&world)));
    let limits = ServiceLimits {
        body_bytes: config.body_bytes,
        queue: config.queue,
        turns: config.connections,
        log_keys: config.log_keys,
    };
    let service = Service::new(Arc::clone(&gateway), log.clone(), limits);
    let kms = config.kms.as_ref().map(|kms| {
        let (servers, log, world) = (Arc::clone(&servers), log.clone(), Arc::clone(&world));
        let (turns, log_keys) = (service.turns(), config.log_keys);
        KmsFace::new(KmsParts { servers, key: kms.key.clone(), turns, log, log_keys, world })
    });
    let router = service.router();
    let (stop, stopped) = watch::channel(false);
    let listens = match (&config.listen, &socket) {
        (Listen::Socket(path), _) => format!("listens at the socket {}", path.display()),
        (Listen::Address(address), Socket::Tcp(listener)) => {
            format!("listens at {}", listener.local_addr().unwrap_or(*address))
        }
        (Listen::Address(address), Socket::Unix(_)) => format!("listens at {address}"),
    };
    log.say(&listens);
    if let Some(kms) = &config.kms {
        log.say(&format!("serves KMS v2 at the socket {}", kms.socket.display()));
    }
    let mut attendant =
        Attendant::new(log.clone(), gateway, servers, config.tokens.clone(), certificates.clone())?;
    let attend = tokio::spawn(async move {
        attendant.attend().await;
        // without a receiver there is nothing left to stop
        let _ = stop.send(true);
    });
    let kms_stopped = stopped.clone();
    let serve_kms = async {
        if let (Some(kms), Some(socket)) = (kms, kms_socket) {
            kms.serve(socket, kms_stopped).await;
        }
    };
    tokio::join!(serve(socket, &router, certificates.as_ref(), stopped), serve_kms);
    attend.abort();
    Ok(())
}

/// The file of a socket, which goes with the gateway.
struct SocketFile(Option<std::path::PathBuf>);

impl SocketFile {
    fn of(listen: &Listen) -> SocketFile {
        match listen {
            Listen::Socket(path) => SocketFile(Some(path.clone())),
            Listen::Address(_) => SocketFile(None),
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // it may be gone already
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Attends to signals and to what changes by itself.
struct Attendant {
    log: GatewayLog,
    gateway: Arc<Gateway>,
    servers: Arc<dyn Backend>,
    tokens: Option<std::path::PathBuf>,
    certificates: Option<Arc<Certificates>>,
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
    /// What the log said last of the servers.
    said: Option<String>,
}

impl Attendant {
    fn new(
        log: GatewayLog,
        gateway: Arc<Gateway>,
        servers: Arc<dyn Backend>,
        tokens: Option<std::path::PathBuf>,
        certificates: Option<Arc<Certificates>>,
    ) -> Result<Attendant, String> {
        let of = |kind| signal(kind).map_err(|e| format!("signals cannot be handled ({e}): try again"));
        let (hangup, terminate, interrupt) =
            (of(SignalKind::hangup())?, of(SignalKind::terminate())?, of(SignalKind::interrupt())?);
        Ok(Attendant {
            log,
            gateway,
            servers,
            tokens,
            certificates,
            hangup,
            terminate,
            interrupt,
            said: None,
        })
    }

    /// Returns when the gateway is to stop.
    async fn attend(&mut self) {
        let mut looks = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                _ = self.hangup.recv() => self.reload(),
                _ = self.terminate.recv() => break,
                _ = self.interrupt.recv() => break,
                _ = looks.tick() => self.look(),
            }
        }
        self.log.say("stops");
    }

    fn reload(&self) {
        match self.tokens.as_deref().map(Tokens::load) {
            None => self.log.say("has no file of tokens to read again"),
            Some(Ok(tokens)) => {
                self.log.say(&format!("took over {} tokens", tokens.count()));
                self.gateway.replace_tokens(tokens);
            }
            Some(Err(e)) => self.log.say(&format!("keeps its old tokens: {e}")),
        }
        self.renew();
    }

    fn renew(&self) {
        match self.certificates.as_ref().map(|certificates| certificates.renew()) {
            None | Some(Ok(false)) => {}
            Some(Ok(true)) => self.log.say("took over its certificate again"),
            Some(Err(e)) => self.log.say(&format!("keeps its old certificate: {e}")),
        }
    }

    fn look(&mut self) {
        self.renew();
        let health = self.servers.health();
        let line = if health.is_good() {
            "the three servers serve".to_owned()
        } else if let Some(waits) = health.waits_for() {
            waits
        } else {
            return;
        };
        if self.said.as_ref() != Some(&line) {
            self.log.say(&line);
            self.said = Some(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{BackendTrouble, Memory};
    use divisi_net::Config;

    /// What a gateway says of a mesh of so many parties and one client, and of an identity of it: that of a
    /// party, of the client, or of nobody.
    fn loaded(parties: usize, whose: &str) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let made = Config::create(parties, &[], &["gateway".into()], &Machine).unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::write(place("mesh.toml"), made.config.to_toml()).unwrap();
        let stranger = Identity::generate(&Machine);
        let identity = match whose {
            "client" => &made.clients[0],
            "party" => &made.parties[1],
            _ => &stranger,
        };
        identity.save(&place("own.pem")).unwrap();
        let text = "mesh = \"mesh.toml\"\nidentity = \"own.pem\"\nsocket = \"s\"\ntokenless_socket = true\n\
                    [[mount]]\npath = \"transit\"\n";
        std::fs::write(place("gateway.toml"), text).unwrap();
        Files::load(&place("gateway.toml")).map(drop)
    }

    /// A process whose start fails at its first file, before any is read, already shows nobody its memory.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn memory_is_protected_before_anything_is_read() {
        use crate::remains::in_own_process;
        use rustix::process::{DumpableBehavior, dumpable_behavior};
        in_own_process("run::tests::memory_is_protected_before_anything_is_read", || {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::Dumpable, "it was started wrongly");
            run(&folder.path().join("none")).unwrap_err();
            assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        });
    }

    /// How the servers are is said once, and again when it has changed.
    #[test]
    fn what_changes_is_said_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let log = GatewayLog::new(file.reopen().unwrap()).unwrap();
        let servers = Arc::new(Memory::default());
        let backend: Arc<dyn Backend> = servers.clone();
        let gateway = Arc::new(Gateway::new(backend.clone(), Vec::new(), None, Arc::new(Machine)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _within = runtime.enter();
        let mut attendant = Attendant::new(log.clone(), gateway, backend, None, None).unwrap();
        for trouble in [None, Some(BackendTrouble::Down(Some(2), "it is away".into())), None] {
            servers.fail(trouble);
            (0..3).for_each(|_| attendant.look());
        }
        log.flush(Duration::from_secs(5));
        let log = std::fs::read_to_string(file.path()).unwrap();
        let said: Vec<bool> = log.lines().map(|line| line.contains("it is away")).collect();
        assert_eq!(said, [false, true, false], "{log}");
    }

    #[test]
    fn the_file_of_a_socket_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        std::fs::write(&path, "").unwrap();
        drop(SocketFile::of(&Listen::Socket(path.clone())));
        assert!(!path.exists());
    }

    #[test]
    fn a_gateway_is_a_client_of_three_servers() {
        loaded(3, "client").unwrap();
        for (parties, whose, why) in [
            (2, "client", "has 2 parties: keys are held by three servers"),
            (4, "client", "has 4 parties: keys are held by three servers"),
            (3, "party", "is a server's, not a client's"),
            (3, "nobody", "is no client's"),
        ] {
            let error = loaded(parties, whose).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    /// A file of tokens counts when it is read again, and one that is wrong or gone changes nothing.
    #[test]
    fn tokens_stay_until_their_file_is_right() {
        use crate::api::RequestHead;
        use sha2::{Digest, Sha256};
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        let file = |token: &str| {
            let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(token));
            format!("[[token]]\nname = \"a\"\nsha256 = \"{hash}\"\nkeys = [\"*\"]\noperations = [\"*\"]\n")
        };
        let backend: Arc<dyn Backend> = Arc::new(Memory::default());
        let tokens = Tokens::parse(&file("one")).unwrap();
        let gateway = Arc::new(Gateway::new(backend.clone(), Vec::new(), Some(tokens), Arc::new(Machine)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _within = runtime.enter();
        let log = GatewayLog::new(std::io::sink()).unwrap();
        let attendant = Attendant::new(log, gateway.clone(), backend, Some(path.clone()), None).unwrap();
        let known = || {
            ["one", "two", ""].map(|token| {
                let token = Some(token.to_owned().into());
                gateway.knows(&RequestHead { token, ..RequestHead::default() })
            })
        };
        let steps = [
            (None, 0),
            (Some(""), 0),
            (Some("[[token]]"), 0),
            (Some(&file("two")[..]), 1),
            (Some("x"), 1),
            (None, 1),
        ];
        for (content, whose) in steps {
            match content {
                None => drop(std::fs::remove_file(&path)),
                Some(content) => {
                    std::fs::write(&path, content).unwrap();
                    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
                }
            }
            attendant.reload();
            assert_eq!(known(), [whose == 0, whose == 1, false], "{content:?}");
        }
    }
}

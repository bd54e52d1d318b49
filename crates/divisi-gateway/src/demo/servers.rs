//! Three servers and a gateway as processes of this machine, with fresh identities, in a folder that is
//! removed at the end.
//!
//! This protects nothing: the user who runs it can read all of it.

use crate::client::HttpClient;
use crate::dumps;
use divisi_net::{Config, Identity, Machine, PartyId, World};
use divisi_node::{Client, KeyName, KeyType, Server, ServerOptions};
use sha2::{Digest, Sha256};
use std::fs::OpenOptions;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long servers and gateway may take to serve, also if many start at once on a busy machine.
const READY: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(50);
/// The key that KMS v2 uses.
const KMS_KEY: &str = "kms";
/// The name by which the servers know the gateway.
const NAME: &str = "gateway";

/// A process that is ended with its owner.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // it may have ended by itself
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Three servers and a gateway.
pub(crate) struct Machines {
    servers: [Option<Running>; 3],
    gateway: Option<Running>,
    folder: TempDir,
    /// The gateway's address.
    pub address: SocketAddr,
    /// The token that may do everything.
    pub token: String,
    /// The servers' configuration.
    pub mesh: Config,
    /// The gateway's identity.
    pub identity: Arc<Identity>,
}

/// A port that is free, and that the system gives to nobody who asks for any port within a minute.
///
/// A connection of it that its own side ended first waits there (`TIME_WAIT`): only who asks for this very
/// port, as a server does, gets it.
fn port() -> Result<SocketAddr, String> {
    let reserve = || {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let caller = TcpStream::connect(listener.local_addr()?)?;
        let (accepted, _) = listener.accept()?;
        drop(accepted);
        drop(caller);
        listener.local_addr()
    };
    reserve().map_err(|e: std::io::Error| format!("no port is free ({e})"))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|e| format!("{} cannot be written ({e})", path.display()))
}

/// What the gateway of a demonstration gets.
pub struct DemoSetting {
    /// Where it listens; a free port of this machine if there is none.
    pub listen: Option<SocketAddr>,
    /// The token that may do everything; drawn if there is none.
    pub token: Option<String>,
    /// Its mounts. Keys of each but the first have the mount's name before theirs.
    pub mounts: Vec<String>,
    /// The socket of KMS v2, for a key of the same name.
    pub kms: Option<PathBuf>,
}

impl Default for DemoSetting {
    fn default() -> DemoSetting {
        DemoSetting { listen: None, token: None, mounts: vec!["transit".to_owned()], kms: None }
    }
}

impl DemoSetting {
    /// The configuration of a gateway at this address.
    fn config(&self, address: SocketAddr) -> String {
        let mut text = format!(
            "mesh = \"mesh.toml\"\nidentity = \"gateway.key\"\nlisten = \"{address}\"\ntokens = \"tokens.toml\"\n"
        );
        for (i, mount) in self.mounts.iter().enumerate() {
            let prefix = if i == 0 { String::new() } else { format!("prefix = \"{mount}-\"\n") };
            text.push_str(&format!("[[mount]]\npath = \"{mount}\"\nupsert = true\n{prefix}"));
        }
        if let Some(socket) = &self.kms {
            text.push_str(&format!("[kms]\nsocket = \"{}\"\nkey = \"{KMS_KEY}\"\n", socket.display()));
        }
        text
    }
}

impl Machines {
    /// Start all of them, and wait until they serve.
    pub fn start(setting: &DemoSetting) -> Result<Machines, String> {
        let folder = tempfile::Builder::new().prefix("divisi-gateway-").tempdir();
        let folder = folder.map_err(|e| format!("no folder can be made ({e})"))?;
        let ports = [port()?, port()?, port()?, port()?];
        let [first, second, third, free] = ports;
        let address = setting.listen.unwrap_or(free);
        let hosts = [first, second, third].map(|host| host.to_string());
        let made = Config::create(3, &hosts, &[NAME.to_owned()], &Machine).map_err(|e| e.to_string())?;
        let path = |name: &str| folder.path().join(name);
        write(&path("mesh.toml"), &made.config.to_toml())?;
        for (party, identity) in PartyId::all(3).zip(&made.parties) {
            let file = path(&format!("party-{}.key", party.number()));
            identity.save(&file).map_err(|e| e.to_string())?;
        }
        let identity = made.clients.into_iter().next().ok_or("no identity was made: try again")?;
        identity.save(&path("gateway.key")).map_err(|e| e.to_string())?;
        let drawn = || {
            let mut drawn = [0; 16];
            Machine.entropy(&mut drawn);
            format!("s.{}", data_encoding::HEXLOWER.encode(&drawn))
        };
        let token = setting.token.clone().unwrap_or_else(drawn);
        let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(&token));
        let tokens = format!(
            "[[token]]\nname = \"demo\"\nsha256 = \"{hash}\"\nkeys = [\"*\"]\noperations = [\"*\"]\n"
        );
        write(&path("tokens.toml"), &tokens)?;
        write(&path("gateway.toml"), &setting.config(address))?;
        let (servers, identity) = ([None, None, None], Arc::new(identity));
        let mesh = made.config;
        let mut machines = Machines { servers, gateway: None, folder, address, token, mesh, identity };
        for party in PartyId::all(3) {
            machines.start_server(party)?;
        }
        if setting.kms.is_some() {
            machines.make_kms_key()?;
        }
        machines.start_gateway()?;
        machines.wait_for(200)?;
        Ok(machines)
    }

    /// Start the gateway, anew if it was stopped.
    pub fn start_gateway(&mut self) -> Result<(), String> {
        let config = self.folder.path().join("gateway.toml");
        self.gateway = Some(self.run(&["serve".into(), "--config".into(), config], "gateway.log")?);
        Ok(())
    }

    /// Kill the gateway.
    pub fn kill_gateway(&mut self) {
        self.gateway = None;
    }

    /// The folder of all files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Make the key of KMS v2, which a gateway makes for nobody, when the servers have joined each other.
    fn make_kms_key(&self) -> Result<(), String> {
        let begun = Instant::now();
        let name: KeyName = KMS_KEY.parse()?;
        loop {
            let world: Arc<dyn World> = Arc::new(Machine);
            let made = Client::connect(&self.mesh, &self.identity, world).and_then(|mut client| {
                let new = client.new_key(name.clone(), KeyType::Aes256, false, Vec::new());
                client.key_new(&new)
            });
            match made {
                Ok(_) => return Ok(()),
                Err(e) if e.retry && begun.elapsed() < READY => std::thread::sleep(PAUSE),
                Err(e) => return Err(e.to_string()),
            }
        }
    }

    fn run(&self, arguments: &[PathBuf], log: &str) -> Result<Running, String> {
        let failed = |e: std::io::Error| format!("a process cannot be started ({e})");
        let program = std::env::current_exe().map_err(failed)?;
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.folder.path().join(log))
            .map_err(failed)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        command.spawn().map(Running).map_err(failed)
    }

    /// Start a server, anew if it was stopped.
    pub fn start_server(&mut self, party: PartyId) -> Result<(), String> {
        let (folder, number) = (self.folder.path().to_owned(), party.number());
        let arguments = ["demo-server".into(), folder, number.to_string().into()];
        let running = self.run(&arguments, &format!("party-{number}.log"))?;
        if let Some(place) = self.servers.get_mut(party.index()) {
            *place = Some(running);
        }
        Ok(())
    }

    /// Kill a server.
    pub fn kill_server(&mut self, party: PartyId) {
        if let Some(place) = self.servers.get_mut(party.index()) {
            *place = None;
        }
    }

    /// A connection with the gateway.
    pub fn client(&self) -> std::io::Result<HttpClient> {
        HttpClient::connect(self.address, &self.token)
    }

    /// Wait until `sys/health` has this status; how long it took.
    pub fn wait_for(&self, status: u16) -> Result<Duration, String> {
        let begun = Instant::now();
        let mut last = String::from("nothing listens there");
        while begun.elapsed() < READY {
            let asked = self.client().and_then(|mut client| client.ask("GET", "/v1/sys/health", None));
            match asked {
                Ok(answered) if answered.status == status => return Ok(begun.elapsed()),
                Ok(answered) => last = format!("its health is {}", answered.status),
                Err(e) => last = e.to_string(),
            }
            std::thread::sleep(PAUSE);
        }
        let log = std::fs::read_to_string(self.folder.path().join("gateway.log")).unwrap_or_default();
        let line = log.lines().last().unwrap_or("nothing");
        Err(format!("the gateway did not serve within {} s: {last}; its log says: {line}", READY.as_secs()))
    }
}

/// One of the three servers, until its parent ends.
///
/// # Errors
/// One sentence.
pub fn server(folder: &Path, party: u8) -> Result<(), String> {
    dumps::end_with_parent();
    dumps::forbid();
    dumps::raise_descriptors();
    let party = PartyId::new(party).ok_or("there is no party 0: parties are numbered from 1")?;
    let config = Config::load(&folder.join("mesh.toml")).map_err(|e| e.to_string())?;
    let identity = Identity::load(&folder.join(format!("party-{}.key", party.number())));
    let identity = Arc::new(identity.map_err(|e| e.to_string())?);
    let data = folder.join(format!("data-{}", party.number()));
    let options = ServerOptions { log: Arc::new(|line| eprintln!("{line}")), ..ServerOptions::default() };
    let world: Arc<dyn World> = Arc::new(Machine);
    let server = Server::open(config, party, identity, &data, options, world).map_err(|e| e.to_string())?;
    server.run().map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::port;
    use std::net::TcpListener;
    use std::time::Duration;

    #[test]
    fn a_port_waits_for_who_asks_for_it() {
        let address = port().unwrap();
        let connections = || std::fs::read_to_string("/proc/net/tcp").unwrap();
        let (own, waits) = (format!("0100007F:{:04X}", address.port()), "06");
        let is_held = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.get(1) == Some(&own.as_str()) && words.get(3) == Some(&waits)
        };
        // a busy machine closes the connection later
        let held = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            connections().lines().any(is_held)
        });
        assert!(held, "{}", connections());
        TcpListener::bind(address).unwrap();
    }
}

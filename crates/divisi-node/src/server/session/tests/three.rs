//! Three servers that listen to nobody, and what their client alice asks for.

use super::*;
use crate::request::{Reply, ToClient};
use crate::wire::decode;

/// The key that alice asks for.
pub(super) fn key() -> KeyName {
    "k".parse().unwrap()
}

/// A request for a new key of this type.
pub(super) fn new_key(name: KeyName, kind: KeyType) -> Item {
    let bytes = kind.bytes() as u32;
    Item::KeyNew(NewKey { name, kind, bytes, exportable: false, clients: Vec::new(), request: [1; 16] })
}

/// A request to encrypt a message of this length with alice's key.
pub(super) fn encrypt(length: u64) -> Item {
    Item::Encrypt { key: key(), aad: Blob(Vec::new()), length, way: SboxChoice::DEFAULT }
}

pub(super) fn sha256(length: u64) -> Item {
    let settings = divisi_symmetric::algorithm::Settings::new("sha256".parse().unwrap());
    Item::Hash { asked: (&settings).into(), length }
}

/// A clock that stands still, so that no moment is ever over.
pub(super) fn still() -> Arc<dyn World> {
    let now = Instant::now();
    Arc::new(Clock(move || now))
}

/// Change what this party sends to another one at these steps.
pub(super) fn change(
    mesh: &Mesh,
    to: PartyId,
    steps: &[&'static str],
    mut change: impl FnMut(&mut Frame) + Send + 'static,
) {
    let steps: Vec<_> = steps.iter().map(|step| Step::new(step).id).collect();
    let changed = move |mut frame: Frame| {
        if steps.contains(&frame.step) {
            change(&mut frame);
        }
        vec![frame]
    };
    Tap::new(mesh).intercept(to, Box::new(changed)).unwrap();
}

/// How long a leader without requests waits before it says so.
pub(super) const BEAT: Duration = Duration::from_millis(30);

pub(super) const VERDICT: &str = "divisi_rep3::input/verdict";

/// What links three servers: its time limit ends a run that hangs, and no slow machine reaches it.
pub(super) fn meshes() -> Vec<Mesh> {
    let options = Options { timeout: Duration::from_secs(600), ..Options::default() };
    memory::mesh_that_skips(3, &options, Arc::new(Machine))
}

/// Three servers that listen to nobody.
pub(super) struct Three {
    pub servers: Vec<Server>,
    /// What all of them log.
    pub lines: Arc<Mutex<Vec<String>>>,
    /// Their data.
    pub dir: tempfile::TempDir,
}

impl Three {
    pub fn new() -> Three {
        Three::within(&(Arc::new(Machine) as Arc<dyn World>))
    }

    /// At each of which alice has asked for a key, in the first request of her first connection.
    pub fn asked_for_key() -> Three {
        let three = Three::new();
        three.all_asked_for(1, &new_key(key(), KeyType::Aes128));
        three
    }

    pub fn within(world: &Arc<dyn World>) -> Three {
        let dir = tempfile::tempdir().unwrap();
        let ports: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let hosts: Vec<String> = ports.iter().map(|p| p.local_addr().unwrap().to_string()).collect();
        let made = Config::create(3, &hosts, &["alice".into(), "alicia".into()], &Machine).unwrap();
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let open = |((me, port), identity): ((PartyId, TcpListener), divisi_net::Identity)| {
            let (data, lines) = (dir.path().join(me.to_string()), lines.clone());
            let log = Arc::new(move |line: &str| lines.lock().unwrap().push(line.to_owned()));
            let options = ServerOptions { log, beat: Some(BEAT), ..ServerOptions::default() };
            let (config, world) = (made.config.clone(), world.clone());
            Server::open_at(port, config, me, Arc::new(identity), &data, options, world).unwrap()
        };
        let servers = PartyId::all(3).zip(ports).zip(made.parties).map(open).collect();
        Three { servers, lines, dir }
    }

    pub fn node(&self, i: usize) -> &Node {
        &self.servers[i].node
    }

    /// A connection of alice's at a server.
    pub fn enter(&self, i: usize, id: u8) {
        self.enter_as(i, id, self.alice(i));
    }

    /// A connection of a client's at a server.
    pub fn enter_as(&self, i: usize, id: u8, who: Who) {
        assert!(self.node(i).report(|schedule, _| schedule.enter(who, [id; 32])));
    }

    /// Alice as this server knows her.
    pub fn alice(&self, i: usize) -> Who {
        self.client(i, 0)
    }

    pub fn alicia(&self, i: usize) -> Who {
        self.client(i, 1)
    }

    fn client(&self, i: usize, at: usize) -> Who {
        let client = self.node(i).config().clients()[at].clone();
        Who { name: client.name, fingerprint: *client.pin.fingerprint().bytes() }
    }

    /// Send on it a request for her list of keys.
    pub fn ask(&self, i: usize, id: u8) {
        self.ask_for(i, id, 1, Item::KeyList { after: None });
    }

    /// Send a request for any item, under this number.
    pub fn ask_for(&self, i: usize, id: u8, number: u64, item: Item) {
        self.say(i, id, ToServer::Request { number, item });
    }

    pub fn say(&self, i: usize, id: u8, message: ToServer) {
        self.node(i).report(|schedule, now| schedule.receive(&[id; 32], message, 40, now)).unwrap();
    }

    /// Open a connection of alice's at each server, and send this as its first request.
    pub fn all_asked_for(&self, id: u8, item: &Item) {
        for i in 0..3 {
            self.enter(i, id);
            self.ask_for(i, id, 1, item.clone());
        }
    }

    /// Whether a server has this request still.
    pub fn has(&self, i: usize, id: u8, number: u64) -> bool {
        self.node(i).schedule(|schedule, _| schedule.has(&[id; 32], number))
    }

    /// What a server tells its client of a request that it refused.
    pub fn refusal(&self, i: usize, id: u8, number: u64) -> Option<Failed> {
        let told = self.refusals(i, id);
        told.into_iter().find(|(of, _)| *of == number).map(|(_, failed)| failed)
    }

    /// What a server tells its client of all requests that it refused, by number.
    pub fn refusals(&self, i: usize, id: u8) -> Vec<(u64, Failed)> {
        let next = || self.node(i).schedule(|schedule, _| schedule.next_answer(&[id; 32]));
        let told = std::iter::from_fn(next).filter_map(|answer| match decode::<Reply>(&answer)? {
            Reply { number, what: ToClient::Failed(failed), .. } => Some((number, failed)),
            _ => None,
        });
        told.collect()
    }

    /// Each server in a thread and in one session, with its number from 0.
    pub fn run<R: Send>(&self, act: impl Fn(usize, &mut ServerState<'_>) -> R + Sync) -> Vec<R> {
        self.run_over(meshes(), act)
    }

    pub fn run_over<R: Send>(
        &self,
        meshes: Vec<Mesh>,
        act: impl Fn(usize, &mut ServerState<'_>) -> R + Sync,
    ) -> Vec<R> {
        let (act, begun) = (&act, &std::sync::Barrier::new(3));
        std::thread::scope(|s| {
            let threads: Vec<_> = meshes
                .into_iter()
                .zip(&self.servers)
                .enumerate()
                .map(|(i, (mesh, server))| {
                    s.spawn(move || {
                        let session =
                            Session::start(&Arc::new(mesh), 1, &PublicParameters::new("test")).unwrap();
                        let trio = Trio::new(session).unwrap();
                        // a server that ends the session ends it for those that have begun
                        begun.wait();
                        let mut state = ServerState {
                            node: &server.node,
                            rep: Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious),
                            ready: Ready::default(),
                            in_progress: InProgress::new(),
                            trips: RoundTrips::default(),
                            rounds: Rounds::OfLevels,
                            since_short: CALM,
                            counted: HashSet::new(),
                        };
                        act(i, &mut state)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }
}

/// Give a server's file of the key another share.
pub(super) fn differ(data: &Path) {
    differ_at(data, false, 3);
}

/// The same, by this byte of its first or second component.
pub(super) fn differ_at(data: &Path, second: bool, at: usize) {
    let keys = data.join("keys");
    let store = StoredKeys::open_on(Box::new(divisi_store::MachineDisk), &keys).unwrap();
    let mut file = store.load(&key()).unwrap().unwrap();
    let secret = file.secret.as_mut().unwrap();
    (if second { &mut secret.second } else { &mut secret.first })[at] ^= 1;
    std::fs::remove_file(keys.join("k.key")).unwrap();
    store.prepare(&mut file).unwrap();
}

pub(super) fn offer(id: u8) -> Offer {
    Offer { connection: [id; 32], number: 1, step: 0 }
}

/// A step of a request on the first connection.
pub(super) fn step_of(number: u64, step: u64) -> Offer {
    Offer { number, step, ..offer(1) }
}

pub(super) const LEADER: PartyId = PartyId::P1;

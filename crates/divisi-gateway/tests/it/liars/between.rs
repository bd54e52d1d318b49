//! A man in the middle between the gateway and each of the three servers, who has the identities of all: to
//! the gateway he is the server, and to the server the gateway. He says what he hears, but for what the
//! server that lies just then is made to say.

use super::words::{Said, Word};
use crate::stay::Stay;
use divisi_net::{
    Bell, Config, Connection, Duplex, Identity, Listener, Machine, PartyId, WaitOutcome, World,
};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// No message is longer.
const LONGEST: usize = 512 << 10;
/// How soon he notices that all is over.
const TURN: Duration = Duration::from_millis(100);

/// What is changed in the messages of the server that lies.
#[derive(Clone, Copy)]
pub enum Lie {
    /// What it says.
    Says(fn(&mut Said)),
    /// What it hears: the bytes of messages of requests.
    Hears(fn(&mut Vec<u8>)),
}

/// What all threads share.
#[derive(Default)]
struct State {
    lie: Mutex<Option<(PartyId, Lie)>>,
    /// How many messages were changed.
    told: AtomicUsize,
    /// What was said by any server since it was asked last.
    heard: Mutex<Vec<Word>>,
    /// The open connections, to close them.
    links: Mutex<Vec<Arc<Link>>>,
    over: AtomicBool,
}

/// The three men in the middle; they end with it.
pub struct Between(Arc<State>);

impl Drop for Between {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
    }
}

impl Between {
    /// Stand between the servers and the gateway, which is started again to find them there.
    pub fn stand(stay: &Stay) -> Between {
        let path = |name: &str| stay.folder.join(name);
        let text = std::fs::read_to_string(path("mesh.toml")).unwrap();
        let real = Config::parse(&text).unwrap();
        let listeners: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let mut moved = text;
        for (party, listener) in real.parties().iter().zip(&listeners) {
            moved = moved.replace(&party.address, &listener.local_addr().unwrap().to_string());
        }
        std::fs::write(path("between.toml"), &moved).unwrap();
        let moved = Config::parse(&moved).unwrap();
        let client = Arc::new(Identity::load(&path("gateway.key")).unwrap());
        let state = Arc::<State>::default();
        for (party, listener) in PartyId::all(3).zip(listeners) {
            let identity = Identity::load(&path(&format!("party-{}.key", party.number()))).unwrap();
            let world: Arc<dyn World> = Arc::new(Machine);
            let server =
                Listener::open_at(listener, moved.clone(), party, Arc::new(identity), world).unwrap();
            let (state, real, client) = (state.clone(), real.clone(), client.clone());
            std::thread::spawn(move || {
                while !state.over.load(Ordering::SeqCst) {
                    let Some(caller) = server.next_client(Duration::from_millis(100)) else { continue };
                    let (state, real, client) = (state.clone(), real.clone(), client.clone());
                    std::thread::spawn(move || pass(&state, caller, &real, party, &client));
                }
            });
        }
        stay.order("stop gateway");
        let config = std::fs::read_to_string(path("gateway.toml")).unwrap();
        std::fs::write(path("gateway.toml"), config.replace("mesh.toml", "between.toml")).unwrap();
        stay.order("start gateway");
        Between(state)
    }

    /// Do something while a server lies; how many of its messages were changed.
    pub fn while_lying<R>(&self, liar: PartyId, lie: Lie, work: impl FnOnce() -> R) -> (R, usize) {
        let before = self.0.told.load(Ordering::SeqCst);
        *self.0.lie.lock().unwrap() = Some((liar, lie));
        let done = work();
        *self.0.lie.lock().unwrap() = None;
        (done, self.0.told.load(Ordering::SeqCst) - before)
    }

    /// What the servers said since this was called last.
    pub fn heard(&self) -> Vec<Word> {
        std::mem::take(&mut *self.0.heard.lock().unwrap())
    }

    /// Close all connections, so that the gateway opens others.
    pub fn hang_up(&self) {
        let links = std::mem::take(&mut *self.0.links.lock().unwrap());
        links.iter().flat_map(|link| [&link.to_caller, &link.to_server]).for_each(Letters::end);
        // each is held by the threads that pass its messages on
        while links.iter().any(|link| Arc::strong_count(link) > 1) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// What one side is still to be told, and the bell of the thread that tells it.
struct Letters {
    waiting: Mutex<Vec<Vec<u8>>>,
    ended: AtomicBool,
    bell: Bell,
}

impl Letters {
    fn new(bell: Bell) -> Letters {
        Letters { waiting: Mutex::default(), ended: AtomicBool::new(false), bell }
    }

    fn post(&self, letter: Vec<u8>) {
        self.waiting.lock().unwrap().push(letter);
        self.bell.ring();
    }

    /// Nothing more comes.
    fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.bell.ring();
    }
}

/// A connection of the gateway with a server.
struct Link {
    to_caller: Letters,
    to_server: Letters,
}

/// Pass messages on between a caller and the real server.
fn pass(
    state: &Arc<State>,
    caller: Connection,
    real: &Config,
    party: PartyId,
    client: &Identity,
) -> Option<()> {
    let world: Arc<dyn World> = Arc::new(Machine);
    let server = Connection::dial(real, party, client, &world, Duration::from_secs(3)).ok()?;
    let (caller, caller_bell) = Duplex::new(caller).ok()?;
    let (server, server_bell) = Duplex::new(server).ok()?;
    let link = Link { to_caller: Letters::new(caller_bell), to_server: Letters::new(server_bell) };
    let link = Arc::new(link);
    state.links.lock().unwrap().push(link.clone());
    let (hearing, its_link) = (state.clone(), link.clone());
    let hears = std::thread::spawn(move || {
        let Link { to_caller, to_server } = &*its_link;
        listen(&hearing, caller, to_caller, to_server, |bytes| hearing.hears(party, bytes));
    });
    listen(state, server, &link.to_server, &link.to_caller, |bytes| state.says(party, bytes));
    hears.join().ok()
}

/// Tell one side what there is for it, and post what it says, changed, to the other.
fn listen(
    state: &State,
    mut side: Duplex,
    to_it: &Letters,
    to_other: &Letters,
    change: impl Fn(&[u8]) -> Vec<u8>,
) {
    loop {
        // what the other side said before it closed is told, too
        let ended = to_it.ended.load(Ordering::SeqCst) || state.over.load(Ordering::SeqCst);
        let letters = std::mem::take(&mut *to_it.waiting.lock().unwrap());
        if letters.iter().any(|letter| side.queue(letter).is_err()) || ended {
            break;
        }
        match side.wait(Some(LONGEST), Instant::now() + TURN) {
            Ok(WaitOutcome::Message(bytes)) => to_other.post(change(&bytes)),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    to_other.end();
    side.close();
}

impl State {
    fn lie(&self, party: PartyId) -> Option<Lie> {
        let lie = *self.lie.lock().unwrap();
        lie.filter(|(liar, _)| *liar == party).map(|(_, lie)| lie)
    }

    /// What this server is made to say in place of a message.
    fn says(&self, party: PartyId, bytes: &[u8]) -> Vec<u8> {
        let said = Said::read(bytes);
        self.heard.lock().unwrap().push(said.what.clone());
        let Some(Lie::Says(lie)) = self.lie(party) else { return bytes.to_vec() };
        let mut changed = said.clone();
        lie(&mut changed);
        self.told.fetch_add(usize::from(changed != said), Ordering::SeqCst);
        changed.write(bytes)
    }

    /// What this server is made to hear.
    fn hears(&self, party: PartyId, bytes: &[u8]) -> Vec<u8> {
        let Some(Lie::Hears(lie)) = self.lie(party) else { return bytes.to_vec() };
        let mut changed = bytes.to_vec();
        lie(&mut changed);
        self.told.fetch_add(usize::from(changed != bytes), Ordering::SeqCst);
        changed
    }
}

//! Three servers in one process, and a client: make a key that none of them holds, encrypt a text, decrypt it
//! again.
//!
//! In earnest the servers are three machines of three owners (`divisi server`), and the client is a fourth;
//! then they share nothing but the configuration. The calls are the same.
//!
//! Run it: `cargo run --example encrypt_in_one_process`.

use divisi::layers::net::{Config, Identity, Machine, PartyId, World};
use divisi::layers::node::{Client, KeyType, Server, ServerOptions};
use std::error::Error;
use std::io::Cursor;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Encrypt and decrypt `text`; both results. The servers keep their keys in `dir`.
pub fn there_and_back(text: &[u8], dir: &Path) -> Result<(Vec<u8>, Vec<u8>), Box<dyn Error>> {
    let world: Arc<dyn World> = Arc::new(Machine);
    // One port for each server, one configuration for all, an identity for each: what `divisi mesh new`
    // makes.
    let ports = (0..3).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()?;
    let hosts = ports
        .iter()
        .map(|port| Ok(port.local_addr()?.to_string()))
        .collect::<Result<Vec<_>, std::io::Error>>()?;
    let mesh = Config::create(3, &hosts, &["me".into()], &*world)?;

    let mut servers = Vec::new();
    for ((party, port), identity) in PartyId::all(3).zip(ports).zip(mesh.parties) {
        let (config, data) = (mesh.config.clone(), dir.join(party.number().to_string()));
        let options = ServerOptions::default();
        servers.push(Server::open_at(
            port,
            config,
            party,
            Arc::new(identity),
            &data,
            options,
            Arc::clone(&world),
        )?);
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = servers.iter().map(|server| scope.spawn(move || server.run())).collect();
        let result = client(&mesh.config, &mesh.clients, &world, text);
        servers.iter().for_each(|server| server.stop_flag().store(true, Ordering::SeqCst));
        for thread in threads {
            thread.join().map_err(|_| "a server panicked")??;
        }
        result
    })
}

fn client(
    config: &Config,
    identities: &[Identity],
    world: &Arc<dyn World>,
    text: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), Box<dyn Error>> {
    let identity = identities.first().ok_or("no identity for the client")?;
    let mut client = Client::connect(config, identity, Arc::clone(world))?;
    let key = "letters".parse()?;
    client.key_new(&client.new_key("letters".parse()?, KeyType::Aes256, false, Vec::new()))?;
    let (mut sealed, mut opened) = (Vec::new(), Vec::new());
    client.encrypt(
        &key,
        b"to whom it concerns",
        &mut &text[..],
        text.len() as u64,
        &mut sealed,
        &mut |_| {},
    )?;
    let length = sealed.len() as u64;
    client.decrypt(
        &key,
        b"to whom it concerns",
        &mut Cursor::new(&sealed),
        length,
        &mut opened,
        &mut |_| {},
    )?;
    Ok((sealed, opened))
}

#[allow(dead_code, reason = "a test uses the function above")]
fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let text = b"a text that no server sees";
    let (sealed, opened) = there_and_back(text, dir.path())?;
    let digits: String = sealed.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("encrypted: {digits}");
    println!("decrypted: {}", String::from_utf8_lossy(&opened));
    if opened == text { Ok(()) } else { Err("they differ".into()) }
}

//! Three servers in one process, and a client: make a key that none of them holds, encrypt a text, decrypt it
//! again; then many texts in one call.
//!
//! In earnest the servers are three machines of three owners (`divisi server`), and the client is a fourth;
//! then they share nothing but the configuration. The calls are the same.
//!
//! Run it: `cargo run --example encrypt_in_one_process`.

use divisi::layers::node::{Client, ClientPool, Error as Refused, KeyName, KeyType};
use divisi::local::ServersHere;
use std::error::Error;
use std::io::Cursor;

const FOR: &[u8] = b"to whom it concerns";

fn encrypt(client: &mut Client, key: &KeyName, text: &[u8]) -> Result<Vec<u8>, Refused> {
    let (mut sealed, length) = (Vec::new(), text.len() as u64);
    client.encrypt(key, FOR, &mut &text[..], length, &mut sealed, &mut |_| {})?;
    Ok(sealed)
}

fn decrypt(client: &mut Client, key: &KeyName, sealed: &[u8]) -> Result<Vec<u8>, Refused> {
    let (mut opened, length) = (Vec::new(), sealed.len() as u64);
    client.decrypt(key, FOR, &mut Cursor::new(sealed), length, &mut opened, &mut |_| {})?;
    Ok(opened)
}

/// Make a key, encrypt `text` and decrypt it again; both results.
pub fn there_and_back(pool: &ClientPool, text: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Box<dyn Error>> {
    let key = "letters".parse()?;
    pool.key_new(&pool.new_key("letters".parse()?, KeyType::Aes256, false, Vec::new()))?;
    let sealed = pool.run(|client| encrypt(client, &key, text))?;
    let opened = pool.run(|client| decrypt(client, &key, &sealed))?;
    Ok((sealed, opened))
}

/// The same for many texts, over several connections at a time; the key is there.
pub fn all_there_and_back(pool: &ClientPool, texts: &[&[u8]]) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let key = "letters".parse()?;
    let sealed = pool.map(texts, |client, text| encrypt(client, &key, text))?;
    Ok(pool.map(&sealed, |client, sealed| decrypt(client, &key, sealed))?)
}

#[allow(dead_code, reason = "a test uses the functions above")]
fn main() -> Result<(), Box<dyn Error>> {
    let servers = ServersHere::start(&["me".into()])?;
    let pool = servers.pool(0)?;
    let text = b"a text that no server sees";
    let (sealed, opened) = there_and_back(&pool, text)?;
    let digits: String = sealed.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("encrypted: {digits}");
    println!("decrypted: {}", String::from_utf8_lossy(&opened));
    let words: Vec<&[u8]> = text.split(|byte| *byte == b' ').collect();
    let all = all_there_and_back(&pool, &words)?;
    servers.stop()?;
    if opened == text && all == words { Ok(()) } else { Err("they differ".into()) }
}

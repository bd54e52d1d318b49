//! Many requests at a time over a few connections: they encrypt the lines of standard input.
//!
//! `divisi mesh new --parties 3 --clients me --out mesh` makes identities and a configuration; with it a
//! `divisi server` runs for each of the three. Then
//! `cargo run --example many_requests -- mesh/mesh.toml mesh/client-me.key lines < FILE` encrypts with the
//! key `lines`, which it makes if there is none. A server may restart meanwhile.

use divisi::layers::node::{self, ClientPool, KeyName, KeyType};
use divisi::prelude::{Config, Identity, Machine};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// Encrypt each text by itself with the key of this name; the results in the order of the texts.
pub fn encrypt_all(pool: &ClientPool, key: &KeyName, texts: &[String]) -> Result<Vec<Vec<u8>>, node::Error> {
    if pool.run(|client| client.key_named(key))?.is_none() {
        pool.key_new(&pool.new_key(key.clone(), KeyType::Aes256, false, Vec::new()))?;
    }
    pool.map(texts, |client, text| {
        let (mut sealed, length) = (Vec::new(), text.len() as u64);
        client.encrypt(key, b"", &mut text.as_bytes(), length, &mut sealed, &mut |_| {})?;
        Ok(sealed)
    })
}

#[allow(dead_code, reason = "a test uses the function above")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [config, identity, key] = &arguments[..] else {
        return Err("give a configuration, an identity and the name of a key".into());
    };
    let config = Config::load(Path::new(config))?;
    let identity = Arc::new(Identity::load(Path::new(identity))?);
    let pool = ClientPool::new(config, identity, Arc::new(Machine))?;
    let texts = std::io::stdin().lines().collect::<Result<Vec<String>, _>>()?;
    for sealed in encrypt_all(&pool, &key.parse()?, &texts)? {
        println!("{}", sealed.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    }
    Ok(())
}

//! Three machines from a configuration: the first has a key, the second a block, and all learn the block
//! encrypted with AES.
//!
//! `divisi mesh new --parties 3 --hosts A:4701,B:4701,C:4701 --out mesh` makes the configuration and an
//! identity for each; then, on each of the three:
//! `cargo run --example three_machines -- mesh/mesh.toml mesh/party-1.key 1` (2 and 3 on the others), in any
//! order.

use divisi::layers::rep3::{Rep3, Security, Trio};
use divisi::layers::symmetric::aes::KeySize;
use divisi::layers::symphony::{Priority, maestro::Maestro};
use divisi::prelude::*;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// One of the three: joins the others, and computes with them.
pub fn party(listener: &Listener, within: std::time::Duration) -> Result<Vec<[u8; 16]>, Box<dyn Error>> {
    let mesh = Arc::new(Mesh::join(listener, within)?);
    let session = Session::start(&mesh, 1, &PublicParameters::new("aes of three machines"))?;
    let [first, second] = [1, 2].map(PartyId::new);
    let (first, second) = first.zip(second).ok_or("parties are counted from 1")?;
    let me = session.me();
    let aes = Maestro::new(KeySize::Aes128, Priority::TotalThroughput);
    let rep = &mut Rep3::new(Trio::new(session)?, aes.mode().protocol(), Security::Malicious);
    // FIPS 197, C.1; each is known to its owner alone
    let key: Vec<u8> = (0..16).collect();
    let block: [u8; 16] = std::array::from_fn(|i| 0x11 * i as u8);
    let key = aes.input_key(rep, first, (me == first).then_some(&key[..]))?;
    let m = aes.input_block(rep, second, 1, (me == second).then_some(&[block][..]))?;
    let ks = aes.compute_ks(rep, &key)?;
    let c = aes.encipher(rep, &ks, &m)?;
    Ok(aes.output_block(rep, &c)?)
}

#[allow(dead_code, reason = "a test uses the function above")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [config, identity, number] = &arguments[..] else {
        return Err("give a configuration, an identity and the number of a party".into());
    };
    let config = Config::load(Path::new(config))?;
    let identity = Arc::new(Identity::load(Path::new(identity))?);
    let me = PartyId::new(number.parse()?).ok_or("parties are counted from 1")?;
    let within = config.connect();
    let listener = Listener::open(config, me, identity, Arc::new(Machine))?;
    println!("{:02x?}", party(&listener, within)?);
    Ok(())
}

//! A protocol of your own on the engine: three parties compute `AES_k1(x) + AES_k2(x)` on shares of two keys and of x, and open
//! the sum alone. (It is a pseudo-random function that is secure beyond the birthday bound, as long as the two keys are
//! independent.)
//!
//! Everything that a protocol needs is here: inputs that their holders compare, a computation over the engine's traits, and an
//! output that leaves when all behind it is verified. The three parties are threads of this process; over `Mesh::join` the same
//! code runs on three machines.
//!
//! Run it: `cargo run --example own_protocol`.

use divisi_core::{Abort, Bytes, Check, Parameters, Session, settle};
use divisi_net::{Machine, Mesh, World, memory};
use divisi_rep3::deal::{self, Part};
use divisi_rep3::{Agreement, Byte, Protocol, Rep3, Security, Trio};
use divisi_symmetric::aes;
use std::error::Error;
use std::sync::Arc;

/// The protocol, written once for every engine that has bytes: both encryptions share the rounds of one.
fn xor_of_two<E: Bytes>(e: &mut E, keys: &[E::Byte], x: &[E::Byte; 16]) -> Result<[E::Byte; 16], Abort> {
    // Lane 0 has the first key and lane 1 the second; x stands in both.
    let round_keys = aes::expand(e, keys)?;
    let mut state = x.clone();
    aes::encrypt(e, &round_keys, &mut state)?;
    let lane = |byte: &E::Byte, l: usize| divisi_core::Lanes::gather(byte, &[l]);
    let misfit = Abort::Misuse { step: divisi_core::step!("xor"), what: "two lanes are needed" };
    let mut sum = Vec::with_capacity(16);
    for byte in &state {
        let (Some(mut first), Some(second)) = (lane(byte, 0), lane(byte, 1)) else { return Err(misfit) };
        e.add(&mut first, &second)?;
        sum.push(first);
    }
    sum.try_into().map_err(|_| misfit)
}

/// One party: its links, and its part of the 16 + 16 bytes of each lane.
fn party(mesh: Mesh, parts: &[Part]) -> Result<Vec<u8>, Abort> {
    let session =
        Session::start(&Arc::new(mesh), 1, &Parameters::new("example").with("protocol", b"xor of two"))?;
    let mut rep = Rep3::new(Trio::new(session)?, Protocol::Gf4Circuit, Security::Malicious);
    let mut inputs: Vec<Byte> = Vec::new();
    for part in parts {
        // Who dealt them could have dealt what is no sharing of anything: the holders compare.
        match rep.trio().agree_input(Check::A24, &[0; 32], Some(part))? {
            Agreement::Agreed => inputs.push(rep.trio().input(part)?),
            _ => return Err(Abort::Misuse { step: divisi_core::step!("input"), what: "the dealer cheats" }),
        }
    }
    let (keys, x) = inputs.split_at(16);
    let misfit = Abort::Misuse { step: divisi_core::step!("input"), what: "a block has 16 bytes" };
    let x: [Byte; 16] = x.to_vec().try_into().map_err(|_| misfit)?;
    let sum = xor_of_two(&mut rep, keys, &x)?;
    // Every product so far is owed a verification; only what passed it can be opened.
    let pending = rep.close(sum.to_vec());
    let verified = settle(&mut rep, pending)?;
    Ok(rep.trio().open(&verified)?.concat())
}

/// The sum as the three parties compute it.
pub fn compute(keys: [[u8; 16]; 2], x: [u8; 16]) -> Result<Vec<u8>, Box<dyn Error>> {
    // The dealer: a secret byte in two lanes each.
    let lanes = (0..16).map(|i| [keys[0][i], keys[1][i]]).chain(x.map(|byte| [byte, byte]));
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    for lane in lanes {
        let dealt = deal::split(&lane, |out| Machine.entropy(out));
        parts.iter_mut().zip(dealt).for_each(|(parts, part)| parts.push(part));
    }
    let opened: Vec<Result<Vec<u8>, Abort>> = std::thread::scope(|scope| {
        let threads: Vec<_> = memory::mesh(3)
            .into_iter()
            .zip(&parts)
            .map(|(mesh, parts)| scope.spawn(move || party(mesh, parts)))
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let opened = opened.into_iter().collect::<Result<Vec<_>, _>>()?;
    match opened.as_slice() {
        [one, two, three] if one == two && two == three => Ok(one.clone()),
        _ => Err("the parties do not agree".into()),
    }
}

/// What it must be, by an ordinary AES.
pub fn expected(keys: [[u8; 16]; 2], x: [u8; 16]) -> Vec<u8> {
    use ::aes::cipher::{BlockCipherEncrypt, KeyInit};
    let encrypt = |key: [u8; 16]| {
        let mut block = x.into();
        ::aes::Aes128::new(&key.into()).encrypt_block(&mut block);
        <[u8; 16]>::from(block)
    };
    let [first, second] = keys.map(encrypt);
    first.iter().zip(&second).map(|(a, b)| a ^ b).collect()
}

#[allow(dead_code, reason = "a test uses the functions above")]
fn main() -> Result<(), Box<dyn Error>> {
    let (keys, x) = ([[1; 16], [2; 16]], *b"sixteen bytes in");
    let (sum, expected) = (compute(keys, x)?, expected(keys, x));
    println!("the three parties: {}", hex::encode(&sum));
    println!("an ordinary AES:   {}", hex::encode(&expected));
    if sum == expected { Ok(()) } else { Err("they differ".into()) }
}

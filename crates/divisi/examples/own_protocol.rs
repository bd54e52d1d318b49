//! A protocol of one's own: three parties, of which each knows one of k1, k2 and x, compute
//! `AES_k1(x) + AES_k2(x)` and learn the sum alone. (It is a pseudo-random function that is secure beyond the
//! birthday bound, as long as the two keys are independent.)
//!
//! Run it: `cargo run --example own_protocol`.

use divisi::layers::rep3::{self, Protocol, Rep3, Security, Trio};
use divisi::layers::symmetric::aes;
use divisi::layers::symphony::{close, owner};
use divisi::prelude::*;

const SUM: Step = step!("sum");

/// The protocol, written once for every engine that has bytes.
fn sum_of_two<E: Bytes>(e: &mut E, keys: &[E::Byte], x: &[E::Byte]) -> Result<Vec<E::Byte>, Abort> {
    let mut sum: Option<[E::Byte; 16]> = None;
    for key in keys.chunks(16) {
        let misfit = Abort::Misuse { step: SUM, what: Misuse::BlockLength };
        let mut state: [E::Byte; 16] = x.to_vec().try_into().map_err(|_| misfit)?;
        let round_keys = aes::expand(e, key)?;
        aes::encrypt(e, &round_keys, &mut state)?;
        if let Some(sum) = &sum {
            for (byte, other) in state.iter_mut().zip(sum) {
                e.add(byte, other)?;
            }
        }
        sum = Some(state);
    }
    Ok(sum.into_iter().flatten().collect())
}

/// One party with its 16 bytes: k1, k2 or x. Over a network it is the same, on a session of `Mesh::join`.
pub fn party(trio: Trio, own: &[u8; 16]) -> Result<Vec<u8>, Abort> {
    let mut rep = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
    // who brings what is no sharing of anything is noticed by the two holders of each component
    let part = owner::bring(&mut rep, &[0; 32], [16; 3], own)?;
    let bytes = owner::single(&mut rep, &part)?;
    let (keys, x) = bytes.split_at(32);
    let sum = sum_of_two(&mut rep, keys, x)?;
    // every product so far is owed a verification; only what has passed it can be opened
    let verified = close(&mut rep, sum)?;
    Ok(rep.trio().open(&verified)?.concat())
}

/// All three, as threads of this process: what each learns.
pub fn compute(inputs: [[u8; 16]; 3]) -> Result<Vec<Vec<u8>>, Abort> {
    rep3::local::run(|trio| {
        let own = inputs[trio.me().index()];
        party(trio, &own)
    })
}

#[allow(dead_code, reason = "a test uses the functions above")]
fn main() -> Result<(), Abort> {
    let sums = compute([[1; 16], [2; 16], *b"sixteen bytes in"])?;
    println!("each of the three has learned {:02x?}", sums[0]);
    Ok(())
}

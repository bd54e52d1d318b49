//! A circuit among five who trust nobody: each has a number, all learn the greatest, and nobody learns more.
//! Four of them may be corrupt.
//!
//! Run it: `cargo run --example circuit_among_five`.

use divisi::layers::circuits::BuildBit;
use divisi::layers::garble::{Garble, GarbleOptions, Plan};
use divisi::layers::ot::{Setup, SetupConfig};
use divisi::prelude::{
    Abort, Build, Gates, Misuse, PartyId, Program, PublicParameters, WireValue, local, step,
};
use std::error::Error;

const PARTIES: usize = 5;

/// The greatest of five numbers of 16 bits.
fn greatest() -> Program {
    let mut g = Build::new();
    let numbers: Vec<Vec<BuildBit>> = (0..PARTIES).map(|_| g.input(16)).collect();
    let most = numbers.into_iter().reduce(|x, y| {
        let mut larger = g.constant(false);
        for (x, y) in x.iter().zip(&y) {
            let differ = g.xor(*x, *y);
            // the highest bit that differs decides
            larger = g.choose(differ, *y, larger);
        }
        x.iter().zip(&y).map(|(x, y)| g.choose(larger, *y, *x)).collect()
    });
    g.output(&most.unwrap_or_default());
    g.finish()
}

/// What each of the five learns.
pub fn compute(numbers: [u16; PARTIES]) -> Result<Vec<u16>, Box<dyn Error>> {
    let program = greatest();
    let owners: Vec<PartyId> = PartyId::all(PARTIES).collect();
    let plan = Plan::for_all(&program, PARTIES, &owners)?;
    let (config, options) = (SetupConfig::default(), GarbleOptions::default());
    let parameters = PublicParameters::new("the greatest").with("circuit", &plan.digest());
    let parameters = options.describe(config.describe(parameters));
    // All five are threads of this process; on machines of their own each does this with a session of
    // `Mesh::join`.
    Ok(local::run(PARTIES, &parameters, |mut session| {
        let own = WireValue::from_bytes(&numbers[session.me().index()].to_be_bytes());
        let setup = Setup::new(&mut session, config)?;
        let mut garble = Garble::new(&session, setup, options);
        let outputs = garble.streamed(&mut session, &plan, &[own.bits().to_vec()])?;
        let missing = Abort::Misuse { step: step!("output"), what: Misuse::NoResult };
        let bytes = outputs.first().map(|bits| WireValue::from_bits(bits).to_bytes()).ok_or(missing)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u16::from(*byte)))
    })?)
}

#[allow(dead_code, reason = "a test uses the functions above")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("each of the five has learned {:?}", compute([31, 47, 25, 62, 38])?);
    Ok(())
}

//! Calls of programs that two of three parties garble: at once, and ahead.

use divisi_circuit::Program;
use divisi_core::{Abort, Boolean, Bytes, Misuse, Plain, PlainByte, ProgramRun, Step, step};
use divisi_rep3::{Byte, Rep3};
use divisi_symmetric::batch::{MacEngine, SecretByte, bits, byte_values};
use divisi_symmetric::circuits;
use divisi_symmetric::gates::Adder;

const CALL: Step = step!("call");

/// The number of lanes of a run.
pub const LANES: usize = 3;
/// The number of input bytes: those of the key and of the block.
pub const BYTES: usize = 32;
/// The number of wires of the key, which are the first input wires.
const OF_KEY: usize = 128;
/// The name of a key, for the engine.
const NAME: [u8; 32] = [7; 32];
/// How many bytes of calls garbled ahead an engine may keep.
const STOCK: usize = 16 << 20;

/// When AES-128 with its key schedule is garbled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GarbledCall {
    /// With its inputs, after an opening that no barrier compared: tables leave beside the barrier.
    BesideBarrier,
    /// When the key is there, and the block is not.
    Ahead,
    /// By an engine in idle time: three runs under one key, of which the first finds nothing, the second what
    /// is garbled for any key, and the third what is garbled for this one.
    Stock,
}

impl GarbledCall {
    /// All, with their names in lists.
    pub const ALL: [(GarbledCall, &str); 3] = [
        (GarbledCall::BesideBarrier, "garbled beside a barrier"),
        (GarbledCall::Ahead, "garbled ahead for its key"),
        (GarbledCall::Stock, "garbled in idle time"),
    ];

    /// Its name in lists.
    pub fn name(self) -> &'static str {
        GarbledCall::ALL.iter().find(|(call, _)| *call == self).map_or("", |(_, name)| name)
    }

    /// The ciphertexts of all lanes.
    ///
    /// # Errors
    /// Whatever ends the session.
    pub fn run(self, rep: &mut Rep3, inputs: Vec<Byte>) -> Result<Vec<Byte>, Abort> {
        let program = program()?;
        let mut wires = bits(rep, inputs)?.into_flattened();
        let out = match self {
            GarbledCall::BesideBarrier => {
                rep.trio().absorb("opened", &[7]);
                run(rep, &program, wires, 0)?
            }
            GarbledCall::Ahead => {
                let later = wires.split_off(OF_KEY);
                let ahead = rep.garble_ahead(&program, LANES, &wires)?;
                rep.run_ahead(ahead, later)?
            }
            GarbledCall::Stock => {
                under_a_key(rep, |rep| run(rep, &program, wires.clone(), OF_KEY).map(drop))?;
                run(rep, &program, wires, OF_KEY)?
            }
        };
        whole_bytes(rep, out)
    }

    /// The same on the engine that computes in the clear.
    ///
    /// # Errors
    /// None is expected: this engine does not fail on this circuit.
    pub fn in_the_clear(self, columns: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Abort> {
        let e = &mut Plain;
        let inputs: Vec<PlainByte> = columns.iter().map(|column| e.public(column)).collect();
        let wires = bits(e, inputs)?.into_flattened();
        let out = run(e, &program()?, wires, 0)?;
        Ok(whole_bytes(e, out)?.iter().map(|byte| byte.values().to_vec()).collect())
    }
}

fn program() -> Result<Program, Abort> {
    circuits::named("aes128", Adder::FewestAnds)?
        .ok_or(Abort::Misuse { step: CALL, what: Misuse::CircuitUnfit })
}

/// The outputs of a program whose first `kept` inputs depend on a key alone.
fn run<E: Boolean>(
    e: &mut E,
    program: &Program,
    wires: Vec<E::Bit>,
    kept: usize,
) -> Result<Vec<E::Bit>, Abort> {
    let mut jobs = [ProgramRun::new(program, wires).keeping(kept)];
    e.run(&mut jobs)?;
    let [job] = jobs;
    Ok(job.wires)
}

fn whole_bytes<E: MacEngine>(e: &mut E, bits: Vec<E::Bit>) -> Result<Vec<E::Byte>, Abort>
where
    E::Bit: Clone,
{
    let eight = |bits: &[E::Bit]| -> Option<SecretByte<E>> { bits.to_vec().try_into().ok() };
    let bits: Option<Vec<SecretByte<E>>> = bits.chunks(8).map(eight).collect();
    byte_values(e, bits.ok_or(Abort::Misuse { step: CALL, what: Misuse::LengthUnsupported })?)
}

/// Runs `run` twice under one key, and after each run garbles ahead until the stock lacks nothing. The next
/// run then finds calls that are bound to the key.
///
/// # Errors
/// Whatever ends the session.
pub fn under_a_key(rep: &mut Rep3, mut run: impl FnMut(&mut Rep3) -> Result<(), Abort>) -> Result<(), Abort> {
    rep.stock_calls(STOCK);
    rep.use_key(Some(NAME));
    for _ in 0..2 {
        run(rep)?;
        while rep.lacks_stock() {
            rep.restock()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::runs::{EngineRun, RunWork};
    use divisi_rep3::{Protocol, Security};

    /// Three parties compute the same as the engine in the clear, with as many calls as the kind of work
    /// needs.
    #[test]
    fn calls_run_as_in_the_clear() {
        let all = GarbledCall::ALL
            .map(|(call, _)| RunWork::Call(call))
            .into_iter()
            .chain([RunWork::GarbledFirst("hmac-sha256")]);
        for work in all {
            let run = EngineRun { protocol: Protocol::Gf4Circuit, security: Security::Malicious, work };
            let counts = run.prepare().unwrap().execute(&|_| {}).unwrap();
            // z is compared once in each call that was evaluated
            let calls: u64 =
                counts.iter().filter_map(|counts| counts.checks.get(&divisi_rep3::checks::Y5)).sum();
            match work {
                RunWork::Call(GarbledCall::Stock) => assert_eq!(calls, 3),
                RunWork::Call(_) => assert_eq!(calls, 1),
                // preparing the key takes one more call, or several
                _ => assert!(calls > 3),
            }
        }
    }
}

//! Commands of `divisi` within a program of one's own, as data: a benchmark by its phases, and a circuit
//! among parties with a time limit. The Python package runs all its commands like this.
//!
//! Parties are processes of the program that is named: `cargo build --release`, then
//! `cargo run --release --example commands_as_data -- target/release/divisi`.

use divisi::cleanup::Cleanup;
use divisi::failure::Failure;
use divisi::local::PartyProgram;
use serde_json::Value;
use std::error::Error;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A phase of a benchmark: its name, its seconds, and the bits that a party sent.
pub type Phase = (String, f64, u64);

/// What so many blocks of AES cost among three, by phase.
pub fn aes_by_phase(blocks: u32) -> Result<Vec<Phase>, Failure> {
    let words = ["bench", "aes", "--reps", "1", "--warmup", "0", "--security", "semi-honest", "--blocks"];
    let words = words.map(str::to_owned).into_iter().chain([blocks.to_string()]);
    let report = divisi_cli::answer(words, &Cleanup::new())?;
    let phases = report["phases"].as_array().map(Vec::as_slice).unwrap_or_default();
    let phase = |phase: &Value| {
        let name = phase["name"].as_str().unwrap_or_default().to_owned();
        let bits = phase["bits_sent_per_party"].as_u64().unwrap_or_default();
        (name, phase["seconds"].as_f64().unwrap_or_default(), bits)
    };
    Ok(phases.iter().map(phase).collect())
}

/// A block encrypted between two, the one with the key and the other with the block. If that takes longer
/// than the limit, its processes are ended, and the command fails.
pub fn encrypted(key: &str, block: &str, within: Duration) -> Result<String, Failure> {
    let words = ["run", "--circuit", "aes128", "--engine", "garble", "--parties", "2"].map(str::to_owned);
    let inputs = [format!("--input=1={key}"), format!("--input=2={block}")];
    let (cleanup, (done, over)) = (Cleanup::new(), channel::<()>());
    let register = cleanup.clone();
    let watch = std::thread::spawn(move || {
        if over.recv_timeout(within).is_err_and(|e| e == std::sync::mpsc::RecvTimeoutError::Timeout) {
            register.end_all();
        }
    });
    let report = divisi_cli::answer(words.into_iter().chain(inputs), &cleanup);
    // the watch ends, as nobody will tell it anything
    drop(done);
    let _ = watch.join();
    Ok(report?["outputs"][0].as_str().unwrap_or_default().to_owned())
}

#[allow(dead_code, reason = "a test uses the functions above")]
fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args_os().nth(1).ok_or("give the program `divisi`, which runs the parties")?;
    PartyProgram::at(program).name();
    for (name, seconds, bits) in aes_by_phase(1000)? {
        println!("{name}: {:.1} ms, {bits} bits sent by a party", seconds * 1e3);
    }
    let (key, block) = ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff");
    println!("encrypted: {}", encrypted(key, block, Duration::from_secs(60))?);
    Ok(())
}

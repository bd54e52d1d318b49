//! The speed of this machine, measured in about half a second, so that figures of different machines can be
//! compared.
//!
//! | figure | of | how |
//! |---|---|---|
//! | `aes_ctr_gb_s` | one core | AES-128-CTR of 16 KiB at a time by aws-lc-rs, comparable to `openssl speed` |
//! | `loopback_gbit_s` | two threads | one TCP stream over 127.0.0.1, 128 KiB a write; the CPU time is that of the thread that works longer |
//! | `clmul_ns` | one core | a product in GF(2^64), reduced, of slices that fit the first-level cache |
//!
//! Times are CPU times, so that other programs on the machine cost samples, but do not change the figures.

pub use divisi_engine::Calibration;

use crate::failure::Failure;
use aws_lc_rs::cipher::{AES_128, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use divisi_field::{BigField, Gf64};
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Bytes of a call of the cipher.
const MESSAGE: usize = 16 << 10;
/// Bytes of a write to the network.
const WRITE: usize = 128 << 10;
/// Elements of a slice of GF(2^64): two slices are 32 KiB.
const ELEMENTS: usize = 2048;

/// The library with which the cipher's figure is measured.
pub const AES_BY: &str = "aws-lc-rs";

/// An environment variable: the milliseconds in which all figures are measured, if it is not half a second.
/// For tests that look at none of them, and would measure the machine a hundred times: the commands say so,
/// and their JSON has it.
pub const VARIABLE: &str = "DIVISI_CALIBRATION_MS";

/// The usual milliseconds in which all figures are measured.
const DEFAULT: u64 = 500;

/// The milliseconds in which all figures are measured, if it is not the usual time.
#[must_use]
pub fn other_milliseconds() -> Option<u64> {
    let said = std::env::var(VARIABLE).ok()?.parse::<u64>().ok()?.clamp(10, 10_000);
    (said != DEFAULT).then_some(said)
}

/// Measure the three figures.
///
/// # Errors
/// [`Failure`] if the system has no loopback network.
pub fn calibrate() -> Result<Calibration, Failure> {
    let whole = other_milliseconds().unwrap_or(DEFAULT);
    let part = |percent: u64| Duration::from_millis(whole * percent / 100);
    Ok(Calibration {
        aes_ctr_gb_s: aes_ctr(part(30))?,
        loopback_gbit_s: loopback(part(50)).map_err(|e| {
            Failure::unavailable(format!(
                "the loopback network cannot be measured ({e}): check that 127.0.0.1 is up"
            ))
        })?,
        clmul_ns: products(part(24)),
    })
}

/// The CPU time of this thread, in seconds.
fn worked() -> f64 {
    let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9
}

/// Repeat `work` for about `time`, and at least once. Returns how often it ran, and the seconds of CPU time
/// that it took.
fn repeat(time: Duration, mut work: impl FnMut()) -> (u64, f64) {
    let (start, begun, mut calls) = (Instant::now(), worked(), 0);
    // also if something else has used up the time before it begins
    while calls == 0 || start.elapsed() < time {
        (0..16).for_each(|_| work());
        calls += 16;
    }
    (calls, (worked() - begun).max(f64::MIN_POSITIVE))
}

fn aes_ctr(time: Duration) -> Result<f64, Failure> {
    let failed = |_| Failure::unavailable("the cipher of aws-lc-rs does not start: report this");
    let key =
        EncryptingKey::ctr(UnboundCipherKey::new(&AES_128, &[7; 16]).map_err(failed)?).map_err(failed)?;
    let mut message = vec![0; MESSAGE];
    let mut failures = 0;
    let (calls, seconds) = repeat(time, || {
        // A fixed IV: nothing here is secret.
        let context = EncryptionContext::Iv128(FixedLength::from([0; 16]));
        failures += u64::from(key.less_safe_encrypt(black_box(&mut message), context).is_err());
    });
    if failures > 0 {
        return Err(failed(aws_lc_rs::error::Unspecified));
    }
    Ok(calls as f64 * MESSAGE as f64 / seconds / 1e9)
}

fn loopback(time: Duration) -> std::io::Result<f64> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut out = TcpStream::connect(listener.local_addr()?)?;
    let (mut input, _) = listener.accept()?;
    let writer = std::thread::spawn(move || {
        let (piece, start, begun) = (vec![0; WRITE], Instant::now(), worked());
        // The loop ends when the time is over, after one write at least, or when the reader is gone.
        while out.write_all(&piece).is_ok() && start.elapsed() < time {}
        worked() - begun
    });
    let (begun, mut bytes, mut piece) = (worked(), 0u64, vec![0; WRITE]);
    loop {
        match input.read(&mut piece)? {
            0 => break,
            n => bytes += n as u64,
        }
    }
    let read = worked() - begun;
    // each thread waits for the other, so the one that works longer limits the rate
    let seconds = writer.join().unwrap_or_default().max(read).max(f64::MIN_POSITIVE);
    Ok(bytes as f64 * 8.0 / seconds / 1e9)
}

fn products(time: Duration) -> f64 {
    let mut x: Vec<Gf64> =
        (0..ELEMENTS as u64).map(|i| Gf64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)).collect();
    let y: Vec<Gf64> = x.iter().rev().copied().collect();
    let (calls, seconds) = repeat(time, || Gf64::mul_assign(black_box(&mut x), black_box(&y)));
    black_box(&x);
    seconds * 1e9 / (calls as f64 * ELEMENTS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_do_meanwhile_is_not_counted() {
        // sleeping stands for a machine that gives this thread only a fraction of its time
        let pause = Duration::from_millis(5);
        let start = Instant::now();
        let (calls, seconds) = repeat(4 * pause, || std::thread::sleep(pause));
        assert!(calls >= 16 && seconds > 0.0);
        assert!(seconds < start.elapsed().as_secs_f64() / 4.0, "{seconds} s");
    }

    #[test]
    fn every_figure_is_that_of_some_machine() {
        let short = Duration::from_millis(20);
        assert!((0.01..1000.0).contains(&aes_ctr(short).unwrap()));
        assert!((0.01..10_000.0).contains(&loopback(short).unwrap()));
        assert!((0.001..1000.0).contains(&products(short)));
    }
}

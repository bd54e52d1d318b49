//! `divisi-gateway bench`: clients that ask a gateway on this machine, one request after another, each with
//! 32 bytes or a batch of them under one AES-256 key.

use crate::base64::encode;
use crate::client::HttpClient;
use crate::demo::{DemoSetting, Machines};
use crate::json::{Json, object};
use std::io::Write;
use std::time::{Duration, Instant};

const PLAINTEXT: [u8; 32] = [7; 32];
/// The most items of a batch.
const ITEMS: usize = 499;
const CLIENTS: usize = 512;
/// How long a client asks before its requests count.
const WARM: Duration = Duration::from_secs(1);

/// What is to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// How many clients ask at a time.
    pub clients: usize,
    /// For how many seconds.
    pub seconds: u64,
    /// How many items a request has; one is no batch.
    pub batch: usize,
    /// Whether the result is one JSON object.
    pub json: bool,
}

/// What one client saw.
#[derive(Default)]
struct Seen {
    lasted: Vec<Duration>,
    refused: usize,
}

/// Measure, and print the result.
///
/// # Errors
/// One sentence.
pub fn bench(asked: &Load, out: &mut dyn Write) -> Result<(), String> {
    if !(1..=CLIENTS).contains(&asked.clients) || !(1..=ITEMS).contains(&asked.batch) || asked.seconds == 0 {
        return Err(format!("give 1 to {CLIENTS} clients, 1 to {ITEMS} items and at least a second"));
    }
    let machines = Machines::start(&DemoSetting::default())?;
    let mut client = machines.client().map_err(|e| e.to_string())?;
    let made = client.ask("POST", "/v1/transit/keys/bench", None).map_err(|e| e.to_string())?;
    if made.status != 200 {
        return Err(format!("no key could be made: {}", String::from_utf8_lossy(&made.body)));
    }
    drop(client);
    let item = object([("plaintext", Json::String(encode(&PLAINTEXT)))]);
    let body = match asked.batch {
        1 => item,
        items => object([("batch_input", Json::Array(vec![item; items]))]),
    };
    let body = body.write();
    let begun = Instant::now() + WARM;
    let end = begun + Duration::from_secs(asked.seconds);
    let all = std::thread::scope(|scope| {
        let ask = || one(&machines, &body, begun, end);
        let clients: Vec<_> = (0..asked.clients).map(|_| scope.spawn(ask)).collect();
        let ended = |_| Err("a client ended".to_owned());
        clients
            .into_iter()
            .map(|client| client.join().unwrap_or_else(ended))
            .collect::<Result<Vec<_>, String>>()
    })?;
    let refused = all.iter().map(|seen| seen.refused).sum::<usize>();
    let mut lasted: Vec<Duration> = all.into_iter().flat_map(|seen| seen.lasted).collect();
    lasted.sort_unstable();
    report(asked, &lasted, refused, out).map_err(|e| format!("standard output cannot be written ({e})"))
}

fn one(machines: &Machines, body: &[u8], begun: Instant, end: Instant) -> Result<Seen, String> {
    let failed = |e: std::io::Error| format!("the gateway does not answer ({e})");
    let mut client: HttpClient = machines.client().map_err(failed)?;
    let mut seen = Seen::default();
    loop {
        let start = Instant::now();
        if start >= end {
            return Ok(seen);
        }
        let answered = client.ask("POST", "/v1/transit/encrypt/bench", Some(body)).map_err(failed)?;
        match answered.status {
            _ if start < begun => {}
            200 => seen.lasted.push(start.elapsed()),
            _ => seen.refused += 1,
        }
    }
}

/// The duration within which this share of the requests was answered, in ms.
fn percentile(sorted: &[Duration], share: f64) -> f64 {
    let index = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(index.saturating_sub(1)).map_or(0.0, |lasted| lasted.as_secs_f64() * 1e3)
}

fn report(asked: &Load, sorted: &[Duration], refused: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let per_second = (sorted.len() * asked.batch) as f64 / asked.seconds as f64;
    let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|share| percentile(sorted, share));
    if asked.json {
        let ms = |ms: f64| Json::Number(format!("{ms:.3}").into());
        let line = object([
            ("schema", Json::number(1)),
            ("clients", Json::number(asked.clients as u64)),
            ("seconds", Json::number(asked.seconds)),
            ("batch", Json::number(asked.batch as u64)),
            ("count", Json::number(sorted.len() as u64)),
            ("items_per_second", ms(per_second)),
            ("p50_ms", ms(p50)),
            ("p90_ms", ms(p90)),
            ("p99_ms", ms(p99)),
            ("refused", Json::number(refused as u64)),
        ]);
        return out.write_all(&line.write_line());
    }
    writeln!(
        out,
        "{} clients, {} items a request: {per_second:.0} items a second, p50 {p50:.1} ms, p90 {p90:.1} ms, p99 \
         {p99:.1} ms, {refused} refused",
        asked.clients, asked.batch
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let sorted: Vec<Duration> = (1..=100).map(Duration::from_millis).collect();
        assert_eq!([0.5, 0.9, 0.99].map(|share| percentile(&sorted, share)), [50.0, 90.0, 99.0]);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }
}

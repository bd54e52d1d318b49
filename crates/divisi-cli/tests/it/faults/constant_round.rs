//! Parties in constant rounds that stop, as real processes over TCP, in each role and at each step of a call:
//! the others end with a clear abort, in time.

use super::proxies;
use super::proxies::{FAULTS, Fault, PARTIES, Plan, Record, RunChoice, When};
use std::sync::atomic::{AtomicUsize, Ordering};

const WAY: RunChoice = RunChoice { engine: "rep3", more: &["--rounds", "constant"], task: &proxies::AES_128 };

/// The roles in the first call of a session: P1 garbles and learns z, P2 garbles, P3 evaluates.
const P1: usize = 0;
const P2: usize = 1;
const P3: usize = 2;

/// What a message of this many bytes is in a record, and how many bytes a record has at most: 20 bytes say
/// what it is, and TLS adds 17.
fn record(bytes: usize) -> usize {
    (20 + bytes).min(1 << 14) + 17
}

/// The first record of each step's message, from each garbler to the evaluator; then that of z.
struct Steps {
    garblers: [Vec<(&'static str, Record)>; 2],
    result: Record,
}

/// The steps of the only call of a run: AES-128 by its key, 256 bits in and 128 out.
fn steps(records: &[(Record, usize)]) -> Steps {
    let on = |from: usize, to: usize| {
        records.iter().enumerate().filter(move |(_, (record, _))| (record.from, record.to) == (from, to))
    };
    let mut last = 0;
    // what P1 and P2 send: the salt and decoding bits or their digests, pairs or labels of masks
    let garblers =
        [(P1, 16, 32 * 128, 16), (P2, 32, 16 * 128 + 32, 32)].map(|(from, salt, masks, decoding)| {
            let link: Vec<_> = on(from, P3).map(|(at, (record, bytes))| (at, *record, *bytes)).collect();
            let after = |from: usize, length: usize| {
                from + link[from..].iter().position(|(.., bytes)| *bytes == record(length)).unwrap()
            };
            // tables leave beside the barrier, for the inputs' verdict is not compared yet
            let tables = after(0, 1 << 16);
            let labels = after(tables, 48 * 256 + 32);
            let places = [
                ("salt", tables - 1, salt),
                ("tables", tables, 1 << 16),
                ("labels", labels, 48 * 256 + 32),
                ("masks", labels + 1, masks),
                ("decoding", labels + 2, decoding),
            ];
            for (step, at, length) in places {
                assert_eq!(record(length), link[at].2, "{step}: {link:?}");
            }
            last = last.max(link[labels + 2].0);
            places.iter().map(|(step, at, _)| (*step, link[*at].1)).collect()
        });
    // z and a digest
    let result = on(P3, P1).find(|(at, (_, bytes))| *at > last && *bytes == record(16 + 32)).unwrap();
    Steps { garblers, result: result.1.0 }
}

/// At each step of a call each of the three is killed, stopped, cut off, and sends garbage from then on.
#[test]
fn whoever_stops_in_any_step_the_others_abort_in_time() {
    let (_, records) = proxies::undisturbed(WAY);
    let Steps { garblers, result } = steps(&records);
    // what is on its way when something happens to P3 is P1's
    let of_victims = [(P1, &garblers[0]), (P2, &garblers[1]), (P3, &garblers[0])];
    let mut jobs: Vec<(&str, Plan)> = Vec::new();
    for (victim, steps) in of_victims {
        for (step, record) in steps.iter().copied().chain([("result", result)]) {
            for fault in FAULTS {
                jobs.push((step, Plan { victim, when: When::Record(record), fault }));
            }
        }
    }
    assert_eq!(jobs.len(), PARTIES * 6 * 4);
    let named = AtomicUsize::new(0);
    proxies::at_once(jobs, |(step, plan)| {
        if one(step, plan) {
            named.fetch_add(1, Ordering::SeqCst);
        }
    });
    // of 16 runs, six of them with P3; what the victim had sent before to the other party may be lost on a
    // busy machine, which then is not there yet
    assert!(named.into_inner() >= 8, "what happened did not happen where it was to");
}

/// One run: whether a party that waits for another, which is there and does nothing, told what it waits for.
fn one(step: &str, plan: Plan) -> bool {
    let Plan { victim, fault, .. } = plan;
    let at = format!("{fault:?} of party {} at {step}", victim + 1);
    let (ends, ..) = proxies::run(WAY, Some(plan));
    // P2 has sent all that it gives the others in the call, and beyond it, when z sets out
    let told = proxies::aborted(ends, victim, &at, victim == P2 && step == "result");
    let (waits, step) = if victim == P3 { (P1, "result") } else { (P3, step) };
    let named = told[waits]["step"].as_str().unwrap_or_default();
    fault == Fault::Stopped && named.ends_with(&format!("garbled/{step}"))
}

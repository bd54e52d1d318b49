//! Hashes and MACs: their cost is that of their circuits, and each is checked.

use super::{phase, run};
use crate::has;
use divisi::bench::BenchOptions;
use divisi::mode::Priority;
use divisi_core::Security;
use divisi_fuzz::repetitions;
use divisi_symmetric::algorithm::Algorithm;
use divisi_symmetric::hash::Hash;

fn of_messages(mode: Option<Priority>, name: &str, message_bytes: usize, count: u64) -> BenchOptions {
    let choice = mode.map(Into::into).unwrap_or_default();
    let options = BenchOptions { choice, reps: 1, warmup: 0, ..BenchOptions::default() };
    options.of_messages(name.parse().unwrap(), message_bytes, count)
}

/// Bits: exactly the ANDs of the emitted circuits, a round a level.
#[test]
fn a_message_costs_the_ands_of_its_circuits() {
    let count = 70;
    let all = [
        ("sha256", 56, None, 2 * 22_573, 2 * 1_607),
        ("shake128", 168, None, 2 * 38_400, 48),
        ("kmac128", 100, None, 38_400, 24),
        // three blocks; a block for the mask and an inner product for each 64 blocks, the lengths' one
        // included
        ("cmac-aes128", 33, None, 3 * 3_200, 3 * 40),
        ("gmac-aes128", 32, None, 3_200 + 128, 41),
        ("sha256", 0, Some(Priority::LowLatency), 0, 457),
        ("sha256", 55, None, 22_573, 1_607),
        ("sha512", 111, None, 57_947, 3_303),
        ("sha3-256", 135, None, 38_400, 24),
        ("hmac-sha256", 32, None, 2 * 22_573, 2 * 1_607),
        ("gmac-aes256", 1_024, None, 4_480 + 2 * 128, 58),
    ];
    for &(name, bytes, mode, ands, rounds) in repetitions(&all[..6], &all) {
        let mut options = of_messages(mode, name, bytes, count);
        // what takes thousands of rounds by default against a malicious party alone
        let securities = [Security::Malicious, Security::SemiHonest];
        for &security in if rounds > 3000 { repetitions(&securities[..1], &securities) } else { &securities }
        {
            options.security = security;
            let report = run(&options);
            let online = phase(&report, "online");
            assert_eq!(online.rounds, rounds, "{name}");
            if ands > 0 {
                assert_eq!(online.bits, count * ands, "{name}");
                let checked = report.measured.checks.get("S6").copied();
                // one chunk: each product once, for all lanes; products of a key's states are counted, too
                let exact = !name.contains("mac") && security == Security::Malicious;
                assert!(!exact || checked == Some(ands), "{name}: {checked:?}");
            }
            let json = report.to_json();
            has!(json, "algorithm": name, "unit": "message", "message_bytes": bytes, "count": count);
            has!(json, "direction": null, "circuit": null, "mode": mode.map(Priority::name));
            assert!(json["protocol"].is_null() != name.contains("-aes"));
        }
    }
}

/// Every name is measured, and what it gives is what ordinary libraries give: by default every third name,
/// and so some of each kind.
#[test]
fn every_hash_and_mac_is_checked() {
    for algorithm in Algorithm::hashes().chain(Algorithm::macs()).step_by(repetitions(3, 1)) {
        // carries of SHA-2 by the adder of few rounds; those of the other one are measured above
        let carries = matches!(
            algorithm,
            Algorithm::Hash(hash) | Algorithm::Hmac(hash) | Algorithm::Otp(hash)
                if !matches!(hash, Hash::Sha3(_))
        );
        let mode = repetitions(carries, false).then_some(Priority::LowLatency);
        let options = of_messages(mode, &algorithm.name(), 33, 3);
        let report = run(&options);
        assert_eq!(report.to_json()["checked"], true);
        let protocol = report.to_json()["protocol"].as_str().map(str::to_owned);
        let aes = matches!(algorithm, Algorithm::Cmac(_) | Algorithm::Gmac(_));
        assert_eq!(protocol, aes.then(|| "gf4-circuit".to_owned()), "{algorithm}");
    }
}

#[test]
fn messages_in_several_pieces_and_chunks_are_checked() {
    for name in ["sha3-256", "kmac256", "cmac-aes128", "gmac-aes256"] {
        run(&of_messages(None, name, 9000, 2));
    }
    let mut options = of_messages(None, "gmac-aes128", 20, 0);
    options.threads = 2;
    let messages = 2 * options.chunk().unwrap() as u64 + 3;
    assert_eq!(run(&options.counted(messages)).measured.number("chunks"), 3);
}

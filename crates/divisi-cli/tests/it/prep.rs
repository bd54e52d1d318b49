//! Preprocessing on disk, through the command line: made, told, used, used up and dropped, and everything
//! that can be wrong with it.

use crate::program::{NAND, command, divisi, good, phase, refused, told};
use crate::{has, separate};
use divisi::demo::{self, Joint};
use divisi::engine::{self, EngineSettings};
use divisi::prep::{self, PrepOptions};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// With GF(2^40) a lie passes the check of MACs among two parties with probability 2 / 2^40.
#[test]
fn a_stock_over_the_smallest_field_has_39_bits_and_a_warning_about_copies() {
    let dir = tempfile::tempdir().unwrap();
    let made = divisi(dir.path(), &format!("{MAKE} --protocol aes-lt --blocks 1 --field 40"));
    assert!(made.status.success(), "{made:?}");
    assert_eq!(told(&made)["parts"][0]["statistical_bits"], 39);
    assert!(String::from_utf8_lossy(&made.stderr).contains("uses masks twice"), "{made:?}");
    assert_eq!(good(dir.path(), "prep info stock")["parts"][1]["statistical_bits"], 39);
}

const MAKE: &str = "prep make --parties 2 --out stock";

fn make(dir: &Path, protocol: &str, blocks: u64, more: &str) -> Value {
    good(dir, &format!("{MAKE} --protocol {protocol} --blocks {blocks} {more}"))
}

/// The words of a benchmark that takes from the stock.
fn bench(cipher: &str, blocks: u64) -> String {
    format!(
        "bench {cipher} --blocks {blocks} --engine spdz --parties 2 --prep-from stock --reps 1 --warmup 0"
    )
}

fn left(dir: &Path) -> Vec<u64> {
    let parts = good(dir, "prep info stock")["parts"].as_array().unwrap().clone();
    parts.iter().map(|part| part["blocks_left"].as_u64().unwrap()).collect()
}

#[test]
fn a_stock_is_made_and_used_and_used_up_and_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let made = make(dir, "aes-lt", 12, "");
    let part = &made["parts"][1];
    has!(part, "party": 2, "parties": 2, "protocol": "aes-lt", "field_bits": 48, "k": 4, "interrupted": false);
    assert!(part["bytes"].as_u64().unwrap() <= 12 * 300_000, "{part}");
    assert_eq!(left(dir), [12, 12]);
    let told = good(dir, &bench("aes", 7));
    has!(told, "checked": true, "protocol": "aes-lt", "bucket": null);
    let phase = |name: &str| phase(&told, name);
    has!(phase("preprocessing"), "bytes_sent_per_party": 0);
    has!(phase("load"), "bytes_sent_per_party": 0);
    assert!(phase("load")["seconds"].as_f64().unwrap() > 0.0);
    has!(phase("online"), "bits_sent_per_party": 7 * 1280);
    assert_eq!(left(dir), [5, 5]);
    let info = good(dir, "prep info stock");
    assert!(info["parts"].as_array().unwrap().iter().all(|part| part["interrupted"] == false), "{info}");
    let remedy = "divisi prep make --protocol aes-lt --blocks 12 --parties 2 --out stock";
    refused(dir, &bench("aes", 7), remedy);
    // nothing was taken for a run that asks for too much
    assert_eq!(left(dir), [5, 5]);
    good(dir, &bench("aes", 5));
    let again = format!("{MAKE} --protocol aes-lt --blocks 1");
    refused(dir, &again, "is a stock in");
    refused(dir, "prep drop stock", "--yes");
    has!(good(dir, "prep drop stock --yes"), "dropped": 2);
    refused(dir, "prep drop stock --yes", "there is no stock in stock:");
    refused(dir, "prep info stock", "there is no stock in stock:");
    refused(dir, &bench("aes", 1), "there is no stock in stock:");
    // the key is there still
    good(dir, &again);
}

#[test]
fn every_protocol_takes_from_its_stock() {
    for (cipher, protocol, more) in [
        ("aes", "aes-tinytable", "--field 40"),
        ("aes", "aes-rp", "--prep mascot"),
        ("aes", "aes-bd", "--statistical 64"),
        ("des3", "3des-lt", "--k 2"),
        ("des3", "3des-tinytable", ""),
        ("des3", "3des-pv", ""),
        ("des3", "3des-raw", "--field 42"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), protocol, 2, more);
        let told = good(dir.path(), &bench(cipher, 2));
        has!(told, "checked": true, "protocol": protocol);
        let of =
            |name: &str| more.split_once(' ').filter(|(given, _)| *given == name).map(|(_, value)| value);
        has!(told, "prep": of("--prep").unwrap_or("bucketed"));
        assert_eq!(told["k"].to_string(), of("--k").unwrap_or("4"));
        let field = if of("--statistical").is_some() { "72" } else { of("--field").unwrap_or("48") };
        assert_eq!(told["field_bits"].to_string(), field);
    }
}

/// Products of bits serve circuits, whoever owns their inputs and learns their outputs, and nothing else.
#[test]
fn circuits_take_from_their_stock() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path();
    fs::write(dir.join("gate"), NAND).unwrap();
    make(dir, "bit-products", 3, "");
    let run = |x: u8, y: u8| {
        let default = "run --engine spdz --parties 2 --prep-from stock --circuit gate";
        divisi(dir, &format!("{default} --input 1={x} --input 2={y} --output 2"))
    };
    for (at, (x, y)) in [(0, 1), (1, 1), (1, 0)].into_iter().enumerate() {
        let output = run(x, y);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(told(&output)["outputs"][0], (1 - x * y).to_string());
        let info = good(dir, "prep info stock");
        let series = info["parts"][0]["series"].as_array().unwrap().clone();
        let ands = series.iter().find(|series| series["name"] == "products-1").unwrap();
        has!(ands, "left": 2 - at);
    }
    let none_left = run(1, 1);
    assert_eq!(none_left.status.code(), Some(2), "{none_left:?}");
    // the remedy has the protocol's name of today, and that in the stock is the one it always had
    let remedy = told(&none_left)["error"].as_str().unwrap().to_owned();
    let again = "divisi prep make --protocol bit-products --blocks 3 --parties 2 --out stock";
    assert!(remedy.contains(again), "{remedy}");
    refused(dir, &bench("aes", 1), "bit-products is for circuits and not for AES");
    let other = "prep make --blocks 1 --out other --protocol";
    refused(
        dir,
        &format!("{other} aes-lt --field 42"),
        "--field 42 is for the protocols that multiply no bytes",
    );
    refused(dir, &format!("{other} 3des-raw --field 40"), "which GF(2^40) does not contain");
}

/// One party a process, each with its own directory and key file, as on machines of their own.
#[test]
fn each_party_makes_and_uses_its_own_part() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path();
    separate::mesh(dir, 2);
    fs::write(dir.join("gate"), NAND).unwrap();
    for (protocol, blocks, out, security) in [("aes-lt", 1, "tables", 64), ("bit-products", 2, "ands", 40)] {
        let start = |i| {
            let words = format!(
                "prep make --protocol {protocol} --blocks {blocks} --out {out}-{i} --party {i} --config m/mesh.toml \
                 --identity m/party-{i}.key --statistical {security}"
            );
            command(dir, &words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        for (i, party) in [(1, start(1)), (2, start(2))] {
            let output = party.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
            assert!(dir.join(format!("{out}-{i}/party-{i}")).is_dir());
            let info = good(dir, &format!("prep info {out}-{i}"));
            assert_eq!(info["parts"].as_array().unwrap().len(), 1);
            has!(info["parts"][0], "party": i, "blocks_left": blocks, "statistical_bits": security);
        }
    }
    // they belong to these peers, and not to processes of one machine
    let tables = bench("aes", 1).replace("stock", "tables-1") + " --statistical 64";
    refused(dir, &tables, "that of other peers");
    // each party of the mesh takes from its own directory
    let gate = |inputs: [&'static str; 2], prep: &[&'static str]| {
        [&["--circuit", "gate", "--input", inputs[0], "--input", inputs[1]][..], prep].concat()
    };
    let first = || gate(["1=1", "2="], &["--prep-from", "ands-1"]);
    let second = |prep: &[&'static str]| gate(["1=", "2=1"], prep);
    let both = [first(), second(&["--prep-from", "ands-2"])];
    for output in separate::each(dir, "spdz", &both) {
        assert!(output.status.success(), "{output:?}");
        assert_eq!(told(&output)["outputs"][0], "0");
    }
    for i in 1..=2 {
        has!(good(dir, &format!("prep info ands-{i}"))["parts"][0], "blocks_left": 1);
    }
    // with a stock and without one: refused to both, and nothing of it is used
    separate::both_are_told(dir, "spdz", &[first(), second(&[])], "with other options");
    has!(good(dir, "prep info ands-1")["parts"][0], "blocks_left": 1);
}

/// A stock belongs to all of its peers, to each at its own place, wherever they are.
#[test]
fn whoever_is_a_peer_at_whatever_place_counts() {
    use divisi_net::{Config, Identity, Machine, PartyId, Pin};
    let config = Config::create(3, &[], &[], &Machine).unwrap().config;
    let at = |config: &Config, place, pin| config.add_party(PartyId::from_index(place).unwrap(), None, pin);
    let strangers = || Pin::Key(Identity::generate(&Machine).public());
    let mut all: Vec<_> = (0..3).map(|place| at(&config, place, strangers()).unwrap()).collect();
    for place in 0..2 {
        let [one, next] = [place, place + 1].map(|place| config.parties()[place].pin);
        let free = at(&config, place, strangers()).unwrap();
        all.push(at(&at(&free, place + 1, one).unwrap(), place, next).unwrap());
    }
    all.push(config.add_party(PartyId::from_index(3).unwrap(), Some("four:1"), strangers()).unwrap());
    all.push(config.clone());
    let digests: std::collections::BTreeSet<_> = all.iter().map(divisi::prep::peers).collect();
    assert_eq!(digests.len(), all.len());
    let moved = config.add_party(PartyId::P3, Some("elsewhere:1"), config.parties()[2].pin).unwrap();
    assert_eq!(divisi::prep::peers(&moved), divisi::prep::peers(&config));
}

/// Parties with different arguments get an error that says so, both of them, before anything secret is there.
#[test]
fn parties_that_disagree_are_refused_with_both_digests() {
    let differences: [(&[&str], &str); 6] = [
        (&["--circuit", "xor"], "another circuit"),
        (&["--circuit", "and", "--output", "1"], "with other options"),
        (&["--circuit", "and", "--field", "40"], "with other options"),
        (&["--circuit", "and", "--prep", "mascot"], "with other options"),
        (&["--circuit", "and", "--k", "3"], "with other options"),
        (&["--circuit", "and", "--statistical", "64"], "with other options"),
    ];
    separate::refused_with_both_digests("spdz", &differences);
}

/// A file's bytes, changed for as long as something is tried.
fn with(path: &Path, change: impl Fn(&mut Vec<u8>), try_it: impl Fn()) {
    let bytes = fs::read(path).unwrap();
    let mut bad = bytes.clone();
    change(&mut bad);
    fs::write(path, bad).unwrap();
    try_it();
    fs::write(path, bytes).unwrap();
}

#[test]
fn what_is_wrong_with_a_stock_is_said_in_one_sentence_and_nothing_is_lost() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path();
    for (wrong, says) in [
        ("--blocks 0 --protocol aes-lt", "--blocks is 0"),
        ("--blocks 1 --protocol aes-xy", "aes-xy"),
        ("--blocks 1 --protocol aes-lt --parties 1", "2 to 32 parties, not 1"),
        ("--blocks 1 --protocol aes-lt --field 41", "--field is 41"),
        ("--blocks 1 --protocol aes-lt --k 9", "--k is 9"),
        ("--blocks 1 --protocol aes-lt --engine garble", "keeps no preprocessing on disk"),
    ] {
        refused(dir, &format!("prep make --out stock {wrong}"), says);
        assert!(!dir.join("stock").exists());
    }
    make(dir, "aes-lt", 3, "--key-file seal");
    let used = format!("{} --key-file seal", bench("aes", 1));
    let refuse = |more: &str, says: &str| refused(dir, &format!("{used} {more}"), says);
    refuse("--field 40", "one with MACs of 48 bits");
    refuse("--statistical 64", "one with MACs of 48 bits");
    refuse("--protocol aes-rp", "for the protocol aes-lt");
    refuse("--prep mascot", "made by bucketed");
    refuse("--k 3", "made with k = 4");
    refused(dir, &used.replace("bench aes", "bench des3"), "aes-lt is for AES");
    refused(dir, &used.replace("--parties 2", "--parties 3"), "give --parties 2");
    let party = dir.join("stock/party-1");
    with(&party.join("head"), |bytes| bytes[100] ^= 1, || refuse("", "head is damaged"));
    with(&party.join("state"), |bytes| bytes.truncate(70), || refuse("", "state is damaged"));
    let lot = party.join("tables-8-00000000.lot");
    with(&lot, |bytes| *bytes.last_mut().unwrap() ^= 128, || refuse("", "lot is damaged"));
    // another hexadecimal digit: `a` with a bit flipped would be none
    let digit = |bytes: &mut Vec<u8>| bytes[30] = if bytes[30] == b'0' { b'1' } else { b'0' };
    with(&dir.join("seal"), digit, || refuse("", "is sealed under another key"));
    with(&dir.join("seal"), |bytes| bytes.truncate(30), || refuse("", "is not the key file"));
    refused(dir, "prep info stock", "seal.key");
    // open twice
    let lock = fs::File::open(party.join(".lock")).unwrap();
    lock.lock().unwrap();
    refuse("", "another process uses the stock");
    refused(dir, "prep drop stock --yes", "another process uses the stock");
    drop(lock);
    // another party's
    let aside = dir.join("aside");
    fs::rename(&party, &aside).unwrap();
    copy(&dir.join("stock/party-2"), &party);
    refuse("", "belongs to party 2");
    fs::remove_dir_all(&party).unwrap();
    fs::rename(&aside, &party).unwrap();
    // an older state of one party
    copy(&party, &aside);
    good(dir, &used);
    copy(&party, &dir.join("newer"));
    fs::remove_dir_all(&party).unwrap();
    copy(&aside, &party);
    refuse("", "copied back from an older state");
    // with its own it continues
    fs::remove_dir_all(&party).unwrap();
    copy(&dir.join("newer"), &party);
    good(dir, &used);
}

fn copy(from: &Path, to: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::remove_dir_all(to);
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// If a party dies while a stock is made, the values that both parties have remain and can be used. (A party
/// that dies in a check of MACs leaves a stock that nobody may use: then another one is killed.)
#[test]
fn a_kill_keeps_what_is_whole() {
    let used = || {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path();
        let mut child = command(dir, &format!("{MAKE} --protocol 3des-lt --blocks 256"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // lots of all kinds are written in turn: with the second of tables the first of every kind is there
        let lots: Vec<PathBuf> = ["party-1", "party-2"]
            .map(|party| dir.join("stock").join(party).join("tables-6-00000001.lot"))
            .into();
        while !lots.iter().all(|lot| lot.exists()) {
            if let Some(ended) = child.try_wait().unwrap() {
                // on a busy machine it may be faster than this test
                assert!(ended.success(), "{ended}");
                return false;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let least = left(dir).into_iter().min().unwrap();
        assert!(least <= 256);
        let output = divisi(dir, &bench("des3", 2));
        if output.status.code() == Some(2) {
            assert!(told(&output)["error"].as_str().unwrap().contains("was destroyed"), "{output:?}");
            return false;
        }
        assert!(output.status.success() && told(&output)["checked"] == true, "{least}: {output:?}");
        // not killed too late
        (2..256).contains(&least)
    };
    assert!((0..5).any(|_| used()), "nobody was killed between two lots and outside of a check");
}

/// Two keys that follow each other and are the same but for parity: told, and not refused.
#[test]
fn equal_keys_are_told() {
    let root = tempfile::tempdir().unwrap();
    for (key, equal) in [
        ("0123456789abcdef0022446688aaccee0022446688aaccee", true),
        ("0123456789abcdef0022446688aaccee0123456789abcdef", true),
        ("0123456789abcdef1032547698badcfe0123456789abcdef", false),
    ] {
        let run = format!("run --circuit des3 --input 1={key} --input 2=0011223344556677");
        let output = divisi(root.path(), &run);
        let said = String::from_utf8_lossy(&output.stderr).contains("K1 = K2 or K2 = K3");
        assert_eq!((output.status.success(), said), (true, equal), "{key}: {output:?}");
    }
}

/// The time limit also holds among parties in one process: none of them can wait so little.
#[test]
fn parties_in_one_process_keep_the_time_limit() {
    let dir = tempfile::tempdir().unwrap();
    let own = [("protocol".to_owned(), "aes-lt".to_owned())];
    let settings = EngineSettings { own: own.into(), ..EngineSettings::default() }.among(2);
    let timeout = Some(Duration::from_nanos(1));
    let engine = engine::named("spdz").unwrap();
    let options = PrepOptions {
        engine,
        settings: settings.clone(),
        blocks: 1,
        out: dir.path().join("stock"),
        key_file: None,
        timeout,
    };
    let cipher = demo::cipher("aes-128-cbc").unwrap();
    let failures = [
        prep::make(&options, &|_, _| {}).map(drop).unwrap_err(),
        demo::joint(&Joint { engine, file: None, out: None, cipher, settings, timeout }, &mut |_| {})
            .map(drop)
            .unwrap_err(),
    ];
    for failure in failures {
        assert_eq!(failure.kind.exit_code(), 1, "{failure}");
    }
}

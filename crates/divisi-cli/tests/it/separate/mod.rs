//! Parties of `divisi run` that are started one by one, each with its own arguments.

use crate::program::{PROGRAM, gate, told};
use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with};
use std::ffi::OsStr;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A free address whose port the system gives to no connection, so that none of another test takes it before
/// its party listens there.
fn address() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut addresses = std::iter::repeat_with(|| {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + std::process::id().wrapping_mul(97).wrapping_add(next) % 20_000;
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, port as u16)
    });
    addresses.find(is_free).unwrap().to_string()
}

/// Whether nobody listens there, asked by a socket that does not listen either: a process that another test
/// has begun to start holds it, too, until it runs its own program, and would keep the party from listening.
fn is_free(address: &SocketAddrV4) -> bool {
    let (family, kind) = (AddressFamily::INET, SocketType::STREAM);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None).unwrap();
    set_socket_reuseaddr(&socket, true).unwrap();
    bind(&socket, address).is_ok()
}

/// A mesh of parties in a directory, whose ports are free.
pub fn mesh(dir: &Path, parties: usize) {
    let hosts: Vec<String> = (0..parties).map(|_| address()).collect();
    let made = Command::new(PROGRAM)
        .current_dir(dir)
        .args(["mesh", "new", "--parties", &parties.to_string(), "--hosts", &hosts.join(","), "--out", "m"])
        .stdout(Stdio::null())
        .status();
    assert!(made.unwrap().success());
}

/// All parties of the mesh at once, each with its own arguments.
pub fn each<A: AsRef<OsStr>>(dir: &Path, engine: &str, arguments: &[Vec<A>]) -> Vec<Output> {
    let parties: Vec<_> = (1..)
        .zip(arguments)
        .map(|(i, arguments)| {
            Command::new(PROGRAM)
                .current_dir(dir)
                .args(["run", "--engine", engine, "--json", "--config", "m/mesh.toml"])
                .args(["--party", &i.to_string(), "--identity", &format!("m/party-{i}.key")])
                .args(arguments)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    parties.into_iter().map(|party| party.wait_with_output().unwrap()).collect()
}

const AES: &str = "69c4e0d86a7b0430d8cdb78070b4c55a";

/// A program for each party, of which the second learns the output: the number of parties is the
/// configuration's.
pub fn one_party_each(engine: &str, parties: usize) {
    let dir = tempfile::tempdir().unwrap();
    mesh(dir.path(), parties);
    let arguments = (1..=parties).map(|i| {
        let key = if i == parties { "000102030405060708090a0b0c0d0e0f" } else { "" };
        let block = if i == 1 { "00112233445566778899aabbccddeeff" } else { "" };
        let words = format!("--circuit aes128 --input {parties}={key} --input 1={block} --output 2");
        words.split(' ').map(str::to_owned).collect()
    });
    let arguments: Vec<Vec<String>> = arguments.collect();
    for (i, output) in (1..).zip(each(dir.path(), engine, &arguments)) {
        let told = told(&output);
        assert!(output.status.success(), "{told}");
        let parties = parties as u64;
        assert_eq!((told["party"].as_u64(), told["parties"].as_u64()), (Some(i), Some(parties)));
        assert_eq!(told["output_to"], serde_json::json!([2]));
        let value = told["outputs"].as_array().map(|values| values[0].as_str().unwrap());
        assert_eq!(value, (i == 2).then_some(AES));
    }
}

/// The sum of two numbers of two bits, and the AND of their bits.
const TWO: &str = "6 10\n2 2 2\n2 2 2\n\n2 1 0 2 4 AND\n2 1 1 3 5 XOR\n2 1 0 2 6 XOR\n2 1 5 4 7 XOR\n\
                   1 1 4 8 EQW\n2 1 1 3 9 AND\n";

/// Each party learns its own output value and has null for the other's. If the second means other parties,
/// both are told so.
pub fn each_value_to_its_own(engine: &str, difference: &str) {
    let dir = tempfile::tempdir().unwrap();
    mesh(dir.path(), 2);
    std::fs::write(dir.path().join("two"), TWO).unwrap();
    let of = |i: usize, outputs: [&'static str; 2]| {
        let inputs = if i == 1 { ["1=3", "2="] } else { ["1=", "2=2"] };
        let [x, y] = inputs;
        vec!["--circuit", "two", "--input", x, "--input", y, "--output", outputs[0], "--output", outputs[1]]
    };
    let own = ["1=2", "2=1"];
    for (i, output) in (1..).zip(each(dir.path(), engine, &[of(1, own), of(2, own)])) {
        let told = told(&output);
        assert!(output.status.success(), "{told}");
        let outputs = if i == 1 { serde_json::json!([null, "2"]) } else { serde_json::json!(["1", null]) };
        assert_eq!((&told["outputs"], &told["receivers"]), (&outputs, &serde_json::json!([[2], [1]])));
        assert_eq!(told["output_to"], serde_json::json!([1, 2]));
    }
    both_are_told(dir.path(), engine, &[of(1, own), of(2, ["1=1", "2=2"])], difference);
}

/// Two parties, the second of which has these arguments where the first has the circuit `and` alone: both are
/// told what they differ in, as usage, with the digests of both.
pub fn refused_with_both_digests(engine: &str, differences: &[(&[&str], &str)]) {
    let dir = tempfile::tempdir().unwrap();
    mesh(dir.path(), 2);
    std::fs::write(dir.path().join("and"), gate("AND")).unwrap();
    std::fs::write(dir.path().join("xor"), gate("XOR")).unwrap();
    for (others, what) in differences {
        let first = vec!["--circuit", "and", "--input", "1=1", "--input", "2="];
        let second = [others, &["--input", "1=", "--input", "2=1"][..]].concat();
        both_are_told(dir.path(), engine, &[first, second], what);
    }
}

/// Both parties of a mesh are told, as usage, in what their arguments differ, with the digests of both.
pub fn both_are_told(dir: &Path, engine: &str, arguments: &[Vec<&str>; 2], what: &str) {
    let outputs = each(dir, engine, arguments);
    let mut digests = Vec::new();
    for (peer, output) in [2, 1].into_iter().zip(&outputs) {
        let told = told(output);
        let error = told["error"].as_str().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert_eq!((told["kind"].as_str(), told["peer"].as_u64()), (Some("usage"), Some(peer)), "{error}");
        assert!(error.contains(what), "{arguments:?}: {error}");
        let word = |word: &&str| word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit());
        let mut pair: Vec<String> =
            error.split([' ', ',', ';']).filter(word).map(ToOwned::to_owned).collect();
        assert_eq!(pair.len(), 2, "{error}");
        assert_ne!(pair[0], pair[1]);
        pair.sort();
        digests.push(pair);
    }
    assert_eq!(digests[0], digests[1], "{arguments:?}");
}

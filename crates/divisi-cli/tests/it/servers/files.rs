//! What lies in an operator's directories, and is not as it should be.

use super::harness::{ServersHarness, random, signal, wait};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

/// One file that is damaged, one that others may read and one that is no key's: told in the log, and every
/// other key is served.
#[test]
fn a_key_file_that_is_damaged_stops_no_server() {
    let mut harness = ServersHarness::new(10.0);
    for key in ["good", "bad", "open"] {
        harness.does("anna", &["key", "new", "--key", key, "--type", "aes-128"]);
    }
    signal(harness.server(1), Signal::TERM);
    wait(harness.server(1), Duration::from_secs(20));
    std::fs::write(harness.path("data-1/keys/bad.key"), "this is no key").unwrap();
    std::fs::write(harness.path("data-1/keys/a stray file.key"), "").unwrap();
    let readable = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(harness.path("data-1/keys/open.key"), readable).unwrap();
    harness.start(1);
    for told in ["bad.key", "open.key", "a stray file.key", "joined the other servers"] {
        harness.wait_for(1, told, 1);
    }
    std::fs::write(harness.path("text"), random(100)).unwrap();
    harness.does("anna", "encrypt --key good --in text --out sealed");
    harness.fails("anna", "encrypt --key bad --in text --out no", 1, &["bad"]);
    harness.fails("anna", "encrypt --key open --in text --out no", 1, &["open"]);
}

/// A client whose identity the operators replace keeps its keys, and one that they add on one server alone
/// keeps nobody from joining.
#[test]
fn keys_follow_the_name_and_servers_join_with_other_lists_of_clients() {
    let mut harness = ServersHarness::new(10.0);
    harness.does("anna", "key new --key k --type aes-128");
    harness.does("anna", "mesh check");
    let made = harness.run("mesh identity --out new --json");
    let made: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
    let print = made["fingerprint"].as_str().unwrap();
    let add = ["mesh", "add", "--config", "mesh/mesh.toml", "--client", "anna", "--fingerprint", print];
    assert!(harness.run(&add).status.success());
    for party in 1..=3 {
        signal(harness.server(party), Signal::HUP);
        harness.wait_for(party, "took over", 1);
    }
    std::fs::copy(harness.path("new/identity.key"), harness.path("mesh/client-anna.key")).unwrap();
    std::fs::write(harness.path("text"), random(100)).unwrap();
    harness.does("anna", "encrypt --key k --in text --out sealed");

    // party 1 alone has another client in its file, and starts again with it
    let config = harness.path("mesh/mesh.toml");
    let before = std::fs::read_to_string(&config).unwrap();
    assert!(harness.run("mesh identity --out ida").status.success());
    let ida =
        divisi_net::Identity::load(&harness.path("ida/identity.key")).unwrap().fingerprint().to_string();
    let add = ["mesh", "add", "--config", "mesh/mesh.toml", "--client", "ida", "--fingerprint", &ida];
    assert!(harness.run(&add).status.success());
    signal(harness.server(1), Signal::TERM);
    wait(harness.server(1), Duration::from_secs(20));
    harness.start(1);
    harness.wait_for(1, "joined the other servers", 1);
    std::fs::write(&config, before).unwrap();
    harness.does("anna", "decrypt --key k --in sealed --out opened");
}

//! What the operators of the three servers do together, each beside his own.

use super::harness::ServersHarness;
use std::process::Output;

impl ServersHarness {
    /// A command of the operator of a server, with a configuration of all that is right unless it says
    /// otherwise.
    fn operator(&self, party: usize, args: &[&str]) -> Output {
        let (number, identity) = (party.to_string(), format!("mesh/party-{party}.key"));
        let own = ["--config", "mesh/mesh.toml", "--party", &number, "--identity", &identity];
        let data = format!("data-{party}");
        self.run(&[args, &own, &["--data", &data, "--json"]].concat())
    }

    fn state(&self, party: usize, args: &[&str]) -> serde_json::Value {
        let output = self.operator(party, args);
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

#[test]
fn operators_give_keys_away_and_destroy_them() {
    let harness = ServersHarness::new(10.0);
    harness.does("anna", "key new --key k --type aes-128");
    std::fs::write(harness.path("text"), "hers").unwrap();
    harness.does("anna", "encrypt --key k --in text --out sealed");
    let chown = ["key", "chown", "--key", "k", "--to", "ben"];
    let json = harness.state(1, &chown);
    let told = |json: &serde_json::Value, state: &str, waiting: &[u8]| {
        assert_eq!((json["schema"].clone(), json["key"].clone()), (1.into(), "k".into()));
        assert_eq!(
            (json["state"].clone(), json["waiting"].clone()),
            (state.into(), waiting.into()),
            "{json}"
        );
    };
    told(&json, "asked", &[2, 3]);
    told(&harness.state(2, &chown), "asked", &[3]);
    harness.does("anna", "encrypt --key k --in text --out sealed");
    told(&harness.state(3, &chown), "done", &[]);
    (1..=3).for_each(|party| harness.wait_for(party, "operator: key chown k to ben: done", 1));
    harness.fails("anna", "encrypt --key k --in text --out no", 1, &["does not serve client anna"]);
    harness.does("ben", "decrypt --key k --in sealed --out opened");
    assert_eq!(std::fs::read(harness.path("opened")).unwrap(), b"hers");

    let destroy = ["key", "destroy", "--key", "k"];
    told(&harness.state(3, &destroy), "asked", &[1, 2]);
    let own = ["--config", "mesh/mesh.toml", "--party", "1", "--identity", "mesh/party-1.key"];
    let said = harness.run(&[&destroy[..], &own, &["--data", "data-1"]].concat());
    let said = String::from_utf8(said.stdout).unwrap();
    assert_eq!(said.trim(), "key destroy k: asked; waiting for the operators of server 2");
    told(&harness.state(2, &destroy), "done", &[]);
    harness.fails("ben", "decrypt --key k --in sealed --out no", 1, &["destroyed"]);

    // what has to be corrected: one sentence each
    harness.does("ben", "key new --key j --type aes-128");
    let wrong = |args: &[&str], words: &str| {
        let output = harness.run(args);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(told.lines().count() == 1 && told.contains(words), "{args:?}: {told}");
    };
    let chown = |to: &str, key: &str, party: &str, identity: &str, data: &str, words: &str| {
        wrong(
            &[
                "key",
                "chown",
                "--key",
                key,
                "--to",
                to,
                "--config",
                "mesh/mesh.toml",
                "--party",
                party,
                "--identity",
                identity,
                "--data",
                data,
            ],
            words,
        );
    };
    let (one, two) = ("mesh/party-1.key", "mesh/party-2.key");
    chown("dora", "j", "1", one, "data-1", "client dora is not in the configuration");
    chown("anna", "none", "1", one, "data-1", "there is no key none at party 1");
    chown("anna", "k", "1", one, "data-1", "key k is destroyed at party 1 already");
    chown("anna", "j", "1", one, "data-2", "the server here is party 2, not party 1");
    chown("anna", "j", "1", two, "data-1", "this identity is that of party 2");
    chown("anna", "j", "1", "mesh/client-ben.key", "data-1", "this identity is that of client ben");
    chown("anna", "j", "1", one, "mesh", "no running server has its data in mesh");
    wrong(&[&destroy[..], &own].concat(), "--data");
    wrong(&[&destroy[..], &["--data", "data-1"], &own[..2], &own[4..]].concat(), "--party");
    // a client's own command is as it was
    let unsure = ["key", "destroy", "--key", "j"];
    harness.fails("ben", &unsure, 2, &["give --yes to confirm"]);
    harness.does("ben", &[&unsure[..], &["--yes"]].concat());
}

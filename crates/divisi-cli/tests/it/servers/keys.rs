//! Keys as their owner handles them: whom they serve, and what others made with them.

use super::harness::{ServersHarness, signal};
use rustix::process::Signal;

/// What the library `cryptography` made with AES-256-SIV under the key 00 01 .. 3f, with one empty associated
/// string and with none.
const ONE_EMPTY: &str = "b15517727e96946265cc52290e72b93cae88c8995365b0f808ff0ed06643";
const NONE: &str = "9c70060daf17f997b1ac06a31be5ca391277937307b4f34030592846c4ce";

/// One empty associated string is a string, none is none, and associated data are bytes.
#[test]
fn associated_data_are_bytes_and_may_be_empty() {
    let harness = ServersHarness::new(10.0);
    let write = |name: &str, bytes: &[u8]| std::fs::write(harness.path(name), bytes).unwrap();
    write("key", &(0..64).collect::<Vec<u8>>());
    write("one", &hex::decode(ONE_EMPTY).unwrap());
    write("none", &hex::decode(NONE).unwrap());
    write("empty", b"");
    harness.does("anna", "key import --key s --type aes-256-siv --in key");
    fn decrypt<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["decrypt", "--key", "s", "--in"], more].concat()
    }
    for aad in
        [&["one", "--aad", ""][..], &["one", "--aad-hex", ""], &["one", "--aad-file", "empty"], &["none"]]
    {
        assert_eq!(harness.does("anna", &decrypt(aad)).stdout, b"attack at dawn", "{aad:?}");
    }
    for aad in [&["one"][..], &["none", "--aad", ""], &["none", "--aad-file", "empty"]] {
        harness.fails("anna", &decrypt(aad), 1, &["what this key made"]);
    }
    // bytes that are no text, as hexadecimal digits, as a file, and for GCM
    write("bytes", &[0xff, 0x00, 0x0a]);
    write("text", b"a text");
    harness.does("anna", "key new --key g --type aes-128");
    for key in ["s", "g"] {
        let to = ["encrypt", "--key", key, "--in", "text", "--out", "sealed", "--aad-file", "bytes"];
        harness.does("anna", &to);
        let from = ["decrypt", "--key", key, "--in", "sealed", "--aad-hex", "FF000a"];
        assert_eq!(harness.does("anna", &from).stdout, b"a text", "{key}");
    }
    // GCM always has associated data: empty ones are none
    harness.does("anna", &["encrypt", "--key", "g", "--in", "text", "--out", "sealed", "--aad", ""]);
    let opened = harness.does("anna", "decrypt --key g --in sealed");
    assert_eq!(opened.stdout, b"a text");
    harness.does("anna", "key new --key c --type aes-128-cbc");
    let cbc = ["encrypt", "--key", "c", "--in", "text", "--out", "no", "--aad", ""];
    harness.fails("anna", &cbc, 2, &["cbc takes no associated data"]);
}

/// The owner of a key lets it serve another client and takes it off again, and `key list` marks a client that
/// the configuration no longer has.
#[test]
fn the_owner_grants_and_revokes() {
    let mut harness = ServersHarness::new(10.0);
    std::fs::write(harness.path("text"), "a text").unwrap();
    harness.does("anna", "key new --key k --type aes-128");
    let encrypt = "encrypt --key k --in text --out sealed";
    harness.fails("ben", encrypt, 1, &["key k does not serve client ben"]);
    let to = |verb: &'static str, client: &'static str| ["key", verb, "--key", "k", "--client", client];
    let text = |out: std::process::Output| String::from_utf8(out.stdout).unwrap();
    let granted = text(harness.does("anna", &to("grant", "ben")));
    assert!(granted.contains("key k serves you and ben"), "{granted}");
    harness.does("ben", encrypt);
    harness.fails("ben", &to("revoke", "anna"), 1, &["client ben did not make key k"]);
    harness.fails("anna", &to("revoke", "anna"), 1, &["a key serves its owner to the last"]);
    harness.fails("anna", &to("grant", "carl"), 1, &["client carl is not in the configuration"]);
    harness.fails("anna", &to("grant", "b en"), 2, &["is no name of a client"]);

    // ben goes from the configuration, which the list marks, and comes off the key
    let config = harness.path("mesh/mesh.toml");
    let all = std::fs::read_to_string(&config).unwrap();
    let blocks: Vec<&str> = all.split("[[client]]").filter(|block| !block.contains("\"ben\"")).collect();
    std::fs::write(&config, blocks.join("[[client]]")).unwrap();
    for party in 1..=3 {
        signal(harness.server(party), Signal::HUP);
        harness.wait_for(party, "took over", 1);
    }
    let list = text(harness.does("anna", "key list"));
    assert!(list.contains("ben (not in the configuration)") && !list.contains("anna ("), "{list}");
    let list = harness.told("anna", "key list --json");
    assert_eq!(list["keys"][0]["not_in_configuration"], serde_json::json!(["ben"]));
    let revoked = text(harness.does("anna", &to("revoke", "ben")));
    assert!(revoked.contains("key k serves nobody but you"), "{revoked}");
    harness.fails("anna", &to("revoke", "ben"), 1, &["key k does not serve client ben"]);
}

/// Keys of the lengths that the standards' examples have: RFC 4231, cases 2 and 6; a secret in base32 whose
/// passwords `oathtool` prints; what is exported is what was imported, and what a key rarely looks like is
/// warned of.
#[test]
fn mac_keys_have_the_lengths_of_their_standards() {
    let harness = ServersHarness::new(10.0);
    let import = |key: &str, kind: &str, bytes: &[u8], more: &[&str]| {
        std::fs::write(harness.path("key"), bytes).unwrap();
        let args = [&["key", "import", "--key", key, "--type", kind, "--in", "key", "--exportable"], more];
        String::from_utf8(harness.does("anna", &args.concat()).stderr).unwrap()
    };
    let warned = import("jefe", "hmac-sha256", b"Jefe", &[]);
    assert!(warned.contains("an hmac-sha256 key of 32 bits is below 112 bits"), "{warned}");
    assert_eq!(import("long", "hmac-sha256", &[0xaa; 131], &[]), "");
    let mac = |args: &[&str]| {
        let out = harness.does("anna", &[&["mac", "--in", "text"], args].concat()).stdout;
        String::from_utf8(out).unwrap().trim_end().to_owned()
    };
    std::fs::write(harness.path("text"), "what do ya want for nothing?").unwrap();
    assert_eq!(
        mac(&["--key", "jefe", "--algorithm", "hmac-sha256"]),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    std::fs::write(harness.path("text"), "Test Using Larger Than Block-Size Key - Hash Key First").unwrap();
    assert_eq!(
        mac(&["--key", "long", "--algorithm", "hmac-sha256"]),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    );
    harness.does("anna", "key export --key long --out exported");
    assert_eq!(std::fs::read(harness.path("exported")).unwrap(), [0xaa; 131]);

    let secret = b"JBSW Y3DP EHPK 3PXP\n";
    assert_eq!(import("otp", "one-time-password-sha1", secret, &["--base32"]).lines().count(), 1);
    let code = "mac --key otp --algorithm one-time-password-sha1 --counter 1";
    assert_eq!(String::from_utf8(harness.does("anna", code).stdout).unwrap(), "996554\n");
    harness.does("anna", "key export --key otp --out secret");
    assert_eq!(std::fs::read(harness.path("secret")).unwrap(), b"Hello!\xde\xad\xbe\xef");
    let warned = import("hex", "hmac-sha256", b"000102030405060708090a0b0c0d0e0f\n", &[]);
    assert!(warned.contains("ends in a newline") && warned.contains("all hexadecimal"), "{warned}");

    let new = "key new --key drawn --type kmac128 --bytes 100 --json";
    let made = harness.told("anna", new);
    assert_eq!(made["bytes"], 100);
    let list = harness.told("anna", "key list --json");
    let bytes: Vec<_> = list["keys"].as_array().unwrap().iter().map(|key| key["bytes"].as_u64()).collect();
    assert_eq!(bytes, [Some(100), Some(33), Some(4), Some(131), Some(10)]);
}

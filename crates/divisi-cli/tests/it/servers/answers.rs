//! The JSON of the commands of clients keeps its members: `members_of_servers.txt` has them, as `members.txt`
//! has those of commands without servers.

use super::harness::ServersHarness;
use crate::members::listed;
use std::path::Path;

#[test]
fn answers_keep_their_members() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/members_of_servers.txt");
    let harness = ServersHarness::new(10.0);
    for (name, content) in
        [("text", &b"a text of six words in all"[..]), ("aes", &[1; 16]), ("hmac", &[2; 32])]
    {
        std::fs::write(harness.path(name), content).unwrap();
    }
    let run = |command: &String| listed::run(command, harness.dir.path());
    listed::compare(&list, |commands| commands.iter().map(run).collect());
}

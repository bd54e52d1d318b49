//! Inputs that are not what they seem.

use divisi_core::Check;
use divisi_rep3::Agreement;
use divisi_rep3::adversary::harness::{TrioHarness, party};
use divisi_rep3::checks;
use divisi_rep3::deal::Part;
use divisi_rep3::lab::deal_all;

/// The parties compare these parts and these public digests: whether any of them continues.
fn goes_on(harness: TrioHarness, check: Check, parts: &[Part; 3], public: [[u8; 32]; 3]) -> bool {
    let verdicts = harness.act(|mut trio| {
        let me = trio.me().index();
        trio.agree_input(check, &public[me], Some(&parts[me]))
    });
    verdicts.contains(&Ok(Agreement::Agreed))
}

fn parts() -> [Part; 3] {
    deal_all(&[b"sixteen byte key".to_vec()]).map(|mut parts| parts.remove(0))
}

/// A dealer gives the holders of a component different things.
pub fn inconsistent_parts(check: Option<Check>) -> bool {
    let mut parts = parts();
    parts[1].first[3] ^= 1;
    goes_on(TrioHarness::without(check), checks::A24, &parts, [[0; 32]; 3])
}

/// A client asks one server for something else.
pub fn different_requests(check: Option<Check>) -> bool {
    goes_on(TrioHarness::without(check), checks::A24, &parts(), [[0; 32], [0; 32], [1; 32]])
}

/// One server's store is of another generation of the key: other parts of the same secret.
pub fn mixed_stores(check: Option<Check>) -> bool {
    let mut parts_now = parts();
    parts_now[party(3).index()] = parts()[2].clone();
    goes_on(TrioHarness::without(check), checks::A26, &parts_now, [[0; 32]; 3])
}

//! Inputs that are not what they seem, and what the comparison of a tag shows.

use crate::common::prelude::*;
use divisi_rep3::Agreement;

const SECRET: &[u8] = b"sixteen byte key";

/// The parties compare these parts and these public digests: whether any of them continues.
fn goes_on(harness: TrioHarness, check: Check, parts: &[Part; 3], public: [[u8; 32]; 3]) -> bool {
    let verdicts = harness.act(|mut trio| {
        let me = trio.me().index();
        trio.agree_input(check, &public[me], Some(&parts[me]))
    });
    verdicts.contains(&Ok(Agreement::Agreed))
}

/// A dealer gives the holders of a component different things.
pub fn inconsistent_parts(check: Option<Check>) -> bool {
    let mut parts = parts(SECRET);
    parts[1].first[3] ^= 1;
    goes_on(TrioHarness::without(check), checks::A24, &parts, [[0; 32]; 3])
}

/// A client asks one server for something else.
pub fn different_requests(check: Option<Check>) -> bool {
    goes_on(TrioHarness::without(check), checks::A24, &parts(SECRET), [[0; 32], [0; 32], [1; 32]])
}

/// One server's store is of another generation of the key: other parts of the same secret.
pub fn mixed_stores(check: Option<Check>) -> bool {
    let mut parts_now = parts(SECRET);
    parts_now[2] = parts(SECRET)[2].clone();
    goes_on(TrioHarness::without(check), checks::A26, &parts_now, [[0; 32]; 3])
}

/// Party 1 knows two components of a difference, and finds the third in what it is sent when the answer is
/// opened.
pub fn difference_in_the_open(check: Option<Check>) -> bool {
    let difference: Vec<u8> = (0..16).map(|i| 13 * i + 3).collect();
    let dealt = deal_all(&difference.iter().map(|byte| vec![*byte]).collect::<Vec<_>>());
    let harness = TrioHarness::without(check);
    let seen = harness.recording(party(1));
    let results = harness.act(|trio| {
        let me = trio.me().index();
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let bytes = dealt[me].iter().map(|part| e.trio().input(part)).collect::<Result<Vec<Byte>, _>>()?;
        let bytes: [Byte; 16] = bytes.try_into().ok().unwrap();
        let block = e.convert(bytes)?;
        e.are_zero(&[block])
    });
    // the difference is found not to be zero, whatever is opened
    assert!(results.iter().all(|result| *result == Ok(vec![false])), "{results:?}");
    let opened = seen.of(MessageDirection::In, "divisi_rep3::open/open.bytes");
    let missing = &opened.last().unwrap().frame.body;
    let mine = dealt[0].iter().map(|part| part.first[0] ^ part.second[0]);
    mine.zip(missing).map(|(mine, missing)| mine ^ missing).eq(difference)
}

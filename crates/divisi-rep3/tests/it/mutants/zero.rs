//! What the comparison of a tag shows.

use divisi_core::{Check, Convert};
use divisi_rep3::adversary::harness::{MessageDirection, TrioHarness, party};
use divisi_rep3::lab::deal_all;
use divisi_rep3::{Byte, Protocol, Rep3, Security};

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

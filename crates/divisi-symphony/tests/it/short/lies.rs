//! A corrupt party in a call for several messages: no lie about one of them gives anything to anybody.

use super::{Came, Case, call, came, dealt, engine, keys};
use divisi_core::Step;
use divisi_net::Frame;
use divisi_rep3::adversary::harness::{MessageDirection, TrioHarness, failed_check, party};
use divisi_rep3::local::deal_all;
use divisi_rep3::{Protocol, checks};
use divisi_symmetric::aes::KeySize;

/// What a corrupt party does to a share that it sends.
type Lie = Box<dyn FnMut(&mut Frame) + Send>;

const OUTER: &str = "divisi_rep3::sbox::gf4_circuit/outer";
const MULTIPLY: &str = "divisi_rep3::engine::blocks/multiply";

/// Five messages of one block under one key, where party 1 sends false shares to party 3. Returns what the
/// messages' clients get, unless the honest parties abort; and how many messages of openings the honest
/// parties sent.
fn attacked(encrypt: bool, mut lie: Lie) -> (Option<Vec<Came>>, usize) {
    let keys = keys(KeySize::Aes128, 1);
    let cases: Vec<Case> = (0..5).map(|n| Case::new(&keys, 0, n, [4, 16], encrypt)).collect();
    let parts = deal_all(&keys);
    let plains = dealt(&cases);
    let harness = TrioHarness::default();
    let seen = [2, 3].map(|number| harness.recording(party(number)));
    harness.hand(party(1), party(3), move |mut frame| {
        lie(&mut frame);
        vec![frame]
    });
    let results = harness.act(|trio| {
        let at = trio.me().index();
        let rep = &mut engine(trio, Protocol::Gf4Circuit);
        call(rep, KeySize::Aes128, &parts[at], &[0], &cases, &plains[at])
    });
    let opened =
        seen.iter().map(|seen| seen.of(MessageDirection::Out, "divisi_rep3::open/open.bytes").len()).sum();
    if results.iter().all(Result::is_ok) {
        let told: Vec<_> = results.into_iter().map(|told| told.ok().unwrap()).collect();
        return (Some(came(&told)), opened);
    }
    assert!(results[1].is_err() && results[2].is_err(), "one honest party took an answer");
    assert!(results.iter().any(|result| failed_check(result) == Some(checks::A7)));
    (None, opened)
}

/// Party 1 changes its share of one product of the last round of AES, in the lane of the third message of
/// five: nobody gets anything, and nothing is opened.
#[test]
fn a_lie_about_one_ciphertext_ends_the_call_for_all() {
    // 16 bytes in ten lanes each: five of messages, five of masks; a plane is 20 bytes, and layers of keys
    // are smaller
    fn lie(byte: usize, plane: usize) -> Lie {
        let (outer, mut layer) = (Step::new(OUTER).id, 0);
        Box::new(move |frame| {
            if frame.step == outer && frame.body.len() == 8 * 20 {
                layer += 1;
                if layer == 10 {
                    let lane = 10 * byte + 2;
                    frame.body[20 * plane + lane / 8] ^= 1 << (lane % 8);
                }
            }
        })
    }
    for (byte, plane) in [(0, 0), (7, 3), (15, 7)] {
        assert_eq!(attacked(true, lie(byte, plane)), (None, 0));
    }
}

/// Party 1 changes its share of the product that masks the difference of the third tag of five: nobody gets
/// anything, and nothing is opened.
#[test]
fn a_lie_about_one_comparison_ends_the_call_for_all() {
    fn lie(byte: usize) -> Lie {
        let multiply = Step::new(MULTIPLY).id;
        Box::new(move |frame| {
            if frame.step == multiply && frame.body.len() == 5 * 16 {
                frame.body[2 * 16 + byte] ^= 0x20;
            }
        })
    }
    for byte in [0, 8, 15] {
        assert_eq!(attacked(false, lie(byte)), (None, 0));
    }
}

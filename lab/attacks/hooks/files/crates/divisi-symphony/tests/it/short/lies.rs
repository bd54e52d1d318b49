//! A corrupt party in a call for several messages: no lie about one of them gives anything to anybody.

use super::{Came, Case, call, came, engine, keys, right};
use divisi_core::Step;
use divisi_rep3::adversary::harness::{MessageDirection, TrioHarness, failed_check, party};
use divisi_rep3::local::deal_all;
use divisi_rep3::{Protocol, Rep3, checks};
use divisi_symmetric::aes::KeySize;

/// What a corrupt party does to its share at a step.
type Lie = Box<dyn FnMut(Step, &mut [u8]) + Send>;

const OUTER: &str = "divisi_rep3::sbox::gf4_circuit/outer";
const MULTIPLY: &str = "divisi_rep3::engine::blocks/multiply";

/// Five messages of one block under one key, where party 1 lies in the call, once its keys are ready. Returns
/// the messages; what their clients get, unless the honest parties abort; and how many messages of openings
/// the honest parties sent.
fn attacked(harness: TrioHarness, encrypt: bool, lie: fn() -> Lie) -> (Vec<Case>, Option<Vec<Came>>, usize) {
    let keys = keys(KeySize::Aes128, 1);
    let cases: Vec<Case> = (0..5).map(|n| Case::new(&keys, 0, n, [4, 16], encrypt)).collect();
    let parts = deal_all(&keys);
    let plains = deal_all(&cases.iter().map(|case| case.plain.clone()).collect::<Vec<_>>());
    let seen = [2, 3].map(|number| harness.recording(party(number)));
    let results = harness.act(|trio| {
        let me = trio.me();
        let deviate = |rep: &mut Rep3| {
            if me == party(1) {
                rep.trio().deviate(lie());
            }
        };
        let rep = &mut engine(trio, Protocol::Gf4Circuit);
        let at = me.index();
        call(rep, KeySize::Aes128, &parts[at], &[0], &cases, &plains[at], deviate)
    });
    let opened =
        seen.iter().map(|seen| seen.of(MessageDirection::Out, "divisi_rep3::open/open.bytes").len()).sum();
    if results.iter().all(Result::is_ok) {
        let told: Vec<_> = results.into_iter().map(|told| told.ok().unwrap()).collect();
        return (cases, Some(came(&told)), opened);
    }
    assert!(results[1].is_err() && results[2].is_err(), "one honest party took an answer");
    assert!(results.iter().any(|result| failed_check(result) == Some(checks::A7)));
    (cases, None, opened)
}

/// Party 1 adds an error to one product of the last round of AES, in the lane of the third message of five,
/// for each bit of its block. Without the verification that message alone would have another ciphertext; with
/// it nobody gets anything, and nothing is opened.
#[test]
fn a_lie_about_one_ciphertext_ends_the_call_for_all() {
    // 16 bytes in ten lanes each: five of messages, five of masks; a plane is 20 bytes
    fn lie(byte: usize, plane: usize) -> Lie {
        let mut layer = 0;
        Box::new(move |step, share| {
            layer += usize::from(step.name == OUTER);
            if step.name == OUTER && layer == 10 {
                assert_eq!(share.len(), 8 * 20);
                let lane = 10 * byte + 2;
                share[20 * plane + lane / 8] ^= 1 << (lane % 8);
            }
        })
    }
    let lies: [fn() -> Lie; 3] = [|| lie(0, 0), || lie(7, 3), || lie(15, 7)];
    for lie in lies {
        let (cases, came, _) = attacked(TrioHarness::without(Some(checks::A13)), true, lie);
        for (k, (case, came)) in cases.iter().zip(came.unwrap()).enumerate() {
            let Came::Sealed(sealed) = came else { panic!("{came:?}") };
            assert_eq!(sealed[..16] == case.sealed[..16], k != 2, "message {k}");
        }
        let (_, came, opened) = attacked(TrioHarness::default(), true, lie);
        assert_eq!((came, opened), (None, 0));
    }
}

/// Party 1 adds an error to the product that masks the difference of the third tag of five. Without the
/// verification a right message would be called invalid; with it nobody gets anything, and nothing is opened.
#[test]
fn a_lie_about_one_comparison_ends_the_call_for_all() {
    fn lie(byte: usize) -> Lie {
        Box::new(move |step, share| {
            if step.name == MULTIPLY {
                assert_eq!(share.len(), 5 * 16);
                share[2 * 16 + byte] ^= 0x20;
            }
        })
    }
    let lies: [fn() -> Lie; 3] = [|| lie(0), || lie(8), || lie(15)];
    for lie in lies {
        let (cases, came, _) = attacked(TrioHarness::without(Some(checks::A13)), false, lie);
        for (k, (case, came)) in cases.iter().zip(came.unwrap()).enumerate() {
            assert_eq!(came, if k == 2 { Came::Invalid } else { right(case) }, "message {k}");
        }
        let (_, came, opened) = attacked(TrioHarness::default(), false, lie);
        assert_eq!((came, opened), (None, 0));
    }
}

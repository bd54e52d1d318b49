//! The comparison of inputs and what servers keep (A24 to A26).

use crate::session::every_bit_varies;
use divisi_core::Abort;
use divisi_rep3::Agreement;
use divisi_rep3::adversary::harness::{MessageDirection, TrioHarness, links, many, party};
use divisi_rep3::checks;
use divisi_rep3::deal::Part;
use std::collections::HashSet;

const DIGESTS: &str = "divisi_rep3::input/digests";
const VERDICT: &str = "divisi_rep3::input/verdict";

fn harness() -> TrioHarness {
    TrioHarness::default().patient()
}

fn compared(
    harness: TrioHarness,
    parts: &[Part; 3],
    public: &[[u8; 32]; 3],
) -> Vec<Result<Agreement, Abort>> {
    harness.act(|mut trio| {
        let me = trio.me().index();
        trio.agree_input(checks::A24, &public[me], Some(&parts[me]))
    })
}

/// Parts whose three components are all the same.
fn alike(bytes: usize) -> [Part; 3] {
    [(); 3].map(|()| Part { first: vec![0x3c; bytes], second: vec![0x3c; bytes] })
}

/// Every byte of both digests counts, and so does the byte that says whether there is an input, towards each
/// neighbour.
#[test]
fn every_byte_of_the_comparison_counts() {
    let links: Vec<_> = links().collect();
    many(links.len() * 65, 4, |i| {
        let ((from, to), byte) = (links[i / 65], i % 65);
        let harness = harness();
        harness.change(from, to, DIGESTS, 0, move |body| body[byte] ^= 1);
        let verdicts = compared(harness, &alike(48), &[[9; 32]; 3]);
        let expected = match byte {
            0..32 => Agreement::PublicDiffers,
            32..64 => Agreement::SecretDiffers,
            _ => Agreement::Missing(from),
        };
        assert!(verdicts.iter().all(|v| *v == Ok(expected)), "{from} to {to}, byte {byte}: {verdicts:?}");
    });
}

/// A difference in any byte of a component, at either of its holders; in any byte of the public digest of any
/// one of the three.
#[test]
fn every_byte_of_an_input_counts() {
    many(48, 4, |byte| {
        for at in 0..3 {
            let mut parts = alike(48);
            let of = if byte % 2 == 0 { &mut parts[at].first } else { &mut parts[at].second };
            of[byte] ^= 8;
            let verdicts = compared(harness(), &parts, &[[9; 32]; 3]);
            assert!(verdicts.iter().all(|v| *v == Ok(Agreement::SecretDiffers)), "{at}: {verdicts:?}");
            if byte < 32 {
                let mut public = [[9; 32]; 3];
                public[at][byte] ^= 8;
                let verdicts = compared(harness(), &alike(4), &public);
                assert!(verdicts.iter().all(|v| *v == Ok(Agreement::PublicDiffers)), "{at}: {verdicts:?}");
            }
        }
    });
}

/// The same component has another digest on each link: its key is the pair's.
#[test]
fn digests_of_one_component_differ_from_link_to_link() {
    let harness = harness();
    let recordings = [1, 2, 3].map(|p| harness.recording(party(p)));
    assert!(compared(harness, &alike(16), &[[0; 32]; 3]).iter().all(|v| *v == Ok(Agreement::Agreed)));
    let sent = recordings.iter().flat_map(|r| r.of(MessageDirection::Out, DIGESTS));
    let digests: Vec<Vec<u8>> = sent.map(|s| s.frame.body[32..64].to_vec()).collect();
    assert_eq!((digests.len(), digests.iter().collect::<HashSet<_>>().len()), (6, 3));
}

/// The worst verdict counts, from whichever neighbour it comes; that the third party has another verdict
/// shows at the next barrier.
#[test]
fn the_worst_verdict_counts() {
    for (from, to) in links() {
        let (harness, verdicts) = (harness(), std::sync::Mutex::new(Vec::new()));
        harness.change(from, to, VERDICT, 0, |body| body[0] = 1);
        let results = harness.act(|mut trio| {
            let verdict = trio.agree_input(checks::A24, &[0; 32], Some(&alike(4)[0]))?;
            verdicts.lock().unwrap().push((trio.me(), verdict));
            trio.barrier().map(drop)
        });
        assert!(verdicts.lock().unwrap().contains(&(to, Agreement::SecretDiffers)), "{from} to {to}");
        assert!(results.iter().all(Result::is_err), "{from} to {to}: {results:?}");
    }
}

/// A server that tells both others that it refuses, but each for another reason: their views differ.
#[test]
fn different_refusals_are_different_views() {
    const BARRIER: &str = "divisi_rep3::views/barrier";
    for liar in [1, 2, 3].map(party) {
        let harness = harness();
        let digests = [liar.next(3), liar.prev(3)];
        let recordings = digests.map(|p| harness.recording(p));
        for (to, code) in digests.into_iter().zip([1, 2]) {
            harness.change(liar, to, VERDICT, 0, move |body| body[0] = code);
        }
        let results = harness.act(|mut trio| {
            trio.agree_input(checks::A24, &[0; 32], Some(&alike(4)[0]))?;
            trio.barrier().map(drop)
        });
        assert!(results.iter().all(Result::is_err), "{liar}: {results:?}");
        let [one, other] = [0, 1].map(|i| recordings[i].bodies(MessageDirection::Out, liar, BARRIER));
        assert_ne!(one, other, "{liar}");
    }
}

/// What is kept is fresh to the last bit, another for each component, each time and in each strand.
#[test]
fn what_is_kept_is_fresh() {
    let (mut samples, mut all) = (Vec::new(), HashSet::new());
    for _ in 0..32 {
        let parts = harness().act(|mut trio| {
            let mut other = divisi_rep3::Trio::new(trio.session().strand()?)?;
            Ok([trio.random_part(24), trio.random_part(24), other.random_part(24)])
        });
        let parts: Vec<_> = parts.into_iter().map(Result::unwrap).collect();
        for (p, next) in [(0, 1), (1, 2), (2, 0)] {
            for (part, beside) in parts[p].iter().zip(&parts[next]) {
                assert_eq!(part.second, beside.first);
                // every eight bytes
                all.extend(part.first.chunks(8).map(<[u8]>::to_vec));
            }
        }
        samples.extend([&parts[0][0], &parts[0][1]].map(|part| [&part.first[..], &part.second].concat()));
    }
    every_bit_varies("kept", &samples);
    assert_eq!(all.len(), 32 * 27);
}

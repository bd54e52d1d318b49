//! Attacks on what comes in and what goes out: dealers, clients, stores, tags, every way of opening (A23 to
//! A26).

use crate::common::prelude::*;
use divisi_rep3::adversary::adaptive::{MULTIPLY, SIGMA, Z_PRIME, engine, multiply_and_open};
use divisi_rep3::{Agreement, ComparedInput, Lack};

const DIGESTS: &str = "divisi_rep3::input/digests";
const VERDICT: &str = "divisi_rep3::input/verdict";
const OPENED: &str = "divisi_rep3::open/open.bytes";

/// One request: the part and the public digest that each server has, and the verdict that must come of them.
struct Request {
    check: Check,
    parts: [Option<Part>; 3],
    public: [[u8; 32]; 3],
    verdict: Agreement,
}

fn requests() -> Vec<Request> {
    let secret = b"sixteen byte key";
    let whole = || parts(secret).map(Some);
    let mut all = Vec::new();
    for check in [checks::A24, checks::A26] {
        let mut ask = |parts, public, verdict| all.push(Request { check, parts, public, verdict });
        for at in 0..3 {
            // one component at one of its holders differs: in a bit, in length, or it is another dealing's
            for second in [false, true] {
                let mut bad = parts(secret);
                let component = if second { &mut bad[at].second } else { &mut bad[at].first };
                component[15] ^= 0x80;
                ask(bad.map(Some), [[1; 32]; 3], Agreement::SecretDiffers);
            }
            let mut mixed = parts(secret);
            mixed[at] = parts(secret)[at].clone();
            ask(mixed.map(Some), [[1; 32]; 3], Agreement::SecretDiffers);
            let mut short = parts(secret);
            short[at].first.pop();
            ask(short.map(Some), [[1; 32]; 3], Agreement::SecretDiffers);
            // one server was asked for something else
            let mut public = [[1; 32]; 3];
            public[at][31] ^= 1;
            ask(whole(), public, Agreement::PublicDiffers);
            // one server has no such input
            let mut missing = whole();
            missing[at] = None;
            ask(missing, [[1; 32]; 3], Agreement::Missing(party(at as u8 + 1)));
        }
        ask(whole(), [[1; 32]; 3], Agreement::Agreed);
    }
    all
}

/// Whatever a client or a store gives: all three say the same about it, the session lives on, and then
/// computes.
#[test]
fn what_does_not_fit_is_refused_by_all_and_harms_nothing() {
    let requests = requests();
    let results = TrioHarness::default().act(|mut trio| {
        let me = trio.me().index();
        let mut verdicts = Vec::new();
        for request in &requests {
            let part = request.parts[me].as_ref();
            verdicts.push(trio.agree_input(request.check, &request.public[me], part)?);
        }
        let right = multiply_and_open(&mut engine(trio), 2)?;
        Ok((verdicts, right))
    });
    let expected: Vec<Agreement> = requests.iter().map(|request| request.verdict).collect();
    for result in results {
        assert_eq!(result.unwrap(), (expected.clone(), true));
    }
}

/// The three compare their parts of one input.
fn compared(harness: TrioHarness, dealt: &[Part; 3]) -> Vec<Result<Agreement, Abort>> {
    harness.act(|mut trio| {
        let me = trio.me().index();
        trio.agree_input(checks::A24, &[7; 32], Some(&dealt[me]))
    })
}

/// Of a long input each byte of each component is compared.
#[test]
fn long_inputs_are_compared_to_their_ends() {
    let long = parts(&[3; (1 << 17) + 1]);
    for (nth, at) in (0..=17).map(|i| 1 << i).chain([0, 65_535]).enumerate() {
        let mut dealt = long.clone();
        let part = &mut dealt[nth % 3];
        let component = if nth % 2 == 0 { &mut part.first } else { &mut part.second };
        component[at] ^= 1;
        for end in compared(TrioHarness::default(), &dealt) {
            assert_eq!(end, Ok(Agreement::SecretDiffers), "byte {at}");
        }
    }
    assert!(compared(TrioHarness::default(), &long).iter().all(|end| *end == Ok(Agreement::Agreed)));
}

/// A harness in which party 1 sends this verdict to both others.
fn with_verdict(verdict: [u8; 2]) -> TrioHarness {
    let harness = TrioHarness::default();
    for to in [PartyId::P2, PartyId::P3] {
        harness.change(PartyId::P1, to, VERDICT, 0, move |sent| sent.copy_from_slice(&verdict));
    }
    harness
}

/// What a server receives while inputs are compared is a function of what it holds itself, and of the
/// verdict: a server that holds a component gets the digest it could compute, one that does not gets none
/// (A24).
#[test]
fn the_comparison_of_inputs_tells_the_third_nothing() {
    for corrupt in PartyId::all(3) {
        for differ in [false, true] {
            let mut dealt = parts(b"a secret input..");
            // the component that the corrupt party lacks is the one in dispute
            if differ {
                dealt[corrupt.next(3).index()].second[0] ^= 1;
            }
            let harness = TrioHarness::default();
            let seen = harness.recording(corrupt);
            let results = compared(harness, &dealt);
            let verdict = if differ { Agreement::SecretDiffers } else { Agreement::Agreed };
            assert!(results.iter().all(|r| *r == Ok(verdict)));
            for sent in seen.of(MessageDirection::Out, DIGESTS) {
                let got = seen.bodies(MessageDirection::In, sent.peer, DIGESTS).remove(0);
                assert_eq!((got.len(), &got), (65, &sent.frame.body));
            }
            let verdicts = seen.of(MessageDirection::In, VERDICT);
            assert!(verdicts.iter().all(|v| v.frame.body == [u8::from(differ), 0]));
        }
    }
}

/// Digests of equal inputs differ from session to session and from link to link: nobody can try values.
#[test]
fn digests_of_inputs_are_keyed() {
    let dealt = parts(b"a secret input..");
    let digests = || {
        let harness = TrioHarness::default();
        let seen = harness.recordings();
        compared(harness, &dealt);
        let sent = seen.iter().flat_map(|s| s.of(MessageDirection::Out, DIGESTS));
        sent.map(|s| s.frame.body[32..64].to_vec()).collect::<std::collections::BTreeSet<_>>()
    };
    let (one, two) = (digests(), digests());
    assert_eq!((one.len(), two.len()), (3, 3)); // one a component
    assert!(one.is_disjoint(&two));
}

/// Each input of a list has its own verdict: an input that differs, is refused or has not arrived does not
/// affect the others, wherever it is in the list, and a refusal takes precedence over an input that may still
/// arrive.
#[test]
fn each_input_of_a_list_has_its_own_verdict() {
    (0..7).for_each(verdicts_of_a_list);
}

/// The verdicts of a list that begins with this one of seven inputs.
fn verdicts_of_a_list(first: usize) {
    const LONG: usize = 50;
    let (dealt, other) = (parts(b"x"), parts(b"x"));
    let results = TrioHarness::default().act(|mut trio| {
        let me = trio.me().index();
        let part = Ok(&dealt[me]);
        let lacks = |at: usize, lack| if me == at { Err(lack) } else { part };
        let input =
            |public: usize, part| ComparedInput { check: checks::A24, public: [public as u8; 32], part };
        let some = || {
            [
                input(1, part),
                input(1, lacks(0, Lack::NotYet)),
                input(1 + usize::from(me == 1), part),
                input(1, lacks(2, Lack::Missing)),
                input(me, lacks(0, Lack::NotYet)),
                input(1, if me == 1 { Ok(&other[me]) } else { part }),
                input(1, part),
            ]
        };
        let mut inputs: Vec<_> = (0..LONG).flat_map(|_| some()).collect();
        inputs.rotate_left(first);
        trio.agree_list(&[5; 32], &inputs)
    });
    let mut expected = [
        Agreement::Agreed,
        Agreement::NotYet(party(1)),
        Agreement::PublicDiffers,
        Agreement::Missing(party(3)),
        Agreement::PublicDiffers,
        Agreement::SecretDiffers,
        Agreement::Agreed,
    ]
    .repeat(LONG);
    expected.rotate_left(first);
    assert!(results.iter().all(|result| *result == Ok(expected.clone())), "{results:?}");
}

/// A party that sends two servers different lists ends the session before anything on them is done.
#[test]
fn lists_that_differ_end_the_session() {
    let dealt = parts(b"x");
    for odd in 0..3 {
        for at in [0, 15, 31] {
            let results = TrioHarness::default().act(|mut trio| {
                let me = trio.me().index();
                let mut list = [5; 32];
                list[at] ^= u8::from(me == odd);
                let input = ComparedInput { check: checks::A24, public: [1; 32], part: Ok(&dealt[me]) };
                trio.agree_list(&list, &[input])
            });
            assert!(results.iter().all(Result::is_err), "{results:?}");
            assert!(results.iter().any(|r| failed_check(r) == Some(checks::A25)), "{results:?}");
        }
    }
}

/// A verdict of no meaning, and a server that names a party that does not exist, are refusals like others.
#[test]
fn nonsense_for_a_verdict_is_a_refusal() {
    for body in [[200, 200], [3, 3], [3, 255], [2, 9], [1, 1]] {
        let results = compared(with_verdict(body), &parts(b"x"));
        assert_eq!(results[1], results[2]);
        let fine = match results[1].as_ref().unwrap() {
            Agreement::Agreed => false,
            Agreement::Missing(who) => who.index() < 3,
            _ => true,
        };
        assert!(fine, "{body:?}: {:?}", results[1]);
    }
}

/// An agreement with a party in it, which no honest server sends, does not outrank an input that may still
/// arrive: nobody goes on without it.
#[test]
fn an_agreement_with_a_party_is_none() {
    for named in [1, 7, 255] {
        let dealt = parts(b"x");
        let results = with_verdict([0, named]).act(|mut trio| {
            let me = trio.me().index();
            let part = if me == 1 { Err(Lack::NotYet) } else { Ok(&dealt[me]) };
            let input = ComparedInput { check: checks::A24, public: [1; 32], part };
            trio.agree_list(&[5; 32], &[input])
        });
        for result in &results[1..] {
            assert_ne!(*result, Ok(vec![Agreement::Agreed]), "{named}");
        }
    }
}

/// A server that tells one of the others that an input differs and the other that it does not: one continues,
/// one refuses, and the session ends before anything is opened.
#[test]
fn a_split_verdict_opens_nothing() {
    for (from, to) in links() {
        let dealt = parts(b"y");
        let harness = TrioHarness::default();
        let seen = harness.recordings();
        harness.change(from, to, VERDICT, 0, |sent| sent[0] = 1);
        let results = harness.act(|mut trio| {
            let part = &dealt[trio.me().index()];
            if trio.agree_input(checks::A24, &[1; 32], Some(part))? != Agreement::Agreed {
                // the next request
                trio.agree_input(checks::A24, &[2; 32], Some(part))?;
            }
            multiply_and_open(&mut engine(trio), 1)
        });
        for (p, result) in others(from, &results) {
            assert!(result.is_err(), "{results:?}");
            assert!(seen[p.index()].of(MessageDirection::Out, OPENED).is_empty());
        }
    }
}

/// The tag of a text is compared by a masked product: the tag and the mask are shared, the difference is
/// never opened.
fn tag_is_valid(e: &mut Rep3, difference: u128) -> Result<bool, Abort> {
    let zero: [Byte; 16] = std::array::from_fn(|_| e.public(&[0]));
    let mut tag = e.convert(zero)?;
    e.add_public_block(&mut tag, &[difference])?;
    let mask = e.random_blocks(1);
    let masked = e.multiply(&tag, &mask)?;
    let bytes: [Byte; 16] = e.convert(masked)?;
    Ok(e.reveal(bytes.to_vec())?.iter().flatten().all(|byte| *byte == 0))
}

/// A lie that would make a valid tag invalid, or an invalid one valid, is an abort and no answer (A23).
#[test]
fn a_lie_about_a_tag_is_an_abort_and_no_answer() {
    for difference in [0, 1 << 77] {
        let honest = TrioHarness::default().act(|trio| tag_is_valid(&mut engine(trio), difference));
        assert!(honest.iter().all(|r| *r == Ok(difference == 0)));
        let steps: [&[&str]; 4] = [&[MULTIPLY], &[Z_PRIME], &[SIGMA], &[MULTIPLY, SIGMA]];
        for steps in steps {
            let harness = TrioHarness::default();
            let ids: Vec<u32> = steps.iter().map(|step| divisi_core::Step::new(step).id).collect();
            harness.hand(party(1), party(3), move |mut frame| {
                if ids.contains(&frame.step) {
                    frame.body[1] ^= 0xba;
                }
                vec![frame]
            });
            let results = harness.act(|trio| tag_is_valid(&mut engine(trio), difference));
            assert!(results[1..].iter().all(Result::is_err), "{steps:?}: {results:?}");
        }
        // at the opening itself, towards either side
        for (to, step) in [(PartyId::P2, OPENED), (PartyId::P3, "divisi_rep3::open/open.digest")] {
            for nth in 0..3 {
                let harness = TrioHarness::default();
                harness.change(PartyId::P1, to, step, nth, |body| body[0] ^= 1);
                let results = harness.act(|trio| tag_is_valid(&mut engine(trio), difference));
                assert!(!results.contains(&Ok(difference != 0)), "{step}: {results:?}");
            }
        }
    }
}

/// A value of a semi-honest engine is no value of an engine with active security, whoever carries it over
/// (1.18).
#[test]
fn semi_honest_values_are_not_settled_with_active_security() {
    let results = TrioHarness::default().act(|trio: Trio| {
        let mut weak = Rep3::new(trio, Protocol::Gf4Circuit, Security::SemiHonest);
        let mut x = weak.random_bytes(3)?;
        weak.sbox(Direction::Encrypt, &mut [&mut x])?;
        let pending = weak.close(vec![x]);
        let mut strong = Rep3::new(weak.into_trio(), Protocol::Gf4Circuit, Security::Malicious);
        let x = pending.resume(&mut strong);
        strong.settled(x).map(drop)
    });
    is_misuse_of_all("semi-honest", &results);
}

/// A masked opening is compared before anything that rests on it leaves, even where nothing is multiplied:
/// otherwise a party that shows one of the others `c + d` could shift what is computed from it, and cover
/// that up at the next opening.
#[test]
fn a_split_masked_opening_shifts_nothing() {
    const MASKED: &str = "divisi_rep3::masked/open_masked";
    for liar in PartyId::all(3) {
        let dealt = parts(b"what stays as it is");
        let harness = TrioHarness::default();
        // the liar sends its next a false component, and the same error once more where it would have to be
        // covered up
        let ids = [MASKED, OPENED].map(|step| Step::new(step).id);
        harness.hand(liar, liar.next(3), move |mut frame| {
            if ids.contains(&frame.step) {
                frame.body[0] ^= 1;
            }
            vec![frame]
        });
        let results = harness.act(|mut trio| {
            let part = &dealt[trio.me().index()];
            let x = trio.input(part)?;
            let mut e = engine(trio);
            let mask = e.mask(19)?;
            let (c, mut r) = e.open_masked(&x, mask)?;
            e.add_public(&mut r, &c)?;
            Ok(e.reveal(vec![r])?.concat())
        });
        for (p, result) in others(liar, &results) {
            assert!(result.is_err(), "{p}: {result:?}");
        }
        assert!(results.iter().any(|r| failed_check(r) == Some(checks::A2)), "{results:?}");
    }
}

/// An opening to one party: whatever a liar sends, the receiver has the right value or aborts, and the others
/// learn nothing.
#[test]
fn an_opening_to_one_party_is_right_or_none() {
    let secret = b"for one pair of eyes";
    for to in PartyId::all(3) {
        for (liar, step) in [
            (to.prev(3), "divisi_rep3::masked/open_to.component"),
            (to.next(3), "divisi_rep3::masked/open_to.digest"),
        ] {
            for byte in [0, 7, 19] {
                let dealt = parts(secret);
                let harness = TrioHarness::default();
                harness.change(liar, to, step, 0, move |body| body[byte] ^= 0x80);
                let results = harness.act(|mut trio| {
                    let part = &dealt[trio.me().index()];
                    let x = trio.input(part)?;
                    let mut e = engine(trio);
                    let verified = e.settled(x)?;
                    e.trio().open_to(to, &verified)
                });
                assert_eq!(failed_check(&results[to.index()]), Some(checks::A1));
                assert!(others(to, &results).all(|(_, result)| *result == Ok(None)));
            }
        }
    }
}

/// No honest party accepts a wrong output of one corrupt party (1.9): bit by bit at the last opening.
#[test]
fn no_bit_of_an_opening_can_be_turned() {
    for from in PartyId::all(3) {
        let [to, other] = [from.next(3), from.prev(3)];
        for bit in (from.index()..16 * 3 * 8).step_by(7) {
            let harness = TrioHarness::default();
            harness.change(from, to, OPENED, 0, move |body| body[bit / 8] ^= 1 << (bit % 8));
            let results = harness.act(|trio| multiply_and_open(&mut engine(trio), 1));
            assert_eq!(failed_check(&results[to.index()]), Some(checks::A1));
            assert_ne!(results[other.index()], Ok(false));
        }
    }
}

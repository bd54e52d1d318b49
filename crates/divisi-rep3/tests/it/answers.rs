//! What a corrupt server answers to a client, changed in every way: the client takes no wrong output.

use crate::common::prelude::*;
use divisi_core::testing::{Operator, salt};
use divisi_rep3::deal::combine;
use divisi_rep3::open::Answer;

const CONTEXT: &[u8] = b"a request";

#[test]
fn no_change_of_an_answer_makes_a_wrong_output() {
    let values: Vec<Vec<u8>> = (0..16).map(|i| vec![0x11 * i, i]).collect();
    let parts = deal_all(&values);
    let ends = TrioHarness::default().act(|mut trio| {
        let mine = &parts[trio.me().index()];
        let mut bytes = mine.iter().map(|part| trio.input(part)).collect::<Result<Vec<_>, _>>()?;
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        e.sbox(Direction::Encrypt, &mut bytes.iter_mut().collect::<Vec<_>>())?;
        let verified = settled(&mut e, bytes)?;
        e.trio().answer(CONTEXT, &verified)
    });
    let right: Vec<Answer> = ends.into_iter().map(Result::unwrap).collect();
    let right: [Answer; 3] = right.try_into().ok().unwrap();
    let values: Vec<u8> = values.concat().into_iter().map(sbox).collect();
    assert_eq!(combine(CONTEXT, &right).unwrap().as_slice(), values);
    for liar in 0..3 {
        for operator in Operator::ALL {
            for round in 0..8 {
                let mut answers = right.clone();
                operator.change(&mut answers[liar].component, salt((liar, round)));
                let same = answers[liar].component == right[liar].component;
                assert_eq!(combine(CONTEXT, &answers).is_ok(), same);
                let mut answers = right.clone();
                let mut digest = answers[liar].digest.to_vec();
                operator.change(&mut digest, salt((liar, round)));
                if let Ok(digest) = <[u8; 32]>::try_from(digest) {
                    answers[liar].digest = digest;
                    assert_eq!(combine(CONTEXT, &answers).is_ok(), digest == right[liar].digest);
                }
            }
        }
    }
    let mut swapped = right.clone();
    swapped.swap(0, 1);
    assert!(combine(CONTEXT, &swapped).is_err());
    assert!(combine(b"another request", &right).is_err());
}

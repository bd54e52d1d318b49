//! What differs between two servers differs in what they compare: each bit of each request, of who asks, of
//! the place of a step, of its data, and of an order.

use super::*;
use crate::admit::Who;
use crate::operator::{Deed, Order};
use crate::request::tests::client_messages;
use crate::request::{SboxChoice, ToServer};
use crate::wire::{Blob, decode, encode};
use divisi_rep3::deal::Part;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Something that is compared, with each of its bits changed in turn, as far as that is something at all: the
/// encodings, each once.
fn changed<M: serde::Serialize + serde::de::DeserializeOwned>(of: &M) -> Vec<M> {
    let bytes = encode(of, 0).unwrap();
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for bit in 0..8 * bytes.len() {
        let mut other = bytes.to_vec();
        other[bit / 8] ^= 1 << (bit % 8);
        let Some(other) = decode::<M>(&other) else { continue };
        if seen.insert(encode(&other, AAD).unwrap().to_vec()) {
            all.push(other);
        }
    }
    all.extend(decode(&bytes));
    all
}

fn offer() -> Offer {
    Offer { connection: [7; 32], number: 3, step: 2 }
}

fn who() -> Who {
    Who { name: "alice".into(), fingerprint: [9; 32] }
}

/// What the servers compare of such a step: digests, and the part that only its holders compare.
fn compared(who: Who, item: &Item, offer: Offer, data: StepData) -> ([[u8; 32]; 2], Option<Part>) {
    let taken = Taken { who, item: Arc::new(item.clone()), messages: Vec::new(), step: LOAD };
    let candidate = Candidate::new(offer, taken, data, None);
    let [data, key] = candidate.inputs();
    let part = candidate.data.secret().cloned();
    assert_eq!(data.check, if part.is_some() { checks::A24 } else { checks::A25 });
    ([data.public, key.public], part)
}

/// Requests that differ in a bit are different ones for the servers: of every kind, with every field.
#[test]
fn every_bit_of_a_request_is_compared() {
    let mut digests = HashMap::new();
    let mut kinds = 0;
    for (message, _) in client_messages() {
        let ToServer::Request { item, .. } = message else { continue };
        kinds += 1;
        for item in changed(&item) {
            let (told, _) = compared(who(), &item, offer(), StepData::Nothing);
            for (which, digest) in told.into_iter().enumerate() {
                let encoded = (which, encode(&item, AAD).unwrap().to_vec());
                let before = digests.insert(digest, encoded.clone());
                assert!(before.is_none_or(|before| before == encoded), "{item:?}");
            }
        }
    }
    assert!(kinds > 12 && digests.len() > 500, "{kinds} {}", digests.len());
}

/// Also of associated data of the greatest length, wherever they differ, and of what comes behind them.
#[test]
fn every_part_of_a_long_request_is_compared() {
    let of = |aad: Vec<u8>, length: u64| {
        let way = SboxChoice::DEFAULT;
        let item = Item::Encrypt { key: "k".parse().unwrap(), aad: Blob(aad), length, way };
        compared(who(), &item, offer(), StepData::Nothing).0[0]
    };
    let places = std::iter::successors(Some(1), |place| Some(2 * place)).take_while(|place| *place < AAD);
    let mut seen = HashSet::from([of(vec![0; AAD], 1), of(vec![0; AAD], 2)]);
    for place in places.flat_map(|place| [place - 1, AAD - place]) {
        let mut aad = vec![0; AAD];
        aad[place] = 1;
        assert!(seen.insert(of(aad, 1)), "{place}");
    }
}

/// The same of who asks, of the request's connection and number, and of the step.
#[test]
fn every_bit_of_a_place_is_compared() {
    let item = Item::KeyList { after: None };
    let of = |who: Who, offer: Offer| compared(who, &item, offer, StepData::Nothing).0;
    let mut seen = HashSet::from(of(who(), offer()));
    let mut differs = |told: [[u8; 32]; 2], all: bool| {
        let new = told.map(|digest| seen.insert(digest));
        assert!(new[0] && new[1] == all, "{new:?}");
    };
    for bit in 0..256 {
        let mut other = who();
        other.fingerprint[bit / 8] ^= 1 << (bit % 8);
        differs(of(other, offer()), true);
        let mut other = offer();
        other.connection[bit / 8] ^= 1 << (bit % 8);
        differs(of(who(), other), true);
    }
    for bit in 0..64 {
        differs(of(who(), Offer { number: 3 ^ 1 << bit, ..offer() }), true);
        // the key is the same in all steps
        differs(of(who(), Offer { step: 2 ^ 1 << bit, ..offer() }), false);
    }
    for name in ["", "a", "alicf", "blice", "alice1"] {
        differs(of(Who { name: name.into(), ..who() }, offer()), true);
    }
}

/// And of the data of a step: their kind, place, length and digest; what is secret goes to its holders whole.
#[test]
fn all_data_of_a_step_are_compared() {
    let item = Item::KeyList { after: None };
    let part = |bytes: usize| Part { first: vec![1; bytes], second: vec![2; bytes] };
    let public = |digest: [u8; 32]| StepData::Public(Blob(vec![5; 3]), digest);
    let mut all = vec![StepData::Nothing, StepData::Finish, StepData::Secret(part(4)), public([0; 32])];
    all.extend((0..64).map(|bit| StepData::Last(1 << bit, part(4))));
    all.extend((0..9).map(|bit| StepData::Last(1, part(5 << bit))));
    all.extend((0..256).map(|bit| {
        let mut digest = [0; 32];
        digest[bit / 8] = 1 << (bit % 8);
        public(digest)
    }));
    let mut seen = HashSet::new();
    for data in all {
        let given = data.secret().cloned();
        let ([told, _], secret) = compared(who(), &item, offer(), data);
        assert!(seen.insert(told));
        let [given, secret] =
            [given, secret].map(|part| part.map(|part| [part.first.clone(), part.second.clone()]));
        assert_eq!(given, secret);
    }
}

/// The list of a round: each bit of each offer, their number and order, and how programs run.
#[test]
fn every_bit_of_a_list_is_compared() {
    let mut seen = HashSet::new();
    let three = [1, 2, 3].map(|number| Offer { number, ..offer() });
    let mut differs = |offers: &[Offer]| {
        for rounds in [Rounds::OfLevels, Rounds::Constant] {
            assert!(seen.insert(list(rounds, offers)), "{offers:?}");
        }
    };
    (0..=3).for_each(|count| differs(&three[..count]));
    differs(&[three[0], three[2], three[1]]);
    for at in 0..3 {
        for bit in 0..256 {
            let mut other = three;
            other[at].connection[bit / 8] ^= 1 << (bit % 8);
            differs(&other);
        }
        for bit in 0..64 {
            let mut other = three;
            other[at].step ^= 1 << bit;
            differs(&other);
            let mut other = three;
            // so that no two of them have the same number
            other[at].number ^= 5 << bit;
            differs(&other);
        }
    }
}

/// The steps of the agreement are of different names, so that none is taken for another.
#[test]
fn a_digest_is_of_one_request_and_step() {
    let mut seen = HashSet::new();
    for request in [[0; 32], [1; 32]] {
        for step in [LOAD, REQUEST] {
            for extra in [&b""[..], b"a", b"b", b"ab"] {
                assert!(seen.insert(public(&request, step, extra)));
            }
        }
    }
}

#[test]
fn every_bit_of_an_order_is_compared() {
    let key: KeyName = "k1".parse().unwrap();
    let to = ["alicia".to_owned(), "alice".to_owned(), "carol".to_owned()].to_vec();
    let mut digests = HashMap::new();
    for order in [Order::chown(key.clone(), to), Order { key, deed: Deed::Destroy }] {
        for order in changed(&order) {
            let encoded = encode(&order, 0).unwrap().to_vec();
            let before = digests.insert(order.digest(), encoded.clone());
            assert!(before.is_none_or(|before| before == encoded), "{order}");
        }
    }
    assert!(digests.len() > 60, "{}", digests.len());
}

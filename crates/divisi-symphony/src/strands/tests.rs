//! How batches are cut, and what is refused of what a client deals and an owner brings.

use super::*;
use crate::owner::bring_one;
use crate::tags;
use divisi_core::{PartyId, PublicParameters, local};
use divisi_symmetric::aes::KeySize;

/// AES-128 by this many threads.
fn aes(threads: usize) -> Task {
    let (protocol, rounds) = (Protocol::Gf4Circuit, Rounds::OfLevels);
    let what = What::Aes { rounds: 10, direction: Direction::Encrypt };
    let chunk = Task::at_once(&what, 16, protocol, rounds);
    let passes = Passes::for_bits(57).unwrap();
    let (security, on_demand) = (Security::Malicious, false);
    let (input_bytes, statistical) = (16, 57);
    Task { what, input_bytes, protocol, security, rounds, on_demand, chunk, statistical, passes, threads }
}

#[test]
fn strands_are_as_many_as_there_are_chunks_for() {
    let strands = |threads, count| aes(threads).strands(count);
    assert_eq!((strands(1, 100_000), strands(2, 100_000), strands(8, 1)), (1, 2, 1));
}

/// What has vectors, or is garbled, is made ahead, unless it is garbled on demand or has no products.
#[test]
fn what_can_be_made_ahead_is() {
    let ahead = |name: Option<&str>, protocol, rounds, on_demand| {
        let what = match name {
            Some(name) => What::Function(Use::new(name.parse().unwrap())),
            None => What::Aes { rounds: 10, direction: Direction::Encrypt },
        };
        Task { what, protocol, rounds, on_demand, ..aes(1) }.makes_ahead()
    };
    let aes = |protocol, rounds, on_demand| ahead(None, protocol, rounds, on_demand);
    let of = |name, rounds, on_demand| ahead(Some(name), Protocol::Gf4Circuit, rounds, on_demand);
    assert!(aes(Protocol::Lut16, Rounds::OfLevels, false));
    assert!(!aes(Protocol::Gf4Circuit, Rounds::OfLevels, false));
    for name in ["sha256", "cmac-aes128"] {
        assert!(!of(name, Rounds::OfLevels, false) && !of(name, Rounds::Constant, true), "{name}");
        assert!(of(name, Rounds::Constant, false), "{name}");
    }
    for on_demand in [false, true] {
        assert!(!of("gmac-aes128", Rounds::Constant, on_demand));
        assert_eq!(aes(Protocol::Gf4Circuit, Rounds::Constant, on_demand), !on_demand);
    }
}

/// Inputs come from somebody else: a component that is too short or too long is refused, whichever it is.
#[test]
fn inputs_of_a_wrong_length_are_refused() {
    let count = 3;
    let agreed = |first: usize, second: usize| {
        local::run(3, &PublicParameters::new("inputs"), |session| {
            let task = aes(1);
            let part = Part { first: vec![0; first], second: vec![0; second] };
            let columns = inputs::agree(&mut [task.engine(session)?], &task, &part, count)?;
            Ok(columns.iter().map(|chunk| (chunk.columns.len(), chunk.lanes)).collect::<Vec<_>>())
        })
    };
    let fits = 16 * count;
    assert_eq!(agreed(fits, fits).unwrap(), vec![vec![(16, count)]; 3]);
    let wrong = [fits - 1, fits + 1, fits + 256];
    for (first, second) in wrong.into_iter().flat_map(|wrong| [(wrong, fits), (fits, wrong)]) {
        let refused = agreed(first, second);
        let differs = matches!(refused, Err(Abort::Misuse { step: INPUT, what: Misuse::LengthDiffers }));
        assert!(differs, "{first} and {second} bytes: {refused:?}");
    }
}

/// A client that deals parties keys or inputs that do not go together, in any byte, ends the session.
#[test]
fn what_is_dealt_goes_together() {
    let count = 70_000;
    let ends = |odd: Option<usize>, key: bool| {
        local::run(3, &PublicParameters::new("inputs"), |session| {
            let mine = session.me().index() == 1;
            let task = aes(1);
            let mut part = Part { first: vec![5; 16 * count], second: vec![5; 16 * count] };
            if let Some(odd) = odd.filter(|_| mine) {
                part.first[odd] ^= 1;
            }
            let mut engine = task.engine(session)?;
            if key {
                let key = Part { first: part.first[..16].to_vec(), second: part.second[..16].to_vec() };
                inputs::schedule(&mut engine, &task, &key).map(drop)
            } else {
                inputs::agree(&mut [engine], &task, &part, count).map(drop)
            }
        })
    };
    for key in [true, false] {
        ends(None, key).unwrap();
        let late = if key { [7, 8] } else { [16 * count / 2, 16 * count - 1] };
        for odd in [0, 15].into_iter().chain(late) {
            let end = ends(Some(odd), key);
            let differ = matches!(end, Err(Abort::Misuse { step: INPUT, what: Misuse::InputsDiffer }));
            assert!(differ, "{key} {odd}: {end:?}");
        }
    }
}

/// One of the three parties brings a value, and nobody else does.
#[test]
fn a_value_has_one_owner() {
    let ends = |owner: PartyId, brings: [bool; 3]| {
        local::run(3, &PublicParameters::new("values"), |session| {
            let own = brings[session.me().index()].then_some(&[7; 16][..]);
            let mut engine = aes(1).engine(session)?;
            bring_one(&mut engine, owner, "a key", 16, own).map(drop)
        })
    };
    let second = PartyId::new(2).unwrap();
    ends(second, [false, true, false]).unwrap();
    let fourth = PartyId::new(4).unwrap();
    for (owner, brings) in [
        (second, [false; 3]),
        (second, [true, false, false]),
        (second, [true, true, false]),
        (fourth, [false; 3]),
    ] {
        let end = ends(owner, brings);
        let refused = matches!(end, Err(Abort::Misuse { what: Misuse::NotTheOwner, .. }));
        assert!(refused, "{owner} {brings:?}: {end:?}");
    }
}

/// A tag that was received is as long as the one that was made, in every lane.
#[test]
fn tags_of_another_length_are_refused() {
    let ends = |made: usize, received: [usize; 3]| {
        local::run(3, &PublicParameters::new("tags"), |session| {
            let mut engine = aes(1).engine(session)?;
            let byte = || std::array::from_fn(|_| engine.public_bit(&[false; 3]));
            let made = std::iter::repeat_with(byte).take(made).collect();
            tags::matches(&mut engine, made, &received.map(|bytes| vec![0; bytes]))
        })
    };
    assert_eq!(ends(17, [17; 3]), Ok(vec![vec![true; 3]; 3]));
    for (made, received) in [(17, [17, 17, 16]), (17, [18, 17, 17]), (16, [17; 3]), (0, [0; 3])] {
        let end = ends(made, received);
        let refused = matches!(end, Err(Abort::Misuse { what: Misuse::LengthDiffers, .. }));
        assert!(refused, "{made} {received:?}: {end:?}");
    }
}

/// Whoever is only told whether a tag is right learns nothing else, beside another lane whose tag is opened.
#[test]
fn a_tag_that_is_compared_is_not_opened() {
    let tag: Vec<u8> = (0..16).collect();
    let wanted =
        [(16, None), (0, Some(&tag[..])), (0, Some(&[0; 16][..])), (15, None), (0, Some(&tag[..15]))];
    let learned = local::run(3, &PublicParameters::new("tags"), |session| {
        let mut engine = aes(1).engine(session)?;
        let made: Vec<Byte> = tag.iter().map(|byte| engine.public(&[*byte; 5])).collect();
        tags::made_or_compared(&mut engine, &wanted, &made)
    });
    let verdicts = [tag.clone(), vec![1], vec![0], tag[..15].to_vec(), vec![1]];
    assert_eq!(learned, Ok(vec![verdicts.to_vec(); 3]));
}

/// No more bytes of a tag are told, and none compared, than were made.
#[test]
fn a_tag_is_not_longer_than_it_was_made() {
    let ends = |wanted: [(usize, Option<&[u8]>); 2]| {
        local::run(3, &PublicParameters::new("tags"), |session| {
            let mut engine = aes(1).engine(session)?;
            let made: Vec<Byte> = (0..16).map(|byte| engine.public(&[byte; 2])).collect();
            tags::made_or_compared(&mut engine, &wanted, &made)
        })
    };
    assert!(ends([(16, None), (0, Some(&[0; 16]))]).is_ok());
    for wanted in [(17, None), (0, Some(&[0; 17][..]))] {
        let end = ends([(16, None), wanted]);
        let refused = matches!(end, Err(Abort::Misuse { what: Misuse::CountsDiffer, .. }));
        assert!(refused, "{wanted:?}: {end:?}");
    }
}

/// Messages of a batch have nonces of their own, whichever chunk they are in.
#[test]
fn equal_messages_of_several_chunks_have_other_tags() {
    let what = What::Function(Use::new("gmac-aes128".parse().unwrap()));
    let task = Task { what, input_bytes: 1, chunk: 2, ..aes(1) };
    let tags = local::run(3, &PublicParameters::new("chunks"), |session| {
        let rep = &mut task.engine(session)?;
        let part = |bytes: usize| Part { first: vec![5; bytes], second: vec![5; bytes] };
        let ready = schedule(rep, &task, &part(16))?;
        let mut tags = Vec::new();
        for chunk in agree(std::slice::from_mut(rep), &task, &part(5), 5)? {
            let (pending, _) = compute(rep, &task, &ready, &chunk)?;
            let verified = verify(rep, pending)?;
            let columns = rep.trio().open(&verified)?;
            tags.extend(
                (0..chunk.lanes).map(|l| columns.iter().map(|column| column[l]).collect::<Vec<u8>>()),
            );
        }
        Ok(tags)
    });
    let tags = tags.unwrap().remove(0);
    assert_eq!(tags.iter().collect::<std::collections::BTreeSet<_>>().len(), 5, "{tags:?}");
}

/// A key is as long as its size says, in both components of each lane.
#[test]
fn keys_of_another_length_are_refused() {
    let ends = |size: KeySize, lengths: [usize; 4]| {
        local::run(3, &PublicParameters::new("keys"), |session| {
            let part = |first: usize, second: usize| Part { first: vec![0; first], second: vec![0; second] };
            let parts = [part(lengths[0], lengths[1]), part(lengths[2], lengths[3])];
            let bytes = crate::gcm::key_bytes(&mut aes(1).engine(session)?, size, &[&parts[0], &parts[1]])?;
            Ok(bytes.len())
        })
    };
    assert_eq!(ends(KeySize::Aes256, [32; 4]), Ok(vec![32; 3]));
    for at in 0..4 {
        for length in [15, 17, 24, 272] {
            let mut lengths = [16; 4];
            lengths[at] = length;
            let end = ends(KeySize::Aes128, lengths);
            let refused = matches!(end, Err(Abort::Misuse { what: Misuse::KeyUnfit, .. }));
            assert!(refused, "{lengths:?}: {end:?}");
        }
    }
}

//! Tests of the base OTs of one pair, with right and wrong messages.

use super::*;
use divisi_core::testing::run;
use divisi_core::{PublicParameters, step};

pub(super) const LABELS: Batch = Batch { count: COUNT, public: true };

/// Runs both parties of the base OTs of a pair, with P_1 as sender, on messages that `change` has changed.
fn pair(
    change: impl Fn(&mut [u8; ELEMENT], &mut [u8]) + Sync,
) -> Result<(Vec<[u128; 2]>, Vec<u128>, u128), Rejected> {
    pair_of(LABELS, change).map(|(sender, receiver, choices)| (sender, receiver, choices[0]))
}

fn pair_of(
    batch: Batch,
    change: impl Fn(&mut [u8; ELEMENT], &mut [u8]) + Sync,
) -> Result<(Vec<[u128; 2]>, Vec<u128>, Key), Rejected> {
    let parties = run(2, &PublicParameters::new("base ot tests"), |mut session| {
        let peer = session.peers()[0];
        if session.me().index() == 0 {
            let mut programs = vec![0; batch.programs()];
            let sender = Sender::new(&session, peer);
            let mut element = sender.element;
            change(&mut element, &mut programs);
            session.send(step!("a"), peer, &element, 0)?;
            session.recv(step!("f"), peer, programs.as_mut_slice())?;
            let made = sender.keys(batch, &programs);
            let table = made.as_ref().map_or(vec![0; batch.table()], |(_, table)| table.clone());
            session.send(step!("table"), peer, table.as_slice(), 0)?;
            return Ok(made.map(|(keys, _)| (keys.to_vec(), Vec::new(), [0; 2])));
        }
        let receiver = Receiver::new(&session, peer, batch);
        let mut element = [0; ELEMENT];
        session.recv(step!("a"), peer, &mut element)?;
        let mut programs = receiver.programs.clone();
        change(&mut element, &mut programs);
        session.send(step!("f"), peer, programs.as_slice(), 0)?;
        let mut table = vec![0; batch.table()];
        session.recv(step!("table"), peer, table.as_mut_slice())?;
        let keys = receiver.pads(&element).map(|pads| receiver.keys(&pads, &table).to_vec());
        Ok(keys.map(|keys| (Vec::new(), keys, *receiver.choices)))
    });
    let [sender, receiver]: [_; 2] = parties.try_into().unwrap_or_else(|_| unreachable!());
    let (sender, receiver) = (sender.unwrap()?, receiver.unwrap()?);
    Ok((sender.0, receiver.1, receiver.2))
}

#[test]
fn the_receiver_has_the_key_of_its_choice_and_not_the_other() {
    let (sender, receiver, choices) = pair(|_, _| ()).unwrap();
    assert_eq!((sender[0], receiver[0]), ([0; 2], 0));
    for i in 1..COUNT {
        let c = (choices >> i & 1) as usize;
        assert_eq!(sender[i][c], receiver[i], "{i}");
        assert_ne!(sender[i][1 - c], receiver[i], "{i}");
    }
    let mut all: Vec<u128> = sender[1..].iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 2 * (COUNT - 1));
    assert!((30..98).contains(&choices.count_ones()));
}

/// All base OTs of a field's key and of pads are used: no bit is public, also those that lie across two
/// words.
#[test]
fn base_ots_of_a_field_are_all_used() {
    for f in [8, 40, 72] {
        let batch = Batch { count: f + 128, public: false };
        let (sender, receiver, choices) = pair_of(batch, |_, _| ()).unwrap();
        assert_eq!((sender.len(), receiver.len()), (f + 128, f + 128));
        for (i, (pair, got)) in sender.iter().zip(&receiver).enumerate() {
            let c = (choices[i / 128] >> (i % 128) & 1) as usize;
            assert_eq!(pair[c], *got, "{i}");
        }
        let mut all: Vec<u128> = sender.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * (f + 128));
    }
}

/// Another element in place of T gives other keys at its index, and no error; the check of the trees detects
/// it.
#[test]
fn keys_depend_on_the_message_of_their_index() {
    let (sender, receiver, choices) = pair(|_, t| t.copy_within(..ELEMENT, 5 * ELEMENT)).unwrap();
    for i in [10, 11] {
        assert!(!sender[i].contains(&receiver[i]));
        assert!(!sender[i].iter().any(|key| sender[i - 10].contains(key)), "the index is in the key");
    }
    assert_eq!(sender[12][(choices >> 12 & 1) as usize], receiver[12]);
}

/// An element T is rejected if one of the four f(e) is neutral, because everybody would know its pad.
#[test]
fn a_neutral_element_among_the_four_is_rejected() {
    let ends = run(2, &PublicParameters::new("base ot tests"), |session| {
        let peer = session.peers()[0];
        let c = Oracles::new(&session, session.me(), peer).half;
        let mut rejected = Vec::new();
        for e in 1..4_u64 {
            let mut programs = Receiver::new(&session, peer, LABELS).programs;
            programs[..32].copy_from_slice((-(c + c) * Scalar::from(e)).compress().as_bytes());
            rejected.push(Sender::new(&session, peer).keys(LABELS, &programs).is_err());
        }
        Ok(rejected)
    });
    assert!(ends.into_iter().all(|end| end.unwrap() == [true; 3]));
}

/// The points of small order of Ed25519, as they are encoded there; and encodings that are not reduced, or
/// negative (RFC 9496, appendix A.2 has more).
const BAD: [&str; 14] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ed57ffd8c914fb201471d1c3d245ce3c746fcbe63a3679d51b6a516ebebe0e20",
];

#[test]
fn bad_elements_are_rejected_from_either_side() {
    for bad in BAD {
        let bytes: Vec<u8> =
            (0..32).map(|i| u8::from_str_radix(&bad[2 * i..2 * i + 2], 16).unwrap()).collect();
        assert!(read(&bytes).is_err(), "{bad}");
        assert_eq!(pair(|a, _| a.copy_from_slice(&bytes)).err(), Some(Rejected), "{bad}");
        assert_eq!(pair(|_, t| t[..32].copy_from_slice(&bytes)).err(), Some(Rejected), "{bad}");
        assert_eq!(pair(|_, t| t[63 * 32..].copy_from_slice(&bytes)).err(), Some(Rejected), "{bad}");
    }
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    let results = run(2, &PublicParameters::new("base ot tests"), |session| {
        let peer = session.peers()[0];
        let mut times = Vec::new();
        if session.me().index() == 0 {
            for _ in 0..20 {
                let now = std::time::Instant::now();
                let receiver = Receiver::new(&session, peer, LABELS);
                times.push(now.elapsed());
                let sender = Sender::new(&session, peer);
                let now = std::time::Instant::now();
                receiver.pads(&sender.element).unwrap();
                times.push(now.elapsed());
                let now = std::time::Instant::now();
                assert!(sender.keys(LABELS, &receiver.programs).is_ok());
                times.push(now.elapsed());
            }
        }
        Ok(times)
    });
    let times = results.into_iter().next().unwrap().unwrap();
    for (i, name) in ["programs", "receiver's keys", "sender's keys"].into_iter().enumerate() {
        println!("{name}: {:?}", times.iter().skip(i).step_by(3).min().unwrap());
    }
}

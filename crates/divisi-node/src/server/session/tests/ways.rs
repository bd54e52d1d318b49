//! Short messages of a client that picks every key size and every way to compute S-boxes: each pair is a
//! computation of its own.

use super::*;
use crate::request::{Mode, ModeRequest, Reply, ToClient};
use crate::tests::open;
use crate::wire::decode;
use divisi_rep3::Protocol;
use divisi_symmetric::algorithm::Settings;

/// Whatever its leader offers, the three do no more in a round than its budget of rounds has; the rest goes
/// back and is done in the next.
#[test]
fn many_ways_make_no_round_longer() {
    let three = Three::new();
    let kinds = [KeyType::Aes128, KeyType::Aes192, KeyType::Aes256];
    let names: [KeyName; 3] = [0, 1, 2].map(|i| format!("k{i}").parse().unwrap());
    let each =
        Protocol::ALL.iter().flat_map(|protocol| names.iter().map(move |name| (name, SboxChoice(*protocol))));
    let texts: Vec<(u8, Item)> = (10..)
        .zip(each)
        .map(|(id, (key, way))| {
            (id, Item::Encrypt { key: key.clone(), aad: Blob(Vec::new()), length: 16, way })
        })
        .collect();
    for (id, (name, kind)) in (1..).zip(names.iter().zip(kinds)) {
        three.all_asked_for(id, &new_key(name.clone(), kind));
    }
    for (id, item) in &texts {
        three.all_asked_for(*id, item);
        (0..3).for_each(|i| {
            // what waits has its text still
            three.say(i, *id, ToServer::Data { number: 1, index: 0, body: Blob(vec![0; 32]) });
            three.say(i, *id, ToServer::Finish { number: 1 });
        });
    }
    const PHASES: [&str; 16] =
        ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"];
    let counts = three.run(|i, state| {
        for id in 1..=3 {
            state.round(LEADER, &[offer(id)]).unwrap();
        }
        let left = || -> Vec<Offer> {
            texts.iter().map(|(id, _)| *id).filter(|id| three.has(i, *id, 1)).map(offer).collect()
        };
        let mut counts = Vec::new();
        for phase in PHASES {
            let offers = left();
            if offers.is_empty() {
                break;
            }
            state.rep.trio().session().phase(phase);
            state.round(LEADER, &offers).unwrap();
            let rounds = state.rep.trio().session().meter().read().phases[phase].rounds;
            counts.push((offers.len() - left().len(), rounds as usize));
        }
        counts
    });
    for (id, item) in &texts {
        let sealed = [0, 1, 2].map(|i| {
            let next = || three.node(i).schedule(|schedule, _| schedule.next_answer(&[*id; 32]));
            let told = std::iter::from_fn(next).filter_map(|answer| Some(decode::<Reply>(&answer)?.what));
            told.filter_map(|answer| match answer {
                ToClient::Sealing { iv, .. } => Some(iv.to_vec()),
                ToClient::Ciphertext(text) => Some(text.0.clone()),
                // two of the three send one in its place
                ToClient::Digest(_) => Some(Vec::new()),
                ToClient::Tag(tag) => Some(tag.to_vec()),
                _ => None,
            })
            .collect::<Vec<_>>()
        });
        assert!(sealed.iter().all(|told| told.len() == 3), "{id}: {sealed:?}");
        let file = sealed.iter().max_by_key(|told| told[1].len()).unwrap().concat();
        // the three components are those of the three servers
        let key = (0..3).fold(vec![0; 32], |sum, i| {
            let secret = three.node(i).keys.load(item.key().unwrap()).unwrap().unwrap().secret.unwrap();
            secret.first.iter().zip(sum).map(|(component, sum)| component ^ sum).collect()
        });
        assert_eq!(open(&key, b"", &file), Some(vec![0; 16]), "{id}");
    }
    // those of the comparison and of the coin, beside what was planned
    let beside = 20;
    for counts in counts {
        assert_eq!(counts.iter().map(|(done, _)| done).sum::<usize>(), 15, "{counts:?}");
        assert!(counts.len() > 2, "{counts:?}");
        let most = Budget::ROUND.rounds + beside;
        assert!(counts.iter().all(|(done, rounds)| *done > 0 && *rounds <= most), "{counts:?}");
    }
}

/// The IVs and nonces that a server tells on a connection.
fn drawn(three: &Three, i: usize, id: u8) -> Vec<Vec<u8>> {
    let next = || three.node(i).schedule(|schedule, _| schedule.next_answer(&[id; 32]));
    let told = std::iter::from_fn(next).filter_map(|answer| match decode::<Reply>(&answer)?.what {
        ToClient::Sealing { iv, .. } => Some(iv.to_vec()),
        ToClient::Tagging { nonce, .. } => Some(nonce.to_vec()),
        ToClient::Begun { iv, .. } => Some(iv.to_vec()),
        _ => None,
    });
    told.collect()
}

/// Messages of one round have IVs of their own, as those of later rounds have, although all are requests of
/// the same number under one key.
#[test]
fn no_two_messages_have_the_same_iv() {
    const EACH: u8 = 5;
    let three = Three::asked_for_key();
    for id in 2..2 + 2 * EACH {
        three.all_asked_for(id, &encrypt(0));
        (0..3).for_each(|i| three.say(i, id, ToServer::Finish { number: 1 }));
    }
    three.run(|_, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        for first in [2, 2 + EACH] {
            let offers: Vec<Offer> = (first..first + EACH).map(offer).collect();
            state.round(LEADER, &offers).unwrap();
        }
    });
    let ivs = [0, 1, 2].map(|i| (2..2 + 2 * EACH).flat_map(|id| drawn(&three, i, id)).collect::<Vec<_>>());
    assert!(ivs[0] == ivs[1] && ivs[0] == ivs[2]);
    assert_eq!(ivs[0].iter().collect::<HashSet<_>>().len(), 2 * usize::from(EACH), "{:?}", ivs[0]);
}

/// IVs and nonces of all kinds are drawn: the same request, on a connection of the same name, has another one
/// when it comes again, in this session and in another one. No client chooses one, either.
#[test]
fn no_iv_can_be_foreseen() {
    let [cbc, gmac]: [KeyName; 2] = ["cbc", "gmac"].map(|name| name.parse().unwrap());
    let asked = (&Settings::new("gmac-aes128".parse().unwrap())).into();
    let (mode, way) = (Mode::Cbc, SboxChoice::DEFAULT);
    let in_cbc = |iv| ModeRequest { key: cbc.clone(), mode, encrypts: true, aad: None, length: 16, iv, way };
    let items = [
        encrypt(0),
        encrypt(200 << 10),
        Item::Mode(in_cbc([0; 16])),
        Item::Mode(in_cbc([7; 16])),
        Item::Mac { key: gmac.clone(), asked, length: 0, tag: None },
    ];
    let three = Three::asked_for_key();
    three.all_asked_for(2, &new_key(cbc.clone(), KeyType::Aes128Cbc));
    three.all_asked_for(3, &new_key(gmac, KeyType::GmacAes128));
    three.run(|_, state| (1..=3).for_each(|id| state.round(LEADER, &[offer(id)]).unwrap()));
    let ids = 4..4 + items.len() as u8;
    let once = |i: usize, state: &mut ServerState<'_>| {
        for (id, item) in ids.clone().zip(&items) {
            three.enter(i, id);
            three.ask_for(i, id, 1, item.clone());
        }
        three.say(i, 4, ToServer::Finish { number: 1 });
        ids.clone().for_each(|id| state.round(LEADER, &[offer(id)]).unwrap());
        let told = ids.clone().map(|id| drawn(&three, i, id)).collect::<Vec<_>>();
        ids.clone().for_each(|id| three.node(i).leave(&[id; 32]));
        state.forget_ended();
        told
    };
    let sessions = [(); 2].map(|()| three.run(|i, state| [(); 2].map(|()| once(i, state))).swap_remove(0));
    let times: Vec<_> = sessions.as_flattened().iter().collect();
    for kind in 0..items.len() {
        assert!(times.iter().all(|time| time[kind].len() == 1), "{times:?}");
        let ivs: HashSet<_> = times.iter().map(|time| &time[kind]).collect();
        assert_eq!(ivs.len(), times.len(), "{times:?}");
    }
}

/// Of many IVs no two are alike, of messages in one step and in several, also if one is decrypted before it
/// in the same round: coins have all their bytes.
#[test]
fn many_coins_are_all_different() {
    const EACH: usize = 48;
    let way = SboxChoice::DEFAULT;
    let opened =
        Item::Decrypt { key: key(), aad: Blob(Vec::new()), length: 0, iv: [0; 12], tag: [0; 16], way };
    let three = Three::asked_for_key();
    let ivs = three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        let ask = |item: &Item, id: u8| {
            three.enter(i, id);
            three.ask_for(i, id, 1, item.clone());
            three.say(i, id, ToServer::Finish { number: 1 });
        };
        let mut ivs = [Vec::new(), Vec::new()];
        for _ in 0..EACH {
            ask(&opened, 2);
            ask(&encrypt(0), 3);
            three.enter(i, 4);
            three.ask_for(i, 4, 1, encrypt(200 << 10));
            state.round(LEADER, &[offer(2), offer(3)]).unwrap();
            state.round(LEADER, &[offer(4)]).unwrap();
            ivs[0].extend(drawn(&three, i, 3));
            ivs[1].extend(drawn(&three, i, 4));
            (2..5).for_each(|id| three.node(i).leave(&[id; 32]));
            state.forget_ended();
        }
        ivs
    });
    for ivs in ivs.as_flattened() {
        assert_eq!((ivs.len(), ivs.iter().collect::<HashSet<_>>().len()), (EACH, EACH));
    }
}

/// No coin is tossed for a tag that has no nonce.
#[test]
fn a_tag_without_a_nonce_draws_none() {
    let name: KeyName = "hmac".parse().unwrap();
    let asked = (&Settings::new("hmac-sha256".parse().unwrap())).into();
    let three = Three::new();
    three.all_asked_for(1, &new_key(name.clone(), KeyType::HmacSha256));
    three.all_asked_for(2, &Item::Mac { key: name, asked, length: 0, tag: None });
    three.run(|_, state| [1, 2].map(|id| state.round(LEADER, &[offer(id)]).unwrap()));
    assert!((0..3).all(|i| drawn(&three, i, 2) == [vec![0; 12]]));
}

/// Two messages of one round under a key that is not ready have it prepared once.
#[test]
fn a_key_is_prepared_once_for_all_messages_of_a_round() {
    let three = Three::asked_for_key();
    let sent = three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        let of_round = |state: &mut ServerState<'_>, ids: &[u8]| {
            for id in ids {
                three.enter(i, *id);
                three.ask_for(i, *id, 1, encrypt(0));
                three.say(i, *id, ToServer::Finish { number: 1 });
            }
            let bits = |state: &mut ServerState<'_>| state.rep.trio().session().meter().read().bits();
            let before = bits(state);
            state.round(LEADER, &ids.iter().map(|id| offer(*id)).collect::<Vec<_>>()).unwrap();
            bits(state) - before
        };
        let first = of_round(state, &[2, 3]);
        let second = of_round(state, &[4, 5]);
        // it is wiped once, and by no other's name
        let names = ["other".parse().unwrap(), "another".parse().unwrap(), key(), key()];
        let wiped = names.map(|name| state.ready.forget(&mut state.rep, &name));
        assert_eq!(wiped, [false, false, true, false]);
        [first - second, of_round(state, &[6]) - of_round(state, &[7])]
    });
    assert!(sent.iter().all(|[of_two, of_one]| of_two == of_one && *of_one > 0), "{sent:?}");
}

/// Two keys whose ids begin alike, in one round and not loaded before, are two keys.
#[test]
fn keys_whose_ids_begin_alike_are_told_apart() {
    let names: Vec<KeyName> = (1..=60).map(|id| format!("k{id}").parse().unwrap()).collect();
    let three = Three::new();
    for (id, name) in (1..).zip(&names) {
        three.all_asked_for(id, &new_key(name.clone(), KeyType::Aes128));
    }
    three.run(|i, state| {
        for id in 1..=60 {
            state.round(LEADER, &[offer(id)]).unwrap();
        }
        let first = |name: &&KeyName| three.node(i).keys.load(name).unwrap().unwrap().info.id[0];
        let mut keys: Vec<&KeyName> = names.iter().collect();
        keys.sort_by_key(first);
        let pairs = keys.windows(2).filter(|pair| first(&pair[0]) == first(&pair[1]));
        // nearly always there are some; of every other pair the first key is ready
        for (round, pair) in pairs.take(3).enumerate() {
            let ready = round % 2;
            let keys = [vec![pair[0]; ready], pair.to_vec()].concat();
            let ids: Vec<u8> = (100 + 3 * round as u8..).take(keys.len()).collect();
            for (id, key) in ids.iter().zip(keys) {
                let (key, way) = (key.clone(), SboxChoice::DEFAULT);
                three.enter(i, *id);
                three.ask_for(i, *id, 1, Item::Encrypt { key, aad: Blob(Vec::new()), length: 0, way });
                three.say(i, *id, ToServer::Finish { number: 1 });
            }
            let offers: Vec<Offer> = ids.iter().map(|id| offer(*id)).collect();
            for offers in [&offers[..ready], &offers[ready..]].iter().filter(|offers| !offers.is_empty()) {
                state.round(LEADER, offers).unwrap();
            }
            assert!(ids.iter().all(|id| drawn(&three, i, *id).len() == 1), "{round}");
        }
    });
}

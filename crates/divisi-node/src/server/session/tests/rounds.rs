//! How a round runs programs, what counts as a use, and who is charged for what is made ahead.

use super::*;
use crate::RoundsChoice;
use crate::request::{KeyServe, Mode, ModeRequest};
use crate::server::agreement::{Missing, rounds_of};
use divisi_core::{Bytes, Direction};
use divisi_store::BLOCK;

/// Every hash and MAC of a round counts: three are garbled where a round trip takes a millisecond, and four
/// are not.
#[test]
fn a_round_is_garbled_for_as_many_programs_as_it_has() {
    let three = Three::new();
    (1..=5).for_each(|id| three.enter(0, id));
    (1..=4).for_each(|id| three.ask_for(0, id, 1, sha256(0)));
    three.ask(0, 5);
    let offers: Vec<Offer> = (1..=5).map(offer).collect();
    let programs = |offers: &[Offer]| three.node(0).schedule(|schedule, _| schedule.programs(offers));
    assert_eq!((programs(&offers), programs(&offers[1..]), programs(&offers[4..])), (4, 3, 0));
    let mut trips = RoundTrips::default();
    let auto = |trips: &RoundTrips, lanes| rounds_of(RoundsChoice::Auto, trips, lanes);
    assert_eq!(auto(&trips, 1), Rounds::OfLevels);
    trips.note(Duration::from_millis(1));
    let chosen = [0, 1, 3, 4].map(|lanes| auto(&trips, lanes));
    assert_eq!(chosen, [Rounds::Constant, Rounds::Constant, Rounds::Constant, Rounds::OfLevels]);
}

/// The twelve blocks of a wrapped key take a few messages where a round runs in constant rounds, and many
/// level by level.
#[test]
fn chained_blocks_are_garbled() {
    let name: KeyName = "kek".parse().unwrap();
    let way = SboxChoice::DEFAULT;
    let new = new_key(name.clone(), KeyType::Aes128Kw);
    let whole =
        ModeRequest { key: name, mode: Mode::Kw, encrypts: true, aad: None, length: 16, iv: [0; 16], way };
    for (rounds, range) in [(Rounds::OfLevels, 400..800), (Rounds::Constant, 1..60)] {
        let three = Three::new();
        three.all_asked_for(1, &new);
        let counts = three.run(|i, state| {
            state.round(LEADER, &[offer(1)]).unwrap();
            three.ask_for(i, 1, 2, Item::Mode(whole.clone()));
            // a sharing of zeros
            three.say(i, 1, ToServer::Data { number: 2, index: 0, body: Blob(vec![0; 32]) });
            three.say(i, 1, ToServer::Finish { number: 2 });
            state.rounds = rounds;
            state.rep.trio().session().phase("wrap");
            let mut steps = 0;
            while three.has(i, 1, 2) {
                state.round(LEADER, &[step_of(2, steps)]).unwrap();
                steps += 1;
            }
            assert_eq!(steps, 4);
            // how a step runs is left to no other
            assert_eq!(state.rep.rounds(), Rounds::OfLevels);
            state.rep.trio().session().meter().read().phases["wrap"].rounds
        });
        assert!(counts.iter().all(|count| range.contains(count)), "{rounds:?}: {counts:?}");
    }
}

/// A garbled call is that of one request and one step: with another job at one server the session ends.
#[test]
fn a_call_of_another_job_ends_the_session() {
    let changes: [fn(&mut Candidate); 3] =
        [|_| {}, |job| job.request[31] ^= 1, |job| job.offer.step ^= 1 << 63];
    for (at, other) in changes.iter().enumerate() {
        let three = Three::new();
        three.all_asked_for(1, &sha256(0));
        let ends = three.run(|i, state| {
            state.rounds = Rounds::Constant;
            state.round(LEADER, &[offer(1)]).unwrap();
            three.say(i, 1, ToServer::Finish { number: 1 });
            let job = candidate(state.node, &step_of(1, 1), &mut state.counted, |_| Ok(()));
            let mut job = job.ok().expect("all of it is here");
            if i == 2 {
                other(&mut job);
            }
            state.step(job).and_then(|()| state.rep.trio().barrier().map(drop))
        });
        let ended = ends.iter().filter(|end| end.is_err()).count();
        assert_eq!(ended, if at == 0 { 0 } else { 3 }, "{at}: {ends:?}");
    }
}

/// Servers do the same, and in the same way, or the session ends: also where none of them has what is asked.
#[test]
fn servers_whose_lists_differ_end_the_session() {
    let (levels, constant) = (Rounds::OfLevels, Rounds::Constant);
    let lists = [
        (levels, vec![offer(1), offer(2)]),
        (constant, vec![offer(1), offer(2)]),
        (levels, vec![offer(1), offer(3)]),
        (levels, vec![step_of(1, 1), offer(2)]),
    ];
    for (at, (rounds, offers)) in lists.iter().enumerate() {
        let three = Three::new();
        let ends = three.run(|i, state| {
            let (rounds, offers) = if i == 2 { (*rounds, offers) } else { (levels, &lists[0].1) };
            let mine = offers.iter().map(|_| Err(Missing::NotYet)).collect();
            agree_offers(state.node, &mut state.rep, rounds, offers, mine).map(drop)
        });
        let ended = ends.iter().filter(|end| end.is_err()).count();
        assert_eq!(ended, if at == 0 { 0 } else { 3 }, "{at}: {ends:?}");
    }
}

/// What is garbled ahead in place of what a client's requests used is charged to that client.
#[test]
fn what_is_made_ahead_is_charged() {
    let three = Three::new();
    three.all_asked_for(1, &sha256(5));
    let charged = three.run(|i, state| {
        let computed = || three.node(i).schedule(|schedule, _| schedule.computed("alice"));
        state.rep.stock_calls(PREPROCESSED);
        state.rounds = Rounds::Constant;
        three.say(i, 1, ToServer::Data { number: 1, index: 0, body: Blob(vec![0; 10]) });
        three.say(i, 1, ToServer::Finish { number: 1 });
        (0..3).for_each(|step| state.round(LEADER, &[step_of(1, step)]).unwrap());
        assert!(!three.has(i, 1, 1));
        let (before, begun) = (computed(), three.node(i).world.thread_time());
        assert!(state.rep.lacks_stock());
        while state.rep.lacks_stock() {
            state.restock().unwrap();
        }
        let took = three.node(i).world.thread_time().saturating_sub(begun);
        (computed() - before, took)
    });
    for (charged, took) in charged {
        assert!(charged > took / 2 && charged <= took, "{charged:?} of {took:?}");
    }
}

/// What is made ahead in place of what short messages of two clients used together is charged to both.
#[test]
fn all_whose_messages_are_computed_together_pay_for_what_is_made_ahead() {
    let three = Three::asked_for_key();
    let charged = three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        let serve = KeyServe { name: key(), client: "alicia".into(), serves: true };
        three.ask_for(i, 1, 2, Item::KeyServe(serve));
        state.round(LEADER, &[step_of(2, 0)]).unwrap();
        for (id, who) in [(2, three.alice(i)), (3, three.alicia(i))] {
            let (aad, way) = (Blob(Vec::new()), SboxChoice(Protocol::Lut16));
            three.enter_as(i, id, who);
            three.ask_for(i, id, 1, Item::Encrypt { key: key(), aad, length: 0, way });
            three.say(i, id, ToServer::Finish { number: 1 });
        }
        state.round(LEADER, &[offer(2), offer(3)]).unwrap();
        let computed = |client| three.node(i).schedule(|schedule, _| schedule.computed(client));
        let before = ["alice", "alicia"].map(computed);
        assert!(state.rep.lacks_stock());
        state.restock().unwrap();
        [computed("alice") - before[0], computed("alicia") - before[1]]
    });
    for [alice, alicia] in charged {
        assert!(alice > Duration::ZERO && alice == alicia, "{alice:?} and {alicia:?}");
    }
}

/// Of what is made at once in place of what two clients used alike, each pays half.
#[test]
fn all_clients_pay_for_what_is_made_ahead() {
    let three = Three::new();
    let charged = three.run(|i, state| {
        state.rep.use_protocol(Protocol::Lut16);
        for client in ["alice", "alicia"] {
            state.rep.use_account([client.to_owned()].into());
            let mut byte = state.rep.public(&[7]);
            state.rep.sbox(Direction::Encrypt, &mut [&mut byte]).unwrap();
        }
        assert!(state.rep.lacks_stock());
        state.restock().unwrap();
        assert!(!state.rep.lacks_stock());
        ["alice", "alicia"].map(|client| three.node(i).schedule(|schedule, _| schedule.computed(client)))
    });
    for [alice, alicia] in charged {
        assert!(alice > Duration::ZERO && alice == alicia, "{alice:?} and {alicia:?}");
    }
}

/// A leader that has nothing to do waits before it says so, also when it is to stop: else three idle servers
/// would talk without end.
#[test]
fn a_leader_without_requests_waits() {
    let three = Three::new();
    for (stopping, least) in [(false, BEAT), (true, Duration::from_millis(10))] {
        let waited = three.run(|_, state| {
            state.node.stop.store(stopping, Ordering::SeqCst);
            let begun = Instant::now();
            let proposal = state.proposal(LEADER, BEAT, stopping).unwrap();
            assert!(matches!(proposal, Proposal::Nothing));
            begun.elapsed()
        });
        assert!(waited[LEADER.index()] >= least, "{waited:?}");
    }
}

/// Each of the requests of a round is a use of its own, though all are the first on their connections.
#[test]
fn requests_of_one_number_are_a_use_each() {
    let three = Three::asked_for_key();
    three.run(|i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        // one more ends a block, and two begin another one
        state.node.keys.reserve(&key(), BLOCK - 1).unwrap();
        for id in [2, 3] {
            three.enter(i, id);
            three.ask_for(i, id, 1, encrypt(0));
            three.say(i, id, ToServer::Finish { number: 1 });
        }
        state.round(LEADER, &[offer(2), offer(3)]).unwrap();
        assert!([2, 3].iter().all(|id| !three.has(i, *id, 1)));
    });
    let counted = |i: usize| three.node(i).keys.load(&key()).unwrap().unwrap().reserved;
    assert_eq!([0, 1, 2].map(counted), [2 * BLOCK; 3]);
}

//! How a round runs programs, and who is charged for what is made ahead.

use super::*;
use crate::RoundsChoice;
use crate::request::{Mode, ModeRequest};
use crate::server::agreement::rounds_of;

fn machine() -> Arc<dyn World> {
    Arc::new(Machine)
}

fn sha256(length: u64) -> Item {
    let settings = divisi_symmetric::algorithm::Settings::new("sha256".parse().unwrap());
    Item::Hash { asked: (&settings).into(), length }
}

/// Every hash and MAC of a round counts: three are garbled where a round trip takes a millisecond, and four
/// are not.
#[test]
fn a_round_is_garbled_for_as_many_programs_as_it_has() {
    let three = Three::new(&machine());
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
    let new = NewKey {
        name: name.clone(),
        kind: KeyType::Aes128Kw,
        bytes: 16,
        exportable: false,
        clients: vec![],
        request: [1; 16],
    };
    let way = SboxChoice::DEFAULT;
    let whole =
        ModeRequest { key: name, mode: Mode::Kw, encrypts: true, aad: None, length: 16, iv: [0; 16], way };
    for (rounds, range) in [(Rounds::OfLevels, 400..800), (Rounds::Constant, 1..60)] {
        let three = Three::new(&machine());
        for i in 0..3 {
            three.enter(i, 1);
            three.ask_for(i, 1, 1, Item::KeyNew(new.clone()));
        }
        let counts = three.run(|i, state| {
            state.round(leader(), &[offer(1)]).unwrap();
            three.ask_for(i, 1, 2, Item::Mode(whole.clone()));
            let send = |message| {
                three.node(i).report(|schedule, now| schedule.receive(&[1; 32], message, 40, now)).unwrap();
            };
            // a sharing of zeros
            send(ToServer::Data { number: 2, index: 0, body: Blob(vec![0; 32]) });
            send(ToServer::Finish { number: 2 });
            state.rounds = rounds;
            state.rep.trio().session().phase("wrap");
            let mut steps = 0;
            while three.node(i).schedule(|schedule, _| schedule.has(&[1; 32], 2)) {
                state.round(leader(), &[Offer { number: 2, step: steps, ..offer(1) }]).unwrap();
                steps += 1;
            }
            assert_eq!(steps, 4);
            state.rep.trio().session().meter().read().phases["wrap"].rounds
        });
        assert!(counts.iter().all(|count| range.contains(count)), "{rounds:?}: {counts:?}");
    }
}

/// What is garbled ahead in place of what a client's requests used is charged to that client.
#[test]
fn what_is_made_ahead_is_charged() {
    let three = Three::new(&machine());
    (0..3).for_each(|i| three.enter(i, 1));
    let charged = three.run(|i, state| {
        let computed = || three.node(i).schedule(|schedule, _| schedule.computed("alice"));
        state.rep.stock_calls(PREPROCESSED);
        state.rounds = Rounds::Constant;
        three.ask_for(i, 1, 1, sha256(5));
        let data = ToServer::Data { number: 1, index: 0, body: Blob(vec![0; 10]) };
        for message in [data, ToServer::Finish { number: 1 }] {
            three.node(i).report(|schedule, now| schedule.receive(&[1; 32], message, 20, now)).unwrap();
        }
        (0..3).for_each(|step| state.round(leader(), &[Offer { step, ..offer(1) }]).unwrap());
        assert!(!three.node(i).schedule(|schedule, _| schedule.has(&[1; 32], 1)));
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

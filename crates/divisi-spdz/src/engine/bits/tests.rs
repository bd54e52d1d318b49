//! When tables of bits are made of their unit vectors, and how values are added to a state.

use super::*;
use crate::dealer::Dealer;
use divisi_core::testing::run;
use divisi_core::{Counts, PublicParameters};
use divisi_field::Gf48;
use divisi_symmetric::des::SBOXES;

const LANES: usize = 70;

/// The number of bits that were sent in a phase.
fn bits(counts: &Counts, phase: &str) -> u64 {
    counts.phases.get(phase).map_or(0, |phase| phase.bits)
}

/// Unit vectors are made first. Tables are made of them, without a message, when they are loaded or first
/// needed.
#[test]
fn tables_are_made_when_they_are_loaded() {
    for loaded in [true, false] {
        let ends = run(2, &PublicParameters::new("tables of bits"), |session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut engine = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
            engine.session().meter().reset();
            engine.prepare_lookups(&[(&SBOXES[0], LANES), (&SBOXES[3], 2)])?;
            let made = |engine: &mut Spdz<Gf48>| -> Vec<usize> {
                [0, 3].map(|i| engine.tables.of(&SBOXES[i]).entries.len()).to_vec()
            };
            let counts = engine.session().meter().read();
            let told = bits(&counts, PREPROCESSING_PHASE);
            assert!(told > 0 && counts.phases.len() == 1, "{counts:?}");
            assert_eq!(made(&mut engine), [0, 0]);
            if loaded {
                engine.load_lookups();
                assert_eq!(made(&mut engine), [64 * 4 * LANES, 64 * 4 * 2]);
            }
            let wires = (0..6).map(|k| engine.constant_bit(&[k % 2 == 0; LANES])).collect();
            let mut layer = [Lookup { table: &SBOXES[0], wires }];
            engine.look_up(&mut layer)?;
            assert_eq!(made(&mut engine), [64 * 4 * LANES, 64 * 4 * 2]);
            let counts = engine.session().meter().read();
            assert_eq!((bits(&counts, PREPROCESSING_PHASE), bits(&counts, LOAD_PHASE)), (told, 0));
            let planes = layer[0].wires.iter();
            planes.map(|wire| engine.party.open(OPEN, &wire.x, &wire.m)).collect::<Result<Vec<_>, _>>()
        });
        for end in ends {
            let value = |lane: usize, planes: &[Vec<Gf2>]| {
                planes
                    .iter()
                    .enumerate()
                    .fold(0, |value, (k, plane)| value | (plane[lane].to_bits() as u8) << k)
            };
            let planes = end.unwrap();
            assert!((0..LANES).all(|lane| value(lane, &planes) == SBOXES[0].values[0b01_0101]));
        }
    }
}

/// A value is added to those bits of the state that its lookup names. Each bit of an index is a sum of two
/// bits, the second of which may have one lane that serves all.
#[test]
fn values_are_added_to_the_state() {
    let one_lane = |k: usize| k % 3 == 1;
    let first = |k: usize, lane: usize| (lane * 7 + k * 5) % 11 < 5;
    let second = |k: usize, lane: usize| if one_lane(k) { k == 1 } else { (lane + k) % 4 == 2 };
    let before = |place: usize, lane: usize| (lane * place) % 3 == 1;
    let to = [3, 0, 4, 1];
    let ends = run(2, &PublicParameters::new("values onto a state"), |session| {
        let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
        let mut engine = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
        let mut bit = |lanes: usize, of: &dyn Fn(usize) -> bool| {
            engine.constant_bit(&(0..lanes).map(of).collect::<Vec<_>>())
        };
        let index: Vec<[AuthBit<Gf48>; 2]> = (0..6)
            .map(|k| {
                let lanes = if one_lane(k) { 1 } else { LANES };
                [bit(LANES, &|lane| first(k, lane)), bit(lanes, &|lane| second(k, lane))]
            })
            .collect();
        let mut state: Vec<AuthBit<Gf48>> =
            (0..5).map(|place| bit(LANES, &|lane| before(place, lane))).collect();
        let index = || index.iter().map(|[x, y]| [x, y]).collect::<Vec<_>>();
        let table = &SBOXES[2];
        engine.look_up_onto(&[LookupOnto { table, index: index(), to: to.to_vec() }], &mut state)?;
        let opened =
            state.iter().map(|bit| engine.party.open(OPEN, &bit.x, &bit.m)).collect::<Result<Vec<_>, _>>()?;
        engine.party.check()?;
        Ok(opened)
    });
    for end in ends {
        let opened = end.unwrap();
        for lane in 0..LANES {
            let at = (0..6).fold(0, |at, k| at | usize::from(first(k, lane) ^ second(k, lane)) << k);
            for (place, bits) in opened.iter().enumerate() {
                let value = to.iter().position(|to| *to == place);
                let value = value.map_or(0, |k| SBOXES[2].values[at] >> k & 1);
                assert_eq!(
                    bits[lane].to_bits() as u8,
                    u8::from(before(place, lane)) ^ value,
                    "{lane} {place}"
                );
            }
        }
    }
}

/// Other widths, other numbers of lanes, and places that the state does not have are refused, whatever the
/// protocol.
#[test]
fn what_does_not_fit_the_state_is_refused() {
    for protocol in [SpdzProtocol::Lookup, SpdzProtocol::BitDecomposition] {
        for (bits, lanes, other, places) in
            [(5, 3, 3, 4), (6, 3, 2, 4), (6, 2, 2, 4), (6, 3, 3, 3), (6, 3, 3, 9)]
        {
            let ends = run(2, &PublicParameters::new("values onto a state"), |session| {
                let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
                let mut engine = Spdz::new(party, Box::new(dealer), protocol)?;
                let (x, y) =
                    (engine.constant_bit(&vec![true; lanes]), engine.constant_bit(&vec![true; other]));
                let mut state = vec![engine.constant_bit(&[false; 3]); 5];
                let to = if places > 4 { vec![0, 1, 2, places] } else { (0..places).collect() };
                let layer = [LookupOnto { table: &SBOXES[0], index: vec![[&x, &y]; bits], to }];
                engine.look_up_onto(&layer, &mut state)
            });
            // a party may learn of the other's end first
            assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{bits} {ends:?}");
            assert!(ends.iter().all(Result::is_err), "{bits} {ends:?}");
        }
    }
}

/// No table is used twice, however many were used before, also for a state.
#[test]
fn no_table_returns() {
    use crate::engine::lookup::tests::{ALL, LANES, all_differ, numbered, places};
    static OF: Table = Table { index: 1, width: 1, values: &[1, 0] };
    let harness = divisi_core::testing::Harness::new(2, &PublicParameters::new("many tables"));
    let recordings = harness.recordings();
    let ends = harness.act(|session| {
        let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
        let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
        let s = numbered(e.session(), ALL);
        let stock = e.tables.of(&OF);
        (stock.s, stock.entries) = (s, crate::pages::Pages::zeros(2 * ALL));
        for place in places(1 << 16) {
            e.tables.of(&OF).used = place;
            let x = Auth::zeros(LANES / 2);
            e.look_up(&mut [Lookup { table: &OF, wires: vec![x.clone()] }])?;
            let index = vec![[&x, &x]];
            e.look_up_onto(&[LookupOnto { table: &OF, index, to: vec![0] }], &mut [x.clone()])?;
            assert_eq!(e.tables.of(&OF).used, place + LANES);
        }
        Ok(())
    });
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    all_differ(&recordings, OPEN.name, 2 * places(1 << 16).len());
}

//! When tables of bits are made of their unit vectors.

use super::*;
use crate::dealer::Dealer;
use divisi_core::testing::run;
use divisi_core::{Counts, PublicParameters};
use divisi_field::Gf48;
use divisi_symmetric::des::SBOXES;

const LANES: usize = 70;

/// What was told in a phase.
fn bits(counts: &Counts, phase: &str) -> u64 {
    counts.phases.get(phase).map_or(0, |phase| phase.bits)
}

/// Unit vectors are made before tables are, which are made of these vectors alone, without a word, when they
/// are loaded or first needed.
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

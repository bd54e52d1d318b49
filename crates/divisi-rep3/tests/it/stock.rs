//! One-hot vectors made in idle time: used once, by all parties alike, within a bound.

use crate::common::prelude::*;

const LOOKUPS: [(Protocol, u64); 3] =
    [(Protocol::Lut16, 11), (Protocol::Lut256Additive, 22), (Protocol::Lut256, 247)];

/// The bits sent ahead so far, with those of the verification of the vectors.
fn ahead(e: &mut Rep3) -> u64 {
    e.trio().session().meter().read().phases.get("preprocessing").map_or(0, |phase| phase.bits)
}

fn there_and_back(e: &mut Rep3, x: &mut [Byte]) -> Result<(), Abort> {
    let mut layer: Vec<_> = x.iter_mut().collect();
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        e.sbox(direction, &mut layer)?;
    }
    e.finish(&mut layer)
}

/// Nothing is wanted before something was used; then as much as was used, once; and a layer that finds its
/// vectors makes none.
#[test]
fn what_was_used_is_made_again_and_used_once() {
    for (protocol, bits) in LOOKUPS {
        for security in SECURITIES {
            let inputs = vec![vec![0x52, 0x63, 7]; 4];
            let run = |e: &mut Rep3, mut x: Vec<Byte>| {
                let mut made = vec![];
                assert!(!e.lacks_stock());
                e.restock()?;
                made.push(ahead(e));
                there_and_back(e, &mut x)?;
                made.push(ahead(e));
                assert_eq!(e.stocked_bytes(), 0);
                while e.lacks_stock() {
                    e.restock()?;
                }
                assert!(e.stocked_bytes() > 0);
                made.push(ahead(e));
                there_and_back(e, &mut x)?;
                made.push(ahead(e));
                assert_eq!(e.stocked_bytes(), 0);
                if security == Security::SemiHonest {
                    let twice = 2 * bits * 12;
                    assert_eq!(made, [0, twice, 2 * twice, 2 * twice]);
                }
                // the second time nothing was made
                assert!(made[0] == 0 && made[1] > 0 && made[2] > made[1] && made[3] == made[2], "{made:?}");
                Ok(Outputs::bytes(x))
            };
            let (opened, _) = Rep3Lab { protocol, security }.metered(&inputs, run).unwrap();
            assert_eq!(opened.bytes, inputs, "{protocol} {security}");
        }
    }
}

/// Whatever shapes were used, no more is kept than the budget; what was not used for longest goes.
#[test]
fn no_more_is_kept_than_the_budget() {
    let inputs = vec![vec![0x52; 512]];
    let lab = Rep3Lab { protocol: Protocol::Lut256, security: Security::SemiHonest };
    lab.metered(&inputs, |e, x| {
        for bytes in repetitions(&[700, 500][..], &[700, 600, 500, 400]) {
            let mut layer = vec![x[0].clone(); *bytes];
            for _ in 0..3 {
                there_and_back(e, &mut layer)?;
            }
            while e.lacks_stock() {
                e.restock()?;
                assert!(e.stocked_bytes() <= 96 << 20);
            }
            // some of it is of the layers that came last: they need none now
            let before = ahead(e);
            e.sbox(Direction::Encrypt, &mut layer.iter_mut().collect::<Vec<_>>())?;
            assert!(ahead(e) == before, "{bytes}");
        }
        Ok(Outputs::bytes(x))
    })
    .unwrap();
}

/// Vectors for no layer, or for layers without bytes or lanes, are none: they cost nothing, also under a
/// protocol that has no vectors.
#[test]
fn vectors_of_nothing_are_none() {
    for protocol in [Protocol::Lut16, Protocol::Lut256, Protocol::Gf4Circuit] {
        let results = TrioHarness::default().act(|trio| {
            let mut e = Rep3::new(trio, protocol, Security::Malicious);
            let mut made = 0;
            for [layers, bytes, lanes] in [[0, 2, 3], [2, 0, 3], [2, 2, 0]] {
                made += e.vectors(layers, bytes, lanes)?.len();
            }
            Ok((made, ahead(&mut e), e.trio().session().meter().read().bits()))
        });
        assert!(results.iter().all(|result| *result == Ok((0, 0, 0))), "{protocol}: {results:?}");
    }
}

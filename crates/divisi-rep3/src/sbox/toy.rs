//! An S-box for tests: one file, its `mod` and one line of the registry, and every part of this crate can use
//! it. x^254 by four products, one after the other, each with a relation of its own in the large field.

use super::{Around, Layer, LayerKind, Owed, Sbox, load, store, trim};
use crate::checks;
use crate::multiply::mult_local;
use crate::record::{Kind, Record, Records};
use crate::relation::{Relation, power, weights};
use crate::tile::Tile;
use crate::trio::Trio;
use divisi_core::{Abort, Step, step};
use divisi_field::gf64::PSI8;
use divisi_field::kernel::{Task, run};
use divisi_field::{Plane, Word, gf8};
use zeroize::Zeroizing;

pub(crate) struct Toy;

impl Sbox for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn rounds(&self) -> usize {
        4
    }

    fn bits(&self) -> usize {
        32
    }

    fn layer_kind(&self) -> LayerKind {
        LayerKind::Replicated(|trio, layer, _, _| {
            Ok(Owed::Products(Record::new(&KIND, invert(trio, layer)?)))
        })
    }
}

/// x, x^3, x^15, x^252, x^254, eight planes each.
const PLANES: usize = 40;
/// A factor: where it stands, and how many times it is squared.
type Factor = (usize, u32);
/// The products: two factors each, and the place of the result.
const PRODUCTS: [[Factor; 3]; 4] = [
    [(0, 0), (0, 1), (8, 0)],
    [(8, 0), (8, 2), (16, 0)],
    [(16, 4), (8, 2), (24, 0)],
    [(24, 0), (0, 1), (32, 0)],
];

const PRODUCT: Step = step!("product");

fn invert(trio: &mut Trio, layer: &mut Layer<'_, '_>) -> Result<Records<PLANES>, Abort> {
    let mut made = layer.records::<PLANES>(&trio.pool);
    let (around, shape) = (layer.around(), layer.shape.clone());
    for (record, tile) in made.iter_mut().zip(layer.tiles()) {
        run(Begin { record, tile, around });
    }
    trim(made.iter_mut(), &shape);
    let mut z = Zeroizing::new(vec![[Plane::ZERO; 8]; shape.0.len()]);
    for [x, y, (at, _)] in PRODUCTS {
        for (record, z) in made.iter().zip(z.iter_mut()) {
            run(Multiply { record, x, y, z });
        }
        let second = trio.reshare(PRODUCT, &mut z, &shape)?;
        for (record, (first, second)) in made.iter_mut().zip(z.iter().zip(second.iter())) {
            record[0][at..at + 8].copy_from_slice(first);
            record[1][at..at + 8].copy_from_slice(second);
        }
    }
    for (record, tile) in made.iter().zip(layer.tiles()) {
        run(End { record, tile, around });
    }
    trim(layer.tiles(), &shape);
    Ok(made)
}

struct Begin<'a> {
    record: &'a mut Tile<PLANES>,
    tile: &'a Tile<8>,
    around: Around,
}

impl Task for Begin<'_> {
    type Output = ();

    fn run<W: Word>(self) {
        for (side, planes) in self.record.iter_mut().enumerate() {
            store(planes, 0, &self.around.before::<W>(side, &W::load_all(&self.tile[side])));
        }
    }
}

struct Multiply<'a> {
    record: &'a Tile<PLANES>,
    x: Factor,
    y: Factor,
    z: &'a mut [Plane; 8],
}

impl Task for Multiply<'_> {
    type Output = ();

    fn run<W: Word>(self) {
        let factor = |(at, squares): Factor| -> [[W; 8]; 2] {
            load::<W, 8, _>(self.record, at).map(|x| (0..squares).fold(x, |x, _| gf8::square(&x)))
        };
        W::store_all(&mult_local(&factor(self.x), &factor(self.y), |x, y| gf8::mul(x, y)), self.z);
    }
}

struct End<'a> {
    record: &'a Tile<PLANES>,
    tile: &'a mut Tile<8>,
    around: Around,
}

impl Task for End<'_> {
    type Output = ();

    fn run<W: Word>(self) {
        for (side, inverse) in load::<W, 8, _>(self.record, 32).iter().enumerate() {
            W::store_all(&self.around.after(side, inverse), &mut self.tile[side]);
        }
    }
}

static KIND: Kind<PLANES> =
    Kind { checks: &[checks::A14], drawn: 0, relations: |_| PRODUCTS.map(relation).into(), products: &[] };

fn relation(product: [Factor; 3]) -> Relation {
    let [x, y, z] = product.map(|(at, squares)| weights(at, 8, |i| power(PSI8, i << squares)));
    Relation { x, y, z, product: Vec::new() }
}

mod tests {
    use super::*;
    use crate::Protocol;
    use crate::relation::tests::holds;
    use divisi_field::{Field, Gf8};
    use divisi_fuzz::repetitions;

    #[test]
    fn it_is_known_by_name_and_number() {
        assert_eq!("toy".parse(), Ok(Protocol::Toy));
        assert!(Protocol::ALL.contains(&Protocol::Toy));
        assert_eq!((Protocol::Toy.rounds(), Protocol::of_code(255)), (4, Some(Protocol::Toy)));
    }

    #[test]
    fn every_wrong_product_breaks_its_relation() {
        for x in (0..=255).step_by(repetitions(3, 1)).map(Gf8) {
            for wrong in 0..=255 {
                let mut record = [x.0, 0, 0, 0, 0, 0, 0, 0];
                for product in PRODUCTS {
                    let [x, y, _] = product
                        .map(|(at, squares)| (0..squares).fold(Gf8(record[at / 8]), |x, _| x.square()));
                    let at = product[2].0 / 8;
                    record[at] = (x * y).0 ^ wrong;
                    assert_eq!(holds(&relation(product), u64::from_le_bytes(record)), wrong == 0);
                    record[at] ^= wrong;
                }
                assert_eq!(record[4], x.inverse().0);
            }
        }
    }

    #[cfg(feature = "testing")]
    mod run {
        use super::*;
        use crate::adversary::harness::{TrioHarness, party};
        use crate::lab::Rep3Lab;
        use crate::{Rep3, Security};
        use divisi_core::{Bytes, Direction, settle};
        use divisi_symmetric::suite;

        #[test]
        fn it_computes_aes() {
            for (security, lanes) in [(Security::SemiHonest, 65), (Security::Malicious, 513)] {
                let lab = Rep3Lab { protocol: Protocol::Toy, security };
                suite::aes_fips197(&lab);
                suite::aes_random(&lab, 7, lanes);
            }
        }

        #[test]
        fn a_lie_in_any_product_is_an_abort() {
            for lie in [None, Some(0), Some(1), Some(2), Some(3)] {
                let harness = TrioHarness::default().patient();
                if let Some(nth) = lie {
                    harness.change(party(1), party(3), PRODUCT.name, nth, |share| share[0] ^= 1);
                }
                let results = harness.act(|trio| {
                    let mut e = Rep3::new(trio, Protocol::Toy, Security::Malicious);
                    let mut x = e.random_bytes(3)?;
                    e.sbox(Direction::Decrypt, &mut [&mut x])?;
                    let pending = e.close(x);
                    settle(&mut e, pending).map(drop)
                });
                assert!(results.iter().all(|result| result.is_err() == lie.is_some()), "{lie:?} {results:?}");
            }
        }
    }
}

//! Large batches. The same error at two places of one batch: its coefficients are different at any distance,
//! so that one does not make up for the other. An error at the very end: nothing is left out. Lies in the
//! message that is sent last before the verification, whose errors no later product changes.

use crate::common::prelude::*;
use divisi_rep3::adversary::adaptive::{self, engine};
use divisi_rep3::adversary::lookups::PRODUCTS;
use divisi_rep3::ohverture::{Dimensions, HeldTable};

/// Bytes between places, and the numbers of such steps that are tried.
type Distances = (usize, &'static [usize]);

type Play = fn(Trio) -> Result<(), Abort>;

/// What is computed and verified, the step of the message that is changed, its number, and the distances.
struct Batch {
    name: &'static str,
    step: &'static str,
    nth: usize,
    distances: &'static [Distances],
    play: Play,
}

/// Whether both honest parties abort if party 1 adds an error at two places.
fn is_noticed(batch: &Batch, apart: usize) -> bool {
    let harness = TrioHarness::default().patient();
    harness.change(party(1), party(3), batch.step, batch.nth, move |share| {
        share[0] ^= 1;
        share[apart] ^= 1;
    });
    harness.act(batch.play)[1..].iter().all(Result::is_err)
}

/// One level of this many products of bits.
fn bits_of(trio: Trio, products: usize, lanes: usize) -> Result<(), Abort> {
    let mut g = Build::new();
    let x = g.input(products + 8);
    let z: Vec<_> = (0..products).map(|i| g.and(x[i], x[i + 5])).collect();
    g.output(&z);
    let program = g.finish();
    let mut e = engine(trio);
    let inputs = (0..program.input_bits().div_ceil(8)).map(|_| e.random_bytes(lanes));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let mut wires = bits(&mut e, &inputs)?;
    wires.truncate(program.input_bits());
    let out = run_one(&mut e, &program, wires)?;
    e.settled(out).map(drop)
}

fn sboxes(trio: Trio, protocol: Protocol, lanes: usize) -> Result<(), Abort> {
    let mut e = Rep3::new(trio, protocol, Security::Malicious);
    let x = random_sbox(&mut e, lanes)?;
    e.settled(x).map(drop)
}

fn vectors(trio: Trio, protocol: Protocol, layers: usize, lanes: usize) -> Result<(), Abort> {
    Rep3::new(trio, protocol, Security::Malicious).vectors(layers, 1, lanes).map(drop)
}

/// This many vectors of eight entries, verified.
fn box_vectors(trio: Trio, count: usize) -> Result<(), Abort> {
    let mut b = BlackBox::new(trio);
    let _vectors = b.rohv_rss(3, count)?;
    let recon = b.verify_recon()?;
    b.verify_mul(&recon).map(drop)
}

/// Products that are not opened: a liar who goes on with what it should have sent would be found out there.
fn blocks(trio: Trio, lanes: usize) -> Result<(), Abort> {
    let mut e = engine(trio);
    let (x, y) = (e.random_blocks(lanes), e.random_blocks(lanes));
    let z = e.multiply(&x, &y)?;
    e.settled(z).map(drop)
}

/// Squares, so many statements with as many lanes each.
fn box_products(trio: Trio, statements: usize, lanes: usize) -> Result<(), Abort> {
    let mut b = BlackBox::new(trio);
    let x = b.random::<Gf8>(lanes);
    for _ in 0..statements {
        let xx = b.local_mul(&x, &x)?;
        b.reshare(xx)?;
    }
    let recon = b.verify_recon()?;
    b.verify_mul(&recon).map(drop)
}

/// This many vectors of three factors, verified.
fn cubes(trio: Trio, count: usize) -> Result<(), Abort> {
    let mut b = BlackBox::new(trio);
    let entries: Vec<Gf8> = (0..64).map(Gf8).collect();
    let table = HeldTable::by(Dimensions::Three([2, 2, 2]), &entries).unwrap();
    let _vectors = b.one_hots(&table, count)?;
    let recon = b.verify_recon()?;
    b.verify_mul(&recon).map(drop)
}

const FEW: &[usize] = &[1, 2, 3, 4, 7];
const MANY: &[usize] = &[1, 2, 3, 4, 5, 8, 16];
/// Where any period that divides it would be seen.
const FAR: &[usize] = &[64];

/// Lanes of S-boxes that fill twenty groups of eight tiles.
const GROUPS: usize = 20 * 8 * 512;

static BATCHES: [Batch; 14] = [
    Batch {
        name: "a product of bits in eight tiles",
        step: "divisi_rep3::engine::boolean/products",
        nth: 0,
        // bytes of lanes, words and tiles
        distances: &[(1, FEW), (8, FEW), (64, FEW)],
        play: |trio| bits_of(trio, 1, 4096),
    },
    Batch {
        name: "products of bits in twenty groups",
        step: "divisi_rep3::engine::boolean/products",
        nth: 0,
        // products and groups
        distances: &[(9, FEW), (9 * 64, MANY)],
        play: |trio| bits_of(trio, 20 * 64, 65),
    },
    Batch {
        name: "S-boxes",
        step: "divisi_rep3::sbox::gf8_circuit/x254",
        nth: 0,
        // bytes of lanes, tiles, groups
        distances: &[(1, FEW), (512, FEW), (8 * 512, MANY)],
        play: |trio| sboxes(trio, Protocol::Gf8Circuit, GROUPS),
    },
    Batch {
        name: "vectors of 16",
        step: PRODUCTS[1],
        nth: 0,
        distances: &[(1, FEW), (5 * 64, FEW), (8 * 5 * 64, MANY)],
        play: |trio| vectors(trio, Protocol::Lut16, 1, GROUPS),
    },
    Batch {
        name: "vectors of 256",
        step: PRODUCTS[2],
        nth: 0,
        distances: &[(1, FEW), (225 * 64, MANY)],
        play: |trio| vectors(trio, Protocol::Lut256, 1, 20 * 512),
    },
    Batch {
        name: "blocks",
        step: adaptive::MULTIPLY,
        nth: 0,
        distances: &[(16, MANY), (16 * 32, FEW)],
        play: |trio| blocks(trio, 1024),
    },
    Batch {
        name: "products of the black box",
        step: "divisi_rep3::blackbox::products/reshare",
        nth: 0,
        distances: &[(1, MANY), (32, FEW)],
        play: |trio| box_products(trio, 1, 256),
    },
    Batch {
        name: "vectors of the black box",
        step: "divisi_rep3::ohverture::make/products",
        nth: 1,
        // three products of each vector in the second message
        distances: &[(3, MANY), (3 * 8, FEW)],
        play: |trio| box_vectors(trio, 512),
    },
    Batch {
        name: "vectors of three factors",
        step: "divisi_rep3::ohverture::cube::make/products",
        nth: 0,
        distances: &[(1, FEW), (8, FEW), (3 * 64, FEW)],
        play: |trio| cubes(trio, 4096),
    },
    Batch {
        name: "products of bits far apart",
        step: "divisi_rep3::engine::boolean/products",
        nth: 0,
        distances: &[(9 * 64, FAR)],
        play: |trio| bits_of(trio, 65 * 64, 65),
    },
    Batch {
        name: "S-boxes far apart",
        step: "divisi_rep3::sbox::gf8_circuit/x254",
        nth: 0,
        distances: &[(8 * 512, FAR)],
        play: |trio| sboxes(trio, Protocol::Gf8Circuit, 65 * 8 * 512),
    },
    Batch {
        name: "products of the black box far apart",
        step: "divisi_rep3::blackbox::products/reshare",
        nth: 0,
        distances: &[(16, FAR)],
        play: |trio| box_products(trio, 1, 1025),
    },
    Batch {
        name: "vectors of the black box far apart",
        step: "divisi_rep3::ohverture::make/products",
        nth: 1,
        // three bits of each vector
        distances: &[(3 * 2, FAR)],
        play: |trio| box_vectors(trio, 1032),
    },
    Batch {
        name: "vectors of three factors far apart",
        step: "divisi_rep3::ohverture::cube::make/products",
        nth: 0,
        distances: &[(3 * 64, FAR)],
        play: |trio| cubes(trio, 65 * 512),
    },
];

#[test]
fn equal_errors_do_not_make_up_for_one_another() {
    let of = |batch: &'static Batch| {
        let apart = batch.distances.iter().flat_map(|(step, times)| times.iter().map(move |n| step * n));
        apart.map(move |apart| (batch, apart))
    };
    let all: Vec<(&Batch, usize)> = BATCHES.iter().flat_map(of).collect();
    let noticed = many(all.len(), 2, |i| is_noticed(all[i].0, all[i].1));
    let missed: Vec<(&str, usize)> = all
        .iter()
        .zip(noticed)
        .filter(|(_, noticed)| !noticed)
        .map(|((batch, apart), _)| (batch.name, *apart))
        .collect();
    assert_eq!(missed, [] as [(&str, usize); 0]);
}

/// Two bits of a message that are changed, by its step and number, end the run of both honest parties.
fn ends_the_run((step, nth, play): (&'static str, usize, Play), bits: [usize; 2]) {
    let harness = TrioHarness::default().patient();
    harness.change(party(1), party(3), step, nth, move |share| {
        bits.iter().for_each(|at| share[at / 8] ^= 1 << (at % 8));
    });
    let ends = harness.act(play);
    assert!(ends[1..].iter().all(Result::is_err), "{step} {bits:?}: {ends:?}");
}

/// Neither do equal errors at two places of one group of a first fold, whichever they are: each variable has
/// a coordinate of its own. If two were equal, corners that differ by their exchange would have equal
/// weights; if one were the other plus one, those that have both or none.
#[test]
fn equal_errors_within_a_group_do_not_make_up_for_one_another() {
    // bytes of a place, and the number of variables
    let bits: (&str, usize, usize, Play) =
        ("divisi_rep3::engine::boolean/products", 9, 6, |trio| bits_of(trio, 64, 65));
    let bytes: (&str, usize, usize, Play) =
        ("divisi_rep3::sbox::gf8_circuit/x254", 512, 3, |trio| sboxes(trio, Protocol::Gf8Circuit, 8 * 512));
    for (step, each, variables, play) in [bits, bytes] {
        let pairs = (0..variables).flat_map(|v| (0..v).map(move |w| (1 << v, 1 << w)));
        for places in pairs.flat_map(|(v, w)| [(v, w), (0, v | w)]) {
            ends_the_run((step, 0, play), [8 * each * places.0, 8 * each * places.1]);
        }
    }
}

/// Nor do they in two lanes of a byte, or in two products of a vector: each of the weights that are
/// multiplied is independent of the others.
#[test]
fn equal_errors_side_by_side_do_not_make_up_for_one_another() {
    let pairs = |bits: usize| (0..bits).flat_map(|i| (0..i).map(move |j| [i, j]));
    let byte: (&str, usize, usize, Play) =
        ("divisi_rep3::sbox::gf8_circuit/x254", 0, 8, |trio| sboxes(trio, Protocol::Gf8Circuit, 8));
    // the products across both halves of four bits, in the third message
    let vector: (&str, usize, usize, Play) = ("divisi_rep3::ohverture::make/products", 2, 9, |trio| {
        let mut b = BlackBox::new(trio);
        let _vector = b.rohv_rss(4, 1)?;
        let recon = b.verify_recon()?;
        b.verify_mul(&recon).map(drop)
    });
    // the same of vectors of three factors, a word for each product
    let cube: (&str, usize, usize, Play) = ("divisi_rep3::ohverture::cube::make/products", 1, 9, |trio| {
        let mut b = BlackBox::new(trio);
        let entries: Vec<Gf8> = (0..=255).map(Gf8).collect();
        let table = HeldTable::by(Dimensions::Three([4, 2, 2]), &entries).unwrap();
        let _vectors = b.one_hots(&table, 64)?;
        let recon = b.verify_recon()?;
        b.verify_mul(&recon).map(drop)
    });
    for ((step, nth, bits, play), each) in [(byte, 1), (vector, 1), (cube, 64)] {
        for places in pairs(bits) {
            ends_the_run((step, nth, play), places.map(|at| at * each));
        }
    }
}

/// What is computed and verified, the step of the message that is changed, and its number.
type Large = (&'static str, &'static str, usize, Play);

static LARGE: [Large; 8] = [
    ("blocks", adaptive::MULTIPLY, 0, |trio| blocks(trio, 10_000)),
    ("statements", "divisi_rep3::blackbox::products/reshare", 4999, |trio| box_products(trio, 5000, 1)),
    ("products of bits", "divisi_rep3::engine::boolean/products", 0, |trio| bits_of(trio, 300 * 64, 65)),
    ("S-boxes", "divisi_rep3::sbox::gf8_circuit/x254", 0, |trio| {
        sboxes(trio, Protocol::Gf8Circuit, 80 * 8 * 512)
    }),
    ("layers of 16", PRODUCTS[1], 39, |trio| vectors(trio, Protocol::Lut16, 40, 8)),
    ("layers of two times 16", PRODUCTS[1], 39, |trio| vectors(trio, Protocol::Lut256Additive, 40, 8)),
    ("layers of 256", PRODUCTS[2], 39, |trio| vectors(trio, Protocol::Lut256, 40, 8)),
    ("vectors of the black box", "divisi_rep3::ohverture::make/products", 1, |trio| box_vectors(trio, 4096)),
];

/// Whatever is computed last is verified like the first.
#[test]
fn an_error_at_the_end_of_a_large_batch_is_noticed() {
    let noticed = many(LARGE.len(), 2, |i| {
        let (_, step, nth, play) = LARGE[i];
        let harness = TrioHarness::default().patient();
        harness.change(party(1), party(3), step, nth, |share| {
            let last = share.len() - 1;
            share[last] ^= 1;
        });
        harness.act(play)[1..].iter().all(Result::is_err)
    });
    let missed: Vec<&str> =
        LARGE.iter().zip(noticed).filter(|(_, noticed)| !noticed).map(|(large, _)| large.0).collect();
    assert_eq!(missed, [] as [&str; 0]);
}

//! Lies about the products of S-boxes, blocks and gates: in any product, lane, layer, direction and program
//! they are found.

use divisi_circuit::{Build, Gates, Program};
use divisi_core::{Abort, Blocks, Boolean, Bytes, Convert, Direction, PartyId, ProgramRun, Step, settle};
use divisi_rep3::adversary::compare::{chi_square, chi_square_limit};
use divisi_rep3::adversary::harness::{TrioHarness, many, party};
use divisi_rep3::{Bit, Byte, Protocol, Rep3, Security};

const DIRECTIONS: [Direction; 2] = [Direction::Encrypt, Direction::Decrypt];

/// The messages in which an error can be added to what an S-box is made of, with their planes.
const MESSAGES: [(Protocol, &str, usize); 11] = [
    (Protocol::Gf4Circuit, "divisi_rep3::sbox::gf4_circuit/a_h a_l", 4),
    (Protocol::Gf4Circuit, "divisi_rep3::sbox::gf4_circuit/v6", 4),
    (Protocol::Gf4Circuit, "divisi_rep3::sbox::gf4_circuit/v14", 4),
    (Protocol::Gf4Circuit, "divisi_rep3::sbox::gf4_circuit/outer", 8),
    (Protocol::Gf8Circuit, "divisi_rep3::sbox::gf8_circuit/x3", 8),
    (Protocol::Gf8Circuit, "divisi_rep3::sbox::gf8_circuit/x14 x15", 16),
    (Protocol::Gf8Circuit, "divisi_rep3::sbox::gf8_circuit/x254", 8),
    (Protocol::Lut16, "divisi_rep3::sbox::lut16/c", 4),
    (Protocol::Lut16, "divisi_rep3::sbox::lut16/outer", 8),
    (Protocol::Lut256Additive, "divisi_rep3::sbox::lut256_additive/c", 8),
    (Protocol::Lut256Additive, "divisi_rep3::engine::chain/finish", 8),
];

/// Flip a bit of each of these bytes in the `nth` share of a step.
#[derive(Clone, Debug)]
struct Lie {
    step: &'static str,
    nth: usize,
    at: Vec<(usize, u8)>,
}

/// Where a lane of a plane stands in a message of one value.
fn place(planes: usize, lanes: usize, plane: usize, lane: usize) -> (usize, u8) {
    let (tile, lane) = (lane / 512, lane % 512);
    let width = (lanes - 512 * tile).min(512).div_ceil(8);
    (tile * planes * 64 + plane * width + lane / 8, 1 << (lane % 8))
}

/// Do something at three parties of which `corrupt` lies; how it ended.
fn attacked(
    corrupt: PartyId,
    protocol: Protocol,
    lie: Option<&Lie>,
    f: impl Fn(&mut Rep3) -> Result<(), Abort> + Sync,
) -> Vec<Result<(), Abort>> {
    TrioHarness::default().patient().act(|trio| {
        let lie = lie.filter(|_| trio.me() == corrupt).cloned();
        let mut e = Rep3::new(trio, protocol, Security::Malicious);
        if let Some(Lie { step, nth, at }) = lie {
            let mut count = 0;
            e.trio().deviate(move |now: Step, share: &mut [u8]| {
                if now.name == step {
                    if count == nth {
                        at.iter().for_each(|(byte, bit)| share[*byte] ^= bit);
                    }
                    count += 1;
                }
            });
        }
        f(&mut e)
    })
}

/// The lie is told, and no honest party takes what comes of it. On random values nobody can tell a right
/// result from a wrong one: whoever gets any was deceived.
fn found(corrupt: PartyId, protocol: Protocol, lie: &Lie, f: impl Fn(&mut Rep3) -> Result<(), Abort> + Sync) {
    let results = attacked(corrupt, protocol, Some(lie), &f);
    for (p, result) in PartyId::all(3).zip(&results).filter(|(p, _)| *p != corrupt) {
        assert!(result.is_err(), "{p} was deceived: {protocol} {lie:?}");
    }
}

/// S-boxes of one random value, one after the other, settled.
fn layers(e: &mut Rep3, lanes: usize, directions: &[Direction]) -> Result<(), Abort> {
    let mut x = [e.random_bytes(lanes)?];
    sboxes(e, &mut x, directions)
}

fn sboxes(e: &mut Rep3, x: &mut [Byte], directions: &[Direction]) -> Result<(), Abort> {
    for direction in directions {
        e.sbox(*direction, &mut x.iter_mut().collect::<Vec<_>>())?;
    }
    e.finish(&mut x.iter_mut().collect::<Vec<_>>())?;
    let pending = e.close(x.to_vec());
    settle(e, pending).map(drop)
}

#[test]
fn honest_parties_settle() {
    for protocol in Protocol::ALL {
        for lanes in [1, 9, 513] {
            let results = attacked(party(1), *protocol, None, |e| layers(e, lanes, &DIRECTIONS));
            assert!(results.iter().all(Result::is_ok), "{protocol} {lanes}: {results:?}");
        }
    }
}

/// Each bit of each product of an S-box, and each two bits of one message; both ways.
#[test]
fn a_lie_in_any_product_and_plane_is_found() {
    let mut jobs = Vec::new();
    for (protocol, step, planes) in MESSAGES {
        for direction in DIRECTIONS {
            for (i, j) in (0..planes).flat_map(|i| (i..planes).map(move |j| (i, j))) {
                let mut at = vec![place(planes, 3, i, 1)];
                if i != j {
                    at.push(place(planes, 3, j, 1));
                }
                jobs.push((protocol, direction, Lie { step, nth: 0, at }));
            }
        }
    }
    many(jobs.len(), 4, |i| {
        let (protocol, direction, lie) = &jobs[i];
        // the first layer of a chain is opened replicated, and its output comes back with the next
        let ways = [*direction; 2];
        found(party(1 + (i % 3) as u8), *protocol, lie, |e| layers(e, 3, &ways));
    });
}

#[test]
fn a_lie_in_any_lane_is_found() {
    let mut jobs = Vec::new();
    for (protocol, step, planes) in MESSAGES {
        for lanes in [1_usize, 2, 9, 64, 65, 511, 513, 1030] {
            let mut some: Vec<usize> = vec![0, 63, 64, 511, 512, lanes - 1];
            some.retain(|lane| *lane < lanes);
            some.dedup();
            let plane = lanes % planes;
            jobs.extend(some.into_iter().map(|lane| {
                (protocol, lanes, Lie { step, nth: 0, at: vec![place(planes, lanes, plane, lane)] })
            }));
        }
    }
    many(jobs.len(), 4, |i| {
        let (protocol, lanes, lie) = &jobs[i];
        found(party(1 + (i % 3) as u8), *protocol, lie, |e| layers(e, *lanes, &[Direction::Encrypt; 2]));
    });
}

/// In the first, a middle and the last of four layers that alternate, of one byte or of three side by side in
/// a tile.
#[test]
fn a_lie_in_any_layer_is_found() {
    let mut jobs = Vec::new();
    for (protocol, step, planes) in MESSAGES {
        let times = match step {
            "divisi_rep3::engine::chain/finish" => 1,
            "divisi_rep3::sbox::lut256_additive/c" => 3,
            _ => 4,
        };
        for (nth, bytes) in (0..times).flat_map(|nth| [(nth, 1), (nth, 3)]) {
            for first in 0..2 {
                let lie = Lie { step, nth, at: vec![place(planes, 5 * bytes, planes - 1, 5 * bytes - 1)] };
                jobs.push((protocol, bytes, first, lie));
            }
        }
    }
    many(jobs.len(), 4, |i| {
        let (protocol, bytes, first, lie) = &jobs[i];
        let ways: Vec<Direction> = (0..4).map(|layer| DIRECTIONS[(layer + first) % 2]).collect();
        found(party(1 + (i % 3) as u8), *protocol, lie, |e| {
            let mut x = (0..*bytes).map(|_| e.random_bytes(5)).collect::<Result<Vec<Byte>, _>>()?;
            sboxes(e, &mut x, &ways)
        });
    });
}

/// Each lane of products of blocks, and each of several inner products of one call; with the same error in
/// two of them.
#[test]
fn a_wrong_product_of_blocks_is_found() {
    let blocks = |e: &mut Rep3| {
        let (x, y) = (e.random_blocks(3), e.random_blocks(3));
        let mut all = e.multiply(&x, &y)?;
        let sums = e.dot(&[(&x, &y), (&y, &x), (&all, &x)])?;
        e.add_block(&mut all, &sums)?;
        let bytes: [Byte; 16] = e.convert(all)?;
        let pending = e.close(bytes.to_vec());
        settle(e, pending).map(drop)
    };
    let honest = attacked(party(1), Protocol::Gf4Circuit, None, blocks);
    assert!(honest.iter().all(Result::is_ok), "honest: {honest:?}");
    for step in ["divisi_rep3::engine::blocks/multiply", "divisi_rep3::engine::blocks/dot"] {
        for lanes in [&[0][..], &[1], &[2], &[0, 1], &[1, 2]] {
            let at = lanes.iter().map(|lane| (16 * lane + 7, 0x10)).collect();
            let lie = Lie { step, nth: 0, at };
            for corrupt in PartyId::all(3) {
                found(corrupt, Protocol::Gf4Circuit, &lie, blocks);
            }
        }
    }
}

/// Programs that run at once: of few lanes and of many, and a lie in the products of each.
#[test]
fn a_wrong_gate_of_any_program_is_found() {
    let program = || -> Program {
        let mut g = Build::new();
        let x = g.input(2);
        let y = g.and(x[0], x[1]);
        let z = g.and(y, x[1]);
        g.output(&[y, z]);
        g.finish()
    };
    let programs = [program(), program(), program()];
    let run = |lanes: [usize; 3], e: &mut Rep3| {
        let mut jobs = Vec::new();
        for (program, lanes) in programs.iter().zip(lanes) {
            let byte = e.random_bytes(lanes)?;
            let bits: [Bit; 8] = e.convert(byte)?;
            jobs.push(ProgramRun::new(program, bits.into_iter().take(2).collect()));
        }
        e.run(&mut jobs)?;
        let out: Vec<Bit> = jobs.into_iter().flat_map(|job| job.wires).collect();
        let pending = e.close(out);
        settle(e, pending).map(drop)
    };
    let step = "divisi_rep3::engine::boolean/products";
    for lanes in [[3, 3, 3], [3, 70, 600]] {
        let honest = attacked(party(1), Protocol::Gf4Circuit, None, |e| run(lanes, e));
        assert!(honest.iter().all(Result::is_ok), "honest: {honest:?}");
        let mut first = 0;
        for each in lanes {
            for nth in 0..2 {
                let lie = Lie { step, nth, at: vec![(first, 1)] };
                found(party(2), Protocol::Gf4Circuit, &lie, |e| run(lanes, e));
            }
            first += each.div_ceil(8);
        }
    }
}

/// The two components of each value that the engine holds, at each party.
fn held(draw: impl Fn(&mut Rep3) -> Result<Vec<Byte>, Abort> + Sync) -> Vec<Vec<[Vec<u8>; 2]>> {
    let results = TrioHarness::default().patient().act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let mut parts = Vec::new();
        for byte in draw(&mut e)? {
            let pending = e.close_linear(byte)?;
            let verified = settle(&mut e, pending)?;
            let part = e.trio().part(&verified)?;
            parts.push([part.first.clone(), part.second.clone()]);
        }
        Ok(parts)
    });
    results.into_iter().map(Result::unwrap).collect()
}

/// Both components are uniform at each party, and so is what they are components of; lanes and values are
/// independent of one another.
fn are_fresh(held: &[Vec<[Vec<u8>; 2]>]) {
    let uniform = |what: &str, values: &mut dyn Iterator<Item = u8>| {
        let mut counts = [0; 256];
        values.for_each(|value| counts[usize::from(value)] += 1);
        assert!(chi_square(&counts) < chi_square_limit(255.0), "{what}");
    };
    for (p, values) in held.iter().enumerate() {
        for (i, [first, second]) in values.iter().enumerate() {
            let what = format!("value {i} at party {}", p + 1);
            uniform(&what, &mut first.iter().copied());
            uniform(&what, &mut second.iter().copied());
            uniform(&what, &mut first.iter().zip(second).map(|(x, y)| x ^ y));
        }
    }
    let value = |i: usize, l: usize| held.iter().fold(0, |sum, values| sum ^ values[i][0][l]);
    let lanes = held[0][0][0].len();
    for i in 0..held[0].len() {
        uniform("a value", &mut (0..lanes).map(|l| value(i, l)));
        uniform("neighbours", &mut (1..lanes).map(|l| value(i, l) ^ value(i, l - 1)));
        let next = (i + 1) % held[0].len();
        uniform("two values", &mut (0..lanes).map(|l| value(i, l) ^ value(next, l)));
    }
}

#[test]
fn random_bytes_are_fresh_and_nobody_knows_them() {
    are_fresh(&held(|e| (0..3).map(|_| e.random_bytes(1 << 13)).collect()));
}

#[test]
fn random_blocks_are_fresh_and_nobody_knows_them() {
    are_fresh(&held(|e| {
        let mut all = Vec::new();
        for _ in 0..2 {
            let blocks = e.random_blocks(1 << 13);
            let bytes: [Byte; 16] = e.convert(blocks)?;
            all.extend(bytes);
        }
        Ok(all)
    }));
}

/// None of thousands of differences that are not zero is said to be zero: of each, 16 bytes are opened.
#[test]
fn no_difference_of_thousands_is_zero() {
    let results = TrioHarness::default().patient().act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let mut groups = Vec::new();
        for i in 0..4096 {
            let mut group = e.random_blocks(1);
            let same = group.clone();
            e.add_block(&mut group, &same)?;
            e.add_public_block(&mut group, &[1 << (i % 128)])?;
            groups.push(group);
        }
        e.are_zero(&groups)
    });
    for result in &results {
        assert!(result.as_ref().is_ok_and(|zero| zero.iter().all(|zero| !zero)));
    }
}

//! Boolean programs, comparisons and wires of shared values.

use crate::engines::{given, given_bits, opened, prepared};
use divisi_circuit::{Build, Gates, Program, plain as clear};
use divisi_core::{
    Abort, Boolean, Bytes, Compares, Convert, Direction, Opens, PartyId, ProgramRun, PublicParameters, local,
};
use divisi_field::{Gf40, Gf42, Gf48, Gf72};
use divisi_spdz::checks;
use divisi_spdz::{AuthBit, AuthByte, Host, Preparation, Spdz, SpdzProtocol, Tiny, TinyByte};

type F = Gf48;

/// The result of `f`, which all parties run, and which must be the same at all of them.
fn agreed<F: Host, T: PartialEq + Send + std::fmt::Debug>(
    parties: usize,
    preparation: Option<Preparation>,
    f: impl Fn(&mut Spdz<F>) -> Result<T, Abort> + Sync,
) -> Result<T, Abort> {
    let mut ends = local::run(parties, &PublicParameters::new("spdz programs"), |session| {
        f(&mut prepared(session, preparation, SpdzProtocol::Lookup)?)
    })?;
    assert!(ends.windows(2).all(|pair| pair[0] == pair[1]));
    Ok(ends.pop().unwrap())
}

/// The program of (x y) z + x and its complement.
fn program() -> Program {
    let mut g = Build::new();
    let [x, y, z] = g.input(3)[..] else { panic!("three wires") };
    let xy = g.and(x, y);
    let xyz = g.and(xy, z);
    let sum = g.xor(xyz, x);
    let not = g.not(sum);
    g.output(&[sum, not]);
    g.finish()
}

#[test]
fn counts_of_programs() {
    let program = program();
    for (parties, preparation) in [(2, None), (3, None), (2, Some(Preparation::Bucketed))] {
        let lanes: Vec<[bool; 3]> = (0..8).map(|i| [0, 1, 2].map(|k| i >> k & 1 == 1)).collect();
        let (found, phase) = agreed(parties, preparation, |e: &mut Spdz<F>| {
            let wires = (0..3).map(|k| {
                let values: Vec<bool> = lanes.iter().map(|lane| lane[k]).collect();
                given_bits(e, PartyId::P1, &values)
            });
            let wires = wires.collect::<Result<Vec<AuthBit<F>>, Abort>>()?;
            e.preprocess_ands(2 * lanes.len())?;
            e.session().meter().reset();
            e.session().phase("online");
            let mut jobs = [ProgramRun::new(&program, wires)];
            e.run(&mut jobs)?;
            let phase = e.session().meter().read().phases["online"];
            let [job] = jobs;
            Ok((Opens::<Vec<AuthBit<F>>>::reveal(e, job.wires)?, (phase.bits, phase.rounds)))
        })
        .unwrap();
        let expected: Vec<bool> = lanes.iter().map(|[x, y, z]| (x & y & z) ^ x).collect();
        assert_eq!(found, [expected.clone(), expected.iter().map(|bit| !bit).collect()]);
        assert_eq!(phase, (2 * 2 * 8 * (parties as u64 - 1), 2));
    }
}

/// Two programs of different lanes and numbers of levels, in which each level has its own places.
#[test]
fn programs_of_different_depth_run_together() {
    let mut g = Build::new();
    let x = g.input(8);
    let pairs: Vec<_> = x.chunks_exact(2).map(|pair| g.and(pair[0], pair[1])).collect();
    let halves: Vec<_> = pairs.chunks_exact(2).map(|pair| g.and(pair[0], pair[1])).collect();
    let all = g.and(halves[0], halves[1]);
    g.output(&pairs);
    g.output(&halves);
    g.output(&[all]);
    let (deep, shallow) = (g.finish(), program());
    let value = |lane: usize, k: usize| (lane * 5 + k * k) % 7 > 1;
    let inputs = |program: &Program, lanes: usize| -> Vec<Vec<bool>> {
        (0..program.input_bits()).map(|k| (0..lanes).map(|lane| value(lane, k)).collect()).collect()
    };
    let runs = [(&deep, 70), (&shallow, 3)];
    let found = agreed(3, None, |e: &mut Spdz<F>| {
        let mut jobs = Vec::new();
        for (program, lanes) in runs {
            let wires = inputs(program, lanes).into_iter().map(|bits| given_bits(e, PartyId::P1, &bits));
            jobs.push(ProgramRun::new(program, wires.collect::<Result<Vec<AuthBit<F>>, Abort>>()?));
        }
        e.run(&mut jobs)?;
        let wires = jobs.into_iter().flat_map(|job| job.wires).collect();
        Opens::<Vec<AuthBit<F>>>::reveal(e, wires)
    });
    let words = |bits: &Vec<bool>| {
        let word = |bits: &[bool]| (0..bits.len()).fold(0, |word, i| word | u64::from(bits[i]) << i);
        bits.chunks(64).map(word).collect::<Vec<u64>>()
    };
    let mut expected = Vec::new();
    for (program, lanes) in runs {
        let columns: Vec<Vec<u64>> = inputs(program, lanes).iter().map(words).collect();
        for column in clear::run(program, &columns).unwrap() {
            expected.push((0..lanes).map(|i| column[i / 64] >> (i % 64) & 1 == 1).collect::<Vec<bool>>());
        }
    }
    assert_eq!(found, Ok(expected));
}

#[test]
fn bytes_fall_into_bits_and_come_back() {
    let values: Vec<u8> = vec![0, 1, 0x80, 0xa5, 0xff];
    let found = agreed(2, None, |e: &mut Spdz<F>| {
        let x = given(e, PartyId::P1, &values)?;
        let bits: [AuthBit<F>; 8] = e.convert(x)?;
        let highest = bits[7].clone();
        let back: AuthByte<F> = e.convert(bits)?;
        let bits = Opens::<Vec<AuthBit<F>>>::reveal(e, vec![highest])?;
        Ok((Opens::<Vec<AuthByte<F>>>::reveal(e, vec![back])?, bits))
    });
    let highest = values.iter().map(|x| x >> 7 == 1).collect();
    assert_eq!(found, Ok((vec![values], vec![highest])));
}

/// Zero tests of groups of bytes are right, and make no more openings than they need.
#[test]
fn zeros_are_told_from_all_else() {
    let groups = [vec![0; 16], vec![0, 0, 1], [vec![0; 15], vec![0x80]].concat(), vec![7], vec![0]];
    let found = agreed(3, None, |e: &mut Spdz<F>| {
        let bytes = groups.iter().map(|group| given(e, PartyId::P1, group));
        let bytes = bytes.collect::<Result<Vec<AuthByte<F>>, Abort>>()?;
        let before = e.session().meter().read().openings;
        let found = e.vanish(&bytes)?;
        // for each group two openings for each of 36 products, and six bytes
        assert_eq!(e.session().meter().read().openings - before, (2 * 36 + 6) * groups.len() as u64);
        Ok(found)
    });
    assert_eq!(found, Ok(vec![true, false, false, false, true]));
}

/// A wire of one lane serves all lanes, wherever it stands.
#[test]
fn a_wire_of_one_lane_serves_all() {
    let program = program();
    let lanes = [[true, true, false], [true, false, true]];
    for one in 0..3 {
        let found = agreed(2, None, |e: &mut Spdz<F>| {
            let wire = |e: &mut Spdz<F>, k: usize| match k {
                k if k == one => given_bits(e, PartyId::P1, &[true]),
                k => given_bits(e, PartyId::P2, &lanes[k % 2]),
            };
            let wires = (0..3).map(|k| wire(e, k)).collect::<Result<_, Abort>>()?;
            let mut jobs = [ProgramRun::new(&program, wires)];
            e.run(&mut jobs)?;
            let [job] = jobs;
            Opens::<Vec<AuthBit<F>>>::reveal(e, job.wires)
        });
        let bit = |k: usize, lane: usize| k == one || lanes[k % 2][lane];
        let sum = |lane| bit(0, lane) ^ (bit(0, lane) & bit(1, lane) & bit(2, lane));
        let right = vec![(0..3).map(sum).collect(), (0..3).map(|lane| !sum(lane)).collect()];
        assert_eq!(found, Ok(right), "wire {one}");
    }
}

/// What shared values become in these layers of a circuit, of which so many are announced.
fn through_tiny(layers: &[Direction], announced: usize) -> Result<Vec<Vec<u8>>, Abort> {
    local::run(2, &PublicParameters::new("spdz programs"), |session| {
        let mut engine = prepared::<F>(session, None, SpdzProtocol::Lookup)?;
        let x = given(&mut engine, PartyId::P2, &[0x53, 0])?;
        let mut t = Tiny::new(engine);
        let [mut mask, mut public]: [TinyByte<F>; 2] = t.enter(&[x])?.pop().unwrap();
        t.prepare(announced, 1, 2)?;
        layers.iter().try_for_each(|d| t.sbox(*d, &mut [&mut mask]))?;
        t.open_indices()?;
        layers.iter().try_for_each(|d| t.sbox(*d, &mut [&mut public]))?;
        let out = t.output(mask, public)?;
        let mut engine = t.into_engine();
        let found = opened(&mut engine, out)?;
        assert!(engine.session().meter().read().checks[&checks::K3] >= 2 * layers.len() as u64);
        Ok(found)
    })
}

/// A value that is shared already becomes a wire of both runs.
#[test]
fn shared_values_enter_a_tiny_circuit() {
    let found = through_tiny(&[Direction::Encrypt], 0);
    assert_eq!(found, Ok(vec![vec![0xed, 0x63]; 2])); // FIPS 197, 5.1.1
}

/// A layer takes no table of the other direction, also if more were made ahead than the layer before took.
#[test]
fn layers_of_a_tiny_circuit_have_either_direction() {
    let found = through_tiny(&[Direction::Encrypt, Direction::Decrypt, Direction::Decrypt], 3);
    assert_eq!(found, Ok(vec![vec![0x50, 0x52]; 2])); // FIPS 197, 5.3.2
}

/// Which groups of bits are zero, and how many products the test took.
fn zeros<F: Host>(parties: usize, groups: &[Vec<bool>]) -> Result<(Vec<bool>, u64), Abort> {
    agreed(parties, None, |e: &mut Spdz<F>| {
        let secrets = groups.iter().map(|bits| given_bits(e, PartyId::P1, bits));
        let secrets = secrets.collect::<Result<Vec<AuthBit<F>>, Abort>>()?;
        let answers = e.vanish(&secrets)?;
        Ok((answers, e.session().meter().read().checks.get(&checks::K6).copied().unwrap_or(0)))
    })
}

/// Any number of bits is compared, six at a time, if the field of MACs holds GF(2^6); otherwise the
/// comparison is refused.
#[test]
fn bits_are_compared_by_elements_of_six() {
    let mut groups: Vec<Vec<bool>> = [1, 5, 6, 7, 64].iter().map(|bits| vec![false; *bits]).collect();
    for (bits, one) in [(1, 0), (7, 6), (64, 0), (64, 63), (64, 35)] {
        groups.push((0..bits).map(|i| i == one).collect());
    }
    let expected: Vec<bool> = (0..10).map(|i| i < 5).collect();
    // the least number of rows of six bits that have at least as many bits as the field
    for (found, rows) in [
        (zeros::<Gf42>(2, &groups), 7),
        (zeros::<Gf42>(3, &groups), 7),
        (zeros::<Gf48>(2, &groups), 8),
        (zeros::<Gf72>(2, &groups), 12),
    ] {
        assert_eq!(found, Ok((expected.clone(), rows * rows * groups.len() as u64)));
    }
    assert!(zeros::<Gf40>(2, &groups).is_err());
    assert!(zeros::<Gf42>(2, &[Vec::new()]).is_err());
}

//! Every draw from a stream, by its place: what a session draws is what its formula says, and nothing is
//! drawn twice (A3, A5, M0.5).

use crate::known::public_blocks;
use divisi_core::draws::DrawnStream;
use divisi_core::{Abort, Blocks, Bytes, Convert, Direction, PartyId, Prg, PublicParameters, settle};
use divisi_rep3::adversary::adaptive::engine;
use divisi_rep3::adversary::harness::TrioHarness;
use divisi_rep3::{Byte, Passes, Protocol, Rep3, Security, Trio};
use std::collections::{BTreeMap, HashMap};

const ZERO: &str = "rep3 F_zero";
const RAND: &str = "rep3 F_rand";
const COIN: &str = "rep3 F_coin";

/// What all parties drew in this session.
fn drawn(f: impl Fn(Trio) -> Result<Trio, Abort> + Sync) -> Vec<(PartyId, Vec<DrawnStream>)> {
    let parameters = PublicParameters::new("draws").recording();
    let draws = TrioHarness::new(&parameters).patient().act(|trio| {
        let me = trio.me();
        let mut trio = f(trio)?;
        Ok((me, trio.session().draws()))
    });
    let draws: Vec<_> = draws.into_iter().map(Result::unwrap).collect();
    nothing_is_drawn_twice(&draws);
    draws
}

/// The two ends of a stream draw the same of it, in the same order, each byte once and none left out; and no
/// two streams have a key in common.
fn nothing_is_drawn_twice(draws: &[(PartyId, Vec<DrawnStream>)]) {
    let mut ends: HashMap<[u8; 16], Vec<(PartyId, &DrawnStream)>> = HashMap::new();
    for (me, stream) in draws.iter().flat_map(|(me, streams)| streams.iter().map(move |s| (*me, s))) {
        ends.entry(stream.key).or_default().push((me, stream));
        let mut at = 0;
        for range in &stream.drawn {
            assert_eq!(range.start, at, "{}: {:?}", stream.purpose, stream.drawn);
            at = range.end;
        }
    }
    for both in ends.values() {
        let [(p, one), (q, other)] = both[..] else { panic!("a key of {} streams", both.len()) };
        assert!(one.peer == q && other.peer == p && one.purpose == other.purpose && one.drawn == other.drawn);
        assert_eq!((one.strand, one.generation), (other.strand, other.generation));
    }
}

/// The lengths of the draws for a purpose with the first party's next: of the latest stream of the strand.
fn lengths(draws: &[(PartyId, Vec<DrawnStream>)], purpose: &str) -> Vec<u64> {
    let (me, streams) = &draws[0];
    let mut streams = streams.iter().filter(|s| s.purpose == purpose && s.peer == me.next(3));
    let stream = streams.next_back().unwrap();
    stream.drawn.iter().map(|range| range.end - range.start).collect()
}

/// Products over GF(2^128): a mask for each message, x' and r for each verification, a coin for the
/// coefficients, each level and t.
#[test]
fn products_draw_what_they_must() {
    for n in [1_usize, 2, 5, 8] {
        let draws = drawn(|trio| {
            let mut e = engine(trio);
            for _ in 0..2 {
                let values: Vec<u128> = (0..n as u128).collect();
                let (x, y) = (public_blocks(&mut e, &values)?, public_blocks(&mut e, &values)?);
                let z = e.multiply(&x, &y)?;
                let bytes: [Byte; 16] = e.convert(z)?;
                let pending = e.close(bytes.to_vec());
                settle(&mut e, pending)?;
            }
            Ok(e.into_trio())
        });
        let levels = n.next_power_of_two().trailing_zeros() as usize;
        // the products; h(1) and h(inf) of each level; z' and sigma
        let zero = [vec![16 * n as u64], vec![32; levels], vec![16, 16]].concat();
        assert_eq!(lengths(&draws, ZERO), [zero.clone(), zero].concat(), "{n}");
        assert_eq!(lengths(&draws, RAND), [16; 4]);
        assert_eq!(lengths(&draws, COIN), vec![16; 2 * (levels + 2)]);
    }
}

/// S-boxes: a mask for each plane of each message, and all of the verification as often as it is asked for.
#[test]
fn sboxes_draw_what_they_must() {
    for (passes, times) in [(Passes::Once, 1), (Passes::Twice, 2)] {
        let (bytes, lanes) = (9_usize, 70_usize);
        let draws = drawn(|trio| {
            let mut e = engine(trio);
            e.trio().set_passes(passes);
            let mut x: Vec<Byte> = (0..bytes).map(|_| e.public(&vec![1; lanes])).collect();
            e.sbox(Direction::Encrypt, &mut x.iter_mut().collect::<Vec<_>>())?;
            let pending = e.close(x);
            settle(&mut e, pending)?;
            Ok(e.into_trio())
        });
        // nine records of 70 lanes, so two words a plane: 4, 4, 4 and 8 planes; two groups under two
        // relations leave 280 terms
        let words = (bytes * lanes.div_ceil(64)) as u64;
        let layer = [4, 4, 4, 8].map(|planes| 8 * planes * words).to_vec();
        let levels = (4 * lanes).next_power_of_two().trailing_zeros() as usize;
        // 3^3 - 2^3 values of h; the levels; z' and sigma
        let pass = [vec![8 * 19], vec![16; levels], vec![8, 8]].concat();
        assert_eq!(lengths(&draws, ZERO), [layer, vec![pass; times].concat()].concat());
        assert_eq!(lengths(&draws, RAND), vec![8; 2 * times]);
        assert_eq!(lengths(&draws, COIN), vec![16; times * (levels + 3)]);
    }
}

/// Masks and random values of every kind, in two strands and in engines one after the other: nothing is drawn
/// twice, and as much as is wanted.
#[test]
fn masks_and_random_values_are_drawn_once() {
    let draws = drawn(|mut trio| {
        let strand = Trio::new(trio.session().strand()?)?;
        let play = |trio: Trio| {
            let mut e = Rep3::new(trio, Protocol::Lut16, Security::Malicious);
            let x = e.random_bytes(700)?;
            for _ in 0..2 {
                let mask = e.mask(700)?;
                e.open_masked(&x, mask)?;
            }
            let blocks = e.random_blocks(3);
            e.are_zero(&[blocks])?;
            e.trio().barrier()?;
            Ok::<_, Abort>(e.into_trio())
        };
        play(strand)?;
        let trio = play(trio)?;
        play(Trio::new(trio.into_session())?)
    });
    // x, two masks, three blocks; as many factors for the comparison with zero, and x' and r of its
    // verification
    assert_eq!(lengths(&draws, RAND), [vec![700; 3], vec![16; 3 + 3 + 2]].concat());
    let mut of: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    for stream in draws[0].1.iter().filter(|s| s.purpose == RAND) {
        *of.entry((stream.strand, stream.generation)).or_default() += stream.bytes();
    }
    assert_eq!(of.len(), 3);
    assert!(of.values().all(|bytes| *bytes == 2 * (3 * 700 + 8 * 16)), "{of:?}");
}

/// One-hot vectors: a random bit for each bit of the place, in each lane of each record, and a mask for each
/// product.
#[test]
fn vectors_draw_what_they_must() {
    for (protocol, nibbles) in
        [(Protocol::Lut16, 1_u64), (Protocol::Lut256Additive, 2), (Protocol::Lut256, 2)]
    {
        let (layers, bytes, lanes) = (2, 2, 700_usize);
        let draws = drawn(|trio| {
            let mut e = Rep3::new(trio, protocol, Security::SemiHonest);
            e.vectors(layers, bytes, lanes)?;
            Ok(e.into_trio())
        });
        // tiles of 512 and 188 lanes: eight and three words a plane
        let words = 8 * (layers * bytes * (8 + 3)) as u64;
        assert_eq!(lengths(&draws, RAND).iter().sum::<u64>(), 4 * nibbles * words, "{protocol}");
        // products of two, three and four of four bits; of a place of eight bits the 225 of both nibbles
        let products = 11 * nibbles + if protocol == Protocol::Lut256 { 225 } else { 0 };
        assert_eq!(lengths(&draws, ZERO).iter().sum::<u64>(), products * words, "{protocol}");
    }
}

/// A stream is AES-128 in counter mode under the whole of its key.
#[test]
fn every_byte_of_a_key_counts() {
    let first = |key: [u8; 16]| {
        let mut out = [0; 16];
        Prg::new(&key).fill(&mut out);
        out
    };
    // RFC 4493, section 4: AES-128 of zero under the key of its examples
    let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
    assert_eq!(first(key), 0x7df7_6b0c_1ab8_99b3_3e42_f047_b91b_546f_u128.to_be_bytes());
    for byte in 0..16 {
        let mut other = key;
        other[byte] ^= 1;
        assert_ne!(first(other), first(key), "byte {byte}");
    }
}

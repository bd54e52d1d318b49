//! Shares that must not confirm a guess of a secret.

use super::*;
use divisi_core::Verified;
use divisi_field::gf8::tower::{E, phi};
use divisi_field::{Plane, gf4, transpose};
use divisi_rep3::adversary::lookups::{FINISH, additive_entry, held, sets};
use divisi_rep3::deal::Part;
use divisi_rep3::lab::deal_all;
use divisi_rep3::{Byte, OneHots};

fn planes(bytes: &[u8]) -> Vec<[Plane; 8]> {
    let tiles = bytes.chunks(512).map(|bytes| {
        let mut planes = [Plane::ZERO; 8];
        transpose::to_planes(bytes, &mut planes);
        planes
    });
    tiles.collect()
}

fn xor<const K: usize>(x: &[Plane; K], y: &[Plane; K]) -> [Plane; K] {
    std::array::from_fn(|i| x[i] ^ y[i])
}

/// The planes of tile `t` of a message of so many lanes.
fn read<const K: usize>(body: &[u8], lanes: usize, t: usize) -> [Plane; K] {
    let width = (lanes - 512 * t).min(512).div_ceil(8);
    std::array::from_fn(|k| {
        let mut plane = [0; 64];
        let from = t * K * 64 + k * width;
        plane[..width].copy_from_slice(&body[from..from + width]);
        Plane(std::array::from_fn(|w| u64::from_le_bytes(plane[8 * w..8 * w + 8].try_into().unwrap())))
    })
}

/// Asserts that no plane agrees with what a guess predicts in many more than half of the lanes in use. By
/// chance this fails with probability below 2^-40.
fn is_no_guess<const K: usize>(sent: &[Plane; K], guess: &[Plane; K], lanes: usize, what: &str) {
    for (k, (sent, guess)) in sent.iter().zip(guess).enumerate() {
        let same = (0..lanes).filter(|l| sent.lane(*l) == guess.lane(*l)).count();
        let off = (same as f64 - lanes as f64 / 2.0) / (lanes as f64 / 4.0).sqrt();
        assert!(off < 8.0, "{what}, plane {k}: the same in {same} of {lanes} lanes");
    }
}

/// A secret of a byte a lane.
fn secret() -> Vec<u8> {
    (0..LANES).map(|l| (37 * l + l / 7 + 5) as u8).collect()
}

/// The parts of the secret, and the vectors of each layer that party 1 holds, each with both components by
/// tile, after layers on the secret: `layer` does one, and the next is on what it leaves.
fn looked_up(
    harness: TrioHarness,
    protocol: Protocol,
    layers: usize,
    layer: impl Fn(&mut Rep3, &mut Byte, Verified<OneHots>) -> Result<(), Abort> + Sync,
) -> (Part, Vec<Vec<[Vec<Plane>; 2]>>) {
    let parts = deal_all(&[secret()]);
    let holds = harness.act(|mut trio| {
        let mut x = trio.input(&parts[trio.me().index()][0])?;
        let mut e = Rep3::new(trio, protocol, Security::Malicious);
        let mut all = Vec::new();
        for vectors in e.vectors(layers, 1, LANES)? {
            all.push(held(&vectors));
            layer(&mut e, &mut x, vectors)?;
        }
        Ok(all)
    });
    (parts[0][0].clone(), holds.into_iter().next().unwrap().unwrap())
}

/// Party 1 holds two components of everything: with a guess of a secret it has the third, and with it what
/// party 2 would send without a share of zero. In no tile, layer and plane does that agree with what party 2
/// sends, to either peer.
#[test]
fn no_share_of_an_opening_confirms_a_guess() {
    for layers in [1, 3] {
        let harness = TrioHarness::default().patient();
        let honest = harness.recording(party(2));
        // the same secret in each layer
        let (part, mine) = looked_up(harness, Protocol::Lut16, layers, |e, x, vectors| {
            e.sbox_with(Direction::Encrypt, &mut [&mut x.clone()], vectors)
        });
        let sets = sets(Protocol::Lut16);
        let bit = |i: usize| sets.iter().position(|set| *set == 1 << i).unwrap();
        let known = [planes(&part.first), planes(&part.second)];
        let guess = planes(&secret());
        for (layer, vectors) in mine.iter().enumerate() {
            for t in 0..LANES.div_ceil(512) {
                let third = xor(&guess[t], &xor(&known[0][t], &known[1][t]));
                let [(h2, l2), (h3, l3)] = [phi(&known[1][t]), phi(&third)];
                let product = xor(&gf4::mul(&h2, &l2), &gf4::mul(&xor(&h2, &h3), &xor(&l2, &l3)));
                let v = xor(&xor(&gf4::scale(&gf4::square(&h2), E), &product), &gf4::square(&l2));
                let r: [Plane; 4] = std::array::from_fn(|i| vectors[t][1][bit(i)]);
                let share = xor(&v, &r);
                let lanes = (LANES - 512 * t).min(512);
                for peer in [1, 3].map(party) {
                    let sent = honest.bodies(MessageDirection::Out, peer, opening(Protocol::Lut16));
                    let what = format!("layer {layer} of {layers}, tile {t}, to {peer}");
                    is_no_guess(&read::<4>(&sent[layer], LANES, t), &share, lanes, &what);
                }
            }
        }
    }
}

/// The same for the shares that a chain opens from its second layer on: party 1 knows the first c, and with a
/// guess of the input all of the first vector.
#[test]
fn no_share_within_a_chain_confirms_a_guess() {
    let protocol = Protocol::Lut256Additive;
    let harness = TrioHarness::default().patient();
    let seen = harness.recording(party(1));
    let (part, mine) =
        looked_up(harness, protocol, 2, |e, x, vectors| e.sbox_with(Direction::Encrypt, &mut [x], vectors));
    let first = &seen.bodies(MessageDirection::In, party(3), opening(protocol))[0];
    let second = &seen.bodies(MessageDirection::In, party(2), opening(protocol))[0];
    let bits = bits_of_places();
    for (t, share) in entries_of_party_2(&secret(), &part, &mine[0], first).iter().enumerate() {
        let r: [Plane; 8] = std::array::from_fn(|i| mine[1][t][1][bits[i]]);
        let lanes = (LANES - 512 * t).min(512);
        is_no_guess(&read::<8>(second, LANES, t), &xor(share, &r), lanes, &format!("tile {t}"));
    }
}

/// Nor do the shares that party 2 sends at the end of a chain confirm a guess: in any tile, of the first
/// chain, of a later one, or in the difference of two.
#[test]
fn no_tile_of_the_end_of_a_chain_confirms_a_guess() {
    let protocol = Protocol::Lut256Additive;
    let harness = TrioHarness::default().patient();
    let seen = harness.recording(party(1));
    let (part, mine) = looked_up(harness, protocol, 2, |e, x, vectors| {
        let mut x = x.clone();
        e.sbox_with(Direction::Encrypt, &mut [&mut x], vectors)?;
        e.finish(&mut [&mut x])
    });
    let first = seen.bodies(MessageDirection::In, party(3), opening(protocol));
    let sent = seen.bodies(MessageDirection::In, party(2), FINISH);
    assert_eq!([first.len(), sent.len()], [2, 2]);
    let shares = [0, 1].map(|i| entries_of_party_2(&secret(), &part, &mine[i], &first[i]));
    for (t, [one, two]) in shares[0].iter().zip(&shares[1]).map(|(one, two)| [one, two]).enumerate() {
        let lanes = (LANES - 512 * t).min(512);
        let told = sent.iter().map(|sent| read::<8>(sent, LANES, t)).collect::<Vec<_>>();
        is_no_guess(&told[0], one, lanes, &format!("the first chain, tile {t}"));
        is_no_guess(&told[1], two, lanes, &format!("the second chain, tile {t}"));
        is_no_guess(&xor(&told[0], &told[1]), &xor(one, two), lanes, &format!("both, tile {t}"));
    }
}

/// Where the bits of a place stand among the planes of a vector.
fn bits_of_places() -> [usize; 8] {
    let sets = sets(Protocol::Lut256Additive);
    std::array::from_fn(|i| sets.iter().position(|set| *set == 1 << i).unwrap())
}

/// Party 2's shares of the output of a first layer, tile by tile, as party 1 can compute them from a guess of
/// the input, its own components and what it received.
fn entries_of_party_2(
    secret: &[u8],
    part: &Part,
    mine: &[[Vec<Plane>; 2]],
    received: &[u8],
) -> Vec<[Plane; 8]> {
    let known = [planes(&part.first), planes(&part.second)];
    let (guess, bits) = (planes(secret), bits_of_places());
    let entry = |t: usize| {
        let [own, next] = &mine[t];
        let r = |side: &[Plane]| -> [Plane; 8] { std::array::from_fn(|i| side[bits[i]]) };
        let masked = xor(&xor(&known[0][t], &known[1][t]), &xor(&r(own), &r(next)));
        let c = xor(&masked, &read::<8>(received, secret.len(), t));
        let whole = xor(&c, &guess[t]);
        let third: Vec<Plane> = sets(Protocol::Lut256Additive)
            .iter()
            .enumerate()
            .map(|(plane, set)| {
                let bits = (0..8).filter(|i| set >> i & 1 == 1);
                bits.fold(Plane::ONES, |product, i| product & whole[i]) ^ own[plane] ^ next[plane]
            })
            .collect();
        additive_entry([next, &third], &c, Direction::Encrypt, party(2)).unwrap()
    };
    (0..guess.len()).map(entry).collect()
}

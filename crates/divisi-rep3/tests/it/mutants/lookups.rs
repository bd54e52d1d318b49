//! Attacks on lookups: guesses that messages confirm, vectors that nobody verified, outputs that nothing
//! binds.

use crate::common::prelude::*;
use divisi_field::gf8::tower::{E, phi};
use divisi_field::{gf4, transpose};
use divisi_rep3::adversary::lookups::{
    FINISH, PRODUCTS, additive_entry, held, masked, opening, sets, skip_vectors, split_in_layer_9,
};

const COIN: &str = "divisi_rep3::random/coin.share";

/// The number of lanes in which a guess must hold: a wrong one holds by chance with probability 2^-256 at
/// most.
const LANES: usize = 64;

fn secret() -> Vec<u8> {
    (0..LANES).map(|l| (37 * l + 5) as u8).collect()
}

fn planes(bytes: &[u8]) -> [Plane; 8] {
    let mut planes = [Plane::ZERO; 8];
    transpose::to_planes(bytes, &mut planes);
    planes
}

fn xor<const K: usize>(x: &[Plane; K], y: &[Plane; K]) -> [Plane; K] {
    std::array::from_fn(|i| x[i] ^ y[i])
}

/// The planes of a message of [`LANES`] lanes; [`write`] makes the message.
fn read<const K: usize>(body: &[u8]) -> [Plane; K] {
    let word = |i: usize| u64::from_le_bytes(body[8 * i..8 * i + 8].try_into().unwrap());
    std::array::from_fn(|i| Plane([word(i), 0, 0, 0, 0, 0, 0, 0]))
}

fn write<const K: usize>(planes: &[Plane; K]) -> Vec<u8> {
    planes.iter().flat_map(|plane| plane.0[0].to_le_bytes()).collect()
}

/// Party 1 holds components 1 and 2 of x. With a guess of x it has component 3, and with it party 2's share
/// of v + r.
pub fn unmasked_opening(check: Option<Check>) -> bool {
    let parts = deal_all(&[secret()]);
    let harness = TrioHarness::without(check).patient();
    let honest = harness.recording(party(2));
    let holds = harness.act(|mut trio| {
        let part = &parts[trio.me().index()][0];
        let mut x = trio.input(part)?;
        let mut e = Rep3::new(trio, Protocol::Lut16, Security::Malicious);
        let vectors = e.vectors(1, 1, LANES)?.remove(0);
        let holds = held(&vectors).remove(0);
        e.sbox_with(Direction::Encrypt, &mut [&mut x], vectors)?;
        Ok(holds)
    });
    let [_, second_of_vector] = holds[0].as_ref().unwrap();
    let known = [planes(&parts[0][0].first), planes(&parts[0][0].second)];
    let third = xor(&planes(&secret()), &xor(&known[0], &known[1]));
    let [(h2, l2), (h3, l3)] = [phi(&known[1]), phi(&third)];
    let product = xor(&gf4::mul(&h2, &l2), &gf4::mul(&xor(&h2, &h3), &xor(&l2, &l3)));
    let v = xor(&xor(&gf4::scale(&gf4::square(&h2), E), &product), &gf4::square(&l2));
    let sets = sets(Protocol::Lut16);
    let r = std::array::from_fn(|i| second_of_vector[sets.iter().position(|set| *set == 1 << i).unwrap()]);
    write(&xor(&v, &r)) == honest.of(MessageDirection::Out, opening(Protocol::Lut16))[0].frame.body
}

/// Party 1 knows c. With a guess of x it has r, all monomials of r, their component 3, and with it what party
/// 2 sends it at the end of the chain.
pub fn bare_reshare(check: Option<Check>) -> bool {
    let parts = deal_all(&[secret()]);
    let harness = TrioHarness::without(check).patient();
    let seen = harness.recording(party(1));
    let holds = harness.act(|mut trio| {
        let part = &parts[trio.me().index()][0];
        let mut x = trio.input(part)?;
        let mut e = Rep3::new(trio, Protocol::Lut256Additive, Security::Malicious);
        let vectors = e.vectors(1, 1, LANES)?.remove(0);
        let holds = (held(&vectors).remove(0), xor(&masked(&x, &vectors, 0), &masked(&x, &vectors, 1)));
        e.sbox_with(Direction::Encrypt, &mut [&mut x], vectors)?;
        e.finish(&mut [&mut x])?;
        Ok(holds)
    });
    let ([first, second], two_components) = holds[0].as_ref().unwrap();
    let received = seen.of(MessageDirection::In, opening(Protocol::Lut256Additive));
    assert_eq!(received.len(), 1);
    let c = xor(two_components, &read(&received[0].frame.body));
    let r = xor(&c, &planes(&secret()));
    let third: Vec<Plane> = sets(Protocol::Lut256Additive)
        .into_iter()
        .enumerate()
        .map(|(plane, set)| {
            let bits = (0..8).filter(|i| set >> i & 1 == 1);
            bits.fold(Plane::ONES, |product, i| product & r[i]) ^ first[plane] ^ second[plane]
        })
        .collect();
    let share = additive_entry([second, &third], &c, Direction::Encrypt, party(2)).unwrap();
    let sent = seen.of(MessageDirection::In, FINISH).remove(0);
    sent.peer == party(2) && sent.frame.body == write(&share)
}

/// A wrong product in the second of two vectors of 16: whether an honest party opens anything under it.
pub fn second_nibble(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check).patient();
    let honest = harness.recording(party(2));
    // eight lanes: a byte a product, the first vector's six come first
    harness.change(party(1), party(3), PRODUCTS[0], 0, |share| share[6] ^= 1);
    harness.act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Lut256Additive, Security::Malicious);
        let mut x = e.random_bytes(8)?;
        e.sbox(Direction::Encrypt, &mut [&mut x])
    });
    !honest.of(MessageDirection::Out, opening(Protocol::Lut256Additive)).is_empty()
}

/// Party 3 is one vector ahead: whether the others begin to verify what came of it.
pub fn skipped_vector(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check).patient();
    let honest = harness.recording(party(1));
    let results = harness.act(|trio| {
        let me = trio.me();
        let mut e = Rep3::new(trio, Protocol::Lut16, Security::Malicious);
        let mut x = e.random_bytes(8)?;
        e.prepare(2, 1, 8)?;
        if me == party(3) {
            skip_vectors(&mut e, 1, 8);
        }
        e.sbox(Direction::Encrypt, &mut [&mut x])?;
        e.settled(x).map(drop)
    });
    assert!(results.iter().all(Result::is_err)); // no garbage, in any case
    let sent = honest.read();
    let at = |name| {
        let id = Step::new(name).id;
        sent.iter().rposition(|seen| seen.way == MessageDirection::Out && seen.frame.step == id)
    };
    at(COIN) > at(opening(Protocol::Lut16))
}

/// A chain of two S-boxes on a byte that everybody knows; party 1 adds an error to the first output, of which
/// it tells both others.
fn error_in_a_chain(check: Option<Check>, x: u8, error: u8) -> bool {
    let harness = TrioHarness::without(check).patient();
    // the head of the chain is opened to the next party alone
    for (to, nth) in [(2, 1), (3, 0)] {
        harness.change(party(1), party(to), opening(Protocol::Lut256Additive), nth, move |share| {
            (0..8).filter(|i| error >> i & 1 == 1).for_each(|i| share[i] ^= 0xff);
        });
    }
    let results = harness.act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Lut256Additive, Security::Malicious);
        let mut byte = e.public(&[x; 8]);
        e.prepare(2, 1, 8)?;
        e.sbox(Direction::Encrypt, &mut [&mut byte])?;
        e.sbox(Direction::Encrypt, &mut [&mut byte])?;
        e.finish(&mut [&mut byte])?;
        Ok(e.reveal(vec![byte])? == [[sbox(sbox(x)); 8]])
    });
    results[1..].contains(&Ok(false))
}

/// At x = 0 the first equation holds for any y.
pub fn any_output_of_zero(check: Option<Check>) -> bool {
    error_in_a_chain(check, 0, 0x5a)
}

/// With Y = 1 the relation has another root: y = x / (x + 1).
pub fn second_root(check: Option<Check>) -> bool {
    let x = Gf8(2);
    let other = x * (x + Gf8(1)).inverse();
    error_in_a_chain(check, 2, affine((x.inverse() + other).0))
}

/// Party 1 shows party 2 a false opening in layer 9, and compares what party 2 says of its view after layer
/// 10 with what it must be under a guess of layer 9's input.
pub fn digest_of_a_wrong_view(check: Option<Check>) -> bool {
    let x = secret();
    let ninth = |x: &u8| (0..8).fold(*x, |x, _| sbox(x));
    let guess: Vec<u8> = x.iter().map(ninth).collect();
    let wrong: Vec<u8> = guess.iter().map(|v| v ^ 2).collect();
    // party 3 may end the session before party 2 says anything
    let [right, wrong] = [guess, wrong].map(|guess| {
        (0..20).find_map(|_| {
            let split = split_in_layer_9(TrioHarness::without(check).patient(), &x, &guess);
            assert!(split.results.iter().all(Result::is_err));
            split.confirmed
        })
    });
    assert!(wrong != Some(true));
    right == Some(true)
}

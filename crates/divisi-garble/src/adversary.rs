//! Corrupt parties for tests (feature `testing`; never part of a build that holds real secrets). Such a party
//! runs changed protocol code. A test that changes messages on their way could not do the same, because later
//! messages must be consistent with the first wrong one.

use crate::aand::{combine, difference_bits, first_shares, open_differences};
use crate::context::TripleContext;
use crate::laand::{expanded, laand};
use crate::phases::Live;
use crate::share::Shares;
use crate::triples::{MasksAndTriples, Preprocessed, Triples};
use crate::zero;
use crate::{Garble, Plan};
use divisi_core::{Abort, DrawPurpose, Prg, Session};
use divisi_ot::partition::{Partition, shuffle};
use std::cmp::Reverse;
use zeroize::Zeroizing;

/// How a corrupt party deviates. It sends the same wrong value to all, and continues consistently with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is there for tests alone")]
pub enum TripleLie {
    /// It follows the protocol.
    Honest,
    /// In every triple it computes with bits x that differ from its authenticated ones.
    OtherX,
    /// It does so in the triple at this position only.
    OneX(usize),
    /// It sends a wrong e for the first triple, the same to all.
    OtherE,
    /// It sends a wrong e for some triples, whose coefficients would add up to zero if this were the coin of
    /// the check.
    HiddenFrom([u8; 16]),
    /// It guesses that x is zero in as many triples as make its success most probable.
    Guess,
    /// It opens wrong differences d in every second bucket.
    FlippedBucket,
    /// It opens a wrong d for every second AND.
    FlippedD,
    /// It opens a wrong e for every second AND.
    FlippedE,
}

/// Runs a plan as one party that deviates. The outputs it returns mean nothing.
///
/// # Errors
/// The abort that ends the session, if a link or a check fails.
pub fn play(
    garble: &mut Garble,
    session: &mut Session,
    plan: &Plan<'_>,
    inputs: &[Vec<u8>],
    lie: TripleLie,
) -> Result<Vec<Zeroizing<Vec<u8>>>, Abort> {
    let ands = inputs.len() * plan.and_count();
    let wires = inputs.len() * (plan.input_bits() + plan.and_count());
    let mut made =
        garble.with(session, |live, session| Ok(independent(live, session, ands, wires, lie)?.0))?;
    let flip = |bits: &mut [u8]| bits.iter_mut().step_by(2).for_each(|bit| *bit ^= 1);
    match lie {
        TripleLie::FlippedD => flip(&mut made.triples.x.bits),
        TripleLie::FlippedE => flip(&mut made.triples.y.bits),
        _ => {}
    }
    let mut made = Preprocessed::new(session, made);
    let garbled = garble.function_dependent(session, &mut made, plan, inputs.len())?;
    garble.online(session, garbled, inputs)
}

/// [`Garble::function_independent`] in one batch, as a party that deviates; also whether some bucket consists
/// of spoiled triples only.
///
/// # Errors
/// The abort that ends the session, if a link or a check fails.
fn independent(
    garble: &mut Live,
    session: &mut Session,
    ands: usize,
    wires: usize,
    lie: TripleLie,
) -> Result<(MasksAndTriples, bool), Abort> {
    session.phase(crate::INDEPENDENT_PHASE);
    let bucket = garble.bucket(session, ands)?;
    let m = ands * bucket;
    let count = 3 * m + wires + zero::bits(garble.seats.n);
    let bits = garble.setup.authenticated_bits(session, count)?;
    let bits = Shares::of(session.me(), bits);
    let masks = bits.copy(3 * m..3 * m + wires);
    let context = TripleContext {
        seats: garble.seats,
        oracle: &garble.oracle,
        form: garble.options.form,
        first: garble.next_triple,
        fresh: bits.copy(3 * m + wires..count),
    };
    garble.next_triple += m as u64;
    let [mut x, mut y, mut r] = [0, 1, 2].map(|i| bits.copy(i * m..(i + 1) * m));
    let flip = |bits: &mut [u8]| bits.iter_mut().for_each(|bit| *bit ^= 1);
    let lied = |bits: &mut [u8]| match lie {
        TripleLie::OtherX => flip(bits),
        TripleLie::OneX(t) => bits[t] ^= 1,
        _ => {}
    };
    lied(&mut x.bits);
    r.bits[0] ^= u8::from(lie == TripleLie::OtherE);
    if let TripleLie::HiddenFrom(coin) = lie {
        hidden(&coin, m).iter().for_each(|t| r.bits[*t] ^= 1);
    }
    let spoiled: Vec<u32> =
        if lie == TripleLie::Guess { chosen(session, m, (2 * bucket - 1).min(m)) } else { vec![] };
    // a wrong y in Phi: the triple is still right where x is zero
    spoiled.iter().for_each(|t| y.bits[*t as usize] ^= 1);
    let z = &mut r.view_mut();
    let partition = laand(session, &mut garble.setup, &context, &x.view(0..m), &y.view(0..m), z)?;
    spoiled.iter().for_each(|t| y.bits[*t as usize] ^= 1);
    lied(&mut x.bits);
    let (x, y) = (x.view(0..m), y.view(0..m));
    let partition = Partition::new(&partition, m, bucket);
    let mut spoiled_in = vec![0; ands];
    spoiled.iter().for_each(|t| spoiled_in[partition.bucket_of(*t as usize)] += 1);
    let known = spoiled_in.contains(&bucket);
    let firsts = first_shares(&partition, &y);
    let mut d = difference_bits(&partition, &firsts, y.bits);
    if lie == TripleLie::FlippedBucket {
        d.iter_mut().step_by(2 * (bucket - 1)).for_each(|bit| *bit ^= 1);
    }
    let delta = garble.setup.delta().get();
    let opened = open_differences(session, garble.seats, &d, &firsts, &y, &partition, delta)?;
    let triples: Triples = combine([&x, &r.view(0..m)], firsts, &partition, &opened);
    Ok((MasksAndTriples { masks, triples }, known))
}

/// Positions of at most 129 triples whose coefficients from this coin add up to zero.
fn hidden(coin: &[u8; 16], m: usize) -> Vec<usize> {
    let mut words = vec![0; 2 * m];
    Prg::new(&expanded(coin, "coefficients")).words(&mut words);
    // sums of coefficients with the triples in each, every sum reduced by the earlier ones
    let mut reduced: Vec<(u128, Vec<usize>)> = Vec::new();
    for (t, word) in words.chunks_exact(2).enumerate() {
        let mut sum = u128::from(word[0]) | u128::from(word[1]) << 64;
        let mut of = vec![t];
        for (other, its) in &reduced {
            if sum ^ other < sum {
                sum ^= other;
                // a triple that occurs twice cancels
                its.iter().for_each(|t| match of.iter().position(|o| o == t) {
                    Some(at) => drop(of.swap_remove(at)),
                    None => of.push(*t),
                });
            }
        }
        if sum == 0 {
            return of;
        }
        reduced.push((sum, of));
        reduced.sort_unstable_by_key(|(sum, _)| Reverse(*sum));
    }
    Vec::new()
}

static CHOSEN: DrawPurpose = DrawPurpose::of_test("positions of lies");

/// `count` different positions below `m`, at random.
fn chosen(session: &Session, m: usize, count: usize) -> Vec<u32> {
    let mut seed = [0; 16];
    session.entropy(&CHOSEN, &mut seed);
    let mut all: Vec<u32> = (0..m as u32).collect();
    shuffle(&seed, &mut all);
    all[..count].to_vec()
}

/// For each d that a batch opens, in order: the two triples whose y it is the sum of, if this is the batch's
/// coin.
#[must_use]
pub fn differences(coin: &[u8; 16], m: usize, bucket: usize) -> Vec<[usize; 2]> {
    let partition = Partition::new(&expanded(coin, "partition"), m, bucket);
    partition.pairs().map(|pair| pair.map(|t| t as usize)).collect()
}

/// Makes triples as a party that guesses. Returns whether nobody noticed and some triple's x is known in
/// full.
///
/// # Errors
/// The abort that ends the session, if a link or a check fails.
pub fn guess(garble: &mut Garble, session: &mut Session, ands: usize, lie: TripleLie) -> Result<bool, Abort> {
    garble.with(session, |live, session| Ok(independent(live, session, ands, 1, lie)?.1))
}

/// Makes triples twice; the second time it deviates as `lie` says, once the first triples are there.
///
/// # Errors
/// The abort that ends the session, if a link or a check fails.
pub fn second_batch(
    garble: &mut Garble,
    session: &mut Session,
    ands: usize,
    lie: impl FnOnce() -> TripleLie,
) -> Result<(), Abort> {
    garble.with(session, |live, session| {
        independent(live, session, ands, 1, TripleLie::Honest)?;
        independent(live, session, ands, 1, lie()).map(|_| ())
    })
}

//! Corrupt parties of a test (feature `testing`; never part of a build that holds real secrets): their own code deviates, which does
//! what a hand on their messages cannot, because later steps must fit the lie.

use crate::aand::{Partition, combine, open_differences, shuffle};
use crate::ground::Ground;
use crate::laand::laand;
use crate::phases::Live;
use crate::share::Shares;
use crate::triples::{Preprocessed, Triples};
use crate::zero;
use crate::{Garble, Plan};
use divisi_core::{Abort, Session};
use zeroize::Zeroizing;

/// How a party deviates. Every lie is told to all, and kept to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// None.
    Honest,
    /// It multiplies with other bits x than those that are authenticated, in every triple.
    OtherX,
    /// It does so in the triple at this position only.
    OneX(usize),
    /// It tells another e of the first triple, to all alike.
    OtherE,
    /// It guesses that x is zero in as many triples as promise most.
    Guess,
    /// It opens other d in every second bucket.
    FlippedBucket,
    /// It opens other d, of every second AND.
    FlippedD,
    /// It opens other e, of every second AND.
    FlippedE,
}

/// One party's run of a plan, deviating: what it ends with does not matter.
///
/// # Errors
/// Its abort.
pub fn play(
    garble: &mut Garble,
    session: &mut Session,
    plan: &Plan<'_>,
    inputs: &[Vec<u8>],
    lie: Lie,
) -> Result<Vec<Zeroizing<Vec<u8>>>, Abort> {
    let ands = inputs.len() * plan.and_count();
    let wires = inputs.len() * (plan.input_bits() + plan.and_count());
    let mut made =
        garble.with(session, |live, session| Ok(independent(live, session, ands, wires, lie)?.0))?;
    let flip = |bits: &mut Vec<u8>| bits.iter_mut().step_by(2).for_each(|bit| *bit ^= 1);
    match lie {
        Lie::FlippedD => flip(&mut made.triples.x.bits),
        Lie::FlippedE => flip(&mut made.triples.y.bits),
        _ => {}
    }
    let garbled = garble.function_dependent(session, &mut made, plan, inputs.len())?;
    garble.online(session, garbled, inputs)
}

/// [`Garble::function_independent`] in one batch, deviating, and whether a bucket was spoiled altogether.
///
/// # Errors
/// Its abort.
fn independent(
    garble: &mut Live,
    session: &mut Session,
    ands: usize,
    wires: usize,
    lie: Lie,
) -> Result<(Preprocessed, bool), Abort> {
    session.phase(crate::INDEPENDENT_PHASE);
    let bucket = garble.bucket(session, ands)?;
    let m = ands * bucket;
    let count = 3 * m + wires + zero::bits(garble.seats.n);
    let bits = garble.setup.authenticated_bits(session, count)?;
    let bits = Shares::of(session.me(), bits);
    let masks = bits.copy(3 * m..3 * m + wires);
    let ground = Ground {
        seats: garble.seats,
        oracle: &garble.oracle,
        form: garble.options.form,
        first: garble.next_triple,
        fresh: bits.copy(3 * m + wires..count),
    };
    garble.next_triple += m as u64;
    let [mut x, mut y, mut r] = [0, 1, 2].map(|i| bits.copy(i * m..(i + 1) * m));
    let flip = |bits: &mut Vec<u8>| bits.iter_mut().for_each(|bit| *bit ^= 1);
    let lied = |bits: &mut Vec<u8>| match lie {
        Lie::OtherX => flip(bits),
        Lie::OneX(t) => bits[t] ^= 1,
        _ => {}
    };
    lied(&mut x.bits);
    r.bits[0] ^= u8::from(lie == Lie::OtherE);
    let spoiled: Vec<u32> =
        if lie == Lie::Guess { chosen(session, m, (2 * bucket - 1).min(m)) } else { vec![] };
    // another y in Phi: right exactly where x is zero
    spoiled.iter().for_each(|t| y.bits[*t as usize] ^= 1);
    let z = &mut r.view_mut();
    let partition = laand(session, &mut garble.setup, &ground, &x.view(0..m), &y.view(0..m), z)?;
    spoiled.iter().for_each(|t| y.bits[*t as usize] ^= 1);
    lied(&mut x.bits);
    let (x, y) = (x.view(0..m), y.view(0..m));
    let partition = Partition::new(&partition, m, bucket);
    let mut spoiled_in = vec![0; ands];
    spoiled.iter().for_each(|t| spoiled_in[partition.bucket_of(*t as usize)] += 1);
    let known = spoiled_in.contains(&bucket);
    let firsts = partition.first_shares(&y);
    let mut d = partition.difference_bits(&firsts, y.bits);
    if lie == Lie::FlippedBucket {
        d.iter_mut().step_by(2 * (bucket - 1)).for_each(|bit| *bit ^= 1);
    }
    let delta = garble.setup.delta().get();
    let opened = open_differences(session, garble.seats, &d, &firsts, &y, &partition, delta)?;
    let triples: Triples = combine([&x, &r.view(0..m)], firsts, &partition, &opened);
    Ok((Preprocessed { masks, triples }, known))
}

/// So many of `m` triples, at random.
fn chosen(session: &Session, m: usize, count: usize) -> Vec<u32> {
    let mut seed = [0; 16];
    session.entropy(&mut seed);
    let mut all: Vec<u32> = (0..m as u32).collect();
    shuffle(&seed, &mut all);
    all[..count].to_vec()
}

/// Make triples, guessing: whether nobody noticed, and all of some triple's x is known.
///
/// # Errors
/// Its abort.
pub fn guess(garble: &mut Garble, session: &mut Session, ands: usize, lie: Lie) -> Result<bool, Abort> {
    garble.with(session, |live, session| Ok(independent(live, session, ands, 1, lie)?.1))
}

/// Make triples twice; with a difference, the second time with another Delta than the first, also (`rows`) in the keys of others' bits.
///
/// # Errors
/// Its abort.
#[cfg(feature = "fault")]
pub fn another_delta(
    garble: &mut Garble,
    session: &mut Session,
    ands: usize,
    difference: Option<u128>,
    rows: bool,
) -> Result<(), Abort> {
    garble.with(session, |live, session| {
        independent(live, session, ands, 1, Lie::Honest)?;
        if let Some(difference) = difference {
            live.setup.take_another_delta(difference, rows);
        }
        independent(live, session, ands, 1, Lie::Honest).map(|_| ())
    })
}

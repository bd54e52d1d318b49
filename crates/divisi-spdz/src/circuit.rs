//! A circuit among any number of parties: inputs of any party, outputs to chosen ones.
//!
//! Adversary: that of [`crate`]; all parties but one may deviate, as owners, as computing parties and as
//! receivers.
//!
//! 1. The owner of a value broadcasts it masked by bits that it alone knows ([`enter`]).
//! 2. The circuit runs as a Boolean program over products of bits, and everything opened is checked.
//! 3. Each output value goes to its own receivers ([`deliver`]). Values for all parties are opened to all and
//!    checked; for a value to some, its sum with bits that the receiver alone knows is opened, and the
//!    receiver checks it, too \[K24\]. Each receiver has bits of its own, so that what is opened for one
//!    tells others nothing.

use crate::{AuthBit, Host, Spdz};
use divisi_core::{Abort, Boolean, Lanes, Misuse, Opens, PartyId, Settles, Step, Verified, step};
use zeroize::Zeroizing;

const INPUT: Step = step!("run.input");

/// Output wires that go to the same parties: the parties, and the numbers of the wires.
pub(crate) type Group = (Vec<PartyId>, Vec<usize>);

/// Bits of wires at a party, one to a byte, evaluation after evaluation.
pub(crate) type WireBits = Zeroizing<Vec<u8>>;

/// All parties' inputs in the order of the wires, with a lane for each evaluation. `places` has each party's
/// wires, and `own` the bits of this party's.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for wires that nobody owns.
pub(crate) fn enter<F: Host>(
    e: &mut Spdz<F>,
    places: &[(PartyId, Vec<usize>)],
    count: usize,
    own: &[u8],
) -> Result<Vec<AuthBit<F>>, Abort> {
    let me = e.session().me();
    let owned: Vec<_> = places.iter().map(|(owner, places)| (*owner, places.len() * count)).collect();
    e.preprocess_known(&owned)?;
    let mut wires: Vec<Option<AuthBit<F>>> = vec![None; places.iter().map(|(_, own)| own.len()).sum()];
    for (owner, places) in places.iter().filter(|(_, places)| !places.is_empty()) {
        // wire by wire, and of each wire all evaluations
        let bit = |at: usize| own.get(at % count.max(1) * places.len() + at / count.max(1)) == Some(&1);
        let mine: Option<Zeroizing<Vec<bool>>> =
            (*owner == me).then(|| Zeroizing::new((0..places.len() * count).map(bit).collect()));
        let all = e.input_bits(*owner, mine.as_ref().map(|bits| bits.as_slice()), places.len() * count)?;
        for (i, place) in places.iter().enumerate() {
            let lanes: Vec<usize> = (i * count..(i + 1) * count).collect();
            if let Some(wire) = wires.get_mut(*place) {
                *wire = all.gather(&lanes);
            }
        }
    }
    let misfit = Abort::Misuse { step: INPUT, what: Misuse::PartyUnknown };
    wires.into_iter().collect::<Option<_>>().ok_or(misfit)
}

/// The number of output bits that this party learns and not all parties do: each takes a mask of its own.
pub(crate) fn told_to(groups: &[Group], parties: usize, receiver: PartyId) -> usize {
    let to_some = groups.iter().filter(|(receivers, _)| receivers.len() < parties);
    to_some.filter(|(receivers, _)| receivers.contains(&receiver)).map(|(_, wires)| wires.len()).sum()
}

/// Open each output to its receivers; returns what this party learns, by groups of which it is a receiver.
///
/// # Errors
/// The abort that ends the session.
pub(crate) fn deliver<F: Host>(
    e: &mut Spdz<F>,
    groups: Vec<Group>,
    count: usize,
    out: &Verified<Vec<AuthBit<F>>>,
) -> Result<Vec<(Group, WireBits)>, Abort> {
    let in_rows = |wires: Vec<Vec<bool>>| {
        let row = |lane: usize| wires.iter().filter_map(move |wire| wire.get(lane)).map(|bit| u8::from(*bit));
        Zeroizing::new((0..count).flat_map(row).collect::<Vec<u8>>())
    };
    let parties = e.session().parties();
    let (to_all, to_some): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|(receivers, _)| receivers.len() == parties);
    // one request for the masks of all receivers, before anything is opened
    let told = |receiver: PartyId| (receiver, told_to(&to_some, parties, receiver) * count);
    e.preprocess_known(&PartyId::all(parties).map(told).collect::<Vec<_>>())?;
    let mut learned = Vec::with_capacity(to_all.len() + 1);
    for group in to_all {
        let wires: Vec<Vec<bool>> = Opens::<Vec<AuthBit<F>>>::open(e, out.select(&group.1))?;
        learned.push((group, in_rows(wires)));
    }
    for receiver in PartyId::all(parties) {
        let own = to_some.iter().filter(|(receivers, _)| receivers.contains(&receiver));
        let wires: Vec<usize> = own.flat_map(|(_, wires)| wires.iter().copied()).collect();
        if wires.is_empty() {
            continue;
        }
        let bits = out.select(&wires).into_inner();
        let all = e.join_bits(&bits.iter().collect::<Vec<_>>());
        // joining only reorders wires that were settled, so nothing is owed
        let verified = e.settled(all)?;
        if let Some(bits) = e.output_bits_to(receiver, verified)? {
            let rows = in_rows(bits.chunks(count.max(1)).map(<[bool]>::to_vec).collect());
            learned.push(((vec![receiver], wires), rows));
        }
    }
    Ok(learned)
}

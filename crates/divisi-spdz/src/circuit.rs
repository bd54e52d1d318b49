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

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::SpdzProtocol;
    use crate::dealer::Dealer;
    use divisi_core::testing::run;
    use divisi_core::{PublicParameters, Session};
    use divisi_field::Gf48;

    fn engine(session: Session) -> Result<Spdz<Gf48>, Abort> {
        let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
        Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)
    }

    fn party(number: usize) -> PartyId {
        PartyId::all(3).nth(number - 1).unwrap()
    }

    /// The bits of these wires, evaluation after evaluation.
    fn rows(call: usize, wires: &[usize], count: usize) -> Vec<u8> {
        let bit = |wire: usize, lane: usize| u8::from((wire * wire + 3 * lane + call) % 7 < 3);
        (0..count).flat_map(|lane| wires.iter().map(move |wire| bit(*wire, lane))).collect()
    }

    /// What a party learns: the parties that learn it, the wires, and their bits.
    type Learned = Vec<(Vec<PartyId>, Vec<usize>, Vec<u8>)>;

    /// Each input comes to its wires, and each output goes to its receivers, in every evaluation; nobody
    /// learns another one.
    #[test]
    fn inputs_and_outputs_have_their_places() {
        let [p1, p2, p3] = [1, 2, 3].map(party);
        let places = [(p1, vec![4, 0]), (p2, vec![]), (p3, vec![1, 3, 2])];
        let groups = [
            (vec![p1, p2, p3], vec![3, 0]),
            (vec![p1, p3], vec![1, 4]),
            (vec![p2], vec![2]),
            (vec![p3], vec![0]),
        ];
        assert_eq!([p1, p2, p3].map(|to| told_to(&groups, 3, to)), [2, 1, 3]);
        let counts = [9, 1, 300];
        let ends = run(3, &PublicParameters::new("circuits"), |session| {
            let mut e = engine(session)?;
            let own = &places[e.session().me().index()].1;
            let mut all = Vec::new();
            for (call, count) in counts.into_iter().enumerate() {
                let wires = enter(&mut e, &places, count, &rows(call, own, count))?;
                let wires = e.settled(wires)?;
                let before = e.session().meter().read().openings;
                let learned = deliver(&mut e, groups.to_vec(), count, &wires)?;
                // of what is for all each wire once, of the rest each receiver's, masked
                let opened = e.session().meter().read().openings - before;
                assert_eq!(opened, ((2 + 2 + 1 + 3) * count) as u64);
                all.push(learned.into_iter().map(|((to, wires), bits)| (to, wires, bits.to_vec())).collect());
            }
            Ok(all)
        });
        let own = [(p1, vec![1, 4]), (p2, vec![2]), (p3, vec![1, 4, 0])];
        for (end, (me, wires)) in ends.into_iter().zip(own) {
            let right = counts.into_iter().enumerate().map(|(call, count)| {
                let bits = |wires: &[usize]| rows(call, wires, count);
                let (all, to_all) = groups[0].clone();
                vec![(all, to_all.clone(), bits(&to_all)), (vec![me], wires.clone(), bits(&wires))]
            });
            assert_eq!(end, Ok(right.collect::<Vec<Learned>>()), "{me}");
        }
    }

    /// What goes to all parties but one is opened to none but these, whoever that one is.
    #[test]
    fn the_last_of_many_parties_learns_its_own_alone() {
        let all: Vec<PartyId> = PartyId::all(4).collect();
        let groups: Vec<Group> = (0..4).map(|i| ([&all[..i], &all[i + 1..]].concat(), vec![i])).collect();
        let ends = run(4, &PublicParameters::new("circuits"), |session| {
            let mut e = engine(session)?;
            let me = e.session().me();
            let own = rows(0, &[0, 1, 2, 3], 5);
            let mine = if me == PartyId::P1 { own.as_slice() } else { &[] };
            let wires = enter(&mut e, &[(PartyId::P1, vec![0, 1, 2, 3])], 5, mine)?;
            let wires = e.settled(wires)?;
            let learned = deliver(&mut e, groups.clone(), 5, &wires)?;
            Ok(learned.into_iter().map(|((_, wires), bits)| (wires, bits.to_vec())).collect::<Vec<_>>())
        });
        for (i, end) in ends.into_iter().enumerate() {
            let wires: Vec<usize> = (0..4).filter(|wire| *wire != i).collect();
            let bits = rows(0, &wires, 5);
            assert_eq!(end, Ok(vec![(wires, bits)]), "{i}");
        }
    }

    #[test]
    fn a_wire_that_nobody_owns_is_refused() {
        let ends = run(3, &PublicParameters::new("circuits"), |session| {
            let mut e = engine(session)?;
            let own = [0; 2];
            let mine = &own[..if e.session().me() == party(1) { 2 } else { 0 }];
            Ok(enter(&mut e, &[(party(1), vec![0, 0])], 1, mine).map(drop))
        });
        for end in ends {
            let unknown = |end| matches!(end, Err(Abort::Misuse { what: Misuse::PartyUnknown, .. }));
            assert!(unknown(end.unwrap()));
        }
    }
}

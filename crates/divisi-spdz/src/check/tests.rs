//! What the check detects: lies about any of the values, about any bit of sigma, and by parties that wait for
//! the others' messages.

use super::{COIN, COMMIT, OPEN, combinations};
use crate::checks;
use crate::dealer::Dealer;
use crate::part::{Shareable, Word32};
use crate::party::Party;
use crate::share::Auth;
use crate::source::Products;
use divisi_core::testing::{Harness, MessageDirection, failed_check, links, party};
use divisi_core::{Abort, PartyId, PublicParameters, Step, step};
use divisi_field::{Field, Gf2, Gf8, Gf48};
use std::collections::HashSet;

const OPENED: Step = step!("opened");
const DONE: Step = step!("done");

fn harness(n: usize) -> Harness {
    Harness::new(n, &PublicParameters::new("checks of MACs"))
}

/// Open random elements; P_2 adds `d` to those at the given positions.
fn opened(
    party: &mut Party<Gf48>,
    dealer: &mut Dealer<Gf48>,
    count: usize,
    lies: &[usize],
    d: u128,
) -> Result<(), Abort> {
    let mut x = dealer.element_triples(party, count)?.b;
    if party.me().index() == 1 {
        lies.iter().for_each(|at| x.x[*at] += Gf48::from_low_bits(d));
    }
    party.open(OPENED, &x.x, &x.m).map(drop)
}

/// The parts of all parties of sharings of zero, for parties and for clients, as they are sent.
pub(super) fn zeros<V: Shareable>(count: usize) -> Vec<[Vec<u8>; 2]> {
    let ends = harness(3).act(|session| {
        let (mut party, _) = Dealer::<Gf48>::deal(session, 7)?;
        let mut parts = vec![V::default(); count];
        let (mut told, mut of_client) = (Vec::new(), Vec::new());
        party.for_client(&parts, &mut of_client);
        party.randomise(&mut parts);
        V::pack(&parts, &mut told);
        Ok([told, of_client])
    });
    ends.into_iter().collect::<Result<_, Abort>>().unwrap_or_default()
}

/// Sharings of zero, for parties and for clients, have a fresh part for every value of a long list: each bit
/// takes both values, no part returns, and the parts of all parties add up to zero.
fn sharings_are_fresh<V: Shareable>() {
    const COUNT: usize = 5184;
    let ends = zeros::<V>(COUNT);
    let whole = V::BITS.div_ceil(8);
    for ([one, of_client], at) in ends.iter().zip(0..) {
        let sum = |k: usize| ends.iter().fold(vec![0; one.len()], |sum, end| add(&sum, &end[k]));
        assert!(sum(0).iter().chain(&sum(1)).all(|byte| *byte == 0), "{at}");
        for list in [one, of_client] {
            assert_eq!(list.len(), COUNT * V::BITS / 8);
            for byte in 0..whole {
                let all = || list.iter().skip(byte).step_by(whole);
                assert_eq!((all().fold(0, |x, y| x | y), all().fold(0xff, |x, y| x & y)), (0xff, 0), "{at}");
            }
        }
        let different: HashSet<&[u8]> = one.windows(16).chain(of_client.windows(16)).collect();
        assert_eq!(different.len(), 2 * (one.len() - 15), "{at}");
    }
    assert_eq!(ends.len(), 3);
}

fn add(x: &[u8], y: &[u8]) -> Vec<u8> {
    x.iter().zip(y).map(|(x, y)| x ^ y).collect()
}

#[test]
fn sharings_of_zero_have_a_part_for_every_value() {
    sharings_are_fresh::<Gf2>();
    sharings_are_fresh::<Gf8>();
    sharings_are_fresh::<Word32>();
    sharings_are_fresh::<Gf48>();
}

/// A lie about any value is noticed, and so are two lies that add up to zero: no two values have the same
/// coefficient, in one block of values that are combined together or in different blocks.
#[test]
fn a_lie_anywhere_is_noticed() {
    let count = 1300;
    let check = |lies: &[usize], d: u128| {
        harness(2).act(|session| {
            let (mut party, mut dealer) = Dealer::deal(session, 7)?;
            opened(&mut party, &mut dealer, count, lies, d)?;
            party.check()
        })
    };
    assert!(check(&[], 0).iter().all(Result::is_ok));
    let single = [0, 1, 511, 512, 513, 1024, 1299].map(|at| vec![at]);
    let pairs =
        [[0, 1], [0, 511], [3, 4], [511, 512], [5, 517], [5, 1029], [0, 1299]].map(|two| two.to_vec());
    for lies in single.iter().chain(&pairs) {
        for d in [1, 1 << 8, 1 << 47] {
            let ends = check(lies, d);
            assert!(ends.iter().all(Result::is_err), "{lies:?} {d}");
            assert!(ends.iter().any(|end| failed_check(end) == Some(checks::K4)), "{lies:?} {d}");
        }
    }
}

/// Steps 1 to 4 of the check as a rushing P_2 does them. It tells each peer another sigma, as the peer's
/// [`Lie`] says, and opens it only when it has received the peer's own.
fn rush(party: &mut Party<Gf48>, peers: &[(PartyId, Lie)]) -> Result<(), Abort> {
    rushed(party, peers).map(drop)
}

/// What [`rush`] does; returns the coin of the check.
fn rushed(party: &mut Party<Gf48>, peers: &[(PartyId, Lie)]) -> Result<[u8; 16], Abort> {
    let mut ledger = party.take_ledger();
    if let Some(views) = ledger.views.take() {
        views.send(&mut party.session)?.compare(&mut party.session, checks::K1)?;
    }
    let coin = party.coins.toss(&mut party.session, COIN)?;
    let [x, m] = combinations(&coin, [&ledger.x, &ledger.m]);
    let mut sigma = [m + party.alpha()? * x];
    party.randomise(&mut sigma);
    let bytes = |x: Gf48| x.to_le_bytes().as_ref().to_vec();
    let index = party.session.count(COMMIT.name);
    let mut openings = Vec::new();
    for (peer, lie) in peers {
        let told = match lie {
            Lie::Add(e) => sigma[0] + *e,
            // chi of the only lie, which added one to the first value
            Lie::Forge(alpha) => {
                let mut list = vec![Gf48::ZERO; ledger.x.len()];
                list[0] = Gf48::ONE;
                let [chi, _] = combinations(&coin, [&list, &list]);
                sigma[0] + *alpha * chi
            }
            Lie::Reflect => sigma[0],
        };
        let (commitment, nonce) = party.session.commit(COMMIT, index, &bytes(told));
        party.session.send(COMMIT, *peer, &commitment.0, 0)?;
        openings.push((nonce, bytes(told)));
    }
    for (peer, _) in peers {
        party.session.recv(COMMIT, *peer, &mut [0; 32])?;
    }
    for ((peer, lie), (nonce, told)) in peers.iter().zip(openings) {
        let mut theirs = vec![0; 32 + Gf48::BYTES];
        party.session.recv(OPEN, *peer, &mut theirs)?;
        let told = if *lie == Lie::Reflect { theirs[32..].to_vec() } else { told };
        let opening = [nonce.as_bytes().to_vec(), told].concat();
        party.session.send(OPEN, *peer, &opening, 0)?;
        if peers.len() > 1 {
            // the next one receives nothing before this one has decided
            party.session.recv(DONE, *peer, &mut [0])?;
        }
    }
    Ok(coin)
}

#[derive(Clone, Copy, PartialEq)]
enum Lie {
    /// P_2's own sigma plus this.
    Add(Gf48),
    /// The sigma with which the sum is zero although P_2 added one to the first value, if this is alpha.
    Forge(Gf48),
    /// The peer's own sigma, with the nonce of a commitment to another sigma.
    Reflect,
}

/// How P_1's check ends if P_2 is rushing and adds one to each of the values at `lies`.
fn against(lies: &'static [usize], lie: Lie) -> Result<(), Abort> {
    let ends = harness(2).act(|session| {
        let corrupt = session.me() == party(2);
        let (mut party, mut dealer) = Dealer::deal(session, 7)?;
        opened(&mut party, &mut dealer, 3, lies, 1)?;
        if corrupt { rush(&mut party, &[(divisi_core::testing::party(1), lie)]) } else { party.check() }
    });
    ends.into_iter().next().unwrap()
}

#[test]
fn every_bit_of_the_sum_counts() {
    assert!(against(&[], Lie::Add(Gf48::ZERO)).is_ok());
    for bit in 0..48 {
        let end = against(&[], Lie::Add(Gf48::from_low_bits(1 << bit)));
        assert_eq!(failed_check(&end), Some(checks::K4), "{bit}");
    }
}

/// P_2 opened a wrong value, and receives P_1's sigma before it opens its own. If it could send the same
/// sigma back, the sum would be zero; but its nonce opens its commitment to its own sigma only.
#[test]
fn a_commitment_binds_its_sigma() {
    assert_eq!(failed_check(&against(&[0], Lie::Add(Gf48::ZERO))), Some(checks::K4));
    assert_eq!(failed_check(&against(&[0], Lie::Reflect)), Some(checks::K21));
}

/// Commitments are not echoed, so the adversary may guess alpha once towards each honest party. The party
/// towards which the guess is right accepts a wrong opening. So the check reports n/|F|.
#[test]
fn each_honest_party_is_a_guess() {
    for (right, wrong) in [(1, 3), (3, 1)] {
        let ends = harness(3).act(|session| {
            let corrupt = session.me() == party(2);
            let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
            opened(&mut party, &mut dealer, 3, &[0], 1)?;
            if corrupt {
                let alpha = dealer.alpha();
                let guesses = [Lie::Forge(alpha), Lie::Forge(alpha + Gf48::ONE)];
                let peers = [right, wrong].map(divisi_core::testing::party);
                return rush(&mut party, &[(peers[0], guesses[0]), (peers[1], guesses[1])]);
            }
            party.check()?;
            let bits = party.counts().verification_error_bits.unwrap();
            assert!((bits - (48.0 - 3_f64.log2())).abs() < 1e-9);
            party.session.send(DONE, divisi_core::testing::party(2), &[0], 0)
        });
        assert!(ends[right as usize - 1].is_ok(), "{right}: {ends:?}");
        assert_eq!(failed_check(&ends[wrong as usize - 1]), Some(checks::K4), "{wrong}");
    }
}

/// Among three parties, the sigmas are a fresh sharing of zero, whatever the shares of values and MACs are:
/// for zeros, whose shares are all zero, no sigma is zero, but their sum is.
#[test]
fn sigmas_are_shared_anew() {
    let harness = harness(3);
    let recordings = harness.recordings();
    let ends = harness.act(|session| {
        let (mut party, _) = Dealer::<Gf48>::deal(session, 7)?;
        let x = Auth::<Gf48, Gf48>::zeros(4);
        party.open(OPENED, &x.x, &x.m)?;
        party.check()
    });
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let to = [party(2), party(3), party(1)];
    let sigmas: Vec<Vec<u8>> = recordings
        .iter()
        .zip(to)
        .map(|(seen, to)| seen.bodies(MessageDirection::Out, to, OPEN.name)[0][32..].to_vec())
        .collect();
    assert!(sigmas.iter().all(|sigma| sigma.len() == 6 && sigma.iter().any(|byte| *byte != 0)));
    assert!((0..6).all(|i| sigmas.iter().fold(0, |sum, sigma| sum ^ sigma[i]) == 0));
}

/// If P_1 sees another opening than P_3, of the first value or of the last, before the first check of a
/// session or a later one, neither of them opens its part of a coin or commits to a sigma.
#[test]
fn views_of_all_values_are_compared_before_the_coin() {
    let places = [0, 119, 120, 239].map(|at| (at, 0)).into_iter().chain([(0, 1), (239, 2), (7, 3)]);
    for (at, passed) in places {
        let harness = harness(3);
        let recordings = harness.recordings();
        harness.change(party(2), party(1), OPENED.name, passed, move |body| {
            assert_eq!(body.len(), 240);
            body[at] ^= 1;
        });
        let ends = harness.act(|session| {
            let (mut party, mut dealer) = Dealer::deal(session, 7)?;
            for _ in 0..=passed {
                opened(&mut party, &mut dealer, 40, &[], 0)?;
                party.check()?;
            }
            Ok(())
        });
        assert!(ends.iter().all(Result::is_err), "{at}");
        assert!(ends.iter().any(|end| failed_check(end) == Some(checks::K1)), "{at}: {ends:?}");
        for honest in [0, 2] {
            for step in [COIN, COMMIT, OPEN] {
                // to two peers each, in the checks before
                let sent = recordings[honest].of(MessageDirection::Out, step.name).len();
                assert_eq!(sent, 2 * passed, "{at} {passed}: {}", step.name);
            }
        }
    }
}

/// The coefficients chi_j of this many values.
fn coefficients(coin: &[u8; 16], count: usize) -> Vec<Gf48> {
    let chi = |j: usize| {
        let mut list = vec![Gf48::ZERO; count];
        list[j] = Gf48::ONE;
        combinations(coin, [&list, &list])[0]
    };
    (0..count).map(chi).collect()
}

/// Every value has a coefficient of its own, in whatever block of values that are combined together. All bits
/// of coefficients are random, and a change of any byte of the coin changes every coefficient.
#[test]
fn coefficients_are_whole_and_different() {
    let coin = [3; 16];
    let count = 5 * 512 + 9;
    let chi = coefficients(&coin, count);
    let bits = || chi.iter().map(|x| x.to_bits());
    assert_eq!(bits().fold(0, |any, x| any | x), (1 << 48) - 1);
    assert_eq!(bits().fold(!0, |all, x| all & x), 0);
    let different: std::collections::BTreeSet<u128> = bits().collect();
    assert_eq!(different.len(), count);
    for byte in 0..16 {
        let mut other = coin;
        other[byte] ^= 1;
        let others = coefficients(&other, 3);
        assert!(others.iter().zip(&chi).all(|(x, y)| x != y), "{byte}");
    }
}

/// P_2 knows the coin of an earlier check, and tells two lies that would cancel under the coefficients from
/// it (1.8). The next check has other coefficients.
#[test]
fn the_kernel_of_an_earlier_coin_is_of_no_use() {
    for late in [false, true] {
        let ends = harness(2).act(|session| {
            let corrupt = session.me() == party(2);
            let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
            let mut coin = None;
            for _ in 0..if late { 5 } else { 1 } {
                opened(&mut party, &mut dealer, 2, &[], 0)?;
                if corrupt {
                    let honest = [(divisi_core::testing::party(1), Lie::Add(Gf48::ZERO))];
                    coin = Some(rushed(&mut party, &honest)?);
                } else {
                    party.check()?;
                }
            }
            let mut x = dealer.element_triples(&mut party, 2)?.b;
            if let Some(coin) = coin {
                let chi = coefficients(&coin, 2);
                (x.x[0], x.x[1]) = (x.x[0] + chi[1], x.x[1] + chi[0]);
            }
            party.open(OPENED, &x.x, &x.m)?;
            party.check()
        });
        // P_2 sees the sum as well, and may be the first to report it
        assert!(ends[0].is_err());
        assert!(ends.iter().any(|end| failed_check(end) == Some(checks::K4)));
    }
}

/// Among three parties, every value in every opening has a mask of its own, and no bit is zero in all masks.
/// The values here are zeros whose shares are all zero, so the masks themselves are sent.
#[test]
fn openings_of_three_are_shared_anew() {
    let harness = harness(3);
    let recordings = harness.recordings();
    let ends = harness.act(|session| {
        let (mut party, _) = Dealer::<Gf48>::deal(session, 7)?;
        let x = Auth::<Gf48, Gf48>::zeros(40);
        party.open(OPENED, &x.x, &x.m)?;
        party.open(OPENED, &x.x, &x.m)?;
        party.check()
    });
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    for (seen, to) in recordings.iter().zip([party(2), party(3), party(1)]) {
        let told = seen.bodies(MessageDirection::Out, to, OPENED.name).concat();
        assert_eq!(told.len(), 480);
        let values: std::collections::BTreeSet<&[u8]> = told.chunks(6).collect();
        assert_eq!(values.len(), 80);
        assert!((0..6).all(|i| told.chunks(6).fold(0, |any, x| any | x[i]) == 0xff));
    }
}

/// Each receiver of an opening of a sigma compares it with the commitment of the same party, among three
/// parties and among five.
#[test]
fn each_opening_of_a_sigma_is_checked_by_each() {
    let of_three = links(3).flat_map(|link| [0, 31, 32, 37].map(|at| (3, link, at)));
    for (n, (from, to), at) in of_three.chain(links(5).map(|link| (5, link, 31))) {
        let harness = harness(n);
        harness.change(from, to, OPEN.name, 0, move |body| body[at] ^= 1);
        let ends = harness.act(|session| {
            let (mut party, mut dealer) = Dealer::deal(session, 7)?;
            opened(&mut party, &mut dealer, 3, &[], 0)?;
            party.check()
        });
        assert_eq!(failed_check(&ends[to.index()]), Some(checks::K21), "{n} {from} {to} {at}");
    }
}

/// If P_2 leaves before it commits, nobody opens a sigma: P_2 could choose its own by it.
#[test]
fn sigmas_wait_for_all_commitments() {
    for n in [2, 3] {
        let harness = harness(n);
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let corrupt = session.me() == party(2);
            let (mut party, mut dealer) = Dealer::deal(session, 7)?;
            opened(&mut party, &mut dealer, 3, &[], 0)?;
            if !corrupt {
                return party.check();
            }
            if let Some(views) = party.take_ledger().views.take() {
                views.send(&mut party.session)?.compare(&mut party.session, checks::K1)?;
            }
            party.coins.toss(&mut party.session, COIN)?;
            let mut all = party.session.peers().into_iter();
            all.try_for_each(|peer| party.session.recv(COMMIT, peer, &mut [0; 32]))
        });
        for honest in (0..n).filter(|i| *i != 1) {
            assert!(
                ends[honest].is_err()
                    && !recordings[honest].of(MessageDirection::Out, COMMIT.name).is_empty()
            );
            assert!(recordings[honest].of(MessageDirection::Out, OPEN.name).is_empty(), "{n}");
        }
    }
}

//! Two checks under one alpha at once (1.3). In one strand P_2 lies, receives the honest parties' sigmas,
//! from which it computes alpha, and withholds its own, so that nobody has detected the lie yet. With alpha
//! it then forges a MAC in the other strand. Therefore a session has one party object for all its strands,
//! which makes one check at a time.

use super::{COIN, COMMIT, DONE, Lie, OPEN, OPENED, combinations, rushed};
use crate::checks;
use crate::dealer::Dealer;
use crate::party::Party;
use crate::source::Products;
use divisi_core::testing::{Harness, many, party};
use divisi_core::{Abort, Check, PublicParameters, Session, Step, step};
use divisi_field::{Field, Gf48};

const BEGIN: Step = step!("begin");

/// When P_2 begins each of its two strands, and what is opened in them.
#[derive(Clone, Copy, Debug)]
struct Schedule {
    parties: usize,
    /// The strand of the forgery begins after this many steps in the strand of the lie.
    begin: usize,
    /// Whether the session's first strand is that of the forgery; otherwise it is that of the lie.
    swapped: bool,
    /// How many values are opened in each strand.
    count: usize,
}

/// The points that the strand of the lie reaches: nothing done, values opened, coin tossed, sigmas committed
/// to, sigmas received.
const STEPS: usize = 5;

fn schedules() -> Vec<Schedule> {
    let mut all = Vec::new();
    for parties in [2, 3] {
        for begin in 0..STEPS {
            let both = [(false, 1), (true, 600)];
            all.extend(both.map(|(swapped, count)| Schedule { parties, begin, swapped, count }));
        }
    }
    all
}

/// What an honest party does in a strand, which begins when P_2 asks for it. Returns the party's share of the
/// first value, and the value that it accepted.
fn honest(mut session: Session, count: usize) -> Result<[Gf48; 2], Abort> {
    session.recv(BEGIN, party(2), &mut [0])?;
    let (mut honest, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
    let x = dealer.element_triples(&mut honest, count)?.b;
    let opened = honest.open(OPENED, &x.x, &x.m)?;
    honest.check()?;
    honest.session.send(DONE, party(2), &[0], 0)?;
    Ok([x.x[0], opened[0]])
}

/// P_2 begins a strand and adds one to the first value. Returns P_2's share of that value, and alpha, which
/// the test only compares with the alpha that P_2 computes.
fn lie(mut session: Session, count: usize) -> Result<(Party<Gf48>, [Gf48; 2]), Abort> {
    for peer in session.peers() {
        session.send(BEGIN, peer, &[0], 0)?;
    }
    let (mut corrupt, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
    let mut x = dealer.element_triples(&mut corrupt, count)?.b;
    let share = x.x[0];
    x.x[0] += Gf48::ONE;
    corrupt.open(OPENED, &x.x, &x.m)?;
    Ok((corrupt, [share, dealer.alpha()]))
}

/// What P_2 does in both strands. Returns its share of the first value in the strand of the forgery.
fn corrupt([first, second]: [Session; 2], how: Schedule) -> Result<Gf48, Abort> {
    let (mut second, mut other) = (Some(second), None);
    let mut reach = |step: usize| -> Result<(), Abort> {
        if let Some(session) = second.take_if(|_| step == how.begin) {
            other = Some(lie(session, how.count)?);
        }
        Ok(())
    };
    reach(0)?;
    let (mut corrupt, [_, alpha]) = lie(first, how.count)?;
    reach(1)?;
    let mut ledger = corrupt.take_ledger();
    if let Some(views) = ledger.views.take() {
        views.send(&mut corrupt.session)?.compare(&mut corrupt.session, checks::K1)?;
    }
    let coin = corrupt.coins.toss(&mut corrupt.session, COIN)?;
    reach(2)?;
    let [x, m] = combinations(&coin, [&ledger.x, &ledger.m]);
    let mut sigma = [m + corrupt.alpha()? * x];
    corrupt.randomise(&mut sigma);
    let index = corrupt.session.count(COMMIT.name);
    let (commitment, _) = corrupt.session.commit(COMMIT, index, sigma[0].to_le_bytes().as_ref());
    let peers = corrupt.session.peers();
    for peer in &peers {
        corrupt.session.send(COMMIT, *peer, &commitment.0, 0)?;
    }
    for peer in &peers {
        corrupt.session.recv(COMMIT, *peer, &mut [0; 32])?;
    }
    reach(3)?;
    let mut sum = sigma[0];
    for peer in &peers {
        let mut opening = [0; 32 + Gf48::BYTES];
        corrupt.session.recv(OPEN, *peer, &mut opening)?;
        sum += <Gf48 as Field>::from_le_bytes(&opening[32..]).unwrap_or_default();
    }
    // the sum is alpha times chi of the lie, and chi is public
    let mut lies = vec![Gf48::ZERO; how.count];
    lies[0] = Gf48::ONE;
    let found = sum * combinations(&coin, [&lies, &lies])[0].inverse();
    assert_eq!(found, alpha);
    reach(4)?;
    // in the first strand, the honest parties wait for nothing but P_2's sigma
    let (mut forging, [share, _]) = other.unwrap();
    let forged: Vec<_> = peers.iter().map(|peer| (*peer, Lie::Forge(found))).collect();
    rushed(&mut forging, &forged)?;
    if let [peer] = peers[..] {
        forging.session.recv(DONE, peer, &mut [0])?;
    }
    Ok(share)
}

/// For each honest party that accepts a first value: the value that it accepts, and the right one. P_2 lies
/// about this value in both strands. If `without` names a check, the honest parties' sessions do not make it.
fn taken(how: Schedule, without: Option<Check>) -> Vec<[Gf48; 2]> {
    let parameters = PublicParameters::new("checks at once");
    // P_2's own program does not forbid what P_2 does
    let lawless = parameters.clone().without(checks::K21);
    let lax = without.into_iter().fold(parameters.clone(), PublicParameters::without);
    let ends = Harness::new(how.parties, &parameters).act_each(
        |who| if who == party(2) { lawless.clone() } else { lax.clone() },
        |session| {
            let strand = session.strand()?;
            let is_corrupt = session.me() == party(2);
            let [one, two] = if how.swapped { [strand, session] } else { [session, strand] };
            if is_corrupt {
                return corrupt([one, two], how).map(|share| (share, Vec::new()));
            }
            let ends = std::thread::scope(|scope| {
                let other = scope.spawn(|| honest(one, how.count));
                [honest(two, how.count), other.join().unwrap()]
            });
            let taken: Vec<[Gf48; 2]> = ends.into_iter().flatten().collect();
            let share = taken.first().map_or(Gf48::ZERO, |[share, _]| *share);
            Ok((share, taken.into_iter().map(|[_, value]| value).collect()))
        },
    );
    let ends: Vec<(Gf48, Vec<Gf48>)> = ends.into_iter().flatten().collect();
    let value = ends.iter().fold(Gf48::ZERO, |sum, (share, _)| sum + *share);
    ends.into_iter().flat_map(|(_, taken)| taken).map(|taken| [taken, value]).collect()
}

/// A second party object ends the session, whenever it is made, and no strand accepts a wrong value. Without
/// this check P_2 succeeds, whenever its second check begins.
#[test]
fn two_checks_of_one_alpha_are_never_at_once() {
    let all = schedules();
    for how in &all {
        assert!(taken(*how, None).is_empty(), "{how:?}");
        let forged = taken(*how, Some(checks::K21));
        assert_eq!(forged.len(), how.parties - 1, "{how:?}");
        assert!(forged.iter().all(|[taken, value]| *taken == *value + Gf48::ONE), "{how:?}");
    }
}

/// The same ten thousand times, because threads run in another order each time.
#[test]
#[ignore = "a minute"]
fn two_checks_of_one_alpha_are_never_at_once_however_threads_run() {
    let all = schedules();
    let taken = many(10_000, 8, |i| taken(all[i % all.len()], None).len());
    assert_eq!(taken.iter().sum::<usize>(), 0);
}

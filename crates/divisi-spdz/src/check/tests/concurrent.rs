//! Two checks under one alpha at once (1.3). In one strand P_2 lies, receives the honest parties' sigmas,
//! which tell it alpha, and keeps back its own, so that nobody has found it out; with alpha it then forges in
//! the other strand. A session has one party for all strands, and that party one check at a time.

use super::{COIN, COMMIT, DONE, Lie, OPEN, OPENED, combinations, rushed};
use crate::checks;
use crate::dealer::Dealer;
use crate::party::Party;
use crate::source::Products;
use divisi_core::testing::{Harness, many, party};
use divisi_core::{Abort, Check, PublicParameters, Session, Step, step};
use divisi_field::{Field, Gf48};

const BEGIN: Step = step!("begin");

/// How P_2 has the honest parties go about it.
#[derive(Clone, Copy, Debug)]
struct Schedule {
    parties: usize,
    /// After how many steps in the strand of the lie the one of the forgery begins.
    begin: usize,
    /// Which of the two is the session's first strand.
    swapped: bool,
    /// How many values are opened in each.
    count: usize,
}

/// Steps in the strand of the lie: nothing yet, values opened, coin tossed, sigmas committed to, received.
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

/// An honest party in a strand, which begins when P_2 asks for it: its share of the first value, and what it
/// takes for that value.
fn honest(mut session: Session, count: usize) -> Result<[Gf48; 2], Abort> {
    session.recv(BEGIN, party(2), &mut [0])?;
    let (mut honest, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
    let x = dealer.element_triples(&mut honest, count)?.b;
    let opened = honest.open(OPENED, &x.x, &x.m)?;
    honest.check()?;
    honest.session.send(DONE, party(2), &[0], 0)?;
    Ok([x.x[0], opened[0]])
}

/// P_2 begins a strand and adds one to the first value: its share of that value, and alpha, which it only
/// compares with what it finds.
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

/// P_2 in both strands: its share of the first value.
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
    // alpha times chi of the lie, and chi is public
    let mut lies = vec![Gf48::ZERO; how.count];
    lies[0] = Gf48::ONE;
    let found = sum * combinations(&coin, [&lies, &lies])[0].inverse();
    assert_eq!(found, alpha);
    reach(4)?;
    // nobody waits for anything in the first strand but for P_2's sigma
    let (mut forging, [share, _]) = other.unwrap();
    let forged: Vec<_> = peers.iter().map(|peer| (*peer, Lie::Forge(found))).collect();
    rushed(&mut forging, &forged)?;
    if let [peer] = peers[..] {
        forging.session.recv(DONE, peer, &mut [0])?;
    }
    Ok(share)
}

/// What honest parties take for the first value, and what it is, where they take anything: P_2 lies about it
/// in both strands. The honest parties' sessions are without this check, if one is named.
fn taken(how: Schedule, without: Option<Check>) -> Vec<[Gf48; 2]> {
    let parameters = PublicParameters::new("checks at once");
    // what P_2 does its own program does not forbid
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

/// The same, ten thousand times, for threads run as they like.
#[test]
#[ignore = "a minute"]
fn two_checks_of_one_alpha_are_never_at_once_however_threads_run() {
    let all = schedules();
    let taken = many(10_000, 8, |i| taken(all[i % all.len()], None).len());
    assert_eq!(taken.iter().sum::<usize>(), 0);
}

//! Set-ups with a dealer in one process or with parameters that are too small, and a test of whether the
//! parties' views are consistent (feature `testing`; never part of a build that holds real secrets).

use crate::dealer::Dealer;
use crate::delta::Deltas;
use crate::purposes;
use crate::setup::{Setup, SetupConfig, Source};
use crate::{AuthBits, Delta};
use divisi_core::testing::memory::Needle;
use divisi_core::{Abort, Coins, PartyId, Session};

/// A set-up whose authenticated bits are derived from a seed, the same at all parties, and not made by this
/// crate's protocols. The coins are real. Two rounds.
///
/// # Errors
/// The abort that a faulty peer causes.
pub fn deal(session: &mut Session, config: SetupConfig, seed: u8) -> Result<Setup, Abort> {
    dealt(session, config, Dealer::new(session.me(), session.parties(), seed))
}

/// The same over a field of 2^f elements: narrow, wide and pad rows.
///
/// # Errors
/// The abort that a faulty peer causes.
pub fn deal_over_field(session: &mut Session, config: SetupConfig, f: u32, seed: u8) -> Result<Setup, Abort> {
    dealt(session, config, Dealer::over_field(session.me(), session.parties(), f, seed))
}

fn dealt(session: &mut Session, config: SetupConfig, dealer: Dealer) -> Result<Setup, Abort> {
    let (me, parties) = (session.me(), session.parties());
    Setup::once(session)?;
    let coins = Coins::commit(session)?;
    let deltas = dealer.deltas(config.k);
    let (layout, source) = (deltas.layout(), Source::Dealt(Box::new(dealer)));
    Ok(Setup {
        me,
        parties,
        session: *session.id().as_bytes(),
        config,
        layout,
        deltas,
        coins,
        source,
        checked: None,
        ahead: Default::default(),
    })
}

/// A set-up made by the protocols, with any `rho` from 1 to 64: for tests that measure how often an attack
/// succeeds, or that do not depend on soundness and are faster without it.
///
/// # Errors
/// Those of [`Setup::new`].
pub fn unsound(session: &mut Session, config: SetupConfig) -> Result<Setup, Abort> {
    let delta = Delta::drawn(session.me(), |bytes| session.entropy(purposes::DELTA, bytes));
    Setup::with_any(session, config, Deltas::labels(config.k, delta))
}

/// The same over a field of 2^f elements, for any even f up to 72.
///
/// # Errors
/// Those of [`Setup::over_field`].
pub fn unsound_over_field(session: &mut Session, config: SetupConfig, f: u32) -> Result<Setup, Abort> {
    let delta = Delta::uniform(f, |bytes| session.entropy(purposes::DELTA_OF_FIELD, bytes));
    let pads = Delta::uniform(128, |bytes| session.entropy(purposes::DELTA_OF_PADS, bytes));
    Setup::with_any(session, config, Deltas::field(config.k, f, delta, pads))
}

/// A set-up made by the protocols, with a given Delta, and any `rho` from 1 to 64.
///
/// # Errors
/// Those of [`Setup::new`].
pub fn planted(session: &mut Session, config: SetupConfig, delta: &Needle) -> Result<Setup, Abort> {
    let delta = Delta::drawn(session.me(), |bytes| delta.plant(bytes));
    Setup::with_any(session, config, Deltas::labels(config.k, delta))
}

/// The same over a field of 2^48 elements: the key of MACs has the first six bytes of its needle.
///
/// # Errors
/// Those of [`Setup::over_field`].
pub fn planted_over_field(
    session: &mut Session,
    config: SetupConfig,
    delta: &Needle,
    pads: &Needle,
) -> Result<Setup, Abort> {
    let delta = Delta::uniform(48, |bytes| delta.plant(bytes));
    let pads = Delta::uniform(128, |bytes| pads.plant(bytes));
    Setup::with_any(session, config, Deltas::field(config.k, 48, delta, pads))
}

/// Demands that the parties' views, given in order with their Deltas, are consistent.
///
/// # Panics
/// If a MAC is not the key plus the bit times Delta.
pub fn fit(views: &[(u128, AuthBits)]) {
    for (owner, (_, ours)) in PartyId::all(views.len()).zip(views) {
        for (holder, (delta, theirs)) in PartyId::all(views.len()).zip(views).filter(|(h, _)| *h != owner) {
            let (macs, keys) = (ours.macs(holder), theirs.keys(owner));
            assert_eq!((macs.len(), keys.len()), (ours.len(), ours.len()));
            for (p, (mac, key)) in macs.iter().zip(keys).enumerate() {
                assert_eq!(*mac, key ^ (delta * u128::from(ours.bit(p))), "{owner} {holder} {p}");
            }
        }
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use divisi_core::PublicParameters;
    use divisi_core::testing::run;

    #[test]
    fn dealt_views_fit_and_so_do_their_parts() {
        for n in [2, 3, 5] {
            let views = run(n, &PublicParameters::new("dealer tests"), |mut session| {
                let mut setup = deal(&mut session, SetupConfig::default(), 7)?;
                let mut all = setup.authenticated_bits(&mut session, 300)?;
                let first = all.take(70).unwrap();
                assert!(all.take(231).is_none());
                let second = all.take(70).unwrap();
                assert_eq!((first.len(), second.len(), all.len()), (70, 70, 160));
                let mut bits = all.bits().to_vec();
                bits[2] >>= 32;
                assert_eq!(bits[2], 0);
                Ok([first, second, all].map(|part| (setup.delta().get(), part)))
            });
            let mut views: Vec<_> = views.into_iter().map(|v| v.unwrap().into_iter()).collect();
            for _ in 0..3 {
                fit(&views.iter_mut().map(|v| v.next().unwrap()).collect::<Vec<_>>());
            }
        }
    }
}

//! Set-ups whose bits are dealt in one process, and whether views fit together, for tests (feature `testing`; never part of a build
//! that holds real secrets).

use crate::AuthBits;
use crate::dealer::Dealer;
use crate::setup::{Config, Setup, Source};
use divisi_core::{Abort, Coins, PartyId, Session};

/// A set-up whose authenticated bits are dealt from a seed that all parties give alike, instead of made by this crate's protocols.
/// The coins are real. Two rounds.
///
/// # Errors
/// Whatever a broken peer causes.
pub fn deal(session: &mut Session, config: Config, seed: u8) -> Result<Setup, Abort> {
    let (me, parties) = (session.me(), session.parties());
    let coins = Coins::commit(session)?;
    let dealer = Dealer::new(me, parties, seed);
    let delta = dealer.delta();
    let source = Source::Dealt(Box::new(dealer));
    Ok(Setup { me, parties, session: *session.id().as_bytes(), config, delta, coins, source })
}

/// Demand that these views, of all parties in order and with their Deltas, belong together.
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
mod tests {
    use super::*;
    use divisi_core::Parameters;
    use divisi_core::testing::run;

    #[test]
    fn dealt_views_fit_and_linear_operations_keep_them_so() {
        for n in [2, 3, 5] {
            let views = run(n, &Parameters::new("dealer tests"), |mut session| {
                let mut setup = deal(&mut session, Config::default(), 7)?;
                let mut all = setup.authenticated_bits(&mut session, 300)?;
                let mut first = all.take(70).unwrap();
                assert!(all.take(231).is_none());
                let second = all.take(70).unwrap();
                first.xor_assign(&second);
                first.add_public(PartyId::from_index(1).unwrap(), &[0x5555, 3], setup.delta());
                let picked = first.gather(&[69, 0, 3, 3]);
                assert_eq!((all.len(), picked.len(), picked.bit(0)), (160, 4, first.bit(69)));
                let mut bits = all.bits().to_vec();
                bits[2] >>= 32;
                assert_eq!(bits[2], 0);
                Ok([(setup.delta().get(), first), (setup.delta().get(), picked), (setup.delta().get(), all)])
            });
            let mut views: Vec<_> = views.into_iter().map(|v| v.unwrap().into_iter()).collect();
            for _ in 0..3 {
                fit(&views.iter_mut().map(|v| v.next().unwrap()).collect::<Vec<_>>());
            }
        }
    }
}

//! A dealer of authenticated bits in one process (feature `testing`; never part of a build that holds real secrets).

use crate::setup::{Config, Setup, Source};
use crate::{AuthBits, Delta, Kept};
use divisi_core::{Abort, Coins, Parameters, PartyId, Prg, Session};
use divisi_net::{Mesh, memory};
use std::sync::Arc;

/// A set-up whose authenticated bits are dealt from a seed that all parties give alike, instead of made by this crate's protocols.
/// The coins are real. Two rounds.
///
/// # Errors
/// Whatever a broken peer causes.
pub fn deal(session: &mut Session, config: Config, seed: u8) -> Result<Setup, Abort> {
    let (me, parties) = (session.me(), session.parties());
    let mut prg = Prg::new(&[seed; 16]);
    let deltas: Vec<Delta> = PartyId::all(parties)
        .map(|party| {
            let mut bytes = [0; 16];
            prg.fill(&mut bytes);
            Delta::from_uniform(party, bytes)
        })
        .collect();
    let coins = Coins::commit(session)?;
    let delta = Delta::from_uniform(me, deltas[me.index()].get().to_le_bytes());
    let source = Source::Dealt(Box::new(Dealer { me, deltas, prg }));
    Ok(Setup { me, parties, session: *session.id().as_bytes(), config, delta, coins, source })
}

/// Knows everything, tells its own party's view.
pub(crate) struct Dealer {
    me: PartyId,
    deltas: Vec<Delta>,
    prg: Prg,
}

impl Dealer {
    pub(crate) fn deal(&mut self, count: usize) -> AuthBits {
        let n = self.deltas.len();
        let none = || (0..n).map(|_| Kept::default()).collect::<Vec<Kept<u128>>>();
        let (mut bits, mut macs, mut keys) = (Vec::new(), none(), none());
        for owner in PartyId::all(n) {
            let mut x = vec![0; count.div_ceil(64)];
            self.prg.words(&mut x);
            for holder in PartyId::all(n).filter(|holder| *holder != owner) {
                let mut words = vec![0; 2 * count];
                self.prg.words(&mut words);
                let key = words.chunks_exact(2).map(|w| u128::from(w[0]) | u128::from(w[1]) << 64);
                if owner == self.me {
                    let delta = &self.deltas[holder.index()];
                    macs[holder.index()] =
                        key.enumerate().map(|(p, key)| key ^ delta.times(x[p / 64] >> (p % 64))).collect();
                } else if holder == self.me {
                    keys[owner.index()] = key.collect();
                }
            }
            if owner == self.me {
                bits = x;
            }
        }
        AuthBits::from_rows(self.me, count, bits, macs, keys)
    }
}

/// Start session 1 among `n` parties over links in memory and run `f` at each; the results in the parties' order.
///
/// # Panics
/// If a party panics.
pub fn run<R: Send>(
    n: usize,
    parameters: &Parameters,
    f: impl Fn(Session) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    run_over(memory::mesh(n), parameters, f)
}

/// The same over given meshes.
///
/// # Panics
/// If a party panics.
pub fn run_over<R: Send>(
    meshes: Vec<Mesh>,
    parameters: &Parameters,
    f: impl Fn(Session) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    std::thread::scope(|scope| {
        let f = &f;
        let start = |mesh: Mesh| f(Session::start(&Arc::new(mesh), 1, parameters)?);
        let parties: Vec<_> = meshes.into_iter().map(|mesh| scope.spawn(move || start(mesh))).collect();
        let end = |panic| std::panic::resume_unwind(panic);
        parties.into_iter().map(|party| party.join().unwrap_or_else(end)).collect()
    })
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

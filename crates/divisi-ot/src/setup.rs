//! What all authenticated bits of a session come from.

#[cfg(feature = "fault")]
mod corrupt;
mod pairs;

use crate::abit::produce::produce;
use crate::delta::Deltas;
use crate::softspoken::MAX_K;
use crate::vole::Ends;
use crate::{AuthBits, Delta, wipe};
use divisi_core::{Abort, Coins, Parameters, PartyId, Session, Step, step, taint};

const SETUP: Step = step!("setup");

/// How the base OTs of a pair are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// Public-key base OTs in both directions at once: fewest rounds.
    Both,
    /// In one direction only; those of the other come from a first small extension: half the public-key work, three more rounds.
    #[default]
    Half,
}

/// Public parameters of a set-up: the same at all parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// SoftSpokenOT's parameter, 1 to 8: an authenticated bit costs 16/k bytes a peer, and work that grows with 2^k / k. The default is
    /// where on a fast network the sum is least in time but for 2, which sends twice as much (docs/garbling.md).
    pub k: u32,
    /// How the base OTs are made.
    pub base: Base,
    /// Statistical security in bits: 40 or 64 (tests of soundness use less).
    pub rho: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config { k: 4, base: Base::default(), rho: 40 }
    }
}

impl Config {
    /// Whether these are parameters to compute with; of `tests` also with a soundness that is small enough to be measured.
    fn is_sound(&self, tests: bool) -> bool {
        let small = tests && (1..=64).contains(&self.rho);
        (1..=MAX_K).contains(&self.k) && (small || [40, 64].contains(&self.rho))
    }

    /// These parameters among those that the parties compare at the start of a session \[M0.4\].
    #[must_use]
    pub fn describe(&self, parameters: Parameters) -> Parameters {
        let base = match self.base {
            Base::Both => b"both",
            Base::Half => b"half",
        };
        parameters
            .with("softspoken k", &self.k.to_le_bytes())
            .with("base ot", base)
            .with("rho", &self.rho.to_le_bytes())
    }
}

/// One party's end of the set-up of a session: Delta_i, the trees towards each peer, the coins. One for a session: every authenticated
/// bit of it, in whatever batch and thread, is under the same Delta_i.
pub struct Setup {
    pub(crate) me: PartyId,
    pub(crate) parties: usize,
    pub(crate) session: [u8; 32],
    pub(crate) config: Config,
    pub(crate) deltas: Deltas,
    pub(crate) coins: Coins,
    pub(crate) source: Source,
}

/// Where authenticated bits come from.
pub(crate) enum Source {
    /// The trees towards each peer; whether the Deltas were proven consistent.
    Trees(Ends, bool),
    /// An abort has erased everything.
    Erased,
    /// A common seed: tests only.
    #[cfg(any(test, feature = "testing"))]
    Dealt(Box<crate::dealer::Dealer>),
}

impl Setup {
    /// Make the set-up of a session: base OTs, trees and coins. Once a session, by all parties. Two rounds, five with [`Base::Half`].
    ///
    /// # Errors
    /// Whatever a broken or malicious peer causes; [`Abort::Misuse`] for parameters out of range, and for a
    /// second one of a session.
    pub fn new(session: &mut Session, config: Config) -> Result<Setup, Abort> {
        let delta = Delta::drawn(session.me(), |bytes| session.entropy(bytes));
        Setup::with_deltas(session, config, Deltas::new(delta))
    }

    /// The same with the Delta that we have, and that we use towards each peer.
    pub(crate) fn with_deltas(session: &mut Session, config: Config, deltas: Deltas) -> Result<Setup, Abort> {
        if !config.is_sound(cfg!(any(test, feature = "testing", feature = "fault"))) {
            return Err(session.misuse(SETUP, "k is between 1 and 8, rho 40 or 64"));
        }
        if session.parties() < 2 {
            return Err(session.misuse(SETUP, "two parties at least"));
        }
        Setup::once(session)?;
        taint::leak(SETUP, (deltas.delta.get() >> 1) as u8);
        let (ends, coins) = wipe::stack(|| pairs::connect(session, config, &deltas))?;
        Ok(Setup {
            me: session.me(),
            parties: session.parties(),
            session: *session.id().as_bytes(),
            config,
            deltas,
            coins,
            source: Source::Trees(ends, false),
        })
    }

    /// Refuse a second set-up of a session: there would be two Deltas, and its positions would begin anew,
    /// each tweak with them.
    pub(crate) fn once(session: &Session) -> Result<(), Abort> {
        if session.first("set-up") {
            Ok(())
        } else {
            Err(session.misuse(SETUP, "a second set-up of a session"))
        }
    }

    /// Random authenticated bits of all parties at `count` new positions, checked. The first call among three or more parties also
    /// proves everybody's Delta consistent.
    ///
    /// All parties call it in the same order with the same count, on any strand of the set-up's session. It holds 32 bytes a position and
    /// peer; 3 rounds between two parties, else 4, and 5 the first time.
    ///
    /// # Errors
    /// Whatever a broken or malicious peer causes; everything secret is erased then.
    pub fn authenticated_bits(&mut self, session: &mut Session, count: usize) -> Result<AuthBits, Abort> {
        if self.session != *session.id().as_bytes() {
            return Err(session.misuse(SETUP, "the set-up of another session"));
        }
        if session.cause().is_some() {
            self.source = Source::Erased;
            self.deltas.delta.erase();
        }
        if count == 0 {
            return Err(session.misuse(SETUP, "authenticated bits at no position"));
        }
        let made = self.produced(session, count);
        #[cfg(any(test, feature = "testing"))]
        if let Ok(bits) = &made {
            let keys = PartyId::all(self.parties).flat_map(|peer| bits.keys(peer));
            crate::record::note(|records| records.made.extend(keys));
        }
        made
    }

    fn produced(&mut self, session: &mut Session, count: usize) -> Result<AuthBits, Abort> {
        // what fails on the way is not put back
        match std::mem::replace(&mut self.source, Source::Erased) {
            Source::Trees(mut ends, proven) => {
                let prove = (self.parties > 2 && !proven).then_some(self.config.rho);
                let made =
                    wipe::stack(|| produce(session, &mut ends, &self.deltas, &mut self.coins, count, prove));
                match made {
                    Ok(_) => self.source = Source::Trees(ends, true),
                    Err(_) => self.deltas.delta.erase(),
                }
                made
            }
            Source::Erased => Err(session.misuse(SETUP, "an abort has erased the set-up")),
            #[cfg(any(test, feature = "testing"))]
            Source::Dealt(mut dealer) => {
                let dealt = dealer.deal(count);
                self.source = Source::Dealt(dealer);
                Ok(dealt)
            }
        }
    }

    /// Our Delta_i.
    #[must_use]
    pub fn delta(&self) -> &Delta {
        &self.deltas.delta
    }

    /// The parameters.
    #[must_use]
    pub fn config(&self) -> Config {
        self.config
    }

    /// Who we are.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// How many parties there are.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// Open the next coin of the session: 128 bits. One round. Call it after everything that it must follow was received.
    ///
    /// # Errors
    /// Whatever a broken or malicious peer causes.
    pub fn toss(&mut self, session: &mut Session, step: Step) -> Result<[u8; 16], Abort> {
        self.coins.toss(session, step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soundness_is_not_to_be_lowered_but_in_tests() {
        let with = |k, rho| Config { k, rho, ..Config::default() };
        for (config, sound, in_tests) in [
            (with(4, 40), true, true),
            (with(1, 64), true, true),
            (with(4, 8), false, true),
            (with(4, 39), false, true),
            (with(4, 0), false, false),
            (with(4, 65), false, false),
            (with(0, 40), false, false),
            (with(9, 40), false, false),
        ] {
            assert_eq!((config.is_sound(false), config.is_sound(true)), (sound, in_tests), "{config:?}");
        }
    }
}

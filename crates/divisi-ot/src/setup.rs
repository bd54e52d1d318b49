//! What all authenticated bits of a session come from.

#[cfg(feature = "fault")]
mod corrupt;
mod pairs;
mod rows;

use crate::delta::Deltas;
use crate::softspoken::MAX_K;
use crate::softspoken::layout::Layout;
use crate::{Delta, wipe};
use divisi_core::{Abort, Coins, PartyId, PublicParameters, Session, Step, step, taint};
pub(crate) use rows::Source;
pub use rows::WideBits;

const SETUP: Step = step!("setup");

/// How the base OTs of a pair are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// Public-key base OTs in both directions at once: fewest rounds.
    Both,
    /// In one direction only; those of the other come from a first small extension: half the public-key work,
    /// three more rounds.
    #[default]
    Half,
}

/// Public parameters of a set-up: the same at all parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupConfig {
    /// SoftSpokenOT's parameter, 1 to 8: an authenticated bit costs 16/k bytes a peer, and work that grows
    /// with 2^k / k. The default is where on a fast network the sum is least in time but for 2, which sends
    /// twice as much (docs/garbling.md).
    pub k: u32,
    /// How the base OTs are made.
    pub base: Base,
    /// Statistical security in bits: 40 or 64 (tests of soundness use less).
    pub rho: u32,
}

impl Default for SetupConfig {
    fn default() -> Self {
        SetupConfig { k: 4, base: Base::default(), rho: 40 }
    }
}

impl SetupConfig {
    /// Whether these are parameters to compute with; of `tests` also with a soundness that is small enough to
    /// be measured.
    fn is_sound(&self, tests: bool) -> bool {
        let small = tests && (1..=64).contains(&self.rho);
        (1..=MAX_K).contains(&self.k) && (small || [40, 64].contains(&self.rho))
    }

    /// These parameters among those that the parties compare at the start of a session \[M0.4\].
    #[must_use]
    pub fn describe(&self, parameters: PublicParameters) -> PublicParameters {
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

/// The bits of a Delta over a field that is large enough: GF(2^40), GF(2^42), GF(2^48) and GF(2^72).
pub const FIELDS: [u32; 4] = [40, 42, 48, 72];

/// One party's end of the set-up of a session: Delta_i, the trees towards each peer, the coins. One for a
/// session: every authenticated bit of it, in whatever batch and thread, is under the same Delta_i.
///
/// Rows come from here alone, whatever makes them: what asks for them does not see where they come from.
pub struct Setup {
    pub(crate) me: PartyId,
    pub(crate) parties: usize,
    pub(crate) session: [u8; 32],
    pub(crate) config: SetupConfig,
    pub(crate) layout: Layout,
    pub(crate) deltas: Deltas,
    pub(crate) coins: Coins,
    pub(crate) source: Source,
    /// Whether what was asked for so far is checked; nothing before the first rows.
    pub(crate) checked: Option<bool>,
}

impl Setup {
    /// Make the set-up of a session: base OTs, trees and coins. Once a session, by all parties. Two rounds,
    /// five with [`Base::Half`].
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for parameters out of range, and for a second one
    /// of a session.
    pub fn new(session: &mut Session, config: SetupConfig) -> Result<Setup, Abort> {
        let delta = Delta::drawn(session.me(), |bytes| session.entropy(bytes));
        Setup::with_deltas(session, config, Deltas::labels(config.k, delta))
    }

    /// The same with a Delta_i that is a uniform element of GF(2^f), for f of [`FIELDS`], and pads under an
    /// independent Delta'_i of 128 bits: narrow rows, [`Setup::mac_rows`], have f columns, wide ones,
    /// [`Setup::wide_rows`], f + 128.
    ///
    /// f bits are few, and nothing that leaves can be used to try a guess of Delta_i (docs/ot.md).
    ///
    /// # Errors
    /// As [`Setup::new`].
    pub fn over_field(session: &mut Session, config: SetupConfig, f: u32) -> Result<Setup, Abort> {
        if !is_field(f, cfg!(any(test, feature = "testing", feature = "fault"))) {
            return Err(session.misuse(SETUP, "a field that has not 40, 42, 48 or 72 bits"));
        }
        let delta = Delta::uniform(f, |bytes| session.entropy(bytes));
        let pads = Delta::uniform(128, |bytes| session.entropy(bytes));
        Setup::with_deltas(session, config, Deltas::field(config.k, f, delta, pads))
    }

    /// The size of the field, among the parameters that the parties compare at the start of a session
    /// \[M0.4\].
    #[must_use]
    pub fn describe_field(f: u32, parameters: PublicParameters) -> PublicParameters {
        parameters.with("bits of a mac", &f.to_le_bytes())
    }

    /// The same with the Delta that we have, and that we use towards each peer.
    pub(crate) fn with_deltas(
        session: &mut Session,
        config: SetupConfig,
        deltas: Deltas,
    ) -> Result<Setup, Abort> {
        if !config.is_sound(cfg!(any(test, feature = "testing", feature = "fault"))) {
            return Err(session.misuse(SETUP, "k must be from 1 to 8, and rho 40 or 64"));
        }
        if session.parties() < 2 {
            return Err(session.misuse(SETUP, "fewer than two parties"));
        }
        Setup::once(session)?;
        taint::leak(SETUP, (deltas.delta.get() >> 1) as u8);
        let layout = deltas.layout();
        let (ends, coins) = wipe::stack(|| pairs::connect(session, config, layout, &deltas))?;
        Ok(Setup {
            me: session.me(),
            parties: session.parties(),
            session: *session.id().as_bytes(),
            config,
            layout,
            deltas,
            coins,
            source: Source::Trees(ends, false),
            checked: None,
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

    /// Our Delta_i.
    #[must_use]
    pub fn delta(&self) -> &Delta {
        &self.deltas.delta
    }

    /// How many bits a MAC has: 128, or those of the field.
    #[must_use]
    pub fn mac_bits(&self) -> u32 {
        self.layout.columns(0).len() as u32
    }

    /// The parameters.
    #[must_use]
    pub fn config(&self) -> SetupConfig {
        self.config
    }

    /// The number of this party.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// How many parties there are.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// Open the next coin of the session: 128 bits. One round. Call it after everything that it must follow
    /// was received.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn toss(&mut self, session: &mut Session, step: Step) -> Result<[u8; 16], Abort> {
        self.coins.toss(session, step)
    }
}

/// Whether MACs of so many bits are to be computed with; of `tests` also fewer, so that guesses can be
/// counted.
fn is_field(f: u32, tests: bool) -> bool {
    FIELDS.contains(&f) || tests && f > 0 && f.is_multiple_of(2) && f <= 72
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;

    /// Every bit of both keys is drawn, and neither says anything about the other.
    #[test]
    fn keys_of_a_field_are_uniform() {
        let (f, config) = (40, SetupConfig { k: 2, ..SetupConfig::default() });
        let mut keys = Vec::new();
        for _ in 0..16 {
            let ends = divisi_core::testing::run(2, &PublicParameters::new("keys"), |mut session| {
                let setup = Setup::over_field(&mut session, config, f)?;
                let key = setup.deltas.towards(session.peers()[0]);
                Ok([0, 1].map(|group| setup.layout.group(&key, group)))
            });
            keys.extend(ends.into_iter().flatten());
        }
        assert_eq!(keys.len(), 32);
        let often = |of: &dyn Fn(&[u128; 2]) -> u128| keys.iter().filter(|key| of(key) & 1 == 1).count();
        for bit in 0..128 {
            let macs = often(&|key| key[0] >> bit);
            assert!(if bit < f { (1..32).contains(&macs) } else { macs == 0 }, "{bit}");
            assert!((1..32).contains(&often(&|key| key[1] >> bit)), "{bit}");
            assert!((1..32).contains(&often(&|key| (key[0] ^ key[1]) >> (bit % f))), "{bit}");
        }
    }

    #[test]
    fn fields_are_large_enough_but_in_tests() {
        for (f, sound, in_tests) in [
            (40, true, true),
            (42, true, true),
            (48, true, true),
            (72, true, true),
            (39, false, false),
            (41, false, false),
            (8, false, true),
            (38, false, true),
            (0, false, false),
            (74, false, false),
            (128, false, false),
        ] {
            assert_eq!((is_field(f, false), is_field(f, true)), (sound, in_tests), "{f}");
        }
    }

    #[test]
    fn soundness_is_not_to_be_lowered_but_in_tests() {
        let with = |k, rho| SetupConfig { k, rho, ..SetupConfig::default() };
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

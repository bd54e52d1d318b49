//! The set-up of a session, from which all its authenticated bits come.

mod ahead;
mod pairs;
mod rows;
mod semi_honest;

use crate::Delta;
use crate::delta::Deltas;
use crate::purposes;
use crate::softspoken::MAX_K;
use crate::softspoken::layout::Layout;
pub use ahead::{PreprocessedRows, RowsReceived};
use divisi_core::{Abort, Coins, Misuse, PartyId, PublicParameters, Session, Step, step, taint, wipe};
pub(crate) use rows::Source;
pub use rows::{WideBits, WideShares};
pub use semi_honest::SemiHonestPreprocessed;

const SETUP: Step = step!("setup");

/// How the base OTs of a pair are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum Base {
    /// Public-key base OTs in both directions at once: fewest rounds.
    Both,
    /// Public-key base OTs in one direction of each pair; those of the other direction come from a first
    /// small extension. Half the public-key work, three more rounds.
    #[default]
    Half,
}

impl Base {
    /// All values, the default first.
    pub const ALL: [Base; 2] = [Base::Half, Base::Both];

    /// The name on command lines and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Base::Both => "both",
            Base::Half => "half",
        }
    }
}

/// The public parameters of a set-up. All parties must have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupConfig {
    /// SoftSpokenOT's parameter, 1 to 8. An authenticated bit costs 16/k bytes to each peer, and work that
    /// grows with 2^k / k. On a fast network the default takes nearly the least time; 2 is a little faster
    /// there, but sends twice as much (docs/garbling.md, 8).
    pub k: u32,
    /// How the base OTs are made.
    pub base: Base,
    /// Statistical security in bits: 40 or 64.
    pub rho: u32,
}

impl Default for SetupConfig {
    fn default() -> Self {
        SetupConfig { k: 4, base: Base::default(), rho: 40 }
    }
}

impl SetupConfig {
    /// Whether the parameters are in range. Tests have set-ups with a lower `rho` (`testing::unsound`), whose
    /// error can be measured.
    fn is_sound(&self) -> bool {
        (1..=MAX_K).contains(&self.k) && [40, 64].contains(&self.rho)
    }

    /// Adds these parameters to those that the parties compare at the start of a session \[M0.4\].
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

/// The fields that are large enough for MACs, by the number of bits of Delta: GF(2^40), GF(2^42), GF(2^48)
/// and GF(2^72).
pub const FIELDS: [u32; 4] = [40, 42, 48, 72];

/// One party's set-up: Delta_i, the trees towards each peer, and the coins. A session has one: every
/// authenticated bit of the session, in whatever batch and thread, is under its Delta_i.
///
/// All rows come from it. Protocols that use rows do not see how they are made.
pub struct Setup {
    pub(crate) me: PartyId,
    pub(crate) parties: usize,
    pub(crate) session: [u8; 32],
    pub(crate) config: SetupConfig,
    pub(crate) layout: Layout,
    pub(crate) deltas: Deltas,
    pub(crate) coins: Coins,
    pub(crate) source: Source,
    /// Whether the rows so far were checked ones; `None` before the first rows.
    pub(crate) checked: Option<bool>,
    /// How many rows were begun ahead, and how many of them finished.
    pub(crate) ahead: ahead::Counts,
}

impl Setup {
    /// Makes the set-up of a session: base OTs, trees and coins. All parties call it, once for each session.
    /// Two rounds, five with [`Base::Half`].
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for parameters out of range, and if the session has
    /// a set-up already.
    pub fn new(session: &mut Session, config: SetupConfig) -> Result<Setup, Abort> {
        let delta = Delta::drawn(session.me(), |bytes| session.entropy(purposes::DELTA, bytes));
        purposes::DELTA.drawn(|| delta.get().to_le_bytes());
        Setup::with_deltas(session, config, Deltas::labels(config.k, delta))
    }

    /// The same with a Delta_i that is a uniform element of GF(2^f), where f is one of [`FIELDS`]; pads are
    /// made under an independent Delta'_i of 128 bits. Narrow rows ([`Setup::mac_rows`]) have f columns, wide
    /// ones ([`Setup::wide_rows`]) f + 128.
    ///
    /// f bits could be searched; so no message allows a guess of Delta_i to be verified offline (docs/ot.md,
    /// 4).
    ///
    /// # Errors
    /// Those of [`Setup::new`].
    pub fn over_field(session: &mut Session, config: SetupConfig, f: u32) -> Result<Setup, Abort> {
        if !is_field(f) {
            return Err(session.misuse(SETUP, Misuse::Unsupported));
        }
        let delta = Delta::uniform(f, |bytes| session.entropy(purposes::DELTA_OF_FIELD, bytes));
        let pads = Delta::uniform(128, |bytes| session.entropy(purposes::DELTA_OF_PADS, bytes));
        purposes::DELTA_OF_FIELD.drawn(|| delta.get().to_le_bytes()[..f as usize / 8].to_vec());
        purposes::DELTA_OF_PADS.drawn(|| pads.get().to_le_bytes());
        Setup::with_deltas(session, config, Deltas::field(config.k, f, delta, pads))
    }

    /// Adds the size of the field to the parameters that the parties compare at the start of a session
    /// \[M0.4\].
    #[must_use]
    pub fn describe_field(f: u32, parameters: PublicParameters) -> PublicParameters {
        parameters.with("bits of a mac", &f.to_le_bytes())
    }

    /// Makes a set-up with these keys.
    pub(crate) fn with_deltas(
        session: &mut Session,
        config: SetupConfig,
        deltas: Deltas,
    ) -> Result<Setup, Abort> {
        if !config.is_sound() {
            return Err(session.misuse(SETUP, Misuse::OutOfRange));
        }
        Setup::with_any(session, config, deltas)
    }

    /// The same without a look at the parameters: they are in range, or a test chose them
    /// (`testing::unsound`).
    pub(crate) fn with_any(
        session: &mut Session,
        config: SetupConfig,
        deltas: Deltas,
    ) -> Result<Setup, Abort> {
        if session.parties() < 2 {
            return Err(session.misuse(SETUP, Misuse::PartyCount));
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
            ahead: ahead::Counts::default(),
        })
    }

    /// Refuses a second set-up in a session. It would have another Delta, and its positions, and so its
    /// tweaks, would begin again at zero.
    pub(crate) fn once(session: &Session) -> Result<(), Abort> {
        if session.first("set-up") { Ok(()) } else { Err(session.misuse(SETUP, Misuse::SecondSetUp)) }
    }

    /// Our Delta_i.
    #[must_use]
    pub fn delta(&self) -> &Delta {
        &self.deltas.delta
    }

    /// How many bits a MAC has: 128, or the number of bits of the field.
    #[must_use]
    pub fn mac_bits(&self) -> u32 {
        self.layout.columns(0).len() as u32
    }

    /// The parameters of this set-up.
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

    /// Tosses the session's next coin: 128 bits. One round. Call it only after everything has been received
    /// that the coin must be independent of.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn toss(&mut self, session: &mut Session, step: Step) -> Result<[u8; 16], Abort> {
        self.coins.toss(session, step)
    }
}

/// Whether MACs of f bits are allowed. Tests have set-ups with shorter ones (`testing::unsound_over_field`),
/// whose guesses can be counted.
fn is_field(f: u32) -> bool {
    FIELDS.contains(&f)
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use divisi_net::{Mesh, memory};
    use std::sync::Arc;

    /// At each of three parties every bit of both keys is random, and the keys are independent of each other.
    #[test]
    fn keys_of_a_field_are_uniform() {
        const SESSIONS: usize = 48;
        let (f, config) = (40, SetupConfig { k: 2, ..SetupConfig::default() });
        let key_of = |mesh: Mesh| {
            let mut session = Session::start(&Arc::new(mesh), 1, &PublicParameters::new("keys"))?;
            let setup = Setup::over_field(&mut session, config, f)?;
            let key = setup.deltas.towards(session.peers()[0]);
            Ok([0, 1].map(|group| setup.layout.group(&key, group)))
        };
        // a thread makes all set-ups of a party: nothing that was drawn for one may serve for the next
        let mut of_parties = [const { Vec::new() }; 3];
        for mesh in (0..SESSIONS).flat_map(|_| memory::mesh(3)) {
            of_parties[mesh.me().index()].push(mesh);
        }
        let all = |meshes: Vec<Mesh>| meshes.into_iter().map(key_of).collect::<Result<Vec<_>, Abort>>();
        let of_parties = std::thread::scope(|s| {
            let parties = of_parties.map(|meshes| s.spawn(move || all(meshes)));
            parties.map(|party| party.join().unwrap().unwrap())
        });
        for keys in of_parties {
            assert_eq!(keys.len(), SESSIONS);
            let often = |of: &dyn Fn(&[u128; 2]) -> u128| keys.iter().filter(|key| of(key) & 1 == 1).count();
            for bit in 0..128 {
                let macs = often(&|key| key[0] >> bit);
                assert!(if bit < f { (1..SESSIONS).contains(&macs) } else { macs == 0 }, "{bit}");
                assert!((1..SESSIONS).contains(&often(&|key| key[1] >> bit)), "{bit}");
                assert!((1..SESSIONS).contains(&often(&|key| (key[0] ^ key[1]) >> (bit % f))), "{bit}");
            }
        }
    }

    #[test]
    fn fields_are_large_enough_but_in_tests() {
        for f in 0..=128 {
            assert_eq!(is_field(f), [40, 42, 48, 72].contains(&f), "{f}");
        }
    }

    #[test]
    fn soundness_is_not_to_be_lowered_but_in_tests() {
        let with = |k, rho| SetupConfig { k, rho, ..SetupConfig::default() };
        for (config, sound) in [
            (with(4, 40), true),
            (with(1, 64), true),
            (with(8, 40), true),
            (with(4, 8), false),
            (with(4, 39), false),
            (with(4, 0), false),
            (with(4, 65), false),
            (with(0, 40), false),
            (with(9, 40), false),
        ] {
            assert_eq!(config.is_sound(), sound, "{config:?}");
        }
    }
}

//! What all authenticated bits of a session come from.

#[cfg(feature = "fault")]
mod corrupt;
mod pairs;

use crate::abit::produce::{Bits, Produced, packed, produce};
use crate::delta::Deltas;
use crate::links::Links;
use crate::pads::{Checked, Pads, Part, SemiHonest};
use crate::softspoken::layout::{Layout, Width};
use crate::softspoken::{MAX_K, TILE};
use crate::vole::{ByGroup, Ends, Made, Request, Rows};
use crate::{AuthBits, Delta, wipe};
use divisi_core::{Abort, Coins, Parameters, PartyId, Session, Step, step, taint};
use zeroize::Zeroizing;

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

/// The bits of a Delta over a field that is large enough: GF(2^40), GF(2^42), GF(2^48) and GF(2^72).
pub const FIELDS: [u32; 4] = [40, 42, 48, 72];

/// Wide rows at new positions: authenticated bits, and pads under the same bits.
///
/// That both are columns of one row, and the check one relation over all of them, is what makes a bit's pad and its MAC belong to one
/// bit \[K13\]: positions are moved out of both together.
pub struct WideBits {
    /// The bits with MACs and keys.
    pub bits: AuthBits,
    /// The same bits with their pads.
    pub pads: Pads<Checked>,
}

impl WideBits {
    /// How many positions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// Move the first `count` positions out; `None`, and nothing moved, if there are fewer.
    #[must_use]
    pub fn take(&mut self, count: usize) -> Option<WideBits> {
        Some(WideBits { bits: self.bits.take(count)?, pads: self.pads.take(count)? })
    }
}

/// One party's end of the set-up of a session: Delta_i, the trees towards each peer, the coins. One for a session: every authenticated
/// bit of it, in whatever batch and thread, is under the same Delta_i.
///
/// Rows come from here alone, whatever makes them: what asks for them does not see where they come from.
pub struct Setup {
    pub(crate) me: PartyId,
    pub(crate) parties: usize,
    pub(crate) session: [u8; 32],
    pub(crate) config: Config,
    pub(crate) layout: Layout,
    pub(crate) deltas: Deltas,
    pub(crate) coins: Coins,
    pub(crate) source: Source,
    /// Whether what was asked for so far is checked; nothing before the first rows.
    pub(crate) checked: Option<bool>,
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
        Setup::with_deltas(session, config, Deltas::labels(config.k, delta))
    }

    /// The same with a Delta_i that is a uniform element of GF(2^f), for f of [`FIELDS`], and pads under an independent Delta'_i of 128
    /// bits: narrow rows, [`Setup::mac_rows`], have f columns, wide ones, [`Setup::wide_rows`], f + 128.
    ///
    /// f bits are few, and nothing that leaves can be used to try a guess of Delta_i (docs/ot.md).
    ///
    /// # Errors
    /// As [`Setup::new`].
    pub fn over_field(session: &mut Session, config: Config, f: u32) -> Result<Setup, Abort> {
        if !is_field(f, cfg!(any(test, feature = "testing", feature = "fault"))) {
            return Err(session.misuse(SETUP, "a field of 40, 42, 48 or 72 bits"));
        }
        let delta = Delta::uniform(f, |bytes| session.entropy(bytes));
        let pads = Delta::uniform(128, |bytes| session.entropy(bytes));
        Setup::with_deltas(session, config, Deltas::field(config.k, f, delta, pads))
    }

    /// The size of the field, among the parameters that the parties compare at the start of a session \[M0.4\].
    #[must_use]
    pub fn describe_field(f: u32, parameters: Parameters) -> Parameters {
        parameters.with("bits of a mac", &f.to_le_bytes())
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

    /// Random authenticated bits of all parties at `count` new positions, checked. The first call among three or more parties also
    /// proves everybody's Delta consistent.
    ///
    /// All parties call it in the same order with the same count, on any strand of the set-up's session. It holds 32 bytes a position and
    /// peer; 3 rounds between two parties, else 4, and 5 the first time.
    ///
    /// # Errors
    /// Whatever a broken or malicious peer causes; everything secret is erased then.
    pub fn authenticated_bits(&mut self, session: &mut Session, count: usize) -> Result<AuthBits, Abort> {
        self.mac_rows(session, Bits::Random(count))
    }

    /// The same for bits of our choice too: [`Setup::authenticated_bits`]. Chosen bits cost what random ones do.
    ///
    /// # Errors
    /// As [`Setup::authenticated_bits`]; [`Abort::Misuse`] if there are fewer words than bits.
    pub fn mac_rows(&mut self, session: &mut Session, bits: Bits<'_>) -> Result<AuthBits, Abort> {
        let made = self.checked(session, Width::Macs, bits).map(|(bits, _)| bits);
        #[cfg(any(test, feature = "testing"))]
        if let Ok(bits) = &made {
            let keys = PartyId::all(self.parties).flat_map(|peer| bits.keys(peer));
            crate::record::note(|records| records.made.extend(keys));
        }
        made
    }

    /// Wide rows: authenticated bits with pads under the same bits; otherwise as [`Setup::mac_rows`], with 64 bytes a position and peer.
    ///
    /// # Errors
    /// As [`Setup::mac_rows`]; [`Abort::Misuse`] for a set-up that is not over a field.
    pub fn wide_rows(&mut self, session: &mut Session, bits: Bits<'_>) -> Result<WideBits, Abort> {
        if self.layout.public {
            return Err(session.misuse(SETUP, "wide rows over no field"));
        }
        let (bits, pads) = self.checked(session, Width::Wide, bits)?;
        Ok(WideBits { bits, pads })
    }

    /// Rows of pads alone, checked like those of MACs: random OTs with the same bits towards all peers, as MASCOT's products need them.
    ///
    /// # Errors
    /// As [`Setup::wide_rows`].
    pub fn pad_rows(&mut self, session: &mut Session, bits: Bits<'_>) -> Result<Pads<Checked>, Abort> {
        if self.layout.public {
            return Err(session.misuse(SETUP, "checked rows of pads over no field"));
        }
        // the mutant's pads are those of the columns that authenticate
        let apart = self.layout.hashed(session) == self.layout.pads();
        let width = if apart { Width::Pads } else { Width::Macs };
        Ok(self.checked(session, width, bits)?.1)
    }

    /// Rows of pads that no check stands behind, the next ones in the directions of `links`: for protocols in which all parties do what
    /// they should, and some of them look. One round; 16 bytes a position and direction, and ceil(128 / k) bits a position towards each
    /// peer that we have bits for. A set-up that gives such rows gives no others.
    ///
    /// # Errors
    /// Whatever a broken peer causes; [`Abort::Misuse`] for a set-up whose rows are checked.
    pub fn semi_honest_rows(
        &mut self,
        session: &mut Session,
        bits: Bits<'_>,
        links: Links,
    ) -> Result<Pads<SemiHonest>, Abort> {
        self.enter(session, bits, false)?;
        match std::mem::replace(&mut self.source, Source::Erased) {
            Source::Trees(mut ends, proven) => {
                let tiles = bits.count().div_ceil(TILE);
                let x = Zeroizing::new(bits.tiles(session, tiles));
                let request =
                    Request { width: Width::Pads, tiles, x: &vec![x.as_slice(); self.parties], links };
                let made = wipe::stack(|| ends.extend(session, request, &self.deltas));
                let rows = match made {
                    Ok(made) => made.semi_honest(),
                    Err(abort) => {
                        self.deltas.erase();
                        return Err(abort);
                    }
                };
                self.source = Source::Trees(ends, proven);
                let group = self.layout.pads();
                let of = |rows: Vec<ByGroup<Rows>>| {
                    rows.into_iter().map(|mut rows| rows[group].take().map(Part::of)).collect()
                };
                let Made { macs, keys } = rows;
                Ok(Pads::new(session, bits.count(), packed(&x).to_vec(), of(macs), of(keys)))
            }
            Source::Erased => Err(session.misuse(SETUP, "an abort has erased the set-up")),
            #[cfg(any(test, feature = "testing"))]
            Source::Dealt(mut dealer) => {
                let dealt = dealer.deal_pads(session, bits, |from, to| links.makes(session, from, to));
                self.source = Source::Dealt(dealer);
                Ok(dealt)
            }
        }
    }

    /// Refuse what cannot be asked of this set-up. All its rows are checked, or none: who may lie in some of them learns bits of the
    /// keys that the others are under \[G14\].
    fn enter(&mut self, session: &mut Session, bits: Bits<'_>, checked: bool) -> Result<(), Abort> {
        if self.session != *session.id().as_bytes() {
            return Err(session.misuse(SETUP, "the set-up of another session"));
        }
        if session.cause().is_some() {
            self.source = Source::Erased;
            self.deltas.erase();
        }
        if bits.count() == 0 {
            return Err(session.misuse(SETUP, "authenticated bits at no position"));
        }
        if !bits.are_there() {
            return Err(session.misuse(SETUP, "other words than chosen bits"));
        }
        if *self.checked.get_or_insert(checked) != checked {
            return Err(session.misuse(SETUP, "rows with a check and without one from one set-up"));
        }
        Ok(())
    }

    /// Rows of this width, split into what authenticates and pads.
    fn checked(
        &mut self,
        session: &mut Session,
        width: Width,
        bits: Bits<'_>,
    ) -> Result<(AuthBits, Pads<Checked>), Abort> {
        self.enter(session, bits, true)?;
        // what fails on the way is not put back
        match std::mem::replace(&mut self.source, Source::Erased) {
            Source::Trees(mut ends, proven) => {
                // the proof is about the Deltas of MACs
                let macs = width != Width::Pads;
                let prove = (self.parties > 2 && !proven && macs).then_some(self.config.rho);
                let asked = (width, bits);
                let made =
                    wipe::stack(|| produce(session, &mut ends, &self.deltas, &mut self.coins, asked, prove));
                match made {
                    Ok(_) => self.source = Source::Trees(ends, proven || macs),
                    Err(_) => self.deltas.erase(),
                }
                made.map(|made: Produced| made.split(session, self.layout))
            }
            Source::Erased => Err(session.misuse(SETUP, "an abort has erased the set-up")),
            #[cfg(any(test, feature = "testing"))]
            Source::Dealt(mut dealer) => {
                let dealt = dealer.deal(session, bits, width);
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

    /// How many bits a MAC has: 128, or those of the field.
    #[must_use]
    pub fn mac_bits(&self) -> u32 {
        self.layout.columns(0).len() as u32
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

/// Whether MACs of so many bits are to be computed with; of `tests` also fewer, so that guesses can be counted.
fn is_field(f: u32, tests: bool) -> bool {
    FIELDS.contains(&f) || tests && f > 0 && f % 2 == 0 && f <= 72
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bit of both keys is drawn, and neither says anything about the other.
    #[test]
    fn keys_of_a_field_are_uniform() {
        let (f, config) = (40, Config { k: 2, ..Config::default() });
        let mut keys = Vec::new();
        for _ in 0..16 {
            let ends = divisi_core::testing::run(2, &Parameters::new("keys"), |mut session| {
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

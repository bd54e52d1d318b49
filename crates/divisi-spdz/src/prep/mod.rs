//! Preprocessing from oblivious transfer: authenticated bits and products that no dealer knows.
//!
//! | module | what | source |
//! |---|---|---|
//! | `rows` | authenticated bits and elements, from rows of divisi-ot | docs/ot.md, section 5 |
//! | `bucketed` | products of bits and vectors, proven by one random combination and put into buckets | docs/spdz.md, section 7 |
//! | `mascot` | products of elements, combined and sacrificed | MASCOT (Keller, Orsini, Scholl 2016) |

mod bucketed;
mod mascot;
mod rows;

pub use bucketed::Bucketed;
pub use mascot::Mascot;

use crate::part::{Host, Mac};
use crate::party::Party;
use crate::source::Source;
use divisi_core::{Abort, PublicParameters, Session};
use divisi_field::Field;
use divisi_ot::{Setup, SetupConfig};

/// How preprocessing is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preparation {
    /// [`Bucketed`]: products of bits and vectors in buckets.
    #[default]
    Bucketed,
    /// [`Mascot`]: the preprocessing that KOR+17 measures.
    Mascot,
}

impl Preparation {
    /// Both kinds of preprocessing.
    pub const ALL: [Preparation; 2] = [Preparation::Bucketed, Preparation::Mascot];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Preparation::Bucketed => "bucketed",
            Preparation::Mascot => "mascot",
        }
    }

    /// The party of a session, and the source of its preprocessing: [`Bucketed::start`] or [`Mascot::start`].
    ///
    /// # Errors
    /// The errors of these functions.
    #[inline(never)]
    pub fn start<F: Host>(
        self,
        session: Session,
        config: SetupConfig,
    ) -> Result<(Party<F>, Box<dyn Source<F>>), Abort> {
        Ok(match self {
            Preparation::Bucketed => {
                let (party, source) = Bucketed::start(session, config)?;
                (party, Box::new(source))
            }
            Preparation::Mascot => {
                let (party, source) = Mascot::start(session, config)?;
                (party, Box::new(source))
            }
        })
    }

    /// Add this choice, the field and the parameters of the rows to the parameters that the parties compare
    /// at the start of a session \[M0.4\].
    #[must_use]
    pub fn describe<F: Mac>(self, config: SetupConfig, parameters: PublicParameters) -> PublicParameters {
        let parameters = Setup::describe_field(<F as Field>::BITS as u32, config.describe(parameters));
        parameters.with("preprocessing", self.name().as_bytes())
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod coins {
    use divisi_core::Step;
    use divisi_core::testing::{MessageDirection, Recording, party};

    /// The coins that two parties opened at a step, in order, computed from both parties' links.
    pub(super) fn opened(recordings: &[Recording], step: Step) -> Vec<[u8; 16]> {
        let links =
            [0, 1].map(|i| recordings[i].bodies(MessageDirection::Out, party(2 - i as u8), step.name));
        let share = |link: &Vec<u8>| {
            let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 coin share v1");
            hasher.update(link).update(&step.id.to_le_bytes());
            let mut share = [0; 16];
            hasher.finalize_xof().fill(&mut share);
            u128::from_le_bytes(share)
        };
        let coin = |(ours, theirs)| (share(ours) ^ share(theirs)).to_le_bytes();
        links[0].iter().zip(&links[1]).map(coin).collect()
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::source::Triples;
    use crate::{Shareable, share::Auth};
    use divisi_core::PartyId;
    use divisi_core::testing::run;
    use divisi_field::Gf48;
    use std::collections::HashSet;

    type Started = Result<(Party<Gf48>, Box<dyn Source<Gf48>>), Abort>;

    fn macs<V: Shareable>(parts: [&Auth<V, Gf48>; 3]) -> Vec<u128> {
        parts.iter().flat_map(|part| part.m.iter().map(|m| m.to_bits())).collect()
    }

    fn of<V: Shareable>(Triples { a, b, c }: &Triples<V, Gf48>) -> Vec<u128> {
        macs([a, b, c])
    }

    /// No two shares of MACs of all that a source makes are equal, of whatever kind, call, factor, owner or
    /// entry.
    fn all_differ(logs: &[usize], start: fn(Session, Setup) -> Started) {
        let ends = run(2, &PublicParameters::new("sources"), |mut session| {
            let config = SetupConfig { rho: 8, ..SetupConfig::default() };
            let setup = divisi_ot::testing::unsound_over_field(&mut session, config, 48)?;
            let (mut party, mut source) = start(session, setup)?;
            let (party, none, mut all) = (&mut party, Auth::default(), Vec::new());
            for count in [5, 3] {
                for log in logs {
                    let units = source.units(party, *log, count)?;
                    all.extend(macs([&units.s, &units.vector, &none]));
                }
                all.extend(macs([&source.bits(party, count)?, &none, &none]));
                let known = source.known_each(party, &[(PartyId::P1, count), (PartyId::P2, count)])?;
                all.extend(macs([&known[0].shares, &known[1].shares, &none]));
                all.extend(of(&source.byte_triples(party, count)?));
                all.extend(of(&source.six_triples(party, count)?));
                all.extend(of(&source.bit_triples(party, count)?));
            }
            party.check_here()?;
            Ok((all.len(), all.into_iter().collect::<HashSet<_>>().len()))
        });
        assert!(
            ends.iter().all(|end| end.as_ref().is_ok_and(|(all, different)| all == different)),
            "{ends:?}"
        );
    }

    #[test]
    fn nothing_of_buckets_is_made_twice() {
        all_differ(&[3, 7, 10], |session, setup| {
            let (party, source) = Bucketed::over(session, setup)?;
            Ok((party, Box::new(source)))
        });
    }

    #[test]
    fn nothing_of_mascot_is_made_twice() {
        all_differ(&[3, 7, 9], |session, setup| {
            let (party, source) = Mascot::over(session, setup)?;
            Ok((party, Box::new(source)))
        });
    }
}

//! A source that checks the number of lanes in every answer before the answer masks anything.

use crate::checks;
use crate::part::{Mac, Projects, Shareable};
use crate::party::Party;
use crate::share::Auth;
use crate::source::{KnownBits, Source, Triples, Units};
use divisi_core::{Abort, Misuse, PartyId, Step, step};
use divisi_field::{Field, Gf2, Gf6, Gf8};

const COUNT: Step = step!("source");

/// A source, whoever wrote it, that gives exactly what was asked for or ends the session: if a mask had fewer
/// lanes than the value that it hides, the other lanes would be sent without a mask.
pub(crate) struct Exact<F: Mac>(Box<dyn Source<F>>);

impl<F: Mac> Exact<F> {
    pub fn new(source: Box<dyn Source<F>>) -> Self {
        Exact(source)
    }
}

/// What was made, if it is exactly what was asked for; otherwise the session ends.
fn demand<T, F: Mac>(party: &Party<F>, made: T, exact: impl FnOnce(&T) -> bool) -> Result<T, Abort> {
    if exact(&made) { Ok(made) } else { Err(party.session.misuse(COUNT, Misuse::CountsDiffer)) }
}

/// Refuse products in a small field that the field of the MACs does not contain \[K10\].
fn holds<V: Field, F: Mac + Projects<V>>(party: &Party<F>) -> Result<(), Abort> {
    party.session.observe(checks::K10); // [K10]
    if <F as Projects<V>>::FIELD { Ok(()) } else { Err(party.session.misuse(COUNT, Misuse::Unsupported)) }
}

/// Whether there are this many shares and this many shares of MACs.
fn counts<V: Shareable, F: Mac>(made: &Auth<V, F>, count: usize) -> bool {
    [made.x.len(), made.m.len()] == [count; 2]
}

/// Whether there are this many known bits, with their values at the party that knows them, and only there.
fn told<F: Mac>(KnownBits { values, shares }: &KnownBits<F>, ours: bool, count: usize) -> bool {
    let told = match values {
        Some(values) => ours && values.len() == count,
        None => !ours,
    };
    told && counts(shares, count)
}

fn all_count<V: Shareable, F: Mac>(made: &Triples<V, F>, count: usize) -> bool {
    [&made.a, &made.b, &made.c].iter().all(|part| counts(part, count))
}

impl<F: Mac> Source<F> for Exact<F> {
    fn bits(&mut self, party: &mut Party<F>, count: usize) -> Result<Auth<Gf2, F>, Abort> {
        let made = self.0.bits(party, count)?;
        demand(party, made, |made| counts(made, count))
    }

    fn known(&mut self, party: &mut Party<F>, owner: PartyId, count: usize) -> Result<KnownBits<F>, Abort> {
        let made = self.0.known(party, owner, count)?;
        let ours = party.me() == owner;
        demand(party, made, |made| told(made, ours, count))
    }

    fn known_each(
        &mut self,
        party: &mut Party<F>,
        wanted: &[(PartyId, usize)],
    ) -> Result<Vec<KnownBits<F>>, Abort> {
        let made = self.0.known_each(party, wanted)?;
        let me = party.me();
        demand(party, made, |made| {
            let each = made.iter().zip(wanted);
            made.len() == wanted.len() && { each }
                .all(|(made, (owner, count))| told(made, me == *owner, *count))
        })
    }

    fn makes(&self) -> bool {
        self.0.makes()
    }

    fn foresee(&mut self, log: usize, lanes: usize) {
        self.0.foresee(log, lanes);
    }

    fn units(&mut self, party: &mut Party<F>, log: usize, lanes: usize) -> Result<Units<F>, Abort> {
        let made = self.0.units(party, log, lanes)?;
        // in each lane, s has a bit for each bit of the index, and the vector one for each entry
        let bits = log.checked_mul(lanes);
        let entries = u32::try_from(log).ok().and_then(|log| 1_usize.checked_shl(log)?.checked_mul(lanes));
        let (Some(bits), Some(entries)) = (bits, entries) else {
            return Err(party.session.misuse(COUNT, Misuse::TooLarge));
        };
        demand(party, made, |made| {
            made.lanes == lanes && counts(&made.s, bits) && counts(&made.vector, entries)
        })
    }

    fn byte_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf8, F>, Abort>
    where
        F: Projects<Gf8>,
    {
        holds::<Gf8, F>(party)?;
        let made = self.0.byte_triples(party, count)?;
        demand(party, made, |made| all_count(made, count))
    }

    fn six_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf6, F>, Abort>
    where
        F: Projects<Gf6>,
    {
        holds::<Gf6, F>(party)?;
        let made = self.0.six_triples(party, count)?;
        demand(party, made, |made| all_count(made, count))
    }

    fn bit_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf2, F>, Abort> {
        let made = self.0.bit_triples(party, count)?;
        demand(party, made, |made| all_count(made, count))
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;

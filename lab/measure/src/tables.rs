//! Lookups in a public table, by one-hot vectors of two or three factors (OHVerture).

use divisi_core::{Abort, Counts, Misuse, PartyId, Step, step};
use divisi_field::Gf8;
use divisi_rep3::blackbox::{BlackBox, Shared};
use divisi_rep3::deal::Part;
use divisi_rep3::ohverture::{Cube, Dimensions, LookupTable};
use divisi_rep3::{Security, Trio};

const TABLE: Step = step!("table");

/// Bits of a place, and of an entry.
const BITS: usize = 8;

fn entry(place: u8) -> u8 {
    place.wrapping_mul(0x9d).rotate_left(3) ^ 0x5a
}

/// The entries of the table at these places.
pub fn entries(places: &[u8]) -> Vec<u8> {
    places.iter().map(|place| entry(*place)).collect()
}

/// The run of one party. Each party gives its first component of the places as an input; the three components
/// add up to the places. Returns the entries, and what the meter counted.
///
/// # Errors
/// Whatever ends the session.
pub fn look_up(
    trio: Trio,
    mine: &[Part],
    security: Security,
    factors: usize,
) -> Result<(Vec<Vec<u8>>, Counts), Abort> {
    let misfit = || Abort::Misuse { step: TABLE, what: Misuse::CircuitUnfit };
    let part = mine.first().ok_or_else(misfit)?;
    let own: Vec<Gf8> = part.first.iter().map(|byte| Gf8(*byte)).collect();
    let b = &mut match security {
        Security::Malicious => BlackBox::new(trio),
        Security::SemiHonest => BlackBox::semi_honest(trio),
    };
    let (me, n) = (b.me(), own.len());
    let mut sum: Option<Shared<Gf8>> = None;
    for owner in PartyId::all(3) {
        let x = b.input(owner, (me == owner).then_some(&own[..]), n)?;
        sum = Some(match sum {
            Some(sum) => b.add(&sum, &x)?,
            None => x,
        });
    }
    let places = sum.ok_or_else(misfit)?;
    let table: Vec<Gf8> = (0..=u8::MAX).map(|place| Gf8(entry(place))).collect();
    let looked_up = match (factors, Dimensions::three(BITS, BITS)) {
        (2, _) => {
            let table = LookupTable::new(&table).ok_or_else(misfit)?;
            let vectors = b.rohv_add(BITS, n)?;
            b.lookup_sqrt(&table, &places, vectors)?
        }
        (3, Some(Dimensions::Three(parts))) => {
            let cube = Cube::new(parts, 1, &table).ok_or_else(misfit)?;
            let vectors = b.rohv_cube(parts, n)?;
            let mut looked_up = b.lookup_cube(&cube, &[(&places, BITS)], vectors)?;
            looked_up.pop().ok_or_else(misfit)?
        }
        _ => return Err(misfit()),
    };
    let out = b.output(&looked_up)?.iter().map(|entry| entry.0).collect();
    Ok((vec![out], b.session().meter().read()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::runs::{EngineRun, RunWork};
    use divisi_rep3::Protocol;

    /// Three parties get the entries of the table, and each sends openings of masked places and of entries.
    #[test]
    fn lookups_run_and_open_masked_places_and_entries() {
        for security in [Security::SemiHonest, Security::Malicious] {
            for factors in [2, 3] {
                let work = RunWork::Lookups(factors, 77);
                let run = EngineRun { protocol: Protocol::Gf4Circuit, security, work };
                let counts = run.prepare().unwrap().execute(&|_| {}).unwrap();
                for counts in &counts {
                    let steps = ["divisi_rep3::blackbox/reconst", "divisi_rep3::blackbox/output"];
                    let sent = |step: &&str| counts.steps.contains_key(*step);
                    assert!(steps.iter().all(sent), "{factors} {security}");
                }
            }
        }
    }
}

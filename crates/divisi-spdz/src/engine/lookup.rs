//! AES-LT: S-boxes by masked tables (KOR+17, Protocol 1).

use super::{AuthByte, LOAD_PHASE, PREPROCESSING_PHASE, Spdz};
use crate::checks;
use crate::part::{Host, Mac};
use crate::source::Units;
use crate::table::{ENTRIES, Function, LOG, Tables, gather};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Direction, Misuse, Step, step};
use divisi_field::BigField;

const OPEN: Step = step!("lookup.2");
const SHORT: Step = step!("lookup");

/// The least number of tables that are made if a layer finds too few.
const LEAST: usize = 1;

/// An engine's masked tables, and the unit vectors of which more can be made.
pub(super) struct Lookups<F: Mac> {
    functions: [Function<F>; 2],
    tables: [Tables<F>; 2],
    /// Unit vectors, which become tables of either direction.
    units: Option<Units<F>>,
    /// The number of lookups that were announced and did not happen yet.
    foreseen: usize,
}

fn index(d: Direction) -> usize {
    match d {
        Direction::Encrypt => 0,
        Direction::Decrypt => 1,
    }
}

impl<F: Host> Lookups<F> {
    pub fn new() -> Result<Self, Abort> {
        let functions = [Function::sbox(Direction::Encrypt)?, Function::sbox(Direction::Decrypt)?];
        let tables = [Tables::default(), Tables::default()];
        Ok(Lookups { functions, tables, units: None, foreseen: 0 })
    }
}

impl<F: Host> Spdz<F> {
    pub(crate) fn foresee(&mut self, lookups: usize) {
        self.lookups.foreseen = self.lookups.foreseen.saturating_add(lookups);
    }

    /// Announce the tables of 2^`log` entries that will be needed, `tables` in all: the source can then do
    /// one-time work once for all of them. Each call of [`Spdz::preprocess`] then takes some of them.
    pub fn announce(&mut self, log: usize, tables: usize) {
        self.source.foresee(log, tables);
    }

    /// Make and check unit vectors for a number of lookups of bytes: they depend on no key, input or
    /// direction. Those left from earlier calls are dropped.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn preprocess(&mut self, lookups: usize) -> Result<(), Abort> {
        // used tables are wiped before memory for new ones is allocated
        for tables in self.lookups.tables.iter_mut().filter(|tables| tables.left() == 0) {
            *tables = Tables::default();
        }
        let phase = self.party.session.detour(PREPROCESSING_PHASE);
        let units = self.units(LOG, lookups);
        self.party.session.back(phase);
        self.lookups.units = Some(units?);
        Ok(())
    }

    /// Unit vectors; what was opened to make them is checked before they are used \[K17\].
    pub(super) fn units(&mut self, log: usize, lanes: usize) -> Result<Units<F>, Abort> {
        let units = self.source.units(&mut self.party, log, lanes)?;
        self.party.check_opened()?;
        Ok(units)
    }

    /// At least `lookups` fresh tables for one direction, which leave this engine.
    #[inline(never)]
    pub(super) fn tables(&mut self, d: Direction, lookups: usize) -> Result<Tables<F>, Abort> {
        if self.lookups.units.as_ref().is_none_or(|units| units.lanes < lookups) {
            self.preprocess(lookups)?;
        }
        self.load(d)?;
        Ok(std::mem::take(&mut self.lookups.tables[index(d)]))
    }

    /// Make tables of all unit vectors, for one direction. Tables left from earlier calls are wiped.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are no unit vectors.
    #[inline(never)]
    pub fn load(&mut self, d: Direction) -> Result<(), Abort> {
        let units = self.lookups.units.take();
        let units = units.ok_or_else(|| self.party.session.misuse(SHORT, Misuse::NotMade))?;
        let phase = self.party.session.detour(LOAD_PHASE);
        let i = index(d);
        self.lookups.tables[i] = self.lookups.functions[i].expand(&units);
        self.party.session.back(phase);
        Ok(())
    }

    /// Protocol 1 on every lane of all bytes.
    ///
    /// 1. Take a masked table for each lookup, which no other lookup uses \[K2\]. 2. Open h = x + s. 3.
    ///    \[\[T(x)\]\] is entry h.
    ///
    /// Adversary: n - 1 malicious; a wrong h gives a wrong entry with a right MAC, and fails the next check
    /// \[K1\].
    /// Cost: 8 bits a lookup to each peer, one round (test `counts_of_aes_lt`).
    #[inline(never)]
    pub(super) fn lookup(&mut self, d: Direction, x: &mut [&mut AuthByte<F>]) -> Result<(), Abort> {
        let (i, count) = (index(d), x.iter().map(|x| x.len()).sum::<usize>());
        if self.lookups.tables[i].left() < count {
            let wanted = self.lookups.foreseen.max(count).max(LEAST);
            self.preprocess(wanted)?;
            self.load(d)?;
        }
        self.lookups.foreseen = self.lookups.foreseen.saturating_sub(count);
        // 1.
        let Lookups { tables, .. } = &mut self.lookups;
        let tables = &mut tables[i];
        let from = tables.used;
        tables.used += count; // [K2]
        self.party.session.observe_each(checks::K2, count as u64);
        // 2.
        let mut h = tables.s.part(from..from + count);
        let mut at = 0;
        for byte in x.iter() {
            let lanes = at..at + byte.len();
            h.x[lanes.clone()].iter_mut().zip(&byte.x).for_each(|(s, x)| s.0 ^= x.0);
            <F as BigField>::add_assign(&mut h.m[lanes.clone()], &byte.m);
            at = lanes.end;
        }
        let sent = self.party.send_shares(OPEN, &h.x)?;
        let opened = self.party.receive(sent, &h.m)?;
        // 3.
        let entries = &tables.entries[from * ENTRIES..(from + count) * ENTRIES];
        let mut found = WipedVec::<F::Entry>::zeros(count);
        gather::<_, 1>(entries, ENTRIES, opened.iter().map(|h| h.0), &mut found);
        let mut rest = &found[..];
        for byte in x.iter_mut() {
            let (here, more) = rest.split_at(byte.len());
            rest = more;
            for ((x, m), entry) in byte.x.iter_mut().zip(&mut byte.m).zip(here) {
                (*x, *m) = F::parts(*entry);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
pub(super) mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::engine::SpdzProtocol;
    use crate::pages::Pages;
    use crate::part::Shareable;
    use crate::share::Auth;
    use divisi_core::testing::{Harness, MessageDirection, Recording, party};
    use divisi_core::{PublicParameters, Session};
    use divisi_field::{Gf8, Gf48};

    /// Lanes of a lookup.
    pub const LANES: usize = 64;
    /// How many tables there are: more than 2^16.
    pub const ALL: usize = (1 << 16) + 2 * LANES;

    /// Where lookups begin: on both sides of powers of two, and each table is used once.
    pub fn places(most: usize) -> Vec<usize> {
        let powers = (7..).map(|k| 1 << k).take_while(|place| *place <= most);
        [0].into_iter().chain(powers.flat_map(|place| [place - LANES, place])).collect()
    }

    /// The masks of this many tables: P_1 has other shares for each of them, and P_2 has zeros.
    pub fn numbered<V: Shareable>(session: &Session, count: usize) -> Auth<V, Gf48> {
        let mut all = Auth::zeros(count);
        if session.me().index() == 0 {
            V::add_random(&mut divisi_core::Prg::new(&[8; 16]), &mut all.x);
        }
        all
    }

    /// Demands that nothing that P_1 sent in a step was the same in two of so many messages.
    pub fn all_differ(recordings: &[Recording], step: &'static str, count: usize) {
        let mut told = recordings[0].bodies(MessageDirection::Out, party(2), step);
        assert_eq!(told.len(), count);
        told.sort_unstable();
        told.dedup();
        assert_eq!(told.len(), count, "{step}");
    }

    /// No table is used twice, however many were used before.
    #[test]
    fn no_table_returns() {
        let harness = Harness::new(2, &PublicParameters::new("many tables"));
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
            let (s, entries) = (numbered(e.session(), ALL), Pages::zeros(ENTRIES * ALL));
            let d = Direction::Decrypt;
            e.lookups.tables[index(d)] = Tables { s, entries, used: 0 };
            for place in places(1 << 16) {
                let mut bytes = [(); 2].map(|()| AuthByte::zeros(LANES / 2));
                let [first, second] = &mut bytes;
                e.lookups.tables[index(d)].used = place;
                e.lookup(d, &mut [first, second])?;
                assert_eq!(e.lookups.tables[index(d)].used, place + LANES);
            }
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        all_differ(&recordings, OPEN.name, places(1 << 16).len());
    }

    /// A layer of whatever size has a table of its own for each lookup, and the next layer has others.
    #[test]
    fn no_table_serves_two_layers() {
        let sizes = || (1..=12).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1]);
        let all = 2 * sizes().max().unwrap();
        let harness = Harness::new(2, &PublicParameters::new("large layers"));
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
            let (s, entries) = (numbered(e.session(), all), Pages::zeros(ENTRIES * all));
            let masks: Vec<u8> = s.x.iter().map(|s: &Gf8| s.0).collect();
            let d = Direction::Encrypt;
            e.lookups.tables[index(d)] = Tables { s, entries, used: 0 };
            for count in sizes() {
                e.lookups.tables[index(d)].used = 0;
                e.lookup(d, &mut [&mut AuthByte::zeros(count)])?;
                e.lookup(d, &mut [&mut AuthByte::zeros(count)])?;
                assert_eq!(e.lookups.tables[index(d)].used, 2 * count);
            }
            Ok(masks)
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        // the indices are zeros, so what is opened are the masks themselves
        let told = recordings[0].bodies(MessageDirection::Out, party(2), OPEN.name);
        assert_eq!(told.len(), 2 * sizes().count());
        for (layers, count) in told.chunks(2).zip(sizes()) {
            assert!(layers.concat() == ends[0].as_ref().unwrap()[..2 * count], "{count}");
        }
    }
}

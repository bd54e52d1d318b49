//! The engine among any number of parties in one process, for suites (feature `testing`; never part of a build that holds real secrets).

use crate::dealer::Dealer;
use crate::engine::{Byte, Spdz};
use crate::part::Mac;
use divisi_core::testing::{ByteLab, run};
use divisi_core::{Abort, Parameters, PartyId, settle};
use divisi_field::{Gf8, Holds};
use std::marker::PhantomData;

/// A number of parties, whose preprocessing is dealt.
pub struct SpdzLab<F> {
    /// How many parties.
    pub parties: usize,
    field: PhantomData<fn() -> F>,
}

impl<F> SpdzLab<F> {
    /// A lab of so many parties.
    #[must_use]
    pub fn new(parties: usize) -> Self {
        SpdzLab { parties, field: PhantomData }
    }
}

impl<F: Mac + Holds<Gf8>> ByteLab for SpdzLab<F> {
    type Engine = Spdz<F>;

    /// The parties give the inputs by turns, and all learn what comes out.
    fn bytes(
        &self,
        inputs: &[Vec<u8>],
        f: impl Fn(&mut Spdz<F>, Vec<Byte<F>>) -> Result<Vec<Byte<F>>, Abort> + Sync,
    ) -> Result<Vec<Vec<u8>>, Abort> {
        let ends = run(self.parties, &Parameters::new("spdz lab"), |session| {
            let (party, dealer) = Dealer::deal(session, 3)?;
            let mut engine = Spdz::new(party, Box::new(dealer))?;
            let owners: Vec<PartyId> = PartyId::all(self.parties).collect();
            let me = engine.session().me();
            let secrets = inputs.iter().zip(owners.into_iter().cycle()).map(|(values, owner)| {
                engine.input(owner, (owner == me).then_some(values.as_slice()), values.len())
            });
            let secrets = secrets.collect::<Result<Vec<_>, _>>()?;
            let out = f(&mut engine, secrets)?;
            let lanes: Vec<usize> = out.iter().map(|byte| byte.len()).collect();
            let mut all = Byte::default();
            out.iter().for_each(|byte| all.append(byte));
            let pending = engine.close(all);
            let verified = settle(&mut engine, pending)?;
            let opened = engine.output(verified)?;
            let mut rest = opened.as_slice();
            Ok(lanes
                .into_iter()
                .map(|n| {
                    let (now, later) = rest.split_at(n);
                    rest = later;
                    now.iter().map(|x| x.0).collect()
                })
                .collect::<Vec<Vec<u8>>>())
        });
        let mut ends = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
        assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "the parties' answers agree");
        Ok(ends.pop().unwrap_or_default())
    }
}

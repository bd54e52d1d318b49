//! The engine among any number of parties in one process, for suites (feature `testing`; never part of a
//! build that holds real secrets).

use crate::dealer::Dealer;
use crate::engine::{AuthBit, AuthByte, Spdz, SpdzProtocol, Tiny, TinyBit, TinyBits, TinyByte};
use crate::part::{Host, Mac, Shareable};
use crate::party::Party;
use crate::prep::{Bucketed, Mascot, Preparation};
use crate::source::Units;
use crate::source::{Source, Triples};
use crate::stock::{self, StockPlan};
use divisi_core::testing::{BitLab, ByteLab, run};
use divisi_core::{Abort, PartyId, PublicParameters, Session, settle};
use divisi_field::{Field, Gf2};
use divisi_ot::{Setup, SetupConfig};
use divisi_store::stock::{Reserve, StockError};
use std::marker::PhantomData;
use zeroize::Zeroizing;

/// A lab with a number of parties. Preprocessing comes from a dealer unless another source is chosen.
pub struct SpdzLab<F> {
    parties: usize,
    protocol: SpdzProtocol,
    preparation: Option<Preparation>,
    field: PhantomData<fn() -> F>,
}

/// A lab with TinyTable, for AES and triple DES: a circuit runs first over masks, and then over values.
pub struct TinyLab<F> {
    parties: usize,
    preparation: Option<Preparation>,
    field: PhantomData<fn() -> F>,
}

impl<F> SpdzLab<F> {
    /// A lab of `parties` parties.
    #[must_use]
    pub fn new(parties: usize, protocol: SpdzProtocol) -> Self {
        SpdzLab { parties, protocol, preparation: None, field: PhantomData }
    }

    /// The same lab with preprocessing made by the parties.
    #[must_use]
    pub fn prepared(self, preparation: Preparation) -> Self {
        SpdzLab { preparation: Some(preparation), ..self }
    }
}

impl<F> TinyLab<F> {
    /// A lab of `parties` parties.
    #[must_use]
    pub fn new(parties: usize) -> Self {
        TinyLab { parties, preparation: None, field: PhantomData }
    }

    /// The same lab with preprocessing made by the parties.
    #[must_use]
    pub fn prepared(self, preparation: Preparation) -> Self {
        TinyLab { preparation: Some(preparation), ..self }
    }
}

/// A party, and the source of its preprocessing: a dealer if `preparation` is `None`.
///
/// # Errors
/// The abort that ends the session.
pub fn begin<F: Host>(
    session: Session,
    preparation: Option<Preparation>,
) -> Result<(Party<F>, Box<dyn Source<F>>), Abort> {
    let config = SetupConfig::default();
    Ok(match preparation {
        None => {
            let (party, dealer) = Dealer::deal(session, 3)?;
            (party, Box::new(dealer))
        }
        Some(Preparation::Bucketed) => {
            let (party, source) = Bucketed::start(session, config)?;
            (party, Box::new(source))
        }
        Some(Preparation::Mascot) => {
            let (party, source) = Mascot::start(session, config)?;
            (party, Box::new(source))
        }
    })
}

/// Make a stock ([`stock::make`]) with products in buckets, over a set-up that a test made.
///
/// # Errors
/// Those of [`stock::make`].
pub fn make_stock<F: Host>(
    session: Session,
    setup: Setup,
    plan: &StockPlan,
    create: impl FnOnce([u8; 32], Zeroizing<Vec<u8>>) -> Result<Reserve, StockError>,
) -> Result<(), Abort> {
    let (party, source) = Bucketed::<F>::over(session, setup)?;
    stock::write(party, Box::new(source), plan, create, &mut |_, _| {})
}

/// This party's shares of the random bits s of unit vectors, and of the vectors.
#[must_use]
pub fn unit_shares<F: Mac>(units: &Units<F>) -> [Vec<Gf2>; 2] {
    [units.s.x.to_vec(), units.vector.x.to_vec()]
}

/// This party's shares of the factors of products, and of the products.
#[must_use]
pub fn triple_shares<V: Shareable, F: Mac>(triples: &Triples<V, F>) -> [Vec<V>; 3] {
    [&triples.a, &triples.b, &triples.c].map(|of| of.x.to_vec())
}

/// The owners of inputs: the parties in turn.
fn owners(parties: usize) -> impl Iterator<Item = PartyId> {
    PartyId::all(parties).collect::<Vec<_>>().into_iter().cycle()
}

/// Settle the outputs and open them to all parties.
fn opened<F: Host>(engine: &mut Spdz<F>, out: &[AuthByte<F>]) -> Result<Vec<Vec<u8>>, Abort> {
    let mut all = AuthByte::default();
    out.iter().for_each(|byte| all.append(byte));
    let pending = engine.close(all);
    let verified = settle(engine, pending)?;
    let opened = engine.output(verified)?;
    let mut rest = opened.into_iter().map(|x| x.0);
    Ok(out.iter().map(|byte| rest.by_ref().take(byte.len()).collect()).collect())
}

/// The same for bits.
fn opened_bits<F: Host>(engine: &mut Spdz<F>, out: &[AuthBit<F>]) -> Result<Vec<Vec<bool>>, Abort> {
    let mut all = AuthBit::default();
    out.iter().for_each(|bit| all.append(bit));
    let pending = engine.close(all);
    let verified = settle(engine, pending)?;
    let mut rest = engine.output(verified)?.into_iter().map(|bit| bit.to_bits() == 1);
    Ok(out.iter().map(|bit| rest.by_ref().take(bit.len()).collect()).collect())
}

fn agreed<T: PartialEq>(ends: Vec<Result<Vec<Vec<T>>, Abort>>) -> Result<Vec<Vec<T>>, Abort> {
    let mut ends = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
    assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "the parties' answers agree");
    Ok(ends.pop().unwrap_or_default())
}

impl<F: Host> ByteLab for SpdzLab<F> {
    type Engine = Spdz<F>;

    /// The parties give the inputs in turn, and all learn the outputs.
    fn bytes(
        &self,
        inputs: &[Vec<u8>],
        f: impl Fn(&mut Spdz<F>, Vec<AuthByte<F>>) -> Result<Vec<AuthByte<F>>, Abort> + Sync,
    ) -> Result<Vec<Vec<u8>>, Abort> {
        agreed(run(self.parties, &PublicParameters::new("spdz lab"), |session| {
            let (party, source) = begin(session, self.preparation)?;
            let mut engine = Spdz::new(party, source, self.protocol)?;
            let me = engine.session().me();
            let secrets = inputs.iter().zip(owners(self.parties)).map(|(values, owner)| {
                engine.input(owner, (owner == me).then_some(values.as_slice()), values.len())
            });
            let secrets = secrets.collect::<Result<Vec<_>, _>>()?;
            let out = f(&mut engine, secrets)?;
            opened(&mut engine, &out)
        }))
    }
}

impl<F: Host> BitLab for SpdzLab<F> {
    type Engine = Spdz<F>;

    fn bits(
        &self,
        inputs: &[Vec<bool>],
        f: impl Fn(&mut Spdz<F>, Vec<AuthBit<F>>) -> Result<Vec<AuthBit<F>>, Abort> + Sync,
    ) -> Result<Vec<Vec<bool>>, Abort> {
        agreed(run(self.parties, &PublicParameters::new("spdz lab"), |session| {
            let (party, source) = begin(session, self.preparation)?;
            let mut engine = Spdz::new(party, source, self.protocol)?;
            let me = engine.session().me();
            let secrets = inputs.iter().zip(owners(self.parties)).map(|(values, owner)| {
                engine.input_bits(owner, (owner == me).then_some(values.as_slice()), values.len())
            });
            let secrets = secrets.collect::<Result<Vec<_>, _>>()?;
            let out = f(&mut engine, secrets)?;
            opened_bits(&mut engine, &out)
        }))
    }
}

impl<F: Host> BitLab for TinyLab<F> {
    type Engine = TinyBits<F>;

    fn bits(
        &self,
        inputs: &[Vec<bool>],
        f: impl Fn(&mut TinyBits<F>, Vec<TinyBit<F>>) -> Result<Vec<TinyBit<F>>, Abort> + Sync,
    ) -> Result<Vec<Vec<bool>>, Abort> {
        agreed(run(self.parties, &PublicParameters::new("spdz lab"), |session| {
            let (party, source) = begin(session, self.preparation)?;
            let mut tiny = TinyBits::new(Spdz::new(party, source, SpdzProtocol::Lookup)?);
            let me = tiny.engine().session().me();
            let pairs = || inputs.iter().zip(owners(self.parties));
            let masks = pairs().map(|(values, owner)| tiny.engine().bit_mask(owner, values.len()));
            let masks = masks.collect::<Result<Vec<_>, _>>()?;
            let wires = masks.iter().map(|mask| TinyBits::mask(mask.shares().clone())).collect();
            let masked = f(&mut tiny, wires)?;
            tiny.open_indices()?;
            let public = pairs().zip(masks).map(|((values, owner), mask)| {
                let mine = (owner == me).then_some(values.as_slice());
                Ok(TinyBits::masked(tiny.engine().masked_bits(mask, mine)?))
            });
            let public = public.collect::<Result<Vec<_>, Abort>>()?;
            let public = f(&mut tiny, public)?;
            let pairs = masked.into_iter().zip(public);
            let out = pairs.map(|(mask, public)| tiny.output(mask, public)).collect::<Result<Vec<_>, _>>()?;
            opened_bits(tiny.engine(), &out)
        }))
    }
}

impl<F: Host> ByteLab for TinyLab<F> {
    type Engine = Tiny<F>;

    /// The parties give the inputs in turn, and all learn the outputs. The circuit runs over masks before any
    /// input is given.
    fn bytes(
        &self,
        inputs: &[Vec<u8>],
        f: impl Fn(&mut Tiny<F>, Vec<TinyByte<F>>) -> Result<Vec<TinyByte<F>>, Abort> + Sync,
    ) -> Result<Vec<Vec<u8>>, Abort> {
        agreed(run(self.parties, &PublicParameters::new("spdz lab"), |session| {
            let (party, source) = begin(session, self.preparation)?;
            let mut tiny = Tiny::new(Spdz::new(party, source, SpdzProtocol::Lookup)?);
            let me = tiny.engine().session().me();
            let pairs = || inputs.iter().zip(owners(self.parties));
            let masks = pairs().map(|(values, owner)| tiny.engine().input_mask(owner, values.len()));
            let masks = masks.collect::<Result<Vec<_>, _>>()?;
            let wires = masks.iter().map(|mask| Tiny::mask(mask.shares().clone())).collect();
            let masked = f(&mut tiny, wires)?;
            tiny.open_indices()?;
            let public = pairs().zip(masks).map(|((values, owner), mask)| {
                let mine = (owner == me).then_some(values.as_slice());
                Ok(Tiny::masked(&tiny.engine().masked_input(mask, mine)?))
            });
            let public = public.collect::<Result<Vec<_>, Abort>>()?;
            let public = f(&mut tiny, public)?;
            let pairs = masked.into_iter().zip(public);
            let out = pairs.map(|(mask, public)| tiny.output(mask, public)).collect::<Result<Vec<_>, _>>()?;
            opened(tiny.engine(), &out)
        }))
    }
}

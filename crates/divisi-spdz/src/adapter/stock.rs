//! Stocks of preprocessing on disk: how they are made, and the sessions that take from them.

use super::Authenticated;
use super::how::How;
use super::place::{Taken, entropy};
use crate::protocol::{NamedProtocol, by_field};
use crate::stock::{self, Advance, FromStock, StockPlan, contents};
use crate::{Host, Party};
use divisi_core::{Abort, PublicParameters, Session, Step, step};
use divisi_engine::stock::of_party;
use divisi_engine::{EngineSettings, PreparedStock, StockMaker, Unsupported};
use divisi_store::stock::{Reserve, SealKey, StockError, StockInfo};
use std::path::Path;

const OPEN: Step = step!("stock.open");

/// The party of a session that takes from a stock, and its source. A stock that has less than `needs` is
/// refused before anything is taken.
///
/// # Errors
/// [`Abort::Unfit`] with the reason, if the stock cannot be used; the abort that ends the session.
pub(super) fn open<F: Host>(
    session: Session,
    from: &Taken,
    needs: &StockPlan,
) -> Result<(Party<F>, FromStock<F>), Abort> {
    let me = session.me();
    let opened = SealKey::load(&from.key)
        .and_then(|key| Reserve::open(&of_party(&from.dir, me), key, entropy(), me.number()));
    let unfit = |e: StockError| session.fail(Abort::Unfit { step: OPEN, why: e.to_string() });
    let reserve = opened.map_err(unfit)?;
    FromStock::start_for(session, reserve, needs)
}

/// A stock to be made.
struct Wanted {
    how: How,
    named: NamedProtocol,
    blocks: u64,
    /// A digest of the peers' identities; zeros among threads of one process.
    peers: [u8; 32],
}

impl StockMaker for Authenticated {
    fn prepare_stock(
        &self,
        settings: &EngineSettings,
        blocks: u64,
        peers: [u8; 32],
    ) -> Result<Box<dyn PreparedStock>, Unsupported> {
        divisi_engine::check(self, settings)?;
        let how = How::new(settings)?;
        if how.stock.is_some() {
            return Err(Unsupported::new("a stock is not made from another: leave --prep-from out"));
        }
        let Some(named) = how.named() else {
            return Err(Unsupported::new(
                "a stock is for one protocol: give --protocol aes-lt, or another of the engine spdz",
            ));
        };
        // a number that no disk has room for is a typing error
        if !(1..=1 << 32).contains(&blocks) {
            return Err(Unsupported::new(format!("--blocks is {blocks}: give 1 to 4294967296")));
        }
        Ok(Box::new(Wanted { how, named, blocks, peers }))
    }
}

impl PreparedStock for Wanted {
    fn parties(&self) -> usize {
        self.how.parties
    }

    fn parameters(&self) -> PublicParameters {
        let parameters = PublicParameters::new("spdz stock").with("blocks", &self.blocks.to_le_bytes());
        self.how.describe(parameters.with("peers", &self.peers))
    }

    fn make(&self, session: Session, dir: &Path, key: SealKey, progress: Advance<'_>) -> Result<(), Abort> {
        let Wanted { how, named, blocks, peers } = self;
        let (me, parties) = (session.me(), how.parties);
        let plan = contents(*named, *blocks, parties);
        by_field!(how.field, F => {
            let series = plan.series::<F>();
            stock::make::<F>(session, how.prep, how.config, &plan, |id, alpha| {
                let info = StockInfo {
                    id,
                    party: me.number(),
                    parties: u8::try_from(parties).unwrap_or(u8::MAX),
                    peers: *peers,
                    protocol: named.name.to_owned(),
                    prep: how.prep.name().to_owned(),
                    field_bits: how.field.bits(),
                    k: how.config.k,
                    rho: how.config.rho,
                    blocks: *blocks,
                    series,
                };
                Reserve::create(&of_party(dir, me), key, entropy(), info, alpha)
            }, progress)
        })
    }
}

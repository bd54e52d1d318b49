//! Stocks of preprocessing on disk: their contents for a number of blocks, and the sessions that take from
//! them.

use super::how::{How, Named, Task};
use super::place::{Taken, entropy};
use super::{Authenticated, by_field};
use crate::stock::{self, Advance, FromStock, Lots, StockPlan};
use crate::{Host, Party, SpdzProtocol};
use divisi_core::{Abort, PartyId, PublicParameters, Session, Step, step};
use divisi_engine::stock::of_party;
use divisi_engine::{EngineSettings, PreparedStock, StockMaker, Unsupported};
use divisi_store::stock::{Reserve, SealKey, StockError, StockInfo};
use divisi_symmetric::des;
use std::path::Path;

const OPEN: Step = step!("stock.open");

/// A stock has preprocessing for one key schedule, and masks for the round keys of one key, for this many
/// blocks: those of the longest key.
const BLOCKS_A_KEY: u64 = 8;
/// A stock for circuits has for each party one bit of input or output for this many products of bits. (A
/// block of AES has 25 products for each bit of input.)
const PRODUCTS_A_BIT: u64 = 4;
/// The largest number of lookups of a key schedule of AES.
const SCHEDULE: u64 = 52;
/// The number of bits of each party with which all parties draw a key and an IV together.
const DRAWN: u64 = 1024;
/// The largest number of bits of the round keys of AES.
const ROUND_KEYS: u64 = 15 * 128;

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

/// The contents of a stock for this many blocks of a protocol, with a key schedule for every [`BLOCKS_A_KEY`]
/// of them. Party 1 gives keys and may give and learn texts, party 2 gives texts, and all parties draw keys
/// and IVs together.
pub(super) fn plan(named: Named, blocks: u64, parties: usize) -> StockPlan {
    if named.task == Task::Circuits {
        return for_circuits(blocks, parties);
    }
    let keys = blocks.div_ceil(BLOCKS_A_KEY);
    let times = |each: u64| blocks.saturating_mul(each);
    let (key_bits, text_bits) = if named.task == Task::Aes { (256, 128) } else { (192, 64) };
    let known = |owner: PartyId| {
        let bits = match owner.index() {
            0 => times(key_bits + 2 * text_bits),
            1 => times(text_bits),
            _ => 0,
        };
        (Lots::Known { owner }, bits.saturating_add(DRAWN))
    };
    let mut wanted: Vec<(Lots, u64)> = PartyId::all(parties).map(known).collect();
    if named.task == Task::Aes {
        let lookups = times(160).saturating_add(keys.saturating_mul(SCHEDULE));
        wanted.extend(match named.protocol {
            SpdzProtocol::Lookup => vec![(Lots::Units { log: 8 }, lookups)],
            SpdzProtocol::RivainProuff => {
                vec![(Lots::Bits, lookups.saturating_mul(32)), (Lots::ByteTriples, lookups.saturating_mul(4))]
            }
            SpdzProtocol::BitDecomposition => {
                vec![(Lots::Bits, lookups.saturating_mul(16)), (Lots::ByteTriples, lookups.saturating_mul(6))]
            }
            // nothing for a protocol that is not for AES: a session would find its stock used up
            _ => Vec::new(),
        });
        if named.tiny {
            let masks = times(8 * 160 + 128).saturating_add(keys.saturating_mul(ROUND_KEYS));
            wanted.push((Lots::Bits, masks));
        }
    } else {
        let lookups = times(des::LOOKUPS as u64);
        wanted.extend(match named.protocol {
            SpdzProtocol::Lookup => vec![(Lots::Units { log: 6 }, lookups)],
            SpdzProtocol::RivainProuff | SpdzProtocol::BitDecomposition => {
                vec![(Lots::Bits, lookups.saturating_mul(24)), (Lots::ByteTriples, lookups.saturating_mul(3))]
            }
            SpdzProtocol::Raw => {
                vec![(Lots::Bits, lookups.saturating_mul(4)), (Lots::SixTriples, lookups.saturating_mul(61))]
            }
        });
        if named.tiny {
            wanted.push((Lots::Bits, times(4 * des::LOOKUPS as u64 + 64 + 192)));
        }
    }
    StockPlan::new(&wanted)
}

/// The contents of a stock for circuits: this many products of bits, and for every [`PRODUCTS_A_BIT`] of them
/// a bit of each party, with which it gives inputs, or learns outputs that no other party learns.
fn for_circuits(products: u64, parties: usize) -> StockPlan {
    let known = PartyId::all(parties);
    let known = known.map(|owner| (Lots::Known { owner }, (products / PRODUCTS_A_BIT).saturating_add(DRAWN)));
    StockPlan::new(&known.chain([(Lots::BitTriples, products)]).collect::<Vec<_>>())
}

/// A stock to be made.
struct Wanted {
    how: How,
    named: Named,
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
        let plan = plan(*named, *blocks, parties);
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

//! Preprocessing that an engine keeps on disk, and the location of such a stock: a directory for each party
//! whose part is on this machine, `party-1` and so on, and by default the key file `seal.key`.

use super::{EngineSettings, Unsupported};
use divisi_core::{Abort, PartyId, PublicParameters, Session};
use divisi_store::stock::{SealKey, StockInfo, StockState};
use std::path::{Path, PathBuf};

/// The option that names the directory of a stock. An engine that has it also declares [`PEERS`].
pub const PREP_FROM: &str = "prep-from";
/// The option that names the file of the key under which a stock is sealed.
pub const KEY_FILE: &str = "key-file";
/// The option with a digest of the identities of a configuration's parties, to which a stock is bound. The
/// program sets it; it cannot be given on a command line.
pub const PEERS: &str = "prep-peers";

/// An engine's way to make stocks ([`super::Engine::stock_maker`]).
pub trait StockMaker: Sync {
    /// Prepare everything public about a stock for this many blocks, by the options of the engine. `peers` is
    /// a digest of the peers' identities; zeros among threads of one process.
    ///
    /// # Errors
    /// [`Unsupported`] for options that make no sense.
    fn prepare_stock(
        &self,
        settings: &EngineSettings,
        blocks: u64,
        peers: [u8; 32],
    ) -> Result<Box<dyn PreparedStock>, Unsupported>;
}

/// A stock that is to be made.
pub trait PreparedStock: Send + Sync {
    /// The number of parties.
    fn parties(&self) -> usize;

    /// The parameters that the parties compare at the start of the session that makes the stock \[M0.4\].
    fn parameters(&self) -> PublicParameters;

    /// Make this party's part in its directory below `dir`, sealed under the key. `progress` is called with
    /// the amount that is done, and the whole amount.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Unfit`] if the part cannot be written.
    fn make(
        &self,
        session: Session,
        dir: &Path,
        key: SealKey,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), Abort>;
}

/// The directory of a party's part.
pub fn of_party(dir: &Path, party: PartyId) -> PathBuf {
    dir.join(format!("party-{}", party.number()))
}

/// The default key file of a stock in this directory.
pub fn key_file(dir: &Path) -> PathBuf {
    dir.join("seal.key")
}

/// The parties whose parts are in a directory.
pub fn parties_in(dir: &Path) -> Vec<PartyId> {
    PartyId::all(usize::from(u8::MAX)).filter(|party| of_party(dir, *party).is_dir()).collect()
}

/// The statistical security in bits among this number of parties: that of the buckets, or that of the check
/// of MACs over a field of `field_bits`, which a lie passes with probability n/|F|; the smaller one counts.
#[must_use]
pub fn statistical_bits(buckets: u32, field_bits: u32, parties: usize) -> u32 {
    buckets.min(field_bits.saturating_sub(parties.next_power_of_two().ilog2()))
}

/// The number of blocks for which the rest of a stock suffices: the minimum over its series of values.
#[must_use]
pub fn blocks_left(info: &StockInfo, state: &StockState) -> u64 {
    let all = info.series.iter().zip(&state.counts);
    let blocks = all.map(|(series, count)| {
        let blocks = u128::from(count.left()) * u128::from(info.blocks) / u128::from(series.planned.max(1));
        u64::try_from(blocks).unwrap_or(u64::MAX)
    });
    blocks.min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_store::stock::{Count, Series};

    /// The parties of a directory are those that have a directory in it.
    #[test]
    fn parties_are_found_by_their_directories() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["party-1", "party-3", "party-12", "party-255", "party-256", "party-x", "seal.key"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("party-2"), "a file").unwrap();
        let found: Vec<u8> = parties_in(dir.path()).into_iter().map(PartyId::number).collect();
        assert_eq!(found, [1, 3, 12, 255]);
    }

    /// Of a field's bits as many are lost as the number of parties has, and a part of one is a whole one: no
    /// more is claimed than a lie leaves.
    #[test]
    fn security_is_rounded_down() {
        for parties in 1..=255 {
            for [buckets, field] in [[40, 40], [40, 42], [40, 72], [64, 72], [0, 3]] {
                let bits = statistical_bits(buckets, field, parties);
                let left = (f64::from(field) - (parties as f64).log2()).floor().max(0.0);
                assert_eq!(f64::from(bits), left.min(f64::from(buckets)), "{parties}: {buckets}, {field}");
            }
        }
    }

    /// What is left makes as many whole blocks as the scarcest series has values for, whichever that is.
    #[test]
    fn no_block_is_promised_that_lacks_a_value() {
        // ten blocks, of 7 and of 3 values each, and of one value for all
        let series = |(name, planned): (&str, u64)| Series { name: name.into(), planned, lot: 9, longest: 9 };
        let info = StockInfo {
            id: [0; 32],
            party: 1,
            parties: 3,
            peers: [0; 32],
            protocol: String::new(),
            prep: String::new(),
            field_bits: 64,
            k: 2,
            rho: 40,
            blocks: 10,
            series: [("a", 70), ("b", 30), ("c", 1)].map(series).to_vec(),
        };
        let left = |left: [u64; 3]| {
            let made = left.map(|left| Count { made: left + 11, taken: 11 }).to_vec();
            blocks_left(&info, &StockState { counts: made, ..StockState::default() })
        };
        for (counts, blocks) in [
            ([70, 30, 1], 10),
            ([69, 30, 1], 9),
            ([70, 29, 1], 9),
            ([70, 30, 0], 0),
            ([6, 30, 1], 0),
            ([7, 2, 1], 0),
            ([7, 30, 1], 1),
            ([35, 14, 1], 4),
            ([140, 60, 2], 20),
        ] {
            assert_eq!(left(counts), blocks, "{counts:?}");
        }
        assert_eq!(left([u64::MAX - 11; 3]), (u64::MAX - 11) / 7);
    }
}

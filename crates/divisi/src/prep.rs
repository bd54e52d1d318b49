//! Preprocessing on disk: all parties make it once, and later runs name its directory.
//!
//! Trust: with all parties on one machine, that machine has all shares, and only demonstrates; with one party
//! on it, its directory has that party's shares alone, sealed under a key file.

use crate::engine::stock::{self, PEERS};
use crate::engine::{Engine, EngineSettings, PreparedStock, StockMaker, first_with};
use crate::failure::Failure;
use crate::run::Membership;
use divisi_core::{Abort, PartyId, Session, local};
use divisi_net::{Config, Machine, World};
use divisi_store::stock::{SealKey, StockError, StockInfo, StockState, forget, look};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zeroize::Zeroizing;

/// The options of a stock to be made.
pub struct PrepOptions {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// The settings of the engine: the protocol, the field, and the like.
    pub settings: EngineSettings,
    /// The number of blocks for which it is made.
    pub blocks: u64,
    /// The directory to write to.
    pub out: PathBuf,
    /// The key file to seal it with, which is made if it does not exist; by default one in the directory.
    pub key_file: Option<PathBuf>,
    /// How long a receive waits for a message.
    pub timeout: Option<Duration>,
}

/// One party's part of a stock.
pub struct StockPart {
    /// The description of the stock.
    pub info: StockInfo,
    /// How much of it was used.
    pub state: StockState,
    /// The number of blocks for which it still suffices.
    pub blocks_left: u64,
    /// Its size on disk, in bytes.
    pub bytes: u64,
}

/// The engine's way to make stocks.
///
/// # Errors
/// [`Failure`] if it keeps no preprocessing on disk.
pub fn maker(engine: &dyn Engine) -> Result<&'static dyn StockMaker, Failure> {
    engine.stock_maker().ok_or_else(|| {
        let other = first_with(|engine| engine.stock_maker().is_some());
        Failure::usage(format!(
            "the engine {} keeps no preprocessing on disk: give --engine {other}, or leave --engine out",
            engine.name()
        ))
    })
}

fn usage(e: &StockError) -> Failure {
    Failure::usage(e.to_string())
}

impl PrepOptions {
    fn key_file(&self) -> PathBuf {
        self.key_file.clone().unwrap_or_else(|| stock::key_file(&self.out))
    }

    /// Check the seal key, and make it, and the directory, if there is none.
    fn seal(&self) -> Result<(), Failure> {
        let io = |path: &Path, e| usage(&StockError::Io(path.into(), e));
        let made = std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700)
            .recursive(true)
            .create(&self.out);
        made.map_err(|e| io(&self.out, e))?;
        let path = self.key_file();
        if path.exists() {
            return SealKey::load(&path).map(drop).map_err(|e| usage(&e));
        }
        let mut bytes = Zeroizing::new([0; 32]);
        Machine.entropy(bytes.as_mut_slice());
        SealKey::new(bytes).save(&path).map_err(|e| usage(&e))
    }

    /// Check that the directory holds no unused values of these parties.
    fn free(&self, parties: impl Iterator<Item = PartyId>) -> Result<(), Failure> {
        let key = SealKey::load(&self.key_file()).map_err(|e| usage(&e))?;
        for party in parties {
            let dir = stock::of_party(&self.out, party);
            match look(&dir, &key) {
                Ok((_, state)) if state.counts.iter().any(|count| count.left() > 0) => {
                    return Err(usage(&StockError::Exists(dir)));
                }
                Ok(_) | Err(StockError::Missing(_) | StockError::Destroyed(_)) => {}
                Err(e) => return Err(usage(&e)),
            }
        }
        Ok(())
    }
}

/// Make a stock with all parties as threads of this process.
///
/// # Errors
/// [`Failure`] if the options make no sense, the directory holds unused values, a file cannot be written, or
/// a party fails.
pub fn make(options: &PrepOptions, progress: &(dyn Fn(u64, u64) + Sync)) -> Result<Vec<StockPart>, Failure> {
    let wanted = maker(options.engine)?.prepare_stock(&options.settings, options.blocks, [0; 32])?;
    options.seal()?;
    options.free(PartyId::all(wanted.parties()))?;
    let links = local::links_within(wanted.parties(), options.timeout);
    let ends = local::run_over(
        links,
        |_| wanted.parameters(),
        |session| {
            let first = session.me().index() == 0;
            part(session, &*wanted, options, &mut |done, of| {
                if first {
                    progress(done, of);
                }
            })
        },
    );
    local::first(ends)?;
    let key = options.key_file();
    PartyId::all(wanted.parties()).map(|party| told(&options.out, party, &key)).collect()
}

fn part(
    session: Session,
    wanted: &dyn PreparedStock,
    options: &PrepOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), Abort> {
    let key = SealKey::load(&options.key_file());
    let unfit = |e: StockError| Abort::Unfit { step: divisi_core::step!("prep.key"), why: e.to_string() };
    let key = key.map_err(|e| session.fail(unfit(e)))?;
    wanted.make(session, &options.out, key, progress)
}

/// A digest of the identities of a configuration's parties.
#[must_use]
pub fn peers(config: &Config) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 stock peers v1");
    for party in config.parties() {
        hasher.update(party.pin.fingerprint().to_string().as_bytes()).update(b"\n");
    }
    *hasher.finalize().as_bytes()
}

/// The same digest as an option of the engine: a user of a stock over this configuration gives it, so that a
/// stock of other peers is refused.
#[must_use]
pub fn peers_option(config: &Config) -> Option<(String, String)> {
    Some((PEERS.to_owned(), hex::encode(peers(config))))
}

/// Make one party's part of a stock; the other parties run the same command elsewhere.
///
/// # Errors
/// [`Failure`] if a file is wrong, the directory holds unused values, or the session fails.
pub fn make_one(
    options: &PrepOptions,
    membership: &Membership,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<StockPart, Failure> {
    let config = membership.load()?;
    let settings = options.settings.clone();
    let settings = if settings.parties.is_none() { settings.among(config.parties().len()) } else { settings };
    let wanted = maker(options.engine)?.prepare_stock(&settings, options.blocks, peers(&config))?;
    if config.parties().len() != wanted.parties() {
        let (n, m) = (wanted.parties(), config.parties().len());
        return Err(Failure::usage(format!(
            "--parties is {n}, and {} has {m}: give as many, or leave it out",
            membership.config.display()
        )));
    }
    let (me, identified) = (membership.party, membership.identify(config)?);
    options.seal()?;
    options.free(std::iter::once(me))?;
    let (listener, mesh) = identified.join(options.timeout)?;
    let session = Session::start(&mesh, 1, &wanted.parameters())?;
    part(session, &*wanted, options, progress)?;
    drop(listener);
    told(&options.out, me, &options.key_file())
}

fn told(dir: &Path, party: PartyId, key: &Path) -> Result<StockPart, Failure> {
    let dir = stock::of_party(dir, party);
    let key = SealKey::load(key).map_err(|e| usage(&e))?;
    let (info, state) = look(&dir, &key).map_err(|e| usage(&e))?;
    if info.party != party.number() {
        return Err(usage(&StockError::OtherParty(dir, info.party)));
    }
    let files = std::fs::read_dir(&dir).map_err(|e| usage(&StockError::Io(dir.clone(), e)))?;
    let bytes = files.filter_map(|file| file.ok()?.metadata().ok()).map(|meta| meta.len()).sum();
    let blocks_left = stock::blocks_left(&info, &state);
    Ok(StockPart { info, state, blocks_left, bytes })
}

/// The parts in a directory.
///
/// # Errors
/// [`Failure`] if a part cannot be read.
pub fn info(dir: &Path, key_file: Option<&Path>) -> Result<Vec<StockPart>, Failure> {
    let here = stock::parties_in(dir);
    if here.is_empty() {
        return Err(usage(&StockError::Missing(dir.into())));
    }
    let key = key_file.map_or_else(|| stock::key_file(dir), Path::to_path_buf);
    here.into_iter().map(|party| told(dir, party, &key)).collect()
}

/// The number of parties that have a part in this directory, whatever its state.
///
/// # Errors
/// [`Failure`] if there is none.
pub fn parts_in(dir: &Path) -> Result<usize, Failure> {
    match stock::parties_in(dir).len() {
        0 => Err(usage(&StockError::Missing(dir.into()))),
        parts => Ok(parts),
    }
}

/// Overwrite and remove all parts in a directory, whatever their state; returns their number.
///
/// # Errors
/// [`Failure`] if a process uses one of them, or it cannot be removed.
pub fn drop_all(dir: &Path) -> Result<usize, Failure> {
    let mut dropped = 0;
    for party in stock::parties_in(dir) {
        dropped += usize::from(forget(&stock::of_party(dir, party)).map_err(|e| usage(&e))?);
    }
    if dropped == 0 {
        return Err(usage(&StockError::Missing(dir.into())));
    }
    Ok(dropped)
}

impl StockPart {
    /// The statistical security in bits: of its buckets, or of the check of MACs in its field among its
    /// parties; the smaller one counts.
    #[must_use]
    pub fn statistical_bits(&self) -> u32 {
        let StockInfo { rho, field_bits, parties, .. } = &self.info;
        stock::statistical_bits(*rho, *field_bits, (*parties).into())
    }

    /// The description as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let StockPart { info, state, blocks_left, bytes } = self;
        let series = info.series.iter().zip(&state.counts).map(|(series, count)| {
            json!({ "name": series.name, "made": count.made, "taken": count.taken, "left": count.left() })
        });
        json!({
            "party": info.party,
            "parties": info.parties,
            "protocol": info.protocol,
            "field_bits": info.field_bits,
            "prep": info.prep,
            "k": info.k,
            "statistical_bits": self.statistical_bits(),
            "blocks": info.blocks,
            "blocks_left": blocks_left,
            "bytes": bytes,
            "interrupted": state.open,
            "series": series.collect::<Vec<Value>>(),
        })
    }
}

#[cfg(test)]
mod tests;

//! The stock from which a run takes its preprocessing.

use divisi_engine::Unsupported;
use divisi_engine::name::path_of;
use divisi_engine::stock::{KEY_FILE, PREP_FROM, key_file, of_party, parties_in};
use divisi_net::{Machine, World};
use divisi_store::stock::{Entropy, SealKey, StockError, StockInfo, look};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The stock from which preprocessing is taken, if it is not made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Taken {
    /// The directory that contains the parties' directories.
    pub dir: PathBuf,
    /// The key file of the stock.
    pub key: PathBuf,
    /// The description of the stock, from any part on this machine.
    pub info: StockInfo,
}

/// A source of fresh random bytes of the machine.
#[expect(clippy::disallowed_methods, reason = "the key of a stock's file belongs to no session")]
pub(super) fn entropy() -> Entropy {
    Box::new(|out| Machine.entropy(out))
}

/// The stock that the options name, if they name one. All its parts on this machine are looked at, so that a
/// damaged part is refused before a process is started.
///
/// # Errors
/// If the stock is missing or cannot be used, or if a key file is named without a stock.
pub(super) fn taken(own: &BTreeMap<String, String>) -> Result<Option<Taken>, Unsupported> {
    let unfit = |e: StockError| Unsupported::new(e.to_string());
    let own = |name: &str| own.get(name).map(|text| path_of(text));
    let Some(dir) = own(PREP_FROM) else {
        return match own(KEY_FILE) {
            Some(_) => {
                Err(Unsupported::new("--key-file belongs to a stock: give --prep-from too, or leave it out"))
            }
            None => Ok(None),
        };
    };
    let here = parties_in(&dir);
    if here.is_empty() {
        return Err(unfit(StockError::Missing(dir)));
    }
    let key = own(KEY_FILE).unwrap_or_else(|| key_file(&dir));
    let seal = SealKey::load(&key).map_err(unfit)?;
    let looked = here.into_iter().map(|party| look(&of_party(&dir, party), &seal).map(|(info, _)| info));
    let all: Vec<StockInfo> = looked.collect::<Result<_, _>>().map_err(unfit)?;
    Ok(all.into_iter().next().map(|info| Taken { dir, key, info }))
}

//! The location of a stock: a directory for each party whose part is on this machine, `party-1` and so on,
//! and by default the key file `seal.key`.

use super::super::Unsupported;
use crate::name::path_of;
use divisi_core::PartyId;
use divisi_net::{Machine, World};
use divisi_store::stock::{Entropy, SealKey, StockError, StockInfo, look};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The options that name the directory of a stock, and the file of the key under which it is sealed.
pub(super) const PREP_FROM: &str = "prep-from";
pub(super) const KEY_FILE: &str = "key-file";

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

/// The directory of a party's part.
pub(crate) fn of_party(dir: &Path, party: PartyId) -> PathBuf {
    dir.join(format!("party-{}", party.number()))
}

/// The default key file of a stock in this directory.
pub(crate) fn key_file(dir: &Path) -> PathBuf {
    dir.join("seal.key")
}

/// A source of fresh random bytes of the machine.
pub(super) fn entropy() -> Entropy {
    Box::new(|out| Machine.entropy(out))
}

/// The parties whose parts are in a directory.
pub(crate) fn parties_in(dir: &Path) -> Vec<PartyId> {
    PartyId::all(super::MOST_PARTIES).filter(|party| of_party(dir, *party).is_dir()).collect()
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

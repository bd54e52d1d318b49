//! Random inputs for the files of a stock. Head and state are encrypted on disk: these targets seal their
//! inputs, so that the decoders behind the encryption read them.

use super::files::{HEAD, STATE, context, read};
use super::info::Head;
use super::{Count, SealKey, Series, StockInfo, StockState};
use crate::disk::Disk;
use serde::Serialize;
use std::io;
use std::path::Path;
use zeroize::Zeroizing;

/// The files of a directory, in memory.
struct Files([(&'static str, Vec<u8>); 2]);

impl Disk for Files {
    fn read(&self, path: &Path, longest: usize) -> io::Result<(Zeroizing<Vec<u8>>, u32)> {
        let (_, bytes) =
            self.0.iter().find(|(name, _)| path.ends_with(name)).ok_or(io::ErrorKind::NotFound)?;
        if bytes.len() > longest {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok((bytes.clone().into(), 0o600))
    }
}

fn key() -> SealKey {
    SealKey::new(Zeroizing::new([1; 32]))
}

fn sealed(context: &[&[u8]], body: &[u8]) -> Result<Vec<u8>, String> {
    key().seal(&[3; 32], context, body).ok_or_else(|| "it cannot be sealed".into())
}

fn written(value: &impl Serialize) -> Result<Vec<u8>, String> {
    postcard::to_allocvec(value).map_err(|e| format!("it cannot be written: {e}"))
}

/// The head of a stock with these series.
fn some_head(names: &[&str]) -> Head {
    let series = |name: &&str| Series { name: (*name).into(), planned: 6, lot: 4, longest: 100 };
    let info = StockInfo {
        id: [7; 32],
        party: 1,
        parties: 2,
        peers: [5; 32],
        protocol: "aes-lt".into(),
        prep: "bucketed".into(),
        field_bits: 48,
        k: 4,
        rho: 40,
        blocks: 6,
        series: names.iter().map(series).collect(),
    };
    Head { info, secret: vec![0xaa; 6], wrap: [9; 32] }
}

fn some_state(counts: &[Count]) -> StockState {
    StockState { counts: counts.to_vec(), open: true, at_risk: false }
}

/// The head and the state that are read from files with these bodies, of which the state's file is bound to
/// the head `of`; `None` if they are refused.
fn both(head: &[u8], state: &[u8], of: &Head) -> Result<Option<(Head, StockState)>, String> {
    let head = sealed(&context(&[], &[], HEAD), head)?;
    let state = sealed(&context(&of.wrap, &[of.info.party], STATE), state)?;
    Ok(read(&Files([(HEAD, head), (STATE, state)]), Path::new("stock"), &key()).ok())
}

/// Whether these bytes are the body of a head; if so, the head must be the same after it was written and read
/// again.
fn head(bytes: &[u8]) -> Result<bool, String> {
    let Ok((found, _)) = postcard::take_from_bytes::<Head>(bytes) else { return Ok(false) };
    let counts = vec![Count::default(); found.info.series.len()];
    let Some((head, _)) = both(bytes, &written(&some_state(&counts))?, &found)? else { return Ok(false) };
    match postcard::from_bytes::<Head>(&written(&head)?) {
        Ok(same) if same.info == head.info && same.secret == head.secret && same.wrap == head.wrap => {
            Ok(true)
        }
        _ => Err("another head when read again".into()),
    }
}

/// Whether these bytes are the body of a state of a stock with two series. Such a state must not have given
/// out more values than were made.
fn state(bytes: &[u8]) -> Result<bool, String> {
    let of = some_head(&["tables-8", "bits"]);
    let Some((_, state)) = both(&written(&of)?, bytes, &of)? else { return Ok(false) };
    if state.counts.len() != 2 || state.counts.iter().any(|count| count.taken > count.made) {
        return Err("a state that no stock has".into());
    }
    match postcard::from_bytes::<StockState>(&written(&state)?) {
        Ok(same) if same == state => Ok(true),
        _ => Err("another state when read again".into()),
    }
}

/// A key file that is read is the same when it is written again, except for capital letters.
fn seal_key(bytes: &[u8]) -> Result<bool, String> {
    let Some(key) = SealKey::parse(bytes) else { return Ok(false) };
    let again = format!("divisi stock key v1 {}\n", hex::encode(*key.0));
    let same = again.as_bytes().eq_ignore_ascii_case(bytes);
    if same { Ok(true) } else { Err("another key than in the file".into()) }
}

#[test]
fn random_stock_heads() {
    let heads = [some_head(&["tables-8", "bits"]), some_head(&[])];
    let seeds: Vec<Vec<u8>> = heads.iter().filter_map(|head| written(head).ok()).collect();
    divisi_fuzz::golden("stock-heads", env!("CARGO_MANIFEST_DIR"), &seeds);
    divisi_fuzz::run("stock-heads", env!("CARGO_MANIFEST_DIR"), &seeds, head);
}

#[test]
fn random_stock_states() {
    let counts = [Count { made: 600, taken: 3 }, Count { made: 6, taken: 6 }];
    let states = [some_state(&counts), StockState { at_risk: true, ..some_state(&[Count::default(); 2]) }];
    let seeds: Vec<Vec<u8>> = states.iter().filter_map(|state| written(state).ok()).collect();
    divisi_fuzz::golden("stock-states", env!("CARGO_MANIFEST_DIR"), &seeds);
    divisi_fuzz::run("stock-states", env!("CARGO_MANIFEST_DIR"), &seeds, state);
}

/// No bytes can be opened except those that were sealed.
#[test]
fn random_sealed_files() {
    let context: [&[u8]; 3] = [&[9; 32], &[1], b"bits-00000000.lot"];
    let whole = sealed(&context, &[0x11; 100]).unwrap();
    divisi_fuzz::run("sealed-files", env!("CARGO_MANIFEST_DIR"), std::slice::from_ref(&whole), |bytes| {
        match key().open(Path::new("bits"), &context, bytes.to_vec().into()) {
            Ok(body) if bytes == whole && *body == [0x11; 100] => Ok(true),
            Ok(_) => Err("what was not sealed is opened".into()),
            Err(_) => Ok(false),
        }
    });
}

#[test]
fn random_seal_keys() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("seal.key");
    key().save(&path).unwrap();
    let seeds = [std::fs::read(&path).unwrap()];
    divisi_fuzz::golden("seal-keys", env!("CARGO_MANIFEST_DIR"), &seeds);
    divisi_fuzz::run("seal-keys", env!("CARGO_MANIFEST_DIR"), &seeds, seal_key);
}

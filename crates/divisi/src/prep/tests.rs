//! What seals a stock, and what is left of one that is dropped.

use super::*;
use crate::engine;

/// Keys of 64 directories, of which each bit takes both values.
#[test]
fn each_bit_of_a_seal_key_is_drawn() {
    let (mut ones, mut zeros) = ([0_u8; 32], [0_u8; 32]);
    for _ in 0..64 {
        let folder = tempfile::tempdir().unwrap();
        let options = PrepOptions {
            engine: engine::all().remove(0),
            settings: EngineSettings::default(),
            blocks: 1,
            out: folder.path().join("stock"),
            key_file: None,
            timeout: None,
        };
        options.seal().unwrap();
        let text = std::fs::read_to_string(options.key_file()).unwrap();
        let key = hex::decode(text.lines().last().unwrap().rsplit(' ').next().unwrap()).unwrap();
        for (i, byte) in key.iter().enumerate() {
            ones[i] |= byte;
            zeros[i] |= !byte;
        }
    }
    assert_eq!((ones, zeros), ([u8::MAX; 32], [u8::MAX; 32]));
}

/// However many parties have a part in a directory, none is left.
#[test]
fn the_parts_of_all_parties_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let parts: Vec<_> = PartyId::all(9).map(|party| stock::of_party(folder.path(), party)).collect();
    parts.iter().for_each(|part| std::fs::create_dir(part).unwrap());
    // parts in which nothing was made yet
    assert!(drop_all(folder.path()).is_err());
    assert!(parts.iter().all(|part| !part.exists()), "{parts:?}");
}

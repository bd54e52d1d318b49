//! The IVs of messages and the nonces of tags.
//!
//! The IV of a message is a coin of all three servers. They draw it after they agree on everything public
//! about the message, and after its use of the key is counted durably. No client, single server or store
//! chooses it.

use crate::purposes;
use crate::request::{ConnectionId, IV};
use divisi_core::{Abort, Expands};
use divisi_rep3::Rep3;

/// A coin for IVs, when everything public about their messages is agreed.
pub(crate) fn coin(rep: &mut Rep3) -> Result<[u8; 16], Abort> {
    let trio = rep.trio();
    let fixed = trio.barrier()?;
    Ok(trio.coin(&fixed)?.bytes())
}

/// The purposes under which the IVs of GCM, with the nonces of tags, and those of CBC are derived.
pub(crate) const GCM_IV: &str = "divisi 2026 gcm iv v2";
pub(crate) const CBC_IV: &str = "divisi 2026 cbc iv v1";

/// The IV that a coin gives a message. One coin may give many, each to another message.
pub(crate) fn iv(coin: &[u8; 16], key: &[u8; 16], connection: &ConnectionId, number: u64) -> [u8; IV] {
    iv_for(GCM_IV, coin, key, connection, number)
}

/// The IV of a mode, of any length, that a coin gives a message.
pub(crate) fn iv_for<const N: usize>(
    purpose: &str,
    coin: &[u8; 16],
    key: &[u8; 16],
    connection: &ConnectionId,
    number: u64,
) -> [u8; N] {
    let mut hasher = blake3::Hasher::new_derive_key(purpose);
    hasher.update(coin).update(key).update(connection);
    hasher.update(&number.to_le_bytes());
    let mut iv = [0; N];
    hasher.expand(purposes::IV).fill(&mut iv);
    iv
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every byte of an IV depends on the coin, every byte of the coin changes the IV, and so does everything
    /// that identifies its message.
    #[test]
    fn an_iv_is_made_of_the_whole_coin_and_of_all_that_names_its_message() {
        all_counts(iv);
        // that of CBC, a block
        all_counts(|coin, key, connection, number| iv_for::<16>(CBC_IV, coin, key, connection, number));
        let cbc = iv_for::<16>(CBC_IV, &[7; 16], &[1; 16], &[2; 32], 3);
        assert_ne!(cbc[..IV], iv(&[7; 16], &[1; 16], &[2; 32], 3));
    }

    fn all_counts<const N: usize>(iv: impl Fn(&[u8; 16], &[u8; 16], &ConnectionId, u64) -> [u8; N]) {
        let mut all = BTreeSet::from([iv(&[7; 16], &[1; 16], &[2; 32], 3)]);
        for i in 0..16 {
            let mut coin = [7; 16];
            coin[i] ^= 1;
            all.insert(iv(&coin, &[1; 16], &[2; 32], 3));
        }
        for i in 0..16 {
            let mut key = [1; 16];
            key[i] ^= 1;
            all.insert(iv(&[7; 16], &key, &[2; 32], 3));
        }
        for i in 0..32 {
            let mut connection = [2; 32];
            connection[i] ^= 1;
            all.insert(iv(&[7; 16], &[1; 16], &connection, 3));
        }
        for i in 0..8 {
            all.insert(iv(&[7; 16], &[1; 16], &[2; 32], 3 ^ (4 << (8 * i))));
        }
        assert_eq!(all.len(), 1 + 16 + 16 + 32 + 8);
        for i in 0..N {
            let values: BTreeSet<u8> = all.iter().map(|iv| iv[i]).collect();
            assert!(values.len() > 10, "byte {i} has {} values", values.len());
        }
    }
}

//! Keys that nobody knows.

use super::*;
use divisi_core::{PublicParameters, local};
use divisi_rep3::{Protocol, Security, Trio};
use std::collections::BTreeSet;

/// No seven bytes of a fresh key come again, in that key or in another one, and none are zeros.
#[test]
fn fresh_keys_have_nothing_twice() {
    let keys = local::run(3, &PublicParameters::new("fresh keys"), |session| {
        let rep = &mut Rep3::new(Trio::new(session)?, Protocol::Gf4Circuit, Security::Malicious);
        let mut keys = Vec::new();
        for size in [KeySize::Aes128, KeySize::Aes192, KeySize::Aes256, KeySize::Aes256] {
            let ks = Maestro::new(size, Priority::LowLatency).dist_key_gen(rep)?;
            // the key is the beginning of its schedule
            let key: Vec<Byte> = ks.0.get().keys().iter().flatten().take(size.bytes()).cloned().collect();
            let verified = close(rep, key)?;
            keys.push(rep.trio().open(&verified)?.concat());
        }
        Ok(keys)
    });
    let mut seen = BTreeSet::from([[0; 7]]);
    let keys = keys.unwrap().swap_remove(0);
    assert_eq!(keys.iter().map(Vec::len).collect::<Vec<_>>(), [16, 24, 32, 32]);
    for part in keys.iter().flat_map(|key| key.windows(7)) {
        assert!(seen.insert(part.try_into().unwrap()));
    }
}

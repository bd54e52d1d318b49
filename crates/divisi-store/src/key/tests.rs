//! Types of keys, and what servers compare of a key.

use super::*;

/// Whatever servers must have alike changes the digest that they compare, and nothing else does.
#[test]
fn what_servers_compare_is_all_but_state_and_party() {
    let info = crate::file::tests::sample("k1").info;
    let with = |change: &dyn Fn(&mut KeyInfo)| {
        let mut changed = info.clone();
        change(&mut changed);
        changed.agreed()
    };
    let same: [&dyn Fn(&mut KeyInfo); 2] = [&|k| k.state = KeyState::Prepared, &|k| k.party = 3];
    assert!(same.iter().all(|change| with(change) == info.agreed()));
    let changes: [&dyn Fn(&mut KeyInfo); 19] = [
        &|k| k.name = "K1".parse().unwrap(),
        &|k| k.id[15] ^= 1,
        &|k| k.kind = KeyType::Aes256,
        &|k| k.bytes += 1,
        &|k| k.bytes += 1 << 8,
        &|k| k.purpose = Purpose::Mac,
        &|k| k.generation += 1,
        &|k| k.generation += 1 << 8,
        &|k| k.generation ^= 1 << 31,
        &|k| k.request[15] ^= 1,
        &|k| k.maker.name.push('x'),
        &|k| k.maker.fingerprint[31] ^= 1,
        &|k| k.clients.clear(),
        &|k| k.clients.push(String::new()),
        &|k| k.exportable ^= true,
        &|k| k.mesh[31] ^= 1,
        &|k| k.made = None,
        &|k| k.made = k.made.map(|made| made + 1),
        &|k| k.made = k.made.map(|made| made ^ 1 << 63),
    ];
    let digests: Vec<[u8; 32]> = changes.iter().map(|change| with(change)).collect();
    for (i, digest) in digests.iter().enumerate() {
        assert!(*digest != info.agreed() && !digests[..i].contains(digest), "{i}");
    }
    // each of many clients counts
    let many = |changed: Option<usize>| {
        let client = |i| format!("client {i}{}", if changed == Some(i) { "a" } else { "" });
        with(&|k| k.clients = (0..300).map(client).collect())
    };
    assert!([0, 1, 2, 15, 16, 255, 256, 299].iter().all(|at| many(Some(*at)) != many(None)));
    // servers of other builds compute the same
    assert_eq!(
        hex::encode(info.agreed()),
        "743386eac85a278b88e11f59bd4299e378756c62d732376852f367ee589294c4"
    );
}

#[test]
fn types_come_back_from_their_names() {
    for t in KeyType::ALL {
        assert_eq!(t.name().parse::<KeyType>().unwrap(), *t);
        assert_eq!(t.purpose() != Purpose::Mac, t.name().starts_with("aes"));
    }
    // RFC 2104 and RFC 4231 have keys of 4 to 131 bytes, RFC 6238 of 20, 32 and 64
    for t in KeyType::ALL {
        let any = t.name().starts_with("hmac") || t.name().starts_with("kmac");
        let otp = t.name().starts_with("one-time");
        let right = if any {
            1..=1024
        } else if otp {
            10..=64
        } else {
            t.bytes()..=t.bytes()
        };
        assert_eq!(t.lengths(), right, "{t}");
        assert!(t.lengths().contains(&t.bytes()));
    }
    assert!("aes-64".parse::<KeyType>().unwrap_err().contains("aes-128, aes-192, aes-256"));
}

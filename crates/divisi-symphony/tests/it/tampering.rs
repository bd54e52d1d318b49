//! A party that means another MAC, hash or message than the others. (Messages that are changed: `nets.rs`.)

use crate::common::{is_compared, quick};
use divisi_core::{Abort, PartyId};
use divisi_rep3::Rep3;
use divisi_rep3::adversary::harness::party;
use divisi_rep3::checks;
use divisi_symmetric::algorithm::Settings;
use divisi_symphony::Priority;
use divisi_symphony::macnifico::{Macnifico, Received};
use divisi_symphony::sharp::{Sharp, public_message};

/// A party that means another MAC, hash or message than the two others, or compares another tag or
/// nonce: all end before anything is computed.
#[test]
fn what_is_public_is_the_same_at_all_three() {
    type Use = fn(&mut Rep3, PartyId, bool) -> Result<(), Abort>;
    fn settings(name: &str, odd: bool, change: fn(&mut Settings)) -> Settings {
        let mut settings = Settings::new(name.parse().unwrap());
        if odd {
            change(&mut settings);
        }
        settings
    }
    fn mac(odd: bool, change: fn(&mut Settings)) -> Macnifico {
        Macnifico::new(&settings("kmac128", odd, change), Priority::LowLatency).unwrap()
    }
    fn hash(odd: bool, change: fn(&mut Settings)) -> Sharp {
        Sharp::new(&settings("cshake128", odd, change), Priority::LowLatency).unwrap()
    }
    fn verify(rep: &mut Rep3, name: &str, received: &Received) -> Result<(), Abort> {
        let mac = Macnifico::new(&Settings::new(name.parse().unwrap()), Priority::LowLatency)?;
        let key = mac.dist_key_gen(rep)?;
        let m = public_message(rep, &[b"abc"])?;
        mac.verify(rep, &key, &m, std::slice::from_ref(received)).map(drop)
    }
    let uses: [(&str, Use); 10] = [
        ("key", |rep, me, odd| {
            let mac = mac(odd, |s| s.customization = b"c".to_vec());
            mac.input_key(rep, party(1), 16, (me == party(1)).then_some(&[7; 16][..])).map(drop)
        }),
        ("key of all", |rep, _, odd| mac(odd, |s| s.output_bytes = 16).dist_key_gen(rep).map(drop)),
        ("xof", |rep, _, odd| mac(odd, |s| s.xof = true).dist_key_gen(rep).map(drop)),
        ("lengths of what is tagged", |rep, _, odd| {
            let mac = mac(false, |_| {});
            let key = mac.dist_key_gen(rep)?;
            let [one, two] = [public_message(rep, &[b"abc"])?, public_message(rep, &[b"abcd"])?];
            mac.tag_gen(rep, &key, if odd { &two } else { &one }).map(drop)
        }),
        ("tag", |rep, _, odd| {
            verify(rep, "hmac-sha3-256", &Received { nonce: None, tag: vec![u8::from(odd); 32] })
        }),
        ("nonce", |rep, _, odd| {
            verify(rep, "gmac-aes128", &Received { nonce: Some([u8::from(odd); 12]), tag: vec![0; 16] })
        }),
        ("message", |rep, _, odd| public_message(rep, &[if odd { b"abd" } else { b"abc" }]).map(drop)),
        ("border of messages", |rep, _, odd| {
            let messages: [&[u8]; 2] = if odd { [b"ab", b"c"] } else { [b"a", b"bc"] };
            public_message(rep, &messages).map(drop)
        }),
        ("function", |rep, _, odd| {
            let m = public_message(rep, &[b"abc"])?;
            hash(odd, |s| s.function = b"f".to_vec()).hash(rep, &m).map(drop)
        }),
        ("length of a digest", |rep, _, odd| {
            let m = public_message(rep, &[b"abc"])?;
            hash(odd, |s| s.output_bytes = 31).hash(rep, &m).map(drop)
        }),
    ];
    for (what, used) in uses {
        is_compared(checks::A25, what, &[1, 3], |trio, odd| {
            let (me, rep) = (trio.me(), &mut quick(trio));
            let result = used(rep, me, odd);
            // what differs was not computed with
            assert!(result.is_ok() || !rep.owes(), "{what}");
            result
        });
    }
}

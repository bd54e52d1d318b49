//! The census of what modes and MACs among three parties draw.

use crate::common::engine;
use divisi_core::testing::nets::draws::{DrawNet, DrawShape};
use divisi_core::testing::nets::parts::PartNet;
use divisi_core::{Abort, PartyId, PublicParameters, Session};
use divisi_rep3::{Protocol, Trio};
use divisi_symmetric::algorithm::Settings;
use divisi_symphony::macnifico::{Macnifico, public_message};
use divisi_symphony::{Priority, purposes};

/// A key of each party, with which messages of two calls get tags.
fn gmac(session: Session) -> Result<Vec<u8>, Abort> {
    let rep = &mut engine(Trio::new(session)?, Protocol::Gf4Circuit);
    let mac = Macnifico::new(&Settings::new("gmac-aes128".parse().unwrap()), Priority::LowLatency)?;
    let (me, mut told) = (rep.trio().me(), Vec::new());
    for owner in PartyId::all(3) {
        let own = [owner.number(); 16];
        let key = mac.input_key(rep, owner, own.len(), (me == owner).then_some(&own[..]))?;
        let messages = public_message(rep, &[&b"abc"[..]; 2])?;
        let tags = mac.tag_gen(rep, &key, &messages)?;
        for received in mac.output_tag(rep, &tags)? {
            told.extend(received.nonce.iter().flatten().chain(&received.tag));
        }
    }
    Ok(told)
}

#[test]
fn everything_is_drawn_for_one_purpose_and_used() {
    let parameters = PublicParameters::new("draws");
    let net = DrawNet {
        purposes: purposes::ALL.to_vec(),
        shapes: vec![DrawShape { name: "GMAC", parties: 3, parameters, runs: 8, play: gmac }],
        again: vec![(
            "rep3 coefficients",
            3,
            "a verification goes through its records three times, with the same coefficients",
        )],
        ..DrawNet::default()
    };
    assert_eq!(net.judge(), [] as [String; 0]);
}

/// The first and the last part of what is drawn first and last anywhere is sent, or changes what is.
#[test]
fn each_part_of_what_is_drawn_is_used() {
    let shapes = super::net().shapes;
    let net =
        PartNet { folder: env!("CARGO_MANIFEST_DIR"), packages: &["divisi-symphony"], shapes, idle: &[] };
    assert_eq!(net.judge(1), [] as [String; 0]);
}

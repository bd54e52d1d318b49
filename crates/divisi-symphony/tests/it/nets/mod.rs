//! The nets of ciphers, hashes and MACs among three (docs/nets.md): shapes of requests from inputs to
//! outputs, and the censuses over them.

mod draws;
mod worlds;

use crate::common::quick;
use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::nets::messages::{Extent, MessageNet};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, ShapeSecurity, varied};
use divisi_core::{Abort, Session};
use divisi_rep3::adversary::harness::party;
use divisi_rep3::{Rep3, Trio};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::Settings;
use divisi_symphony::Priority;
use divisi_symphony::circuit::OwnedCircuit;
use divisi_symphony::macnifico::Macnifico;
use divisi_symphony::maestro::Maestro;
use divisi_symphony::sharp::{Sharp, input_message, public_message};

/// Chooses what default tests change.
const SEED: u64 = 1;

type Out<'a> = &'a mut ShapeOutcome;

fn shapes() -> Vec<NetShape> {
    let of = |name: &'static str, run: fn(&mut Rep3, u64, Out<'_>, &str) -> Result<(), Abort>| {
        NetShape::new(name, 3, ShapeSecurity::OneOfThree, move |session: Session, seed, out: Out<'_>| {
            run(&mut quick(Trio::new(session)?), seed, out, name)
        })
        .releases(&["divisi_symphony::circuit/output", "divisi_rep3::open/open.bytes"])
    };
    let macs = ["hmac-sha3-256", "kmac128", "cmac-aes128", "gmac-aes128"].map(|name| of(name, mac));
    let all = [of("ciphers", ciphers), of("sha3-256", digests), of("circuits", circuits)];
    macs.into_iter().chain(all).collect()
}

fn bytes(seed: u64, len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (varied(seed, i) * 29 + seed * 5) as u8).collect()
}

/// Two messages of two lengths, that a party brings or that all know: tags made, opened, compared, and wrong
/// ones.
fn mac(rep: &mut Rep3, seed: u64, out: Out<'_>, name: &str) -> Result<(), Abort> {
    let me = rep.trio().me();
    let mac = Macnifico::new(&Settings::new(name.parse().unwrap()), Priority::LowLatency)?;
    let own = bytes(seed, mac.algorithm().key_bytes());
    let keys = [
        mac.input_key(rep, party(1), own.len(), (me == party(1)).then_some(&own[..]))?,
        mac.dist_key_gen(rep)?,
    ];
    let (long, short) = (bytes(seed, 41), bytes(seed + 1, 3));
    let messages: &[&[u8]] = &[&long, &short];
    let m = input_message(rep, party(2), &[41, 3], (me == party(2)).then_some(messages))?;
    for (key, chosen) in keys.iter().zip([true, false]) {
        let tag = mac.tag_gen(rep, key, &m)?;
        let mut tags = mac.output_tag(rep, &tag)?;
        let mut found = mac.verify(rep, key, &m, &tags)?;
        tags[1].tag[0] ^= 1;
        found.extend(mac.verify(rep, key, &m, &tags)?);
        tags[1].tag[0] ^= 1;
        out.put("found", found.into_iter().map(u8::from).collect::<Vec<u8>>());
        // with a nonce or a key that nobody chose, a tag is another one in each run
        if chosen && tags[0].nonce.is_none() {
            out.put("tags", tags.iter().flat_map(|tag| tag.tag.clone()).collect::<Vec<u8>>());
        }
    }
    Ok(())
}

/// Blocks of two calls under two keys, there and back.
fn ciphers(rep: &mut Rep3, seed: u64, out: Out<'_>, _: &str) -> Result<(), Abort> {
    let me = rep.trio().me();
    let aes = Maestro::new(KeySize::Aes128, Priority::LowLatency);
    for (owner, count, of_key) in [(1, out.lanes(130), 3), (2, 3, 1)] {
        let own = bytes(seed + count as u64, 16);
        let key = aes.input_key(rep, party(of_key), (me == party(of_key)).then_some(&own[..]))?;
        let ks = aes.compute_ks(rep, &key)?;
        let blocks: Vec<[u8; 16]> = (0..count).map(|i| [(varied(seed, i as u64) ^ seed) as u8; 16]).collect();
        let block = aes.input_block(rep, party(owner), count, (me == party(owner)).then_some(&blocks[..]))?;
        let sealed = aes.encipher(rep, &ks, &block)?;
        let back = aes.decipher(rep, &ks, &sealed)?;
        out.put("sealed", aes.output_block(rep, &sealed)?.concat());
        out.put("opened", aes.output_block(rep, &back)?.concat());
    }
    // under a key that nobody knows
    let fresh = aes.dist_key_gen(rep)?;
    let block = aes.input_block(rep, party(1), 1, (me == party(1)).then_some(&[[seed as u8; 16]][..]))?;
    let sealed = aes.encipher(rep, &fresh, &block)?;
    let back = aes.decipher(rep, &fresh, &sealed)?;
    out.put("back", aes.output_block(rep, &back)?.concat());
    Ok(())
}

/// Digests of two messages of a party, and of one that all know.
fn digests(rep: &mut Rep3, seed: u64, out: Out<'_>, name: &str) -> Result<(), Abort> {
    let me = rep.trio().me();
    let sha = Sharp::new(&Settings::new(name.parse().unwrap()), Priority::LowLatency)?;
    let (long, short) = (bytes(seed, 41), bytes(seed + 1, 3));
    let messages: &[&[u8]] = &[&long, &short];
    let m = input_message(rep, party(2), &[41, 3], (me == party(2)).then_some(messages))?;
    let public = public_message(rep, &[b"abc"])?;
    for m in [&m, &public] {
        let digest = sha.hash(rep, m)?;
        out.put("digests", sha.output_digest(rep, &digest)?.concat());
    }
    Ok(())
}

/// The products of the first two values' bits, and the third.
fn program() -> Program {
    let mut g = Build::new();
    let [x, y, z] = [(); 3].map(|()| g.input(11));
    let out: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    g.output(&out);
    g.output(&z);
    g.finish()
}

/// A value of each party; one output to the second party, the other to the two others, and all to all.
fn circuits(rep: &mut Rep3, seed: u64, out: Out<'_>, _: &str) -> Result<(), Abort> {
    let (me, program) = (rep.trio().me(), program());
    let own: Vec<u8> = bytes(seed + u64::from(me.number()), 11).iter().map(|byte| byte >> 2 & 1).collect();
    let owners = [1, 2, 3].map(party);
    let split = [vec![party(2)], vec![party(1), party(3)]];
    for receivers in [split, [owners.to_vec(), owners.to_vec()]] {
        let circuit = OwnedCircuit::with_receivers(&program, &[7; 32], &owners, &receivers)?;
        out.put("learned", circuit.evaluate(rep, &own)?.to_vec());
    }
    Ok(())
}

/// Steps with which nothing is sent.
const SILENT: &[(&str, &str)] = &[
    ("divisi_symphony::circuit/input", COMPARED),
    ("divisi_symphony::macnifico/key", COMPARED),
    ("divisi_symphony::macnifico/tag.generate", COMPARED),
    ("divisi_symphony::macnifico/tag.verify", COMPARED),
    ("divisi_symphony::sharp/hash", COMPARED),
    ("divisi_symphony::sharp/message.public", COMPARED),
    ("divisi_symphony::strands/input", "names what is refused"),
];
const COMPARED: &str = "names what is compared with the step of divisi_rep3::input";

fn net() -> MessageNet<'static> {
    MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes: shapes(),
        crowds: Vec::new(),
        silent: SILENT,
        checks: &[],
        idle: &[],
        varies: &[],
        narrow: &[],
    }
}

#[test]
fn census_of_messages() {
    let [tried, noticed] = net().demand(Extent::sample(SEED, 1));
    assert!(noticed > tried * 4 / 5, "{noticed} of {tried}");
}

#[test]
#[ignore = "every step, in every way"]
fn census_of_all_messages() {
    net().demand(Extent::All);
}

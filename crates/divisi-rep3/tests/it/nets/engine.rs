//! Shapes of AES with its key schedule, by each way of computing S-boxes, and of what stands beside it.

use super::{LANES, dealt, shape};
use crate::common::prelude::*;
use divisi_core::testing::nets::{NetShape, ShapeOutcome, varied};
use divisi_core::{ComparedDigest, step};
use divisi_rep3::{Agreement, ComparedInput};
use divisi_symmetric::aes;

pub fn shapes() -> Vec<NetShape> {
    let of = |protocol: Protocol| {
        shape(protocol.name(), move |session: Session, seed, out: &mut ShapeOutcome| {
            play(Trio::new(session)?, protocol, seed, out)
        })
    };
    Protocol::ALL.iter().map(|protocol| of(*protocol)).collect()
}

/// A key, and a column of plaintext bytes for each place of a block, all in one; of two requests, the second
/// with few lanes.
fn input(seed: u64, lanes: usize) -> Vec<u8> {
    let key = (0..16).map(|i| (varied(seed, i) ^ seed) as u8);
    key.chain((0..16 * lanes as u64).map(|i| varied(seed, i * 17 + i * i) + seed).map(|x| x as u8)).collect()
}

/// Two requests, whose inputs are agreed on, one by one and as a list.
fn play(trio: Trio, protocol: Protocol, seed: u64, out: &mut ShapeOutcome) -> Result<(), Abort> {
    let mut e = Rep3::new(trio, protocol, Security::Malicious);
    let me = e.trio().me().index();
    let public = blake3::Hasher::new().update(b"a request").to_compare();
    for lanes in [out.lanes(LANES), 3] {
        let part = &dealt(seed + lanes as u64, &[input(seed, lanes)], me).remove(0);
        let mut agreed = vec![e.trio().agree_input(checks::A24, &public, Some(part))?];
        let compared =
            [checks::A24, checks::A26].map(|check| ComparedInput { check, public, part: Ok(part) });
        agreed.extend(e.trio().agree_list(&public, &compared)?);
        let fine = agreed.iter().all(|agreed| *agreed == Agreement::Agreed);
        // otherwise nothing is computed for this request
        e.trio().session().require(checks::A24, step!("agreed"), fine, None)?;
        e.trio().absorb("request", &public);
        request(&mut e, part, lanes, out)?;
    }
    Ok(())
}

/// AES with its key schedule both ways, a masked opening, products and sums of GHASH's field, a Boolean
/// program, a verification, openings to all and to one, a comparison with zero.
fn request(e: &mut Rep3, part: &Part, lanes: usize, out: &mut ShapeOutcome) -> Result<(), Abort> {
    let piece = |from: usize, n: usize| Part {
        first: part.first[from..from + n].to_vec(),
        second: part.second[from..from + n].to_vec(),
    };
    let key = (0..16).map(|i| e.trio().input(&piece(i, 1))).collect::<Result<Vec<_>, _>>()?;
    let plain = (0..16).map(|i| e.trio().input(&piece(16 + lanes * i, lanes)));
    let mut cipher: [Byte; 16] = plain.collect::<Result<Vec<_>, _>>()?.try_into().ok().unwrap();
    let round_keys = aes::expand(e, &key)?;
    let plain = e.convert(cipher.clone())?;
    aes::encrypt(e, &round_keys, &mut cipher)?;
    let mut back = cipher.clone();
    aes::decrypt(e, &round_keys, &mut back)?;
    let blocks = e.convert(cipher.clone())?;
    let products = e.multiply(&blocks, &plain)?;
    // a masked opening, after which the value is restored from the mask and the opened sum
    let mask = e.mask(lanes)?;
    let (c, mut unmasked) = e.open_masked(&cipher[0], mask)?;
    e.add_public(&mut unmasked, &c)?;
    let sum = e.dot(&[(&blocks, &products)])?;
    let program = byte_product(3);
    let wires = bits(e, &cipher[..3])?;
    let of_bits = run_one(e, &program, wires)?;
    let of_bits = bytes(e, &of_bits)?;
    let as_bytes: [Byte; 16] = e.convert(products)?;
    let tag: [Byte; 16] = e.convert(sum.clone())?;
    let all = [&cipher[..], &back, &as_bytes, &tag, &[unmasked], &of_bits].concat();
    let pending = e.close(all);
    let verified = settle(e, pending)?;
    out.put("opened", e.trio().open(&verified)?.concat());
    for byte in verified.each().into_iter().take(2) {
        if let Some(own) = e.trio().open_to(party(2), &byte)? {
            out.put("own", own.to_vec());
        }
    }
    let nothing = e.are_zero(&[sum.clone(), sum])?;
    out.put("zero", nothing.into_iter().map(u8::from).collect::<Vec<u8>>());
    Ok(())
}

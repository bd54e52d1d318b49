//! Known answers on the engine, all five protocols, both securities.

use crate::common::prelude::*;
use divisi_symmetric::suite;

fn labs() -> impl Iterator<Item = Rep3Lab> {
    Protocol::ALL.iter().flat_map(|p| SECURITIES.map(|security| Rep3Lab { protocol: *p, security }))
}

#[test]
fn every_byte_through_the_sbox_and_back_at_every_edge_of_a_tile() {
    for lab in labs() {
        for lanes in [1, 2, 63, 64, 65, 511, 512, 513, 1100] {
            let x: Vec<u8> = (0..lanes).map(|l| (l * 7 + lanes) as u8).collect();
            let one = vec![0x53];
            let (opened, counts) = lab
                .metered(&[x.clone(), one], |e, mut bytes| {
                    let mut layer: Vec<_> = bytes.iter_mut().collect();
                    e.sbox(Direction::Encrypt, &mut layer)?;
                    e.finish(&mut layer)?;
                    let mut back = bytes.clone();
                    let mut layer: Vec<_> = back.iter_mut().collect();
                    e.sbox(Direction::Decrypt, &mut layer)?;
                    e.finish(&mut layer)?;
                    bytes.extend(back);
                    Ok(Outputs::bytes(bytes))
                })
                .unwrap();
            assert_eq!(opened.bytes[0], x.iter().map(|x| sbox(*x)).collect::<Vec<_>>(), "{lab:?} {lanes}");
            assert_eq!(opened.bytes[1], [0xed]);
            assert_eq!(opened.bytes[2], x);
            // the bits that each protocol states; those of the paper are in tests/costs
            let bits = 2 * lab.protocol.bits() * (lanes + 1);
            assert_eq!(counts.phases["online"].bits, bits as u64, "{lab:?}");
        }
    }
}

#[test]
fn aes_known_answers_of_fips_197() {
    labs().for_each(|lab| suite::aes_fips197(&lab));
}

#[test]
fn aes_known_answers_of_sp_800_38a() {
    labs().for_each(|lab| suite::aes_sp800_38a(&lab));
}

#[test]
fn aes_random_blocks_against_the_crate() {
    labs().for_each(|lab| suite::aes_random(&lab, 7, 65));
}

#[test]
fn gcm_known_answers_of_its_specification() {
    labs().for_each(|lab| assert_eq!(suite::gcm_specification(&lab), (18, 12)));
}

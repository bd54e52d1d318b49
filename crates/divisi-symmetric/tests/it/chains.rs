//! Chained blocks in one program give what they give block by block.

use divisi_core::{Direction, Opens, Plain, PlainByte};
use divisi_symmetric::aes;
use divisi_symmetric::batch::chains;
use divisi_symmetric::mode::cmac::CmacKey;
use divisi_symmetric::mode::one_shot::siv::SivKey;
use divisi_symmetric::mode::one_shot::wrap::{self, WrapForm, Wrapping};

fn secret(bytes: &[u8]) -> Vec<PlainByte> {
    bytes.iter().map(|byte| PlainByte::new(vec![*byte])).collect()
}

fn shown(bytes: Vec<PlainByte>) -> String {
    hex::encode(Plain.reveal(bytes).unwrap().concat())
}

fn hexed(message: &str) -> Vec<PlainByte> {
    secret(&hex::decode(message).unwrap())
}

/// SP 800-38A, F.2.1, in two programs.
#[test]
fn cbc_in_programs_of_several_blocks() {
    let key = hexed("2b7e151628aed2a6abf7158809cf4f3c");
    let iv = hexed("000102030405060708090a0b0c0d0e0f");
    let message = hexed(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
         30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
    );
    let first = chains::cbc(&mut Plain, &key, iv, &message[..48]).unwrap();
    let rest = chains::cbc(&mut Plain, &key, first[32..].to_vec(), &message[48..]).unwrap();
    assert_eq!(
        shown([first, rest].concat()),
        "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2\
         73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7"
    );
}

/// RFC 3394, 4.1, and RFC 5649, 6: wrapped and unwrapped, a few calls at a time.
#[test]
fn wrapping_in_programs_of_several_calls() {
    let kw = (
        WrapForm::Kw,
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5",
    );
    let kwp = (
        WrapForm::Kwp,
        "5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8",
        "466f7250617369",
        "afbeb0f07dfbf5419200f2ccb50bb24f",
    );
    for (form, kek, message, wrapped) in [kw, kwp] {
        let key = hexed(kek);
        let all = |direction, from: &str| {
            let mut wrapping = Wrapping::new(&mut Plain, form, direction, false, &hexed(from)).unwrap();
            while !wrapping.is_done() {
                chains::wrap_on(&mut Plain, &key, &mut wrapping, chains::TOGETHER).unwrap();
            }
            wrapping
        };
        assert_eq!(shown(all(Direction::Encrypt, message).wrapped()), wrapped);
        let released = |wrapped: &str| {
            let undecided = all(Direction::Decrypt, wrapped).unwrapped(&mut Plain).unwrap();
            undecided.release_one(&mut Plain).unwrap().map(|message| shown(message.into_inner()))
        };
        assert_eq!(released(wrapped).as_deref(), Some(message));
        assert_eq!(released(&format!("00{}", &wrapped[2..])), None);
    }
}

/// RFC 5297, A.1, and a longer message with an empty string, as block by block.
#[test]
fn siv_in_programs_of_several_blocks() {
    let key = hexed("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let (first, second) = key.split_at(16);
    let aad = hex::decode("101112131415161718191a1b1c1d1e1f2021222324252627").unwrap();
    let seal = |strings: &[&[u8]], message: &[PlainByte]| {
        let mut chaining = chains::s2v(&mut Plain, first, strings, message).unwrap();
        while !chaining.is_done() {
            chains::mac_on(&mut Plain, first, &mut chaining, 2).unwrap();
        }
        let v = shown(chaining.tag());
        let iv: [u8; 16] = hex::decode(&v).unwrap().try_into().unwrap();
        let stream = chains::siv_stream(&mut Plain, second, iv, message.len()).unwrap();
        let messages = [stream, message.to_vec()].map(|bytes| hex::decode(shown(bytes)).unwrap());
        let sealed: Vec<u8> = messages[0].iter().zip(&messages[1]).map(|(x, y)| x ^ y).collect();
        format!("{v}{}", hex::encode(sealed))
    };
    let message = hexed("112233445566778899aabbccddee");
    assert_eq!(seal(&[&aad], &message), "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c");
    let known = SivKey::new(&mut Plain, &key).unwrap();
    let (strings, message) = ([&aad[..], &[]], secret(&(0..33).collect::<Vec<u8>>()));
    let rows: Vec<Vec<Vec<u8>>> = strings.iter().map(|string| vec![string.to_vec()]).collect();
    let (v, sealed) = known.seal(&mut Plain, 1, &rows, &message).unwrap();
    assert_eq!(seal(&strings, &message), format!("{}{}", hex::encode(v[0]), shown(sealed)));
}

/// S2V (RFC 5297, 2.4) of up to five strings, by CMAC and doubling alone: each string has its own place.
#[test]
fn each_string_of_s2v_has_its_place() {
    let key = secret(&(0..32).collect::<Vec<u8>>());
    let known = SivKey::new(&mut Plain, &key).unwrap();
    let of_mac = aes::expand(&mut Plain, &key[..16]).unwrap();
    let cmac = CmacKey::<Plain, _>::new(&mut Plain, of_mac).unwrap();
    let tag = |message: &[u8]| {
        let tag = cmac.tag(&mut Plain, 1, &secret(message)).unwrap();
        u128::from_str_radix(&shown(tag), 16).unwrap()
    };
    let double = |x: u128| (x << 1) ^ ((x >> 127) * 0x87);
    let strings: Vec<Vec<u8>> = [3, 16, 0, 33, 5].map(|bytes| vec![bytes as u8; bytes]).to_vec();
    for count in 0..=strings.len() {
        let strings = &strings[..count];
        let d = strings.iter().fold(tag(&[0; 16]), |d, string| double(d) ^ tag(string));
        let rows: Vec<Vec<Vec<u8>>> = strings.iter().map(|string| vec![string.clone()]).collect();
        for length in [5, 16, 21] {
            let message = vec![9; length];
            let want = if let Some(at) = length.checked_sub(16) {
                let mut t = message.clone();
                t[at..].iter_mut().zip(d.to_be_bytes()).for_each(|(t, d)| *t ^= d);
                tag(&t)
            } else {
                let mut padded = [0; 16];
                padded[..length].copy_from_slice(&message);
                padded[length] = 0x80;
                tag(&(double(d) ^ u128::from_be_bytes(padded)).to_be_bytes())
            };
            let v = known.s2v(&mut Plain, 1, &rows, &secret(&message)).unwrap();
            assert_eq!(shown(v), hex::encode(want.to_be_bytes()), "{count} strings, {length} bytes");
        }
    }
}

/// Each form and direction, by the cipher or its inverse, has programs of its own, whatever came before.
#[test]
fn programs_of_wrapping_are_not_taken_for_each_other() {
    let key = secret(&(0..16).collect::<Vec<u8>>());
    let round_keys = aes::expand(&mut Plain, &key).unwrap();
    for (form, inverse) in [WrapForm::Kw, WrapForm::Kwp].map(|form| [(form, false), (form, true)]).concat() {
        let message = secret(&[9; 24]);
        let wrapped = wrap::wrap(&mut Plain, &round_keys, form, inverse, &message).unwrap();
        for (direction, from) in [(Direction::Encrypt, &message), (Direction::Decrypt, &wrapped)] {
            let made = [false, true].map(|by_programs| {
                let mut wrapping = Wrapping::new(&mut Plain, form, direction, inverse, from).unwrap();
                // one call of many is enough
                if by_programs {
                    chains::wrap_on(&mut Plain, &key, &mut wrapping, 1).unwrap();
                } else {
                    wrapping.go_on(&mut Plain, &round_keys, 1).unwrap();
                }
                shown(wrapping.wrapped())
            });
            assert_eq!(made[0], made[1], "{form:?} {direction:?} {inverse}");
        }
    }
}

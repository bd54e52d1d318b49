//! The results of ordinary libraries for the inputs of a benchmark: AES of the crate `aes`, AES-GCM of
//! `aes-gcm`, SHA-2, SHA-3 and cSHAKE of `sha2`, `sha3` and `cshake`, and the MACs on top of them by their
//! standards.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256, Block};
use aes_gcm::aead::{Aead, Nonce, Payload};
use aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm};
use cshake::digest::{ExtendableOutput, Update, XofReader};
use divisi_core::{Direction, Plain, PlainBit};
use divisi_symmetric::algorithm::{Algorithm, Settings, Strength};
use divisi_symmetric::des::{self, TripleKey};
use divisi_symmetric::hash::Hash;
use divisi_symmetric::sha2::Sha2;
use divisi_symmetric::sha3::{Sha3, bytepad, encode_string, right_encode};
use sha2::Digest;
use zeroize::Zeroizing;

/// An ordinary AES.
pub(crate) type Cipher = Box<dyn Fn(&mut Block)>;

/// AES with this key; none if there is no AES with such keys.
pub(crate) fn cipher(key: &[u8], direction: Direction) -> Option<Cipher> {
    macro_rules! cipher {
        ($cipher:ty) => {{
            let cipher = <$cipher>::new_from_slice(key).ok()?;
            match direction {
                Direction::Encrypt => {
                    Box::new(move |block: &mut Block| cipher.encrypt_block(block)) as Cipher
                }
                Direction::Decrypt => Box::new(move |block: &mut Block| cipher.decrypt_block(block)),
            }
        }};
    }
    Some(match key.len() {
        16 => cipher!(Aes128),
        24 => cipher!(Aes192),
        32 => cipher!(Aes256),
        _ => return None,
    })
}

/// A block of triple DES in the clear. (By the program of this workspace: no library of it is among its
/// dependencies. SP 800-67's example and NIST's vectors stand behind it.)
pub(super) fn triple_des(key: &[u8], direction: Direction, block: &[u8]) -> Option<Vec<u8>> {
    let bits =
        |bytes: &[u8]| -> Vec<_> { des::bits_of(bytes).iter().map(|bit| PlainBit::new(&[*bit])).collect() };
    let key = TripleKey::new(&bits(key)).ok()?;
    let mut block: [PlainBit; 64] = bits(block).try_into().ok()?;
    des::triple(&mut Plain, direction, &key, &mut block).ok()?;
    Some(des::bytes_of(&block.each_ref().map(|bit| bit.lane(0))))
}

/// The padded text of `IV | ciphertext` in CBC mode: AES by the crate `aes`, triple DES by [`triple_des`];
/// none if these are no whole blocks.
pub(crate) fn open_cbc(key: &[u8], block: usize, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (iv, ciphertext) = sealed.split_at_checked(block)?;
    let mut text = Zeroizing::new(Vec::with_capacity(ciphertext.len()));
    let aes = if block == 16 { Some(cipher(key, Direction::Decrypt)?) } else { None };
    let mut previous = iv;
    for piece in ciphertext.chunks(block) {
        let plain = match &aes {
            Some(aes) => {
                let mut block = Block::try_from(piece).ok()?;
                aes(&mut block);
                block.to_vec()
            }
            None => triple_des(key, Direction::Decrypt, piece)?,
        };
        text.extend(plain.iter().zip(previous).map(|(x, y)| x ^ y));
        previous = piece;
    }
    Some(text)
}

/// The text of `IV | ciphertext | tag`; none if it is not authentic.
pub(crate) fn open(key: &[u8], aad: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    fn open<C: Aead + KeyInit>(key: &[u8], aad: &[u8], iv: &[u8], msg: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let cipher = C::new_from_slice(key).ok()?;
        let iv = <&Nonce<C>>::try_from(iv).ok()?;
        cipher.decrypt(iv, Payload { msg, aad }).ok().map(Zeroizing::new)
    }
    let (iv, rest) = sealed.split_at_checked(12)?;
    match key.len() {
        16 => open::<Aes128Gcm>(key, aad, iv, rest),
        24 => open::<AesGcm<aes_gcm::aes::Aes192, aes_gcm::aead::consts::U12>>(key, aad, iv, rest),
        _ => open::<Aes256Gcm>(key, aad, iv, rest),
    }
}

/// The output of a hash or MAC; none for a key that it does not take.
pub(crate) fn output(settings: &Settings, key: &[u8], nonce: &[u8; 12], message: &[u8]) -> Option<Vec<u8>> {
    let bytes = settings.output_bytes;
    let mut output = match settings.algorithm {
        Algorithm::Hash(hash) => digest(hash, message)?,
        Algorithm::Shake(strength) => xof(strength, &[], &[], message, bytes),
        Algorithm::Cshake(strength) => {
            xof(strength, &settings.function, &settings.customization, message, bytes)
        }
        Algorithm::Hmac(hash) => hmac(hash, key, message)?,
        Algorithm::Otp(hash) => {
            let tag = hmac(hash, key, message)?;
            let at = usize::from(tag.last()? & 15);
            let word = u32::from_be_bytes(tag.get(at..at + 4)?.try_into().ok()?) & 0x7fff_ffff;
            let ten = 10_u32.checked_pow(u32::try_from(bytes).ok()?)?;
            format!("{:0bytes$}", word % ten).into_bytes()
        }
        Algorithm::Kmac(strength) => {
            let rate = if strength == Strength::S128 { 168 } else { 136 };
            let length = right_encode(if settings.xof { 0 } else { 8 * bytes as u64 });
            let input = [&bytepad(&encode_string(key), rate), message, &length].concat();
            xof(strength, b"KMAC", &settings.customization, &input, bytes)
        }
        Algorithm::Cmac(_) => cmac(key, message)?,
        Algorithm::Gmac(_) => {
            let payload = Payload { msg: &[], aad: message };
            match key.len() {
                16 => Aes128Gcm::new_from_slice(key).ok()?.encrypt(&(*nonce).into(), payload).ok()?,
                _ => Aes256Gcm::new_from_slice(key).ok()?.encrypt(&(*nonce).into(), payload).ok()?,
            }
        }
        _ => return None,
    };
    output.truncate(bytes);
    Some(output)
}

/// The digest; none of a hash that the other libraries do not have.
fn digest(hash: Hash, message: &[u8]) -> Option<Vec<u8>> {
    Some(match hash {
        Hash::Sha1 => {
            let old = &aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY;
            aws_lc_rs::digest::digest(old, message).as_ref().to_vec()
        }
        Hash::Sha2(Sha2::Sha224) => sha2::Sha224::digest(message).to_vec(),
        Hash::Sha2(Sha2::Sha256) => sha2::Sha256::digest(message).to_vec(),
        Hash::Sha2(Sha2::Sha384) => sha2::Sha384::digest(message).to_vec(),
        Hash::Sha2(Sha2::Sha512) => sha2::Sha512::digest(message).to_vec(),
        Hash::Sha2(Sha2::Sha512_224) => sha2::Sha512_224::digest(message).to_vec(),
        Hash::Sha2(Sha2::Sha512_256) => sha2::Sha512_256::digest(message).to_vec(),
        Hash::Sha3(Sha3::Sha3_224) => sha3::Sha3_224::digest(message).to_vec(),
        Hash::Sha3(Sha3::Sha3_256) => sha3::Sha3_256::digest(message).to_vec(),
        Hash::Sha3(Sha3::Sha3_384) => sha3::Sha3_384::digest(message).to_vec(),
        Hash::Sha3(Sha3::Sha3_512) => sha3::Sha3_512::digest(message).to_vec(),
        _ => return None,
    })
}

/// cSHAKE, which without a name and a customization is SHAKE (SP 800-185, 3.3).
fn xof(strength: Strength, function: &[u8], customization: &[u8], message: &[u8], bytes: usize) -> Vec<u8> {
    let mut output = vec![0; bytes];
    macro_rules! read {
        ($function:ty) => {{
            let mut function = <$function>::new_with_function_name(function, customization);
            function.update(message);
            function.finalize_xof().read(&mut output);
        }};
    }
    match strength {
        Strength::S128 => read!(cshake::CShake128),
        Strength::S256 => read!(cshake::CShake256),
    }
    output
}

/// FIPS 198-1.
fn hmac(hash: Hash, key: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let block = hash.block_bytes();
    let mut k0 = if key.len() > block { digest(hash, key)? } else { key.to_vec() };
    k0.resize(block, 0);
    let padded = |pad: u8, text: &[u8]| [k0.iter().map(|byte| byte ^ pad).collect(), text.to_vec()].concat();
    digest(hash, &padded(0x5c, &digest(hash, &padded(0x36, message))?))
}

/// SP 800-38B.
fn cmac(key: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let cipher = cipher(key, Direction::Encrypt)?;
    let double = |x: u128| x << 1 ^ if x >> 127 == 1 { 0x87 } else { 0 };
    let apply = |x: u128| {
        let mut block = Block::from(x.to_be_bytes());
        cipher(&mut block);
        u128::from_be_bytes(block.into())
    };
    let first = double(apply(0));
    let whole = !message.is_empty() && message.len().is_multiple_of(16);
    let mut padded = message.to_vec();
    if !whole {
        padded.push(0x80);
        padded.resize(padded.len().next_multiple_of(16), 0);
    }
    let blocks: Vec<u128> = padded.as_chunks().0.iter().map(|block| u128::from_be_bytes(*block)).collect();
    let subkey = if whole { first } else { double(first) };
    let (last, rest) = blocks.split_last()?;
    let state = rest.iter().fold(0, |state, block| apply(state ^ block));
    Some(apply(state ^ last ^ subkey).to_be_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::Bytes;
    use divisi_symmetric::batch::{Function, Messages, byte_values};

    /// What the libraries give is what this workspace's own functions give in the clear.
    #[test]
    fn libraries_and_our_functions_agree() {
        for algorithm in Algorithm::hashes().chain(Algorithm::macs()) {
            let mut settings = Settings::new(algorithm);
            if matches!(algorithm, Algorithm::Cshake(_) | Algorithm::Kmac(_)) {
                settings.customization = b"some text".to_vec();
            }
            for length in [0, 1, 16, 33, 200] {
                let key: Vec<u8> = (0..algorithm.key_bytes()).map(|i| (7 * i + length) as u8).collect();
                let message: Vec<u8> = (0..length).map(|i| (3 * i) as u8).collect();
                let e = &mut Plain;
                let secret: Vec<_> = key.iter().map(|byte| e.public(&[*byte])).collect();
                let function = Function::prepare(e, &settings, &secret).unwrap();
                let messages = Messages::public(e, &[&message]);
                let got = function.output(e, &messages, &[[9; 12]]).unwrap();
                let got: Vec<u8> = byte_values(e, got).unwrap().iter().map(|byte| byte.values()[0]).collect();
                assert_eq!(output(&settings, &key, &[9; 12], &message).unwrap(), got, "{algorithm} {length}");
            }
        }
        assert!(cipher(&[0; 15], Direction::Encrypt).is_none());
    }
}

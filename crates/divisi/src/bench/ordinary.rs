//! The results of ordinary libraries for the inputs of a benchmark: AES of the crate `aes`, triple DES of
//! `des`, their CBC of `cbc`, AES-GCM of `aes-gcm`, SHA-2, SHA-3 and cSHAKE of `sha2`, `sha3` and `cshake`,
//! and the MACs on top of them by their standards.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256, Block};
use aes_gcm::aead::{Aead, Nonce, Payload};
use aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, KeyIvInit};
use cshake::digest::{ExtendableOutput, Update, XofReader};
use des::{TdesEde2, TdesEde3};
use divisi_core::Direction;
use divisi_symmetric::algorithm::{Algorithm, Settings, Strength};
use divisi_symmetric::hash::Hash;
use divisi_symmetric::sha2::Sha2;
use divisi_symmetric::sha3::{Sha3, bytepad, encode_string, right_encode};
use sha2::Digest;
use zeroize::Zeroizing;

/// An ordinary AES.
pub(crate) type Cipher = Box<dyn Fn(&mut Block)>;

/// AES with this key; `None` if AES has no keys of this length.
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

/// A block of triple DES with two or three keys; `None` for a key or a block of another length.
pub(crate) fn triple_des(key: &[u8], direction: Direction, block: &[u8]) -> Option<Vec<u8>> {
    let mut block = des::cipher::Block::<TdesEde3>::try_from(block).ok()?;
    macro_rules! apply {
        ($cipher:ty) => {{
            let cipher = <$cipher>::new_from_slice(key).ok()?;
            match direction {
                Direction::Encrypt => cipher.encrypt_block(&mut block),
                Direction::Decrypt => cipher.decrypt_block(&mut block),
            }
        }};
    }
    match key.len() {
        16 => apply!(TdesEde2),
        _ => apply!(TdesEde3),
    }
    Some(block.to_vec())
}

/// The text of `IV | ciphertext` in CBC mode with PKCS #7 padding, of a cipher with blocks of this many
/// bytes, computed entirely by libraries. `None` if the ciphertext is no whole number of blocks, the padding
/// is wrong, or no cipher has such blocks and keys.
pub(crate) fn open_cbc(key: &[u8], block: usize, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (iv, ciphertext) = sealed.split_at_checked(block)?;
    let mut buffer = Zeroizing::new(ciphertext.to_vec());
    macro_rules! open {
        ($cipher:ty) => {{
            let cipher = cbc::Decryptor::<$cipher>::new_from_slices(key, iv).ok()?;
            cipher.decrypt_padded::<Pkcs7>(&mut buffer).ok()?.len()
        }};
    }
    let bytes = match (block, key.len()) {
        (16, 16) => open!(Aes128),
        (16, 24) => open!(Aes192),
        (16, 32) => open!(Aes256),
        (8, 16) => open!(TdesEde2),
        (8, 24) => open!(TdesEde3),
        _ => return None,
    };
    buffer.truncate(bytes);
    Some(buffer)
}

/// The text of `IV | ciphertext | tag`; `None` if it is not authentic.
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

/// The output of a hash or MAC; `None` for a key that it does not take, or a function that the libraries do
/// not have.
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

/// The digest; `None` for a hash that the libraries do not have.
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

/// HMAC by FIPS 198-1.
fn hmac(hash: Hash, key: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let block = hash.block_bytes();
    let mut k0 = if key.len() > block { digest(hash, key)? } else { key.to_vec() };
    k0.resize(block, 0);
    let padded = |pad: u8, text: &[u8]| [k0.iter().map(|byte| byte ^ pad).collect(), text.to_vec()].concat();
    digest(hash, &padded(0x5c, &digest(hash, &padded(0x36, message))?))
}

/// CMAC by SP 800-38B.
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
    use divisi_core::{Bytes, Plain};
    use divisi_symmetric::batch::{Function, Messages, byte_values};

    /// The libraries and this workspace's own functions in the clear give the same outputs.
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

    /// SP 800-67's example by the library, and files in CBC: with padding of a whole block, cut, altered.
    #[test]
    fn files_in_cbc_are_opened_by_libraries() {
        use cbc::cipher::BlockModeEncrypt;
        let key = hex::decode("0123456789abcdef23456789abcdef01456789abcdef0123").unwrap();
        let block = triple_des(&key, Direction::Encrypt, b"The qufc").unwrap();
        assert_eq!(hex::encode(&block), "a826fd8ce53b855f");
        assert_eq!(triple_des(&key, Direction::Decrypt, &block).unwrap(), b"The qufc");
        assert!(triple_des(&key[..8], Direction::Encrypt, &block).is_none());
        assert!(triple_des(&key, Direction::Encrypt, &block[..7]).is_none());
        let two = [&key[..16], &key[..8]].concat();
        let encrypt = |key: &[u8]| triple_des(key, Direction::Encrypt, &block);
        assert_eq!(encrypt(&key[..16]), encrypt(&two));
        for text in [&b"sixteen bytes..."[..], b"seventeen bytes..", b""] {
            let iv = [7; 8];
            let cipher = cbc::Encryptor::<TdesEde3>::new_from_slices(&key, &iv).unwrap();
            let mut buffer = [text, &[0; 8]].concat();
            let sealed = cipher.encrypt_padded::<Pkcs7>(&mut buffer, text.len()).unwrap();
            let mut sealed = [&iv[..], sealed].concat();
            assert_eq!(open_cbc(&key, 8, &sealed).unwrap().as_slice(), text);
            // the padding as other software finds it: by decrypting the last block alone
            let last = sealed.len() - 8;
            let padded = triple_des(&key, Direction::Decrypt, &sealed[last..]).unwrap();
            let padding = padded[7] ^ sealed[last - 1];
            assert_eq!(usize::from(padding), 8 - text.len() % 8);
            assert!(open_cbc(&key, 8, &sealed[..last + 7]).is_none());
            assert!(open_cbc(&key, 16, &sealed).is_none());
            sealed[last - 1] ^= 0x80;
            assert!(open_cbc(&key, 8, &sealed).is_none());
        }
    }
}

//! The format of a stock's files: encrypted by AES-256-GCM under a key for each file.
//!
//! `"DIVISIS\n" | version u16 | check of the seal key | salt | ciphertext | tag`
//!
//! Numbers are little-endian, check and tag have 16 bytes, the salt 32. The file's key is derived (BLAKE3)
//! from the seal key, the salt, which is fresh each time the file is written, and the identity of the file
//! (its stock's head, party and name). It encrypts once, so that the nonce may be zero, and a file in the
//! place of another cannot be decrypted. Everything before the ciphertext is authenticated with it. The check
//! distinguishes a wrong seal key from damage.

use super::StockError;
use crate::disk::{Disk, MachineDisk};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use zeroize::{Zeroize, Zeroizing};

const MAGIC: [u8; 8] = *b"DIVISIS\n";
const VERSION: u16 = 1;
const CHECK: usize = 16;
const SALT: usize = 32;
const HEAD: usize = 8 + 2 + CHECK + SALT;
const TAG: usize = 16;
/// How many bytes longer a sealed file is than its body.
pub(super) const OVERHEAD: usize = HEAD + TAG;
/// How a key file begins; 64 digits and the end of the line follow.
const KEY_FILE: &str = "divisi stock key v1 ";

/// The key under which a party's stocks are sealed. The type does not implement `Debug`; the key is wiped on
/// drop.
pub struct SealKey(pub(super) Zeroizing<[u8; 32]>);

impl SealKey {
    /// The key with these uniform bytes.
    #[must_use]
    pub fn new(bytes: Zeroizing<[u8; 32]>) -> Self {
        SealKey(bytes)
    }

    /// Read a key file.
    ///
    /// # Errors
    /// [`StockError::Io`]; [`StockError::Readable`] if others may read it; [`StockError::NoKey`] if it is not
    /// a key file.
    pub fn load(path: &Path) -> Result<Self, StockError> {
        let read = MachineDisk.read(path, 256);
        let (bytes, mode) = read.map_err(|e| match e.kind() {
            io::ErrorKind::InvalidData => StockError::NoKey(path.into()),
            _ => StockError::Io(path.into(), e),
        })?;
        if mode & 0o077 != 0 {
            return Err(StockError::Readable(path.into(), mode));
        }
        Self::parse(&bytes).ok_or_else(|| StockError::NoKey(path.into()))
    }

    /// The key in the text of a key file; `None` if it is not the text of one.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let digits = text.strip_prefix(KEY_FILE.as_bytes())?.strip_suffix(b"\n")?;
        let mut key = Zeroizing::new([0; 32]);
        if digits.len() != 2 * key.len() {
            return None;
        }
        for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
            for digit in pair {
                *byte = *byte << 4 | char::from(*digit).to_digit(16)? as u8;
            }
        }
        Some(SealKey(key))
    }

    /// Write the key to a new file that only its owner may read, and that outlives a crash.
    ///
    /// # Errors
    /// [`StockError::Io`] if the file exists or cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), StockError> {
        self.save_on(&MachineDisk, path)
    }

    fn save_on(&self, disk: &impl Disk, path: &Path) -> Result<(), StockError> {
        let mut text = Zeroizing::new(String::with_capacity(KEY_FILE.len() + 65));
        text.push_str(KEY_FILE);
        for nibble in self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
            text.push(char::from_digit(nibble.into(), 16).unwrap_or('0'));
        }
        text.push('\n');
        let write = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
            disk.sync_dir(dir.unwrap_or(Path::new(".")))
        };
        write().map_err(|e| StockError::Io(path.into(), e))
    }

    fn derive(&self, purpose: &str, context: &[&[u8]]) -> Zeroizing<[u8; 32]> {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        hasher.update(self.0.as_slice());
        for part in context {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        let key = Zeroizing::new(*hasher.finalize().as_bytes());
        hasher.zeroize();
        key
    }

    /// An identifier of the key: different keys have different ones, and it reveals nothing about the key.
    fn check(&self) -> [u8; CHECK] {
        let all = self.derive("divisi 2026 stock key check v1", &[]);
        all.first_chunk().copied().unwrap_or_default()
    }

    fn cipher(&self, salt: &[u8], context: &[&[u8]]) -> Option<LessSafeKey> {
        let all: Vec<&[u8]> = [salt].into_iter().chain(context.iter().copied()).collect();
        let key = self.derive("divisi 2026 stock file v1", &all);
        UnboundKey::new(&AES_256_GCM, key.as_slice()).ok().map(LessSafeKey::new)
    }

    /// The bytes of the sealed file with this body. `context` identifies the file, and `salt` must be fresh.
    pub(super) fn seal(&self, salt: &[u8; SALT], context: &[&[u8]], body: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(body.len() + OVERHEAD);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&self.check());
        out.extend_from_slice(salt);
        let cipher = self.cipher(salt, context)?;
        let head = out.clone();
        // encrypted in place, so that no copy of the body stays behind
        out.extend_from_slice(body);
        let (_, text) = out.split_at_mut_checked(HEAD)?;
        let nonce = Nonce::assume_unique_for_key([0; 12]);
        let tag = cipher.seal_in_place_separate_tag(nonce, Aad::from(&head), text).ok()?;
        out.extend_from_slice(tag.as_ref());
        Some(out)
    }

    /// Decrypt a file in place, and return its body; `path` is for error messages.
    pub(super) fn open(
        &self,
        path: &Path,
        context: &[&[u8]],
        mut bytes: Zeroizing<Vec<u8>>,
    ) -> Result<Zeroizing<Vec<u8>>, StockError> {
        let damaged = |what| StockError::Damaged(path.into(), what);
        let head = bytes.first_chunk::<HEAD>().copied().ok_or_else(|| damaged("it is too short"))?;
        let (magic, rest) = head.split_at(8);
        let (version, rest) = rest.split_at(2);
        let (check, salt) = rest.split_at(CHECK);
        if magic != MAGIC {
            return Err(damaged("it does not begin like a file of a stock"));
        }
        let version = version.iter().rev().fold(0, |number, byte| number << 8 | u16::from(*byte));
        if version != VERSION {
            return Err(StockError::Version(path.into(), version));
        }
        if check != self.check() {
            return Err(StockError::OtherKey(path.into()));
        }
        let cipher = self.cipher(salt, context).ok_or_else(|| damaged("it cannot be decrypted"))?;
        let nonce = Nonce::assume_unique_for_key([0; 12]);
        let altered = || damaged("it was truncated or altered, or another file was put in its place");
        let body = bytes.get_mut(HEAD..).unwrap_or_default();
        let len = cipher.open_in_place(nonce, Aad::from(&head), body).map_err(|_| altered())?.len();
        bytes.copy_within(HEAD..HEAD + len, 0);
        bytes.truncate(len);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What other builds have sealed opens, and they open what this one seals.
    #[test]
    fn the_format_stays() {
        let key = SealKey::new(Zeroizing::new([7; 32]));
        let bytes = key.seal(&[9; SALT], &[b"wrap", &[2], b"state"], b"a body").unwrap();
        let magic_version_check = "444956495349530a01007e018f7f6b00241ddf3873f5249ad24e";
        let salt = hex::encode([9; SALT]);
        let text_and_tag = "583989e6c70ce3a8882e1a138ca2a7070979e6b66606";
        assert_eq!(hex::encode(bytes), [magic_version_check, &salt, text_and_tag].concat());
    }

    /// A key that stocks are sealed under is there after a crash, in whatever directory.
    #[test]
    fn the_name_of_a_key_outlives_a_crash() {
        #[derive(Default)]
        struct Told(std::sync::Mutex<Vec<std::path::PathBuf>>);
        impl Disk for Told {
            fn sync_dir(&self, dir: &Path) -> io::Result<()> {
                self.0.lock().unwrap().push(dir.into());
                Ok(())
            }
        }
        let (dir, disk) = (tempfile::tempdir().unwrap(), Told::default());
        let key = SealKey::new(Zeroizing::new([7; 32]));
        key.save_on(&disk, &dir.path().join("key")).unwrap();
        assert!(key.save_on(&disk, &dir.path().join("key")).is_err());
        assert_eq!(*disk.0.lock().unwrap(), [dir.path()]);
        assert!(SealKey::load(&dir.path().join("key")).unwrap().0 == key.0);
    }

    /// No block of a long body is there in the clear, and no two equal ones are alike; the last bit counts.
    #[test]
    fn long_bodies_are_sealed_to_their_end() {
        let key = SealKey::new(Zeroizing::new([7; 32]));
        let body = vec![0x11; (1 << 20) + 5];
        let context: [&[u8]; 2] = [b"wrap", b"lot"];
        let sealed = key.seal(&[9; SALT], &context, &body).unwrap();
        let blocks: Vec<&[u8]> = sealed[HEAD..].chunks_exact(16).collect();
        let others: std::collections::HashSet<&[u8]> = blocks.iter().copied().chain([&body[..16]]).collect();
        assert_eq!(others.len(), blocks.len() + 1);
        let open = |bytes: &[u8]| key.open(Path::new("lot"), &context, Zeroizing::new(bytes.to_vec()));
        assert!(*open(&sealed).unwrap() == body);
        for at in [HEAD + (1 << 16), HEAD + body.len() - 1, sealed.len() - 1] {
            let mut altered = sealed.clone();
            altered[at] ^= 1;
            assert!(open(&altered).is_err(), "{at}");
        }
    }
}

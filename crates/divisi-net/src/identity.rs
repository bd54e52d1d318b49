//! Identities: Ed25519 key pairs, of which the others know the public key alone. There are no certificates
//! and no authority, whose compromise would affect every party.
//!
//! The *fingerprint* is the SHA-256 of the public key's SPKI (RFC 8410), in 64 hexadecimal digits; it is what
//! `openssl pkey -pubout -outform DER | sha256sum` prints for the key's file.

use crate::World;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, fcntl_setfl, open};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use zeroize::Zeroizing;

/// What precedes the 32 bytes of an Ed25519 key in its SPKI (RFC 8410, section 4).
const SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// What precedes the 32 secret bytes in their PKCS#8 form (RFC 8410, section 7).
const PKCS8: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
/// No identity file is longer.
const LONGEST: u64 = 16 * 1024;
/// How long the first byte of a pipe is waited for.
const PIPE_WAIT: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// The public key of an identity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// The key of these 32 bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key in an SPKI; `None` for any other kind of key.
    pub fn from_spki(spki: &[u8]) -> Option<Self> {
        spki.strip_prefix(&SPKI)?.try_into().ok().map(Self)
    }

    /// The SPKI, in DER.
    pub fn spki(&self) -> Vec<u8> {
        [&SPKI[..], &self.0].concat()
    }

    /// The SHA-256 of the SPKI.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut out = [0; 32];
        let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &self.spki());
        for (to, from) in out.iter_mut().zip(hash.as_ref()) {
            *to = *from;
        }
        Fingerprint(out)
    }
}

impl FromStr for PublicKey {
    type Err = hex::FromHexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map(|()| Self(bytes))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The SHA-256 of a public key's SPKI: how people compare identities, and what the configuration pins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of these 32 bytes.
    pub(crate) const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for Fingerprint {
    type Err = hex::FromHexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map(|()| Self(bytes))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A key pair. The secret half is never printed and is wiped on drop.
pub struct Identity {
    pkcs8: Zeroizing<Vec<u8>>,
    public: PublicKey,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.fingerprint())
    }
}

/// An error of an identity file.
#[derive(Debug)]
#[non_exhaustive]
pub enum IdentityError {
    /// It cannot be read.
    Read(PathBuf, io::Error),
    /// It cannot be written.
    Write(PathBuf, io::Error),
    /// Users other than its owner may read it; its mode.
    Readable(PathBuf, u32),
    /// It holds no Ed25519 key.
    Damaged(PathBuf),
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, why) => write!(
                f,
                "the identity file {} cannot be read ({why}): give the file that `mesh new` or `mesh identity` wrote",
                path.display()
            ),
            Self::Write(path, why) if why.kind() == io::ErrorKind::AlreadyExists => {
                write!(f, "the identity file {} exists already: choose another directory", path.display())
            }
            Self::Write(path, why) => {
                write!(f, "the identity file {} cannot be written ({why})", path.display())
            }
            Self::Readable(path, mode) => write!(
                f,
                "the identity file {} can be read by others (mode {:04o}): run `chmod 600 {}`, and make a new \
                 identity if others may have read it",
                path.display(),
                mode & 0o7777,
                path.display()
            ),
            Self::Damaged(path) => write!(
                f,
                "the identity file {} is damaged or holds no Ed25519 private key in PKCS#8 PEM: restore it or make \
                 a new identity",
                path.display()
            ),
        }
    }
}

impl std::error::Error for IdentityError {}

impl Identity {
    /// A fresh key pair.
    pub fn generate(world: &dyn World) -> Self {
        loop {
            let mut pkcs8 = Zeroizing::new([&PKCS8[..], &[0; 32]].concat());
            world.entropy(pkcs8.split_at_mut(PKCS8.len()).1);
            // Every seed is a key, so that the parser accepts it.
            if let Some(identity) = Self::from_pkcs8(pkcs8) {
                return identity;
            }
        }
    }

    fn from_pkcs8(pkcs8: Zeroizing<Vec<u8>>) -> Option<Self> {
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&pkcs8).ok()?;
        let public = PublicKey(pair.public_key().as_ref().try_into().ok()?);
        Some(Self { pkcs8, public })
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// The public half's fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        self.public.fingerprint()
    }

    pub(crate) fn pkcs8(&self) -> PrivatePkcs8KeyDer<'_> {
        PrivatePkcs8KeyDer::from(self.pkcs8.as_slice())
    }

    /// Writes a new file that only its owner can read (mode 0600). An existing file is never replaced.
    pub fn save(&self, path: &Path) -> Result<(), IdentityError> {
        let text = self.to_pem();
        let write = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            // The process's umask may have taken the owner's bits, too.
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|e| IdentityError::Write(path.into(), e))
    }

    /// Reads a file; refuses one that others may read.
    pub fn load(path: &Path) -> Result<Self, IdentityError> {
        let failed = |e| IdentityError::Read(path.into(), e);
        let file = open_file(path).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if meta.permissions().mode() & 0o077 != 0 {
            return Err(IdentityError::Readable(path.into(), meta.permissions().mode()));
        }
        let mut text = Zeroizing::new(Vec::with_capacity(LONGEST as usize));
        file.take(LONGEST).read_to_end(&mut text).map_err(failed)?;
        Self::from_pem(&text).ok_or_else(|| IdentityError::Damaged(path.into()))
    }

    /// The identity in the text of a file.
    pub(crate) fn from_pem(text: &[u8]) -> Option<Self> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(text).ok()?;
        Self::from_pkcs8(Zeroizing::new(der.secret_pkcs8_der().to_vec()))
    }

    /// The text of its file.
    pub(crate) fn to_pem(&self) -> Zeroizing<String> {
        let body = base64(&self.pkcs8);
        Zeroizing::new(["-----BEGIN PRIVATE KEY-----\n", &body, "\n-----END PRIVATE KEY-----\n"].concat())
    }
}

/// Opens a file or a pipe to read it; anything else is refused at once, and so is a pipe to which nobody
/// writes in [`PIPE_WAIT`].
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let file = File::from(open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?);
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    if !kind.is_fifo() {
        return Err(io::Error::other("it is neither a file nor a pipe"));
    }
    // Opening without waiting succeeds before there is a writer, and reading would then find an empty file.
    let mut ready = [PollFd::new(&file, PollFlags::IN)];
    if poll(&mut ready, Some(&PIPE_WAIT))? == 0 {
        return Err(io::Error::other(format!(
            "it is a pipe, and nobody wrote to it in {} s",
            PIPE_WAIT.tv_sec
        )));
    }
    fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

/// Base64 without a table: no index depends on the secret.
fn base64(bytes: &[u8]) -> Zeroizing<String> {
    let mut out = Zeroizing::new(String::with_capacity(bytes.len().div_ceil(3) * 4));
    for group in bytes.chunks(3) {
        let at = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let sextet = (word >> (18 - 6 * i) & 63) as i16;
            out.push(if i > group.len() { '=' } else { char::from(letter(sextet)) });
        }
    }
    out
}

/// The letter of six bits. Each line adds the offset of the next range of letters if the value is beyond the
/// ranges before it, which the sign of a difference says.
fn letter(v: i16) -> u8 {
    let mut c = v + i16::from(b'A');
    c += ((25 - v) >> 8) & 6;
    c -= ((51 - v) >> 8) & 75;
    c -= ((61 - v) >> 8) & 15;
    c += ((62 - v) >> 8) & 3;
    c as u8
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Machine;

    #[test]
    fn base64_is_the_standard_alphabet() {
        let all: String = (0..64).map(|v| char::from(letter(v))).collect();
        assert_eq!(all, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
        // RFC 4648, section 10.
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(*base64(plain.as_bytes()), coded);
        }
    }

    /// Every bit of a private key is drawn.
    #[test]
    fn keys_have_no_bit_that_stays() {
        crate::world::assert_drawn(|| Identity::generate(&Machine).pkcs8[PKCS8.len()..].to_vec());
    }

    #[test]
    fn a_file_comes_back_and_a_bad_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.key");
        let identity = Identity::generate(&Machine);
        identity.save(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Identity::load(&path).unwrap().public(), identity.public());
        let again = identity.save(&path).unwrap_err();
        assert!(again.to_string().contains("exists already"));
        assert!(matches!(again, IdentityError::Write(named, _) if named == path));
        assert!(!format!("{identity:?}").contains(&hex::encode(&identity.pkcs8[16..])));

        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(Identity::load(&path).unwrap_err().to_string().contains("chmod 600"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        for bad in [text.replace("PRIVATE", "PUBLIC"), text[..60].to_owned(), String::new()] {
            fs::write(&path, bad).unwrap();
            assert!(Identity::load(&path).unwrap_err().to_string().contains("damaged"));
        }
        let missing = Identity::load(&dir.path().join("b.key")).unwrap_err().to_string();
        assert!(missing.contains("b.key cannot be read"), "{missing}");
    }

    #[test]
    fn a_key_of_rfc_8410() {
        // Section 10.3's private key and section 10.1's public key belong together.
        let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
                   -----END PRIVATE KEY-----\n";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rfc.key");
        fs::write(&path, pem).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let key = Identity::load(&path).unwrap().public();
        assert_eq!(key.to_string(), "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1");
        assert_eq!(PublicKey::from_spki(&key.spki()), Some(key));
        assert_eq!(PublicKey::from_spki(&key.spki()[1..]), None);
        assert_eq!(key.fingerprint().to_string().parse::<Fingerprint>().unwrap(), key.fingerprint());
    }
}

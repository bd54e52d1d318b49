//! What `divisi demo` shows of an engine, and an engine's way to encrypt a file among its parties.

use super::EngineSettings;
use super::job::Cipher;
use crate::unsupported::Unsupported;
use divisi_core::{Abort, PublicParameters, Session};
use zeroize::Zeroizing;

/// What a demonstration of an engine shows.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Demonstration {
    /// The three servers of divisi-node, which compute with this engine, encrypt and decrypt a file for a
    /// client.
    Servers,
    /// Parties encrypt and decrypt a file together, without a client.
    Parties(&'static dyn FileCipher),
}

/// An engine's way to encrypt and decrypt a file among its parties, in CBC mode.
pub trait FileCipher: Sync {
    /// Prepare everything public about a file.
    ///
    /// # Errors
    /// [`Unsupported`] for settings that make no sense.
    fn prepare_file(
        &self,
        settings: &EngineSettings,
        cipher: Cipher,
    ) -> Result<Box<dyn PreparedFile>, Unsupported>;
}

/// A file that is to be encrypted and decrypted.
pub trait PreparedFile: Send + Sync {
    /// The number of parties.
    fn parties(&self) -> usize;

    /// The protocol's name.
    fn protocol(&self) -> &'static str;

    /// The parameters that the parties compare at the start \[M0.4\].
    fn parameters(&self, bytes: usize) -> PublicParameters;

    /// The part of this party: the first party has the padded text, of `bytes` bytes. Every party gives a key
    /// and an IV, and the sums are the file's.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn run(&self, session: Session, text: Option<&[u8]>, bytes: usize) -> Result<FileResults, Abort>;
}

/// The results of a party. The client runs at the first party; the other parties have only the public
/// results.
pub struct FileResults {
    /// IV, then ciphertext: the same at all parties.
    pub sealed: Vec<u8>,
    /// The decrypted blocks, padding included; at the first party only.
    pub opened: Option<Zeroizing<Vec<u8>>>,
    /// The key, which is opened once, to the first party only, so that the client can check the results.
    pub key: Option<Zeroizing<Vec<u8>>>,
    /// The seconds to draw the key, to encrypt, and to decrypt.
    pub seconds: [f64; 3],
}

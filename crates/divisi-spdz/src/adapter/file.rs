//! A file encrypted and decrypted by the parties ([`crate::ciphers::joint`]).

use super::Authenticated;
use super::begin::engine;
use super::how::How;
use crate::ciphers::OnSpdz;
use crate::ciphers::joint::{self, Lengths, SealedMessage};
use crate::protocol::{NamedProtocol, Task, by_field};
use crate::{AuthBit, AuthByte, Host};
use divisi_core::{Abort, PublicParameters, Session};
use divisi_engine::job::Cipher;
use divisi_engine::{EngineSettings, FileCipher, FileResults, PreparedFile, Unsupported};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::des::TripleKey;
use std::time::Instant;

/// A file to be encrypted and decrypted.
struct Through {
    how: How,
    named: NamedProtocol,
    cipher: Cipher,
}

impl FileCipher for Authenticated {
    fn prepare_file(
        &self,
        settings: &EngineSettings,
        cipher: Cipher,
    ) -> Result<Box<dyn PreparedFile>, Unsupported> {
        divisi_engine::check(self, settings)?;
        let how = How::new(settings)?;
        let named = how.protocol(cipher)?;
        if named.tiny {
            return Err(Unsupported::new(format!(
                "the demonstration runs the cipher block by block, for which {} is not suited: name another protocol",
                named.name
            )));
        }
        Ok(Box::new(Through { how, named, cipher }))
    }
}

impl PreparedFile for Through {
    fn parties(&self) -> usize {
        self.how.parties
    }

    fn protocol(&self) -> &'static str {
        self.named.name
    }

    fn parameters(&self, bytes: usize) -> PublicParameters {
        let parameters = PublicParameters::new("spdz file")
            .with("cipher", self.cipher.name().as_bytes())
            .with("key bytes", &(self.cipher.key_bytes() as u64).to_le_bytes())
            .with("named", self.named.name.as_bytes())
            .with("bytes", &(bytes as u64).to_le_bytes());
        self.how.describe(parameters)
    }

    fn run(&self, session: Session, message: Option<&[u8]>, bytes: usize) -> Result<FileResults, Abort> {
        by_field!(self.how.field, F => match self.named.task == Task::Aes {
            true => self.with::<F, RoundKeys<AuthByte<F>>>(session, message, bytes),
            false => self.with::<F, TripleKey<AuthBit<F>>>(session, message, bytes),
        })
    }
}

impl Through {
    fn with<F: Host, C: OnSpdz<F>>(
        &self,
        session: Session,
        message: Option<&[u8]>,
        bytes: usize,
    ) -> Result<FileResults, Abort> {
        let start = Instant::now();
        let (key, block) = (self.cipher.key_bytes(), self.cipher.block_bytes());
        let lengths = Lengths { message: bytes, key, block };
        let needs = lengths.needs(self.named, session.parties());
        let mut e = engine::<F>(session, &self.how, self.named.protocol, &needs)?;
        let sealed = joint::through::<F, C>(&mut e, self.named, lengths, message, start)?;
        let SealedMessage { sealed, opened, key, seconds } = sealed;
        Ok(FileResults { sealed, opened, key, seconds })
    }
}

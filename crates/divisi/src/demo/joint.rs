//! The demonstration among parties that do not trust each other: a file in CBC under a key that all of them
//! drew together.
//!
//! Trust: all parties are threads of this process, which therefore knows all secrets: a demonstration only.
//! The client, whose file it is, adds and removes the padding, and runs at the first party.

use super::{TEXT, text_of};
use crate::bench::ordinary;
use crate::engine::job::{Cipher, DesKeys};
use crate::engine::{Adversary, Demonstration, Engine, EngineSettings, FileResults};
use crate::failure::Failure;
use divisi_core::local;
use divisi_engine::padding;
use divisi_symmetric::aes::KeySize;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zeroize::Zeroizing;

/// The most bytes of a file: a block takes 160 tables in each direction, and the blocks of CBC are computed
/// one after the other.
const LONGEST: usize = 64 << 10;

/// The options of the demonstration.
pub struct Joint {
    /// The engine, whose demonstration is [`Demonstration::Parties`].
    pub engine: &'static dyn Engine,
    /// The caller's file; a built-in text by default.
    pub file: Option<PathBuf>,
    /// The file that is left, encrypted, with its key in a file of the same name and `.key`; none by default.
    pub out: Option<PathBuf>,
    /// The cipher.
    pub cipher: Cipher,
    /// The settings of the engine.
    pub settings: EngineSettings,
    /// How long a receive waits for a message.
    pub timeout: Option<Duration>,
}

/// The cipher of a mode by its name on the command line: aes-128-cbc and the like, or 3des-cbc.
///
/// # Errors
/// If no cipher has this name; the text lists the names that there are.
pub fn cipher(name: &str) -> Result<Cipher, String> {
    Ok(match name {
        "aes-128-cbc" => Cipher::Aes(KeySize::Aes128),
        "aes-192-cbc" => Cipher::Aes(KeySize::Aes192),
        "aes-256-cbc" => Cipher::Aes(KeySize::Aes256),
        "3des-cbc" => Cipher::TripleDes(DesKeys::Three),
        _ => return Err("choose aes-128-cbc, aes-192-cbc, aes-256-cbc or 3des-cbc".into()),
    })
}

fn mode_name(cipher: Cipher) -> String {
    match cipher {
        Cipher::Aes(size) => format!("aes-{}-cbc", size.bits()),
        Cipher::TripleDes(_) => "3des-cbc".into(),
    }
}

/// Run the demonstration. `say` is called with lines of text; returns the object for `--json`.
///
/// # Errors
/// [`Failure`] if the file cannot be read, a party fails, or a result is wrong.
pub fn joint(options: &Joint, say: &mut dyn FnMut(&str)) -> Result<Value, Failure> {
    let Joint { engine, file, out, cipher, settings, timeout } = options;
    let Some(Demonstration::Parties(ciphers)) = engine.demonstration() else {
        return Err(Failure::usage(format!(
            "the engine {} does not encrypt files among its parties: give another",
            engine.name()
        )));
    };
    let prepared = ciphers.prepare_file(settings, *cipher)?;
    let plain = match file {
        Some(file) => text_of(file, LONGEST as u64)?,
        None => Zeroizing::new(TEXT.as_bytes().to_vec()),
    };
    if let Some(key) = out.as_deref().map(key_beside).filter(|key| key.symlink_metadata().is_ok()) {
        return Err(Failure::usage(format!(
            "{} is there already, and may be the key of another file: move it away, or give another --out",
            key.display()
        )));
    }
    let (block, parties) = (cipher.block_bytes(), prepared.parties());
    let padded = Zeroizing::new(padding::add(&plain, block));
    let ends = local::run_over(
        local::links_within(parties, *timeout),
        |_| prepared.parameters(padded.len()),
        |session| {
            let text = (session.me().index() == 0).then_some(padded.as_slice());
            prepared.run(session, text, padded.len())
        },
    );
    let came = local::first(ends)?;
    let wrong =
        |what: &str| Failure::mismatch(format!("{what}: report this with the output of `divisi --version`"));
    if came.windows(2).any(|pair| pair.first().map(|one| &one.sealed) != pair.last().map(|one| &one.sealed)) {
        return Err(wrong("the parties have different ciphertexts"));
    }
    let first = came.into_iter().next();
    let Some(FileResults {
        sealed,
        opened: Some(opened),
        key: Some(key),
        seconds: [setup, encrypt, decrypt],
    }) = first
    else {
        return Err(wrong("the client received no text"));
    };
    let corrupt = match engine.profile().adversary {
        Adversary::AllButOne => "all but one of whom",
        Adversary::One => "one of whom",
        Adversary::Nobody => "none of whom",
    };
    say(&format!(
        "{parties} parties, {corrupt} may be corrupt, drew a key of {} bits together ({setup:.2} s): none of them has it.",
        8 * key.len()
    ));
    let name = mode_name(*cipher);
    say(&format!(
        "The file ({} bytes, padded by its client to {}) went to them in shares, and they encrypted it with {name} \
         under an IV that is a coin of all, by {} ({encrypt:.2} s).",
        plain.len(),
        padded.len(),
        prepared.protocol()
    ));
    let back = padding::remove(&opened, block).map(Zeroizing::new);
    if back.as_ref() != Some(&plain) {
        return Err(wrong("the decrypted file differs from the original"));
    }
    say(&format!("They decrypted it again, for the client alone ({decrypt:.2} s). It is the same file."));
    if ordinary::open_cbc(&key, block, &sealed).as_ref() != Some(&plain) {
        return Err(wrong("an ordinary program does not decrypt what the parties wrote"));
    }
    let library = if cipher.aes().is_some() { "aes" } else { "des" };
    say(&format!(
        "The crates {library} and cbc, ordinary libraries, opened it with that key, which they told the client once, for this check: the same file again. Anybody else's \
         software does the same: the first {block} bytes are the IV, the rest is CBC with PKCS #7 padding."
    ));
    if let Some(out) = out {
        leave(out, &sealed, &key)?;
        say(&format!(
            "{} has the encrypted file, and {} its key of {} bytes.",
            out.display(),
            key_beside(out).display(),
            key.len()
        ));
    }
    let mut told = json!({
        "schema": 1,
        "engine": engine.name(),
        "protocol": prepared.protocol(),
        "cipher": name,
        "security": settings.security.name(),
        "key_bits": 8 * key.len(),
        "parties": parties,
        "bytes": plain.len(),
        "key_seconds": setup,
        "encrypt_seconds": encrypt,
        "decrypt_seconds": decrypt,
        "decrypted_equals_file": true,
        "opened_by_ordinary_library": true,
    });
    if let (Some(out), Some(told)) = (out, told.as_object_mut()) {
        told.insert("out".into(), json!(out.display().to_string()));
        told.insert("key_file".into(), json!(key_beside(out).display().to_string()));
    }
    Ok(told)
}

/// The file with the key of an encrypted file.
fn key_beside(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".key");
    name.into()
}

/// Leave the encrypted file, and its key in a new file that its owner alone can read. If the encrypted file
/// cannot be written, no key is left.
fn leave(out: &Path, sealed: &[u8], key: &[u8]) -> Result<(), Failure> {
    let beside = key_beside(out);
    let failed = |path: &Path, e: std::io::Error| {
        Failure::usage(format!("{} cannot be written ({e}): give another --out", path.display()))
    };
    let mut file = OpenOptions::new();
    let made = file.write(true).create_new(true).mode(0o600).open(&beside);
    let mut file = made.map_err(|e| failed(&beside, e))?;
    let written = file.write_all(key).and_then(|()| file.sync_all()).map_err(|e| failed(&beside, e));
    let written = written.and_then(|()| std::fs::write(out, sealed).map_err(|e| failed(out, e)));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

//! One request of a client: what is asked, checked before anything is sent, and the bytes that come back.

use crate::buffer::Lent;
use crate::raised::{of_command, usage};
use divisi::file::Using;
use divisi_engine::padding;
use divisi_node::{Client, Error, ErrorKind, KeyName, KeyType, OUTPUT, OVERHEAD, least_tag};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use pyo3::prelude::*;
use std::io::Write;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The length in bytes of the blocks of CBC.
const BLOCK: usize = 16;
/// The length in bytes of a nonce.
const NONCE: usize = 12;

/// What is asked, of any data.
#[pyclass(frozen, module = "divisi._native")]
pub struct Work(pub Arc<Asked>);

/// What is asked.
pub enum Asked {
    /// Encrypt by this algorithm, with this associated data.
    Encrypt(Handle, Using, Option<Vec<u8>>),
    /// Decrypt.
    Decrypt(Handle, Using, Option<Vec<u8>>),
    /// Hash.
    Hash(Settings),
    /// Make a tag.
    Mac(Handle, Settings),
    /// Compare a tag, which was made with this nonce.
    Verify(Handle, Settings, Option<[u8; NONCE]>, Vec<u8>),
}

/// A key of the servers: its name, by which they find it, and the id of the one that is meant.
pub struct Handle {
    pub name: KeyName,
    pub id: [u8; 16],
}

/// The name of a key as Python gives it.
pub fn key_name(py: Python<'_>, name: &str) -> PyResult<KeyName> {
    name.parse::<KeyName>().map_err(|why| usage(py, &why))
}

/// What a handle of Python tells of its key: name, id and type.
pub type Told = (String, String, String);

/// A key as Python gives it.
pub fn handle(py: Python<'_>, (name, id, _): &Told) -> PyResult<Handle> {
    let wrong =
        |_| usage(py, "the id of a key has 32 hexadecimal digits: take the handle of client.key(name)");
    Ok(Handle { name: key_name(py, name)?, id: u128::from_str_radix(id, 16).map_err(wrong)?.to_be_bytes() })
}

fn algorithm(py: Python<'_>, name: &str) -> PyResult<Algorithm> {
    name.parse().map_err(|why: String| usage(py, &why))
}

/// The parameters of a hash or MAC, checked.
fn settings(
    py: Python<'_>,
    algorithm: Algorithm,
    customization: Vec<u8>,
    function: Vec<u8>,
    bytes: Option<usize>,
    xof: bool,
) -> PyResult<Settings> {
    let settings = Settings::new(algorithm);
    let output_bytes = bytes.unwrap_or(settings.output_bytes);
    let settings = Settings { customization, function, output_bytes, xof, ..settings };
    settings.check().map_err(|why| usage(py, &why))?;
    if output_bytes > OUTPUT {
        let error =
            format!("output_bytes is {output_bytes}, and servers return at most {OUTPUT}: ask for fewer");
        return Err(usage(py, &error));
    }
    Ok(settings)
}

/// The parameters of the MAC of a key.
fn of_key(
    py: Python<'_>,
    key: &KeyName,
    kind: &str,
    customization: Vec<u8>,
    bytes: Option<usize>,
    xof: bool,
) -> PyResult<Settings> {
    let Some(algorithm) = Algorithm::macs().find(|algorithm| algorithm.name() == kind) else {
        let error = format!("key {key} is of type {kind}, which makes no tags: use one of type hmac-sha256");
        return Err(usage(py, &error));
    };
    let settings = settings(py, algorithm, customization, Vec::new(), bytes, xof)?;
    let least = least_tag(algorithm);
    if settings.output_bytes < least {
        let bytes = settings.output_bytes;
        let error =
            format!("servers make tags of {algorithm} of at least {least} bytes, not {bytes}: ask for more");
        return Err(usage(py, &error));
    }
    Ok(settings)
}

/// The algorithm by which a key encrypts: the one asked for, or that of its type.
fn using(py: Python<'_>, key: &KeyName, kind: &str, mode: Option<&str>) -> PyResult<Using> {
    let kind: KeyType = kind.parse().map_err(|why: String| usage(py, &why))?;
    let asked = mode.map(str::parse).transpose().map_err(|why: String| usage(py, &why))?;
    Using::choose(asked, key, kind).map_err(|failure| of_command(py, &failure))
}

/// The associated data for an algorithm: none where it takes none.
fn associated(py: Python<'_>, using: Using, given: Option<Bound<'_, PyAny>>) -> PyResult<Option<Vec<u8>>> {
    let given =
        given.map(|given| Lent::of(&given, "associated")).transpose()?.map(|lent| lent.copy().to_vec());
    match using {
        Using::Gcm => Ok(Some(given.unwrap_or_default())),
        Using::Mode(divisi_node::Mode::Siv) => Ok(given),
        _ if given.as_ref().is_none_or(Vec::is_empty) => Ok(None),
        using => {
            let error = format!("{} takes no associated data: leave it out", using.name());
            Err(usage(py, &error))
        }
    }
}

/// A key, its algorithm and the associated data, as Python gives them.
fn cipher(
    py: Python<'_>,
    told: &Told,
    mode: Option<&str>,
    associated: Option<Bound<'_, PyAny>>,
) -> PyResult<(Handle, Using, Option<Vec<u8>>)> {
    let key = handle(py, told)?;
    let using = using(py, &key.name, &told.2, mode)?;
    let associated = self::associated(py, using, associated)?;
    Ok((key, using, associated))
}

#[pymethods]
impl Work {
    #[staticmethod]
    #[pyo3(signature = (key, mode, associated))]
    fn encrypt(
        py: Python<'_>,
        key: Told,
        mode: Option<&str>,
        associated: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Work> {
        let (key, using, associated) = cipher(py, &key, mode, associated)?;
        Ok(Work(Arc::new(Asked::Encrypt(key, using, associated))))
    }

    #[staticmethod]
    #[pyo3(signature = (key, mode, associated))]
    fn decrypt(
        py: Python<'_>,
        key: Told,
        mode: Option<&str>,
        associated: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Work> {
        let (key, using, associated) = cipher(py, &key, mode, associated)?;
        Ok(Work(Arc::new(Asked::Decrypt(key, using, associated))))
    }

    #[staticmethod]
    #[pyo3(signature = (algorithm, customization, function, output_bytes))]
    fn hash(
        py: Python<'_>,
        algorithm: &str,
        customization: Vec<u8>,
        function: Vec<u8>,
        output_bytes: Option<usize>,
    ) -> PyResult<Work> {
        let algorithm = self::algorithm(py, algorithm)?;
        if algorithm.is_mac() {
            return Err(usage(py, &format!("{algorithm} needs a key: call mac with a key of this type")));
        }
        let settings = settings(py, algorithm, customization, function, output_bytes, false)?;
        Ok(Work(Arc::new(Asked::Hash(settings))))
    }

    #[staticmethod]
    #[pyo3(signature = (key, customization, output_bytes, xof))]
    fn mac(
        py: Python<'_>,
        key: Told,
        customization: Vec<u8>,
        output_bytes: Option<usize>,
        xof: bool,
    ) -> PyResult<Work> {
        let (key, kind) = (handle(py, &key)?, key.2);
        let settings = of_key(py, &key.name, &kind, customization, output_bytes, xof)?;
        Ok(Work(Arc::new(Asked::Mac(key, settings))))
    }

    #[staticmethod]
    #[pyo3(signature = (key, tag, customization, xof))]
    fn verify(
        py: Python<'_>,
        key: Told,
        tag: Bound<'_, PyAny>,
        customization: Vec<u8>,
        xof: bool,
    ) -> PyResult<Work> {
        let (key, kind) = (handle(py, &key)?, key.2);
        let tag = Lent::of(&tag, "tag")?.copy();
        let default = of_key(py, &key.name, &kind, Vec::new(), None, false)?;
        let (nonce, tag) = tag.split_at_checked(default.algorithm.nonce_bytes()).unwrap_or((&[], &tag));
        // a tag may be shorter or longer than the default where the algorithm has it so
        let settings = of_key(py, &key.name, &kind, customization, Some(tag.len()), xof)?;
        let nonce = <[u8; NONCE]>::try_from(nonce).ok();
        Ok(Work(Arc::new(Asked::Verify(key, settings, nonce, tag.to_vec()))))
    }
}

impl Asked {
    /// The length of the result for data of this length, if it is known before.
    pub fn output_bytes(&self, data: usize) -> Option<usize> {
        let overhead = OVERHEAD as usize;
        match self {
            Asked::Encrypt(_, Using::Gcm, _) => data.checked_add(overhead),
            Asked::Decrypt(_, Using::Gcm, _) => Some(data.saturating_sub(overhead)),
            _ => None,
        }
    }

    /// The key that is meant, if one is.
    fn key(&self) -> Option<&Handle> {
        match self {
            Asked::Hash(_) => None,
            Asked::Encrypt(key, ..)
            | Asked::Decrypt(key, ..)
            | Asked::Mac(key, _)
            | Asked::Verify(key, ..) => Some(key),
        }
    }

    /// Make the request. The result of a comparison of tags is one byte: 1 if all three servers say that the
    /// tag is right, 0 if all three say that it is not.
    pub fn run(&self, client: &mut Client, data: &Lent, out: &mut dyn Write) -> Result<(), Error> {
        let (length, silent) = (data.len() as u64, &mut |_: u64| {});
        let mut input = data.reader();
        client.expect_key(self.key().map(|key| key.id));
        match self {
            Asked::Encrypt(key, Using::Gcm, aad) => {
                client.encrypt(&key.name, aad.as_deref().unwrap_or_default(), &mut input, length, out, silent)
            }
            Asked::Decrypt(key, Using::Gcm, aad) => {
                client.decrypt(&key.name, aad.as_deref().unwrap_or_default(), &mut input, length, out, silent)
            }
            Asked::Encrypt(key, Using::Mode(mode), aad) => {
                let mut text = data.copy();
                if *mode == divisi_node::Mode::Cbc {
                    text = Zeroizing::new(padding::add(&text, BLOCK));
                }
                written(out, &client.encrypt_in_mode(&key.name, *mode, aad.as_deref(), &text, silent)?)
            }
            Asked::Decrypt(key, Using::Mode(mode), aad) => {
                let text = client.decrypt_in_mode(&key.name, *mode, aad.as_deref(), &data.copy(), silent)?;
                if *mode != divisi_node::Mode::Cbc {
                    return written(out, &text);
                }
                let text = padding::remove(&text, BLOCK).map(Zeroizing::new).ok_or_else(|| {
                    let what =
                        "the decrypted message has no valid padding: it is no CBC ciphertext of this key";
                    error(ErrorKind::Mismatch, what)
                })?;
                written(out, &text)
            }
            Asked::Hash(settings) => written(out, &client.hash(settings, &mut input, length, silent)?),
            Asked::Mac(key, settings) => {
                let made = client.mac(&key.name, settings, &mut input, length, silent)?;
                written(out, made.nonce.as_ref().map_or(&[], |nonce| &nonce[..]))?;
                written(out, &made.tag)
            }
            Asked::Verify(key, settings, nonce, tag) => {
                let said = client.mac_verify(&key.name, settings, *nonce, tag, &mut input, length, silent);
                match said {
                    Ok(_) => written(out, &[1]),
                    Err(error) if error.kind == ErrorKind::Mismatch && error.by_all => written(out, &[0]),
                    Err(error) => Err(error),
                }
            }
            Asked::Encrypt(..) | Asked::Decrypt(..) => {
                Err(error(ErrorKind::Usage, "this version does not know the algorithm: use a newer one"))
            }
        }
    }
}

fn written(out: &mut dyn Write, bytes: &[u8]) -> Result<(), Error> {
    out.write_all(bytes)
        .map_err(|_| error(ErrorKind::Usage, "the result is longer than its place: report this"))
}

fn error(kind: ErrorKind, message: &str) -> Error {
    let step = "divisi_python::work/result".into();
    Error { kind, retry: false, peer: None, by_all: false, step, message: message.into() }
}

//! TLS for addresses that other machines reach. The files are read again when they change.

use super::certificate;
use crate::config::TlsFiles;
use crate::files::{Readers, read};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(test)]
mod tests;

/// When the two files were last changed.
type Stamp = [Option<SystemTime>; 2];

/// The certificate in use.
pub struct Certificates {
    files: TlsFiles,
    state: Mutex<(Arc<ServerConfig>, Stamp)>,
}

impl Certificates {
    /// Read the files.
    ///
    /// # Errors
    /// One sentence, also if the certificate is not valid today.
    pub fn load(files: &TlsFiles) -> Result<Certificates, String> {
        let stamp = stamp(files);
        let state = Mutex::new((config(files)?, stamp));
        Ok(Certificates { files: files.clone(), state })
    }

    /// What the next connection uses.
    #[must_use]
    pub fn current(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.state.lock().unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Read the files again if they have changed; whether they had.
    ///
    /// # Errors
    /// One sentence: the old certificate stays in use. The files are looked at again once they change.
    pub fn renew(&self) -> Result<bool, String> {
        let fresh = stamp(&self.files);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.1 == fresh {
            return Ok(false);
        }
        state.1 = fresh;
        state.0 = config(&self.files)?;
        Ok(true)
    }
}

fn stamp(files: &TlsFiles) -> Stamp {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
    [changed(&files.certificate), changed(&files.key)]
}

fn config(files: &TlsFiles) -> Result<Arc<ServerConfig>, String> {
    let shown = files.certificate.display();
    let pem = read(&files.certificate, "the certificate", Readers::All)?;
    let chain = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|e| format!("the certificate {shown} is no PEM ({e})"))?;
    let own = chain.first().ok_or_else(|| format!("{shown} has no certificate in PEM in it"))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    match certificate::validity(own) {
        None => return Err(format!("the certificate {shown} is damaged: its dates cannot be read")),
        Some(dates) if now > dates.end => {
            return Err(format!("the certificate {shown} has expired: give one that is valid"));
        }
        Some(dates) if now < dates.start => {
            return Err(format!(
                "the certificate {shown} is not valid yet: check the clock, or give another one"
            ));
        }
        Some(_) => {}
    }
    let pem = read(&files.key, "the private key", Readers::Owner)?;
    let key = PrivateKeyDer::from_pem_slice(&pem)
        .map_err(|e| format!("the private key {} is no PEM ({e})", files.key.display()))?;
    let failed = |e: rustls::Error| format!("the certificate {shown} and its key cannot be used ({e})");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(failed)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

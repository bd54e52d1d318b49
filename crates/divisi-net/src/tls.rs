//! TLS 1.3 with raw public keys (RFC 7250) at both ends: no certificate exists, the key itself is pinned.
//!
//! No resumption, no tickets, no early data: every connection is a full mutual handshake (check M0.1). The
//! key exchange prefers the hybrid of X25519 and ML-KEM-768.

use crate::World;
use crate::identity::{Fingerprint, Identity, PublicKey};
use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, IpAddr, Ipv4Addr, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;
use rustls::{
    CertificateError, CipherSuite, ClientConfig, ClientConnection, DigitallySignedStruct, DistinguishedName,
    Error, PeerMisbehaved, ServerConfig, ServerConnection, SignatureScheme,
};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The protocol's name in the handshake.
const ALPN: &[u8] = b"divisi/1";
/// The label under which link secrets are exported (RFC 5705).
pub(crate) const EXPORTER: &[u8] = b"EXPORTER-divisi-link-1";

/// Which identities a handshake accepts.
pub(crate) type Accept = Box<dyn Fn(Fingerprint) -> bool + Send + Sync>;

/// Accepts an Ed25519 key that is pinned, and nothing else.
struct Pinned {
    accept: Accept,
    /// The identity that the peer presented, accepted or not.
    seen: Arc<OnceLock<Fingerprint>>,
    provider: Arc<CryptoProvider>,
}

impl fmt::Debug for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pinned")
    }
}

impl Pinned {
    fn check(&self, spki: &CertificateDer<'_>, more: &[CertificateDer<'_>]) -> Result<(), Error> {
        let Some(key) = PublicKey::from_spki(spki).filter(|_| more.is_empty()) else {
            return Err(CertificateError::BadEncoding.into());
        };
        let fingerprint = key.fingerprint();
        // A handshake presents one key.
        let _ = self.seen.set(fingerprint);
        if (self.accept)(fingerprint) {
            Ok(())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn signature(
        &self,
        message: &[u8],
        spki: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let spki = SubjectPublicKeyInfoDer::from(spki.as_ref());
        verify_tls13_signature_with_raw_key(
            message,
            &spki,
            dss,
            &self.provider.signature_verification_algorithms,
        )
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity, intermediates).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity, intermediates).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// Gives TLS the world's clock.
struct Clock(Arc<dyn World>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(self.0.unix_time()))
    }
}

fn provider() -> Arc<CryptoProvider> {
    let mut provider = aws_lc_rs::default_provider();
    // 128-bit keys, the project's security level, are the fastest: first choice.
    provider.cipher_suites.sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    Arc::new(provider)
}

fn certified(identity: &Identity) -> Result<Arc<CertifiedKey>, Error> {
    let key = aws_lc_rs::sign::any_eddsa_type(&identity.pkcs8())?;
    Ok(Arc::new(CertifiedKey::new(vec![CertificateDer::from(identity.public().spki())], key)))
}

/// One end of a connection that is about to shake hands, and the place where the peer's identity will appear.
pub(crate) struct Begun {
    pub tls: rustls::Connection,
    pub seen: Arc<OnceLock<Fingerprint>>,
}

/// The dialling end.
pub(crate) fn dialler(identity: &Identity, accept: Accept, world: &Arc<dyn World>) -> Result<Begun, Error> {
    let provider = provider();
    let seen: Arc<OnceLock<Fingerprint>> = Arc::default();
    let pinned = Arc::new(Pinned { accept, seen: seen.clone(), provider: provider.clone() });
    let mut config = ClientConfig::builder_with_details(provider, Arc::new(Clock(world.clone())))
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(pinned)
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(certified(identity)?)));
    config.resumption = rustls::client::Resumption::disabled();
    config.enable_sni = false;
    config.enable_early_data = false;
    config.alpn_protocols = vec![ALPN.to_vec()];
    // The pin, not the name, says who the peer is.
    let name = ServerName::IpAddress(IpAddr::V4(Ipv4Addr::from([0, 0, 0, 0])));
    Ok(Begun { tls: ClientConnection::new(Arc::new(config), name)?.into(), seen })
}

/// The accepting end.
pub(crate) fn acceptor(identity: &Identity, accept: Accept, world: &Arc<dyn World>) -> Result<Begun, Error> {
    let provider = provider();
    let seen: Arc<OnceLock<Fingerprint>> = Arc::default();
    let pinned = Arc::new(Pinned { accept, seen: seen.clone(), provider: provider.clone() });
    let mut config = ServerConfig::builder_with_details(provider, Arc::new(Clock(world.clone())))
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(pinned)
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(certified(identity)?)));
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config.max_early_data_size = 0;
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(Begun { tls: ServerConnection::new(Arc::new(config))?.into(), seen })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::world::Machine;
    use rustls::{Connection, HandshakeKind, NamedGroup, ProtocolVersion};

    /// Hands all that one end has to say to the other.
    fn pass(from: &mut Connection, to: &mut Connection) -> Result<(), Error> {
        let mut words = Vec::new();
        while from.wants_write() {
            from.write_tls(&mut words).unwrap();
        }
        let mut words = &words[..];
        while !words.is_empty() {
            to.read_tls(&mut words).unwrap();
            to.process_new_packets()?;
        }
        Ok(())
    }

    fn shake([dialling, accepting]: &mut [Connection; 2]) -> Result<(), Error> {
        while dialling.is_handshaking() || accepting.is_handshaking() {
            pass(dialling, accepting)?;
            pass(accepting, dialling)?;
        }
        Ok(())
    }

    /// Both ends agree on TLS 1.3 with the hybrid key exchange. Each handshake is a full one, a later one
    /// between the same two as well, and no ticket is sent.
    #[test]
    fn each_handshake_is_full_and_hybrid() {
        let world: Arc<dyn World> = Arc::new(Machine);
        let [one, two] = [0, 1].map(|_| Identity::generate(&Machine));
        for _ in 0..2 {
            let begun =
                [dialler(&one, Box::new(|_| true), &world), acceptor(&two, Box::new(|_| true), &world)];
            let mut ends = begun.map(|end| end.unwrap().tls);
            shake(&mut ends).unwrap();
            for end in &ends {
                let group = end.negotiated_key_exchange_group().map(|group| group.name());
                assert_eq!(group, Some(NamedGroup::X25519MLKEM768));
                assert_eq!(end.handshake_kind(), Some(HandshakeKind::Full));
                assert_eq!(end.protocol_version(), Some(ProtocolVersion::TLSv1_3));
                assert_eq!(end.alpn_protocol(), Some(ALPN));
                if let Connection::Client(client) = end {
                    assert_eq!(client.tls13_tickets_received(), 0);
                }
            }
        }
    }

    /// A pinned key is public: whoever shows it and does not have its other half is refused, at both ends.
    #[test]
    fn who_shows_a_key_proves_that_it_has_it() {
        let world: Arc<dyn World> = Arc::new(Machine);
        let [own, pinned, other] = [0; 3].map(|_| Identity::generate(&Machine));
        let accept = |key: &Identity| -> Accept {
            let key = key.fingerprint();
            Box::new(move |shown| shown == key)
        };
        for (has, is_true) in [(&pinned, true), (&other, false)] {
            let shown = || {
                let key = aws_lc_rs::sign::any_eddsa_type(&has.pkcs8()).unwrap();
                let shown = CertificateDer::from(pinned.public().spki());
                Arc::new(CertifiedKey::new(vec![shown], key))
            };
            let knows = || {
                let (accept, seen) = (accept(&own), Arc::default());
                Arc::new(Pinned { accept, seen, provider: provider() })
            };
            let dialling = ClientConfig::builder_with_provider(provider())
                .with_protocol_versions(&[&TLS13])
                .unwrap()
                .dangerous()
                .with_custom_certificate_verifier(knows())
                .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(shown())));
            let name = ServerName::IpAddress(IpAddr::V4(Ipv4Addr::from([0, 0, 0, 0])));
            let dialling = ClientConnection::new(Arc::new(dialling), name).unwrap().into();
            let accepting = ServerConfig::builder_with_provider(provider())
                .with_protocol_versions(&[&TLS13])
                .unwrap()
                .with_client_cert_verifier(knows())
                .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(shown())));
            let accepting = ServerConnection::new(Arc::new(accepting)).unwrap().into();
            let pairs = [
                [dialling, acceptor(&own, accept(&pinned), &world).unwrap().tls],
                [dialler(&own, accept(&pinned), &world).unwrap().tls, accepting],
            ];
            for mut ends in pairs {
                assert_eq!(shake(&mut ends).is_ok(), is_true);
            }
        }
    }

    /// Whoever shows more than one key shows none, also if the first of them is pinned.
    #[test]
    fn one_key_is_shown_and_no_more() {
        let key = CertificateDer::from(Identity::generate(&Machine).public().spki());
        let pinned = Pinned { accept: Box::new(|_| true), seen: Arc::default(), provider: provider() };
        for more in 0..3 {
            let shown = vec![key.clone(); more];
            assert_eq!(pinned.check(&key, &shown).is_ok(), more == 0);
        }
    }
}

//! TLS 1.3 between the two ends, with real keys and real signatures.
//!
//! No length depends on what is drawn: the key exchange is X25519 and the cipher AES-128-GCM alone,
//! the server proves itself by a raw public key (RFC 7250) of Ed25519, whose signatures have 64
//! bytes, and there are no tickets.

use crate::clock::NoCalendar;
use noq_proto::TransportConfig;
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::crypto::{CryptoError, HandshakeTokenKey};
use ring::signature::{Ed25519KeyPair, KeyPair};
use rustls::SignatureScheme;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring as provider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer,
    UnixTime,
};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::{DigitallySignedStruct, DistinguishedName, Error, PeerMisbehaved};
use std::sync::{Arc, LazyLock};

/// The name of the server.
pub(crate) const SERVER: &str = "server.test";

/// The server's secret. It is public, as the server exists in the laboratory alone.
const SECRET: [u8; 32] = *b"the server of every simulation  ";

/// What is before the 32 bytes of a private key of Ed25519 (RFC 8410 §7).
const PRIVATE: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// What is before the 32 bytes of a public key of Ed25519 (RFC 8410 §4).
const PUBLIC: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

/// Both sides' configuration; made once, because it does not depend on the connection.
static CONFIGS: LazyLock<(Arc<QuicClientConfig>, Arc<QuicServerConfig>)> = LazyLock::new(|| {
    let made = client().and_then(|client| Ok((client, server()?)));
    let (client, server) = made.expect("the key and the cipher are right");
    (Arc::new(client), Arc::new(server))
});

/// TLS of a client, over `transport`.
pub(crate) fn client_config() -> noq_proto::ClientConfig {
    noq_proto::ClientConfig::new(CONFIGS.0.clone())
}

/// TLS of a server, over `transport`.
pub(crate) fn server_config(transport: Arc<TransportConfig>) -> noq_proto::ServerConfig {
    let mut config = noq_proto::ServerConfig::new(CONFIGS.1.clone(), Arc::new(NoTokens));
    config.transport_config(transport).time_source(Arc::new(NoCalendar));
    config
}

/// The cipher and the key exchange whose lengths are constant.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![provider::cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![provider::kx_group::X25519],
        ..provider::default_provider()
    })
}

fn public_key() -> Result<Vec<u8>, Error> {
    let pair = Ed25519KeyPair::from_seed_unchecked(&SECRET);
    let pair = pair.map_err(|error| Error::General(error.to_string()))?;
    Ok([&PUBLIC, pair.public_key().as_ref()].concat())
}

fn client() -> Result<QuicClientConfig, Error> {
    let verifier = Arc::new(OneKey { key: public_key()?, provider: provider() });
    let mut config = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    QuicClientConfig::try_from(config).map_err(|error| Error::General(error.to_string()))
}

fn server() -> Result<QuicServerConfig, Error> {
    let secret = PrivatePkcs8KeyDer::from([&PRIVATE[..], &SECRET].concat());
    let key = provider().key_provider.load_private_key(PrivateKeyDer::Pkcs8(secret))?;
    let certified = CertifiedKey::new(vec![CertificateDer::from(public_key()?)], key);
    let keys = AlwaysResolvesServerRawPublicKeys::new(Arc::new(certified));
    let mut config = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(keys));
    config.send_tls13_tickets = 0;
    QuicServerConfig::try_from(config).map_err(|error| Error::General(error.to_string()))
}

/// A client's trust in one key.
#[derive(Debug)]
struct OneKey {
    key: Vec<u8>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OneKey {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match **end_entity == *self.key {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(Error::General("the key is not the server's".into())),
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme.into()) // QUIC is TLS 1.3
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let schemes = &self.provider.signature_verification_algorithms;
        let key = SubjectPublicKeyInfoDer::from(cert.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, dss, schemes)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        None
    }
}

/// The server gives no tokens: it never asks a client to come again, and no client does.
struct NoTokens;

impl HandshakeTokenKey for NoTokens {
    fn seal(&self, _nonce: u128, _data: &mut Vec<u8>) -> Result<(), CryptoError> {
        Err(CryptoError)
    }

    fn open<'a>(&self, _nonce: u128, _data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        Err(CryptoError)
    }
}

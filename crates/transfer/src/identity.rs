//! The server's certificate, and how a client knows it.
//!
//! A server signs its own certificate at its first start and keeps it. A client is told the SHA-256
//! digest of the certificate by another way and accepts no other one: no authority is asked.

use crate::Error;
use noq::rustls;
use rustls::DigitallySignedStruct;
use rustls::SignatureScheme;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Name in the certificate; clients know a server by its fingerprint, not by a name.
pub(crate) const SERVER_NAME: &str = "anabranch";

const CERTIFICATE: &str = "certificate.der";
const KEY: &str = "key.der";

/// A certificate and its key.
#[derive(Debug)]
pub struct Identity {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Identity {
    /// The identity that is kept in `folder`, made if there is none.
    ///
    /// # Errors
    /// [`Error::Failed`] if the folder cannot be read or written, or has one file of the two.
    pub fn kept_in(folder: &Path) -> Result<Self, Error> {
        let (certificate, key) = (folder.join(CERTIFICATE), folder.join(KEY));
        if !certificate.exists() && !key.exists() {
            let made = Self::new()?;
            fs::create_dir_all(folder).map_err(|e| Error::failed(folder.display(), e))?;
            // The key first: a certificate alone would be an identity that nobody can prove.
            write_private(&key, &made.key)?;
            fs::write(&certificate, &made.certificate)
                .map_err(|e| Error::failed(certificate.display(), e))?;
            return Ok(made);
        }
        let read = |file: &Path| fs::read(file).map_err(|e| Error::failed(file.display(), e));
        Ok(Self { certificate: read(&certificate)?, key: read(&key)? })
    }

    /// A new one that is kept nowhere.
    ///
    /// # Errors
    /// [`Error::Failed`] if the system has no randomness.
    pub fn new() -> Result<Self, Error> {
        let made = rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()])
            .map_err(|e| Error::failed("a certificate was not made", e))?;
        Ok(Self { certificate: made.cert.der().to_vec(), key: made.signing_key.serialize_der() })
    }

    /// SHA-256 of the certificate in 64 hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        hex(&Sha256::digest(&self.certificate))
    }

    /// TLS of a server with this identity.
    pub(crate) fn server(&self, protocol: &[u8]) -> Result<rustls::ServerConfig, Error> {
        let wrong = |e: rustls::Error| Error::failed("the certificate cannot be used", e);
        let chain = vec![CertificateDer::from(self.certificate.clone())];
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.key.clone()));
        let mut made = rustls::ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(wrong)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(wrong)?;
        made.alpn_protocols = vec![protocol.to_vec()];
        Ok(made)
    }
}

#[cfg(unix)]
fn write_private(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    use std::os::unix::fs::OpenOptionsExt;
    let failed = |e| Error::failed(file.display(), e);
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut out| out.write_all(bytes))
        .map_err(failed)
}

#[cfg(not(unix))]
fn write_private(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(file, bytes).map_err(|e| Error::failed(file.display(), e))
}

/// Which server a client accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// The one whose certificate has this SHA-256 digest.
    Fingerprint([u8; 32]),
    /// Any: whoever answers can read and change what is transferred.
    Anybody,
}

impl Trust {
    /// Reads a fingerprint: 64 hexadecimal digits, with or without colons.
    ///
    /// # Errors
    /// [`Error::Wrong`] for any other text.
    pub fn fingerprint(text: &str) -> Result<Self, Error> {
        let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b':').collect();
        let wrong = || {
            let rule = "a fingerprint is the 64 hexadecimal digits that the server prints";
            Error::wrong("fingerprint", format!("{text:?} is none; {rule}"))
        };
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(wrong());
        }
        let mut digest = [0; 32];
        for (byte, pair) in digest.iter_mut().zip(digits.chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Self::Fingerprint(digest))
    }
}

/// TLS of a client; the second is where the fingerprint that the server showed is found.
pub(crate) fn client(
    trust: &Trust,
    protocol: &[u8],
) -> Result<(rustls::ClientConfig, Arc<Pin>), Error> {
    let pin = Arc::new(Pin { trust: trust.clone(), provider: provider(), shown: Mutex::default() });
    let mut made = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|e| Error::failed("TLS 1.3 cannot be used", e))?
        .dangerous()
        .with_custom_certificate_verifier(pin.clone())
        .with_no_client_auth();
    made.alpn_protocols = vec![protocol.to_vec()];
    Ok((made, pin))
}

/// Accepts one certificate by its digest, and checks that the server has its key.
#[derive(Debug)]
pub(crate) struct Pin {
    trust: Trust,
    provider: Arc<CryptoProvider>,
    shown: Mutex<Option<String>>,
}

impl Pin {
    /// Fingerprint of the server that answered last.
    pub(crate) fn shown(&self) -> Option<String> {
        self.shown.lock().expect("no holder panics").clone()
    }

    /// Whether the server that answered is another one than the trusted one.
    pub(crate) fn refused(&self) -> Option<String> {
        let shown = self.shown()?;
        match &self.trust {
            Trust::Fingerprint(digest) if hex(digest) != shown => Some(shown),
            _ => None,
        }
    }
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let digest: [u8; 32] = Sha256::digest(end_entity).into();
        *self.shown.lock().expect("no holder panics") = Some(hex(&digest));
        match self.trust {
            Trust::Fingerprint(wanted) if wanted != digest => {
                Err(rustls::Error::General("the certificate has another fingerprint".to_owned()))
            }
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_with_colons_and_in_capitals() {
        let plain = "0a".repeat(32);
        let colons = vec!["0A"; 32].join(":");
        assert_eq!(Trust::fingerprint(&plain), Trust::fingerprint(&colons));
        assert_eq!(Trust::fingerprint(&plain), Ok(Trust::Fingerprint([10; 32])));
    }

    #[test]
    fn what_is_no_fingerprint_is_refused_by_name() {
        for text in ["", "0a", &"0g".repeat(32), &"0a".repeat(33), &"é".repeat(32)] {
            let error = Trust::fingerprint(text).expect_err("it is no fingerprint");
            assert!(error.to_string().starts_with("fingerprint: "), "{error}");
        }
    }
}

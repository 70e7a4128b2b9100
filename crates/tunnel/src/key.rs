//! Files with keys: a secret key in a file of its own, public keys one a line.

use crate::Error;
use courier::{PublicKey, SecretKey};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Bits of permission that others must not have on a secret.
const OTHERS: u32 = 0o077;

/// Fills `bytes` with what the operating system's generator gives.
pub(crate) fn random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system has random numbers");
}

/// Makes a secret key in a new file that its owner alone can read; returns its public key.
///
/// # Errors
/// The file exists, or cannot be written.
pub fn new_key(file: &Path) -> Result<String, Error> {
    let secret = SecretKey::new(&mut random);
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let written = opened.and_then(|mut to| writeln!(to, "{}", secret.reveal()));
    written.map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => {
            let why = format!("{} exists already; give another file", file.display());
            Error::wrong("file", why)
        }
        _ => Error::wrong("file", format!("{} cannot be written: {e}", file.display())),
    })?;
    Ok(secret.public().to_string())
}

/// The secret key in a file.
pub(crate) fn secret(file: &Path) -> Result<SecretKey, Error> {
    let wrong = |why: String| Error::wrong("key", format!("{}: {why}", file.display()));
    let help = "`anabranch tunnel key FILE` makes one";
    let text = fs::read_to_string(file).map_err(|e| wrong(format!("{e}; {help}")))?;
    let mode = fs::metadata(file).map_err(|e| wrong(e.to_string()))?.mode();
    if mode & OTHERS != 0 {
        let mode = mode & 0o777;
        return Err(wrong(format!("others can read it (mode {mode:o}); chmod 600 it")));
    }
    text.parse().map_err(|e| wrong(format!("{e}; {help}")))
}

/// The public key of the secret key in a file.
///
/// # Errors
/// The file cannot be read, has no key, or others can read it.
pub fn public_key(file: &Path) -> Result<String, Error> {
    Ok(secret(file)?.public().to_string())
}

/// The public key in a text.
pub(crate) fn public(field: &'static str, text: &str) -> Result<PublicKey, Error> {
    text.parse().map_err(|e| Error::wrong(field, format!("{e}")))
}

/// Public keys in a file: one a line, with a remark after it; `#` begins a comment.
///
/// # Errors
/// The file cannot be read, or a line has no key.
pub fn peers(file: &Path) -> Result<Vec<PublicKey>, Error> {
    let wrong = |why: String| Error::wrong("peers", format!("{}: {why}", file.display()));
    let text = fs::read_to_string(file).map_err(|e| wrong(e.to_string()))?;
    let lines = text.lines().enumerate();
    let keys = lines.filter_map(|(at, line)| {
        let word = line.split('#').next()?.split_whitespace().next()?;
        Some(word.parse().map_err(|e| wrong(format!("line {}: {e}", at + 1))))
    });
    let keys: Vec<PublicKey> = keys.collect::<Result<_, _>>()?;
    match keys.is_empty() {
        true => Err(wrong("it has no key; `anabranch tunnel key` prints that of a host".into())),
        false => Ok(keys),
    }
}

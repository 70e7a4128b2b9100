//! Where the bytes go: a file beside its place, moved there when it is whole.

use crate::Error;
use crate::serve::hash_of;
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Bytes that are written to the file at once.
const BUFFER: usize = 1 << 20;

/// A file that grows, and its hash.
#[derive(Debug)]
pub(crate) struct Output {
    hash: Sha256,
    /// Bytes that were there before this transfer.
    pub(crate) offset: u64,
    file: Option<Part>,
}

#[derive(Debug)]
struct Part {
    out: BufWriter<File>,
    part: PathBuf,
    place: PathBuf,
}

/// The file beside `place` that holds what has come so far.
pub(crate) fn part_of(place: &Path) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    place.with_file_name(name)
}

impl Output {
    /// Opens the part beside `place`; with no place, what comes is hashed and thrown away.
    pub(crate) fn open(place: Option<&Path>, resume: bool) -> Result<Self, Error> {
        let Some(place) = place else {
            return Ok(Self { hash: Sha256::new(), offset: 0, file: None });
        };
        let part = part_of(place);
        let wrong =
            |e| Error::wrong("output", format!("{} cannot be written: {e}", part.display()));
        if place.is_dir() {
            let why = format!("{} is a directory; give the name of a file", place.display());
            return Err(Error::wrong("output", why));
        }
        let there = part.exists();
        if there && !resume {
            let text = format!(
                "{} is left of another transfer: continue it with --continue, or remove it",
                part.display()
            );
            return Err(Error::wrong("output", text));
        }
        let offset = if there { fs::metadata(&part).map_err(wrong)?.len() } else { 0 };
        let hash = if there { hash_of(&part, offset).map_err(wrong)? } else { Sha256::new() };
        let opened = OpenOptions::new().append(true).create(true).open(&part);
        let out = BufWriter::with_capacity(BUFFER, opened.map_err(wrong)?);
        let place = place.to_owned();
        Ok(Self { hash, offset, file: Some(Part { out, part, place }) })
    }

    /// Digest of what is there.
    pub(crate) fn digest(&self) -> String {
        crate::identity::hex(&self.hash.clone().finalize())
    }

    /// Adds bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.hash.update(bytes);
        if let Some(file) = &mut self.file {
            file.out.write_all(bytes).map_err(|e| Error::failed(file.part.display(), e))?;
        }
        Ok(())
    }

    /// Keeps what there is for a later transfer; removes a part without a byte.
    pub(crate) fn keep(mut self, received: u64) -> Result<Option<PathBuf>, Error> {
        let Some(file) = &mut self.file else { return Ok(None) };
        file.out.flush().map_err(|e| Error::failed(file.part.display(), e))?;
        if self.offset + received == 0 {
            // An empty part is of no use; it may stay.
            let _ = fs::remove_file(&file.part);
            return Ok(None);
        }
        Ok(Some(file.part.clone()))
    }

    /// Moves the whole file to its place.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let Some(Part { mut out, part, place }) = self.file else { return Ok(()) };
        let moved = out
            .flush()
            .and_then(|()| out.get_ref().sync_all())
            .and_then(|()| fs::rename(&part, &place));
        moved.map_err(|e| Error::failed(place.display(), e))
    }

    /// Removes what turned out to be wrong.
    pub(crate) fn remove(self) {
        if let Some(file) = self.file {
            // It is wrong wherever it is; the error of the transfer names it.
            let _ = fs::remove_file(file.part);
        }
    }
}

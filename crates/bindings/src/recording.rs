//! Files written during a run. A write error does not end the run.

use pyo3::PyErr;
use pyo3::exceptions::PyOSError;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A file of a run, and its state.
#[derive(Clone)]
pub(crate) struct Written {
    path: PathBuf,
    failure: Arc<Mutex<Option<io::Error>>>,
}

/// The writer of a run; nothing is written after a failure.
struct Out {
    file: BufWriter<File>,
    written: Written,
}

/// A new file, and its writer.
pub(crate) type Opened = (Written, Box<dyn Write + Send>);

/// Creates a file to write to.
pub(crate) fn open(path: Option<PathBuf>) -> io::Result<Option<Opened>> {
    path.map(|path| {
        let file = BufWriter::new(File::create(&path)?);
        let written = Written { path, failure: Arc::default() };
        let out = Out { file, written: written.clone() };
        Ok((written, Box::new(out) as Box<_>))
    })
    .transpose()
}

impl Written {
    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The first write error, with the system's number and text; a second call returns `None`.
    pub(crate) fn failure(&self) -> Option<PyErr> {
        let error = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let text = error.to_string();
        Some(match (error.raw_os_error(), text.split_once(" (os error")) {
            (Some(number), Some((text, _))) => PyOSError::new_err((number, text.to_owned())),
            _ => error.into(),
        })
    }
}

impl Out {
    /// The result of the file, or `instead` once it has failed.
    fn ask<T>(&mut self, instead: T, ask: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>) -> T {
        let mut failure = self.written.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_some() {
            return instead;
        }
        ask(&mut self.file).unwrap_or_else(|error| {
            *failure = Some(error);
            instead
        })
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.ask(bytes.len(), |file| file.write(bytes)))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.ask((), Write::flush);
        Ok(())
    }
}

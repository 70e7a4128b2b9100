//! Which file a name is. No name leads out of what is served.

use crate::Error;
use std::path::{Component, Path, PathBuf};

/// A file, or a directory with all below it.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    root: PathBuf,
    is_file: bool,
}

impl Shelf {
    /// What is at `root`.
    pub(crate) fn new(root: &Path) -> Result<Self, Error> {
        let shown = root.display();
        let root = root
            .canonicalize()
            .map_err(|e| Error::wrong("root", format!("{shown} cannot be served: {e}")))?;
        let is_file = root.is_file();
        if !is_file && !root.is_dir() {
            let why = format!("{shown} is neither a file nor a directory");
            return Err(Error::wrong("root", why));
        }
        Ok(Self { root, is_file })
    }

    /// The regular file of that name. The error says nothing of what is outside.
    pub(crate) fn find(&self, name: &str) -> Result<PathBuf, String> {
        let missing = || format!("there is no file {name:?}");
        if self.is_file {
            let own = self.root.file_name().and_then(|own| own.to_str());
            return if own == Some(name) { Ok(self.root.clone()) } else { Err(missing()) };
        }
        let name_as_path = Path::new(name);
        let inside = |part| matches!(part, Component::Normal(_));
        if name.is_empty() || !name_as_path.components().all(inside) {
            return Err(missing());
        }
        // Where links lead is known after this alone.
        let found = self.root.join(name_as_path).canonicalize();
        match found {
            Ok(file) if file.starts_with(&self.root) && file.is_file() => Ok(file),
            _ => Err(missing()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names_below_the_root_are_found_and_none_outside() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("deep")).unwrap();
        fs::write(folder.path().join("secret"), "s").unwrap();
        fs::write(root.join("a"), "a").unwrap();
        fs::write(root.join("deep/b"), "b").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../secret", root.join("out")).unwrap();
            std::os::unix::fs::symlink("deep/b", root.join("in")).unwrap();
        }
        let shelf = Shelf::new(&root).unwrap();
        for name in ["a", "deep/b", "in"] {
            assert!(shelf.find(name).is_ok(), "{name}");
        }
        let absolute = folder.path().join("secret");
        let outside = ["../secret", "deep/../../secret", "out", "", ".", "deep", "/etc/hostname"];
        for name in outside.into_iter().chain([absolute.to_str().unwrap()]) {
            assert!(shelf.find(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_single_file_has_its_own_name_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "a").unwrap();
        fs::write(folder.path().join("b"), "b").unwrap();
        let shelf = Shelf::new(&folder.path().join("a")).unwrap();
        assert!(shelf.find("a").is_ok());
        assert!(shelf.find("b").is_err());
        assert!(shelf.find("./a").is_err());
    }
}

//! A digest of the sources of runs: builds of the same sources have the same digest.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Folders besides `crates` and files on which a run depends.
const SOURCES: [&str; 4] = ["crates", "bpf/include", "python/anabranch/laws", "Cargo.lock"];

/// Crates that no simulated run uses.
const OTHERS: [&str; 7] = ["kernel", "emulator", "fairness", "loader", "page", "proof", "wasm"];

fn main() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for source in SOURCES {
        println!("cargo:rerun-if-changed={}", root.join(source).display());
        collect(&root, Path::new(source), &mut files);
    }
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64; // FNV-1a
    for file in &files {
        let name = file.to_string_lossy().into_owned().into_bytes();
        let bytes = fs::read(root.join(file)).expect("sources are readable");
        for byte in name.into_iter().chain(bytes) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo:rustc-env=AB_RUN_SOURCES={hash:016x}");
}

/// Collects the sources in a folder, by their paths below `root`; without a folder, none.
fn collect(root: &Path, place: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(root.join(place)) else {
        if root.join(place).is_file() {
            files.push(place.to_owned());
        }
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let own = place.join(&name);
        if entry.path().is_dir() {
            let text = name.to_string_lossy();
            let other = OTHERS.contains(&&*text) && place == Path::new("crates");
            if !other && !["tests", "benches", "examples", "target"].contains(&&*text) {
                collect(root, &own, files);
            }
        } else if own
            .extension()
            .is_some_and(|end| ["rs", "c", "h", "law"].iter().any(|e| end == *e))
        {
            files.push(own);
        }
    }
}

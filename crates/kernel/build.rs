//! Compiles the controllers of `bpf/` with clang; they become part of the library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// FNV-1a over all sources in the order of their names.
fn digest(sources: &Path) -> u64 {
    let mut files: Vec<PathBuf> = [sources.to_owned(), sources.join("include")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("bpf/ is beside crates/").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "c" || end == "h"))
        .collect();
    files.sort();
    let bytes = files.iter().flat_map(|file| fs::read(file).expect("sources are readable"));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn main() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let headers = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys says where BPF's headers are");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    println!("cargo:rerun-if-changed={}", sources.display());
    println!("cargo:rerun-if-env-changed=CLANG");
    println!("cargo:rustc-env=AB_SOURCES={:016x}", digest(&sources));
    for entry in fs::read_dir(&sources).expect("bpf/ is beside crates/").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".bpf.c") else {
            continue;
        };
        let mut command = Command::new(&clang);
        command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"]);
        command.arg("-I").arg(&headers).arg("-c").arg(entry.path());
        command.arg("-o").arg(out.join(stem).with_extension("o"));
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(status) => panic!("{clang} could not compile {name}: {status}"),
            Err(error) => panic!("{clang} compiles the controllers, and it does not run: {error}"),
        }
    }
}

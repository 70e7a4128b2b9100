//! Compiles the controllers of `bpf/` with clang; they become part of the library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let headers = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys says where BPF's headers are");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    println!("cargo:rerun-if-changed={}", sources.display());
    println!("cargo:rerun-if-env-changed=CLANG");
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

//! Compiles the controllers of `bpf/` with clang and embeds them in the library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// FNV-1a over the sources of the controllers, in the order of their names: without comments, and
/// without the read-only iterator and the choice by control group.
fn digest(sources: &Path, laws: &Path) -> u64 {
    let mut files: Vec<PathBuf> = [sources, &sources.join("include"), laws]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("bpf/ is beside crates/").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "c" || end == "h"))
        .filter(|path| !path.ends_with("status.bpf.c") && !path.ends_with("assign.bpf.c"))
        .collect();
    files.sort_by_key(|file| file.file_name().map(ToOwned::to_owned));
    let texts = files.iter().map(|file| fs::read_to_string(file).expect("sources are readable"));
    let bytes = texts.flat_map(|text| words(&text).into_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The words of a C source, separated by one blank.
fn words(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut code = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        code.push(' ');
        code.push_str(part.split_once("*/").map_or("", |(_, rest)| rest));
    }
    code.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// The kernel name of the controller in a glue file; other programs have none.
fn kernel_name(source: &str) -> Option<&str> {
    source.split_once("AB_CONTROLLER(\"")?.1.split_once('"').map(|(name, _)| name)
}

/// Compiles `source` to `object`; the headers of laws are in `laws`.
fn compile(source: &Path, laws: &Path, object: &Path) {
    let headers = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys says where BPF's headers are");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let mut command = Command::new(&clang);
    command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"]);
    command.arg("-I").arg(source.with_file_name("include")).arg("-I").arg(laws);
    // Debug information names no folder of the machine, so that builds are the same anywhere.
    for (folder, name) in
        [(env!("CARGO_MANIFEST_DIR").as_ref(), "kernel"), (laws, "laws"), (headers.as_ref(), "bpf")]
    {
        let folder: &Path = folder;
        command.arg(format!("-ffile-prefix-map={}={name}", folder.display()));
    }
    command.arg("-I").arg(&headers).arg("-c").arg(source).arg("-o").arg(object);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} could not compile {}: {status}", source.display()),
        Err(error) => panic!("{clang} compiles the controllers, and it does not run: {error}"),
    }
}

/// The table of sources for compiling a law at run time: the headers in `bpf/`, and libbpf's.
fn write_sources(sources: &Path, table: &Path) {
    let headers = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys says where BPF's headers are");
    let folders = [
        ("", sources.to_owned()),
        ("include/", sources.join("include")),
        ("bpf/", Path::new(&headers).join("bpf")),
    ];
    let mut rows = Vec::new();
    for (prefix, folder) in folders {
        for entry in fs::read_dir(folder).expect("sources are there").flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if path.extension().is_some_and(|end| end == "h") {
                let name = format!("{prefix}{}", name.to_string_lossy());
                let path = path.canonicalize().expect("sources are there");
                rows.push(format!("({name:?}, include_str!({path:?})),\n"));
            }
        }
    }
    rows.sort();
    fs::write(table, format!("&[\n{}]", rows.concat())).expect("OUT_DIR is writable");
}

fn main() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo:rerun-if-changed={}", sources.display());
    println!("cargo:rerun-if-env-changed=CLANG");
    let laws = env::var("DEP_LAWS_HEADERS").expect("`ports` says where the headers of laws are");
    let laws = Path::new(&laws);
    println!("cargo:rustc-env=AB_SOURCES={:016x}", digest(&sources, laws));
    let layout = env::var("DEP_LAWS_LAYOUT").expect("`ports` says where the layouts are");
    println!("cargo:rustc-env=AB_LAYOUT={layout}");
    write_sources(&sources, &out.join("sources.rs"));
    let mut rows = Vec::new();
    for entry in fs::read_dir(&sources).expect("bpf/ is beside crates/").flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(stem) = file.strip_suffix(".bpf.c") else {
            continue;
        };
        compile(&entry.path(), laws, &out.join(stem).with_extension("o"));
        let text = fs::read_to_string(entry.path()).expect("sources are readable");
        if let Some(name) = kernel_name(&text) {
            rows.push(format!("\"{}\": \"{name}\" \"{stem}\",\n", stem.replace('_', "-")));
        }
    }
    rows.sort();
    let table = format!("programs! {{\n{}}}\n", rows.concat());
    fs::write(out.join("programs.rs"), table).expect("OUT_DIR is writable");
}

//! Builds each law of `bpf/include` natively, with names of its own.

use std::path::PathBuf;
use std::{env, fs};

const LAWS: [&str; 7] = ["lia", "olia", "balia", "ewtcp", "semicoupled", "fully_coupled", "reno"];

fn main() {
    let include = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../bpf/include");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut build = cc::Build::new();
    build.include(&include).include("src").flag("-std=c11").warnings(true).extra_warnings(true);
    for law in LAWS {
        let source = out.join(format!("{law}.c"));
        let text =
            format!("#include \"{law}.h\"\n#define AB_NAME(f) ab_{law}_##f\n#include \"law.c\"\n");
        fs::write(&source, text).expect("OUT_DIR is writable");
        build.file(source);
    }
    build.compile("laws");
    println!("cargo:rerun-if-changed={}", include.display());
    println!("cargo:rerun-if-changed=src/law.c");
}

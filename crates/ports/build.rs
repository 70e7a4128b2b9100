//! Builds each law of `bpf/include` natively, with names of its own, and hands on the layouts that
//! `intf.h` states.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What the header of a law defines; a header with the first one is a law.
const NUMBERS: [&str; 5] =
    ["AB_COUPLED", "AB_MIN_SSTHRESH", "AB_RELATIVE", "AB_OF_RENO", "AB_ABSOLUTE"];

/// The most subflows of a coupled connection, in `intf.h`.
const PATHS: &str = "AB_PATHS";

fn main() {
    let include = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../bpf/include");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo:rerun-if-changed={}", include.display());
    println!("cargo:rerun-if-changed=src/law.c");
    build(&laws(&include), &include, &out);
    let layout = out.join("layout.rs");
    fs::write(&layout, layouts(&read(&include.join("intf.h")))).expect("OUT_DIR is writable");
    println!("cargo:rustc-env=AB_LAYOUT={}", layout.display());
    println!("cargo:layout={}", layout.display()); // for build.rs of `kernel`
}

/// The stems of the headers that are laws, sorted.
fn laws(include: &Path) -> Vec<String> {
    let files = fs::read_dir(include).expect("bpf/ is beside crates/").flatten();
    let mut stems: Vec<String> = files
        .map(|entry| entry.path())
        .filter(|path| number(&read(path), NUMBERS[0]).is_some())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    stems.sort();
    stems
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).expect("sources are readable")
}

/// The number that a header defines under this name.
fn number<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    header.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let defined = words.next() == Some("#define") && words.next() == Some(name);
        defined.then(|| words.next()).flatten()
    })
}

/// Compiles the laws, and writes the row of each in the registry.
fn build(laws: &[String], include: &Path, out: &Path) {
    let mut build = cc::Build::new();
    build.include(include).include("src").flag("-std=c11").warnings(true).extra_warnings(true);
    let mut rows = String::new();
    for law in laws {
        let source = out.join(format!("{law}.c"));
        let text =
            format!("#include \"{law}.h\"\n#define AB_NAME(f) ab_{law}_##f\n#include \"law.c\"\n");
        fs::write(&source, text).expect("OUT_DIR is writable");
        build.file(source);
        let functions = ["growth", "backoff", "grow"].map(|f| format!("ab_{law}_{f}"));
        let header = read(&include.join(law).with_extension("h"));
        let numbers = NUMBERS.map(|name| {
            let number = number(&header, name);
            number.unwrap_or_else(|| panic!("bpf/include/{law}.h does not define {name}"))
        });
        let (functions, numbers) = (functions.join(" "), numbers.join(" "));
        writeln!(rows, "\"{}\": {functions} {numbers},", law.replace('_', "-")).ok();
    }
    build.compile("laws");
    fs::write(out.join("laws.rs"), format!("ports! {{\n{rows}}}\n")).expect("OUT_DIR is writable");
}

/// The macro `layout!`: holds a structure of Rust to AB_SIZE and AB_FIELD of one in C, an enum to
/// the values of one in C, and [`PATHS`] to its definition.
fn layouts(interface: &str) -> String {
    let mut arms = structures(interface);
    arms.extend(interface.split("\nenum ").skip(1).map(enumeration));
    let paths = number(interface, PATHS).expect("intf.h defines AB_PATHS");
    writeln!(arms, "({PATHS}, $c:expr) => {{ const _: () = assert!($c == {paths}, {PATHS:?}); }};")
        .ok();
    format!("macro_rules! layout {{\n{arms}}}\n")
}

/// The arms of the structures.
fn structures(interface: &str) -> String {
    let mut arms = String::new();
    let stated = interface.lines().filter_map(stated);
    for (kind, words) in stated {
        match (kind, words.as_slice()) {
            ("AB_SIZE", [name, bytes]) => {
                let close = if arms.is_empty() { "" } else { "};};\n" };
                writeln!(arms, "{close}({name}, $t:ty) => {{ const _: () = {{").ok();
                writeln!(arms, "assert!(size_of::<$t>() == {bytes}, \"size of {name}\");").ok();
            }
            ("AB_FIELD", [name, field, offset]) => {
                let what = format!("core::mem::offset_of!($t, {field}) == {offset}");
                writeln!(arms, "assert!({what}, \"offset of {name}.{field}\");").ok();
            }
            _ => panic!("bpf/include/intf.h: {kind} with {words:?}"),
        }
    }
    arms + "};};\n"
}

/// The arms of an enumeration, from its name on: one holds the values of an enum in Rust to it,
/// both ways, the other lists its variants with their names.
fn enumeration(definition: &str) -> String {
    let (name, rest) = definition.split_once(" {").expect("an enumeration has a body");
    let (body, _) = rest.split_once("\n}").expect("an enumeration ends");
    let (mut checks, mut variants, mut names) = (String::new(), String::new(), String::new());
    for line in body.lines().filter_map(|line| line.split_once(',')) {
        let (word, value) = line.0.split_once(" = ").expect("each value is stated");
        let word = word.trim().trim_start_matches("AB_").to_lowercase().replace('_', "-");
        let variant = format!("<$t>::{}", camel_case(&word));
        writeln!(checks, "assert!({variant} as u32 == {value}, \"{name}: {word}\");").ok();
        writeln!(variants, "{variant} => {{}}").ok();
        writeln!(names, "(\"{word}\", {variant}),").ok();
    }
    format!(
        "({name}, $t:ty) => {{ const _: () = {{\n{checks}}};\n\
         const _: fn($t) = |value| match value {{\n{variants}}}; }};\n\
         ({name} names $t:ty) => {{ &[\n{names}] }};\n"
    )
}

fn camel_case(name: &str) -> String {
    let words = name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]);
    words.collect()
}

/// The macro and the arguments of a line that states a layout.
fn stated(line: &str) -> Option<(&str, Vec<&str>)> {
    let (kind, rest) = line.split_once('(')?;
    let known = kind == "AB_SIZE" || kind == "AB_FIELD";
    known.then(|| (kind, rest.trim_end_matches(");").split(", ").collect()))
}

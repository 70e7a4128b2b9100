//! Takes the C of each law with a controller in `bpf/`, from `bpf/laws` or else written from the
//! text of the law, builds it natively under separate names, and passes on the layouts stated in
//! `intf.h`.

use formula::TextLaw;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The most subflows of a coupled connection, in `intf.h`.
const PATHS: &str = "AB_PATHS";

fn main() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (bpf, texts) = (root.join("bpf"), root.join("python/anabranch/laws"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for source in [&bpf, &texts, Path::new("src/law.c"), Path::new("src/window.c")] {
        println!("cargo:rerun-if-changed={}", source.display());
    }
    let headers = out.join("headers");
    fs::remove_dir_all(&headers).ok(); // stale headers of removed controllers
    fs::create_dir_all(&headers).expect("OUT_DIR is writable");
    let laws = laws(&bpf);
    let (own, written): (Vec<String>, Vec<String>) =
        laws.iter().cloned().partition(|law| own_header(&bpf, law).exists());
    let put = |law: &str, text: String| {
        fs::write(headers.join(law).with_extension("h"), text).expect("OUT_DIR is there");
    };
    own.iter().for_each(|law| put(law, read(&own_header(&bpf, law))));
    for law in &written {
        put(law, header(&texts.join(law.replace('_', "-")).with_extension("law")));
    }
    build(
        &[(&own[..], "#define AB_IN_C\n"), (&written[..], "")],
        &[&bpf.join("include"), &headers],
        &out,
    );
    write_rows(&written, &texts, &out);
    write_own_rows(&own, &out);
    let layout = out.join("layout.rs");
    fs::write(&layout, layouts(&read(&bpf.join("include/intf.h")))).expect("OUT_DIR is writable");
    println!("cargo:rustc-env=AB_LAYOUT={}", layout.display());
    println!("cargo:layout={}", layout.display()); // for build.rs of `kernel`
    println!("cargo:headers={}", headers.display());
}

/// The laws with a controller in `bpf/`, sorted.
fn laws(bpf: &Path) -> Vec<String> {
    let files = fs::read_dir(bpf).expect("bpf/ is beside crates/").flatten();
    let mut stems: Vec<String> = files
        .map(|entry| entry.path())
        .filter(|path| read(path).contains("AB_CONTROLLER(\""))
        .filter_map(|path| Some(path.file_name()?.to_str()?.strip_suffix(".bpf.c")?.to_owned()))
        .collect();
    stems.sort();
    stems
}

/// The header of a law that is written in C.
fn own_header(bpf: &Path, law: &str) -> PathBuf {
    bpf.join("laws").join(law).with_extension("h")
}

fn read(file: &Path) -> String {
    match file.is_dir() {
        true => String::new(),
        false => fs::read_to_string(file)
            .unwrap_or_else(|error| panic!("{} cannot be read: {error}", file.display())),
    }
}

/// The C of a law in text.
fn header(text: &Path) -> String {
    let law = TextLaw::read(&read(text)).and_then(|law| law.integer());
    match law {
        Ok(law) => law.c(),
        Err(error) => panic!("{}: {error}", text.display()),
    }
}

/// The number defined under this name in a header.
fn number<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    header.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let defined = words.next() == Some("#define") && words.next() == Some(name);
        defined.then(|| words.next()).flatten()
    })
}

/// Compiles the laws, each kind after some lines of its own, and the update of a window.
fn build(kinds: &[(&[String], &str)], includes: &[&Path], out: &Path) {
    let mut build = cc::Build::new();
    build.includes(includes).include("src");
    build.flag("-std=c11").warnings(true).extra_warnings(true).file("src/window.c");
    for (law, first) in
        kinds.iter().flat_map(|(laws, first)| laws.iter().map(move |law| (law, first)))
    {
        let source = out.join(format!("{law}.c"));
        let text = format!(
            "{first}#include \"{law}.h\"\n#define AB_NAME(f) ab_{law}_##f\n#include \"law.c\"\n"
        );
        fs::write(&source, text).expect("OUT_DIR is writable");
        build.file(source);
    }
    build.compile("laws");
}

/// Writes the row of each law in the registry: its text and its functions.
fn write_rows(laws: &[String], texts: &Path, out: &Path) {
    let mut rows = String::new();
    for law in laws {
        let name = law.replace('_', "-");
        let text = texts.join(&name).with_extension("law");
        let text = text.canonicalize().expect("its C was just written");
        writeln!(rows, "{name:?}: {text:?} ab_{law}_growth ab_{law}_backoff,").ok();
    }
    fs::write(out.join("laws.rs"), format!("ports! {{\n{rows}}}\n")).expect("OUT_DIR is writable");
}

/// Writes the row of each law that is written in C: its functions.
fn write_own_rows(laws: &[String], out: &Path) {
    let mut rows = String::new();
    for law in laws {
        let of = |function| format!("ab_{law}_{function}");
        let names = ["growth", "backoff", "first_notes", "note_ack", "note_loss", "note_growth"];
        let functions = names.map(of).join(" ");
        writeln!(rows, "{:?}: {functions} ab_{law}_told,", law.replace('_', "-")).ok();
    }
    let rows = format!("headers! {{\n{rows}}}\n");
    fs::write(out.join("headers.rs"), rows).expect("OUT_DIR is writable");
}

/// The macro `layout!`: compares a structure of Rust with AB_SIZE and AB_FIELD of one in C,
/// compares an enum with the values of one in C, and has the values of [`PATHS`] in the order of
/// their definitions.
fn layouts(interface: &str) -> String {
    let paths: Vec<&str> = interface.lines().filter_map(|line| number(line, PATHS)).collect();
    let mut arms = structures(interface, paths.first().expect("intf.h defines AB_PATHS"));
    arms.extend(interface.split("\nenum ").skip(1).map(enumeration));
    let paths = paths.join(", ");
    writeln!(arms, "({PATHS}) => {{ [{paths}] }};").ok();
    format!("macro_rules! layout {{\n{arms}}}\n")
}

/// The arms of the structures, under a law without notes of its own.
fn structures(interface: &str, paths: &str) -> String {
    let sizes = format!(
        "const AB_NOTES: usize = 0; const {PATHS}: usize = {paths}; _ = AB_NOTES + {PATHS};"
    );
    let mut arms = String::new();
    let stated = interface.lines().filter_map(stated);
    for (kind, words) in stated {
        match (kind, words.as_slice()) {
            ("AB_SIZE", [name, bytes]) => {
                let close = if arms.is_empty() { "" } else { "};};\n" };
                writeln!(arms, "{close}({name}, $t:ty) => {{ const _: () = {{ {sizes}").ok();
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

/// The arms of an enumeration, starting at its name: one compares an enum in Rust with its values,
/// in both directions, the other lists its variants with their names.
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

//! Laws in text on the running kernel: the bytecode of the generated C compared with the same
//! arithmetic in Rust, bit by bit. Only as root, and with clang.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use control::{TextLaw, Written};
use kernel::{Controller, Program, SOURCE_FILES, Settings};
use ports::{Port, Step, View, Views};
use std::path::Path;
use std::process::Command;

#[path = "../../formula/tests/common/random.rs"]
mod random;

const GLUE: &str = "#include \"law.h\"\n#include \"shell.h\"\nAB_CONTROLLER(\"law\");\n";

/// Default number of random laws, and states for each.
const LAWS: usize = 12;
const STATES: usize = 200;

/// Numbers of a linear congruential generator (Knuth, MMIX).
struct Noise(u64);

impl Noise {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % most.max(1)
    }

    /// A number of up to `bits` bits; all lengths are equally likely.
    fn number(&mut self, bits: usize) -> u32 {
        let bits = self.below(bits) as u32;
        (1u32 << bits) | (self.below(1 << 31) as u32 & ((1 << bits) - 1))
    }

    /// A note from 2^-20 to 2^10; the last one may be that of `rtt_min`, a time.
    fn note(&mut self, positive: bool) -> u64 {
        let sign = if positive { 0 } else { self.below(2) as u64 };
        let exponent = 4096 - 52 + self.below(30) as u64;
        sign << 63 | exponent << 32 | 1 << 31 | self.below(1 << 31) as u64
    }

    fn views(&mut self, port: &Port) -> Views {
        let paths = 2 + self.below(port.most_paths().min(8) - 1) as u32;
        let mut views = Views { paths, ..Views::default() };
        views.me = self.below(views.paths as usize) as u32;
        for place in 0..views.paths as usize {
            views.path[place] = View {
                cwnd: self.number(24),
                srtt: self.number(31),
                since_loss: self.number(24) - 1,
                between_losses: self.number(24) - 1,
                ..View::default()
            };
            for note in 0..port.notes() {
                views.path[place].notes[note] = self.note(note + 1 == port.notes());
            }
        }
        views
    }
}

/// Whether the kernel may be used; prints the reason if not.
fn usable() -> bool {
    let root = rustix::process::geteuid().is_root();
    let types = Path::new("/sys/kernel/btf/vmlinux").exists();
    assert!(
        root && types || std::env::var("ANABRANCH_LINUX").as_deref() != Ok("required"),
        "the kernel cannot be used"
    );
    if !(root && types) {
        eprintln!("1 test of the kernel skipped: not root, or no BTF");
    }
    root && types
}

/// The object of a law, compiled in `folder`.
fn compiled(header: &str, folder: &Path) -> Vec<u8> {
    for (name, text) in SOURCE_FILES.iter().copied().chain([("law.h", header), ("law.bpf.c", GLUE)])
    {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let mut clang = Command::new(std::env::var("CLANG").unwrap_or_else(|_| "clang".into()));
    clang.args([
        "-target",
        "bpf",
        "-mcpu=v3",
        "-O2",
        "-g",
        "-Wall",
        "-Werror",
        "-Wno-tautological-compare",
        "-I",
        ".",
        "-I",
        "include",
    ]);
    clang.args(["-c", "law.bpf.c", "-o", "law.o"]).current_dir(folder);
    let done = clang.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(folder.join("law.o")).unwrap()
}

/// Random laws that may be infinite, or that need too much stack, are counted; every other law
/// gives the same bits. `ANABRANCH_LAWS` sets their number.
#[test]
fn the_bytecode_of_random_laws_gives_what_the_same_arithmetic_gives_in_rust() {
    if !usable() {
        return;
    }
    let count = std::env::var("ANABRANCH_LAWS").map_or(LAWS, |count| count.parse().unwrap());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-law");
    let (mut noise, mut refused) = (Noise(1), 0);
    for number in 0..count {
        let text = random::law(&mut |most| noise.below(most));
        let Ok(law) = TextLaw::read(&text).map(Written::from) else {
            refused += 1; // powers of powers may be infinite
            continue;
        };
        let port = Port::written(&law).unwrap();
        let object = compiled(&law.integer().unwrap().c(), &folder);
        let program = Program::compiled(Some(port.clone()), format!("abt_random{number}"), object);
        let settings = Settings { record: true, ..Settings::default() };
        let mut controller = match Controller::load(&program, &settings) {
            Ok(controller) => controller,
            Err(error) => {
                let why = format!("{error:#}");
                assert!(why.contains("stack") || why.contains("too large"), "{text}: {why}");
                refused += 1;
                continue;
            }
        };
        for _ in 0..STATES {
            let (before_cwnd, acked) = (noise.number(20), noise.below(100) as u32);
            let step = Step { views: noise.views(&port), acked, before_cwnd, ..Step::default() };
            let in_kernel = controller.replay(&step).unwrap();
            assert_eq!(in_kernel, port.replay(&step), "{text}");
        }
    }
    println!("{count} random laws, {refused} of them refused");
    assert!(refused * 2 < count, "{refused} of {count} laws were refused");
}

//! Laws in C that are generated from text: beside the same arithmetic in Rust, beside the law
//! itself, and beside the laws that are written by hand.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use formula::TextLaw;
use formula::integer::{IntegerLaw, View as Seen};
use ports::{PATHS, PORTS, Port, Step, View, Views};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use zerocopy::IntoBytes;

/// Random states for each law.
const STATES: usize = 200_000;

/// The shipped laws, what each sets, and the port by hand that it is, if there is one.
const LAWS: [(&str, &str, &str, Option<&str>); 12] = [
    ("reno", include_str!("../../../python/anabranch/laws/reno.law"), "", Some("reno")),
    ("ewtcp", include_str!("../../../python/anabranch/laws/ewtcp.law"), "", Some("ewtcp")),
    (
        "ewtcp-half",
        include_str!("../../../python/anabranch/laws/ewtcp.law"),
        "with power = 0.5",
        None,
    ),
    (
        "semicoupled",
        include_str!("../../../python/anabranch/laws/semicoupled.law"),
        "",
        Some("semicoupled"),
    ),
    (
        "fully-coupled",
        include_str!("../../../python/anabranch/laws/fully-coupled.law"),
        "",
        Some("fully-coupled"),
    ),
    ("phi-half", include_str!("../../../python/anabranch/laws/phi.law"), "with phi = 0.5", None),
    (
        "phi-eighths",
        include_str!("../../../python/anabranch/laws/phi.law"),
        "with phi = 1.625",
        None,
    ),
    ("lia", include_str!("../../../python/anabranch/laws/lia.law"), "", Some("lia")),
    ("olia", include_str!("../../../python/anabranch/laws/olia.law"), "", Some("olia")),
    ("olia-draft", include_str!("../../../python/anabranch/laws/olia.law"), "with draft = 1", None),
    ("balia", include_str!("../../../python/anabranch/laws/balia.law"), "", Some("balia")),
    ("gentle", include_str!("../../../python/anabranch/laws/gentle.law"), "", None),
];

/// What the shipped laws do not use: signs, roots, nested sums, seconds, conditions.
const CORNERS: [(&str, &str); 4] = [
    ("signs", "growth = (w - 20)/w_tot - abs(rtt - 0.1)/max(rtt, 0.05); backoff = w - sqrt(w)*3"),
    ("nested", "growth = sum_s(min_q(max(w_s, w_q)/w_q))/w_tot^2; backoff = max(w/3, min_s(w_s))"),
    (
        "conditions",
        "a = any_s(w_s > 3*w) and not all_s(rtt_s >= rtt); growth = if a or l > 9 then 1/w else -1/(n*w); backoff = if a then w/2 else w - 1",
    ),
    ("seconds", "growth = (if rtt < 0.05 then 1 else 0.3)/w; backoff = w*(1 - 0.37/n)"),
];

/// A law as a program that reads `struct ab_views` and writes growth and backoff.
struct Program {
    file: PathBuf,
}

const MAIN: &str = "#include <stdio.h>\n#include \"law.h\"\nint main(void)\n{\n\tstruct ab_views v;\n\
    \twhile (fread(&v, sizeof(v), 1, stdin) == 1) {\n\t\tab_s64 said[2] = { ab_growth(&v), ab_backoff(&v) };\n\
    \t\tfwrite(said, sizeof(said), 1, stdout);\n\t}\n\treturn 0;\n}\n";

impl Program {
    fn build(name: &str, law: &IntegerLaw) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("law-{name}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("law.h"), law.c()).unwrap();
        std::fs::write(folder.join("main.c"), MAIN).unwrap();
        let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bpf/include");
        let file = folder.join("main");
        let mut command = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
        command.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined"]);
        command.args(["-fno-sanitize-recover", "-I", include]).arg(folder.join("main.c")).arg("-o");
        let built = command.arg(&file).output().unwrap();
        assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
        Program { file }
    }

    fn said(&self, states: &[Views]) -> Vec<[i64; 2]> {
        let mut child =
            Command::new(&self.file).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let bytes = states.as_bytes().to_vec();
        let writer = std::thread::spawn(move || input.write_all(&bytes));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        assert!(output.status.success());
        let number = |bytes: &[u8]| i64::from_ne_bytes(bytes.try_into().unwrap());
        output.stdout.chunks_exact(16).map(|two| [number(&two[..8]), number(&two[8..])]).collect()
    }
}

fn views() -> impl Strategy<Value = Views> {
    let number =
        |bits: u32| (0..bits, any::<u32>()).prop_map(move |(b, x)| (1 << b) | (x & ((1 << b) - 1)));
    let l = || prop_oneof![Just(0), number(24)];
    let view =
        (number(24), number(31), l(), l()).prop_map(|(cwnd, srtt, since_loss, between_losses)| {
            View { cwnd, srtt, since_loss, between_losses }
        });
    (prop::collection::vec(view, 2..=8), any::<prop::sample::Index>(), any::<bool>()).prop_map(
        |(mut paths, me, twins)| {
            if twins {
                paths[1] = paths[0];
            }
            let (count, me) = (paths.len() as u32, me.index(paths.len()) as u32);
            let mut views = Views { paths: count, me, ..Views::default() };
            views.path[..paths.len()].copy_from_slice(&paths);
            views
        },
    )
}

fn states(count: usize) -> Vec<Views> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..count).map(|_| views().new_tree(&mut runner).unwrap().current()).collect()
}

fn seen(views: &Views) -> Vec<Seen> {
    let see = |view: &View| {
        let View { cwnd, srtt, since_loss, between_losses } = *view;
        Seen { cwnd, srtt, since_loss, between_losses }
    };
    views.path[..PATHS].iter().map(see).collect()
}

const SEGMENT: f64 = (1u64 << 32) as f64;

/// Holds the C of a law to the same arithmetic in Rust and to its bound, and says how near to the
/// bound it came.
fn held(name: &str, law: &IntegerLaw, states: &[Views], said: &[[i64; 2]]) -> f64 {
    let (mut worst, mut checked) = (0.0_f64, 0);
    for (state, [growth, backoff]) in states.iter().zip(said) {
        let (paths, me) = (seen(state), state.me as usize);
        assert_eq!(*growth, law.growth(me, &paths), "{name}: growth at {state:?}");
        assert_eq!(*backoff, law.backoff(me, &paths), "{name}: backoff at {state:?}");
        if let Some((exact, error)) = law.growth_within(me, &paths)
            && exact.abs() < 32768.0
        {
            let off = (*growth as f64 / SEGMENT - exact).abs();
            assert!(off <= error, "{name}: {off} above {error} of {exact} at {state:?}");
            worst = worst.max(off / error);
            checked += 1;
        }
        if let Some((exact, error)) = law.backoff_within(me, &paths) {
            let off = exact - *backoff as f64;
            assert!(off >= -error && off <= 1.0 + error, "{name}: backoff {off} at {state:?}");
        }
    }
    assert!(checked * 10 > states.len() * 8, "{name}: {checked} states were clear");
    worst
}

#[test]
fn c_from_the_text_of_a_law_is_the_arithmetic_in_rust_and_within_the_stated_bound() {
    let states = states(STATES);
    for (name, text, with, by_hand) in LAWS {
        let law = TextLaw::read(&format!("{text}\n{with}")).unwrap().integer().unwrap();
        let said = Program::build(name, &law).said(&states);
        let worst = held(name, &law, &states, &said);
        let port = by_hand.map(|port| PORTS.iter().find(|own| own.name() == port).unwrap());
        let stated = port.map(|port| beside(port, &states, &said));
        println!(
            "{name}: bound {} u, at most {worst:.2} of it; by hand {stated:?}",
            law.relative_bound()
        );
    }
}

/// Holds the C that is generated to the bound that is stated for the one by hand, and says how many
/// states differ in a bit.
fn beside(port: &Port, states: &[Views], said: &[[i64; 2]]) -> usize {
    let mut differ = 0;
    for (state, [growth, backoff]) in states.iter().zip(said) {
        let own = Step { views: *state, growth: port.growth(state), ..Step::default() };
        let step = Step { growth: *growth, ..own };
        // Where the port by hand is beyond its bound, a tie was decided by truncation.
        assert!(port.is_readable(&step) || !port.is_readable(&own), "{port:?} at {state:?}");
        assert_eq!(*backoff, port.backoff(state), "{port:?} at {state:?}");
        differ += usize::from(*growth != own.growth);
    }
    differ
}

#[test]
fn signs_roots_sums_within_sums_and_seconds_come_out_in_c_as_in_rust() {
    let states = states(STATES / 4);
    for (name, text) in CORNERS {
        let law = TextLaw::read(text).unwrap().integer().unwrap();
        let said = Program::build(name, &law).said(&states);
        held(name, &law, &states, &said);
    }
}

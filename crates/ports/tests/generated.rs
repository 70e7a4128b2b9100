//! Laws in C generated from text: compared with the same arithmetic in Rust, and with the law
//! itself.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use formula::integer::{IntegerLaw, News, Truncated};
use formula::{Event, Number, One, TextLaw, Two};
use ports::{View, Views};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Random states for each law.
const STATES: usize = 200_000;

/// The text of a shipped law.
macro_rules! shipped {
    ($name:literal) => {
        include_str!(concat!("../../../python/anabranch/laws/", $name, ".law"))
    };
}

/// The shipped laws under separate names, with the settings of each.
const LAWS: [(&str, &str, &str); 12] = [
    ("reno", shipped!("reno"), ""),
    ("ewtcp", shipped!("ewtcp"), ""),
    ("ewtcp-half", shipped!("ewtcp"), "with power = 0.5"),
    ("semicoupled", shipped!("semicoupled"), ""),
    ("fully-coupled", shipped!("fully-coupled"), ""),
    ("phi-half", shipped!("phi"), "with phi = 0.5"),
    ("phi-eighths", shipped!("phi"), "with phi = 1.625"),
    ("lia", shipped!("lia"), ""),
    ("olia", shipped!("olia"), ""),
    ("olia-draft", shipped!("olia"), "with draft = 1"),
    ("balia", shipped!("balia"), ""),
    ("gentle", shipped!("gentle"), ""),
];

/// Features that the shipped laws do not use: signs, roots, nested sums, seconds, conditions.
const CORNERS: [(&str, &str); 4] = [
    ("signs", "growth = (w - 20)/w_tot - abs(rtt - 0.1)/max(rtt, 0.05); backoff = w - sqrt(w)*3"),
    ("nested", "growth = sum_s(min_q(max(w_s, w_q)/w_q))/w_tot^2; backoff = max(w/3, min_s(w_s))"),
    (
        "conditions",
        "a = any_s(w_s > 3*w) and not all_s(rtt_s >= rtt); growth = if a or l > 9 then 1/w else -1/(n*w); backoff = if a then w/2 else w - 1",
    ),
    ("seconds", "growth = (if rtt < 0.05 then 1 else 0.3)/w; backoff = w*(1 - 0.37/n)"),
];

/// Laws with notes of their own: one, two with the smallest round trip, four.
const NOTED: [(&str, &str); 3] = [
    (
        "delay",
        "gain = 1 / max(rtt/rtt_min, 1); growth = gain/w_tot; backoff = w * max(0.5, 1 - 0.5*gain)",
    ),
    (
        "smoothed",
        "note late = 0.01\non ack: late = if rtt_last > 0 then 0.875*late + 0.125*(rtt_last - rtt) else late\n\
         on loss: late = abs(late)/2 - 0.001\n\
         growth = (late + max_s(rtt_min_s))/max(abs(late), 0.001)/w_tot; backoff = w/2",
    ),
    (
        "four",
        "note a = 0\nnote b = 1.5\nnote c = -3\nnote d = 1e6\non ack: a = a + acked\n\
         on ack: b = max(b/2, l/max(a, 1))\non ack: c = c*0.9 - rtt\non loss: d = sqrt(abs(d)) + a\n\
         on loss: a = 0\ngrowth = min(sum_s(a_s*b_s)/max(abs(c*d), 1), 9)/w; backoff = w - min(b, w/2)",
    ),
];

/// A law as a program that reads `struct ab_views` and writes growth and backoff. With notes it
/// also reads `struct ab_news`, and writes the notes of `me` after an ACK and after a loss.
struct Program {
    file: PathBuf,
}

const MAIN: &str = r#"#include <stdio.h>
#include "law.h"
int main(void)
{
	struct ab_views v;

	while (fread(&v, sizeof(v), 1, stdin) == 1) {
		ab_s64 said[2] = { ab_growth(&v), ab_backoff(&v) };

		fwrite(said, sizeof(said), 1, stdout);
#if AB_NOTES
		struct ab_notes first, acked, lost;
		struct ab_news e;

		if (fread(&e, sizeof(e), 1, stdin) != 1)
			return 1;
		for (int i = 0; i < AB_NOTES; i++)
			acked.note[i] = lost.note[i] = ab_me(&v)->note[i];
		ab_first_notes(&first);
		ab_note_ack(&acked, &e);
		e.acked = e.rtt = e.srtt = 0;
		ab_note_loss(&lost, &e);
		fwrite(&first, sizeof(first), 1, stdout);
		fwrite(&acked, sizeof(acked), 1, stdout);
		fwrite(&lost, sizeof(lost), 1, stdout);
#endif
	}
	return 0;
}
"#;

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

    /// The output for each of the states; each state is followed by its event.
    fn said(&self, notes: usize, states: &[(Views, News)]) -> Vec<Vec<i64>> {
        let mut child =
            Command::new(&self.file).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut bytes = Vec::new();
        for (views, news) in states {
            bytes.extend(views.to_bytes(notes));
            if notes > 0 {
                let View { srtt, since_loss, between_losses, .. } = views.path[views.me as usize];
                let words = [news.acked, news.rtt, srtt, since_loss, between_losses, 0, 0, 0];
                bytes.extend(words.into_iter().flat_map(u32::to_ne_bytes));
            }
        }
        let writer = std::thread::spawn(move || input.write_all(&bytes));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        assert!(output.status.success());
        let number = |bytes: &[u8]| i64::from_ne_bytes(bytes.try_into().unwrap());
        let words = 8 * (2 + 3 * notes);
        output.stdout.chunks_exact(words).map(|all| all.chunks(8).map(number).collect()).collect()
    }
}

fn views() -> impl Strategy<Value = Views> {
    let number =
        |bits: u32| (0..bits, any::<u32>()).prop_map(move |(b, x)| (1 << b) | (x & ((1 << b) - 1)));
    let l = || prop_oneof![Just(0), number(24)];
    let note = || {
        prop_oneof![Just(0.0), -1e3..1e3, -1e-3..1e-3, 0.0..1e9]
            .prop_map(|note| Truncated::real(note).bits())
    };
    let notes = [note(), note(), note(), note()];
    let view = (number(24), number(31), l(), l(), notes).prop_map(
        |(cwnd, srtt, since_loss, between_losses, notes)| View {
            cwnd,
            srtt,
            since_loss,
            between_losses,
            notes,
        },
    );
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

fn states(count: usize) -> Vec<(Views, News)> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let news = (0u32..100, prop_oneof![Just(0), 1u32..1 << 31]);
    let state = (views(), news.prop_map(|(acked, rtt)| News { acked, rtt, ..News::default() }));
    (0..count).map(|_| state.new_tree(&mut runner).unwrap().current()).collect()
}

fn as_a_time(note: &mut u64) {
    let size = Truncated::one(One::Magnitude, Truncated::from_bits(*note));
    *note = Truncated::two(Two::Most, size, Truncated::real(1e-6)).bits();
}

/// The states as seen by a law with this many notes.
fn fitted(states: &[(Views, News)], law: &IntegerLaw, text: &str) -> Vec<(Views, News)> {
    let most = match law.notes() {
        3.. => 4,
        _ => 8,
    };
    let mut states = states.to_vec();
    for (views, _) in &mut states {
        views.paths = views.paths.min(most);
        views.me %= views.paths;
        let (seen, unseen) = views.path.split_at_mut(views.paths as usize);
        seen.iter_mut().for_each(|view| view.notes[law.notes()..].fill(0));
        if text.contains("rtt_min") {
            // Its note is the last one, and a time.
            seen.iter_mut().for_each(|view| as_a_time(&mut view.notes[law.notes() - 1]));
        }
        unseen.fill(View::default());
    }
    states
}

const SEGMENT: f64 = (1u64 << 32) as f64;

/// Compares the C of a law with the same arithmetic in Rust and with its bound; returns how near to
/// the bound it came.
fn held(name: &str, law: &IntegerLaw, states: &[(Views, News)], said: &[Vec<i64>]) -> f64 {
    let (mut worst, mut checked) = (0.0_f64, 0);
    for ((state, news), said) in states.iter().zip(said) {
        let (paths, me) = (&state.path[..], state.me as usize);
        let (growth, backoff, notes) = (said[0], said[1], &said[2..]);
        assert_eq!(growth, law.growth(me, paths), "{name}: growth at {state:?}");
        assert_eq!(backoff, law.backoff(me, paths), "{name}: backoff at {state:?}");
        let acked = law.update(Event::Ack, paths[me], *news);
        let lost = law.update(Event::Loss, paths[me], News::default());
        let expected = [law.initial(), acked, lost].map(|all| all[..law.notes()].to_vec());
        let expected = expected.concat().into_iter().map(|note| note as i64);
        assert_eq!(notes, expected.collect::<Vec<_>>(), "{name}: notes at {state:?}, {news:?}");
        if let Some((exact, error)) = law.growth_within(me, paths)
            && exact.abs() < 32768.0
        {
            let off = (growth as f64 / SEGMENT - exact).abs();
            assert!(off <= error, "{name}: {off} above {error} of {exact} at {state:?}");
            worst = worst.max(off / error);
            checked += 1;
        }
        if let Some((exact, error)) = law.backoff_within(me, paths) {
            let off = exact - backoff as f64;
            assert!(off >= -error && off <= 1.0 + error, "{name}: backoff {off} at {state:?}");
        }
    }
    assert!(checked * 10 > states.len() * 8, "{name}: {checked} states were clear");
    worst
}

/// Compares the C of a law with its specification in all states; returns how near to its bound it
/// came.
fn held_in_c(name: &str, text: &str, states: &[(Views, News)]) -> (u32, f64) {
    let law = TextLaw::read(text).unwrap().integer().unwrap();
    let states = fitted(states, &law, text);
    let said = Program::build(name, &law).said(law.notes(), &states);
    (law.relative_bound(), held(name, &law, &states, &said))
}

#[test]
fn c_from_the_text_of_a_law_is_the_arithmetic_in_rust_and_within_the_stated_bound() {
    let states = states(STATES);
    for (name, text, with) in LAWS {
        let (bound, worst) = held_in_c(name, &format!("{text}\n{with}"), &states);
        println!("{name}: bound {bound} u, at most {worst:.2} of it");
    }
}

#[test]
fn signs_roots_sums_within_sums_and_seconds_come_out_in_c_as_in_rust() {
    let states = states(STATES / 4);
    for (name, text) in CORNERS {
        held_in_c(name, text, &states);
    }
}

#[test]
fn notes_come_out_in_c_as_in_rust() {
    let states = states(STATES / 4);
    for (name, text) in NOTED {
        held_in_c(name, text, &states);
    }
}

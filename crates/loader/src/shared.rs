//! `shared`: which subflows of a capture share a bottleneck.

use crate::output::{say, table, write_json};
use kernel::Refused;
use serde::Serialize;
use sharing::{AnyDetector, Detection, Traced, follow};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use units::{Span, Time};
use wire::capture::{Capture, Error, Part, Subflow, read};

/// Round trips that a subflow needs to take part.
const FEWEST_SAMPLES: usize = 100;

/// Subflows that take part: those with most round trips.
const MOST_PATHS: usize = 32;

/// Pairs that are shown; all are in the file that `--json` writes.
const MOST_PAIRS: usize = 40;

/// Confidences above and below which a pair is said to share, or not to; in between nothing.
const SHARES: f64 = 0.8;
const UNSURE: f64 = 0.2;

/// Confidence while nothing is known.
const UNKNOWN: f64 = 0.5;

/// The answer, as `anabranch shared --json` writes it.
#[derive(Serialize)]
struct Answer {
    capture: String,
    detector: String,
    subflows: Vec<String>,
    groups: Vec<Vec<String>>,
    confidence: Vec<Vec<f64>>,
    changes: Vec<Change>,
}

#[derive(Serialize)]
struct Change {
    t_s: f64,
    /// For each subflow the first one of its group.
    groups: Vec<usize>,
}

/// Prints the answer, or writes it into a file; whether something is known of a pair.
pub(crate) fn command(
    file: &Path,
    detector: &str,
    json: Option<&Path>,
    partial: bool,
) -> Result<bool, Refused> {
    let kind = AnyDetector::named(detector).ok_or_else(|| {
        let names: Vec<&str> =
            AnyDetector::ALL.iter().map(|kind| kind.described().names[0]).collect();
        let near = units::name::offer(detector, names.iter().copied());
        let all = names.join(", ");
        Refused(format!("there is no detector {detector:?}{near}; there are {all}"))
    })?;
    let capture = opened(file, partial)?;
    let rows = rows(file, &capture)?;
    let answer = answer(file, detector, kind, &capture, &rows);
    let pairs = answer.confidence.iter().enumerate();
    let known = pairs.flat_map(|(a, row)| &row[a + 1..]).any(|found| *found != UNKNOWN);
    match json {
        Some(to) => write_json(to, &answer, false)?,
        None => print(&answer, &capture)?,
    }
    Ok(known)
}

/// Reads a capture, which must be whole unless `partial` is set.
fn opened(file: &Path, partial: bool) -> Result<Capture, Refused> {
    let name = file.display();
    if file.is_dir() {
        return Err(Refused(format!("{name} is a directory; name a file")));
    }
    let open = File::open(file);
    let open = open.map_err(|error| Refused(format!("{name} cannot be read: {error}")))?;
    let part = Part { delays: true, ..Part::default() };
    let capture = read(open, Span::from_seconds(0.1), part).map_err(|error| {
        let why = match error {
            Error::NotACapture => "it is neither pcapng nor pcap",
            Error::Unreadable => "it cannot be read",
        };
        Refused(format!("{name} is not a capture: {why}"))
    })?;
    match &capture.broken {
        Some(broken) if !partial => {
            let text = format!("{name} is broken: {broken}; `--partial` takes what was read");
            return Err(Refused(text));
        }
        Some(broken) => eprintln!("warning: broken: {broken}"),
        None => {}
    }
    if capture.subflows.is_empty() {
        let packets = capture.packets;
        return Err(Refused(format!("{name} has no TCP among its {packets} packets")));
    }
    Ok(capture)
}

/// The sender and the receiver of most of a subflow's payload.
fn ends(row: &Subflow) -> [SocketAddr; 2] {
    match row.upward() {
        true => [row.initiator, row.responder],
        false => [row.responder, row.initiator],
    }
}

/// Both ends by name where the file has names, else as addresses with ports.
fn label(capture: &Capture, row: &Subflow) -> String {
    let told = ends(row).map(|end| match capture.names.get(&end.ip()) {
        Some(name) => name.clone(),
        None => end.to_string(),
    });
    told.join(" → ")
}

/// A key that orders texts with the numbers in them as numbers: `a.2` before `a.10`.
fn natural(text: &str) -> Vec<(String, usize, String)> {
    let mut key = Vec::new();
    let mut rest = text;
    loop {
        let start = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(start);
        let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        let (digits, after) = tail.split_at(end);
        let number = digits.trim_start_matches('0').to_owned();
        key.push((word.to_owned(), number.len(), number));
        if digits.is_empty() {
            return key;
        }
        rest = after;
    }
}

/// Numbers of the subflows that take part: connections together, named ones first in natural order.
fn rows(file: &Path, capture: &Capture) -> Result<Vec<usize>, Refused> {
    let all = &capture.subflows;
    let mut flow = vec![0; all.len()];
    for (number, connection) in capture.connections.iter().enumerate() {
        connection.subflows.iter().for_each(|&row| flow[row] = number);
    }
    let place = |row: &Subflow| {
        let named = ends(row).map(|end| capture.names.get(&end.ip()).cloned().unwrap_or_default());
        (named.iter().all(String::is_empty), natural(&named.join(" → ")))
    };
    let keys: Vec<_> = all.iter().map(place).collect();
    let mut firsts = BTreeMap::new();
    for (flow, key) in flow.iter().zip(&keys) {
        let first = firsts.entry(*flow).or_insert(key);
        *first = key.min(first);
    }
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&row| (firsts[&flow[row]], flow[row], &keys[row], row));
    let trips = |row: usize| all[row].main().delays.len();
    let many: Vec<usize> = order.into_iter().filter(|&row| trips(row) >= FEWEST_SAMPLES).collect();
    if many.len() < 2 {
        let name = file.display();
        let (count, s) = match many.len() {
            0 => ("no", "s"),
            _ => ("1", ""),
        };
        return Err(Refused(format!(
            "{name}: {count} subflow{s} of {} with {FEWEST_SAMPLES} round trips; a comparison needs \
             two",
            all.len()
        )));
    }
    let mut most = many.clone();
    most.sort_by_key(|&row| Reverse(trips(row)));
    most.truncate(MOST_PATHS);
    Ok(many.into_iter().filter(|row| most.contains(row)).collect())
}

/// What the detector finds.
fn answer(
    file: &Path,
    detector: &str,
    kind: AnyDetector,
    capture: &Capture,
    rows: &[usize],
) -> Answer {
    let since = |at: Time| Time::ZERO + at.since(capture.first);
    let traced = |&row: &usize| {
        let main = capture.subflows[row].main();
        let delays: Vec<_> = main.delays.iter().map(|(at, took)| (since(*at), *took)).collect();
        let repeats: Vec<_> = main.repeats.iter().map(|at| since(*at)).collect();
        Traced::of(&delays, &repeats)
    };
    let traced: Vec<Traced> = rows.iter().map(traced).collect();
    let paths = rows.len();
    let mut changes = Vec::new();
    let mut confidence = Vec::new();
    follow(kind, &traced, |at, found: &Detection| {
        let groups = (0..paths).map(|path| found.group(path)).collect();
        changes.push(Change { t_s: at.seconds(), groups });
        let pairs = |a| (0..paths).map(|b| found.confidence(a, b)).collect();
        confidence = (0..paths).map(pairs).collect();
    });
    let subflows: Vec<String> =
        rows.iter().map(|&row| label(capture, &capture.subflows[row])).collect();
    let mut groups: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (path, first) in changes.last().map_or(&Vec::new(), |last| &last.groups).iter().enumerate()
    {
        groups.entry(*first).or_default().push(subflows[path].clone());
    }
    Answer {
        capture: file.display().to_string(),
        detector: detector.to_owned(),
        subflows,
        groups: groups.into_values().collect(),
        confidence,
        changes,
    }
}

fn print(answer: &Answer, capture: &Capture) -> Result<(), Refused> {
    let lasted = capture.last.since(capture.first).seconds();
    let mut rows = Vec::new();
    for (number, group) in (1..).zip(&answer.groups) {
        for (place, name) in group.iter().enumerate() {
            let first = if place == 0 { number.to_string() } else { String::new() };
            rows.push(vec![first, name.clone()]);
        }
    }
    let title = format!("{}, {lasted:.1} s", answer.detector);
    say(&table(&title, &["bottleneck", "subflows"], &rows, 2))?;
    let paths = answer.subflows.len();
    let pairs = || (0..paths).flat_map(|a| (a + 1..paths).map(move |b| (a, b)));
    let count = pairs().count();
    if count > MOST_PAIRS {
        return say(&format!("--json has what was found of each of the {count} pairs"));
    }
    let row = |(a, b): (usize, usize)| {
        let found = answer.confidence[a][b];
        let word = match found {
            UNKNOWN => "nothing is known",
            SHARES.. => "yes",
            ..=UNSURE => "no",
            _ => "unsure",
        };
        let names = [&answer.subflows[a], &answer.subflows[b]].map(String::clone);
        let [first, second] = names;
        vec![first, second, word.to_owned(), format!("{:.0}", 100.0 * found)]
    };
    let rows: Vec<Vec<String>> = pairs().map(row).collect();
    say(&table("Pairs", &["subflow", "and", "share a bottleneck", "confidence %"], &rows, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_ordered_as_numbers() {
        let mut names = ["a.10", "a.2", "b", "a.02x", "a"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["a", "a.2", "a.02x", "a.10", "b"]);
    }
}

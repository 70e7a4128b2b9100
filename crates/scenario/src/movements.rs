//! Movement files of ns-2, which `setdest`, BonnMotion and SUMO write: the initial positions of
//! nodes, and their movements with times and speeds.
//!
//! ```text
//! $node_(3) set X_ 150.0
//! $node_(3) set Y_ 100.0
//! $node_(3) set Z_ 0.0
//! $ns_ at 2.0 "$node_(3) setdest 200.0 100.0 5.0"
//! ```
//!
//! A file is a Tcl program, but this parser does not interpret Tcl. A line has one of these forms,
//! or is known to move no node (`$god_`, `set opt(…)`, `set val(…)`, `set god_`), or is refused.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use units::{NANOS, Span};

/// The moves of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Moves {
    /// Its number in the file.
    pub node: usize,
    /// Where it starts: metres east and north. A file need not say so.
    pub start: Option<(f64, f64)>,
    /// In order of time.
    pub legs: Vec<Move>,
}

/// A straight move from the node's position at a given time to a destination, where the node stops.
/// A later move interrupts it; of two moves at the same time the second applies. A speed of zero
/// stops the node at its position.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Move {
    /// Time of the move, from the start of the run.
    #[serde(rename = "at_s")]
    pub at: Span,
    /// Destination: metres to the east and to the north.
    #[serde(rename = "to_m")]
    pub to: (f64, f64),
    /// Speed in m/s; 0 or more.
    #[serde(rename = "speed_mps")]
    pub speed: f64,
}

/// Help for a wrong line.
pub(crate) const RIGHT: &str =
    "movements have the format of ns-2's setdest, with one command on each line";

/// What is wrong with a movement file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Line, from 1 on.
    pub line: usize,
    /// What is wrong with it, and what would be right.
    pub what: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Malformed {}

/// Largest number of a node: stations are numbered in 16 bits.
const LAST_NODE: usize = 65_535;

/// Farthest coordinate in metres: micrometres are still resolved there. SUMO's may be UTM, which
/// has 10⁷ m.
const FARTHEST_M: f64 = 1e9;

/// Largest speed in m/s, about that of light.
const FASTEST: f64 = 3e8;

/// Longest time, as everywhere in a scenario: a year.
const LONGEST_S: f64 = 366.0 * 86_400.0;

/// Beginnings of lines that move no node: shortest paths between nodes, and options of the script
/// around the file.
const HARMLESS: [&str; 4] = ["$god_ ", "set opt(", "set val(", "set god_ "];

const FORMS: &str =
    "a line is `$node_(3) set X_ 150.0` or `$ns_ at 2.0 \"$node_(3) setdest 200.0 100.0 5.0\"`";

/// What a line says.
enum Line {
    /// A coordinate of a node's start in metres, and which: 0 is X, 1 is Y.
    Start(usize, usize, f64),
    /// A node's move.
    Goes(usize, Move),
    /// Nothing that moves anybody.
    Nothing,
}

/// The start and the legs of a node, as far as a file has been read.
#[derive(Default)]
struct PartialMoves {
    /// X and Y of its start in metres, each with its line.
    start: [Option<(f64, usize)>; 2],
    legs: Vec<Move>,
}

/// The moves in a movement file, in order of node and then of time. A `#` begins a remark.
///
/// Times may be in any order; moves of a node at the same time keep their order.
///
/// # Errors
///
/// The first wrong line, or else a start with only one coordinate.
pub fn parse(text: &str) -> Result<Vec<Moves>, Malformed> {
    let text = text.trim_start_matches('\u{feff}'); // a byte order mark, which some programs write
    let mut nodes: BTreeMap<usize, PartialMoves> = BTreeMap::new();
    for (line, row) in (1..).zip(text.lines()) {
        let words: Vec<&str> = row.split('#').next().unwrap_or("").split_whitespace().collect();
        match read(&words.join(" ")).map_err(|what| Malformed { line, what })? {
            Line::Start(node, axis, metres) => {
                let known = &mut nodes.entry(node).or_default().start[axis];
                if let Some((_, before)) = known {
                    let name = ["X_", "Y_"][axis];
                    let what = format!(
                        "{name} of node {node} is set again; line {before} sets it already, and a node starts once"
                    );
                    return Err(Malformed { line, what });
                }
                *known = Some((metres, line));
            }
            Line::Goes(node, leg) => nodes.entry(node).or_default().legs.push(leg),
            Line::Nothing => (),
        }
    }
    nodes.into_iter().map(|(node, partial)| partial.moves(node)).collect()
}

impl PartialMoves {
    fn moves(mut self, node: usize) -> Result<Moves, Malformed> {
        let lone = |line, has, lacks| {
            let what = format!("node {node} has {has} but no {lacks}; a start position has both");
            Err(Malformed { line, what })
        };
        let start = match self.start {
            [Some((x, _)), Some((y, _))] => Some((x, y)),
            [None, None] => None,
            [Some((_, line)), None] => return lone(line, "X_", "Y_"),
            [None, Some((_, line))] => return lone(line, "Y_", "X_"),
        };
        self.legs.sort_by_key(|leg| leg.at); // a stable sort
        Ok(Moves { node, start, legs: self.legs })
    }
}

/// Formats moves as a movement file. [`parse`] returns the same moves if they are in its order and
/// its ranges.
pub fn format(moves: &[Moves]) -> String {
    let mut text = String::new();
    let mut write = |line: fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = text.write_fmt(line);
    };
    for Moves { node, start, .. } in moves {
        if let Some((x, y)) = start {
            write(format_args!("$node_({node}) set X_ {x}\n"));
            write(format_args!("$node_({node}) set Y_ {y}\n"));
            write(format_args!("$node_({node}) set Z_ 0\n"));
        }
    }
    for Moves { node, legs, .. } in moves {
        for Move { at: Span(at), to: (x, y), speed } in legs {
            let (whole, nanos) = (at / NANOS, at % NANOS);
            let told = format_args!("$node_({node}) setdest {x} {y} {speed}");
            write(format_args!("$ns_ at {whole}.{nanos:09} \"{told}\"\n"));
        }
    }
    text
}

/// Parses a line without remark and with single blanks.
fn read(row: &str) -> Result<Line, String> {
    let row = row.trim_end_matches([';', ' ']); // a command of Tcl may end with it
    if row.contains(';') {
        return Err(format!("`{}` is more than one command; a line has one", shortened(row)));
    }
    if row.is_empty() || HARMLESS.iter().any(|harmless| row.starts_with(harmless)) {
        return Ok(Line::Nothing);
    }
    if let Some(timed) = row.strip_prefix("$ns_ at ") {
        return read_timed(timed);
    }
    let Some((node, rest)) = of_node(row)? else {
        return Err(format!("`{}` does not move a node; {FORMS}", shortened(row)));
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let ["set", axis, value] = words[..] else {
        return Err(format!("`{}` does not set a start position; {FORMS}", shortened(row)));
    };
    match axis {
        "X_" => Ok(Line::Start(node, 0, metres("X_", value)?)),
        "Y_" => Ok(Line::Start(node, 1, metres("Y_", value)?)),
        "Z_" if metres("Z_", value)? == 0.0 => Ok(Line::Nothing),
        "Z_" => Err(format!("Z_ is {}; nodes move on a plane, so it is 0", shortened(value))),
        _ => Err(format!("`{}` is not a coordinate; it is X_, Y_ or Z_", shortened(axis))),
    }
}

/// Parses the text after `$ns_ at`: a time, and a quoted command.
fn read_timed(row: &str) -> Result<Line, String> {
    let (time, told) = row.split_once(' ').unwrap_or((row, ""));
    let quoted = told.strip_prefix('"').and_then(|told| told.strip_suffix('"'));
    let Some(told) = quoted.map(str::trim) else {
        return Err(format!("`{}` is not a time and a command in quotes; {FORMS}", shortened(row)));
    };
    let at = span(time)?;
    if told.starts_with("$god_ ") {
        return Ok(Line::Nothing);
    }
    let Some((node, rest)) = of_node(told)? else {
        return Err(format!("`{}` does not move a node; {FORMS}", shortened(told)));
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words[..] {
        ["setdest", x, y, speed] => {
            let to = (metres("x", x)?, metres("y", y)?);
            Ok(Line::Goes(node, Move { at, to, speed: metres_per_second(speed)? }))
        }
        ["setdest", ..] => {
            Err(format!("setdest has {} values; it has 3: x, y and a speed", words.len() - 1))
        }
        _ => Err(format!("`{}` is not a setdest; nodes have no other command", shortened(rest))),
    }
}

/// The number of the node at the beginning of a command, and the rest of it; `None` if the command
/// begins otherwise.
fn of_node(command: &str) -> Result<Option<(usize, &str)>, String> {
    let Some((number, rest)) =
        command.strip_prefix("$node_(").and_then(|rest| rest.split_once(')'))
    else {
        return Ok(None);
    };
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    match number.parse().ok().filter(|node| digits && *node <= LAST_NODE) {
        Some(node) => Ok(Some((node, rest.trim()))),
        None => {
            let number = shortened(number);
            Err(format!("node is `{number}`; it is a whole number from 0 to {LAST_NODE}"))
        }
    }
}

/// Parses the number `word`; `what` names it in errors. Not every number of Rust is one of Tcl:
/// `inf` is refused.
fn number(name: &str, word: &str, what: &str) -> Result<f64, String> {
    let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{name} is {}; it is {what}", shortened(word)))
}

fn metres(name: &str, word: &str) -> Result<f64, String> {
    let metres = number(name, word, "a number of metres")?;
    match metres.abs() <= FARTHEST_M {
        true => Ok(metres),
        false => Err(format!("{name} is {}; it lies from -1e9 to 1e9 m", shortened(word))),
    }
}

fn metres_per_second(word: &str) -> Result<f64, String> {
    let what = "a number of m/s, not below 0";
    match number("speed", word, what)? {
        speed if speed < 0.0 => Err(format!("speed is {}; it is {what}", shortened(word))),
        speed if speed > FASTEST => {
            Err(format!("speed is {}; it is at most 3e8 m/s", shortened(word)))
        }
        speed => Ok(speed),
    }
}

/// A time in seconds, exact to the nanosecond even where a float is not.
fn span(word: &str) -> Result<Span, String> {
    let what = "a number of seconds, not below 0";
    let seconds = match number("time", word, what)? {
        seconds if seconds < 0.0 => {
            return Err(format!("time is {}; it is {what}", shortened(word)));
        }
        seconds if seconds > LONGEST_S => {
            return Err(format!("time is {}; it is at most {LONGEST_S} s", shortened(word)));
        }
        seconds => seconds,
    };
    let exact = word.split_once('.').and_then(|(whole, fraction)| {
        let fraction = format!("0.{fraction}").parse().ok()?;
        let whole = whole.parse::<u64>().ok()?;
        Some(Span(whole * NANOS) + Span::from_seconds(fraction))
    });
    let plain = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    Ok(exact.filter(|_| plain).unwrap_or_else(|| Span::from_seconds(seconds)))
}

/// Shortens words, which may be as long as a file.
fn shortened(words: &str) -> String {
    match words.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words.into(),
    }
}

#[cfg(test)]
mod tests;

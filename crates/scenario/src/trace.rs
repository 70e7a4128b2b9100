//! Traces of links: rows of time, rate, delay and loss, and the changes that they stand for.

use crate::error::{Error, list};
use crate::movements;
use crate::opportunities;
use crate::schema::{LinkChange, Trace};
use toml_edit::{DocumentMut, Item, TableLike};
use units::{Rate, Span};

/// Most changes that a trace may stand for, with its repetitions and on all copies of its link: a
/// plan and its result have each of them, which takes about 2 kB.
const MOST_CHANGES: u64 = 1_000_000;

const ROWS: &str =
    "rows are numbers under the columns that the first row names, such as t_s,rate_bps";

const COLUMNS: [&str; 4] = ["t_s", "rate_bps", "delay_s", "loss"];

/// What is wrong with rows, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadRow {
    /// Line, from 1 on.
    pub(crate) line: usize,
    /// What is wrong with it.
    pub(crate) why: String,
}

fn bad<T>(line: usize, why: String) -> Result<T, BadRow> {
    Err(BadRow { line, why })
}

/// The changes that `rows` stand for, each once.
pub(crate) fn parse(rows: &str) -> Result<Vec<LinkChange>, BadRow> {
    let rows = rows.trim_start_matches('\u{feff}'); // what some programs begin a file with
    let plain = |line: &str| line.split('#').next().unwrap_or("").trim().to_owned();
    let lines = (1..).zip(rows.lines().map(plain)).filter(|(_, line)| !line.is_empty());
    let mut columns = Vec::new();
    let mut changes: Vec<LinkChange> = Vec::new();
    for (number, line) in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if columns.is_empty() {
            columns = header(number, &cells)?;
            continue;
        }
        if cells.len() != columns.len() {
            let why = format!("has {} values for {} columns", cells.len(), columns.len());
            return bad(number, why);
        }
        let mut change =
            LinkChange { at: Span::ZERO, rate: None, delay: None, loss: None, up: None };
        for (column, cell) in columns.iter().zip(&cells) {
            fill(&mut change, column, cell).map_err(|why| BadRow { line: number, why })?;
        }
        if let Some(before) = changes.last().filter(|before| before.at >= change.at) {
            let (now, before) = (change.at.seconds(), before.at.seconds());
            return bad(number, format!("time goes back: {now} s after {before} s"));
        }
        changes.push(change);
    }
    match changes.is_empty() {
        true => bad(rows.lines().count().max(1), "there is no row".into()),
        false => Ok(changes),
    }
}

/// The columns that a first row names.
fn header(line: usize, cells: &[&str]) -> Result<Vec<&'static str>, BadRow> {
    let mut named: Vec<&'static str> = Vec::new();
    for cell in cells {
        let Some(column) = COLUMNS.into_iter().find(|column| column == cell) else {
            let known = list(COLUMNS.into_iter());
            return bad(line, format!("`{cell}` is no column; the first row names {known}"));
        };
        named.push(column);
    }
    let twice = (1..named.len()).find(|&at| named[..at].contains(&named[at]));
    if let Some(at) = twice {
        return bad(line, format!("the column `{}` is there twice", named[at]));
    }
    match named.contains(&"t_s") && named.len() > 1 {
        true => Ok(named),
        false => bad(line, "the first row names `t_s` and at least one other column".into()),
    }
}

fn fill(change: &mut LinkChange, column: &str, cell: &str) -> Result<(), String> {
    let number = cell.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let number = number.ok_or(format!("{column} is `{cell}`; it is a number from 0 on"))?;
    let span = || match number <= LONGEST_S {
        true => Ok(Span::from_seconds(number)),
        false => Err(format!("{column} is {cell}; it is at most {LONGEST_S} s")),
    };
    match column {
        "t_s" => change.at = span()?,
        "delay_s" => change.delay = Some(span()?),
        "rate_bps" if number > 1e15 => {
            return Err(format!("{column} is {cell}; it is at most 1e15"));
        }
        // An outage is a bit each second: what is left of a frame goes when the rate is back.
        "rate_bps" => change.rate = Some(Rate((number.round() as u64).max(1))),
        _ if number > 1.0 => return Err(format!("{column} is {cell}; it lies from 0 to 1")),
        _ => change.loss = Some(number),
    }
    Ok(())
}

/// Longest time in a scenario: a year.
const LONGEST_S: f64 = 366.0 * 86_400.0;

/// The changes of a trace in a run of `duration`, repetitions included; its rows are right.
pub(crate) fn changes(trace: &Trace, duration: Span) -> Vec<LinkChange> {
    let once = trace.rows.as_deref().and_then(|rows| parse(rows).ok()).unwrap_or_default();
    let Some(period) = trace.repeat else {
        return once;
    };
    let begins = (0..).map(|turn| Span(period.0 * turn)).take_while(|begin| *begin <= duration);
    let moved = |begin: Span| {
        once.iter().map(move |change| LinkChange { at: begin + change.at, ..change.clone() })
    };
    begins.flat_map(moved).collect()
}

/// What is wrong with a trace of a link that has so many copies: its field, its value, and what
/// would be right.
pub(crate) fn check(
    trace: &Trace,
    duration: Span,
    copies: u64,
) -> Result<(), (String, String, &'static str)> {
    let wrong = |field: &str, value: String, right| Err((field.to_owned(), value, right));
    let rows = match (&trace.file, &trace.rows) {
        (None, Some(rows)) => rows,
        (Some(file), None) => {
            let right =
                "a file is read with the scenario file that names it; here, give its `rows`";
            return wrong("trace.file", format!("\"{file}\""), right);
        }
        _ => return wrong("trace", "without rows, or with both".into(), "it has `file` or `rows`"),
    };
    let once = match parse(rows) {
        Ok(once) => once,
        Err(BadRow { line, why }) => {
            let right = "rows are numbers under the columns that the first row names";
            return wrong("trace.rows", format!("wrong: line {line}: {why}"), right);
        }
    };
    let last = once.last().map_or(Span::ZERO, |change| change.at);
    if let Some(period) = trace.repeat.filter(|period| *period <= last) {
        return wrong("trace.repeat", period.to_string(), "it is longer than the trace");
    }
    let turns = trace.repeat.map_or(1, |period| duration.0 / period.0 + 1);
    let changes = turns.saturating_mul(once.len() as u64).saturating_mul(copies);
    match changes > MOST_CHANGES {
        true => {
            let right =
                "a trace has at most 1,000,000 rows, repetitions and copies of the link included";
            wrong("trace", format!("{changes} rows in all"), right)
        }
        false => Ok(()),
    }
}

/// The scenario with the files of its traces, opportunities and movements inside it; `None` if it
/// names none.
///
/// `read` gives the text of a file.
///
/// # Errors
///
/// If `read` fails: its message, at the line that names the file.
pub fn with_traces(
    text: &str,
    name: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Option<String>, Error> {
    let Ok(mut document) = text.parse::<DocumentMut>() else {
        return Ok(None); // what is wrong with it is said when it is read
    };
    let mut found = false;
    for link in tables(document.get_mut("link")) {
        found |= embed(link, ("trace", "rows", ROWS), name, read, &|rows| parse(rows).map(|_| ()))?;
        let times = ("opportunities", "times", opportunities::RIGHT);
        found |= embed(link, times, name, read, &|times| opportunities::parse(times).map(|_| ()))?;
    }
    for node in tables(document.get_mut("node")) {
        found |= embed_moves(node, name, read)?;
    }
    if let Some(area) = document.get_mut("area").and_then(Item::as_table_like_mut) {
        found |= embed_moves(area, name, read)?;
    }
    Ok(found.then(|| document.to_string()))
}

/// The same for the movements of a node, or of all.
fn embed_moves(
    owner: &mut dyn TableLike,
    name: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<bool, Error> {
    let Some(moves) = owner.get_mut("moves").and_then(Item::as_table_like_mut) else {
        return Ok(false);
    };
    embed(moves, ("trace", "text", movements::RIGHT), name, read, &|text| {
        let bad = |bad: movements::Malformed| BadRow { line: bad.line, why: bad.what };
        movements::parse(text).map(|_| ()).map_err(bad)
    })
}

/// Whether the file of `table` of a link was read, checked and put in its place, as the string
/// `inside`.
fn embed(
    link: &mut dyn TableLike,
    (table, inside, right): (&str, &str, &str),
    name: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
    parse: &dyn Fn(&str) -> Result<(), BadRow>,
) -> Result<bool, Error> {
    let Some(trace) = link.get_mut(table).and_then(Item::as_table_like_mut) else {
        return Ok(false);
    };
    let file = trace.get("file").and_then(Item::as_str).map(str::to_owned);
    let Some(file) = file.filter(|_| trace.get(inside).is_none()) else {
        return Ok(false);
    };
    let text = read(&file)
        .map_err(|why| Error::new(format!("{name}: the trace {file} cannot be read: {why}")))?;
    parse(&text).map_err(|BadRow { line, why }| {
        Error::new(format!("{name}: the trace {file} is wrong in line {line}: {why}")).help(right)
    })?;
    trace.remove("file");
    trace.insert(inside, Item::Value(on_one_line(&text)));
    Ok(true)
}

/// A string without a line break in the file, so that errors behind it have the lines that they
/// had.
fn on_one_line(text: &str) -> toml_edit::Value {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            '\n' => "\\n".into(),
            c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
            c => c.into(),
        })
        .collect();
    format!("\"{escaped}\"").parse().unwrap_or_else(|_| text.into())
}

/// The tables of a list, however it is written.
fn tables(item: Option<&mut Item>) -> Vec<&mut dyn TableLike> {
    match item {
        Some(Item::ArrayOfTables(tables)) => {
            tables.iter_mut().map(|table| table as &mut dyn TableLike).collect()
        }
        Some(Item::Value(toml_edit::Value::Array(values))) => {
            let tables = values.iter_mut().filter_map(|value| value.as_inline_table_mut());
            tables.map(|table| table as &mut dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_become_changes_and_a_rate_of_zero_an_outage() {
        let rows = "# a walk\nt_s, rate_bps, loss\n0, 8e6, 0\n0.5, 0, 0.25 # a tunnel\n\n1,1e6,0\n";
        let changes = parse(rows).unwrap();
        let seen: Vec<_> =
            changes.iter().map(|c| (c.at, c.rate.unwrap().0, c.loss.unwrap())).collect();
        let expected = [
            (Span::ZERO, 8_000_000, 0.0),
            (Span::millis(500), 1, 0.25),
            (Span::millis(1000), 1_000_000, 0.0),
        ];
        assert_eq!(seen, expected);
        assert!(changes.iter().all(|change| change.delay.is_none() && change.up.is_none()));
    }

    #[test]
    fn a_repeated_trace_begins_again_until_the_run_ends() {
        let rows = Some("t_s,delay_s\n0,0.01\n1,0.02\n".to_owned());
        let trace = Trace { rows, repeat: Some(Span::millis(2000)), ..Trace::default() };
        let at: Vec<_> =
            changes(&trace, Span::millis(5000)).iter().map(|c| c.at.seconds()).collect();
        assert_eq!(at, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn what_is_wrong_with_rows_is_said_with_its_line() {
        let wrong = |rows: &str| parse(rows).map(|_| ()).unwrap_err();
        let cases = [
            ("t_s,rate_bps\n0,1\n2,1\n1,1\n", 4, "time goes back: 1 s after 2 s"),
            ("t_s,rate_bps\n0,1\n0,2\n", 3, "time goes back: 0 s after 0 s"),
            ("t_s,rate_bps\n0\n", 2, "has 1 values for 2 columns"),
            ("t_s,rate_bps\n0,x\n", 2, "rate_bps is `x`; it is a number from 0 on"),
            ("t_s,loss\n0,2\n", 2, "loss is 2; it lies from 0 to 1"),
            ("t_s,rate\n", 1, "`rate` is no column"),
            ("t_s\n", 1, "the first row names `t_s` and at least one other column"),
            ("t_s,loss,loss\n", 1, "the column `loss` is there twice"),
            ("t_s,loss\n", 1, "there is no row"),
        ];
        for (rows, line, why) in cases {
            let error = wrong(rows);
            assert!(error.line == line && error.why.contains(why), "{rows:?}: {error:?}");
        }
    }

    #[test]
    fn rows_of_a_file_come_in_without_moving_a_line() {
        let text =
            "[[link]]\nname = 'a'\ntrace = { file = 'f' }\n[[link]]\n[link.trace]\nfile = 'f'\nend";
        let text = format!("{text} = 1\n");
        let rows = "\u{feff}t_s,loss\n0,0.5 # \"so\" \\ \u{e9}\t\n";
        let within = with_traces(&text, "x", &|_| Ok(rows.into())).unwrap().unwrap();
        assert_eq!(within.lines().count(), text.lines().count());
        let document: DocumentMut = within.parse().unwrap();
        assert_eq!(document["link"][1]["trace"]["rows"].as_str(), Some(rows));
        assert_eq!(parse(rows).unwrap()[0].loss, Some(0.5));
        let both = "[[link]]\ntrace = { file = 'f', rows = 'r' }\n";
        assert_eq!(with_traces(both, "x", &|_| Ok(rows.into())), Ok(None));
    }

    proptest! {
        #[test]
        fn no_rows_make_the_reader_panic(rows in "(t_s,(rate_bps|delay_s|loss)\n)?[-0-9.,e#\n a-z]{0,80}") {
            if let Ok(changes) = parse(&rows) {
                prop_assert!(changes.windows(2).all(|pair| pair[0].at < pair[1].at));
            }
        }
    }
}

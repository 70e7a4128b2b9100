//! Golden timelines: events and a sender's reactions, line by line, with the section that requires
//! them.
//!
//! A file in `timelines/` is a group of cases. In a case stimulus and expectation stand on adjacent
//! lines; times are in ms, data in segments.
//!
//! ```text
//! fault prr=off                          every case is run again with it; one must fail
//! case what it shows (RFC 5681 §3.1)
//! set iw=2 law=reno                      settings of the case
//! at 0 start                             what happens: start, ack, timer, join, leave
//! > 0..2                                 exactly what is sent then, or -; on several paths
//!                                        0..2@1=4 is segments 0 and 1 of path 1, which are 4
//!                                        and 5 of the connection
//! = cwnd 2 timer 1000                    what holds then; `path 1` before it, for another path
//! at 100 ack 1 sack 3-5 echo 40 ece path 1 data 7 window 90
//! ```
//!
//! An ACK echoes the time `rtt` (100 ms) ago unless it says otherwise.

use control::{AnyController, Needs, Settings};
use std::fmt::Write;
use std::sync::Arc;
use transport::tcp::Sender;
use transport::{
    Idle, RtoFloor, Scheduler, SenderSettings, SendingEndpoint, Source, Transmit, WritePeriods,
};
use units::{Bytes, Rate, Span, Time};
use wire::{Ack, Data, Flags, Range, Sacks};

const MSS: u32 = 1000;

/// Settings of a case, from its `key=value` words.
#[derive(Clone)]
struct Options {
    sender: SenderSettings,
    law: String,
    ssthresh: f64,
    paths: usize,
    backup: Option<usize>,
    rtt: u64,
    /// A planted fault: the peer's acknowledgements of the connection's data are lost.
    deaf: bool,
}

impl Options {
    fn new() -> Self {
        let options = transport::Options {
            payload: Bytes(MSS.into()),
            receive_buffer: Bytes(1 << 30),
            ..transport::Options::default()
        };
        let sender = SenderSettings::new(options, Needs::NONE, Source::Bulk);
        let (law, ssthresh) = ("reno".to_owned(), f64::INFINITY);
        Options { sender, law, ssthresh, paths: 1, backup: None, rtt: 100, deaf: false }
    }

    fn set(&mut self, word: &str) {
        let (key, value) = word.split_once('=').unwrap_or((word, "on"));
        let number = || value.parse::<f64>().unwrap_or_else(|_| panic!("{word}: not a number"));
        let on = value == "on";
        let Options { sender, .. } = self;
        let options = &mut sender.options;
        match key {
            "sack" => options.sack = on,
            "limited" => options.limited_transmit = on,
            "prr" => sender.prr = on,
            "rack" => options.rack = on,
            "tlp" => options.tlp = on,
            "eifel" => options.eifel = on,
            "dsack" => options.dsack = on,
            "frto" => options.frto = on,
            "ecn" => options.ecn = on,
            "handshake" => options.handshake = on,
            "opportunistic" => options.opportunistic = on,
            "deaf" => self.deaf = on,
            "iw" => options.initial_window = number(),
            "write" => sender.source = Source::Transfer(Bytes(number() as u64 * u64::from(MSS))),
            // Writes this many segments at the start, and as many again after five seconds.
            "bursts" => {
                let on = Span((number() as u64 - 1) * 1_000); // a segment each µs, and one at once
                let turns = WritePeriods::new([(on, Span::millis(5_000) - on), (on, on)]);
                sender.source = Source::Intermittent(Rate(8_000_000_000), Arc::new(turns));
            }
            "window" => options.receive_buffer = Bytes(number() as u64 * u64::from(MSS)),
            "floor" => {
                let floors = [("total", RtoFloor::Total), ("variance", RtoFloor::Variance)];
                options.rto_floor =
                    floors.iter().find(|(name, _)| *name == value).expect("a kind").1;
            }
            "rto_min" => options.rto_min = Span::millis(number() as u64),
            "rto_initial" => options.rto_initial = Span::millis(number() as u64),
            "idle" => {
                let kinds =
                    [("keep", Idle::Keep), ("restart", Idle::Restart), ("decay", Idle::Decay)];
                options.idle = kinds.iter().find(|(name, _)| *name == value).expect("a kind").1;
            }
            "redundant" => {
                options.scheduler = Scheduler::Redundant(transport::scheduler::Redundant {})
            }
            "law" => self.law = value.into(),
            "ssthresh" => self.ssthresh = number(),
            "paths" => self.paths = number() as usize,
            "backup" => self.backup = Some(number() as usize),
            "rtt" => self.rtt = number() as u64,
            _ => panic!("no setting is called {key}"),
        }
    }

    fn sender(&self) -> Sender<AnyController> {
        let law = self.law.parse().expect("a law");
        let settings = Settings {
            initial_window: self.sender.options.initial_window,
            initial_ssthresh: self.ssthresh,
            ..Settings::default()
        };
        let control = AnyController::new(&law, settings, self.paths).expect("a law");
        let mut sender =
            Sender::new(Arc::new(self.sender.clone()), control, self.paths, Time::ZERO);
        if let Some(path) = self.backup {
            sender.set_backup(path, true);
        }
        sender
    }
}

fn millis(ms: f64) -> Time {
    Time((ms * 1e6).round() as u64)
}

/// A running case.
struct Case {
    options: Options,
    sender: Option<Sender<AnyController>>,
    now: Time,
    /// Segments sent since the last stimulus.
    sent: Vec<Transmit<Data>>,
    problems: Vec<String>,
}

impl Case {
    fn line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "set" => words[1..].iter().for_each(|word| self.options.set(word)),
            "at" => {
                self.now = millis(words[1].parse().expect("a time in ms"));
                self.happen(words[2], &words[3..]);
            }
            ">" => self.expect_sent(line, &words[1..]),
            "=" => self.expect_state(line, &words[1..]),
            _ => panic!("cannot read: {line}"),
        }
    }

    fn happen(&mut self, what: &str, words: &[&str]) {
        let now = self.now;
        let path = |words: &[&str]| words.first().map_or(0, |word| word.parse().expect("a path"));
        if what == "start" {
            self.sender = Some(self.options.sender());
        }
        let ack = (what == "ack").then(|| self.ack(words));
        let sender = self.sender.as_mut().expect("the case starts with `at 0 start`");
        match what {
            "start" => {}
            "ack" => {
                let (path, ack) = ack.expect("it was read");
                sender.on_answer(now, path, &ack);
            }
            "timer" => {
                if sender.next_deadline() > now {
                    self.problems.push(format!("no timer is due at {} ms", now.0 / 1_000_000));
                }
                sender.on_deadline(now);
            }
            "join" => drop(sender.join(path(words))),
            "leave" => sender.leave(path(words)),
            _ => panic!("nothing is called {what}"),
        }
        self.sent = std::iter::from_fn(|| sender.poll_transmit(now)).collect();
    }

    /// `N [sack a-b …] [echo MS] [ece] [syn] [confirm] [path P] [data N] [window N]`.
    fn ack(&self, words: &[&str]) -> (usize, Ack) {
        let segments =
            |text: &str| (text.parse::<f64>().expect("segments") * f64::from(MSS)).round() as u64;
        let ack = segments(words[0]);
        let (mut path, mut data, mut window, mut blocks) = (0, ack, 1 << 30, Vec::new());
        let mut echo = Time(self.now.0.saturating_sub(self.options.rtt * 1_000_000));
        let mut flags = Flags::NONE;
        let mut rest = words[1..].iter();
        while let Some(word) = rest.next() {
            let mut next = || *rest.next().unwrap_or_else(|| panic!("{word}: a value is missing"));
            match *word {
                "echo" => echo = millis(next().parse().expect("a time")),
                "path" => path = next().parse().expect("a path"),
                "data" => data = segments(next()),
                "window" => window = segments(next()),
                "ece" => flags = flags.with(Flags::ECHO),
                "syn" => flags = flags.with(Flags::SYN),
                "confirm" => flags = flags.with(Flags::CONFIRM),
                "sack" => {}
                block => {
                    let (start, end) = block.split_once('-').expect("a block such as 3-5");
                    blocks.push(Range { start: segments(start), end: segments(end) });
                }
            }
        }
        let data_ack = if self.options.deaf { 0 } else { data };
        let sacks = Sacks::new(blocks);
        (path, Ack { ack, data_ack, window_edge: window, echo, transit: Span::ZERO, sacks, flags })
    }

    fn expect_sent(&mut self, line: &str, words: &[&str]) {
        let mut sent = String::new();
        let mut runs: Vec<(usize, u64, u64, u64, Flags)> = Vec::new();
        for Transmit { path, segment: data } in &self.sent {
            let (start, end) = (data.seq, data.seq + u64::from(data.len));
            let same = |run: &(usize, u64, u64, u64, Flags)| {
                let follows = data.dsn == run.3 + (start - run.1);
                (run.0, run.2, run.4) == (*path, start, data.flags) && follows
            };
            match runs.last_mut() {
                Some(run) if data.len > 0 && same(run) => run.2 = end,
                _ => runs.push((*path, start, end, data.dsn, data.flags)),
            }
        }
        let segment = u64::from(MSS);
        for (path, start, end, dsn, flags) in runs {
            let _ = write!(sent, " {}..{}", start / segment, end / segment);
            for (flag, word) in [
                (Flags::SYN, "/syn"),
                (Flags::CONFIRM, "/confirm"),
                (Flags::CAPABLE, "/ect"),
                (Flags::REDUCED, "/cwr"),
            ] {
                sent += if flags.has(flag) { word } else { "" };
            }
            if self.options.paths > 1 {
                let _ = write!(sent, "@{path}");
                if end > start {
                    let _ = write!(sent, "={}", dsn / segment);
                }
            }
        }
        let sent = if sent.is_empty() { " -" } else { &sent };
        if sent.trim() != words.join(" ") {
            self.problems.push(format!("{line}\n      but sent{sent}"));
        }
    }

    fn expect_state(&mut self, line: &str, words: &[&str]) {
        let sender = self.sender.as_ref().expect("the case has started");
        let path = words.iter().position(|word| *word == "path");
        let path = path.map_or(0, |at| words[at + 1].parse().expect("a path"));
        let report = sender.report(path);
        for pair in words.chunks(2).filter(|pair| pair[0] != "path") {
            let value = match pair[0] {
                "cwnd" => report.cwnd,
                "ssthresh" => report.ssthresh,
                "pipe" => report.pipe as f64 / f64::from(MSS),
                "srtt" => report.srtt.seconds() * 1e3,
                "rto" => report.rto.seconds() * 1e3,
                "timer" => sender.next_deadline().seconds() * 1e3,
                "recoveries" => report.recoveries as f64,
                "timeouts" => report.timeouts as f64,
                "retransmits" => report.retransmits as f64,
                "undone" => report.undone as f64,
                "marks" => report.marks as f64,
                "probes" => report.probes as f64,
                name => panic!("nothing is called {name}"),
            };
            let expected: f64 = pair[1].parse().expect("a number");
            let same = value == expected || (value - expected).abs() < 0.005;
            if !same {
                self.problems.push(format!("{line}\n      but {} is {value:.4}", pair[0]));
            }
        }
    }
}

/// The name, the problems and the citation of every case of a group, with `fault` planted.
fn run(text: &str, fault: Option<&str>) -> Vec<(String, Vec<String>)> {
    let mut cases: Vec<(String, Vec<String>)> = Vec::new();
    let mut case: Option<Case> = None;
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim_end());
    for line in lines.filter(|line| !line.trim().is_empty() && !line.starts_with("fault ")) {
        if let Some(name) = line.strip_prefix("case ") {
            if let (Some(done), Some(last)) = (case.take(), cases.last_mut()) {
                last.1 = done.problems;
            }
            assert!(name.contains("RFC ") && name.contains('§'), "`{name}` cites no section");
            cases.push((name.to_owned(), Vec::new()));
            case = Some(Case {
                options: Options::new(),
                sender: None,
                now: Time::ZERO,
                sent: Vec::new(),
                problems: Vec::new(),
            });
            continue;
        }
        let case = case.as_mut().expect("a case begins with `case`");
        case.line(line.trim());
        if let Some(fault) =
            fault.filter(|_| line.trim().starts_with("set") || case.sender.is_none())
        {
            case.options.set(fault);
        }
    }
    if let (Some(done), Some(last)) = (case, cases.last_mut()) {
        last.1 = done.problems;
    }
    cases
}

macro_rules! groups {
    ($($group:ident)*) => {
        /// Every group, by name.
        const GROUPS: &[(&str, &str)] =
            &[$((stringify!($group), include_str!(concat!("timelines/", stringify!($group), ".txt")))),*];
    };
}

groups! { congestion recovery timeout tracking ecn multipath }

#[test]
fn senders_do_what_the_sections_say() {
    let mut failed = String::new();
    let mut count = 0;
    for (group, text) in GROUPS {
        for (name, problems) in run(text, None) {
            count += 1;
            for problem in problems {
                let _ = write!(failed, "\n{group}: {name}\n    {problem}");
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
    assert!(count >= 25, "{count} behaviours");
}

#[test]
fn every_group_catches_the_faults_that_are_planted_in_it() {
    for (group, text) in GROUPS {
        let faults: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("fault ")).collect();
        assert!(!faults.is_empty(), "{group} has no planted fault");
        for fault in faults {
            let caught = run(text, Some(fault)).iter().any(|(_, problems)| !problems.is_empty());
            assert!(caught, "{group}: nothing fails with {fault}");
        }
    }
}

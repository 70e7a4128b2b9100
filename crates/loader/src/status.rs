//! The tables of `status`: controllers, and connections with their subflows.

use crate::commands::OPERATOR;
use crate::output::{say, table, write_json};
use kernel::{ConnectionStatus, ControllerStatus, Refused, Status, SubflowStatus};
use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Seconds between two looks, from and to.
const WATCH_S: (f64, f64) = (0.1, 3600.0);

/// Largest number of connections in the narrow table.
const MOST_CONNECTIONS: usize = 100;

/// Columns of controllers that are left out where they are 0 for all.
const USUALLY_ZERO: [&str; 5] = ["listening", "earlier", "missed", "repairs", "crowded"];

/// Prints controllers and connections, or writes them into a file, again and again if `watch` says
/// how often.
pub(crate) fn command(json: Option<&Path>, watch: Option<f64>, wide: bool) -> Result<(), Refused> {
    let (least, most) = WATCH_S;
    if let Some(seconds) = watch.filter(|watch| !(least..=most).contains(watch)) {
        let text = format!("--watch is {seconds}; it is from {least} to {most} seconds");
        return Err(Refused(text.replace("NaN", "nan")));
    }
    loop {
        let status = OPERATOR.status()?;
        match json {
            Some(file) => write_json(file, &status, watch.is_some())?,
            None => {
                let clear =
                    if watch.is_some() && stdout().is_terminal() { "\x1b[H\x1b[2J" } else { "" };
                say(&format!("{clear}{}", text(&status, wide)))?;
            }
        }
        match watch {
            Some(seconds) => thread::sleep(Duration::from_secs_f64(seconds)),
            None => return Ok(()),
        }
    }
}

fn text(status: &Status, wide: bool) -> String {
    [controllers(&status.controllers), connections(&status.connections, wide)].join("\n")
}

fn controllers(found: &[ControllerStatus]) -> String {
    if found.is_empty() {
        return "no controller is loaded for good".to_owned();
    }
    let counters = ["acks", "coupled", "losses", "missed", "repairs", "crowded"];
    let cells = |one: &ControllerStatus| {
        let count = |name: &str| one.counters.get(name).copied().unwrap_or_default();
        let mut cells: Vec<(&str, u64)> = vec![
            ("sockets", one.sockets as u64),
            ("listening", one.listening as u64),
            ("earlier", one.earlier as u64),
        ];
        cells.extend(counters.map(|name| (name, count(name))));
        cells
    };
    let all: Vec<Vec<(&str, u64)>> = found.iter().map(cells).collect();
    let zero: Vec<&str> = USUALLY_ZERO
        .into_iter()
        .filter(|name| all.iter().flatten().all(|(other, value)| other != name || *value == 0))
        .collect();
    let kept = |cell: &&(&str, u64)| !zero.contains(&cell.0);
    let mut head = vec!["name", "law"];
    head.extend(all[0].iter().filter(kept).map(|(name, _)| *name));
    let row = |(one, cells): (&ControllerStatus, &Vec<(&str, u64)>)| {
        let mut row = vec![one.name.clone(), one.law.clone()];
        row.extend(cells.iter().filter(kept).map(|(_, value)| value.to_string()));
        row
    };
    let rows: Vec<Vec<String>> = found.iter().zip(&all).map(row).collect();
    let mut text = table("Controllers", &head, &rows, 2);
    if !zero.is_empty() {
        text += &format!("\n0 for all: {}", zero.join(", "));
    }
    if !zero.contains(&"earlier") {
        text += "\nearlier: sockets whose controller of the same name was taken out; they keep it \
                 until they close";
    }
    if !zero.contains(&"crowded") {
        text += "\ncrowded: ACKs on connections with too many subflows, which run Reno on each. \
                 Allow fewer subflows.";
    }
    for one in found {
        for cgroup in &one.cgroups {
            let (name, law, words) = (&one.name, &one.law, OPERATOR.words);
            text += &format!("\n{name} is assigned to {cgroup}; ");
            text += &format!("`{words} unassign {law} --cgroup {cgroup}` ends that");
        }
    }
    text
}

/// A number, `–` for none and ∞ for no threshold.
fn number(value: Option<f64>, digits: usize) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value.is_infinite() => "∞".to_owned(),
        Some(value) => format!("{value:.digits$}"),
    }
}

fn cells(one: &SubflowStatus, wide: bool) -> Vec<(&'static str, String)> {
    let mut cells = vec![
        ("cwnd", number(Some(one.cwnd_segments), 2)),
        ("srtt ms", number(Some(1e3 * one.srtt_s), 1)),
        ("growth / Reno", number(one.of_reno, 2)),
        ("losses", one.losses.to_string()),
    ];
    if wide {
        let backup = if one.backup { ", backup" } else { "" };
        cells.extend([
            ("group", one.group.to_string()),
            ("ssthresh", number(Some(one.ssthresh_segments), 0)),
            ("state", format!("{}{backup}", one.ca_state)),
            ("alpha", number(one.alpha, 2)),
            ("sets", one.sets.clone()),
            ("l", one.since_loss.max(one.between_losses).to_string()),
            ("missed", one.missed.to_string()),
            ("repairs", one.repairs.to_string()),
        ]);
    }
    cells
}

fn connections(found: &[ConnectionStatus], wide: bool) -> String {
    let Some(first) = found.iter().find_map(|one| one.subflows.first()) else {
        return "no connection uses a controller of anabranch".to_owned();
    };
    let mut head = vec!["local", "remote"];
    head.extend(cells(first, wide).iter().map(|(name, _)| *name));
    let most = if wide { found.len() } else { MOST_CONNECTIONS };
    let mut rows = Vec::new();
    for (place, one) in (1..).zip(found.iter().take(most)) {
        let departed = if one.departed { ", taken out" } else { "" };
        let count = match (one.protocol, one.subflows.len()) {
            ("MPTCP", 1) => "1 subflow".to_owned(),
            ("MPTCP", count) => format!("{count} subflows"),
            (protocol, _) => protocol.to_owned(),
        };
        let windows = one.subflows.iter().map(|row| row.cwnd_segments).sum();
        let losses: u32 = one.subflows.iter().map(|row| row.losses).sum();
        let mut line = vec![format!("{place} {}{departed}", one.controller), count];
        line.extend([number(Some(windows), 2), String::new(), String::new(), losses.to_string()]);
        rows.push(line);
        for row in &one.subflows {
            let mut line = vec![format!("  {}", row.local), row.remote.clone()];
            line.extend(cells(row, wide).into_iter().map(|(_, cell)| cell));
            rows.push(line);
        }
    }
    let mut text = table("Connections", &head, &rows, 2);
    if found.len() > most {
        let more = found.len() - most;
        text += &format!("\n{more} more connections; --wide and --json show all");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_are_zero_for_all_are_named_below_the_table() {
        let counters = [("acks", 12), ("missed", 0), ("crowded", 3)].into_iter().collect();
        let one = ControllerStatus {
            law: "lia".to_owned(),
            name: "ab_lia".to_owned(),
            sockets: 2,
            listening: 0,
            earlier: 0,
            counters,
            cgroups: vec!["/sys/fs/cgroup/a".to_owned()],
        };
        let text = controllers(&[one]);
        assert!(
            text.ends_with("`anabranch-linux unassign lia --cgroup /sys/fs/cgroup/a` ends that")
        );
        assert!(text.contains("name    law  sockets  acks  coupled  losses  crowded\n"), "{text}");
        assert!(text.contains("\n0 for all: listening, earlier, missed, repairs\n"), "{text}");
        assert!(text.contains("Allow fewer subflows"), "{text}");
    }
}

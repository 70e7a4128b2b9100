//! What loaded controllers do: connections, their subflows, and the terms that couple them.

use crate::operator::{Operator, Refused, Use, known, used};
use crate::{Assigned, Subflow, assigned, program};
use ports::PATHS;
use serde::Serialize;
use std::collections::BTreeMap;

const CA_STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

/// TCP's states (include/net/tcp_states.h).
const ESTABLISHED: u8 = 1;
const CLOSE_WAIT: u8 = 8;

/// Segments; a larger threshold means that none is set.
const PLAUSIBLE: u32 = 1 << 24;

/// The threshold that is none: `TCP_INFINITE_SSTHRESH` (include/net/tcp.h).
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// Paths within this factor of the best count as best, as in OLIA.
const BEST: f64 = 1.0 - 1e-6;

/// The state of loaded controllers and their connections.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Controllers that are loaded for good.
    pub controllers: Vec<ControllerStatus>,
    /// Connections under a controller of ours, in all namespaces that are found.
    pub connections: Vec<ConnectionStatus>,
}

/// A controller that is loaded for good.
#[derive(Clone, Debug, Serialize)]
pub struct ControllerStatus {
    /// Its law; for a user's law its name in the kernel.
    pub law: String,
    /// Its name in the kernel.
    pub name: String,
    /// Sockets under it.
    pub sockets: usize,
    /// How many of them listen.
    pub listening: usize,
    /// Sockets of a controller of this name that was taken out.
    pub earlier: usize,
    /// Counts since it was loaded.
    pub counters: BTreeMap<&'static str, u64>,
    /// Directories of the control groups that it is assigned to.
    pub cgroups: Vec<String>,
}

/// A connection under a controller.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionStatus {
    /// The number of its network namespace.
    pub namespace: u64,
    /// The controller's name in the kernel.
    pub controller: String,
    /// Whether that controller was removed since.
    pub departed: bool,
    /// `MPTCP` or `TCP`.
    pub protocol: &'static str,
    /// Its subflows.
    pub subflows: Vec<SubflowStatus>,
}

/// A subflow. Its values are zero until the controller has begun.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the fields are the columns of docs/reference/linux.md")]
pub struct SubflowStatus {
    pub local: String,
    pub remote: String,
    pub backup: bool,
    pub cwnd_segments: f64,
    /// Infinite if none is set.
    pub ssthresh_segments: f64,
    pub srtt_s: f64,
    pub rate_bps: f64,
    /// Segments per acknowledged segment.
    pub growth: f64,
    pub since_loss: u32,
    pub between_losses: u32,
    pub delivered: u32,
    pub paths: u8,
    pub group: u8,
    pub losses: u32,
    pub missed: u32,
    pub repairs: u32,
    pub ca_state: &'static str,
    /// LIA's alpha (RFC 6356, eq. 2).
    pub alpha: Option<f64>,
    /// OLIA's sets M (largest window) and B (best path).
    pub sets: String,
    /// Its part of the total window.
    pub share: Option<f64>,
    /// Its growth relative to that of one TCP.
    pub of_reno: Option<f64>,
}

/// The terms of the laws for a subflow, as far as it takes part.
#[derive(Clone, Debug, Default, PartialEq)]
struct Terms {
    alpha: Option<f64>,
    sets: String,
    share: Option<f64>,
    of_reno: Option<f64>,
}

impl Operator {
    /// Controllers that are loaded for good with their sockets and counters, and every connection
    /// under one of ours, in all network namespaces that can be found.
    ///
    /// # Errors
    /// Where controllers or sockets cannot be looked at, and without root.
    pub fn status(&self) -> Result<Status, Refused> {
        self.check_root("status")?;
        let rows = self.sockets()?;
        // None are told where others can write to the directory of pins; `unload` names it.
        let all = assigned().unwrap_or_default();
        let mut controllers = Vec::new();
        for one in known()? {
            let counters = match one.counters() {
                Ok(counters) => counters.named().into_iter().collect(),
                Err(error) if error.kind() == crate::ErrorKind::NotFound => continue, // meanwhile
                Err(error) => return Err(error.into()),
            };
            let Use { sockets, listening, earlier } = used(&rows, &one.kernel_name);
            let name = one.kernel_name;
            let law = program(&name).map_or(&*name, crate::Program::law).to_owned();
            controllers.push(ControllerStatus {
                cgroups: Assigned::of(&all, &name),
                law,
                name,
                sockets,
                listening,
                earlier,
                counters,
            });
        }
        let working = rows.into_iter().filter(|(_, row)| at_work(row));
        Ok(Status { controllers, connections: connections(working) })
    }
}

/// Whether the controller has started and the peer still accepts data.
fn at_work(row: &Subflow) -> bool {
    row.begun && matches!(row.state, ESTABLISHED | CLOSE_WAIT)
}

/// Whether the controllers count it among the paths of its connection; same rule as `ab_visit` in
/// bpf/siblings.h.
fn takes_part(row: &Subflow) -> bool {
    at_work(row) && row.srtt_us > 0 && !row.backup
}

/// A number of the kernel in 2^-32.
fn fixed(value: i64) -> f64 {
    value as f64 / (1_u64 << 32) as f64
}

fn cwnd(row: &Subflow) -> f64 {
    f64::from(row.cwnd) + fixed(row.credit)
}

/// Its window as its siblings see it, in whole segments: in recovery and cwr the one that they will
/// end with.
fn window(row: &Subflow) -> f64 {
    let ends = matches!(CA_STATES.get(usize::from(row.ca_state)), Some(&("cwr" | "recovery")));
    match ends && 0 < row.ssthresh && row.ssthresh < PLAUSIBLE {
        true => f64::from(row.ssthresh),
        false => cwnd(row).floor(),
    }
}

/// What tells connections apart: namespace, controller, whether that is gone, connection and, for
/// plain TCP, both ends.
type Key = (u64, String, bool, u64, String, String);

/// Subflows gathered by connection, each with its coupling terms.
fn connections(rows: impl IntoIterator<Item = (u64, Subflow)>) -> Vec<ConnectionStatus> {
    let mut groups: BTreeMap<Key, Vec<Subflow>> = BTreeMap::new();
    for (namespace, row) in rows {
        let ends = match row.connection {
            0 => (row.local.to_string(), row.remote.to_string()),
            _ => Default::default(), // one connection, whatever its subflows
        };
        let controller = row.controller.clone();
        let key = (namespace, controller, row.departed, row.connection, ends.0, ends.1);
        groups.entry(key).or_default().push(row);
    }
    let told = |(key, members): (Key, Vec<Subflow>)| {
        let (namespace, controller, departed, connection, ..) = key;
        let terms = coupling(&members);
        ConnectionStatus {
            namespace,
            controller,
            departed,
            protocol: if connection == 0 { "TCP" } else { "MPTCP" },
            subflows: members.iter().zip(terms).map(|(row, terms)| shown(row, terms)).collect(),
        }
    };
    groups.into_iter().map(told).collect()
}

fn shown(row: &Subflow, terms: Terms) -> SubflowStatus {
    SubflowStatus {
        local: row.local.to_string(),
        remote: row.remote.to_string(),
        backup: row.backup,
        cwnd_segments: cwnd(row),
        ssthresh_segments: match row.ssthresh {
            NO_SSTHRESH => f64::INFINITY,
            ssthresh => f64::from(ssthresh),
        },
        srtt_s: f64::from(row.srtt_us) * 1e-6,
        rate_bps: row.rate_bps(),
        growth: fixed(row.growth),
        since_loss: row.since_loss,
        between_losses: row.between_losses,
        delivered: row.delivered,
        paths: row.paths,
        group: row.group,
        losses: row.losses,
        missed: row.missed,
        repairs: row.repairs,
        ca_state: CA_STATES.get(usize::from(row.ca_state)).unwrap_or(&"unknown"),
        alpha: terms.alpha,
        sets: terms.sets,
        share: terms.share,
        of_reno: terms.of_reno,
    }
}

/// The terms of the laws for each subflow, among those that are coupled with it.
fn coupling(members: &[Subflow]) -> Vec<Terms> {
    let mut terms = vec![Terms::default(); members.len()];
    for group in members.iter().map(|row| row.group).collect::<std::collections::BTreeSet<u8>>() {
        let there: Vec<usize> = (0..members.len())
            .filter(|&i| members[i].group == group && takes_part(&members[i]))
            .collect();
        match there.len() {
            1 => terms[there[0]].share = Some(1.0),
            2..=PATHS => couple(members, &there, &mut terms),
            _ => {}
        }
    }
    terms
}

/// The terms of the members in `there`, which are coupled with each other.
fn couple(members: &[Subflow], there: &[usize], terms: &mut [Terms]) {
    let rows: Vec<(f64, f64, f64)> = there
        .iter()
        .map(|&i| {
            let row = &members[i];
            let since = f64::from(row.since_loss.max(row.between_losses));
            (window(row), f64::from(row.srtt_us) * 1e-6, since)
        })
        .collect();
    let sum = |of: &dyn Fn(&(f64, f64, f64)) -> f64| rows.iter().map(of).sum::<f64>();
    let most = |of: &dyn Fn(&(f64, f64, f64)) -> f64| rows.iter().map(of).fold(0.0, f64::max);
    let total = sum(&|(w, ..)| *w);
    let rate = sum(&|(w, rtt, _)| w / rtt);
    let alpha = total * most(&|(w, rtt, _)| w / (rtt * rtt)) / (rate * rate);
    let quality = |(_, rtt, l): &(f64, f64, f64)| l / (rtt * rtt);
    let (largest, best) = (most(&|(w, ..)| *w), most(&quality));
    for (row, &i) in rows.iter().zip(there) {
        let mut sets = String::new();
        sets.extend((row.0 == largest).then_some('M'));
        sets.extend((quality(row) >= best * BEST).then_some('B'));
        terms[i] = Terms {
            alpha: Some(alpha),
            sets,
            share: Some(row.0 / total),
            of_reno: Some(fixed(members[i].growth) * row.0),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(cwnd: u32) -> Subflow {
        Subflow {
            controller: "ab_lia".to_owned(),
            begun: true,
            backup: false,
            departed: false,
            local: "10.0.0.1:1".parse().unwrap(),
            remote: "10.0.0.2:2".parse().unwrap(),
            state: ESTABLISHED,
            ca_state: 0,
            cwnd,
            ssthresh: NO_SSTHRESH,
            srtt_us: 100_000,
            delivered: 0,
            rtt_us: 0,
            sent_us: 0,
            mss: 1448,
            rate: (0, 0),
            connection: 7,
            credit: 1 << 31,
            growth: (1 << 32) / 20,
            since_loss: 90,
            between_losses: 50,
            losses: 0,
            missed: 0,
            repairs: 0,
            paths: 2,
            group: 0,
        }
    }

    #[test]
    fn terms_are_of_the_paths_that_a_controller_couples() {
        let away = Subflow { backup: true, ..member(99) };
        let terms = coupling(&[member(10), away.clone(), member(30)]);
        assert_eq!([terms[0].share, terms[2].share], [Some(0.25), Some(0.75)]);
        assert_eq!([&*terms[0].sets, &*terms[2].sets], ["B", "MB"]);
        assert!((terms[0].alpha.unwrap() - 40.0 * 30.0 / 1600.0).abs() < 1e-9);
        assert!((terms[2].of_reno.unwrap() - 1.5).abs() < 1e-6);
        assert_eq!(terms[1], Terms::default());
        assert_eq!(coupling(&[member(10), away])[0].share, Some(1.0));
        let apart = Subflow { group: 1, ..member(30) };
        assert!(coupling(&[member(10), apart]).iter().all(|terms| terms.share == Some(1.0)));
    }

    #[test]
    fn a_window_in_recovery_is_the_one_that_recovery_ends_with() {
        for (state, name) in (0..).zip(CA_STATES) {
            let row = Subflow { ca_state: state, ssthresh: 30, ..member(3) };
            let expected = if ["cwr", "recovery"].contains(&name) { 30.0 } else { 3.0 };
            assert_eq!(window(&row), expected, "{name}");
        }
    }

    #[test]
    fn subflows_of_a_connection_stand_together_and_plain_tcp_alone() {
        let plain = |port: u16| {
            let local = format!("10.0.0.1:{port}").parse().unwrap();
            Subflow { connection: 0, local, ..member(10) }
        };
        let rows = [member(1), plain(5), member(2), plain(4)].map(|row| (1, row));
        let found = connections(rows);
        let sizes: Vec<(usize, &str)> =
            found.iter().map(|one| (one.subflows.len(), one.protocol)).collect();
        assert_eq!(sizes, [(1, "TCP"), (1, "TCP"), (2, "MPTCP")]);
    }
}

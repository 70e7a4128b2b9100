//! What a tunnel does, as values and as Prometheus' text.

use crate::carrier::Snapshot;
use serde::Serialize;
use std::fmt::Write;

/// Counts since the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) connections: u64,
    pub(crate) streams: u64,
    /// Bytes of applications towards the peer, and from it.
    pub(crate) up_bytes: u64,
    pub(crate) down_bytes: u64,
    /// Streams that were not opened, or targets that were not connected.
    pub(crate) refused: u64,
    pub(crate) send_errors: u64,
}

/// A path now.
#[derive(Clone, Debug, Serialize)]
pub struct PathNow {
    /// Number of the connection.
    pub connection: u64,
    /// Public key of the other side.
    pub peer: String,
    /// Number of the path, from 0.
    pub path: usize,
    /// The peer's address; empty before its first answer.
    pub remote: String,
    /// Whether it answers.
    pub works: bool,
    /// Congestion window in segments.
    pub cwnd_segments: f64,
    /// Smoothed round-trip time in seconds; zero before the first sample.
    pub srtt_s: f64,
    /// Bytes of datagrams that left.
    pub sent_bytes: u64,
    /// Bytes of datagrams that arrived.
    pub received_bytes: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// The state of a tunnel.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    /// Connections that exist.
    pub connections: usize,
    /// Connections that were established.
    pub established: u64,
    /// Streams that are open.
    pub streams: usize,
    /// Streams since the start.
    pub opened: u64,
    /// Streams that were refused.
    pub refused: u64,
    /// Bytes of applications towards the peer.
    pub up_bytes: u64,
    /// Bytes of applications from the peer.
    pub down_bytes: u64,
    /// Datagrams that a socket did not take.
    pub send_errors: u64,
    /// The paths of all connections.
    pub paths: Vec<PathNow>,
}

impl Status {
    pub(crate) fn new(snapshots: Vec<Snapshot>, counters: &Counters) -> Self {
        let paths = snapshots.iter().flat_map(|it| {
            it.paths.iter().enumerate().map(|(path, now)| PathNow {
                connection: it.number,
                peer: it.peer.clone(),
                path,
                remote: now.route.map_or_else(String::new, |route| route.remote.to_string()),
                works: now.works,
                cwnd_segments: now.report.cwnd,
                srtt_s: now.report.srtt.seconds(),
                sent_bytes: now.sent,
                received_bytes: now.received,
                retransmits: now.report.retransmits,
                timeouts: now.report.timeouts,
            })
        });
        Status {
            paths: paths.collect(),
            connections: snapshots.len(),
            established: counters.connections,
            streams: snapshots.iter().map(|it| it.streams).sum(),
            opened: counters.streams,
            refused: counters.refused,
            up_bytes: counters.up_bytes,
            down_bytes: counters.down_bytes,
            send_errors: counters.send_errors,
        }
    }

    /// The text that Prometheus reads.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut family = |name: &str, kind: &str, values: Vec<(String, f64)>| {
            let _ = writeln!(out, "# TYPE anabranch_tunnel_{name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(out, "anabranch_tunnel_{name}{labels} {value}");
            }
        };
        for (name, kind, value) in [
            ("connections", "gauge", self.connections as f64),
            ("connections_total", "counter", self.established as f64),
            ("streams", "gauge", self.streams as f64),
            ("streams_total", "counter", self.opened as f64),
            ("refused_total", "counter", self.refused as f64),
            ("up_bytes_total", "counter", self.up_bytes as f64),
            ("down_bytes_total", "counter", self.down_bytes as f64),
            ("send_errors_total", "counter", self.send_errors as f64),
        ] {
            family(name, kind, vec![(String::new(), value)]);
        }
        type Quantity = (&'static str, &'static str, fn(&PathNow) -> f64);
        let quantities: [Quantity; 7] = [
            ("path_works", "gauge", |path| f64::from(u8::from(path.works))),
            ("path_cwnd_segments", "gauge", |path| path.cwnd_segments),
            ("path_srtt_seconds", "gauge", |path| path.srtt_s),
            ("path_sent_bytes_total", "counter", |path| path.sent_bytes as f64),
            ("path_received_bytes_total", "counter", |path| path.received_bytes as f64),
            ("path_retransmits_total", "counter", |path| path.retransmits as f64),
            ("path_timeouts_total", "counter", |path| path.timeouts as f64),
        ];
        for (name, kind, value) in quantities {
            let values = self.paths.iter().map(|path| {
                let PathNow { connection, path: number, .. } = path;
                (format!("{{connection=\"{connection}\",path=\"{number}\"}}"), value(path))
            });
            family(name, kind, values.collect());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_of_every_path_has_its_line_and_its_type() {
        let path = |path| PathNow {
            connection: 65_536,
            peer: String::new(),
            path,
            remote: String::new(),
            works: true,
            cwnd_segments: 12.5,
            srtt_s: 0.02,
            sent_bytes: 7,
            received_bytes: 8,
            retransmits: 0,
            timeouts: 1,
        };
        let text = Status { paths: vec![path(0), path(1)], ..Status::default() }.text();
        let line = "anabranch_tunnel_path_cwnd_segments{connection=\"65536\",path=\"1\"} 12.5\n";
        assert!(text.contains(line), "{text}");
        assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 8 + 2 * 7);
        assert_eq!(text.matches("# TYPE").count(), 15);
    }
}

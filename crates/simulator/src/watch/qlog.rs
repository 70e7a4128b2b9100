//! A qlog of every path (draft-ietf-quic-qlog-main-schema-03 and -quic-events-02, version 0.3), for
//! qvis.
//!
//! A path is a trace. A segment is a packet with one stream frame whose offset is its data sequence
//! number; packets of a path are numbered in the order of sending, so that a retransmission has its
//! own number. An ACK is a packet with an ack frame over the numbers that it newly acknowledges.

use scenario::Plan;
use scenario::schema::Protocol;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use transport::PathReport;
use units::Time;
use wire::{Ack, Data, Flags, Segment};

/// A packet not acknowledged yet.
struct Outstanding {
    number: u64,
    end: u64,
}

/// The trace of a path.
struct Path {
    title: String,
    group: String,
    /// Bytes of payload of a full segment, and of the headers of every packet.
    segment: u32,
    header: u32,
    protocol: &'static str,
    /// Events, already written and separated by commas.
    events: Vec<u8>,
    /// By its first byte.
    outstanding: BTreeMap<u64, Outstanding>,
    sent: u64,
    received: u64,
    metrics: Value,
    phase: &'static str,
    counts: (u64, u64),
}

/// A log that is being written.
pub(super) struct Qlog {
    out: Box<dyn Write + Send>,
    title: String,
    paths: Vec<Path>,
}

impl Qlog {
    pub(super) fn new(out: Box<dyn Write + Send>, plan: &Plan, seed: u64) -> Self {
        let users = plan.classes.iter().flat_map(|c| (0..c.count).map(move |user| (c, user)));
        let paths = users.flat_map(|(class, user)| {
            let group = format!("{}.{user}", class.name);
            (0..class.paths.len()).map(move |path| Path {
                title: format!("{group}.path{path}"),
                group: group.clone(),
                segment: class.transport.payload.0 as u32,
                header: (class.transport.packet.0 - class.transport.payload.0) as u32,
                protocol: match class.protocol {
                    Protocol::Tcp if class.controller.needs().reports => "TFRC",
                    Protocol::Tcp => "TCP",
                    Protocol::Udp => "UDP",
                    Protocol::Quic => "QUIC",
                },
                events: Vec::new(),
                outstanding: BTreeMap::new(),
                sent: 0,
                received: 0,
                metrics: Value::Null,
                phase: "",
                counts: (0, 0),
            })
        });
        let title = format!("{} with seed {seed}", plan.name);
        Qlog { out, title, paths: paths.collect() }
    }

    /// A sender has sent `segment`.
    pub(super) fn sent(&mut self, now: Time, path: u32, segment: &Segment) {
        self.paths[path as usize].on_sent(now, segment);
    }

    /// `answer` arrived at the sender.
    pub(super) fn heard(&mut self, now: Time, path: u32, answer: &Segment) {
        let path = &mut self.paths[path as usize];
        let length = path.header + answer.bytes();
        match answer {
            Segment::Ack(ack) => path.on_ack(now, ack),
            // Its numbers are those of segments, not of packets.
            Segment::CodedAck(_) => path.on_answer(now, "1RTT", json!({ "length": length }), &[]),
            _ => {
                let raw = json!({ "length": length, "payload_length": answer.bytes() });
                path.on_answer(now, "1RTT", raw, &[]);
            }
        }
    }

    /// Logs the sender's window and timer.
    pub(super) fn state(&mut self, now: Time, path: u32, report: &PathReport) {
        self.paths[path as usize].on_state(now, report);
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        let head = json!({
            "qlog_version": "0.3",
            "qlog_format": "JSON",
            "title": self.title,
            "description": concat!("anabranch ", env!("CARGO_PKG_VERSION"), ", at the hosts that send"),
        });
        write!(self.out, "{},\"traces\":[", opened(&head))?;
        // qvis refuses a trace without events: unused paths have no trace.
        let used = self.paths.iter().filter(|path| !path.events.is_empty());
        for (number, path) in used.enumerate() {
            let trace = json!({
                "title": path.title,
                "vantage_point": { "name": path.title, "type": "client" },
                "common_fields": {
                    "time_format": "relative",
                    "reference_time": 0.0,
                    "protocol_type": [path.protocol],
                    "group_id": path.group,
                },
            });
            let comma = if number > 0 { "," } else { "" };
            write!(self.out, "{comma}\n{},\"events\":[", opened(&trace))?;
            self.out.write_all(&path.events)?;
            self.out.write_all(b"]}")?;
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }
}

/// An object without its closing brace.
fn opened(object: &Value) -> String {
    let mut text = object.to_string();
    text.pop();
    text
}

fn ms(at: Time) -> f64 {
    at.0 as f64 / 1e6
}

impl Path {
    fn event(&mut self, now: Time, name: &str, data: Value) {
        if !self.events.is_empty() {
            self.events.extend(b",\n");
        }
        let event = json!({ "time": ms(now), "name": name, "data": data });
        self.events.extend(event.to_string().bytes());
    }

    fn on_sent(&mut self, now: Time, segment: &Segment) {
        let number = self.sent;
        self.sent += 1;
        // The packet's part of the connection's data; only all combinations together carry it.
        let (stream, len) = match segment {
            Segment::Data(data) => (Some(data.dsn), data.len),
            Segment::TfrcData(data) => (Some(data.dsn), data.len),
            Segment::Datagram(datagram) => (Some(datagram.offset), datagram.len),
            _ => (None, segment.bytes()),
        };
        if let Segment::Data(data) = segment {
            self.await_ack(now, data, number);
        }
        let kind = if len == 0 { "handshake" } else { "1RTT" };
        let mut packet = json!({
            "header": { "packet_type": kind, "packet_number": number },
            "raw": { "length": len + self.header, "payload_length": len },
        });
        if let Some(offset) = stream.filter(|_| len > 0) {
            packet["frames"] = json!([{
                "frame_type": "stream", "stream_id": 0, "offset": offset, "length": len,
            }]);
        }
        self.event(now, "transport:packet_sent", packet);
    }

    /// Packet `number` carries `data`; an earlier packet with the same data was lost.
    fn await_ack(&mut self, now: Time, data: &Data, number: u64) {
        if data.len == 0 {
            return; // part of a handshake
        }
        let end = data.seq + u64::from(data.len);
        let lost = self.outstanding.insert(data.seq, Outstanding { number, end });
        if let Some(Outstanding { number, .. }) = lost {
            let header = json!({ "packet_type": "1RTT", "packet_number": number });
            self.event(now, "recovery:packet_lost", json!({ "header": header }));
        }
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        let mut numbers = Vec::new();
        while let Some(oldest) = self.outstanding.first_entry() {
            if oldest.get().end > ack.ack {
                break;
            }
            numbers.push(oldest.remove().number);
        }
        for block in ack.sacks.blocks() {
            let within = self.outstanding.range(block.start..block.end.max(block.start));
            let within = within.filter(|(_, one)| one.end <= block.end).map(|(seq, _)| *seq);
            for seq in within.collect::<Vec<_>>() {
                numbers.extend(self.outstanding.remove(&seq).map(|one| one.number));
            }
        }
        numbers.sort_unstable();
        let mut ranges: Vec<[u64; 2]> = Vec::new();
        for number in numbers {
            match ranges.last_mut() {
                Some([_, end]) if *end + 1 == number => *end = number,
                _ => ranges.push([number, number]),
            }
        }
        let kind = if ack.flags.has(Flags::SYN) { "handshake" } else { "1RTT" };
        let options = wire::sack_option_bytes(ack.sacks.blocks().len());
        self.on_answer(now, kind, json!({ "length": self.header + options }), &ranges);
    }

    /// A packet of this many bytes arrived that acknowledges the packets in `ranges`.
    fn on_answer(&mut self, now: Time, kind: &str, raw: Value, ranges: &[[u64; 2]]) {
        let number = self.received;
        self.received += 1;
        let header = json!({ "packet_type": kind, "packet_number": number });
        let mut packet = json!({ "header": header, "raw": raw });
        if !ranges.is_empty() {
            packet["frames"] = json!([{ "frame_type": "ack", "acked_ranges": ranges }]);
        }
        self.event(now, "transport:packet_received", packet);
    }

    /// Logs the changed values.
    fn on_state(&mut self, now: Time, report: &PathReport) {
        let segment = f64::from(self.segment);
        let mut metrics = json!({
            "congestion_window": (report.cwnd * segment) as u64,
            "bytes_in_flight": report.pipe,
        });
        if report.srtt.0 > 0 {
            metrics["smoothed_rtt"] = json!(report.srtt.0 as f64 / 1e6);
            metrics["latest_rtt"] = json!(report.latest_rtt.0 as f64 / 1e6);
        }
        if report.ssthresh.is_finite() {
            metrics["ssthresh"] = json!((report.ssthresh * segment) as u64);
        }
        if metrics != self.metrics {
            self.metrics = metrics.clone();
            self.event(now, "recovery:metrics_updated", metrics);
        }
        let (recoveries, timeouts) =
            std::mem::replace(&mut self.counts, (report.recoveries, report.timeouts));
        if report.recoveries > recoveries {
            self.on_phase(now, "recovery");
        } else if report.timeouts > timeouts {
            self.on_phase(now, "slow_start");
        }
        // A recovery may end with the ACK that began it.
        if !report.recovering {
            let below = report.cwnd < report.ssthresh;
            self.on_phase(now, if below { "slow_start" } else { "congestion_avoidance" });
        }
    }

    fn on_phase(&mut self, now: Time, phase: &'static str) {
        if phase == self.phase {
            return;
        }
        let mut update = json!({ "new": phase });
        if !self.phase.is_empty() {
            update["old"] = json!(self.phase);
        }
        self.phase = phase;
        self.event(now, "recovery:congestion_state_updated", update);
    }
}

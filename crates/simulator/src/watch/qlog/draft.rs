//! qlog as the current drafts define it: draft-ietf-quic-qlog-main-schema-14 and -quic-events-13
//! of July 2026. A connection is one stream of events.
//!
//! Every event names its path twice. `tuple` is the drafts' field (main schema §7.2); its value is
//! `pN`, as noq writes it, and a `quic:tuple_assigned` before the path's first event has the
//! addresses (events §4.7, which before events-12 was `path_assigned`, quicwg/qlog#336 and #491).
//! `path_id` is the number N, as in draft-ietf-quic-multipath; the drafts do not define it, and
//! allow it (§7: "events can contain any amount of custom fields").
//!
//! As a sequence (JSON-SEQ, §11.2) the file has one trace, is written as the run goes, and takes no
//! memory; events of several connections carry their `group_id`. As JSON (§11.1) each connection
//! is a trace, and all are kept until the end.

use super::super::capture::addresses;
use super::happening::{
    DESCRIPTION, Form, Happening, Named, Packet, acknowledged, header, ms, opened, phases, raw,
};
use serde_json::{Value, json};
use std::io::{self, Write};
use units::Time;

/// Identifies the events (quic-events-13 §2.1: the number of the draft is part of it).
const EVENTS: &str = "urn:ietf:params:qlog:events:quic-13";

/// Whether a path is part of its connection, as far as the log has said.
#[derive(Clone, Copy, PartialEq)]
enum Said {
    Nothing,
    Assigned,
    Abandoned,
}

/// A log that is being written.
pub(super) struct Draft {
    out: Box<dyn Write + Send>,
    title: String,
    paths: Vec<(Named, Said)>,
    /// Events of each connection; empty if the log is a sequence.
    traces: Vec<Vec<u8>>,
    sequential: bool,
    /// Whether events name their connection.
    several: bool,
    /// The first write error; nothing is written after it.
    failed: Option<io::Error>,
}

/// The start of a record of JSON-SEQ (RFC 7464).
const RECORD: u8 = 0x1e;

impl Draft {
    pub(super) fn new(
        out: Box<dyn Write + Send>,
        title: String,
        paths: Vec<Named>,
        sequential: bool,
    ) -> Self {
        let flows = paths.last().map_or(0, |last| last.flow + 1);
        let group = paths.first().map(|first| first.group.clone());
        let mut draft = Draft {
            out,
            title,
            paths: paths.into_iter().map(|path| (path, Said::Nothing)).collect(),
            traces: vec![Vec::new(); if sequential { 0 } else { flows }],
            sequential,
            several: sequential && flows > 1,
            failed: None,
        };
        if sequential {
            let group = group.filter(|_| flows == 1);
            draft.record(&json!({
                "file_schema": "urn:ietf:params:qlog:file:sequential",
                "serialization_format": "application/qlog+json-seq",
                "title": draft.title,
                "description": DESCRIPTION,
                "trace": trace(None, group.as_deref()),
            }));
        }
        draft
    }

    fn record(&mut self, record: &Value) {
        if self.failed.is_none() {
            let text = record.to_string();
            let parts: [&[u8]; 3] = [&[RECORD], text.as_bytes(), b"\n"];
            self.failed = parts.into_iter().try_for_each(|part| self.out.write_all(part)).err();
        }
    }

    fn event(&mut self, now: Time, path: usize, name: &str, data: Value) {
        let named = &self.paths[path].0;
        let flow = named.flow;
        let mut event = json!({
            "time": ms(now),
            "name": format!("quic:{name}"),
            "tuple": tuple(named),
            "path_id": named.index,
            "data": data,
        });
        if self.several {
            event["group_id"] = named.group.as_str().into();
        }
        if self.sequential {
            self.record(&event);
            return;
        }
        let events = &mut self.traces[flow];
        if !events.is_empty() {
            events.extend(b",\n");
        }
        events.extend(event.to_string().bytes());
    }
}

/// The id of a path's tuple.
fn tuple(path: &Named) -> String {
    format!("p{}", path.index)
}

/// What a trace says of itself. Its clock is that of the simulation and begins with it.
fn trace(title: Option<&str>, group: Option<&str>) -> Value {
    let mut trace = json!({
        "common_fields": {
            "time_format": "relative_to_epoch",
            "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
        },
        "vantage_point": { "name": "anabranch", "type": "client" },
        "event_schemas": [EVENTS],
    });
    if let Some(title) = title {
        trace["title"] = title.into();
    }
    if let Some(group) = group {
        trace["common_fields"]["group_id"] = group.into();
    }
    trace
}

/// The packet's event without frames.
fn data(packet: &Packet) -> Value {
    json!({ "header": header(packet), "raw": raw(packet) })
}

/// Ranges of numbers; one number alone is written once (quic-events-13 §8.13.3).
fn ranges(of: &[[u64; 2]]) -> Value {
    let parts = of.iter().map(|[first, last]| match first == last {
        true => json!([first]),
        false => json!([first, last]),
    });
    parts.collect()
}

/// The frame that acknowledges packets of a path. A plain ACK is for path 0 alone, another path has
/// PATH_ACK (draft-ietf-quic-multipath-21). The drafts of qlog leave frames open and do not
/// name that one; noq and picoquic log it as here.
fn ack_frame(index: usize, acked: &[[u64; 2]]) -> Value {
    match index {
        0 => json!({ "frame_type": "ack", "acked_ranges": ranges(acked) }),
        _ => json!({ "frame_type": "path_ack", "path_id": index, "acked_ranges": ranges(acked) }),
    }
}

impl Form for Draft {
    fn tell(&mut self, now: Time, path: usize, what: &Happening<'_>) {
        let said = self.paths[path].1;
        if said == Said::Nothing && !matches!(what, Happening::Left) {
            self.paths[path].1 = Said::Assigned;
            let named = &self.paths[path].0;
            let (here, there) = addresses(path, named.flow);
            let assigned = json!({
                "tuple_id": tuple(named),
                "tuple_local": { "ip_v4": here.to_string() },
                "tuple_remote": { "ip_v4": there.to_string() },
            });
            self.event(now, path, "tuple_assigned", assigned);
        }
        let (name, data) = match what {
            Happening::Sent(packet) => {
                let mut data = data(packet);
                if let Some((offset, length)) = packet.stream {
                    data["frames"] = json!([{
                        "frame_type": "stream",
                        "stream_id": 0,
                        "offset": offset,
                        "raw": { "length": length },
                    }]);
                }
                ("packet_sent", data)
            }
            Happening::Received(packet, acked) => {
                let mut data = data(packet);
                if !acked.is_empty() {
                    data["frames"] = json!([ack_frame(self.paths[path].0.index, acked)]);
                }
                ("packet_received", data)
            }
            Happening::Acked(numbers) => ("packets_acked", acknowledged(numbers)),
            Happening::Lost { number } => {
                let header = json!({ "packet_type": "1RTT", "packet_number": number });
                ("packet_lost", json!({ "header": header }))
            }
            Happening::Metrics(metrics) => ("recovery_metrics_updated", (*metrics).clone()),
            Happening::Phase { old, new } => ("congestion_state_updated", phases(old, new)),
            Happening::Left if said != Said::Assigned => return,
            // Without addresses: the path was abandoned.
            Happening::Left => {
                self.paths[path].1 = Said::Abandoned;
                ("tuple_assigned", json!({ "tuple_id": tuple(&self.paths[path].0) }))
            }
        };
        self.event(now, path, name, data);
    }

    fn joined(&mut self, path: usize) {
        self.paths[path].1 = Said::Nothing;
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.sequential {
            return self.out.flush();
        }
        let head = json!({
            "file_schema": "urn:ietf:params:qlog:file:contained",
            "serialization_format": "application/qlog+json",
            "title": self.title,
            "description": DESCRIPTION,
        });
        write!(self.out, "{},\"traces\":[", opened(&head))?;
        let mut comma = "";
        for (flow, events) in
            self.traces.iter().enumerate().filter(|(_, events)| !events.is_empty())
        {
            let group = self.paths.iter().find(|(path, _)| path.flow == flow);
            let group = group.map(|(path, _)| path.group.as_str());
            write!(self.out, "{comma}\n{},\"events\":[", opened(&trace(group, group)))?;
            self.out.write_all(events)?;
            self.out.write_all(b"]}")?;
            comma = ",";
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }
}

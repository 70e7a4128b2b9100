//! qlog 0.3 (draft-ietf-quic-qlog-main-schema-03 and -quic-events-02), for qvis: a trace for each
//! path.

use super::happening::{
    DESCRIPTION, Form, Happening, Named, Packet, acknowledged, header, ms, opened, phases, raw,
};
use serde_json::{Value, json};
use std::io::{self, Write};
use units::Time;

/// A log that is being written.
pub(super) struct Older {
    out: Box<dyn Write + Send>,
    title: String,
    /// Each path with its events, already written and separated by commas.
    traces: Vec<(Named, Vec<u8>)>,
    /// Of each path the packets without a known number.
    unnumbered: Vec<u64>,
}

impl Older {
    pub(super) fn new(out: Box<dyn Write + Send>, title: String, paths: Vec<Named>) -> Self {
        let unnumbered = vec![0; paths.len()];
        let traces = paths.into_iter().map(|path| (path, Vec::new())).collect();
        Older { out, title, traces, unnumbered }
    }

    /// The packet's event without frames. 0.3 demands a number: those without one are counted.
    fn data(&mut self, path: usize, packet: &Packet) -> Value {
        let mut header = header(packet);
        if packet.number.is_none() {
            header["packet_number"] = self.unnumbered[path].into();
            self.unnumbered[path] += 1;
        }
        json!({ "header": header, "raw": raw(packet) })
    }
}

impl Form for Older {
    fn tell(&mut self, now: Time, path: usize, what: &Happening<'_>) {
        let (name, data) = match what {
            Happening::Sent(packet) => {
                let mut data = self.data(path, packet);
                if let Some((offset, length)) = packet.stream {
                    data["frames"] = json!([{
                        "frame_type": "stream", "stream_id": 0, "offset": offset, "length": length,
                    }]);
                }
                ("transport:packet_sent", data)
            }
            Happening::Received(packet, ranges) => {
                let mut data = self.data(path, packet);
                if !ranges.is_empty() {
                    data["frames"] = json!([{ "frame_type": "ack", "acked_ranges": ranges }]);
                }
                ("transport:packet_received", data)
            }
            Happening::Acked(numbers) => ("transport:packets_acked", acknowledged(numbers)),
            Happening::Lost { number } => {
                let header = json!({ "packet_type": "1RTT", "packet_number": number });
                ("recovery:packet_lost", json!({ "header": header }))
            }
            Happening::Metrics(metrics) => ("recovery:metrics_updated", (*metrics).clone()),
            Happening::Phase { old, new } => {
                ("recovery:congestion_state_updated", phases(old, new))
            }
            Happening::Left => return, // 0.3 has no event for it
        };
        let events = &mut self.traces[path].1;
        if !events.is_empty() {
            events.extend(b",\n");
        }
        let event = json!({ "time": ms(now), "name": name, "data": data });
        events.extend(event.to_string().bytes());
    }

    fn joined(&mut self, _path: usize) {}

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let head = json!({
            "qlog_version": "0.3",
            "qlog_format": "JSON",
            "title": self.title,
            "description": DESCRIPTION,
        });
        write!(self.out, "{},\"traces\":[", opened(&head))?;
        // qvis refuses a trace without events: unused paths have no trace.
        let used = self.traces.iter().filter(|(_, events)| !events.is_empty());
        for (number, (path, events)) in used.enumerate() {
            let title = format!("{}.path{}", path.group, path.index);
            let trace = json!({
                "title": title,
                "vantage_point": { "name": title, "type": "client" },
                "common_fields": {
                    "time_format": "relative",
                    "reference_time": 0.0,
                    "protocol_type": [path.protocol],
                    "group_id": path.group,
                },
            });
            let comma = if number > 0 { "," } else { "" };
            write!(self.out, "{comma}\n{},\"events\":[", opened(&trace))?;
            self.out.write_all(events)?;
            self.out.write_all(b"]}")?;
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }
}

//! Two hosts whose packets somebody on the path alters, copies, drops and forges, with right
//! checksums: no packet makes a host panic, and what a host keeps for its peer stays bounded.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use host::{Host, Id, Settings};
use libfuzzer_sys::fuzz_target;
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use units::{Bytes, Span, Time};
use wire::mptcp::Mptcp;
use wire::packet::{Endpoint, Received, TcpSegment};
use wire::tcp::TcpOption;

#[derive(Arbitrary, Debug)]
enum Step {
    Carry,
    Drop,
    Copy,
    Wait {
        ms: u16,
    },
    Write {
        of: bool,
        bytes: u16,
    },
    Read {
        of: bool,
    },
    Close {
        of: bool,
    },
    Abort {
        of: bool,
    },
    Join {
        port: u8,
    },
    Announce {
        of: bool,
        id: u8,
    },
    Backup {
        of: bool,
        path: u8,
        backup: bool,
    },
    /// The next packet with other numbers.
    Numbers {
        seq: i32,
        ack: i32,
        window: u16,
    },
    /// With other bits.
    Flags {
        syn: bool,
        fin: bool,
        reset: bool,
        ack: bool,
    },
    /// Without an option.
    Strip {
        index: u8,
    },
    /// With another option of MPTCP in the place of the last one.
    Signal {
        content: [u8; 28],
        length: u8,
    },
    /// With a mapping of other numbers.
    Mapping {
        data: i32,
        subflow: i16,
        length: u16,
        checksum: bool,
    },
    /// With another payload.
    Payload {
        bytes: u8,
        value: u8,
    },
    /// Bytes that nobody sent.
    Forged {
        bytes: [u8; 60],
    },
}

const BUFFER: u64 = 40_000;

fn end(host: u8, port: u16) -> Endpoint {
    Endpoint { address: Ipv4Addr::new(10, 0, 0, host), port }
}

struct World {
    hosts: [Host; 2],
    ids: [Option<Id>; 2],
    now: Time,
    under_way: VecDeque<(usize, Vec<u8>)>,
    read: [u64; 2],
    written: [u64; 2],
}

impl World {
    fn new(u: &mut Unstructured<'_>) -> Result<Self> {
        let controller = *u.choose(&["lia", "olia", "multi-priority", "reno"])?;
        let (multipath, checksums): (bool, bool) = u.arbitrary()?;
        let host = |salt: u64| {
            let mut settings = Settings::new(controller.parse().expect("a name"));
            settings.options.receive_buffer = Bytes(BUFFER);
            (settings.multipath, settings.checksums, settings.subflows) = (multipath, checksums, 3);
            (settings.send_buffer, settings.backlog) = (BUFFER as usize, 4);
            let mut state = salt;
            let random = move || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(salt | 1);
                state
            };
            Host::new(settings, random).expect("in range")
        };
        let mut hosts = [host(1), host(7)];
        hosts[1].listen(80);
        let client = hosts[0].connect(Time::ZERO, end(1, 1000), end(2, 80)).expect("free");
        Ok(World {
            hosts,
            ids: [Some(client), None],
            now: Time::ZERO,
            under_way: VecDeque::new(),
            read: [0; 2],
            written: [0; 2],
        })
    }

    fn collect(&mut self) {
        for from in 0..2 {
            for _ in 0..1000 {
                let Some(packet) = self.hosts[from].poll(self.now) else { break };
                assert!(Received::read(&packet).is_some(), "a host sends packets that are intact");
                self.under_way.push_back((1 - from, packet));
            }
        }
        self.under_way.truncate(5000);
        if self.ids[1].is_none() {
            self.ids[1] = self.hosts[1].accept();
        }
    }

    /// Delivers the next packet as `change` leaves it.
    fn altered(&mut self, change: impl FnOnce(&mut TcpSegment, &mut Vec<u8>)) {
        let Some((to, packet)) = self.under_way.pop_front() else { return };
        let Some(Received { mut segment, payload }) = Received::read(&packet) else { return };
        let mut payload = payload.to_vec();
        change(&mut segment, &mut payload);
        if wire::tcp::bytes(&segment.options) <= wire::tcp::MAX_BYTES {
            self.hosts[to].on_packet(self.now, &segment.encode(&payload));
        }
    }

    fn step(&mut self, step: Step) {
        let now = self.now;
        let of = |of: bool| usize::from(of);
        match step {
            Step::Carry => self.altered(|_, _| {}),
            Step::Drop => _ = self.under_way.pop_front(),
            Step::Copy => {
                if let Some(first) = self.under_way.front().cloned() {
                    self.under_way.push_back(first);
                }
            }
            Step::Wait { ms } => {
                self.now = now + Span::millis(ms.into());
                self.hosts.iter_mut().for_each(|host| host.on_deadline(self.now));
            }
            Step::Write { of: at, bytes } => {
                if let Some(id) = self.ids[of(at)] {
                    let taken = self.hosts[of(at)].write(now, id, &vec![7; bytes.into()]);
                    self.written[of(at)] += taken as u64;
                }
            }
            Step::Read { of: at } => self.read(of(at)),
            Step::Close { of: at } => {
                self.ids[of(at)].into_iter().for_each(|id| self.hosts[of(at)].close(now, id));
            }
            Step::Abort { of: at } => {
                self.ids[of(at)].into_iter().for_each(|id| self.hosts[of(at)].abort(now, id));
            }
            Step::Join { port } => {
                if let Some(id) = self.ids[0] {
                    let ends = (end(3, 2000 + u16::from(port)), end(2, 80));
                    let _ = self.hosts[0].join(now, id, ends, [1, 0], port & 1 == 1);
                }
            }
            Step::Announce { of: at, id: name } => {
                if let Some(id) = self.ids[of(at)] {
                    self.hosts[of(at)].announce(now, id, name, Ipv4Addr::new(10, 0, 0, 9), None);
                    while self.hosts[1 - of(at)].poll_address(id).is_some() {}
                }
            }
            Step::Backup { of: at, path, backup } => {
                if let Some(id) = self.ids[of(at)] {
                    self.hosts[of(at)].set_backup(now, id, usize::from(path % 3), backup);
                }
            }
            changed => self.meddle(changed),
        }
        self.collect();
    }

    fn meddle(&mut self, step: Step) {
        match step {
            Step::Numbers { seq, ack, window } => self.altered(|segment, _| {
                segment.seq = segment.seq.wrapping_add_signed(seq);
                segment.ack = segment.ack.map(|number| number.wrapping_add_signed(ack));
                segment.window = window;
            }),
            Step::Flags { syn, fin, reset, ack } => self.altered(|segment, _| {
                (segment.syn, segment.fin, segment.reset) = (syn, fin, reset);
                segment.ack = if ack { segment.ack.or(Some(0)) } else { None };
            }),
            Step::Strip { index } => self.altered(|segment, _| {
                let count = segment.options.len().max(1);
                let at = usize::from(index) % count;
                segment.options.drain(at.min(segment.options.len())..).next();
            }),
            Step::Signal { content, length } => self.altered(|segment, _| {
                let length = usize::from(length) % 25 + 2;
                if let Some(option) = Mptcp::read(&content[..length]) {
                    segment.options.pop();
                    segment.options.push(TcpOption::Mptcp(option));
                }
            }),
            Step::Mapping { data, subflow, length, checksum } => self.altered(|segment, _| {
                for option in &mut segment.options {
                    if let TcpOption::Mptcp(Mptcp::Data { mapping: Some(mapping), .. }) = option {
                        mapping.data_sequence =
                            mapping.data_sequence.wrapping_add_signed(data.into());
                        mapping.subflow_sequence =
                            mapping.subflow_sequence.wrapping_add_signed(subflow.into());
                        mapping.length = length;
                        mapping.checksum = checksum.then_some(length);
                        // As the option would hold it.
                        if !mapping.wide {
                            mapping.data_sequence &= 0xffff_ffff;
                        }
                    }
                }
            }),
            Step::Payload { bytes, value } => {
                self.altered(|_, payload| *payload = vec![value; bytes.into()]);
            }
            Step::Forged { bytes } => {
                self.hosts.iter_mut().for_each(|host| host.on_packet(self.now, &bytes));
            }
            _ => unreachable!("the other steps are done"),
        }
    }

    fn read(&mut self, at: usize) {
        let Some(id) = self.ids[at] else { return };
        assert!(self.hosts[at].readable(id) <= BUFFER, "no more waits than the buffer holds");
        let mut out = [0; 1000];
        while let Ok(host::Read::Bytes(count)) = self.hosts[at].read(self.now, id, &mut out) {
            self.read[at] += count as u64;
        }
    }
}

fn run(data: &[u8]) -> Result<()> {
    let mut u = Unstructured::new(data);
    let mut world = World::new(&mut u)?;
    world.collect();
    while !u.is_empty() {
        world.step(u.arbitrary()?);
        assert!(world.hosts[0].len() <= 1 && world.hosts[1].len() <= 64);
    }
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    let _ = run(data);
});

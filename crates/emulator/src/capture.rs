//! A capture at the senders' devices: data when it is read, ACKs when they are written, as in a
//! capture on the sending hosts.

use crate::device::Device;
use scenario::Plan;
use std::io::{self, Write};
use units::Time;
use wire::pcapng::Writer;

/// A capture being written.
pub(crate) struct Capture {
    writer: Writer<Box<dyn Write + Send>>,
    keep: usize,
    /// The first write error; nothing is written after it.
    failed: Option<io::Error>,
}

impl Capture {
    /// Begins a capture of a run of `plan`, with an interface for each device and the first `keep`
    /// bytes of each packet.
    pub(crate) fn new(
        out: Box<dyn Write + Send>,
        plan: &Plan,
        devices: &[Device],
        keep: usize,
    ) -> io::Result<Self> {
        let application = concat!("anabranch ", env!("CARGO_PKG_VERSION"));
        let comment = format!("scenario {} on the real kernel, at the hosts that send", plan.name);
        let mut writer = Writer::new(out, application, &comment)?;
        for Device { class, path, side, .. } in devices {
            let name = &plan.classes[*class].name;
            writer.interface(&format!("{name}.path{path}"), &format!("the {side} of {name}"))?;
        }
        Ok(Capture { writer, keep, failed: None })
    }

    /// A packet passes the device with this number at `now`.
    pub(crate) fn packet(&mut self, now: Time, device: u32, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.writer.packet(device, now, bytes, self.keep, None).err();
        }
    }

    /// Completes the capture at the end of the run.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.finish().map(drop),
        }
    }
}

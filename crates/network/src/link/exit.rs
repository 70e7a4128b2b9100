//! What comes out of a link of any kind, and when to wake it.

use super::impairments::Exit;
use super::{Link, Schedule};
use crate::{Packet, Rng};
use units::Time;

/// What comes out of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Passage<P> {
    /// A packet.
    Out(P),
    /// A packet that will come out once more.
    Copy(P),
    /// A packet that was lost on the line.
    Lost(P),
}

impl<P: Packet> Link<P> {
    /// What comes out at `now`: call until `None`, then [`Link::take_dropped`] until `None`, and
    /// then ask [`Link::due`]. Waking a link early is harmless.
    pub fn wake(&mut self, now: Time, rng: &mut impl Rng) -> Option<Passage<P>> {
        self.serve(now);
        loop {
            let (exit, packet) = self.next_exit(now, rng)?;
            match exit {
                Exit::Out => return Some(Passage::Out(packet)),
                Exit::Copy => return Some(Passage::Copy(packet)),
                Exit::Lost => return Some(Passage::Lost(packet)),
                Exit::HeldBack => {}
            }
        }
    }

    /// When to wake the link; never if nothing is inside.
    pub fn due(&self) -> Time {
        let out = self.line.front().map_or(Time::NEVER, |carried| carried.arrives);
        let Some(extras) = &self.extras else {
            return out;
        };
        let start = if self.undecided().0 > 0 { self.ready() } else { Time::NEVER };
        out.min(extras.impairments.due()).min(start)
    }

    /// When the transmitter can take a packet.
    pub(super) fn ready(&self) -> Time {
        self.schedule().map_or(self.transmitter.idle_at, Schedule::ready)
    }

    /// The packet that is at the end of the line by `now`, whose copy came out, or that was held
    /// back until then, and what becomes of it.
    fn next_exit(&mut self, now: Time, rng: &mut impl Rng) -> Option<(Exit, P)> {
        let original = self.extras.as_mut().and_then(|extras| extras.impairments.take_original());
        if let (Some(packet), Some(extras)) = (original, &mut self.extras) {
            return Some((extras.impairments.hold_back(now, packet, rng), packet));
        }
        if let Some(carried) = self.line.front().filter(|carried| carried.arrives <= now) {
            let packet = carried.packet;
            self.deliver();
            let impairments = self.extras.as_mut().map(|extras| &mut extras.impairments);
            let exit = impairments.map_or(Exit::Out, |own| own.on_exit(now, packet, rng));
            return Some((exit, packet));
        }
        let packet = self.extras.as_mut()?.impairments.take_late(now)?;
        Some((Exit::Out, packet))
    }
}
